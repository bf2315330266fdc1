"""Dilation: Algorithm 1's check of local capacity, as a callback of a user's own training loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from ..checks import require_whole
from ..embedding import Dilations, LogEntry
from ..errors import InputError
from ..methods.dilating import CHECK_EVERY, Radii, decide, is_due
from ..methods.sufficiency import check
from ..methods.training_settings import DilationSettings, SufficiencyRule
from .embedding import HyperbolicEmbedding
from .geometry import dilate, gap, largest_radius, radius

__all__ = ["Dilation"]

FIRST = 300  # epochs before the first check, unless `first` says otherwise


class Dilation:
    """Dilates an embedding when too many children are nearer to each other than to their parent.

    Call it with the number of the epoch, from 0, before every epoch. It returns the factor by which it multiplied the
    radii of all points, or None if it left them where they are. The factor is `factor`, or less where the largest point
    would leave `max_radius`; a dilation with no room left is skipped and counted. The decision goes to the embedding's
    `log`.

    `state_dict` and `load_state_dict` are as those of a learning-rate scheduler: save the state beside that of the
    module and of the optimisers, and a training that goes on dilates as one that was never interrupted.

    Parameters
    ----------
    embedding
        The `HyperbolicEmbedding`.
    optimizers
        Those that move its points: momenta go along, by parallel transport outwards.
    factor, share, limit
        `dilation`, `dilation_share` and `dilation_limit` of :class:`treeball.FitSettings`.
    first
        Number of the first epoch that may dilate.
    rule
        `sufficiency` of those settings: what a lack of local capacity is.
    every
        Epochs between two checks; one compares at most 1,024 nodes with all others.
    max_radius
        Points go no farther than this, by default what their dtype carries.
    seed
        Chooses what is looked at where there is more.

    Attributes
    ----------
    state : Dilations
        Which dilations were done and skipped, and what the last check found.
    """

    def __init__(
        self,
        embedding: HyperbolicEmbedding,
        *optimizers: Any,
        factor: float = DilationSettings.dilation,
        share: float | None = DilationSettings.dilation_share,
        first: int = FIRST,
        limit: int = DilationSettings.dilation_limit,
        rule: SufficiencyRule = DilationSettings.sufficiency,
        every: int = CHECK_EVERY,
        max_radius: float | None = None,
        seed: int = 0,
    ) -> None:
        require_whole("first", first, 0)
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
        self.state = Dilations()

    def __call__(self, epoch: int) -> float | None:
        """Check local capacity if a check is due, and dilate if it is insufficient.

        Returns
        -------
        factor : float or None
            By which all radii were multiplied; None if nothing was dilated.
        """
        if not is_due(self.state, self.settings, epoch, self.every):
            return None
        points = self.embedding.points.detach()
        found = check(points.double().cpu().numpy(), self.embedding.hierarchy, self.settings)
        # Not before now: the dtype of the points may have changed.
        limit = largest_radius(points.dtype, self.max_radius)
        decision = decide(self.state, found, self.settings, Radii(float(radius(points).max()), limit), epoch)
        self.state = self.embedding.dilations = decision.state
        if decision.factor is not None:
            self._dilate(decision.factor, limit)
        if decision.text is not None:
            self.embedding.log.append(LogEntry(epoch, decision.text, decision.facts))
        return decision.factor

    def state_dict(self) -> dict[str, Any]:
        """The state of dilation as plain numbers and lists, which `torch.save` writes."""
        return self.state.to_dict()

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a state that `state_dict` gave; InputError if it is none."""
        try:
            self.state = self.embedding.dilations = Dilations.from_dict(state_dict)
        except ValueError as error:
            raise InputError(f"this is not the state of a Dilation: {error}") from None

    def _dilate(self, factor: float, limit: float) -> None:
        """Move points and momenta."""
        points = self.embedding.points
        with torch.no_grad():
            moved = dilate(points, factor, limit)
            # Transport along a ray through the origin keeps the direction, and the length in hyperbolic units.
            stretch = gap(moved) / gap(points)
            for optimizer in self.optimizers:
                state = optimizer.state.get(points, {})
                for moment in ("momentum_buffer", "exp_avg"):
                    if moment in state:
                        state[moment] *= stretch
            points.copy_(moved)
