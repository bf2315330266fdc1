"""Geodesics of the Poincaré disk as polylines: arcs of the circles that meet the rim at right angles.

Take points as complex numbers u, v. Both ends of the arc from u to v make the same angle with its chord,

    phi = arg(1 - v conj(u)) with the sign turned,   tan phi = (u x v) / (1 - <u, v>),

and by the inscribed-angle theorem the point that has turned through the share t of the arc is

    u + (v - u) sin(t phi) / sin(phi) exp(i (1 - t) phi).

Nothing divides by the distance to the circle's centre, which is at infinity for a diameter: there phi is 0, the
quotient is t, and the arc is the chord.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..types import Floats

# A quarter of a pixel of a disk that is 1,250 pixels wide.
TOLERANCE = 4e-4
_MOST_PIECES = 128


def chord_angle(start: Floats, end: Floats) -> Floats:
    """Angle phi between the chord and the arc from start to end, (m, 2) each; positive when the arc bends left."""
    cross = start[:, 0] * end[:, 1] - start[:, 1] * end[:, 0]
    return np.asarray(np.arctan2(cross, 1.0 - np.sum(start * end, axis=1)))


def geodesic_arc(start: Floats, end: Floats, pieces: int) -> Floats:
    """Points at equal turns along the geodesics from start to end, (m, 2) each; -> (m, pieces + 1, 2)."""
    u, v = _complex(start)[:, None], _complex(end)[:, None]
    phi = chord_angle(start, end)[:, None]
    t = np.linspace(0.0, 1.0, pieces + 1)
    share = np.where(phi == 0.0, t, np.sin(t * phi) / np.where(phi == 0.0, 1.0, np.sin(phi)))
    point = u + (v - u) * share * np.exp(1j * (1.0 - t) * phi)
    point[:, 0], point[:, -1] = u[:, 0], v[:, 0]
    return np.stack([point.real, point.imag], axis=-1)


def pieces_needed(start: Floats, end: Floats, tolerance: float = TOLERANCE) -> NDArray[np.int64]:
    """Number of straight pieces (m,), a power of two, that stay within `tolerance` of each arc.

    A piece that turns by x on a circle of radius R is off by R (1 - cos(x/2)), about R x²/8.
    """
    phi = np.abs(chord_angle(start, end))
    chord = np.linalg.norm(end - start, axis=1)
    radius = 0.5 * chord / np.maximum(np.sin(phi), 1e-300)
    pieces = 2.0 * phi * np.sqrt(radius / (8.0 * tolerance))
    return np.asarray(2 ** np.ceil(np.log2(np.clip(pieces, 1.0, _MOST_PIECES))), np.int64)


def geodesics(start: Floats, end: Floats, tolerance: float = TOLERANCE) -> list[Floats]:
    """Polylines from start to end, (m, 2) each, with as few points as the tolerance allows; a list of m (k, 2).

    Edges that need equally many points are computed at once, so that 80,000 of them take a fraction of a second.
    """
    pieces = pieces_needed(start, end, tolerance)
    lines: list[Floats] = [np.empty((0, 2))] * len(start)
    for count in np.unique(pieces):
        chosen = np.flatnonzero(pieces == count)
        for place, line in zip(chosen.tolist(), geodesic_arc(start[chosen], end[chosen], int(count)), strict=True):
            lines[place] = line
    return lines


def _complex(points: Floats) -> NDArray[np.complex128]:
    return np.asarray(points[:, 0] + 1j * points[:, 1])
