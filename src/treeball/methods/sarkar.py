"""The combinatorial construction of Sala, De Sa, Gu and Ré (2018), which generalises Sarkar (2011).

Every edge gets the same hyperbolic length τ. A node is brought to the origin, the directions to its neighbours are
spread as evenly as the dimension allows with one of them pointing back at the parent, its children go there, and
the node is taken back. The longer τ, the straighter the ways between nodes run through their tree paths; what
limits τ is the precision of the coordinates: docs/sarkar.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..geometry import half_space, poincare
from ..geometry.directions import even_directions, smallest_angle
from ..geometry.terms import bits as bits_of
from ..geometry.terms import carried_radius
from ..hierarchy import Hierarchy
from ..limits import BALL_RADIUS, LARGEST_RADIUS, TERMS
from ..types import Floats, Ints
from .distances import run_to_scale
from .registry import Method
from .settings import SarkarSettings

if TYPE_CHECKING:
    from .descent import Epochs
    from .run import Run

__all__ = ["METHODS", "SarkarResult", "bits_needed", "construct", "scale_needed"]


FLOAT64_BITS = 53
# Numbers handled at once: bounds the memory of a level with millions of nodes.
_BLOCK = 1 << 21


@dataclass(frozen=True)
class SarkarResult:
    """What :func:`construct` made, and what it would take to do better.

    Attributes
    ----------
    vectors : float64 (n, dim), or (terms, n, dim)
        Points of the Poincaré ball in the order of the hierarchy's nodes; the root is the origin. With several terms,
        points of the half-space, see :mod:`treeball.geometry.half_space`.
    scale
        Edge length τ that was used.
    scale_for_epsilon
        Edge length that guarantees worst-case distortion 1 + ε for this tree in this dimension.
    bits_needed
        Significand bits that coordinates need for `scale_for_epsilon`, i.e. for distortion 1 + ε.
    bits_used
        Significand bits that coordinates need for `scale`.
    bits_available
        53 for each term.
    clamped
        How many nodes were held at the largest radius; their edges are shorter than `scale`.
    note
        One sentence that says which edge length was taken and why.
    """

    vectors: Floats
    scale: float
    scale_for_epsilon: float
    bits_needed: int
    bits_used: int
    bits_available: int
    clamped: int
    note: str

    def to_dict(self) -> dict[str, Any]:
        """Everything but the vectors, for a model's provenance."""
        return {name: value for name, value in vars(self).items() if name != "vectors"}


def construct(
    hierarchy: Hierarchy,
    dim: int,
    *,
    scale: float | None = None,
    epsilon: float = 0.1,
    max_radius: float | None = None,
    seed: int = 0,
    terms: int = 1,
) -> SarkarResult:
    """Embed a tree with all edges of one length; of a DAG, the tree of primary parents.

    Parameters
    ----------
    hierarchy
        The tree.
    dim
        Dimension of the ball, at least 2.
    scale
        Edge length τ. By default the one that distortion 1 + `epsilon` asks for, or the longest that keeps every
        node within `max_radius` where that is shorter.
    epsilon
        Worst-case distortion allowed beyond 1, above 0 and at most 1.
    max_radius
        Largest distance from the origin, by default what the terms carry; nodes beyond it are held there and counted.
    seed
        Start of the repulsion that spreads more than 2 `dim` directions in three or more dimensions.
    terms
        How many float64 each coordinate is the sum of: 1, 2 or 4. With more than one no node is held anywhere.
    """
    max_radius = carried_radius(terms) if max_radius is None else max_radius
    _check(dim, scale, epsilon, max_radius, terms)
    children = _Children(hierarchy)
    depth = children.depth
    asked = scale_needed(children.narrowest_angle(dim, seed), epsilon)
    allowed = max_radius / max(depth, 1)
    used = min(asked, allowed) if scale is None else scale
    if terms == 1:
        vectors, clamped = _place(children, dim, used, max_radius, seed)
    else:
        vectors, clamped = _place_in_half_space(children, dim, used, terms, seed), 0
    bits = bits_needed(depth, asked, epsilon, dim)
    if scale is not None:
        why = f"edges have the length {used:.4g} asked for"
    elif asked <= allowed:
        why = f"edges have the length {used:.4g} that distortion {1 + epsilon:g} asks for"
    else:
        why = f"edges have length {used:.4g}, the longest that keeps {depth} levels within radius {max_radius:g}"
    note = (
        f"{why}; distortion {1 + epsilon:g} is certain with length {asked:.4g} and coordinates of {bits:,} bits, "
        f"and float64 has {FLOAT64_BITS}" + (f", {terms} of them {bits_of(terms)}" if terms > 1 else "")
    )
    if clamped:
        note += f"; {clamped:,} nodes are held at radius {max_radius:g}"
    return SarkarResult(
        vectors=vectors,
        scale=used,
        scale_for_epsilon=asked,
        bits_needed=bits,
        bits_used=bits_needed(depth, used, epsilon, dim),
        bits_available=bits_of(terms),
        clamped=clamped,
        note=note + ".",
    )


