"""TermSearch: exact ranks and nearest nodes of points whose coordinates have several terms, by comparison with all."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...types import Floats, Ints, Mask
from ...workers import in_parts, thread_count
from .compiler import compiled
from .rank import WIDTH, block_keys_of_terms, gap_of_four, gap_of_two, rank_positives, to_blocks

__all__ = ["TermSearch", "keys_of_pairs", "packed", "unpacked"]


class TermSearch:
    """What a :class:`SearchTree` is for plain coordinates; every search looks at all points, eight or so at a time.

    Parameters
    ----------
    coordinates : float64 (terms, n, d)
        Two or four terms; the last coordinate is a height, and has one.
    factor : float64 (n,), positive
    """

    def __init__(self, coordinates: ArrayLike, factor: ArrayLike) -> None:
        points = np.asarray(coordinates, np.float64)
        self.terms, self.n_points, self.dim = points.shape
        self._rows = packed(points)
        self._blocks, self._factors = to_blocks(self._rows, np.asarray(factor, np.float64))

    def rank(
        self, sources: ArrayLike, positive_ptr: ArrayLike, positive_idx: ArrayLike, *, threads: int = 0
    ) -> tuple[Ints, Floats, Ints]:
        """Ranks, average precisions and offenders: see :meth:`SearchTree.rank`."""
        nodes, ptr = np.asarray(sources, np.int64), np.asarray(positive_ptr, np.int64)
        idx = np.asarray(positive_idx, np.int32)
        ranks, precision = np.empty(idx.size, np.int64), np.empty(nodes.size)
        offender = np.empty(nodes.size, np.int64)

        def work(part: slice) -> None:
            ends = slice(part.start, part.stop + 1)
            rank_positives(
                self._rows, self._blocks, self._factors, True, nodes[part], ptr[ends], idx, ranks, precision[part],
                offender[part], self.terms,
            )  # fmt: skip

        in_parts(work, nodes.size, thread_count(threads))
        return ranks, precision, offender

    def ill(self, sources: ArrayLike, positive_ptr: ArrayLike, positive_idx: ArrayLike, *, threads: int = 0) -> Mask:
        """Which sources (m,) have a non-positive that is as near as their nearest positive."""
        ranks = self.rank(sources, positive_ptr, positive_idx, threads=threads)[0]
        return np.asarray(np.minimum.reduceat(ranks, np.asarray(positive_ptr, np.int64)[:-1]) > 1)

    def nearest(self, queries: ArrayLike, k: int, *, threads: int = 0) -> tuple[Ints, Floats]:
        """Codes and keys (m, k) of the nearest other nodes of some nodes: see :meth:`SearchTree.nearest`."""
        nodes = np.asarray(queries, np.int64)
        codes, keys = np.full((nodes.size, k), -1, np.int64), np.full((nodes.size, k), np.inf)

        def work(part: slice) -> None:
            nearest_of_terms(self._rows, self._blocks, self._factors, nodes[part], codes[part], keys[part], self.terms)

        in_parts(work, nodes.size, thread_count(threads))
        return codes, keys


def packed(points: Floats) -> Floats:
    """Points (terms, n, d) as rows (n, (d - 1) terms + 1): the terms of a coordinate beside each other, height last."""
    terms, n, dim = points.shape
    rows = np.empty((n, (dim - 1) * terms + 1))
    rows[:, :-1] = points[:, :, :-1].transpose(1, 2, 0).reshape(n, -1)
    rows[:, -1] = points[0, :, -1]
    return rows


def unpacked(rows: Floats, terms: int) -> Floats:
    """The points (terms, n, d) of `packed` rows."""
    dim = (rows.shape[1] - 1) // terms + 1
    points = np.zeros((terms, len(rows), dim))
    points[:, :, :-1] = rows[:, :-1].reshape(len(rows), dim - 1, terms).transpose(2, 0, 1)
    points[0, :, -1] = rows[:, -1]
    return points


def keys_of_pairs(coordinates: Floats, factor: Floats, first: Ints, second: Ints) -> Floats:
    """Keys (m,) of pairs of points (terms, n, d), to the last bit those that ranks are told by."""
    found = np.empty(first.size)
    _keys_of_pairs(coordinates, factor, first.astype(np.int64), second.astype(np.int64), found)
    return found


@compiled
def _keys_of_pairs(points, factor, first, second, out):
    terms, _, dim = points.shape
    for i in range(first.size):
        a, b = first[i], second[i]
        key = 0.0
        for k in range(dim - 1):
            if terms == 2:
                gap = gap_of_two(points[0, a, k], points[1, a, k], points[0, b, k], points[1, b, k])
            else:
                gap = gap_of_four(
                    points[0, a, k], points[1, a, k], points[2, a, k], points[3, a, k],
                    points[0, b, k], points[1, b, k], points[2, b, k], points[3, b, k],
                )  # fmt: skip
            key += gap * gap
        gap = points[0, a, dim - 1] - points[0, b, dim - 1]
        key += gap * gap
        out[i] = key * factor[b]


@compiled
def nearest_of_terms(rows, blocks, factors, sources, codes, keys, terms):
    """Find the nearest other nodes of every source, nearest first, ties by code.

    Parameters
    ----------
    rows, blocks, factors : see `packed` and `rank.to_blocks`
    codes, keys : int64 (m, k) and float64 (m, k), out; -1 and inf where there are fewer
    """
    found = np.empty(WIDTH)
    k = keys.shape[1]
    for i in range(sources.size):
        for b in range(blocks.shape[0]):
            block_keys_of_terms(blocks[b], factors[b], rows[sources[i]], found, terms)
            limit = keys[i, k - 1]
            hits = 0
            for w in range(WIDTH):
                hits += found[w] < limit
            if hits == 0:
                continue
            for w in range(WIDTH):
                key, other = found[w], b * WIDTH + w
                if not key < keys[i, k - 1] or other == sources[i]:
                    continue
                place = k - 1
                while place > 0 and keys[i, place - 1] > key:
                    keys[i, place] = keys[i, place - 1]
                    codes[i, place] = codes[i, place - 1]
                    place -= 1
                keys[i, place] = key
                codes[i, place] = other
