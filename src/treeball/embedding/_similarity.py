"""Similarities of two nodes that the hierarchy tells, as WordNet's users know them, beside their distance."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..hierarchy import Hierarchy
from ..types import Ints
from ..words import json_number
from ._above import upwards

if TYPE_CHECKING:
    from . import Embedding

__all__ = ["Similarity", "similarities"]


@dataclass(frozen=True)
class Similarity:
    """How similar two nodes are.

    All but the distance are told by the hierarchy; all are 1 for a node and itself, but for Resnik's, and 0 where only
    a virtual root joins the two. IC is :attr:`treeball.Hierarchy.information_content`.

    Attributes
    ----------
    distance
        Their distance in the embedding.
    path
        1 / (1 + edges), by the shortest way up to a common ancestor and down.
    wu_palmer
        2 N / (a + b + 2 N), where a and b are the edges up to a common ancestor and N is its depth, counted in nodes
        from the root: 1 for the root, and by the longest way in a DAG. The largest over all common ancestors.
    lin
        2 IC(c) / (IC(first) + IC(second)), where c is the most informative common ancestor.
    resnik
        IC(c), from 0 to 1.
    most_informative_ancestor
        That c: the common ancestor, or one of the two itself, with the largest IC; None when there is none.
    """

    distance: float
    path: float
    wu_palmer: float
    lin: float
    resnik: float
    most_informative_ancestor: Hashable | None

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON."""
        name = self.most_informative_ancestor
        return {
            "distance": json_number(self.distance),
            "path": self.path,
            "wu_palmer": self.wu_palmer,
            "lin": self.lin,
            "resnik": self.resnik,
            "most_informative_ancestor": name if name is None or isinstance(name, (str, int)) else str(name),
        }


def similarities(embedding: Embedding, first: Ints, second: Ints) -> list[Similarity]:
    """Similarities of pairs of nodes, given by their codes (m,)."""
    far = embedding.distances_between(first, second).tolist()
    hierarchy = embedding.hierarchy
    answers = []
    for a, b, distance in zip(first.tolist(), second.tolist(), far, strict=True):
        path, wu_palmer, lin, resnik, common = _by_hierarchy(hierarchy, a, b)
        ancestor = None if common is None else embedding.names[common]
        answers.append(Similarity(distance, path, wu_palmer, lin, resnik, ancestor))
    return answers


def _by_hierarchy(tree: Hierarchy, a: int, b: int) -> tuple[float, float, float, float, int | None]:
    """Path, Wu-Palmer, Lin, Resnik, and the code of the most informative common ancestor."""
    named = tree.virtual_root in (a, b)  # the caller means it: then it is a node like any other
    above_a, above_b = upwards(tree, a, named), upwards(tree, b, named)
    common = [node for node in above_a if node in above_b]
    if not common:
        return 0.0, 0.0, 0.0, 0.0, None
    ways = [above_a[node][0] + above_b[node][0] for node in common]
    content = tree.information_content
    best = max(common, key=lambda node: (content[node], -node))
    resnik = float(content[best])
    if a == b:
        return 1.0, 1.0, 1.0, resnik, best
    nodes_above = int(tree.virtual_root is None)  # of a root, itself counted
    depths = [int(tree.level[node]) + nodes_above for node in common]
    wu_palmer = max(2 * depth / (way + 2 * depth) for depth, way in zip(depths, ways, strict=True))
    both = float(content[a] + content[b])
    return 1 / (1 + min(ways)), wu_palmer, 2 * resnik / both if both else 0.0, resnik, best
