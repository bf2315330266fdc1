"""Ctrl-C at any moment of a command: exit code 130, no traceback, and every file whole or as it was."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import treeball

EDGES = [(f"n{i}", f"n{(i - 1) // 6}") for i in range(1, 2_000)]
SHARES = [0.15, 0.35, 0.55, 0.75, 0.95]


def write(path: Path, edges: list[tuple[str, str]]) -> Path:
    path.write_text("child,parent\n" + "".join(f"{child},{parent}\n" for child, parent in edges))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("moments")
    write(made / "tree.csv", EDGES)
    (made / "edges").mkdir()
    write(made / "edges" / "0.csv", EDGES)
    write(made / "new.csv", [(f"x{i}", f"n{i}") for i in range(300)])
    treeball.fit(EDGES, dim=5, method="construct").save(made / "m.parquet")
    treeball.load(made / "m.parquet").export(made / "v.csv")
    return made


COMMANDS = {
    "info": ["info", "m.parquet"],
    "fit": ["fit", "tree.csv", "-o", "out.parquet", "--dim", "5"],
    "train": ["fit", "tree.csv", "-o", "out.parquet", "--dim", "5", "--method", "poincare", "--epochs", "30"],
    "partitioned": ["fit", "edges/*.csv", "-o", "out", "--dim", "5"],
    "insert": ["insert", "m.parquet", "new.csv", "-o", "out.parquet"],
    "update": ["update", "m.parquet", "tree.csv", "-o", "out.parquet"],
    "import": ["import", "v.csv", "--hierarchy", "tree.csv", "-o", "out.parquet"],
    "export": ["export", "m.parquet", "-o", "out.csv"],
    "view": ["view", "m.parquet", "-o", "out.html"],
    "serve": ["serve", "m.parquet", "--port", "0"],
    "serve with two": ["serve", "m.parquet", "--port", "0", "--workers", "2"],
}


def started(folder: Path, arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "treeball", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # In the background the shell has its commands ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def seconds_of(folder: Path, arguments: list[str]) -> float:
    """How long a command takes, or until it serves."""
    began = time.monotonic()
    with started(folder, arguments) as process:
        try:
            if arguments[0] == "serve":
                assert process.stderr is not None
                process.stderr.readline()
                return 1.2 * (time.monotonic() - began)
            process.communicate(timeout=120)
        finally:
            process.kill()
    return time.monotonic() - began


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGINT for one process")
@pytest.mark.parametrize(
    "name", [name if name in ("info", "insert") else pytest.param(name, marks=pytest.mark.slow) for name in COMMANDS]
)
def test_ctrl_c_at_any_moment_ends_with_130(name: str, folder: Path) -> None:
    arguments = COMMANDS[name]
    before = {path.name for path in folder.iterdir()}
    span = seconds_of(folder, arguments)
    remove(folder, before)
    for share in SHARES:
        with started(folder, arguments) as process:
            try:
                time.sleep(0.1 + share * max(0.0, span - 0.1))
                was_running = process.poll() is None
                process.send_signal(signal.SIGINT)
                said = process.communicate(timeout=60)[1]
            finally:
                process.kill()
        # A run may be faster than the one that was timed, and be ending when the signal comes.
        is_over = not was_running or (process.returncode == 0 and said.splitlines()[-1:] == ["saved out.parquet"])
        assert is_over or process.returncode == 130, (share, said)
        assert "Traceback" not in said
        assert "Exception ignored" not in said
        for path in folder.iterdir():
            if path.name in before:
                continue
            assert path.name.startswith("out"), path  # no temporary file
            if path.name == "out.parquet":
                treeball.load(path)  # a file is whole
        remove(folder, before)


def remove(folder: Path, kept: set[str]) -> None:
    import shutil

    for path in folder.iterdir():
        if path.name not in kept:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
