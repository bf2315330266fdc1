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
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.cpu import ratios
from ..geometry.terms import carried_radius
from ..hierarchy import Hierarchy
from ..types import Floats
from ..workers import in_threads, thread_count
from .drawing_board import LARGE, LEAST_STEPS, VERY_LARGE, Board, log_worst
from .drawing_plans import Plan, first_plans, largest_radius, plans_of_radius
from .stretching import GENTLY, WIDELY

if TYPE_CHECKING:
    from .run import Run

__all__ = ["Drawing", "draw", "run_to_scale"]

# Pairs times steps that a descent may take, more in large trees, which have fewer of them, and steps at most.
EFFORT, EFFORT_WHEN_LARGE, STEPS = 30_000_000, 80_000_000, 1_000
# Plans whose edges are stretched, and those of them that a descent starts from; where it ends depends on it.
STRETCHED, STARTS = 6, 3


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
        if not self.plan.radius:
            return "no path has a length: all nodes are at one place, and their distances say nothing"
        measured = "all pairs" if self.exact else "the pairs looked at"
        text = (
            f"drawn to scale from the metric centre: a path of length 1 is a distance of {self.scale:.6g}, within "
            f"radius {self.plan.radius:g}; worst distortion of {measured} {self.worst:.4f} (plans tried: "
            f"{self.tried}); float64 resolves {self.resolved:.2%} of the edge lengths"
        )
        if self.shared:
            share = "node shares its" if self.shared == 1 else "nodes share their"
            text += f"; {self.shared:,} {share} place with another, at no distance from it"
        return text

    def to_dict(self) -> dict[str, Any]:
        """Everything but the points, for a model's provenance."""
        rest = {name: value for name, value in vars(self).items() if name not in ("points", "plan")}
        return asdict(self.plan) | rest


def _best_plans(board: Board) -> tuple[list[Plan], int]:
    """Plans by their distortion, one for each radius and straightness, the best first; how many were tried."""
    large = board.tree.nodes > LARGE

    def judged(plan: Plan) -> tuple[float, float, Plan]:
        return *board.judged(board.place(plan)), plan

    found = [judged(plan) for plan in first_plans(large, largest_radius(board.tree))]
    best = min(found, key=lambda one: one[0])
    if not large:
        radius = best[2].radius
        found += [judged(plan) for plan in plans_of_radius(radius)]
    plans: dict[tuple[float, float, bool], Plan] = {}
    judgements = set()
    for *judgement, plan in sorted(found, key=lambda one: one[0]):
        # Plans that are judged alike are drawn alike.
        if tuple(judgement) not in judgements:
            plans.setdefault((plan.radius, plan.straight, plan.firm), plan)
        judgements.add(tuple(judgement))
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
    board = Board(hierarchy, dim, terms, seed)
    shared = int(hierarchy.n_nodes - board.tree.nodes)
    if board.tree.nodes < 2 or not board.depth > 0.0:
        points = np.zeros((terms, hierarchy.n_nodes, dim))
        points[0, :, -1] = 1.0
        return Drawing(points, plan or Plan(0.0, 1.0, True, -1.0), 1.0, 1.0, True, 1.0, shared, 0)
    tried = 1
    if plan is None:
        plans, tried = _best_plans(board)
        plan, points = _best_points(board, plans, thread_count(threads))
    else:
        points = board.place(plan)
    logs = board.logs(points, everything=True)
    return Drawing(
        points[:, board.tree.group],
        plan,
        scale=math.exp(float(np.median(board.even(logs, everything=True)))),
        worst=math.exp(log_worst(logs)) if log_worst(logs) < 700.0 else math.inf,
        exact=board.all is not None,
        resolved=_resolved(board, points, plan),
        shared=shared,
        tried=tried,
    )


def _best_points(board: Board, plans: list[Plan], threads: int) -> tuple[Plan, Floats]:
    """The best plan and its points: as they are placed, with longer edges, or after a descent from these."""
    found = [(plans[0], board.place(plans[0]))]
    starts = _each(lambda plan: board.stretched(plan, GENTLY), plans[:STRETCHED], threads)
    judged = sorted(
        ((*board.judged(start), plan, start) for plan, start in zip(plans, starts, strict=False)),
        key=lambda one: one[0],
    )
    found += [one[2:] for one in judged[:STARTS]]
    large = board.tree.nodes > LARGE
    steps = min(STEPS, (EFFORT_WHEN_LARGE if large else EFFORT) // max(1, board.close[0].size))
    if board.tree.nodes <= VERY_LARGE and steps >= LEAST_STEPS:
        best = found[1]
        wide = (best[0], board.stretched(best[0], WIDELY))
        ways = [(*start, evenly) for start in (best, wide) for evenly in (False, True)]
        if not large:
            ways += [(*start, True) for start in found[2:]]
            # What is worst a descent mends sooner than the average.
            even = min(judged, key=lambda one: one[1])
            if all(even is not one for one in judged[:STARTS]):
                ways += [(*even[2:], True), (even[2], board.stretched(even[2], WIDELY), True)]
        ends = _each(lambda way: board.moved(way[1], steps, evenly=way[2]), ways, threads)
        found += [(way[0], end) for way, end in zip(ways, ends, strict=True)]
        if large:
            # Other pairs are worst by then.
            plan, end = min(found, key=lambda one: board.judged(one[1])[0])
            found.append((plan, board.moved(end, steps)))
    return min(found, key=lambda one: board.judged(one[1], everything=True)[0])


def _each(work: Callable[[Any], Floats], cases: Sequence[Any], threads: int) -> list[Floats]:
    """What `work` gives for each case."""
    done: dict[int, Floats] = {}

    def one(which: int) -> None:
        done[which] = work(cases[which])

    in_threads(one, range(len(cases)), threads)
    return [done[which] for which in range(len(cases))]


def _resolved(board: Board, points: Floats, plan: Plan) -> float:
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
