"""The tables as Markdown, CSV and JSON, and their way into the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..experiments.records import Record, csv_text, read_json, write_json, write_text
from ..experiments.summary import markdown_grid, settings_by_value
from .datasets import TREES, Tree
from .runner import read_records
from .summary import MEASURES, summarise

_HEADINGS = {
    "mean_rank": "MR",
    "map": "MAP",
    "capacity": "capacity",
    "intra_subtree": "intra",
    "inter_subtree": "inter",
}
_SHAPE = ("nodes", "edges", "max_degree", "std_degree", "std_degree_inner", "depth")
_SHAPE_HEADINGS = ("nodes", "edges", "largest degree", "std of degree", "over inner nodes", "depth")
_NOT_COMMON = ("method", "dim", "objective")


def write_tables(out: Path, trees: Iterable[Tree]) -> list[Path]:
    """Write the table of every tree that has a stored run, and the table of data sets, to the folder ``tables``."""
    folder = out / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for tree in trees:
        records = read_records(out, tree.name)
        if not records:
            continue
        table = summarise(tree, records)
        written.append(write_text(folder / f"{tree.name}.md", markdown(table)))
        write_text(folder / f"{tree.name}.csv", table_csv(table))
        write_json(folder / f"{tree.name}.json", table)
    shapes = _shapes(out)
    if shapes:
        written.append(write_text(folder / "statistics.md", statistics_markdown(shapes)))
        write_text(folder / "statistics.csv", csv_text(("data set", "source", *_SHAPE), map(_shape_cells, shapes)))
        write_json(folder / "statistics.json", shapes)
    return written


# ---- one table ----


def markdown(table: Record) -> str:
    """The table, the exact settings, what the methods decided, and the comparison."""
    measures = [name for measure in MEASURES for name in (_HEADINGS[measure], "paper")]
    rows = [_markdown_row(line) for line in table["lines"]]
    parts = [
        f"**{table['title']}.** {table['note']}",
        markdown_grid(("dim", "method", *measures, "seconds"), rows, left=(1,)),
        _remarks(table["lines"]),
        _settings_text(table["lines"]),
        *_decisions(table["lines"]),
        *_comparison_text(table["comparison"]),
    ]
    return "\n\n".join(parts) + "\n"


def table_csv(table: Record) -> str:
    """One line a method and dimension; figures unrounded, empty where there is none."""
    names = [f"{measure}{suffix}" for measure in MEASURES for suffix in ("", "_spread", "_paper")]
    rows = [
        [
            line["dim"],
            line["method"],
            " ".join(map(str, line["seeds"])),
            line["settings"]["epochs"],
            *(line[measure][key] for measure in MEASURES for key in ("mean", "spread", "paper")),
            line["seconds"],
        ]
        for line in table["lines"]
    ]
    return csv_text(("dim", "method", "seeds", "epochs", *names, "seconds"), rows)


def _markdown_row(line: Record) -> list[str]:
    cells = [str(line["dim"]), line["method"]]
    for measure in MEASURES:
        approx = "≈ " if line["sampled"] and measure not in ("mean_rank", "map") else ""
        cells.append(approx + _figure(measure, line[measure]["mean"], line[measure]["spread"]))
        cells.append(_figure(measure, line[measure]["paper"]))
    return [*cells, f"{line['seconds']:.1f}"]


def _figure(measure: str, value: float | None, spread: float | None = None) -> str:
    if value is None:
        return "–"
    form = ".3f" if measure in ("mean_rank", "map") else ",.0f"
    return f"{value:{form}}" if spread is None else f"{value:{form}} ± {spread:{form}}"


def _remarks(lines: Sequence[Record]) -> str:
    said = ["Columns headed *paper* are the printed figures."]
    most = max((len(line["seeds"]) for line in lines), default=0)
    if most > 1:
        said.append(f"Means over {most} seeds ± standard deviation of a run.")
    sampled = max((line["sampled"] for line in lines), default=0)
    if sampled:
        said.append(f"Scores from {sampled:,} random nodes; illness counts marked ≈ are scaled to all nodes.")
    threads = sorted({count for line in lines for count in line["threads"]})
    versions = sorted({version for line in lines for version in line["versions"]})
    said.append(
        f"Seconds are those of training one model with {' or '.join(map(str, threads))} threads "
        f"(treeball {', '.join(versions)})."
    )
    return " ".join(said)


def _settings_text(lines: Sequence[Record]) -> str:
    """Every setting once; one that differs between lines says whose value is whose."""
    shown = [
        (
            f"{line['method']} d={line['dim']}",
            {
                "seeds": " ".join(map(str, line["seeds"])),
                **{name: value for name, value in line["settings"].items() if name not in _NOT_COMMON},
            },
        )
        for line in lines
    ]
    parts = []
    for name, by_value in settings_by_value(shown).items():
        if len(by_value) == 1:
            parts.append(f"{name} {next(iter(by_value))}")
        else:
            parts.append(f"{name} " + ", ".join(f"{value} ({', '.join(who)})" for value, who in by_value.items()))
    return f"Settings: {'; '.join(parts)}."


def _decisions(lines: Sequence[Record]) -> list[str]:
    said = [
        f"- {line['method']}, d={line['dim']}, seed {line['seeds'][0]}: epoch {entry['epoch']:,}: {entry['text']}"
        for line in lines
        for entry in line["log"]
    ]
    return ["What the methods decided (first seed):\n\n" + "\n".join(said)] if said else []


# ---- comparison ----


def _comparison_text(comparison: Record) -> list[str]:
    parts = []
    if comparison["by_dim"]:
        headings = (
            "dim",
            "best GA MAP",
            "higher than",
            "best GA MR",
            "lower than",
            "both, against all",
            "less capacity illness",
        )
        rows = [
            [
                str(one["dim"]),
                f"{one['map']['mean']:.3f} ({one['map']['method']})",
                _verdicts(one["map"]["beats"]),
                f"{one['mean_rank']['mean']:.3f} ({one['mean_rank']['method']})",
                _verdicts(one["mean_rank"]["beats"]),
                ", ".join(one["beats_all_in_both"]) or "none",
                _yes(one["ga_dl_has_less_capacity_illness"]),
            ]
            for one in comparison["by_dim"]
        ]
        parts.append("Geometry-aware against the baselines (last column: ga-dl against poincare):")
        parts.append(markdown_grid(headings, rows, left=(2, 4, 5, 6)))
        unequal = [str(one["dim"]) for one in comparison["by_dim"] if not one["equal_terms"]]
        if unequal:
            parts.append(f"Not on equal terms: epochs or seeds differ between methods (d = {', '.join(unequal)}).")
    if comparison["to_paper"]:
        rows = [
            [str(one["dim"]), one["method"], f"{one['map']:.3f}", f"{one['wanted']:.3f}", f"{one['margin']:+.3f}"]
            for one in comparison["to_paper"]
        ]
        parts.append("MAP against the paper's less 0.02:")
        parts.append(markdown_grid(("dim", "method", "MAP", "paper − 0.02", "margin"), rows, left=(1,)))
    return parts


def _verdicts(beats: dict[str, bool]) -> str:
    return ", ".join(f"{name}: {_yes(better)}" for name, better in beats.items()) or "–"


def _yes(answer: bool | None) -> str:
    return "–" if answer is None else "yes" if answer else "no"


# ---- table of data sets ----


def _shapes(out: Path) -> list[Record]:
    """Ours and the paper's figures for every tree that was ever loaded for `out`."""
    shapes: list[Record] = []
    for tree in TREES.values():
        ours = read_json(out / "trees" / f"{tree.name}.json")
        if ours is None:
            continue
        named = {"tree": tree.name, "title": tree.title}
        if tree.shape is not None:
            printed = {name: getattr(tree.shape, name, None) for name in _SHAPE}
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


# ---- into the documentation ----


def insert_into(doc_path: Path, tables_dir: Path) -> list[str]:
    """Replace what stands between ``<!-- table: NAME -->`` and ``<!-- end -->`` by the file NAME.md of `tables_dir`.

    Returns
    -------
    list of str
        Names of the tables that were put in; a placeholder whose table does not exist is left as it is.
    """
    text = doc_path.read_text(encoding="utf-8")
    opened, closed = len(re.findall(r"<!-- table: ", text)), len(re.findall(r"<!-- end -->", text))
    if opened != closed:
        raise InputError(
            f"{str(doc_path)!r} has {opened} marks <!-- table: ... --> and {closed} marks <!-- end -->: pair them"
        )
    inserted = []

    def replacement(match: re.Match[str]) -> str:
        path = tables_dir / f"{match[1]}.md"
        if not path.is_file():
            return match[0]
        inserted.append(match[1])
        return f"<!-- table: {match[1]} -->\n\n{path.read_text(encoding='utf-8').strip()}\n\n<!-- end -->"

    text = re.sub(r"<!-- table: ([\w-]+) -->.*?<!-- end -->", replacement, text, flags=re.DOTALL)
    write_text(doc_path, text)
    return inserted
