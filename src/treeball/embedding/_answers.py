"""Answers to questions about many nodes at once; `_questions` asks them for one or many.

Every question is answered from one of two *sources*: ``"geometry"``, distances alone, where the nearest node of a node
passes for its parent (`_read_back`); or ``"hierarchy"``, the one the model was made from. A virtual root,
which only joins several roots, is never an answer.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import NDArray

from ..checks import require_whole
from ..errors import InputError
from ..hierarchy import Hierarchy
from ..nearest import nearest_nodes
from ..types import Floats, Source

if TYPE_CHECKING:
    from . import Embedding


@dataclass(frozen=True)
class Ancestry:
    """Whether a node is an ancestor of another, and how much of one; true or false in a condition.

    Attributes
    ----------
    holds
        Whether the ancestor is met on the way up from the node.
    score
        From 0 to 1. From the hierarchy it is 0 or 1. From geometry it is exp(-e), where e = d(node, ancestor) +
        d(ancestor, origin) - d(node, origin) is the detour that the way from the node to the origin makes by way of the
        ancestor. Where both ways are long that is sin²(θ/2) for the angle θ between them at the ancestor: 1 when it
        lies on the straight way, 1/2 at a right angle, 0 when the node lies on the origin's side.
    """

    holds: bool
    score: float

    def __bool__(self) -> bool:
        return self.holds


# ---- the questions ----


def neighbors(
    embedding: Embedding, names: Sequence[Hashable], k: int, source: Source
) -> list[list[tuple[Hashable, float]]]:
    """The k nearest other nodes of each, with distances; from the hierarchy, distances in edges."""
    require_whole("k", k, 1)
    codes = _codes(embedding, names)
    if _checked(source) == "hierarchy":
        found = [_nearest_by_edges(embedding.hierarchy, int(code), int(k)) for code in codes]
        return [[(embedding.names[node], edges) for node, edges in row] for row in found]
    answers = []
    nearest = nearest_nodes(embedding, codes, min(int(k), len(embedding)))
    for code, row in zip(codes, nearest, strict=True):
        near = row[row >= 0]
        far = embedding.distances_between(np.full(near.size, code), near)
        order = np.lexsort((near, far))
        answers.append(list(zip(embedding.names.take(near[order]), far[order].tolist(), strict=True)))
    return answers


def distance(embedding: Embedding, first: Sequence[Hashable], second: Sequence[Hashable], source: Source) -> Floats:
    """Distances of pairs of nodes; from the hierarchy, edges by way of a common ancestor, inf when there is none."""
    a, b = _codes(embedding, first), _codes(embedding, second)
    if _checked(source) == "geometry":
        return embedding.distances_between(a, b)
    ways = (_way(embedding.hierarchy, int(x), int(y)) for x, y in zip(a, b, strict=True))
    return np.array([len(way) - 1 if way else math.inf for way in ways], np.float64)


def parent_of(embedding: Embedding, names: Sequence[Hashable], source: Source) -> list[Hashable | None]:
    """The nearest node of each; from the hierarchy, its first parent. None where there is none but a virtual root."""
    codes = _codes(embedding, names)
    if _checked(source) == "geometry":
        parents = nearest_nodes(embedding, codes, 1, virtual_root=True)[:, 0]
    else:
        parents = embedding.hierarchy.primary_parent[codes].astype(np.int64)
    parents[parents == embedding.hierarchy.virtual_root] = -1
    return [None if parent < 0 else embedding.names[parent] for parent in parents.tolist()]


def children_of(embedding: Embedding, names: Sequence[Hashable], source: Source) -> list[list[Hashable]]:
    """The nodes that hang from each, in the order of the model."""
    tree = _tree(embedding, source)
    return [tree.names.take(tree.children_of(code)) for code in _codes(embedding, names).tolist()]


def ancestors_of(embedding: Embedding, names: Sequence[Hashable], source: Source) -> list[list[Hashable]]:
    """All nodes above each, the nearest first."""
    tree = _tree(embedding, source)
    return [tree.names.take(list(upwards(tree, code))[1:]) for code in _codes(embedding, names).tolist()]


def is_ancestor(
    embedding: Embedding, ancestors: Sequence[Hashable], names: Sequence[Hashable], source: Source
) -> list[Ancestry]:
    """Whether each of `ancestors` is one of the node beside it; a node is not its own."""
    tree = _tree(embedding, source)
    above, below = _codes(embedding, ancestors), _codes(embedding, names)
    holds = tree.is_ancestor(above, below)
    score = holds.astype(np.float64)
    if source == "geometry":
        radius_above, radius_below = (embedding.space.radius(embedding.vectors[codes]) for codes in (above, below))
        detour = embedding.distances_between(below, above) + radius_above - radius_below
        score = np.where(above == below, 0.0, np.exp(-np.maximum(detour, 0.0)))
    return [Ancestry(*pair) for pair in zip(holds.tolist(), score.tolist(), strict=True)]


def common_ancestor(
    embedding: Embedding, first: Sequence[Hashable], second: Sequence[Hashable], source: Source
) -> list[Hashable | None]:
    """The nearest node that is above both or one of them; None when only a virtual root is."""
    tree = _tree(embedding, source)
    common = tree.common_ancestor(_codes(embedding, first), _codes(embedding, second)).tolist()
    return [None if code == tree.virtual_root else tree.names[code] for code in common]


def path(
    embedding: Embedding, first: Sequence[Hashable], second: Sequence[Hashable], source: Source
) -> list[list[Hashable]]:
    """The way from each node up to a common ancestor and down to the other; empty when only a virtual root joins them.

    In a DAG the shortest such way.
    """
    tree = _tree(embedding, source)
    pairs = zip(_codes(embedding, first).tolist(), _codes(embedding, second).tolist(), strict=True)
    return [tree.names.take(_way(tree, a, b)) for a, b in pairs]


def subtree(
    embedding: Embedding, names: Sequence[Hashable], source: Source, depth: int | None = None
) -> list[list[Hashable]]:
    """Each node and all nodes below it, every one before its children; `depth` limits how many edges below."""
    tree = _tree(embedding, source)
    return [
        tree.names.take([node for node, _ in outline(tree, code, depth)]) for code in _codes(embedding, names).tolist()
    ]


def outline(tree: Hierarchy, code: int, depth: int | None = None) -> Iterator[tuple[int, int]]:
    """A node and those below it with the edges between, in preorder; in a DAG each node once."""
    if depth is not None:
        require_whole("depth", depth, 0)
    pending, seen = [(code, 0)], set()
    while pending:
        node, level = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node, level
        if depth is None or level < depth:
            pending.extend((child, level + 1) for child in tree.children_of(node)[::-1].tolist())


# ---- how ----


def _checked(source: Source) -> Source:
    if source not in get_args(Source):
        raise InputError(f"source must be geometry or hierarchy, not {source!r}")
    return source


def _tree(embedding: Embedding, source: Source) -> Hierarchy:
    return embedding.hierarchy if _checked(source) == "hierarchy" else embedding.read_back()


def _codes(embedding: Embedding, names: Sequence[Hashable]) -> NDArray[np.int64]:
    # index_of_many makes a table of all names for arrow text: for a few, single look-ups are cheaper.
    if len(names) <= 4:
        return np.array([embedding.names.index_of(name) for name in names], np.int64)
    return embedding.names.index_of_many(names).astype(np.int64)


def upwards(tree: Hierarchy, code: int, virtual_root: bool = False) -> dict[int, tuple[int, int]]:
    """A node and all above it, the nearest first: how many edges above, and by way of which node."""
    reached = {code: (0, code)}
    level = [code]
    while level:
        above = []
        for node in level:
            for parent in tree.parents_of(node).tolist():
                if parent not in reached and (virtual_root or parent != tree.virtual_root):
                    reached[parent] = (reached[node][0] + 1, node)
                    above.append(parent)
        level = above
    return reached


def _way(tree: Hierarchy, a: int, b: int) -> list[int]:
    """Codes from a up to a common ancestor and down to b, by as few edges as can be; [] when there is none."""
    named = tree.virtual_root in (a, b)  # the caller means it: then it is a node like any other
    above_a, above_b = upwards(tree, a, named), upwards(tree, b, named)
    common = [node for node in above_a if node in above_b]
    if not common:
        return []
    meeting = min(common, key=lambda node: (above_a[node][0] + above_b[node][0], -int(tree.level[node]), node))
    return _climb(above_a, meeting) + _climb(above_b, meeting)[-2::-1]


def _climb(reached: dict[int, tuple[int, int]], top: int) -> list[int]:
    """The way up that `reached` describes, from its start to `top`."""
    way = [top]
    for _ in range(reached[top][0]):
        way.append(reached[way[-1]][1])
    return way[::-1]


def _nearest_by_edges(tree: Hierarchy, code: int, k: int) -> list[tuple[int, float]]:
    """The k nodes with the shortest ways by a common ancestor, and their edges; ties by code."""
    found: list[tuple[int, float]] = []
    edges, rising = 0, [code]
    falling: list[int] = []
    seen, climbed = {code}, {code}
    while (rising or falling) and len(found) < k:
        edges += 1
        parents = {parent for node in rising for parent in tree.parents_of(node).tolist()} - climbed
        if code != tree.virtual_root:
            parents.discard(tree.virtual_root)
        children = {child for node in (*rising, *falling) for child in tree.children_of(node).tolist()}
        climbed |= parents
        rising, falling = sorted(parents), sorted(children - seen - parents)
        found += [(node, float(edges)) for node in sorted((parents | set(falling)) - seen)]
        seen |= parents | set(falling)
    return found[:k]
