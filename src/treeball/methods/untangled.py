"""Training from an untangled start: the construction, drawn together near the origin by a dilation below 1.

Random first vectors form subtrees that lie across each other, and no later epoch takes them apart. A construction has
none: contracted, all its nodes are within reach of each other, and the training finds its own distances from there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..geometry.dilation import dilate_ball
from ..hierarchy import Hierarchy
from ..limits import BALL_RADIUS
from ..settings import FitSettings
from .construct import Plan, Scaffold, construct

__all__ = ["initial_vectors"]

# For the objective ancestors a node must be nearer to the root than to its own children, so edges grow much faster.
STEEP_GROWTH = 1.45


def initial_vectors(hierarchy: Hierarchy, settings: FitSettings) -> NDArray[np.float64]:
    """First vectors (n, dim) of a training with init construct."""
    if settings.objective == "parents":
        vectors = construct(hierarchy, settings.dim, seed=settings.seed, threads=settings.threads).vectors
    else:
        scaffold = Scaffold(hierarchy, settings.dim, settings.threads)
        vectors = scaffold.place(Plan(BALL_RADIUS, BALL_RADIUS, STEEP_GROWTH))
    return dilate_ball(vectors, settings.contract, BALL_RADIUS)[0]
