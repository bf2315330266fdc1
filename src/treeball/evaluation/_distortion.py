"""Distortion: how far the embedding's distances are from those of the tree, the metric of the combinatorial papers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import InputError
from ..hierarchy.metric import Metric, PathLengths
from ..types import Floats, Ints
from ..words import json_number

if TYPE_CHECKING:
    from ..embedding import Embedding

__all__ = ["DEFAULT_PAIRS", "EXACT_UP_TO_NODES", "Distortion", "distortion"]

EXACT_UP_TO_NODES = 2_000
DEFAULT_PAIRS = 200_000


@dataclass(frozen=True)
class Distortion:
    """Distances d of an embedding against path lengths t of the hierarchy seen as an undirected graph.

    An edge is as long as its weight, or 1 where there are no weights. Pairs with no length between them are left aside.

    Attributes
    ----------
    average
        Mean over pairs of nodes of ``|scale * d / t - 1|``: 0 is perfect.
    worst
        Largest d/t divided by the smallest: 1 is perfect, inf when two nodes coincide. That of the sample when `exact`
        is False, and then only a lower bound of the true one.
    scale
        The factor for d that makes `average` smallest; NaN when all nodes coincide.
    pairs
        Number of pairs of nodes that were measured.
    exact
        Whether these are all pairs.
    average_interval
        95 % interval (low, high) of a sampled average; None when exact.
    metric
        What t is: ``"tree"``; ``"graph"``, shortest paths in a DAG; or, for a DAG of more than 2,000 nodes,
        ``"primary tree"``, paths by primary parents only.
    spearman
        Spearman's rank correlation of d with t; NaN when all of either are the same.
    against
        What paths are measured in: ``"lengths"``, the weights of edges, or ``"edges"``.
    left_aside
        Pairs of those chosen that were not measured, for the path between them has no length.
    """

    average: float
    worst: float
    scale: float
    pairs: int
    exact: bool
    average_interval: tuple[float, float] | None
    metric: Metric
    spearman: float
    against: Literal["lengths", "edges"]
    left_aside: int

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON, which has neither NaN nor infinity: null stands for them."""
        return {
            "average": json_number(self.average),
            "worst": json_number(self.worst),
            "worst_of": "all pairs" if self.exact else "the sample",
            "scale": json_number(self.scale),
            "pairs": self.pairs,
            "exact": self.exact,
            "average_interval_95": None if self.average_interval is None else list(self.average_interval),
            "metric": self.metric,
            "spearman": json_number(self.spearman),
            "against": self.against,
            "left_aside": self.left_aside,
        }


def distortion(embedding: Embedding, *, sample: int | None = None, seed: int = 0) -> Distortion:
    """Average and worst-case distortion of an embedding against the path lengths of its hierarchy.

    Parameters
    ----------
    embedding
        What :func:`treeball.fit` or :func:`treeball.load` returned.
    sample
        Measure this many random pairs, drawn independently; 0 measures all pairs, which is possible up to 2,000 nodes.
        By default all pairs up to 2,000 nodes, and 200,000 beyond. A sample as large as all pairs is all pairs.
    seed
        Chooses the sample.
    """
    hierarchy = embedding.hierarchy
    n = hierarchy.n_nodes
    population = n * (n - 1) // 2
    small = n <= EXACT_UP_TO_NODES
    if sample is not None and (sample < 0 or (sample == 0 and not small)):
        raise InputError(
            f"a sample of {sample} pairs cannot be measured on {n:,} nodes: give a positive number "
            f"(all pairs, 0, are measured up to {EXACT_UP_TO_NODES:,} nodes)"
        )
    if sample is None:
        sample = 0 if small else DEFAULT_PAIRS
    exact = small and (sample == 0 or sample >= population)
    first, second = np.triu_indices(n, 1) if exact else _random_pairs(n, sample, seed)
    paths = PathLengths(hierarchy)
    lengths = paths.between(first, second)
    far = embedding.distances_between(first, second)
    apart = lengths > 0.0
    aside = int(lengths.size - apart.sum())
    if aside:
        lengths, far = lengths[apart], far[apart]
    ratios = far / lengths
    scale, average, spread = _best_scale(ratios)
    interval = None
    if not exact:
        # The best scale is where the derivative of the average vanishes, so that, to first order, estimating it adds
        # nothing to the variance of a mean of independent pairs.
        reach = 1.96 * spread / math.sqrt(ratios.size) if ratios.size > 1 else math.inf
        interval = (max(0.0, average - reach), average + reach)
    return Distortion(
        average,
        _worst(ratios),
        scale,
        int(ratios.size),
        exact,
        interval,
        paths.metric,
        _spearman(far, lengths),
        "lengths" if paths.has_weights else "edges",
        aside,
    )


def _random_pairs(n: int, count: int, seed: int) -> tuple[Ints, Ints]:
    """Independent pairs of different nodes, all equally likely."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n, count)
    second = rng.integers(0, n - 1, count)
    return first, second + (second >= first)


def _best_scale(ratios: Floats) -> tuple[float, float, float]:
    """The c that minimises the mean of |c ρ - 1|, that mean, and the standard deviation of what it averages.

    |c ρ - 1| = ρ |c - 1/ρ|, so the best c is the median of 1/ρ with weights ρ: exact, not searched for.
    """
    if not ratios.size:
        return math.nan, math.nan, math.nan
    descending = np.sort(ratios)[::-1]
    weight = np.cumsum(descending)
    if weight[-1] == 0.0:
        return math.nan, 1.0, 0.0
    scale = 1.0 / float(descending[np.searchsorted(weight, 0.5 * weight[-1])])
    errors = np.abs(scale * ratios - 1.0)
    return scale, float(errors.mean()), float(errors.std(ddof=1)) if ratios.size > 1 else math.inf


def _worst(ratios: Floats) -> float:
    if not ratios.size:
        return math.nan
    least = float(ratios.min())
    return float(ratios.max()) / least if least > 0.0 else math.inf


def _spearman(distances: Floats, lengths: Floats) -> float:
    """Correlation of ranks, equal numbers sharing theirs; those that differ in the last digits only are equal."""
    if lengths.size < 2:
        return math.nan
    first, second = _ranks(distances), _ranks(lengths)
    first, second = first - first.mean(), second - second.mean()
    size = math.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / size if size > 0.0 else math.nan


def _ranks(values: Floats) -> Floats:
    """Place of each number, none below 0, in their order, (n,); equal ones have the mean of theirs."""
    values = np.round(values / max(float(values.max()), np.finfo(float).tiny), 12)
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - 0.5 * (counts - 1))[which])
