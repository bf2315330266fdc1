"""Generated trees of kinds on which nothing was chosen, for `distances.py`: seed 1, names with about how many tips."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from treeball import Hierarchy

__all__ = ["ODD"]


def _tree(parent: list[int], length: np.ndarray | list[float] | None) -> Hierarchy:
    """Node i + 1 hangs below `parent[i]`, by an edge of `length[i]`."""
    n = len(parent) + 1
    weights = None if length is None else np.asarray(length)
    return Hierarchy.from_codes([f"n{i}" for i in range(n)], np.arange(1, n), np.array(parent), weights=weights)


def virus(tips: int, seed: int) -> Hierarchy:
    """An outbreak: a sample hangs below an ancestor, seven of ten times one of the last 40; three of ten are ancestors.

    Lengths are counts of mutations, Poisson of mean .7, over 30,000 sites: half of them are 0.
    """
    rng = np.random.default_rng(seed)
    parent: list[int] = []
    ancestors, made = [0], 0
    while made < tips:
        late = rng.random() < 0.7
        parent.append(ancestors[int(rng.integers(max(0, len(ancestors) - 40) if late else 0, len(ancestors)))])
        if rng.random() < 0.3:
            ancestors.append(len(parent))
        else:
            made += 1
    return _tree(parent, rng.poisson(0.7, len(parent)) / 30_000.0)


def decades(tips: int, seed: int) -> Hierarchy:
    """A Yule tree, of which a tip at random splits, with lengths even in their logarithm over six decades."""
    rng = np.random.default_rng(seed)
    ends, parent = [0], list[int]()
    while len(ends) < tips:
        split = ends.pop(int(rng.integers(len(ends))))
        parent += [split, split]
        ends += [len(parent) - 1, len(parent)]
    return _tree(parent, 10.0 ** rng.uniform(-6, 0, len(parent)))


def caterpillar(tips: int, seed: int) -> Hierarchy:
    """Lineages leave a spine one by one, after exponential times, and all tips live today."""
    rng = np.random.default_rng(seed)
    gaps = rng.exponential(size=tips - 1)
    left = np.cumsum(gaps[::-1])[::-1]
    parent, length, spine = list[int](), list[float](), 0
    for step in range(tips - 1):
        last = step == tips - 2
        parent += [spine, spine]
        length += [left[step], left[step] if last else gaps[step]]
        spine = len(parent)
    return _tree(parent, length)


def ranks(nodes: int, seed: int) -> Hierarchy:
    """Ranks of a classification, without lengths: families, subfamilies, genera, species until there are enough."""
    rng = np.random.default_rng(seed)
    parent, level = list[int](), [0]
    for mean in (6, 3, 3, 9):
        below = []
        for above in level:
            count = 1 + int(rng.geometric(1 / mean) if mean > 3 else rng.poisson(mean / 2))
            for _ in range(min(count, nodes - 1 - len(parent))):
                parent.append(above)
                below.append(len(parent))
        level = below
    parent += [level[0]] * (nodes - 1 - len(parent)) if level else []
    return _tree(parent, None)


ODD: dict[str, Callable[[], Hierarchy]] = {
    "virus-400": lambda: virus(400, 1),
    "virus-1500": lambda: virus(1_500, 1),
    "decades-200": lambda: decades(200, 1),
    "decades-500": lambda: decades(500, 1),
    "caterpillar-1000": lambda: caterpillar(1_000, 1),
    "ranks-195": lambda: ranks(195, 1),
}
