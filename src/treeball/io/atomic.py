"""Writing files so that a crash leaves the old file or the new one, never half of one.

What is being written lies in a hidden folder beside the target, locked as long as its writer lives. A writer that was
killed leaves it behind; the next one that writes to the same target finds it unlocked and removes it. The lock is kept
by the system and not by a number of a process, which means nothing on another machine or in a container.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import InputError

try:
    import fcntl
except ImportError:  # on Windows there is no such lock, and nothing is removed
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "DiskFull", "atomic_write", "cannot_write", "is_disk_full", "require_file_name", "require_writable", "sync_folder",
]  # fmt: skip

_ATTEMPTS = 100
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_NOT_FOR_FOLDERS = (errno.EINVAL, errno.EBADF, errno.EACCES, errno.EPERM, errno.ENOTSUP, errno.ENOSYS)


class DiskFull(InputError):
    """There was no room for an output."""


@contextmanager
def atomic_write(target: Path) -> Iterator[Path]:
    """Give a temporary path; what is there in the end is synced and renamed to `target`, after an error removed.

    The folder is synced as well: what was told to be written is there after a loss of power.

    The temporary file has the name of the target, in another folder: whatever goes by its ending writes the same.
    A symbolic link stays one: the file it points to is replaced.
    """
    require_file_name(target)
    target = Path(os.path.realpath(target))
    written = 0
    try:
        with _folder_beside(target) as folder:
            temporary = folder / target.name
            try:
                yield temporary
                with open(temporary, "rb") as file:
                    os.fsync(file.fileno())
            finally:
                with contextlib.suppress(OSError):
                    written = temporary.stat().st_size
            os.replace(temporary, target)
            sync_folder(target.parent)
    except OSError as error:
        raise cannot_write(target, error, written) from error


def require_writable(target: Path, *inputs: Path | str) -> None:
    """Fail now rather than after the work when `target` could not be written, or is one of the `inputs`."""
    require_file_name(target)
    for source in inputs:
        if target.exists() and Path(source).exists() and target.samefile(source):
            raise InputError(f"cannot write {str(target)!r}: it is the input; choose another name for the output")
    try:
        with _folder_beside(Path(os.path.realpath(target))) as folder:
            (folder / target.name).touch()
    except OSError as error:
        raise cannot_write(target, error) from error


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk; OSError where the disk fails.

    Not on Windows, which opens no folders, nor in one that may be written to and not read, nor on file systems that
    have no such thing, mostly those of networks: there the system writes names in its own time.
    """
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NOT_FOR_FOLDERS:
            raise
    finally:
        os.close(handle)


def is_disk_full(error: OSError) -> bool:
    """Whether a disk, a quota or a limit on the size of files left no room."""
    return error.errno in _FULL


def cannot_write(target: Path, error: OSError, written: int = 0) -> InputError:
    """The sentence for an output that cannot be written; `written` bytes of it there was room for."""
    if not target.parent.is_dir():
        return InputError(f"cannot write {str(target)!r}: there is no folder {str(target.parent)!r}; create it first")
    reason = os.strerror(error.errno) if error.errno else str(error)
    if is_disk_full(error):
        free = shutil.disk_usage(target.parent).free
        needs = f"it needs more than {written:,} bytes, and " if written else ""
        is_limited = error.errno == errno.EFBIG and written < free
        remedy = "raise the limit on the size of a file (ulimit -f)" if is_limited else "make room there"
        return DiskFull(
            f"cannot write {str(target)!r}: {reason}; {needs}{free:,} bytes are free on the disk of "
            f"{str(target.parent)!r}: {remedy}, or choose another path for the output"
        )
    return InputError(f"cannot write {str(target)!r}: {reason}; choose another path for the output")


def require_file_name(target: Path) -> None:
    """Refuse a directory, a device and a path without a name as the file to write."""
    if target.is_dir() or not target.name:
        raise InputError(f"cannot write {str(target)!r}: it is a directory; give a file name such as model.parquet")
    if target.exists() and not target.is_file():
        raise InputError(
            f"cannot write {str(target)!r}: it is not an ordinary file; choose another path for the output"
        )


# ---- the folder ----


@contextmanager
def _folder_beside(target: Path) -> Iterator[Path]:
    """A folder of one's own on the disk of the target, removed in the end with all that is in it."""
    _remove_leftovers(target)
    folder, lock = _locked_folder(target)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _locked_folder(target: Path) -> tuple[Path, int | None]:
    """A new folder and what keeps it locked; another writer that tidies up may take it before the lock does."""
    for _ in range(_ATTEMPTS):
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent))
        if fcntl is None:
            return folder, None
        try:
            lock = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:
            continue
        is_ours = _takes_lock(lock, or_if_there_are_none=True)
        if is_ours and folder.exists():
            return folder, lock
        os.close(lock)
    raise OSError(f"the folders of {_ATTEMPTS} attempts were removed by others")


def _takes_lock(handle: int, *, or_if_there_are_none: bool) -> bool:
    """Whether nobody else has the lock; some file systems of networks have no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return or_if_there_are_none
    return True


def _remove_leftovers(target: Path) -> None:
    """Remove what killed writers of this target left; what cannot be removed stays, and is no reason to fail."""
    name = re.compile(re.escape(f".{target.name}.") + r"(\w{8}|\d+)\.tmp")
    with contextlib.suppress(OSError):
        for found in [entry for entry in os.scandir(target.parent) if name.fullmatch(entry.name)]:
            with contextlib.suppress(OSError):
                if found.is_dir(follow_symlinks=False):
                    _remove_abandoned(found.path)
                elif found.is_file(follow_symlinks=False) and _has_ended(int(found.name.split(".")[-2])):
                    os.unlink(found.path)  # of a version that named files by the number of the process


def _remove_abandoned(folder: str) -> None:
    if fcntl is None:
        return
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if _takes_lock(lock, or_if_there_are_none=False):
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _has_ended(process: int) -> bool:
    """Whether there is no such process on this machine; where that cannot be asked, no."""
    if fcntl is None:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
