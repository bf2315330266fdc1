"""One and the same point in other coordinates: ball, hyperboloid, half-space, tangent vectors at the origin, polar.

A tangent vector is given in normal coordinates: it points to the point, and its length is the hyperbolic distance to
it. These are what an ordinary classifier can use. Polar coordinates are those that float32 does not spoil.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..limits import UNIT_ROUNDOFF
from ..types import Coordinates, Floats, Kind
from . import lorentz, models, poincare, polar
from ._float64 import norm, unit
from .spaces import SPACES, Space

__all__ = [
    "RowError",
    "column_names",
    "dim_of",
    "kind_of_columns",
    "kinds_of",
    "space_for",
    "to_kind",
    "to_space",
]

_LETTER: dict[Kind, str] = {
    "ball": "x",
    "hyperboloid": "x",
    "half-space": "y",
    "tangent": "v",
    "polar": "u",
    "euclidean": "e",
}


def dim_of(kind: Kind | None, width: int) -> int:
    """Dimension of the space whose vectors have `width` numbers."""
    return {"hyperboloid": width - 1, "polar": width // 2}.get(kind or "", width)


def space_for(kind: Kind) -> Space:
    """The space of a model made from such vectors."""
    if kind == "half-space":  # the ball, which every method and question takes
        return SPACES["poincare"]
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
        ("ball", "polar"): lambda points: polar.from_direction(points, poincare.radius(points)),
        ("hyperboloid", "ball"): models.hyperboloid_to_ball,
        ("hyperboloid", "half-space"): models.hyperboloid_to_half_space,
        ("hyperboloid", "tangent"): _hyperboloid_to_tangent,
        ("hyperboloid", "polar"): lambda points: polar.from_direction(points[:, 1:], lorentz.radius(points)),
        ("half-space", "ball"): space.to_ball,
        ("half-space", "hyperboloid"): models.half_space_to_hyperboloid,
        ("half-space", "tangent"): lambda points: _hyperboloid_to_tangent(space.to_hyperboloid(points)),
        ("half-space", "polar"): lambda points: polar.from_direction(
            space.to_hyperboloid(points)[:, 1:], space.radius(points)
        ),
    }
    return np.asarray(change[own, coordinates](vectors)), coordinates


def to_space(values: Floats, kind: Kind, space: Space, roundoff: float = UNIT_ROUNDOFF) -> Floats:
    """Vectors of a kind as a model of `space` stores them; RowError names the first row that is no such vector.

    `roundoff` is the relative rounding of the numbers given, by which the hyperboloid is judged; time is made exact.
    """
    if (kind == "euclidean") == space.is_hyperbolic:
        raise InputError(f"{kind} vectors make no model of the geometry {space.name}: leave the geometry out")
    if kind == "hyperboloid" and values.shape[1] < 2:
        raise InputError("a vector of the hyperboloid has a time and at least one number of space")
    if kind == "polar" and (values.shape[1] < 3 or values.shape[1] % 2 == 0):
        raise InputError("a polar vector has a radius and two numbers for each dimension: an odd number, 3 at least")
    own = space_for(kind)
    if own.coordinates == kind:
        wrong, what = own.outside(values, roundoff)
        _require_rows(~wrong, what)
    if kind == "hyperboloid":
        values = _with_exact_time(values)
    if kind == "half-space":
        _require_rows(values[:, -1] > 0.0, "has a height (its last number) that is not positive")
    if kind == "polar":
        _require_rows(_are_polar(values), "has a negative radius (its first number), or a direction that is not 1 long")
    if kind == space.coordinates:
        return values
    change: dict[tuple[str, str], Callable[[Floats], Floats]] = {
        ("ball", "hyperboloid"): models.ball_to_hyperboloid,
        ("hyperboloid", "ball"): models.hyperboloid_to_ball,
        ("half-space", "ball"): models.half_space_to_ball,
        ("half-space", "hyperboloid"): models.half_space_to_hyperboloid,
        ("tangent", "ball"): poincare.from_normal,
        ("tangent", "hyperboloid"): _tangent_to_hyperboloid,
        ("polar", "ball"): lambda rows: poincare.from_radius(polar.direction(rows), rows[:, 0]),
        ("polar", "hyperboloid"): lambda rows: lorentz.from_radius(polar.direction(rows), rows[:, 0]),
        ("ball", "half-space"): models.ball_to_half_space,
        ("hyperboloid", "half-space"): models.hyperboloid_to_half_space,
        ("tangent", "half-space"): lambda rows: models.hyperboloid_to_half_space(_tangent_to_hyperboloid(rows)),
        ("polar", "half-space"): lambda rows: models.hyperboloid_to_half_space(
            lorentz.from_radius(polar.direction(rows), rows[:, 0])
        ),
    }
    return np.asarray(change[kind, space.coordinates](values))


def column_names(kind: Kind, width: int) -> list[str]:
    """Names of columns, which tell the kinds apart: x1, ...; time, x1, ...; y1, ..., height; v1, ...; e1, ...

    Polar are radius, u1, ..., and w1, ..., what rounding to float32 takes from u1, ...
    """
    letter = _LETTER[kind]
    if kind == "hyperboloid":
        return ["time", *(f"{letter}{i}" for i in range(1, width))]
    if kind == "half-space":
        return [*(f"{letter}{i}" for i in range(1, width)), "height"]
    if kind == "polar":
        return ["radius", *(f"{part}{i}" for part in (letter, "w") for i in range(1, dim_of(kind, width) + 1))]
    return [f"{letter}{i}" for i in range(1, width + 1)]


def kind_of_columns(names: list[str]) -> Kind | None:
    """What the numbers are by the names of their columns; None when they are not ours."""
    return next((kind for kind in _LETTER if column_names(kind, len(names)) == names), None)


def _hyperboloid_to_tangent(points: Floats) -> Floats:
    return np.asarray(lorentz.radius(points)[:, None] * unit(points[:, 1:]))


def _tangent_to_hyperboloid(vectors: Floats) -> Floats:
    return np.asarray(lorentz.from_radius(vectors, norm(vectors)[:, 0]))


def _are_polar(rows: Floats) -> NDArray[np.bool_]:
    high, low = np.split(rows[:, 1:], 2, axis=1)
    length = norm(high + low)[:, 0]
    return np.asarray((rows[:, 0] == 0.0) | ((rows[:, 0] > 0.0) & (np.abs(length - 1.0) < 1e-3)))


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
