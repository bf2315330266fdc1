"""Answers to questions about many nodes at once; `_questions` asks them for one or many.

Every question is answered from one of two *sources*: ``"geometry"``, distances alone, where the nodes within the reach
of a node are its parents or ancestors (`_above`, `_read_back`); or ``"hierarchy"``, the one the model was made from. A
virtual root, which only joins several roots, is never an answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import NDArray

from ..checks import require_whole
from ..errors import InputError
from ..hierarchy import Hierarchy
from ..hierarchy.metric import PathLengths
from ..hierarchy.search_names import Match, search_names
from ..nearest import nearest_kept, nearest_nodes, nodes_within_reach
from ..types import Floats, Ints, Mask, Source
from ._above import Above, shown_above, shown_parents, upwards
from ._filters import Filters, KeptByFilters
from ._similarity import Similarity, similarities

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
    embedding: Embedding, names: Sequence[Hashable], k: int, source: Source, filters: Filters | None = None
) -> list[list[tuple[Hashable, float]]]:
    """The k nearest other nodes of each that filters keep, with distances; from the hierarchy, by lengths or edges."""
    require_whole("k", k, 1)
    codes = _codes(embedding, names)
    kept = KeptByFilters(embedding.hierarchy, filters) if filters else None
    if _checked(source) == "hierarchy":
        nearest_in_tree = _nearest_by_edges if embedding.hierarchy.parent_weight is None else _nearest_by_lengths
        found = [nearest_in_tree(embedding.hierarchy, int(code), int(k), kept) for code in codes]
        return [[(embedding.names[node], edges) for node, edges in row] for row in found]
    most = min(int(k), len(embedding))
    nearest: Iterable[Ints] = (
        nearest_nodes(embedding, codes, most) if kept is None else nearest_kept(embedding, codes, most, kept)
    )
    rows = [row[row >= 0] for row in nearest]
    near, counts = np.concatenate([np.empty(0, np.int64), *rows]), [row.size for row in rows]
    far = embedding.distances_between(np.repeat(codes, counts), near)
    order = np.lexsort((near, far, np.repeat(np.arange(codes.size), counts)))
    answers = zip(embedding.names.take(near[order]), far[order].tolist(), strict=True)
    return [list(islice(answers, count)) for count in counts]


def distance(embedding: Embedding, first: Sequence[Hashable], second: Sequence[Hashable], source: Source) -> Floats:
    """Distances of pairs of nodes; from the hierarchy, by lengths or edges, inf where nothing joins them."""
    a, b = _codes(embedding, first), _codes(embedding, second)
    if _checked(source) == "geometry":
        return embedding.distances_between(a, b)
    if embedding.hierarchy.parent_weight is not None:
        return PathLengths(embedding.hierarchy).by_way_of_nodes(a, b)
    ways = (_way(embedding.hierarchy, int(x), int(y)) for x, y in zip(a, b, strict=True))
    return np.array([len(way) - 1 if way else math.inf for way in ways], np.float64)


def parent_of(embedding: Embedding, names: Sequence[Hashable], source: Source) -> list[Hashable | None]:
    """The nearest of the parents; from the hierarchy, the first. None where there is none but a virtual root."""
    return [parents[0] if parents else None for parents in parents_of(embedding, names, source)]


def parents_of(embedding: Embedding, names: Sequence[Hashable], source: Source) -> list[list[Hashable]]:
    """All parents, the nearest first; from the hierarchy, in its order."""
    codes = _codes(embedding, names)
    if _checked(source) == "hierarchy":
        found = [embedding.hierarchy.parents_of(code) for code in codes.tolist()]
    else:
        shown = shown_parents(embedding, codes)
        found = [shown[code] for code in codes.tolist()]
    return [embedding.names.take(parents[parents != _no_answer(embedding)]) for parents in found]


def children_of(embedding: Embedding, names: Sequence[Hashable], source: Source) -> list[list[Hashable]]:
    """The nodes that hang from each, in the order of the model."""
    tree = _tree(embedding, source)
    return [tree.names.take(tree.children_of(code)) for code in _codes(embedding, names).tolist()]


def ancestors_of(embedding: Embedding, names: Sequence[Hashable], source: Source) -> list[list[Hashable]]:
    """All nodes above each, those by the fewest edges first."""
    codes = _codes(embedding, names)
    tree = _above(embedding, source, codes)
    ways = [upwards(tree, code) for code in codes.tolist()]
    if source == "hierarchy" or embedding.objective == "parents":
        return [embedding.names.take(list(way)[1:]) for way in ways]
    within = _within(embedding, codes)
    answers = []
    for code, way in zip(codes.tolist(), ways, strict=True):
        edges = {above: way[above][0] if above in way else math.inf for above in within[code]}
        answers.append(embedding.names.take(sorted(edges, key=edges.__getitem__)))
    return answers


def is_ancestor(
    embedding: Embedding, ancestors: Sequence[Hashable], names: Sequence[Hashable], source: Source
) -> list[Ancestry]:
    """Whether each of `ancestors` is one of the node beside it; a node is not its own."""
    above, below = _codes(embedding, ancestors), _codes(embedding, names)
    if _checked(source) == "hierarchy":
        holds = embedding.hierarchy.is_ancestor(above, below)
        score = holds.astype(np.float64)
    else:
        holds = _has_ancestors(embedding, above, below)
        radius_above, radius_below = (embedding.radii_of(codes) for codes in (above, below))
        detour = embedding.distances_between(below, above) + radius_above - radius_below
        score = np.where(above == below, 0.0, np.exp(-np.maximum(detour, 0.0)))
    return [Ancestry(*pair) for pair in zip(holds.tolist(), score.tolist(), strict=True)]


def common_ancestor(
    embedding: Embedding, first: Sequence[Hashable], second: Sequence[Hashable], source: Source
) -> list[Hashable | None]:
    """The nearest node that is above both or one of them; None when only a virtual root is."""
    a, b = _codes(embedding, first), _codes(embedding, second)
    common = _above(embedding, source, a, b).common_ancestor(a, b).tolist()
    return [None if code == embedding.hierarchy.virtual_root else embedding.names[code] for code in common]


def path(
    embedding: Embedding, first: Sequence[Hashable], second: Sequence[Hashable], source: Source
) -> list[list[Hashable]]:
    """The way from each node up to a common ancestor and down to the other; empty when only a virtual root joins them.

    In a DAG the shortest such way.
    """
    a, b = _codes(embedding, first), _codes(embedding, second)
    tree = _above(embedding, source, a, b)
    return [embedding.names.take(_way(tree, x, y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]


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


def further_parents(
    rows: Sequence[tuple[int, int]], parents_of: Callable[[int], Iterable[int]]
) -> dict[int, list[int]]:
    """Parents that an outline does not show, by node: all but the node that the row is below.

    Parameters
    ----------
    rows
        Nodes and levels of an outline, in preorder. The first node is the one that was asked about.
    parents_of
        Gives all parents of a node.
    """
    path: list[int] = []  # the nodes above the present row
    found: dict[int, list[int]] = {}
    for node, level in rows:
        others = [int(one) for one in parents_of(node) if level and one != path[level - 1]]
        if others:
            found[node] = others
        path[level:] = [node]
    return found


def similarity(embedding: Embedding, first: Sequence[Hashable], second: Sequence[Hashable]) -> list[Similarity]:
    """How similar the two nodes of each pair are, by the hierarchy, and their distances."""
    return similarities(embedding, _codes(embedding, first), _codes(embedding, second))


def search(embedding: Embedding, texts: Sequence[str], k: int) -> list[list[Match]]:
    """The best matches of each text among ids, labels and synonyms."""
    left_out = embedding.hierarchy.virtual_root
    return [search_names(embedding.names, text, k, leave_out=left_out) for text in texts]


# ---- how ----


def _checked(source: Source) -> Source:
    if source not in get_args(Source):
        raise InputError(f"source must be geometry or hierarchy, not {source!r}")
    return source


def _tree(embedding: Embedding, source: Source) -> Hierarchy:
    return embedding.hierarchy if _checked(source) == "hierarchy" else embedding.read_back()


def _above(embedding: Embedding, source: Source, *codes: Ints) -> Hierarchy | Above:
    """What answers questions about nodes above some: they need not know of all others."""
    if _checked(source) == "hierarchy":
        return embedding.hierarchy
    return shown_above(embedding, np.concatenate(codes))


def _within(embedding: Embedding, codes: Ints) -> dict[int, list[int]]:
    """The nodes within the reach of some, without a virtual root, the nearest first."""
    ptr, found = nodes_within_reach(embedding, codes)
    real = found != _no_answer(embedding)
    return {
        code: found[begin:end][real[begin:end]].tolist()
        for code, begin, end in zip(codes.tolist(), ptr[:-1].tolist(), ptr[1:].tolist(), strict=True)
    }


def _has_ancestors(embedding: Embedding, above: Ints, below: Ints) -> Mask:
    """Whether geometry shows each of `above` above the one of `below` beside it, (m,)."""
    if embedding.objective == "parents":
        return _above(embedding, "geometry", below).is_ancestor(above, below)
    nodes, place = np.unique(below, return_inverse=True)
    ptr, found = nodes_within_reach(embedding, nodes)
    owner = np.repeat(np.arange(nodes.size), np.diff(ptr))
    return np.isin(place * len(embedding) + above, owner * len(embedding) + found)


def _no_answer(embedding: Embedding) -> int:
    """The code of a virtual root; that of no node if there is none."""
    return -1 if embedding.hierarchy.virtual_root is None else embedding.hierarchy.virtual_root


def _codes(embedding: Embedding, names: Sequence[Hashable]) -> NDArray[np.int64]:
    # find_many makes a table of all names for arrow text: for a few, single look-ups are cheaper.
    if len(names) <= 4:
        return np.array([embedding.names.find(name) for name in names], np.int64)
    return embedding.names.find_many(names).astype(np.int64)


def _way(tree: Hierarchy | Above, a: int, b: int) -> list[int]:
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


def _nearest_by_lengths(tree: Hierarchy, code: int, k: int, kept: KeptByFilters | None) -> list[tuple[int, float]]:
    """The k kept nodes with the shortest paths, and their lengths; ties by code."""
    far = PathLengths(tree).to_all(code)
    others = np.delete(np.arange(tree.n_nodes), [code] if tree.virtual_root is None else [code, tree.virtual_root])
    others = others[np.isfinite(far[others])]
    others = others if kept is None else others[kept.keeps(code, others)]
    nearest = others[np.lexsort((others, far[others]))][:k]
    return [(node, float(far[node])) for node in nearest.tolist()]


def _nearest_by_edges(tree: Hierarchy, code: int, k: int, kept: KeptByFilters | None) -> list[tuple[int, float]]:
    """The k kept nodes with the shortest ways by a common ancestor, and their edges; ties by code."""
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
        new = np.array(sorted((parents | set(falling)) - seen), np.int64)
        new = new if kept is None else new[kept.keeps(code, new)]
        found += [(node, float(edges)) for node in new.tolist()]
        seen |= parents | set(falling)
    return found[:k]
