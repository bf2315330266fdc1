"""Pair classification: telling held-out pairs (node, ancestor) from corrupted ones by a score and a threshold."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import require_choice, require_whole
from ..errors import InputError
from ..types import Floats, Ints
from ._corrupted import Truth, corrupted_pairs
from .pair_scores import PAIR_SCORES

if TYPE_CHECKING:
    from ..embedding import Embedding

__all__ = ["Classification", "ScoredPairs", "classify"]

Pairs = tuple[Ints, Ints]


@dataclass(frozen=True)
class ScoredPairs:
    """How well one score tells held-out pairs from corrupted ones.

    Attributes
    ----------
    auc
        Area under the ROC curve: the share of (held-out, corrupted) in which the held-out pair has the higher score;
        ties count half.
    average_precision
    threshold
        Pairs with a score of at least this are taken for true: the threshold with the best F1 on the validation pairs
        and their own corrupted ones. None, as all that follows, without validation pairs.
    validation_f1
    f1, precision, recall
        Of the held-out pairs, by that threshold.
    """

    auc: float
    average_precision: float
    threshold: float | None = None
    validation_f1: float | None = None
    f1: float | None = None
    precision: float | None = None
    recall: float | None = None


@dataclass(frozen=True, repr=False)
class Classification:
    """How well scores of pairs tell held-out pairs from corrupted ones.

    Attributes
    ----------
    score
        Name of the score that counts: the one asked for, or of all the one with the best F1 on the validation pairs.
        None when it was left to be chosen and there are no validation pairs to choose by.
    by_score
        What each score gives.
    pairs, corrupted_pairs
        How many were told apart.
    validation_pairs
        How many the thresholds were chosen on, corrupted ones not counted.
    """

    score: str | None
    by_score: dict[str, ScoredPairs]
    pairs: int
    corrupted_pairs: int
    validation_pairs: int = 0

    def __repr__(self) -> str:
        best = self.best
        if best is None or best.f1 is None:
            return f"<Classification: {', '.join(f'AUC {one.auc:.4f} by {n}' for n, one in self.by_score.items())}>"
        return f"<Classification: F1 {best.f1:.4f}, AUC {best.auc:.4f} by {self.score}>"

    @property
    def best(self) -> ScoredPairs | None:
        """What the score that counts gives."""
        return None if self.score is None else self.by_score[self.score]

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON."""
        return {
            "score": self.score,
            "pairs": self.pairs,
            "corrupted_pairs": self.corrupted_pairs,
            "validation_pairs": self.validation_pairs,
            **({} if self.best is None else asdict(self.best)),
            "by_score": {name: asdict(one) for name, one in self.by_score.items()},
        }

    def rows(self) -> list[tuple[str, str]]:
        """A table for a person."""
        rows = [("classified", f"{self.pairs:,} held-out pairs against {self.corrupted_pairs:,} corrupted ones")]
        best = self.best
        if best is not None and best.f1 is not None:
            how = f"by {self.score}, threshold {best.threshold:.4g} from {self.validation_pairs:,} validation pairs"
            rows.append(("F1", f"{best.f1:.4f} {how}"))
            rows.append(("precision, recall", f"{best.precision:.4f}, {best.recall:.4f}"))
            rows.append(("AUC, average precision", f"{best.auc:.4f}, {best.average_precision:.4f}"))
            others = [(name, one) for name, one in self.by_score.items() if name != self.score]
            rows += [(f"  by {name}", f"F1 {one.f1:.4f}, AUC {one.auc:.4f}") for name, one in others]
            return rows
        rows += [("AUC", f"{one.auc:.4f} by {name}") for name, one in self.by_score.items()]
        rows.append(("F1", "needs a threshold: give the pairs to choose it on with --validation (treeball split)"))
        return rows


