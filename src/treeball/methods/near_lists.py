"""Lists of the nodes that rule a softmax: for every node the nearest ones that it is compared with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..engine import Engine
from ..hierarchy import Hierarchy
from ..nearest import search_tree
from ..types import Codes, Floats, Ints, Objective
from .descent import Descent

__all__ = ["NEAREST", "nearest_non_positives", "non_positives_near", "refresh_every"]

# Nearest nodes that are listed for every node, and nodes at a time, on the processor and on a card.
NEAREST, BLOCK, CARD_BLOCK = 50, 1_000, 16_384
# The epochs after which the lists are made anew; in larger hierarchies, where that takes longer than the steps, later.
REFRESH, REFRESH_LARGE, LARGE = 10, 20, 20_000


def refresh_every(n_nodes: int) -> int:
    """Epochs after which the lists of a hierarchy are made anew."""
    return REFRESH if n_nodes <= LARGE else REFRESH_LARGE


def non_positives_near(descent: Descent, objective: Objective) -> Codes:
    """Of every node in a descent, whose vectors are those of now; see `nearest_non_positives`."""
    coordinates, factor = descent.space.ranking_coordinates(descent.vectors)
    everyone = np.arange(descent.hierarchy.n_nodes)
    engine = descent.engine if descent.engine.name != "cpu" else None
    return nearest_non_positives(coordinates, factor, descent.hierarchy, objective, everyone, descent.workers, engine)


def nearest_non_positives(
    coordinates: Floats,
    factor: Floats,
    hierarchy: Hierarchy,
    objective: Objective,
    heads: Ints,
    workers: int,
    engine: Engine | None = None,
) -> Codes:
    """The `NEAREST` non-positives of some nodes, int32 (n, k), ascending; -1 where there are fewer, and for others.

    An `engine` compares all nodes with each other; without one, a search tree finds the nearest.
    """
    n = hierarchy.n_nodes
    find: Callable[..., tuple[Ints, Floats]]
    if engine is None:
        find, block = search_tree(coordinates, factor).nearest, BLOCK
    else:
        find, block = partial(engine.nearest, coordinates, factor), CARD_BLOCK
    is_positive = hierarchy.is_ancestor if objective == "ancestors" else hierarchy.is_parent
    positives = np.diff(hierarchy.positives(objective)[0])
    near = np.full((n, max(1, min(NEAREST, n - 1))), -1, np.int32)
    # Whoever has about as many positives is asked for at a time: as many of the nearest may be positives.
    heads = heads[np.argsort(positives[heads], kind="stable")]
    for begin in range(0, heads.size, block):
        nodes = heads[begin : begin + block]
        k = max(1, min(n - 1, NEAREST + int(positives[nodes[-1]])))
        codes = find(nodes, k, threads=workers)[0]
        repeated = np.repeat(nodes, codes.shape[1])
        positive = is_positive(np.maximum(codes, 0).ravel(), repeated).reshape(codes.shape)
        codes = np.where(positive, -1, codes)
        nearest = np.take_along_axis(codes, np.argsort(codes < 0, axis=1, kind="stable"), axis=1)
        near[nodes] = np.sort(nearest[:, : near.shape[1]], axis=1)
    return near
