"""The table of a bench: mean and spread over seeds by dimension and method, the best marked, and what to know of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..words import aligned
from .bench_notes import notes_of
from .bench_settings import BenchPlan
from .records import Record
from .summary import markdown_grid, mean_and_spread

__all__ = ["BenchTable", "row_of", "summarise"]

Row = dict[str, Any]


@dataclass(frozen=True)
class _Measure:
    """A column with mean and spread; `better` is 1 where more is better, -1 where less is, 0 where neither is."""

    name: str
    heading: str
    better: int
    form: str


_SCORES = (
    _Measure("map", "MAP", 1, ".4f"),
    _Measure("mean_rank", "mean rank", -1, ",.3f"),
    _Measure("hits_at_1", "hits@1", 1, ".4f"),
    _Measure("ill", "ill pairs", -1, ",.1f"),
)
_HELD_OUT = (
    _Measure("held_out_map", "held-out MAP", 1, ".4f"),
    _Measure("held_out_mean_rank", "held-out mean rank", -1, ",.3f"),
    _Measure("held_out_hits_at_10", "held-out hits@10", 1, ".4f"),
)
_SECONDS = _Measure("seconds", "seconds", 0, ",.2f")
# What is always in the table, because it is where the terms of methods differ most.
_TERMS = {"epochs": "epochs", "max_radius": "max radius"}
_THE_RUN = ("method", "dim", "seed", "objective")


def row_of(record: Record) -> Row:
    """A run as one flat row: what it was, all its settings, its scores and its cost; None where there is nothing."""
    terms, scores, held = record["terms"], record.get("scores", {}), record.get("held_out", {})
    illness = scores.get("illness")
    settings = dict(record.get("settings", {}))
    row: Row = {**record["job"], "made_by": record.get("made_by")}
    row |= {name: terms[name] for name in ("objective", "split", "share")}
    row |= {name: settings.pop(name, None) for name in _TERMS}
    row |= {"pairs_trained": record.get("pairs_trained"), "not_used": " ".join(record.get("not_used", []))}
    row |= {name: scores.get(name) for name in ("nodes", "edges")} | {"pairs": record.get("pairs")}
    row |= {name: scores.get(name) for name in ("map", "mean_rank", "hits_at_1")}
    row |= {"ill": None if illness is None else sum(illness.values()), **(illness or {})}
    row |= {"sampled_nodes": scores.get("sampled", {}).get("nodes"), "largest_radius": scores.get("max_radius")}
    row |= {
        f"held_out_{name}": held.get(name) for name in ("pairs", "map", "mean_rank", "hits_at_10", "skipped", "known")
    }
    row |= {name: record.get(name) for name in ("seconds", "threads", "clamped")}
    row |= {name: value for name, value in settings.items() if name not in row}
    return row | {name: record.get(name) for name in ("version", "finished", "failure")}


@dataclass(frozen=True, repr=False)
class BenchTable:
    """Lines of figures, and the same as text.

    Attributes
    ----------
    lines
        For each dimension and method its settings and, for every score, ``mean`` and ``spread`` over the seeds.
    headings, cells
        The table as text.
    best
        Which cells are the best of their dimension.
    notes
        Sentences below the table.
    """

    lines: list[Record]
    headings: list[str]
    cells: list[list[str]]
    best: list[list[bool]]
    notes: list[str]

    def marked(self, mark: Callable[[str], str]) -> list[list[str]]:
        """The cells, the best ones changed by `mark`."""
        return [
            [mark(cell) if is_best else cell for cell, is_best in zip(cells, best, strict=True)]
            for cells, best in zip(self.cells, self.best, strict=True)
        ]

    def starred(self) -> list[list[str]]:
        """The cells as plain text, a star at the best ones."""
        return self.marked(lambda cell: f"{cell} *")

    def to_markdown(self) -> str:
        """The table with its notes; the best in bold."""
        grid = markdown_grid(self.headings, self.marked(lambda cell: f"**{cell}**"), left=(1,))
        return grid + "\n\n" + "\n".join(f"- {note}" for note in self.notes) + "\n"

    def __str__(self) -> str:
        return "\n".join(aligned([self.headings, *self.starred()]) + self.notes)

    __repr__ = __str__


def summarise(plan: BenchPlan, rows: Sequence[Row], records: Sequence[Record]) -> BenchTable:
    """The table of finished runs; `rows` and `records` are the same runs."""
    measures = [*_SCORES, *(_HELD_OUT if plan.split != "none" else ()), _SECONDS]
    lines = []
    for dim in plan.dims:
        for method in plan.methods:
            places = [i for i, row in enumerate(rows) if (row["dim"], row["method"]) == (dim, method)]
            if places:
                lines.append(_line([rows[i] for i in places], [records[i] for i in places], measures))
    headings = ["dim", "method", "runs", *(one.heading for one in measures), *_TERMS.values()]
    cells = [_cells(line, measures) for line in lines]
    best = [[False] * len(headings) for _ in lines]
    for dim in plan.dims:
        among = [i for i, line in enumerate(lines) if line["dim"] == dim]
        for column, measure in enumerate(measures, start=3):
            for i in _best(measure, among, lines):
                best[i][column] = True
    return BenchTable(lines, headings, cells, best, notes_of(plan, lines, rows))


def _line(rows: Sequence[Row], records: Sequence[Record], measures: Sequence[_Measure]) -> Record:
    settings: Record = next((record["settings"] for record in records if "settings" in record), {})
    line: Record = {name: rows[0][name] for name in ("dim", "method")}
    line["made_by"] = sorted({row["made_by"] for row in rows if row["made_by"]})
    line["seeds"] = [row["seed"] for row in rows]
    line["failed"] = [row["seed"] for row in rows if row["failure"]]
    line["settings"] = {name: value for name, value in settings.items() if name not in _THE_RUN}
    line["not_used"] = next((record["not_used"] for record in records if "not_used" in record), [])
    for measure in measures:
        values = [float(row[measure.name]) for row in rows if row[measure.name] is not None]
        line[measure.name] = mean_and_spread(values)
    return line


def _cells(line: Record, measures: Sequence[_Measure]) -> list[str]:
    made_by = ", ".join(line["made_by"])
    method = line["method"] if made_by in ("", line["method"]) else f"{line['method']} ({made_by})"
    made, runs = len(line["seeds"]) - len(line["failed"]), len(line["seeds"])
    cells = [str(line["dim"]), method, str(runs) if made == runs else f"{made} of {runs}"]
    cells += [_figure(measure, line[measure.name]) for measure in measures]
    for name in _TERMS:
        value = line["settings"].get(name)
        shown = "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
        cells.append("not used" if name in line["not_used"] else shown)
    return cells


def _figure(measure: _Measure, values: Record) -> str:
    mean, spread = values["mean"], values["spread"]
    if mean is None:
        return "–"
    form = measure.form
    if measure.name == "ill" and float(mean).is_integer() and not spread:
        form = ",.0f"  # pairs are whole
    text = f"{mean:{form}}"
    return text if spread is None else f"{text} ± {spread:{form}}"


def _best(measure: _Measure, among: Sequence[int], lines: Sequence[Record]) -> list[int]:
    """Lines with the best mean as it is printed: what looks the same is marked alike. None if all look the same."""
    means = {i: lines[i][measure.name]["mean"] for i in among if lines[i][measure.name]["mean"] is not None}
    if not measure.better or len(means) < 2:
        return []
    shown = {i: f"{mean:{measure.form}}" for i, mean in means.items()}
    if len(set(shown.values())) == 1:
        return []
    top = max(means, key=lambda i: measure.better * means[i])
    return [i for i in means if shown[i] == shown[top]]
