"""Microseconds per positive pair: treeball on one thread and on all, and gensim's PoincareModel, in one run.

    python benchmarks/train_speed.py [--data DIR] [--rounds 3] [--skip-gensim]

Noun tree of WordNet (or a generated tree of the same size when DIR/wordnet-nouns-tree.tsv.gz is absent), dimension 10,
50 negatives, step 0.1 a pair. treeball and gensim take turns, so that a busy machine slows both alike.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import treeball
from treeball.methods.first_vectors import place_first
from treeball.methods.pairs import Pairs
from treeball.methods.run import Run
from treeball.methods.sampled_descent import SampledDescent
from treeball.methods.training_settings import BaselineSettings
from treeball.workers import available_cores

DIM, NEGATIVES, BATCH = 10, 50, 10


def noun_tree(data: Path | None) -> treeball.Hierarchy:
    """The noun tree, or a random tree with as many nodes."""
    if data is not None and (data / "wordnet-nouns-tree.tsv.gz").exists():
        return treeball.read(data / "wordnet-nouns-tree.tsv.gz")
    print("no wordnet-nouns-tree.tsv.gz: using a random tree of the same size")
    n = 82_115
    parent = (np.random.default_rng(0).random(n - 1) ** 2 * np.arange(1, n)).astype(int)
    return treeball.Hierarchy.from_codes([f"n{i}" for i in range(n)], np.arange(1, n), parent)


def treeball_trainer(hierarchy: treeball.Hierarchy, threads: int) -> Callable[[int], float]:
    """A function that trains some epochs and returns microseconds per pair."""
    settings = BaselineSettings(
        method="poincare", dim=DIM, negatives=NEGATIVES, batch=BATCH, threads=threads, burn_in=2
    )
    run = Run.begin(hierarchy, settings)
    place_first(run)
    descent = SampledDescent(run, Pairs.of(run.hierarchy, run.settings))
    descent.run(0, 1)  # compiles
    epoch = 1

    def train(epochs: int) -> float:
        nonlocal epoch
        done = descent.run(epoch, epochs)
        epoch += epochs
        return done.seconds / done.pairs * 1e6

    return train


def gensim_trainer(hierarchy: treeball.Hierarchy) -> Callable[[], float]:
    """The same for gensim: one call trains one epoch over every pair."""
    warnings.simplefilter("ignore")
    from gensim.models.poincare import PoincareModel

    child, parent = hierarchy.edges()
    names = hierarchy.names.to_arrow().to_pylist()
    pairs = [(names[c], names[p]) for c, p in zip(child, parent, strict=True)]
    model = PoincareModel(pairs, size=DIM, negative=NEGATIVES, burn_in=0, alpha=1.0)

    def train() -> float:
        started = time.perf_counter()
        model.train(epochs=1, batch_size=BATCH, print_every=10**9)
        return (time.perf_counter() - started) / len(pairs) * 1e6

    return train


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=20, help="epochs of treeball per round")
    parser.add_argument("--skip-gensim", action="store_true")
    options = parser.parse_args()
    hierarchy = noun_tree(options.data)
    cores = available_cores()
    print(f"{hierarchy.n_nodes:,} nodes, dimension {DIM}, {NEGATIVES} negatives, {cores} cores")
    ours = {f"treeball, {threads} thread(s)": treeball_trainer(hierarchy, threads) for threads in {1, cores}}
    gensim = None if options.skip_gensim else gensim_trainer(hierarchy)
    times: dict[str, list[float]] = {}
    for number in range(options.rounds):
        for name, train in ours.items():
            times.setdefault(name, []).append(train(options.epochs))
        if gensim is not None:
            times.setdefault("gensim, 1 thread", []).append(gensim())
        print(f"round {number + 1}: " + "  ".join(f"{name} {taken[-1]:.2f} us" for name, taken in times.items()))
    middle = {name: statistics.median(taken) for name, taken in times.items()}
    for name, value in middle.items():
        ratio = middle.get("gensim, 1 thread", value) / value
        print(f"{name:24} {value:8.2f} us a pair (median of {options.rounds})   gensim / this = {ratio:,.0f}")


if __name__ == "__main__":
    main()
