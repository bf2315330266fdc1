"""Embedding: the vectors of a hierarchy's nodes, what made them, and the questions they answer."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .geometry import euclidean, lorentz, poincare
from .geometry.models import hyperboloid_to_ball
from .hierarchy import Hierarchy
from .names import Names
from .questions import Questions
from .settings import Geometry, Objective

if TYPE_CHECKING:
    from .choices import Coordinates
    from .evaluation import Evaluation
    from .exchange.exporting import Export
    from .methods.insert import Insertion
    from .search import SearchTree

Floats = NDArray[np.float64]
_NUMBERS_AT_ONCE = 4_000_000
_SPACES = {"poincare": poincare, "lorentz": lorentz, "euclidean": euclidean}


class Embedding(Questions):
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

    # ---- distances; what else one can ask is in treeball.questions ----

    @property
    def space(self) -> Any:
        """The formulas of its geometry: the module `poincare`, `lorentz` or `euclidean` of :mod:`treeball.geometry`."""
        return _SPACES[self.geometry]

    def distances_between(self, first: NDArray[np.integer], second: NDArray[np.integer]) -> Floats:
        """Distances of pairs of nodes given by their codes, which broadcast."""
        first, second = np.broadcast_arrays(first, second)
        result = np.empty(first.size)
        # A block at a time: millions of pairs would else be copied, vectors and all, at once.
        step = max(1, _NUMBERS_AT_ONCE // self.vectors.shape[1])
        for begin in range(0, first.size, step):
            part = slice(begin, begin + step)
            result[part] = self.space.distance(self.vectors[first.flat[part]], self.vectors[second.flat[part]])
        return result.reshape(first.shape)

    def ball(self) -> Floats:
        """Coordinates in the Poincaré ball, (n, dim), of an embedding in hyperbolic space."""
        return hyperboloid_to_ball(self.vectors) if self.geometry == "lorentz" else self.vectors

    @cached_property
    def search_tree(self) -> SearchTree:
        """Exact index over all nodes, built on first use; an added root is in it."""
        from .search import SearchTree

        return SearchTree(*self.ranking_coordinates())

    def read_back(self) -> Hierarchy:
        """The hierarchy that distances alone show: every node below its nearest; see :mod:`treeball.read_back`."""
        return self._read_back

    @cached_property
    def _read_back(self) -> Hierarchy:
        from .read_back import read_back

        return read_back(self)

    def radii(self) -> Floats:
        """Distance of every node from the origin, (n,)."""
        return np.asarray(self.space.radius(self.vectors))

    def _distances_from(self, code: int) -> Floats:
        return np.asarray(self.space.distance(self.vectors[code], self.vectors))

    def ranking_coordinates(self) -> tuple[Floats, Floats]:
        """Coordinates x (n, d) and factors f (n,) such that ``|x_u - x_v|^2 f_v`` orders v like the distance from u."""
        if self.geometry == "euclidean":
            return self.vectors, np.ones(len(self))
        ball = self.ball()
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

    def export(self, path: str | os.PathLike[str], **options: Any) -> Export:
        """Write the vectors for other tools; see :func:`treeball.exchange.exporting.export`."""
        from .exchange.exporting import export

        return export(self, Path(path), **options)

    def insert(self, edges: Any = None, **options: Any) -> Insertion:
        """Add nodes, or remove, rename and move some, in a new embedding; see :func:`treeball.insert`."""
        from .methods.insert import insert

        return insert(self, edges, **options)

    def to_pandas(self, coordinates: Coordinates | None = None) -> Any:
        """A DataFrame with a row for each node; see :func:`treeball.frames.to_pandas`."""
        from .frames import to_pandas

        return to_pandas(self, coordinates)

    def to_networkx(self) -> Any:
        """A directed graph child -> parent with vectors and distances; see :func:`treeball.frames.to_networkx`."""
        from .frames import to_networkx

        return to_networkx(self)


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
