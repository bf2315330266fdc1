"""When to dilate, and by how much: the decision of Algorithm 1, for `geometry_aware` and for `treeball.torch`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..embedding import Dilations
from .sufficiency import Crowding, Sufficiency
from .training_settings import DilationSettings

__all__ = ["CHECK_EVERY", "Decision", "Radii", "decide", "is_due", "next_check"]

CHECK_EVERY = 10  # epochs between two checks: local capacity changes slowly
# A dilation by less than this has no room left: it would only move vectors to the largest radius.
LEAST_FACTOR = 1.05


class Radii(NamedTuple):
    """The largest radius of all vectors, and the largest that they may have."""

    largest: float
    limit: float


class Decision(NamedTuple):
    """What follows from a check.

    Attributes
    ----------
    state : the state of dilation from here on
    factor : by which to dilate; None if nothing is dilated
    text, facts : what to log; None if nothing is to be logged
    """

    state: Dilations
    factor: float | None
    text: str | None = None
    facts: Mapping[str, Any] = {}


def is_due(state: Dilations, settings: DilationSettings, epoch: int, every: int = CHECK_EVERY) -> bool:
    """Whether local capacity is checked before this epoch: from `dilation_from` on, while dilations are left."""
    waited = epoch - settings.first_dilation
    return state.done < settings.dilation_limit and waited >= 0 and waited % every == 0


def next_check(settings: DilationSettings, epoch: int) -> int:
    """The first epoch after this one that may begin with a check."""
    first = settings.first_dilation
    return first if epoch < first else first + ((epoch - first) // CHECK_EVERY + 1) * CHECK_EVERY


def decide(
    state: Dilations, found: Crowding | Sufficiency, settings: DilationSettings, radii: Radii, epoch: int
) -> Decision:
    """Dilate if local capacity is insufficient, as far as the largest radius allows.

    A dilation multiplies all radii by one factor, which no vector may exceed the limit by: where the factor of the
    settings is too large, the largest one that fits takes its place. If nearly nothing fits, the dilation is skipped
    and counted.
    """
    after = state.checked(found.share, found.exceeds(settings.largest_lack, state.is_lacking))
    if not after.is_lacking:
        text = f"{found}; room enough" if state.is_lacking else None
        return Decision(after, None, text, {"sufficient": found.share})
    factor = min(settings.dilation, radii.limit / max(radii.largest, 1e-300))
    if factor < min(settings.dilation, LEAST_FACTOR):
        text = f"{found}; not dilated: the largest radius, {radii.limit:.1f}, leaves no room for a dilation"
        is_first = state.last_skipped is None or not state.is_lacking
        after = after.skipped_at(epoch)
        return Decision(after, None, text if is_first else None, {"skipped": after.skipped})
    text = f"{found}; dilated by {factor:.3g}; radius {radii.largest:.1f} -> {radii.largest * factor:.1f}"
    if factor < settings.dilation:
        text += f", as far as the largest radius allows, and not by {settings.dilation:g}"
    return Decision(after.dilated(epoch, factor), factor, text, {"dilated": factor})
