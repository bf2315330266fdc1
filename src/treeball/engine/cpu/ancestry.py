"""Compiled questions about ancestors: closure, reduction, ancestor tests and nearest common ancestors.

On a DAG the searches hop from fragment to fragment. A *fragment* is a largest piece in which every node
but the topmost has exactly one parent; a tree is a single fragment. Inside a fragment the Euler intervals of
the primary-parent tree answer at once, so that only nodes with several parents cost anything.
"""

from __future__ import annotations

import numpy as np

from ...types import Codes, Mask, Pointers
from .compiler import compiled


@compiled
def is_parent(parent: Codes, node: Codes, parent_ptr: Pointers, parent_idx: Codes) -> Mask:
    """Whether ``parent[q]`` is a direct parent of ``node[q]``, for q queries."""
    answer = np.zeros(node.size, np.bool_)
    for query in range(node.size):
        for position in range(parent_ptr[node[query]], parent_ptr[node[query] + 1]):
            if parent_idx[position] == parent[query]:
                answer[query] = True
                break
    return answer


@compiled
def is_ancestor(
    ancestor: Codes,
    node: Codes,
    parent_ptr: Pointers,
    parent_idx: Codes,
    level: Codes,
    top: Codes,
    start: Codes,
    end: Codes,
) -> Mask:
    """Whether ``ancestor[q]`` is a proper ancestor of ``node[q]`` by any path, for q queries."""
    answer = np.zeros(node.size, np.bool_)
    asked_by = np.full(top.size, -1, np.int64)
    waiting = np.empty(parent_idx.size + 1, np.int32)
    for query in range(node.size):
        sought = ancestor[query]
        if sought == node[query]:
            continue
        waiting[0] = node[query]
        count = 1
        while count > 0:
            count -= 1
            entry = waiting[count]
            if start[sought] <= start[entry] < end[sought]:
                answer[query] = True
                break
            gate = top[entry]
            # Ancestors have a smaller longest-path level, so nothing above a low gate can be the one sought.
            if asked_by[gate] == query or level[gate] <= level[sought]:
                continue
            asked_by[gate] = query
            for position in range(parent_ptr[gate], parent_ptr[gate + 1]):
                waiting[count] = parent_idx[position]
                count += 1
    return answer


@compiled
def _tree_common(a: int, b: int, primary: Codes, head: Codes, start: Codes) -> int:
    """Nearest common ancestor-or-self in the primary-parent tree."""
    while head[a] != head[b]:
        # The head that comes later in preorder cannot be an ancestor of the other node: leave its path.
        if start[head[a]] > start[head[b]]:
            a = primary[head[a]]
        else:
            b = primary[head[b]]
    return a if start[a] < start[b] else b


@compiled
def _entries_above(
    node: int,
    mark: int,
    parent_ptr: Pointers,
    parent_idx: Codes,
    top: Codes,
    seen: Pointers,
    entries: Codes,
) -> int:
    """Write the nodes at which the ways up from ``node`` enter a fragment; returns how many."""
    entries[0] = node
    count, done = 1, 0
    while done < count:
        gate = top[entries[done]]
        done += 1
        if seen[gate] != mark:
            seen[gate] = mark
            for position in range(parent_ptr[gate], parent_ptr[gate + 1]):
                entries[count] = parent_idx[position]
                count += 1
    return count


@compiled
def common_ancestor(
    a: Codes,
    b: Codes,
    parent_ptr: Pointers,
    parent_idx: Codes,
    level: Codes,
    top: Codes,
    primary: Codes,
    head: Codes,
    start: Codes,
    node_at: Codes,
) -> Codes:
    """Common ancestor-or-self of largest level, smallest code on a tie, of ``a[q]`` and ``b[q]``.

    Every common ancestor lies, in the primary-parent tree, above an entry e of a and an entry f of b, and the
    deepest one is the tree's own common ancestor of e and f. Whatever lies between e and f in preorder shares
    that ancestor with both, so neighbours in preorder that come from different sides are enough.
    """
    answer = np.empty(a.size, np.int32)
    seen = np.full(top.size, -1, np.int64)
    entries = np.empty(parent_idx.size + 1, np.int32)
    keys = np.empty(2 * (parent_idx.size + 1), np.int64)
    for query in range(a.size):
        if top[a[query]] == top[b[query]]:
            answer[query] = _tree_common(a[query], b[query], primary, head, start)
            continue
        count = _entries_above(a[query], 2 * query, parent_ptr, parent_idx, top, seen, entries)
        for slot in range(count):
            keys[slot] = 2 * np.int64(start[entries[slot]])
        both = count + _entries_above(b[query], 2 * query + 1, parent_ptr, parent_idx, top, seen, entries)
        for slot in range(count, both):
            keys[slot] = 2 * np.int64(start[entries[slot - count]]) + 1
        keys[:both].sort()
        best = np.int32(-1)
        for slot in range(both - 1):
            if (keys[slot] ^ keys[slot + 1]) & 1:
                left, right = node_at[keys[slot] >> 1], node_at[keys[slot + 1] >> 1]
                found = _tree_common(left, right, primary, head, start)
                if best < 0 or level[found] > level[best] or (level[found] == level[best] and found < best):
                    best = found
        answer[query] = best
    return answer


