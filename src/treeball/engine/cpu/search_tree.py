"""SearchTree: exact ranks and nearest nodes of many nodes at once, in a small share of the comparisons."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InputError
from ...types import Floats, Ints, Mask
from ...workers import in_parts, thread_count
from ..finite import require_finite
from .box_search import find_ill, nearest_k, rank_positives_pruned
from .box_tree import WIDTH, build
from .rank import is_curved

__all__ = ["SearchTree"]


# So few searches take less time than starting a thread does.
_FEW = 16


class SearchTree:
    """An exact index over points; it does not know of any hierarchy.

    Nodes x are ordered from u by their keys ``|u - x|^2 * factor[x]``, which order them like the distance: see
    :meth:`treeball.Embedding.ranking_coordinates`.

    Parameters
    ----------
    coordinates : float64 (n, d)
    factor : float64 (n,), positive
    """

    def __init__(self, coordinates: ArrayLike, factor: ArrayLike) -> None:
        points = np.ascontiguousarray(coordinates, np.float64)
        factors = np.ascontiguousarray(factor, np.float64)
        if points.ndim != 2 or factors.shape != points.shape[:1] or not points.size:
            raise InputError(f"a search tree needs points (n, d) and n factors, not {points.shape} and {factors.shape}")
        require_finite(points, factors)
        self.n_points, self.dim = points.shape
        self._tree = build(points, factors)
        self._curved = is_curved(factors)

    def rank(
        self, sources: ArrayLike, positive_ptr: ArrayLike, positive_idx: ArrayLike, *, threads: int = 0
    ) -> tuple[Ints, Floats, Ints]:
        """Rank the positives of every source among all other nodes.

        Parameters
        ----------
        sources : int64 (m,)
            Nodes with at least one positive.
        positive_ptr, positive_idx : int64 (m+1,), (pairs,)
            The positives of sources[i] are ``positive_idx[positive_ptr[i]:positive_ptr[i+1]]``, ascending.
        threads
            0 uses all cores.

        Returns
        -------
        ranks : int64 (pairs,)
            1 + number of non-positives at least as close, or farther by less than `limits.TIE`, per positive.
        precision : float64 (m,)
            Average precision of each source.
        offender : int64 (m,)
            Nearest non-positive of each source, the one of smallest code among equals; -1 if there is none.
        """
        return self._rank(sources, positive_ptr, positive_idx, threads)[:3]

    def ill(self, sources: ArrayLike, positive_ptr: ArrayLike, positive_idx: ArrayLike, *, threads: int = 0) -> Mask:
        """Which sources (m,) have a non-positive that is as near as their nearest positive: what `rank` ranks above 1.

        Quicker than ranks, above all where many nodes are in one place.
        """
        nodes = np.asarray(sources, np.int64)
        ptr, idx = np.asarray(positive_ptr, np.int64), np.asarray(positive_idx, np.int64)
        ill = np.empty(nodes.size, np.bool_)
        turns = np.argsort(self._tree.place[nodes])

        def work(part: slice) -> None:
            find_ill(self._tree, self._curved, nodes, turns[part], ptr, idx, ill)

        in_parts(work, nodes.size, thread_count(threads))
        return ill

    def visited_share(
        self, sources: ArrayLike, positive_ptr: ArrayLike, positive_idx: ArrayLike, *, threads: int = 0
    ) -> float:
        """Share of all nodes that `rank` compares with a source, on average: below 1 by as much as pruning helps."""
        visited = self._rank(sources, positive_ptr, positive_idx, threads)[3]
        return float(visited.mean() * WIDTH / self.n_points) if visited.size else 0.0

    def _rank(
        self, sources: ArrayLike, positive_ptr: ArrayLike, positive_idx: ArrayLike, threads: int
    ) -> tuple[Ints, Floats, Ints, Ints]:
        nodes = np.asarray(sources, np.int64)
        ptr, idx = np.asarray(positive_ptr, np.int64), np.asarray(positive_idx, np.int64)
        ranks = np.empty(idx.size, np.int64)
        precision = np.empty(nodes.size)
        offender, visited = np.empty(nodes.size, np.int64), np.empty(nodes.size, np.int64)
        # Neighbours in the tree visit the same blocks: one after the other they find them in the cache.
        turns = np.argsort(self._tree.place[nodes])

        def work(part: slice) -> None:
            rank_positives_pruned(
                self._tree, self._curved, nodes, turns[part], ptr, idx, ranks, precision, offender, visited
            )

        in_parts(work, nodes.size, thread_count(threads))
        return ranks, precision, offender, visited

    def nearest(
        self, queries: ArrayLike, k: int, *, exclude: ArrayLike | None = None, threads: int = 0
    ) -> tuple[Ints, Floats]:
        """The k nearest nodes of every query, nearest first, ties by code.

        Parameters
        ----------
        queries : int (m,) or float64 (m, d)
            Codes of nodes, which are not their own neighbours, or any points.
        k
            How many; meant for tens, not thousands.
        exclude : int (m,)
            One node to leave out for each point; -1 leaves out none. The search begins near it.
        threads
            0 uses all cores.

        Returns
        -------
        codes, keys : int64 (m, k), float64 (m, k)
            -1 and inf where there are fewer than k nodes.
        """
        asked = np.asarray(queries)
        if asked.ndim == 1:
            left_out = asked.astype(np.int64) if exclude is None else np.asarray(exclude, np.int64)
            place = self._tree.place[asked.astype(np.int64)]
            points = np.ascontiguousarray(self._tree.blocks[place // WIDTH, :, place % WIDTH])
        else:
            points = np.ascontiguousarray(asked, np.float64)
            left_out = np.full(len(points), -1) if exclude is None else np.asarray(exclude, np.int64)
        if points.ndim != 2 or points.shape[1] != self.dim or left_out.shape != points.shape[:1] or k < 1:
            raise InputError(f"nearest needs codes (m,) or points (m, {self.dim}), one exclusion for each, and k >= 1")
        codes, keys = np.empty((len(points), k), np.int64), np.empty((len(points), k))
        turns = np.argsort(self._tree.place[left_out])

        def work(part: slice) -> None:
            nearest_k(self._tree, points, left_out, turns[part], codes, keys)

        if len(points) <= _FEW:
            work(slice(None))
        else:
            in_parts(work, len(points), thread_count(threads))
        return codes, keys
