"""The scores of a table: how they are read from a record, written, and set against the printed ones."""

from __future__ import annotations

from ..experiments.records import Record

__all__ = ["HEADINGS", "MEASURES", "below", "score", "shown", "sign"]

MEASURES = ("map", "mean_rank", "capacity", "intra_subtree", "inter_subtree")
HEADINGS = {
    "map": "MAP",
    "mean_rank": "MR",
    "capacity": "capacity",
    "intra_subtree": "intra",
    "inter_subtree": "inter",
}
_WITH_DECIMALS = ("map", "mean_rank")


def score(record: Record, measure: str) -> float:
    """A score of a run, or ``illness``, all ill pairs; the counts of a sample are scaled to all nodes."""
    scores = record["scores"]
    if measure in _WITH_DECIMALS:
        return float(scores[measure])
    ill = sum(scores["illness"].values()) if measure == "illness" else scores["illness"][measure]
    sampled = scores.get("sampled")
    return float(ill) * (sampled["of"] / sampled["nodes"] if sampled else 1.0)


def shown(measure: str, value: float | None, spread: float | None = None) -> str:
    """A score as a table has it: three decimals, or a whole number of pairs."""
    if value is None:
        return "–"
    form = ".3f" if measure in _WITH_DECIMALS else ",.0f"
    return f"{value:{form}}" if spread is None else f"{value:{form}} ± {spread:{form}}"


def sign(measure: str, value: float, spread: float | None, printed: float | None) -> str:
    """▲ better than printed, ▼ worse, = as good within the spread or the rounding; empty where nothing is printed."""
    if printed is None:
        return ""
    gain = (value - printed) if measure == "map" else (printed - value)
    if abs(gain) <= max(spread or 0.0, 0.0005 if measure in _WITH_DECIMALS else 0.5):
        return "="
    return "▲" if gain > 0 else "▼"


def below(measure: str, value: float, printed: float) -> bool:
    """Whether a score is worse than the printed one, in the digits that are printed."""
    value = round(value, 3 if measure in _WITH_DECIMALS else 0)
    return value < printed if measure == "map" else value > printed
