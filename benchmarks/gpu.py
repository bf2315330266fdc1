"""The graphics card: a full-softmax step, a sampled epoch, exact scores, and fits, beside plain PyTorch and geoopt.

    python benchmarks/gpu.py [--data ../shared/data] [--parts step compare sampled evaluate fit] [--runs go google ...]

Every part says what it measures; times are after compilation, means of several calls that end with a synchronisation.
Fits are `auto` with the device, objective, dimension and seed 0, and with the epochs that are printed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import triton

import treeball
from treeball.engine import Compared, Device, SoftmaxSteps, choose
from treeball.engine.card import why_no_card
from treeball.hierarchy import Hierarchy
from treeball.methods.first_vectors import contracted_construction
from treeball.methods.softmax import first_sharpness
from treeball.types import Floats, Objective

Distance = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
PARTS = ("step", "compare", "sampled", "evaluate", "fit")
RUNS = {
    "go": ("go-slice-dag", 20, None),
    "google": ("google-product-taxonomy", 10, None),
    "nouns-20": ("wordnet-nouns-dag", 20, 900),
    "nouns-10": ("wordnet-nouns-dag", 10, 900),
    "ncbi": ("ncbi-taxonomy", 20, 240),
}
# Float64 instructions of a pair in the two passes of a step, counted in the compiled code, and for each bit of a whole
# sharpness; a card issues 64 a clock and processor.
INSTRUCTIONS, FOR_EACH_BIT = {10: 77, 20: 127}, 4


def milliseconds(work: Callable[[], object], repeats: int) -> float:
    """Mean time of a call, after one that is not counted."""
    work()
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(repeats):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter() - started) / repeats * 1e3


def closure(hierarchy: Hierarchy) -> Compared:
    """All ancestors as positives, relatives side by side."""
    positives = hierarchy.positives("ancestors")
    heads = np.flatnonzero(np.diff(positives[0])).astype(np.int32)
    heads = heads[np.argsort(hierarchy.interval_in[heads])]
    return Compared(heads, *positives, *positives, np.empty((0, 0), np.int32))


def steps_of(data: Path) -> None:
    """A step of the noun closure, from the vectors that a training starts with, by its first and its last sharpness."""
    hierarchy = treeball.read(data / "wordnet-nouns-dag.tsv.gz")
    engine, compared, n = choose("cuda"), closure(hierarchy), hierarchy.n_nodes
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    asked = ["nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits"]
    clock = float(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()[0]) * 1e6

    def steps(vectors: Floats, moments: tuple[Floats, Floats], sharpness: float, count: int) -> object:
        return engine.descend_softmax(
            vectors, moments, compared, SoftmaxSteps.even(sharpness, np.full(count, 1e-6)), first_epoch=0,
            steps_before=0, negatives=0, bound=0.999999, seed=0, workers=1,
        )  # fmt: skip

    for dim in (10, 20):
        start = contracted_construction(hierarchy, dim, 0.03, "parents", 0, 0)
        for sharpness in (first_sharpness(hierarchy, dim), 8 * first_sharpness(hierarchy, dim)):
            vectors, moments = start.copy(), (np.zeros(start.shape), np.zeros(n))

            # The first step of a call finds the nearest of all: what ten and twenty steps differ by has none of it.
            few, many = (milliseconds(partial(steps, vectors, moments, sharpness, count), 2) for count in (10, 20))
            each = (many - few) / 10
            # Where no pair of blocks is passed by; where some are, that is not a rate.
            instructions = INSTRUCTIONS[dim] + FOR_EACH_BIT * int(sharpness).bit_length()
            rate = n * n * instructions / (each / 1e3) / (processors * 64 * clock)
            said = f"step | noun closure | d={dim} | sharpness {sharpness:g} | {each:.1f} ms"
            print(f"{said} | {rate:.0%} of the float64 rate, had no block been passed by", flush=True)


def plain_gradient(
    points: torch.Tensor, rows: torch.Tensor, compared: Compared, distance: Distance, sharpness: float
) -> None:
    """The same loss of some heads and its gradient by autograd, in plain PyTorch: what one would write."""
    points = points.detach().requires_grad_()
    ptr, idx = compared.positive_ptr, compared.positive_idx
    far = distance(points[rows][:, None], points[None])
    out = torch.zeros(far.shape, dtype=torch.bool)
    for i, row in enumerate(rows.tolist()):
        out[i, idx[ptr[row] : ptr[row + 1]].astype(np.int64)] = True
        out[i, row] = True
    out = out.to(points.device)
    total = torch.logsumexp(torch.where(out, -torch.inf, -sharpness * far), dim=1)
    positive = out.clone()
    positive[torch.arange(rows.numel()), rows] = False
    pull = torch.where(positive, torch.nn.functional.softplus(sharpness * far + total[:, None]), 0.0)
    (pull.sum(dim=1) / positive.sum(dim=1)).sum().backward()


def ball_distance(u: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """By differences."""
    s = (u - v).square().sum(dim=-1) + 1e-30
    return 2.0 * torch.asinh(torch.sqrt(s / ((1.0 - u.square().sum(dim=-1)) * (1.0 - v.square().sum(dim=-1)))))


def compare(data: Path) -> None:
    """Loss and gradient of 256 heads of the noun closure in PyTorch and by geoopt's distance, times n / 256."""
    hierarchy = treeball.read(data / "wordnet-nouns-dag.tsv.gz")
    compared, dim, count = closure(hierarchy), 10, 256
    start = torch.from_numpy(contracted_construction(hierarchy, dim, 0.03, "parents", 0, 0)).cuda()
    rows = torch.from_numpy(compared.heads[:: len(compared.heads) // count][:count].astype(np.int64))
    distances: dict[str, Distance] = {"plain PyTorch": ball_distance}
    try:
        import geoopt

        distances["geoopt"] = geoopt.PoincareBall(c=1.0).dist
    except ImportError as error:
        print(f"compare | geoopt is not here: {error}")
    for name, distance in distances.items():
        each = milliseconds(partial(plain_gradient, start, rows, compared, distance, 13.0), 3)
        print(
            f"compare | noun closure | d={dim} | {name} | {each * hierarchy.n_nodes / count:,.0f} ms a step", flush=True
        )


def sampled(data: Path) -> None:
    """An epoch of equation 2 on the noun tree, 50 negatives, d=10."""
    hierarchy = treeball.read(data / "wordnet-nouns-tree.tsv.gz")
    heads, tails = hierarchy.edges()
    ptr, idx = hierarchy.positives("parents")
    vectors, engine = np.random.default_rng(0).normal(0, 0.01, (hierarchy.n_nodes, 10)), choose("cuda")
    order = np.random.default_rng(0).permutation(heads.size)
    heads, tails, weights = heads[order], tails[order], np.ones(heads.size)

    def epochs(count: int) -> object:
        return engine.train(
            "poincare", vectors, heads, tails, weights, ptr, idx, np.full(count, 0.01), first_epoch=0, negatives=50,
            bound=0.9999, seed=0, workers=engine.workers(0),
        )  # fmt: skip

    each = (milliseconds(lambda: epochs(40), 3) - milliseconds(lambda: epochs(20), 3)) / 20
    print(f"sampled | noun tree | d=10 | 50 negatives | {each:.2f} ms an epoch", flush=True)


def evaluated(data: Path) -> None:
    """Exact ranks of all nodes, from coordinates in memory to ranks in memory, of constructions."""
    engine = choose("cuda")
    hierarchies: list[tuple[str, tuple[Objective, ...]]] = [
        ("wordnet-nouns-dag", ("parents", "ancestors")),
        ("ncbi-taxonomy", ("parents",)),
    ]
    for name, objectives in hierarchies:
        hierarchy = treeball.read(data / f"{name}.tsv.gz")
        model = treeball.fit(hierarchy, method="construct", dim=10, heal=False)
        coordinates, factor = model.ranking_coordinates()
        for objective in objectives:
            ptr, idx = hierarchy.positives(objective)
            sources = np.flatnonzero(np.diff(ptr))
            own = np.concatenate([[0], np.cumsum(np.diff(ptr)[sources])])
            ranked = partial(engine.rank, coordinates, factor, sources, own, idx, 0)
            each = milliseconds(ranked, 1 if hierarchy.n_nodes > 10**6 else 5)
            ranks, precision, _ = ranked()
            said = f"MAP {precision.mean():.4f} | mean rank {ranks.mean():.3f}"
            print(f"evaluate | {name} | d=10 | {objective} | {each:,.1f} ms | {said}", flush=True)


def fits(data: Path, runs: list[str], device: Device, epochs: int | None) -> None:
    """MAP against seconds, of objective `ancestors`; healing, which the processor does, is left out."""
    print("| hierarchy | d | device | epochs | MAP | mean rank | ill of pairs | seconds | to evaluate |")
    print("|---" * 9 + "|")
    small = [(f"n{i}", f"n{i // 3}") for i in range(1, 400)]
    for run in runs:
        name, dim, usual = RUNS[run]
        hierarchy = treeball.read(data / f"{name}.tsv.gz")
        given: dict[str, Any] = {"epochs": epochs or usual} if epochs or usual else {}
        treeball.fit(small, objective="ancestors", dim=dim, epochs=40, device=device, heal=False)  # compiles
        started = time.perf_counter()
        model = treeball.fit(
            hierarchy, objective="ancestors", dim=dim, device=device, heal=False, scores=False, **given
        )
        seconds, started = time.perf_counter() - started, time.perf_counter()
        scores = model.evaluate(device=device)
        evaluated = time.perf_counter() - started
        print(
            f"| {name} | {dim} | {device} | {model.provenance.epochs_done} | {scores.map:.4f} | {scores.mean_rank:.3f} "
            f"| {len(scores.illness):,} of {scores.ranking.ranks.size:,} | {seconds:.1f} | {evaluated:.1f} |",
            flush=True,
        )


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--runs", nargs="+", choices=RUNS, default=list(RUNS))
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help="of the fits")
    parser.add_argument("--epochs", type=int, help="of the fits")
    arguments = parser.parse_args()
    if arguments.device == "cuda" and why_no_card():
        sys.exit(f"this measures a graphics card: {why_no_card()}")
    if not arguments.data.is_dir():
        sys.exit(f"there is no folder {arguments.data}: name that of the hierarchies with --data")
    if arguments.device == "cuda":
        print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}", flush=True)
    simple = {"step": steps_of, "compare": compare, "sampled": sampled, "evaluate": evaluated}
    for part in arguments.parts:
        if part == "fit":
            fits(arguments.data, arguments.runs, arguments.device, arguments.epochs)
        else:
            simple[part](arguments.data)


if __name__ == "__main__":
    main()
