"""How much room the children have, how much of float64 is used, and what a dilation would change."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...embedding import Embedding
from ...evaluation import Evaluation
from ...evaluation.illness import CAPACITY, KINDS
from ...geometry.capacity import insufficient, log_guaranteed, log_lower_bound, radius_needed_upper
from ...geometry.dilation import dilate_ball
from ...geometry.terms import carried_radius
from ...limits import BALL_RADIUS_GONE, radius_resolution
from ...methods.sufficiency import Sufficiency, sufficiency
from ...types import Floats, Objective
from .groups import RankedPairs

FACTORS = (1.0, 1.25, 1.5, 2.0, 3.0)
# Nodes to look at, and how many comparisons with other nodes that may take.
_CAPACITY_NODES, _CAPACITY_COMPARISONS = 20_000, 300_000_000
_DILATED_NODES, _DILATED_COMPARISONS = 1_500, 80_000_000
_FEWEST_NODES = 100
_HISTOGRAM_BINS = 40


@dataclass(frozen=True)
class CapacityRow:
    """The inner nodes that have a certain number of children, and the room these have.

    Attributes
    ----------
    children : k
    nodes : how many inner nodes have k children (of those looked at)
    has : median distance to the k-th nearest node, the radius within which the children should be
    least : the smallest such distance
    at_least : radius at which the paper's upper bound reaches k: with less, some of the children must be ill
    enough : radius at which the paper's lower bound reaches k: with so much there is room
    lacking : nodes with less than `enough`, insufficient by the paper's rule
    short : those of them that the bound by area promises no room either; one child always has room
    ill : capacity-ill pairs whose parent is one of all nodes with k children
    """

    children: int
    nodes: int
    has: float
    least: float
    at_least: float
    enough: float
    lacking: int
    short: int
    ill: int


@dataclass(frozen=True)
class Precision:
    """Radius and precision used, in hyperbolic units.

    Attributes
    ----------
    max_radius, median_radius : of the nodes
    limit : where the method stops vectors; None if unknown
    at_limit : nodes that lie there
    clamped : how often the training stopped a vector there
    carried, gone : radius that coordinates carry usefully, and at which those of the ball end; None in Euclidean
        space, the latter also for coordinates of several terms
    resolution : distance between neighbouring points of these coordinates at the largest radius
    shortest_edge : smallest distance of a node from its parent
    undecided : nodes whose nearest non-positive and farthest positive are nearer to a tie than rounding can tell
    bins, counts : histogram of the radii
    """

    max_radius: float
    median_radius: float
    limit: float | None
    at_limit: int
    clamped: int
    carried: float | None
    gone: float | None
    resolution: float | None
    shortest_edge: float
    undecided: int
    bins: tuple[float, ...]
    counts: tuple[int, ...]

    @property
    def used(self) -> float | None:
        """Share of the useful radius that is used."""
        return None if self.carried is None else self.max_radius / self.carried


@dataclass(frozen=True)
class Dilated:
    """What a dilation by `factor` would do to the vectors as they are, before any training.

    Attributes
    ----------
    factor : all distances to the origin are multiplied by it
    max_radius : largest radius afterwards
    clamped : nodes held back by the radius that float64 carries
    lacking, inner : inner nodes without room for their children, of those looked at
    relieved : of those that lack room now, how many would no longer
    map : MAP of the nodes looked at
    ill : their ill pairs of each kind
    pairs : their pairs
    """

    factor: float
    max_radius: float
    clamped: int
    lacking: int
    inner: int
    relieved: int
    map: float
    ill: tuple[int, ...]
    pairs: int

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return asdict(self) | {"ill": dict(zip(KINDS, self.ill, strict=True))}


def measure_capacity(embedding: Embedding, threads: int) -> Sufficiency | None:
    """Room around the inner nodes, or around a sample of them; None in Euclidean space, which has no such bounds.

    None, too, with coordinates of several terms: it is measured in plain vectors.
    """
    if not embedding.space.is_hyperbolic or embedding.precise is not None:
        return None
    ball = embedding.ball()
    sample = _sample(_CAPACITY_NODES, _CAPACITY_COMPARISONS, len(embedding))
    return sufficiency(ball, embedding.hierarchy, sample=sample, threads=threads)


def _sample(most: int, comparisons: int, nodes: int) -> int:
    return max(_FEWEST_NODES, min(most, comparisons // nodes))


def short_of_room(children: ArrayLike, radius: ArrayLike, dim: int) -> NDArray[np.bool_]:
    """Where a number of children is larger than any bound promises room for within a radius; broadcasts.

    The paper's lower bound is timid at small radii, where the number that area alone guarantees is larger.
    """
    children, radius = np.asarray(children), np.maximum(radius, 1e-9)
    many = np.log(np.maximum(children, 1)) > log_guaranteed(radius, dim)
    return np.asarray(insufficient(children, radius, dim) & (children > 1) & many)


def radius_enough(children: ArrayLike, dim: int) -> Floats:
    """Radius at which the lower bound reaches a number of children; one child counts, as it does in Algorithm 1."""
    constant = log_lower_bound(0.0, dim)
    slope = log_lower_bound(1.0, dim) - constant
    return np.asarray(np.maximum((np.log(np.maximum(children, 1)) - constant) / slope, 0.0))


def capacity_table(
    found: Sufficiency | None, pairs: RankedPairs, counts: NDArray[Any], dim: int
) -> tuple[CapacityRow, ...]:
    """One row for each number of children; `counts` (n,) are those of all nodes."""
    if found is None or not found.nodes.size:
        return ()
    children, row_of, nodes = np.unique(found.children, return_inverse=True, return_counts=True)
    ill = np.bincount(counts[pairs.positive[pairs.kind == CAPACITY]], minlength=int(children.max()) + 1)
    at_least, enough = radius_needed_upper(children, dim), radius_enough(children, dim)
    order = np.argsort(row_of, kind="stable")
    radii = np.split(found.radius[order], np.cumsum(nodes)[:-1])
    lacking = np.bincount(row_of, weights=found.lacking)
    short = np.bincount(row_of, weights=short_of_room(found.children, found.radius, dim))
    return tuple(
        CapacityRow(
            children=int(k),
            nodes=int(nodes[i]),
            has=float(np.median(radii[i])),
            least=float(radii[i].min()),
            at_least=float(at_least[i]),
            enough=float(enough[i]),
            lacking=int(lacking[i]),
            short=int(short[i]),
            ill=int(ill[k]),
        )
        for i, k in enumerate(children)
    )


def measure_precision(embedding: Embedding, evaluation: Evaluation) -> Precision:
    """How far out the nodes are, and what float64 can still tell apart there."""
    radii = embedding.radii()
    top = float(radii.max())
    hyperbolic = embedding.space.is_hyperbolic
    parent = embedding.hierarchy.primary_parent.astype(np.int64)
    below = np.flatnonzero(parent >= 0)
    edges = embedding.distances_between(below, parent[below])
    clamped = embedding.provenance.clamped
    limit = clamped.at_radius if hyperbolic else None
    bins = np.linspace(0.0, max(top, 1e-9), _HISTOGRAM_BINS + 1)
    return Precision(
        max_radius=top,
        median_radius=float(np.median(radii)),
        limit=limit,
        at_limit=0 if limit is None else int(np.count_nonzero(radii > limit - 1e-3)),
        clamped=clamped.times,
        carried=carried_radius(embedding.precision) if hyperbolic else None,
        gone=BALL_RADIUS_GONE if hyperbolic and embedding.precision == 1 else None,
        resolution=_resolution(top, embedding.precision) if hyperbolic else None,
        shortest_edge=float(edges.min()) if edges.size else 0.0,
        undecided=_undecided(embedding, evaluation, radii) if hyperbolic else 0,
        bins=tuple(bins.tolist()),
        counts=tuple(np.histogram(radii, bins)[0].tolist()),
    )


def _undecided(embedding: Embedding, evaluation: Evaluation, radii: Floats) -> int:
    """Nodes for which the order of the farthest positive and the nearest non-positive is within rounding."""
    ranking = evaluation.ranking
    ranked = np.flatnonzero(ranking.offender >= 0)
    if not ranked.size:
        return 0
    node = np.repeat(ranking.sources, np.diff(ranking.positive_ptr))
    positive = ranking.positive_idx.astype(np.int64)
    farthest = np.maximum.reduceat(embedding.distances_between(node, positive), ranking.positive_ptr[:-1])[ranked]
    source, offender = ranking.sources[ranked], ranking.offender[ranked]
    margin = np.abs(embedding.distances_between(source, offender) - farthest)
    outermost = np.maximum(radii[source], radii[offender])
    blur = np.array([_resolution(radius, embedding.precision) for radius in np.unique(np.ceil(outermost))])
    level = np.unique(np.ceil(outermost), return_inverse=True)[1]
    # Equal vectors tie exactly and count as ill; what rounding blurs is a margin that is there but tiny.
    return int(np.count_nonzero((margin > 0) & (margin < blur[level])))


def _resolution(radius: float, terms: int) -> float:
    """`radius_resolution`, also for points of the hyperboloid beyond the ball's last float64, and of several terms."""
    farther = carried_radius(terms) - carried_radius(1)
    return radius_resolution(min(max(radius - farther, 0.0), BALL_RADIUS_GONE))


