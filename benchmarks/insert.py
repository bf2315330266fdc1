"""Insert many new nodes at once, or week for week, beside `fit` of the same hierarchy.

    python benchmarks/insert.py [--data DIR] [--dims 5 10] [--sizes 1000 4000 16000 200000]
        [--names google-product-taxonomy shopify-categories] [--weeks 52] [--nouns]

For each hierarchy, dimension and size: new leaves below one leaf, below the node with the most children, below the
root, and spread over all nodes. Prints the share of new nodes that have their parent as the nearest node, MAP and ill
pairs of the whole model by an evaluation of all nodes (not by what insert says), how many old nodes moved, whether the
vectors of all others are byte for byte the same, and the seconds of insert and its own check, wall clock and processor;
beside it MAP, ill pairs and seconds of `fit` of the same hierarchy.

--weeks inserts 3,000 leaves a week into a shop of 200,000 nodes. --nouns holds out 5 % of the leaves of the WordNet
noun tree and inserts them. Compilation is not counted.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import treeball
from train_speed import noun_tree

DATA = Path("../shared/data")
COLUMNS = "{:<24} {:>3} {:<19} {:>9} {:>8} {:>6} {:>7} {:>9} {:>7} {:>7}   {:>8} {:>6} {:>7} {:>7}"
WEEK, SHOP = 3_000, 200_000
T = TypeVar("T")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--dims", type=int, nargs="*", default=[5, 10])
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 4_000, 16_000, 200_000])
    parser.add_argument("--names", nargs="*", default=["google-product-taxonomy", "shopify-categories"])
    parser.add_argument("--weeks", type=int, default=0)
    parser.add_argument("--nouns", action="store_true")
    options = parser.parse_args()
    tiny = treeball.read([("b", "a"), ("c", "a")], direction="child-parent")
    treeball.fit(tiny, method="construct", dim=3).insert([("d", "a"), ("e", "b")])  # compiles
    if options.weeks:
        for dim in options.dims:
            a_year(options.data, dim, options.weeks)
    elif options.nouns:
        for dim in options.dims:
            held_out_nouns(options.data, dim)
    else:
        print(COLUMNS.format("", "", "", *["insert"] * 7, *["fit"] * 4))
        header = ["nearest", "MAP", "ill", "moved", "same rest", "seconds", "cpu", "MAP", "ill", "seconds", "cpu"]
        print(COLUMNS.format("hierarchy", "dim", "new leaves", *header))
        for name in options.names:
            hierarchy = treeball.read(options.data / f"{name}.tsv.gz", direction="child-parent")
            for dim in options.dims:
                many_at_once(name, hierarchy, dim, options.sizes)


def many_at_once(name: str, hierarchy: treeball.Hierarchy, dim: int, sizes: list[int]) -> None:
    """A line for each size and each way to hang the new leaves."""
    old = treeball.fit(hierarchy, method="construct", dim=dim)
    children = np.diff(hierarchy.child_ptr)
    rng = np.random.default_rng(0)
    leaf, largest = int(np.flatnonzero(children == 0)[0]), int(np.argmax(children))
    for size in sizes:
        ways = {
            "one leaf": np.full(size, leaf),
            "largest": np.full(size, largest),
            "root": np.full(size, hierarchy.root),
            "all": rng.integers(0, len(hierarchy), size),
        }
        for way, above in ways.items():
            pairs = [(f"new {i}", hierarchy.names[int(code)]) for i, code in enumerate(above)]
            insertion, seconds, cpu = timed(partial(old.insert, pairs))
            found = facts(old, insertion)
            edges = [*named_edges(hierarchy), *pairs]
            fitted, fit_seconds, fit_cpu = timed(partial(fit, edges, dim))
            scores = fitted.evaluate("parents", sample=0)
            print(
                COLUMNS.format(
                    name, dim, f"{size:,} below {way}", f"{found['nearest']:.2%}", f"{found['map']:.4f}", found["ill"],
                    found["moved"], found["same"], f"{seconds:.1f}", f"{cpu:.1f}",
                    f"{scores.map:.4f}", len(scores.illness), f"{fit_seconds:.1f}", f"{fit_cpu:.1f}",
                ),
                flush=True,
            )  # fmt: skip


def a_year(data: Path, dim: int, weeks: int) -> None:
    """New products week for week, in a shop with the categories of Shopify; all that was there before stays."""
    categories = treeball.read(data / "shopify-categories.tsv.gz", direction="child-parent")
    rng = np.random.default_rng(0)
    leaves = np.flatnonzero(np.diff(categories.child_ptr) == 0)
    # A few categories sell most of the products.
    weight = rng.pareto(1.5, leaves.size)
    weight /= weight.sum()

    def products(first: int, size: int) -> list[tuple[Any, Any]]:
        at = rng.choice(leaves, size, p=weight)
        return [(f"sku {first + i}", categories.names[int(code)]) for i, code in enumerate(at)]

    edges = [*named_edges(categories), *products(0, SHOP - len(categories))]
    model, seconds, _ = timed(partial(fit, edges, dim))
    print(f"dimension {dim}: {len(model):,} nodes fitted in {seconds:.1f} s, MAP {model.evaluate(sample=0).map:.4f}")
    print(f"{'week':>4} {'nodes':>8} {'nearest':>8} {'MAP':>7} {'ill':>4} {'moved':>6} {'same':>5} {'s':>6} {'cpu':>6}")
    for week in range(1, weeks + 1):
        pairs = products(len(model), WEEK)
        insertion, seconds, cpu = timed(partial(model.insert, pairs))
        found = facts(model, insertion)
        model = insertion.embedding
        print(
            f"{week:>4} {len(model):>8,} {found['nearest']:>8.2%} {found['map']:>7.4f} {found['ill']:>4} "
            f"{found['moved']:>6} {found['same']:>5} {seconds:>6.1f} {cpu:>6.1f}",
            flush=True,
        )


def held_out_nouns(data: Path, dim: int) -> None:
    """5 % of the leaves of the noun tree, held out before."""
    parts = treeball.split(noun_tree(data), leaves=0.05, seed=0)
    old = fit(parts.train, dim)
    insertion, seconds, cpu = timed(partial(old.insert, parts.held_out))
    found = facts(old, insertion)
    print(f"dimension {dim}: {len(insertion.placed):,} new leaves of {len(insertion.embedding):,} nodes")
    print(
        f"  parent nearest {found['nearest']:.2%}, MAP {found['map']:.6f}, {found['ill']} ill, {found['moved']} moved"
    )
    print(f"  all others byte for byte the same: {found['same']}; {seconds:.2f} s, {cpu:.2f} s of processor time")


def facts(old: treeball.Embedding, insertion: treeball.Insertion) -> dict[str, float | int | str]:
    """What an evaluation of all nodes, and a comparison of all vectors, say of an insertion."""
    new = insertion.embedding
    scores = new.evaluate("parents", sample=0)
    ill = np.unique(scores.illness.node)
    changed = (new.vectors[: len(old)] != old.vectors).any(axis=1)
    named = np.zeros(len(old), np.bool_)
    named[old.names.index_of_many(insertion.moved_for_room)] = True
    return {
        "nearest": 1.0 - float((ill >= len(old)).sum()) / len(insertion.placed),
        "map": scores.map,
        "ill": len(scores.illness),
        "moved": int(changed.sum()),
        "same": "yes" if bool((changed == named).all()) else "NO",
    }


def fit(edges: Any, dim: int) -> treeball.Embedding:
    """What `fit` makes of edges (child, parent)."""
    return treeball.fit(treeball.read(edges, direction="child-parent"), method="construct", dim=dim)


def named_edges(hierarchy: treeball.Hierarchy) -> list[tuple[Any, Any]]:
    """Edges (child, parent) by name."""
    child, parent = hierarchy.edges()
    names = list(hierarchy.names)
    return [(names[c], names[p]) for c, p in zip(child, parent, strict=True)]


def timed(work: Callable[[], T]) -> tuple[T, float, float]:
    """What some work returns, and its seconds by the clock and of processor time."""
    started, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - started, time.process_time() - cpu


if __name__ == "__main__":
    main()
