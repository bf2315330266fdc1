"""DAGs and all ancestors: what ``treeball fit FILE`` reaches, with mean rank beside every MAP.

    python benchmarks/dags.py [--data ../shared/data] [--seeds 0 1 2] [--only "go-slice-dag parents"]

Every line is `auto` with no setting but objective, dimension and seed; seconds are those of the whole fit, scores and
the construction it is compared with included, on the cores there are, after compilation.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import treeball

LINES = [
    ("go-slice-dag", "parents", 10),
    ("go-slice-dag", "ancestors", 10),
    ("go-slice-dag", "ancestors", 20),
    ("go-slice-dag", "parents", 5),
    ("uberon-slice-dag", "parents", 10),
    ("uberon-slice-dag", "ancestors", 10),
    ("uberon-slice-dag", "ancestors", 20),
    ("uberon-slice-dag", "parents", 5),
    ("google-product-taxonomy", "ancestors", 10),
    ("google-product-taxonomy", "ancestors", 5),
    ("wordnet-nouns-dag", "parents", 10),
    ("wordnet-nouns-dag", "ancestors", 10),
    ("wordnet-nouns-dag", "ancestors", 20),
]


def main() -> None:
    """Print one line for each hierarchy, objective, dimension and seed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        sys.exit(f"there is no folder {arguments.data}: name that of the hierarchies with --data")
    warm = [("b", "a"), ("c", "a"), ("d", "b"), ("d", "c"), ("e", "d"), ("f", "d")]
    for objective in ("parents", "ancestors"):  # compiles
        treeball.fit(warm, objective=objective, epochs=20)
    print("| hierarchy | objective | d | seed | method | MAP | mean rank | ill of pairs | seconds |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for name, objective, dim in LINES:
        if arguments.only not in f"{name} {objective} {dim}":
            continue
        hierarchy = treeball.read(arguments.data / f"{name}.tsv.gz")
        for seed in arguments.seeds:
            started = time.perf_counter()
            model = treeball.fit(hierarchy, objective=objective, dim=dim, seed=seed)
            seconds = time.perf_counter() - started
            scores = model.evaluate()
            ill, pairs = len(scores.illness), scores.ranking.ranks.size
            print(
                f"| {name} | {objective} | {dim} | {seed} | {model.provenance.method} | {scores.map:.4f} "
                f"| {scores.mean_rank:.3f} | {ill:,} of {pairs:,} | {seconds:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
