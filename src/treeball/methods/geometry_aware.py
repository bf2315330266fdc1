"""The geometry-aware algorithm (Algorithm 1 of the paper).

    for i = 1 to N_epoch:
        compute the local capacity (equation 3)
        if it is not sufficient, dilate (equation 6)
        loss = L_tc with re-weighted closure edges (equation 7) if i <= N_tc, else L (equation 2)
        apply Riemannian gradient descent over the loss

Methods: ``ga-dl`` dilates, ``ga-rw`` uses closure edges in the first N_tc epochs, ``ga-dl-rw`` does both.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..geometry.dilation import dilate_ball
from ..geometry.poincare import radius
from .descent import Epochs
from .first_vectors import place_first
from .pairs import Pairs, require_weights
from .registry import Method
from .run import Run
from .sampled_descent import SampledDescent
from .sufficiency import check
from .training_settings import ClosureSettings, DilationSettings, GeometryAwareSettings

__all__ = ["METHODS", "train"]

# Local capacity moves slowly: it is computed every so many epochs.
CHECK_EVERY = 10


def train(run: Run) -> Iterator[Epochs]:
    """Algorithm 1, from the epoch the run has reached to the last; yields after every few epochs."""
    settings = run.settings
    dilates = isinstance(settings, DilationSettings)
    n_tc = settings.n_tc if isinstance(settings, ClosureSettings) else 0

    place_first(run)
    plain_loss = closure_loss = SampledDescent(run, Pairs.of(run.hierarchy, settings))
    if run.epoch < n_tc:
        closure_loss = SampledDescent(run, Pairs.with_closure(run.hierarchy, settings))

    while run.epoch < settings.epochs:
        if dilates and _is_due(run):
            _dilate_if_crowded(run)
        loss = closure_loss if run.epoch < n_tc else plain_loss
        yield run.descend(loss, n_tc, *([_next_check(run)] if dilates else []))


def _is_due(run: Run) -> bool:
    """Whether local capacity is computed before this epoch: after `dilation_from`, while dilations are left."""
    left: int = run.settings.dilation_limit - run.has_noted("dilated")
    waited: int = run.epoch - run.settings.dilation_from
    return left > 0 and waited >= 0 and waited % CHECK_EVERY == 0


def _next_check(run: Run) -> int:
    first: int = run.settings.dilation_from
    waited = run.epoch - first
    return first if waited < 0 else first + (waited // CHECK_EVERY + 1) * CHECK_EVERY


def _dilate_if_crowded(run: Run) -> None:
    """Dilate when too many children are nearer to each other than to their parent, or by the paper's rule."""
    settings = run.settings
    found = check(run.vectors, run.hierarchy, settings)
    dilating = bool(run.log) and "dilated" in run.log[-1].facts
    if not found.exceeds(settings.largest_lack, dilating):
        if dilating:
            run.note(f"{found}; room enough", sufficient=found.share)
        return
    before = float(radius(run.vectors).max())
    run.vectors[:], clamped = dilate_ball(run.vectors, settings.dilation, settings.max_radius)
    run.clamped += clamped
    after = float(radius(run.vectors).max())
    run.note(
        f"{found}; dilated by {settings.dilation:g}; radius {before:.1f} -> {after:.1f}",
        dilated=settings.dilation,
    )


METHODS = (
    Method("ga-dl", train, settings=DilationSettings, needs=require_weights),
    Method("ga-rw", train, settings=ClosureSettings, needs=require_weights),
    Method("ga-dl-rw", train, settings=GeometryAwareSettings, needs=require_weights),
)
