"""The method `softmax`: a softmax over all nodes whose sharpness is free, for DAGs and for all ancestors.

With the softmax of equation 2 distances must grow to log n and more to tell n nodes apart. That drives an embedding out
to a radius of 7 and beyond, where hyperbolic space is as stiff as a tree and no node can be near to two parents. A
factor k on distances changes that: with k = 20 the same loss is met within radius 4, where space is nearly flat and a
DAG has the room that it needs. (The same is a softmax with k = 1 in a space of curvature -1/k².)

All nodes move at once, by Adam, in three phases:

1. Untangle. Training starts from a construction drawn together, in some dimensions more than were asked for: what lies
   across something else can go around it there. Then the spare dimensions are squeezed flat one after the other.
2. Sharpen. The sharpness rises eightfold, so that in the end only the nodes count that are nearer than they should be.
   Positives that are hopelessly far are forgiven more and more.
3. Rest. Steps shrink to nothing.

From some sharpness on, which depends on data and dimension, nodes never untangle. That shows early, in the loss: then
the training starts again with a lower one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..engine import Compared, SoftmaxSteps, Trained
from ..geometry.poincare import project
from ..hierarchy import Hierarchy
from ..types import Floats, Mask, Objective
from .descent import Descent, Epochs
from .first_vectors import held_construction
from .near_lists import non_positives_near, refresh_every
from .registry import Method
from .run import Run
from .settings import SoftmaxSettings

__all__ = ["METHODS", "SoftmaxDescent", "first_sharpness", "spare_dimensions", "squeezed_at", "train"]

# Shares of the epochs: after which squeezing begins; after which it ends and sharpness rises; and has risen.
SQUEEZED_FROM, UNTANGLED, RISEN = 0.05, 0.6, 0.8
RISE = 8.0
# What a spare coordinate loses in an epoch, when its turn begins and when it ends; and how large it is at first, in
# units of 1 / sharpness.
LEAST_LOSS, MOST_LOSS, AT_FIRST = 0.001, 0.5, 0.05
# Adam begins anew after so many epochs: a run can be stopped there and resumed with the same end.
RESTART = 20
# The sharpness where nodes have several parents (so many times as many edges as nodes), and in others up to which.
SHARP, SEVERAL_PARENTS = 20.0, 1.1
# The factor to the next sharpness that is tried, and the least. A training of so many epochs or more is looked at after
# some: it is tangled if its loss is above this share of log n, that of nodes all in one place.
LOWER, LEAST = 0.7, 5.0
JUDGED_FROM, JUDGED_AFTER, TANGLED = 600, 200, 0.25
# Dimensions to spare by the objective, and how many there are at most with them.
SPARE = {"parents": (3, 10), "ancestors": (5, 20)}


def train(run: Run) -> Iterator[Epochs]:
    """Descend from the epoch the run has reached to the last; yields after every few epochs."""
    settings = run.settings
    tried = [entry.facts["sharpness"] for entry in run.log if "sharpness" in entry.facts]
    sharpness = settings.sharpness or (tried[-1] if tried else first_sharpness(run.hierarchy, settings.dim))
    squeezed = squeezed_at(settings)
    if not run.epoch:
        _place_first(run, sharpness)
    descent = SoftmaxDescent(run, sharpness)
    while run.epoch < settings.epochs:
        if run.epoch == JUDGED_AFTER and _is_tangled(run, sharpness):
            before, sharpness = sharpness, max(LEAST, LOWER * sharpness)
            run.note(
                f"nodes stay tangled with sharpness {before:.3g} (loss {run.loss:.2f}): again with {sharpness:.3g}",
                sharpness=sharpness,
            )
            run.epoch = 0
            run.trace.clear()
            _place_first(run, sharpness)
            descent = SoftmaxDescent(run, sharpness)
        elif run.epoch == squeezed and run.vectors.shape[1] > settings.dim:
            run.vectors = run.vectors[:, : settings.dim].copy()
            descent = SoftmaxDescent(run, sharpness)
        yield run.descend(descent, JUDGED_AFTER, squeezed)


class SoftmaxDescent(Descent):
    """Runs epochs of the method with a sharpness at the start, changing the vectors of a run in place.

    `movers`, bool (n,), are those that move; by default all do.
    """

    def __init__(self, run: Run, sharpness: float, movers: Mask | None = None) -> None:
        settings, hierarchy = run.settings, run.hierarchy
        self.first_sharpness, self.movers = sharpness, movers
        positives = hierarchy.positives(settings.objective)
        heads = np.flatnonzero(np.diff(positives[0])).astype(np.int32)
        super().__init__(run, heads.size)
        # Relatives have the same nodes near them: one after the other they find them in the cache.
        heads = heads[np.argsort(hierarchy.interval_in[heads])]
        self.left_out: Objective = "ancestors" if settings.open_world else settings.objective
        self.compared = Compared(heads, *positives, *hierarchy.positives(self.left_out), np.empty((0, 0), np.int32))
        self.pairs_per_epoch = positives[1].size
        self._moments = (np.zeros(self.vectors.shape), np.zeros(len(self.vectors)))
        self._steps = 0  # since the moments were zero
        self._refresh = refresh_every(hierarchy.n_nodes)

    def resumes_at(self, epoch: int) -> bool:
        """Only where Adam begins anew, and the lists of nearest nodes are due."""
        return epoch % RESTART == 0 and epoch % self._refresh == 0

    def epochs_per_call(self, epoch: int) -> int:
        """Epochs from this one on until the lists of nearest nodes are due, or Adam begins anew."""
        return min(self._refresh - epoch % self._refresh, RESTART - epoch % RESTART)

    def train(self, first_epoch: int, steps: Floats) -> Trained:
        """By :meth:`treeball.engine.Engine.descend_softmax`."""
        listed = not self.engine.compares_all(*self.vectors.shape)
        if listed and (not self.compared.near.size or first_epoch % self._refresh == 0):
            self.list_nearest()
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
            workers=self.workers,
            movers=self.movers,
        )

    def list_nearest(self) -> None:
        """Make the lists of nearest nodes anew."""
        self.compared = self.compared._replace(near=non_positives_near(self, self.left_out))

    def risen(self, epochs: NDArray[np.signedinteger]) -> Floats:
        """How far sharpness has risen in some epochs, from 0 to 1."""
        return np.asarray(np.clip((epochs / self.settings.epochs - UNTANGLED) / (RISEN - UNTANGLED), 0.0, 1.0))

    def sharpness(self, epochs: NDArray[np.signedinteger]) -> Floats:
        """The factor on distances in some epochs."""
        risen = self.risen(epochs)
        found = np.asarray(self.first_sharpness * RISE**risen)
        # While it rises it may as well be a whole number, where powers of all pairs are products then.
        whole = self.engine.compares_all(*self.vectors.shape)
        return np.where(risen > 0.0, np.rint(found), found) if whole else found

    def steps(self, first_epoch: int, count: int) -> Floats:
        """Lengths of the steps in some epochs: by the root of the sharpness, and to rest in the last ones."""
        epochs = np.arange(first_epoch, first_epoch + count)
        rest = np.clip((1.0 - epochs / self.settings.epochs) / (1.0 - RISEN), 0.0, 1.0)
        return np.asarray(self.settings.lr * rest / np.sqrt(self.first_sharpness * self.sharpness(epochs)))

    def squeeze(self, epochs: NDArray[np.signedinteger]) -> Floats:
        """Factors on the spare coordinates after some epochs, (epochs, spare): the last one goes first."""
        spare = self.vectors.shape[1] - self.settings.dim
        along = (epochs / self.settings.epochs - SQUEEZED_FROM) / (UNTANGLED - SQUEEZED_FROM)
        turn = np.clip(along[:, None] * spare - np.arange(spare)[::-1], 0.0, 1.0)
        return np.where(turn > 0.0, 1.0 - LEAST_LOSS * (MOST_LOSS / LEAST_LOSS) ** turn, 1.0)


def first_sharpness(hierarchy: Hierarchy, dim: int) -> float:
    """What is tried first: DAGs fit the better the sharper; near trees in few dimensions stay tangled sooner."""
    several = hierarchy.n_edges > SEVERAL_PARENTS * hierarchy.n_nodes
    return SHARP if several else min(SHARP, 8.0 + dim / 2)


def squeezed_at(settings: SoftmaxSettings) -> int:
    """The epoch after which there are no spare dimensions any more; 0 in a training too short to have any."""
    return int(UNTANGLED * settings.epochs) // RESTART * RESTART


def spare_dimensions(settings: SoftmaxSettings) -> int:
    """How many dimensions there are to spare."""
    if not squeezed_at(settings):
        return 0
    if settings.spare is not None:
        return settings.spare
    spare, most = SPARE[settings.objective]
    return max(0, min(spare, most - settings.dim))


def _place_first(run: Run, sharpness: float) -> None:
    """Give the run its first vectors, spare coordinates and all."""
    settings, n, spare = run.settings, run.hierarchy.n_nodes, spare_dimensions(run.settings)
    rng = np.random.default_rng(settings.seed)
    if settings.starts_from_construction:
        flat, held = held_construction(run.hierarchy, settings, "parents")
        run.clamped += held
        first = np.hstack([flat, rng.normal(0.0, AT_FIRST / sharpness, (n, spare))])
    else:
        first = run.space.initial(rng, n, settings.dim + spare, 1.0 / sharpness)
    run.vectors = np.asarray(project(first, settings.max_radius)[0])


def _is_tangled(run: Run, sharpness: float) -> bool:
    """Whether a training whose sharpness is ours to choose has not untangled by now, and may with a lower one."""
    ours = run.settings.sharpness is None and run.settings.epochs >= JUDGED_FROM and sharpness > LEAST
    return ours and run.loss is not None and run.loss > TANGLED * math.log(run.hierarchy.n_nodes)


METHODS = (Method("softmax", train, settings=SoftmaxSettings),)
