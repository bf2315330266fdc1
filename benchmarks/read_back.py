"""Reading a hierarchy back: how many parents and ancestors that geometry shows are the true ones.

    python benchmarks/read_back.py [--data ../shared/data] [--seeds 0 1 2] [--only "go-slice-dag parents 10"]
                                   [--models FILE ...]

Every line is a model that `auto` fits, or one of the files given. Asked are the parents of every node, compared with
the hierarchy (by the objective ancestors with its transitive reduction, since an edge that others imply is not seen),
and is_ancestor of all pairs of the closure and of as many random pairs that are none; from distances alone, once in
Python and once from `treeball serve`, both of the model as it was saved.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any, Protocol
from urllib.request import Request, urlopen

import numpy as np

import treeball
from dags import LINES

Pairs = list[tuple[Hashable, Hashable]]
AT_ONCE = 1_000  # what one request may ask


class Asked(Protocol):
    """Whoever answers the question parents of nodes, or is-ancestor of pairs."""

    def __call__(self, question: str, of: list[Any]) -> list[Any]:
        """An answer for each."""


def main() -> None:
    """Print one line for each model."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--models", type=Path, nargs="+", default=[])
    arguments = parser.parse_args()
    if not arguments.models and not arguments.data.is_dir():
        sys.exit(f"there is no folder {arguments.data}: name that of the hierarchies with --data")
    print("| hierarchy | objective | d | seed | ill pairs | parents, Python | HTTP | is_ancestor, Python | HTTP |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for title, path in _models(arguments, Path(folder)):
            print(_line(title, path), flush=True)


def _models(arguments: Any, folder: Path) -> Iterator[tuple[str, Path]]:
    """Files of models, with the names of their hierarchies."""
    yield from ((path.stem, path) for path in arguments.models)
    for name, objective, dim in [] if arguments.models else LINES:
        if arguments.only in f"{name} {objective} {dim}":
            hierarchy = treeball.read(arguments.data / f"{name}.tsv.gz")
            for seed in arguments.seeds:
                model = treeball.fit(hierarchy, objective=objective, dim=dim, seed=seed)
                yield name, model.save(folder / "model.parquet")


def _line(title: str, path: Path) -> str:
    model = treeball.load(path)
    hierarchy = model.hierarchy
    truth = hierarchy.transitive_reduction() if model.objective == "ancestors" else hierarchy
    nodes = hierarchy.names.take(hierarchy.real_nodes())
    parents: dict[Hashable, set[Hashable]] = {name: set() for name in nodes}
    for child, parent in zip(*map(truth.names.take, truth.real_edges()), strict=True):
        parents[child].add(parent)
    pairs, is_true = _pairs(hierarchy)
    with _served(path) as served:
        ways: list[Asked] = [_python(model), served]
        found = [[set(some) for some in ask("parents", nodes)] for ask in ways]
        shares = [np.mean([some == parents[name] for name, some in zip(nodes, one, strict=True)]) for one in found]
        shares += [np.mean(np.array(ask("is-ancestor", pairs)) == is_true) for ask in ways]
    ill = len(model.evaluate().illness)
    told = " | ".join("100 %" if share == 1 else f"{math.floor(1e6 * share) / 1e4:.4f} %" for share in shares)
    return f"| {title} | {model.objective} | {model.dim} | {model.provenance.seed} | {ill:,} | {told} |"


def _pairs(hierarchy: treeball.Hierarchy) -> tuple[Pairs, np.ndarray]:
    """All pairs (ancestor, node) without a virtual root, as many random others, and which are which."""
    ptr, above = hierarchy.ancestors()
    below = np.repeat(np.arange(hierarchy.n_nodes), np.diff(ptr))
    real = above != (-1 if hierarchy.virtual_root is None else hierarchy.virtual_root)
    above, below = above[real], below[real]
    nodes, rng = hierarchy.real_nodes(), np.random.default_rng(0)
    others = rng.choice(nodes, (2, 4 * above.size))
    others = others[:, (others[0] != others[1]) & ~hierarchy.is_ancestor(*others)][:, : above.size]
    both = [hierarchy.names.take(np.concatenate(part)) for part in zip((above, below), others, strict=True)]
    return list(zip(*both, strict=True)), np.arange(len(both[0])) < above.size


def _python(model: treeball.Embedding) -> Asked:
    def ask(question: str, of: list[Any]) -> list[Any]:
        if question == "parents":
            return model.parents_of(of)
        return [answer.holds for answer in model.is_ancestor([a for a, _ in of], [b for _, b in of])]

    return ask


@contextlib.contextmanager
def _served(path: Path) -> Iterator[Asked]:
    command = [sys.executable, "-m", "treeball", "serve", str(path), "--port", "0", "--max-nodes", str(AT_ONCE)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        (address,) = re.findall(r"http://\S+/", server.stderr.readline())

        def ask(question: str, of: list[Any]) -> list[Any]:
            found = []
            for begin in range(0, len(of), AT_ONCE):
                body = {"nodes" if question == "parents" else "pairs": of[begin : begin + AT_ONCE]}
                headers = {"Content-Type": "application/json"}
                with urlopen(Request(f"{address}{question}", json.dumps(body).encode(), headers)) as answer:
                    found += [one[question.replace("-", "_")] for one in json.load(answer)["answers"]]
            return found

        try:
            yield ask
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
