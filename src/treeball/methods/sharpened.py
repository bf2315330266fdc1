"""The method `sharpened`: training for what MAP counts, in three phases.

1. Form. The hierarchy gets its shape by descent on the softmax, against random nodes (equation 2) or against all; every
   node counts the same, as it does in MAP, however many ancestors it has.
2. Dilate (equation 4): what has formed gets room. A factor of 1 leaves that out.
3. Sharpen. The factor on distances in the softmax over all nodes rises step by step, so that the loss comes to be ruled
   by the few nodes which are nearer than they should be, and these are put in their places.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..geometry.dilation import dilate_ball
from .descent import Descent, Epochs
from .first_vectors import place_first
from .full_descent import FullDescent
from .pairs import Pairs
from .registry import Method
from .run import Run
from .sampled_descent import SampledDescent
from .settings import SharpenedSettings

__all__ = ["METHODS", "train"]

# The sharpness along the third phase, each for an equal share of its epochs, and the step of a pair there.
SHARPNESS = (1, 2, 3, 4, 4)
SHARP_STEP = 0.03
# The nearest nodes decide a sharp softmax, the random ones hardly count.
SHARP_NEGATIVES = 20


def train(run: Run) -> Iterator[Epochs]:
    """All three phases, from the epoch the run has reached to the last; yields after every few epochs."""
    settings, hierarchy = run.settings, run.hierarchy
    sharpen = min(settings.sharpen, settings.epochs // 2)
    sharpen_from = settings.epochs - sharpen
    place_first(run)
    forming: Descent
    forming = FullDescent(run) if settings.full_softmax else SampledDescent(run, Pairs.even(hierarchy, settings))
    while run.epoch < sharpen_from:
        yield run.descend(forming, sharpen_from)
    if sharpen and settings.dilation != 1 and not run.has_noted("dilated"):
        run.vectors[:], clamped = dilate_ball(run.vectors, settings.dilation, settings.max_radius)
        run.clamped += clamped
        run.note(f"dilated by {settings.dilation:g}", dilated=settings.dilation)
    later = settings.replace(lr=SHARP_STEP * settings.batch, negatives=SHARP_NEGATIVES, burn_in=0)
    for part, sharpness in enumerate(SHARPNESS, start=1):
        end = sharpen_from + sharpen * part // len(SHARPNESS)
        if run.epoch < end:
            sharpening = FullDescent(run, sharpness, later)
        while run.epoch < end:
            yield run.descend(sharpening, end)


METHODS = (Method("sharpened", train, settings=SharpenedSettings),)
