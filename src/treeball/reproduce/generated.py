"""Trees made by rule: the balanced trees of the synthetic experiments, and a catalogue like the paper's own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..hierarchy import Hierarchy

CATALOG_NODES = 134_812
CATALOG_LARGEST = 725  # children, so that the degree is 726

# A standard deviation of 26.4 at a largest degree of 726 leaves little choice: the squares of the degrees sum to 94.5
# million, so a node's average sibling has some 700 siblings. Nearly all nodes are articles on fewer than 200 shelves of
# about 700, and few are left for the categories above them; their number follows the 2,000 or so edges that the
# paper's baselines get wrong for another reason than capacity. The levels end at 5, so that articles reach depth 6.
_CATEGORY_LEVELS = (1, 20, 130, 500, 800, 549)
_SHELVES = 188


def balanced_tree(branching: int, depth: int) -> Hierarchy:
    """The tree in which every inner node has `branching` children and leaves lie `depth` edges below the root."""
    nodes = sum(branching**level for level in range(depth + 1))
    child = np.arange(1, nodes)
    return Hierarchy.from_codes([f"node {i}" for i in range(nodes)], child, (child - 1) // branching)


def catalog_like_tree() -> Hierarchy:
    """A tree with the size, largest degree, deviation of degree and depth of the paper's commodity catalogue.

    Deterministic and without random numbers: 2,000 categories in six levels, and the remaining nodes as articles
    on 188 shelves, spread over the categories that have no other children.
    """
    categories = _categories(_CATEGORY_LEVELS)
    n_categories = categories.size + 1
    childless = np.setdiff1d(np.arange(n_categories), categories)
    shelves = childless[np.linspace(0, childless.size - 1, _SHELVES).round().astype(np.int64)]
    sizes = _declining(CATALOG_NODES - n_categories, _SHELVES, CATALOG_LARGEST)
    parent = np.concatenate([categories, np.repeat(shelves, sizes)])
    names = [f"category {i}" for i in range(n_categories)]
    names += [f"article {i}" for i in range(CATALOG_NODES - n_categories)]
    return Hierarchy.from_codes(names, np.arange(1, CATALOG_NODES), parent)


def _categories(levels: Sequence[int]) -> NDArray[np.int64]:
    """Parents (sum(levels) - 1,) of all categories but the root, level by level.

    Fan-outs are uneven, as those of a real catalogue are: the first third of a level have children, the first of them
    the most.
    """
    parents = []
    start = 0
    for above, size in pairwise(levels):
        place = (np.arange(size) / size) ** 1.5
        parents.append(start + (place * max(1, above // 3)).astype(np.int64))
        start += above
    return np.concatenate(parents)


def _declining(total: int, count: int, largest: int) -> NDArray[np.int64]:
    """`count` whole numbers (count,) that sum to `total` and decline evenly from `largest`."""
    smallest = 2 * total / count - largest
    sizes = np.floor(np.linspace(largest, smallest, count)).astype(np.int64)
    # What rounding down lost goes to the smaller ones, which stay below the largest.
    sizes[count - (total - int(sizes.sum())) :] += 1
    return sizes
