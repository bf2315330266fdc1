"""Scores of a model folder on a sample of its nodes, each ranked exactly among all."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from ..engine.cpu import counting
from ..errors import InputError
from ..limits import TIE
from ..types import Floats, Ints, Objective
from ..workers import in_parts, thread_count
from .folder import ModelFolder
from .layout import BLOCK, GROUP

__all__ = ["SAMPLE", "FolderScores", "evaluate_folder", "evaluate_nodes"]

SAMPLE = 4000
_RESAMPLES = 400
# Nodes that are ranked at once.
_AT_ONCE = 200_000


@dataclass(frozen=True)
class FolderScores:
    """Scores of a sample.

    Attributes
    ----------
    nodes, of : how many nodes were ranked, of how many
    precision : float64 (nodes,), average precision of each
    first : bool (nodes,), whether the nearest node is a positive
    ranks, owner : int64 (pairs,), filtered rank of each positive and whose it is
    several : bool (nodes,), whether a node has several parents
    """

    objective: Objective
    nodes: int
    of: int
    precision: Floats
    first: Any
    ranks: Ints
    owner: Ints
    several: Any

    @property
    def map(self) -> float:
        """Mean average precision."""
        return float(self.precision.mean())

    @property
    def mean_rank(self) -> float:
        """Mean filtered rank of the pairs."""
        return float(self.ranks.mean())

    def to_dict(self) -> dict[str, Any]:
        """What the command prints as JSON."""
        rng = np.random.default_rng(0)
        picks = rng.integers(0, self.nodes, (_RESAMPLES, self.nodes)) if self.nodes <= 20_000 else None

        def interval(values: Floats) -> list[float]:
            if picks is not None:
                low, high = np.quantile(values[picks].mean(axis=1), (0.025, 0.975))
            else:
                half = 1.96 * values.std() / np.sqrt(values.size)
                low, high = values.mean() - half, min(1.0, values.mean() + half)
            return [float(low), float(high)]

        record: dict[str, Any] = {
            "objective": self.objective, "map": self.map, "hits_at_1": float(self.first.mean()),
            "mean_rank": self.mean_rank, "pairs": int(self.ranks.size),
            "ill_pairs": int((self.ranks > 1).sum()),
            "sampled": {
                "nodes": self.nodes, "of": self.of,
                "interval_95": {"map": interval(self.precision), "hits_at_1": interval(self.first.astype(np.float64))},
            },
        }  # fmt: skip
        if self.several.any():
            record["map_of_one_parent"] = (
                float(self.precision[~self.several].mean()) if not self.several.all() else None
            )
            record["map_of_several_parents"] = float(self.precision[self.several].mean())
        return record


def evaluate_folder(
    folder: ModelFolder, objective: Objective = "parents", sample: int | None = None, seed: int = 0, threads: int = 0
) -> FolderScores:
    """Rank a random sample of nodes; every shard that bounds do not exclude is read once."""
    if (sample or 0) < 0 or seed < 0:
        raise InputError(f"the sample is {sample} and the seed {seed}: give numbers from 0 on; a sample of 0 takes all")
    first = 1 if folder.has_virtual_root else 0
    wanted = min(sample or SAMPLE, len(folder) - first) if sample != 0 else len(folder) - first
    drawn = np.sort(np.random.default_rng(seed).choice(len(folder) - first, wanted, replace=False)) + first
    return evaluate_nodes(folder, drawn[~folder.is_removed(drawn)], objective, threads)


def evaluate_nodes(folder: ModelFolder, drawn: Ints, objective: Objective, threads: int = 0) -> FolderScores:
    """Rank some nodes, by place: many in pieces, so that all that is kept of them is a few numbers each."""
    pieces = [
        _evaluated(folder, drawn[at : at + _AT_ONCE], objective, threads)
        for at in range(0, max(1, drawn.size), _AT_ONCE)
    ]
    ends = np.cumsum([one.nodes for one in pieces])
    if not ends[-1]:
        raise InputError(f"none of {drawn.size:,} nodes of {str(folder.path)!r} has a parent: give a larger --sample")
    names = ("precision", "first", "ranks", "several")
    every = {name: np.concatenate([getattr(one, name) for one in pieces]) for name in names}
    owner = np.concatenate([one.owner + end - one.nodes for one, end in zip(pieces, ends, strict=True)])
    return FolderScores(objective, int(ends[-1]), folder.n_present, owner=owner, **every)


def _evaluated(folder: ModelFolder, drawn: Ints, objective: Objective, threads: int) -> FolderScores:
    positives = [(folder.parents if objective == "parents" else folder.ancestors)(int(one)) for one in drawn]
    has = [i for i, some in enumerate(positives) if some]
    nodes, positives = drawn[has], [positives[i] for i in has]
    if not has:
        nobody, nothing = np.empty(0, bool), np.empty(0, np.int64)
        return FolderScores(objective, 0, folder.n_present, np.empty(0), nobody, nothing, nothing, nobody)
    needed = np.unique(np.concatenate([nodes, *map(np.asarray, positives)]).astype(np.int64))
    known = folder.vectors(needed)
    queries = known[np.searchsorted(needed, nodes)]
    counts_of = np.array([len(some) for some in positives])
    ends = np.cumsum(counts_of)
    begins = ends - counts_of
    limits, within = np.empty(int(ends[-1])), np.empty(int(ends[-1]), np.int64)
    for i, some in enumerate(positives):
        far = np.sort(counting.keys_to(known[np.searchsorted(needed, some)], queries[i]))
        limits[begins[i] : ends[i]] = far * (1.0 + TIE)
        within[begins[i] : ends[i]] = np.searchsorted(far, limits[begins[i] : ends[i]], "right")
    counts = _count_all(folder, queries, begins, ends, limits, thread_count(threads))
    counts -= _count_removed(folder, queries, begins, ends, limits)
    # Each node itself is within all limits, an added root within none that counts, and positives up to their own, with
    # those that are as far.
    order = np.arange(limits.size) - np.repeat(begins, counts_of)
    if folder.has_virtual_root:
        root = counting.keys_to(queries, folder.vectors([0])[0])
        counts -= np.repeat(root, counts_of) <= limits
    others = counts - 1 - within
    others = np.maximum(others, 0)
    precision = (order + 1) / (order + 1 + others)
    owner = np.repeat(np.arange(nodes.size), counts_of)
    return FolderScores(
        objective, nodes.size, folder.n_present, np.bincount(owner, precision) / counts_of, others[begins] == 0,
        others + 1, owner, np.array([len(folder.parents(int(one))) > 1 for one in nodes]),
    )  # fmt: skip


def _count_all(folder: ModelFolder, queries: Floats, begins: Ints, ends: Ints, limits: Floats, threads: int) -> Ints:
    """How many nodes are within each limit, int64 (p,): group by group, for those queries whose reach it is in."""
    begin, group_boxes = folder.group_boxes
    own, farthest = counting.gaps(queries), limits[ends - 1]
    total, adding = np.zeros(limits.size, np.int64), Lock()

    def work(part: slice) -> None:
        counts = np.zeros(limits.size, np.int64)
        for group in range(part.start, part.stop):
            asked = counting.within_reach(group_boxes[group], queries, own, farthest)
            if asked.size:
                blocks = folder.boxes[begin[group] : begin[group + 1]]
                counting.count_within(
                    folder.group(group), blocks, BLOCK, queries, own, asked, begins, ends, limits, counts
                )
        with adding:
            np.add(total, counts, out=total)

    in_parts(work, len(group_boxes), threads)
    return total


def _count_removed(folder: ModelFolder, queries: Floats, begins: Ints, ends: Ints, limits: Floats) -> Ints:
    """How many of the removed nodes are within each limit, int64 (p,)."""
    counts = np.zeros(limits.size, np.int64)
    for at in range(0, folder.removed.size, GROUP):
        vectors = folder.vectors(folder.removed[at : at + GROUP])
        boxes, everybody = counting.boxes(vectors, BLOCK), np.arange(len(queries))
        own = counting.gaps(queries)
        counting.count_within(vectors, boxes, BLOCK, queries, own, everybody, begins, ends, limits, counts)
    return counts
