"""Trees drawn to scale: distances proportional to the lengths of paths.

Hyperbolic space has no preferred origin, so the metric centre of the tree is put there. From it every edge goes away
from its parent, as long as its weight says, times one scale. A bend by the angle t shortens a way by about
2 log(1 / sin(t / 2)) however long it is, so the larger the scale, the less it counts. The half-space carries large
ones: a coordinate that is near 0 has all its digits left, so a branch takes a coordinate of its own, and straight down
nothing is used up.

Which scale is best, how straight main branches go on, and when a node looks for another direction, a search decides by
the distortion itself. Then nodes move to where it is smaller (`spreading`): that helps where edges are short beside the
curvature, and space is as good as flat.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.cpu import ratios, to_scale
from ..geometry.terms import carried_radius
from ..hierarchy import Hierarchy
from ..hierarchy.metric import PathLengths
from ..types import Floats, Ints
from ..workers import in_threads, thread_count
from .centred import CentredTree, centred
from .drawing_plans import Plan, first_plans, largest_radius, plans_of_radius
from .spreading import even_out, spread

if TYPE_CHECKING:
    from .run import Run

__all__ = ["Drawing", "draw", "run_to_scale"]

# Nodes nearest by path that a node is compared with; fewer in large trees.
NEAR, NEAR_WHEN_LARGE, LARGE = 64, 16, 5_000
RANDOM_PAIRS = 20_000
# Small changes of a direction that are tried.
ATTEMPTS = 40
# All pairs are measured up to so many nodes.
ALL_PAIRS = 2_000
# Pairs times steps that a descent may take, steps at most and at least, and nodes beyond which there is none.
EFFORT, STEPS, LEAST_STEPS, MOVED_UP_TO = 30_000_000, 1_000, 30, 20_000
# A descent sees this part as many pairs again at either end, of all that are measured.
WORST_PART = 8
# Plans that a descent starts from; where it ends depends on it.
STARTS = 3


@dataclass(frozen=True)
class Drawing:
    """A tree drawn to scale.

    Attributes
    ----------
    points : float64 (terms, n, dim), in the half-space, height last
    plan : what they follow
    scale : distance of two nodes whose path has length 1
    worst : largest ratio of distance to path over the smallest, of the pairs measured
    exact : whether these are all pairs
    resolved : share of the edges whose lengths the coordinates can tell
    shared : nodes that lie where another does, since the path between them has no length
    tried : how many plans were tried
    """

    points: Floats
    plan: Plan
    scale: float
    worst: float
    exact: bool
    resolved: float
    shared: int
    tried: int

    @property
    def note(self) -> str:
        """One sentence for the log."""
        measured = "all pairs" if self.exact else "the pairs looked at"
        text = (
            f"drawn to scale from the metric centre: a path of length 1 is a distance of {self.scale:.6g}, within "
            f"radius {self.plan.radius:g}; worst distortion of {measured} {self.worst:.4f} (plans tried: "
            f"{self.tried}); float64 resolves {self.resolved:.2%} of the edge lengths"
        )
        if self.shared:
            text += f"; {self.shared:,} nodes share their place with another, at no distance from it"
        return text

    def to_dict(self) -> dict[str, Any]:
        """Everything but the points, for a model's provenance."""
        rest = {name: value for name, value in vars(self).items() if name not in ("points", "plan")}
        return asdict(self.plan) | rest


