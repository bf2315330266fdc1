"""MAP, mean rank and hits@1: exact over all nodes, or from a random sample of nodes with a confidence interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..hierarchy import Hierarchy
from ..kernels.rank import rank_positives, to_blocks
from ..settings import Objective
from ..workers import in_parts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Ranking:
    """Ranks of the positives of some nodes among all other nodes.

    Attributes
    ----------
    sources : int64 (m,)
        The nodes A that were ranked: all that have a positive, or a sample of them.
    positive_ptr, positive_idx : int64 (m+1,), int32 (pairs,)
        The positives B of sources[i] are ``positive_idx[positive_ptr[i]:positive_ptr[i+1]]``.
    ranks : int64 (pairs,)
        1 + number of non-positives at least as close to A as B is.
    precision : float64 (m,)
        Average precision of each source.
    offender : int64 (m,)
        The non-positive nearest to each source; -1 when every other node is a positive.
    population : int
        How many nodes have a positive.
    """

    sources: Ints
    positive_ptr: Ints
    positive_idx: NDArray[np.int32]
    ranks: Ints
    precision: Floats
    offender: Ints
    population: int

    @property
    def is_exact(self) -> bool:
        """Whether every node with a positive was ranked."""
        return self.sources.size == self.population

    @property
    def map(self) -> float:
        """Mean average precision."""
        return float(self.precision.mean()) if self.sources.size else math.nan

    @property
    def mean_rank(self) -> float:
        """Mean filtered 1-based rank over positive pairs."""
        return float(self.ranks.mean()) if self.ranks.size else math.nan

    @property
    def hits_at_1(self) -> float:
        """Share of sources whose nearest node is a positive."""
        return float(self._hit().mean()) if self.sources.size else math.nan

    def _hit(self) -> NDArray[np.bool_]:
        return np.asarray(np.minimum.reduceat(self.ranks, self.positive_ptr[:-1]) == 1)

    def intervals(self) -> dict[str, tuple[float, float]]:
        """95 % confidence intervals (low, high) of a sampled ranking; they close on the scores when it is exact.

        MAP and hits@1 are means of numbers between 0 and 1, whose variance is at most m(1-m) at mean m: Wilson's
        interval holds for them, and stays honest when not one failure was seen. The mean rank is a ratio of two means
        over sources; its interval is that of the linearised ratio.
        """
        m = self.sources.size
        z = 1.96 * math.sqrt(1.0 - m / self.population)
        rank_sums = np.add.reduceat(self.ranks, self.positive_ptr[:-1]).astype(float)
        pairs = np.diff(self.positive_ptr)
        spread = ((rank_sums - self.mean_rank * pairs) / pairs.mean()).std(ddof=1) if m > 1 else math.inf
        reach = z * float(spread) / math.sqrt(m) if z else 0.0
        return {
            "map": _wilson(self.map, m, z),
            "mean_rank": (max(1.0, self.mean_rank - reach), self.mean_rank + reach),
            "hits_at_1": _wilson(self.hits_at_1, m, z),
        }


def _wilson(mean: float, count: int, z: float) -> tuple[float, float]:
    """Wilson's score interval for a mean of `count` numbers between 0 and 1."""
    centre = (mean + z * z / (2 * count)) / (1 + z * z / count)
    reach = z / (1 + z * z / count) * math.sqrt(mean * (1 - mean) / count + (z / (2 * count)) ** 2)
    return max(0.0, min(mean, centre - reach)), min(1.0, max(mean, centre + reach))


def rank(
    coordinates: Floats,
    factor: Floats,
    hierarchy: Hierarchy,
    objective: Objective,
    *,
    sample: int | None = None,
    seed: int = 0,
    threads: int = 1,
) -> Ranking:
    """Rank the positives of every node, or of a random `sample` of nodes.

    Parameters
    ----------
    coordinates : float64 (n, d)
    factor : float64 (n,)
        ``|u-v|^2 * factor[v]`` must order the nodes v like their distance from u: 1/(1-|v|^2) in the Poincare ball,
        1 in Euclidean space.
    """
    ptr, idx = hierarchy.positives(objective)
    bearing = np.flatnonzero(np.diff(ptr)).astype(np.int64)
    sources = bearing
    if sample is not None and sample < bearing.size:
        sources = np.sort(np.random.default_rng(seed).choice(bearing, sample, replace=False))
    own_ptr = np.concatenate([[0], np.cumsum(np.diff(ptr)[sources])]).astype(np.int64)
    within = np.arange(own_ptr[-1]) - np.repeat(own_ptr[:-1], np.diff(own_ptr))
    own_idx = idx[np.repeat(ptr[sources], np.diff(own_ptr)) + within]

    coordinates = np.ascontiguousarray(coordinates, np.float64)
    blocks, factors = to_blocks(coordinates, factor)
    ranks = np.empty(own_idx.size, np.int64)
    precision = np.empty(sources.size)
    offender = np.empty(sources.size, np.int64)

    def work(part: slice) -> None:
        ends = slice(part.start, part.stop + 1)
        rank_positives(
            coordinates,
            blocks,
            factors,
            sources[part],
            own_ptr[ends],
            own_idx,
            ranks,
            precision[part],
            offender[part],
        )

    in_parts(work, sources.size, threads)
    return Ranking(sources, own_ptr, own_idx, ranks, precision, offender, bearing.size)