def scale_needed(angle: float, epsilon: float) -> float:
    """Edge length that keeps the worst-case distortion within 1 + ε when all angles at nodes are at least `angle`.

        τ = (1 + ε) / ε · 2 log(4 / θ),    in the plane, where θ = 2π / deg_max,  (1 + ε) / ε · 2 log(deg_max / (π/2))

    A bend by θ shortens the way by at most c = 2 log(4 / θ), so m edges keep at least m τ - (m - 1) c of m τ, and
    τ / (τ - c) = 1 + ε. The 4 has room for the bends before, see docs/sarkar.md; it is enough for ε up to 1.
    """
    return (1.0 + epsilon) / epsilon * 2.0 * math.log(4.0 / min(angle, math.pi))


def bits_needed(depth: int, scale: float, epsilon: float, dim: int = 2) -> int:
    """Significand bits of ball coordinates for which rounding changes no edge by more than the share ε of its length.

    Rounding to p bits moves a point by up to sqrt(d) 2^-p / a, where a = 1 / cosh²(R/2) and R = depth · τ is the radius
    of the deepest nodes; both ends of an edge move, the inner one less. So

        p = log2( 2 sqrt(d) / (a min(ε τ, 1)) ),    about  depth · τ / log 2  for large trees.

    However much may be lost of a long edge, a move by more than 1 would lead out of the ball.
    """
    radius = depth * scale
    log_gap = math.log(4.0) - radius - 2.0 * math.log1p(math.exp(-radius))
    log_move = min(0.0, math.log(epsilon * scale))
    return max(1, math.ceil((0.5 * math.log(4.0 * dim) - log_gap - log_move) / math.log(2.0)))


# ---- placing ----


