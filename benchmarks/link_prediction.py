"""Link prediction by the protocol of the entailment cones, beside the published figures.

    python benchmarks/link_prediction.py [--data ../shared/data] [--file wordnet-nouns-dag] [--methods auto poincare]
                                         [--dims 5 10] [--keep 0 .1 .25 .5] [--seeds 0 1 2] [--with-root] [--reduce]

Of the pairs (node, ancestor) that are no basic edges 5 % are for validation and 5 % for the test; training has the
basic edges and the share `keep` of the others. F1 and AUC are those of telling test pairs from 10 corrupted ones each,
by the score with the best F1 on the validation pairs; MAP and mean rank are filtered, descendants kept as candidates. A
single root is removed first, as in the published split, unless --with-root is given: everything is below it. With
--reduce the pairs that others imply are left out of training, whatever the share that is kept: one model then serves
all lines of a dimension and seed. Seconds are those of the fit, on the cores there are, after compilation.

Published, F1 in percent on the WordNet nouns: Ganea, Bécigneul and Hofmann, "Hyperbolic Entailment Cones for Learning
Hierarchical Embeddings", ICML 2018; Yu, Liu, Tseng and De Sa, "Shadow Cones", ICLR 2024.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import product
from pathlib import Path

import treeball

NOUNS = "wordnet-nouns-dag"
CONES = {5: {0.0: 29.2, 0.1: 80.1, 0.25: 86.0, 0.5: 92.8}, 10: {0.0: 32.2, 0.1: 85.9, 0.25: 91.0, 0.5: 94.4}}
SHADOW_CONES = {5: {0.0: 45.2, 0.1: 87.8, 0.25: 94.2, 0.5: 96.4}, 10: {0.0: 52.2, 0.1: 89.4, 0.25: 95.7, 0.5: 97.0}}


def read(data: Path, file: str) -> treeball.Hierarchy:
    """An example, a path, or the name of a hierarchy in the folder of data."""
    if ":" in file or Path(file).exists():
        return treeball.read(file)
    path = data / f"{file}.tsv.gz"
    if not path.exists():
        sys.exit(f"there is no file {file}, and no {path}: name the folder of the hierarchies with --data")
    return treeball.read(path)


def without_root(hierarchy: treeball.Hierarchy) -> treeball.Hierarchy:
    """The hierarchy without its single root: what hung from it are roots now."""
    if hierarchy.virtual_root is not None:
        return hierarchy
    names, root = hierarchy.names, hierarchy.root
    child, parent = hierarchy.edges()
    left = parent != root
    pairs = list(zip(names.take(child[left]), names.take(parent[left]), strict=True))
    tops = [(name, None) for name in names.take(hierarchy.children_of(root))]
    return treeball.read([*pairs, *tops], direction="child-parent", reduce="never")


def published(figures: dict[int, dict[float, float]], file: str, dim: int, keep: float) -> str:
    """What a paper has for this line, in percent."""
    return f"{figures.get(dim, {}).get(keep, '')}" if NOUNS in file else ""


def fitted(train: treeball.Hierarchy, method: str, dim: int, seed: int) -> tuple[treeball.Embedding, float]:
    """A model and the seconds it took."""
    started = time.perf_counter()
    model = treeball.fit(train, method=method, dim=dim, seed=seed, scores=False)
    return model, time.perf_counter() - started


def measured(parts: treeball.Split, model: treeball.Embedding, seconds: float, seed: int) -> str:
    """The cells from the method to the seconds."""
    result = treeball.evaluate_held_out(
        model, parts.held_out, validation=parts.validation, keep_descendants=True, seed=seed
    )
    told = result.classification
    assert told is not None
    f1 = {name: f"{100 * (one.f1 or 0.0):.1f}" for name, one in told.by_score.items()}
    each = ", ".join(f"{name} {figure}" for name, figure in f1.items())
    best = str(told.score)
    return (
        f"{model.provenance.method} | {f1[best]} | {each} | {told.by_score[best].auc:.4f} | {result.map:.4f} "
        f"| {result.mean_rank:.2f} | {seconds:.0f}"
    )


def main() -> None:
    """Print one line for each dimension, share of the closure, seed and method."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--file", default=NOUNS)
    parser.add_argument("--methods", nargs="+", default=["auto"])
    parser.add_argument("--dims", type=int, nargs="+", default=[5, 10])
    parser.add_argument("--keep", type=float, nargs="+", default=[0.0, 0.1, 0.25, 0.5])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--with-root", action="store_true")
    parser.add_argument("--reduce", action="store_true")
    arguments = parser.parse_args()
    hierarchy = read(arguments.data, arguments.file)
    if not arguments.with_root:
        hierarchy = without_root(hierarchy)
    warm = treeball.read([("b", "a"), ("c", "a"), ("d", "b"), ("d", "c"), ("e", "d"), ("f", "d")])
    for method in arguments.methods:  # compiles
        treeball.fit(warm, method=method)
    print(
        "| keep | d | seed | method | F1 % | by each score | AUC | MAP | mean rank | seconds | cones | shadow cones |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for dim, seed, method in product(arguments.dims, arguments.seeds, arguments.methods):
        made = None
        for keep in arguments.keep:
            parts = treeball.split(hierarchy, closure=0.05, validation=0.05, keep=keep, seed=seed)
            papers = " | ".join(published(one, arguments.file, dim, keep) for one in (CONES, SHADOW_CONES))
            if made is None or not arguments.reduce:
                train = parts.hierarchy()
                made = fitted(train.transitive_reduction() if arguments.reduce else train, method, dim, seed)
            print(f"| {keep:g} | {dim} | {seed} | {measured(parts, *made, seed)} | {papers} |", flush=True)


if __name__ == "__main__":
    main()
