"""Scores of pairs (node, ancestor): how much a model's geometry speaks for one, the larger the more.

A score is a function of an embedding and the codes of nodes and would-be ancestors, both (m,), that gives m numbers
without NaN. A line in `PAIR_SCORES` makes it one that users can name, and that ``auto`` chooses among.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..types import Floats, Ints

if TYPE_CHECKING:
    from ..embedding import Embedding

__all__ = ["PAIR_SCORES", "PairScore"]

PairScore: TypeAlias = "Callable[[Embedding, Ints, Ints], Floats]"


def by_distance(embedding: Embedding, node: Ints, ancestor: Ints) -> Floats:
    """Minus the distance: the same from either end."""
    return -embedding.distances_between(node, ancestor)


def by_detour(embedding: Embedding, node: Ints, ancestor: Ints) -> Floats:
    """Minus the detour that the way from the node to the origin makes by way of the ancestor.

    d(node, ancestor) + d(ancestor, origin) - d(node, origin): 0 for an ancestor on the straight way, however far up.
    """
    radius = embedding.radii()
    return radius[node] - radius[ancestor] - embedding.distances_between(node, ancestor)


def by_ascent(embedding: Embedding, node: Ints, ancestor: Ints) -> Floats:
    """Whether the ancestor is met on the way up from the node, from reach to reach; what is not, by the detour.

    1 for those that are met, and below that exp(-detour) - 1.
    """
    met = embedding.read_back().is_ancestor(ancestor, node)
    return np.where(met, 1.0, np.expm1(np.minimum(by_detour(embedding, node, ancestor), 0.0)))


PAIR_SCORES: dict[str, PairScore] = {"distance": by_distance, "detour": by_detour, "ascent": by_ascent}
"""Every score by its name."""
