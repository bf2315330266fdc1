"""What is lost when float64 vectors are stored as float32: measured, not assumed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...geometry import poincare
from ...limits import PLACED_RADIUS, TIE
from ...nearest import nearest_nodes
from ...types import Kind
from ...words import json_number

if TYPE_CHECKING:
    from ...embedding import Embedding

__all__ = ["PrecisionLoss", "loss_of_wide_drawings", "measure_loss", "rounding_sentence", "to_float32"]

SAMPLE = 1_000
NEIGHBORS = 10


@dataclass(frozen=True)
class PrecisionLoss:
    """How float32 changes who is nearer to whom.

    For each of some random nodes A, its nearest nodes are taken in float64. A *pair* is two of them, X nearer to A than
    Y by more than one part in 10^9 (siblings are often equally far, up to rounding); its order *changes* when, with the
    rounded vectors, X is no longer nearer. Distances are computed in float64 either way, so that this is the loss of
    storing alone.

    Attributes
    ----------
    sources, neighbors
        How many nodes A were looked at, and how many of the nearest nodes of each.
    pairs, changed
        How many pairs, and for how many of them the order changes.
    hits_at_1, margin
        Before and after: the share of those nodes A whose nearest node is a positive, and the smallest ratio of the
        distances to the nearest non-positive and to the farthest positive (above 1: none of them is ill).
    moved_median, moved_most
        Hyperbolic distance between a node and its rounded self.
    pulled_in
        Nodes that rounding put on or beyond the rim of the ball; they were moved inside by one part in four million.
    """

    sources: int
    neighbors: int
    pairs: int
    changed: int
    hits_at_1: tuple[float, float]
    margin: tuple[float, float]
    moved_median: float
    moved_most: float
    pulled_in: int

    @property
    def share(self) -> float:
        """Share of pairs whose order changes."""
        return self.changed / self.pairs if self.pairs else 0.0

    def sentence(self) -> str:
        """For a person."""
        text = (
            f"float32 changes the order of {self.share:.2%} of {self.pairs:,} pairs (of the {self.neighbors} nearest "
            f"nodes of {self.sources:,} nodes; two that are equally far to one part in 10^9 do not count); hits@1 "
            f"{self.hits_at_1[0]:.4f} -> {self.hits_at_1[1]:.4f}, smallest margin {self.margin[0]:.4g} -> "
            f"{self.margin[1]:.4g}; nodes move by {self.moved_median:.2g}, at most {self.moved_most:.2g}"
        )
        if self.pulled_in:
            text += f"; {self.pulled_in:,} nodes had to be pulled in from the rim of the ball, where float32 ends"
        return text

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON, which has neither NaN nor infinity: null stands for them."""
        return {
            "sources": self.sources,
            "neighbors": self.neighbors,
            "pairs": self.pairs,
            "order_changes": self.share,
            "hits_at_1": [json_number(value) for value in self.hits_at_1],
            "margin": [json_number(value) for value in self.margin],
            "moved_median": self.moved_median,
            "moved_most": self.moved_most,
            "pulled_in": self.pulled_in,
        }


def to_float32(values: NDArray[np.float64], kind: Kind) -> tuple[NDArray[np.float32], int]:
    """Rounded vectors, and how many of them had to be pulled back into the ball."""
    rounded = values.astype(np.float32)
    if kind != "ball":
        return rounded, 0
    outside = ~(poincare.one_minus_square(rounded) > 0.0)
    rounded[outside] = (values[outside] * (1.0 - 2.0**-22)).astype(np.float32)
    return rounded, int(outside.sum())


def rounding_sentence(precise: Embedding, rounded: Embedding, seed: int = 0) -> str:
    """What is lost when coordinates of several terms are rounded to one, for a person."""
    scores = [embedding.evaluate(sample=SAMPLE, seed=seed) for embedding in (precise, rounded)]
    limit = precise.space.held_beyond
    held = int((precise.radii() > limit).sum())
    text = (
        f"coordinates of {precise.precision} terms are rounded to float64: hits@1 {scores[0].hits_at_1:.4f} -> "
        f"{scores[1].hits_at_1:.4f}, MAP {scores[0].map:.4f} -> {scores[1].map:.4f}"
    )
    if len(precise) > SAMPLE:
        text += f" (of a sample of {SAMPLE:,} nodes)"
    if held:
        text += f"; {held:,} nodes are held at radius {limit:g}, beyond which the ball has no places in float64"
    return text


def measure_loss(before: Embedding, after: Embedding, pulled_in: int, seed: int = 0) -> PrecisionLoss:
    """Compare an embedding with its rounded self on a sample of nodes."""
    n = len(before)
    sources = np.sort(np.random.default_rng(seed).choice(n, min(n, SAMPLE), replace=False))
    near = nearest_nodes(before, sources, min(NEIGHBORS, max(1, n - 1)))
    there = near >= 0
    old, new = (
        np.where(there, embedding.distances_between(sources[:, None], near), math.inf) for embedding in (before, after)
    )
    first, second = np.triu_indices(near.shape[1], 1)
    order = np.argsort(old, axis=1, kind="stable")
    old, new = np.take_along_axis(old, order, 1), np.take_along_axis(new, order, 1)
    ordered = (old[:, first] * (1.0 + TIE) < old[:, second]) & np.isfinite(old[:, second])
    changed = ordered & (new[:, first] >= new[:, second])
    scores = [embedding.evaluate(sample=SAMPLE, seed=seed) for embedding in (before, after)]
    moved = np.asarray(before.space.distance(before.vectors, after.vectors))
    return PrecisionLoss(
        sources=int(sources.size),
        neighbors=int(near.shape[1]),
        pairs=int(ordered.sum()),
        changed=int(changed.sum()),
        hits_at_1=(scores[0].hits_at_1, scores[1].hits_at_1),
        margin=(scores[0].ranking.margin, scores[1].ranking.margin),
        moved_median=float(np.median(moved)),
        moved_most=float(moved.max()),
        pulled_in=pulled_in,
    )


def loss_of_wide_drawings(embedding: Embedding, kind: Kind) -> str:
    """One sentence if nodes lie farther out than other coordinates than the half-space's keep their places; or none."""
    if embedding.space.name != "half-space" or kind == "half-space":
        return ""
    beyond = int((embedding.radii() > PLACED_RADIUS).sum())
    if not beyond:
        return ""
    return (
        f"{beyond:,} of {len(embedding):,} nodes are beyond radius {PLACED_RADIUS:g}, where places in {kind} "
        "coordinates end: their distances are not those of the model; choose half-space coordinates, which keep them"
    )
