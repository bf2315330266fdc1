"""New leaves in a model folder: each next to its parent, in nobody's way, in a shard of their own.

Where a parent has so many children that its directions are in a file, new ones get those that are left; elsewhere there
is room in any direction, and one is drawn. Those that are in the way of a node or of another new leaf get several more
at once, so that the shards are read a few times and not for every attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..engine.cpu import box_tree, counting, reach
from ..errors import InputError
from ..io.atomic import atomic_write
from ..io.locking import writer_lock
from ..io.readers.settings import ReadSettings
from ..types import Floats, Ints, Mask
from ..workers import apart, in_parts, thread_count
from .folder import ModelFolder
from .layout import ADDED, BLOCK, GROUP, MANIFEST, save_array, sha256_of, write_json
from .names import hashes_of
from .new_places import NewPlaces
from .reaches import Reaches, rounded_up
from .source import Edges, connect

__all__ = ["Inserted", "add_leaves", "by_parent", "insert_leaves", "ways_blocked"]

# How many attempts are made in each round, in all of which the shards are read once.
_ATTEMPTS = (1, 3, 8)
# Leaves beside row groups that they may meet, which are kept at once.
_MEETINGS = 1 << 25


@dataclass(frozen=True)
class Inserted:
    """What was added: how many leaves, and the names of those that found no free place, which have the last tried.

    `left_out` are rows that name no child or no parent.
    """

    added: int
    without_place: list[str]
    rounds: int
    left_out: int = 0


def insert_leaves(
    folder: ModelFolder, source: str, seed: int = 0, threads: int = 0, *,
    tell: Callable[[str], None] | None = None, reading: ReadSettings | None = None,
) -> Inserted:  # fmt: skip
    """Add the leaves of a file of edges child, parent; parents are nodes of the folder.

    The folder is locked and opened anew, so that leaves that another process has added since are kept.
    """
    with writer_lock(folder.path, tell=tell):
        return _insert_leaves(ModelFolder(folder.path), source, seed, threads, reading or ReadSettings())


def _insert_leaves(folder: ModelFolder, source: str, seed: int, threads: int, reading: ReadSettings) -> Inserted:
    folder.require_construction("insert")
    names, parent_names, left_out = _read(source, folder, reading)
    distinct = list(dict.fromkeys(parent_names))
    known = dict(zip(distinct, folder.find_all(distinct), strict=True))
    done = add_leaves(folder, *by_parent(names, parent_names, known), seed, threads)
    return replace(done, left_out=left_out)


def by_parent(names: list[str], parent_names: list[str], known: Mapping[str, int]) -> tuple[list[str], list[str], Ints]:
    """Leaves and their parents in the order of the places of these, so that those next to each other are near."""
    parents = np.array([known[name] for name in parent_names], np.int64)
    order = np.argsort(parents, kind="stable").tolist()
    return [names[i] for i in order], [parent_names[i] for i in order], parents[order]


def add_leaves(
    folder: ModelFolder, names: list[str], parent_names: list[str], parents: Ints, seed: int, threads: int
) -> Inserted:
    """Give new leaves places next to their parents, whose places in the folder are known, and write them."""
    count = thread_count(threads)
    reaches, places = Reaches(folder, count), NewPlaces(folder, parents, seed)
    points, wanted = np.zeros((len(names), folder.dim)), np.zeros(len(names))
    has = np.zeros(len(names), bool)
    rounds = before = 0
    for attempts in _ATTEMPTS:
        waiting = np.flatnonzero(~has)
        if not waiting.size:
            break
        rounds += 1
        tried, limits = places.draw(waiting, before, attempts)
        owner = np.repeat(waiting, attempts)
        before += attempts
        # Who finds no free place keeps the last one tried.
        points[waiting], wanted[waiting] = tried[attempts - 1 :: attempts], limits[attempts - 1 :: attempts]
        free = ~ways_blocked(folder, reaches, tried, limits, parents[owner], count)
        _take(points, wanted, has, tried[free], limits[free], owner[free])
    _write(folder, names, parent_names, parents, points, wanted)
    return Inserted(len(names), [names[i] for i in np.flatnonzero(~has).tolist()], rounds)


def _read(source: str, folder: ModelFolder, reading: ReadSettings) -> tuple[list[str], list[str], int]:
    # A few edges are too little to tell the direction from: without a header that does, children come first.
    direction = "header" if reading.direction == "auto" else reading.direction
    edges = Edges.of((source,), replace(reading, direction=direction))
    base = connect(1 << 30, folder.path / "work" / "spill", 1)
    try:
        columns = edges.columns(base, folder.has)
        pieces = list(edges.edges(base, columns))
    finally:
        base.close()
    read = (zip(piece["child"].to_pylist(), piece["parent"].to_pylist(), strict=True) for piece in pieces)
    every = [row for piece in read for row in piece]
    whole = [row for row in every if row[0] is not None and row[1] is not None]
    rows = list(dict.fromkeys(whole))
    names = [row[0] for row in rows]
    if not rows:
        raise InputError(f"{source!r} holds no edge: give new leaves as child and parent")
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InputError(f"{twice!r} has two parents in {source!r}: a model folder takes new leaves with one")
    there = np.flatnonzero(folder.places_of(names) >= 0)
    if there.size:
        raise InputError(f"{names[there[0]]!r} is a node of {str(folder.path)!r} already: give new leaves only, "
                         "as children; --columns child,parent says which column is which")  # fmt: skip
    return names, [row[1] for row in rows], len(every) - len(whole)


def ways_blocked(
    folder: ModelFolder, reaches: Reaches, points: Floats, limits: Floats, parents: Ints, threads: int,
    same: Ints | None = None,
) -> Mask:  # fmt: skip
    """Which points (m, d), with reaches and parents (m,), and a node are in each other's way.

    `same` (m, 2) says for each from where to where nodes are that go where the point does. Row groups that some point
    may meet are read once, unless there are very many meetings.
    """
    begin, group_boxes = folder.group_boxes
    tree = reach.stack_boxes(group_boxes, reaches.widest())
    own, conflict = counting.gaps(points), np.zeros(len(points), bool)
    same = np.zeros((len(points), 2), np.int64) if same is None else same
    done = 0
    while done < len(points):
        counts = np.zeros(len(group_boxes), np.int64)
        rest = (points[done:], own[done:], limits[done:])
        asked: int = apart(lambda rest=rest, counts=counts: reach.count_meetings(*tree, *rest, _MEETINGS, counts))  # type: ignore[misc]
        now = tuple(values[:asked] for values in rest)
        first = np.concatenate([[0], np.cumsum(counts)])
        who = np.empty(first[-1], np.int32)
        apart(lambda now=now, first=first, who=who: reach.note_meetings(*tree, *now, first[:-1].copy(), who))  # type: ignore[misc]
        above, with_it = parents[done : done + asked], same[done : done + asked]
        found = conflict[done : done + asked]

        def work(part: slice, now: Any = now, first: Ints = first, who: Any = who, above: Ints = above,
                 with_it: Ints = with_it, found: Mask = found) -> None:  # fmt: skip
            for group in range(part.start, part.stop):
                near = who[first[group] : first[group + 1]]
                if near.size and not found[near].all():
                    boxes = folder.boxes[begin[group] : begin[group + 1]]
                    hold, place = reaches.of_group(group), int(folder.group_first[group])
                    reach.in_the_way(folder.group(group), hold, place, boxes, BLOCK, *now, above, with_it, near, found)

        in_parts(work, len(group_boxes), threads)
        done += asked
    return conflict


def _take(points: Floats, wanted: Floats, has: Mask, tried: Floats, limits: Floats, owner: Ints) -> None:
    """Give leaves, in their order, the first of their tried points that no leaf with a place is in the way of.

    `tried` (t, d), `limits` and `owner` are by owner; `points`, `wanted` and `has` by leaf are changed in place.
    """
    if not owner.size:
        return
    settled = np.flatnonzero(has)
    everyone, reaches = np.concatenate([points[settled], tried]), np.concatenate([wanted[settled], limits])
    owners, order = np.concatenate([settled, owner]), np.arange(len(everyone))
    gap = counting.gaps(everyone)
    apart(lambda: box_tree.arrange(everyone, -np.log(gap), order))
    at = np.empty_like(order)
    at[order] = np.arange(order.size)
    everyone, reaches, gap, owners = everyone[order], reaches[order], gap[order], owners[order]
    wide = np.maximum.reduceat(reaches, np.arange(0, reaches.size, reach.FINE))
    tree = reach.stack_boxes(counting.boxes(everyone, reach.FINE), wide)
    taken = np.zeros(order.size, bool)
    taken[at[: settled.size]] = True
    apart(lambda: reach.take_in_turn(at[settled.size :], owners, everyone, gap, reaches, *tree, taken, has))
    taken[at[: settled.size]] = False
    points[owners[taken]], wanted[owners[taken]] = everyone[taken], reaches[taken]


def _write(
    folder: ModelFolder, names: list[str], parent_names: list[str], parents: Ints, points: Floats, wanted: Floats
) -> None:
    """Write the shard of the new leaves, with their reaches, and say in the manifest that it is there."""
    number = len(folder.manifest.get("added", []))
    stem = f"{ADDED}-{number:06d}"
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
        "reach": f"index/{stem}-reach.npy",
    }
    save_array(folder.path / files["parents"], parents)
    save_array(folder.path / files["hashes"], hashes_of(nodes)[0])
    save_array(folder.path / files["reach"], rounded_up(wanted))
    boxes = [counting.boxes(points[at : at + GROUP], BLOCK) for at in range(0, len(points), GROUP)]
    save_array(folder.path / files["boxes"], np.concatenate(boxes))
    record = {
        "file": str(target.relative_to(folder.path)), "rows": len(names), "bytes": target.stat().st_size,
        "sha256": sha256_of(target), **files,
    }  # fmt: skip
    # Scores were those of the nodes there were.
    manifest = {name: value for name, value in folder.manifest.items() if name != "scores"}
    write_json(folder.path / MANIFEST, manifest | {"added": [*manifest.get("added", []), record]})