def try_dilations(embedding: Embedding, objective: Objective, threads: int) -> tuple[Dilated, ...]:
    """Dilate the vectors by each of `FACTORS` and look again, always at the same nodes; factor 1 is how they are."""
    hierarchy = embedding.hierarchy
    if not embedding.space.is_hyperbolic or hierarchy.n_edges == 0 or embedding.precise is not None:
        return ()
    ball = embedding.ball()
    sample = _sample(_DILATED_NODES, _DILATED_COMPARISONS, len(embedding))
    before: Sufficiency | None = None
    tried = []
    for factor in FACTORS:
        # At factor 1 nothing may change, not even by rounding or by the limit.
        vectors, clamped = (ball, 0) if factor == 1.0 else dilate_ball(ball, factor)
        found = sufficiency(vectors, hierarchy, sample=sample, threads=threads)
        before = before or found
        looked = Embedding(vectors, hierarchy, "poincare", embedding.provenance)
        scores = looked.evaluate(objective, sample=sample, threads=threads)
        tried.append(
            Dilated(
                factor=factor,
                max_radius=scores.max_radius,
                clamped=clamped,
                lacking=int(found.lacking.sum()),
                inner=int(found.nodes.size),
                relieved=int(np.count_nonzero(before.lacking & ~found.lacking)),
                map=scores.map,
                ill=tuple(scores.illness.counts().values()),
                pairs=int(scores.ranking.ranks.size),
            )
        )
    return tuple(tried)
