"""The upper levels of a model folder, or of what is below a node of it, as an embedding of their own."""

from __future__ import annotations

import numpy as np

from ..embedding import Embedding
from ..errors import InputError
from ..hierarchy import Hierarchy
from .folder import ModelFolder

__all__ = ["upper_levels"]


def upper_levels(folder: ModelFolder, most: int = 5000, below: str | None = None) -> Embedding:
    """The first `most` nodes from the root, or from the node `below`, level by level; siblings the tallest first.

    Vectors are those of the folder; of several parents the primary one is kept.
    """
    if most < 2:
        raise InputError(f"--most is {most}: give at least 2 nodes")
    top = 0 if below is None else folder.find(below)
    places, parents = [top], [-1]
    done = 0
    while done < len(places) and len(places) < most:
        following = [child for child in folder.children(places[done]) if folder.primary_parent(child) == places[done]]
        following = following[: most - len(places)]
        places += following
        parents += [done] * len(following)
        done += 1
    if len(places) < 2:
        raise InputError(f"there is nothing below {below!r}: give a node that has children")
    child = np.arange(1, len(places))
    virtual = 0 if top == 0 and folder.has_virtual_root else None
    hierarchy = Hierarchy.from_codes(folder.names(places), child, np.array(parents[1:]), virtual_root=virtual)
    return Embedding(folder.vectors(places), hierarchy, "poincare")
