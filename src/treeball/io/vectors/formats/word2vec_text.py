"""The word2vec format as text, which gensim, spaCy, fastText and many others read.

from gensim.models.poincare import PoincareKeyedVectors
PoincareKeyedVectors.load_word2vec_format("vectors.txt", datatype=numpy.float64)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ....errors import InputError
from ...memory import EVERY, require_room, text_size, watched
from ..vectors import VectorFile, Vectors, reads_as_number
from ..word2vec import announced_size, tokens_of
from .registry import Format

__all__ = ["FORMATS", "read", "sniff", "write"]

_BYTES_PER_TEXT = 60


def sniff(data: bytes) -> float:
    """Any text may be names and numbers with blanks between them: what no other format claims is taken for this one."""
    return 0.1


def read(source: VectorFile) -> Vectors:
    """Names and numbers, with or without the line that gives the size; names may hold blanks."""
    data, label = source.data, source.label
    require_room(2 * text_size(data) + _BYTES_PER_TEXT * data.count(b"\n"))
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{label}, line {number}: not UTF-8; save the vectors as UTF-8 text") from None
    size = announced_size(data)
    width = size[1] if size is not None else len(lines[0].split()) - 1
    if width < 1:
        raise InputError(f"{label}, line 1: no numbers after the name; each line needs a name and a vector")
    require_room(2 * _BYTES_PER_TEXT * width)
    names: list[str] = []
    rows: list[NDArray[np.float64]] = []
    first = int(size is not None)
    for number, line in watched(enumerate(lines[first:], start=1 + first), max(1, EVERY // width)):
        if not line.strip():
            continue
        cells = line.rstrip().rsplit(None, width)
        if len(cells) != width + 1:
            raise InputError(f"{label}, line {number}: {len(cells) - 1} numbers where {width} belong")
        try:
            rows.append(np.array([float(cell) for cell in cells[1:]]))
        except ValueError:
            wrong = next(cell for cell in cells[1:] if not reads_as_number(cell))
            raise InputError(f"{label}, line {number}: {wrong!r} is not a number") from None
        names.append(cells[0])
    if size is not None and len(rows) != size[0]:
        raise InputError(f"{label} announces {size[0]:,} vectors and holds {len(rows):,}; it may be cut short")
    require_room(8 * width * len(rows))
    return Vectors(names, np.array(rows, np.float64).reshape(len(rows), width))


def write(vectors: Vectors, path: Path, target: Path) -> list[str]:
    """A line with the size, then a name and its numbers a line, each number with all digits it needs."""
    names, notes = tokens_of(vectors.names)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(names)} {vectors.width}\n")
        for name, row in zip(names, vectors.values, strict=True):
            # NumPy writes the shortest text that reads back to the same number, of either precision.
            numbers = map(str, row) if vectors.is_float32 else map(repr, row.tolist())
            file.write(f"{name} {' '.join(numbers)}\n")
    return notes


FORMATS = (Format("word2vec", sniff, read, write),)
