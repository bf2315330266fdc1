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

from ..checks import require
from ..embedding import Dilations
from ..geometry.dilation import dilate_ball
from ..geometry.poincare import radius
from ..hierarchy import Hierarchy
from .descent import Epochs
from .dilating import Radii, decide, is_due, next_check
from .first_vectors import place_first
from .pairs import Pairs, require_weights
from .registry import Method
from .run import Run
from .sampled_descent import SampledDescent
from .sufficiency import check
from .training_settings import ClosureSettings, DilationSettings, GeometryAwareSettings

__all__ = ["METHODS", "train"]


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
        if dilates:
            _dilate_if_insufficient(run)
        loss = closure_loss if run.epoch < n_tc else plain_loss
        yield run.descend(loss, n_tc, *([next_check(settings, run.epoch)] if dilates else []))


def _dilate_if_insufficient(run: Run) -> None:
    """Check local capacity if a check is due, and dilate if it is insufficient."""
    settings, state = run.settings, run.dilations or Dilations()
    run.dilations = state
    if not is_due(state, settings, run.epoch):
        return
    found = check(run.vectors, run.hierarchy, settings)
    radii = Radii(float(radius(run.vectors).max()), settings.max_radius)
    decision = decide(state, found, settings, radii, run.epoch)
    run.dilations = decision.state
    if decision.factor is not None:
        run.vectors[:], _ = dilate_ball(run.vectors, decision.factor, settings.max_radius)
    if decision.text is not None:
        run.note(decision.text, **decision.facts)


def _require_time_to_dilate(hierarchy: Hierarchy, settings: DilationSettings) -> None:
    """Refuse a training that ends before its first dilation may come."""
    require_weights(hierarchy, settings)
    require(
        settings.first_dilation < max(1, settings.epochs) or not settings.dilation_limit,
        f"dilation_from is epoch {settings.first_dilation:,}, and the training ends after {settings.epochs:,} epochs: "
        "no dilation would ever come; give a share of the epochs, such as 0.3, or dilation_limit 0",
    )


METHODS = (
    Method("ga-dl", train, settings=DilationSettings, needs=_require_time_to_dilate),
    Method("ga-rw", train, settings=ClosureSettings, needs=require_weights),
    Method("ga-dl-rw", train, settings=GeometryAwareSettings, needs=_require_time_to_dilate),
)
