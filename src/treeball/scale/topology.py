"""The shape of a large hierarchy as flat arrays by *place*: repaired, every subtree in one piece, the tallest first.

The policy is that of the readers: a node that is its own parent, and an edge that is there twice, lose that edge; of a
cycle the edge that closes it, in the order of the files, is dropped; parents without a parent are roots, and several of
them are joined under an added one. Of several parents the deepest is the primary one, which the tree is made of.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..engine.cpu import flat_tree
from ..engine.cpu.graph import find_back_edges
from ..errors import InputError
from ..io.readers.closure import check_closure
from ..types import Codes, Ints, Mask
from .intake import Intake

__all__ = ["IMPLIED", "Repairs", "Topology", "lay_out"]

IMPLIED = "implied edges"
"""Edges of a transitive closure that others imply, as `Repairs` calls them."""
# Edges that are looked at before all are, and the share of them that may rule a closure out.
_SAMPLED, _AGAINST = 100_000, 0.02


@dataclass
class Repairs:
    """What was changed: how many of each kind, and the rows (from 0) of the edges that were left out."""

    counts: dict[str, int] = field(default_factory=dict)
    rows: dict[str, Ints] = field(default_factory=dict)

    def drop(self, kind: str, rows: Ints) -> None:
        """Note edges that were left out."""
        if rows.size:
            self.counts[kind], self.rows[kind] = int(rows.size), rows


@dataclass
class Topology:
    """A hierarchy laid out.

    Attributes
    ----------
    place : int32 (names,), of every code; that of the virtual root, which has no code, is 0
    parent, height, size : int32 (n,), by place; the parent of place 0 is -1
    other_child, other_parent : int32 (k,), edges to other parents than the primary one, by place of the child
    roots : int, how many there were
    virtual : whether a root was added
    """

    place: Codes
    parent: Codes
    height: Codes
    size: Codes
    other_child: Codes
    other_parent: Codes
    roots: int
    virtual: bool

    @property
    def n(self) -> int:
        """Number of nodes, with an added root."""
        return self.parent.size


def lay_out(intake: Intake) -> tuple[Topology, Repairs]:
    """Repair the edges and give every node its place; the arrays of `intake` are used up."""
    n, child, parent = intake.n, intake.child, intake.parent
    repairs = Repairs()
    keep = (child >= 0) & (parent >= 0)
    repairs.drop("empty names", np.flatnonzero(child < 0))
    loops = keep & (child == parent)
    repairs.drop("self-loops", np.flatnonzero(loops))
    keep &= ~loops
    if not keep.any():
        raise InputError("the files hold no edge between two nodes: a hierarchy needs at least one")
    pointers, order = flat_tree.group_by(n, child, keep)
    before = keep.copy()
    if flat_tree.drop_repeats(pointers, order, parent, keep):
        repairs.drop("duplicate edges", np.flatnonzero(before & ~keep))
    del before, loops
    queue, filled = flat_tree.peel(pointers, order, parent, keep)
    if filled < n:
        repairs.drop("cycle edges", _break_cycles(n, child, parent, keep, queue[:filled]))
        queue, filled = flat_tree.peel(pointers, order, parent, keep)
    if filled < n:
        raise InputError("cycles are left although all were broken: please report this hierarchy")
    if _may_be_closure(pointers, order, child, parent, keep) and _drop_implied(n, child, parent, keep, repairs):
        pointers, order = flat_tree.group_by(n, child, keep)
        queue, filled = flat_tree.peel(pointers, order, parent, keep)
    primary = flat_tree.deepest_parents(pointers, order, parent, keep, queue)
    del pointers, order
    others = np.flatnonzero(keep & (parent != primary[child]))
    other_child, other_parent = child[others], parent[others]
    del others, keep
    intake.child = intake.parent = child = parent = np.empty(0, np.int32)
    roots = np.flatnonzero(primary < 0)
    virtual = roots.size > 1
    if virtual:
        repairs.counts["roots joined"] = int(roots.size)
        primary[roots] = n
        primary = np.append(primary, np.int32(-1))
        queue = np.append(queue, np.int32(n))
    height, size = flat_tree.heights_and_sizes(queue, primary)
    root = n if virtual else int(roots[0])
    place = flat_tree.places_of(flat_tree.by_height(height), queue, primary, size, root)
    del queue
    return _by_place(place, primary, height, size, other_child, other_parent, int(roots.size), virtual), repairs


def _may_be_closure(pointers: Codes, order: Codes, child: Codes, parent: Codes, keep: Mask) -> bool:
    """Whether most of a sample of edges go from a node with more parents to one with fewer, as in a closure.

    It spares nearly every hierarchy the full check, which takes 40 bytes an edge.
    """
    rows = np.arange(0, child.size, max(1, child.size // _SAMPLED))
    rows = rows[keep[rows]]

    def parents_of(nodes: Codes) -> Ints:
        low, counts = pointers[nodes].astype(np.int64), (pointers[nodes + 1] - pointers[nodes]).astype(np.int64)
        owner = np.repeat(np.arange(nodes.size), counts)
        at = np.repeat(low - np.cumsum(counts) + counts, counts) + np.arange(owner.size)
        return np.bincount(owner, keep[order[at]], nodes.size)

    return bool((parents_of(child[rows]) <= parents_of(parent[rows])).mean() <= _AGAINST)


def _drop_implied(n: int, child: Codes, parent: Codes, keep: Mask, repairs: Repairs) -> bool:
    """Of a transitive closure keep the edges that generate it, as for a single file; -> whether it was one."""
    rows = np.flatnonzero(keep)
    found = check_closure(n, child[rows], parent[rows])
    if found is None or found.missing or not found.implied.any():
        return False
    implied = rows[found.implied]
    repairs.drop(IMPLIED, implied)
    keep[implied] = False
    return True


def _by_place(
    place: Codes,
    primary: Codes,
    height: Codes,
    size: Codes,
    other_child: Codes,
    other_parent: Codes,
    roots: int,
    virtual: bool,
) -> Topology:
    def moved(values: Codes) -> Codes:
        out = np.empty_like(values)
        out[place] = values
        return out

    parent = moved(np.where(primary >= 0, place[np.maximum(primary, 0)], np.int32(-1)))
    child_places, parent_places = place[other_child], place[other_parent]
    order = np.lexsort((parent_places, child_places))
    return Topology(
        place[: place.size - virtual],
        parent,
        moved(height),
        moved(size),
        child_places[order],
        parent_places[order],
        roots,
        virtual,
    )


def _break_cycles(n: int, child: Codes, parent: Codes, keep: Mask, peeled: Codes) -> Ints:
    """Rows of the edges that close cycles; cleared in `keep`. Only what is left after peeling is looked at."""
    left = np.ones(n, bool)
    left[peeled] = False
    rows = np.flatnonzero(keep & left[child] & left[parent])
    codes, numbered = np.unique(np.concatenate([child[rows], parent[rows]]), return_inverse=True)
    back = find_back_edges(codes.size, numbered[: rows.size], numbered[rows.size :])
    dropped: Ints = rows[np.asarray(back, bool)]
    keep[dropped] = False
    return dropped
