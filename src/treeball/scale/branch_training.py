"""Training of a folder in two steps: its anchors, and then each branch among them.

A branch is trained as a hierarchy of its own: its nodes and all anchors. The softmax compares its nodes with all of
these, and anchors with its nodes where any are near; only its nodes that are no trunk move.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..engine.cpu.engine import CpuEngine
from ..evaluation.ranking import positives_of
from ..geometry import poincare
from ..geometry.dilation import dilate_ball
from ..geometry.spaces import BALL
from ..hierarchy import Hierarchy
from ..limits import BALL_RADIUS
from ..methods import fit
from ..methods.auto import Choice
from ..methods.construct import Scaffold
from ..methods.near_lists import nearest_non_positives
from ..methods.progress import TrainingProgress
from ..methods.run import Run
from ..methods.settings import SoftmaxSettings
from ..methods.softmax import AT_FIRST, SoftmaxDescent, first_sharpness, spare_dimensions, squeezed_at, train
from ..types import Floats, Ints, Mask, Objective
from .anchors import Anchors
from .contracted import Edges, contracted

__all__ = ["Below", "precision_of", "start_below", "train_below", "train_together", "train_whole"]

# The construction that a branch starts from is drawn together by this factor.
_DRAWN_TOGETHER = 0.03
# Pieces of it begin so far on the way from the trunk to the middle of their stand-ins.
_TOWARDS = 0.5


def train_together(hierarchy: Hierarchy, settings: SoftmaxSettings) -> tuple[Floats, float]:
    """Vectors (n, dim) of a hierarchy that is trained in one piece, and the sharpness that this began with."""
    run = Run.begin(hierarchy, settings)
    with TrainingProgress(settings.epochs) as line:
        for done in train(run):
            line.see(run, done)
    tried = [entry.facts["sharpness"] for entry in run.log if "sharpness" in entry.facts]
    return run.vectors, tried[-1] if tried else first_sharpness(hierarchy, settings.dim)


def train_whole(hierarchy: Hierarchy, settings: SoftmaxSettings) -> Floats:
    """Vectors (n, dim) of a hierarchy that is one branch, as on a single machine: it is healed, too."""
    reason = "a folder of one branch is trained in one piece"
    return fit(hierarchy, Choice(settings, [reason]), progress=True, scores=False).vectors


@dataclass(frozen=True)
class Below:
    """A branch and all anchors, before or after its training.

    Attributes
    ----------
    places : int64 (n,), ascending
    hierarchy : of these
    movers : bool (n,), those of the branch that are no trunk
    vectors : float64 (n, d)
    """

    places: Ints
    hierarchy: Hierarchy
    movers: Mask
    vectors: Floats


def start_below(anchors: Anchors, edges: Edges, first: int, last: int, virtual: bool) -> Below:
    """A branch where its training begins: a construction drawn together, every piece of it below its node of the trunk.

    A piece lies on the way from that node to the middle of those that stood in for it, where the anchors have left room
    for it. The stand-ins themselves go back to their relatives: from where they were trained they do not untangle.
    """
    places = np.union1d(anchors.places, np.arange(first, last))
    hierarchy = contracted(edges, places, virtual)
    dim = anchors.vectors.shape[1]
    known = np.searchsorted(places, anchors.places)
    vectors = np.zeros((places.size, dim))
    vectors[known] = anchors.vectors
    fixed = np.zeros(places.size, bool)
    fixed[known] = anchors.fixed
    movers = ~fixed & (places >= first) & (places < last)
    # The nearest node that stays above each of its nodes, and the one below that.
    settled, anchor, top = ~movers, np.arange(places.size), np.arange(places.size)
    while (waiting := ~settled[anchor]).any():
        top[waiting] = anchor[waiting]
        anchor[waiting] = hierarchy.primary_parent[anchor[waiting]]
    scaffold = Scaffold(hierarchy, dim, 1)
    flat = dilate_ball(scaffold.place(next(scaffold.plans())), _DRAWN_TOGETHER, BALL_RADIUS)[0]
    stand_ins = known[movers[known]]
    middle, has = _middles(vectors[stand_ins], top[stand_ins], places.size)
    led = movers & has[top]
    begin, around = vectors[anchor], np.where(led, top, anchor)
    begin[led] = poincare.geodesic(begin[led], middle[top[led]], _TOWARDS)
    vectors[movers] = poincare.mobius_add(begin, poincare.recentre(flat, flat[around]))[movers]
    return Below(places, hierarchy, movers, vectors)


def _middles(points: Floats, group: Ints, groups: int) -> tuple[Floats, Mask]:
    """The middle of the points (m, d) of each group by Einstein's sum, (groups, d), and which groups have any."""
    square = np.einsum("ij,ij->i", points, points)
    weight = (1.0 + square) / (1.0 - square)
    total = np.bincount(group, weight, groups)
    has = total > 0.0
    klein: Floats = np.column_stack(
        [np.bincount(group, weight * 2.0 * column / (1.0 + square), groups) for column in points.T]
    )
    klein[has] = klein[has] / total[has, None]
    rim = np.maximum(1.0 - np.einsum("ij,ij->i", klein, klein), 0.0)
    return klein / (1.0 + np.sqrt(rim))[:, None], has


def train_below(below: Below, settings: SoftmaxSettings) -> Below:
    """The branch after its training; the vectors of all nodes that do not move are byte for byte those of before."""
    assert settings.sharpness is not None, "a branch is trained at the sharpness of its anchors"
    spare, squeezed = spare_dimensions(settings), squeezed_at(settings)
    run = Run.begin(below.hierarchy, settings)
    shape = below.places.size, spare
    drawn = np.random.default_rng(settings.seed).normal(0.0, AT_FIRST / settings.sharpness, shape)
    run.vectors = np.hstack([below.vectors, drawn * below.movers[:, None]])
    descent = _Descent(run, settings.sharpness, below.movers)
    while run.epoch < settings.epochs:
        if run.epoch == squeezed and run.vectors.shape[1] > settings.dim:
            run.vectors = run.vectors[:, : settings.dim].copy()
            descent = _Descent(run, settings.sharpness, below.movers)
        run.descend(descent, squeezed)
    return replace(below, vectors=run.vectors)


class _Descent(SoftmaxDescent):
    """The training of `softmax` in which some nodes move, and others are compared with them where these are near."""

    def __init__(self, run: Run, sharpness: float, movers: Mask) -> None:
        super().__init__(run, sharpness, movers)
        self._moves, self._everyone = movers, self.compared.heads
        self.workers = 1

    def list_nearest(self) -> None:
        """Make the lists anew; who does not move is compared with others only where some of its nearest do."""
        heads = self._everyone
        near = nearest_non_positives(
            *self.space.ranking_coordinates(self.vectors), self.hierarchy, self.left_out, heads.astype(np.int64), 1
        )
        listed = near[heads]
        meets = self._moves[heads] | ((listed >= 0) & self._moves[np.maximum(listed, 0)]).any(axis=1)
        self.compared = self.compared._replace(heads=heads[meets], near=near)


def precision_of(below: Below, objective: Objective, sample: Ints, threads: int = 1) -> Floats:
    """Average precision of some of the nodes (rows), each ranked among the branch and all anchors."""
    positives = positives_of(sample, below.hierarchy.positives(objective))
    return CpuEngine().rank(*BALL.ranking_coordinates(below.vectors), sample, *positives, threads)[1]
