"""New leaves in a model folder: each next to its parent, in nobody's way, in a shard of their own.

Where a parent has so many children that its directions are in a file, new ones get those that are left; elsewhere there
is room in any direction, and one is drawn. All are then compared with all nodes that bounds do not exclude, and those
that are in the way of another draw again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..engine.cpu import counting, placement
from ..errors import InputError
from ..geometry import poincare
from ..io.atomic import atomic_write
from ..limits import PLACED_RADIUS
from ..types import Floats, Ints, Mask
from ..workers import in_parts, thread_count
from .fans import Fans
from .folder import ModelFolder
from .layout import BLOCK, GROUP, MANIFEST, array, save_array, sha256_of, write_json
from .names import hashes_of
from .source import Edges, connect
from .trunk import NORM

__all__ = ["Inserted", "add_leaves", "by_parent", "insert_leaves"]

_ROUNDS = 12
# How many times farther than the parent all others are to stay.
_MARGIN = 1.002
# How far from its parent a leaf is that was moved between two, at most, in longest edges.
_BETWEEN_PARENTS = 2.5
# Edges that are tried, as multiples of the first: in later rounds longer ones.
_STRETCH = (1.0, 1.0, 1.05, 1.1, 1.2, 1.3)


@dataclass(frozen=True)
class Inserted:
    """What was added: how many leaves, and the names of those that found no free place, which have the last tried."""

    added: int
    without_place: list[str]
    rounds: int


def insert_leaves(folder: ModelFolder, source: str, seed: int = 0, threads: int = 0) -> Inserted:
    """Add the leaves of a file of edges child, parent; parents are nodes of the folder."""
    names, parent_names = _read(source, folder)
    distinct = list(dict.fromkeys(parent_names))
    known = dict(zip(distinct, folder.find_all(distinct), strict=True))
    return add_leaves(folder, *by_parent(names, parent_names, known), seed, threads)


def by_parent(names: list[str], parent_names: list[str], known: Mapping[str, int]) -> tuple[list[str], list[str], Ints]:
    """Leaves and their parents in the order of the places of these, so that those next to each other are near."""
    parents = np.array([known[name] for name in parent_names], np.int64)
    order = np.argsort(parents, kind="stable").tolist()
    return [names[i] for i in order], [parent_names[i] for i in order], parents[order]


def add_leaves(
    folder: ModelFolder, names: list[str], parent_names: list[str], parents: Ints, seed: int, threads: int
) -> Inserted:
    """Give new leaves places next to their parents, whose places in the folder are known, and write them."""
    places = _Places(folder, parents, seed)
    waiting = np.arange(len(names))
    points, limits = np.zeros((waiting.size, folder.dim)), np.zeros(waiting.size)
    rounds = 0
    # The largest key that a node of each group wants for itself: a bound, until the group has been read.
    widest = np.full(len(folder.group_boxes[1]), np.sinh(0.5 * _longest_edge(folder)) ** 2)
    for number in range(_ROUNDS):
        rounds += 1
        points[waiting], limits[waiting] = places.draw(waiting, number)
        again = _conflicts(folder, points, limits, parents, waiting, widest, thread_count(threads))
        waiting = np.flatnonzero(again)
        if not waiting.size:
            break
    _write(folder, names, parent_names, parents, points)
    return Inserted(len(names), [names[i] for i in waiting.tolist()], rounds)


def _read(source: str, folder: ModelFolder) -> tuple[list[str], list[str]]:
    edges = Edges.of((source,))
    base = connect(1 << 30, folder.path / "work" / "spill", 1)
    try:
        rows = base.execute(edges.scan(base)).fetchall()
    finally:
        base.close()
    rows = list(dict.fromkeys(row for row in rows if row[0] is not None and row[1] is not None))
    names = [row[0] for row in rows]
    if not rows:
        raise InputError(f"{source!r} holds no edge: give new leaves as child and parent")
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InputError(f"{twice!r} has two parents in {source!r}: a model folder takes new leaves with one")
    for name in names:
        if folder.has(name):
            raise InputError(f"{name!r} is a node of {str(folder.path)!r} already: give new leaves only")
    return names, [row[1] for row in rows]


class _Places:
    """Where new children of nodes may go."""

    def __init__(self, folder: ModelFolder, parents: Ints, seed: int) -> None:
        self.folder, self.parents, self.seed = folder, parents, seed
        self.above = np.array([folder.primary_parent(int(one)) for one in parents], np.int64)
        self.at = folder.vectors(parents)
        self.up = folder.vectors(np.maximum(self.above, 0))
        self.own = np.where(self.above >= 0, poincare.distance(self.at, self.up), 0.0)
        plan = folder.manifest["plan"]
        left = np.maximum(plan["budget"] - poincare.distance(self.at, np.zeros_like(self.at)), 0.0)
        reach = np.minimum(plan["longest"] * np.minimum(1.0, left), left)
        self.length = np.maximum(reach, self.own * plan["growth"])
        self.spare: dict[int, tuple[Floats, Ints]] = {}
        for place in np.unique(parents).tolist():
            kept = folder.path / "work" / f"rows-{place}.npy"
            if kept.is_file():
                self.spare[place] = self._unused(place, kept)
        self.taken: dict[int, int] = {}

    def _unused(self, place: int, kept: Path) -> tuple[Floats, Ints]:
        """The fan of a node with many children, and its rows that nobody has."""
        rows = np.asarray(array(kept))
        fans = Fans.load(self.folder.path / "work")
        which = int(fans.of(np.array([rows.size]))[0])
        fan = fans.rows[fans.begin[which] : fans.begin[which] + fans.sizes[which]]
        free = np.ones(len(fan), bool)
        free[0] = False
        free[rows] = False
        return fan, np.flatnonzero(free)

    def draw(self, who: Ints, number: int) -> tuple[Floats, Floats]:
        """Points (m, d) for some of the new leaves, and the keys of their margins."""
        rng = np.random.default_rng([self.seed, number])
        points, limits = np.zeros((who.size, self.folder.dim)), np.zeros(who.size)
        stretch = _STRETCH[min(number, len(_STRETCH) - 1)]
        drawn = rng.normal(size=points.shape)
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
        back = np.zeros(self.folder.dim)
        for i, one in enumerate(who.tolist()):
            place = int(self.parents[one])
            longest = PLACED_RADIUS - float(poincare.distance(self.at[one], np.zeros(self.folder.dim)))
            length = max(min(self.length[one] * stretch, longest), self.own[one] * _MARGIN)
            fan, free = self.spare.get(place, (None, np.empty(0, np.int64)))
            turn = self.taken.get(place, 0)
            if fan is not None and turn < free.size:
                self.taken[place] = turn + 1
                length = self.length[one]
                has_parent = bool(self.above[one] >= 0 and placement.direction_to(self.at[one], self.up[one], back))
                depth = len(self.folder.shape.above(place))
                placement.put_along(
                    free[turn : turn + 1], np.zeros(1, np.int64), np.array([length]), fan, self.at[one], back,
                    has_parent, depth, NORM, points[i : i + 1],
                )  # fmt: skip
            else:
                placement.put(self.at[one], drawn[i], length, NORM, points[i])
            limits[i] = math.sinh(0.5 * _MARGIN * float(poincare.distance(points[i], self.at[one]))) ** 2
        return points, limits


def _conflicts(
    folder: ModelFolder, points: Floats, limits: Floats, parents: Ints, asked: Ints, widest: Floats, threads: int
) -> Mask:
    """Which of the new leaves `asked` are in the way of a node, of another new leaf, or the other way round."""
    begin, group_boxes = folder.group_boxes
    own = counting.gaps(points)
    conflict = np.zeros(len(points), bool)

    def work(part: slice) -> None:
        for group in range(part.start, part.stop):
            reach = np.maximum(limits[asked], widest[group])
            near = asked[counting.within_reach(group_boxes[group], points[asked], own[asked], reach)]
            if not near.size:
                continue
            vectors, first = folder.group(group), int(folder.group_first[group])
            hold = _holds(folder, first, vectors)
            widest[group] = hold.max()
            boxes = folder.boxes[begin[group] : begin[group + 1]]
            counting.in_the_way(vectors, hold, first, boxes, BLOCK, points, own, limits, parents, near, conflict)

    in_parts(work, len(group_boxes), threads)
    # Among themselves: of two in each other's way, the later one looks again.
    far = len(folder)
    for at in range(0, len(points), GROUP):
        part = points[at : at + GROUP]
        later = asked[asked >= at]
        inside = np.full(len(points), -1, np.int64)
        inside[:] = far + np.arange(len(points))
        boxes = counting.boxes(part, BLOCK)
        clash = np.zeros(len(points), bool)
        counting.in_the_way(
            part, limits[at : at + GROUP], far + at, boxes, BLOCK, points, own, limits, inside, later, clash
        )
        later = later[clash[later]]
        conflict[later] |= _has_earlier(points, limits, at, part, later)
    return conflict


def _has_earlier(points: Floats, limits: Floats, at: int, part: Floats, later: Ints) -> Mask:
    """Which of `later` are in the way of one before them."""
    found = np.zeros(later.size, bool)
    for i, one in enumerate(later.tolist()):
        before = max(0, min(len(part), one - at))
        if before:
            keys = counting.keys_to(part[:before], points[one])
            found[i] = bool((keys <= np.maximum(limits[one], limits[at : at + before])).any())
    return found


def _longest_edge(folder: ModelFolder) -> float:
    plan = folder.manifest["plan"]
    longest = plan["longest"] * plan["growth"] ** folder.manifest["height"]
    # Leaves between two parents are farther out.
    return float(max(longest, _BETWEEN_PARENTS * plan["longest"] if folder.manifest["other_edges"] else 0.0) * _MARGIN)


def _holds(folder: ModelFolder, first: int, vectors: Floats) -> Floats:
    """The key within which each node of a group wants no other: that of its parent, with a margin."""
    last = first + len(vectors)
    built = folder.shape.parent[first : min(last, folder.n_built)].astype(np.int64)
    added = folder.added_parent[max(first - folder.n_built, 0) : max(last - folder.n_built, 0)]
    above = np.concatenate([built, added])
    few, which = np.unique(np.maximum(above, 0), return_inverse=True)
    far = poincare.distance(vectors, folder.vectors(few)[which])
    return np.where(above >= 0, np.sinh(0.5 * _MARGIN * far) ** 2, 0.0)


def _write(folder: ModelFolder, names: list[str], parent_names: list[str], parents: Ints, points: Floats) -> None:
    """Write the shard of the new leaves, and say in the manifest that it is there."""
    number = len(folder.manifest.get("added", []))
    stem = f"added-{number:06d}"
    target = folder.path / "shards" / f"{stem}.parquet"
    nodes = pa.array(names, pa.string())
    columns: dict[str, Any] = {"node": nodes, "parent": pa.array(parent_names, pa.string())}
    if folder.manifest["other_edges"]:
        columns["other_parents"] = pa.array([[]] * len(names), pa.list_(pa.string()))
    columns["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(points.ravel()), folder.dim)
    with atomic_write(target) as temporary:
        pq.write_table(pa.table(columns), temporary, row_group_size=GROUP, compression={"vector": "none"})
    files = {
        "parents": f"index/{stem}-parents.npy",
        "hashes": f"index/{stem}-hashes.npy",
        "boxes": f"index/{stem}-boxes.npy",
    }
    save_array(folder.path / files["parents"], parents)
    save_array(folder.path / files["hashes"], hashes_of(nodes)[0])
    boxes = [counting.boxes(points[at : at + GROUP], BLOCK) for at in range(0, len(points), GROUP)]
    save_array(folder.path / files["boxes"], np.concatenate(boxes))
    record = {
        "file": str(target.relative_to(folder.path)), "rows": len(names), "bytes": target.stat().st_size,
        "sha256": sha256_of(target), **files,
    }  # fmt: skip
    write_json(folder.path / MANIFEST, folder.manifest | {"added": [*folder.manifest.get("added", []), record]})
