"""The Poincaré ball for tensors, float64 or float32, on any device: `treeball.geometry.poincare` with gradients.

Points and tangent vectors have shape (..., d) and broadcast over leading axes. Points must lie inside the ball: nothing
is clamped in silence. Letters are those of :mod:`treeball.geometry.poincare`: a = 1 - |u|², b = 1 - |v|², s = |u - v|².
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .. import limits
from ..errors import InputError

__all__ = [
    "dilate",
    "distance",
    "exp_map",
    "from_hyperboloid",
    "from_normal",
    "geodesic",
    "log_map",
    "mobius_add",
    "project",
    "radius",
    "to_hyperboloid",
    "to_normal",
    "transport",
]

# With |x| <= 1, multiples of 2^-26 have squares that are multiples of 2^-52: their sum, at most 2, is exact.
_COARSE = 2.0**26


def largest_radius(dtype: torch.dtype, wanted: float | None = None) -> float:
    """The radius that points are held within: the one that is wanted, or what coordinates of a dtype carry.

    That is 30 in float64, and 9.9 in float32, where neighbouring numbers are as far apart. In float64 one may want 34.
    """
    if dtype not in (torch.float64, torch.float32):
        raise InputError(f"ball coordinates cannot be {dtype}: convert them to float64 or float32")
    carried = limits.BALL_RADIUS + math.log(torch.finfo(torch.float64).eps / torch.finfo(dtype).eps)
    if wanted is None:
        return carried
    most = limits.LARGEST_RADIUS if dtype == torch.float64 else carried
    if not 0.0 < wanted <= most:
        raise InputError(f"max_radius must be above 0 and at most {most:.4g} in {dtype}, not {wanted}")
    return wanted


def distance(u: Tensor, v: Tensor) -> Tensor:
    """d(u, v) = 2 arsinh(|u - v| / sqrt(a b)), the paper's equation 1; (..., d), (..., d) -> (...).

    As exact as :func:`treeball.geometry.poincare.distance`, for near points and far ones alike. The gradient, too, is
    made of terms that do not cancel; at u = v, where the distance has a corner, it is 0.
    """
    half_chord = _norm(u - v) / torch.sqrt(gap(u) * gap(v))
    return 2.0 * torch.asinh(half_chord)[..., 0]


def radius(points: Tensor) -> Tensor:
    """Hyperbolic distance to the origin; (..., d) -> (...)."""
    return 2.0 * torch.asinh(_norm(points) / torch.sqrt(gap(points)))[..., 0]


def to_normal(points: Tensor) -> Tensor:
    """Vectors at the origin: same direction, Euclidean norm = hyperbolic radius; (..., d) -> (..., d)."""
    length = _norm(points)
    safe = torch.where(length > 0.0, length, 1.0)
    stretch = 2.0 * torch.asinh(safe / torch.sqrt(gap(points))) / safe
    return torch.where(length > 0.0, stretch, 2.0) * points


def from_normal(vectors: Tensor, max_radius: float | None = None) -> Tensor:
    """Any vectors, such as a network's output, as points of the ball: tanh(|v|/2) v / |v|; (..., d) -> (..., d).

    The exponential map at the origin and the inverse of `to_normal`: the norm becomes the hyperbolic radius. Beyond
    `max_radius`, by default what the dtype carries, only the direction counts.
    """
    limit = largest_radius(vectors.dtype, max_radius)
    length = _norm(vectors)
    safe = torch.where(length > 0.0, length, 1.0)
    shrink = torch.tanh(0.5 * torch.clamp(safe, max=limit)) / safe
    return torch.where(length > 0.0, shrink, 0.5) * vectors


def dilate(points: Tensor, factor: float, max_radius: float | None = None) -> Tensor:
    """k-dilation, the paper's equation 6: d(O, g(x)) = k d(O, x), but no farther than `max_radius`."""
    if not 0.0 < factor < math.inf:
        raise InputError(f"a dilation needs a positive, finite factor, not {factor}")
    return from_normal(factor * to_normal(points), max_radius)


def mobius_add(x: Tensor, y: Tensor) -> Tensor:
    """Möbius addition x (+) y, as x plus a displacement; (..., d), (..., d) -> (..., d)."""
    a, b, way = gap(x), gap(y), x + y
    return x + a * (way - b * x) / (_dot(way, way) + a * b)


def exp_map(at: Tensor, tangent: Tensor) -> Tensor:
    """Walk from `at` with initial velocity `tangent` along a geodesic for unit time; -> (..., d)."""
    return mobius_add(at, torch.tanh(_norm(tangent) / gap(at)) * _unit(tangent))


