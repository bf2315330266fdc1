"""Exact ranks and nearest nodes without looking at most nodes: a search through a tree of boxes.

From u, no point of a box has a smaller key than (squared distance from u to the box) * (smallest factor in it), so a
box whose bound exceeds the limit of a search is passed over with all that it holds. Rounding is monotone: bounds made
by the operations that make keys, in their order, cannot exceed them; `SLACK` is for compilers that fuse operations in
one place and not in the other. Keys are those of `rank`, to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .box_tree import FANOUT, SHIFT, WIDTH
from .compiler import compiled
from .rank import contains, tie_limit

SLACK = 1.0 + 1e-12


class Stack(NamedTuple):
    """Boxes still to be looked at, with their bounds: the arrays are room for them, `bounds` is that of one group."""

    bound: np.ndarray
    level: np.ndarray
    item: np.ndarray
    bounds: np.ndarray


@compiled
def new_stack(tree):
    """An empty stack with room for any search of a tree."""
    # Every level leaves at most a whole group unvisited on the way down, and another beside the block it starts from.
    room = 2 * FANOUT * tree.starts.size
    return Stack(np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64), np.empty(FANOUT))


@compiled
def _push(tree, u, limit, level, item, skipped, stack, top):
    """Put the boxes of a group, except `skipped`, on the stack, nearest on top."""
    group, bounds = tree.starts[level] + item, stack.bounds
    for c in range(FANOUT):
        bounds[c] = 0.0
    for k in range(u.size):
        uk = u[k]
        low, high = tree.low[group, k], tree.high[group, k]
        for c in range(FANOUT):
            below, above = low[c] - uk, uk - high[c]
            gap = below if below > above else above
            gap = gap if gap > 0.0 else 0.0
            bounds[c] += gap * gap
    first = top
    for c in range(FANOUT):
        bound = bounds[c] * tree.least[group, c]
        child = FANOUT * item + c
        if not bound <= limit or child == skipped:
            continue
        i = top
        while i > first and stack.bound[i - 1] < bound:
            stack.bound[i] = stack.bound[i - 1]
            stack.item[i] = stack.item[i - 1]
            i -= 1
        stack.bound[i] = bound
        stack.item[i] = child
        stack.level[top] = level
        top += 1
    return top


@compiled
def surround(tree, u, limit, block, stack):
    """Put everything but one block on the stack, its nearest relatives on top; with block -1, everything."""
    last = tree.starts.size - 2
    if block < 0:
        return _push(tree, u, limit * SLACK, last, 0, -1, stack, 0)
    top = 0
    for level in range(last, -1, -1):
        own = block >> SHIFT * level
        top = _push(tree, u, limit * SLACK, level, own >> SHIFT, own, stack, top)
    return top


@compiled
def next_block(tree, u, limit, stack, top):
    """The next block that may hold a point within the limit, or -1, and the new top of the stack."""
    limit *= SLACK
    while top > 0:
        top -= 1
        if stack.bound[top] <= limit:
            level, item = stack.level[top], stack.item[top]
            if level == 0:
                return item, top
            top = _push(tree, u, limit, level - 1, item, -1, stack, top)
    return -1, 0


@compiled
def block_keys(tree, block, u, keys):
    """Keys of the points of a block, by the operations of `rank.block_keys`."""
    for w in range(WIDTH):
        keys[w] = 0.0
    for k in range(u.size):
        uk = u[k]
        row = tree.blocks[block, k]
        for w in range(WIDTH):
            gap = uk - row[w]
            keys[w] += gap * gap
    factor = tree.factors[block]
    for w in range(WIDTH):
        keys[w] *= factor[w]


@compiled
def any_within(keys, limit):
    """Whether a key of a block is at most `limit`."""
    hits = 0
    for w in range(WIDTH):
        hits += keys[w] <= limit
    return hits > 0


@compiled
def _key(tree, u, node):
    block, lane = tree.place[node] // WIDTH, tree.place[node] % WIDTH
    key = 0.0
    for k in range(u.size):
        gap = u[k] - tree.blocks[block, k, lane]
        key += gap * gap
    return key * tree.factors[block, lane]


@compiled
def rank_positives_pruned(
    tree, curved, sources, turns, positive_ptr, positive_idx, ranks, precision, offender, visited
):
    """Rank the positives of sources[i] among all other nodes, for every i in `turns`.

    Parameters
    ----------
    tree : Tree
    curved : False in Euclidean space
    sources : int64 (m,), nodes with at least one positive
    turns : int64, places in `sources`; near ones should follow each other, for they share memory
    positive_ptr, positive_idx : CSR over the *sources*: positives of sources[i], ascending
    ranks, precision, offender : out, see `rank.rank_positives`
    visited : int64 (m,), out: number of blocks that were compared
    """
    stack, keys, u = new_stack(tree), np.empty(WIDTH), np.empty(tree.blocks.shape[1])
    for i in turns:
        node, first, last = sources[i], positive_ptr[i], positive_ptr[i + 1]
        block = tree.place[node] // WIDTH
        u[:] = tree.blocks[block, :, tree.place[node] % WIDTH]
        own = tree.factors[block, tree.place[node] % WIDTH]
        threshold, order = np.empty(last - first), np.empty(last - first, np.int64)
        for j in range(first, last):
            key, at = tie_limit(_key(tree, u, positive_idx[j]), own, curved), j - first
            while at > 0 and threshold[at - 1] > key:  # positives are few
                threshold[at], order[at] = threshold[at - 1], order[at - 1]
                at -= 1
            threshold[at], order[at] = key, j - first
            ranks[j] = 0
        farthest, best, limit = threshold[-1], np.inf, np.inf
        offender[i] = -1
        visited[i] = 0
        top = -1
        while block >= 0:
            visited[i] += 1
            block_keys(tree, block, u, keys)
            if any_within(keys, limit):
                for w in range(WIDTH):
                    key = keys[w]
                    if not key <= limit:
                        continue
                    other = tree.codes[block * WIDTH + w]
                    if other == node or contains(positive_idx, first, last, other):
                        continue
                    if key < best or (key == best and other < offender[i]):
                        best = key
                        offender[i] = other
                    if key <= farthest:
                        # Counted at the nearest positive that is at least as far; summed up below.
                        at = first
                        while threshold[at - first] < key:
                            at += 1
                        ranks[at] += 1
                limit = max(best, farthest)
            if top < 0:  # the node's own block comes first: it often holds the offender, and limits all that follows
                top = surround(tree, u, limit, block, stack)
            block, top = next_block(tree, u, limit, stack, top)
        closer, total = 0, 0.0
        found = np.empty(last - first, np.int64)
        for j in range(last - first):
            closer += ranks[first + j]
            found[j] = closer + 1
            total += (j + 1) / (j + 1 + closer)
        for j in range(last - first):
            ranks[first + order[j]] = found[j]
        precision[i] = total / (last - first)


@compiled
def find_ill(tree, curved, sources, turns, positive_ptr, positive_idx, ill):
    """Whether a non-positive is at least as near to sources[i] as its nearest positive, for every i in `turns`.

    The first one found decides: where many nodes are in one place, ranking them would compare all with all.
    """
    stack, keys, u = new_stack(tree), np.empty(WIDTH), np.empty(tree.blocks.shape[1])
    for i in turns:
        node, first, last = sources[i], positive_ptr[i], positive_ptr[i + 1]
        block = tree.place[node] // WIDTH
        u[:] = tree.blocks[block, :, tree.place[node] % WIDTH]
        limit = np.inf
        for j in range(first, last):
            limit = min(limit, _key(tree, u, positive_idx[j]))
        limit = tie_limit(limit, tree.factors[block, tree.place[node] % WIDTH], curved)
        ill[i] = False
        top = -1
        while block >= 0 and not ill[i]:
            block_keys(tree, block, u, keys)
            if any_within(keys, limit):
                for w in range(WIDTH):
                    other = tree.codes[block * WIDTH + w]
                    if keys[w] <= limit and other != node and not contains(positive_idx, first, last, other):
                        ill[i] = True
                        break
            if top < 0:
                top = surround(tree, u, limit, block, stack)
            block, top = next_block(tree, u, limit, stack, top)


@compiled
def nearest_k(tree, points, excluded, turns, codes, keys):
    """Find the k nearest nodes of points[i], nearest first and ties by code, for every i in `turns`.

    Parameters
    ----------
    tree : Tree
    points : float64 (m, d)
    excluded : int64 (m,), a node that is left out and near which the search begins, or -1
    turns : int64, places in `points`
    codes, keys : int64 and float64 (m, k), out: -1 and inf where there are no more nodes
    """
    stack, found = new_stack(tree), np.empty(WIDTH)
    k = codes.shape[1]
    for i in turns:
        u = points[i]
        codes[i] = -1
        keys[i] = np.inf
        limit, size, top = np.inf, 0, -1
        if excluded[i] >= 0:
            block = tree.place[excluded[i]] // WIDTH
        else:
            top = surround(tree, u, limit, -1, stack)
            block, top = next_block(tree, u, limit, stack, top)
        while block >= 0:
            block_keys(tree, block, u, found)
            if any_within(found, limit):
                for w in range(WIDTH):
                    key, other = found[w], tree.codes[block * WIDTH + w]
                    if not key <= limit or other == excluded[i]:
                        continue
                    j = size
                    while j > 0 and (key < keys[i, j - 1] or (key == keys[i, j - 1] and other < codes[i, j - 1])):
                        if j < k:
                            keys[i, j] = keys[i, j - 1]
                            codes[i, j] = codes[i, j - 1]
                        j -= 1
                    if j < k:
                        keys[i, j] = key
                        codes[i, j] = other
                        size = min(size + 1, k)
                        if size == k:
                            limit = keys[i, k - 1]
            if top < 0:
                top = surround(tree, u, limit, block, stack)
            block, top = next_block(tree, u, limit, stack, top)
