"""The word2vec format with numbers as bytes, all of them float32: smaller than the text and quicker to load."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ....errors import InputError
from ...memory import require_room, watched
from ..vectors import VectorFile, Vectors
from ..word2vec import announced_size, tokens_of
from .registry import Format

__all__ = ["FORMATS", "read", "sniff", "write"]


def sniff(data: bytes) -> float:
    """Whether numbers follow the line with the size as bytes: then what follows is no text."""
    if announced_size(data) is None:
        return 0.0
    start = data.index(b"\n") + 1
    sample = data[start : start + 65_536]
    return 0.7 if any(byte < 9 or 13 < byte < 32 for byte in sample) or not _is_text(sample) else 0.0


def read(source: VectorFile) -> Vectors:
    """Names, each with its numbers behind a blank."""
    data, label = source.data, source.label
    size = announced_size(data)
    if size is None:
        raise InputError(f"{label} does not begin with the number of vectors and their dimension")
    count, width = size
    at = data.index(b"\n") + 1
    names: list[str] = []
    require_room(5 * len(data))
    values = np.empty((min(count, len(data) // (4 * width + 1) + 1), width), np.float32)
    for row in watched(range(count)):
        blank = data.find(b" ", at)
        end = blank + 1 + 4 * width
        if blank < 0 or end > len(data):
            raise InputError(f"{label} is cut short: it holds {row:,} of the {count:,} vectors it announces")
        try:
            names.append(data[at:blank].decode().lstrip("\n"))
        except UnicodeDecodeError:
            raise InputError(f"{label}, vector {row + 1}: its name is not UTF-8; the file may be damaged") from None
        values[row] = np.frombuffer(data, "<f4", width, blank + 1)
        at = end
    return Vectors(names, values)


def write(vectors: Vectors, path: Path, target: Path) -> list[str]:
    """The line with the size, then each name with its numbers."""
    names, notes = tokens_of(vectors.names)
    with open(path, "wb") as file:
        file.write(f"{len(names)} {vectors.width}\n".encode())
        for name, row in zip(names, vectors.values.astype("<f4"), strict=True):
            file.write(name.encode() + b" " + row.tobytes() + b"\n")
    return notes


def _is_text(sample: bytes) -> bool:
    try:
        sample.decode()
    except UnicodeDecodeError as error:
        return error.start >= len(sample) - 4  # a letter may be cut in two at the end of the sample
    return True


FORMATS = (Format("word2vec-binary", sniff, read, write, float64_format="word2vec"),)
