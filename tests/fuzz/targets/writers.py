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
    """Make a model file and a folder, and let a writer of each kind change each."""
    _made["file"] = {"model.parquet": models.written(to_table(treeball.fit(models.EDGES, method="sarkar", dim=3)))}
    _made["folder"] = partitions.folder_files()
    for files in _made.values():
        for kind in ("insert", "update"):
            case = Case("writers", files, {"writers": [[kind, "a"]], "kill": None, "pauses": [0.0]})
            with tempfile.TemporaryDirectory() as folder:
                attempt(case, case.write(Path(folder)))


def make(dice: Dice) -> Case:
    """Two or three writers, each with new nodes of its own, the moments they begin, and when one of them is killed.

    It is killed some time after the last began, or after one of them has taken the lock, which is while they write.
    """
    number = dice.choice((2, 2, 3))
    kinds = ["insert", *(dice.choice(("insert", "update")) for _ in range(number - 1))]
    dice.shuffle(kinds)
    writers = [
        [kind, *(f"new {writer} {node}" for node in range(dice.choice((1, 2, 5))))] for writer, kind in enumerate(kinds)
    ]
    moment = dice.choice((["start", dice.uniform(0.2, 2.5)], ["lock", dice.uniform(0.0, 0.4)]))
    kill = [dice.randrange(number), *moment] if dice.random() < 0.6 else None
    pauses = [dice.choice((0.0, 0.0, dice.uniform(0, 0.5))) for _ in writers]
    files = _made[dice.choice(("file", "folder"))]
    return Case("writers", files, {"writers": writers, "kill": kill, "pauses": pauses})


def attempt(case: Case, folder: Path) -> None:
    """Let them write, and look for what those that ended well have written.

    An update may remove nothing here. So each write that is acknowledged stays, whatever the order.
    """
    with tempfile.TemporaryDirectory(prefix="treeball-fuzz-") as place:
        is_file = "model.parquet" in case.files
        model = Path(place) / "model.parquet" if is_file else partitions.laid_out(case.files, Path(place))
        if is_file:
            model.write_bytes(case.files["model.parquet"])
        ended = _written(case, model)
        _require_whole(model)
        there = [[_is_there(model, name) for name in own] for _, *own in case.options["writers"]]
    said = [error.splitlines()[-1] for code, error in ended if code > 0]
    for code, error in ended:
        assert "Traceback" not in error, error
        assert code <= 0 or error.splitlines()[-1].startswith("treeball: "), error
        assert "another program has changed it" not in error, f"a writer worked without the lock: {error}"
    for (code, _), (_, *own), found in zip(ended, case.options["writers"], there, strict=True):
        assert code != 0 or all(found), f"lost writes: {own} were acknowledged, but some are not there"
        assert all(found) or not any(found), f"half a write: of {own} only some are there"
        assert code <= 0 or not any(found), f"{own} were refused, but are there"
    if said:
        raise InputError(said[0])


def _require_whole(model: Path) -> None:
    """The model must be readable and keep all old nodes, however its writers ended."""
    try:
        models.require_words(["info", str(model)])
        old = ["n7", "z", "alone"] if model.is_dir() else ["leaf 7", "root"]
        missing = [name for name in old if not _is_there(model, name)]
    except InputError as error:
        raise AssertionError(f"the writers left a damaged model: {error}") from error
    assert not missing, f"lost nodes: {missing}"


def _is_there(model: Path, name: str) -> bool:
    """Whether a model has a node."""
    if not model.is_dir():
        return name in load(model).names
    opened = ModelFolder(model)
    with contextlib.suppress(InputError):
        opened.find(name)
        return True
    return False


def _await_lock(model: Path, running: list[subprocess.Popen[str]]) -> None:
    """Wait until one of the writers holds the lock, or all have ended."""
    lock = model / ".lock" if model.is_dir() else model.with_name(f".{model.name}.lock")
    while not lock.exists() and any(process.poll() is None for process in running):
        time.sleep(0.005)


def _written(case: Case, model: Path) -> list[tuple[int, str]]:
    """Exit code of every writer, below zero for one that was killed, and what it said."""
    running = []
    for writer, (kind, *own) in enumerate(case.options["writers"]):
        rows = model.with_name(f"rows {writer}.csv")
        above = f"n{writer + 3}" if model.is_dir() else f"inner {writer}"
        old = partitions.edges() if model.is_dir() else [*models.EDGES, ("root", None)]
        new: list[tuple[str, str | None]] = [(name, above) for name in own]
        rows.write_text(partitions.rows([*(old if kind == "update" else []), *new]))
        words = [sys.executable, "-m", "treeball", kind, str(model), str(rows)]
        words += [] if model.is_dir() else ["-o", str(model)]
        words += ["--max-removed", "0"] if kind == "update" else []
        time.sleep(case.options["pauses"][writer])
        running.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
    if case.options["kill"] is not None:
        writer, since, seconds = case.options["kill"]
        if since == "lock":
            _await_lock(model, running)
        time.sleep(seconds)
        running[writer].send_signal(signal.SIGKILL)
    try:
        errors = [process.communicate(timeout=_LONGEST)[1] for process in running]
    finally:
        for process in running:
            process.kill()
    return [(process.returncode, error) for process, error in zip(running, errors, strict=True)]
