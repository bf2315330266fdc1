"""scikit-learn: categories of a hierarchy as features, and estimators on points. Nothing else imports this."""

from __future__ import annotations

from ..errors import MissingExtraError

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError:
    raise MissingExtraError("scikit-learn", "sklearn", "treeball.sklearn") from None

from .embedder import HierarchyEmbedder
from .kmeans import HyperbolicKMeans
from .logistic import HyperbolicLogisticRegression
from .neighbors import HyperbolicNeighborsClassifier

__all__ = [
    "HierarchyEmbedder",
    "HyperbolicKMeans",
    "HyperbolicLogisticRegression",
    "HyperbolicNeighborsClassifier",
]
