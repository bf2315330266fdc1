"""The tables as Markdown, CSV and JSON: all that the reproduction says, made of records and of nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..experiments.records import Record, csv_text, read_json, write_json, write_text
from ..experiments.summary import markdown_grid
from ..words import count
from .ablations import bars_of, claims_markdown
from .datasets import TREES, Tree
from .gains import below_markdown, gains, gains_markdown
from .lines import count_below, lines_of, radius_text
from .measures import HEADINGS, MEASURES, shown
from .recipes import RADII
from .settings_text import settings_text
from .store import read_records

__all__ = ["Stored", "blocks", "gather", "markdown", "statistics_markdown", "table_csv", "write_tables"]

_SHAPE = ("nodes", "edges", "max_degree", "std_degree", "std_degree_inner", "depth")
_SHAPE_HEADINGS = ("nodes", "edges", "largest degree", "std of degree", "over inner nodes", "depth")


@dataclass(frozen=True)
class Stored:
    """What tables are made of: the records and the shape of every tree, by its name."""

    records: Mapping[str, Sequence[Record]]
    shapes: Mapping[str, Record]


def gather(out: Path) -> Stored:
    """All that is stored below `out` and that today's code would make."""
    records = {name: found for name in TREES if (found := read_records(out, name))}
    shapes = {name: shape for name in TREES if (shape := read_json(out / "trees" / f"{name}.json")) is not None}
    return Stored(records, shapes)


def write_tables(out: Path) -> list[Path]:
    """Write all that stored runs tell to the folder ``tables``; returns the Markdown files."""
    folder = out / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    stored = gather(out)
    lines = _lines(stored)
    for name, table in lines.items():
        write_text(folder / f"{name}.csv", table_csv(table))
        write_json(folder / f"{name}.json", {"tree": name, "title": TREES[name].title, "lines": table})
    shapes = _shapes(stored)
    if shapes:
        write_text(folder / "statistics.csv", csv_text(("data set", "source", *_SHAPE), map(_shape_cells, shapes)))
    if lines:
        write_json(folder / "gains.json", gains(lines))
    return [write_text(folder / f"{name}.md", text) for name, text in blocks(stored).items()]


def blocks(stored: Stored) -> dict[str, str]:
    """Every block of Markdown by name: a table for each tree, and what they say together."""
    lines = _lines(stored)
    said = {name: markdown(TREES[name], table) for name, table in lines.items()}
    said["below-print"] = below_markdown(lines)
    said["gains"] = gains_markdown(gains(lines))
    sizes = {
        count(stored.shapes[name]["nodes"], "node") if name in stored.shapes else TREES[name].title: bars_of(records)
        for name, records in stored.records.items()
        if TREES[name].dataset == "synthetic"
    }
    said["ablations"] = claims_markdown(sizes)
    shapes = _shapes(stored)
    if shapes:
        said["statistics"] = statistics_markdown(shapes)
    return {name: text for name, text in said.items() if text}


def _lines(stored: Stored) -> dict[str, list[Record]]:
    return {name: lines for name, records in stored.records.items() if (lines := lines_of(TREES[name], records))}


# ---- one table ----


def markdown(tree: Tree, lines: Sequence[Record]) -> str:
    """The table, how to read it, the settings, what the methods decided."""
    measures = [name for measure in MEASURES for name in (HEADINGS[measure], "paper")]
    headings = ("dim", "radius", "method", "equal", "epochs", "updates", *measures, "seeds", "seconds")
    parts = [
        f"**{tree.title}.** {tree.note}",
        markdown_grid(headings, [_markdown_row(line) for line in lines], left=(2, 3)),
        _remarks(lines),
        *_below(lines),
        settings_text(lines),
        *_dilations(lines),
    ]
    return "\n\n".join(parts) + "\n"


def table_csv(lines: Sequence[Record]) -> str:
    """One line for each of the table; figures unrounded, empty where there is none."""
    own = ("dim", "radius", "method", "label", "terms", "epochs", "updates")
    keys = ("mean", "spread", "paper", "sign")
    names = [measure if key == "mean" else f"{measure}_{key}" for measure in MEASURES for key in keys]
    rows = [
        [
            *(line[name] for name in own),
            " ".join(map(str, line["seeds"])),
            *(line[measure][key] for measure in MEASURES for key in keys),
            line["seconds"],
        ]
        for line in lines
    ]
    return csv_text((*own, "seeds", *names, "seconds"), rows)


