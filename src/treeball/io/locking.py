"""One writer at a time for a model file or a model folder.

A writer reads a model, changes it and writes it back. Two writers at once would each keep only their own change, so a
writer holds a lock from before it reads until after it wrote. Readers need no lock: files are replaced whole.

The lock is a small hidden file: ``.NAME.lock`` beside a model file, ``.lock`` inside a model folder. It names the
process that holds it. The system locks the file as well (flock) and releases this lock if the process dies, even by
SIGKILL. On a system or a disk without such locks the existence of a second file, ``.held``, is the lock, and one of a
process of this machine that has ended is removed.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from .atomic import cannot_write

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["FOLDER_LOCK", "WAIT_SECONDS", "writer_lock"]

FOLDER_LOCK = ".lock"
WAIT_SECONDS = 60.0  # an insert into a model of a million nodes takes about this long
_TELL_AFTER, _POLL_SECONDS = 1.0, 0.05
_BUSY = (errno.EAGAIN, errno.EWOULDBLOCK)
_NO_FILE = (errno.EISDIR, errno.ELOOP)
_MOST_OWNER_BYTES = 4096
_held = threading.local()


@contextmanager
def writer_lock(
    target: Path, *, wait: float | None = None, tell: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Hold the lock of `target` for the `with` block; InputError if another writer keeps it for longer than `wait`.

    A thread that holds the lock may take it again, so that a command can lock a file and then save it.

    Parameters
    ----------
    target
        Model file, which need not exist, or model folder, which has to.
    wait
        Seconds to wait for another writer; 60 by default.
    tell
        Called with a sentence when there is another writer to wait for.
    """
    path = _lock_file_of(target)
    held: set[Path] = _held.__dict__.setdefault("paths", set())
    if path in held:
        yield
        return
    release = _acquire(target, path, WAIT_SECONDS if wait is None else wait, tell)
    held.add(path)
    try:
        yield
    finally:
        held.discard(path)
        release()


def _lock_file_of(target: Path) -> Path:
    real = Path(os.path.realpath(target))
    return real / FOLDER_LOCK if real.is_dir() else real.with_name(f".{real.name}.lock")


def _acquire(target: Path, path: Path, wait: float, tell: Callable[[str], None] | None) -> Callable[[], None]:
    """Take the lock; -> the function that releases it."""
    began, told = time.monotonic(), False
    while True:
        try:
            release = _try(path)
        except OSError as error:
            if error.errno in _NO_FILE:
                raise InputError(
                    f"cannot write {str(target)!r}: its lock {str(path)!r} is a folder or a link; "
                    "remove it and try again"
                ) from error
            raise cannot_write(target, error) from error
        if release is not None:
            return release
        waited = time.monotonic() - began
        if waited >= wait:
            raise InputError(f"cannot write {str(target)!r}: {_holder(path)}; wait until it has finished and try again")
        if tell is not None and not told and waited >= _TELL_AFTER:
            tell(f"waiting up to {wait:.0f} seconds to write {str(target)!r}: {_holder(path)}")
            told = True
        time.sleep(_POLL_SECONDS)


def _try(path: Path) -> Callable[[], None] | None:
    """Take the lock if it is free; None if another writer has it."""
    if fcntl is None:
        return _try_by_existence(path)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if error.errno in _BUSY:
            return None
        path.unlink(missing_ok=True)
        return _try_by_existence(path)
    # The writer before may have removed the file between our opening and our locking it.
    if not _is_at(handle, path):
        os.close(handle)
        return None
    with contextlib.suppress(OSError):  # on a full disk the lock holds without a name
        os.ftruncate(handle, 0)
        os.write(handle, _Owner.here().to_bytes())

    def release() -> None:
        with contextlib.suppress(OSError):  # removed while it is still locked, so that no other writer can have it
            if _is_at(handle, path):
                os.unlink(path)
        os.close(handle)

    return release


def _is_at(handle: int, path: Path) -> bool:
    """Whether the open file is the one that the path names."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


# ---- disks without locks ----


def _held_file_of(path: Path) -> Path:
    return path.with_name(path.name + ".held")


def _try_by_existence(path: Path) -> Callable[[], None] | None:
    """Take the lock by creating a file; one of a process of this machine that has ended is removed first."""
    path, own = _held_file_of(path), _Owner.here()
    if not _created(path, own):
        _remove_abandoned(path)
        if not _created(path, own):
            return None

    def release() -> None:
        if _Owner.of(path) == own:
            path.unlink(missing_ok=True)

    return release


def _created(path: Path, own: _Owner) -> bool:
    """Create the file with the name of its owner in it; False if it exists."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        return False
    with os.fdopen(handle, "wb") as file:
        file.write(own.to_bytes())
    return True


def _remove_abandoned(path: Path) -> None:
    """Remove the file of a process that has ended; one process at a time judges and removes."""
    judging = path.with_name(path.name + ".judging")
    try:
        os.close(os.open(judging, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except FileExistsError:
        return
    try:
        owner = _Owner.of(path)
        if owner is not None and owner.has_ended():
            path.unlink(missing_ok=True)
    finally:
        judging.unlink()


# ---- the process that holds a lock ----


@dataclass(frozen=True)
class _Owner:
    """The process that holds a lock, as its lock file names it."""

    pid: int
    host: str
    since: str
    command: str

    @classmethod
    def here(cls) -> _Owner:
        """The owner that stands for this process."""
        command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]]) if sys.argv else ""
        return cls(os.getpid(), socket.gethostname(), time.strftime("%Y-%m-%d %H:%M:%S"), command[:80])

    @classmethod
    def of(cls, path: Path) -> _Owner | None:
        """The process that a lock file names; None if it names none."""
        try:
            with open(path, "rb") as file:
                record = json.loads(file.read(_MOST_OWNER_BYTES))
            return cls(int(record["pid"]), str(record["host"]), str(record["since"]), str(record["command"]))
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None

    def to_bytes(self) -> bytes:
        """What the lock file holds."""
        return json.dumps(vars(self)).encode()

    def has_ended(self) -> bool:
        """Whether it is a process of this machine that is no more; False if that cannot be known."""
        if fcntl is None or self.host != socket.gethostname() or self.pid <= 0:
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False


def _holder(path: Path) -> str:
    """Words for the process that holds the lock."""
    held = _held_file_of(path)
    remedy = f"; remove {str(held)!r} if there is no such process" if held.exists() else ""
    owner = _Owner.of(held if remedy else path)
    if owner is None:
        return f"another process is writing to it{remedy}"
    return f"process {owner.pid} on {owner.host} ({owner.command}) has been writing to it since {owner.since}{remedy}"
