"""Calibration: how often equal names and broader nodes are right between these two hierarchies, without a reference.

Both are learned from the pairs themselves. Of a pair of nodes that alone have a name, the ancestors say something that
the name does not: matched ancestors agree for nearly all true pairs, and for false ones as often as for random pairs.
From the share that agrees follows the share that is true.
"""

from __future__ import annotations

import numpy as np

from ..hierarchy import Hierarchy
from ..types import Floats, Ints, Mask
from .evidence import Evidence
from .pairs import Pairs
from .relatives import SURE, Kinship, ancestors_say

__all__ = ["broader_share", "calibrated"]

_LEAST_PAIRS = 20  # fewer agreements than this tell no share
_PRIOR_PAIRS = 30  # pairs that the constants of judge.py weigh as much as
_PRIOR_BELOW = 5  # matched nodes below an ancestor that the share of all weighs as much as
_LIKE_CHILDREN = 0.5
_STEPS = 40  # halvings: more than a float64 needs between -20 and 20


def calibrated(
    a: Hierarchy, b: Hierarchy, pairs: Pairs, words: Evidence, kin: Kinship, confidence: Floats, given: Mask
) -> Floats:
    """Confidence (m,) in which pairs of nodes that alone have a name are as sure as such pairs are true here."""
    alone = _alone(pairs, words) & ~given & (pairs.first != a.root)
    agree, differ = kin.above >= SURE, kin.above <= -SURE
    share = _true_share(a, b, pairs, confidence, alone, (words.below >= _LIKE_CHILDREN) | (kin.children > 0), kin)
    if share is None:
        return confidence
    true, by_chance = share
    result = confidence.copy()
    for group, target in ((alone & agree, true / (true + (1 - true) * by_chance)), (alone & ~agree & ~differ, true)):
        number = np.count_nonzero(group)
        if number:
            weight = number / (number + _PRIOR_PAIRS)
            mean = weight * target + (1 - weight) * float(confidence[group].mean())
            result[group] = _with_mean(confidence[group], mean)
    return _without_rivals(pairs, alone, confidence, result)


def broader_share(a: Hierarchy, b: Hierarchy, above: Ints, counterpart: Ints) -> Floats:
    """Share (n,) of the matched nodes below each node, nearest first, whose counterparts are below its counterpart.

    Parameters
    ----------
    above
        Nearest matched ancestor (n,) of each node of `a`, or -1.
    counterpart
        Node of `b` (n,) that each node of `a` is matched to, or -1.
    """
    told = np.flatnonzero((counterpart >= 0) & (above >= 0))
    is_below = b.is_ancestor(counterpart[above[told]], counterpart[told]).astype(np.float64)
    number = np.bincount(above[told], minlength=a.n_nodes)
    right = np.bincount(above[told], is_below, minlength=a.n_nodes)
    overall = (is_below.sum() + 0.5) / (told.size + 1.0)
    return np.asarray((right + _PRIOR_BELOW * overall) / (number + _PRIOR_BELOW), np.float64)


def _alone(pairs: Pairs, words: Evidence) -> Mask:
    """Pairs of the same name that no other pair of their nodes has."""
    same = words.same
    return np.asarray((same == 1) & (pairs.sum_by_first(same) == 1) & (pairs.sum_by_second(same) == 1), np.bool_)


def _true_share(
    a: Hierarchy, b: Hierarchy, pairs: Pairs, confidence: Floats, alone: Mask, like_children: Mask, kin: Kinship
) -> tuple[float, float] | None:
    """Share of the pairs in `alone` that is true, and how often ancestors agree by chance; None if too few tell."""
    told = alone & (np.abs(kin.above) >= SURE)
    if min(np.count_nonzero(told), np.count_nonzero(told & like_children)) < _LEAST_PAIRS:
        return None
    first, second = pairs.first[alone], np.random.default_rng(0).permutation(pairs.second[alone])
    by_chance = _agreement(ancestors_say(a, b, pairs, confidence, first, second))
    if_true = _agreement(kin.above[told & like_children])
    if if_true - by_chance < 0.1:  # ancestors tell nothing here
        return None
    share = (_agreement(kin.above[told]) - by_chance) / (if_true - by_chance)
    return float(np.clip(share, 0.0, 0.999)), by_chance


def _agreement(above: Floats) -> float:
    """Share of those that ancestors speak of in which they agree, with half a pair more on either side."""
    agree, differ = np.count_nonzero(above > 0), np.count_nonzero(above < 0)
    return (agree + 0.5) / (agree + differ + 1.0)


def _with_mean(confidence: Floats, mean: float) -> Floats:
    """Confidence with its logarithm of the odds moved by one number, so that it has this mean."""
    clipped = np.clip(confidence, 1e-9, 1 - 1e-9)
    odds = np.log(clipped / (1 - clipped))
    low, high = -20.0, 20.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if np.mean(1 / (1 + np.exp(-odds - middle))) < mean else (low, middle)
    return np.asarray(1 / (1 + np.exp(-odds - low)), np.float64)


def _without_rivals(pairs: Pairs, changed: Mask, before: Floats, after: Floats) -> Floats:
    """`after`, with what the changed pairs gained or lost taken from or left to their rivals."""
    left = np.where(changed, np.log((1 - after + 1e-12) / (1 - before + 1e-12)), 0.0)
    factor = np.exp(np.minimum(pairs.sum_by_first(left), 0.0) + np.minimum(pairs.sum_by_second(left), 0.0))
    return np.where(changed, after, after * factor)
