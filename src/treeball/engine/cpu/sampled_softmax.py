"""One worker's share of some epochs of training.

Several workers run this on the same vectors at once, without locks: a row is written whole and rarely, and an update
lost to another worker costs a little progress and nothing else. One worker alone is exactly reproducible.
"""

from __future__ import annotations

import math

import numpy as np

from .compiler import compiled
from .negatives import FEW_POSITIVES, clash, draw_negatives, stream, visiting_order
from .steps import clamp, euclidean_step, lorentz_step, poincare_step, settle

EUCLIDEAN, POINCARE, LORENTZ = 0, 1, 2
GEOMETRIES = {"euclidean": EUCLIDEAN, "poincare": POINCARE, "lorentz": LORENTZ}
LOSS, WEIGHT, CLAMPED, FAILED_EPOCH, FAILED_NODE = 0, 1, 2, 3, 4


# Pairs are visited in runs of RUN that lie together in memory, and SHARING pairs in turn use one draw of negatives;
# sets of fewer than LARGE pairs are small enough to do without either, for the best mixing.
RUN, SHARING, LARGE = 16, 2, 4096


@compiled
def train_epochs(
    geometry, vectors, heads, tails, weights, positive_ptr, positive_idx, steps, first_epoch, lots, lots_until,
    negatives, bound, seed, worker, workers, counters,
):  # fmt: skip
    """Do one worker's share of the epochs, changing `vectors` in place.

    Parameters
    ----------
    geometry : EUCLIDEAN, POINCARE or LORENTZ
    vectors : float64 (n, width)
    heads, tails : int32 (pairs,), the positive pairs A -> B, lying in random order
    weights : float64 (pairs,), factor on the step of each pair
    positive_ptr, positive_idx : CSR of the positives of every node, which are never drawn as its negatives
    steps : float64 (epochs,), step of one pair in each epoch; `first_epoch` is the number of the first
    lots, lots_until : int32 (any,) and an epoch before which negatives are as frequent as in them, see `negatives.py`
    negatives, bound : see `steps.py`
    seed, worker, workers : fix the random stream, and which share of each epoch's pairs is visited
    counters : float64 (5,), out
        Weighted loss and weight of the last epoch, clamped vectors, and epoch (else -1) and node of a failure.
    """
    n, width = vectors.shape
    size, sharing = (RUN, SHARING) if heads.size >= LARGE else (1, 1)
    runs = (heads.size + size - 1) // size
    chosen = np.zeros(negatives + 1, np.int64)
    dice = np.zeros(negatives + 1)
    x = np.empty((width, negatives + 2))
    s = np.empty((5, negatives + 1))
    u = np.empty(width)
    counters[:] = 0.0
    counters[FAILED_EPOCH] = -1.0
    for epoch in range(steps.size):
        counters[LOSS] = counters[WEIGHT] = 0.0
        offset, stride = visiting_order(runs, stream(seed, first_epoch + epoch, -1))
        state = stream(seed, first_epoch + epoch, worker)
        left = 0
        drawn_from = lots if first_epoch + epoch < lots_until else lots[:0]
        for place in range(runs * worker // workers, runs * (worker + 1) // workers):
            run = (offset + place * stride) % runs
            for pair in range(run * size, min((run + 1) * size, heads.size)):
                head = heads[pair]
                chosen[0] = tails[pair]
                first, last = positive_ptr[head], positive_ptr[head + 1]
                if left > 0 and last - first <= FEW_POSITIVES and not clash(chosen, head, positive_idx, first, last):
                    fresh = 1
                    left -= 1
                else:
                    count, state = draw_negatives(chosen, dice, n, drawn_from, head, positive_idx, first, last, state)
                    fresh = count
                    left = sharing - 1 if count > 1 else 0
                step = steps[epoch] * weights[pair]
                if geometry == POINCARE:
                    loss, clamped = poincare_step(vectors, head, chosen, dice, count, fresh, step, bound, x, s, u)
                elif geometry == LORENTZ:
                    loss, clamped = lorentz_step(vectors, head, chosen, dice, count, fresh, step, bound, x, s, u)
                else:
                    loss, clamped = euclidean_step(vectors, head, chosen, dice, count, fresh, step, bound, x, s, u)
                counters[LOSS] += weights[pair] * loss
                counters[WEIGHT] += weights[pair]
                counters[CLAMPED] += clamped
                if not math.isfinite(loss):
                    counters[FAILED_EPOCH] = first_epoch + epoch
                    counters[FAILED_NODE] = head
                    return


@compiled
def settle_all(geometry, vectors, bound):
    """Put all vectors back into their space and within the bound: what one worker alone leaves there anyway."""
    for row in range(vectors.shape[0]):
        if geometry == POINCARE:
            clamp(vectors[row], bound)
        elif geometry == LORENTZ:
            settle(vectors[row], bound)
