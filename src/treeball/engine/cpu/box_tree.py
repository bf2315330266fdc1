"""A tree of boxes around points, for searches that pass over most of them: see `search_tree`.

Points are sorted by recursive halving into blocks of `WIDTH`; a group holds the boxes of `FANOUT` neighbouring blocks
or groups, so that one pass over its arrays gives the bounds of all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...workers import apart
from .compiler import compiled

WIDTH = 64  # points in a block: with fewer there are more boxes to look at, with more the boxes are too wide
SHIFT = 3
FANOUT = 1 << SHIFT


class Tree(NamedTuple):
    """The arrays of a search tree over n points in b blocks.

    Attributes
    ----------
    blocks, factors : float64 (b, d, WIDTH) and (b, WIDTH)
        Padding has the factor NaN, which never compares.
    codes, place : int64 (b * WIDTH,) and (n,)
        The point at each place, -1 for padding; the place of each point.
    low, high, least : float64 (groups, d, FANOUT) twice, and (groups, FANOUT)
        Corners and smallest factor of the boxes of a group.
    starts : int64 (levels + 1,)
        The groups of a level are starts[level] up to starts[level + 1]. Box c of group g of level 0 is block
        FANOUT * g + c; on any other level, that group of the level below. The last level is one group.
    """

    blocks: np.ndarray
    factors: np.ndarray
    codes: np.ndarray
    place: np.ndarray
    low: np.ndarray
    high: np.ndarray
    least: np.ndarray
    starts: np.ndarray


def build(points: np.ndarray, factor: np.ndarray) -> Tree:
    """Build the tree of points (n, d) with factors (n,)."""
    n, dim = points.shape
    order = np.arange(n)
    apart(lambda: arrange(points, np.log(factor), order))
    count = -(-n // WIDTH)
    sizes = [-(-count // FANOUT)]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // FANOUT))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    tree = Tree(
        blocks=np.zeros((count, dim, WIDTH)),
        factors=np.full((count, WIDTH), np.nan),
        codes=np.full(count * WIDTH, -1, np.int64),
        place=np.empty(n, np.int64),
        low=np.zeros((starts[-1], dim, FANOUT)),
        high=np.zeros((starts[-1], dim, FANOUT)),
        least=np.full((starts[-1], FANOUT), np.nan),
        starts=starts,
    )
    apart(lambda: fill(tree, points, factor, order))
    return tree


@compiled
def arrange(points, depth, order):
    """Sort `order` by recursive halving, so that near points come to lie in one block, near blocks in one group.

    A range is halved across its widest coordinate or across `depth`, the logarithm of the factor. Searches that enter
    a box come from within a reach of about sqrt(1/factor of the searcher * 1/smallest factor) around it. Halving a
    coordinate shortens one side of that region for both halves; halving the depth shrinks the reach, hence all sides,
    for the half with the larger factors. The larger logarithmic gain wins.
    """
    n, dim = points.shape
    values = np.empty(n)
    low, high = np.empty(dim), np.empty(dim)
    ranges = [(0, n)]
    while len(ranges) > 0:
        begin, end = ranges.pop()
        if end - begin <= WIDTH:
            continue
        low[:] = np.inf
        high[:] = -np.inf
        least, most = np.inf, -np.inf
        for i in range(begin, end):
            for k in range(dim):
                low[k] = min(low[k], points[order[i], k])
                high[k] = max(high[k], points[order[i], k])
            least = min(least, depth[order[i]])
            most = max(most, depth[order[i]])
        widest = np.argmax(high - low)
        width = high[widest] - low[widest]
        reach = np.exp(-0.5 * least - 0.25 * (least + most))
        shrunk = reach * np.exp(-0.25 * (most - least))
        gain = 0.5 * np.log((high - low + reach) / (high - low + shrunk)).sum()
        by_depth = gain > np.log((width + reach) / (0.5 * width + reach))
        if width == 0.0 and not by_depth:
            continue  # equal points
        for i in range(begin, end):
            values[i] = depth[order[i]] if by_depth else points[order[i], widest]
        # The first part is a power of two of blocks, so that the groups of every level are ranges of this recursion.
        blocks = 1
        while 2 * blocks * WIDTH < end - begin:
            blocks *= 2
        cut = begin + blocks * WIDTH
        _select(values, order, begin, end, cut)
        ranges.append((begin, cut))
        ranges.append((cut, end))


@compiled
def _select(values, order, begin, end, cut):
    """Permute values and order between begin and end so that nothing before `cut` exceeds anything from there on."""
    low, high = begin, end - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if cut <= j:
            high = j
        elif cut >= i:
            low = i
        else:
            return


@compiled
def fill(tree, points, factor, order):
    """Lay out the points in blocks and draw the boxes, level by level."""
    dim = points.shape[1]
    for i in range(order.size):
        node, block, lane = order[i], i // WIDTH, i % WIDTH
        tree.codes[i] = node
        tree.place[node] = i
        tree.factors[block, lane] = factor[node]
        for k in range(dim):
            tree.blocks[block, k, lane] = points[node, k]
        _enclose(tree, block >> SHIFT, block % FANOUT, points[node], points[node], factor[node])
    for level in range(1, tree.starts.size - 1):
        below = tree.starts[level - 1]
        for group in range(below, tree.starts[level]):
            item = group - below
            for c in range(FANOUT):
                low, high = tree.low[group, :, c], tree.high[group, :, c]
                if not np.isnan(tree.least[group, c]):
                    parent = tree.starts[level] + (item >> SHIFT)
                    _enclose(tree, parent, item % FANOUT, low, high, tree.least[group, c])


@compiled
def _enclose(tree, group, c, low, high, least):
    """Widen box c of a group until it holds the box (low, high)."""
    fresh = np.isnan(tree.least[group, c])
    if fresh or least < tree.least[group, c]:
        tree.least[group, c] = least
    for k in range(low.size):
        if fresh or low[k] < tree.low[group, k, c]:
            tree.low[group, k, c] = low[k]
        if fresh or high[k] > tree.high[group, k, c]:
            tree.high[group, k, c] = high[k]
