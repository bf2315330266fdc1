"""What float64 can and cannot hold, in hyperbolic units. Every clamp in treeball takes its number from here.

A point of the Poincaré ball at hyperbolic radius r has the *gap* 1 - |x|² = 1 / cosh²(r/2) ≈ 4 e^-r.
Coordinates of size about 1 are rounded to multiples of 2^-53, so the gap runs out long before the exponent
does.
"""

from __future__ import annotations

import math

__all__ = [
    "BALL_RADIUS",
    "BALL_RADIUS_GONE",
    "HYPERBOLOID_RADIUS",
    "LARGEST_RADIUS",
    "LEAF_RADIUS",
    "LORENTZ_INNER_RADIUS",
    "PLACED_RADIUS",
    "PUBLISHED_MARGIN",
    "PUBLISHED_RADIUS",
    "SETTLE_RADIUS",
    "TERMS",
    "TIE",
    "UNIT_ROUNDOFF",
    "gap_from_radius",
    "margin_from_radius",
    "radius_from_gap",
    "radius_from_margin",
    "radius_resolution",
]

UNIT_ROUNDOFF: float = 2.0**-53
"""Largest relative error of one rounding to float64, 1.1e-16."""

TIE: float = 1e-9
"""Two distances that differ by a smaller part are the same: constructed siblings are equally far up to rounding."""

BALL_RADIUS: float = 30.0
"""Largest radius that ball coordinates carry usefully: the gap is 3.7e-13 and neighbouring float64 points are
6e-4 apart in hyperbolic distance. Our own methods clamp here."""

SETTLE_RADIUS: float = 31.5
"""Within this radius nodes that are moved or added find their places: points are 3e-3 apart there, less than the
smallest margin that is asked of a place."""

LEAF_RADIUS: float = 33.0
"""Leaves, below which nothing more is placed, may use the last bits: where they are need not be as exact."""

PLACED_RADIUS: float = 33.5
"""No construction puts a node farther out than this."""

LARGEST_RADIUS: float = 34.0
"""No setting may ask for more: points are 0.03 apart there."""

BALL_RADIUS_GONE: float = 54.0 * math.log(2.0)
"""37.43, the radius of 1 - 2^-53, the last float64 before 1. Ball coordinates beyond it do not exist, and
there neighbouring points are about 1 apart."""

PUBLISHED_MARGIN: float = 1e-5
"""Published trainers keep |x| <= 1 - 1e-5. Our baselines do the same, for fidelity."""

PUBLISHED_RADIUS: float = math.log((2.0 - PUBLISHED_MARGIN) / PUBLISHED_MARGIN)
"""12.21, the hyperbolic radius of PUBLISHED_MARGIN."""

LORENTZ_INNER_RADIUS: float = 18.0
"""Past this radius the Lorentz inner product of two near points drowns: cosh²(18) is about 2^50, so the 1
that should be left over is hardly above the rounding of its terms. `geometry.lorentz` avoids it."""

HYPERBOLOID_RADIUS: float = 350.0
"""Largest radius for hyperboloid coordinates: squares of sinh(350) still fit float64. The radius keeps its
full relative accuracy all the way. Directions are as coarse as in the ball (2^-53 e^r / 2 in hyperbolic
distance), so past radius 36 two points of one sphere are told apart no better than there."""


def radius_from_margin(margin: float) -> float:
    """Hyperbolic radius of the points with Euclidean norm 1 - m:  r = log((2 - m) / m) = 2 artanh(1 - m)."""
    if not 0.0 < margin <= 1.0:
        raise ValueError(f"a margin lies in (0, 1], not {margin}")
    return math.log((2.0 - margin) / margin)


def margin_from_radius(radius: float) -> float:
    """Distance to the rim, 1 - |x|, of a point at a hyperbolic radius:  m = 1 - tanh(r/2) = 2 / (e^r + 1)."""
    return 2.0 * math.exp(-radius) / (1.0 + math.exp(-radius))


def radius_from_gap(gap: float) -> float:
    """Hyperbolic radius of the points with 1 - |x|² = gap:  r = 2 arsinh(sqrt(1 / gap - 1))."""
    if not 0.0 < gap <= 1.0:
        raise ValueError(f"a gap lies in (0, 1], not {gap}")
    return 2.0 * math.asinh(math.sqrt((1.0 - gap) / gap))


def gap_from_radius(radius: float) -> float:
    """1 - |x|² at a hyperbolic radius:  a = 1 / cosh²(r/2), written so that no radius overflows."""
    return min(1.0, 4.0 * math.exp(-radius) / (1.0 + math.exp(-radius)) ** 2)


def radius_resolution(radius: float) -> float:
    """Hyperbolic distance between neighbouring float64 points of the ball at a radius:  2 · 2^-53 / gap.

    It is 3e-16 at radius 1, 2e-10 at 15, 6e-4 at 30 and 1 at 37.4. No formula can place a point by ball
    coordinates more exactly than half of this.
    """
    return 2.0 * UNIT_ROUNDOFF / gap_from_radius(radius)


TERMS = (1, 2, 4)
"""How many float64 terms a coordinate may have."""
