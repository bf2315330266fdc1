"""What formats of plain arrays have to check: the shape, and that a text file names every row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import InputError
from ..memory import all_of, require_room, text_size

__all__ = ["read_names", "require_table"]

_BYTES_PER_NAME = 60


def require_table(values: Any, label: str) -> None:
    """Refuse an array that is no rows of numbers."""
    if values.ndim != 2 or values.dtype.kind not in "fiu" or not values.size:
        raise InputError(f"{label} holds an array of shape {values.shape} and type {values.dtype}, not rows of vectors")


def read_names(path: Path | None, label: str, count: int) -> list[str]:
    """The names of `count` rows, one a line; `label` is the file with the rows."""
    if path is None or not path.is_file():
        where = "" if path is None else f" {str(path)!r}"
        raise InputError(f"{label} holds no names, and there is no file{where} with them: give one with --names-file")
    try:
        with open(path, "rb", buffering=0) as file:
            data = all_of(file)
        require_room(2 * text_size(data) + _BYTES_PER_NAME * data.count(b"\n"))
        names = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is not UTF-8: save the names as UTF-8 text, one a line") from None
    if len(names) != count:
        raise InputError(f"{str(path)!r} holds {len(names):,} names, but {label} holds {count:,} vectors")
    return names
