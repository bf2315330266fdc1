"""One worker's share of some epochs of training.

Several workers run this on the same vectors at once, without locks: a row is written whole and rarely, and an update
lost to another worker costs a little progress and nothing else. One worker alone is exactly reproducible.
"""

from __future__ import annotations

import math

import numpy as np

from .compiler import compiled
from .sampling import draw_negatives, stream, visiting_order
from .steps import euclidean_step, lorentz_step, poincare_step

EUCLIDEAN, POINCARE, LORENTZ = 0, 1, 2
LOSS, WEIGHT, CLAMPED, FAILED_EPOCH, FAILED_NODE = 0, 1, 2, 3, 4


@compiled
def train_epochs(
    geometry, vectors, heads, tails, weights, positive_ptr, positive_idx, begin, end, steps, first_epoch,
    negatives, bound, seed, worker, counters,
):  # fmt: skip
    """Take places begin .. end-1 of every epoch's order of the pairs, changing `vectors` in place.

    Parameters
    ----------
    geometry : EUCLIDEAN, POINCARE or LORENTZ
    vectors : float64 (n, width)
    heads, tails : int32 (pairs,), the positive pairs A -> B, lying in random order
    weights : float64 (pairs,), factor on the step of each pair
    positive_ptr, positive_idx : CSR of the positives of every node, which are never drawn as its negatives
    steps : float64 (epochs,), step of one pair in each epoch; `first_epoch` is the number of the first
    negatives, bound, seed, worker : see `steps.py` and `sampling.py`
    counters : float64 (5,), out: weighted loss and weight of the last epoch, clamped vectors, and -1 or epoch and node of a failure
    """
    n, width = vectors.shape
    chosen = np.empty(negatives + 1, np.int64)
    x = np.empty((width, negatives + 2))
    s = np.empty((5, negatives + 1))
    dice = np.zeros(negatives + 1)
    counters[:] = 0.0
    counters[FAILED_EPOCH] = -1.0
    for epoch in range(steps.size):
        counters[LOSS] = counters[WEIGHT] = 0.0
        offset, stride = visiting_order(heads.size, stream(seed, first_epoch + epoch, -1))
        state = stream(seed, first_epoch + epoch, worker)
        place = (offset + begin * stride) % max(heads.size, 1)
        for _ in range(begin, end):
            pair = place
            place += stride
            if place >= heads.size:
                place -= heads.size
            head = heads[pair]
            chosen[0] = tails[pair]
            count, state = draw_negatives(
                chosen, dice, n, head, positive_idx, positive_ptr[head], positive_ptr[head + 1], state
            )
            step = steps[epoch] * weights[pair]
            if geometry == POINCARE:
                loss, clamped = poincare_step(vectors, head, chosen, dice, count, step, bound, x, s)
            elif geometry == LORENTZ:
                loss, clamped = lorentz_step(vectors, head, chosen, dice, count, step, bound, x, s)
            else:
                loss, clamped = euclidean_step(vectors, head, chosen, dice, count, step, bound, x, s)
            counters[LOSS] += weights[pair] * loss
            counters[WEIGHT] += weights[pair]
            counters[CLAMPED] += clamped
            if not math.isfinite(loss):
                counters[FAILED_EPOCH] = first_epoch + epoch
                counters[FAILED_NODE] = head
                return
