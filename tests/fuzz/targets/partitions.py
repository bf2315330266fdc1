"""Partitioned models with one of their files damaged. A command is run on each."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from tests.scale.damage import commands, damages, fit_again
from tests.scale.hierarchies import random_edges, write

from ..case import Case
from ..dice import Dice
from ..mutate import mutated
from . import models

_EDGES = [*random_edges(60), ("alone", None)]
_VALUES: tuple[Any, ...] = (None, -1, 0, 3, 2**70, 1.5, "x", "../x", "/etc/passwd", [], [1], {}, {"a": 1}, True)
_HOME = Path("HOME")
_KNOWN = {"model.folder", "edges", "new.csv", "all.csv", "out.csv", "out.html"}
_made: dict[str, bytes] = {}
_damages: list[str] = []


def edges() -> list[tuple[str, str | None]]:
    """Edges child, parent of the model."""
    return [*_EDGES[:50], *_EDGES[-6:], ("added a", "n1"), ("z", "n4")]


def rows(some: Iterable[tuple[str, str | None]]) -> str:
    """A table of edges."""
    return "child,parent\n" + "".join(f"{child},{parent or ''}\n" for child, parent in some)


def folder_files() -> dict[str, bytes]:
    """Files of a small partitioned model with added and removed nodes by their quoted paths, made once."""
    if _made:
        return _made
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        model = home / "model.folder"
        _lay_out_sources(home)
        models.require_words(fit_again(model, home))
        (home / "added.csv").write_text(rows([("added a", "n1"), ("added b", "n2")]))
        models.require_words(["insert", str(model), str(home / "added.csv")])
        models.require_words(["update", str(model), str(home / "all.csv"), "--force"])
        files = [file for file in sorted(model.rglob("*")) if file.is_file()]
        _made.update({quote(str(file.relative_to(model)), safe=""): file.read_bytes() for file in files})
        _damages[:] = [name for name, _ in damages(model)]
    return _made


def _lay_out_sources(home: Path) -> None:
    """What the commands read besides the model."""
    write(list(_EDGES), home / "edges")
    (home / "new.csv").write_text(rows([("fresh 1", "n3"), ("fresh 2", "n3")]))
    (home / "all.csv").write_text(rows(edges()))


def _commands() -> list[list[str]]:
    """Words of all commands; HOME stands for the folder in which the model and its sources lie."""
    model = _HOME / "model.folder"
    return [*commands(model, _HOME), fit_again(model, _HOME)]


def laid_out(files: dict[str, bytes], place: Path) -> Path:
    """The partitioned model that consists of these files, in a new folder below `place`."""
    model = place / "model.folder"
    for name, data in files.items():
        path = model / unquote(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return model


def prepare() -> None:
    """Fit a small folder, and run every command on a copy."""
    folder_files()
    for command in _commands():
        case = Case("partitions", dict(_made), {"command": command, "damage": None})
        with tempfile.TemporaryDirectory() as folder:
            attempt(case, case.write(Path(folder)))


def make(dice: Dice) -> Case:
    """A folder with one of the known damages, or with another one."""
    options = {"command": dice.choice(_commands()), "damage": None}
    if dice.random() < 0.6:
        return Case("partitions", dict(_made), {**options, "damage": dice.choice(_damages)})
    return Case("partitions", _other_files(dice), options)


def _other_files(dice: Dice) -> dict[str, bytes]:
    """Files of which one is missing, cut, or has other bytes, values or entries."""
    files = dict(_made)
    name = dice.choice([*files, *(one for one in files if one.endswith(".json")), "manifest.json"])
    kind = dice.random()
    if kind < 0.08:
        del files[name]
    elif kind < 0.16:
        files[name] = files[name][: dice.randrange(len(files[name]))]
    elif kind < 0.24:
        files[name] = files[dice.choice(list(files))]
    elif name.endswith(".json") and kind < 0.7:
        files[name] = _other_entry(files[name], dice)
    elif name.endswith(".npy") and kind < 0.6:
        files[name] = _other_values(files[name], dice)
    else:
        files[name] = mutated(files[name], list(_made.values()), dice)
    return files


def attempt(case: Case, folder: Path) -> None:
    """Lay the folder out, damage it, and run the command on it."""
    with tempfile.TemporaryDirectory(prefix="treeball-fuzz-") as place:
        model = laid_out(case.files, Path(place))
        _lay_out_sources(Path(place))
        if case.options["damage"] is not None:
            dict(damages(model))[case.options["damage"]](model)
        try:
            models.require_words([word.replace(str(_HOME), place, 1) for word in case.options["command"]])
        finally:
            written = {path.name for path in Path(place).iterdir()}
            assert written <= _KNOWN, f"written outside of the model: {sorted(written - _KNOWN)}"


def _other_entry(data: bytes, dice: Dice) -> bytes:
    """JSON with another value at a place that may be deep inside."""
    value = place = json.loads(data)
    while isinstance(place, (dict, list)) and place:
        key = dice.choice(list(place) if isinstance(place, dict) else range(len(place)))
        if isinstance(place[key], (dict, list)) and place[key] and dice.random() < 0.7:
            place = place[key]
            continue
        if dice.random() < 0.2:
            del place[key]
        else:
            place[key] = dice.choice(_VALUES)
        break
    return json.dumps(value).encode()


def _other_values(data: bytes, dice: Dice) -> bytes:
    """An array in which some bytes of the numbers are others: its header stays."""
    start = min(128, len(data))
    body = bytearray(data[start:])
    for _ in range(dice.choice((1, 1, 4, 16))):
        if body:
            body[dice.randrange(len(body))] = dice.choice((0, 1, 255, dice.randrange(256)))
    return data[:start] + bytes(body)
