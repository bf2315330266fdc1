"""What commands print: results to standard output, progress and remarks to standard error."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..words import aligned, count, json_line, printable, say

if TYPE_CHECKING:
    from ..evaluation import Distortion, Evaluation
    from ..hierarchy.read_report import ReadReport

__all__ = [
    "also_below",
    "distortion_rows",
    "print_json",
    "print_line",
    "print_paragraph",
    "print_rows",
    "print_table",
    "recorded_score_rows",
    "say",
    "say_lines",
    "say_what_was_read",
    "score_rows",
]


def say_what_was_read(report: ReadReport | None) -> None:
    """Print the summary of a reading as remarks."""
    if report is not None:
        say_lines(report.summary())


def say_lines(text: str) -> None:
    """Print each line of a text as a remark of its own."""
    for line in text.splitlines():
        say(line)


def print_line(text: str = "", style: str = "") -> None:
    """One line on standard output, styled on a terminal; never wrapped, so that a command can be copied."""
    if style and sys.stdout.isatty():
        from rich.console import Console
        from rich.text import Text

        Console().print(Text(printable(text), style), soft_wrap=True)
    else:
        print(printable(text))


def print_paragraph(text: str, indent: str, first: str | None = None) -> None:
    """Words on standard output, indented, the first line by `first` if given; wrapped on a terminal."""
    import shutil
    import textwrap

    width = max(40, shutil.get_terminal_size().columns - 1) if sys.stdout.isatty() else sys.maxsize
    first = indent if first is None else first
    print(textwrap.fill(printable(text), width, initial_indent=first, subsequent_indent=indent))


def also_below(parents: Sequence[str]) -> str:
    """What stands behind a node of an outline that has further parents."""
    return f"  (also below {', '.join(parents)})"


def print_json(record: Mapping[str, Any]) -> None:
    """One JSON object on standard output, on one line."""
    print(json_line(record))


def print_table(rows: list[tuple[str, str]], title: str | None = None) -> None:
    """Names and values on standard output: boxed on a terminal, aligned text in a pipe."""
    print_rows(None, rows, title)


def print_rows(
    header: Sequence[str] | None, rows: Sequence[Sequence[str]], title: str | None = None, names: int = 0
) -> None:
    """A table on standard output: boxed on a terminal, aligned text in a pipe.

    Where the first `names` columns name the rows, a table too wide for the terminal becomes several that have them all.
    """
    header = None if header is None else [printable(cell) for cell in header]
    rows = [[printable(cell) for cell in row] for row in rows]
    title = printable(title or "")
    if not sys.stdout.isatty():
        for line in ([title] if title else []) + aligned([header, *rows] if header else rows):
            print(line)
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    columns = list(zip(*([header, *rows] if header else rows), strict=True))
    for part in _that_fit([max(map(len, column)) for column in columns], names, console.width):
        table = Table(title=Text(title), box=SIMPLE_HEAD, show_header=header is not None, title_justify="left")
        for column in part:
            table.add_column(header[column] if header else "", style="cyan" if column == 0 else "")
        for row in rows:
            table.add_row(*(Text(row[column]) for column in part))
        console.print(table)


def _that_fit(widths: Sequence[int], names: int, room: int) -> list[list[int]]:
    """Columns of one table after the other: all in one where nothing names the rows, else as many as there is room."""
    if not names:
        return [list(range(len(widths)))]
    parts: list[list[int]] = []
    left = 0
    for column in range(names, len(widths)):
        if not parts or widths[column] + 3 > left:  # a column has three blanks beside it
            parts.append(list(range(names)))
            left = room - sum(width + 3 for width in widths[:names])
        parts[-1].append(column)
        left -= widths[column] + 3
    return parts


def score_rows(evaluation: Evaluation) -> list[tuple[str, str]]:
    """The score table of an evaluation, with intervals when it was sampled."""
    record = evaluation.to_dict()
    sampled = record.get("sampled")

    def score(name: str, form: str) -> str:
        if record[name] is None:
            return "none: no node has a positive"
        if not sampled:
            return format(record[name], form)
        low, high = sampled["interval_95"][name]
        return f"{record[name]:{form}}  ({low:{form}} to {high:{form}})"

    illness = record["illness"]
    ill, pairs = sum(illness.values()), evaluation.ranking.ranks.size
    rows = [
        ("objective", f"{record['objective']} ({count(pairs, 'pair')})"),
        ("MAP", score("map", ".4f")),
        ("mean rank", score("mean_rank", ".3f")),
        ("hits@1", score("hits_at_1", ".4f")),
        ("ill pairs", f"{ill:,} of {pairs:,}"),
        ("  capacity", f"{illness['capacity']:,}"),
        ("  intra-subtree", f"{illness['intra_subtree']:,}"),
        ("  inter-subtree", f"{illness['inter_subtree']:,}"),
        ("largest radius", f"{record['max_radius']:.2f}"),
    ]
    if "device" in record:
        rows.append(("compared by", record["device"]))
    if sampled:
        rows.append(("sampled", f"{sampled['nodes']:,} of {sampled['of']:,} nodes, 95 % intervals"))
    return rows


def distortion_rows(measured: Distortion) -> list[tuple[str, str]]:
    """The rows of how far distances are from lengths of paths."""
    interval = ""
    if measured.average_interval is not None:
        interval = "  ({:.4f} to {:.4f})".format(*measured.average_interval)
    pairs = "all pairs" if measured.exact else f"{measured.pairs:,} sampled pairs"
    if measured.left_aside:
        pairs += f" ({measured.left_aside:,} with no length between them left aside)"
    return [
        ("Spearman", f"{measured.spearman:.4f} with path {measured.against}"),
        ("average distortion", f"{measured.average:.4f}{interval}"),
        ("worst distortion", f"{measured.worst:.4f} over {pairs}, {measured.metric} metric in {measured.against}"),
    ]


def recorded_score_rows(scores: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """The scores that the record of a model has, in few rows; none where they are not known, or there is no pair."""
    if not scores or any(scores.get(name) is None for name in ("map", "mean_rank", "illness")):
        return []
    sampled = scores.get("sampled")
    over = f" ({sampled['nodes']:,} of {sampled['of']:,} nodes were ranked)" if sampled else ""
    return [
        ("scores", f"MAP {scores['map']:.4f}, mean rank {scores['mean_rank']:.3f}{over}"),
        ("ill pairs", f"{sum(scores['illness'].values()):,}"),
    ]
