"""Methods compared: the same tree, dimension, epochs and seeds, a table, and the same bytes when it is run again.

Tomás wants to know how much of an embedding's error is due to the method. He takes the balanced tree of 156 nodes, a
favourite of the literature, in two dimensions, and trains it with two published methods and a geometry-aware one. The
construction, which does not train at all, goes along.

    pip install .      # in a clone of treeball
    python docs/examples/researcher.py --out methods
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

import treeball

METHODS = ("poincare", "lorentz", "ga-dl-rw", "construct")
SEEDS = range(8)
EPOCHS = 1000
RADIUS = 12.2  # largest radius of every training: the limit of the published methods, for room is no merit of a method

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "treeball-researcher")
out = parser.parse_args().out

# Every inner node has 5 children, down to depth 3. A dictionary {child: parent} is read like any file.
tree = treeball.read({f"node {i}": f"node {(i - 1) // 5}" for i in range(1, 156)})
print(tree.report)


def run(folder: Path, seeds: range) -> dict[str, list[treeball.Embedding]]:
    """Train every method with these seeds, and save the models."""
    folder.mkdir(parents=True, exist_ok=True)
    models: dict[str, list[treeball.Embedding]] = {}
    for method in METHODS:
        for seed in seeds:
            # deterministic trains on one core: with several, the order of the steps is left to chance.
            settings = treeball.FitSettings(method=method, dim=2, seed=seed, deterministic=True)
            if method != "construct":  # which has no epochs
                settings = settings.replace(epochs=EPOCHS, trace_every=EPOCHS // 5, max_radius=RADIUS)
            model = treeball.fit(tree, settings)
            model.save(folder / f"{method}-{seed}.parquet")
            models.setdefault(method, []).append(model)
    return models


# 1. The table. A pair of node and parent is ill when another node is as near; its kind says who that is: another child
# of the parent (capacity), a node deeper below it (intra-subtree), or one of another branch (inter-subtree).
models = run(out / "first", SEEDS)
print(f"dimension 2, objective parents, {EPOCHS} epochs, mean of {len(SEEDS)} seeds; ill pairs out of {tree.n_edges}:")
print(f"{'':12}{'MAP':>6} ±{'sd':>6}{'mean rank':>11}{'capacity':>10}{'intra':>7}{'inter':>7}{'radius':>8}")
average, error, radius = {}, {}, {}
for method, of_method in models.items():
    scores = [model.evaluate() for model in of_method]
    maps = np.array([one.map for one in scores])
    ill = sum((Counter(one.illness.counts()) for one in scores), Counter())
    capacity, intra, inter = (ill[kind] / len(SEEDS) for kind in ("capacity", "intra_subtree", "inter_subtree"))
    average[method], error[method] = maps.mean(), maps.std(ddof=1) / len(SEEDS) ** 0.5
    radius[method] = max(one.max_radius for one in scores)
    print(
        f"{method:12}{maps.mean():6.3f} ±{maps.std(ddof=1):6.3f}{np.mean([one.mean_rank for one in scores]):11.2f}"
        f"{capacity:10.1f}{intra:7.1f}{inter:7.1f}{radius[method]:8.1f}"
    )
best = max(METHODS[:2], key=lambda method: average[method])
lead, noise = average["ga-dl-rw"] - average[best], np.hypot(error["ga-dl-rw"], error[best])
equal = all(radius[method] < RADIUS + 1e-6 for method in METHODS[:3])
print(f"=> all three trainings end within the same radius, {RADIUS}: {equal}")
print(f"ga-dl-rw leads {best} by {lead:.3f}, with a standard error of {noise:.3f}")
print(f"=> it is ahead of both published ones by more than two standard errors: {lead > 2 * noise}")
print("=> the construction has no ill pair with any seed:", average["construct"] == 1)

# 2. The course of a training is in the model.
for method in METHODS[:3]:
    course = models[method][0].provenance.trace
    print(f"MAP of {method}, seed 0:", ", ".join(f"{one['map']:.3f} at epoch {one['epoch']}" for one in course))

# 3. Again, from the start. The same seed gives the same file, to the last byte.
run(out / "second", SEEDS[:3])
again = sorted((out / "second").glob("*.parquet"))
differ = [path.name for path in again if path.read_bytes() != (out / "first" / path.name).read_bytes()]
print(f"=> {len(again)} models trained once more; files that differ: {len(differ)}")
