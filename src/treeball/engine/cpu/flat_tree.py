"""Compiled passes that lay out a hierarchy of a hundred million nodes: int32 arrays, a few of them at a time.

Edges are codes child -> parent. In the end nodes are numbered by *place*: parents before children, every subtree in one
piece, and of siblings the tallest first.
"""

from __future__ import annotations

import numpy as np

from .compiler import compiled


@compiled
def codes_of(hashes, sorted_hashes):
    """Where each hash is in the sorted, distinct ones, int32 (m,), by a guess that is near because they are uniform."""
    codes = np.empty(hashes.size, np.int32)
    n = sorted_hashes.size
    scale = n / 18446744073709551616.0
    for i in range(hashes.size):
        h = hashes[i]
        at = min(n - 1, int(float(h) * scale))
        step = 64
        low, high = at, at
        while low > 0 and sorted_hashes[low] > h:
            low = max(0, low - step)
            step *= 2
        step = 64
        while high < n - 1 and sorted_hashes[high] < h:
            high = min(n - 1, high + step)
            step *= 2
        while low < high:
            middle = (low + high) // 2
            if sorted_hashes[middle] < h:
                low = middle + 1
            else:
                high = middle
        codes[i] = low if sorted_hashes[low] == h else -1
    return codes


@compiled
def first_conflict(codes, check, known, seen):
    """Enter check words (m,) of nodes into `known` (n,); -> the first that is not as `seen` before, or -1."""
    for i in range(codes.size):
        code = codes[i]
        if code < 0:
            continue
        if not seen[code]:
            seen[code] = True
            known[code] = check[i]
        elif known[code] != check[i]:
            return i
    return -1


@compiled
def group_by(n, key, keep):
    """Stable counting sort of kept edges by `key` (m,): pointers int32 (n+1,) and edge numbers int32."""
    pointers = np.zeros(n + 1, np.int32)
    for edge in range(key.size):
        if keep[edge]:
            pointers[key[edge] + 1] += 1
    for node in range(n):
        pointers[node + 1] += pointers[node]
    order = np.empty(pointers[n], np.int32)
    for edge in range(key.size):
        if keep[edge]:
            node = key[edge]
            order[pointers[node]] = edge
            pointers[node] += 1
    for node in range(n, 0, -1):
        pointers[node] = pointers[node - 1]
    pointers[0] = 0
    return pointers, order


@compiled
def drop_repeats(pointers, order, parent, keep):
    """Clear `keep` for edges that repeat an earlier one of the same child; -> how many."""
    dropped = 0
    for node in range(pointers.size - 1):
        for i in range(pointers[node] + 1, pointers[node + 1]):
            for j in range(pointers[node], i):
                if parent[order[j]] == parent[order[i]] and keep[order[j]]:
                    keep[order[i]] = False
                    dropped += 1
                    break
    return dropped


@compiled
def peel(pointers, order, parent, keep):
    """Nodes in an order in which children come before all their parents, int32, and how many.

    Leaves are taken off one after the other; what is left is on cycles or above them.
    """
    n = pointers.size - 1
    waiting = np.zeros(n, np.int32)
    for node in range(n):
        for i in range(pointers[node], pointers[node + 1]):
            if keep[order[i]]:
                waiting[parent[order[i]]] += 1
    queue = np.empty(n, np.int32)
    filled = 0
    for node in range(n):
        if waiting[node] == 0:
            queue[filled] = node
            filled += 1
    done = 0
    while done < filled:
        node = queue[done]
        done += 1
        for i in range(pointers[node], pointers[node + 1]):
            if keep[order[i]]:
                above = parent[order[i]]
                waiting[above] -= 1
                if waiting[above] == 0:
                    queue[filled] = above
                    filled += 1
    return queue, filled


@compiled
def deepest_parents(pointers, order, parent, keep, queue):
    """The parent of every node that is farthest from the root, int32 (n,), -1 for roots.

    Of several it is that with the fewest children, which has more room, and of these the first.
    """
    n = queue.size
    children = np.zeros(n, np.int32)
    for row in range(parent.size):
        if keep[row]:
            children[parent[row]] += 1
    depth = np.zeros(n, np.int32)
    primary = np.full(n, -1, np.int32)
    for rank in range(n - 1, -1, -1):
        node = queue[rank]
        best = -1
        for i in range(pointers[node], pointers[node + 1]):
            if keep[order[i]]:
                above = parent[order[i]]
                if depth[above] > best or (depth[above] == best and children[above] < children[primary[node]]):
                    best = depth[above]
                    primary[node] = above
        depth[node] = best + 1
    return primary


@compiled
def heights_and_sizes(queue, primary):
    """Longest way down and number of nodes of each subtree, int32 (n,) each; children come first in the queue."""
    height, size = np.zeros(queue.size, np.int32), np.ones(queue.size, np.int32)
    for rank in range(queue.size):
        node = queue[rank]
        above = primary[node]
        if above >= 0:
            height[above] = max(height[above], height[node] + 1)
            size[above] += size[node]
    return height, size


@compiled
def by_height(height):
    """Nodes by falling height, of equal height by code, int32 (n,)."""
    most = 0
    for node in range(height.size):
        most = max(most, height[node])
    start = np.zeros(most + 2, np.int64)
    for node in range(height.size):
        start[most - height[node] + 1] += 1
    for level in range(most + 1):
        start[level + 1] += start[level]
    order = np.empty(height.size, np.int32)
    for node in range(height.size):
        level = most - height[node]
        order[start[level]] = node
        start[level] += 1
    return order


@compiled
def places_of(tallest_first, queue, primary, size, root):
    """The place of each node, int32 (n,): subtrees in one piece, of siblings the tallest first."""
    place = np.zeros(queue.size, np.int32)
    # `place` holds how far behind its parent a node is, until its parent has a place of its own.
    taken = np.ones(queue.size, np.int32)
    for rank in range(queue.size):
        node = tallest_first[rank]
        above = primary[node]
        if above >= 0:
            place[node] = taken[above]
            taken[above] += size[node]
    place[root] = 0
    for rank in range(queue.size - 1, -1, -1):
        node = queue[rank]
        above = primary[node]
        if above >= 0:
            place[node] += place[above]
    return place


@compiled
def children_at(place, size, most=2**31 - 1):
    """Places of the first children of the node at `place`, int32 (k,), given the sizes of all subtrees by place."""
    end, count = place + size[place], 0
    child = place + 1
    while child < end and count < most:
        count += 1
        child += size[child]
    found = np.empty(count, np.int32)
    child = place + 1
    for i in range(count):
        found[i] = child
        child += size[child]
    return found


@compiled
def child_counts(parent):
    """Number of children by place, int32 (n,)."""
    counts = np.zeros(parent.size, np.int32)
    for place in range(1, parent.size):
        counts[parent[place]] += 1
    return counts
