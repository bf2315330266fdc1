"""Bags of words: for many rows which words are in them, with weights; what two rows share is counted for many pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from ..types import Floats, Ints, Pointers

__all__ = ["Bags", "laid_out", "spread", "sums_by"]


class Bags:
    """Sparse rows of words with weights.

    Attributes
    ----------
    ptr, word, weight
        The words of row i are ``word[ptr[i]:ptr[i+1]]``, ascending, and so are their weights.
    """

    def __init__(self, rows: Sequence[Mapping[int, float]], n_words: int) -> None:
        self.n_words = n_words
        self.ptr: Pointers = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
        self.word: Ints = np.fromiter((word for row in rows for word in sorted(row)), np.int64, int(self.ptr[-1]))
        weights = (row[word] for row in rows for word in sorted(row))
        self.weight: Floats = np.fromiter(weights, np.float64, int(self.ptr[-1]))

    def __len__(self) -> int:
        return len(self.ptr) - 1

    @cached_property
    def _keys(self) -> Ints:
        """Row and word of every entry as one number, ascending."""
        return self._rows * self.n_words + self.word

    @cached_property
    def total(self) -> Floats:
        """Sum of the weights of every row."""
        return self._sums(self.weight)

    @cached_property
    def length(self) -> Floats:
        """Euclidean length of every row."""
        return np.sqrt(self._sums(self.weight**2))

    def _sums(self, values: Floats) -> Floats:
        """Sum of the values of every row's entries."""
        return sums_by(self._rows, values, len(self))

    @cached_property
    def _rows(self) -> Ints:
        """The row of every entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.ptr))

    def shared(self, rows: Ints, others: Bags, other_rows: Ints) -> Floats:
        """For every pair of rows the sum of our weights of the words that the other row has, too."""
        place, pair, _ = self._common(rows, others, other_rows)
        return sums_by(pair, self.weight[place], len(rows))

    def cosine(self, rows: Ints, others: Bags, other_rows: Ints) -> Floats:
        """For every pair of rows the cosine of their angle; 0 where one is empty."""
        place, pair, other = self._common(rows, others, other_rows)
        product = sums_by(pair, self.weight[place] * others.weight[other], len(rows))
        lengths = self.length[rows] * others.length[other_rows]
        return np.divide(product, lengths, out=np.zeros(len(rows)), where=lengths > 0)

    def _common(self, rows: Ints, others: Bags, other_rows: Ints) -> tuple[Ints, Ints, Ints]:
        """Entries of ours whose word the other row has, the pair that each belongs to, and the other's entry."""
        place, pair = spread(self.ptr, rows)
        keys = other_rows[pair] * self.n_words + self.word[place]
        found = np.minimum(np.searchsorted(others._keys, keys), max(others._keys.size - 1, 0))
        hit = others._keys[found] == keys if others._keys.size else np.zeros(keys.size, np.bool_)
        return place[hit], pair[hit], found[hit]


def sums_by(group: Ints, values: Floats, n: int) -> Floats:
    """Sums of the values of n groups, float64 (n,)."""
    return np.bincount(group, weights=values, minlength=n).astype(np.float64, copy=False)


def spread(ptr: Pointers, rows: Ints) -> tuple[Ints, Ints]:
    """Places of the lists of these rows, laid end to end, and which of the rows each place belongs to."""
    return laid_out(ptr[rows], np.diff(ptr)[rows])


def laid_out(begins: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Places of ranges that begin somewhere, laid end to end, and which of the ranges each place belongs to."""
    owner = np.repeat(np.arange(len(counts)), counts)
    skipped = np.cumsum(counts) - counts
    return np.arange(owner.size) + (begins - skipped)[owner], owner
