"""What an engine that knows L2 and cosine only finds with exported vectors: measured on the model that is exported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...limits import LARGEST_RADIUS
from ...nearest import nearest_nodes
from ...types import Ints
from ...words import json_number

if TYPE_CHECKING:
    from ...embedding import Embedding

__all__ = ["CANDIDATES", "CandidateRecall", "FlatSearch", "candidate_recall", "flat_search"]

SAMPLE = 1_000
CANDIDATES, NEIGHBORS = 100, 10
# What flat distances may lose of hits@1 before a warning.
_TOLERATED = 0.05
# Numbers in one table of distances.
_BLOCK = 1 << 24


@dataclass(frozen=True)
class FlatSearch:
    """hits@1 of a sample of nodes: by L2 and by cosine on the vectors in float32, and by the hyperbolic distance."""

    l2: float
    cosine: float
    hyperbolic: float

    def warning(self) -> str | None:
        """A sentence where neither L2 nor cosine will do."""
        if not max(self.l2, self.cosine) < self.hyperbolic - _TOLERATED:
            return None
        return (
            f"warning: in a vector database L2 on these vectors puts a parent first for {self.l2:.1%} of nodes, cosine "
            f"for {self.cosine:.1%}, the hyperbolic distance for {self.hyperbolic:.1%}: to search there, export with "
            "--coordinates search"
        )

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON."""
        return {name: json_number(getattr(self, name)) for name in ("l2", "cosine", "hyperbolic")}


@dataclass(frozen=True)
class CandidateRecall:
    """How many of the nearest nodes are among the candidates that L2 on search vectors gives.

    Attributes
    ----------
    sources, neighbors, candidates
        How many nodes were looked at, how many nearest nodes of each, among how many candidates.
    recall
        Share of the nearest nodes found.
    """

    sources: int
    neighbors: int
    candidates: int
    recall: float

    def sentence(self) -> str:
        """For a person."""
        return (
            f"of the {self.neighbors} nearest nodes of {self.sources:,} nodes {self.recall:.2%} are among the "
            f"{self.candidates} candidates that L2 gives: re-rank these by the column point"
        )

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON."""
        return {name: getattr(self, name) for name in ("sources", "neighbors", "candidates", "recall")}


def flat_search(embedding: Embedding, values: NDArray[Any], seed: int = 0) -> FlatSearch | None:
    """Compare flat distances of exported vectors with those of the model.

    None where its space is flat itself, or where it lies farther out than nodes can be ranked.
    """
    if not embedding.space.is_hyperbolic or embedding.radii().max() > LARGEST_RADIUS:
        return None
    stored = values.astype(np.float32).astype(np.float64)
    length = np.sqrt(np.square(stored).sum(axis=1, keepdims=True))
    l2, cosine = (
        type(embedding)(flat, embedding.hierarchy, "euclidean", embedding.provenance)
        .evaluate(sample=SAMPLE, seed=seed)
        .hits_at_1
        for flat in (stored, stored / np.where(length > 0.0, length, 1.0))
    )
    return FlatSearch(l2, cosine, embedding.evaluate(sample=SAMPLE, seed=seed).hits_at_1)


def candidate_recall(embedding: Embedding, values: NDArray[np.float32], seed: int = 0) -> CandidateRecall:
    """Count which nearest nodes are among the candidates of L2 on search vectors, as an exact index gives them."""
    n = len(embedding)
    sources = np.sort(np.random.default_rng(seed).choice(n, min(n, SAMPLE), replace=False))
    near = nearest_nodes(embedding, sources, min(NEIGHBORS, n))
    found = 0
    step = max(1, _BLOCK // n)
    for begin in range(0, sources.size, step):
        part = slice(begin, begin + step)
        inside = _candidates(values, sources[part], embedding.hierarchy.virtual_root)
        rows = np.arange(inside.shape[0])[:, None]
        found += int((inside[rows, near[part]] & (near[part] >= 0)).sum())
    there = int((near >= 0).sum())
    return CandidateRecall(int(sources.size), NEIGHBORS, CANDIDATES, found / there if there else 1.0)


def _candidates(values: NDArray[np.float32], sources: Ints, root: int | None) -> NDArray[np.bool_]:
    """Which nodes (m, n) are among the nearest of each source by L2; the source itself and a virtual root are not."""
    far = np.square(values).sum(axis=1) - 2.0 * (values[sources] @ values.T)
    far[np.arange(sources.size), sources] = np.inf
    if root is not None:
        far[:, root] = np.inf
    last = min(CANDIDATES, far.shape[1]) - 1
    return np.asarray(far <= np.partition(far, last, axis=1)[:, last : last + 1])
