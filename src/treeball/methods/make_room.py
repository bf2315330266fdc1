"""Room for new nodes where there is none left: some old nodes move, as few as will do.

Who looks for a place in vain has a parent that is *full*. Of its children some leaves are lifted, and settle again
together with the new ones, on longer edges, which take up less room. Where that does not help, more of them are, then
all its leaves, and at last all that is below it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..geometry import poincare
from ..hierarchy import Hierarchy
from ..types import Floats, Ints, Mask
from .heal_tree import subtrees
from .places import settle
from .settled import Settled

__all__ = ["make_room"]

# Leaves that are lifted first: so many for each new node, and so many at least; then so many times as many, so often.
LEAVES_A_NODE, LEAST_LEAVES, MORE, STEPS = 2, 8, 3, 3


def make_room(
    hierarchy: Hierarchy,
    points: Floats,
    settled: Settled,
    lost: Ints,
    threads: int,
    tell: Callable[[int], None],
    *,
    leaves_only: bool = False,
) -> Ints:
    """Find places for the `lost` nodes by moving others, changing `points`; -> those that have none even so.

    Parameters
    ----------
    hierarchy
        A tree.
    points : float64 (n, d), in the ball
    settled : all nodes, the lost ones as well
    leaves_only
        Move leaves next to the lost nodes, and nobody else.
    """
    step, missing = 0, np.bincount(hierarchy.primary_parent[lost], minlength=hierarchy.n_nodes)
    while lost.size and step <= (STEPS if leaves_only else STEPS + 1):
        # With what is below them, which has settled around the places they are to leave.
        alone = subtrees(hierarchy, lost)
        lifted = alone.copy()
        for full in np.unique(hierarchy.primary_parent[lost]).tolist():
            lifted[_whom(hierarchy, points, full, int(missing[full]), step)] = True
        step += 1
        if (lifted == alone).all():  # nobody else can give way in this step
            continue
        settled.lift(np.flatnonzero(lifted))
        lost = settle(hierarchy, points, settled, lifted, threads, tell)
    return lost


def _whom(hierarchy: Hierarchy, points: Floats, full: int, missing: int, step: int) -> Ints | Mask:
    """Whom to lift for the sake of a full node in the n-th step."""
    if step > STEPS:
        begin = hierarchy.interval_in
        return np.asarray((begin > begin[full]) & (begin < hierarchy.interval_out[full]))
    children = hierarchy.children_of(full).astype(np.int64)
    leaves = children[np.diff(hierarchy.child_ptr)[children] == 0]
    if step == STEPS or not leaves.size:
        return np.asarray(leaves)
    # Neighbours: what they give up joins to a gap.
    order = np.argsort(poincare.distance(points[leaves], points[leaves[0]]), kind="stable")
    return np.asarray(leaves[order[: max(LEAST_LEAVES, LEAVES_A_NODE * missing) * MORE**step]])
