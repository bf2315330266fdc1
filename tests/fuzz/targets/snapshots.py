"""Snapshots of a training, `.frames.npz`, mutated."""

from __future__ import annotations

import contextlib
import io
import tempfile
import zipfile
from pathlib import Path

import numpy as np

import treeball
from treeball.cli.main import run
from treeball.report.snapshots import load_frames

from ..case import Case
from ..dice import Dice
from ..mutate import mutated

_EDGES = [(f"leaf {i}", f"inner {i % 3}") for i in range(9)] + [(f"inner {i}", "root") for i in range(3)]
_made: dict[str, bytes] = {}
_hierarchies: list[treeball.Hierarchy] = []


def prepare() -> None:
    """Record a training, and read it back."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tree.csv").write_text("\n".join(",".join(edge) for edge in _EDGES), "utf-8")
        options = ["--method", "poincare", "--dim", "2", "--epochs", "6", "--threads", "1", "--snapshots", "3"]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            assert run(["fit", str(folder / "tree.csv"), "-o", str(folder / "m.parquet"), *options]) == 0
        (found,) = folder.glob("*.frames.npz")
        _made["input"] = found.read_bytes()
        _hierarchies[:] = [treeball.load(folder / "m.parquet").hierarchy]
        attempt(Case("snapshots", _made), Case("snapshots", _made).write(folder / "case"))


def make(dice: Dice) -> Case:
    """The archive mutated, or one of the arrays in it, whole otherwise."""
    data = _made["input"]
    if dice.random() < 0.3:
        return Case("snapshots", {"input": mutated(data, [data], dice)})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = dice.choice(list(parts))
    if dice.random() < 0.5:
        parts[name] = mutated(parts[name], list(parts.values()), dice)
    else:
        parts[name] = _other_array(parts[name], dice)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for part, content in parts.items():
            archive.writestr(zipfile.ZipInfo(part), content)
    return Case("snapshots", {"input": out.getvalue()})


def attempt(case: Case, folder: Path) -> None:
    """Read the frames, and all that a player of them looks at."""
    frames = load_frames(folder / "input", _hierarchies[0])
    for frame in range(len(frames)):
        frames.ill(frame)
        _ = frames.places[frame], frames.loss[frame], frames.map[frame], frames.epoch[frame]


def _other_array(data: bytes, dice: Dice) -> bytes:
    """The array with another type, shape or other values."""
    array = np.load(io.BytesIO(data), allow_pickle=False)
    kind = dice.randrange(4)
    if kind == 0:
        with contextlib.suppress(ValueError):  # a text is no number
            array = array.astype(dice.choice(("<i1", "<f4", "<U3", "<c16", "?")))
    elif kind == 1:
        array = array.reshape(-1)[: dice.randint(0, array.size)]
    elif kind == 2:
        array = np.asarray([array, array])
    else:
        array = np.full_like(array, dice.choice((0, 1, 100)))
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()
