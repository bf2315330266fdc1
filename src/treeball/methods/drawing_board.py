"""A tree ready to be drawn to scale, the pairs of nodes that a drawing is judged by, and the judgement."""

from __future__ import annotations

import math

import numpy as np

from ..engine.cpu import ratios, to_scale
from ..hierarchy import Hierarchy
from ..hierarchy.metric import PathLengths
from ..types import Floats, Ints
from .centred import CentredTree, centred
from .drawing_plans import ROOM, Plan
from .spreading import even_out, spread
from .stretching import Stretches, Stretching

__all__ = ["LARGE", "LEAST_STEPS", "VERY_LARGE", "Board", "average", "log_worst"]

# Nodes nearest by path that a node is compared with; fewer in very large trees, and beyond LARGE the search is shorter.
NEAR, NEAR_WHEN_VERY_LARGE, LARGE, VERY_LARGE = 64, 16, 5_000, 20_000
# Between the two, cousins that are not among the 64 nearest would go to one place: a node is placed, and a drawing
# judged, by so many. A descent on all of them would take too long.
NEAR_WHEN_LARGE = 256
RANDOM_PAIRS = 20_000
# Small changes of a direction that are tried.
ATTEMPTS = 40
# All pairs are measured up to so many nodes.
ALL_PAIRS = 2_000
# Pairs at random by which edges are stretched, and how often: directions change with them.
STRETCHED_BY, ROUNDS = 50_000, 3
# Steps of a descent at least.
LEAST_STEPS = 30
# How many times the average distortion counts beside the worst.
AVERAGE_COUNTS = 3.0
# A descent sees this part as many pairs again at either end, of all that are measured.
WORST_PART = 8


