"""Whether nodes of other branches are as near to a node as its parents: bounds of tiles first, exact where they fail.

Every branch in turn asks all others, so that each pair is looked at from both sides. A node is judged as `evaluate`
does: a pair of a node and one of its parents is ill when a node that is none of its parents is as near as that parent.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.cpu import borders, counting, moving
from ..limits import TIE
from ..types import Floats, Ints, Mask
from .layout import read_json, write_json
from .shard import other_edges
from .tiles import AllTiles, Tiles, borders_path, in_small, of_branch, parent_keys, save_all
from .trunk import Shape, Trunk

__all__ = ["ask_others", "found_in"]

# How far up the nodes above a further parent are looked at first.
_LEVELS_ABOVE = 3


@dataclass
class _Asking:
    """The nodes of a branch in the order of their tiles, with what is still to be found around each.

    Attributes
    ----------
    parent : int64 (m,), place of the primary parent, -1 for the root
    other_begin, others : CSR of places of further parents
    limit_begin, limits : CSR of keys of the parents that count, with the tie, ascending
    bound, found : float64 (m,), largest limit within which nobody was found, -1 where none is left; nearest found
    nearest : float64 (m,), nearest of those that were looked at first, in whichever branch
    """

    points: Floats
    places: Ints
    parent: Ints
    other_begin: Ints
    others: Ints
    limit_begin: Ints
    limits: Floats
    bound: Floats
    found: Floats
    nearest: Floats


class _Inner:
    """Positions of nodes that are parents, of whichever branch."""

    def __init__(self, folder: Path, cuts: Ints) -> None:
        self.folder, self.cuts = folder, cuts

    def vectors(self, places: Ints, dim: int) -> Floats:
        """Vectors (m, d) of some nodes that are parents."""
        found = np.empty((places.size, dim))
        tasks = np.searchsorted(self.cuts, places, "right") - 1
        for task in np.unique(tasks).tolist():
            some = tasks == task
            known, vectors = (of_branch(self.folder, name, task) for name in ("inner-places", "inner"))
            found[some] = vectors[np.searchsorted(known, places[some])]
        return found


def ask_others(folder: str, task: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Compare the nodes of one branch with those of all others; -> what was done and found, which is also written.

    `settings["only"]`, where it is given, is a file of the places that are asked for.
    """
    home, name = Path(folder), settings["name"]
    path = borders_path(home, name, task).with_suffix(".json")
    if path.is_file() and (kept := read_json(path)).get("of") == settings["of"]:
        return kept
    cuts = np.array(settings["cuts"])
    tiles = Tiles.load(home, task)
    asking = _asking(home, task, cuts, tiles, settings["virtual_root"])
    asked = np.diff(asking.limit_begin) > 0
    if "only" in settings:
        with np.load(home / "work" / settings["only"]) as kept:
            asked &= np.isin(asking.places, kept["asked"])
        asking.bound[~asked] = -1.0
    # For some the nodes above a further parent have decided it already.
    closed = asked & (asking.bound < 0.0)
    compared, keys, by_fan = _compare_all(home, task, cuts, tiles, asking, settings["virtual_root"])
    compared |= closed
    ill = np.flatnonzero(asking.limits >= np.repeat(asking.found, np.diff(asking.limit_begin)))
    owner = np.searchsorted(asking.limit_begin, ill, "right") - 1
    ill_nodes, pairs = np.unique(owner, return_counts=True)
    all_ill = pairs == np.diff(asking.limit_begin)[ill_nodes]
    ill_nodes, pairs, all_ill = (values[asked[ill_nodes]] for values in (ill_nodes, pairs, all_ill))
    several = np.flatnonzero(np.diff(asking.limit_begin) > 1)
    guard = np.array([_healthy(asking, row) for row in several.tolist()])
    save_all(
        borders_path(home, name, task).with_suffix(".npz"),
        {"places": asking.places[ill_nodes], "pairs": pairs, "all_ill": all_ill, "guarded": asking.places[several],
         "guard": guard},
    )  # fmt: skip
    record = {
        "task": task, "of": settings["of"], "checked": int(asked.sum()), "compared": int(compared.sum()),
        "keys": keys, "tiles_by_fan": by_fan,
        "ill_nodes": int(ill_nodes.size), "ill_pairs": int(pairs.sum()),
        "ill_nearest": int(all_ill.sum()),
    }  # fmt: skip
    write_json(path, record)
    return record


def _healthy(asking: _Asking, row: int) -> float:
    """The largest key of a parent of a node than which nobody is known to be nearer, -1 where there is none."""
    limits = asking.limits[asking.limit_begin[row] : asking.limit_begin[row + 1]]
    return float(limits[limits < min(asking.nearest[row], asking.found[row])].max(initial=-1.0))


def found_in(folder: Path, name: str, tasks: list[int]) -> dict[str, Any]:
    """What `ask_others` wrote for some branches, put together."""
    parts = []
    for task in tasks:
        with np.load(borders_path(folder, name, task).with_suffix(".npz")) as kept:
            parts.append(dict(kept))
    return {one: np.concatenate([part[one] for part in parts]) for one in parts[0]}