@compiled
def implied_edges(order: Codes, parent_ptr: Pointers, parent_idx: Codes, level: Codes) -> Mask:
    """Edges (m,) from a node to a parent that is also an ancestor of another of its parents.

    Nodes come parents first, so each search climbs by edges already known to be needed; it stays below the
    lowest level that can still matter.
    """
    implied = np.zeros(parent_idx.size, np.bool_)
    reached_from = np.full(order.size, -1, np.int32)
    waiting = np.empty(order.size, np.int32)
    for rank in range(order.size):
        node = order[rank]
        first, end = parent_ptr[node], parent_ptr[node + 1]
        if end - first < 2:
            continue
        parent_levels = level[parent_idx[first:end]]
        floor = parent_levels.min()
        for choice in np.argsort(-parent_levels):
            parent = parent_idx[first + choice]
            if reached_from[parent] == node:
                implied[first + choice] = True
                continue
            reached_from[parent] = node
            waiting[0] = parent
            count = 1
            while count > 0:
                count -= 1
                below = waiting[count]
                for position in range(parent_ptr[below], parent_ptr[below + 1]):
                    above = parent_idx[position]
                    if not implied[position] and reached_from[above] != node and level[above] >= floor:
                        reached_from[above] = node
                        waiting[count] = above
                        count += 1
    return implied


@compiled
def count_ancestors(order: Codes, parent_ptr: Pointers, parent_idx: Codes) -> Pointers:
    """Pointers (n+1,) of the closure: how many proper ancestors each node has, summed up."""
    n = order.size
    pointers = np.zeros(n + 1, np.int64)
    reached_from = np.full(n, -1, np.int32)
    waiting = np.empty(n, np.int32)
    for rank in range(n):
        node = order[rank]
        first, end = parent_ptr[node], parent_ptr[node + 1]
        if end - first == 1:
            pointers[node + 1] = pointers[parent_idx[first] + 1] + 1
            continue
        waiting[0] = node
        count, total = 1, -1
        while count > 0:
            count -= 1
            total += 1
            below = waiting[count]
            for position in range(parent_ptr[below], parent_ptr[below + 1]):
                above = parent_idx[position]
                if reached_from[above] != node:
                    reached_from[above] = node
                    waiting[count] = above
                    count += 1
        pointers[node + 1] = total
    for node in range(n):
        pointers[node + 1] += pointers[node]
    return pointers


@compiled
def fill_ancestors(order: Codes, parent_ptr: Pointers, parent_idx: Codes, pointers: Pointers, index: Codes) -> None:
    """Write the closure into ``index`` (pointers[n],): the proper ancestors of each node, ascending."""
    listed_for = np.full(order.size, -1, np.int32)
    for rank in range(order.size):
        node = order[rank]
        slot = pointers[node]
        first, end = parent_ptr[node], parent_ptr[node + 1]
        if end - first == 1:
            # One parent: its list, with the parent itself put in its place.
            parent = parent_idx[first]
            source, stop = pointers[parent], pointers[parent + 1]
            while source < stop and index[source] < parent:
                index[slot] = index[source]
                slot, source = slot + 1, source + 1
            index[slot] = parent
            index[slot + 1 : pointers[node + 1]] = index[source:stop]
            continue
        for position in range(first, end):
            parent = parent_idx[position]
            if listed_for[parent] != node:
                listed_for[parent] = node
                index[slot] = parent
                slot += 1
            for source in range(pointers[parent], pointers[parent + 1]):
                ancestor = index[source]
                if listed_for[ancestor] != node:
                    listed_for[ancestor] = node
                    index[slot] = ancestor
                    slot += 1
        index[pointers[node] : slot].sort()


@compiled
def direct_ancestors(ptr: Pointers, idx: Codes) -> Mask:
    """Which members (m,) of the sets of ancestors idx[ptr[i]:ptr[i+1]] are ancestors of no other member of the set.

    Codes of -1 are passed over. An ancestor has a smaller set: members whose set is not are left out, so that what is
    kept has no cycles even where the sets are not those of a hierarchy.
    """
    n = ptr.size - 1
    kept = np.zeros(idx.size, np.bool_)
    implied_for = np.full(n, -1, np.int64)
    for node in range(n):
        size = ptr[node + 1] - ptr[node]
        for position in range(ptr[node], ptr[node + 1]):
            above = idx[position]
            if above < 0 or ptr[above + 1] - ptr[above] >= size:
                continue
            kept[position] = True
            for further in range(ptr[above], ptr[above + 1]):
                if idx[further] >= 0:
                    implied_for[idx[further]] = node
        for position in range(ptr[node], ptr[node + 1]):
            if kept[position] and implied_for[idx[position]] == node:
                kept[position] = False
    return kept
