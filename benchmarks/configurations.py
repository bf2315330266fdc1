"""Random configurations of a training: numbers come back, or our own errors, and scores are those of the definition.

    python benchmarks/configurations.py --first 0 --count 5000 [--seconds N]

Configuration number N is made of seed N alone: a small random tree or DAG, any method, 2 to 64 dimensions, steps of
1e-6 to 1e6, either objective, and whatever else the method has to set. It is fitted in this process. Counted are those
that were fitted, those that were refused in a sentence, and failures: another error, a number that is none, a record
that cannot be read back, or scores that differ from a naive evaluation. Exit code 1 where there was a failure; its
number tries it again.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import math
import sys
import time
import traceback
import warnings
from collections import Counter
from typing import Any

import numpy as np

import treeball
from treeball import Embedding, Hierarchy
from treeball.embedding import Provenance
from treeball.errors import TreeballError
from treeball.geometry.spaces import BALL
from treeball.methods.registry import find, method_names
from treeball.methods.settings import EpochSettings

TIE = 1e-9
TOLD_EVERY = 500


def random_hierarchy(rng: np.random.Generator) -> Hierarchy:
    """A chain, a star, a random tree or a DAG of 1 to 60 nodes, now and then with weights."""
    n = int(rng.integers(1, 61))
    kind = rng.choice(["chain", "star", "tree", "tree", "dag"])
    children = np.arange(1, n)
    if kind == "chain":
        parents = children - 1
    elif kind == "star":
        parents = np.zeros(n - 1, int)
    else:
        parents = np.array([rng.integers(0, child) for child in children], int)
    if kind == "dag" and n > 2:
        more = rng.integers(2, n, n // 2)
        edges = {(int(c), int(p)) for c, p in zip(children, parents, strict=True)}
        edges |= {(int(c), int(rng.integers(0, c))) for c in more}
        children, parents = np.array(sorted(edges)).T
    weights = None
    if rng.random() < 0.3:
        weights = 10.0 ** rng.uniform(-3, 3, children.size)
        if rng.random() < 0.2:
            weights = rng.choice([0.0, 1e-300, 1e300, 1.7e308], children.size)
    return Hierarchy.from_codes([f"n{i}" for i in range(n)], children, parents, weights=weights)


def random_settings(rng: np.random.Generator) -> dict[str, Any]:
    """Settings of a random method, each given with some probability."""
    method = str(rng.choice(["auto", *method_names()]))
    given: dict[str, Any] = {
        "method": method,
        "dim": int(rng.integers(2, 65) if rng.random() < 0.7 else rng.integers(2, 6)),
        "objective": str(rng.choice(["parents", "ancestors"])),
        "seed": int(rng.integers(0, 2**31)),
        "threads": int(rng.choice([1, 2])),
        "device": "cpu",
    }
    kind = EpochSettings if method == "auto" else find(method).settings
    choices: dict[str, Any] = {
        "heal": bool(rng.random() < 0.5),
        "deterministic": bool(rng.random() < 0.5),
        "lr": float(10.0 ** rng.uniform(-6, 6)),
        "negatives": int(rng.integers(1, 80)),
        "init": str(rng.choice(["random", "construct"])),
        "init_scale": float(10.0 ** rng.uniform(-4, 0.2)),
        "init_radius": float(10.0 ** rng.uniform(-6, 1.6)),
        "max_radius": float(rng.uniform(0.1, 36)),
        "trace_every": int(rng.integers(0, 4)),
        "batch": int(rng.integers(1, 100)),
        "burn_in": int(rng.integers(0, 10)),
        "burn_in_factor": float(10.0 ** rng.uniform(-4, 0)),
        "burn_in_negatives": str(rng.choice(["uniform", "degree"])),
        "weighted": bool(rng.random() < 0.5),
        "eta_tc": float(rng.uniform(0, 1.1)),
        "n_tc": int(rng.integers(0, 20)),
        "closure_reading": str(rng.choice(["literal", "lowered"])),
        "dilation": float(rng.uniform(0.9, 5)),
        "sufficiency": str(rng.choice(["children", "paper"])),
        "dilation_share": float(rng.uniform(0, 1)),
        "dilation_from": int(rng.integers(0, 15)),
        "dilation_limit": int(rng.integers(0, 4)),
        "sharpness": float(10.0 ** rng.uniform(-0.2, 3.1)),
        "spare": int(rng.integers(0, 6)),
        "forgiveness": float(rng.uniform(0, 1.05)),
        "open_world": bool(rng.random() < 0.5),
    }
    known = {field.name for field in dataclasses.fields(kind)}
    if "epochs" in known:
        given["epochs"] = int(rng.integers(1, 21))
        given["lr"] = choices.pop("lr")
    given |= {name: value for name, value in choices.items() if name in known and rng.random() < 0.35}
    return given


def distances(embedding: Embedding) -> Any:
    """All distances (n, n); of points of the hyperboloid those in the ball, where they are ranked, more coarsely."""
    points = embedding.ball() if embedding.space.is_hyperbolic else embedding.vectors
    space = BALL if embedding.space.is_hyperbolic else embedding.space
    return space.distance(points[:, None], points[None])


def naive_scores(embedding: Embedding, objective: str) -> tuple[float, float, float, int]:
    """MAP, mean rank, hits@1 and ill pairs by their definitions, from distances; ties at one part in 10^9."""
    hierarchy = embedding.hierarchy
    nodes = np.arange(len(embedding))
    far = distances(embedding)
    above = _positives(hierarchy, objective)
    precisions, ranks, hits, ill = [], [], [], 0
    for node in nodes:
        own = sorted(above[node], key=far[node].__getitem__)
        if not own:
            continue
        others = [other for other in nodes if other != node and other not in above[node]]
        closer = [sum(far[node, other] <= far[node, one] * (1 + TIE) for other in others) for one in own]
        precisions.append(np.mean([(i + 1) / (i + 1 + before) for i, before in enumerate(closer)]))
        ranks += [1 + before for before in closer]
        hits.append(closer[0] == 0)
        ill += sum(before > 0 for before in closer)
    if not ranks:
        return math.nan, math.nan, math.nan, 0
    return float(np.mean(precisions)), float(np.mean(ranks)), float(np.mean(hits)), ill


def _positives(hierarchy: Hierarchy, objective: str) -> list[set[int]]:
    parents: list[set[int]] = [set() for _ in range(hierarchy.n_nodes)]
    for child, parent in zip(*hierarchy.edges(), strict=True):
        parents[child].add(int(parent))
    if objective == "parents":
        return parents
    above: list[set[int]] = [set() for _ in parents]
    for node in range(len(parents)):
        left = list(parents[node])
        while left:
            one = left.pop()
            if one not in above[node]:
                above[node].add(one)
                left += parents[one]
    return above


def nearly_tied(embedding: Embedding) -> bool:
    """Whether some distances differ by about as much as ties do, so that rounding decides what ties."""
    far = np.sort(distances(embedding), axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.abs(far[:, :, None] / far[:, None, :] - 1.0)
    return bool(((gap > 0.2 * TIE) & (gap < 5.0 * TIE)).any())


def fault_of(number: int) -> str | None:
    """What is wrong with a configuration; None if nothing. TreeballError where it is refused."""
    rng = np.random.default_rng(number)
    hierarchy, given = random_hierarchy(rng), random_settings(rng)
    embedding = treeball.fit(hierarchy, **given)
    if not np.isfinite(embedding.vectors).all():
        return "vectors that are not finite"
    scores = embedding.evaluate()
    Provenance.from_dict(embedding.provenance.to_dict())
    found = (scores.map, scores.mean_rank, scores.hits_at_1, len(scores.illness))
    expected = naive_scores(embedding, given["objective"])
    if not np.allclose(found, expected, rtol=1e-9, equal_nan=True) and not nearly_tied(embedding):
        return f"scores {found} where the definition gives {expected}"
    return None


def tried(number: int) -> tuple[str, str]:
    """How a configuration ended, `fitted`, `refused` or `failed`, and what is to be said about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            fault = fault_of(number)
        except TreeballError as error:
            text = str(error)
            return ("failed", f"not one sentence: {text!r}") if not text or "\n" in text else ("refused", text)
        except Exception:
            return "failed", " | ".join(traceback.format_exc().strip().splitlines()[-3:])
    return ("fitted", "") if fault is None else ("failed", fault)


def main(arguments: list[str] | None = None) -> int:
    """Try configurations one after the other, print counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="end after this time")
    asked = parser.parse_args(arguments)
    logging.getLogger("treeball").setLevel(logging.ERROR)
    counts: Counter[str] = Counter()
    started = time.monotonic()
    for number in range(asked.first, asked.first + asked.count):
        if time.monotonic() - started > asked.seconds:
            break
        how, text = tried(number)
        counts[how] += 1
        if how == "failed":
            print(f"configuration {number} failed: {text}", flush=True)
        if counts.total() % TOLD_EVERY == 0:
            print(f"{counts.total():,} tried: {dict(counts)}", flush=True)
    print(
        f"configurations {asked.first} to {asked.first + counts.total() - 1}: {counts.total():,} tried, "
        f"{counts['fitted']:,} fitted, {counts['refused']:,} refused in a sentence, {counts['failed']:,} failed"
    )
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
