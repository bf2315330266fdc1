"""Nearest nodes on a card, in passes over those tiles that a `glance` has marked.

The first takes the smallest key of every lane, the columns that are equal modulo the width of a tile: the k-th smallest
of those is a limit within which there are k nodes at least, and few more, for neighbours have neighbouring codes and
so lanes of their own. The last collects all that is within the limit.
"""

from __future__ import annotations

import triton
import triton.language as tl

from .tiles import any_of, tile_keys

__all__ = ["collect_within", "least_of_lanes"]


@triton.jit(do_not_specialize=["width", "n_rows", "per_program"])
def least_of_lanes(
    points, factor, width, nodes, marks, least, n_rows, per_program, DIM: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """The smallest key of every lane of a part of the columns: float64 (n_rows, parts, COLUMNS), inf for none.

    `marks` are int8 (rows in tiles, tiles), 0 for what is passed by.
    """
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = row < n_rows
    node = tl.load(nodes + row, mask=there, other=0)
    lane = tl.arange(0, COLUMNS)
    smallest = tl.full([ROWS, COLUMNS], float("inf"), tl.float64)
    begin = tl.program_id(1) * per_program
    mark = marks + tl.program_id(0).to(tl.int64) * (width // COLUMNS)
    for start in range(begin, tl.minimum(begin + per_program, width), COLUMNS):
        if tl.load(mark + start // COLUMNS) != 0:
            column = start + lane
            key = tile_keys(points, factor, width, node, start, DIM, ROWS, COLUMNS)
            smallest = tl.where((key < smallest) & (column[None, :] != node[:, None]), key, smallest)
    out = least + (row.to(tl.int64) * tl.num_programs(1) + tl.program_id(1))[:, None] * COLUMNS + lane[None, :]
    tl.store(out, smallest, mask=there[:, None])


@triton.jit(do_not_specialize=["width", "n_rows", "per_program", "room"])
def collect_within(
    points, factor, width, nodes, marks, limits, found, codes, keys, n_rows, per_program, room, DIM: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Write codes and keys of all others within a limit for each row, in any order.

    Parameters
    ----------
    limits : float64 (n_rows,)
    found : int32 (n_rows,), out: how many there are is added, also where there is no room for them
    codes, keys : int32, float64 (n_rows, room), out
    """
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = row < n_rows
    node = tl.load(nodes + row, mask=there, other=0)
    limit = tl.load(limits + row, mask=there, other=-float("inf"))
    own = row.to(tl.int64) * room
    begin = tl.program_id(1) * per_program
    mark = marks + tl.program_id(0).to(tl.int64) * (width // COLUMNS)
    for start in range(begin, tl.minimum(begin + per_program, width), COLUMNS):
        if tl.load(mark + start // COLUMNS) != 0:
            column = start + tl.arange(0, COLUMNS)
            key = tile_keys(points, factor, width, node, start, DIM, ROWS, COLUMNS)
            within = (key <= limit[:, None]) & (column[None, :] != node[:, None])
            if any_of(within):
                number = tl.cumsum(within.to(tl.int32), axis=1)
                before = tl.atomic_add(found + row, tl.max(number, axis=1), mask=there, sem="relaxed")
                place = before[:, None] + number - 1
                out = own[:, None] + place
                fits = within & (place < room)
                tl.store(codes + out, tl.broadcast_to(column[None, :], (ROWS, COLUMNS)), mask=fits)
                tl.store(keys + out, key, mask=fits)
