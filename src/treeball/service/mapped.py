"""A model laid out in files that any number of processes map into their memory: there is one copy of it for all.

Parquet is compressed and cannot be mapped. Here every array is a file of its own, with all that was computed from the
model (search tree, levels, what geometry reads back), so that a process that opens it has nothing to compute or copy.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Hashable, Iterable
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
from ..geometry.spaces import Space, space_of
from ..hierarchy import Hierarchy
from ..hierarchy.names import Names
from ..hierarchy.read_report import ReadReport

__all__ = ["open_mapped", "write_mapped"]

_KINDS: dict[str, type] = {kind.__name__: kind for kind in (Embedding, Hierarchy, SearchTree)}
_REMEMBERED = 10_000  # names whose codes a process keeps
_INDEX, _NAMES, _ORDER = "index.json", "names.arrow", "order.npy"


def write_mapped(embedding: Embedding, folder: Path) -> None:
    """Lay out a model, with what has been computed from it so far, in an empty folder."""
    names = embedding.names
    column = _column(names)
    if column is not None:
        table = pa.table({"node": column})
        with pa.OSFile(str(folder / _NAMES), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=len(names))
        np.save(folder / _ORDER, np.asarray(pc.sort_indices(column)).astype(np.int64))
        index: dict[str, Any] = {"names": None}
    else:
        index = {"names": list(names)}
    index["model"] = _written(embedding, folder, "model")
    (folder / _INDEX).write_text(json.dumps(index), "utf-8")


def open_mapped(folder: Path) -> Embedding:
    """The model that :func:`write_mapped` laid out; its arrays are read when they are used."""
    index = json.loads((folder / _INDEX).read_text("utf-8"))
    names: Names
    if index["names"] is None:
        column = pa.ipc.open_file(pa.memory_map(str(folder / _NAMES))).read_all()["node"].chunk(0)
        names = _SortedNames(column, np.asarray(np.load(folder / _ORDER, mmap_mode="r")))
    else:
        names = Names.of(index["names"])
    embedding: Embedding = _opened(index["model"], folder, names)
    return embedding


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

    def __init__(self, column: pa.Array, order: NDArray[np.int64]) -> None:
        numbers = pa.types.is_int64(column.type)
        super().__init__(() if numbers else column)
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

    def index_of_many(self, names: Iterable[Hashable]) -> NDArray[np.int32]:
        return np.array([self.index_of(name) for name in names], np.int32)


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
