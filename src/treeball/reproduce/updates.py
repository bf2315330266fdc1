"""How much work a training is: the pairs that it visits, and how many epochs of another one are as much."""

from __future__ import annotations

from functools import lru_cache

from ..hierarchy import Hierarchy
from ..methods.pairs import Pairs
from ..methods.training_settings import ClosureSettings, TrainingSettings

__all__ = ["Work"]


class Work:
    """Counts the updates of trainings on one hierarchy: every visit of a positive pair is one."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        # Seeds, dimensions and radii share the pairs, and those of a closure are many to count.
        self._with_closure = lru_cache(maxsize=None)(self._count_with_closure)

    def updates(self, settings: TrainingSettings) -> int:
        """Updates of all epochs; those with closure edges have more."""
        plain = self._plain(settings)
        if not isinstance(settings, ClosureSettings):
            return settings.epochs * plain
        longer = min(settings.n_tc, settings.epochs)
        usual = settings.replace(seed=0, dim=2, epochs=1)
        return longer * (self._with_closure(usual) if longer else 0) + (settings.epochs - longer) * plain

    def equal_epochs(self, settings: TrainingSettings) -> int:
        """Epochs without closure edges that come closest to the updates of a training."""
        return max(1, round(self.updates(settings) / max(1, self._plain(settings))))

    def _plain(self, settings: TrainingSettings) -> int:
        return int(self.hierarchy.positives(settings.objective)[1].size)

    def _count_with_closure(self, settings: ClosureSettings) -> int:
        return int(Pairs.with_closure(self.hierarchy, settings).heads.size)
