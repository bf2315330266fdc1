"""A hierarchy of some of the nodes of a folder: those left out between two of them are passed over."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..hierarchy import Hierarchy
from ..types import Codes, Ints
from .layout import array
from .trunk import Shape

__all__ = ["Edges", "all_above", "contracted"]


@dataclass(frozen=True)
class Edges:
    """All edges of a folder by place: primary parents (n,), and edges to others, ascending by child."""

    parent: Codes
    other_child: Codes
    other_parent: Codes

    @classmethod
    def load(cls, folder: Path) -> Edges:
        """Map them."""
        others = (np.asarray(array(folder / "topology" / f"other_{end}.npy")) for end in ("child", "parent"))
        return cls(Shape.load(folder).parent, *others)

    def up(self, places: Ints) -> tuple[Ints, Ints]:
        """All parents of places (m,): which of these each belongs to, and the parent."""
        primary = self.parent[places].astype(np.int64)
        has = np.flatnonzero(primary >= 0)
        low, high = np.searchsorted(self.other_child, places), np.searchsorted(self.other_child, places, "right")
        counts = high - low
        owner = np.repeat(np.arange(places.size), counts)
        row = np.repeat(low, counts) + np.arange(owner.size) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.concatenate([has, owner]), np.concatenate([primary[has], self.other_parent[row].astype(np.int64)])


def all_above(edges: Edges, places: Ints) -> Ints:
    """These places and all above them by any path, ascending."""
    found = np.unique(places)
    fresh = found
    while fresh.size:
        fresh = np.setdiff1d(edges.up(fresh)[1], found)
        found = np.union1d(found, fresh)
    return found


def contracted(edges: Edges, places: Ints, virtual: bool) -> Hierarchy:
    """The hierarchy of the nodes at `places`, ascending and with the root at 0: above a node is who was above it."""
    child = np.arange(places.size)
    owner, above = edges.up(places)
    child = child[owner]
    done: list[tuple[Ints, Ints]] = []
    while child.size:
        at = np.minimum(np.searchsorted(places, above), places.size - 1)
        inside = places[at] == above
        done.append((child[inside], at[inside]))
        child, above = child[~inside], above[~inside]
        # A node that is left out gives its parents to those below it.
        left_out, which = np.unique(above, return_inverse=True)
        owner, further = edges.up(left_out)
        order = np.argsort(owner, kind="stable")
        owner, further = owner[order], further[order]
        begin = np.searchsorted(owner, which)
        counts = np.searchsorted(owner, which, "right") - begin
        row = np.repeat(begin, counts) + np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        pairs = np.unique(np.column_stack([np.repeat(child, counts), further[row]]), axis=0)
        child, above = pairs[:, 0], pairs[:, 1]
    pairs = np.unique(np.column_stack([np.concatenate(side) for side in zip(*done, strict=True)]), axis=0)
    return Hierarchy.from_codes(range(places.size), pairs[:, 0], pairs[:, 1], virtual_root=0 if virtual else None)
