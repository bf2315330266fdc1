"""From runs to the lines of a table: mean and spread over seeds, Markdown, and which settings differ between lines."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from .records import Record

__all__ = ["markdown_grid", "mean_and_spread", "settings_by_value"]


def mean_and_spread(values: Sequence[float]) -> Record:
    """The mean, and the standard deviation of a run; None where there are too few values."""
    return {
        "mean": statistics.fmean(values) if values else None,
        "spread": statistics.stdev(values) if len(values) > 1 else None,
    }


def markdown_grid(headings: Sequence[str], rows: Sequence[Sequence[str]], left: tuple[int, ...] = ()) -> str:
    """A Markdown table; all columns but those in `left` are set flush right."""
    ruler = ["---" if i in left else "---:" for i in range(len(headings))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (headings, ruler, *rows))


def settings_by_value(lines: Iterable[tuple[str, Record]]) -> dict[str, dict[str, list[str]]]:
    """Whose value is whose: setting -> value as text -> labels of the lines that have it.

    Parameters
    ----------
    lines
        The label of a line, and its settings.
    """
    values: dict[str, dict[str, list[str]]] = {}
    for label, settings in lines:
        for name, value in settings.items():
            text = f"{value:g}" if isinstance(value, float) else "default" if value is None else str(value)
            values.setdefault(name, {}).setdefault(text, []).append(label)
    return values
