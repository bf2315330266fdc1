"""A step of all nodes at once down a sharp softmax over all nodes: the gradient, and Adam on the ball.

    L_A = 1/|P| sum_{p in P} log(1 + sum_x exp(k (d(A, p) - d(A, x)))),    x over the nodes that are no positives of A

The nearest x rule a sharp softmax. They are listed (`near`) and summed exactly; the others are estimated by a uniform
sample, each for its share. Positives are left out of the sum by name, not subtracted: with a sharp softmax they would
drown it. The largest term is shifted out, so that no sharpness overflows. Nodes that are neither positives nor others
(`left_out`) count for nothing.

A positive that is hopelessly far pulls as hard as it can, and with it many that could be in their places. Forgiveness f
lets it: the pull of p is multiplied by the f-th power of 1 / (1 + sum_x ...), its share in the softmax.

Gradients are given in an orthonormal frame: that of d(u, v) at u is the unit vector
(s u + a (u - v)) / (a b sqrt(q (1 + q))), with the letters of `geometry.poincare`.
"""

from __future__ import annotations

import math

import numpy as np

from .compiler import compiled
from .near_and_sampled import choose_nodes
from .negatives import stream
from .steps import COINCIDENT

# The decay of Adam's two moments, and what keeps a node without a gradient in its place.
DECAY_FIRST, DECAY_SECOND, TINY = 0.9, 0.99, 1e-12
# Forces below this share of the largest possible move nobody.
NEGLIGIBLE = 1e-12


@compiled
def sharp_gradient(
    vectors, heads, positive_ptr, positive_idx, left_out_ptr, left_out_idx, near, samples, sharpness, forgiveness,
    epoch, seed, worker, workers, gradient,
):  # fmt: skip
    """Add one worker's share of the gradient to `gradient` (n, d), in frames; -> loss, and -1 or the node of a failure.

    Parameters
    ----------
    vectors : float64 (n, d)
    heads : int32 (m,), nodes with positives
    positive_ptr, positive_idx : CSR of the positives of every node, ascending
    left_out_ptr, left_out_idx : CSR of those that are never compared with, the positives among them, ascending
    near : int32 (n, k), non-positives near each node, ascending; -1 for none
    samples : uniform nodes drawn for each head
    sharpness : float, the factor k on distances
    forgiveness : float, the exponent f; the loss that is returned is that without
    epoch, seed, worker, workers : fix the random stream, and which share of the heads is visited
    """
    n, dim = vectors.shape
    most = 0
    for i in range(heads.size):
        most = max(most, positive_ptr[heads[i] + 1] - positive_ptr[heads[i]])
    room = most + near.shape[1] + samples
    chosen = np.empty(room, np.int64)
    far, share, force, gap2, rim = np.empty(room), np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    u = np.empty(dim)
    state = stream(seed, epoch, worker)
    loss = 0.0
    for place in range(heads.size * worker // workers, heads.size * (worker + 1) // workers):
        head = heads[place]
        positives, listed, count, state = choose_nodes(
            head, n, positive_ptr, positive_idx, left_out_ptr, left_out_idx, near, samples, state, chosen
        )
        if positives == count:
            continue
        a = 1.0
        for k in range(dim):
            u[k] = vectors[head, k]
            a -= u[k] * u[k]
        nearest = np.inf  # of the non-positives
        for j in range(count):
            row = vectors[chosen[j]]
            b, s = 1.0, COINCIDENT
            for k in range(dim):
                b -= row[k] * row[k]
                s += (row[k] - u[k]) * (row[k] - u[k])
            q = s / (a * b)
            far[j] = 2.0 * math.asinh(math.sqrt(q))
            force[j] = 1.0 / (a * b * math.sqrt(q * (1.0 + q)))
            gap2[j], rim[j] = s, b
            if j >= positives:
                nearest = min(nearest, far[j])
        # All terms in units of that of the nearest non-positive.
        scale = max(0.0, n - 1.0 - listed) / max(1, count - listed)
        total = 0.0
        for j in range(positives, count):
            share[j] = math.exp(sharpness * (nearest - far[j])) * (scale if j >= listed else 1.0)
            total += share[j]
        inverse = 0.0
        for j in range(positives):
            x = sharpness * (far[j] - nearest) + math.log(total)  # log of Z / w(p)
            share[j] = 1.0 / (1.0 + math.exp(-x))
            loss += (x + math.log1p(math.exp(-x)) if x > 0.0 else math.log1p(math.exp(x))) / positives
            if forgiveness > 0.0:
                share[j] *= (1.0 + math.exp(x)) ** -forgiveness
            inverse -= share[j] / total
        weight = sharpness / positives
        for j in range(count):
            # How much the loss grows with the distance: positives are drawn near, the others pushed away.
            push = weight * (share[j] if j < positives else share[j] * inverse)
            if abs(push) < NEGLIGIBLE * weight:
                continue
            row = vectors[chosen[j]]
            f = push * force[j]
            for k in range(dim):
                gradient[head, k] += f * (gap2[j] * u[k] + a * (u[k] - row[k]))
                gradient[chosen[j], k] += f * (gap2[j] * row[k] + rim[j] * (row[k] - u[k]))
        if not math.isfinite(loss):
            return loss, head
    return loss, -1


@compiled
def adam_step(vectors, gradient, first, second, rate, number, bound):
    """Move all nodes against their gradients (n, d) along geodesics; -> how many were held at the norm `bound`.

    The first moment (n, d) is a vector in the frame of each node, the second (n,) one number; `number` counts the steps
    since both were zero, from 1.
    """
    n, dim = vectors.shape
    fresh_first, fresh_second = 1.0 - DECAY_FIRST**number, 1.0 - DECAY_SECOND**number
    way = np.empty(dim)
    clamped = 0
    for i in range(n):
        square = 0.0
        for k in range(dim):
            square += gradient[i, k] * gradient[i, k]
            first[i, k] = DECAY_FIRST * first[i, k] + (1.0 - DECAY_FIRST) * gradient[i, k]
        second[i] = DECAY_SECOND * second[i] + (1.0 - DECAY_SECOND) * square
        length2 = 0.0
        factor = -rate / (fresh_first * (math.sqrt(second[i] / fresh_second) + TINY))
        for k in range(dim):
            way[k] = factor * first[i, k]
            length2 += way[k] * way[k]
        if length2 == 0.0:
            continue
        length = math.sqrt(length2)
        # The point tanh(length / 2) away from the origin, and Moebius addition by displacement.
        shrink = math.tanh(0.5 * length) / length
        xx, xy, yy = 0.0, 0.0, shrink * shrink * length2
        for k in range(dim):
            way[k] *= shrink
            xx += vectors[i, k] * vectors[i, k]
            xy += vectors[i, k] * way[k]
        reach = (1.0 - xx) / (1.0 + 2.0 * xy + xx * yy)
        norm2 = 0.0
        for k in range(dim):
            vectors[i, k] += reach * (way[k] + yy * vectors[i, k])
            norm2 += vectors[i, k] * vectors[i, k]
        if norm2 > bound * bound:
            clamped += 1
            for k in range(dim):
                vectors[i, k] *= bound / math.sqrt(norm2)
    return clamped
