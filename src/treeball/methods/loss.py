"""Which loss a training descends on: equation 2 against random nodes, or the softmax over all of them."""

from __future__ import annotations

from .descent import Descent
from .full_descent import FullDescent
from .pairs import Pairs
from .run import Run
from .sampled_descent import SampledDescent

__all__ = ["descent_of"]


def descent_of(run: Run) -> Descent:
    """Descent on the loss that the settings of a run ask for."""
    if run.settings.full_softmax:
        return FullDescent(run)
    return SampledDescent(run, Pairs.of(run.hierarchy, run.settings))
