"""The three illnesses of Definition 1: which positive pairs fail, and how."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..hierarchy import Hierarchy
from .ranking import Ranking

KINDS = ("capacity", "intra_subtree", "inter_subtree")
CAPACITY, INTRA_SUBTREE, INTER_SUBTREE = range(3)


@dataclass(frozen=True)
class Illness:
    """All ill pairs (A, B): the offender B', the non-positive nearest to A, is at least as close to A as B.

    Attributes
    ----------
    node, positive, offender : int64 (ill,)
        A, B and B' of each ill pair.
    kind : int8 (ill,)
        Index into `KINDS`: *capacity* if B is a parent of B', *intra-subtree* if B is an ancestor but not a parent of
        B', *inter-subtree* otherwise. On a DAG "ancestor" means by any path.
    """

    node: NDArray[np.int64]
    positive: NDArray[np.int64]
    offender: NDArray[np.int64]
    kind: NDArray[np.int8]

    def counts(self) -> dict[str, int]:
        """Number of ill pairs of each kind."""
        tally = np.bincount(self.kind, minlength=len(KINDS))
        return {name: int(count) for name, count in zip(KINDS, tally, strict=True)}

    def __len__(self) -> int:
        return int(self.kind.size)


def classify(ranking: Ranking, hierarchy: Hierarchy) -> Illness:
    """Find the ill pairs of a ranking and their kinds."""
    ill = np.flatnonzero(ranking.ranks > 1)
    source_of_pair = np.repeat(np.arange(ranking.sources.size), np.diff(ranking.positive_ptr))[ill]
    node = ranking.sources[source_of_pair]
    positive = ranking.positive_idx[ill].astype(np.int64)
    offender = ranking.offender[source_of_pair]
    kind = np.full(ill.size, INTER_SUBTREE, np.int8)
    kind[hierarchy.is_ancestor(positive, offender)] = INTRA_SUBTREE
    kind[hierarchy.is_parent(positive, offender)] = CAPACITY
    return Illness(node, positive, offender, kind)
