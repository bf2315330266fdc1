"""A model folder that is asked: shards are read by row groups, arrays are mapped, nothing is loaded whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..engine.cpu import flat_tree
from ..errors import InputError
from ..hierarchy.loose_names import LooseNames, Meant, log_loosely
from ..types import Floats, Ints, Mask
from .layout import BLOCK, FORMAT, GROUP, MANIFEST, damaged, read_json
from .names import NameIndex, hashes_of, matches
from .settings import is_trained
from .soundness import checked_manifest, require_inside, sound_array, sound_shape
from .trunk import Shape

__all__ = ["ModelFolder", "refuse_folder"]

_OPEN_FILES = 64
_LOOSE_NODES, _CANDIDATES = 5_000_000, 5


def _is_half(name: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in name)


def refuse_folder(path: Path, what: str, remedy: str) -> None:
    """Refuse a model folder where a command takes model files alone."""
    if (path / MANIFEST).is_file():
        raise InputError(f"{str(path)!r} is a model folder, which {what} does not take: {remedy}")


class ModelFolder:
    """A finished model folder.

    Nodes are known by place: those of the construction from 0 on, and behind them those that were added. While it is
    being made its manifest is given, as it is not there yet.
    """

    def __init__(self, path: Path, manifest: dict[str, Any] | None = None) -> None:
        self.path = Path(path)
        if manifest is None and not (self.path / MANIFEST).is_file():
            raise InputError(
                f"{str(path)!r} is no finished model folder; make one with  treeball fit 'edges/*.parquet' -o FOLDER"
            )
        if manifest is None:
            require_inside(self.path)
        self.manifest = read_json(self.path / MANIFEST) if manifest is None else manifest
        if self.manifest.get("format") != FORMAT:
            raise InputError(
                f"{str(path)!r} has format {self.manifest.get('format')!r}, which this version does not know"
            )
        if manifest is None:
            checked_manifest(self.path, self.manifest)
        shards = [*self.manifest["shards"], *self.manifest.get("added", [])]
        self.files = [self.path / shard["file"] for shard in shards]
        self.cuts = np.concatenate([[0], np.cumsum([shard["rows"] for shard in shards])]).astype(np.int64)
        self.dim: int = self.manifest["dim"]
        self.n_built: int = self.manifest["nodes"]
        groups = -(-np.diff(self.cuts) // GROUP)
        self.group_shard = np.repeat(np.arange(groups.size), groups)
        within = np.arange(self.group_shard.size) - np.repeat(np.cumsum(groups) - groups, groups)
        self.group_row = within
        self.group_first = self.cuts[self.group_shard] + within * GROUP
        self._file = lru_cache(_OPEN_FILES)(self._open)

    def __len__(self) -> int:
        return int(self.cuts[-1])

    @property
    def n_present(self) -> int:
        """How many nodes there are, without those that an update has removed and a root that was added."""
        return len(self) - int(self.removed.size) - self.has_virtual_root

    @property
    def objective(self) -> Literal["parents", "ancestors"]:
        """What its nodes are near to."""
        return "ancestors" if self.manifest["objective"] == "ancestors" else "parents"

    @property
    def is_trained(self) -> bool:
        """Whether its nodes were trained: there is no room left for others then."""
        return is_trained(self.manifest["method"])

    def require_construction(self, what: str) -> None:
        """Refuse what places nodes where a construction has left room for them, where nodes were trained."""
        if self.is_trained:
            raise InputError(
                f"{str(self.path)!r} is a model folder that was trained, for the objective {self.objective}, and "
                f"{what} takes constructed ones: fit the edges anew with the new ones"
            )

    @property
    def has_virtual_root(self) -> bool:
        """Whether place 0 is a root that was added."""
        return self.manifest["virtual_root"] is not None

    @property
    def _digests(self) -> dict[str, str]:
        """SHA-256 of arrays by name; none while the folder is being made."""
        return self.manifest.get("arrays", {}) if "arrays" in self.manifest else {}

    def _of_added(self, name: str, kind: type, values: Callable[[int], tuple[int, int] | None]) -> Any:
        """One array of what was added, of a type; `values` are the bounds of its part, given the first place of it."""
        built = len(self.manifest["shards"])
        parts: list[Any] = [np.empty(0, kind)]
        for first, one in zip(self.cuts[built:-1].tolist(), self.manifest.get("added", []), strict=True):
            parts.append(np.asarray(sound_array(self.path / one[name], kind, (one["rows"],), values=values(first))))
        return np.concatenate(parts)

    @cached_property
    def shape(self) -> Shape:
        """Topology of the construction."""
        return Shape(*map(np.asarray, sound_shape(self.path, self.n_built, self._digests)))

    @cached_property
    def others(self) -> tuple[Any, Any]:
        """Edges to other parents, by place of the child."""
        edges, n = self.manifest["other_edges"], self.n_built
        child, parent = (
            np.asarray(sound_array(self.path / name, np.int32, (edges,), self._digests.get(name), (0, n)))
            for name in ("topology/other_child.npy", "topology/other_parent.npy")
        )
        if bool((child[1:] < child[:-1]).any()):
            raise damaged(self.path / "topology" / "other_child.npy")
        return child, parent

    @cached_property
    def added_parent(self) -> Ints:
        """Parents of the nodes that were added, by place, int64."""
        # New leaves hang below nodes that were there before them.
        found: Ints = self._of_added("parents", np.int64, lambda first: (0, first))
        return found

    @cached_property
    def _added_by_parent(self) -> tuple[Ints, Ints]:
        """Parents of the nodes that were added, ascending, and their places beside them."""
        order = np.argsort(self.added_parent, kind="stable")
        return self.added_parent[order], self.n_built + order

    @cached_property
    def removed(self) -> Ints:
        """Places of the nodes that an update has marked as removed, ascending, int64."""
        record = self.manifest.get("removed")
        if record is None:
            return np.empty(0, np.int64)
        file = self.path / record["file"]
        found = np.asarray(sound_array(file, np.int64, (record["nodes"],), values=(0, len(self))))
        if bool((found[1:] <= found[:-1]).any()):
            raise damaged(file)
        return found

    def is_removed(self, places: Ints) -> Mask:
        """Which nodes an update has marked as removed, bool (m,)."""
        if not self.removed.size:
            return np.zeros(places.shape, bool)
        at = np.minimum(np.searchsorted(self.removed, places), self.removed.size - 1)
        return np.asarray(self.removed[at] == places)

    @cached_property
    def added_hashes(self) -> Any:
        """Hashes of the names of the nodes that were added, by place, uint64."""
        return self._of_added("hashes", np.uint64, lambda _: None)

    @cached_property
    def boxes(self) -> Floats:
        """Boxes around all blocks, in the order of places; every shard begins a new one."""
        rows = np.minimum(GROUP, self.cuts[self.group_shard + 1] - self.group_first)
        blocks = np.bincount(self.group_shard, -(-rows // BLOCK)).astype(np.int64)
        built, width = len(self.manifest["shards"]), 2 * self.dim + 2
        name = "index/boxes.npy"
        arrays = [
            sound_array(self.path / name, np.float64, (int(blocks[:built].sum()), width), self._digests.get(name))
        ]
        for count, one in zip(blocks[built:].tolist(), self.manifest.get("added", []), strict=True):
            arrays.append(sound_array(self.path / one["boxes"], np.float64, (count, width)))
        return np.asarray(arrays[0]) if len(arrays) == 1 else np.concatenate(arrays)

    @cached_property
    def group_boxes(self) -> tuple[Ints, Floats]:
        """Where the blocks of each group begin (g+1,), and boxes around all groups."""
        rows = np.minimum(GROUP, self.cuts[self.group_shard + 1] - self.group_first)
        begin = np.concatenate([[0], np.cumsum(-(-rows // BLOCK))]).astype(np.int64)
        boxes, d = self.boxes, self.dim
        least, most = np.minimum.reduceat(boxes, begin[:-1]), np.maximum.reduceat(boxes, begin[:-1])
        return begin, np.concatenate(
            [least[:, :d], most[:, d : 2 * d], least[:, 2 * d : 2 * d + 1], most[:, 2 * d + 1 :]], 1
        )

    # ---- names ----

    @cached_property
    def _index(self) -> NameIndex:
        return NameIndex(self.path / "index", self.n_built - self.has_virtual_root, self.n_built, self._digests)

    @property
    def name_hashes(self) -> Any:
        """Hashes of the names of the construction, ascending, mapped."""
        return self._index.hashes

    @property
    def name_places(self) -> Any:
        """Places of the nodes beside these."""
        return self._index.places

    def find(self, name: str) -> int:
        """The place of a node by its name, or by what leads to it loosely as in `Names.meant`.

        InputError where a name leads to no node or to several. Loose names are known in folders of up to 5 million
        nodes: the names of all nodes are read for them.
        """
        place = int(self.places_of([name])[0])
        return place if place >= 0 else self._find_loosely(name)

    def find_all(self, names: list[str]) -> list[int]:
        """Places of many nodes by their exact names; InputError where there is none of a name."""
        places: list[int] = self.places_of(names).tolist()
        if -1 in places:
            raise self._no_node(names[places.index(-1)])
        return places

    def _no_node(self, name: str) -> InputError:
        return InputError(f"there is no node {name!r} in {str(self.path)!r}; give its name as it is in the edges")

    def _find_loosely(self, name: str) -> int:
        meant = Meant([]) if len(self) > _LOOSE_NODES or _is_half(name) else self._loose.find(name)
        codes = np.array(meant.codes, np.int64)
        codes = codes[~self.is_removed(codes)]
        if codes.size == 1:
            log_loosely(name, self.names(codes)[0], meant)
            return int(codes[0])
        if codes.size:
            some = ", ".join(self.names(codes[:_CANDIDATES])) + (", ..." if codes.size > _CANDIDATES else "")
            raise InputError(
                f"{name!r} may be any of {codes.size:,} nodes of {str(self.path)!r}: {some}; give all of it"
            )
        raise self._no_node(name)

    @cached_property
    def _loose(self) -> LooseNames:
        groups = [self._read(group, "node").cast(pa.string()) for group in range(self.group_shard.size)]
        return LooseNames([(pa.concat_arrays(groups), None)])

    def places_of(self, names: list[str]) -> Ints:
        """Places of names, int64 (m,), -1 where there is none; each row group is read once."""
        try:
            hashes = hashes_of(pa.array(names, pa.string()))[0]
        except UnicodeEncodeError:  # half a character, which no name in a file has
            return np.array([-1 if _is_half(name) else self.places_of([name])[0] for name in names], np.int64)
        order = self._added_order
        built, added = (
            self._index.candidates_of_all(hashes),
            matches(self.added_hashes[order], self.n_built + order, hashes),
        )
        rows, places = (np.concatenate(side) for side in zip(built, added, strict=True))
        left = ~self.is_removed(places)
        rows, places = rows[left], places[left]
        found = np.full(len(names), -1, np.int64)
        for row, place, name in zip(rows.tolist(), places.tolist(), self.names(places), strict=True):
            if name == names[row] and found[row] < 0:
                found[row] = place
        if self.has_virtual_root:
            root = self.manifest["virtual_root"]
            found[[i for i, name in enumerate(names) if name == root]] = 0
        return found

    @cached_property
    def _added_order(self) -> Ints:
        return np.argsort(self.added_hashes, kind="stable")

    def has(self, name: str) -> bool:
        """Whether there is a node of that name."""
        return bool(self.places_of([name])[0] >= 0)

    def names(self, places: Any) -> list[str]:
        """Names of nodes."""
        return [str(one) for one in self._take(np.asarray(places, np.int64), "node")]

    def vectors(self, places: Any) -> Floats:
        """Vectors (m, d) of nodes."""
        places = np.asarray(places, np.int64)
        found = np.empty((places.size, self.dim))
        for group, asked, rows in self._by_group(places):
            found[asked] = self.group(group)[rows]
        return found

    def _take(self, places: Ints, column: str) -> list[Any]:
        found: list[Any] = [None] * places.size
        for group, asked, rows in self._by_group(places):
            values = self._read(group, column).take(pa.array(rows)).to_pylist()
            for at, value in zip(asked.tolist(), values, strict=True):
                found[at] = value
        return found

    def _by_group(self, places: Ints) -> Iterator[tuple[int, Ints, Ints]]:
        """Groups that hold any of the places, which of these, and their rows in the group."""
        if places.size and (places.min() < 0 or places.max() >= len(self)):
            raise IndexError("no such place")
        order = np.argsort(places, kind="stable")
        groups = np.searchsorted(self.group_first, places[order], "right") - 1
        for part in np.split(np.arange(places.size), np.flatnonzero(np.diff(groups)) + 1):
            if part.size:
                asked, group = order[part], int(groups[part[0]])
                yield group, asked, places[asked] - self.group_first[group]

    # ---- shards ----

    def group(self, group: int) -> Floats:
        """Vectors (g, d) of one row group."""
        column = self._read(group, "vector")
        return self.vectors_in(column, int(self.group_shard[group]))

    def vectors_in(self, column: Any, shard: int) -> Floats:
        """Vectors (m, d) of a column of a shard, all of which lie in the ball."""
        vectors = column.flatten().to_numpy(zero_copy_only=False)
        if vectors.dtype != np.float64 or vectors.size != len(column) * self.dim:
            raise damaged(self.files[shard])
        found = np.asarray(vectors).reshape(-1, self.dim)
        if not bool((np.einsum("ij,ij->i", found, found) < 1.0).all()):  # nor NaN
            raise damaged(self.files[shard])
        return found

    def _read(self, group: int, column: str) -> Any:
        shard = int(self.group_shard[group])
        try:
            file, alone = self._file(shard)
            with alone:
                table = file.read_row_group(int(self.group_row[group]), columns=[column])
            found = table[column].combine_chunks()
        except (OSError, ValueError, IndexError, KeyError, pa.ArrowException):
            raise damaged(self.files[shard]) from None
        rows = min(GROUP, int(self.cuts[shard + 1] - self.group_first[group]))
        kind = pa.types.is_string(found.type) if column != "vector" else pa.types.is_fixed_size_list(found.type)
        if not kind or len(found) != rows or (column == "node" and found.null_count):
            raise damaged(self.files[shard])
        return found

    def _open(self, shard: int) -> tuple[Any, Lock]:
        """The file of a shard, and a lock: two threads that read the same file object wait for each other for ever."""
        try:
            file = pq.ParquetFile(self.files[shard])
        except (OSError, ValueError, pa.ArrowException):
            raise damaged(self.files[shard]) from None
        rows = int(self.cuts[shard + 1] - self.cuts[shard])
        if file.metadata.num_rows != rows or file.metadata.num_row_groups != -(-rows // GROUP):
            raise damaged(self.files[shard])
        return file, Lock()

    # ---- hierarchy ----

    def primary_parent(self, place: int) -> int:
        """The primary parent, -1 for the root."""
        return int(self.shape.parent[place]) if place < self.n_built else int(self.added_parent[place - self.n_built])

    def primary_parents(self, places: Ints) -> Ints:
        """Primary parents of many nodes, int64 (m,), -1 for the root."""
        found = np.empty(places.size, np.int64)
        built = places < self.n_built
        found[built] = self.shape.parent[places[built]]
        found[~built] = self.added_parent[places[~built] - self.n_built]
        return found

    def parents(self, place: int) -> list[int]:
        """All parents, the primary one first; an added root is none, and for who was removed those above it stand."""
        child, parent = self.others
        # By numbers of another type the whole array would be made one of these.
        low, high = np.searchsorted(child, np.array((place, place + 1), child.dtype))
        found = np.array([self.primary_parent(place), *parent[low:high].tolist()], np.int64)
        found = found[found >= int(self.has_virtual_root)]
        gone = self.is_removed(found)
        if not gone.any():
            return [int(one) for one in found]
        parts = (self.parents(int(one)) if is_gone else [int(one)] for one, is_gone in zip(found, gone, strict=True))
        return list(dict.fromkeys(one for part in parts for one in part))

    def primary_children(self, place: int, most: int | None = None) -> Ints:
        """The first children of which a node is the primary parent, int64 (k,), the tallest first."""
        more = 2**31 - 1 if most is None else min(most + self.removed.size, 2**31 - 1)
        own = flat_tree.children_at(place, self.shape.size, more) if place < self.n_built else np.empty(0, np.int32)
        low, high = np.searchsorted(self._added_by_parent[0], (place, place + 1))
        found = np.concatenate([own.astype(np.int64), self._added_by_parent[1][low:high]])
        gone = self.is_removed(found)
        if gone.any():  # who hung below these hangs here now
            inner = found[gone & ((found >= self.n_built) | (self.shape.size[np.minimum(found, self.n_built - 1)] > 1))]
            found = np.concatenate([found[~gone], *(self.primary_children(one, most) for one in inner.tolist())])
        return found[:most]

    def children(self, place: int) -> Ints:
        """All children, int64 (k,), those by a primary parent first."""
        child, parent = self.others
        further = child[np.flatnonzero(parent == place)].astype(np.int64)
        return np.concatenate([self.primary_children(place), further[~self.is_removed(further)]])

    def count_below(self, places: Ints) -> Ints:
        """How many nodes each of some nodes has below it by primary parents, int64 (m,)."""
        built = places < self.n_built
        found = np.zeros(places.size, np.int64)
        found[built] = self.shape.size[places[built]] - 1
        order = np.argsort(places)
        ascending = places[order]
        added = self.n_built + np.arange(self.added_parent.size)
        for change, who in ((1, added), (-1, self.removed)):
            while (who := self.primary_parents(who[who >= 0])).size:
                at = np.minimum(np.searchsorted(ascending, who), places.size - 1)
                found += change * np.bincount(order[at[ascending[at] == who]], minlength=places.size)
        return found

    def ancestors(self, place: int) -> list[int]:
        """All ancestors by any path, the nearest first."""
        found: dict[int, None] = {}
        waiting = self.parents(place)
        while waiting:
            following: list[int] = []
            for one in waiting:
                if one not in found:
                    found[one] = None
                    following += self.parents(one)
            waiting = following
        return list(found)
