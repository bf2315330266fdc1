"""Places that new children of nodes of a model folder may try: along directions that are left in a file, else any."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..engine.cpu import placement, reach
from ..geometry import poincare
from ..limits import PLACED_RADIUS
from ..types import Floats, Ints
from .fans import Fans
from .folder import ModelFolder
from .layout import array
from .reaches import MARGIN
from .trunk import NORM

__all__ = ["NewPlaces"]

# Edges that are tried, as multiples of the first: in later attempts longer ones.
_STRETCH = np.array([1.0, 1.0, 1.05, 1.1, 1.2, 1.3])


class NewPlaces:
    """Where new children of `parents` (m,), places in the order of the places, may go."""

    def __init__(self, folder: ModelFolder, parents: Ints, seed: int) -> None:
        # Leaves of another time are drawn other directions.
        self._folder, self._seed, self._number = folder, seed, len(folder)
        # All that is known of parents is kept once for each, whoever has the most children.
        self._places, self._which = np.unique(parents, return_inverse=True)
        above = folder.primary_parents(self._places)
        needed = np.unique(np.concatenate([self._places, above[above >= 0]]))
        vectors = folder.vectors(needed)
        self._at = vectors[np.searchsorted(needed, self._places)]
        self._up = vectors[np.searchsorted(needed, np.maximum(above, 0))]
        self._is_root = above < 0
        self._own = np.where(self._is_root, 0.0, poincare.distance(self._at, self._up))
        plan = folder.manifest["plan"]
        radius = poincare.distance(self._at, np.zeros_like(self._at))
        left = np.maximum(plan["budget"] - radius, 0.0)
        self._length = np.maximum(np.minimum(plan["longest"] * np.minimum(1.0, left), left), self._own * plan["growth"])
        self._longest = PLACED_RADIUS - radius
        self._spare: dict[int, tuple[Floats, Ints]] = {}
        for kept in folder.path.glob("work/rows-*.npy"):
            place = int(kept.stem.removeprefix("rows-"))
            row = int(np.searchsorted(self._places, place))
            if row < self._places.size and self._places[row] == place:
                self._spare[row] = self._unused(place, kept)

    def _unused(self, place: int, kept: Path) -> tuple[Floats, Ints]:
        """The fan of a node with many children, and its rows that nobody has."""
        rows = np.asarray(array(kept))
        fans = Fans.load(self._folder.path / "work")
        which = int(fans.of(np.array([rows.size]))[0])
        fan = fans.rows[fans.begin[which] : fans.begin[which] + fans.sizes[which]]
        free = np.ones(len(fan), bool)
        free[0] = False
        free[rows] = False
        # The first ones have gone to the children that were added before.
        return fan, np.flatnonzero(free)[int((self._folder.added_parent == place).sum()) :]

    def draw(self, who: Ints, first: int, attempts: int) -> tuple[Floats, Floats]:
        """Points (m * attempts, d) for some of the new leaves, those of each in one piece, and their reaches.

        `first` is how many attempts have been made before; the points follow from it, from the seed and from `who`.
        """
        row = np.repeat(self._which[who], attempts)
        number = np.minimum(first + np.tile(np.arange(attempts), who.size), _STRETCH.size - 1)
        direction = np.random.default_rng([self._seed, self._number, first]).normal(size=(row.size, self._folder.dim))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        length = np.minimum(self._length[row] * _STRETCH[number], self._longest[row])
        length = np.maximum(length, self._own[row] * MARGIN)
        for one in self._spare:
            self._follow_fan(one, np.flatnonzero(row == one), direction, length)
        points, reaches = np.empty_like(direction), np.empty(row.size)
        reach.put_around(self._at[row], direction, length, NORM, MARGIN, points, reaches)
        return points, reaches

    def _follow_fan(self, one: int, drawn: Ints, direction: Floats, length: Floats) -> None:
        """Let as many of the drawn directions as there are rows left in a node's fan follow these."""
        fan, free = self._spare[one]
        rows, drawn = free[: drawn.size], drawn[: free.size]
        self._spare[one] = fan, free[drawn.size :]
        back = np.zeros(self._folder.dim)
        has_parent = not self._is_root[one] and placement.direction_to(self._at[one], self._up[one], back)
        depth = len(self._folder.shape.above(int(self._places[one])))
        direction[drawn] = placement.directions_along(rows, fan, back, bool(has_parent), depth)
        length[drawn] = self._length[one]
