"""Other places for nodes that are ill across borders: with all that is below them, around their parent.

A node whose nearest parent is as far as a stranger is moved, if few nodes are below it, and none of these has several
parents or is one of several; else the strangers are, if this is so of them. Places are tried as for new leaves: in
directions that are drawn, at the length of the edge and at longer ones, until all that moves is in nobody's way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.cpu import counting, moving, placement, reach
from ..geometry import poincare
from ..limits import PLACED_RADIUS, TIE
from ..types import Floats, Ints, Mask
from ..workers import apart, in_parts
from .folder import ModelFolder
from .insert import ways_blocked
from .layout import BLOCK
from .reaches import MARGIN, Reaches
from .trunk import NORM

__all__ = ["Moves", "find_other_places"]

# More nodes than this are not moved, nor are more strangers on behalf of one node.
_MOST, _MOST_STRANGERS = 256, 4
# How many places are tried in each round, and edges as multiples of what they were.
_ATTEMPTS = (1, 3, 8, 12)
_STRETCH = np.array([1.0, 1.0, 1.0, 1.0, 1.05, 1.05, 1.1, 1.1, 1.2, 1.2, 1.3, 1.4])


@dataclass(frozen=True)
class Moves:
    """Nodes that go elsewhere, by place ascending, and where; and how many subtrees were to move, and did."""

    places: Ints
    vectors: Floats
    wanted: int
    moved: int


class _Guarded(Reaches):
    """The reaches of all nodes; nodes with several parents guard those that are healthy, too."""

    def __init__(self, folder: ModelFolder, threads: int, places: Ints, guard: Floats) -> None:
        super().__init__(folder, threads)
        order = np.argsort(places)
        self._places, self._guard = places[order], guard[order]

    def of_group(self, group: int) -> Any:
        """Reaches (g,) of the nodes of a row group."""
        found = super().of_group(group)
        first = int(self._folder.group_first[group])
        low, high = np.searchsorted(self._places, (first, first + found.size))
        if high == low:
            return found
        found, at = np.array(found), self._places[low:high] - first
        # Rounded up, as the others are.
        found[at] = np.maximum(found[at], self._guard[low:high] * (1.0 + 1e-6))
        return found


def find_other_places(folder: ModelFolder, cuts: Ints, found: dict[str, Any], seed: int, threads: int) -> Moves:
    """Where to move what is ill, given what `borders.found_in` gives."""
    roots = _to_move(folder, cuts, np.sort(found["places"][found["all_ill"]]), threads)
    if not roots.size:
        return Moves(np.empty(0, np.int64), np.empty((0, folder.dim)), 0, 0)
    reaches = _Guarded(folder, threads, found["guarded"], found["guard"])
    units = _Units(folder, roots)
    has, before = np.zeros(roots.size, bool), 0
    chosen: list[_Tried] = []
    for attempts in _ATTEMPTS:
        waiting = np.flatnonzero(~has)
        if not waiting.size:
            break
        tried = units.draw(waiting, before, attempts, seed)
        before += attempts
        free = (
            ~np.logical_or.reduceat(
                ways_blocked(folder, reaches, tried.points, tried.reaches, tried.parents, threads, tried.same),
                tried.begin[:-1],
            )
            & ~tried.outside
        )
        chosen = _take(chosen, tried.only(free), has)
    if not chosen:
        return Moves(np.empty(0, np.int64), np.empty((0, folder.dim)), roots.size, 0)
    places, vectors = (np.concatenate([getattr(one, name) for one in chosen]) for name in ("places", "points"))
    order = np.argsort(places)
    return Moves(places[order], vectors[order], roots.size, int(has.sum()))


def _to_move(folder: ModelFolder, cuts: Ints, ill: Ints, threads: int) -> Ints:
    """Roots of the subtrees that are to be moved, ascending, none within another."""
    fits = _can_move(folder, cuts, ill, True)
    roots = [ill[fits]]
    for strangers in _strangers(folder, ill[~fits], threads):
        if 0 < strangers.size <= _MOST_STRANGERS and _can_move(folder, cuts, strangers, False).all():
            roots.append(strangers)
    wanted = np.unique(np.concatenate(roots))
    kept, end = [], 0
    for root in wanted.tolist():
        if root >= end:
            kept.append(root)
            end = root + int(folder.shape.size[root])
    return np.array(kept, np.int64)


def _can_move(folder: ModelFolder, cuts: Ints, places: Ints, are_ill: bool) -> Mask:
    """Whether nodes are few with all below them, in one branch, and no further parents or children of such."""
    size = folder.shape.size[places].astype(np.int64)
    end = places + size
    one_branch = np.searchsorted(cuts, places, "right") == np.searchsorted(cuts, end - 1, "right")
    child, parent = folder.others[0], np.unique(folder.others[1])
    shared = [np.searchsorted(side, end) > np.searchsorted(side, places) for side in (child, parent)]
    # A leaf with several parents that is ill, as seen from all of them, is healthy as seen from one then.
    alone = ~shared[0] | (are_ill & (size == 1))
    return np.asarray(one_branch & (size <= _MOST) & ~shared[1] & alone & (places > 0))


def _strangers(folder: ModelFolder, ill: Ints, threads: int) -> list[Ints]:
    """For each of some nodes, who is as near as its parent without being one."""
    if not ill.size:
        return []
    points, parents = folder.vectors(ill), folder.primary_parents(ill)
    limits = moving.keys_between(points, folder.vectors(parents)) * (1.0 + TIE)
    own, (begin, group_boxes) = counting.gaps(points), folder.group_boxes
    found: list[set[int]] = [set() for _ in range(ill.size)]
    # With so many there are too many strangers, whoever else there is: the node, its parents and an added root aside.
    enough = [_MOST_STRANGERS + 2 + len(folder.parents(place)) for place in ill.tolist()]

    def work(part: slice) -> None:
        for group in range(part.start, part.stop):
            asked = counting.within_reach(group_boxes[group], points, own, limits)
            if asked.size:
                boxes, first = folder.boxes[begin[group] : begin[group + 1]], int(folder.group_first[group])
                pairs = moving.who_is_within(folder.group(group), boxes, BLOCK, points, own, asked, limits)
                for row, at in pairs.tolist():
                    if len(found[row]) <= enough[row]:
                        found[row].add(first + at)

    in_parts(work, len(group_boxes), threads)
    nobody = {0} if folder.has_virtual_root else set()
    return [
        np.array(sorted(some - {place, *folder.parents(place)} - nobody), np.int64)
        for place, some in zip(ill.tolist(), found, strict=True)
    ]


@dataclass(frozen=True)
class _Tried:
    """Groups of points, each a place for a subtree.

    Attributes
    ----------
    begin, owner : int64 (g+1,), (g,), where each group begins, and which subtree it is for
    points, reaches, places : of the nodes of all groups
    parents, same : what `ways_blocked` takes
    outside : bool (g,), whether some node would be too far out
    """

    begin: Ints
    owner: Ints
    points: Floats
    reaches: Floats
    places: Ints
    parents: Ints
    same: Ints
    outside: Mask

    def only(self, which: Mask) -> _Tried:
        """Some of the groups."""
        rows = np.repeat(which, np.diff(self.begin))
        begin = np.concatenate([[0], np.cumsum(np.diff(self.begin)[which])]).astype(np.int64)
        return _Tried(
            begin, self.owner[which], self.points[rows], self.reaches[rows], self.places[rows], self.parents[rows],
            self.same[rows], self.outside[which],
        )  # fmt: skip


class _Units:
    """Subtrees below `roots` (u,), with where they are now."""

    def __init__(self, folder: ModelFolder, roots: Ints) -> None:
        self.folder, self.roots = folder, roots
        self.size = folder.shape.size[roots].astype(np.int64)
        self.begin = np.concatenate([[0], np.cumsum(self.size)]).astype(np.int64)
        self.places = np.concatenate(
            [np.arange(root, root + size) for root, size in zip(roots, self.size, strict=True)]
        )
        self.points = folder.vectors(self.places)
        self.up = folder.vectors(folder.primary_parents(roots))
        above = folder.primary_parents(self.places)
        at = np.searchsorted(self.places, above)
        at[self.begin[:-1]] = 0
        parents = self.points[at]
        parents[self.begin[:-1]] = self.up
        self.keys = moving.keys_between(self.points, parents)

    def draw(self, who: Ints, first: int, attempts: int, seed: int) -> _Tried:
        """Places for some of the subtrees; they follow from how many were tried before, the seed and `who`."""
        dim = self.folder.dim
        drawn = np.random.default_rng([seed, 2, first]).normal(size=(who.size, attempts, dim))
        drawn /= np.linalg.norm(drawn, axis=2, keepdims=True)
        stretch = _STRETCH[np.minimum(first + np.arange(attempts), _STRETCH.size - 1)]
        points, reaches, outside = [], [], []
        for row, unit in enumerate(who.tolist()):
            some = slice(int(self.begin[unit]), int(self.begin[unit + 1]))
            length = 2.0 * np.arcsinh(np.sqrt(self.keys[some.start]))
            for number in range(attempts):
                put, is_outside = self._carried(unit, some, drawn[row, number], length * stretch[number])
                keys = self.keys[some].copy()
                keys[0] = moving.keys_between(put[:1], self.up[unit][None])[0]
                points.append(put)
                reaches.append(reach.of_keys(keys, MARGIN))
                outside.append(is_outside)
        owner = np.repeat(who, attempts)
        size = self.size[owner]
        begin = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        places = np.concatenate([self.places[self.begin[one] : self.begin[one + 1]] for one in owner])
        parents = np.full(places.size, -1, np.int64)
        parents[begin[:-1]] = self.folder.primary_parents(self.roots[owner])
        same = np.repeat(np.column_stack([self.roots[owner], self.roots[owner] + size]), size, axis=0)
        return _Tried(
            begin, owner, np.concatenate(points), np.concatenate(reaches), places, parents, same, np.array(outside)
        )

    def _carried(self, unit: int, some: slice, direction: Floats, length: float) -> tuple[Floats, bool]:
        """The nodes of a subtree as seen from its root, which sees its parent where it did, and if one is too far."""
        old, up = self.points[some.start], self.up[unit]
        new, before, now = np.empty_like(old), np.empty_like(old), np.empty_like(old)
        clamped = placement.put(up, direction, length, NORM, new)
        if clamped or not (placement.direction_to(old, up, before) and placement.direction_to(new, up, now)):
            return self.points[some], True
        # A mirror brings the one direction to the other.
        normal = before - now
        local = poincare.recentre(self.points[some], old)
        square = float(normal @ normal)
        if square > 0.0:
            local = local - (2.0 / square) * (local @ normal)[:, None] * normal
        put = np.ascontiguousarray(poincare.mobius_add(new, local))
        put[0] = new
        inside = np.linalg.norm(put, axis=1) < 1.0
        return put, not (inside.all() and (poincare.radius(put) <= PLACED_RADIUS).all())


def _take(before: list[_Tried], tried: _Tried, has: Mask) -> list[_Tried]:
    """Groups taken before, and for others the first that is in the way of none of these; `has` is changed in place."""
    every = [*before, tried]
    counts = [one.owner.size for one in every]
    points, reaches = (np.concatenate([getattr(one, name) for one in every]) for name in ("points", "reaches"))
    owner = np.concatenate([one.owner for one in every])
    begin = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(one.begin) for one in every]))]).astype(np.int64)
    if not tried.owner.size:
        return before
    taken = np.zeros(owner.size, bool)
    taken[: sum(counts[:-1])] = True
    wide = np.maximum.reduceat(reaches, begin[:-1])
    boxes = counting.boxes_between(points, begin)
    turns, gap = np.arange(owner.size), counting.gaps(points)
    apart(lambda: moving.take_groups(turns, begin, owner, points, gap, reaches, boxes, wide, has, taken))
    return [*before, tried.only(taken[sum(counts[:-1]) :])]
