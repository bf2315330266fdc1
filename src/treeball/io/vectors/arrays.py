"""Plain arrays: NumPy's npy with a text file of names beside it, and safetensors."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from ..atomic import atomic_write
from .vectors import Vectors, as_kind, checked_parents

__all__ = ["names_file", "read_npy", "read_safetensors", "write_npy", "write_safetensors"]

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}
_HEADER_LIMIT = 100_000_000


def names_file(path: Path) -> Path:
    """Where the names of an npy file are: vectors.npy has vectors.names.txt."""
    return path.with_name(path.name.removesuffix(".npy") + ".names.txt")


def write_npy(vectors: Vectors, path: Path, target: Path) -> list[str]:
    """Write the array to `path`, and the names beside `target`, the place it will be renamed to."""
    wrong = next((name for name in vectors.names if not name or len(name.splitlines()) != 1), None)
    if wrong is not None:
        raise InputError(
            f"the name {wrong!r} does not fit on one line, as npy needs: choose another format, such as csv"
        )
    names = names_file(target)
    with atomic_write(names) as temporary:
        temporary.write_text("".join(f"{name}\n" for name in vectors.names), encoding="utf-8", newline="\n")
        with open(path, "wb") as file:
            np.save(file, vectors.values, allow_pickle=False)
    return [f"the names are in {names}, one a line"]


def read_npy(data: bytes, label: str, names: Path | None) -> Vectors:
    """An array of shape (n, width), and its names from `names`."""
    try:
        values = np.load(io.BytesIO(data), allow_pickle=False)
    except Exception as error:  # a damaged header is parsed as Python, and fails in many ways
        raise InputError(f"{label} cannot be read as an npy array: {' '.join(str(error).split())[:100]}") from None
    _require_table(values, label)
    return Vectors(_read_names(names, label, len(values)), values)


def write_safetensors(vectors: Vectors, path: Path) -> list[str]:
    """A tensor ``vectors``; the metadata say its coordinates and, as JSON, the names."""
    values = np.ascontiguousarray(vectors.values)
    tensor = {
        "dtype": "F32" if vectors.is_float32 else "F64",
        "shape": list(values.shape),
        "data_offsets": [0, values.nbytes],
    }
    metadata = {
        "format": "pt",
        "coordinates": vectors.kind or "",
        "names": json.dumps(vectors.names, ensure_ascii=False),
        "parents": json.dumps(vectors.parents),
    }
    header = json.dumps({"__metadata__": metadata, "vectors": tensor}, ensure_ascii=False).encode()
    header += b" " * (-len(header) % 8)
    if len(header) > _HEADER_LIMIT:
        raise InputError("the names are longer than the 100 MB that safetensors allows: choose npy or parquet")
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.write(values.astype(_DTYPES[str(tensor["dtype"])]).tobytes())
    return []


def read_safetensors(data: bytes, label: str, names: Path | None) -> Vectors:
    """The only table of numbers in a safetensors file, or the one called ``vectors``."""
    try:
        end = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:end])
        metadata = header.pop("__metadata__", {})
        tables = {name: tensor for name, tensor in header.items() if len(tensor["shape"]) == 2}
        chosen = "vectors" if "vectors" in tables else next(iter(tables)) if len(tables) == 1 else None
        if chosen is None:
            raise InputError(f"{label} holds {len(tables)} tables of numbers: name the one with the vectors 'vectors'")
        tensor = tables[chosen]
        if tensor["dtype"] not in _DTYPES:
            raise InputError(f"{label} holds numbers of type {tensor['dtype']}: save them as float64 or float32")
        begin, stop = (end + offset for offset in tensor["data_offsets"])
        values = np.frombuffer(data[begin:stop], _DTYPES[tensor["dtype"]]).reshape(tensor["shape"])
        stored = json.loads(metadata["names"]) if "names" in metadata else None
        parents = json.loads(metadata.get("parents", "null"))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise InputError(f"{label} is damaged or no safetensors file: {' '.join(str(error).split())[:100]}") from None
    _require_table(values, label)
    known = stored if names is None and stored is not None else _read_names(names, label, len(values))
    if len(known) != len(values):
        raise InputError(f"{label} holds {len(values):,} vectors but {len(known):,} names")
    kind = as_kind(metadata.get("coordinates"))
    return Vectors([str(name) for name in known], values, kind, checked_parents(parents, len(known), label))


def _require_table(values: Any, label: str) -> None:
    if values.ndim != 2 or values.dtype.kind not in "fiu" or not values.size:
        raise InputError(f"{label} holds an array of shape {values.shape} and type {values.dtype}, not rows of vectors")


def _read_names(path: Path | None, label: str, count: int) -> list[str]:
    if path is None or not path.is_file():
        where = "" if path is None else f" {str(path)!r}"
        raise InputError(f"{label} holds no names, and there is no file{where} with them: give one with --names-file")
    try:
        names = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is not UTF-8: save the names as UTF-8 text, one a line") from None
    if len(names) != count:
        raise InputError(f"{str(path)!r} holds {len(names):,} names, but {label} holds {count:,} vectors")
    return names
