"""Recall, build time and query time of the approximate index beside exact search.

    python benchmarks/index.py --data DIR [--only NAME ...] [--threads 0] [--seed 0]

For each data set an embedding that `treeball.fit` makes with the settings below. Recall@10 is measured on a sample of
its own, not on the one the index was tuned on. Times are microseconds a node, the best of 3 runs, on one thread: *bulk*
asks for 2,000 nodes at once, *one by one* for one node at a time, and *by name* calls `neighbors`, which for a single
node and without an index compares all nodes. A ratio above 1 means that the index is faster.

For comparison, the recall of two simpler ways: links drawn by the true distance, too; and, when faiss is installed, its
flat search for the largest inner product of float32 hyperboloid coordinates.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import treeball
from treeball.embedding._read_back import nearest_nodes
from treeball.geometry.models import ball_to_hyperboloid
from treeball.nearest import index as approximate
from treeball.nearest.index_graph import Graph
from treeball.workers import available_cores

K = 10
BULK, SINGLE = 2_000, 50
WIDE = 1024
CASES = [
    ("wordnet-nouns-tree", {"dim": 10}),
    ("shopify-facets-hardware", {"dim": 10}),
    ("shopify-categories", {"dim": 10}),
    ("wordnet-nouns-tree", {"dim": 50}),
    ("wordnet-nouns-tree", {"dim": 10, "method": "poincare", "epochs": 50}),
]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that some work takes, and its result."""
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def microseconds(work: Callable[[], Any], queries: int) -> float:
    """Time of one query."""
    return min(timed(work)[0] for _ in range(3)) / queries * 1e6


def recall_of(embedding: treeball.Embedding, nodes: np.ndarray, found: np.ndarray) -> float:
    """Share of the codes found that are no farther than the true 10th nearest node, up to one part in 10^9."""
    true = nearest_nodes(embedding, nodes, K)
    limit = embedding.distances_between(nodes[:, None], true).max(axis=1)
    right = (embedding.distances_between(nodes[:, None], found) <= limit[:, None] * (1 + 1e-9)) & (found >= 0)
    return float((right & (found != nodes[:, None])).sum() / (K * nodes.size))


def by_true_links(embedding: treeball.Embedding, nodes: np.ndarray, links: int) -> np.ndarray:
    """What a graph finds whose links are drawn by the distance that it is searched by, with a wide search."""
    coordinates, factor = embedding.ranking_coordinates()
    rows = np.column_stack([coordinates, factor])
    order = np.random.default_rng(0).permutation(len(rows))
    graph = Graph.build(order, rows[order], links, 0, available_cores())
    found = graph.search(rows[nodes], K + 1, WIDE, available_cores())
    return np.where(found == nodes[:, None], -1, found)


def by_faiss(embedding: treeball.Embedding, nodes: np.ndarray) -> np.ndarray:
    """What the exact search of faiss finds, which knows float32 and no hyperbolic distance."""
    import faiss

    points = ball_to_hyperboloid(embedding.ball())
    flat = faiss.IndexFlatIP(points.shape[1])
    flat.add(np.float32(points))
    return flat.search(np.float32(points[nodes] * np.append(-1.0, np.ones(embedding.dim))), K + 1)[1]


def run(name: str, settings: dict[str, Any], options: argparse.Namespace, folder: Path) -> None:
    """Print the lines of one data set."""
    seed = options.seed
    embedding = treeball.fit(options.data / f"{name}.tsv.gz", seed=seed, **settings)
    print(f"\n{name}: {embedding!r}, seed {seed}", flush=True)
    planted, tree = timed(lambda: embedding.search_tree)
    seconds, built = timed(lambda: approximate.build(embedding, seed=seed, threads=options.threads))
    path = built.save(folder / "model.usearch")
    loaded, found = timed(lambda: approximate.load(embedding, path))
    facts, size = found.facts, path.stat().st_size
    nodes = np.random.default_rng(seed + 1).choice(len(embedding), BULK, replace=False)
    few = nodes[:SINGLE, None]
    names = embedding.names.take(nodes[:SINGLE])
    reached = recall_of(embedding, nodes, found.nearest(nodes, K)[0])
    print(f"build       {seconds:.1f} s with tuning, {size / 1e6:.1f} MB, memory-mapped in {loaded * 1e3:.0f} ms")
    print(f"exact       search tree built in {planted * 1e3:.0f} ms")
    print(f"settings    {facts.links} links, flatness {facts.flatness}, expansion {facts.expansion}")
    print(f"recall@10   {reached:.4f} on {BULK:,} nodes, stored {facts.recall:.4f}")
    plain = by_true_links(embedding, nodes, facts.links)
    print(f"true links  recall@10 {recall_of(embedding, nodes, plain):.4f} with expansion {WIDE}")
    if find_spec("faiss"):
        print(f"faiss       recall@10 {recall_of(embedding, nodes, by_faiss(embedding, nodes)):.4f}")
    works: dict[str, tuple[int, Callable[[], Any], Callable[[], Any]]] = {
        "bulk": (BULK, lambda: found.nearest(nodes, K, threads=1), lambda: tree.nearest(nodes, K, threads=1)),
        "one by one": (
            SINGLE,
            lambda: [found.nearest(node, K, threads=1) for node in few],
            lambda: [tree.nearest(node, K, threads=1) for node in few],
        ),
        "by name": (
            SINGLE,
            lambda: [found.neighbors(one, K) for one in names],
            lambda: [embedding.neighbors(one, K) for one in names],
        ),
    }
    for how, (queries, approximately, exactly) in works.items():
        ours, exact = microseconds(approximately, queries), microseconds(exactly, queries)
        print(f"{how:<11} {ours:.0f} µs, exact {exact:.0f} µs, ratio {exact / ours:.2f}", flush=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data files")
    parser.add_argument("--only", nargs="*", default=[], help="data sets, as in --only shopify-categories")
    parser.add_argument("--threads", type=int, default=0, help="workers that build; 0 uses all cores")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    small = treeball.Hierarchy.from_codes(np.arange(40), np.arange(1, 40), np.zeros(39, np.int64))
    approximate.build(treeball.fit(small, dim=3))  # compiles
    for name, settings in CASES:
        if not options.only or name in options.only:
            with tempfile.TemporaryDirectory() as folder:
                run(name, settings, options, Path(folder))


if __name__ == "__main__":
    main()
