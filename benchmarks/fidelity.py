"""Fidelity of what `treeball fit` makes, beside published figures, and the growth of its cost.

    python benchmarks/fidelity.py --data DIR [--only NAME ...] [--out DIR]

Prints one line per data set, objective and dimension: MAP, ill pairs, largest radius, seconds to make and to verify.
Everything is `treeball.fit` with its defaults but for `--dim` and `--objective`. Then the
seconds of the construction from ten thousand to millions of nodes, with the slope in a double logarithmic plot. The
same lines go to `fidelity.md` and `fidelity.json` under `--out`.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import treeball
from treeball.io.atomic import atomic_write
from treeball.methods.construct import construct
from treeball.types import Objective
from treeball.workers import available_cores


@dataclass(frozen=True)
class Task:
    """A line of the table: `goal` is the MAP to reach, `perfect` whether no pair may be ill."""

    data: str
    dim: int
    goal: float
    perfect: bool = False
    objective: Objective = "parents"
    published: str = ""


def balanced(branching: int, depth: int) -> treeball.Hierarchy:
    """The synthetic tree of the paper: `depth` levels of `branching` children."""
    n = sum(branching**level for level in range(depth + 1))
    child = np.arange(1, n)
    return treeball.Hierarchy.from_codes([str(i) for i in range(n)], child, (child - 1) // branching)


PAPER = "paper, best"
TASKS = [
    Task("synthetic-156", 2, 1.0, True, published=f"{PAPER} .998"),
    Task("synthetic-781", 2, 1.0, True),
    Task("yelp-tree", 2, 0.97, published=f"{PAPER} .926"),
    Task("yelp-tree", 5, 1.0, True, published=f"{PAPER} .989"),
    Task("yelp-tree", 10, 1.0, True, published=f"{PAPER} .993"),
    Task("wordnet-verbs-tree", 2, 0.75, published=f"{PAPER} .563"),
    Task("wordnet-verbs-tree", 5, 0.995, published=f"{PAPER} .878"),
    Task("wordnet-verbs-tree", 10, 1.0, True, published=f"{PAPER} .884"),
    Task("wordnet-nouns-tree", 5, 0.99, published=f"{PAPER} .697"),
    Task("wordnet-nouns-tree", 10, 1.0, True, published=f"{PAPER} .754, 29,745 ill"),
    Task("wordnet-nouns-dag", 10, 0.98),
    Task("shopify-facets-hardware", 5, 1.0, True, published=f"{PAPER} .745 (its own catalogue)"),
    Task("shopify-facets-hardware", 10, 1.0, True, published=f"{PAPER} .978 (its own catalogue)"),
    Task("google-product-taxonomy", 5, 1.0, True, published="Poincaré .539"),
    Task("google-product-taxonomy", 5, 0.99, objective="ancestors", published="Poincaré .905"),
    Task("google-product-taxonomy", 10, 0.995, objective="ancestors"),
    Task("wordnet-nouns-closure", 10, 0.93, objective="ancestors", published=f"{PAPER} .797; about .93"),
    Task("ncbi-mammalia", 10, 1.0, True),
    Task("ncbi-taxonomy", 10, 0.98),
    Task("shopify-facets-all", 10, 0.999),
]


def run(task: Task, data: Path) -> dict[str, object]:
    """Make one embedding and score it."""
    if task.data.startswith("synthetic"):
        hierarchy = balanced(5, 3 if task.data.endswith("156") else 4)
    else:
        hierarchy = treeball.read(data / f"{task.data}.tsv.gz")
    hierarchy.positives(task.objective)
    started = time.perf_counter()
    embedding = treeball.fit(hierarchy, dim=task.dim, objective=task.objective)
    made = time.perf_counter()
    scores = embedding.evaluate()
    checked = time.perf_counter()
    record = scores.to_dict()
    ill = sum(record["illness"].values())
    interval = record.get("sampled", {}).get("interval_95", {}).get("map")
    met = scores.map >= task.goal - 1e-12 and not (task.perfect and ill)
    return {
        "data": task.data,
        "objective": task.objective,
        "dim": task.dim,
        "nodes": hierarchy.n_nodes,
        "map": scores.map,
        "map_interval": interval,
        "ill": ill,
        "sampled": record.get("sampled", {}).get("nodes"),
        "margin": record.get("certificate", {}).get("margin"),
        "radius": record["max_radius"],
        "seconds": made - started,
        "verified_seconds": checked - made,
        "goal": f"{task.goal:.4g}" + (", 0 ill" if task.perfect else ""),
        "met": met,
        "published": task.published,
        "method": embedding.provenance.method,
        "epochs": embedding.provenance.epochs_done,
        "seed": embedding.provenance.seed,
    }


HEADER = ("data", "objective", "d", "MAP", "ill", "margin", "radius", "made in", "verified in", "goal", "published")


def cells(line: dict[str, Any]) -> tuple[str, ...]:
    """A line of the table as text."""
    score = f"{line['map']:.4f}"
    if line["map_interval"]:
        low, high = line["map_interval"]
        score += f" ({low:.4f} to {high:.4f})"
    ill = f"{line['ill']:,}" + (f" of {line['sampled']:,} sampled" if line["sampled"] else "")
    return (
        str(line["data"]),
        str(line["objective"]),
        str(line["dim"]),
        score,
        ill,
        f"{line['margin']:.3f}" if line["margin"] else "",
        f"{line['radius']:.1f}",
        f"{line['seconds']:.1f} s",
        f"{line['verified_seconds']:.1f} s",
        str(line["goal"]) + ("" if line["met"] else " MISSED"),
        str(line["published"]),
    )


def slope(sizes: list[int]) -> list[tuple[int, float]]:
    """Seconds of the construction in 10 dimensions for random trees of growing size."""
    rows = []
    for size in sizes:
        rng = np.random.default_rng(size)
        child = np.arange(1, size)
        # Every node hangs below one of the nodes a tenth to a fifth of the way to it: bushy, and about as tall.
        parent = (child * rng.uniform(0.1, 0.2, child.size)).astype(np.int64)
        hierarchy = treeball.Hierarchy.from_codes(np.arange(size), child, parent)
        started = time.perf_counter()
        construct(hierarchy, 10)
        rows.append((size, time.perf_counter() - started))
        print(f"{size:>10,} nodes  {rows[-1][1]:8.2f} s", flush=True)
    return rows


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data files")
    parser.add_argument("--only", nargs="*", default=[], help="data sets, as in --only yelp-tree")
    parser.add_argument("--objective", choices=["parents", "ancestors"], help="only lines of this objective")
    parser.add_argument("--out", type=Path, help="folder for fidelity.md and fidelity.json")
    parser.add_argument("--no-slope", action="store_true", help="leave out the growth of the cost")
    options = parser.parse_args()
    treeball.fit(balanced(3, 3), dim=3).evaluate()  # compiles
    treeball.fit(balanced(3, 3), dim=2, objective="ancestors", epochs=11)
    lines = []
    print(" | ".join(HEADER))
    for task in TASKS:
        wanted = not options.only or task.data in options.only
        if wanted and options.objective in (None, task.objective):
            lines.append(run(task, options.data))
            print(" | ".join(cells(lines[-1])), flush=True)
    growth: list[tuple[int, float]] = []
    if not options.no_slope:
        print(f"\nconstruction in 10 dimensions, {available_cores()} cores")
        growth = slope([10_000, 30_000, 100_000, 300_000, 1_000_000, 2_600_000])
        sizes, seconds = np.log(np.array(growth)).T
        print(f"log-log slope {np.polyfit(sizes, seconds, 1)[0]:.2f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"peak memory {peak:.1f} GB")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        table = ["| " + " | ".join(row) + " |" for row in (HEADER, ["---"] * len(HEADER), *map(cells, lines))]
        record = {"lines": lines, "growth": growth, "peak_gb": peak, "cores": available_cores()}
        for name, text in (("fidelity.md", "\n".join(table)), ("fidelity.json", json.dumps(record, indent=1))):
            with atomic_write(options.out / name) as path:
                path.write_text(text + "\n")


if __name__ == "__main__":
    main()
