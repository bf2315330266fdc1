"""One positive pair (A, B) with its negatives: the loss of equation 2 and its gradient step, per geometry.

    L = d(A, B) + log sum_j exp(-d(A, x_j)),    x_0 = B, x_1 .. x_m the negatives,

whose derivative with respect to the j-th distance is  [j = 0] - p_j  with  p_j = exp(-d_j) / sum_i exp(-d_i).

The vectors x_j are gathered transposed, coordinate by coordinate, so that every inner loop runs over j and vectorises
whatever the dimension. Distances come from ratios and square roots alone: no exponential, no logarithm in those loops.
A always moves by the gradient over all j. A negative with a small share p_j < SMALL_SHARE moves only with probability
p_j / SMALL_SHARE, and then as if its share were SMALL_SHARE: the same on average, at a fraction of the writes.

Each step takes `vectors` (n, width), changed in place; `head`, the row of A; `chosen` (m+1,), the rows of B and the
negatives, of which the first `count` are in use and the first `fresh` (all, or B alone) differ from the last call;
`dice`, a random number in [0, 1) for each; the `step` length; the `bound` a vector may not pass; and the scratch arrays
`x` (width, m+2), `s` (5, m+1) and `u` (width,), which keep what was gathered for the next call. It returns the loss and
the number of vectors that were clamped to `bound`. Another worker, or a repeat among the negatives, may move a vector
after it was gathered: so all formulas use the gathered copies, and rows are added to, never replaced.
"""

from __future__ import annotations

import math

import numpy as np

from .compiler import compiled

# A negative moves by at least this times the step, or not at all.
SMALL_SHARE = 0.2
# A pair whose negatives have a smaller share than this in all is done.
NEGLIGIBLE = 1e-6
# Keeps two coinciding points apart in the formulas; far below the square of any distance float64 coordinates can hold.
COINCIDENT = 1e-200
# Reordering and fusing are welcome in these sums; NaN must stay NaN, it is how a failure is noticed. Steps are inlined
# by force: a call may be bound to one copy of a step in the process that compiles and to another, ordered and rounded
# differently, in those that load it from the cache.
FAST = {"reassoc", "contract", "arcp", "nsz"}


@compiled(fastmath=FAST, forceinline=True)
def poincare_step(vectors, head, chosen, dice, count, fresh, step, bound, x, s, u):
    """Poincare ball, as Nickel & Kiela 2017: Riemannian gradient, step by addition, clamp to norm `bound`.

    With a = 1-|u|^2, b = 1-|v|^2, g = |u-v|^2 and t = sqrt(g(g+ab)):  exp(-d) = ab / (2g + ab + 2t), and the Riemannian
    gradient of d is  a (g u + a(u-v)) / 2t  at u and  b (g v + b(v-u)) / 2t  at v.
    """
    dim = vectors.shape[1]
    gap2, rim, share, pull, both = s[0], s[1], s[2], s[3], s[4]
    a = 1.0
    for k in range(dim):
        u[k] = vectors[head, k]
        a -= u[k] * u[k]
    for j in range(fresh):
        rim[j] = 1.0
        row = vectors[chosen[j]]
        for k in range(dim):
            x[k, j] = row[k]
    for k in range(dim):
        for j in range(fresh):
            rim[j] -= x[k, j] * x[k, j]
    for j in range(count):
        gap2[j] = COINCIDENT
    for k in range(dim):
        uk = u[k]
        for j in range(count):
            gap2[j] += (x[k, j] - uk) * (x[k, j] - uk)
    total = along = 0.0
    for j in range(count):
        ab = a * rim[j]
        t = math.sqrt(gap2[j] * (gap2[j] + ab))
        share[j] = ab / (2.0 * gap2[j] + ab + 2.0 * t)
        pull[j] = 0.5 * step / t
        both[j] = share[j] * pull[j]
        total += share[j]
        along += both[j] * gap2[j]
    loss = math.log(total / share[0])
    excess = 1.0 - share[0] / total
    if excess < NEGLIGIBLE:
        return loss, 0
    clamped = 0
    for j in range(count):
        force = excess
        if j > 0:
            if share[j] <= SMALL_SHARE * dice[j] * total:
                continue
            force = -max(share[j] / total, SMALL_SHARE)
        force *= pull[j] * rim[j]
        row = vectors[chosen[j]]
        for k in range(dim):
            row[k] -= force * (gap2[j] * x[k, j] + rim[j] * (x[k, j] - u[k]))
        clamped += clamp(row, bound)
    along = pull[0] * gap2[0] - along / total
    row = vectors[head]
    for k in range(dim):
        uk = u[k]
        away = 0.0
        for j in range(count):
            away += both[j] * (uk - x[k, j])
        away = pull[0] * (uk - x[k, 0]) - away / total
        row[k] -= a * (along * uk + a * away)
    return loss, clamped + clamp(row, bound)


