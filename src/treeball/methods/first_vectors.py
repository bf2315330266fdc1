"""Where a training starts: at random points near the origin, or untangled, at a construction drawn together.

Random first vectors form subtrees that lie across each other, and no later epoch takes them apart. A construction has
none: drawn together near the origin by a dilation below 1, all its nodes are within reach of each other, and the
training finds its own distances from there.
"""

from __future__ import annotations

import numpy as np

from ..geometry.dilation import dilate_ball
from ..geometry.poincare import project
from ..hierarchy import Hierarchy
from ..limits import BALL_RADIUS
from ..types import Floats, Objective
from .construct import Plan, Scaffold, construct
from .run import Run
from .settings import EpochSettings

__all__ = ["contracted_construction", "held_construction", "place_first"]

# For the objective ancestors a node must be nearer to the root than to its own children, so edges grow much faster.
STEEP_GROWTH = 1.45


def place_first(run: Run) -> None:
    """Give a run that is at its first epoch the first vectors of its settings; one that goes on has them."""
    settings = run.settings
    if run.epoch:
        return
    if settings.starts_from_construction:
        run.vectors[:], held = held_construction(run.hierarchy, settings, settings.objective)
        run.clamped += held
    else:
        rng = np.random.default_rng(settings.seed)
        run.vectors[:] = run.space.initial(rng, run.hierarchy.n_nodes, settings.dim, settings.first_radius)


def held_construction(hierarchy: Hierarchy, settings: EpochSettings, objective: Objective) -> tuple[Floats, int]:
    """A construction (n, dim), contracted by `init_scale`, and how many nodes had to be held at `max_radius`."""
    made = contracted_construction(
        hierarchy, settings.dim, settings.init_scale, objective, settings.seed, settings.threads
    )
    return project(made, min(BALL_RADIUS, settings.max_radius))


def contracted_construction(
    hierarchy: Hierarchy, dim: int, scale: float, objective: Objective, seed: int = 0, threads: int = 0
) -> Floats:
    """A construction (n, dim), with all distances to the origin multiplied by `scale`."""
    if objective == "parents":
        vectors = construct(hierarchy, dim, seed=seed, threads=threads).vectors
    else:
        vectors = Scaffold(hierarchy, dim, threads).place(Plan(BALL_RADIUS, BALL_RADIUS, STEEP_GROWTH))
    return dilate_ball(vectors, scale, BALL_RADIUS)[0]
