"""heal: mend an embedding by moving what is ill, and nothing else.

An ill pair has a node A, its parent, and an offender that is as near. One of them has to go: the children of A that are
nearer than A's parent, or else A or the offender, the one with the smaller subtree for the trouble it makes. Who goes,
goes with its subtree;
then all of them settle again one after the other, tallest first, each at a place where its parent is the nearest node
and where it is the nearest of no one else (`engine.cpu.settle`). Who is ill again in the next round takes its parent
along: what was too tight around a node may fit when the node itself has moved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..embedding import Embedding
from ..engine.cpu.settle import settle
from ..errors import InputError
from ..evaluation import Evaluation
from ..geometry import poincare
from ..hierarchy import Hierarchy
from ..limits import SETTLE_RADIUS
from ..types import Floats, Mask
from ..words import count
from .construct import Scaffold

__all__ = ["Healing", "heal"]


ROUNDS = 30
# Without a smaller number of ill pairs for this many rounds there is no hope of more.
PATIENCE = 5
# So many times as many ill pairs as at best: there is no room for what was moved, as in two dimensions.
HOPELESS = 4
GROWTH, MARGIN, LONGEST = 1.02, 1.01, 4.0


@dataclass(frozen=True, repr=False)
class Healing:
    """What healing did.

    Attributes
    ----------
    embedding : the healed embedding; its provenance says what was done, and has the scores after it
    before, after : scores
    moved : how many nodes have a new place; the vectors of all others are byte for byte the old ones
    rounds : how many rounds it took
    """

    embedding: Embedding
    before: Evaluation
    after: Evaluation
    moved: int
    rounds: int

    def __repr__(self) -> str:
        return f"<Healing: {self.note}>"

    @property
    def note(self) -> str:
        """One sentence for the log."""
        before, after = len(self.before.illness), len(self.after.illness)
        return (
            f"healed {count(before, 'ill pair')} to {after:,} by moving {self.moved:,} of {len(self.embedding):,} "
            f"nodes (MAP {self.before.map:.4f} -> {self.after.map:.4f})"
        )

    def to_dict(self) -> dict[str, Any]:
        """The facts, for a model's provenance and for ``treeball heal --json``."""
        return {
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "moved": self.moved,
            "rounds": self.rounds,
        }


def heal(
    embedding: Embedding, *, threads: int = 0, watch: Callable[[int, Evaluation], bool | None] | None = None
) -> Healing:
    """Mend the ill pairs of an embedding for the objective parents.

    Parameters
    ----------
    embedding
        Any embedding in hyperbolic space made for the objective parents; one on the hyperboloid comes back in the ball.
    threads
        0 uses all cores.
    watch
        Called after every round with its number and the scores; return True to stop.

    Returns
    -------
    Healing
        The best of all rounds by MAP: never worse than what was given.
    """
    embedding.space.require_hyperbolic("heal")
    if embedding.objective == "ancestors":
        raise InputError(
            "heal puts every node nearest to its parent, which ruins this embedding made for the objective ancestors: "
            "fit it again with more epochs or dimensions, or for the objective parents"
        )
    hierarchy = embedding.hierarchy
    given = embedding.ball()
    vectors = np.array(given)
    scaffold = Scaffold(hierarchy, embedding.dim, threads)
    record = embedding.provenance.with_objective("parents").without_scores()

    def scored(vectors: Floats) -> tuple[Embedding, Evaluation]:
        made = Embedding(vectors, hierarchy, "poincare", record)
        return made, made.evaluate("parents", sample=0, threads=threads)

    best, before = scored(vectors)
    after = scores = before
    chosen_before = np.zeros(hierarchy.n_nodes, np.int64)
    rounds = waited = 0
    while _count(scores) and rounds < ROUNDS and waited < PATIENCE:
        tops = _who_must_go(hierarchy, vectors, scores, chosen_before)
        if not tops.size:
            break
        loose = _subtrees(hierarchy, tops)
        _settle(scaffold, vectors, loose)
        now, scores = scored(vectors)
        rounds += 1
        waited += 1
        if _count(scores) < _count(after):
            waited = 0
        if (scores.map, -_count(scores)) > (after.map, -_count(after)):
            best, after = now, scores
        if watch is not None and watch(rounds, scores):
            break
        if _count(scores) > HOPELESS * max(_count(after), 1):
            break
    moved = int((best.vectors != given).any(axis=1).sum())
    healing = Healing(best, before, after, moved, rounds)
    made = record.with_log(healing.note, healing=healing.to_dict()).with_scores(after)
    return replace(healing, embedding=best.with_provenance(made))


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


def _subtrees(hierarchy: Hierarchy, tops: NDArray[np.int64]) -> Mask:
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
