"""Suggest a parent for a node that is not in the model, from a few nodes that its author knows to be near."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..checks import require_whole
from ..errors import InputError
from ._above import upwards

if TYPE_CHECKING:
    from . import Embedding

__all__ = ["Suggestion", "suggest_parent"]


@dataclass(frozen=True)
class Suggestion:
    """A candidate parent.

    Attributes
    ----------
    name, label
        Its name (id), and what people call it, or None.
    score
        Root of the mean squared distance to the neighbours: smaller is better. The best node is the one in their
        middle: for some siblings, their parent. A neighbour as its own candidate counts with the distance to its
        nearest node, the length of an edge there, since a node is not its own parent.
    children
        How many children it has in the hierarchy.
    neighbors_below
        How many of the given neighbours hang below it in the hierarchy, or are it.
    """

    name: Hashable
    score: float
    children: int
    neighbors_below: int
    label: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON."""
        name = self.name if isinstance(self.name, (str, int)) else str(self.name)
        return {
            "node": name,
            **({} if self.label is None else {"label": self.label}),
            "score": self.score,
            "children": self.children,
            "neighbors_below": self.neighbors_below,
        }


def suggest_parent(embedding: Embedding, near: Hashable | Sequence[Hashable], k: int = 10) -> list[Suggestion]:
    """Rank candidate parents of a new node by geometry.

    In an embedding made for the objective ancestors everything is near to the root: there the hierarchy ranks them,
    those above most of the neighbours first, and of them the lowest.

    Parameters
    ----------
    near
        The node, or a list of nodes, that the new one is known to be near to: siblings, cousins, or the parent itself.
    k
        How many candidates, the best first. Of equally good ones those that have children come first.
    """
    require_whole("k", k, 1)
    # A tuple may be a name or several.
    is_name = isinstance(near, Hashable) and (not isinstance(near, tuple) or near in embedding)
    names: list[Hashable] = [near] if is_name else list(cast(Sequence[Hashable], near))
    if not names:
        raise InputError("a suggestion needs neighbours: name at least one node that the new one is near to")
    hierarchy = embedding.hierarchy
    codes = np.array(list(dict.fromkeys(hierarchy.names.find(name) for name in names)), np.int64)
    everyone = np.arange(len(embedding))
    squares = np.zeros(len(embedding))
    others = hierarchy.real_nodes()
    for code in codes.tolist():
        far = embedding._distances_from(code)
        elsewhere = far[others[others != code]]
        far[code] = elsewhere.min() if elsewhere.size else 0.0
        squares += far**2
    score = np.sqrt(squares / codes.size)
    children = np.diff(hierarchy.child_ptr)
    below = np.zeros(len(embedding), np.int64)
    for code in codes.tolist():
        below[list(upwards(hierarchy, code))] += 1
    keys = [everyone, children == 0, score]
    if embedding.objective == "ancestors":
        # Of a single neighbour, the parent is as good a candidate as the neighbour itself, one edge lower.
        level = np.where(below > 0, hierarchy.level - np.isin(everyone, codes) / codes.size, 0.0)
        keys = [everyone, score, children == 0, -level, -below]
    order = others[np.lexsort([key[others] for key in keys])][:k]
    return [
        Suggestion(hierarchy.names[code], float(score[code]), int(children[code]), int(below[code]), label)
        for code, label in zip(order.tolist(), hierarchy.labels.take(order), strict=True)
    ]
