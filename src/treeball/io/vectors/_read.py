"""Files of vectors, recognised by content, whoever wrote them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import cast

from ...errors import InputError
from ...types import Kind, VectorFormat
from . import arrays, containers, delimited, word2vec
from .vectors import Vectors

__all__ = ["read_vectors", "sniff"]


def read_vectors(
    path: Path, format: VectorFormat | None = None, names: Path | None = None
) -> tuple[Vectors, VectorFormat, str]:
    """Vectors of a file, the format they were read as, and the SHA-256 of the file."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}: check the path") from None
    except IsADirectoryError:
        raise InputError(f"{str(path)!r} is a directory: give a file of vectors") from None
    if not data.strip():
        raise InputError(f"{str(path)!r} is empty: it should hold a name and a vector a line")
    label = str(path)
    format = format or sniff(data, label)
    vectors = _parse(data, path, format, names, label)
    if not len(vectors.names):
        raise InputError(f"{label} holds no vectors")
    seen: dict[str, int] = {}
    for row, name in enumerate(vectors.names):
        if seen.setdefault(name, row) != row:
            raise InputError(f"{label} has two vectors for {name!r}, in rows {seen[name] + 1} and {row + 1}: keep one")
    return vectors, format, hashlib.sha256(data).hexdigest()


def sniff(data: bytes, label: str) -> VectorFormat:
    """The format of a file of vectors by its content."""
    if data.startswith(b"PAR1"):
        return "parquet"
    if data.startswith(b"\x93NUMPY"):
        return "npy"
    if data[8:12] == b"DUCK":
        return "duckdb"
    if data[8:9] == b"{" and int.from_bytes(data[:8], "little") < len(data):
        return "safetensors"
    if data.lstrip()[:1] == b"{":
        return "json"
    if data[:1] == b"\x80" or data.startswith((b"PK\x03\x04", b"\x89HDF")):
        raise InputError(
            f"{label} is a pickle, an archive or HDF5, which are not read: save the vectors as text, in gensim with  "
            "model.wv.save_word2vec_format('vectors.txt')"
        )
    if word2vec.is_binary(data):
        return "word2vec-binary"
    first = data[: data.find(b"\n") if b"\n" in data else None]
    if b"\0" in data[:4096]:
        raise InputError(f"{label} is a binary file of no known format: save the vectors as text, npy or Parquet")
    return "tsv" if b"\t" in first else "csv" if b"," in first else "word2vec"


def _parse(data: bytes, path: Path, format: VectorFormat, names: Path | None, label: str) -> Vectors:
    match format:
        case "parquet":
            return _of_parquet(path)
        case "csv" | "tsv":
            return delimited.read(data, label, "," if format == "csv" else "\t")
        case "npy":
            return arrays.read_npy(data, label, names or arrays.names_file(path))
        case "word2vec":
            return word2vec.read_text(data, label)
        case "word2vec-binary":
            return word2vec.read_binary(data, label)
        case "safetensors":
            return arrays.read_safetensors(data, label, names)
        case "duckdb":
            return containers.read_duckdb(path)
        case "json":
            return containers.read_json(data, label)


def _of_parquet(path: Path) -> Vectors:
    """A table of vectors, or a whole model."""
    from ..model_file import is_model, load
    from ._export import rows_of

    try:
        model = load(path) if is_model(path) else None
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is a damaged Parquet file: write or copy it again") from None
    if model is None:
        return containers.read_parquet(path)
    return rows_of(model, model.vectors, cast(Kind, model.space.coordinates), virtual_root=True)
