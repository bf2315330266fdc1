"""Seconds for an exact evaluation (objective parents) by the search tree, by comparing all pairs, and in NumPy.

    python benchmarks/evaluate_speed.py [--data DIR] [--large FILE] [--sample 400]

Noun tree of WordNet (or a generated tree of the same size), dimension 10: one embedding trained for 30 epochs, where
hundreds of nodes are nearer than a parent, and one constructed, where hardly any is. `--large` names a hierarchy of
millions of nodes to construct and evaluate as well. What would take too long is timed on a sample and scaled up.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import treeball
from train_speed import noun_tree
from treeball.engine import choose
from treeball.engine.cpu.search_tree import SearchTree
from treeball.evaluation.ranking import positives_of
from treeball.methods.construct import construct
from treeball.workers import available_cores

DIM = 10


def constructed(hierarchy: treeball.Hierarchy) -> treeball.Embedding:
    """The construction, where hardly a pair is ill."""
    return treeball.Embedding(construct(hierarchy, DIM).vectors, hierarchy)


def numpy_ranks(embedding: treeball.Embedding, sources: np.ndarray) -> np.ndarray:
    """Rank of the parent of each source, by the formula of the distance and a comparison with all nodes."""
    x = embedding.vectors
    rim = 1 - np.square(x).sum(axis=1)
    parents = embedding.hierarchy.primary_parent
    ranks = np.empty(sources.size, np.int64)
    for i, a in enumerate(sources):
        distance = np.arccosh(1 + 2 * np.square(x[a] - x).sum(axis=1) / (rim[a] * rim))
        closer = distance <= distance[parents[a]]
        closer[[a, parents[a]]] = False
        ranks[i] = 1 + closer.sum()
    return ranks


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Seconds and result."""
    started = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - started, result


def compare(title: str, embedding: treeball.Embedding, size: int) -> None:
    """Print the times of all three ways, and whether their ranks agree."""
    x, factor = embedding.ranking_coordinates()
    positives = embedding.hierarchy.positives("parents")
    nodes = np.flatnonzero(np.diff(positives[0]))
    sample = np.sort(np.random.default_rng(0).choice(nodes, size, replace=False))
    own, few = positives_of(sample, positives), sample[:16]
    SearchTree(x[:1000], factor[:1000]).rank([1], [0, 1], [0])  # compiles
    compare_all = choose().rank
    compare_all(x, factor, few, *positives_of(few, positives), 1)
    build, tree = timed(SearchTree, x, factor)
    pruned, found = timed(tree.rank, nodes, *positives_of(nodes, positives))
    every, expected = timed(compare_all, x, factor, sample, *own, available_cores())
    plain, ranks = timed(numpy_ranks, embedding, sample[:100])
    at = np.searchsorted(nodes, sample)
    same = all(np.array_equal(a[at], b) for a, b in zip(found, expected, strict=True))
    print(f"{title}: {len(embedding):,} nodes, dimension {DIM}, {available_cores()} cores")
    total = build + pruned
    print(f"  mean rank                    {found[0].mean():10,.2f}")
    print(f"  search tree, all nodes       {total:10.2f} s   ({build:.2f} s of it to build the tree)")
    every, plain = every * nodes.size / size, plain * nodes.size / 100
    print(f"  all pairs, scaled up         {every:10.2f} s   {every / total:8,.1f} times as long")
    print(f"  NumPy, scaled up             {plain:10.2f} s   {plain / total:8,.1f} times as long")
    print(f"  share of nodes compared      {tree.visited_share(sample, *own):10.2%}")
    print(f"  identical to all pairs       {'yes' if same else 'NO':>10}     on {size:,} nodes")
    print(f"  ranks as in NumPy            {(ranks == found[0][at[:100]]).mean():10.1%}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--large", type=Path)
    parser.add_argument("--sample", type=int, default=400)
    options = parser.parse_args()
    hierarchy = noun_tree(options.data)
    compare("trained", treeball.fit(hierarchy, method="poincare", dim=DIM, epochs=30, burn_in=5), options.sample)
    compare("constructed", constructed(hierarchy), options.sample)
    if options.large is not None:
        compare("constructed, large", constructed(treeball.read(options.large)), options.sample)


if __name__ == "__main__":
    main()
