"""A first look at all pairs, by the matrix units of a card: which tiles can hold a key within a limit, and which not.

Keys are exact in `tiles` and `all_pairs`, which take float64 and all differences. Here they are bounded from below, in
float32 and by |u|² + |v|² - 2uv: what cancels there is less than a small share of |u|² + |v|², and that is taken off.
"""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["CANCELLED", "look"]

# The share of |u|² + |v|² that rounding may take from the square of a difference, in up to 32 dimensions.
CANCELLED = tl.constexpr(5e-5)


@triton.jit(do_not_specialize=["tiles", "n_rows"])
def look(
    rough, square, factor, nodes, limits, apart, marks, tiles, n_rows, PADDED: tl.constexpr, AT_ONCE: tl.constexpr,
    EACH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Mark the tiles that may hold a key within the limit of one of their rows.

    Parameters
    ----------
    rough, square, factor : float32 (tiles * COLUMNS, PADDED), (tiles * COLUMNS,), (tiles * COLUMNS,)
        Coordinates, |x|² and factors of all nodes.
    nodes, limits : int64, float32 (n_rows,)
    apart : bool (programs of rows, tiles)
        Tiles that are known to be too far for all rows of a program.
    marks : int8 (rows in tiles, tiles), out
        Not written where tiles are apart.
    """
    row = tl.program_id(0) * AT_ONCE + tl.arange(0, AT_ONCE)
    there = row < n_rows
    node = tl.load(nodes + row, mask=there, other=0)
    limit = tl.load(limits + row, mask=there, other=-float("inf"))
    axis = tl.arange(0, PADDED)
    u = tl.load(rough + node[:, None] * PADDED + axis[None, :])
    own = tl.load(square + node)
    GROUPS: tl.constexpr = AT_ONCE // ROWS
    group = tl.program_id(0) * GROUPS + tl.arange(0, GROUPS)
    begin = tl.program_id(1) * EACH
    far = apart + tl.program_id(0).to(tl.int64) * tiles
    for tile in range(begin, tl.minimum(begin + EACH, tiles)):
        if tl.load(far + tile) == 0:
            column = tile * COLUMNS + tl.arange(0, COLUMNS)
            v = tl.load(rough + column.to(tl.int64)[None, :] * PADDED + axis[:, None])
            both = own[:, None] + tl.load(square + column)[None, :]
            least = both * (1.0 - CANCELLED) - 2.0 * tl.dot(u, v, input_precision="tf32x3")
            key = least * tl.load(factor + column)[None, :]
            # What is no number is looked at.
            near = tl.where(key > limit[:, None], 0, 1)
            found = tl.max(tl.max(tl.reshape(near, (GROUPS, ROWS, COLUMNS)), axis=2), axis=1)
            tl.store(marks + group.to(tl.int64) * tiles + tile, found.to(tl.int8), mask=group * ROWS < n_rows)
