"""Exact ranks of positives among all nodes, without sorting: distances in blocks, counts of what is closer.

For a fixed u the order of distances in the ball is that of  |u-v|^2 / (1-|v|^2), in Euclidean space that of |u-v|^2;
the caller gives the factor of each v as `factor`; factors that are all 1 are those of Euclidean space. The key of a
positive and the keys it is compared with come from the same operations in the same order; no fast-math here. What is
farther than a positive by less than one part in 10^9, as rounding may decide, ties with it.

Coordinates of several terms (see `terms`) lie beside each other: all but the last have `terms` numbers each, the last,
a height, has one. With one term that is the plain layout.
"""

from __future__ import annotations

import math

import numpy as np

from ...limits import TIE
from .compiler import compiled
from .terms import two_sum

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
def _key(blocks, factors, u, node, terms):
    block, lane = node // WIDTH, node % WIDTH
    key = 0.0
    if terms == 1:
        for k in range(u.size):
            gap = u[k] - blocks[block, k, lane]
            key += gap * gap
        return key * factors[block, lane]
    for k in range(0, u.size - 1, terms):
        if terms == 2:
            gap = gap_of_two(u[k], u[k + 1], blocks[block, k, lane], blocks[block, k + 1, lane])
        else:
            gap = gap_of_four(
                u[k], u[k + 1], u[k + 2], u[k + 3], blocks[block, k, lane], blocks[block, k + 1, lane],
                blocks[block, k + 2, lane], blocks[block, k + 3, lane],
            )  # fmt: skip
        key += gap * gap
    gap = u[u.size - 1] - blocks[block, u.size - 1, lane]
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
def gap_of_two(a, b, c, d):
    """(a + b) - (c + d) to the digits of float64, for numbers of two terms.

    a - c is exact where it is small enough for the second terms to matter, and so is what they are added to.
    """
    second, error = two_sum(b, -d)
    return ((a - c) + second) + error


@compiled
def gap_of_four(a, b, c, d, e, f, g, h):
    """(a + b + c + d) - (e + f + g + h), likewise."""
    second, second_error = two_sum(b, -f)
    third, third_error = two_sum(c, -g)
    third, error = two_sum(second_error, third)
    return (((a - e) + second) + third) + ((third_error + error) + (d - h))


@compiled
def block_keys_of_terms(block, factor, u, keys, terms):
    """Keys of one block of nodes seen from u, in coordinates of two or four terms."""
    for w in range(WIDTH):
        keys[w] = 0.0
    last = u.size - 1
    for k in range(0, last, terms):
        if terms == 2:
            first, second = block[k], block[k + 1]
            for w in range(WIDTH):
                gap = gap_of_two(u[k], u[k + 1], first[w], second[w])
                keys[w] += gap * gap
        else:
            first, second, third, fourth = block[k], block[k + 1], block[k + 2], block[k + 3]
            for w in range(WIDTH):
                gap = gap_of_four(u[k], u[k + 1], u[k + 2], u[k + 3], first[w], second[w], third[w], fourth[w])
                keys[w] += gap * gap
    height = block[last]
    for w in range(WIDTH):
        gap = u[last] - height[w]
        keys[w] = (keys[w] + gap * gap) * factor[w]


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
def rank_positives(
    vectors, blocks, factors, curved, sources, positive_ptr, positive_idx, ranks, precision, offender, terms
):
    """Rank the positives of every source among all other nodes.

    Parameters
    ----------
    vectors : float64 (n, d); blocks, factors : see `to_blocks`; curved : False in Euclidean space
    sources : int64 (m,), nodes with at least one positive
    positive_ptr, positive_idx : CSR over the *sources*: positives of sources[i], ascending
    ranks : int64 (pairs,), out: 1 + number of non-positives at least as close, per positive
    precision : float64 (m,), out: average precision of each source
    offender : int64 (m,), out: nearest non-positive of each source, -1 if there is none
    terms : how many each coordinate has
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
                key = _key(blocks, factors, vectors[sources[i]], positive_idx[j], terms)
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
                if terms == 1:
                    block_keys(blocks[b], factors[b], vectors[node], keys)
                else:
                    block_keys_of_terms(blocks[b], factors[b], vectors[node], keys, terms)
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
