"""The folder of a model that is served: removed at the end, or by the next service where there was no end."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import pytest

from treeball.service.folder import temporary_folder

KILLED = """
import os, signal
from treeball.service.folder import temporary_folder
with temporary_folder() as folder:
    (folder / "model.npy").write_bytes(b"...")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.skipif(os.name != "posix", reason="files are locked here")
def test_what_a_killed_service_left_is_removed_by_the_next_and_nothing_else_is(place):
    subprocess.run([sys.executable, "-c", KILLED], env=os.environ | {"TMPDIR": str(place)}, check=False)
    (abandoned,) = place.iterdir()
    others = [place / "treeball-serve-unknown", place / "treeball-else", place / "treeball-serve-link"]
    for other in others[:2]:
        other.mkdir()
    (others[1] / "in-use").touch()
    others[2].symlink_to(others[1])
    with temporary_folder() as first, temporary_folder() as second:
        assert not abandoned.exists()
        assert first.exists()
        assert second.exists()
        assert all(other.exists() for other in others)
    assert sorted(place.iterdir()) == sorted(others)
