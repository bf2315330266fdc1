"""A tree with lengths, rooted at its metric centre: the middle of its longest path, which may lie on an edge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..engine.cpu.shortest_paths import nearest_by_path, shortest_paths
from ..geometry.directions import even_directions, ordered_directions
from ..hierarchy import Hierarchy
from ..hierarchy.metric import Graph, edge_lengths
from ..types import Floats, Ints

__all__ = ["CentredTree", "centred"]


@dataclass(frozen=True)
class CentredTree:
    """A tree with lengths, rooted at its metric centre; nodes with no length between them are one.

    Attributes
    ----------
    group : int64 (n,), which node of this tree each node of the hierarchy is
    order : int32 (m,), all nodes, the nearest to the centre first
    parent : int32 (m,), -1 for the centre
    length : float64 (m,), of the edge to the parent; 0 for the centre
    depth : float64 (m,), distance from the centre
    child_ptr, child_idx : children, the main one, which has the most below it, first
    nodes : how many are nodes of the hierarchy; the centre may be a point on an edge, and then comes last
    """

    group: Ints
    order: Ints
    parent: Ints
    length: Floats
    depth: Floats
    child_ptr: Ints
    child_idx: Ints
    nodes: int

    def near(self, count: int) -> tuple[Ints, Floats]:
        """The `count` nodes nearest to each by paths, -1 where there are no more, and how far they are."""
        below = np.flatnonzero(self.parent >= 0)
        graph = Graph.of(self.order.size, below, self.parent[below], self.length[below])
        near, far = nearest_by_path(*graph, count)
        return near, far

    @cached_property
    def below(self) -> Floats:
        """Longest way down from each node."""
        below = np.zeros(self.order.size)
        for node in self.order[:0:-1].tolist():
            above = self.parent[node]
            below[above] = max(below[above], below[node] + self.length[node])
        return below

    def fans(self, dim: int) -> tuple[Ints, Floats]:
        """Directions for every number of children: those of k of them begin at row pointers[k + 1]."""
        counts = np.diff(self.child_ptr)
        most = int(counts.max(initial=0)) + 1
        pointers, rows, end = np.zeros(most + 2, np.int64), [np.zeros((0, dim))], 0
        # One child of the centre stands where others have their parent.
        for size in np.unique([*(counts + 1).tolist(), int(counts[self.order[0]])]).tolist():
            if size < 3:
                continue
            fan = even_directions(size, dim) if dim == 2 else ordered_directions(size, dim)
            pointers[size] = end
            rows.append(fan)
            end += len(fan)
        return pointers, np.concatenate(rows)


def centred(hierarchy: Hierarchy) -> CentredTree:
    """The tree of shortest paths from the metric centre of a hierarchy."""
    child, parent = (codes.astype(np.int64) for codes in hierarchy.edges())
    length = edge_lengths(hierarchy)
    group = _joined(hierarchy.n_nodes, child[length == 0.0], parent[length == 0.0])
    _, group = np.unique(group, return_inverse=True)
    m = int(group.max()) + 1
    first, second = group[child], group[parent]
    kept = first != second
    first, second, length = first[kept], second[kept], length[kept]
    if hierarchy.is_tree:
        first, second, length, centre, size = _with_centre(m, first, second, length)
    else:
        centre, size = _central_node(Graph.of(m, first, second, length)), m
    depth, before, order = shortest_paths(*Graph.of(size, first, second, length), centre)
    edge = np.zeros(size)
    below = before >= 0
    edge[below] = depth[below] - depth[before[below]]
    if hierarchy.is_tree:  # exactly as given
        for a, b in ((first, second), (second, first)):
            is_edge = before[a] == b
            edge[a[is_edge]] = length[is_edge]
    weight = np.ones(size)
    for node in order[:0:-1].tolist():
        weight[before[node]] += weight[node]
    child_idx = np.lexsort((-depth, -weight, before))
    child_idx = child_idx[before[child_idx] >= 0]
    pointers = np.concatenate([[0], np.cumsum(np.bincount(before[child_idx], minlength=size))]).astype(np.int64)
    return CentredTree(group, order, before, edge, depth, pointers, child_idx, m)


def _joined(n: int, first: Ints, second: Ints) -> Ints:
    """Representatives (n,) of the nodes that these pairs join."""
    leader = np.arange(n)

    def find(node: int) -> int:
        while leader[node] != node:
            leader[node] = leader[leader[node]]
            node = leader[node]
        return node

    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        leader[find(a)] = find(b)
    return np.array([find(node) for node in range(n)])


def _longest_path(graph: Graph) -> tuple[Ints, Floats]:
    """Nodes of a longest path of a tree, and how far along each is; of a graph, of a shortest path that is long."""
    far = shortest_paths(*graph, 0)[0]
    far, before, _ = shortest_paths(*graph, int(np.argmax(far)))
    path = [int(np.argmax(far))]
    while before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    nodes = np.array(path[::-1])
    return nodes, far[nodes]


def _with_centre(n: int, first: Ints, second: Ints, length: Floats) -> tuple[Ints, Ints, Floats, int, int]:
    """The edges of a tree, its centre and the number of nodes: one more where the centre is on an edge."""
    path, far = _longest_path(Graph.of(n, first, second, length))
    middle = 0.5 * far[-1]
    place = int(np.searchsorted(far, middle))
    ends = {int(path[place]): abs(far[place] - middle), int(path[place - 1]): abs(far[place - 1] - middle)}
    near = min(ends, key=lambda node: ends[node])
    if ends[near] <= 1e-9 * middle or n < 2:
        return first, second, length, near, n
    a, b = int(path[place - 1]), int(path[place])
    edge = int(np.flatnonzero(((first == a) & (second == b)) | ((first == b) & (second == a)))[0])
    rest = np.arange(first.size) != edge
    return (
        np.concatenate([first[rest], [n, n]]),
        np.concatenate([second[rest], [a, b]]),
        np.concatenate([length[rest], [middle - far[place - 1], far[place] - middle]]),
        n,
        n + 1,
    )


def _central_node(graph: Graph) -> int:
    path, far = _longest_path(graph)
    return int(path[np.argmin(np.abs(far - 0.5 * far[-1]))])
