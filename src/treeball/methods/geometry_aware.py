"""The geometry-aware algorithm (Algorithm 1 of the paper).

    for i = 1 to N_epoch:
        compute the local capacity (equation 3)
        if it is not sufficient, dilate (equation 4)
        loss = L_tc with re-weighted closure edges (equation 5) if i <= N_tc, else L (equation 2)
        apply Riemannian gradient descent over the loss

Methods: ``ga-dl`` dilates, ``ga-rw`` uses closure edges in the first N_tc epochs, ``ga-dl-rw`` does both.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..geometry.dilation import dilate_ball
from ..geometry.poincare import radius
from ..workers import thread_count
from .baselines import descent_of
from .capacity import sufficiency
from .descent import Descent, Epochs, Pairs
from .run import Run
from .whole_descent import WholeDescent

# Local capacity moves slowly: it is computed every so many epochs, over at most so many inner nodes.
CHECK_EVERY = 10
CHECK_NODES = 1024


def train(run: Run) -> Iterator[Epochs]:
    """Algorithm 1, from the epoch the run has reached to the last; yields after every few epochs."""
    settings = run.settings
    dilates = settings.method in ("ga-dl", "ga-dl-rw")
    reweights = settings.method in ("ga-rw", "ga-dl-rw")

    plain_loss = descent_of(run.vectors, run.hierarchy, settings)
    closure_loss: Descent | WholeDescent = plain_loss
    if reweights and run.epoch < settings.n_tc:
        pairs = Pairs.with_closure(run.hierarchy, settings)
        closure_loss = Descent(run.vectors, pairs, run.hierarchy, settings)

    while run.epoch < settings.epochs:
        if dilates and _is_due(run):
            _dilate_if_crowded(run)
        loss = closure_loss if run.epoch < settings.n_tc else plain_loss
        yield run.descend(loss, settings.n_tc, settings.dilation_from, _next_check(run))


def _is_due(run: Run) -> bool:
    """Whether local capacity is computed before this epoch: after `dilation_from`, while dilations are left."""
    left = run.settings.dilation_limit - sum("dilated" in entry for entry in run.log)
    waited = run.epoch - run.settings.dilation_from
    return left > 0 and waited >= 0 and waited % CHECK_EVERY == 0


def _next_check(run: Run) -> int:
    waited = max(0, run.epoch - run.settings.dilation_from)
    return run.settings.dilation_from + (waited // CHECK_EVERY + 1) * CHECK_EVERY


def _dilate_if_crowded(run: Run) -> None:
    """Dilate when too many inner nodes have more children than their surroundings have room for."""
    settings = run.settings
    found = sufficiency(
        run.vectors, run.hierarchy, sample=CHECK_NODES, seed=settings.seed, threads=thread_count(settings.threads)
    )
    if found.share <= settings.dilation_share:
        return
    before = float(radius(run.vectors).max())
    run.vectors[:], clamped = dilate_ball(run.vectors, settings.dilation, settings.radius_limit)
    run.clamped += clamped
    after = float(radius(run.vectors).max())
    run.note(
        f"{found}; dilated by {settings.dilation:g}; radius {before:.1f} -> {after:.1f}",
        dilated=settings.dilation,
    )
