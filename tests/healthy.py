"""Embeddings without an ill pair, of any hierarchy and either objective: no training needed."""

from __future__ import annotations

import numpy as np

from tests.trees import Edges
from treeball import Embedding, Hierarchy
from treeball.embedding import Provenance
from treeball.types import Objective


def hierarchy_of(edges: Edges, virtual: bool = False) -> Hierarchy:
    """Nodes n0, n1, ...; the root joins several if it is `virtual`."""
    hierarchy = Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent)
    if not virtual:
        return hierarchy
    return Hierarchy.from_codes(hierarchy.names, *hierarchy.edges(), virtual_root=hierarchy.root)


def healthy(hierarchy: Hierarchy, objective: Objective, geometry: str = "euclidean") -> Embedding:
    """A nearly regular simplex: a node is nearer to its positives than to any other.

    A pair of a node and a positive of it is the farther, the lower the node: so it is nearer to the node than what is
    below that. All other pairs are farther still. Squared distances that differ by so little are those of points.
    """
    n = hierarchy.n_nodes
    far = np.full((n, n), float(n + 1))
    ptr, idx = hierarchy.positives(objective)
    low = np.repeat(np.arange(n), np.diff(ptr))
    far[low, idx] = far[idx, low] = hierarchy.level[low]
    squares = 1.0 + far / (n + 1) * 0.9 / n
    np.fill_diagonal(squares, 0.0)
    centred = squares - squares.mean(axis=0)
    values, vectors = np.linalg.eigh(-0.5 * (centred - centred.mean(axis=1, keepdims=True)))
    assert values.min() > -1e-12
    points = vectors * np.sqrt(np.maximum(values, 0.0))
    if geometry == "poincare":
        points = np.pad(points, ((0, 0), (0, max(0, 2 - n)))) * 1e-3  # where space is flat
    embedding = Embedding(points, hierarchy, geometry, Provenance(objective=objective))
    assert len(embedding.evaluate().illness) == 0
    return embedding
