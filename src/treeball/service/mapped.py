"""A model laid out in files that any number of processes map into their memory: there is one copy of it for all.

Parquet is compressed and cannot be mapped. Here every array is a file of its own, with all that was computed from the
model (search tree, levels, what geometry reads back), so that a process that opens it has nothing to compute or copy.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Hashable
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..embedding import Embedding, Provenance
from ..engine.cpu.box_tree import Tree
from ..engine.cpu.search_tree import SearchTree
from ..engine.cpu.term_search import TermSearch
from ..geometry.spaces import Space, space_of
from ..hierarchy import Hierarchy
from ..hierarchy.lookup_keys import LookupKeys
from ..hierarchy.names import Names
from ..hierarchy.read_report import ReadReport

__all__ = ["open_mapped", "write_mapped"]

_KINDS: dict[str, type] = {kind.__name__: kind for kind in (Embedding, Hierarchy, SearchTree, TermSearch)}
_REMEMBERED = 10_000  # names whose codes a process keeps
_INDEX, _NAMES, _ORDER = "index.json", "names.arrow", "order.npy"


def write_mapped(embedding: Embedding, folder: Path) -> None:
    """Lay out a model, with what has been computed from it so far, in an empty folder."""
    names = embedding.names
    column = _column(names)
    if column is not None:
        _write_column(column, folder / _NAMES)
        np.save(folder / _ORDER, np.asarray(pc.sort_indices(column)).astype(np.int64))
        index: dict[str, Any] = {"names": None}
    else:
        index = {"names": list(names)}
    index["keys"] = [_keys_written(keys, folder, f"keys.{place}") for place, keys in enumerate(names.other_keys)]
    index["labels"] = names.has_labels
    index["model"] = _written(embedding, folder, "model")
    (folder / _INDEX).write_text(json.dumps(index), "utf-8")


def open_mapped(folder: Path) -> Embedding:
    """The model that :func:`write_mapped` laid out; its arrays are read when they are used."""
    index = json.loads((folder / _INDEX).read_text("utf-8"))
    keys = tuple(_keys_opened(entry, folder, f"keys.{place}") for place, entry in enumerate(index["keys"]))
    labels = keys[0].texts if index["labels"] else None
    names: Names
    if index["names"] is None:
        column = _mapped_column(folder / _NAMES)
        names = _SortedNames(column, np.asarray(np.load(folder / _ORDER, mmap_mode="r")), labels, keys)
    else:
        names = Names(index["names"], labels)
        vars(names)["other_keys"] = keys
    embedding: Embedding = _opened(index["model"], folder, names)
    return embedding


def _write_column(column: pa.Array, path: Path) -> None:
    table = pa.table({"column": column})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=max(1, len(column)))


def _mapped_column(path: Path) -> pa.Array:
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()["column"].chunk(0)


def _keys_written(keys: LookupKeys, folder: Path, path: str) -> dict[str, bool]:
    """What the index says of labels or synonyms; their sorted order is written as well."""
    _write_column(keys.texts, folder / f"{path}.arrow")
    np.save(folder / f"{path}.order.npy", keys.order)
    if keys.codes is not None:
        np.save(folder / f"{path}.codes.npy", keys.codes)
    return {"codes": keys.codes is not None}


def _keys_opened(entry: dict[str, bool], folder: Path, path: str) -> LookupKeys:
    codes = np.asarray(np.load(folder / f"{path}.codes.npy", mmap_mode="r")) if entry["codes"] else None
    order = np.asarray(np.load(folder / f"{path}.order.npy", mmap_mode="r"))
    return LookupKeys(_mapped_column(folder / f"{path}.arrow"), codes, order)


def _column(names: Names) -> pa.Array | None:
    """Names as an array that can be mapped; None when they are neither text nor integers of 64 bits."""
    if names.kind == "str":
        return names.to_arrow()
    try:
        return pa.array(names, pa.int64()) if names.kind == "int" else None
    except OverflowError:
        return None


class _SortedNames(Names):
    """Names found by bisection in their sorted order, which is mapped too; a dict would be made in every process."""

    def __init__(
        self, column: pa.Array, order: NDArray[np.int64], labels: pa.Array | None, keys: tuple[LookupKeys, ...]
    ) -> None:
        numbers = pa.types.is_int64(column.type)
        super().__init__(() if numbers else column, labels)
        self.other_keys = keys
        self._type: type = int if numbers else str
        if numbers:
            self._values = cast(Any, memoryview(column.to_numpy()))  # a sequence of integers, without a copy
            self.kind = "int"
        self._order = order
        self._remembered = lru_cache(_REMEMBERED)(self._bisect)

    def _find(self, name: object) -> int:
        return self._remembered(name) if isinstance(name, self._type) else -1

    def _bisect(self, name: Any) -> int:
        place = bisect_left(self._order, name, key=self.__getitem__)
        code = int(self._order[place]) if place < len(self) else -1
        return code if code >= 0 and self[code] == name else -1

    def _codes_of(self, wanted: list[Hashable]) -> NDArray[np.int32]:
        return np.array([self._find(name) for name in wanted], np.int32)


def _written(value: Any, folder: Path, path: str) -> Any:
    """What the index says of a value; arrays go to files named after where they belong."""
    if isinstance(value, np.ndarray):
        np.save(folder / f"{path}.npy", value)
        return {"array": f"{path}.npy", "writable": value.flags.writeable}
    if isinstance(value, Names):
        return {"names": True}
    if isinstance(value, tuple):
        kind = "Tree" if isinstance(value, Tree) else "tuple"
        return {kind: [_written(item, folder, f"{path}.{place}") for place, item in enumerate(value)]}
    if isinstance(value, Provenance):
        return {"provenance": value.to_dict()}
    if isinstance(value, Space):
        return {"space": value.name}
    if type(value).__name__ in _KINDS:
        kept = {key: item for key, item in vars(value).items() if key != "_evaluations"}
        fields = {key: _written(item, folder, f"{path}.{key}") for key, item in kept.items()}
        return {"object": type(value).__name__, "fields": fields}
    return {"value": None if isinstance(value, ReadReport) else value}


def _opened(entry: dict[str, Any], folder: Path, names: Names) -> Any:
    match entry:
        case {"array": file, "writable": writable}:
            # Kernels are compiled for arrays that may be written; a copy on write that nobody writes is none.
            return np.asarray(np.load(folder / file, mmap_mode="c" if writable else "r"))
        case {"names": _}:
            return names
        case {"provenance": record}:
            return Provenance.from_dict(record)
        case {"space": name}:
            return space_of(name)
        case {"Tree": items}:
            return Tree(*(_opened(item, folder, names) for item in items))
        case {"tuple": items}:
            return tuple(_opened(item, folder, names) for item in items)
        case {"object": kind, "fields": fields}:
            # Not by its constructor, which would check and copy what is as it was.
            thing: Any = object.__new__(_KINDS[kind])
            vars(thing).update({"_evaluations": {}} if kind == "Embedding" else {})
            vars(thing).update((key, _opened(item, folder, names)) for key, item in fields.items())
            return thing
        case {"value": value}:
            return value
    raise ValueError(f"{folder / _INDEX} is damaged")
