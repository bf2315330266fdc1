"""MAP, mean rank and hits@1: exact over all nodes, or from a random sample of nodes with a confidence interval."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..engine import Device, Engine, choose
from ..engine.cpu.engine import CpuEngine
from ..engine.cpu.search_tree import SearchTree
from ..engine.cpu.term_search import TermSearch
from ..geometry.spaces import BALL, Space
from ..hierarchy import Hierarchy
from ..nearest import ranked_distances, search_tree
from ..types import Floats, Ints, Objective

Positives = tuple[Ints, NDArray[np.int32]]

# Comparing all pairs costs about 0.8 ns per pair of nodes and 10 dimensions on two cores; up to here we always do.
EXACT_UP_TO_NODES = 150_000
# Beyond, all nodes are ranked if a search tree is expected to do it in this time, else a sample.
EXACT_SECONDS = 120.0
DEFAULT_SAMPLE = 4_000
# A search tree costs as much as comparing about 1,000 nodes with all others, and pays from 5,000 nodes on; but its
# first use ever compiles for some seconds, and up to 20,000 nodes all pairs are compared in half a second.
_TREE_FROM_NODES, _TREE_FROM_SOURCES = 20_000, 2_000
_PILOT_SOURCES = 500
# Coordinates compared from which a card pays, its start included, and the nodes that are ranked there on trial.
_CARD_FROM_WORK = 1e10
_CARD_PILOT_SOURCES = 2_048
# A node that a tree visits costs about three times as much as one that is reached in passing over all.
_WORTHWHILE_SHARE = 0.25


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
        1 + number of non-positives at least as close to A as B is, or farther by less than `limits.TIE`.
    precision : float64 (m,)
        Average precision of each source.
    offender : int64 (m,)
        The non-positive nearest to each source; -1 when every other node is a positive.
    population : int
        How many nodes have a positive.
    margin : float
        Smallest ratio, over the sources, of the distances to the nearest non-positive and to the farthest positive:
        above 1 when no pair is ill; inf when there is no non-positive, nan when a score of one's own ranked the nodes.
    device : str
        Name of the card that compared the nodes; empty if the processor did.
    """

    sources: Ints
    positive_ptr: Ints
    positive_idx: NDArray[np.int32]
    ranks: Ints
    precision: Floats
    offender: Ints
    population: int
    margin: float
    device: str = ""

    @property
    def is_exact(self) -> bool:
        """Whether every node with a positive was ranked."""
        return self.sources.size == self.population

    @property
    def is_by_distance(self) -> bool:
        """Whether distances ranked the nodes, not a score of one's own."""
        return not math.isnan(self.margin)

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
    space: Space = BALL,
    sample: int | None = None,
    seed: int = 0,
    threads: int = 1,
    device: Device = "auto",
) -> Ranking:
    """Rank the positives of every node, or of a random sample of nodes.

    Parameters
    ----------
    coordinates : float64 (n, d), or (terms, n, d)
    factor : float64 (n,)
        ``|u-v|^2 * factor[v]`` must order the nodes v like their distance from u: 1/(1-|v|^2) in the Poincare ball,
        1 in Euclidean space.
    space
        Whose distances the margin compares.
    sample
        How many nodes; 0 ranks all. By default all up to `EXACT_UP_TO_NODES`, and beyond if that is expected to take
        less than `EXACT_SECONDS`; else `DEFAULT_SAMPLE`.
    device
        Where to compare: ``"cpu"``, ``"cuda"``, or ``"auto"``, a card if there is one and it is expected to be faster.
    """
    coordinates = np.ascontiguousarray(coordinates, np.float64)
    positives = hierarchy.positives(objective)
    with_positives = np.flatnonzero(np.diff(positives[0])).astype(np.int64)
    wanted = min(sample or with_positives.size, with_positives.size)
    is_large = len(factor) > EXACT_UP_TO_NODES
    tree: SearchTree | TermSearch | None = None
    seconds = math.inf
    # Coordinates of several terms are compared by the processor. Ancestors include the root, far from nearly every
    # node: there is next to nothing beyond it to pass over.
    has_terms = coordinates.ndim == 3
    if has_terms:
        if device == "cuda":
            warnings.warn("coordinates of several terms are compared by the processor, not by the card", stacklevel=2)
        tree = search_tree(coordinates, factor)
    elif (
        device != "cuda" and objective == "parents" and len(factor) >= _TREE_FROM_NODES and wanted >= _TREE_FROM_SOURCES
    ):
        tree, seconds = _tried_tree(coordinates, factor, with_positives, positives, threads)
    engine = CpuEngine() if has_terms else _engine(device, wanted * coordinates.size)
    if engine.name != "cpu" and (tree is not None or (is_large and sample is None)):
        on_card = _tried_card(engine, coordinates, factor, with_positives, positives)
        if device == "cuda" or on_card < seconds:
            tree, seconds = None, on_card
    if sample is None and is_large and seconds > EXACT_SECONDS:
        sample = DEFAULT_SAMPLE
    sources = with_positives
    if sample and sample < with_positives.size:
        sources = np.sort(np.random.default_rng(seed).choice(with_positives, sample, replace=False))
    ptr, idx = positives_of(sources, positives)
    used = ""
    if tree is not None:
        ranks, precision, offender = tree.rank(sources, ptr, idx, threads=threads)
    else:
        used = engine.device_name if engine.name != "cpu" else ""
        ranks, precision, offender = engine.rank(coordinates, factor, sources, ptr, idx, threads)
    margin = _margin(coordinates, factor, space, sources, ptr, idx, offender)
    return Ranking(sources, ptr, idx, ranks, precision, offender, with_positives.size, margin, used)


