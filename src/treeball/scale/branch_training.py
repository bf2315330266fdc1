"""Training for the objective ancestors in two steps: the anchors of a folder, and then each branch among them.

A branch is trained as a hierarchy of its own: its nodes and all anchors. The softmax compares its nodes with all of
these, and anchors with its nodes where any are near; only its nodes that are no trunk move.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..engine import SoftmaxSteps, Trained
from ..engine.cpu.engine import CpuEngine
from ..evaluation.ranking import positives_of
from ..geometry import poincare
from ..geometry.dilation import dilate_ball
from ..geometry.spaces import BALL
from ..hierarchy import Hierarchy
from ..limits import BALL_RADIUS
from ..methods.construct import Scaffold
from ..methods.near_lists import nearest_non_positives
from ..methods.run import Run
from ..methods.settings import SoftmaxSettings
from ..methods.softmax import AT_FIRST, RESTART, SPARE, SoftmaxDescent, _first_sharpness, _squeezed_at, train
from ..types import Floats, Ints, Mask
from .anchors import Anchors
from .contracted import Edges, contracted

__all__ = ["Below", "epochs_for", "precision_of", "start_below", "train_all", "train_below"]

# Epochs over the nodes of what is trained in one piece, and bounds of them.
_OVER_NODES, _LEAST_EPOCHS, _MOST_EPOCHS = 50_000_000, 100, 1000
# The construction that a branch starts from is drawn together by this factor.
_DRAWN_TOGETHER = 0.03
# Pieces of it begin so far on the way from the trunk to the middle of their stand-ins.
_TOWARDS = 0.5
# Sums are added up in the order of the workers, so that their number is a part of the result: always the same.
_WORKERS = 8


def epochs_for(nodes: int) -> int:
    """Epochs of a training of so many nodes in one piece, where they were not set."""
    return min(_MOST_EPOCHS, max(_LEAST_EPOCHS, _OVER_NODES // nodes))


def _settings(dim: int, epochs: int, seed: int, workers: int, sharpness: float | None) -> SoftmaxSettings:
    return SoftmaxSettings(
        method="softmax", objective="ancestors", dim=dim, epochs=epochs, seed=seed, threads=workers, device="cpu",
        sharpness=sharpness,
    )  # fmt: skip


def train_all(hierarchy: Hierarchy, dim: int, epochs: int, seed: int) -> tuple[Floats, float]:
    """Vectors (n, dim) of a hierarchy that is trained in one piece, and the sharpness that this began with."""
    run = Run.begin(hierarchy, _settings(dim, epochs, seed, _WORKERS, None))
    for _ in train(run):
        pass
    tried = [entry.facts["sharpness"] for entry in run.log if "sharpness" in entry.facts]
    return run.vectors, tried[-1] if tried else _first_sharpness(hierarchy, dim)


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


def train_below(below: Below, epochs: int, seed: int, sharpness: float) -> Below:
    """The branch after its training; the vectors of all nodes that do not move are byte for byte those of before."""
    dim = below.vectors.shape[1]
    settings = _settings(dim, epochs, seed, 1, sharpness)
    squeezed_at = _squeezed_at(settings)
    least, most = SPARE["ancestors"]
    spare = max(0, min(least, most - dim)) if squeezed_at else 0
    run = Run.begin(below.hierarchy, settings)
    drawn = np.random.default_rng(seed).normal(0.0, AT_FIRST / sharpness, (below.places.size, spare))
    run.vectors = np.hstack([below.vectors, drawn * below.movers[:, None]])
    descent = _Descent(run, sharpness, below.movers)
    while run.epoch < epochs:
        if run.epoch == squeezed_at and run.vectors.shape[1] > dim:
            run.vectors = run.vectors[:, :dim].copy()
            descent = _Descent(run, sharpness, below.movers)
        run.descend(descent, squeezed_at)
    return replace(below, vectors=run.vectors)


class _Descent(SoftmaxDescent):
    """The training of `softmax` in which some nodes move, and others are compared with them where these are near."""

    def __init__(self, run: Run, sharpness: float, movers: Mask) -> None:
        super().__init__(run, sharpness)
        self.movers, self.everyone = movers, self.compared.heads
        self.workers = 1

    def train(self, first_epoch: int, steps: Floats) -> Trained:
        """By :meth:`treeball.engine.Engine.descend_softmax`."""
        if not self.compared.near.size or first_epoch % self._refresh == 0:
            heads = self.everyone
            near = nearest_non_positives(
                *self.space.ranking_coordinates(self.vectors), self.hierarchy, "ancestors", heads.astype(np.int64), 1
            )
            listed = near[heads]
            meets = self.movers[heads] | ((listed >= 0) & self.movers[np.maximum(listed, 0)]).any(axis=1)
            self.compared = self.compared._replace(heads=heads[meets], near=near)
        if first_epoch % RESTART == 0:
            self._steps = 0
            for moment in self._moments:
                moment[:] = 0.0
        before, self._steps = self._steps, self._steps + steps.size
        epochs = np.arange(first_epoch, first_epoch + steps.size)
        return self.engine.descend_softmax(
            self.vectors,
            self._moments,
            self.compared,
            SoftmaxSteps(
                self.sharpness(epochs), self.settings.forgiveness * self.risen(epochs), steps, self.squeeze(epochs)
            ),
            first_epoch=first_epoch,
            steps_before=before,
            negatives=self.settings.negatives,
            bound=self.bound,
            seed=self.settings.seed,
            workers=1,
            movers=self.movers,
        )


def precision_of(below: Below, sample: Ints, threads: int = 1) -> Floats:
    """Average precision of some of the nodes (rows), each ranked among the branch and all anchors."""
    positives = positives_of(sample, below.hierarchy.positives("ancestors"))
    return CpuEngine().rank(*BALL.ranking_coordinates(below.vectors), sample, *positives, threads)[1]