@compiled(fastmath=FAST, forceinline=True)
def clamp(point, bound):
    """Pull a ball point back to norm `bound`; 1 if it was beyond."""
    norm2 = 0.0
    for k in range(point.size):
        norm2 += point[k] * point[k]
    if norm2 <= bound * bound:
        return 0
    shrink = bound / math.sqrt(norm2)
    for k in range(point.size):
        point[k] *= shrink
    return 1


@compiled(fastmath=FAST, forceinline=True)
def lorentz_step(vectors, head, chosen, dice, count, fresh, step, bound, x, s, u):
    """Hyperboloid, as Nickel & Kiela 2018: Riemannian gradient, exact exponential map. Entry 0 of a vector is time.

    With r = |spatial part|, t = time and e = (t_u + r_u)/(t_v + r_v), the stable form of the inner product is
    z = cosh d - 1 = (e-1)^2/(2e) + r_u r_v |u/r_u - v/r_v|^2 / 2, and exp(-d) = 1/(1 + z + w) with w = sinh d =
    sqrt(z(2+z)). The gradient of d at u is the unit tangent vector ((1+z) u - v)/w; `bound` limits the spatial norm.
    """
    dim = vectors.shape[1] - 1
    move = x[:, count]
    z, norm, share, sine = s[0], s[1], s[2], s[3]
    u[0] = vectors[head, 0]
    norm_u = COINCIDENT
    for k in range(1, dim + 1):
        u[k] = vectors[head, k]
        norm_u += u[k] * u[k]
    norm_u = math.sqrt(norm_u)
    for j in range(fresh):
        norm[j] = COINCIDENT
        row = vectors[chosen[j]]
        for k in range(dim + 1):
            x[k, j] = row[k]
    for k in range(1, dim + 1):
        for j in range(fresh):
            norm[j] += x[k, j] * x[k, j]
    for j in range(fresh):
        norm[j] = math.sqrt(norm[j])
    for j in range(count):
        z[j] = 0.0
        s[4, j] = 1.0 / norm[j]
    for k in range(1, dim + 1):
        uk = u[k] / norm_u
        for j in range(count):
            z[j] += (uk - x[k, j] * s[4, j]) * (uk - x[k, j] * s[4, j])
    total = 0.0
    for j in range(count):
        e = (u[0] + norm_u) / (x[0, j] + norm[j])
        z[j] = 0.5 * ((e - 1.0) * (e - 1.0) / e + norm_u * norm[j] * z[j]) + COINCIDENT
        sine[j] = math.sqrt(z[j] * (2.0 + z[j]))
        share[j] = 1.0 / (1.0 + z[j] + sine[j])
        total += share[j]
    loss = math.log(total / share[0])
    excess = 1.0 - share[0] / total
    if excess < NEGLIGIBLE:
        return loss, 0
    along = 0.0
    for j in range(count):
        share[j] /= total
        s[4, j] = step * share[j] / sine[j]
        along += s[4, j] * z[j]
    along -= step * z[0] / sine[0]
    s[4, 0] -= step / sine[0]
    clamped = 0
    for j in range(count):
        slide = -step * excess
        if j > 0:
            if share[j] <= SMALL_SHARE * dice[j]:
                continue
            slide = step * max(share[j], SMALL_SHARE)
        # By `slide` along the geodesic away from u:  v cosh(slide) + ((1+z) v - u)/w sinh(slide).
        cosh_less_1, sinh = 2.0 * math.sinh(0.5 * slide) ** 2, math.sinh(slide) / sine[j]
        row = vectors[chosen[j]]
        for k in range(1, dim + 1):
            row[k] += cosh_less_1 * x[k, j] + sinh * (z[j] * x[k, j] + (x[k, j] - u[k]))
        clamped += settle(row, bound)
    # u moves along the sum of its tangent vectors, (1+z) u - v = z u + (u - v).
    for k in range(1, dim + 1):
        away = 0.0
        for j in range(count):
            away += s[4, j] * (u[k] - x[k, j])
        move[k] = along * u[k] + away
    # Lorentz length of that vector, radial and transversal part apart: the plain inner product cancels.
    radial = 0.0
    for k in range(1, dim + 1):
        radial += u[k] / norm_u * move[k]
    length2 = (radial / u[0]) * (radial / u[0]) + COINCIDENT
    for k in range(1, dim + 1):
        across = move[k] - radial * (u[k] / norm_u)
        length2 += across * across
    length = math.sqrt(length2)
    cosh_less_1, sinh = 2.0 * math.sinh(0.5 * length) ** 2, math.sinh(length) / length
    row = vectors[head]
    for k in range(1, dim + 1):
        row[k] += cosh_less_1 * u[k] + sinh * move[k]
    return loss, clamped + settle(row, bound)


