"""Lists of the nodes that rule a softmax: for every node the nearest ones that it is compared with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..engine import Engine
from ..hierarchy import Hierarchy
from ..nearest import search_tree
from ..types import Codes, Floats, Ints, Mask, Objective
from ..workers import in_parts, thread_count
from .descent import Descent

__all__ = ["NEAREST", "nearest_non_positives", "non_positives_near", "refresh_every"]

# Nearest nodes that are listed for every node, and nodes at a time, on the processor and on a card.
NEAREST, BLOCK, CARD_BLOCK = 50, 1_000, 1 << 18
# The epochs after which the lists are made anew; in larger hierarchies, where that takes longer than the steps, later:
# up to so many nodes, and beyond. Each is a multiple of the one before.
REFRESH = 10
REFRESH_UP_TO = {20_000: REFRESH, 200_000: 20, np.inf: 40}


def refresh_every(n_nodes: int) -> int:
    """Epochs after which the lists of a hierarchy are made anew."""
    return next(epochs for most, epochs in REFRESH_UP_TO.items() if n_nodes <= most)


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
    find, block = _finder(coordinates, factor, hierarchy, workers, engine)
    is_positive = hierarchy.is_ancestor if objective == "ancestors" else hierarchy.is_parent
    positives = np.diff(hierarchy.positives(objective)[0])
    near = np.full((n, max(1, min(NEAREST, n - 1))), -1, np.int32)
    # Whoever has about as many positives is asked for at a time: as many of the nearest may be positives.
    heads = heads[np.lexsort((hierarchy.interval_in[heads], positives[heads]))]
    for begin in range(0, heads.size, block):
        nodes = heads[begin : begin + block]
        found = find(nodes, max(1, min(n - 1, NEAREST + int(positives[nodes[-1]]))))

        def keep(part: slice, nodes: Ints = nodes, found: Ints = found) -> None:
            near[nodes[part]] = _first_non_positives(found[part], nodes[part], is_positive, near.shape[1])

        in_parts(keep, nodes.size, workers if engine is None else thread_count(0))
    return near


def _finder(
    coordinates: Floats, factor: Floats, hierarchy: Hierarchy, workers: int, engine: Engine | None
) -> tuple[Callable[[Ints, int], Ints], int]:
    """What finds the k nearest of some nodes, the nearest first and -1 for none, and of how many nodes at a time."""
    if engine is None:
        tree = search_tree(coordinates, factor)
        return lambda nodes, k: tree.nearest(nodes, k, threads=workers)[0], BLOCK
    # Relatives side by side: so the card passes by most of the others at a glance.
    order = np.argsort(hierarchy.interval_in, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    there = partial(engine.nearest, coordinates[order], factor[order])

    def find(nodes: Ints, k: int) -> Ints:
        places = there(place[nodes], k, workers)[0]
        return np.where(places < 0, -1, order[places])

    return find, CARD_BLOCK


def _first_non_positives(found: Ints, nodes: Ints, is_positive: Callable[..., Mask], size: int) -> Codes:
    """Of rows of codes the first `size` that are no positives of the nodes, int32 (m, size), ascending; -1 for none."""
    positive = is_positive(np.maximum(found, 0).ravel(), np.repeat(nodes, found.shape[1])).reshape(found.shape)
    wanted = ~positive & (found >= 0)
    number = np.cumsum(wanted, axis=1, dtype=np.int32)
    wanted &= number <= size
    first = np.full((nodes.size, size), -1, np.int32)
    row, column = np.nonzero(wanted)
    first[row, number[row, column] - 1] = found[row, column]
    first.sort(axis=1)
    return first
