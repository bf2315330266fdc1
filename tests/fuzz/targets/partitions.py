"""Partitioned models with one of their files damaged. A command is run on each."""

from __future__ import annotations

import json
import shlex
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from tests.scale.hierarchies import random_edges, write
from treeball.scale.fit import fit_folder
from treeball.scale.settings import ScaleSettings

from ..case import Case
from ..dice import Dice
from ..mutate import mutated
from . import models

_NODES = 60
_NEW = b"child,parent\nnew 1,n3\nnew 2,n3\n"
_COMMANDS = (
    "info MODEL", "verify MODEL", "evaluate MODEL --sample 20", "neighbors MODEL n7 -k 3",
    "ask MODEL parents n7 --from hierarchy", "ask MODEL ancestors n7 --from hierarchy",
    "ask MODEL subtree n1 --from hierarchy", "ask MODEL path n7 n9 --from hierarchy", "ask MODEL parent n7",
    "export MODEL -o out.csv", "view MODEL --html out.html --no-open", "insert MODEL tree.csv",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (None, -1, 0, 3, 2**70, 1.5, "x", "../x", "/etc/passwd", [], [1], {}, {"a": 1}, True)
_made: dict[str, bytes] = {}


def folder_files() -> dict[str, bytes]:
    """Files of a small partitioned model by their quoted paths, made once."""
    if _made:
        return _made
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        pattern = write(random_edges(_NODES), home / "edges")
        settings = ScaleSettings(method="construct", dim=3, branch_nodes=30, workers=1)
        fit_folder((pattern,), home / "model", settings, lambda *_: None)
        files = [file for file in (home / "model").rglob("*") if file.is_file()]
        _made.update({quote(str(file.relative_to(home / "model")), safe=""): file.read_bytes() for file in files})
    return _made


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
    for command in _COMMANDS:
        case = Case("partitions", dict(_made), {"command": command})
        with tempfile.TemporaryDirectory() as folder:
            attempt(case, case.write(Path(folder)))


def make(dice: Dice) -> Case:
    """A folder in which a file is missing, cut, or has other bytes, values or entries."""
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
    return Case("partitions", files, {"command": dice.choice(_COMMANDS)})


def attempt(case: Case, folder: Path) -> None:
    """Lay the folder out, and run the command on it."""
    with tempfile.TemporaryDirectory(prefix="treeball-fuzz-") as place:
        laid_out(case.files, Path(place))
        (Path(place) / "tree.csv").write_bytes(_NEW)
        command = " ".join("model.folder" if word == "MODEL" else word for word in shlex.split(case.options["command"]))
        models.attempt(Case("partitions", {}, {"command": command}), Path(place))


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