def log_map(at: Tensor, to: Tensor) -> Tensor:
    """The tangent vector at `at` whose `exp_map` is `to`: its direction times a d/2; -> (..., d)."""
    return 0.5 * gap(at) * distance(at, to)[..., None] * _direction(at, to)


def geodesic(u: Tensor, v: Tensor, t: Tensor | float) -> Tensor:
    """The point at fraction t (...) of the way from u to v; -> (..., d).

    On the hyperboloid it is (sinh((1-t) d) U + sinh(t d) V) / sinh(d), in which nothing cancels for t in [0, 1].
    """
    share = torch.as_tensor(t, dtype=u.dtype, device=u.device)[..., None]
    a, b, length = gap(u), gap(v), distance(u, v)[..., None]
    from_u, from_v = _sinh_ratio(1.0 - share, length) / a, _sinh_ratio(share, length) / b
    return 2.0 * (from_u * u + from_v * v) / (1.0 + from_u * (2.0 - a) + from_v * (2.0 - b))


def to_hyperboloid(points: Tensor) -> Tensor:
    """The same points on the hyperboloid, time first: ((2 - a) / a, 2 x / a); (..., d) -> (..., d + 1)."""
    a = gap(points)
    return torch.cat([(2.0 - a) / a, 2.0 * points / a], -1)


def from_hyperboloid(points: Tensor) -> Tensor:
    """Points of the hyperboloid, time first, in the ball: space / (1 + time); (..., d + 1) -> (..., d)."""
    return points[..., 1:] / (1.0 + points[..., :1])


def transport(at: Tensor, to: Tensor, tangent: Tensor) -> Tensor:
    """Parallel transport of a tangent vector along the geodesic from `at` to `to`; -> (..., d).

    The ball is conformal, so this is a rotation, the one that turns the geodesic's first direction e into its last f,
    times b / a:

        R v = v - <e + f, v> / (1 + <e, f>) (e + f) + 2 <e, v> f
    """
    e, f = _direction(at, to), -_direction(to, at)
    both = e + f
    # 1 + <e, f> = |e + f|² / 2 for unit vectors, and nothing cancels.
    turn = _dot(both, tangent) / torch.clamp(0.5 * _dot(both, both), min=torch.finfo(at.dtype).tiny)
    return gap(to) / gap(at) * (tangent - turn * both + 2.0 * _dot(e, tangent) * f)


def project(points: Tensor, max_radius: float | None = None) -> tuple[Tensor, Tensor]:
    """Move points beyond a radius (by default what the dtype carries), or outside the ball, back along their ray.

    Returns the points (..., d) and, as a tensor without axes, how many were moved.
    """
    limit = largest_radius(points.dtype, max_radius)
    beyond = gap(points / torch.clamp(_norm(points), min=1.0)) < limits.gap_from_radius(limit)
    # A hair inside, so that rounding cannot leave them outside.
    rim = math.tanh(0.5 * limit) - 2.0 * torch.finfo(points.dtype).eps
    return torch.where(beyond, rim * _unit(points), points), beyond.sum()


def gap(points: Tensor) -> Tensor:
    """a = 1 - |x|², (..., d) -> (..., 1), exact to 2^-78 for the coordinates as stored, with its gradient -2x.

    The value is that of `treeball.geometry._float64.square_and_gap`, which says why; the gradient is that of the naive
    formula, whose rounding error alone is corrected.
    """
    naive = 1.0 - _dot(points, points)
    with torch.no_grad():
        x = points.double()
        hi = torch.round(x * _COARSE) / _COARSE
        exact = (1.0 - _dot(hi, hi)) - _dot(x - hi, hi + x)
        correction = exact - naive
    return (naive + correction).to(points.dtype)


def _direction(x: Tensor, y: Tensor) -> Tensor:
    """The unit vector at x of the geodesic to y, or 0 if they coincide: that of a (y - x) - s x."""
    way = y - x
    return _unit(gap(x) * way - _dot(way, way) * x)


def _sinh_ratio(share: Tensor, length: Tensor) -> Tensor:
    """sinh(t d) / sinh(d), which is t where d is 0."""
    safe = torch.where(length > 0.0, length, 1.0)
    return torch.where(length > 0.0, torch.sinh(share * safe) / torch.sinh(safe), share)


def _dot(x: Tensor, y: Tensor) -> Tensor:
    return (x * y).sum(-1, keepdim=True)


def _norm(x: Tensor) -> Tensor:
    return torch.linalg.vector_norm(x, dim=-1, keepdim=True)


def _unit(x: Tensor) -> Tensor:
    length = _norm(x)
    return x / torch.where(length > 0.0, length, 1.0)