class _Board:
    """A tree ready to be drawn in some dimensions, and the pairs of nodes that a drawing is judged by."""

    def __init__(self, hierarchy: Hierarchy, dim: int, terms: int, seed: int) -> None:
        self.tree: CentredTree = centred(hierarchy)
        self.dim, self.terms = dim, terms
        n = self.tree.nodes
        self.depth = float(self.tree.depth.max(initial=0.0))
        large = n > LARGE
        self.near = self.tree.near(min(NEAR_WHEN_LARGE if large else NEAR, max(1, self.tree.order.size - 1)))
        # One node of the hierarchy for each of the tree.
        self._who = np.unique(self.tree.group, return_index=True)[1]
        self._paths = PathLengths(hierarchy)
        self.close = self._chosen(0, seed)
        self.pairs = self._chosen(RANDOM_PAIRS if n > 300 else 0, seed)
        self.both = self._chosen(self.close[0].size, seed)
        self._noise = np.random.default_rng(seed).normal(size=(ATTEMPTS, dim)) / math.sqrt(dim)
        self.all: tuple[Ints, Ints, Floats] | None = None
        if n <= ALL_PAIRS:
            first, second = np.triu_indices(n, 1)
            self.all = (first, second, self._length(first, second))

    def _length(self, first: Ints, second: Ints) -> Floats:
        return self._paths.between(self._who[first], self._who[second])

    def _chosen(self, random: int, seed: int) -> tuple[Ints, Ints, Floats]:
        """The pairs nearest by path, which decide the worst distortion, and some at random."""
        n, rng = self.tree.nodes, np.random.default_rng(seed)
        near = self.near[0][:n]
        first, second = np.repeat(np.arange(n), near.shape[1]), near.ravel().astype(np.int64)
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

    def place(self, plan: Plan) -> Floats:
        """Points (terms, m, dim) of a plan."""
        tree, scale = self.tree, plan.radius / self.depth
        points = np.zeros((self.terms, tree.order.size, self.dim))
        to_scale.place(
            tree.order, tree.parent, tree.child_ptr, tree.child_idx, tree.length * scale, tree.below * scale,
            *self.near, scale, *tree.fans(self.dim), plan.straight, plan.firm,
            plan.thrifty, plan.acceptable, self._noise, points,
        )  # fmt: skip
        return points[:, : tree.nodes].copy()

    def logs(self, points: Floats, *, everything: bool = False) -> Floats:
        """Logarithms of distance over path of the pairs, or of all where that is possible."""
        first, second, length = self.all if everything and self.all is not None else self.pairs
        found = np.empty(first.size)
        ratios.log_ratios(points, first, second, length, found)
        return found

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


def _range(logs: Floats) -> float:
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


def _fault(logs: Floats) -> float:
    """What drawings are chosen by: logarithm of the worst distortion, and the average beside it."""
    return _range(logs) + _average(logs)


def _average(logs: Floats) -> float:
    """Average distortion beside the median ratio; what is more than twice too far counts as that."""
    if not logs.size:
        return 0.0
    middle = float(np.median(logs))
    return float(np.mean(np.abs(np.expm1(np.clip(logs - middle, -50.0, 0.7))))) if math.isfinite(middle) else 1.0


def _best_plans(board: _Board) -> tuple[list[Plan], int]:
    """Plans by their distortion, one for each radius and straightness, the best first; how many were tried."""
    large = board.tree.nodes > LARGE

    def judged(plan: Plan) -> tuple[float, float, Plan]:
        logs = board.logs(board.place(plan))
        return _fault(logs), _average(logs), plan

    found = [judged(plan) for plan in first_plans(large, largest_radius(board.tree))]
    best = min(found, key=lambda one: one[0])
    if not large:
        radius = best[2].radius
        found += [judged(plan) for plan in plans_of_radius(radius)]
    plans: dict[tuple[float, float, bool], Plan] = {}
    for _, _, plan in sorted(found, key=lambda one: one[0]):
        plans.setdefault((plan.radius, plan.straight, plan.firm), plan)
    best_plans = list(plans.values())
    # What is worst a descent mends sooner than the average, so one of the starts is that of the least average.
    even = min((one for one in found if one[2] in best_plans), key=lambda one: one[1])[2]
    if even not in best_plans[:STARTS]:
        best_plans.insert(STARTS - 1, even)
    return best_plans, len(found)


