"""Exact ranks of positives among all nodes, without sorting: distances in blocks, counts of what is closer.

For a fixed u the order of distances in the ball is that of  |u-v|^2 / (1-|v|^2), in Euclidean space that of |u-v|^2;
the caller gives the factor of each v as `factor`; factors that are all 1 are those of Euclidean space. The key of a
positive and the keys it is compared with come from the same operations in the same order; no fast-math here. What is
farther than a positive by less than one part in 10^9, as rounding may decide, ties with it.
"""

from __future__ import annotations

import math

import numpy as np

from ...limits import TIE
from .compiler import compiled

WIDTH = 256  # nodes in a block: block and buffers stay in the first-level cache up to dimension 12
GROUP = 16  # sources that share one pass over the blocks


def is_curved(factor: np.ndarray) -> bool:
    """Whether these are factors of hyperbolic space; or of points all at its origin, where it makes no difference."""
    return bool((factor != 1.0).any())


def to_blocks(vectors: np.ndarray, factor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lay out vectors (n, d) and factors (n,) as (blocks, d, WIDTH) and (blocks, WIDTH); padding never compares."""
    n, dim = vectors.shape
    count = -(-n // WIDTH)
    padded = np.zeros((count * WIDTH, dim))
    padded[:n] = vectors
    factors = np.full(count * WIDTH, np.nan)
    factors[:n] = factor
    blocks = np.ascontiguousarray(padded.reshape(count, WIDTH, dim).transpose(0, 2, 1))
    return blocks, factors.reshape(count, WIDTH)


@compiled
def _key(blocks, factors, u, node):
    block, lane = node // WIDTH, node % WIDTH
    key = 0.0
    for k in range(u.size):
        gap = u[k] - blocks[block, k, lane]
        key += gap * gap
    return key * factors[block, lane]


@compiled
def tie_limit(key, source_factor, curved):
    """The largest key that ties with `key` or is nearer: that of a distance longer by the part TIE.

    With q the key times the factor of the source, d = 2 asinh sqrt q, and a relative change of d changes the key by
    d coth(d/2) times as much; in Euclidean space it is twice as much.
    """
    if not curved:
        return key * (1.0 + 2.0 * TIE)
    q = key * source_factor
    if not q > 0.0:
        return key
    root = math.sqrt(q)
    return key * (1.0 + TIE * 2.0 * math.asinh(root) * math.sqrt(1.0 + q) / root)


@compiled
def block_keys(block, factor, u, keys):
    """Keys of one block of nodes seen from u."""
    for w in range(WIDTH):
        keys[w] = 0.0
    for k in range(u.size):
        uk = u[k]
        row = block[k]
        for w in range(WIDTH):
            gap = uk - row[w]
            keys[w] += gap * gap
    for w in range(WIDTH):
        keys[w] *= factor[w]


@compiled
def contains(nodes, first, last, node):
    """Whether `node` is among nodes[first:last], which ascend."""
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if nodes[middle] < node:
            low = middle + 1
        else:
            high = middle
    return low < last and nodes[low] == node


@compiled
def rank_positives(vectors, blocks, factors, curved, sources, positive_ptr, positive_idx, ranks, precision, offender):
    """Rank the positives of every source among all other nodes.

    Parameters
    ----------
    vectors : float64 (n, d); blocks, factors : see `to_blocks`; curved : False in Euclidean space
    sources : int64 (m,), nodes with at least one positive
    positive_ptr, positive_idx : CSR over the *sources*: positives of sources[i], ascending
    ranks : int64 (pairs,), out: 1 + number of non-positives at least as close, per positive
    precision : float64 (m,), out: average precision of each source
    offender : int64 (m,), out: nearest non-positive of each source, -1 if there is none
    """
    keys = np.empty(WIDTH)
    best = np.empty(GROUP)
    reach = np.empty(GROUP)
    for start in range(0, sources.size, GROUP):
        stop = min(start + GROUP, sources.size)
        base = positive_ptr[start]
        threshold = np.empty(positive_ptr[stop] - base)
        place = np.empty(positive_ptr[stop] - base, np.int64)
        for i in range(start, stop):
            first, last = positive_ptr[i], positive_ptr[i + 1]
            found = np.empty(last - first)
            own = factors[sources[i] // WIDTH, sources[i] % WIDTH]
            for j in range(first, last):
                key = _key(blocks, factors, vectors[sources[i]], positive_idx[j])
                found[j - first] = tie_limit(key, own, curved)
                ranks[j] = 0
            order = np.argsort(found, kind="mergesort")
            for j in range(order.size):
                threshold[first - base + j] = found[order[j]]
                place[first - base + j] = order[j]
            best[i - start] = np.inf
            reach[i - start] = np.inf
            offender[i] = -1
        for b in range(blocks.shape[0]):
            for i in range(start, stop):
                node = sources[i]
                block_keys(blocks[b], factors[b], vectors[node], keys)
                limit = reach[i - start]
                hits = 0
                for w in range(WIDTH):
                    hits += keys[w] <= limit
                if hits == 0:
                    continue
                first, last = positive_ptr[i], positive_ptr[i + 1]
                farthest = threshold[last - 1 - base]
                for w in range(WIDTH):
                    key = keys[w]
                    if not key <= limit:
                        continue
                    other = b * WIDTH + w
                    if other == node or contains(positive_idx, first, last, other):
                        continue
                    if key < best[i - start]:
                        best[i - start] = key
                        offender[i] = other
                    if key <= farthest:
                        # Counted at the nearest positive that is at least as far; summed up below.
                        low, high = first, last - 1
                        while low < high:
                            middle = (low + high) // 2
                            if threshold[middle - base] < key:
                                low = middle + 1
                            else:
                                high = middle
                        ranks[low] += 1
                reach[i - start] = max(best[i - start], farthest)
        for i in range(start, stop):
            first, last = positive_ptr[i], positive_ptr[i + 1]
            closer, total = 0, 0.0
            sorted_ranks = np.empty(last - first, np.int64)
            for j in range(last - first):
                closer += ranks[first + j]
                sorted_ranks[j] = closer + 1
                total += (j + 1) / (j + 1 + closer)
            for j in range(last - first):
                ranks[first + place[first - base + j]] = sorted_ranks[j]
            precision[i] = total / (last - first)