@compiled
def settle(point, bound):
    """Put a hyperboloid point back on the sheet: clamp its spatial norm to `bound`, recompute time. 1 if clamped."""
    norm2 = 0.0
    for k in range(1, point.size):
        norm2 += point[k] * point[k]
    clamped = 0
    if norm2 > bound * bound:
        clamped = 1
        shrink = bound / math.sqrt(norm2)
        for k in range(1, point.size):
            point[k] *= shrink
        norm2 = bound * bound
    point[0] = math.sqrt(1.0 + norm2)
    return clamped


@compiled(fastmath=FAST, forceinline=True)
def euclidean_step(vectors, head, chosen, dice, count, fresh, step, bound, x, s, u):
    """Euclidean space with the true distance d = |u-v|; its gradient at u is (u-v)/d. There is no bound.

    exp(-t) is a Taylor polynomial at t/1024, squared ten times: accurate to 1e-10, and it vectorises.
    """
    dim = vectors.shape[1]
    distance, share, force = s[0], s[1], s[2]
    for k in range(dim):
        u[k] = vectors[head, k]
    for j in range(fresh):
        row = vectors[chosen[j]]
        for k in range(dim):
            x[k, j] = row[k]
    for j in range(count):
        distance[j] = COINCIDENT
    for k in range(dim):
        uk = u[k]
        for j in range(count):
            distance[j] += (uk - x[k, j]) * (uk - x[k, j])
    nearest = np.inf
    for j in range(count):
        distance[j] = math.sqrt(distance[j])
        nearest = min(nearest, distance[j])
    total = 0.0
    for j in range(count):
        t = max(nearest - distance[j], -80.0) / 1024.0
        e = 1.0 + t * (1.0 + t / 2.0 * (1.0 + t / 3.0 * (1.0 + t / 4.0 * (1.0 + t / 5.0 * (1.0 + t / 6.0)))))
        for _ in range(10):
            e *= e
        share[j] = e
        total += e
    loss = math.log(total / share[0])
    excess = 1.0 - share[0] / total
    if excess < NEGLIGIBLE:
        return loss, 0
    for j in range(count):
        share[j] /= total
        force[j] = step * share[j] / distance[j]
    force[0] -= step / distance[0]
    for j in range(count):
        slide = -step * excess
        if j > 0:
            if share[j] <= SMALL_SHARE * dice[j]:
                continue
            slide = step * max(share[j], SMALL_SHARE)
        slide /= distance[j]
        row = vectors[chosen[j]]
        for k in range(dim):
            row[k] += slide * (x[k, j] - u[k])
    for k in range(dim):
        uk = u[k]
        away = 0.0
        for j in range(count):
            away += force[j] * (uk - x[k, j])
        vectors[head, k] += away
    return loss, 0