class Board:
    """A tree ready to be drawn in some dimensions, and the pairs of nodes that a drawing is judged by."""

    def __init__(self, hierarchy: Hierarchy, dim: int, terms: int, seed: int) -> None:
        self.tree: CentredTree = centred(hierarchy)
        self.dim, self.terms = dim, terms
        n = self.tree.nodes
        self.depth = float(self.tree.depth.max(initial=0.0))
        most = NEAR if n <= LARGE else NEAR_WHEN_LARGE if n <= VERY_LARGE else NEAR_WHEN_VERY_LARGE
        self.near = self.tree.near(min(most, max(1, self.tree.order.size - 1)))
        # One node of the hierarchy for each of the tree.
        self._who = np.unique(self.tree.group, return_index=True)[1]
        self._paths = PathLengths(hierarchy)
        self.close = self._chosen(0, seed)
        # Those by which drawings are judged.
        self._near_pairs = self.close if most <= NEAR else self._chosen(0, seed, near=most)
        # Near pairs are too many of these to tell the average, which is that of the pairs at random after them.
        self.pairs = self._with_random(RANDOM_PAIRS, seed)
        self.both = self._chosen(self.close[0].size, seed)
        # Of a DAG an edge is on no path of its own.
        self._stretches = Stretches(self.tree, self._chosen(STRETCHED_BY, seed + 1)) if hierarchy.is_tree else None
        self._noise = np.random.default_rng(seed).normal(size=(ATTEMPTS, dim)) / math.sqrt(dim)
        self.all: tuple[Ints, Ints, Floats] | None = None
        if n <= ALL_PAIRS:
            first, second = np.triu_indices(n, 1)
            self.all = (first, second, self._length(first, second))

    def _length(self, first: Ints, second: Ints) -> Floats:
        return self._paths.between(self._who[first], self._who[second])

    def _chosen(self, random: int, seed: int, near: int = NEAR) -> tuple[Ints, Ints, Floats]:
        """The pairs nearest by path, which decide the worst distortion, and some at random."""
        n, rng = self.tree.nodes, np.random.default_rng(seed)
        nearest = self.near[0][:n, :near]
        first, second = np.repeat(np.arange(n), nearest.shape[1]), nearest.ravel().astype(np.int64)
        # A pair that both ends know is one pair.
        kept = (second >= 0) & (second < n)
        low, high = np.minimum(first, second)[kept], np.maximum(first, second)[kept]
        more = rng.integers(0, n, (2, random))
        low, high = np.concatenate([low, more.min(axis=0)]), np.concatenate([high, more.max(axis=0)])
        code = np.unique(low * n + high)
        first, second = code // n, code % n
        apart = first != second
        first, second = first[apart], second[apart]
        length = self._length(first, second)
        long = length > 0.0
        return first[long], second[long], length[long]

    def _with_random(self, count: int, seed: int) -> tuple[Ints, Ints, Floats]:
        first, second = np.random.default_rng(seed).integers(0, self.tree.nodes, (2, count))
        length = self._length(first, second)
        apart = length > 0.0
        near, far, path = self._near_pairs
        return (
            np.concatenate([near, first[apart]]),
            np.concatenate([far, second[apart]]),
            np.concatenate([path, length[apart]]),
        )

    def place(self, plan: Plan, longer: Floats | float = 0.0) -> Floats:
        """Points (terms, m, dim) of a plan, its edges by so much `longer`."""
        tree, scale = self.tree, plan.radius / self.depth
        points = np.zeros((self.terms, tree.order.size, self.dim))
        to_scale.place(
            tree.order, tree.parent, tree.child_ptr, tree.child_idx, tree.length * scale + longer,
            tree.below * scale,
            *self.near, scale, *tree.fans(self.dim), plan.straight, plan.firm,
            plan.thrifty, plan.acceptable, self._noise, min(NEAR, self.near[0].shape[1]), points,
        )  # fmt: skip
        return points[:, : tree.nodes].copy()

    def stretched(self, plan: Plan, way: Stretching) -> Floats:
        """Points of a plan with longer edges, which make up for bends: those of the least average distortion."""
        points = self.place(plan)
        if self._stretches is None:
            return points
        best, least = points, self.judged(points)[1]
        longer, logs = np.zeros(self.tree.order.size), np.empty(self._stretches.pairs[0].size)
        for _ in range(ROUNDS):
            ratios.log_ratios(points, *self._stretches.pairs, logs)
            longer = self._stretches.more(logs, plan.radius / self.depth, longer, way, ROOM)
            points = self.place(plan, longer)
            found = self.judged(points)[1]
            if found < least:
                best, least = points, found
        return best

    def logs(self, points: Floats, *, everything: bool = False) -> Floats:
        """Logarithms of distance over path of the pairs, or of all where that is possible."""
        first, second, length = self.all if everything and self.all is not None else self.pairs
        found = np.empty(first.size)
        ratios.log_ratios(points, first, second, length, found)
        return found

    def judged(self, points: Floats, *, everything: bool = False) -> tuple[float, float]:
        """What drawings are chosen by, and the average distortion.

        The first is the logarithm of the worst distortion and some times the average: ends of descents often have the
        same worst pairs.
        """
        logs = self.logs(points, everything=everything)
        mean = average(self.even(logs, everything=everything))
        return log_worst(logs) + AVERAGE_COUNTS * mean, mean

    def even(self, logs: Floats, *, everything: bool) -> Floats:
        """Those of `logs` that are of all pairs or of pairs at random, and of no more near ones than there are."""
        return logs if everything and self.all is not None else logs[self._near_pairs[0].size :]

    def moved(self, points: Floats, steps: int, *, evenly: bool = False) -> Floats:
        """The points after a descent on the worst pairs, or, before it, on all."""
        first, second, length = self.close
        nearest = np.full(self.tree.nodes, np.inf)
        np.minimum.at(nearest, first, length)
        np.minimum.at(nearest, second, length)
        reach = np.minimum(1.0, nearest * math.exp(float(np.median(self.logs(points)))))
        if evenly:
            points = even_out(points, *self.both, reach, steps=max(LEAST_STEPS, steps // 5))
        return spread(points, *self._worst(points), reach, steps=steps)

    def _worst(self, points: Floats) -> tuple[Ints, Ints, Floats]:
        """The pairs nearest by path, and of those farther apart the ones that are worst in a drawing."""
        measured = self.pairs if self.all is None else self.all
        logs = self.logs(points, everything=True)
        count = min(self.close[0].size // WORST_PART, logs.size // 2)
        order = np.argpartition(logs, [count, logs.size - count - 1])
        # A pair that is chosen twice counts twice.
        chosen = np.concatenate([order[:count], order[logs.size - count :]])
        first, second, length = (
            np.concatenate([near, far[chosen]]) for near, far in zip(self.close, measured, strict=True)
        )
        return first, second, length


def log_worst(logs: Floats) -> float:
    """Logarithm of the largest ratio over the smallest; beyond all where two nodes coincide, by the mean error."""
    if not logs.size:
        return 0.0
    found = float(logs.max() - logs.min())
    if math.isfinite(found):
        return found
    logs = np.nan_to_num(logs, nan=-math.inf)
    middle = float(np.median(logs))
    if not math.isfinite(middle):
        return 1e12
    return 1e6 * (1.0 + float(np.mean(np.abs(np.expm1(np.minimum(logs - middle, 300.0))))))


def average(logs: Floats) -> float:
    """Average distortion beside the median ratio; what is more than twice too far counts as that."""
    if not logs.size:
        return 0.0
    middle = float(np.median(logs))
    return float(np.mean(np.abs(np.expm1(np.clip(logs - middle, -50.0, 0.7))))) if math.isfinite(middle) else 1.0
