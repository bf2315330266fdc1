"""Random numbers for the workers: a counter in, 64 random bits out (splitmix64), so no state outlives an epoch."""

from __future__ import annotations

import numpy as np
from numba import uint64

from .compiler import compiled

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
# Up to this many positives are avoided by drawing again; more are left out of the draw, at some cost for each negative.
FEW_POSITIVES = 32
_LOW, _UNIT = np.uint64(0xFFFFFFFF), 2.0**-32


@compiled
def mix(z):
    """Finaliser of splitmix64."""
    z = (z ^ (z >> _S30)) * _MIX_A
    z = (z ^ (z >> _S27)) * _MIX_B
    return z ^ (z >> _S31)


@compiled
def below(bits, bound):
    """A number in [0, bound) from 64 random bits; bound < 2**32."""
    return np.int64(((bits >> _S32) * uint64(bound)) >> _S32)


@compiled
def fraction(bits):
    """A number in [0, 1) from the low half of 64 random bits; independent of `below`, which takes the high half."""
    return np.float64(bits & _LOW) * _UNIT


@compiled
def stream(seed, epoch, worker):
    """Start of the random stream that belongs to one worker in one epoch."""
    state = mix(uint64(seed) + GOLDEN)
    state = mix(state ^ (uint64(epoch) + GOLDEN))
    return mix(state ^ (uint64(worker) + GOLDEN))


@compiled
def visiting_order(count, state):
    """Offset and stride that visit 0 .. count-1 once each: offset + i * stride (mod count), stride prime to count.

    Over pairs that lie in random order this gives every epoch an order of its own that costs no memory, and every
    worker another share of the pairs in every epoch.
    """
    offset = below(mix(state + GOLDEN), max(count, 1))
    stride = 1 + below(mix(state + GOLDEN + GOLDEN), max(count - 1, 1))
    while True:
        a, b = stride, count
        while b:
            a, b = b, a % b
        if a <= 1:
            return offset, stride
        stride = stride % count + 1


@compiled
def clash(chosen, head, positive_idx, first, last):
    """Whether chosen[1:] holds `head` or one of positive_idx[first:last]."""
    taken = 0
    for j in range(1, chosen.size):
        taken += chosen[j] == head
    for i in range(first, last):
        node = np.int64(positive_idx[i])
        for j in range(1, chosen.size):
            taken += chosen[j] == node
    return taken > 0


@compiled
def draw_negatives(chosen, dice, n, lots, head, positive_idx, first, last, state):
    """Fill chosen[1:] with random nodes that are neither `head` nor one of positive_idx[first:last], which ascend.

    They are uniform, or where there are `lots`, an array of nodes, as frequent as in that; one that may not be drawn is
    replaced by a uniform node, and heads with many positives have uniform ones alone. `dice` gets a number in [0, 1)
    for each of them. Returns the number of entries of `chosen` in use (1 when every other node is a positive) and the
    advanced state.
    """
    free = n - 1 - (last - first)
    if free <= 0:
        return 1, state
    count = chosen.size
    many = last - first > FEW_POSITIVES
    from_lots = lots.size > 0 and not many
    bound = lots.size if from_lots else free if many else n
    for j in range(1, count):
        bits = mix(state + uint64(j) * GOLDEN)
        chosen[j] = below(bits, bound)
        dice[j] = fraction(bits)
    state += uint64(count) * GOLDEN
    if from_lots:
        for j in range(1, count):
            chosen[j] = lots[chosen[j]]
    if many:
        for j in range(1, count):
            chosen[j] = _free_node(chosen[j], head, positive_idx, first, last)
    elif clash(chosen, head, positive_idx, first, last):
        for j in range(1, count):
            while chosen[j] == head or among(chosen[j], positive_idx, first, last):
                state += GOLDEN
                chosen[j] = below(mix(state), n)
    return count, state


@compiled
def among(node, nodes, first, last):
    """Whether `node` is one of nodes[first:last]."""
    found = False
    for i in range(first, last):
        found |= nodes[i] == node
    return found


@compiled
def _free_node(rank, head, taken, first, last):
    """The node number `rank` among those that are neither `head` nor in taken[first:last], which ascend."""
    # With i taken nodes below it, it is the node rank + i: find the i for which that holds, then step over `head`.
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        below_here = taken[middle] - (middle - first) - (1 if head < taken[middle] else 0)
        if below_here <= rank:
            low = middle + 1
        else:
            high = middle
    node = rank + (low - first)
    return node + 1 if head <= node else node