def positives_of(sources: Ints, positives: Positives) -> Positives:
    """The positives of some nodes: pointers (m+1,) and codes, from those of all nodes."""
    ptr, idx = positives
    counts = np.diff(ptr)[sources]
    own_ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    within = np.arange(own_ptr[-1]) - np.repeat(own_ptr[:-1], counts)
    return own_ptr, idx[np.repeat(ptr[sources], counts) + within]


def _tried_tree(
    coordinates: Floats, factor: Floats, with_positives: Ints, positives: Positives, threads: int
) -> tuple[SearchTree | None, float]:
    """A search tree and the seconds in which it would rank all nodes; none if comparing all pairs is as good.

    The poorer an embedding, the more nodes are nearer than a positive, and each of them must be counted: some nodes,
    always the same, are ranked on trial.
    """
    tree = SearchTree(coordinates, factor)
    pilot = np.random.default_rng(0).choice(with_positives, min(with_positives.size, _PILOT_SOURCES), replace=False)
    tree.rank(pilot[:1], *positives_of(pilot[:1], positives), threads=threads)  # compiles
    started = time.perf_counter()
    share = tree.visited_share(pilot, *positives_of(pilot, positives), threads=threads)
    seconds = (time.perf_counter() - started) / pilot.size * with_positives.size
    return (tree, seconds) if share < _WORTHWHILE_SHARE else (None, math.inf)


def _engine(device: Device, work: int) -> Engine:
    """The engine of a device; by default a card if there is one, where so many coordinates are compared."""
    return CpuEngine() if device == "auto" and work < _CARD_FROM_WORK else choose(device, work)


def _tried_card(
    engine: Engine, coordinates: Floats, factor: Floats, with_positives: Ints, positives: Positives
) -> float:
    """The seconds in which a card would rank all nodes: cards differ a hundredfold in float64."""
    pilot = np.random.default_rng(0).choice(
        with_positives, min(with_positives.size, _CARD_PILOT_SOURCES), replace=False
    )
    for _ in range(2):  # the first time it compiles
        started = time.perf_counter()
        engine.rank(coordinates, factor, pilot, *positives_of(pilot, positives), 0)
    return (time.perf_counter() - started) / max(1, pilot.size) * with_positives.size


def _margin(
    coordinates: Floats,
    factor: Floats,
    space: Space,
    sources: Ints,
    ptr: Ints,
    idx: NDArray[np.int32],
    offender: Ints,
) -> float:
    """Smallest ratio of the distances to the offender and to the farthest positive."""
    if not sources.size:
        return math.inf

    def distance(a: Ints, b: Ints) -> Floats:
        return ranked_distances(space, coordinates, factor, a, b)

    farthest = np.maximum.reduceat(distance(np.repeat(sources, np.diff(ptr)), idx.astype(np.int64)), ptr[:-1])
    compared = offender >= 0
    nearest, farthest = distance(sources[compared], offender[compared]), farthest[compared]
    # Nothing is nearer than a positive at distance 0, and a non-positive there as well is a tie.
    apart = farthest > 0
    tied = np.any(nearest[~apart] == 0)
    return float(min(np.min(nearest[apart] / farthest[apart], initial=math.inf), 1.0 if tied else math.inf))
