"""Places in the unit disk for vectors of any dimension and geometry, moving smoothly while the vectors are trained."""

from __future__ import annotations

import numpy as np

from ..geometry import poincare
from ..geometry.spaces import Space
from ..limits import BALL_RADIUS_GONE
from ..types import Floats


class Plane:
    """Shows vectors in the disk, and follows them from one epoch to the next.

    Two hyperbolic dimensions are shown as they are. Of more, the principal plane through the origin is shown, the plane
    that holds most of the squared distances from the origin: on the hyperboloid a point keeps its two space coordinates
    within the plane and loses the others. (The nearest point of the plane would be the other choice. But it is near the
    origin for nearly every node of a high dimension, and there would be nothing to see.) Euclidean vectors are shrunk
    into the disk (by a factor that only ever shrinks), after an orthogonal projection to the principal plane if they
    have more than two dimensions.

    The plane of the next vectors starts from that of the last ones and turns towards the principal plane by two steps
    of orthogonal iteration, so that nothing flips or spins between two pictures.
    """

    def __init__(self) -> None:
        self.basis: Floats | None = None
        self.reach = 0.0

    def places(self, vectors: Floats, space: Space) -> Floats:
        """Points of the disk, (n, 2); vectors as an Embedding has them."""
        if not space.is_hyperbolic:
            flat = vectors if vectors.shape[1] == 2 else vectors @ self._turned(vectors)
            self.reach = max(self.reach, float(np.linalg.norm(flat, axis=1).max(initial=0.0)))
            return np.asarray(flat * (0.97 / self.reach if self.reach else 1.0))
        ball = space.to_ball(vectors)
        if ball.shape[1] > 2:
            ball = self._within_plane(ball)
        return poincare.project(ball, BALL_RADIUS_GONE - 2.0)[0]

    def _within_plane(self, ball: Floats) -> Floats:
        tangent = poincare.to_normal(ball)
        within = tangent @ self._turned(tangent)
        radius = np.linalg.norm(tangent, axis=1)
        # Space coordinates are sinh(r) times the unit direction; sinh(r) / r is 1 at the origin.
        ratio = np.where(radius > 1e-6, np.sinh(radius) / np.maximum(radius, 1e-6), 1.0)
        length = np.linalg.norm(within, axis=1)
        return np.asarray(poincare.from_radius(within, np.arcsinh(length * ratio)))

    def _turned(self, vectors: Floats) -> Floats:
        """The basis (d, 2) of the plane for these vectors."""
        spread = vectors.T @ vectors
        if self.basis is None:
            basis = np.linalg.eigh(spread)[1][:, :-3:-1]
            signs = np.sign(basis[np.abs(basis).argmax(axis=0), [0, 1]])
            self.basis = basis * np.where(signs == 0, 1.0, signs)
            return self.basis
        scale = float(np.abs(spread).max())
        moved = spread @ (spread @ self.basis) / (scale * scale) if scale > 0 else self.basis
        # The orthonormal pair nearest to the moved one: neither turned within the plane nor mirrored.
        left, values, right = np.linalg.svd(moved, full_matrices=False)
        if values[1] > 1e-12 * values[0]:
            self.basis = left @ right
        return self.basis
