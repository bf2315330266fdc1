"""A hash of the code that computes a record: another one, and the record is no longer what this code would compute.

It follows imports from the module of the method and from the evaluation through the rooms that compute. Comments,
docstrings and layout do not count. Settings and data do not either: a record has them itself.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ..methods.registry import find

__all__ = ["code_hash", "code_of", "stripped"]

_PACKAGE = "treeball"
_COMPUTING = tuple(f"{_PACKAGE}.{room}." for room in ("engine", "geometry", "methods", "evaluation"))
_SETTINGS = {f"{_PACKAGE}.methods.{name}" for name in ("settings", "training_settings", "fit_settings", "registry")}
_EVALUATION = f"{_PACKAGE}.evaluation._evaluate"


def code_hash(method: str) -> str:
    """Hash of what trains by `method` and scores what it has trained."""
    return _hash(find(method).run.__module__)


@cache
def _hash(home: str) -> str:
    text = "\n".join(f"{name}\n{stripped(path.read_text('utf-8'))}" for name, path in sorted(code_of(home).items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def code_of(home: str) -> dict[str, Path]:
    """The modules that count, by name: the one of a method, the evaluation, and what they import."""
    found: dict[str, Path] = {}
    waiting = [home, _EVALUATION]
    while waiting:
        name = waiting.pop()
        # A method that somebody registered may live anywhere.
        computes = name == home or f"{name}.".startswith(_COMPUTING)
        if name in found or name in _SETTINGS or not computes or (path := _source(name)) is None:
            continue
        found[name] = path
        waiting += _imported(ast.parse(path.read_text("utf-8")), name, path.name == "__init__.py")
    return found


def stripped(source: str) -> str:
    """A module without comments, docstrings and layout: its tokens, the same under every version of Python."""
    found, docstrings, lines = [], _docstrings(ast.parse(source)), source.splitlines(keepends=True)
    opened: list[tuple[int, int]] = []
    after_docstring = False
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        # From 3.12 on a formatted string has tokens of its own; before, it is one.
        if kind == "FSTRING_START":
            opened.append(token.start)
        elif kind == "FSTRING_END":
            start = opened.pop()
            if not opened:
                found.append(_between(lines, start, token.end))
        elif kind == "STRING" and token.start in docstrings:
            after_docstring = True
        elif after_docstring and kind == "NEWLINE":
            after_docstring = False
        elif not opened and kind not in ("COMMENT", "NL", "ENCODING"):
            found.append(kind if kind in ("INDENT", "DEDENT", "NEWLINE") else token.string)
    return "\n".join(found)


def _docstrings(tree: ast.AST) -> set[tuple[int, int]]:
    """Where docstrings begin."""
    bodies = [body for node in ast.walk(tree) if isinstance(body := getattr(node, "body", None), list) and body]
    return {(body[0].lineno, body[0].col_offset) for body in bodies if _is_docstring(body[0])}


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """The source between two places, lines from 1, columns from 0."""
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    inner = lines[start[0] : end[0] - 1]
    return "".join([lines[start[0] - 1][start[1] :], *inner, lines[end[0] - 1][: end[1]]])


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _imported(node: ast.AST, home: str, is_package: bool) -> Iterator[str]:
    """Names of the modules that a module imports, those within functions as well; those for types alone do not run."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            above = home.split(".")
            above = above[: len(above) - child.level + is_package] if child.level else []
            origin = ".".join([*above, *([child.module] if child.module else [])])
            yield origin
            yield from (f"{origin}.{alias.name}" for alias in child.names)
        else:
            yield from _imported(child, home, is_package)


def _source(name: str) -> Path | None:
    """The file of a module; None for what is none, such as the name of a function."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    return Path(spec.origin)
