"""Writing files so that a crash leaves the old file or the new one, never half of one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import InputError


@contextmanager
def atomic_write(target: Path) -> Iterator[Path]:
    """Give a temporary path beside `target`; on success it is synced and renamed to `target`, else removed."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise cannot_write(target, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def require_writable(target: Path) -> None:
    """Fail now rather than after the work when `target` could not be written."""
    if target.is_dir():
        raise InputError(f"cannot write {str(target)!r}: it is a directory; give a file name such as model.parquet")
    probe = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise cannot_write(target, error) from error


def cannot_write(target: Path, error: OSError) -> InputError:
    """The sentence for an output that cannot be written."""
    reason = error.strerror or str(error)
    return InputError(f"cannot write {str(target)!r}: {reason}; choose another path for the output")
