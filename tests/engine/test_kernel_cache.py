"""Compiled kernels: where they are kept, and that a place which cannot be written is no obstacle."""

from __future__ import annotations

import os
import subprocess
import sys
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


def where(tmp_path: Path, before: str = "sys", **settings: str) -> str:
    """The folder that a new process names, after it has compiled a kernel."""
    script = tmp_path / "kernel.py"  # numba keeps nothing of code that is in no file
    script.write_text(FIRST_KERNEL.format(before=before))
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    ran = subprocess.run([sys.executable, script], env={**kept, **settings}, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


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
