"""Options of methods from outside: ``treeball fit`` takes those of the method that the command line or TOML names."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Annotated, Any, NamedTuple, get_type_hints

from cyclopts import App, Parameter

from ..errors import InputError
from ..methods.fit_settings import FitSettings
from ..methods.registry import Method, find, is_plug_in, plug_in_names
from ..methods.settings import Settings

__all__ = ["plug_in_options"]

_OWN_PACKAGE = __name__.partition(".")[0]
# An entry of a docstring in NumPy's format: a name in the first column, its description indented below.
_ENTRY = re.compile(r"^(\w+)[^\n]*\n((?:[ \t]+[^\n]*(?:\n|$))+)", re.MULTILINE)


class Option(NamedTuple):
    """An option that a method from outside adds: its type, and its help text with the default."""

    kind: Any
    help: str


@contextmanager
def plug_in_options(app: App, arguments: Sequence[str], config: Mapping[str, Any]) -> Iterator[None]:
    """Let ``treeball fit`` take the options of the method that the arguments, or the table [fit] of `config`, name."""
    if list(arguments[:1]) != ["fit"]:
        yield
        return
    command, name = app["fit"], _method_named(arguments, config)
    shipped, epilogue = command.default_command, command.help_epilogue
    if name is not None and is_plug_in(name):
        method = find(name)
        _require_free_names(command, method)
        command.default_command = _with_options(shipped, method)
    elif "--help" in arguments or "-h" in arguments:
        command.help_epilogue = _installed() or epilogue
    try:
        yield
    finally:
        command.default_command, command.help_epilogue = shipped, epilogue


def _installed() -> str:
    """A sentence that names the methods from outside; empty if there are none."""
    names = plug_in_names()
    if not names:
        return ""
    return f"Methods of other packages: {', '.join(names)}. treeball fit --method {names[0]} --help lists its options."


def _method_named(arguments: Sequence[str], config: Mapping[str, Any]) -> str | None:
    """The last ``--method`` of the command line, else that of the table [fit]."""
    given = [after for option, after in pairwise(arguments) if option == "--method"]
    given += [argument.partition("=")[2] for argument in arguments if argument.startswith("--method=")]
    if given:
        return given[-1]
    named = config.get("fit", {}).get("method")
    return named if isinstance(named, str) else None


def _require_free_names(command: App, method: Method) -> None:
    """Refuse an option of a method whose name the command uses for something else than a setting."""
    settings = {field.name for field in dataclasses.fields(FitSettings)}
    taken = {name for argument in command.assemble_argument_collection() for name in argument.names}
    for name in _own_options(method):
        flag = f"--{name.replace('_', '-')}"
        if name not in settings and flag in taken:
            raise InputError(f"the method {method.name!r} has an option {flag}, which fit has already: rename it")


def _with_options(command: Any, method: Method) -> Callable[..., int]:
    """A copy of the command `fit` that takes the options of a method beside those of the shipped methods."""
    kind = _settings_with(_own_options(method), method.name)
    copied = types.FunctionType(command.__code__, command.__globals__, command.__name__, command.__defaults__)
    copied.__kwdefaults__ = {**command.__kwdefaults__, "settings": kind()}
    copied.__annotations__ = {**command.__annotations__, "settings": Annotated[kind, Parameter(name="*")]}
    copied.__doc__ = command.__doc__
    return copied


def _settings_with(options: Mapping[str, Option], method: str) -> Any:
    """A class like `FitSettings` with options that a method adds, or that it defines anew under a shipped name."""
    group = f"Options of {method}"
    shipped = get_type_hints(FitSettings, include_extras=True)
    fields: list[Any] = [(name, hint, None) for name, hint in shipped.items() if name not in options]
    for name, option in options.items():
        shown = Parameter(help=option.help, group=group)
        fields.append((name, Annotated[option.kind | None, shown], None))
    made = dataclasses.make_dataclass("FitSettings", fields, bases=(FitSettings,), kw_only=True, frozen=True)
    made.__doc__, made.__module__ = (
        FitSettings.__doc__,
        FitSettings.__module__,
    )  # by which cyclopts reads help and types
    return made


def _own_options(method: Method) -> dict[str, Option]:
    """The options that the settings of a method define themselves, by name; not those it inherits from treeball."""
    kind = method.settings
    try:
        hints = get_type_hints(kind)
    except (NameError, TypeError) as error:
        raise InputError(f"the types of the settings of the method {method.name!r} cannot be read: {error}") from None
    described = dict(_ENTRY.findall(inspect.cleandoc(kind.__doc__ or "")))
    return {
        field.name: Option(hints[field.name], _help_of(field, described.get(field.name, "")))
        for field in dataclasses.fields(kind)
        if field.init and _is_own(kind, field.name)
    }


def _is_own(kind: type[Settings], name: str) -> bool:
    """Whether a class from outside, not one of treeball, defines the field."""
    home = next(one for one in kind.__mro__ if name in inspect.get_annotations(one))
    return home.__module__.partition(".")[0] != _OWN_PACKAGE


def _help_of(field: dataclasses.Field[Any], text: str) -> str:
    default = field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
    ending = "Required." if default is dataclasses.MISSING else f"Default: {default}."
    return " ".join([*text.split(), ending])
