"""NumPy's npy, which holds numbers only: the names are in a text file beside it."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from ....errors import InputError
from ...memory import require_room
from ..arrays import read_names, require_table
from ..vectors import VectorFile, Vectors
from .registry import Format

__all__ = ["FORMATS", "names_file", "read", "sniff", "write", "write_names"]


def names_file(path: Path) -> Path:
    """Where the names of an npy file are: vectors.npy has vectors.names.txt."""
    return path.with_name(path.name.removesuffix(".npy") + ".names.txt")


def sniff(data: bytes) -> float:
    """By its first bytes."""
    return 1.0 if data.startswith(b"\x93NUMPY") else 0.0


def read(source: VectorFile) -> Vectors:
    """An array of shape (n, width), and its names from the file that was given or the one beside it."""
    require_room(len(source.data))
    try:
        values = np.lib.format.read_array(io.BytesIO(source.data), allow_pickle=False)
    except Exception as error:  # a damaged header is parsed as Python, and fails in many ways
        reason = " ".join(str(error).split())[:100]
        raise InputError(f"{source.label} cannot be read as an npy array: {reason}") from None
    require_table(values, source.label)
    return Vectors(read_names(source.names or names_file(source.path), source.label, len(values)), values)


def write(vectors: Vectors, path: Path, target: Path) -> list[str]:
    """Write the array to `path`, which will be renamed to `target`; the names will be beside that."""
    wrong = next((name for name in vectors.names if not name or len(name.splitlines()) != 1), None)
    if wrong is not None:
        raise InputError(
            f"the name {wrong!r} does not fit on one line, as npy needs: choose another format, such as csv"
        )
    with open(path, "wb") as file:
        np.save(file, vectors.values, allow_pickle=False)
    return [f"the names are in {names_file(target)}, one a line"]


def write_names(vectors: Vectors, path: Path) -> None:
    """Write the names, one a line."""
    path.write_text("".join(f"{name}\n" for name in vectors.names), encoding="utf-8", newline="\n")


FORMATS = (Format("npy", sniff, read, write, beside=names_file, write_beside=write_names),)
