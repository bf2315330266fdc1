"""Healing of DAGs and of all ancestors: what `heal` makes of models that are fitted without it.

    python benchmarks/heal.py [--data ../shared/data] [--only "go-slice-dag"]

Each model is that of `fit` with heal=False and the settings of its line; seconds are those of the healing alone, on the
cores there are, after compilation.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import treeball

LINES: list[tuple[str, dict[str, Any]]] = [
    ("go-slice-dag", {"objective": "ancestors", "dim": 10, "seed": 0}),
    ("go-slice-dag", {"objective": "ancestors", "dim": 10, "seed": 1}),
    ("go-slice-dag", {"objective": "ancestors", "dim": 10, "seed": 2}),
    ("go-slice-dag", {"objective": "parents", "dim": 5}),
    ("go-slice-dag", {"objective": "parents", "dim": 10, "method": "construct"}),
    ("uberon-slice-dag", {"objective": "ancestors", "dim": 10}),
    ("google-product-taxonomy", {"objective": "ancestors", "dim": 5}),
]


def main() -> None:
    """Print one line for each model."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        sys.exit(f"there is no folder {arguments.data}: name that of the hierarchies with --data")
    warm = [("b", "a"), ("c", "a"), ("d", "b"), ("d", "c"), ("e", "d"), ("f", "d")]
    for objective in ("parents", "ancestors"):  # compiles
        treeball.heal(treeball.fit(warm, objective=objective, epochs=2, method="softmax"))
    print("| hierarchy | fit | ill pairs | MAP | mean rank | moved | seconds |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name, settings in LINES:
        if arguments.only not in name:
            continue
        model = treeball.fit(treeball.read(arguments.data / f"{name}.tsv.gz"), heal=False, **settings)
        started = time.perf_counter()
        healing = treeball.heal(model)
        seconds = time.perf_counter() - started
        before, after = healing.before, healing.after
        options = " ".join(f"--{option} {value}" for option, value in settings.items())
        print(
            f"| {name} | `{options}` "
            f"| {len(before.illness):,} → {len(after.illness):,} of {before.ranking.ranks.size:,} "
            f"| {before.map:.4f} → {after.map:.4f} | {before.mean_rank:.3f} → {after.mean_rank:.3f} "
            f"| {healing.moved:,} of {len(model):,} | {seconds:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
