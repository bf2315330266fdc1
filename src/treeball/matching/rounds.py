"""Rounds: words alone judge first; then what is surely matched speaks for its relatives, again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..types import Floats, Mask
from .calibration import calibrated
from .candidates import by_children, by_names
from .evidence import Evidence, words_say
from .judge import confidence_of, log_odds
from .pairs import Pairs
from .relatives import SURE, Kinship, relatives_say
from .side import Side

__all__ = ["Judged", "judge_all"]

_ROUNDS = 4


@dataclass(frozen=True)
class Judged:
    """All candidates and what is thought of them.

    Attributes
    ----------
    pairs, confidence, given
        The candidates, how confident each is, (m,), and whether it is an anchor, (m,).
    words, kin
        Why.
    """

    pairs: Pairs
    confidence: Floats
    given: Mask
    words: Evidence
    kin: Kinship


def judge_all(a: Side, b: Side, anchors: Pairs, told: Callable[[str], None]) -> Judged:
    """Find candidates and judge them; anchors are certain, and their nodes have no other counterpart."""
    told("looking for candidates")
    pairs = _with_anchors(by_names(a, b), anchors)
    words, kin = words_say(a, b, pairs), Kinship.unknown(len(pairs))
    given = anchors.find(pairs.first, pairs.second) >= 0
    confidence = _judged(pairs, words, kin, given)
    for number in range(1, _ROUNDS + 1):
        told(f"asking relatives, round {number} of {_ROUNDS}")
        more = _with_anchors(pairs.joined(by_children(a, b, pairs.where(confidence >= SURE))), anchors)
        if len(more) > len(pairs):
            known = np.zeros(len(more))
            known[more.find(pairs.first, pairs.second)] = confidence
            pairs, confidence, words = more, known, words_say(a, b, more)
            given = anchors.find(pairs.first, pairs.second) >= 0
        kin = relatives_say(a.hierarchy, b.hierarchy, pairs, confidence)
        confidence = _judged(pairs, words, kin, given)
    confidence = calibrated(a.hierarchy, b.hierarchy, pairs, words, kin, confidence, given)
    return Judged(pairs, confidence, given, words, kin)


def _with_anchors(pairs: Pairs, anchors: Pairs) -> Pairs:
    """The anchors, and of the other pairs those that have no node in common with one."""
    free = ~(np.isin(pairs.first, anchors.first) | np.isin(pairs.second, anchors.second))
    return pairs.where(free).joined(anchors)


def _judged(pairs: Pairs, words: Evidence, kin: Kinship, given: Mask) -> Floats:
    odds = np.where(given, -np.inf, log_odds(words, kin))  # several anchors may share a node, and are no rivals
    return np.where(given, 1.0, confidence_of(pairs, odds))
