"""Every command and every snippet of README, docs, Makefile and .ci/run is one that today's treeball takes."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from cyclopts.exceptions import MissingArgumentError

import treeball
from treeball.cli.main import COMMANDS, app
from treeball.methods.auto import resolve
from treeball.methods.fit_settings import FitSettings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINE = re.compile(rf"^\s*(?:\$ )?treeball (?=(?:{'|'.join(COMMANDS)})\b)(.*)$", re.MULTILINE)
SPAN = re.compile(r"`treeball ([a-z-][^`]*)`")
OPTION = re.compile(r"`(--[a-z][\w-]*)[^`]*`")
TREE = treeball.read([(f"{i}", f"{(i - 1) // 3}", 1.0) for i in range(1, 13)])


def _commands() -> list[Any]:
    """(where, arguments, whether all that the command needs must be there) of every command."""
    found = []
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for _, body in FENCE.findall(text):
            found += [(path.name, line, True) for line in LINE.findall(body)]
        found += [(path.name, " ".join(span.split()), False) for span in SPAN.findall(FENCE.sub("", text))]
    for path in (ROOT / "Makefile", ROOT / ".ci" / "run"):
        found += [(path.name, line, True) for line in re.findall(r'bin/treeball"? (.*)', path.read_text("utf-8"))]
    return [pytest.param(*one, id=f"{one[0]}: {one[1][:60]}") for one in dict.fromkeys(found)]


COMMAND_LINES = _commands()


def test_the_commands_are_found() -> None:
    assert len(COMMAND_LINES) > 80


@pytest.mark.parametrize(("page", "line", "complete"), COMMAND_LINES)
def test_command(page: str, line: str, complete: bool) -> None:
    # A capital N stands for a number, as in `--trace-every N`.
    arguments = ["1" if token == "N" else token for token in shlex.split(line, comments=True)]
    if arguments[0].startswith("-"):
        assert arguments[0] in ("--help", "--version")
        return
    assert arguments[0] in COMMANDS
    if "--help" in arguments:
        return
    try:
        command, bound, _ = app.parse_args(arguments, exit_on_error=False, print_error=False)
    except MissingArgumentError:
        # In the text a command may be spoken of without what it works on.
        assert not complete
        known = {name for argument in app[arguments[0]].assemble_argument_collection() for name in argument.names}
        assert {token for token in arguments if token.startswith("-")} <= known
        if arguments[0] != "fit":
            return
        arguments.insert(1, "FILE")
        command, bound, _ = app.parse_args(arguments, exit_on_error=False, print_error=False)
    if line.endswith("# refused"):
        with pytest.raises(treeball.InputError):
            resolve(TREE, bound.arguments["settings"].given())
    elif command is COMMANDS["fit"]:
        # What the method has no use for is refused here.
        settings = resolve(TREE, bound.arguments.get("settings", FitSettings()).given()).settings
        if "watching" in bound.arguments:
            bound.arguments["watching"].require_training(settings.epochs_to_train, settings.method)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_options_that_are_spoken_of_exist(path: Path) -> None:
    known = {name for command in COMMANDS for arg in app[command].assemble_argument_collection() for name in arg.names}
    known |= {"--config", "--help", "--version"}
    for script in [*ROOT.glob("benchmarks/*.py"), *ROOT.glob("docs/*/*.py"), *ROOT.glob("tools/*.py")]:
        known |= set(re.findall(r'add_argument\("(--[\w-]+)"', script.read_text("utf-8")))
    assert set(OPTION.findall(FENCE.sub("", path.read_text("utf-8")))) <= known


@pytest.mark.parametrize("path", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_names_that_are_spoken_of_exist(path: Path) -> None:
    text = FENCE.sub("", path.read_text("utf-8"))
    for name in re.findall(r"`(treeball(?:\.\w+)+)", text):
        _follow(name)
    for module, name in re.findall(r"`(poincare|lorentz|capacity)\.(\w+)", text):
        _require(f"treeball.geometry.{module}", name)
    for file in re.findall(r"`((?:src|docs|tests|benchmarks|tools)/[\w./-]+\.\w+)`", text):
        assert (ROOT / file).exists() or "NAME" in file, file


def _follow(name: str) -> None:
    """The name can be reached: by modules as far as there are any, then by attributes."""
    module = name
    attributes: list[str] = []
    while True:
        try:
            found: Any = importlib.import_module(module)
            break
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            attributes.insert(0, last)
    for attribute in attributes:
        found = getattr(found, attribute)


def _snippets() -> list[Any]:
    found = []
    for path in PAGES:
        blocks = [body for language, body in FENCE.findall(path.read_text("utf-8")) if language == "python"]
        found += [pytest.param(body, id=f"{path.name}-{number}") for number, body in enumerate(blocks, 1)]
    return found


@pytest.mark.parametrize("code", _snippets())
def test_snippet(code: str) -> None:
    """What it imports exists, what it takes from the package is public, and its settings are not refused."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "treeball":
            for alias in node.names:
                _require(str(node.module), alias.name)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "treeball":
            assert node.attr in treeball.__all__
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "treeball.fit":
            given = {one.arg: one.value.value for one in node.keywords if isinstance(one.value, ast.Constant)}
            settings = {field.name for field in dataclasses.fields(FitSettings)}
            assert set(given) <= settings | set(inspect.signature(treeball.fit).parameters)
            if f'Method("{given.get("method")!s}"' not in code:  # else it is registered here
                resolve(TREE, {name: value for name, value in given.items() if name in settings})


def test_the_snippet_for_gensim_gives_our_distances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gensim")
    (code,) = (code.values[0] for code in _snippets() if "PoincareKeyedVectors" in code.values[0])
    embedding = treeball.fit("example:mammals", dim=3)
    embedding.export(tmp_path / "mammals.txt")
    monkeypatch.chdir(tmp_path)
    *lines, last = code.strip().splitlines()
    scope: dict[str, Any] = {}
    exec("\n".join([*lines, f"distance = {last}"]), scope)
    assert scope["distance"] == pytest.approx(embedding.distance("dog.n.01", "cat.n.01"), rel=1e-9)


def _require(module: str, name: str) -> None:
    """The name is in the module, or a module itself."""
    if not hasattr(importlib.import_module(module), name):
        importlib.import_module(f"{module}.{name}")


API = (ROOT / "docs" / "api.md").read_text("utf-8")
MODULES = {"treeball.torch", "treeball.sklearn", "treeball.geometry"}


def test_the_api_page_has_what_is_public_and_nothing_else() -> None:
    listed = re.findall(r"^::: (\S+)$", API, re.MULTILINE)
    assert len(listed) == len(set(listed))
    names = {one.removeprefix("treeball.") for one in listed if one.count(".") == 1 and one not in MODULES}
    assert names == set(treeball.__all__) - {"__version__"}
    assert "`treeball.__version__`" in API
    below = {one for one in listed if one.count(".") > 1}
    assert all(any(one.startswith(f"{module}.") for module in MODULES) for one in below)
    for one in below:
        module, _, name = one.rpartition(".")
        assert name in importlib.import_module(module).__all__
    for module in MODULES:
        public = {f"{module}.{name}" for name in importlib.import_module(module).__all__}
        assert public == {one for one in below if one.startswith(f"{module}.")}
