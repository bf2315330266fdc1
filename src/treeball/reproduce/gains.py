"""What each part of the paper's method gains by itself: the same radius, the same terms, the same seeds.

A gain is the mean over seeds of the difference between two runs of one seed, which begin with the same vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..experiments.records import Record
from ..experiments.summary import markdown_grid, mean_and_spread
from ..limits import BALL_RADIUS, PUBLISHED_RADIUS
from .datasets import TREES
from .lines import count_below, find_line, radius_text
from .measures import HEADINGS
from .recipes import Terms

__all__ = ["below_markdown", "gains", "gains_markdown"]

Lines = Mapping[str, Sequence[Record]]
_MEASURES = ("map", "mean_rank")


@dataclass(frozen=True)
class _Side:
    method: str
    terms: Terms = "epochs"
    radius: float | None = None


@dataclass(frozen=True)
class _Part:
    """Two lines of a table that differ in one thing; a side without a radius has that of the comparison."""

    name: str
    of: _Side
    over: _Side

    @property
    def has_radius(self) -> bool:
        """Whether it is made at one radius."""
        return self.of.radius is None


_PARTS = (
    _Part(
        "radius 30 instead of 12.2", _Side("poincare", radius=BALL_RADIUS), _Side("poincare", radius=PUBLISHED_RADIUS)
    ),
    _Part("dilation", _Side("ga-dl"), _Side("poincare")),
    _Part("re-weighting, equal epochs", _Side("ga-dl-rw"), _Side("ga-dl")),
    _Part("re-weighting, equal updates", _Side("ga-dl-rw"), _Side("ga-dl", "updates")),
    _Part("both, equal updates", _Side("ga-dl-rw"), _Side("poincare", "updates")),
)


def gains(lines: Lines) -> list[Record]:
    """Every gain that stored lines tell: tree, dimension, part, radius (None for that of the radius itself), measure.

    Where closure edges are edges of the data anyway, equal epochs are equal updates.
    """
    found = []
    for tree, table in lines.items():
        for dim in sorted({line["dim"] for line in table}):
            for part in _PARTS:
                for radius in (PUBLISHED_RADIUS, BALL_RADIUS) if part.has_radius else (None,):
                    pair = [_find(table, dim, side, radius) for side in (part.of, part.over)]
                    if pair[0] is not None and pair[1] is not None:
                        found += [
                            {"tree": tree, "dim": dim, "part": part.name, "radius": radius, "measure": measure, **gain}
                            for measure in _MEASURES
                            if (gain := _gain(pair[0], pair[1], measure)) is not None
                        ]
    return found


def _find(table: Sequence[Record], dim: int, side: _Side, radius: float | None) -> Record | None:
    at = radius if side.radius is None else side.radius
    assert at is not None
    found = find_line(table, dim, at, side.method, side.terms)
    if found is None and side.terms == "updates":
        usual = find_line(table, dim, at, side.method)
        reference = find_line(table, dim, at, "ga-dl-rw")
        if usual is not None and reference is not None and usual["updates"] == reference["updates"]:
            return usual
    return found


def _gain(of: Record, over: Record, measure: str) -> Record | None:
    """Mean and spread of the differences of the seeds that both have, and whether it is for the better."""
    pairs = [dict(zip(line["seeds"], line[measure]["values"], strict=True)) for line in (of, over)]
    seeds = sorted(pairs[0].keys() & pairs[1].keys())
    if not seeds:
        return None
    summed = mean_and_spread([pairs[0][seed] - pairs[1][seed] for seed in seeds])
    better = summed["mean"] * (1 if measure == "map" else -1)
    least = max(summed["spread"] or 0.0, 0.0005)
    return {**summed, "seeds": seeds, "verdict": "=" if abs(better) <= least else "▲" if better > 0 else "▼"}


def gains_markdown(found: Sequence[Record]) -> str:
    """A table of gains in MAP and one in MR, and a sentence for each part that counts them."""
    if not found:
        return ""
    columns = [
        (part.name, radius)
        for part in _PARTS
        for radius in ((PUBLISHED_RADIUS, BALL_RADIUS) if part.has_radius else (None,))
    ]
    headings = [name if radius is None else f"{name}, at {radius_text(radius)}" for name, radius in columns]
    parts = [_counts(found)]
    for measure in _MEASURES:
        rows = []
        for tree in dict.fromkeys(one["tree"] for one in found):
            for dim in sorted({one["dim"] for one in found if one["tree"] == tree}):
                cells = {
                    (one["part"], one["radius"]): one
                    for one in found
                    if (one["tree"], one["dim"], one["measure"]) == (tree, dim, measure)
                }
                shown = [_cell(cells.get(column)) for column in columns]
                rows.append([TREES[tree].title, str(dim), *shown])
        parts.append(f"Gain in {HEADINGS[measure]}" + (" (below 0 is better):" if measure == "mean_rank" else ":"))
        parts.append(markdown_grid(("data set", "dim", *headings), rows, left=(0,)))
    return "\n\n".join(parts) + "\n"


def _cell(gain: Record | None) -> str:
    if gain is None:
        return "–"
    spread = "" if gain["spread"] is None else f" ± {gain['spread']:.3f}"
    return f"{gain['mean']:+.3f}{spread} {gain['verdict']}"


def _counts(found: Sequence[Record]) -> str:
    """How often each part helps, harms, or does nothing that exceeds the spread."""
    said = []
    for part in _PARTS:
        words = []
        for measure in _MEASURES:
            verdicts = [one["verdict"] for one in found if (one["part"], one["measure"]) == (part.name, measure)]
            if verdicts:
                tally = ", ".join(
                    f"{word} in {verdicts.count(mark)}"
                    for mark, word in (("▲", "better"), ("▼", "worse"), ("=", "within the spread"))
                )
                words.append(f"{HEADINGS[measure]} {tally} of {len(verdicts)}")
        if words:
            said.append(f"- {part.name[0].upper()}{part.name[1:]}: {'; '.join(words)}.")
    return "\n".join(said)


def below_markdown(lines: Lines) -> str:
    """How many lines of `ga-dl` and `ga-dl-rw` are below print, at each radius."""
    every = [line for table in lines.values() for line in table]
    rows = []
    for radius in sorted({line["radius"] for line in every if line["radius"] is not None}):
        cells = []
        for measure in _MEASURES:
            worse, clearly, of = count_below(every, measure, radius)
            cells.append(f"{worse} of {of} ({clearly} by more than the spread)")
        rows.append([radius_text(radius), *cells])
    if not rows:
        return ""
    return markdown_grid(("radius", "MAP below print", "MR above print"), rows, left=(1, 2)) + "\n"
