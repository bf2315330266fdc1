"""JSON for web pages: one object with the names, their parents and their vectors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from ....errors import InputError
from ...memory import json_size, require_room
from ..vectors import VectorFile, Vectors, as_kind, checked_parents, checked_texts
from .registry import Format

__all__ = ["FORMATS", "read", "sniff", "write"]


def sniff(data: bytes) -> float:
    """By its first brace, which is less than the first bytes of a format that has its own."""
    return 0.8 if data.lstrip()[:1] == b"{" else 0.0


def read(source: VectorFile) -> Vectors:
    """An object with names and vectors as `write` writes it, or simply {name: vector}."""
    label = source.label
    require_room(json_size(source.data))
    try:
        record = json.loads(source.data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{label} is not valid JSON: {error}") from None
    if not isinstance(record, dict) or not record:
        raise InputError(f"{label} is no JSON object of vectors: give {{'names': [...], 'vectors': [[...], ...]}}")
    if not {"names", "vectors"} <= record.keys():
        record = {"names": list(record), "vectors": list(record.values())}
    try:
        values = np.array(record["vectors"], np.float64)
        if values.ndim != 2 or len(values) != len(record["names"]):
            raise ValueError("there is not one row for each name")
    except (ValueError, TypeError) as error:
        raise InputError(f"{label} does not hold one vector of the same length for each name: {error}") from None
    names = [str(name) for name in record["names"]]
    kind = as_kind(record.get("coordinates"))
    return Vectors(
        names,
        values,
        kind,
        checked_parents(record.get("parents"), len(names), label),
        labels=checked_texts(record.get("labels"), len(names), label),
        synonyms=checked_texts(record.get("synonyms"), len(names), label, lists=True),
    )


def write(vectors: Vectors, path: Path, target: Path) -> list[str]:
    """One object: coordinates, dim, and lists in one order: names, labels, parents (their places), reach, vectors."""
    record = {
        **vectors.description(),
        "names": vectors.names,
        **({} if vectors.labels is None else {"labels": vectors.labels}),
        **({} if vectors.synonyms is None else {"synonyms": vectors.synonyms}),
        "parents": vectors.parents,
        **({} if vectors.reach is None else {"reach": vectors.reach.tolist()}),
        # The shortest text of a float32 is that of its own precision, not of its neighbour in float64.
        "vectors": [[float(str(value)) for value in row] for row in vectors.values]
        if vectors.is_float32
        else vectors.values.tolist(),
    }
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        json.dump(record, file, ensure_ascii=False, separators=(",", ":"))
    return []


FORMATS = (Format("json", sniff, read, write, holds_reach=True, holds_labels=True, holds_synonyms=True),)
