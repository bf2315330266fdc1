"""A step of all nodes at once down a sharp softmax over all nodes: the gradient, and Adam on the ball.

    L_A = 1/|P| sum_{p in P} log(1 + sum_x exp(k (d(A, p) - d(A, x)))),    x over the nodes that are no positives of A

The nearest x rule a sharp softmax. They are listed (`near`) and summed exactly; the others are estimated by a uniform
sample, each for its share, which some heads that follow each other have in common. Positives are left out of the sum by
name, not subtracted: with a sharp softmax they would drown it. The largest term is shifted out, so that no sharpness
overflows. Nodes that are neither positives nor others (`left_out`) count for nothing.

A positive that is hopelessly far pulls as hard as it can, and with it many that could be in their places. Forgiveness f
lets it: the pull of p is multiplied by the f-th power of 1 / (1 + sum_x ...), its share in the softmax.

Gradients are given in an orthonormal frame: that of d(u, v) at u is the unit vector
(s u + a (u - v)) / (a b sqrt(q (1 + q))), with the letters of `geometry.poincare`.
"""

from __future__ import annotations

import math

import numpy as np

from .compiler import compiled
from .negatives import GOLDEN, below, mix, stream
from .rank import contains
from .steps import COINCIDENT

# The decay of Adam's two moments, and what keeps a node without a gradient in its place.
DECAY_FIRST, DECAY_SECOND, TINY = 0.9, 0.99, 1e-12
# Forces below this share of the largest possible move nobody.
NEGLIGIBLE = 1e-12
# Half a distance that no two points of the ball have.
MOST_HALF = 100.0
# Heads that have a sample in common.
GROUP = 16