def draw(
    hierarchy: Hierarchy, dim: int, *, terms: int = 1, seed: int = 0, plan: Plan | None = None, threads: int = 0
) -> Drawing:
    """Draw a hierarchy to scale; of a DAG, the tree of shortest paths from its middle, judged by all shortest paths.

    Parameters
    ----------
    hierarchy
        Its edges are as long as their weights, or 1.
    dim
        Dimension of the space, at least 2.
    terms
        Float64 terms of a coordinate.
    seed
        Chooses the pairs by which drawings of large trees are judged.
    plan
        Take this one, and move nothing afterwards; by default the best of some.
    threads
        How many descents run at once; 0 for one a core. The drawing does not depend on it.
    """
    board = _Board(hierarchy, dim, terms, seed)
    shared = int(hierarchy.n_nodes - board.tree.nodes)
    if board.tree.nodes < 2 or not board.depth > 0.0:
        points = np.zeros((terms, hierarchy.n_nodes, dim))
        points[0, :, -1] = 1.0
        return Drawing(points, plan or Plan(0.0, 1.0, True, -1.0), 1.0, 1.0, True, 1.0, shared, 0)
    tried = 1
    if plan is None:
        plans, tried = _best_plans(board)
        plan, points = plans[0], board.place(plans[0])
        steps = min(STEPS, EFFORT // max(1, board.close[0].size))
        if board.tree.nodes <= MOVED_UP_TO and steps >= LEAST_STEPS:
            plan, points = _best_descent(board, plans[:STARTS], points, steps, thread_count(threads))
    else:
        points = board.place(plan)
    logs = board.logs(points, everything=True)
    return Drawing(
        points[:, board.tree.group],
        plan,
        scale=math.exp(float(np.median(logs))),
        worst=math.exp(_range(logs)) if _range(logs) < 700.0 else math.inf,
        exact=board.all is not None,
        resolved=_resolved(board, points, plan),
        shared=shared,
        tried=tried,
    )


def _best_descent(board: _Board, plans: list[Plan], points: Floats, steps: int, threads: int) -> tuple[Plan, Floats]:
    """The best plan, and the best of its points and of what descents from some plans end at."""
    ways = [(plan, evenly) for plan in plans for evenly in (False, True)]
    ends: list[tuple[float, Floats] | None] = [None] * len(ways)

    def work(which: int) -> None:
        plan, evenly = ways[which]
        moved = board.moved(board.place(plan), steps, evenly=evenly)
        ends[which] = (_fault(board.logs(moved, everything=True)), moved)

    in_threads(work, range(len(ways)), threads)
    found = [(plans[0], (_fault(board.logs(points, everything=True)), points))]
    found += [(plan, end) for (plan, _), end in zip(ways, ends, strict=True) if end is not None]
    plan, (_, moved) = min(found, key=lambda one: one[1][0])
    return plan, moved


def _resolved(board: _Board, points: Floats, plan: Plan) -> float:
    """Share of the edges whose distance is by less than half of it off their length."""
    tree = board.tree
    low = np.flatnonzero((tree.parent[: tree.nodes] >= 0) & (tree.parent[: tree.nodes] < tree.nodes))
    if not low.size:
        return 1.0
    logs = np.empty(low.size)
    ratios.log_ratios(points, low, tree.parent[low].astype(np.int64), tree.length[low], logs)
    off = logs - math.log(plan.radius / board.depth)
    return float(np.mean(np.abs(off) < math.log(1.5)))


def run_to_scale(run: Run, *, one_plan: bool = False) -> None:
    """The objective distances of a construction: the best drawing, or, of Sala et al., the one of even directions."""
    settings = run.settings
    terms = settings.precision
    radius = getattr(settings, "max_radius", 30.0) if terms == 1 else carried_radius(terms)
    plan = Plan(radius, 0.0, False, -1.0) if one_plan else None
    drawing = draw(run.hierarchy, settings.dim, terms=terms, seed=settings.seed, plan=plan, threads=settings.threads)
    run.take_construction(drawing.points if terms > 1 else drawing.points[0])
    run.note(drawing.note, drawing=drawing.to_dict())
