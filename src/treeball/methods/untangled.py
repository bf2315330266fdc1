"""Training from an untangled start: the construction, drawn together near the origin by a dilation below 1.

Random first vectors form subtrees that lie across each other, and no later epoch takes them apart. A construction has
none: contracted, all its nodes are within reach of each other, and the training finds its own distances from there.

The method `untangled` is what does best for the objective ancestors: long steps, short steps, then a dilation (the
paper's, equation 4), which makes room for the last mistakes, and short steps again.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..geometry.dilation import dilate_ball
from ..hierarchy import Hierarchy
from ..limits import BALL_RADIUS
from ..settings import FitSettings
from .baselines import descent_of
from .construct import Plan, Scaffold, construct
from .descent import Epochs
from .run import Run

__all__ = ["initial_vectors", "train"]

# For the objective ancestors a node must be nearer to the root than to its own children, so edges grow much faster.
STEEP_GROWTH = 1.45
# Shares of the epochs at which the steps get shorter, to this part, and at which the embedding is dilated.
SHORTER_AT, SHORTER = 0.5, 0.3
DILATED_AT = 0.6


def initial_vectors(hierarchy: Hierarchy, settings: FitSettings) -> NDArray[np.float64]:
    """First vectors (n, dim) of a training with init construct."""
    if settings.objective == "parents":
        vectors = construct(hierarchy, settings.dim, seed=settings.seed, threads=settings.threads).vectors
    else:
        scaffold = Scaffold(hierarchy, settings.dim, settings.threads)
        vectors = scaffold.place(Plan(BALL_RADIUS, BALL_RADIUS, STEEP_GROWTH))
    return dilate_ball(vectors, settings.contract, BALL_RADIUS)[0]


def train(run: Run) -> Iterator[Epochs]:
    """The method `untangled`, from the epoch the run has reached to the last; yields after every few epochs."""
    settings = run.settings
    shorter_at, dilated_at = (int(share * settings.epochs) for share in (SHORTER_AT, DILATED_AT))
    first = descent_of(run.vectors, run.hierarchy, settings)
    later = descent_of(run.vectors, run.hierarchy, settings.replace(lr=SHORTER * settings.lr))
    while run.epoch < settings.epochs:
        if run.epoch == dilated_at and not any("dilated" in entry for entry in run.log):
            run.vectors[:], clamped = dilate_ball(run.vectors, settings.dilation, settings.radius_limit)
            run.clamped += clamped
            run.note(f"dilated by {settings.dilation:g}", dilated=settings.dilation)
        yield run.descend(first if run.epoch < shorter_at else later, shorter_at, dilated_at)