def classify(
    embedding: Embedding,
    held_out: Pairs,
    validation: Pairs | None = None,
    *,
    score: str = "auto",
    corrupted: int = 10,
    seed: int = 0,
) -> Classification | None:
    """Tell held-out pairs, codes (nodes, ancestors), from `corrupted` others each; see `evaluate_held_out`.

    None when no pair of a part can be corrupted, for every other node makes a true pair with either end.
    """
    require_choice("score", score, ("auto", *PAIR_SCORES))
    require_whole("corrupted", corrupted, 1)
    require_whole("seed", seed, 0)
    given = [held_out] if validation is None else [held_out, validation]
    truth = Truth(embedding.hierarchy, *(np.concatenate(side) for side in zip(*given, strict=True)))
    # Each part has numbers of its own: what is told apart does not depend on what is validated.
    streams = np.random.default_rng(seed).spawn(2)
    false = [corrupted_pairs(truth, *pairs, corrupted, rng) for pairs, rng in zip(given, streams, strict=False)]
    if not all(pairs[0].size for pairs in false):
        return None
    names = PAIR_SCORES if score == "auto" else (score,)
    by_score = {}
    for name in names:
        parts = [
            (_scores(embedding, name, *true), _scores(embedding, name, *wrong))
            for true, wrong in zip(given, false, strict=True)
        ]
        by_score[name] = scored(*parts)
    chosen: str | None = score
    if score == "auto":
        chosen = None if validation is None else max(by_score, key=lambda name: by_score[name].validation_f1 or 0.0)
    return Classification(
        chosen, by_score, held_out[0].size, false[0][0].size, 0 if validation is None else validation[0].size
    )


def _scores(embedding: Embedding, name: str, node: Ints, ancestor: Ints) -> Floats:
    values = np.asarray(PAIR_SCORES[name](embedding, node, ancestor), np.float64)
    if values.shape != node.shape or np.isnan(values).any():
        raise InputError(f"the score {name!r} must give a number for each of {node.size:,} pairs")
    return values


# ---- the figures, from the scores of true and of false pairs ----


def scored(held_out: tuple[Floats, Floats], validation: tuple[Floats, Floats] | None = None) -> ScoredPairs:
    """All figures from the scores of (true, false) pairs."""
    areas = auc(*held_out), average_precision(*held_out)
    if validation is None:
        return ScoredPairs(*areas)
    threshold, best = best_threshold(*validation)
    true, false = ((part >= threshold).sum() for part in held_out)
    return ScoredPairs(
        *areas,
        threshold,
        best,
        f1=float(2 * true / (true + false + held_out[0].size)),
        precision=float(true / (true + false)) if true + false else 0.0,
        recall=float(true / held_out[0].size),
    )


def auc(true: Floats, false: Floats) -> float:
    """Share of all (true, false) in which the true one has the higher score; ties count half."""
    ordered = np.sort(false)
    below = np.searchsorted(ordered, true, side="left") + np.searchsorted(ordered, true, side="right")
    return float(below.mean() / (2 * false.size))


def average_precision(true: Floats, false: Floats) -> float:
    """Sum of the precisions at every threshold, weighted by the recall each adds."""
    _, hits, taken = _taken(true, false)
    return float((np.diff(hits, prepend=0) * hits / taken).sum() / true.size)


def best_threshold(true: Floats, false: Floats) -> tuple[float, float]:
    """The threshold with the best F1, and that F1; half way to the next score below, so that it lies in the gap."""
    values, hits, taken = _taken(true, false)
    f1 = 2 * hits / (taken + true.size)
    best = int(np.argmax(f1))
    threshold = float(values[best])
    if best + 1 < values.size:
        middle = (threshold + float(values[best + 1])) / 2
        threshold = middle if middle > values[best + 1] else threshold  # there may be no number in between
    return threshold, float(f1[best])


def _taken(true: Floats, false: Floats) -> tuple[Floats, Ints, Ints]:
    """Every score there is, the highest first, and how many true and how many pairs in all have at least that."""
    values, place = np.unique(-np.concatenate([true, false]), return_inverse=True)
    hits = np.bincount(place[: true.size], minlength=values.size)
    return -values, np.cumsum(hits), np.cumsum(np.bincount(place))
