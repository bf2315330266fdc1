"""Capacity-guided construction: a tree placed in the ball so that every parent is the nearest node of its children.

The paper's theory says how far k children must sit from their parent; this uses it forwards. From the root down, the
children of a node, and the way back to its parent, get directions that are as far apart as the dimension allows, and
are placed there. What makes it work is the length of the edges:

* they grow outwards, or the children of a node would be nearer to it than its parent is;
* a path of h edges has a radius of about 30 to itself, what float64 carries: tall branches get short edges, leaves long
  ones. The shorter of two sibling edges decides the angle they need, so the few tall branches take much of the room
  around a node, and its many leaves hardly any.

Three numbers are left, and a search on the number of ill pairs sets them: the radius to fill, the longest edge, and the
growth. It prefers short edges, and a growth well above 1, for then the parents win by a clear margin.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..engine import choose
from ..engine.cpu import placement
from ..engine.cpu.half_space import place_children as place_in_half_space
from ..evaluation.ranking import positives_of
from ..geometry import half_space
from ..geometry.capacity import radius_for_angle
from ..geometry.directions import ordered_directions, smallest_angle
from ..geometry.spaces import BALL
from ..geometry.terms import carried_radius
from ..hierarchy import Hierarchy
from ..limits import BALL_RADIUS, LEAF_RADIUS, PLACED_RADIUS, margin_from_radius
from ..nearest import search_tree
from ..types import Floats, Ints
from ..words import count
from ..workers import in_parts, thread_count
from .distances import run_to_scale
from .registry import Method
from .settings import ConstructSettings

if TYPE_CHECKING:
    from .descent import Epochs
    from .run import Run

__all__ = ["METHODS", "Construction", "Plan", "Scaffold", "candidate_plans", "construct"]


# Inner nodes carry radius 30, and more in more terms; leaves, whose place need not be as exact, may use the last bits.
LEAVES_BEYOND = LEAF_RADIUS - BALL_RADIUS
# A first look at a candidate, and a closer one at all nodes if the first finds nobody ill; of more than ALL_NODES a
# sample has to do, and as many ill ones in it as are GOOD_ENOUGH, for every other candidate costs seconds.
GLANCE, ALL_NODES, SAMPLE, GOOD_ENOUGH = 400, 200_000, 4_000, 0.002
# Taller trees are tried with steeper growth first: their upper edges shrink to a space that is as good as flat.
TALL, VERY_TALL = 24, 60
# So many comparisons cost less than the building of a search tree.
BRUTE_FORCE_PAIRS = 40_000_000
# Plans that are tried for a tree of a million nodes, and more for smaller ones.
PLANS_PER_MILLION_NODES = 12


@dataclass(frozen=True)
class Plan:
    """The three numbers that fix a construction.

    Attributes
    ----------
    budget : radius within which every path from the root must end
    longest : edges are not longer than this, but for the growth
    growth : each edge is at least this many times as long as the one above it
    """

    budget: float
    longest: float
    growth: float


@dataclass(frozen=True)
class Construction:
    """A constructed embedding.

    Attributes
    ----------
    vectors : float64 (n, dim), or (terms, n, dim), see `geometry.half_space`
    plan : the numbers they follow
    ill_share : share of the nodes looked at that are ill
    looked_at : how many nodes that is: all, or a sample
    tried : how many plans were tried
    further_edges : edges of a DAG to other parents than the primary ones, to which the construction gives no place
    """

    vectors: Floats
    plan: Plan
    ill_share: float
    looked_at: int
    tried: int
    further_edges: int = 0

    @property
    def note(self) -> str:
        """One sentence for the log."""
        plan = self.plan
        found = f"{self.ill_share:.2%}" if self.ill_share else "none"
        found += f" of {self.looked_at:,} nodes looked at ill"
        if self.further_edges:
            share = f"{1.0 - self.ill_share:.2%} of" if self.ill_share else "all"
            found = (
                f"{share} {self.looked_at:,} nodes looked at have a parent as their nearest node; the construction "
                f"gives no place near the {count(self.further_edges, 'further parent')}, so these pairs may be ill"
            )
        return (
            f"constructed with edges up to {plan.longest:.3g} long, each at least {plan.growth:.4g} times the one "
            f"above it, within radius {plan.budget:.4g}: {found} (plans tried: {self.tried})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the vectors, for a model's provenance."""
        return {**asdict(self.plan), "ill_share": self.ill_share, "looked_at": self.looked_at, "tried": self.tried,
                "further_edges": self.further_edges}  # fmt: skip


