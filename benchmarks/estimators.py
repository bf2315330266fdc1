"""Estimators on the points of a hierarchy: what each is good for, beside its flat counterpart on the same points.

    python benchmarks/estimators.py [--data ../shared/data] [--dims 2 5 10]

The Google taxonomy by `fit` (seed 0) and by `poincare` (seed 0, 300 epochs). Classes are the branches below the root
with 50 nodes and more. Classifiers: accuracy of five folds, every fifth node held out by seed 0; C = 10 and five
neighbours for all, nothing was chosen. Clusters: adjusted Rand index of as many clusters as branches, seed 0.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import treeball
from treeball.sklearn import HyperbolicKMeans, HyperbolicLogisticRegression, HyperbolicNeighborsClassifier


def main() -> None:
    """Print one line for each model and task."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--dims", type=int, nargs="+", default=[2, 5, 10])
    arguments = parser.parse_args()
    source = arguments.data / "google-product-taxonomy.tsv.gz"
    if not source.is_file():
        sys.exit(f"there is no file {source}: name the folder of the hierarchies with --data")
    warnings.simplefilter("ignore", ConvergenceWarning)
    hierarchy = treeball.read(source)
    print("| model | d | task | hyperbolic | on tangent vectors | on ball coordinates | seconds |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for method in ("auto", "poincare"):
        for dim in arguments.dims:
            settings: dict[str, Any] = {} if method == "auto" else {"epochs": 300}
            model = treeball.fit(hierarchy, method=method, dim=dim, seed=0, **settings)
            for task, figures, seconds in tasks(model):
                shown = " | ".join(f"{figure:.3f}" for figure in figures)
                print(
                    f"| {method} | {dim} | {task} | {shown} | {' / '.join(f'{s:.1f}' for s in seconds)} |", flush=True
                )


def tasks(model: treeball.Embedding) -> list[tuple[str, list[float], list[float]]]:
    """Name, figures and seconds: hyperbolic, flat on tangent vectors, flat on ball coordinates."""
    branch = branches(model)
    names, counts = np.unique(branch, return_counts=True)
    kept = np.flatnonzero(np.isin(branch, names[(counts >= 50) & (names >= 0)]))
    y, ball = branch[kept], model.ball()[kept]
    spaces = [ball, treeball.geometry.poincare.to_normal(ball), ball]
    classifiers: dict[str, list[Any]] = {
        "branch by 5 neighbours": [HyperbolicNeighborsClassifier(5), KNeighborsClassifier(5), KNeighborsClassifier(5)],
        "branch by logistic regression": [
            HyperbolicLogisticRegression(C=10.0), LogisticRegression(C=10.0, max_iter=500),
            LogisticRegression(C=10.0, max_iter=500),
        ],
    }  # fmt: skip
    found = []
    for task, estimators in classifiers.items():
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        figures, seconds = [], []
        for estimator, X in zip(estimators, spaces, strict=True):
            started = time.perf_counter()
            figures.append(float(cross_val_score(estimator, X, y, cv=folds).mean()))
            seconds.append(time.perf_counter() - started)
        found.append((task, figures, seconds))
    figures, seconds = [], []
    k = len(np.unique(y))
    for estimator, X in zip(
        [HyperbolicKMeans(k, random_state=0), *[KMeans(k, random_state=0, n_init=4)] * 2], spaces, strict=True
    ):
        started = time.perf_counter()
        figures.append(float(adjusted_rand_score(y, estimator.fit(X).labels_)))
        seconds.append(time.perf_counter() - started)
    return [*found, ("branches by k-means (Rand index)", figures, seconds)]


def branches(model: treeball.Embedding) -> np.ndarray:
    """The child of the root above each node, -1 for the root."""
    hierarchy = model.hierarchy
    top = np.full(hierarchy.n_nodes, -1)
    for node in hierarchy.topological_order:
        parent = hierarchy.primary_parent[node]
        if parent >= 0:
            top[node] = node if parent == hierarchy.root else top[parent]
    return top


if __name__ == "__main__":
    main()
