"""How long edges may be at most.

A leaf can be nearest to two parents where their own edges are short: it lies far out between them, and of siblings at
an angle t with edges of length l it is nearer to both than to their parent when tanh(l/2) < cos(t/2). Leaves need long
edges, because they are many, and inner nodes are few. So where a hierarchy has nodes with several parents, the edges of
inner nodes are as short as there is room for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..methods.construct import Plan, candidate_plans
from ..types import Codes, Floats, Ints
from .fans import Fans

__all__ = ["FolderPlan", "folder_plans", "longest_edges"]

# Edges of leaves are at least so many times as long.
_LEAVES = 2.5
# Edges of inner nodes, and growth, that are tried one after the other.
_SHORT = ((2.25, 1.03), (1.75, 1.02), (1.5, 1.02), (1.4, 1.01))


@dataclass(frozen=True)
class FolderPlan(Plan):
    """The numbers that fix the construction of a model folder.

    Attributes
    ----------
    short : the longest edge of inner nodes with few siblings; 0 where theirs are as long as those of leaves
    """

    short: float = 0.0


def folder_plans(height: int, largest_need: float, several_parents: bool) -> Iterator[FolderPlan]:
    """Plans for a tree of a height, whose largest fan needs edges of length `largest_need`; the preferred first."""
    plain = [FolderPlan(one.budget, one.longest, one.growth) for one in candidate_plans(height, largest_need)]
    if several_parents:
        budget, longest = plain[0].budget, plain[0].longest
        yield from (FolderPlan(budget, max(longest, _LEAVES * short), growth, short) for short, growth in _SHORT)
    yield from plain


def longest_edges(plan: FolderPlan, fans: Fans, height: Codes, index: Ints, inner: Ints) -> Floats:
    """The longest that the edge of each node may be, float64 (n,).

    Parameters
    ----------
    height : int32 (n,)
    index : int64 (n,), of each node among its siblings, the tallest first
    inner : int64 (n,), how many of these siblings, with itself, are inner nodes
    """
    longest = np.full(height.size, plan.longest)
    if not plan.short:
        return longest
    dim = fans.rows.shape[1]
    rows = np.flatnonzero(height > 0)
    # The first few have directions at right angles to each other.
    crowded = (inner[rows] >= 2 * dim) & (index[rows] >= dim - 2)
    longest[rows] = min(plan.short, plan.longest)
    rows = rows[crowded]
    longest[rows] = np.clip(fans.ample(index[rows] + 1), min(plan.short, plan.longest), plan.longest)
    return longest
