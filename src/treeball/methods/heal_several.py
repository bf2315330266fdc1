"""heal where a node has several positives: in a DAG, and for the objective ancestors.

Treatments, the mildest first. One is repeated as long as it mends a good part of what is wrong; then comes the next.

1. *Seats* (`engine.cpu.reseat`). Every ill node and every offender, the leaves first, gets a place where it makes less
   trouble and nobody is worse off. All others stay. It reaches places on the other side of a parent, which no descent
   does: near the rim space is stiff, and every way there leads past the parent.
2. *Descent* on the softmax over all nodes, as in `softmax`, but with a sharpness at which nodes that are well hardly
   count. First only the nodes of ill pairs move, then those around them too, and at last everybody.

What makes anything worse, the number of ill pairs, MAP or mean rank, is undone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..engine import Compared, SoftmaxSteps, choose
from ..engine.cpu.reseat import reseat
from ..evaluation import Evaluation
from ..evaluation.ranking import positives_of
from ..geometry import poincare
from ..geometry.spaces import BALL
from ..limits import BALL_RADIUS
from ..types import Codes, Floats, Ints, Mask, Pointers
from ..workers import thread_count
from .healing import Course
from .near_lists import REFRESH, nearest_non_positives

__all__ = ["mend"]

# A treatment that mends less than this part of what is wrong gives way to the next; but a descent that has made
# something a little worse may go on for a round, in which it often comes out better.
WORTHWHILE, PATIENCE = 0.15, 1
# It is no hope if there are so many times as many ill pairs as at best, and some more.
HOPELESS, SOME = 1.5, 5
# Directions in which seats are sought; how many times as far as the farthest positive others are to be kept; and how
# many comparisons a round may take, some seconds: where nearly everybody is ill, each node takes many.
DIRECTIONS, MARGIN, COMPARISONS = 128, 1.002, 500_000_000
# Steps of a round of descent, and the least margin that its sharpness is made for. All nodes are part of each step:
# that takes minutes beyond so many.
STEPS, LEAST_MARGIN, DESCENT_UP_TO_NODES = 100, 1e-6, 20_000

Treatment: TypeAlias = Callable[[Course, Floats, Evaluation], Floats]
"""Makes new vectors (n, d) of others and their scores."""


def mend(course: Course) -> None:
    """Apply the treatments in turn, and keep what makes nothing worse."""
    further: tuple[Treatment, ...] = (
        Descent(ill_ones, 10.0, 3.0),
        Descent(those_around, 10.0, 3.0),
        Descent(everybody, 10.0, 3.0),
        Descent(everybody, 2.0, 1.0),
        Descent(everybody, 30.0, 0.3),
        take_seats,
    )
    few = course.hierarchy.n_nodes <= DESCENT_UP_TO_NODES
    for treatment in (take_seats, *(further if few else ())):
        vectors, scores, left = course.vectors, course.scores, PATIENCE
        while left >= 0 and course.ill and not course.over:
            vectors = treatment(course, vectors, scores)
            scores, before = course.judge(vectors), course.scores
            if _better(scores, before):
                course.keep(vectors, scores)
            # Seats harm nobody: where they do not help, they will not in the next round.
            hopeful = treatment is not take_seats and len(scores.illness) <= HOPELESS * course.ill + SOME
            left = PATIENCE if _gain(before, course.scores) >= WORTHWHILE else (left if hopeful else 0) - 1


def _gain(before: Evaluation, now: Evaluation) -> float:
    """The part of the ill pairs that is well now, or of the nodes that are before positives that is no longer."""
    parts = ((len(before.illness), len(now.illness)), (before.mean_rank - 1.0, now.mean_rank - 1.0))
    return max(1.0 - after / max(first, 1e-300) for first, after in parts)


def _better(now: Evaluation, before: Evaluation) -> bool:
    """Whether something is better, and nothing worse."""
    standing = [(-len(one.illness), one.map, -one.mean_rank) for one in (now, before)]
    return standing[0] != standing[1] and all(a >= b for a, b in zip(*standing, strict=True))


# ---- seats ----


def take_seats(course: Course, vectors: Floats, scores: Evaluation) -> Floats:
    """Every ill node and every offender at a better place, if there is one."""
    hierarchy, ranking, illness = course.hierarchy, scores.ranking, scores.illness
    vectors = np.array(vectors)
    n, dim = vectors.shape
    positive_ptr, positive_idx = hierarchy.positives(course.objective)
    below_ptr, below_idx = _turned(positive_ptr, positive_idx)
    movers = np.unique(np.concatenate([illness.node, illness.offender]))
    movers = movers[np.argsort(np.diff(below_ptr)[movers], kind="stable")]
    near = _near(course, vectors, movers)
    reach, hold = np.zeros(n), np.full(n, np.inf)
    source = np.repeat(ranking.sources, np.diff(ranking.positive_ptr))
    np.maximum.at(reach, source, _q(vectors, source, ranking.positive_idx))
    judged = ranking.offender >= 0
    hold[ranking.sources[judged]] = _q(vectors, ranking.sources[judged], ranking.offender[judged])
    # Other directions in every round.
    directions = np.random.default_rng(course.rounds).normal(size=(DIRECTIONS, dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    reseat(
        movers, hierarchy.parent_ptr, hierarchy.parent_idx, positive_ptr, positive_idx, below_ptr, below_idx, near,
        directions, MARGIN, np.tanh(0.5 * BALL_RADIUS), COMPARISONS, vectors, reach, hold,
    )  # fmt: skip
    return vectors


def _q(vectors: Floats, a: Ints, b: NDArray[np.signedinteger]) -> Floats:
    return np.asarray(np.sinh(0.5 * poincare.distance(vectors[a], vectors[b])) ** 2)


def _turned(ptr: Pointers, idx: Codes) -> tuple[Pointers, Codes]:
    """Who has each node in its list, from the lists of all."""
    owner = np.repeat(np.arange(ptr.size - 1, dtype=np.int32), np.diff(ptr))
    order = np.argsort(idx, kind="stable")
    return np.searchsorted(idx[order], np.arange(ptr.size)), owner[order]


def _near(course: Course, vectors: Floats, nodes: Ints) -> Codes:
    coordinates, factor = BALL.ranking_coordinates(vectors)
    workers = thread_count(course.threads)
    return nearest_non_positives(coordinates, factor, course.hierarchy, course.objective, nodes, workers)


# ---- descent ----


def ill_ones(course: Course, vectors: Floats, scores: Evaluation) -> Mask:
    """The nodes of ill pairs, and their offenders."""
    movers = np.zeros(course.hierarchy.n_nodes, np.bool_)
    for nodes in (scores.illness.node, scores.illness.positive, scores.illness.offender):
        movers[nodes] = True
    return movers


def those_around(course: Course, vectors: Floats, scores: Evaluation) -> Mask:
    """With all positives of ill nodes, and the nearest others."""
    movers, ill = ill_ones(course, vectors, scores), np.unique(scores.illness.node)
    movers[positives_of(ill, course.hierarchy.positives(course.objective))[1]] = True
    near = _near(course, vectors, ill)[ill]
    movers[near[near >= 0]] = True
    return movers


def everybody(course: Course, vectors: Floats, scores: Evaluation) -> Mask:
    """All nodes."""
    return np.ones(course.hierarchy.n_nodes, np.bool_)


@dataclass(frozen=True)
class Descent:
    """Steps down the softmax.

    Attributes
    ----------
    who : the nodes that move
    quiet : product of the sharpness and the margin that nodes have that are well
    rate : length of a step, times the sharpness
    """

    who: Callable[[Course, Floats, Evaluation], Mask]
    quiet: float
    rate: float

    def __call__(self, course: Course, vectors: Floats, scores: Evaluation) -> Floats:
        """The vectors after some steps, the last ones shorter and shorter."""
        movers, workers = self.who(course, vectors, scores), thread_count(course.threads)
        vectors = np.array(vectors)
        positives = course.hierarchy.positives(course.objective)
        heads = np.flatnonzero(np.diff(positives[0]))
        sharpness = self.quiet / _margin_of_the_well(vectors, scores)
        rates = self.rate / sharpness * np.minimum(1.0, 2.0 * (1.0 - np.arange(STEPS) / STEPS))
        moments = (np.zeros(vectors.shape), np.zeros(len(vectors)))
        relatives_together = heads[np.argsort(course.hierarchy.interval_in[heads])].astype(np.int32)
        for step in range(0, STEPS, REFRESH):
            trained = choose().descend_softmax(
                vectors,
                moments,
                Compared(relatives_together, *positives, *positives, _near(course, vectors, heads)),
                SoftmaxSteps.even(sharpness, rates[step : step + REFRESH]),
                first_epoch=step,
                steps_before=step,
                negatives=0,
                bound=BALL.bound(BALL_RADIUS),
                seed=0,
                workers=workers,
                movers=movers,
            )
            if trained.failed is not None:  # the last steps that were taken were good ones
                break
        return vectors


def _margin_of_the_well(vectors: Floats, scores: Evaluation) -> float:
    """How much farther than the farthest positive the nearest other is, in the middle of the nodes that are well."""
    ranking = scores.ranking
    source = np.repeat(ranking.sources, np.diff(ranking.positive_ptr))
    far = np.maximum.reduceat(
        poincare.distance(vectors[source], vectors[ranking.positive_idx]), ranking.positive_ptr[:-1]
    )
    margin = poincare.distance(vectors[ranking.sources], vectors[np.maximum(ranking.offender, 0)]) - far
    well = margin[(ranking.offender >= 0) & (margin > 0)]
    return max(float(np.median(well if well.size else far)), LEAST_MARGIN)