class _Children:
    """Children in the tree of primary parents, where a DAG's own children would come several times."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        parent = hierarchy.primary_parent.astype(np.int64)
        self.root, self.n = hierarchy.root, hierarchy.n_nodes
        self.parent = parent
        self.counts = np.bincount(parent[parent >= 0], minlength=self.n)
        self.start = np.cumsum(self.counts) - self.counts
        self.nodes = np.argsort(parent, kind="stable")[1:]  # the root, with parent -1, comes first
        self.levels = list(self._levels())
        self.depth = len(self.levels)

    def _levels(self) -> Iterator[Ints]:
        """Inner nodes, level by level."""
        level = np.array([self.root])
        while True:
            level = level[self.counts[level] > 0]
            if not level.size:
                return
            yield level
            level = self.of(level)

    def of(self, parents: Ints) -> Ints:
        """Children of all `parents`, in their order."""
        counts = self.counts[parents]
        ends = np.cumsum(counts)
        within = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
        return np.asarray(self.nodes[np.repeat(self.start[parents], counts) + within])

    def narrowest_angle(self, dim: int, seed: int) -> float:
        """Smallest angle between two edges at a node."""
        degrees = self.counts + 1
        degrees[self.root] -= 1
        # In the plane and in the fans by formula more directions mean smaller angles; repulsion may differ.
        sizes = [int(degrees.max())] if dim == 2 else np.unique(degrees[degrees > 1]).tolist()
        return min((smallest_angle(size, dim, seed) for size in sizes), default=math.pi)


def _place(children: _Children, dim: int, scale: float, max_radius: float, seed: int) -> tuple[Floats, int]:
    """Vectors (n, dim), and how many nodes were held at `max_radius`."""
    vectors = np.zeros((children.n, dim))
    # No node is farther out than its tree path is long; a clamp would only count roundings at the limit itself.
    may_leave = children.depth * scale > max_radius * (1.0 + 1e-12)
    clamped = 0
    for level in children.levels:
        counts = children.counts[level]
        for count in np.unique(counts):
            step = max(1, _BLOCK // int(count * dim))
            alike = level[counts == count]
            for begin in range(0, alike.size, step):
                parents = alike[begin : begin + step]
                directions = _directions(children, vectors, parents, int(count), dim, seed)
                points = poincare.mobius_add(vectors[parents][:, None], poincare.from_radius(directions, scale))
                if may_leave:
                    points, held = poincare.project(points, max_radius)
                    clamped += held
                vectors[children.of(parents)] = points.reshape(-1, dim)
    return vectors, clamped


def _place_in_half_space(children: _Children, dim: int, scale: float, terms: int, seed: int) -> Floats:
    """Points (terms, n, dim)."""
    points = np.zeros((terms, children.n, dim))
    points[:, children.root] = half_space.origin(dim, terms)
    for level in children.levels:
        counts = children.counts[level]
        for count in np.unique(counts):
            step = max(1, _BLOCK // int(count * dim * terms))
            alike = level[counts == count]
            for begin in range(0, alike.size, step):
                parents = alike[begin : begin + step]
                back = None
                if parents[0] != children.root:
                    back = half_space.direction(points[:, parents], points[:, children.parent[parents]])
                directions = _fans(back, int(count), dim, seed)
                placed = half_space.put(points[:, parents, None], directions, np.full(directions.shape[:2], scale))
                points[:, children.of(parents)] = placed.reshape(terms, -1, dim)
    return points


def _directions(children: _Children, vectors: Floats, parents: Ints, count: int, dim: int, seed: int) -> Floats:
    """Directions (m, count, dim) of the children, as seen from each of m nodes brought to the origin."""
    if parents[0] == children.root:
        return _fans(None, count, dim, seed)
    back = poincare.recentre(vectors[children.parent[parents]], vectors[parents])
    # A node held at the rim may fall on its parent, which then has no direction: look towards the middle.
    lost = ~back.any(axis=1)
    back[lost] = -vectors[parents[lost]]
    return _fans(back / np.linalg.norm(back, axis=1, keepdims=True), count, dim, seed)


def _fans(back: Floats | None, count: int, dim: int, seed: int) -> Floats:
    """Directions (m, count, dim) of the children of m nodes whose parents are in the directions `back` (m, dim)."""
    if back is None:
        return even_directions(count, dim, seed)[None]
    fan = even_directions(count + 1, dim, seed)
    # The mirror that takes the fan's first point to the direction of the parent.
    normal = fan[0] - back
    square = np.einsum("md,md->m", normal, normal)
    factor = 2.0 * (normal @ fan[1:].T) / np.where(square > 0.0, square, 1.0)[:, None]
    return np.asarray(fan[1:] - factor[:, :, None] * normal[:, None])


def _check(dim: int, scale: float | None, epsilon: float, max_radius: float, terms: int) -> None:
    if terms not in TERMS:
        raise InputError(f"coordinates have 1, 2 or 4 terms, not {terms!r}")
    if dim < 2:
        raise InputError(f"dim must be at least 2, not {dim}: a tree cannot branch in one dimension")
    if not 0.0 < epsilon <= 1.0:
        raise InputError(f"epsilon must be above 0 and at most 1, not {epsilon}: the distortion allowed beyond 1")
    most = LARGEST_RADIUS - BALL_RADIUS + carried_radius(terms)
    if not 0.0 < max_radius <= most:
        raise InputError(f"max_radius must be above 0 and at most {most:g}, not {max_radius}: float64 ends there")
    if scale is not None and not 0.0 < scale <= max_radius:
        raise InputError(
            f"scale must be above 0 and at most max_radius ({max_radius:g}), not {scale}: use a shorter edge"
        )


def run_sarkar(run: Run) -> Iterator[Epochs]:
    """The method: one construction, no epochs; what it found out is in the log."""
    settings = run.settings
    if settings.objective == "distances":
        run_to_scale(run, one_plan=True)
        return
    terms = settings.precision
    radius = settings.max_radius if terms == 1 else None
    made = construct(run.hierarchy, settings.dim, max_radius=radius, seed=settings.seed, terms=terms)
    run.take_construction(made.vectors)
    run.clamped = made.clamped
    run.note(made.note, construction=made.to_dict())
    yield from ()


METHODS = (Method("sarkar", run_sarkar, settings=SarkarSettings),)
