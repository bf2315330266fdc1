"""Embedding: the vectors of a hierarchy's nodes, what made them, and the questions they answer."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .geometry import euclidean, lorentz, poincare
from .geometry.models import hyperboloid_to_ball
from .hierarchy import Hierarchy
from .names import Names
from .settings import Geometry, Objective

if TYPE_CHECKING:
    from .evaluation import Evaluation

Floats = NDArray[np.float64]
_SPACES = {"poincare": poincare, "lorentz": lorentz, "euclidean": euclidean}


class Embedding:
    """Vectors for the nodes of a hierarchy; the result of :func:`treeball.fit` and :func:`treeball.load`.

    Attributes
    ----------
    vectors : float64 (n, dim), or (n, dim + 1) for the geometry lorentz, time first
        Read-only; row i belongs to ``hierarchy.names[i]``.
    hierarchy : Hierarchy
    geometry : "poincare", "lorentz" or "euclidean"
    provenance : dict
        What made the vectors: method, objective, all settings, seed, version, input and its SHA-256, scores.
    """

    def __init__(
        self,
        vectors: Floats,
        hierarchy: Hierarchy,
        geometry: Geometry = "poincare",
        provenance: dict[str, Any] | None = None,
    ) -> None:
        if geometry not in _SPACES:
            raise InputError(f"geometry must be one of {', '.join(_SPACES)}, not {geometry!r}")
        vectors = np.array(vectors, np.float64, order="C")
        if vectors.ndim != 2 or vectors.shape[0] != hierarchy.n_nodes:
            raise InputError(
                f"the vectors have shape {vectors.shape}, but the hierarchy has {hierarchy.n_nodes:,} nodes: "
                "give one row per node"
            )
        _require_inside(vectors, hierarchy, geometry)
        vectors.flags.writeable = False
        self.vectors = vectors
        self.hierarchy = hierarchy
        self.geometry: Geometry = geometry
        self.provenance = dict(provenance or {})

    # ---- shape and names ----

    @property
    def dim(self) -> int:
        """Dimension of the space."""
        width = int(self.vectors.shape[1])
        return width - 1 if self.geometry == "lorentz" else width

    @property
    def objective(self) -> Objective:
        """What the embedding was made for: ``"parents"`` unless its provenance says otherwise."""
        objective: Objective = self.provenance.get("objective", "parents")
        return objective

    @property
    def names(self) -> Names:
        """Names of the nodes, in the order of the vectors."""
        return self.hierarchy.names

    def __len__(self) -> int:
        return self.hierarchy.n_nodes

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.hierarchy.names)

    def __contains__(self, name: Hashable) -> bool:
        return name in self.hierarchy.names

    def __getitem__(self, name: Hashable) -> Floats:
        return np.asarray(self.vectors[self.hierarchy.names.index_of(name)])

    def __repr__(self) -> str:
        method = self.provenance.get("method", "unknown method")
        return f"<Embedding of {len(self):,} nodes, {self.geometry} dim {self.dim}, {method}>"

    # ---- distances ----

    def distance(self, a: Hashable, b: Hashable) -> float:
        """Distance between two nodes."""
        return float(_SPACES[self.geometry].distance(self[a], self[b]))

    def neighbors(self, name: Hashable, k: int = 10) -> list[tuple[Hashable, float]]:
        """The k nearest other nodes with their distances, nearest first; an added root is left out."""
        if not isinstance(k, (int, np.integer)) or k < 1:
            raise InputError(f"k must be a whole number of at least 1, not {k!r}")
        code = self.hierarchy.names.index_of(name)
        distances = np.array(self._distances_from(code))
        distances[code] = math.inf
        if self.hierarchy.virtual_root is not None:
            distances[self.hierarchy.virtual_root] = math.inf
        k = min(k, int(np.isfinite(distances).sum()))
        nearest = np.argpartition(distances, k - 1)[:k] if 0 < k < len(self) else np.arange(len(self))
        nearest = nearest[np.lexsort((nearest, distances[nearest]))][:k]
        return [(self.hierarchy.names[int(i)], float(distances[i])) for i in nearest]

    def parent_of(self, name: Hashable) -> Hashable:
        """The parent as geometry alone tells it: the nearest other node. A root's answer means nothing."""
        nearest = self.neighbors(name, 1)
        if not nearest:
            raise InputError(f"{name!r} is the only node: it has no parent")
        return nearest[0][0]

    def radii(self) -> Floats:
        """Distance of every node from the origin, (n,)."""
        if self.geometry == "euclidean":
            return np.asarray(np.linalg.norm(self.vectors, axis=1))
        return np.asarray(_SPACES[self.geometry].radius(self.vectors))

    def _distances_from(self, code: int) -> Floats:
        return np.asarray(_SPACES[self.geometry].distance(self.vectors[code], self.vectors))

    def ranking_coordinates(self) -> tuple[Floats, Floats]:
        """Coordinates x (n, d) and factors f (n,) such that ``|x_u - x_v|^2 f_v`` orders v like the distance from u."""
        if self.geometry == "euclidean":
            return self.vectors, np.ones(len(self))
        ball = self.vectors if self.geometry == "poincare" else hyperboloid_to_ball(self.vectors)
        return ball, 1.0 / poincare.one_minus_square(ball)

    # ---- scores and files ----

    def evaluate(self, objective: Objective | None = None, **options: Any) -> Evaluation:
        """Scores against the hierarchy; see :func:`treeball.evaluate`."""
        from .evaluation import evaluate

        return evaluate(self, objective, **options)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a self-describing Parquet file, whole or not at all; :func:`treeball.load` reads it back.

        Names are saved as text; integers come back as integers, other ids (tuples, dates, ...) as their text.
        """
        from .model_file import save

        return save(self, Path(path))


def _require_inside(vectors: Floats, hierarchy: Hierarchy, geometry: Geometry) -> None:
    """One vector at the rim or with a NaN would poison every distance: refuse it by name."""
    wrong: NDArray[np.bool_] = np.logical_not(np.isfinite(vectors).all(axis=1))
    if geometry == "poincare":
        wrong |= ~(poincare.one_minus_square(np.where(wrong[:, None], 0.0, vectors)) > 0)
    if wrong.any():
        code = int(np.flatnonzero(wrong)[0])
        why = "is not finite" if not np.isfinite(vectors[code]).all() else "lies outside the unit ball"
        raise InputError(
            f"the vector of {hierarchy.names[code]!r} {why} ({int(wrong.sum()):,} such): "
            "scale the vectors into the ball, or name their geometry"
        )
