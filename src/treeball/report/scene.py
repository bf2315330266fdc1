"""What a picture of the disk shows: places, edges, ill pairs, sizes and colour groups, as plain arrays."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..geometry import poincare
from ..hierarchy import Hierarchy
from ..types import Floats, Ints, Mask
from .groups import Colouring, groups_of
from .spread import Lines, Placed, Projection, require_plane, shows_vectors, spread_disk, spread_tree, suitable

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..evaluation import Evaluation


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
        What each colour stands for; the last is for all that belong to none.
    legend : str
        What the colours stand for.
    is_scale : bool
        Whether the groups are steps of a scale, from low to high.
    ill_node, ill_positive, ill_kind : int64 (ill,)
        The ill pairs whose two nodes are shown.
    hidden_ill : int
        Ill pairs left out because a node of theirs is not shown.
    lines : "geodesics", "straight" or "spread"
        How edges run: as the space has them, Euclidean ones straight, or from one distance to the next in a disk that
        is spread out.
    reach : float
        In a disk that is spread out, the distance from the centre at which the rim is.
    """

    points: Floats
    nodes: Ints
    child: Ints
    parent: Ints
    extent: Ints
    group: Ints
    group_names: tuple[str, ...]
    legend: str
    is_scale: bool
    ill_node: Ints
    ill_positive: Ints
    ill_kind: Ints
    hidden_ill: int
    lines: Lines = "geodesics"
    reach: float = 0.0


def disk_points(embedding: Embedding) -> Floats:
    """Places (n, 2) in the Poincaré disk; refuses other dimensions and Euclidean vectors."""
    require_plane(embedding)
    return embedding.ball()


def make_scene(
    embedding: Embedding,
    evaluation: Evaluation | None,
    *,
    focus: Hashable | None = None,
    depth: int | None = None,
    colouring: Colouring = "subtree",
    projection: Projection | None = "disk",
) -> Scene:
    """Choose what to show: everything, or `depth` levels below the focus; the focus moves to the centre.

    Without a `projection` it is the Poincaré disk for 2-d vectors that are to be seen in it, else one spread out.
    """
    hierarchy, ill = embedding.hierarchy, _ill_pairs(evaluation)
    top, shown = _part(hierarchy, focus, depth)
    if projection != "disk" and not shows_vectors(embedding):
        return _scene(hierarchy, spread_tree(embedding, top, shown), ill, top, shown, colouring)
    points = disk_points(embedding)
    points = points if focus is None else poincare.recentre(points, points[top])
    placed = Placed(points, "geodesics")
    if (projection or suitable(points[shown])) == "spread":
        placed = spread_disk(points, shown)
    return _scene(hierarchy, placed, ill, top, shown, colouring)


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
    top, shown = _part(hierarchy, focus, depth)
    if focus is not None:
        points = points - points[top] if flat else poincare.recentre(points, points[top])
    return _scene(hierarchy, Placed(points, "straight" if flat else "geodesics"), ill, top, shown, colouring)


def _part(hierarchy: Hierarchy, focus: Hashable | None, depth: int | None) -> tuple[int, Mask]:
    """The node in the centre, and which nodes (n,) are shown."""
    top = hierarchy.root if focus is None else hierarchy.names.find(focus)
    if depth is None:
        return top, np.ones(hierarchy.n_nodes, np.bool_)
    if depth < 1:
        raise InputError(f"depth must be at least 1, not {depth}: it is the number of levels to show")
    return top, np.asarray(levels_below(hierarchy, top, depth) >= 0)


def _scene(
    hierarchy: Hierarchy,
    placed: Placed,
    ill: tuple[Ints, Ints, Ints],
    top: int,
    shown: Mask,
    colouring: Colouring,
) -> Scene:
    extent = (hierarchy.interval_out - hierarchy.interval_in).astype(np.int64)
    nodes = np.flatnonzero(shown)
    child, parent = (codes.astype(np.int64) for codes in hierarchy.edges())
    both = shown[child] & shown[parent]
    node, positive, kind = ill
    visible = shown[node] & shown[positive]
    groups = groups_of(hierarchy, colouring, shown, hierarchy.root if shown.all() else top)
    return Scene(
        points=placed.points,
        nodes=nodes[np.argsort(-extent[nodes], kind="stable")],
        child=child[both],
        parent=parent[both],
        extent=extent,
        group=groups.group,
        group_names=groups.names,
        legend=groups.legend,
        is_scale=groups.is_scale,
        ill_node=node[visible],
        ill_positive=positive[visible],
        ill_kind=kind[visible],
        hidden_ill=int(np.count_nonzero(~visible)),
        lines=placed.lines,
        reach=placed.reach,
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


def densest_window(scene: Scene, half_width: float) -> tuple[float, float]:
    """Centre of the square of a half width in which the most ill pairs end; that with the most nodes if none is ill.

    The best of the squares centred on such an end, moved to the middle of what it holds.
    """
    ends = np.concatenate([scene.ill_node, scene.ill_positive]) if scene.ill_node.size else scene.nodes
    places = scene.points[ends]
    best: Mask = np.zeros(len(places), bool)
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
