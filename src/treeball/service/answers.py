"""How the service answers its questions: what the model says, as properties of JSON objects."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import islice
from typing import Any

from ..embedding import Embedding, _answers
from ..geometry.coordinates import to_kind
from ..hierarchy import Hierarchy
from ..types import Source

__all__ = [
    "distance",
    "is_ancestor",
    "neighbors",
    "parent",
    "relatives",
    "search",
    "similarity",
    "subtree",
    "suggest_parent",
    "vector",
]

Answers = list[dict[str, Any]]


def neighbors(embedding: Embedding, nodes: list[Any], k: int, source: Source, **only: Any) -> Answers:
    """The nearest nodes that filters keep."""
    answers = []
    for near in embedding.neighbors(nodes, k, source, **only):
        labels = embedding.names.labels_by_name(node for node, _ in near)
        rows = [{"node": node, "distance": far} for node, far in near]
        answers.append({"neighbors": [row | _label_of(labels, row["node"]) for row in rows]})
    return answers


def _label_of(labels: dict[str, str], node: Any) -> dict[str, str]:
    return {"label": labels[str(node)]} if str(node) in labels else {}


def distance(embedding: Embedding, a: list[Any], b: list[Any], source: Source) -> Answers:
    """Distances; None for infinity."""
    far = embedding.distance(a, b, source).tolist()
    return [{"distance": d if math.isfinite(d) else None} for d in far]


def similarity(embedding: Embedding, a: list[Any], b: list[Any]) -> Answers:
    """Similarities by the hierarchy, and the distance."""
    return [found.to_dict() for found in embedding.similarity(a, b)]


def relatives(method: str, key: str) -> Callable[..., Answers]:
    """What answers a question about relatives: a function of `_answers`, and the property of its answers."""

    def ask(embedding: Embedding, *names: list[Any], source: Source) -> Answers:
        return [{key: found} for found in getattr(_answers, method)(embedding, *names, source)]

    return ask


def parent(embedding: Embedding, nodes: list[Any], source: Source) -> Answers:
    """The one parent that stands first, None for none, and all of them."""
    found = _answers.parents_of(embedding, nodes, source)
    return [{"parent": parents[0] if parents else None, "parents": parents} for parents in found]


def subtree(most: int) -> Callable[..., Answers]:
    """What answers /subtree: not many more than `most` nodes are looked at, for more are not told."""

    def ask(embedding: Embedding, nodes: list[Any], source: Source, depth: int | None) -> Answers:
        tree = embedding.hierarchy if source == "hierarchy" else embedding.read_back()
        answers = []
        for code in embedding.names.index_of_many(nodes).tolist():
            rows = list(islice(_answers.outline(tree, code, depth), most + 1))
            names = embedding.names.take([node for node, _ in rows])
            others = _other_parents(embedding, tree, rows)
            answers.append({"subtree": names, "depths": [below for _, below in rows], "other_parents": others})
        return answers

    return ask


def _other_parents(embedding: Embedding, tree: Hierarchy, rows: list[tuple[int, int]]) -> dict[str, list[Any]]:
    """Parents that a subtree does not show, by node; an added root is none."""
    found = _answers.further_parents(rows, tree.parents_of)
    shown = {node: [one for one in some if one != tree.virtual_root] for node, some in found.items()}
    return {str(embedding.names[node]): embedding.names.take(some) for node, some in shown.items() if some}


def is_ancestor(embedding: Embedding, ancestors: list[Any], nodes: list[Any], source: Source) -> Answers:
    """Whether, and how much."""
    found = _answers.is_ancestor(embedding, ancestors, nodes, source)
    return [{"is_ancestor": one.holds, "score": one.score} for one in found]


def vector(embedding: Embedding, nodes: list[Any], coordinates: Any) -> Answers:
    """Coordinates and reach."""
    codes = embedding.names.index_of_many(nodes)
    vectors, kind = to_kind(embedding.vectors[codes], embedding.space, coordinates)
    reach = embedding.reach[codes].tolist()
    return [
        {"coordinates": kind, "vector": vector, "reach": far}
        for vector, far in zip(vectors.tolist(), reach, strict=True)
    ]


def search(embedding: Embedding, texts: list[str], k: int) -> Answers:
    """Nodes whose id, label or synonym holds a text."""
    return [{"matches": [match.to_dict() for match in embedding.search(text, k)]} for text in texts]


def suggest_parent(embedding: Embedding, near: list[list[Any]], k: int) -> Answers:
    """Candidate parents of a node that is near to some."""
    return [{"suggestions": [one.to_dict() for one in embedding.suggest_parent(some, k)]} for some in near]
