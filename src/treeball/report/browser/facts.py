"""What the page tells about each node, measured on the vectors themselves and never on the picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...evaluation import Evaluation
from ...types import Floats, Ints, Objective
from .nearest import nearest_nodes

if TYPE_CHECKING:
    from ...embedding import Embedding


NEAREST = 5
NEAREST_UP_TO_NODES = 200_000  # beyond this the search takes longer than anyone waits for a page
MOST_ILL_PAIRS = 150_000  # beyond this a page grows too large; the worst are kept


@dataclass(frozen=True)
class Facts:
    """Measurements in the order of the hierarchy's codes; NaN and -1 stand for "not measured" and "none".

    Attributes
    ----------
    evaluation : Evaluation
    radius, parent_distance, margin : float64 (n,)
        The margin of a node is the distance to the nearest node that is not one of its positives, less that to its
        farthest positive: negative where a pair is ill.
    nearest : int64 (n, 5) or None
        Nearest nodes, nearest first; None when there are too many nodes to look for them.
    nearest_distance : float64 (n, 5) or None
    ill_node, ill_positive, ill_offender, ill_kind : int64 (pairs,)
        The ill pairs, those farthest from being well first; no more than `MOST_ILL_PAIRS`.
    ill_distance, ill_offender_distance : float64 (pairs,)
        From the node to its positive, and to the offender.
    """

    evaluation: Evaluation
    radius: Floats
    parent_distance: Floats
    margin: Floats
    nearest: Ints | None
    nearest_distance: Floats | None
    ill_node: Ints
    ill_positive: Ints
    ill_offender: Ints
    ill_kind: Ints
    ill_distance: Floats
    ill_offender_distance: Floats


def measure(embedding: Embedding, objective: Objective | None = None, threads: int = 0) -> Facts:
    """Measure everything the page shows; of large models a sample of illness and no neighbours."""
    hierarchy = embedding.hierarchy
    evaluation = embedding.evaluate(objective, threads=threads)
    parent = hierarchy.primary_parent.astype(np.int64)
    child = np.flatnonzero(parent >= 0)
    parent_distance = np.full(len(embedding), np.nan)
    parent_distance[child] = embedding.distances_between(child, parent[child])
    nearest = nearest_distance = None
    if len(embedding) <= NEAREST_UP_TO_NODES:
        nearest = nearest_nodes(embedding, NEAREST, threads)
        nearest_distance = np.full(nearest.shape, np.nan)
        row, column = np.nonzero(nearest >= 0)
        nearest_distance[row, column] = embedding.distances_between(row, nearest[row, column])
    illness = evaluation.illness
    own = embedding.distances_between(illness.node, illness.positive)
    offender = embedding.distances_between(illness.node, illness.offender)
    worst = np.argsort(offender - own, kind="stable")[:MOST_ILL_PAIRS]
    return Facts(
        evaluation=evaluation,
        radius=embedding.radii(),
        parent_distance=parent_distance,
        margin=_margins(embedding, evaluation),
        nearest=nearest,
        nearest_distance=nearest_distance,
        ill_node=illness.node[worst],
        ill_positive=illness.positive[worst],
        ill_offender=illness.offender[worst],
        ill_kind=illness.kind[worst].astype(np.int64),
        ill_distance=own[worst],
        ill_offender_distance=offender[worst],
    )


def _margins(embedding: Embedding, evaluation: Evaluation) -> Floats:
    ranking = evaluation.ranking
    margin = np.full(len(embedding), np.nan)
    ranked = np.flatnonzero(ranking.offender >= 0)
    if not ranked.size:
        return margin
    sources = np.repeat(ranking.sources, np.diff(ranking.positive_ptr))
    to_positive = embedding.distances_between(sources, ranking.positive_idx.astype(np.int64))
    farthest = np.maximum.reduceat(to_positive, ranking.positive_ptr[:-1])[ranked]
    nodes = ranking.sources[ranked]
    margin[nodes] = embedding.distances_between(nodes, ranking.offender[ranked]) - farthest
    return margin
