"""What the softmax over all nodes needs of all pairs of nodes, in tiles: no distance is ever stored.

A program owns ROWS nodes u and passes over all nodes v, COLS at a time and AHEAD
such tiles in one turn of the loop. Differences u - v are formed coordinate by
coordinate: |u|² + |v|² - 2uv would cancel near the rim. Two passes make a step. `add_up` sums what each u sees:

    Z(u) = sum_v exp(shift(u) - k d(u, v))

When that is known, the pull of a pair is the same seen from both its ends but for the direction, so that one pass,
`pull_all`, adds up what u does as a head and what it suffers as one of the others:

    sum_v (exp(L(u) - k d) + exp(L(v) - k d)) (s u + a (u - v)) / (a b sqrt(q (1 + q)))

with the letters of `geometry.poincare`. All is float64, but for the first guess of a reciprocal and of a root. Shifts
and levels are exponents to the base 2. Where k is a whole number, exp(-k d) is a product of a few powers of exp(-d).

Nodes lie in blocks of BLOCK in a table (blocks, DIM + 2, BLOCK): coordinates, then 1 / (1 - |x|²), then the shift
or the level of each. A mark of a pair of blocks says that all of it counts (`PLAIN`), that bits say who is left out
(`MASKED`), or that it is too far to count at all (`FAR`).
"""

from __future__ import annotations

import triton
import triton.language as tl

from .powers import inverse_root, log2, power_of_2, reciprocal, whole_power

__all__ = ["BLOCK", "COINCIDENT", "FAR", "LEAST", "MASKED", "PLAIN", "TOTAL", "add_up", "pull_all"]

BLOCK = tl.constexpr(128)
# The square of half a distance below which nodes are in one place.
COINCIDENT = tl.constexpr(1e-36)
PLAIN, MASKED, FAR = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)
# What `add_up` finds: the sum, or the least key q.
TOTAL, LEAST = tl.constexpr(0), tl.constexpr(1)


