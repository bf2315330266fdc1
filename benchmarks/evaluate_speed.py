"""Seconds for an exact evaluation (MAP, MR, hits@1, illness) of 82,115 nodes, and the same computation in NumPy.

    python benchmarks/evaluate_speed.py [--data DIR] [--numpy-nodes 400]

The embedding is trained for 30 epochs, because ranks of random vectors are not what anyone evaluates. NumPy ranks a
sample of nodes and its time is scaled up.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import treeball
from train_speed import noun_tree
from treeball.workers import available_cores


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--numpy-nodes", type=int, default=400)
    options = parser.parse_args()
    hierarchy = noun_tree(options.data)
    embedding = treeball.fit(hierarchy, method="poincare", dim=10, epochs=30, burn_in=5)
    embedding.evaluate(sample=64)  # compiles
    started = time.perf_counter()
    result = embedding.evaluate(sample=0)
    exact = time.perf_counter() - started
    sources = np.sort(np.random.default_rng(0).choice(result.ranking.sources, options.numpy_nodes, replace=False))
    started = time.perf_counter()
    ranks = numpy_ranks(embedding, sources)
    plain = (time.perf_counter() - started) / sources.size * result.ranking.sources.size
    ours = result.ranking.ranks[np.searchsorted(result.ranking.sources, sources)]
    print(f"{hierarchy.n_nodes:,} nodes, dimension 10, {available_cores()} cores, MAP {result.map:.4f}")
    print(f"treeball, exact            {exact:8.2f} s")
    print(f"NumPy, scaled up           {plain:8.2f} s   NumPy / treeball = {plain / exact:,.0f}")
    print(f"ranks that agree           {(ours == ranks).mean():8.1%} of {sources.size}")


if __name__ == "__main__":
    main()
