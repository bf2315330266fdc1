"""Writing files so that a crash leaves the old file or the new one, never half of one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import InputError


@contextmanager
def atomic_write(target: Path) -> Iterator[Path]:
    """Give a temporary path beside `target`; on success it is synced and renamed to `target`, else removed.

    A symbolic link stays one: the file it points to is replaced.
    """
    _require_file_name(target)
    target = Path(os.path.realpath(target))
    temporary = _temporary(target)
    try:
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise cannot_write(target, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def require_writable(target: Path, *inputs: Path | str) -> None:
    """Fail now rather than after the work when `target` could not be written, or is one of the `inputs`."""
    _require_file_name(target)
    for source in inputs:
        if target.exists() and Path(source).exists() and target.samefile(source):
            raise InputError(f"cannot write {str(target)!r}: it is the input; choose another name for the output")
    probe = _temporary(Path(os.path.realpath(target)))
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise cannot_write(target, error) from error


def _require_file_name(target: Path) -> None:
    if target.is_dir() or not target.name:
        raise InputError(f"cannot write {str(target)!r}: it is a directory; give a file name such as model.parquet")
    if target.exists() and not target.is_file():
        raise InputError(
            f"cannot write {str(target)!r}: it is not an ordinary file; choose another path for the output"
        )


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}.tmp")


def cannot_write(target: Path, error: OSError) -> InputError:
    """The sentence for an output that cannot be written."""
    if not target.parent.is_dir():
        return InputError(f"cannot write {str(target)!r}: there is no folder {str(target.parent)!r}; create it first")
    reason = os.strerror(error.errno) if error.errno else str(error)
    return InputError(f"cannot write {str(target)!r}: {reason}; choose another path for the output")
