"""Coordinates of several terms beside the plain vectors of an embedding: see `geometry.half_space`.

The plain vectors are what they round to. All that compares distances takes the precise ones; pictures, exports and
whoever reads the plain column take the rounded.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine.cpu.half_space import rounded_distances
from ..errors import InputError
from ..geometry import half_space
from ..geometry.spaces import Space
from ..geometry.terms import carried_radius
from ..types import Floats, Ints

__all__ = ["checked", "distances", "loss_of_rounding", "radii", "warn_of_rounding"]


def checked(points: Floats, shape: tuple[int, int], space: Space) -> Floats:
    """Precise points (terms, n, dim) as they are kept, read-only; InputError unless they go with vectors of a shape."""
    kept = np.array(points, np.float64, order="C")
    fault = half_space.wrong(kept)
    if not fault and kept.shape[1:] != shape:
        fault = f"they have the shape {kept.shape}, and the vectors {shape}"
    if not fault and not space.takes_terms:
        fault = f"the geometry {space.name} has no place for them"
    if fault:
        raise InputError(f"the coordinates of several terms are no points of the half-space: {fault}; leave them out")
    kept.flags.writeable = False
    return kept


def distances(points: Floats, first: NDArray[np.integer], second: NDArray[np.integer]) -> Floats:
    """Distances (m,) of pairs of nodes, to the digits of float64."""
    found = np.empty(first.size)
    rounded_distances(points, points, first.astype(np.int64), second.astype(np.int64), found)
    return found


def radii(points: Floats, codes: Ints | None = None) -> Floats:
    """Distances of some nodes, or of all, from the origin."""
    codes = np.arange(points.shape[1]) if codes is None else codes
    found = np.empty(codes.size)
    origin = half_space.origin(points.shape[2], len(points))[:, None]
    rounded_distances(points, origin, codes.astype(np.int64), np.zeros(codes.size, np.int64), found)
    return found


def loss_of_rounding(points: Floats, vectors: Floats, space: Space) -> dict[str, Any]:
    """What the plain vectors lose: how many nodes are held at the last radius, and how far rounding moves nodes."""
    plain = np.zeros_like(points)
    plain[0] = space.to_half_space(vectors)
    moved, codes = np.empty(len(vectors)), np.arange(len(vectors))
    rounded_distances(points, plain, codes, codes, moved)
    held = int((radii(points) > space.held_beyond).sum())
    return {
        "terms": len(points),
        "carries_radius": carried_radius(len(points)),
        "vectors_held": held,
        "vectors_held_at_radius": space.held_beyond if held else None,
        "vectors_moved_at_most": float(moved.max()),
    }


def warn_of_rounding(terms: int, taker: str) -> None:
    """Say that who takes the plain vectors takes less than there is, where there are several terms."""
    if terms > 1:
        warnings.warn(
            f"{taker} takes vectors rounded to float64, and not the {terms} terms that each coordinate of this model "
            "has: far out distances differ",
            stacklevel=3,
        )
