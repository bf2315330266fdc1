"""Evidence: what the words of two nodes say for and against their being the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import Floats, Ints
from .bags import Bags, spread
from .pairs import Pairs
from .side import Side

__all__ = ["Evidence", "name_likeness", "words_say"]


@dataclass(frozen=True)
class Evidence:
    """What the words say of pairs of nodes, each float64 (m,), from 0 to 1.

    Attributes
    ----------
    name
        The share of their names that is the same, rare words counting for more; of several names the best.
    same
        1 where these names have the same words in the same order, else 0.
    new
        The share that is the same of the words that the names add to their paths.
    rest
        The share of the names whose words are neither in the name nor on the path of the other, of both together.
    path, below
        How alike the names on the paths are, and the names of the children.
    telling
        How much the names tell: little where their words are frequent, 1 for a word that is unique.
    """

    name: Floats
    same: Floats
    new: Floats
    rest: Floats
    path: Floats
    below: Floats
    telling: Floats


def words_say(a: Side, b: Side, pairs: Pairs) -> Evidence:
    """What the words say of pairs of nodes of two sides."""
    first, second = pairs.first, pairs.second
    name, row, other = _best_names(a, b, pairs)
    fewer = np.minimum(a.names.total[row], b.names.total[other])
    return Evidence(
        name,
        (a.spelled[row] == b.spelled[other]).astype(np.float64),
        _same_share(a.new, first, b.new, second),
        (_unexplained(a, row, b, second) + _unexplained(b, other, a, first)) / 2,
        a.path.cosine(first, b.path, second),
        a.below.cosine(first, b.below, second),
        np.minimum(1.0, fewer / np.log1p(len(a.names) + len(b.names))),
    )


def name_likeness(a: Side, b: Side, pairs: Pairs) -> Floats:
    """The share of their names that is the same, of several names the best; float64 (m,)."""
    return _best_names(a, b, pairs)[0]


def _best_names(a: Side, b: Side, pairs: Pairs) -> tuple[Floats, Ints, Ints]:
    """Of every pair of nodes the likeness of the two names most alike, and these names as rows."""
    rows, pair = spread(a.name_ptr, pairs.first)
    others, row = spread(b.name_ptr, pairs.second[pair])
    rows, pair = rows[row], pair[row]
    like = _same_share(a.names, rows, b.names, others)
    if len(rows) == len(pairs):
        return like, rows, others
    is_same = a.spelled[rows] == b.spelled[others]
    order = np.lexsort((~is_same, -like, pair))
    best = order[np.searchsorted(pair[order], np.arange(len(pairs)))]
    return like[best], rows[best], others[best]


def _same_share(a: Bags, rows: Ints, b: Bags, others: Ints) -> Floats:
    """Weight of the words in both rows by that of the words in either."""
    shared = a.shared(rows, b, others)
    either = a.total[rows] + b.total[others] - shared
    return np.divide(shared, either, out=np.zeros(len(rows)), where=either > 0)


def _unexplained(side: Side, rows: Ints, other: Side, nodes: Ints) -> Floats:
    total = side.names.total[rows]
    explained = side.names.shared(rows, other.whole, nodes)
    return 1.0 - np.divide(explained, total, out=np.ones(len(rows)), where=total > 0)
