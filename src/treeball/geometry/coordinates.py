"""One and the same point in other coordinates: ball, hyperboloid, half-space, and tangent vectors at the origin.

A tangent vector is given in normal coordinates: it points to the point, and its length is the hyperbolic distance to
it. These are what an ordinary classifier can use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..limits import UNIT_ROUNDOFF
from ..types import Coordinates, Floats, Kind
from . import lorentz, models, poincare
from ._float64 import norm, unit
from .spaces import SPACES, Space

__all__ = ["RowError", "column_names", "kind_of_columns", "kinds_of", "space_for", "to_kind", "to_space", "width_of"]

_LETTER: dict[Kind, str] = {"ball": "x", "hyperboloid": "x", "half-space": "y", "tangent": "v", "euclidean": "e"}


def width_of(kind: Kind, dim: int) -> int:
    """How many numbers a vector has."""
    return dim + 1 if kind == "hyperboloid" else dim


def space_for(kind: Kind) -> Space:
    """The space of a model made from such vectors."""
    return next((space for space in SPACES.values() if space.coordinates == kind), SPACES["poincare"])


def kinds_of(space: Space) -> tuple[Kind, ...]:
    """All ways in which the points of a space can be written down."""
    return get_args(Coordinates) if space.is_hyperbolic else (cast(Kind, space.coordinates),)


def to_kind(vectors: Floats, space: Space, coordinates: Coordinates | None) -> tuple[Floats, Kind]:
    """Vectors of a model in other coordinates, its own by default, and what they now are."""
    own = cast(Kind, space.coordinates)
    if coordinates is None or coordinates == own:
        return vectors, own
    if not space.is_hyperbolic:
        raise InputError(f"a Euclidean model has no {coordinates} coordinates: leave them out")
    change: dict[tuple[str, str], Callable[[Floats], Floats]] = {
        ("ball", "hyperboloid"): models.ball_to_hyperboloid,
        ("ball", "half-space"): models.ball_to_half_space,
        ("ball", "tangent"): poincare.to_normal,
        ("hyperboloid", "ball"): models.hyperboloid_to_ball,
        ("hyperboloid", "half-space"): models.hyperboloid_to_half_space,
        ("hyperboloid", "tangent"): _hyperboloid_to_tangent,
    }
    return np.asarray(change[own, coordinates](vectors)), coordinates


def to_space(values: Floats, kind: Kind, space: Space, roundoff: float = UNIT_ROUNDOFF) -> Floats:
    """Vectors of a kind as a model of `space` stores them; RowError names the first row that is no such vector.

    `roundoff` is the relative rounding of the numbers given, by which the hyperboloid is judged; time is made exact.
    """
    if (kind == "euclidean") == space.is_hyperbolic:
        raise InputError(f"{kind} vectors make no model of the geometry {space.name}: leave the geometry out")
    if values.shape[1] < width_of(kind, 1):
        raise InputError("a vector of the hyperboloid has a time and at least one number of space")
    own = space_for(kind)
    if own.coordinates == kind:
        wrong, what = own.outside(values, roundoff)
        _require_rows(~wrong, what)
    if kind == "hyperboloid":
        values = _with_exact_time(values)
    if kind == "half-space":
        _require_rows(values[:, -1] > 0.0, "has a height (its last number) that is not positive")
    if kind == space.coordinates:
        return values
    change: dict[tuple[str, str], Callable[[Floats], Floats]] = {
        ("ball", "hyperboloid"): models.ball_to_hyperboloid,
        ("hyperboloid", "ball"): models.hyperboloid_to_ball,
        ("half-space", "ball"): models.half_space_to_ball,
        ("half-space", "hyperboloid"): models.half_space_to_hyperboloid,
        ("tangent", "ball"): poincare.from_normal,
        ("tangent", "hyperboloid"): _tangent_to_hyperboloid,
    }
    return np.asarray(change[kind, space.coordinates](values))


def column_names(kind: Kind, width: int) -> list[str]:
    """Names of columns, which tell the kinds apart: x1, ...; time, x1, ...; y1, ..., height; v1, ...; e1, ..."""
    letter = _LETTER[kind]
    if kind == "hyperboloid":
        return ["time", *(f"{letter}{i}" for i in range(1, width))]
    if kind == "half-space":
        return [*(f"{letter}{i}" for i in range(1, width)), "height"]
    return [f"{letter}{i}" for i in range(1, width + 1)]


def kind_of_columns(names: list[str]) -> Kind | None:
    """What the numbers are by the names of their columns; None when they are not ours."""
    return next((kind for kind in _LETTER if column_names(kind, len(names)) == names), None)


def _hyperboloid_to_tangent(points: Floats) -> Floats:
    return np.asarray(lorentz.radius(points)[:, None] * unit(points[:, 1:]))


def _tangent_to_hyperboloid(vectors: Floats) -> Floats:
    return np.asarray(lorentz.from_radius(vectors, norm(vectors)[:, 0]))


def _with_exact_time(values: Floats) -> Floats:
    """Points whose time goes with their space to the last digit; those that are exact stay as they are."""
    exact = lorentz.project(values)
    kept: Floats = np.where(np.abs(values - exact) <= 1e-12 * exact[:, :1], values, exact)
    return kept


def _require_rows(good: NDArray[np.bool_], what: str) -> None:
    bad = np.flatnonzero(~good)
    if bad.size:
        raise RowError(int(bad[0]), f"{what} ({bad.size:,} such)")


class RowError(InputError):
    """A row that is no vector of its kind; who knows the names says which."""

    def __init__(self, row: int, what: str) -> None:
        super().__init__(f"row {row + 1} {what}")
        self.row, self.what = row, what
