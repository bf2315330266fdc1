"""Shortest paths in an undirected graph with lengths of edges, given as CSR arrays: each edge in both lists."""

from __future__ import annotations

import heapq

import numpy as np

from .compiler import compiled


@compiled
def shortest_paths(pointers, neighbour, length, start):
    """Distances (n,) from `start`, the node before each on the way (-1 at the start), all nodes, the nearest first."""
    n = pointers.size - 1
    far = np.full(n, np.inf)
    before = np.full(n, -1, np.int32)
    order = np.empty(n, np.int32)
    done = np.zeros(n, np.bool_)
    far[start] = 0.0
    heap = [(0.0, start)]
    count = 0
    while len(heap) > 0:
        way, node = heapq.heappop(heap)
        if done[node]:
            continue
        done[node] = True
        order[count] = node
        count += 1
        for place in range(pointers[node], pointers[node + 1]):
            other = neighbour[place]
            if way + length[place] < far[other]:
                far[other] = way + length[place]
                before[other] = node
                heapq.heappush(heap, (far[other], other))
    return far, before, order[:count]


@compiled
def all_shortest_paths(pointers, neighbour, length):
    """Distances (n, n) of all pairs."""
    n = pointers.size - 1
    far = np.empty((n, n))
    for start in range(n):
        far[start] = shortest_paths(pointers, neighbour, length, np.int64(start))[0]
    return far


@compiled
def nearest_by_path(pointers, neighbour, length, count):
    """The `count` nodes nearest to each by shortest paths, int32 (n, count), -1 where there are no more; how far."""
    n = pointers.size - 1
    near, far = np.full((n, count), -1, np.int32), np.full((n, count), np.inf)
    seen_by = np.full(n, -1, np.int64)
    for start in range(n):
        heap = [(0.0, np.int64(start))]
        found = -1
        while len(heap) > 0 and found < count:
            way, node = heapq.heappop(heap)
            if seen_by[node] == start:
                continue
            seen_by[node] = start
            if found >= 0:
                near[start, found], far[start, found] = node, way
            found += 1
            for place in range(pointers[node], pointers[node + 1]):
                other = neighbour[place]
                if seen_by[other] != start:
                    heapq.heappush(heap, (way + length[place], np.int64(other)))
    return near, far
