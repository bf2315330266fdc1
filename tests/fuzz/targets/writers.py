"""Several processes that change one model at once, one of them killed at times: what was acknowledged must be there."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import treeball
from treeball.errors import InputError
from treeball.io.model_file import load, to_table
from treeball.scale.folder import ModelFolder

from ..case import Case
from ..dice import Dice
from . import models, partitions

_LONGEST = 120.0
"""Seconds for all writers together; the machine may be busy, and a writer waits for another."""
_made: dict[str, dict[str, bytes]] = {}


def prepare() -> None:
    """Make a model file and a folder, and let one writer change each."""
    _made["file"] = {"model.parquet": models.written(to_table(treeball.fit(models.EDGES, method="sarkar", dim=3)))}
    _made["folder"] = partitions.folder_files()
    for files in _made.values():
        case = Case("writers", files, {"writers": [["a"]], "kill": None, "pauses": [0.0]})
        with tempfile.TemporaryDirectory() as folder, contextlib.suppress(InputError):
            attempt(case, case.write(Path(folder)))


def make(dice: Dice) -> Case:
    """Two or three writers, each with new nodes of its own, the moments they begin, and when one of them is killed."""
    number = dice.choice((2, 2, 3))
    writers = [[f"new {writer} {node}" for node in range(dice.choice((1, 2, 5)))] for writer in range(number)]
    kill = [dice.randrange(number), dice.uniform(0.2, 2.5)] if dice.random() < 0.5 else None
    pauses = [dice.choice((0.0, 0.0, dice.uniform(0, 0.5))) for _ in writers]
    files = _made[dice.choice(("file", "folder"))]
    return Case("writers", files, {"writers": writers, "kill": kill, "pauses": pauses})


def attempt(case: Case, folder: Path) -> None:
    """Let them write, and look for what those that ended well have written."""
    with tempfile.TemporaryDirectory(prefix="treeball-fuzz-") as place:
        is_file = "model.parquet" in case.files
        model = Path(place) / "model.parquet" if is_file else partitions.laid_out(case.files, Path(place))
        if is_file:
            model.write_bytes(case.files["model.parquet"])
        ended = _written(case, model)
        there = [[_is_there(model, name) for name in own] for own in case.options["writers"]]
    said = [error.splitlines()[-1] for code, error in ended if code > 0]
    for code, error in ended:
        assert "Traceback" not in error, error
        assert code <= 0 or error.splitlines()[-1].startswith("treeball: "), error
    for (code, _), own, found in zip(ended, case.options["writers"], there, strict=True):
        assert code != 0 or all(found), f"lost writes: {own} were acknowledged, but some are not there"
        assert all(found) or not any(found), f"half a write: of {own} only some are there"
    if said:
        raise InputError(said[0])


def _is_there(model: Path, name: str) -> bool:
    """Whether a model has a node; the model must be whole, whatever happened."""
    if model.is_dir():
        try:
            ModelFolder(model).find(name)
        except InputError:
            return False
        return True
    return name in load(model).names


def _written(case: Case, model: Path) -> list[tuple[int, str]]:
    """Exit code of every writer, below zero for one that was killed, and what it said."""
    running = []
    for writer, own in enumerate(case.options["writers"]):
        rows = model.with_name(f"rows {writer}.csv")
        above = f"n{writer + 3}" if model.is_dir() else f"inner {writer}"
        rows.write_text("child,parent\n" + "".join(f"{name},{above}\n" for name in own))
        words = [sys.executable, "-m", "treeball", "insert", str(model), str(rows)]
        words += [] if model.is_dir() else ["-o", str(model)]
        time.sleep(case.options["pauses"][writer])
        running.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
    if case.options["kill"] is not None:
        writer, seconds = case.options["kill"]
        time.sleep(seconds)
        running[writer].send_signal(signal.SIGKILL)
    try:
        errors = [process.communicate(timeout=_LONGEST)[1] for process in running]
    finally:
        for process in running:
            process.kill()
    return [(process.returncode, error) for process, error in zip(running, errors, strict=True)]
