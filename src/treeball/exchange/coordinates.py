"""One and the same point in other coordinates: ball, hyperboloid, half-space, and tangent vectors at the origin.

A tangent vector is given in normal coordinates: it points to the point, and its length is the hyperbolic distance to
it. These are what an ordinary classifier can use.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..choices import Coordinates
from ..errors import InputError
from ..geometry import lorentz, models, poincare
from ..geometry._float64 import norm, unit
from ..settings import Geometry
from .vectors import Kind

__all__ = ["column_names", "geometry_of", "kind_of_columns", "native", "to_geometry", "to_kind", "width_of"]

Floats = NDArray[np.float64]

_NATIVE: dict[Geometry, Kind] = {"poincare": "ball", "lorentz": "hyperboloid", "euclidean": "euclidean"}
_LETTER: dict[Kind, str] = {"ball": "x", "hyperboloid": "x", "half-space": "y", "tangent": "v", "euclidean": "e"}


def native(geometry: Geometry) -> Kind:
    """How a model of this geometry stores its points."""
    return _NATIVE[geometry]


def geometry_of(kind: Kind) -> Geometry:
    """The geometry of a model made from such vectors."""
    return next((geometry for geometry, own in _NATIVE.items() if own == kind), "poincare")


def width_of(kind: Kind, dim: int) -> int:
    """How many numbers a vector has."""
    return dim + 1 if kind == "hyperboloid" else dim


def to_kind(vectors: Floats, geometry: Geometry, coordinates: Coordinates | None) -> tuple[Floats, Kind]:
    """Vectors of a model in other coordinates, its own by default, and what they now are."""
    own = native(geometry)
    if coordinates is None or coordinates == own:
        return vectors, own
    if geometry == "euclidean":
        raise InputError(f"a Euclidean model has no {coordinates} coordinates: leave them out")
    if geometry == "poincare":
        change: Callable[[Floats], Floats] = {
            "hyperboloid": models.ball_to_hyperboloid,
            "half-space": models.ball_to_half_space,
            "tangent": poincare.to_tangent,
        }[coordinates]
    else:
        change = {
            "ball": models.hyperboloid_to_ball,
            "half-space": models.hyperboloid_to_half_space,
            "tangent": _hyperboloid_to_tangent,
        }[coordinates]
    return np.asarray(change(vectors)), coordinates


def to_geometry(values: Floats, kind: Kind, geometry: Geometry) -> Floats:
    """Vectors of a kind as a model of `geometry` stores them; InputError names the first row that is no such vector."""
    own = native(geometry)
    if (kind == "euclidean") != (geometry == "euclidean"):
        raise InputError(f"{kind} vectors make no model of the geometry {geometry}: leave the geometry out")
    if kind == "hyperboloid":
        values = _on_sheet(values)
    if kind == "half-space":
        _require_rows(values[:, -1] > 0.0, "has a height (its last number) that is not positive")
    if kind == own:
        return values
    if kind == "tangent":
        return np.asarray((poincare.from_tangent if geometry == "poincare" else _tangent_to_hyperboloid)(values))
    change = {
        ("ball", "lorentz"): models.ball_to_hyperboloid,
        ("hyperboloid", "poincare"): models.hyperboloid_to_ball,
        ("half-space", "poincare"): models.half_space_to_ball,
        ("half-space", "lorentz"): models.half_space_to_hyperboloid,
    }[kind, geometry]
    return np.asarray(change(values))


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


def _on_sheet(values: Floats) -> Floats:
    """Points whose time goes with their space; single precision is near enough, and time is computed again."""
    if values.shape[1] < 2:
        raise InputError("a vector of the hyperboloid has a time and at least one number of space")
    exact = lorentz.project(values)
    near = np.abs(values[:, 0] - exact[:, 0]) <= 1e-4 * exact[:, 0]
    _require_rows(near, "is not on the hyperboloid (time first, time² - |space|² = 1)")
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
