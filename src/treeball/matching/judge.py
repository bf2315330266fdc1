"""Judging: from evidence to one confidence for each pair, and a few words that say why."""

from __future__ import annotations

import numpy as np

from ..types import Floats
from .evidence import Evidence
from .pairs import Pairs
from .relatives import SURE, Kinship

__all__ = ["confidence_of", "log_odds", "reasons"]

# What each piece of evidence adds to the logarithm of the odds that two nodes are the same. Chosen on one half of the
# nodes of Google's product taxonomy, aligned to Shopify's (docs/align.md); figures are measured on the other half.
_UNRELATED = -7.0
_NAME, _SAME_NAME, _TELLING, _REST = 5.0, 1.5, 2.0, -5.0
_PATH, _BELOW = 2.5, 1.5
_ABOVE, _PARENTS, _NEW_BELOW_PARENTS, _CHILDREN = 2.0, 0.5, 2.5, 1.0
_MOST = 30.0
_SWEEPS = 10


def log_odds(words: Evidence, kin: Kinship) -> Floats:
    """Logarithm of the odds that the two nodes of each pair are the same, as if there were no others; (m,)."""
    return (
        _UNRELATED
        + _NAME * words.name
        + _SAME_NAME * words.same
        + _TELLING * words.telling
        + _REST * words.rest
        + _PATH * words.path
        + _BELOW * words.below
        + _ABOVE * kin.above
        + _PARENTS * kin.parents
        + _NEW_BELOW_PARENTS * kin.parents * words.new
        + _CHILDREN * kin.children
    )


def confidence_of(pairs: Pairs, odds: Floats) -> Floats:
    """Probability of each pair, from 0 to 1, given that a node is the counterpart of one other at most.

    A rival takes from a pair as much as it is free itself: one that is well matched elsewhere leaves the pair alone.
    That is belief propagation for matchings: `free_a` is how free the first node is but for this pair, and `free_b`
    the second. Of equal rivals none has more than one half, so that nothing is answered.

    Parameters
    ----------
    odds
        Logarithms of the odds of each pair by itself, (m,).
    """
    odds = np.exp(np.minimum(odds, _MOST))
    free_a, free_b = np.ones(len(pairs)), np.ones(len(pairs))
    for _ in range(_SWEEPS):
        claim = odds * free_b
        free_a = 1.0 / (1.0 + np.maximum(pairs.sum_by_first(claim) - claim, 0.0))
        claim = odds * free_a
        free_b = 1.0 / (1.0 + np.maximum(pairs.sum_by_second(claim) - claim, 0.0))
    whole = odds * free_a * free_b
    return whole / (1.0 + whole)


def reasons(words: Evidence, kin: Kinship, at: int) -> str:
    """A few words on why two nodes are the same, or may be: what speaks for them, and what against."""
    if words.same[at]:
        said = ["same name"]
    elif words.new[at] > 1.0 - 1e-9 and kin.parents[at] >= SURE:
        said = ["same name but for the parent's words"]
    elif words.name[at] > 1.0 - 1e-9:
        said = ["same words"]
    else:
        said = ["similar name"]
    if kin.parents[at] >= SURE:
        said.append("parents match")
    elif kin.above[at] >= SURE:
        said.append("ancestors match")
    elif kin.above[at] <= -SURE:
        said.append("ancestors differ")
    elif words.path[at] >= 0.5:
        said.append("similar path")
    if words.below[at] >= 0.5:
        said.append("similar children")
    return ", ".join(said)