@triton.jit
def _own(table, row, DIM: tl.constexpr):
    """Coordinates of the rows, a tensor each; where they lie in the table."""
    place = table + (row // BLOCK) * ((DIM + 2) * BLOCK) + row % BLOCK
    u = ()
    for k in tl.static_range(DIM):
        u += (tl.load(place + k * BLOCK),)  # type: ignore[assignment]
    return u, place


@triton.jit
def _gaps(u, place, DIM: tl.constexpr):
    """u - v by coordinates, (ROWS, COLS) each, and s = |u - v|²."""
    gap = u[0][:, None] - tl.load(place)[None, :]
    gaps, s = (gap,), gap * gap
    for k in tl.static_range(1, DIM):
        gap = u[k][:, None] - tl.load(place + k * BLOCK)[None, :]
        gaps += (gap,)  # type: ignore[assignment]
        s += gap * gap
    return gaps, s


@triton.jit
def _shrunk(q, k, whole, scale, WHOLE_BITS: tl.constexpr):
    """2^scale exp(-k d) and 1 / sqrt(q (1 + q)), of a key q: by logarithm and power, or by products.

    By products the power is the `whole` number k, of WHOLE_BITS bits, and `scale` is the k-th root of 2^scale.
    """
    t = q * q + q
    if WHOLE_BITS > 0:
        root = inverse_root(t)
        shrunk = whole_power(scale * reciprocal(1.0 + 2.0 * (q + t * root)), whole, WHOLE_BITS)
    else:
        root = tl.rsqrt(t)
        shrunk = power_of_2(scale - k * log2(1.0 + 2.0 * (q + t * root)))
    return shrunk, root


@triton.jit
def _is_left_out(bits, words, row, column):
    """Whether v (column) is left out for u (row); a tile."""
    word = tl.load(bits + row.to(tl.int64) * words + (column >> 5))
    return ((word >> (column & 31)) & 1) != 0


@triton.jit(do_not_specialize=["words", "blocks", "share", "whole"])
def add_up(
    table, bits, marks, numbers, out, words, blocks, share, whole,
    DIM: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr, AHEAD: tl.constexpr, WANTED: tl.constexpr,
    WHOLE_BITS: tl.constexpr,
):  # fmt: skip
    """For every u the sum Z, or the least q, over the v that are not left out.

    Parameters
    ----------
    table : float64 (blocks, DIM + 2, BLOCK)
        With the shifts; they are not used for the least.
    bits : int32 (blocks * BLOCK, words)
        Who is left out: bit v of row u.
    marks : int8 (blocks, blocks)
    numbers : float64 (2,)
        k and, where powers are products, the scale.
    out : float64 (parts, blocks * BLOCK), out
        A part of the blocks each, `share` of them.
    whole, WHOLE_BITS
        See `_shrunk`; by products the terms are not shifted, but scaled, all alike.
    """
    owned, part = tl.program_id(0), tl.program_id(1)
    row = owned * ROWS + tl.arange(0, ROWS)
    u, own = _own(table, row, DIM)
    inverse, shift = tl.load(own + DIM * BLOCK), tl.load(own + (DIM + 1) * BLOCK)
    k, scale = tl.load(numbers), tl.load(numbers + 1)
    mark_row = marks + owned * ROWS // BLOCK * blocks
    if WANTED == LEAST:  # noqa: SIM108 - of an expression both sides would be computed
        found = tl.full((ROWS, COLS), float("inf"), tl.float64)
    else:
        found = tl.zeros((ROWS, COLS), tl.float64)
    for block in range(part * share, tl.minimum(blocks, (part + 1) * share)):
        mark = tl.load(mark_row + block)
        if mark != FAR:
            for begin in range(0, BLOCK, COLS * AHEAD):
                for ahead in tl.static_range(AHEAD):
                    lane = begin + ahead * COLS + tl.arange(0, COLS)
                    place = table + block * ((DIM + 2) * BLOCK) + lane
                    _, s = _gaps(u, place, DIM)
                    q = s * (inverse[:, None] * tl.load(place + DIM * BLOCK)[None, :]) + COINCIDENT
                    if WANTED == LEAST:
                        if mark == MASKED:
                            column = block * BLOCK + lane
                            q = tl.where(_is_left_out(bits, words, row[:, None], column[None, :]), float("inf"), q)
                        found = tl.minimum(found, q)
                    else:
                        term, _ = _shrunk(q, k, whole, scale if WHOLE_BITS > 0 else shift[:, None], WHOLE_BITS)
                        if mark == MASKED:
                            column = block * BLOCK + lane
                            term = tl.where(_is_left_out(bits, words, row[:, None], column[None, :]), 0.0, term)
                        found += term
    result = tl.min(found, axis=1) if WANTED == LEAST else tl.sum(found, axis=1)
    tl.store(out + part.to(tl.int64) * blocks * BLOCK + row, result)


@triton.jit(do_not_specialize=["words", "blocks", "share", "whole"])
def pull_all(
    table, bits, marks, numbers, out, words, blocks, share, whole,
    DIM: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr, AHEAD: tl.constexpr, ONE: tl.constexpr,
    WHOLE_BITS: tl.constexpr,
):  # fmt: skip
    """For every u the sums over v of weight * (u - v), and of weight * s.

    Parameters
    ----------
    table
        With the levels: L, or 2^(L - middle) where one power a pair will do (ONE), which is 0 for who is no head.
    marks
        As in `add_up`; a pair of blocks is masked where u leaves out v or v leaves out u.
    numbers : float64 (2,)
        k and middle, or the scale where powers are products.
    out : float64 (parts, DIM + 1, blocks * BLOCK), out
    """
    owned, part = tl.program_id(0), tl.program_id(1)
    row = owned * ROWS + tl.arange(0, ROWS)
    u, own = _own(table, row, DIM)
    inverse, level = tl.load(own + DIM * BLOCK), tl.load(own + (DIM + 1) * BLOCK)
    k, middle = tl.load(numbers), tl.load(numbers + 1)
    mark_row = marks + owned * ROWS // BLOCK * blocks
    sums = ()
    for _ in tl.static_range(DIM):
        sums += (tl.zeros((ROWS, COLS), tl.float64),)  # type: ignore[assignment]
    along = tl.zeros((ROWS, COLS), tl.float64)
    for block in range(part * share, tl.minimum(blocks, (part + 1) * share)):
        mark = tl.load(mark_row + block)
        if mark != FAR:
            for begin in range(0, BLOCK, COLS * AHEAD):
                for ahead in tl.static_range(AHEAD):
                    lane = begin + ahead * COLS + tl.arange(0, COLS)
                    place = table + block * ((DIM + 2) * BLOCK) + lane
                    gaps, s = _gaps(u, place, DIM)
                    both = inverse[:, None] * tl.load(place + DIM * BLOCK)[None, :]
                    q = s * both + COINCIDENT
                    other = tl.load(place + (DIM + 1) * BLOCK)
                    if ONE:
                        shrunk, root = _shrunk(q, k, whole, middle, WHOLE_BITS)
                        # Many pairs are far: their weights are products of a small and a large number.
                        weight = level[:, None] + other[None, :]
                        if mark == MASKED:
                            column = block * BLOCK + lane
                            mine = tl.where(
                                _is_left_out(bits, words, row[:, None], column[None, :]), 0.0, level[:, None]
                            )
                            its = tl.where(
                                _is_left_out(bits, words, column[None, :], row[:, None]), 0.0, other[None, :]
                            )
                            weight = mine + its
                        weight *= shrunk
                    else:
                        t = q * q + q
                        root = tl.rsqrt(t)
                        exponent = -k * log2(1.0 + 2.0 * (q + t * root))
                        mine, its = power_of_2(level[:, None] + exponent), power_of_2(other[None, :] + exponent)
                        weight = mine + its
                        if mark == MASKED:
                            column = block * BLOCK + lane
                            mine = tl.where(_is_left_out(bits, words, row[:, None], column[None, :]), 0.0, mine)
                            its = tl.where(_is_left_out(bits, words, column[None, :], row[:, None]), 0.0, its)
                            weight = mine + its
                    weight *= both * root
                    along += weight * s
                    added = ()
                    for c in tl.static_range(DIM):
                        added += (sums[c] + weight * gaps[c],)  # type: ignore[assignment]
                    sums = added
    place = out + (part.to(tl.int64) * (DIM + 1)) * blocks * BLOCK + row
    for c in tl.static_range(DIM):
        tl.store(place + c * blocks * BLOCK, tl.sum(sums[c], axis=1))
    tl.store(place + DIM * blocks * BLOCK, tl.sum(along, axis=1))
