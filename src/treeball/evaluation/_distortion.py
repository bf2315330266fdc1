"""Distortion: how far the embedding's distances are from those of the tree, the metric of the combinatorial papers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..hierarchy import Hierarchy
from ..types import Floats, Ints
from ..words import json_number

if TYPE_CHECKING:
    from ..embedding import Embedding

__all__ = ["DEFAULT_PAIRS", "EXACT_UP_TO_NODES", "Distortion", "distortion"]

Metric = Literal["tree", "graph", "primary tree"]

EXACT_UP_TO_NODES = 2_000
DEFAULT_PAIRS = 200_000
# Numbers in one temporary array.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Distortion:
    """Distances d of an embedding against path lengths t in edges of the hierarchy seen as an undirected graph.

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
    """

    average: float
    worst: float
    scale: float
    pairs: int
    exact: bool
    average_interval: tuple[float, float] | None
    metric: Metric

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
    metric: Metric = "tree" if hierarchy.is_tree else ("graph" if small else "primary tree")
    lengths = (
        _graph_distance(hierarchy, first, second) if metric == "graph" else _tree_distance(hierarchy, first, second)
    )
    ratios = embedding.distances_between(first, second) / lengths
    scale, average, spread = _best_scale(ratios)
    interval = None
    if not exact:
        # The best scale is where the derivative of the average vanishes, so that, to first order, estimating it adds
        # nothing to the variance of a mean of independent pairs.
        reach = 1.96 * spread / math.sqrt(ratios.size) if ratios.size > 1 else math.inf
        interval = (max(0.0, average - reach), average + reach)
    return Distortion(average, _worst(ratios), scale, int(ratios.size), exact, interval, metric)


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


def _tree_distance(hierarchy: Hierarchy, first: Ints, second: Ints) -> Ints:
    """Path lengths by way of the common ancestor; on a DAG, in the tree of primary parents."""
    if not hierarchy.is_tree:
        parent = hierarchy.primary_parent
        below = np.flatnonzero(parent >= 0)
        hierarchy = Hierarchy.from_codes(hierarchy.names, below, parent[below])
    depth = hierarchy.depth.astype(np.int64)
    return np.asarray(depth[first] + depth[second] - 2 * depth[hierarchy.common_ancestor(first, second)])


def _graph_distance(hierarchy: Hierarchy, first: Ints, second: Ints) -> Ints:
    """Shortest undirected path lengths in a small DAG, breadth first from 64 nodes per machine word at once."""
    n = hierarchy.n_nodes
    child, parent = hierarchy.edges()
    # Each node is its own neighbour too: what is reached stays reached, and no list is empty, as reduceat requires.
    own = np.arange(n, dtype=np.int32)
    node = np.concatenate([child, parent, own])
    order = np.argsort(node, kind="stable")
    neighbor = np.concatenate([parent, child, own])[order]
    begin = np.searchsorted(node[order], own)
    lengths = np.zeros((n, n), np.int16)
    width = 64 * max(1, _BLOCK // neighbor.size)
    for source in range(0, n, width):
        sources = np.arange(source, min(source + width, n))
        reached = np.zeros((n, sources.size), np.bool_)
        reached[sources, np.arange(sources.size)] = True
        bits = _packed(reached)
        while not reached.all():
            # A node still out of reach after t rounds is farther than t.
            lengths[:, sources] += ~reached
            bits = np.bitwise_or.reduceat(bits[neighbor], begin, axis=0)
            reached = _unpacked(bits, sources.size)
    return lengths[first, second].astype(np.int64)


def _packed(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Rows of flags as rows of 64-bit words."""
    wide = np.zeros((flags.shape[0], -(-flags.shape[1] // 64) * 64), np.bool_)
    wide[:, : flags.shape[1]] = flags
    return np.packbits(wide, axis=1).view(np.uint64)


def _unpacked(words: NDArray[np.uint64], width: int) -> NDArray[np.bool_]:
    return np.unpackbits(words.view(np.uint8), axis=1, count=width).view(np.bool_)
