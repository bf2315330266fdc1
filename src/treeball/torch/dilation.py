"""Dilation: Algorithm 1's check of local capacity, as a callback of a user's own training loop."""

from __future__ import annotations

from typing import Any

import torch

from ..embedding import LogEntry
from ..errors import InputError
from ..methods.geometry_aware import CHECK_EVERY
from ..methods.sufficiency import check
from ..methods.training_settings import DilationSettings, SufficiencyRule
from .embedding import HyperbolicEmbedding
from .geometry import dilate, gap, largest_radius, radius

__all__ = ["Dilation"]


class Dilation:
    """Dilates an embedding when too many children are nearer to each other than to their parent.

    Call it with the number of the epoch, from 0, before every epoch; it returns the factor by which the points were
    dilated, or None. The decision goes to the embedding's `log`.

    Parameters
    ----------
    embedding
        The `HyperbolicEmbedding`.
    optimizers
        Those that move its points: momenta go along, by parallel transport outwards.
    factor, share, first, limit
        `dilation`, `dilation_share`, `dilation_from` and `dilation_limit` of :class:`treeball.FitSettings`.
    rule
        `sufficiency` of those settings: what a lack of local capacity is.
    every
        Epochs between two checks; one compares at most 1,024 nodes with all others.
    max_radius
        Points go no farther than this, by default what their dtype carries.
    seed
        Chooses what is looked at where there is more.
    """

    def __init__(
        self,
        embedding: HyperbolicEmbedding,
        *optimizers: Any,
        factor: float = DilationSettings.dilation,
        share: float | None = DilationSettings.dilation_share,
        first: int = DilationSettings.dilation_from,
        limit: int = DilationSettings.dilation_limit,
        rule: SufficiencyRule = DilationSettings.sufficiency,
        every: int = CHECK_EVERY,
        max_radius: float | None = None,
        seed: int = 0,
    ) -> None:
        self.settings = DilationSettings(
            method="ga-dl", dilation=factor, dilation_share=share, dilation_from=first, dilation_limit=limit,
            sufficiency=rule, seed=seed, threads=1,
        )  # fmt: skip
        largest_radius(embedding.points.dtype, max_radius)
        if every < 1:
            raise InputError(f"checks must be at least 1 epoch apart, not {every}")
        self.embedding = embedding
        self.optimizers = optimizers
        self.every = every
        self.max_radius = max_radius
        self.done = 0
        self.dilating = False

    def __call__(self, epoch: int) -> float | None:
        """Check, if it is time for it, and dilate, if need be."""
        settings = self.settings
        waited = epoch - settings.dilation_from
        if self.done >= settings.dilation_limit or waited < 0 or waited % self.every:
            return None
        vectors = self.embedding.points.detach().double().cpu().numpy()
        found = check(vectors, self.embedding.hierarchy, settings)
        self.dilating = found.exceeds(settings.largest_lack, self.dilating)
        if not self.dilating:
            return None
        # Not before now: the dtype of the points may have changed.
        limit = largest_radius(self.embedding.points.dtype, self.max_radius)
        self.done += 1
        before, after, held = self._dilate(limit)
        text = f"{found}; dilated by {settings.dilation:g}; radius {before:.1f} -> {after:.1f}"
        if held:
            text += f"; {held:,} points held back at radius {limit:g}"
        self.embedding.log.append(LogEntry(epoch, text, {"dilated": settings.dilation}))
        return settings.dilation

    def _dilate(self, limit: float) -> tuple[float, float, int]:
        """Move points and momenta; largest radius before and after, and how many points were held back."""
        points, factor = self.embedding.points, self.settings.dilation
        with torch.no_grad():
            radii = radius(points)
            moved = dilate(points, factor, limit)
            # Transport along a ray through the origin keeps the direction, and the length in hyperbolic units.
            stretch = gap(moved) / gap(points)
            for optimizer in self.optimizers:
                state = optimizer.state.get(points, {})
                for moment in ("momentum_buffer", "exp_avg"):
                    if moment in state:
                        state[moment] *= stretch
            points.copy_(moved)
        held = int((factor * radii > limit).sum())
        return float(radii.max()), float(radius(points.detach()).max()), held
