"""Pairs: nodes of one hierarchy with nodes of another, each pair once and quickly found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..types import Codes, Floats, Ints, Mask
from .bags import sums_by

__all__ = ["Pairs"]


@dataclass(frozen=True)
class Pairs:
    """Pairs (node of A, node of B), each once, ordered by the first and then the second.

    Attributes
    ----------
    first, second
        Codes, int64 (m,).
    n_first, n_second
        How many nodes A and B have.
    """

    first: Ints
    second: Ints
    n_first: int
    n_second: int

    @classmethod
    def of(cls, first: Ints | Codes, second: Ints | Codes, n_first: int, n_second: int) -> Pairs:
        """Pairs in any order, with repeats."""
        keys: Ints = np.sort(first.astype(np.int64) * n_second + second)
        keys = keys[np.diff(keys, prepend=-1) > 0]  # several times as fast as np.unique
        return cls(keys // n_second, keys % n_second, n_first, n_second)

    def __len__(self) -> int:
        return len(self.first)

    def where(self, kept: Mask | Ints) -> Pairs:
        """Some of the pairs, by a mask or by ascending places."""
        return Pairs(self.first[kept], self.second[kept], self.n_first, self.n_second)

    @classmethod
    def all_of(cls, parts: Sequence[Pairs], n_first: int, n_second: int) -> Pairs:
        """The pairs of all parts; none of no part."""
        none = np.empty(0, np.int64)
        first = np.concatenate([none, *(part.first for part in parts)])
        second = np.concatenate([none, *(part.second for part in parts)])
        return cls.of(first, second, n_first, n_second)

    def joined(self, others: Pairs) -> Pairs:
        """The pairs of both."""
        return Pairs.all_of([self, others], self.n_first, self.n_second)

    def turned(self) -> Pairs:
        """The same pairs, B before A."""
        return Pairs.of(self.second, self.first, self.n_second, self.n_first)

    def find(self, first: Ints, second: Ints) -> Ints:
        """Where these pairs are among ours, or -1; a node -1 is none."""
        if not len(self):
            return np.full(len(first), -1, np.int64)
        wanted, keys = first * self.n_second + second, self.first * self.n_second + self.second
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where((keys[place] == wanted) & (first >= 0) & (second >= 0), place, -1)

    def sum_by_first(self, values: Floats) -> Floats:
        """For every pair the sum of the values of all pairs with the same first node."""
        return sums_by(self.first, values, self.n_first)[self.first]

    def sum_by_second(self, values: Floats) -> Floats:
        """For every pair the sum of the values of all pairs with the same second node."""
        return sums_by(self.second, values, self.n_second)[self.second]
