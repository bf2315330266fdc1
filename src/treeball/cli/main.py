"""The command line: finds the command, and turns every foreseen error into one sentence and an exit code."""

from __future__ import annotations

import logging
import os
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

from cyclopts import App, CycloptsError, Parameter, Token, convert
from cyclopts.config import Toml

from .._version import __version__
from ..addresses import local_path
from ..errors import InputError, TreeballError
from ..interruption import INTERRUPTED, answered, ctrl_c_came, is_interruption, is_pending, take_ctrl_c
from ..words import printable, say
from .align import align
from .ask import ask
from .bench import bench
from .capacity import capacity
from .compare import compare
from .diagnose import diagnose
from .distance import distance
from .doctor import doctor
from .evaluate import evaluate
from .export import export
from .fit import fit
from .heal import heal
from .import_ import import_
from .info import info
from .insert import insert
from .neighbors import neighbors
from .outputs import command_starts
from .plan import plan
from .plot import plot
from .plug_ins import plug_in_options
from .reproduce import reproduce
from .search import search
from .serve import serve
from .similarity import similarity
from .split import split
from .suggest_parent import suggest_parent
from .update import update
from .verify import verify
from .view import view

_DIMENSION = int | Literal["auto"] | None


def _convert(kind: Any, tokens: Sequence[Token]) -> Any:
    """Values as cyclopts makes them, but 2.5 is no whole number, and the dimension of a fit may be auto."""
    whole = kind in (int, int | None, _DIMENSION) and len(tokens) == 1
    if whole and kind == _DIMENSION and tokens[0].value == "auto":
        return "auto"
    if whole and not re.fullmatch(r"[+-]?\d+", tokens[0].value.strip()):
        raise ValueError(f"{tokens[0].value!r} is not a whole number")
    if "Path" in str(kind):  # also of what may be left out, and of several
        tokens = [token.evolve(value=local_path(token.value)) for token in tokens]
    return convert(kind, tokens)


app = App(
    name="treeball",
    version=__version__,
    help="Embed hierarchies in hyperbolic space so faithfully that they can be read back from distances.",
    suppress_keyboard_interrupt=False,
    default_parameter=Parameter(converter=_convert, negative_iterable=()),
    help_epilogue="Settings can come from a TOML file:  treeball fit FILE --config settings.toml  with a table [fit].",
)
COMMANDS = {
    command.__name__.strip("_").replace("_", "-"): command
    for command in (
        fit,
        plan,
        heal,
        evaluate,
        diagnose,
        info,
        verify,
        capacity,
        plot,
        view,
        neighbors,
        distance,
        similarity,
        ask,
        search,
        serve,
        export,
        import_,
        insert,
        update,
        split,
        suggest_parent,
        compare,
        align,
        bench,
        reproduce,
        doctor,
    )
}
for _command in COMMANDS.values():
    app.command(_command)


def main(arguments: list[str] | None = None) -> None:
    """Entry point of the ``treeball`` command; exits with 0, 1 (a failure), 2 (unusable input) or 130 (Ctrl-C)."""
    take_ctrl_c()
    warnings.formatwarning = lambda message, *_: f"{printable(f'warning: {message}')}\n"
    # A closed stream is no reason to fail: there is nobody to write to.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    ctrl_c_came()  # what came before is no matter of this command
    command_starts()
    _report_loose_names()
    try:
        arguments, config = _use_config(arguments)
        with plug_in_options(app, arguments, config):
            code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except (KeyboardInterrupt, Exception) as error:
        # A library that is interrupted, while it is imported or in what it calls back, may fail in another way.
        if is_interruption(error) or is_pending():
            _end_interrupted()
        return _code_of(error)
    # Some commands keep what they have so far, and end as if they were complete.
    return INTERRUPTED if ctrl_c_came() else code if isinstance(code, int) else 0


def _end_interrupted() -> NoReturn:
    """Say that Ctrl-C came, and end at once."""
    answered()
    _complain("interrupted", INTERRUPTED)
    sys.stdout.flush()
    os._exit(INTERRUPTED)  # workers may be in compiled code, and the interpreter would wait for them


def _code_of(error: BaseException) -> int:
    """Say what was wrong in one sentence; returns the exit code. An error of any other kind is raised again."""
    match error:
        case CycloptsError():
            return _complain(f"{error}  (treeball --help lists commands and options)", 2)
        case TreeballError():
            sentence, *listed = str(error).splitlines() or [""]
            return _complain(sentence, error.exit_code, listed)
        case MemoryError():
            return _complain("out of memory: use a smaller --dim, fewer --negatives or a machine with more memory", 1)
        case BrokenPipeError():
            # The reader of our output went away (as `head` does); nothing is left to say to it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        case OSError():
            return _complain(f"{error.strerror or error}: {error.filename}" if error.filename else str(error), 1)
    raise error


class _Reports(logging.Handler):
    """Says what the library logs on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def _report_loose_names() -> None:
    """Say on standard error which node is meant if a name on the command line is not exactly that of a node."""
    log = logging.getLogger("treeball.names")
    if not any(isinstance(handler, _Reports) for handler in log.handlers):
        log.addHandler(_Reports())
    log.setLevel(logging.INFO)
    log.propagate = False


def _complain(sentence: str, code: int, listed: Sequence[str] = ()) -> int:
    """Report an error: a sentence, and a line for each of the faults that it lists."""
    say(f"treeball: {' '.join(sentence.split())}")
    for line in listed:
        say(line)
    return code


def _use_config(arguments: list[str]) -> tuple[list[str], dict[str, Any]]:
    """Take ``--config FILE`` out of the arguments; its tables give the options that the command line leaves out.

    Returns the other arguments and the tables.
    """
    app.config = ()
    rest: list[str] = []
    tables: dict[str, Any] = {}
    tokens = iter(arguments)
    for token in tokens:
        if token == "--config" or token.startswith("--config="):
            path = token.partition("=")[2] or next(tokens, "")
            if not Path(path).is_file():
                raise InputError(f"there is no settings file {path!r}; give --config a TOML file with a table [fit]")
            tables = _tables(path)
            app.config = (Toml(path, must_exist=True),)
        else:
            rest.append(token)
    return rest, tables


def _tables(path: str) -> dict[str, Any]:
    import tomllib

    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path!r} is not valid TOML: {error}") from error
    for name, table in content.items():
        if name not in COMMANDS or not isinstance(table, dict):
            raise InputError(f"{path!r}: {name!r} is not a table of a command; put settings under [fit]")
    return content
