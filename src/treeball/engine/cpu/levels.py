"""Compiled passes along a topological order: depths, heights, intervals of subtrees and ways up.

``order`` (n,) always holds every parent before its children; ``primary`` (n,) is the primary parent, -1 for
the root.
"""

from __future__ import annotations

import numpy as np

from ...types import Codes, Pointers
from .compiler import compiled


@compiled
def depth_and_level(order: Codes, parent_ptr: Pointers, parent_idx: Codes) -> tuple[Codes, Codes]:
    """Shortest and longest distance in edges from the root, each (n,)."""
    depth = np.zeros(order.size, np.int32)
    level = np.zeros(order.size, np.int32)
    for rank in range(order.size):
        node = order[rank]
        first, end = parent_ptr[node], parent_ptr[node + 1]
        if first == end:
            continue
        shortest = depth[parent_idx[first]]
        longest = level[parent_idx[first]]
        for position in range(first + 1, end):
            shortest = min(shortest, depth[parent_idx[position]])
            longest = max(longest, level[parent_idx[position]])
        depth[node] = shortest + 1
        level[node] = longest + 1
    return depth, level


@compiled
def height_above_leaves(order: Codes, parent_ptr: Pointers, parent_idx: Codes) -> Codes:
    """Longest path down to a leaf (n,), 0 for leaves."""
    height = np.zeros(order.size, np.int32)
    for rank in range(order.size - 1, -1, -1):
        node = order[rank]
        for position in range(parent_ptr[node], parent_ptr[node + 1]):
            parent = parent_idx[position]
            height[parent] = max(height[parent], height[node] + 1)
    return height


@compiled
def euler_intervals(order: Codes, primary: Codes) -> tuple[Codes, Codes]:
    """Preorder number and end of the subtree, each (n,), in the tree of primary parents (-1 above the root).

    The sizes of the subtrees come first; then each node, parents before children, takes the next free stretch
    of its parent's interval. No depth-first walk is needed.
    """
    n = order.size
    size = np.ones(n, np.int32)
    for rank in range(n - 1, 0, -1):
        node = order[rank]
        size[primary[node]] += size[node]
    start = np.zeros(n, np.int32)
    end = np.empty(n, np.int32)
    free = np.zeros(n, np.int32)
    for rank in range(n):
        node = order[rank]
        if rank > 0:
            parent = primary[node]
            start[node] = free[parent]
            free[parent] += size[node]
        free[node] = start[node] + 1
        end[node] = start[node] + size[node]
    return start, end


@compiled
def fragment_tops(order: Codes, parent_ptr: Pointers, parent_idx: Codes) -> Codes:
    """Top (n,) of the fragment of each node: the nearest ancestor-or-self without exactly one parent."""
    top = np.empty(order.size, np.int32)
    for rank in range(order.size):
        node = order[rank]
        first = parent_ptr[node]
        top[node] = top[parent_idx[first]] if parent_ptr[node + 1] - first == 1 else node
    return top


@compiled
def heavy_path_heads(order: Codes, primary: Codes, start: Codes, end: Codes) -> Codes:
    """Topmost node (n,) of the heavy path through each node of the primary-parent tree.

    A heavy path follows the child with the largest subtree, so a climb to the root changes path at most
    log2(n) times, in a chain of a million nodes not once.
    """
    heavy = np.full(order.size, -1, np.int32)
    for rank in range(1, order.size):
        node = order[rank]
        rival = heavy[primary[node]]
        if rival < 0 or end[node] - start[node] > end[rival] - start[rival]:
            heavy[primary[node]] = node
    head = np.empty(order.size, np.int32)
    for rank in range(order.size):
        node = order[rank]
        head[node] = head[primary[node]] if rank > 0 and heavy[primary[node]] == node else node
    return head
