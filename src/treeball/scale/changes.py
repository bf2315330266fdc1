"""What has changed between a model folder and the next version of its edges, found in one pass over the files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..engine.cpu import flat_tree
from ..errors import InputError
from ..types import Ints, Mask
from .columns import Columns
from .folder import ModelFolder
from .layout import damaged
from .names import hashes_of
from .source import Edges, connect

__all__ = ["Changes", "compare"]

_SHIFT = 32
# Edges of the folder that are counted, at most, to tell the direction of a file.
_ENOUGH = 100_000


@dataclass(frozen=True)
class Changes:
    """The next version beside a model folder.

    Attributes
    ----------
    levels : new nodes by how far they are below a node of the folder: names, and names of their parents
    known : places of the parents of the first level, by name
    absent : places of all nodes that the next version does not have, int64
    removed : those of them that were there until now
    roots : names of new nodes that have no parent, which have no place in a model folder
    moved : places of the nodes that have other parents now, int64
    other_parents : how many further parents new nodes have
    without_child : how many rows name a parent and no child
    """

    levels: list[tuple[list[str], list[str]]]
    known: dict[str, int]
    absent: Ints
    removed: Ints
    roots: list[str]
    moved: Ints
    other_parents: int
    without_child: int

    @property
    def new(self) -> int:
        """How many nodes are new."""
        return sum(len(names) for names, _ in self.levels)


class _Lookup:
    """Places by hashes of names: those of the construction, and those that were added; who is there goes before."""

    def __init__(self, folder: ModelFolder) -> None:
        self.folder = folder
        self.hashes, self.place = folder.name_hashes, folder.name_places
        added, places = folder.added_hashes, folder.n_built + np.arange(folder.added_hashes.size)
        # Of several by one name the last is the one that is there, or the newest.
        order = np.lexsort((places, ~folder.is_removed(places), added))
        self.added, self.added_place = added[order], places[order]

    def places(self, names: Any) -> Ints:
        """Places of names (m,), -1 for those that are new."""
        hashes = hashes_of(names)[0]
        codes = flat_tree.codes_of(hashes, np.asarray(self.hashes))
        found = np.where(codes >= 0, np.asarray(self.place)[np.maximum(codes, 0)], -1).astype(np.int64)
        if found.size and found.max() >= self.folder.n_built:
            raise damaged(self.folder.path / "index" / "place.npy")
        if self.added.size:
            at = np.maximum(np.searchsorted(self.added, hashes, "right") - 1, 0)
            newer, known = self.added_place[at], self.added[at] == hashes
            gone = (found < 0) | (self.folder.is_removed(found) & ~self.folder.is_removed(newer))
            found[known & gone] = newer[known & gone]
        return found


class _Seen:
    """Which nodes and edges of a folder the next version has."""

    def __init__(self, folder: ModelFolder, lookup: _Lookup) -> None:
        self.parent = np.concatenate([folder.shape.parent, folder.added_parent.astype(np.int32)])
        self.others = _keys(*(np.asarray(side, np.int64) for side in folder.others))
        self.known_repairs = _repaired(folder, lookup)
        self.present, self.with_parent = np.zeros(len(folder), bool), np.zeros(len(folder), bool)
        self.other_seen = np.zeros(self.others.size, bool)
        self.changed = np.zeros(len(folder), bool)

    def note(self, child: Ints, parent: Ints) -> None:
        """Take in edges of nodes of the folder to such nodes, or to new ones (-1)."""
        self.present[child] = True
        self.present[parent[parent >= 0]] = True
        primary = self.parent[child] == parent
        self.with_parent[child[primary]] = True
        child, parent = child[~primary], parent[~primary]
        keys = _keys(child, parent)
        is_other, at = _within(keys, self.others)
        self.other_seen[at[is_other]] = True
        repaired = _within(keys, self.known_repairs)[0]
        self.changed[child[~is_other & ~repaired]] = True

    def count_known(self, child: Ints, parent: Ints) -> int:
        """How many of some pairs of places, -1 for new nodes, are edges of the folder."""
        both = (child >= 0) & (parent >= 0)
        child, parent = child[both], parent[both]
        return int(((self.parent[child] == parent) | _within(_keys(child, parent), self.others)[0]).sum())

    def absent_and_moved(self, folder: ModelFolder) -> tuple[Ints, Ints]:
        """Places of the nodes that are not there, and of those with other parents."""
        top = 1 if folder.has_virtual_root else 0
        rooted = self.parent < top
        self.present[:top] = True
        moved = self.present & (self.changed | (~self.with_parent & ~rooted))
        lost = self.others[~self.other_seen] >> _SHIFT
        moved[lost[self.present[lost]]] = True
        return np.flatnonzero(~self.present), np.flatnonzero(moved)


def _columns_along(folder: ModelFolder, edges: Edges, base: Any, seen: _Seen, lookup: _Lookup) -> Columns:
    """Columns of child and parent, in the direction of the edges that the folder has already.

    A file whose columns are known to be the other way round is refused: it would turn the model round.
    """
    columns = edges.columns(base, folder.has)
    along = against = 0
    for piece in edges.edges(base, columns):
        child, parent = lookup.places(piece["child"]), lookup.places(piece["parent"])
        along += seen.count_known(child, parent)
        against += seen.count_known(parent, child)
        if along + against >= _ENOUGH:
            break
    one, two = columns.named
    if columns.direction is not None and against <= along:
        return columns
    if columns.direction is None and along != against:
        return columns.decided("child-parent" if along > against else "parent-child", "as the edges of the model are")
    remedy = f"say which is which with --columns {one},{two} or --columns {two},{one}"
    if columns.direction is None:
        raise InputError(
            f"{edges.files[0]!r}: whether {one} or {two} is the child cannot be told, for as many of its rows are "
            f"edges of {str(folder.path)!r} one way as the other ({along:,}): {remedy}"
        )
    raise InputError(
        f"{edges.files[0]!r} would turn {str(folder.path)!r} round: with {one} as child and {two} as parent "
        f"{along:,} of its rows are edges of the model, and {against:,} the other way: {remedy}, or make a new folder"
    )


def compare(folder: ModelFolder, edges: Edges, memory: int) -> Changes:
    """Read the whole next version and say what is new, removed and moved."""
    lookup = _Lookup(folder)
    seen = _Seen(folder, lookup)
    names: list[str] = []
    above: list[str] = []
    alone: dict[str, None] = {}
    places: list[Ints] = [np.empty(0, np.int64)]
    without_child = 0
    base = connect(memory, folder.path / "work" / "spill", 1)
    try:
        columns = _columns_along(folder, edges, base, seen, lookup)
        for piece in edges.edges(base, columns):
            child, parent = lookup.places(piece["child"]), lookup.places(piece["parent"])
            whole = ~(_is_null(piece["child"]) | _is_null(piece["parent"]))
            without_child += int((_is_null(piece["child"]) & ~_is_null(piece["parent"])).sum())
            old = whole & (child >= 0) & (child != parent)
            seen.note(child[old], parent[old])
            # Rows without a parent, or with the node itself, name roots, some of which have no children.
            for side, places_of in (("child", child), ("parent", parent)):
                seen.present[places_of[~old & (places_of >= 0)]] = True
                fresh = np.flatnonzero((places_of < 0) & ~(whole & (child < 0) & (child != parent)))
                alone |= dict.fromkeys(name for name in piece[side].take(pa.array(fresh)).to_pylist() if name)
            new = np.flatnonzero(whole & (child < 0))
            names += piece["child"].take(pa.array(new)).to_pylist()
            above += piece["parent"].take(pa.array(new)).to_pylist()
            places.append(parent[new])
    finally:
        base.close()
    absent, moved = seen.absent_and_moved(folder)
    levels, known, left_out = _levels(names, above, np.concatenate(places))
    placed = {name for level, _ in levels for name in level}
    roots = [name for name in alone if name not in placed]
    return Changes(levels, known, absent, absent[~folder.is_removed(absent)], roots, moved, left_out, without_child)


def _levels(
    names: list[str], above: list[str], places: Ints
) -> tuple[list[tuple[list[str], list[str]]], dict[str, int], int]:
    """New nodes by level, the first parent of each that is known before it; parents of the first; edges left out."""
    level: dict[str, int] = {}
    parent: dict[str, str] = {}
    at: dict[str, int] = {}
    waiting = [i for i, name in enumerate(names) if name != above[i]]
    edges = len({(names[i], above[i]) for i in waiting})
    for i in waiting:
        if places[i] >= 0 and names[i] not in level:
            level[names[i]], parent[names[i]], at[above[i]] = 0, above[i], int(places[i])
    waiting = [i for i in waiting if places[i] < 0]
    number = 0
    while waiting:
        ready = [i for i in waiting if level.get(above[i]) == number and names[i] not in level]
        for i in ready:
            level.setdefault(names[i], number + 1)
            parent.setdefault(names[i], above[i])
        waiting = [i for i in waiting if names[i] not in level]
        number += 1
        if not ready and waiting and number > max(level.values(), default=0):
            one = waiting[0]
            raise InputError(
                f"{len(waiting):,} new nodes, such as {names[one]!r} below {above[one]!r}, hang below none of the "
                "model folder: make a new folder of this version with  treeball fit"
            )
    levels: list[tuple[list[str], list[str]]] = [([], []) for _ in range(max(level.values(), default=-1) + 1)]
    for name, depth in level.items():
        levels[depth][0].append(name)
        levels[depth][1].append(parent[name])
    return levels, at, edges - len(level)


def _keys(child: Ints, parent: Ints) -> Ints:
    """One number for an edge; those by child and then by parent ascend."""
    return (child << _SHIFT) | np.maximum(parent, 0) if child.size else np.empty(0, np.int64)


def _within(keys: Ints, known: Ints) -> tuple[Mask, Ints]:
    """Which keys are among the sorted ones, and where."""
    if not known.size:
        return np.zeros(keys.size, bool), np.zeros(keys.size, np.int64)
    at = np.minimum(np.searchsorted(known, keys), known.size - 1)
    return known[at] == keys, at


def _repaired(folder: ModelFolder, lookup: _Lookup) -> Ints:
    """Keys of the edges that were left out when the folder was made, as far as they are named; sorted."""
    path = folder.path / "repairs.parquet"
    if not path.is_file():
        return np.empty(0, np.int64)
    table = pq.read_table(path)
    if not len(table) or not pa.types.is_string(table.schema.field("child").type):
        return np.empty(0, np.int64)
    sides = [table[side].combine_chunks() for side in ("child", "parent")]
    named = ~(_is_null(sides[0]) | _is_null(sides[1]))
    child, parent = (lookup.places(side)[named] for side in sides)
    known = (child >= 0) & (parent >= 0)
    return np.sort(_keys(child[known], parent[known]))


def _is_null(column: Any) -> Mask:
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False))
