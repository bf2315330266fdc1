"""Small trees and DAGs for tests, as codes of edges child -> parent.

The generators number nodes parents first, with root 0; :func:`shuffled` hides that, and the strategies draw
shuffled graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Codes = NDArray[np.int64]


class Edges(NamedTuple):
    """``n`` nodes and the codes (m,) of the edges child -> parent."""

    n: int
    child: Codes
    parent: Codes

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.child.tolist(), self.parent.tolist(), strict=True))


def from_parents(parents: object) -> Edges:
    """Tree in which node i + 1 has the parent ``parents[i]`` <= i."""
    parent = np.asarray(parents, np.int64)
    return Edges(parent.size + 1, np.arange(1, parent.size + 1, dtype=np.int64), parent)


def chain(n: int) -> Edges:
    return from_parents(np.arange(n - 1))


def star(n: int) -> Edges:
    return from_parents(np.zeros(n - 1))


def caterpillar(n: int) -> Edges:
    """A spine of every other node, with one leaf at each of its nodes."""
    node = np.arange(1, n)
    return from_parents(np.where(node % 2 == 1, node - 1, np.maximum(node - 2, 0)))


def balanced(branching: int, depth: int) -> Edges:
    """Every inner node has ``branching`` children; leaves lie ``depth`` edges below the root."""
    n = sum(branching**level for level in range(depth + 1))
    return from_parents((np.arange(1, n) - 1) // branching)


def random_tree(n: int, seed: int) -> Edges:
    """Each node hangs below one drawn evenly from those before it."""
    return from_parents(np.random.default_rng(seed).integers(0, np.arange(1, n)) if n > 1 else [])


def preferential(n: int, seed: int) -> Edges:
    """Each node hangs below one drawn in proportion to its degree: few nodes with many children."""
    rng = np.random.default_rng(seed)
    ends = [0]
    parents = []
    for node in range(1, n):
        parent = ends[rng.integers(len(ends))]
        parents.append(parent)
        ends += [parent, node]
    return from_parents(parents)


def random_dag(n: int, extra: int, seed: int) -> Edges:
    """A random tree and up to ``extra`` further edges to earlier nodes, none of them twice; one root."""
    rng = np.random.default_rng(seed)
    tree = random_tree(n, seed)
    pairs = dict.fromkeys(tree.pairs)
    for _ in range(extra if n > 2 else 0):
        child = int(rng.integers(2, n))
        pairs[child, int(rng.integers(0, child))] = None
    codes = np.array(list(pairs), np.int64).reshape(-1, 2)
    return Edges(n, codes[:, 0].copy(), codes[:, 1].copy())


def shuffled(edges: Edges, seed: int) -> Edges:
    """The same graph with nodes renumbered and edges in another order."""
    rng = np.random.default_rng(seed)
    code = rng.permutation(edges.n)
    order = rng.permutation(edges.child.size)
    return Edges(edges.n, code[edges.child[order]], code[edges.parent[order]])


@st.composite
def trees(draw: st.DrawFn, max_nodes: int = 40) -> Edges:
    """Trees of 1 to ``max_nodes`` nodes of every shape above."""
    n = draw(st.integers(1, max_nodes))
    seed = draw(st.integers(0, 2**16))
    shapes: list[Callable[..., Edges]] = [chain, star, caterpillar, random_tree, preferential, balanced]
    shape = draw(st.sampled_from(shapes))
    if shape is balanced:
        depth = draw(st.integers(0, 3))
        edges = balanced(max(1, int((max_nodes / 2) ** (1 / max(depth, 1)))), depth)
    elif shape in (random_tree, preferential):
        edges = shape(n, seed)
    else:
        edges = shape(n)
    return shuffled(edges, seed)


@st.composite
def dags(draw: st.DrawFn, max_nodes: int = 25) -> Edges:
    """DAGs with one root, from almost a tree to dense."""
    n = draw(st.integers(1, max_nodes))
    extra = draw(st.integers(0, 3 * n))
    seed = draw(st.integers(0, 2**16))
    return shuffled(random_dag(n, extra, seed), seed)


@st.composite
def digraphs(draw: st.DrawFn, max_nodes: int = 12) -> Edges:
    """Any directed graph: cycles, repeats and self-loops included."""
    n = draw(st.integers(1, max_nodes))
    node = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=3 * n))
    codes = np.array(pairs, np.int64).reshape(-1, 2)
    return Edges(n, codes[:, 0].copy(), codes[:, 1].copy())