class Scaffold:
    """A hierarchy made ready to be placed in `dim` dimensions: all that does not depend on the plan.

    Of a DAG it is the tree of primary parents.
    """

    def __init__(self, hierarchy: Hierarchy, dim: int, threads: int = 0, terms: int = 1) -> None:
        self.hierarchy, self.dim, self.threads, self.terms = hierarchy, dim, thread_count(threads), terms
        self.order, self.parent = hierarchy.topological_order, hierarchy.primary_parent
        self.height = placement.heights(self.order, self.parent)
        # In the tree of primary parents: a DAG may have a shorter way to the root.
        self.depth = placement.depths(self.order, self.parent)
        counts = np.bincount(self.parent[self.parent >= 0], minlength=hierarchy.n_nodes)
        self.counts = counts
        self.child_ptr = np.concatenate([[0], np.cumsum(counts)])
        # The tallest child, whose edge is the shortest, first; the root, with parent -1, comes before all.
        self.child_idx = np.lexsort((-self.height, self.parent))[1:].astype(np.int32)
        self._find_fans()

    def _find_fans(self) -> None:
        n = self.hierarchy.n_nodes
        self.fan_begin, self.fan_end = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.fan_cosine = np.ones(n)
        self.rows: Floats = np.empty((0, self.dim))
        self.largest_need = 0.0
        inner = np.flatnonzero(self.counts)
        if self.dim == 2:
            self.largest_need = float(radius_for_angle(smallest_angle(int(self.counts.max(initial=0)) + 1, 2)))
            return
        fans: dict[int, tuple[int, int, float]] = {}
        rows, end = [], 0
        sizes, which = np.unique(self.counts[inner] + 1, return_inverse=True)
        table = np.zeros((sizes.size, 3))
        for i, size in enumerate(sizes.tolist()):
            fan = ordered_directions(size, self.dim)
            if len(fan) not in fans:
                angle = smallest_angle(len(fan), self.dim)
                fans[len(fan)] = (end, end + len(fan), math.cos(angle))
                rows.append(fan)
                end += len(fan)
                self.largest_need = max(self.largest_need, float(radius_for_angle(angle)))
            table[i] = fans[len(fan)]
        if rows:
            self.rows = np.concatenate(rows)
            found = table[which]
            self.fan_begin[inner], self.fan_end[inner] = found[:, 0].astype(np.int64), found[:, 1].astype(np.int64)
            self.fan_cosine[inner] = found[:, 2]

    @cached_property
    def _shares(self) -> tuple[NDArray[np.int32], NDArray[np.int32], Ints, Ints]:
        """Nodes of large subtrees, in order; all nodes in preorder; begin and end there of the small subtrees."""
        begin, end = self.hierarchy.interval_in, self.hierarchy.interval_out
        n = self.hierarchy.n_nodes
        large = end - begin > max(1000, n // (32 * self.threads))
        preorder = np.empty(n, np.int32)
        preorder[begin] = np.arange(n, dtype=np.int32)
        tops = np.flatnonzero(~large & (self.parent >= 0) & large[np.maximum(self.parent, 0)])
        tops = tops[np.argsort(begin[tops])]
        if not large.any():
            tops = np.array([self.hierarchy.root])
        return self.order[large[self.order]], preorder, begin[tops].astype(np.int64), end[tops].astype(np.int64)

    def _edge_lengths(self, plan: Plan) -> Floats:
        length: Floats = placement.edge_lengths(
            self.order, self.parent, self.height, plan.budget, plan.longest, math.log(plan.growth)
        )
        return length

    def place(self, plan: Plan) -> Floats:
        """Vectors (n, dim) of the construction; with several terms, points (terms, n, dim) of the half-space."""
        n, length = self.hierarchy.n_nodes, self._edge_lengths(plan)
        vectors = np.zeros((n, self.dim))
        norm = 1.0 - margin_from_radius(PLACED_RADIUS)
        if self.terms > 1:
            vectors = np.zeros((self.terms, n, self.dim))
            vectors[:, self.hierarchy.root] = half_space.origin(self.dim, self.terms)

        def place(nodes: NDArray[np.int32]) -> None:
            if self.terms > 1:
                place_in_half_space(
                    nodes, self.parent, self.depth, self.child_ptr, self.child_idx, length,
                    self.fan_begin, self.fan_end, self.fan_cosine, self.rows, vectors,
                )  # fmt: skip
                return
            placement.place_children(
                nodes, self.parent, self.depth, self.child_ptr, self.child_idx, length,
                self.fan_begin, self.fan_end, self.fan_cosine, self.rows, norm, vectors,
            )  # fmt: skip

        large, preorder, begin, end = self._shares

        def place_small(part: slice) -> None:
            for first, last in zip(begin[part], end[part], strict=True):
                place(preorder[first:last])

        place(large)
        in_parts(place_small, begin.size, self.threads)
        return vectors

    def ill(self, vectors: Floats, sources: Ints) -> float:
        """Share of `sources` whose parents are not nearer than every other node."""
        if not sources.size:
            return 0.0
        ptr, positives = positives_of(sources, self.hierarchy.positives("parents"))
        if self.terms > 1:
            tree = search_tree(*half_space.ranking_coordinates(vectors))
            return float(np.mean(tree.ill(sources, ptr, positives, threads=self.threads)))
        # Of several parents, which only a DAG has, the construction can place a node next to one.
        if sources.size * len(vectors) > BRUTE_FORCE_PAIRS:
            tree = search_tree(*BALL.ranking_coordinates(vectors))
            return float(np.mean(tree.ill(sources, ptr, positives, threads=self.threads)))
        ranks = choose().rank(*BALL.ranking_coordinates(vectors), sources, ptr, positives, self.threads)[0]
        return float(np.mean(np.minimum.reduceat(ranks, ptr[:-1]) > 1))

    def sample(self, size: int, seed: int) -> Ints:
        """Nodes to look at: half of them inner ones, which fall ill first."""
        rng = np.random.default_rng(seed)
        with_parent = np.flatnonzero(self.parent >= 0)
        if with_parent.size <= size:
            return with_parent
        inner = with_parent[self.counts[with_parent] > 0]
        half = rng.choice(inner, min(size // 2, inner.size), replace=False)
        return np.union1d(half, rng.choice(with_parent, size - half.size, replace=False))

    def plans(self) -> Iterator[Plan]:
        """Candidates, the preferred first; of those that make the same edges, as they do of a chain, one."""
        last = np.empty(0)
        for plan in candidate_plans(int(self.height[self.hierarchy.root]), self.largest_need, self.terms):
            length = self._edge_lengths(plan)
            if not np.array_equal(length, last):
                yield plan
            last = length


def candidate_plans(height: int, largest_need: float, terms: int = 1) -> Iterator[Plan]:
    """Plans for a tree of a height, whose largest fan needs edges of length `largest_need`; the preferred first."""
    height = max(1, height)
    shortest = max(1.0, 1.1 * largest_need)
    steepest = math.exp(min(0.2, 200.0 / height))
    growths = [1.05, 1.01]
    if height > VERY_TALL:
        # Steeper ones than the steepest would take the lengths below the smallest number there is.
        growths = [1.03, *growths, steepest, 1.0 + 0.5 * (steepest - 1.0)]
        growths = sorted({growth for growth in growths if growth <= steepest}, reverse=True)
    elif height > TALL:
        growths = [1.1, 1.05, 1.03, 1.01]
    carried = carried_radius(terms)
    for budget in (carried, carried + LEAVES_BEYOND):
        for growth in growths:
            longest = shortest
            while longest < budget:
                yield Plan(budget, longest, growth)
                longest *= 1.5
            yield Plan(budget, budget, growth)


def construct(hierarchy: Hierarchy, dim: int, *, seed: int = 0, threads: int = 0, terms: int = 1) -> Construction:
    """Embed a tree by construction; of a DAG, the tree of primary parents.

    Parameters
    ----------
    hierarchy
        The tree.
    dim
        Dimension of the ball, at least 2.
    seed
        Chooses the nodes that the search for a plan looks at; the same seed gives the same bytes.
    threads
        0 uses all cores.
    terms
        How many float64 each coordinate is the sum of: 1, 2 or 4.
    """
    scaffold = Scaffold(hierarchy, dim, threads, terms)
    large = hierarchy.n_nodes > ALL_NODES
    glance, look = scaffold.sample(GLANCE, seed), scaffold.sample(SAMPLE if large else ALL_NODES, seed)
    best: Construction | None = None
    tried = 0
    most = max(8, int(PLANS_PER_MILLION_NODES * 1e6 / hierarchy.n_nodes))
    for plan in islice(scaffold.plans(), most):
        vectors = scaffold.place(plan)
        tried += 1
        ill = 0.0 if large else scaffold.ill(vectors, glance)
        if ill == 0.0 or best is None or ill <= best.ill_share:
            ill = scaffold.ill(vectors, look)
        if best is None or ill < best.ill_share:
            best = Construction(vectors, plan, ill, look.size, tried)
        if ill <= (GOOD_ENOUGH if large else 0.0):
            break
    assert best is not None
    return replace(best, tried=tried, further_edges=hierarchy.n_edges - (hierarchy.n_nodes - 1))


def run_construct(run: Run) -> Iterator[Epochs]:
    """The method: one construction, no epochs; what it found out is in the log."""
    settings = run.settings
    if settings.objective == "distances":
        run_to_scale(run)
        return
    made = construct(
        run.hierarchy, settings.dim, seed=settings.seed, threads=settings.threads, terms=settings.precision
    )
    run.take_construction(made.vectors)
    run.note(made.note, construction=made.to_dict())
    yield from ()


METHODS = (Method("construct", run_construct, settings=ConstructSettings),)
