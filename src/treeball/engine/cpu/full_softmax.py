"""Training against all nodes at once: one step of a node A for all its positives P and the softmax over everybody else.

    L_A = 1/|P| sum_{p in P} log(1 + Z / w(p)),    w(x) = exp(-k d(A, x)),    Z = sum of w(x) over the non-positives x

Every node counts the same, as it does in MAP. With sharpness k = 1 this is the softmax of equation 2, in which many far
nodes outweigh one that is too near; the larger k, the more it is ruled by the nodes that are nearer than p, which are
those that MAP counts.

Z is ruled by the few nodes that are nearest, and those are listed (`near`), so they are summed exactly; all others are
estimated by a uniform sample, each for its share of them. That is what a full softmax would do, at the cost of some
hundred distances. The geometry is the Poincare ball; formulas as in `steps.poincare_step`.
"""

from __future__ import annotations

import math

import numpy as np

from .compiler import compiled
from .near_and_sampled import choose_nodes
from .negatives import GOLDEN, fraction, mix, stream, visiting_order
from .sampled_softmax import CLAMPED, FAILED_EPOCH, FAILED_NODE, LOSS
from .steps import COINCIDENT, FAST, SMALL_SHARE, clamp

PAIRS = 1


@compiled
def train_full_softmax(
    vectors, heads, positive_ptr, positive_idx, near, most_positives, steps, first_epoch, samples, sharpness,
    bound, seed, worker, workers, counters,
):  # fmt: skip
    """Do one worker's share of some epochs, changing `vectors` in place.

    Parameters
    ----------
    vectors : float64 (n, d)
    heads : int32 (m,), nodes with positives, lying in random order
    positive_ptr, positive_idx : CSR of the positives of every node, ascending
    near : int32 (n, k), non-positives nearest to each node, ascending; -1 for none
    most_positives : largest number of positives of a node
    steps : float64 (epochs,), step of an average pair in each epoch; `first_epoch` is the number of the first
    samples : uniform nodes drawn for each step
    sharpness : int, the factor k on distances
    bound : largest norm
    seed, worker, workers : fix the random stream, and which share of the heads is visited
    counters : float64 (5,), out: loss and pairs of the last epoch, clamped vectors, epoch (or -1) and node of a failure
    """
    n, dim = vectors.shape
    room = most_positives + near.shape[1] + samples
    chosen, dice = np.empty(room, np.int64), np.empty(room)
    x, s, u = np.empty((dim, room)), np.empty((4, room)), np.empty(dim)
    counters[:] = 0.0
    counters[FAILED_EPOCH] = -1.0
    mean_positives = positive_idx.size / max(1, heads.size)
    for epoch in range(steps.size):
        counters[LOSS] = counters[PAIRS] = 0.0
        offset, stride = visiting_order(heads.size, stream(seed, first_epoch + epoch, -1))
        state = stream(seed, first_epoch + epoch, worker)
        for place in range(heads.size * worker // workers, heads.size * (worker + 1) // workers):
            head = heads[(offset + place * stride) % heads.size]
            positives, listed, count, state = choose_nodes(
                head, n, positive_ptr, positive_idx, near, samples, state, chosen
            )
            for j in range(count):
                state += GOLDEN
                dice[j] = fraction(mix(state))
            others = max(0.0, n - 1.0 - listed)
            step = steps[epoch] * mean_positives / positives
            loss, clamped = _step(
                vectors, head, chosen, dice, positives, listed, count, others, step, sharpness, bound, x, s, u
            )
            counters[LOSS] += loss
            counters[PAIRS] += positives
            counters[CLAMPED] += clamped
            if not math.isfinite(loss):
                counters[FAILED_EPOCH] = first_epoch + epoch
                counters[FAILED_NODE] = head
                return


@compiled(fastmath=FAST, forceinline=True)
def _step(vectors, head, chosen, dice, positives, listed, count, others, step, sharpness, bound, x, s, u):
    """One step; chosen[:positives] are positives, up to `listed` near ones, the rest uniform: -> loss, clamped."""
    dim = vectors.shape[1]
    gap2, rim, share, force = s[0], s[1], s[2], s[3]
    a = 1.0
    for k in range(dim):
        u[k] = vectors[head, k]
        a -= u[k] * u[k]
    for j in range(count):
        rim[j] = 1.0
        gap2[j] = COINCIDENT
        row = vectors[chosen[j]]
        for k in range(dim):
            x[k, j] = row[k]
    for k in range(dim):
        uk = u[k]
        for j in range(count):
            rim[j] -= x[k, j] * x[k, j]
            gap2[j] += (x[k, j] - uk) * (x[k, j] - uk)
    for j in range(count):
        ab = a * rim[j]
        t = math.sqrt(gap2[j] * (gap2[j] + ab))
        nearness = ab / (2.0 * gap2[j] + ab + 2.0 * t)
        share[j] = nearness
        for _ in range(sharpness - 1):
            share[j] *= nearness
        force[j] = 0.5 * step / t
    total, rest = 0.0, 0.0
    for j in range(positives, listed):
        total += share[j]
    for j in range(listed, count):
        rest += share[j]
    scale = others / max(1, count - listed)
    total += scale * rest
    for j in range(listed, count):
        share[j] *= scale
    loss, inverse = 0.0, 0.0
    for j in range(positives):
        together = share[j] + total
        loss += math.log(together / share[j])
        inverse += 1.0 / together
        share[j] = -(1.0 - share[j] / together)
    clamped = 0
    along = 0.0
    for j in range(count):
        if j >= positives:
            share[j] *= inverse
        push = share[j]
        both = push * force[j]
        along += both * gap2[j]
        # Seen from the other side; a small share moves a node rarely and then further (`steps`).
        if j >= positives and push < SMALL_SHARE:
            push = SMALL_SHARE if dice[j] * SMALL_SHARE < push else 0.0
        if push != 0.0:
            pull = push * force[j] * rim[j]
            row = vectors[chosen[j]]
            for k in range(dim):
                row[k] += pull * (gap2[j] * x[k, j] + rim[j] * (x[k, j] - u[k]))
            clamped += clamp(row, bound)
        force[j] = both
    row = vectors[head]
    for k in range(dim):
        away = 0.0
        for j in range(count):
            away += force[j] * (u[k] - x[k, j])
        row[k] += a * (along * u[k] + a * away)
    return loss, clamped + clamp(row, bound)
