"""An untangled start for training: the construction, drawn together near the origin by a dilation below 1.

Random first vectors form subtrees that lie across each other, and no later epoch takes them apart. A construction has
none: contracted, all its nodes are within reach of each other, and the training finds its own distances from there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..embedding import Embedding
from ..geometry.dilation import dilate_ball
from ..hierarchy import Hierarchy
from ..limits import BALL_RADIUS
from ..settings import FitSettings
from .construct import Plan, Scaffold, construct

__all__ = ["initial_vectors"]

# For the objective ancestors a node must be nearer to the root than to its own children, so edges grow much faster.
STEEP_GROWTHS = (1.1, 1.2, 1.35, 1.5, 1.75)
_SAMPLE = 1000


def initial_vectors(hierarchy: Hierarchy, settings: FitSettings) -> NDArray[np.float64]:
    """First vectors (n, dim) of a training with init construct."""
    if settings.objective == "parents":
        vectors = construct(hierarchy, settings.dim, seed=settings.seed, threads=settings.threads).vectors
    else:
        vectors = _steep(hierarchy, settings)
    return dilate_ball(vectors, settings.contract, BALL_RADIUS)[0]


def _steep(hierarchy: Hierarchy, settings: FitSettings) -> NDArray[np.float64]:
    """The construction that does best for all ancestors."""
    scaffold = Scaffold(hierarchy, settings.dim, settings.threads)
    best, best_map = np.zeros((0, 0)), -1.0
    for growth in STEEP_GROWTHS:
        vectors = scaffold.place(Plan(BALL_RADIUS, BALL_RADIUS, growth))
        score = Embedding(vectors, hierarchy).evaluate(
            "ancestors", sample=_SAMPLE, seed=settings.seed, threads=settings.threads
        )
        if not score.map <= best_map:
            best, best_map = vectors, score.map
    return best
