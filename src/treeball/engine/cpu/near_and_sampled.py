"""Which nodes stand for all in a softmax: positives, the nearest others, and a uniform sample of the rest."""

from __future__ import annotations

from .compiler import compiled
from .negatives import GOLDEN, below, mix
from .rank import contains


@compiled
def choose_nodes(head, n, positive_ptr, positive_idx, left_out_ptr, left_out_idx, near, samples, state, chosen):
    """The nodes that a head is compared with: positives, listed ones, a sample; -> ends of the three, random state."""
    first, last = positive_ptr[head], positive_ptr[head + 1]
    count = 0
    for j in range(first, last):
        chosen[count] = positive_idx[j]
        count += 1
    positives = count
    for j in range(near.shape[1]):
        if near[head, j] >= 0:
            chosen[count] = near[head, j]
            count += 1
    listed = count
    for _ in range(samples):
        state += GOLDEN
        node = below(mix(state), n)
        # What is listed counts there, and only there.
        if node == head or contains(near[head], 0, near.shape[1], node):
            continue
        if not contains(left_out_idx, left_out_ptr[head], left_out_ptr[head + 1], node):
            chosen[count] = node
            count += 1
    return positives, listed, count, state
