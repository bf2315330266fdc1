"""Compiled kernels: where they are kept, and that a place which cannot be written is no obstacle."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

FIRST_KERNEL = """
import {before}
from treeball.engine.cpu.compiler import cache_directory, compiled

@compiled
def successor(number):
    return number + 1

assert successor(1) == 2
print(cache_directory())
"""


def ran(tmp_path: Path, before: str = "sys", **settings: str) -> subprocess.CompletedProcess[str]:
    """A new process that has compiled a kernel."""
    script = tmp_path / "kernel.py"  # numba keeps nothing of code that is in no file
    script.write_text(FIRST_KERNEL.format(before=before))
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    return subprocess.run(
        [sys.executable, script], env={**kept, **settings}, capture_output=True, text=True, check=True
    )


def where(tmp_path: Path, before: str = "sys", **settings: str) -> str:
    """The folder that it names."""
    return ran(tmp_path, before, **settings).stdout.strip()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these systems have another place")
def test_the_users_cache_folder(tmp_path: Path) -> None:
    home, chosen = tmp_path / "home", tmp_path / "chosen"
    assert Path(where(tmp_path, HOME=str(home))).parent == home / ".cache" / "treeball"
    assert list((home / ".cache" / "treeball").rglob("*.nbc"))
    assert Path(where(tmp_path, HOME=str(home), XDG_CACHE_HOME=str(chosen))).parent == chosen / "treeball"
    assert list((chosen / "treeball").rglob("*.nbc"))


def test_the_folder_that_numba_is_told(tmp_path: Path) -> None:
    assert Path(where(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "numba"))).parent == tmp_path / "numba" / "treeball"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these systems have another place")
def test_without_a_place_kernels_are_compiled_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert where(tmp_path, XDG_CACHE_HOME=str(tmp_path / "file")).startswith(str(tmp_path / "file"))
    (tmp_path / "homeless.py").write_text("import os, pwd\ndel os.environ['HOME']\npwd.getpwuid = {}.__getitem__\n")
    assert where(tmp_path, "homeless") == "None"
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".py") in (
        ["file"],
        ["__pycache__", "file"],
    )


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize("ending", ["nbc", "nbi"])
@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-9], flipped, lambda data: b"\x80" * 99])
def test_damaged_files_are_said_and_made_anew(tmp_path: Path, ending: str, damage: Callable[[bytes], bytes]) -> None:
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    assert ran(tmp_path, **kept).stderr == ""
    files = sorted((tmp_path / "numba").rglob(f"kernel.successor*.{ending}"))
    assert files
    for path in files:
        path.write_bytes(damage(path.read_bytes()))
    again = ran(tmp_path, **kept)
    assert again.stderr.count("is damaged") == 1
    assert "compiled anew" in again.stderr
    assert ran(tmp_path, **kept).stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such limit")
def test_a_full_disk_is_said_and_passed_by(tmp_path: Path) -> None:
    (tmp_path / "full.py").write_text("import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))\n")
    said = ran(tmp_path, "full", NUMBA_CACHE_DIR=str(tmp_path / "numba")).stderr
    assert said.count("compiled code cannot be kept in") == 1
    assert "Traceback" not in said
