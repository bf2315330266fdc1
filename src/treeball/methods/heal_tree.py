"""heal for trees and the objective parents: what is ill or in the way settles anew, and nothing else moves.

An ill pair has a node A, its parent, and an offender that is as near. One of them has to go: the children of A that are
nearer than A's parent, or else A or the offender, the one with the smaller subtree for the trouble it makes. Who goes,
goes with its subtree;
then all of them settle again one after the other, tallest first, each at a place where its parent is the nearest node
and where it is the nearest of no one else (`engine.cpu.settle`). Who is ill again in the next round takes its parent
along: what was too tight around a node may fit when the node itself has moved.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..engine.cpu.settle import settle
from ..evaluation import Evaluation
from ..geometry import poincare
from ..hierarchy import Hierarchy
from ..limits import SETTLE_RADIUS
from ..types import Floats, Mask
from .construct import Scaffold
from .healing import Course

__all__ = ["GROWTH", "LONGEST", "MARGIN", "mend", "subtrees"]

# Without a smaller number of ill pairs for this many rounds there is no hope of more.
PATIENCE = 5
# So many times as many ill pairs as at best: there is no room for what was moved, as in two dimensions.
HOPELESS = 4
GROWTH, MARGIN, LONGEST = 1.02, 1.01, 4.0


def mend(course: Course) -> None:
    """Settle what is ill, round for round, and keep the best by MAP."""
    hierarchy, vectors, scores = course.hierarchy, np.array(course.vectors), course.scores
    scaffold = Scaffold(hierarchy, vectors.shape[1], course.threads)
    chosen_before = np.zeros(hierarchy.n_nodes, np.int64)
    waited = 0
    while _count(scores) and waited < PATIENCE and not course.over:
        tops = _who_must_go(hierarchy, vectors, scores, chosen_before)
        if not tops.size:
            break
        loose = subtrees(hierarchy, tops)
        _settle(scaffold, vectors, loose)
        scores = course.judge(vectors)
        waited += 1
        if _count(scores) < course.ill:
            waited = 0
        if (scores.map, -_count(scores)) > (course.scores.map, -course.ill):
            course.keep(vectors, scores)
        if _count(scores) > HOPELESS * max(course.ill, 1):
            break


def _count(scores: Evaluation) -> int:
    return len(scores.illness)


def _who_must_go(
    hierarchy: Hierarchy, vectors: Floats, scores: Evaluation, level: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Nodes to lift out with their subtrees; `level` (n,) counts how often each was chosen, and takes them higher."""
    ranking = scores.ranking
    parent, size = hierarchy.primary_parent, hierarchy.interval_out - hierarchy.interval_in
    source = np.repeat(ranking.sources, np.diff(ranking.positive_ptr))
    offender = np.repeat(ranking.offender, np.diff(ranking.positive_ptr))
    ill = ranking.ranks > 1
    # A pair with a parent that is not the primary one is beyond healing where the primary one is near.
    ill &= ranking.positive_idx == parent[source]
    node, rival = source[ill], offender[ill]
    own = hierarchy.is_ancestor(node, rival)
    # Who is in the way of many goes rather than the many, and a small subtree rather than a large one.
    trouble = np.bincount(node, minlength=size.size) + np.bincount(rival, minlength=size.size)
    lighter = size[rival] * trouble[node] < size[node] * trouble[rival]
    chosen = np.where(lighter & (parent[rival] >= 0), rival, node)[~own]
    too_near = _children_nearer_than_parent(hierarchy, vectors, node[own])
    # Where all children are far enough it is a node further down.
    deeper = rival[own][~np.isin(node[own], parent[too_near])]
    lifted = []
    for who in np.unique(np.concatenate([chosen, too_near, deeper])).tolist():
        level[who] += 1
        top = who
        for _ in range(int(level[who]) - 1):
            if parent[top] >= 0 and parent[parent[top]] >= 0:
                top = parent[top]
        lifted.append(top)
    return np.unique(np.array(lifted, np.int64))


def _children_nearer_than_parent(hierarchy: Hierarchy, vectors: Floats, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """All children of `nodes` that are nearer to them than their own parents are, or hardly farther."""
    parent = hierarchy.primary_parent
    wanted = np.zeros(hierarchy.n_nodes, np.bool_)
    wanted[nodes] = True
    children = np.flatnonzero((parent >= 0) & wanted[np.maximum(parent, 0)])
    above = parent[children]
    edge = poincare.distance(vectors[children], vectors[above])
    return children[edge <= MARGIN * poincare.distance(vectors[above], vectors[parent[above]])]


def subtrees(hierarchy: Hierarchy, tops: NDArray[np.int64]) -> Mask:
    """Mask (n,) of the nodes in the subtrees of `tops`, in the tree of primary parents."""
    change = np.zeros(hierarchy.n_nodes + 1, np.int64)
    np.add.at(change, hierarchy.interval_in[tops], 1)
    np.add.at(change, hierarchy.interval_out[tops], -1)
    inside = np.cumsum(change[:-1]) > 0
    return np.asarray(inside[hierarchy.interval_in])


def _settle(scaffold: Scaffold, vectors: Floats, loose: Mask) -> int:
    """Give the `loose` nodes new places, changing `vectors`; -> how many found a free one."""
    # Inner nodes before leaves, level by level, the tallest first: they have the shortest edges and need the most room.
    depth, height = scaffold.depth, scaffold.height
    order = np.lexsort((-height, depth, height == 0)).astype(np.int32)
    movers = order[loose[order]]
    found = np.zeros(movers.size, np.bool_)
    settle(
        order[~loose[order]], movers, scaffold.parent, height, scaffold.fan_begin, scaffold.fan_end, scaffold.rows,
        SETTLE_RADIUS, GROWTH, MARGIN, LONGEST, vectors, found,
    )  # fmt: skip
    return int(found.sum())
