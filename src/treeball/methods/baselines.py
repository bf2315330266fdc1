"""The published trainers: Poincaré (Nickel & Kiela 2017), Lorentz (Nickel & Kiela 2018) and Euclidean embeddings.

All three draw first vectors close to the origin and descend on the loss of equation 2; they differ in the geometry.
"""

from __future__ import annotations

from collections.abc import Iterator

from .descent import Epochs
from .first_vectors import place_first
from .pairs import Pairs, require_weights
from .registry import Method
from .run import Run
from .sampled_descent import SampledDescent
from .training_settings import BaselineSettings, EuclideanSettings, OutsideBallSettings

__all__ = ["METHODS", "train"]


def train(run: Run) -> Iterator[Epochs]:
    """Descend from the epoch the run has reached to the last; yields after every few epochs."""
    place_first(run)
    descent = SampledDescent(run, Pairs.of(run.hierarchy, run.settings))
    while run.epoch < run.settings.epochs:
        yield run.descend(descent)


METHODS = (
    Method("poincare", train, settings=BaselineSettings, needs=require_weights),
    Method("lorentz", train, space="lorentz", settings=OutsideBallSettings, needs=require_weights),
    Method("euclidean", train, space="euclidean", settings=EuclideanSettings, needs=require_weights),
)
