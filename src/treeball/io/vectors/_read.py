"""Files of vectors, recognised by content, whoever wrote them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ...errors import InputError
from ...types import VectorFormat
from ..memory import all_of, memory_budget, watched
from .formats.registry import find, format_names
from .vectors import VectorFile, Vectors

__all__ = ["read_vectors", "require_distinct", "sniff"]

# Marks of files that are no vectors, but where those of other tools often are: pickles, archives and HDF5.
_CLOSED = (b"\x80", b"PK\x03\x04", b"\x89HDF")
# More than this no format says of a text that could be anything.
_A_GUESS = 0.5


def read_vectors(
    path: Path, format: VectorFormat | None = None, names: Path | None = None, max_memory: str = "auto"
) -> tuple[Vectors, VectorFormat, str]:
    """Vectors of a file, the format they were read as, and the SHA-256 of the file."""
    with memory_budget(max_memory, str(path)):
        return _read_vectors(path, format, names)


def _read_vectors(path: Path, format: VectorFormat | None, names: Path | None) -> tuple[Vectors, VectorFormat, str]:
    try:
        with open(path, "rb", buffering=0) as file:
            data = all_of(file)
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}: check the path") from None
    except IsADirectoryError:
        raise InputError(f"{str(path)!r} is a directory: give a file of vectors") from None
    if not data.strip():
        raise InputError(f"{str(path)!r} is empty: it should hold a name and a vector a line")
    source = VectorFile(path, data, names)
    format = format or sniff(data, source.label)
    vectors = find(format).read(source)
    if not len(vectors.names):
        raise InputError(f"{source.label} holds no vectors")
    return vectors, format, hashlib.sha256(data).hexdigest()


def require_distinct(names: list[str], label: str) -> None:
    """Refuse a name that comes twice: only one of its vectors could be used."""
    seen: dict[str, int] = {}
    for row, name in watched(enumerate(names)):
        if seen.setdefault(name, row) != row:
            raise InputError(f"{label} has two vectors for {name!r}, in rows {seen[name] + 1} and {row + 1}: keep one")


def sniff(data: bytes, label: str) -> VectorFormat:
    """The format of a file of vectors by its content: the one that is most sure of it."""
    sure = {name: find(name).sniff(data) for name in format_names()}
    best = max(sure, key=sure.__getitem__)
    if sure[best] <= _A_GUESS:
        _require_text(data, label)
    return best


def _require_text(data: bytes, label: str) -> None:
    if data.startswith(_CLOSED):
        raise InputError(
            f"{label} is a pickle, an archive or HDF5, which are not read: save the vectors as text, in gensim with  "
            "model.wv.save_word2vec_format('vectors.txt')"
        )
    if b"\0" in data[:4096]:
        raise InputError(f"{label} is a binary file of no known format: save the vectors as text, npy or Parquet")
