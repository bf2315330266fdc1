"""The temporary folder in which a model is laid out; one that a killed service left is removed by the next."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["temporary_folder"]

_PREFIX, _IN_USE = "treeball-serve-", "in-use"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for as long as it is used, with a locked file in it: a lock ends with its process, however that ends."""
    _remove_abandoned()
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as name:
        folder = Path(name)
        lock = os.open(folder / "new", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _locks(lock)
            (folder / "new").rename(folder / _IN_USE)  # by this name it has always been locked
            yield folder
        finally:
            os.close(lock)


def _remove_abandoned() -> None:
    if os.name != "posix":
        return
    for file in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_IN_USE}"):
        with suppress(OSError):
            if file.parent.is_symlink() or file.parent.stat().st_uid != os.getuid():
                continue
            opened = os.open(file, os.O_RDWR | os.O_NOFOLLOW)
            try:
                if _locks(opened):
                    shutil.rmtree(file.parent, ignore_errors=True)
            finally:
                os.close(opened)


def _locks(opened: int) -> bool:
    """Whether nobody else holds the file; then this process does."""
    if os.name != "posix":
        return True
    import fcntl

    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
