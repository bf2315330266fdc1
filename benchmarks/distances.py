"""The objective distances: how far distances of an embedding are from the lengths of paths.

    python benchmarks/distances.py [--data ../shared/data] [--trees mosses lichen] [--dims 10] [--terms 1 2]
        [--parts table bounds]

Average and worst distortion and Spearman's correlation are against edge lengths (1 where a tree has none), over all
pairs up to 2,000 nodes and 200,000 random ones beyond; MAP by parents and by all neighbours. Seconds are those of the
fit, on the cores there are, after compilation. The part `bounds` prints what no drawing within the radius can beat:
each node with three of its neighbours is a star whose distances do not fit into hyperbolic space.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import treeball
from odd_phylogenies import ODD
from treeball import Hierarchy
from treeball.evaluation import distortion, map_neighbours
from treeball.hierarchy.metric import PathLengths
from treeball.limits import TERMS
from treeball.methods.centred import centred
from treeball.methods.drawing_plans import largest_radius

TREES = ("mosses", "lichen", "binary-8", "coalescent-300", "nouns")
# Generated ones on which nothing was chosen: tips and seed.
UNSEEN = {
    f"coalescent-{tips}-seed-{seed}": (tips, seed)
    for tips, seed in ((300, 11), (300, 12), (300, 13), (1000, 11), (3000, 21))
}
METHODS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("auto", {"objective": "distances"}),
    ("sarkar", {"method": "sarkar"}),
)
# HS-DTE (ICML 2025), against hops: average / worst.
PUBLISHED = {"binary-8": ".044 / 1.67", "mosses": "9.42 worst in float64"}


def coalescent(tips: int, seed: int) -> Hierarchy:
    """A tree of Kingman's coalescent: two of k lineages join at rate k (k - 1) / 2."""
    rng = np.random.default_rng(seed)
    lines, height, text, now = list(range(tips)), dict.fromkeys(range(tips), 0.0), {}, 0.0
    text = {tip: f"t{tip}" for tip in lines}
    for new in range(tips, 2 * tips - 1):
        k = len(lines)
        now += rng.exponential(2.0 / (k * (k - 1)))
        a, b = (lines[i] for i in rng.choice(k, 2, replace=False))
        text[new] = f"({text[a]}:{now - height[a]:.17g},{text[b]}:{now - height[b]:.17g})i{new}"
        height[new] = now
        lines = [line for line in lines if line not in (a, b)] + [new]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coalescent.nwk"
        path.write_text(text[lines[0]] + ";")
        return treeball.read(path)


def hierarchy_of(name: str, data: Path) -> Hierarchy:
    """One of the trees."""
    if name == "binary-8":
        return treeball.read([(str(node), str((node - 1) // 2)) for node in range(1, 511)])
    if name == "coalescent-300":
        return coalescent(300, 0)
    if name in UNSEEN:
        return coalescent(*UNSEEN[name])
    if name in ODD:
        return ODD[name]()
    return treeball.read(data / ("wordnet-nouns-tree.tsv.gz" if name == "nouns" else f"phylogenies/{name}.nwk"))


def table(trees: list[str], dims: list[int], terms: list[int], data: Path) -> None:
    """One line for each tree, dimension, method and number of terms; `sarkar` in one term."""
    for _, settings in METHODS:  # compiles
        treeball.fit([("b", "a"), ("c", "a"), ("d", "a")], dim=3, **settings).evaluate()
    print("| tree | d | method | terms | average | worst | Spearman | MAP | MAP, neighbours | seconds | published |")
    print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for name in trees:
        hierarchy = hierarchy_of(name, data)
        for dim in dims:
            for method, settings, precision in [(*METHODS[0], count) for count in terms] + [(*METHODS[1], 1)]:
                started = time.perf_counter()
                model = treeball.fit(hierarchy, dim=dim, precision=precision, scores=False, **settings)
                seconds = time.perf_counter() - started
                found = distortion(model)
                label = f"`--objective {settings['objective']}`" if "objective" in settings else f"`{method}`"
                print(
                    f"| {name} | {dim} | {label} | {precision} | {found.average:.4f} | {found.worst:.4f} "
                    f"| {found.spearman:.4f} "
                    f"| {model.evaluate().map:.4f} | {map_neighbours(model):.4f} | {seconds:.0f} "
                    f"| {PUBLISHED.get(name, '') if dim == 10 and method == 'auto' else ''} |",
                    flush=True,
                )


def angle(a: float, b: float, c: float) -> float:
    """Angle between sides a and b of a hyperbolic triangle, opposite to c; pi where they are too short."""
    # sin²(t/2) = (sinh²(c/2) - sinh²((a-b)/2)) / (sinh a sinh b)
    square = (math.sinh(c / 2) ** 2 - math.sinh((a - b) / 2) ** 2) / (math.sinh(a) * math.sinh(b))
    return 2.0 * math.asin(math.sqrt(min(1.0, max(0.0, square))))


def star_bound(legs: tuple[float, ...]) -> float:
    """Smallest worst distortion of a node with three neighbours at some distances: angles add up to a full turn."""
    low, high = 1.0, 1.2
    for _ in range(50):
        worst = 0.5 * (low + high)
        turn = sum(angle(worst * a, worst * b, a + b) for a, b in combinations(legs, 2))
        low, high = (worst, high) if turn > 2.0 * math.pi else (low, worst)
    return high


def star_of(hierarchy: Hierarchy) -> float:
    """The largest bound of the stars of a tree."""
    tree = centred(hierarchy)
    scale = largest_radius(tree) / tree.depth.max()
    graph, most = PathLengths(hierarchy).graph, 1.0
    for node in range(hierarchy.n_nodes):
        legs = np.sort(graph.length[graph.pointers[node] : graph.pointers[node + 1]])
        legs = np.minimum(legs[legs > 0.0], 40.0 / scale) * scale
        for three in combinations(legs[:6].tolist(), 3):
            most = max(most, star_bound(three))
    return most


def bounds(trees: list[str], data: Path) -> None:
    """The largest bound of the stars of each tree, within the largest radius."""
    print("| tree | no drawing within the largest radius is better than |")
    print("|---|---|")
    for name in trees:
        print(f"| {name} | {star_of(hierarchy_of(name, data)):.4f} |", flush=True)


def main() -> None:
    """Print the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--trees", nargs="+", choices=[*TREES, *UNSEEN, *ODD], default=list(TREES))
    parser.add_argument("--dims", nargs="+", type=int, default=[2, 5, 10])
    parser.add_argument("--terms", nargs="+", type=int, choices=TERMS, default=list(TERMS))
    parser.add_argument("--parts", nargs="+", choices=("table", "bounds"), default=["table", "bounds"])
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        sys.exit(f"there is no folder {arguments.data}: name that of the hierarchies with --data")
    if "table" in arguments.parts:
        table(arguments.trees, arguments.dims, arguments.terms, arguments.data)
    if "bounds" in arguments.parts:
        bounds(arguments.trees, arguments.data)


if __name__ == "__main__":
    main()