def _markdown_row(line: Record) -> list[str]:
    method = f"{line['method']} ({line['label']})" if line["label"] else line["method"]
    cells = [str(line["dim"]), radius_text(line["radius"]), method, line["terms"]]
    cells += [f"{line['epochs']:,}", _many(line["updates"])]
    for measure in MEASURES:
        one = line[measure]
        approx = "≈ " if line["sampled"] and measure not in ("mean_rank", "map") else ""
        cells.append(f"{approx}{shown(measure, one['mean'], one['spread'])} {one['sign']}".strip())
        cells.append(shown(measure, one["paper"]))
    return [*cells, str(len(line["seeds"])), f"{line['seconds']:.1f}"]


def _many(number: int) -> str:
    return f"{number / 1e6:,.1f} M" if number >= 1e6 else f"{number / 1e3:,.0f} k"


def _remarks(lines: Sequence[Record]) -> str:
    said = [
        "Columns headed *paper* are the printed figures: ▲ is better than printed, ▼ worse, = as good within the "
        "spread or the rounding."
    ]
    if any(len(line["seeds"]) > 1 for line in lines):
        said.append("Means over the seeds ± standard deviation of a run.")
    if any(line["terms"] == "updates" for line in lines):
        said.append("Lines of equal updates visit as many pairs as ga-dl-rw of that radius, whose epochs are longer.")
    if any(line["radius"] is None for line in lines):
        said.append("Flat space has no largest radius.")
    sampled = max((line["sampled"] for line in lines), default=0)
    if sampled:
        said.append(f"Scores from {sampled:,} random nodes; illness counts marked ≈ are scaled to all nodes.")
    trained = " or ".join(sorted({one for line in lines for one in line["trained"]}))
    versions = sorted({version for line in lines for version in line["versions"]})
    said.append(f"Seconds are those of training one model {trained} (treeball {', '.join(versions)}).")
    return " ".join(said)


def _below(lines: Sequence[Record]) -> list[str]:
    said = []
    for radius in [one for one in RADII if any(line["radius"] == one for line in lines)]:
        (maps, _, of_maps), (ranks, _, of_ranks) = (count_below(lines, name, radius) for name in ("map", "mean_rank"))
        if of_maps:
            rank = f", {ranks} of {of_ranks} in MR" if of_ranks else ""
            said.append(f"at radius {radius_text(radius)} {maps} of {of_maps} in MAP{rank}")
    return [f"Geometry-aware lines below print: {'; '.join(said)}."] if said else []


def _dilations(lines: Sequence[Record]) -> list[str]:
    said = []
    for line in lines:
        if any(line["dilations"]):
            when = [
                f"{' '.join(f'{epoch:,}' for epoch in epochs) or 'never'} (seed {seed})"
                for seed, epochs in zip(line["seeds"], line["dilations"], strict=True)
            ]
            same = len({tuple(epochs) for epochs in line["dilations"]}) == 1
            who = f"{line['method']} {line['label']}".strip()
            terms = ", equal updates" if line["terms"] == "updates" else ""
            place = f"{who}, d={line['dim']}, radius {radius_text(line['radius'])}{terms}"
            said.append(f"- {place}: {when[0].split(' (')[0] if same else ', '.join(when)}")
    return ["Epochs after which the methods dilated:\n\n" + "\n".join(said)] if said else []


# ---- table of data sets ----


def _shapes(stored: Stored) -> list[Record]:
    """Ours and the paper's figures for every tree that was ever loaded."""
    shapes: list[Record] = []
    for name, ours in stored.shapes.items():
        tree = TREES[name]
        named = {"tree": name, "title": tree.title}
        if tree.shape is not None:
            printed = {one: getattr(tree.shape, one, None) for one in _SHAPE}
            shapes.append({**named, "source": "paper", **printed})
        shapes.append({**named, "source": "ours", **ours})
    return shapes


def _shape_cells(shape: Record) -> list[Any]:
    return [shape["tree"], shape["source"], *(shape.get(name) for name in _SHAPE)]


def statistics_markdown(shapes: Sequence[Record]) -> str:
    """The table of data sets, the paper's line above ours."""
    rows = []
    for shape in shapes:
        values = [shape.get(name) for name in _SHAPE]
        texts = ["–" if v is None else f"{v:,.1f}" if isinstance(v, float) else f"{v:,}" for v in values]
        rows.append([shape["title"], shape["source"], *texts])
    return markdown_grid(("data set", "", *_SHAPE_HEADINGS), rows, left=(0, 1)) + "\n"
