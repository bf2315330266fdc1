"""The word2vec formats, text and binary, which gensim, spaCy, fastText and many others read.

    from gensim.models.poincare import PoincareKeyedVectors
    PoincareKeyedVectors.load_word2vec_format("vectors.txt", datatype=numpy.float64)

A name ends at the first blank there, so blanks in names are written as underscores.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...errors import InputError
from .vectors import Vectors

__all__ = ["is_binary", "read_binary", "read_text", "token", "write_binary", "write_text"]


def write_text(vectors: Vectors, path: Path) -> list[str]:
    """A line with the size, then a name and its numbers a line, each number with all digits it needs."""
    names, notes = _tokens(vectors.names)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(names)} {vectors.width}\n")
        for name, row in zip(names, vectors.values, strict=True):
            # NumPy writes the shortest text that reads back to the same number, of either precision.
            file.write(f"{name} {' '.join(map(str, row))}\n" if vectors.is_float32 else _line(name, row.tolist()))
    return notes


def write_binary(vectors: Vectors, path: Path) -> list[str]:
    """The same with numbers as float32, the only ones this format has."""
    names, notes = _tokens(vectors.names)
    with open(path, "wb") as file:
        file.write(f"{len(names)} {vectors.width}\n".encode())
        for name, row in zip(names, vectors.values.astype("<f4"), strict=True):
            file.write(name.encode() + b" " + row.tobytes() + b"\n")
    return notes


def token(name: str) -> str:
    """A name as these formats can hold it."""
    return "_".join(name.split()) if name.split() != [name] else name


def is_binary(data: bytes) -> bool:
    """Whether numbers follow the line with the size as bytes: then what follows is no text."""
    if _size(data) is None:
        return False
    start = data.index(b"\n") + 1
    sample = data[start : start + 65_536]
    if any(byte < 9 or 13 < byte < 32 for byte in sample):
        return True
    try:
        sample.decode()
    except UnicodeDecodeError as error:
        return error.start < len(sample) - 4  # a letter may be cut in two at the end of the sample
    return False


def read_binary(data: bytes, label: str) -> Vectors:
    """Vectors of the binary format."""
    size = _size(data)
    if size is None:
        raise InputError(f"{label} does not begin with the number of vectors and their dimension")
    count, width = size
    at = data.index(b"\n") + 1
    names: list[str] = []
    values = np.empty((count, width), np.float32)
    for row in range(count):
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


def read_text(data: bytes, label: str) -> Vectors:
    """Vectors of the text format, with or without the line that gives the size; names may hold blanks."""
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{label}, line {number}: not UTF-8; save the vectors as UTF-8 text") from None
    size = _size(data)
    width = size[1] if size is not None else len(lines[0].split()) - 1
    if width < 1:
        raise InputError(f"{label}, line 1: no numbers after the name; each line needs a name and a vector")
    names: list[str] = []
    rows: list[list[float]] = []
    for number, line in enumerate(lines[int(size is not None) :], start=1 + int(size is not None)):
        if not line.strip():
            continue
        cells = line.rstrip().rsplit(None, width)
        if len(cells) != width + 1:
            raise InputError(f"{label}, line {number}: {len(cells) - 1} numbers where {width} belong")
        try:
            rows.append([float(cell) for cell in cells[1:]])
        except ValueError:
            wrong = next(cell for cell in cells[1:] if not _is_number(cell))
            raise InputError(f"{label}, line {number}: {wrong!r} is not a number") from None
        names.append(cells[0])
    if size is not None and len(rows) != size[0]:
        raise InputError(f"{label} announces {size[0]:,} vectors and holds {len(rows):,}; it may be cut short")
    return Vectors(names, np.array(rows, np.float64).reshape(len(rows), width))


def _line(name: str, row: list[float]) -> str:
    return f"{name} {' '.join(map(repr, row))}\n"


def _tokens(names: list[str]) -> tuple[list[str], list[str]]:
    tokens = [token(name) for name in names]
    changed = sum(one != other for one, other in zip(tokens, names, strict=True))
    if not changed:
        return tokens, []
    seen: dict[str, str] = {}
    for one, name in zip(tokens, names, strict=True):
        other = seen.setdefault(one, name)
        if other != name or not one:
            raise InputError(
                f"word2vec files have no blanks in names, and without them {other!r} and {name!r} are the same: "
                "choose another format, for instance csv"
            )
    return tokens, [f"{changed:,} names hold blanks, which this format cannot: underscores stand for them"]


def _size(data: bytes) -> tuple[int, int] | None:
    """Number of vectors and dimension from the first line, if it is such a line."""
    cells = data[: data.find(b"\n", 0, 100)].split()
    if len(cells) != 2 or not all(cell.isdigit() for cell in cells):
        return None
    return int(cells[0]), int(cells[1])


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