def _asking(folder: Path, task: int, cuts: Ints, tiles: Tiles, virtual_root: bool) -> _Asking:
    shape, trunk = Shape.load(folder), Trunk.load(folder / "work")
    first, last = int(cuts[task]), int(cuts[task + 1])
    points = np.array(of_branch(folder, "points", task))
    m, dim = points.shape
    back = np.empty(m, np.int64)
    back[tiles.order] = np.arange(m)
    key = parent_keys(shape, trunk, points[back], first, last)[tiles.order]
    parent = shape.parent[first:last].astype(np.int64)[tiles.order]
    counts_as = parent > 0 if virtual_root else parent >= 0
    child, other = other_edges(folder, first, last)
    rows = back[child - first]
    by_row = np.argsort(rows, kind="stable")
    rows, other = rows[by_row], other[by_row]
    inner = _Inner(folder, cuts)
    others_at, which = np.unique(other, return_inverse=True)
    other_key = moving.keys_between(points[rows], inner.vectors(others_at, dim)[which])
    owner = np.concatenate([np.flatnonzero(counts_as), rows])
    limits = np.concatenate([key[counts_as], other_key]) * (1.0 + TIE)
    order = np.lexsort((limits, owner))
    owner, limits = owner[order], limits[order]
    limit_begin = np.searchsorted(owner, np.arange(m + 1))
    has = np.diff(limit_begin) > 0
    bound = np.full(m, -1.0)
    bound[has] = limits[limit_begin[1:][has] - 1]
    asking = _Asking(
        points, first + tiles.order, parent, np.searchsorted(rows, np.arange(m + 1)), other, limit_begin, limits,
        bound, np.full(m, np.inf), np.full(m, np.inf),
    )  # fmt: skip
    _ask_above(asking, shape, inner, rows, other, (first, last), 0 if virtual_root else -1)
    return asking


def _ask_above(
    asking: _Asking, shape: Shape, inner: _Inner, rows: Ints, other: Ints, own: tuple[int, int], nobody: int
) -> None:
    """Look first at the nodes above further parents, which are mostly nearer than these: it saves far searches."""
    at = other
    for _ in range(_LEVELS_ABOVE):
        at = np.where(at >= 0, shape.parent[np.maximum(at, 0)], -1).astype(np.int64)
        some = np.flatnonzero((at >= 0) & (at != nobody) & (at != asking.parent[rows]) & (at != asking.places[rows]))
        # A parent of the same node is nobody else.
        some = some[
            [at[i] not in asking.others[asking.other_begin[rows[i]] : asking.other_begin[rows[i] + 1]] for i in some]
        ]
        if not some.size:
            continue
        distinct, which = np.unique(at[some], return_inverse=True)
        keys = moving.keys_between(asking.points[rows[some]], inner.vectors(distinct, asking.points.shape[1])[which])
        outside = (at[some] < own[0]) | (at[some] >= own[1])
        for row, key, is_outside in zip(rows[some].tolist(), keys.tolist(), outside.tolist(), strict=True):
            asking.nearest[row] = min(asking.nearest[row], key)
            if is_outside:
                borders.close_bound(row, key, asking.bound, asking.found, asking.limit_begin, asking.limits)


def _compare_all(
    folder: Path, task: int, cuts: Ints, tiles: Tiles, asking: _Asking, virtual_root: bool
) -> tuple[Mask, int, int]:
    """Go through the tiles of the others; -> which nodes were compared, how many keys, what fans keep apart."""
    points = asking.points
    gap, compared = counting.gaps(points), np.zeros(len(points), bool)
    everyone = AllTiles.load(folder)
    reach = borders.reaches_between(asking.bound, gap, tiles.begin)
    pairs, by_fan = borders.meetings(
        tiles.boxes, reach, tiles.kin, tiles.long, everyone.boxes, everyone.starts, everyone.home, everyone.kin,
        everyone.short, everyone.cosine, task,
    )  # fmt: skip
    fine, own_fine = in_small(tiles.begin)
    own_boxes = np.array(of_branch(folder, "small", task))
    own_reach, total = borders.reaches_between(asking.bound, gap, fine), 0
    home, number = everyone.home[pairs[:, 1]], everyone.number[pairs[:, 1]]
    for other in np.unique(home).tolist():
        of, boxes, order, tile_begin = (
            of_branch(folder, name, other) for name in ("points", "small", "order", "begin")
        )
        mine, asked = pairs[home == other, 0], number[home == other]
        distinct, at = np.unique(asked, return_inverse=True)
        small, begin = in_small(tile_begin)
        tests = np.column_stack([mine, at])[np.lexsort((at, mine))]
        held = np.concatenate([np.arange(begin[one], begin[one + 1]) for one in distinct])
        begin = np.concatenate([[0], np.cumsum(np.diff(begin)[distinct])])
        needed = borders.wanted(tests, tiles.boxes, reach, own_fine, own_boxes, own_reach, begin, boxes[held])
        if not needed.any():
            continue
        begin, held = np.concatenate([[0], np.cumsum(needed)])[begin].astype(np.int64), held[needed]
        rows = np.concatenate([np.arange(small[one], small[one + 1]) for one in held])
        now = of[rows]
        begin_now = np.concatenate([[0], np.cumsum(small[held + 1] - small[held])]).astype(np.int64)
        places = _padded(int(cuts[other]) + order[rows], begin_now, -1)
        gaps = _padded(counting.gaps(now), begin_now, np.nan)
        total += borders.compare(
            tests, points, gap, tiles.boxes, reach, fine, own_fine, own_boxes, own_reach, places.ravel(), begin,
            boxes[held], borders.in_blocks(now, begin_now), gaps, 0 if virtual_root else -1, asking.parent,
            asking.other_begin, asking.others, asking.limit_begin, asking.limits, asking.bound, asking.found, compared,
        )  # fmt: skip
    return compared, total, by_fan


def _padded(values: Any, begin: Ints, nothing: float) -> Any:
    """Values of the small tiles, each in a row of its own (b, FINE)."""
    counts = np.diff(begin)
    found = np.full((counts.size, borders.FINE), nothing, values.dtype)
    found[np.arange(borders.FINE) < counts[:, None]] = values
    return found
