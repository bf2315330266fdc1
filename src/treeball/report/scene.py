"""What a picture of the disk shows: places, edges, ill pairs, sizes and colour groups, as plain arrays."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..geometry import poincare
from ..hierarchy import Hierarchy
from ..types import Floats, Ints

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..evaluation import Evaluation

Colouring = Literal["subtree", "depth"]

MOST_SUBTREES = 6
MOST_DEPTHS = 8
_DOMINANT = 0.7
_LONGEST_NAME = 26


@dataclass(frozen=True)
class Scene:
    """The shown part of an embedding in the disk.

    Attributes
    ----------
    points : float64 (n, 2)
        Places in the disk of all nodes, shown or not.
    nodes : int64 (k,)
        The nodes shown, the largest subtrees first.
    child, parent : int64 (m,)
        Edges between shown nodes.
    extent : int64 (n,)
        Number of nodes in the subtree of each node, itself included.
    group : int64 (n,)
        Index into `group_names`.
    group_names : tuple of str
        Names of the subtrees or depths that colours stand for; the last is "other" if some node belongs to none.
    colouring : "subtree" or "depth"
    ill_node, ill_positive, ill_kind : int64 (ill,)
        The ill pairs whose two nodes are shown.
    hidden_ill : int
        Ill pairs left out because a node of theirs is not shown.
    flat : bool
        Whether the space is Euclidean, so that edges are straight.
    """

    points: Floats
    nodes: Ints
    child: Ints
    parent: Ints
    extent: Ints
    group: Ints
    group_names: tuple[str, ...]
    colouring: Colouring
    ill_node: Ints
    ill_positive: Ints
    ill_kind: Ints
    hidden_ill: int
    flat: bool = False


def disk_points(embedding: Embedding) -> Floats:
    """Places (n, 2) in the Poincaré disk; refuses other dimensions and Euclidean vectors."""
    if embedding.dim != 2:
        raise InputError(
            f"the disk shows 2 dimensions and this embedding has {embedding.dim}: fit one with dim 2 "
            "(treeball fit ... --dim 2), or plot its training with --trace"
        )
    if not embedding.space.is_hyperbolic:
        raise InputError(
            "these vectors are Euclidean, and the disk shows hyperbolic ones: fit with the method poincare, lorentz "
            "or another that is not euclidean"
        )
    return embedding.ball()


def make_scene(
    embedding: Embedding,
    evaluation: Evaluation | None,
    *,
    focus: Hashable | None = None,
    depth: int | None = None,
    colouring: Colouring = "subtree",
) -> Scene:
    """Choose what to show: everything, or `depth` levels below the focus; the focus moves to the centre."""
    return scene_of(
        embedding.hierarchy,
        disk_points(embedding),
        _ill_pairs(evaluation),
        focus=focus,
        depth=depth,
        colouring=colouring,
    )


def scene_of(
    hierarchy: Hierarchy,
    points: Floats,
    ill: tuple[Ints, Ints, Ints],
    *,
    focus: Hashable | None = None,
    depth: int | None = None,
    colouring: Colouring = "subtree",
    flat: bool = False,
) -> Scene:
    """The scene of places (n, 2) in the disk and of ill pairs: nodes, positives and kinds."""
    top = hierarchy.root
    if focus is not None:
        top = hierarchy.names.find(focus)
        points = points - points[top] if flat else poincare.recentre(points, points[top])
    shown = np.ones(hierarchy.n_nodes, bool)
    if depth is not None:
        if depth < 1:
            raise InputError(f"depth must be at least 1, not {depth}: it is the number of levels to show")
        shown = levels_below(hierarchy, top, depth) >= 0
    extent = (hierarchy.interval_out - hierarchy.interval_in).astype(np.int64)
    nodes = np.flatnonzero(shown)
    child, parent = (codes.astype(np.int64) for codes in hierarchy.edges())
    both = shown[child] & shown[parent]
    node, positive, kind = ill
    visible = shown[node] & shown[positive]
    if colouring == "depth":
        group, group_names = _by_depth(hierarchy, shown)
    else:
        group, group_names = _by_subtree(hierarchy, shown, hierarchy.root if depth is None else top)
    return Scene(
        points=points,
        nodes=nodes[np.argsort(-extent[nodes], kind="stable")],
        child=child[both],
        parent=parent[both],
        extent=extent,
        group=group,
        group_names=group_names,
        colouring=colouring,
        ill_node=node[visible],
        ill_positive=positive[visible],
        ill_kind=kind[visible],
        hidden_ill=int(np.count_nonzero(~visible)),
        flat=flat,
    )


def levels_below(hierarchy: Hierarchy, top: int, most: int) -> Ints:
    """Fewest edges down from `top` to each node (n,), -1 beyond `most` levels or where no path leads."""
    level = np.full(hierarchy.n_nodes, -1, np.int64)
    level[top] = 0
    frontier = np.array([top])
    for step in range(1, most + 1):
        counts = hierarchy.child_ptr[frontier + 1] - hierarchy.child_ptr[frontier]
        before = np.cumsum(counts) - counts
        slots = np.repeat(hierarchy.child_ptr[frontier] - before, counts) + np.arange(counts.sum())
        reached = np.unique(hierarchy.child_idx[slots])
        frontier = reached[level[reached] < 0].astype(np.int64)
        if not frontier.size:
            break
        level[frontier] = step
    return level


def display_name(name: Hashable) -> str:
    """A name fit for a label: words of a WordNet synset, and never longer than a few words."""
    text = re.sub(r"\.[nvasr]\.\d+$", "", str(name))
    if text != str(name):
        text = text.replace("_", " ")
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1].rstrip() + "…"


def densest_window(scene: Scene, half_width: float) -> tuple[float, float]:
    """Centre of the square of a half width in which the most ill pairs end; that with the most nodes if none is ill.

    The best of the squares centred on such an end, moved to the middle of what it holds.
    """
    ends = np.concatenate([scene.ill_node, scene.ill_positive]) if scene.ill_node.size else scene.nodes
    places = scene.points[ends]
    best: NDArray[np.bool_] = np.zeros(len(places), bool)
    for centre in places[:: max(1, len(places) // 500)]:
        inside = np.asarray((np.abs(places - centre) <= half_width).all(axis=1))
        if inside.sum() > best.sum():
            best = inside
    held = places[best]
    x, y = (held.min(axis=0) + held.max(axis=0)) / 2
    return float(x), float(y)


def _ill_pairs(evaluation: Evaluation | None) -> tuple[Ints, Ints, Ints]:
    if evaluation is None:
        none = np.empty(0, np.int64)
        return none, none, none
    illness = evaluation.illness
    return illness.node, illness.positive, illness.kind.astype(np.int64)


def group_by_subtree(hierarchy: Hierarchy) -> tuple[Ints, tuple[str, ...]]:
    """Colour group (n,) of every node, by the largest branches below the root, and the names of the groups."""
    return _by_subtree(hierarchy, np.ones(hierarchy.n_nodes, bool), hierarchy.root)


def _by_subtree(hierarchy: Hierarchy, shown: NDArray[np.bool_], top: int) -> tuple[Ints, tuple[str, ...]]:
    """The largest branches below `top`, or below its one dominant branch: a root with a single child tells nothing."""
    start, end = hierarchy.interval_in, hierarchy.interval_out
    before = np.concatenate([[0], np.cumsum(shown[np.argsort(start)])])
    size = before[end] - before[start]  # shown nodes only

    def branches(node: int) -> Ints:
        children = hierarchy.children_of(node)
        own = children[(hierarchy.primary_parent[children] == node) & shown[children]]
        return np.asarray(own[np.argsort(-size[own], kind="stable")], np.int64)

    below = branches(top)
    while below.size and size[below[0]] > _DOMINANT * shown.sum() and branches(int(below[0])).size > 1:
        below = branches(int(below[0]))
    below = below[:MOST_SUBTREES]
    group = np.full(hierarchy.n_nodes, len(below), np.int64)
    for number, branch in enumerate(below):
        group[(start >= start[branch]) & (start < end[branch])] = number
    names = tuple(display_name(name) for name in hierarchy.names.called(below))
    return group, (*names, "other")


def _by_depth(hierarchy: Hierarchy, shown: NDArray[np.bool_]) -> tuple[Ints, tuple[str, ...]]:
    """Depth from the root; the deepest levels share a colour."""
    first = int(hierarchy.depth[shown].min())
    deepest = int(hierarchy.depth[shown].max()) - first
    group = np.clip(hierarchy.depth - first, 0, MOST_DEPTHS - 1).astype(np.int64)
    names = [f"{first + level}" for level in range(min(deepest, MOST_DEPTHS - 1) + 1)]
    if deepest >= MOST_DEPTHS:
        names[-1] += " and more"
    return group, tuple(names)
