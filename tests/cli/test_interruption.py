"""What takes more than a moment shows on a terminal what it does; Ctrl-C ends it at once and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeball
from treeball import Hierarchy
from treeball.cli.main import run
from treeball.methods.progress import HealingProgress

pty = pytest.importorskip("pty")

_SHOWN_WITHIN, _ENDED_WITHIN = 120.0, 20.0  # seconds; far more than it takes, for a machine that is busy


def tree_of(n: int) -> list[tuple[str, str]]:
    """A sixth of the nodes are inner ones; the others hang below them by chance."""
    inner = n // 6
    above = np.where(np.arange(n) < inner, (np.arange(n) - 1) // 6, np.random.default_rng(0).integers(0, inner, n))
    return [(f"node {code}", f"node {parent}") for code, parent in enumerate(above.tolist()) if code]


def write(path: Path, edges: list[tuple[str, str]]) -> Path:
    path.write_text("child,parent\n" + "".join(f"{child},{parent}\n" for child, parent in edges))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that keep every command busy for several seconds."""
    made = tmp_path_factory.mktemp("large")
    write(made / "tree.csv", tree_of(600_000))
    write(made / "long.csv", tree_of(2_500_000))
    edges = tree_of(60_000)
    model = treeball.fit(edges, dim=8, method="construct", seed=0)
    model.save(made / "model.parquet")
    write(made / "new.csv", [(f"new {i}", f"node {i % 10_000}") for i in range(120_000)])
    write(made / "next.csv", edges + [(f"new {i}", f"node {i % 10_000}") for i in range(120_000)])
    # Each is asked for many times: once around, a fast machine is done within the second before anything is shown.
    (made / "names.txt").write_text("".join(f"node {i}\n" for i in range(60_000)) * 30)
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stage", "arguments"),
    [
        ("reading", ["fit", "long.csv", "-o", "out.parquet"]),
        ("placing", ["fit", "tree.csv", "-o", "out.parquet"]),
        ("finding neighbours", ["neighbors", "model.parquet", "--from-file", "names.txt", "--json"]),
        ("placing nodes", ["insert", "model.parquet", "new.csv", "-o", "out.parquet"]),
        ("placing nodes", ["update", "model.parquet", "next.csv", "-o", "out.parquet"]),
    ],
)
def test_progress_is_shown_and_ctrl_c_answered(folder: Path, stage: str, arguments: list[str]) -> None:
    before = sorted(path.name for path in folder.iterdir())
    terminal, its_end = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "treeball", *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=its_end,
        env={**os.environ, "COLUMNS": "120", "TERM": "xterm"},
        # Whoever starts the tests in the background lets them, and what they start, ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        os.close(its_end)
        try:
            said = read_until(terminal, lambda text: stage in text, _SHOWN_WITHIN)
            assert stage in said, "it was done before it showed anything: give it more to do"
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            said += read_until(terminal, lambda _: False, _ENDED_WITHIN)
            assert process.wait(_ENDED_WITHIN) == 130
            assert time.monotonic() - began < _ENDED_WITHIN
        finally:
            process.kill()
            os.close(terminal)
    assert said.rstrip().endswith("treeball: interrupted")
    assert "Traceback" not in said
    assert sorted(path.name for path in folder.iterdir()) == before


def read_until(terminal: int, is_enough: Callable[[str], bool], seconds: float) -> str:
    """What a terminal shows until that is enough, or nobody writes to it any more."""
    import select

    said, end = "", time.monotonic() + seconds
    while not is_enough(said):
        left = end - time.monotonic()
        assert left > 0, said
        if not select.select([terminal], [], [], left)[0]:
            continue
        try:
            said += os.read(terminal, 65_536).decode("utf-8", "replace")
        except OSError:  # nobody is left at the other end
            break
    return said


def test_in_a_pipe_quick_answers_come_without_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hierarchy: Hierarchy = treeball.read("example:mammals")
    treeball.fit(hierarchy, dim=5).save(tmp_path / "model.parquet")
    (tmp_path / "names.txt").write_text("".join(f"{name}\n" for name in hierarchy.names))
    files = [str(tmp_path / "model.parquet"), "--from-file", str(tmp_path / "names.txt")]
    assert run(["neighbors", *files, "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert len(said.out.splitlines()) == hierarchy.n_nodes


_INTERRUPTED_WHILE_LOADING = """
import runpy, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "cyclopts":
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Finder())
sys.argv = ["treeball", "doctor"]
"""


@pytest.mark.parametrize(
    "start", ["runpy.run_module('treeball', run_name='__main__')", "from {module} import {name}; {name}()"]
)
def test_an_interruption_while_the_program_still_loads_is_one_sentence(start: str) -> None:
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    module, name = settings["project"]["scripts"]["treeball"].split(":")
    code = _INTERRUPTED_WHILE_LOADING + start.format(module=module, name=name)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "treeball: interrupted\n")


def test_a_healing_that_ctrl_c_ends_is_saved_and_exits_with_130(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = treeball.fit("example:mammals", method="poincare", dim=3, epochs=20, seed=0, heal=False)
    model.save(tmp_path / "model.parquet")
    after_round = HealingProgress.__call__

    def interrupted(self: HealingProgress, *arguments: Any) -> bool:
        signal.raise_signal(signal.SIGINT)
        return after_round(self, *arguments)

    monkeypatch.setattr(HealingProgress, "__call__", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert run(["heal", str(tmp_path / "model.parquet"), "-o", str(tmp_path / "healed.parquet")]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert "stopping at the end of this round" in capsys.readouterr().err
    assert len(treeball.load(tmp_path / "healed.parquet")) == len(model)
    assert run(["info", str(tmp_path / "healed.parquet")]) == 0  # the next command is another


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGINT for one process")
def test_ctrl_c_while_names_of_a_partitioned_model_are_written(tmp_path: Path) -> None:
    """DuckDB calls back into Python there, and makes another error of what is raised in it."""
    write(tmp_path / "edges.csv", tree_of(6_000))
    code = """
import os, signal, sys
from treeball.scale import naming
seen = naming._first_seen
def interrupted(*arguments):
    os.kill(os.getpid(), signal.SIGINT)
    return seen(*arguments)
naming._first_seen = interrupted
from treeball.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main(["fit", "*.csv", "-o", "model", "--dim", "5"])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 130
    assert done.stderr.splitlines()[-1] == "treeball: interrupted"
    assert "names could not be written" not in done.stderr
