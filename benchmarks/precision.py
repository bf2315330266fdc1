"""What more terms a coordinate give and cost: trees in two and three dimensions, digits of distances, and speed.

    python benchmarks/precision.py [--parts digits speed trees] [--data DIR] [--only NAME ...] [--out DIR]

`digits` compares distances and ranks of two and four terms with mpmath. `speed` prints the ratio to float64, medians of
several rounds one after the other. `trees` makes models by ``treeball.fit(tree, method="construct", dim=...,
precision=...)``, seed 0, and prints MAP, mean rank, ill pairs, largest radius and seconds to make and to verify. The
same numbers go to `precision.json` under `--out`.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

import treeball
from treeball.engine import choose
from treeball.engine.cpu.compiler import compiled
from treeball.engine.cpu.half_space import pair_distances, rounded_distances
from treeball.engine.cpu.term_search import TermSearch
from treeball.geometry import half_space, poincare
from treeball.io.atomic import atomic_write
from treeball.methods.construct import construct

TREES = [
    ("yelp-tree", 2, (1, 2)),
    ("wordnet-verbs-tree", 2, (1, 2)),
    ("wordnet-nouns-tree", 2, (1, 2)),
    ("wordnet-nouns-tree", 3, (1, 2)),
]


def walked(terms: int, dim: int, radius: float, nodes: int) -> np.ndarray:
    """Points about `radius` out, in some steps from the origin."""
    rng = np.random.default_rng(0)
    points = np.repeat(half_space.origin(dim, terms)[:, None], nodes, axis=1)
    for _ in range(8):
        way = rng.normal(size=(nodes, dim))
        way[:, -1] -= 1.0
        points = half_space.put(points, way / np.linalg.norm(way, axis=1, keepdims=True), np.full(nodes, radius / 8))
    return points


def digits() -> list[dict[str, Any]]:
    """Largest relative errors of distances, near and far, against 120 digits."""
    mpmath.mp.dps = 120
    rows = []
    for terms, radius in ((2, 60.0), (4, 60.0), (4, 100.0), (4, 130.0)):
        points = walked(terms, 2, radius, 200)
        way = np.random.default_rng(1).normal(size=(200, 2))
        near = half_space.put(points, way / np.linalg.norm(way, axis=1, keepdims=True), np.geomspace(1e-3, 10.0, 200))
        worst, plain_worst = 0.0, 0.0
        for others in (near, points[:, ::-1]):
            found, plain, order = np.empty((2, 200)), np.empty(200), np.arange(200)
            pair_distances(points, np.ascontiguousarray(others), order, order, found)
            rounded_distances(points, np.ascontiguousarray(others), order, order, plain)
            for i in range(200):
                a, b = ([sum(mpmath.mpf(float(t)) for t in p[:, i, k]) for k in range(2)] for p in (points, others))
                square = sum((x - y) ** 2 for x, y in zip(a, b, strict=True))
                right = 2 * mpmath.asinh(mpmath.sqrt(square / (4 * a[-1] * b[-1])))
                value = mpmath.mpf(float(found[0, i])) + mpmath.mpf(float(found[1, i]))
                worst = max(worst, float(abs(value - right) / right))
                plain_worst = max(plain_worst, float(abs(plain[i] - right) / right))
        rows.append({"terms": terms, "radius": radius, "two_terms": worst, "float64": plain_worst})
        print(
            f"{terms} terms, radius {radius:g}: worst error of a distance in two terms {worst:.1e}, in float64 "
            f"{plain_worst:.1e}"
        )
    return rows


def seconds(work: Callable[[], Any], rounds: int = 5) -> float:
    """Median processor time of a call after a first one, which compiles."""
    work()
    taken = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return float(np.median(taken))


@compiled
def ball_distances(vectors: Any, factor: Any, first: Any, second: Any, out: Any) -> None:
    """Distances in float64, compiled like those of several terms."""
    for i in range(first.size):
        square = 0.0
        for k in range(vectors.shape[1]):
            gap = vectors[first[i], k] - vectors[second[i], k]
            square += gap * gap
        out[i] = 2.0 * math.asinh(math.sqrt(square * factor[first[i]] * factor[second[i]]))


def speed() -> list[dict[str, Any]]:
    """Cost of ranks and of distances by terms, on one thread, and their ratio to float64."""
    hierarchy = treeball.read("example:mammals")
    rng = np.random.default_rng(0)
    sources = np.flatnonzero(hierarchy.primary_parent >= 0)
    ptr, idx = np.arange(sources.size + 1), hierarchy.primary_parent[sources].astype(np.int32)
    first, second = rng.integers(0, hierarchy.n_nodes, (2, 200_000))
    out = np.empty((2, first.size))
    rows = []
    for dim in (2, 5, 10):
        ball = construct(hierarchy, dim).vectors
        factor = 1.0 / poincare.one_minus_square(ball)

        single = seconds(partial(choose("cpu").rank, ball, factor, sources, ptr, idx, 1))
        single_distance = seconds(partial(ball_distances, ball, factor, first, second, out[0]))
        for terms in (2, 4):
            points = construct(hierarchy, dim, terms=terms).vectors
            search = TermSearch(*half_space.ranking_coordinates(points))
            cost = seconds(partial(search.rank, sources, ptr, idx, threads=1))
            rounded = seconds(partial(rounded_distances, points, points, first, second, out[0]))
            full = seconds(partial(pair_distances, points, points, first, second, out))
            row = {
                "dim": dim,
                "terms": terms,
                "rank": cost / single,
                "distance_float64": rounded / single_distance,
                "distance_two_terms": full / single_distance,
            }
            rows.append(row)
            print(
                f"dim {dim}, {terms} terms, beside float64: ranks {row['rank']:.2f} times, distances to 16 digits "
                f"{row['distance_float64']:.2f}, to 30 digits {row['distance_two_terms']:.1f} times"
            )
    return rows


def make_trees(data: Path, only: list[str]) -> list[dict[str, Any]]:
    """Scores of the construction with one and more terms."""
    rows = []
    for name, dim, precisions in TREES:
        if only and name not in only:
            continue
        hierarchy = treeball.read(data / f"{name}.tsv.gz")
        for precision in precisions:
            started = time.perf_counter()
            model = treeball.fit(hierarchy, method="construct", dim=dim, precision=precision, scores=False)
            made = time.perf_counter()
            scores = model.evaluate()
            row = {"data": name, "precision": precision, "seconds": made - started, **scores.to_dict()}
            row["seconds_to_verify"] = time.perf_counter() - made
            rows.append(row)
            print(
                f"{name} dim {dim}, {precision} term{'s' * (precision > 1)}: MAP {scores.map:.4f}, mean rank "
                f"{scores.mean_rank:.3f}, {len(scores.illness):,} ill of {hierarchy.n_edges:,}, radius "
                f"{scores.max_radius:.1f}, {row['seconds']:.1f} s and {row['seconds_to_verify']:.1f} s to verify",
                flush=True,
            )
    return rows


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=("digits", "speed", "trees"), default=["digits", "speed"])
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--out", type=Path, help="folder for precision.json")
    asked = parser.parse_args()
    parts: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "digits": digits,
        "speed": speed,
        "trees": lambda: make_trees(asked.data, asked.only),
    }
    found = {part: parts[part]() for part in asked.parts}
    if asked.out is not None:
        asked.out.mkdir(parents=True, exist_ok=True)
        with atomic_write(asked.out / "precision.json") as path:
            Path(path).write_text(json.dumps(found, indent=1), "utf-8")


if __name__ == "__main__":
    main()
