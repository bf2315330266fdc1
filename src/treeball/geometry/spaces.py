"""Spaces: one thin object for each geometry, so that nobody else needs to ask which one it is.

A space knows how wide its vectors are, which arrays are points of it, how far apart two of them are, and what the
compiled kernels need of it. The formulas are in the module of each geometry; adding one is a module of formulas, a
class here, and a step in `engine.cpu.steps` with its line in `engine.cpu.sampled_softmax`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..limits import PLACED_RADIUS, UNIT_ROUNDOFF
from ..types import Floats, Mask
from . import euclidean, half_space, lorentz, poincare, terms
from .models import ball_to_half_space, ball_to_hyperboloid, half_space_to_hyperboloid, hyperboloid_to_ball

__all__ = ["BALL", "SPACES", "Ball", "Flat", "HalfSpace", "Hyperboloid", "Space", "space_of"]


class Space(ABC):
    """A geometry in which nodes have places.

    Attributes
    ----------
    name
        How users and files call it.
    coordinates
        How its points are written down: see :mod:`treeball.geometry.coordinates`.
    curvature
        -1 for hyperbolic space, 0 for flat space.
    title
        Its name in a sentence.
    takes_terms
        Whether coordinates of several terms, see :mod:`treeball.geometry.half_space`, round to its vectors.
    held_beyond
        Radius at which what lies farther out is held by that rounding.
    formulas
        Module with ``distance``, ``radius``, ``exp_map``, ``log_map``, ``distance_gradient``.
    """

    name: ClassVar[str]
    coordinates: ClassVar[str]
    curvature: ClassVar[float] = -1.0
    title: ClassVar[str]
    formulas: ClassVar[Any]
    takes_terms: ClassVar[bool] = False
    held_beyond: ClassVar[float] = math.inf

    def __repr__(self) -> str:
        return f"<Space {self.name}>"

    @property
    def is_hyperbolic(self) -> bool:
        """Whether it curves away: only there do capacity, dilation, healing and ball coordinates mean anything."""
        return self.curvature < 0

    def require_hyperbolic(self, who: str) -> None:
        """Refuse flat space in one sentence that begins with `who`."""
        if not self.is_hyperbolic:
            raise InputError(
                f"{who} works in hyperbolic space: this embedding is {self.name.capitalize()}, fit it with another "
                "method"
            )

    def width(self, dim: int) -> int:
        """Numbers in a vector of dimension `dim`."""
        return dim

    def dim(self, width: int) -> int:
        """Dimension of the space whose vectors have `width` numbers."""
        return width

    def distance(self, u: ArrayLike, v: ArrayLike) -> Floats:
        """Distances of points (..., width), which broadcast."""
        return np.asarray(self.formulas.distance(u, v))

    def radius(self, vectors: ArrayLike) -> Floats:
        """Distances from the origin, (...)."""
        return np.asarray(self.formulas.radius(vectors))

    def outside(self, vectors: Floats, roundoff: float = UNIT_ROUNDOFF) -> tuple[Mask, str]:
        """Which finite vectors (n, width) are no points of the space, (n,), and what is wrong with them.

        `roundoff` is the relative rounding of the numbers given: that of float32 where they came in single precision.
        """
        return np.zeros(len(vectors), np.bool_), ""

    def made_exact(self, vectors: Floats) -> Floats:
        """Points of the space from vectors that are some up to coarse rounding, as those of float32 are."""
        return vectors

    @abstractmethod
    def origin(self, dim: int) -> Floats:
        """The point (width,) from which radii are measured."""

    @abstractmethod
    def initial(self, rng: np.random.Generator, n: int, dim: int, radius: float) -> Floats:
        """First vectors (n, width) of a training: random ones at a distance below `radius` from the origin."""

    @abstractmethod
    def bound(self, max_radius: float) -> float:
        """What kernels clamp by: the largest norm of the numbers that say where a point is."""

    @abstractmethod
    def ranking_coordinates(self, vectors: Floats) -> tuple[Floats, Floats]:
        """Coordinates x (n, d) and factors f (n,) such that ``|x_u - x_v|^2 f_v`` orders v like the distance from u."""

    @abstractmethod
    def distance_from_key(self, root: Floats) -> Floats:
        """Distances from the roots of keys, ``|x_u - x_v| sqrt(f_u f_v)``: a monotone function of them."""

    @abstractmethod
    def to_ball(self, vectors: Floats) -> Floats:
        """Poincaré ball coordinates (n, dim); InputError in flat space."""

    @abstractmethod
    def from_ball(self, points: Floats) -> Floats:
        """Vectors of points given in ball coordinates (n, dim)."""

    def from_half_space(self, points: Floats) -> Floats:
        """Vectors (n, width) to which points (terms, n, dim) of the half-space round, where the space takes terms."""
        return self.from_ball(half_space.rounded_to_ball(points)[0])

    def to_half_space(self, vectors: Floats) -> Floats:
        """Points (n, dim) of the half-space, of one term."""
        return np.asarray(ball_to_half_space(self.to_ball(vectors)))

    @abstractmethod
    def to_hyperboloid(self, vectors: Floats) -> Floats:
        """Hyperboloid coordinates (n, dim + 1), time first; InputError in flat space."""


class Ball(Space):
    """The Poincaré ball, curvature -1."""

    name: ClassVar[str] = "poincare"
    coordinates: ClassVar[str] = "ball"
    title: ClassVar[str] = "Poincaré ball"
    takes_terms: ClassVar[bool] = True
    held_beyond: ClassVar[float] = PLACED_RADIUS
    formulas: ClassVar[Any] = poincare

    def outside(self, vectors: Floats, roundoff: float = UNIT_ROUNDOFF) -> tuple[Mask, str]:
        """Points with |x| of 1 and more."""
        with np.errstate(over="ignore", invalid="ignore"):
            return ~(poincare.one_minus_square(vectors) > 0.0), "lies outside the unit ball"

    def origin(self, dim: int) -> Floats:
        """The zero vector."""
        return np.zeros(dim)

    def initial(self, rng: np.random.Generator, n: int, dim: int, radius: float) -> Floats:
        """Where geodesics end that start in a cube of tangent vectors of that half diagonal."""
        tangent = _cube(rng, n, dim, radius)
        return np.asarray(poincare.from_radius(tangent, np.linalg.norm(tangent, axis=1)))

    def bound(self, max_radius: float) -> float:
        """|x| at that radius."""
        return math.tanh(max_radius / 2)

    def ranking_coordinates(self, vectors: Floats) -> tuple[Floats, Floats]:
        """The points themselves, and 1 / (1 - |x|²)."""
        return vectors, 1.0 / poincare.one_minus_square(vectors)

    def distance_from_key(self, root: Floats) -> Floats:
        """2 asinh sqrt(q), with q = |u-v|² / ((1-|u|²)(1-|v|²))."""
        return np.asarray(2.0 * np.arcsinh(root))

    def to_ball(self, vectors: Floats) -> Floats:
        """As they are."""
        return vectors

    def from_ball(self, points: Floats) -> Floats:
        """As they are."""
        return points

    def to_hyperboloid(self, vectors: Floats) -> Floats:
        """See :func:`treeball.geometry.models.ball_to_hyperboloid`."""
        return np.asarray(ball_to_hyperboloid(vectors))


class Hyperboloid(Ball):
    """The upper sheet of the hyperboloid, time first, curvature -1."""

    name: ClassVar[str] = "lorentz"
    coordinates: ClassVar[str] = "hyperboloid"
    title: ClassVar[str] = "hyperboloid"
    takes_terms: ClassVar[bool] = False
    formulas: ClassVar[Any] = lorentz

    def width(self, dim: int) -> int:
        """Time and space."""
        return dim + 1

    def dim(self, width: int) -> int:
        """All but time."""
        return width - 1

    def outside(self, vectors: Floats, roundoff: float = UNIT_ROUNDOFF) -> tuple[Mask, str]:
        """Points whose time² - |space|² is not 1 up to what rounding to `roundoff` can do to it."""
        with np.errstate(over="ignore", invalid="ignore"):
            time, length = vectors[:, 0], np.sqrt(np.square(vectors[:, 1:]).sum(axis=1))
            square = (time - length) * (time + length)
            allowed = 1e-6 + 64.0 * roundoff * np.square(time)
            wrong = ~((np.abs(square - 1.0) <= allowed) & (time > 0.0))
        return wrong, "is not on the hyperboloid (time first, time² - |space|² = 1)"

    def made_exact(self, vectors: Floats) -> Floats:
        """With the time that goes with space."""
        return np.asarray(lorentz.project(vectors))

    def origin(self, dim: int) -> Floats:
        """Time 1."""
        return np.asarray(lorentz.origin(dim))

    def initial(self, rng: np.random.Generator, n: int, dim: int, radius: float) -> Floats:
        """As in the ball."""
        tangent = _cube(rng, n, dim, radius)
        return np.asarray(lorentz.from_radius(tangent, np.linalg.norm(tangent, axis=1)))

    def bound(self, max_radius: float) -> float:
        """|space| at that radius."""
        return math.sinh(max_radius)

    def ranking_coordinates(self, vectors: Floats) -> tuple[Floats, Floats]:
        """Those of the ball."""
        return super().ranking_coordinates(self.to_ball(vectors))

    def to_ball(self, vectors: Floats) -> Floats:
        """See :func:`treeball.geometry.models.hyperboloid_to_ball`."""
        return np.asarray(hyperboloid_to_ball(vectors))

    def from_ball(self, points: Floats) -> Floats:
        """See :func:`treeball.geometry.models.ball_to_hyperboloid`."""
        return np.asarray(ball_to_hyperboloid(points))

    def to_hyperboloid(self, vectors: Floats) -> Floats:
        """As they are."""
        return vectors


class HalfSpace(Space):
    """The upper half-space, height last, curvature -1: it reaches much farther out than the ball does in float64."""

    name: ClassVar[str] = "half-space"
    coordinates: ClassVar[str] = "half-space"
    title: ClassVar[str] = "upper half-space"
    takes_terms: ClassVar[bool] = True
    formulas: ClassVar[Any] = half_space

    def distance(self, u: ArrayLike, v: ArrayLike) -> Floats:
        """See :func:`treeball.geometry.half_space.plain_distance`."""
        return half_space.plain_distance(u, v)

    def radius(self, vectors: ArrayLike) -> Floats:
        """Distances from the point at height 1 above 0."""
        return half_space.plain_radius(vectors)

    def outside(self, vectors: Floats, roundoff: float = UNIT_ROUNDOFF) -> tuple[Mask, str]:
        """Points at a height of 0 and less."""
        return ~(vectors[:, -1] > 0.0), "has a height (its last number) that is not positive"

    def origin(self, dim: int) -> Floats:
        """Height 1 above 0."""
        return np.asarray(half_space.origin(dim, 1)[0])

    def initial(self, rng: np.random.Generator, n: int, dim: int, radius: float) -> Floats:
        """As in the ball."""
        return self.from_ball(BALL.initial(rng, n, dim, radius))

    def bound(self, max_radius: float) -> float:
        """No training moves points of this space."""
        return math.inf

    def ranking_coordinates(self, vectors: Floats) -> tuple[Floats, Floats]:
        """The points themselves, and half of one over the height."""
        return vectors, 0.5 / vectors[:, -1]

    def distance_from_key(self, root: Floats) -> Floats:
        """As in the ball."""
        return np.asarray(2.0 * np.arcsinh(root))

    def to_ball(self, vectors: Floats) -> Floats:
        """What lies beyond the radius that ball coordinates carry is held there."""
        return half_space.rounded_to_ball(vectors[None])[0]

    def from_ball(self, points: Floats) -> Floats:
        """See :func:`treeball.geometry.models.ball_to_half_space`."""
        return np.asarray(ball_to_half_space(points))

    def from_half_space(self, points: Floats) -> Floats:
        """Their terms added up."""
        return terms.rounded(points)

    def to_half_space(self, vectors: Floats) -> Floats:
        """As they are."""
        return vectors

    def to_hyperboloid(self, vectors: Floats) -> Floats:
        """See :func:`treeball.geometry.models.half_space_to_hyperboloid`."""
        return np.asarray(half_space_to_hyperboloid(vectors))


class Flat(Space):
    """Euclidean space, the flat baseline."""

    name: ClassVar[str] = "euclidean"
    coordinates: ClassVar[str] = "euclidean"
    curvature: ClassVar[float] = 0.0
    title: ClassVar[str] = "Euclidean space"
    formulas: ClassVar[Any] = euclidean

    def origin(self, dim: int) -> Floats:
        """The zero vector."""
        return np.zeros(dim)

    def initial(self, rng: np.random.Generator, n: int, dim: int, radius: float) -> Floats:
        """Within a cube of that half diagonal."""
        return _cube(rng, n, dim, radius)

    def bound(self, max_radius: float) -> float:
        """There is no rim to keep away from."""
        return math.inf

    def ranking_coordinates(self, vectors: Floats) -> tuple[Floats, Floats]:
        """The points themselves, all with factor 1."""
        return vectors, np.ones(len(vectors))

    def distance_from_key(self, root: Floats) -> Floats:
        """The root is the distance."""
        return root

    def to_ball(self, vectors: Floats) -> Floats:
        """There are none."""
        raise InputError("a Euclidean embedding has no ball coordinates: fit it with a hyperbolic method")

    def from_ball(self, points: Floats) -> Floats:
        """There are none."""
        raise InputError("Euclidean vectors cannot be made from ball coordinates")

    def to_hyperboloid(self, vectors: Floats) -> Floats:
        """There are none."""
        return self.to_ball(vectors)


def _cube(rng: np.random.Generator, n: int, dim: int, radius: float) -> Floats:
    """Random vectors (n, dim) of a cube whose corners are at `radius`."""
    return np.asarray(rng.uniform(-1.0, 1.0, (n, dim)) * (radius / np.sqrt(dim)))


BALL = Ball()
"""Where our own methods work."""

SPACES: dict[str, Space] = {space.name: space for space in (BALL, Hyperboloid(), HalfSpace(), Flat())}
"""Every space by its name."""


def space_of(name: str | Space) -> Space:
    """The space of this name; InputError when there is none."""
    if isinstance(name, Space):
        return name
    if name not in SPACES:
        raise InputError(f"geometry must be one of {', '.join(SPACES)}, not {name!r}")
    return SPACES[name]
