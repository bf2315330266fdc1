"""The upper levels of a model folder, or of what is below a node of it, as an embedding of their own, and a page."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..embedding import Embedding, Provenance
from ..errors import InputError
from ..hierarchy import Hierarchy
from ..report.browser.part import Part
from ..types import Ints
from .folder import ModelFolder

__all__ = ["MOST_SHOWN", "Upper", "upper_levels"]

MOST_SHOWN = 5000
"""Nodes on a page, unless another number is given."""


@dataclass(frozen=True)
class Upper:
    """Some nodes of a folder: their places, the uppermost first, parents before children, and what is made of them."""

    folder: ModelFolder
    places: Ints
    embedding: Embedding

    def part(self, model: str, served: bool) -> Part:
        """What a page of them tells of the rest."""
        folder, top = self.folder, int(self.places[0])
        way = [top]
        while (up := folder.primary_parent(way[-1])) >= 0:
            way.append(up)
        above = np.array(way[:0:-1], np.int64)
        above = above[~folder.is_removed(above)]
        children = np.array([folder.primary_children(one).size for one in self.places.tolist()], np.int64)
        below = folder.count_below(self.places)
        return Part(model, folder.n_present, folder.names(above), children, below, served)


def upper_levels(
    folder: ModelFolder, most: int = MOST_SHOWN, below: str | None = None, around: str | None = None
) -> Upper:
    """The first `most` nodes from the root, or from the node `below`, level by level; siblings the tallest first.

    `around` is a node that is shown in any case: below itself, or below its parent where it has no children. Vectors
    are those of the folder; of several parents the primary one is kept.
    """
    if most < 2:
        raise InputError(f"--most is {most}: give at least 2 nodes")
    top = 0 if below is None else folder.find(below)
    asked_for: int | None = None
    if around is not None:
        top = folder.find(around)
        if not folder.primary_children(top, 1).size and (parent := folder.parents(top)[:1]):
            top, asked_for = parent[0], top
    places, parents = [top], [-1]
    done = 0
    while done < len(places) and len(places) < most:
        following = folder.primary_children(places[done], most - len(places)).tolist()
        if done == 0 and asked_for is not None and asked_for not in following:
            following[-1] = asked_for
        places += following
        parents += [done] * len(following)
        done += 1
    if len(places) < 2:
        raise InputError(f"there is nothing below {below or around!r}: give a node that has children")
    child = np.arange(1, len(places))
    virtual = 0 if top == 0 and folder.has_virtual_root else None
    hierarchy = Hierarchy.from_codes(folder.names(places), child, np.array(parents[1:]), virtual_root=virtual)
    made = Provenance(method=folder.manifest["method"], objective=folder.objective, seed=folder.manifest["seed"])
    return Upper(folder, np.array(places), Embedding(folder.vectors(places), hierarchy, "poincare", made))
