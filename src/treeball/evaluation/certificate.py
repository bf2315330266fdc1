"""What an exact evaluation without any ill pair has shown, in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..types import Objective

__all__ = ["Certificate"]

_SCALES = ((1e15, "quadrillion"), (1e12, "trillion"), (1e9, "billion"), (1e6, "million"))


@dataclass(frozen=True)
class Certificate:
    """Every positive was compared with every other node, and is nearer than any non-positive.

    Attributes
    ----------
    pairs
        Ordered pairs (A, X) of a node with a positive and another node: all were compared, or ruled out by a bound.
    margin
        Smallest ratio, over all A, of the distances to the nearest non-positive and to the farthest positive: above 1;
        inf when no node has a non-positive.
    """

    pairs: int
    margin: float
    objective: Objective = "parents"
    is_tree: bool = True

    @classmethod
    def of_scores(cls, scores: Mapping[str, Any] | None) -> Certificate | None:
        """The one in the scores that a model file carries, or None."""
        if not scores or not scores.get("certificate"):
            return None
        shown = scores["certificate"]
        margin = math.inf if shown["margin"] is None else shown["margin"]
        return cls(shown["pairs"], margin, scores["objective"], scores["edges"] == scores["nodes"] - 1)

    def sentence(self) -> str:
        """For a person."""
        claim = "every parent is the nearest node"
        if not self.is_tree:
            claim = "every parent of every node is nearer than any other node"
        if self.objective == "ancestors":
            claim = "every ancestor of every node is nearer than any other node"
        text = f"{claim}: verified exactly over {_rounded(self.pairs)} pair{'' if self.pairs == 1 else 's'}"
        if math.isfinite(self.margin):
            text += f"; the runner-up is at least {_rounded_down(self.margin)} times as far"
        return text

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON, which has no infinity: null stands for it."""
        return {"pairs": self.pairs, "margin": self.margin if math.isfinite(self.margin) else None}


def _rounded(number: int) -> str:
    for scale, name in _SCALES:
        if number >= scale:
            return f"{number / scale:.1f} {name}"
    return f"{number:,}"


def _rounded_down(margin: float) -> str:
    """Two decimals, or as many as show that the margin exceeds 1; never more than it is."""
    digits = 2 if margin >= 1.01 else min(15, math.ceil(-math.log10(max(margin - 1.0, 1e-15))))
    return f"{math.floor(margin * 10**digits) / 10**digits:.{digits}f}"
