"""The benchmark of faults, small: nothing is lost when commands are killed, disks are full, or two write at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="faults are made by what Linux offers")
def test_nothing_is_lost(tmp_path):
    command = [sys.executable, str(ROOT / "benchmarks" / "faults.py"), "--kills", "12", "--writers", "6", "--no-mounts"]
    command += ["--commands", "fit", "insert", "export npy"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(
        line.split(": ") for line in done.stdout.splitlines() if line.startswith(("old: ", "new: ", "LOST: "))
    )
    assert counts["LOST"] == "0"
    assert int(counts["old"]) > 20
    assert int(counts["new"]) > 10
