"""From stored runs to the lines of a table: means over seeds next to the paper's figures."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from ..experiments.records import Record
from ..experiments.summary import mean_and_spread
from . import paper
from .datasets import Tree
from .measures import MEASURES, below, score, sign
from .recipes import ALL_METHODS, Terms

__all__ = ["GEOMETRY_AWARE", "count_below", "find_line", "lines_of", "of_one_setting", "radius_text"]

GEOMETRY_AWARE = ("ga-dl", "ga-dl-rw")


def lines_of(tree: Tree, records: Sequence[Record]) -> list[Record]:
    """The lines of the table of `tree`; variants, which only figures show, make none."""
    groups: dict[tuple[int, float | None, str, str, str], list[Record]] = {}
    for record in records:
        if not record["variant"]:
            settings = record["settings"]
            key = (settings["dim"], record["radius"], settings["method"], record["label"], record["terms"])
            groups.setdefault(key, []).append(record)
    return [_line(tree, of_one_setting(groups[key])) for key in sorted(groups, key=_place)]


def _place(key: tuple[int, float | None, str, str, str]) -> tuple[object, ...]:
    dim, radius, method, label, terms = key
    order = ALL_METHODS.index(method) if method in ALL_METHODS else len(ALL_METHODS)
    return dim, radius or 0.0, terms != "epochs", order, method, label


def of_one_setting(records: Sequence[Record]) -> list[Record]:
    """Those that share their settings, but for the seed, with the latest: seeds of different settings have no mean."""
    latest = max(records, key=lambda record: str(record["finished"]))
    chosen = [record for record in records if _without_seed(record) == _without_seed(latest)]
    return sorted(chosen, key=lambda record: int(record["settings"]["seed"]))


def _without_seed(record: Record) -> Record:
    return {name: value for name, value in record["settings"].items() if name != "seed"}


def _line(tree: Tree, records: list[Record]) -> Record:
    first, settings = records[0], _without_seed(records[0])
    printed = paper.row(tree.name, settings["method"], settings["dim"])
    line: Record = {
        "dim": settings["dim"],
        "radius": first["radius"],
        "method": settings["method"],
        "label": first["label"],
        "terms": first["terms"],
        "epochs": settings["epochs"],
        "updates": first["updates"],
        "seeds": [record["settings"]["seed"] for record in records],
    }
    for measure in MEASURES:
        values = [score(record, measure) for record in records]
        summed = mean_and_spread(values)
        stated = None if printed is None else getattr(printed, measure)
        compared = sign(measure, summed["mean"], summed["spread"], stated)
        line[measure] = {**summed, "paper": stated, "sign": compared, "values": values}
    line["seconds"] = statistics.fmean(record["seconds"]["training"] for record in records)
    line["sampled"] = next((record["sample"] for record in records if record["scores"].get("sampled")), 0)
    line["trained"] = sorted({_where(record) for record in records})
    line["versions"] = sorted({record["version"] for record in records})
    line["dilations"] = [record["dilations"] for record in records]
    line["settings"] = settings
    return line


def find_line(
    lines: Iterable[Record], dim: int, radius: float, method: str, terms: Terms = "epochs", label: str = ""
) -> Record | None:
    """The line with these terms, or None."""
    wanted = (dim, radius, method, terms, label)
    names = ("dim", "radius", "method", "terms", "label")
    return next((line for line in lines if tuple(line[name] for name in names) == wanted), None)


def count_below(lines: Iterable[Record], measure: str, radius: float) -> tuple[int, int, int]:
    """Geometry-aware lines at a radius that are below print, those of them that are by more than the spread, and all.

    On equal epochs, and of the plain lines alone, so that every printed figure counts once.
    """
    rows = [
        line[measure]
        for line in lines
        if line["method"] in GEOMETRY_AWARE and line["radius"] == radius and line[measure]["paper"] is not None
        if line["terms"] == "epochs" and not line["label"]
    ]
    worse = [row for row in rows if below(measure, row["mean"], row["paper"])]
    return len(worse), sum(row["sign"] == "▼" for row in worse), len(rows)


def radius_text(radius: float | None) -> str:
    """A radius as tables have it."""
    return "–" if radius is None else f"{radius:.3g}"


def _where(record: Record) -> str:
    """On what a run was trained: with so many threads, or on a card, and how many ran beside each other."""
    threads = record["threads"]
    card = record.get("device", "cpu")
    place = f"with {threads} thread{'s' if threads > 1 else ''}" if card == "cpu" else f"on one {card}"
    at_once = record.get("at_once", 1)
    return place if at_once == 1 else f"{place}, {at_once} runs at once"