@compiled
def sharp_gradient(
    vectors, heads, positive_ptr, positive_idx, left_out_ptr, left_out_idx, near, samples, sharpness, forgiveness,
    epoch, seed, worker, workers, gradient,
):  # fmt: skip
    """Add one worker's share of the gradient to `gradient` (n, d), in frames; -> loss, and -1 or the node of a failure.

    Parameters
    ----------
    vectors : float64 (n, d)
    heads : int32 (m,), nodes with positives; those that have nodes near them in common should follow each other
    positive_ptr, positive_idx : CSR of the positives of every node, ascending
    left_out_ptr, left_out_idx : CSR of those that are never compared with, the positives among them, ascending
    near : int32 (n, k), non-positives near each node, ascending; -1 for none
    samples : uniform nodes drawn for each head
    sharpness : float, the factor k on distances
    forgiveness : float, the exponent f; the loss that is returned is that without
    epoch, seed : fix the random numbers
    worker, workers : which share of the heads is visited
    """
    n, dim = vectors.shape
    most = 0
    for i in range(heads.size):
        most = max(most, positive_ptr[heads[i] + 1] - positive_ptr[heads[i]])
    room = most + near.shape[1] + samples
    chosen = np.empty(room, np.int64)
    key, far, share, force, gap2, rim = np.empty((6, room))
    drawn, drawn_gap2, drawn_rim = np.empty(samples, np.int64), np.empty(samples), np.empty(samples)
    columns = np.empty((dim, samples))
    u, pull = np.empty(dim), np.empty(dim)
    loss = 0.0
    for place in range(heads.size):
        group = place // GROUP
        if group % workers != worker:
            continue
        if place % GROUP == 0:
            _draw(vectors, stream(seed, epoch, group), drawn, columns, drawn_rim)
        head = heads[place]
        a = 1.0
        for k in range(dim):
            u[k] = vectors[head, k]
            a -= u[k] * u[k]
        # Positives, then what is listed, and what of the sample is neither.
        positives = 0
        for j in range(positive_ptr[head], positive_ptr[head + 1]):
            chosen[positives] = positive_idx[j]
            positives += 1
        count = positives
        for j in range(near.shape[1]):
            if near[head, j] >= 0:
                chosen[count] = near[head, j]
                count += 1
        listed = count
        least = np.inf
        for j in range(count):
            row = vectors[chosen[j]]
            b, s = 1.0, COINCIDENT
            for k in range(dim):
                b -= row[k] * row[k]
                s += (row[k] - u[k]) * (row[k] - u[k])
            gap2[j], rim[j], key[j] = s, b, s / (a * b)
            if j >= positives:
                least = min(least, key[j])
        # Most of a sample is too far to count beside the nearest: that is not worth looking up, nor a logarithm.
        weight = n / max(1, samples)
        limit = _negligible_from(least, sharpness, weight)
        for j in range(samples):
            drawn_gap2[j] = COINCIDENT
        for k in range(dim):
            for j in range(samples):
                drawn_gap2[j] += (columns[k, j] - u[k]) * (columns[k, j] - u[k])
        for j in range(samples):
            q = drawn_gap2[j] / (a * drawn_rim[j])
            if q >= limit or drawn[j] == head or contains(near[head], 0, near.shape[1], drawn[j]):
                continue  # what is listed counts there, and only there
            if not contains(left_out_idx, left_out_ptr[head], left_out_ptr[head + 1], drawn[j]):
                chosen[count], gap2[count], rim[count], key[count] = drawn[j], drawn_gap2[j], drawn_rim[j], q
                least = min(least, q)
                count += 1
        if positives == count:
            continue
        # All terms in units of that of the nearest non-positive.
        nearest = 2.0 * math.asinh(math.sqrt(least))
        limit = _negligible_from(least, sharpness, weight)
        total = 0.0
        for j in range(count):
            share[j] = 0.0
            if j < positives or key[j] < limit:
                far[j] = 2.0 * math.asinh(math.sqrt(key[j]))
                force[j] = 1.0 / (a * rim[j] * math.sqrt(key[j] * (1.0 + key[j])))
            if j >= positives and key[j] < limit:
                share[j] = math.exp(sharpness * (nearest - far[j])) * (weight if j >= listed else 1.0)
                total += share[j]
        inverse = 0.0
        for j in range(positives):
            x = sharpness * (far[j] - nearest) + math.log(total)  # log of Z / w(p)
            share[j] = 1.0 / (1.0 + math.exp(-x))
            loss += (x + math.log1p(math.exp(-x)) if x > 0.0 else math.log1p(math.exp(x))) / positives
            if forgiveness > 0.0:
                share[j] *= (1.0 + math.exp(x)) ** -forgiveness
            inverse -= share[j] / total
        pull[:] = 0.0
        for j in range(count):
            # How much the loss grows with the distance: positives are drawn near, the others pushed away.
            push = share[j] if j < positives else share[j] * inverse
            if abs(push) < NEGLIGIBLE:
                continue
            row = vectors[chosen[j]]
            f = push * force[j] * sharpness / positives
            for k in range(dim):
                pull[k] += f * (gap2[j] * u[k] + a * (u[k] - row[k]))
                gradient[chosen[j], k] += f * (gap2[j] * row[k] + rim[j] * (row[k] - u[k]))
        for k in range(dim):
            gradient[head, k] += pull[k]
        if not math.isfinite(loss):
            return loss, head
    return loss, -1


@compiled
def _draw(vectors, state, drawn, columns, rim):
    """Draw a uniform sample: its nodes, their coordinates in columns, and 1 - |x|²."""
    n, dim = vectors.shape
    for j in range(drawn.size):
        state += GOLDEN
        drawn[j] = below(mix(state), n)
        rim[j] = 1.0
        for k in range(dim):
            columns[k, j] = vectors[drawn[j], k]
            rim[j] -= columns[k, j] * columns[k, j]


@compiled
def _negligible_from(least, sharpness, weight):
    """The key q from which a node, `weight` times, counts for nothing beside one with the key `least`."""
    if least == np.inf:
        return np.inf
    half = math.asinh(math.sqrt(least)) + 0.5 * math.log(max(1.0, weight) / NEGLIGIBLE) / sharpness
    return math.sinh(min(half, MOST_HALF)) ** 2


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
