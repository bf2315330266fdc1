"""What healing did, and its course: the best vectors so far, and how new ones are judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..embedding import Embedding
from ..engine import Device
from ..evaluation import Evaluation
from ..hierarchy import Hierarchy
from ..types import Floats, Objective
from ..words import count

__all__ = ["Course", "Healing"]


@dataclass(frozen=True, repr=False)
class Healing:
    """What healing did.

    Attributes
    ----------
    embedding : the healed embedding; its provenance says what was done, and has the scores after it
    before, after : scores
    moved : how many nodes have a new place; the vectors of all others are byte for byte the old ones
    rounds : how many rounds it took
    """

    embedding: Embedding
    before: Evaluation
    after: Evaluation
    moved: int
    rounds: int

    def __repr__(self) -> str:
        return f"<Healing: {self.note}>"

    @property
    def note(self) -> str:
        """One sentence for the log."""
        before, after = len(self.before.illness), len(self.after.illness)
        return (
            f"healed {count(before, 'ill pair')} to {after:,} by moving {self.moved:,} of {len(self.embedding):,} "
            f"nodes (MAP {self.before.map:.4f} -> {self.after.map:.4f})"
        )

    def to_dict(self) -> dict[str, Any]:
        """The facts, for a model's provenance and for ``treeball heal --json``."""
        return {
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "moved": self.moved,
            "rounds": self.rounds,
        }


class Course:
    """The course of a healing.

    Attributes
    ----------
    hierarchy, objective : what is to be near to what
    vectors : float64 (n, d), the best so far, in the ball
    scores : theirs, exact
    rounds : how often new vectors were judged
    over : whether there were as many rounds as there may be, or somebody who watches has seen enough
    """

    def __init__(
        self,
        embedding: Embedding,
        most_rounds: int,
        threads: int,
        watch: Callable[[int, Evaluation], bool | None] | None,
        device: Device = "auto",
    ) -> None:
        self.hierarchy: Hierarchy = embedding.hierarchy
        self.objective: Objective = embedding.objective
        self.threads = threads
        self._device: Device = device
        self.rounds, self.over = 0, most_rounds == 0
        self._most_rounds, self._watch = most_rounds, watch
        self.vectors: Floats = np.array(embedding.ball())
        self.scores = self.before = self._evaluate(self.vectors)

    @property
    def ill(self) -> int:
        """Ill pairs of the best so far."""
        return len(self.scores.illness)

    def judge(self, vectors: Floats) -> Evaluation:
        """The scores of new vectors, which end a round."""
        scores = self._evaluate(vectors)
        self.rounds += 1
        stopped = self._watch is not None and bool(self._watch(self.rounds, scores))
        self.over = stopped or self.rounds >= self._most_rounds
        return scores

    def keep(self, vectors: Floats, scores: Evaluation) -> None:
        """These are the best so far."""
        self.vectors, self.scores = np.array(vectors), scores

    def _evaluate(self, vectors: Floats) -> Evaluation:
        made = Embedding(vectors, self.hierarchy, "poincare")
        return made.evaluate(self.objective, sample=0, threads=self.threads, device=self._device)
