"""HierarchyEmbedder: names of nodes as features for ordinary estimators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..embedding import Embedding
from ..errors import InputError
from ..types import Coordinates

__all__ = ["HierarchyEmbedder"]


class HierarchyEmbedder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Turns names of a hierarchy's nodes into vectors that ordinary estimators can use.

    Parameters
    ----------
    hierarchy
        What to embed: anything :func:`treeball.read` takes, or an :class:`treeball.Embedding` or the path of a model,
        which is used as it is. By default `fit` takes the hierarchy as its X; in a Pipeline, where X are the
        samples, give it here.
    dim, method, objective, epochs
        The settings of :func:`treeball.fit` that matter most; None leaves one as it is there.
    settings
        Further settings of :func:`treeball.fit` by name.
    coordinates
        ``"tangent"``: vectors at the origin whose length is the hyperbolic distance to it, for linear models and the
        like; or ``"ball"``, ``"hyperboloid"``, ``"half-space"``.
    unknown
        What to do with a name that is no node: ``"error"``, or ``"zero"``, a vector of zeros.
    random_state
        The seed, a whole number; None leaves it as it is in :func:`treeball.fit`.

    Attributes
    ----------
    embedding_ : Embedding
    """

    def __init__(
        self,
        hierarchy: Any = None,
        *,
        dim: int | None = None,
        method: str | None = None,
        objective: str | None = None,
        epochs: int | None = None,
        settings: Mapping[str, Any] | None = None,
        coordinates: Coordinates = "tangent",
        unknown: Literal["error", "zero"] = "error",
        random_state: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.dim = dim
        self.method = method
        self.objective = objective
        self.epochs = epochs
        self.settings = settings
        self.coordinates = coordinates
        self.unknown = unknown
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the hierarchy given to the constructor, or else X: pairs (child, parent), or what `read` takes."""
        if self.unknown not in ("error", "zero"):
            raise InputError(f"unknown must be error or zero, not {self.unknown!r}")
        source = X if self.hierarchy is None else self.hierarchy
        if isinstance(source, np.ndarray):
            source = source.tolist()
        self.embedding_ = self._embed(source)
        self._note_columns([] if self.hierarchy is None or X is None else X)
        return self

    def _embed(self, source: Any) -> Embedding:
        from ..io.model_file import is_model, load
        from ..methods._fit import fit

        if isinstance(source, Embedding):
            return source
        if hasattr(source, "__fspath__") or isinstance(source, str):
            from pathlib import Path

            if Path(source).is_file() and is_model(Path(source)):
                return load(source)
        given = {
            "dim": self.dim,
            "method": self.method,
            "objective": self.objective,
            "epochs": self.epochs,
            "seed": self.random_state,
            # A fixed random state promises the same result again, which several workers do not.
            "deterministic": None if self.random_state is None else True,
        }
        chosen = {name: value for name, value in given.items() if value is not None}
        return fit(source, **{**chosen, **(self.settings or {})})

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Features of each row's name, (n, width); of several columns of names, side by side."""
        check_is_fitted(self, "embedding_")
        columns = _columns(X)
        # Where fit took edges, these are the first samples seen.
        if self.hierarchy is None or len(columns) != self.n_features_in_:
            self._note_columns(X)
        features = self._features()
        return np.hstack([features[self._rows(column)] for column in columns])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the features, v1, v2, ... for tangent vectors, after the column's name where columns are several."""
        from ..geometry.coordinates import column_names, to_kind

        check_is_fitted(self, "embedding_")
        embedding = self.embedding_
        values, kind = to_kind(embedding.vectors[:1], embedding.space, self._coordinates())
        names = column_names(kind, values.shape[1])
        if input_features is None and self.n_features_in_ > 1:
            input_features = getattr(self, "feature_names_in_", [f"x{place}" for place in range(self.n_features_in_)])
        if input_features is not None:
            names = [f"{column}_{name}" for column in input_features for name in names]
        return np.array(names, dtype=object)

    def _note_columns(self, X: Any) -> None:
        """How many columns of names the samples have, and what they are called, as scikit-learn keeps it."""
        self.n_features_in_ = len(_columns(X))
        titles = list(getattr(X, "columns", ()))
        if titles and all(isinstance(title, str) for title in titles):
            self.feature_names_in_ = np.array(titles, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _coordinates(self) -> Coordinates | None:
        return self.coordinates if self.embedding_.space.is_hyperbolic else None

    def _features(self) -> NDArray[np.float64]:
        """Vectors of all nodes, and a last row of zeros for names that are none."""
        from ..embedding._precise import warn_of_rounding
        from ..geometry.coordinates import to_kind

        warn_of_rounding(self.embedding_.precision, "scikit-learn")
        values, _ = to_kind(self.embedding_.vectors, self.embedding_.space, self._coordinates())
        return np.vstack([values, np.zeros(values.shape[1])])

    def _rows(self, names: list[Any]) -> NDArray[np.int64]:
        known = self.embedding_.names
        if self.unknown == "error":
            return known.find_many(names).astype(np.int64)
        found = [known.look_up(name) for name in names]
        return np.array([codes[0] if len(codes) == 1 else len(known) for codes in found], np.int64)


def _columns(X: Any) -> list[list[Any]]:
    """Columns of names: of a list, a Series, an array or a frame."""
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        return [list(X.iloc[:, place]) for place in range(X.shape[1])]
    if hasattr(X, "columns") and hasattr(X, "to_dict"):
        return [list(X[column]) for column in X.columns]
    if isinstance(X, (str, bytes)):
        raise InputError(f"transform takes a list of names, not the single name {X!r}: put it in brackets")
    values = X.tolist() if isinstance(X, np.ndarray) else list(X)
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return [list(column) for column in zip(*values, strict=True)]
    if values and all(isinstance(row, list) for row in values):
        return [list(column) for column in zip(*values, strict=True)]
    return [values]
