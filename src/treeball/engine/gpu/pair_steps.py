"""One epoch of equation 2 in one launch: every pair against random nodes, as `engine.cpu.steps` has it.

A program takes one pair after the other; all work on the same vectors without locks, and what they add is added
atomically. Negatives are lanes, coordinates are columns. Whoever moves a vector beyond the bound pulls it back at once;
whoever reads it in between sees it pulled back.
"""

from __future__ import annotations

import triton
import triton.language as tl

from .random_bits import GOLDEN, draw, mix

__all__ = ["EUCLIDEAN", "LORENTZ", "POINCARE", "put_on_sheet", "train_epoch"]

EUCLIDEAN, POINCARE, LORENTZ = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)
# As in engine.cpu.steps.
SMALL_SHARE = tl.constexpr(0.2)
NEGLIGIBLE = tl.constexpr(1e-6)
COINCIDENT = tl.constexpr(1e-200)

# Other numbers are no reason to compile anew.
_NUMBERS = ["n", "n_pairs", "n_lots", "offset", "stride", "key"]


@triton.jit(do_not_specialize=_NUMBERS)
def train_epoch(
    vectors, heads, tails, weights, positive_ptr, positive_idx, lots, sums,
    failed, steps, bounds, n, n_pairs, n_lots, offset, stride, key,
    GEOMETRY: tl.constexpr, NEGATIVES: tl.constexpr, DIM: tl.constexpr, LANES: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Visit the pairs offset + i * stride (mod n_pairs), each program every so many-th.

    Parameters
    ----------
    vectors : float64 (n, DIM)
    sums : float64 (3,), out
        Weighted loss, weight and the number of vectors that were pulled back are added.
    failed : int64 (1,), out
        A node whose loss is no number.
    steps, bounds : float64 (1,)
        Step of a pair, and largest norm: numbers that are given as such would be rounded to float32.
    """
    program, programs = tl.program_id(0).to(tl.int64), tl.num_programs(0)
    lane, axis = tl.arange(0, LANES), tl.arange(0, WIDTH)
    inside = axis < DIM
    step, bound = tl.load(steps), tl.load(bounds)
    losses, weighed, clamped = tl.zeros((), tl.float64), tl.zeros((), tl.float64), tl.zeros((), tl.float64)
    for place in range(program, n_pairs, programs):
        pair = (offset + place * stride) % n_pairs
        head, tail = tl.load(heads + pair).to(tl.int64), tl.load(tails + pair).to(tl.int64)
        weight = tl.load(weights + pair)
        first, last = tl.load(positive_ptr + head), tl.load(positive_ptr + head + 1)
        state = mix(key + pair.to(tl.uint64) * GOLDEN)
        nodes, dice, free = draw(state, lane, n, lots, n_lots, head, positive_idx, first, last)
        nodes = tl.where(lane == 0, tail, nodes)
        used = (lane == 0) | (free & (lane <= NEGATIVES))
        # Other programs move these vectors: what lies in the cache of one processor may be old.
        u = tl.load(vectors + head * DIM + axis, mask=inside, other=0.0, cache_modifier=".cg")
        rows = vectors + nodes[:, None] * DIM + axis[None, :]
        within = used[:, None] & inside[None, :]
        x = tl.load(rows, mask=within, other=0.0, cache_modifier=".cg")
        if GEOMETRY == POINCARE:
            loss, excess, move, moves, to_u = _poincare(u, x, used, lane, dice, step * weight, bound)
        elif GEOMETRY == LORENTZ:
            loss, excess, move, moves, to_u = _lorentz(u, x, used, lane, dice, step * weight, bound, axis)
        else:
            loss, excess, move, moves, to_u = _euclidean(u, x, used, lane, dice, step * weight)
        if not (loss < float("inf")):
            tl.atomic_max(failed, head)
        losses += weight * loss
        weighed += weight
        if excess >= NEGLIGIBLE:
            clamped += _add(rows, x, move, within & moves[:, None], bound, axis, GEOMETRY)
            own_row = (vectors + head * DIM + axis)[None, :]
            clamped += _add(own_row, u[None, :], to_u[None, :], inside[None, :], bound, axis, GEOMETRY)
    tl.atomic_add(sums, losses, sem="relaxed")
    tl.atomic_add(sums + 1, weighed, sem="relaxed")
    tl.atomic_add(sums + 2, clamped, sem="relaxed")


@triton.jit
def _add(rows, x, move, moving, bound, axis, GEOMETRY: tl.constexpr):
    """Add to rows that were read as `x`; those that end beyond the bound are written at the bound, and counted."""
    beyond = tl.zeros((), tl.float64)
    if GEOMETRY != EUCLIDEAN:
        new = tl.where(moving, x + move, 0.0)
        if GEOMETRY == LORENTZ:
            new = tl.where(axis[None, :] == 0, 0.0, new)
        norm2 = tl.sum(new * new, axis=1)
        back = norm2 > bound * bound
        beyond += tl.sum(back.to(tl.float64))
        if beyond > 0.0:
            shrink = tl.where(back, bound / tl.sqrt(norm2), 1.0)
            tl.store(rows, new * shrink[:, None], mask=moving & back[:, None])
        moving &= (back == 0)[:, None]  # what is no number is added, so that it is noticed
    tl.atomic_add(rows, move, mask=moving, sem="relaxed")
    return beyond


@triton.jit
def _moving(share, total, excess, used, lane, dice):
    """Who moves, B always, and by which part of a step."""
    moves = used & ((lane == 0) | (share > SMALL_SHARE * dice * total))
    force = tl.where(lane == 0, excess, -tl.maximum(share / total, SMALL_SHARE))
    return moves, force


@triton.jit
def _first(values, lane):
    return tl.sum(tl.where(lane == 0, values, 0.0))


@triton.jit
def _poincare(u, x, used, lane, dice, step, bound):
    """The Riemannian gradient in the ball, step by addition."""
    norm2 = tl.sum(u * u)
    u = tl.where(norm2 > bound * bound, u * (bound / tl.sqrt(norm2)), u)
    norms2 = tl.sum(x * x, axis=1)
    x = tl.where((norms2 > bound * bound)[:, None], x * (bound / tl.sqrt(norms2))[:, None], x)
    least = 1.0 - bound * bound
    a = tl.maximum(1.0 - tl.sum(u * u), least)
    rim = tl.maximum(1.0 - tl.sum(x * x, axis=1), least)
    apart = x - u[None, :]
    gap2 = tl.sum(apart * apart, axis=1) + COINCIDENT
    ab = a * rim
    t = tl.sqrt(gap2 * (gap2 + ab))
    share = tl.where(used, ab / (2.0 * gap2 + ab + 2.0 * t), 0.0)
    pull = 0.5 * step / t
    total, first = tl.sum(share), _first(share, lane)
    loss, excess = tl.log(total / first), 1.0 - first / total
    moves, force = _moving(share, total, excess, used, lane, dice)
    move = -(force * pull * rim)[:, None] * (gap2[:, None] * x + rim[:, None] * apart)
    # [j = 0] - p_j
    each = tl.where(used, (tl.where(lane == 0, 1.0, 0.0) - share / total) * pull, 0.0)
    away = -tl.sum(each[:, None] * apart, axis=0)
    to_u = -a * (tl.sum(each * gap2) * u + a * away)
    return loss, excess, move, moves, to_u


@triton.jit
def _lorentz(u, x, used, lane, dice, step, bound, axis):
    """The exact exponential map on the hyperboloid. Column 0 is time, and follows from the others."""
    u, x = tl.where(axis == 0, 0.0, u), tl.where(axis[None, :] == 0, 0.0, x)
    norm_u = tl.sqrt(tl.sum(u * u) + COINCIDENT)
    u = tl.where(norm_u > bound, u * (bound / norm_u), u)
    norm_u = tl.minimum(norm_u, bound)
    norm = tl.sqrt(tl.sum(x * x, axis=1) + COINCIDENT)
    x = tl.where((norm > bound)[:, None], x * (bound / norm)[:, None], x)
    norm = tl.minimum(norm, bound)
    time_u = tl.sqrt(1.0 + norm_u * norm_u)
    turn = (u / norm_u)[None, :] - x / norm[:, None]
    e = (time_u + norm_u) / (tl.sqrt(1.0 + norm * norm) + norm)
    z = 0.5 * ((e - 1.0) * (e - 1.0) / e + norm_u * norm * tl.sum(turn * turn, axis=1)) + COINCIDENT
    sine = tl.sqrt(z * (2.0 + z))
    share = tl.where(used, 1.0 / (1.0 + z + sine), 0.0)
    total, first = tl.sum(share), _first(share, lane)
    loss, excess = tl.log(total / first), 1.0 - first / total
    moves, force = _moving(share, total, excess, used, lane, dice)
    apart = x - u[None, :]
    slide = -step * force
    cosh_less_1, sinh = _cosh_less_1(slide), _sinh(slide)
    move = cosh_less_1[:, None] * x + (sinh / sine)[:, None] * (z[:, None] * x + apart)
    each = tl.where(used, (share / total - tl.where(lane == 0, 1.0, 0.0)) * step / sine, 0.0)
    tangent = tl.sum(each * z) * u - tl.sum(each[:, None] * apart, axis=0)
    # Lorentz length of that vector, radial and transversal part apart: the plain inner product cancels.
    radial = tl.sum(u / norm_u * tangent)
    across = tangent - radial * (u / norm_u)
    length = tl.sqrt((radial / time_u) * (radial / time_u) + tl.sum(across * across) + COINCIDENT)
    to_u = _cosh_less_1(length) * u + _sinh(length) / length * tangent
    return loss, excess, move, moves, to_u


@triton.jit
def _sinh(t):
    # The series where the difference of exponentials would cancel.
    return tl.where(tl.abs(t) < 0.01, t * (1.0 + t * t / 6.0 * (1.0 + t * t / 20.0)), 0.5 * (tl.exp(t) - tl.exp(-t)))


@triton.jit
def _cosh_less_1(t):
    half = _sinh(0.5 * t)
    return 2.0 * half * half


@triton.jit
def _euclidean(u, x, used, lane, dice, step):
    """The plain gradient; the nearest is shifted out of the exponentials."""
    apart = x - u[None, :]
    distance = tl.sqrt(tl.sum(apart * apart, axis=1) + COINCIDENT)
    nearest = tl.min(tl.where(used, distance, float("inf")))
    share = tl.where(used, tl.exp(nearest - distance), 0.0)
    total, first = tl.sum(share), _first(share, lane)
    loss, excess = tl.log(total / first), 1.0 - first / total
    moves, force = _moving(share, total, excess, used, lane, dice)
    move = -(step * force / distance)[:, None] * apart
    each = tl.where(used, (share / total - tl.where(lane == 0, 1.0, 0.0)) * step / distance, 0.0)
    to_u = -tl.sum(each[:, None] * apart, axis=0)
    return loss, excess, move, moves, to_u


@triton.jit(do_not_specialize=["n"])
def put_on_sheet(vectors, n, DIM: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Recompute the time of points of the hyperboloid, column 0, from the others."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    axis = tl.arange(0, WIDTH)
    within = (row < n)[:, None] & (axis > 0) & (axis < DIM)[None, :]
    x = tl.load(vectors + row[:, None] * DIM + axis[None, :], mask=within, other=0.0)
    tl.store(vectors + row * DIM, tl.sqrt(1.0 + tl.sum(x * x, axis=1)), mask=row < n)
