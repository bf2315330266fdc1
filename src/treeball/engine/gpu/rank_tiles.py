"""Exact ranks on a card: for every source, how many keys are within each limit, and which non-positive is nearest.

A row is a source with some of its limits, the farthest first; a source with many positives has several rows. Nearly all
tiles of a good embedding hold nothing within reach, and end with one comparison. Keys within a limit are counted
whosever they are, the source's own and its positives' too: how many of those there are is known to whoever calls.
"""

from __future__ import annotations

import triton
import triton.language as tl

from .tiles import any_of, tile_keys

__all__ = ["NOBODY", "rank_tiles"]

NOBODY = tl.constexpr(2147483647)


@triton.jit(do_not_specialize=["width", "n_rows", "per_program"])
def rank_tiles(
    points, factor, width, nodes, firsts, lasts, positive_idx, limits, counts, nearest_key, nearest_code, n_rows,
    per_program, DIM: tl.constexpr, LIMITS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Compare rows with a part of the columns.

    Parameters
    ----------
    points, factor, width : see `tiles.OnCard`
    nodes, firsts, lasts : int64 (n_rows,), the sources, and where in `positive_idx` theirs begin and end
    limits : float64 (n_rows, LIMITS), descending, -inf where there are fewer
    counts : int32 (n_rows, LIMITS), out: keys within each are added
    nearest_key, nearest_code : float64, int32 (parts, n_rows), out: key and code of the nearest non-positive
    """
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = row < n_rows
    node = tl.load(nodes + row, mask=there, other=0)
    first, last = tl.load(firsts + row, mask=there, other=0), tl.load(lasts + row, mask=there, other=0)
    own = limits + row.to(tl.int64) * LIMITS
    farthest = tl.load(own, mask=there, other=-float("inf"))
    best = tl.where(there, float("inf"), -float("inf")).to(tl.float64)
    code = tl.full([ROWS], NOBODY, tl.int32)
    place = tl.arange(0, LIMITS)
    count = tl.zeros([ROWS, LIMITS], tl.int32)
    begin = tl.program_id(1) * per_program
    for start in range(begin, tl.minimum(begin + per_program, width), COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        key = tile_keys(points, factor, width, node, start, DIM, ROWS, COLUMNS)
        if any_of(key <= tl.maximum(best, farthest)[:, None]):
            if any_of(key < best[:, None]):
                best, code = _nearer(key, column, node, first, last, positive_idx, best, code)
            number = 0
            some = 1
            while (number < LIMITS) & (some > 0):
                limit = tl.load(own + number, mask=there, other=-float("inf"))
                within = tl.sum((key <= limit[:, None]).to(tl.int32), axis=1)
                count += tl.where(place[None, :] == number, within[:, None], 0)
                some = tl.max(within, axis=0)
                number += 1
    cells = counts + row.to(tl.int64)[:, None] * LIMITS + place[None, :]
    tl.atomic_add(cells, count, mask=there[:, None], sem="relaxed")
    out = tl.program_id(1).to(tl.int64) * n_rows + row
    tl.store(nearest_key + out, best, mask=there)
    tl.store(nearest_code + out, code, mask=there)


@triton.jit
def _nearer(key, column, node, first, last, positive_idx, best, code):
    """The nearest non-positives, those of a tile considered; of equals that of smallest code, which came first."""
    near = (key < best[:, None]) & (column[None, :] != node[:, None])
    place, most = first, tl.max(last - first, axis=0)
    for _ in range(most):
        positive = tl.load(positive_idx + place, mask=place < last, other=-1)
        near = near & (column[None, :] != positive[:, None])
        place += 1
    least = tl.min(tl.where(near, key, float("inf")), axis=1)
    lowest = tl.min(tl.where(near & (key == least[:, None]), column[None, :], NOBODY), axis=1)
    nearer = least < best
    return tl.where(nearer, least, best), tl.where(nearer, lowest, code)
