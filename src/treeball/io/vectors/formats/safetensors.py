"""safetensors: a tensor with the coordinates, and as JSON the names, labels and parents, in its metadata."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from ....errors import InputError
from ...memory import json_size, require_room
from ..arrays import read_names, require_table
from ..vectors import VectorFile, Vectors, as_kind, checked_parents, checked_texts
from .registry import Format

__all__ = ["FORMATS", "read", "sniff", "write"]

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}
_HEADER_LIMIT = 100_000_000


def sniff(data: bytes) -> float:
    """By the length of its header, which must fit into the file, and the brace that opens it."""
    return 0.9 if data[8:9] == b"{" and int.from_bytes(data[:8], "little") < len(data) else 0.0


def read(source: VectorFile) -> Vectors:
    """The only table of numbers in a safetensors file, or the one called ``vectors``."""
    data, label = source.data, source.label
    try:
        end = 8 + int.from_bytes(data[:8], "little")
        require_room(2 * json_size(data[8:end]))
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
        parents, labels, synonyms = (json.loads(metadata.get(key, "null")) for key in ("parents", "labels", "synonyms"))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise InputError(f"{label} is damaged or no safetensors file: {' '.join(str(error).split())[:100]}") from None
    require_table(values, label)
    known = stored if source.names is None and stored is not None else read_names(source.names, label, len(values))
    if len(known) != len(values):
        raise InputError(f"{label} holds {len(values):,} vectors but {len(known):,} names")
    kind = as_kind(metadata.get("coordinates"))
    return Vectors(
        [str(name) for name in known],
        values,
        kind,
        checked_parents(parents, len(known), label),
        labels=checked_texts(labels, len(known), label),
        synonyms=checked_texts(synonyms, len(known), label, lists=True),
    )


def write(vectors: Vectors, path: Path, target: Path) -> list[str]:
    """A tensor ``vectors``; the metadata say its coordinates and, as JSON, the names and labels."""
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
    for key, texts in (("labels", vectors.labels), ("synonyms", vectors.synonyms)):
        if texts is not None:
            metadata[key] = json.dumps(texts, ensure_ascii=False)
    header = json.dumps({"__metadata__": metadata, "vectors": tensor}, ensure_ascii=False).encode()
    header += b" " * (-len(header) % 8)
    if len(header) > _HEADER_LIMIT:
        raise InputError("the names are longer than the 100 MB that safetensors allows: choose npy or parquet")
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.write(values.astype(_DTYPES[str(tensor["dtype"])]).tobytes())
    return []


FORMATS = (Format("safetensors", sniff, read, write, holds_labels=True, holds_synonyms=True),)
