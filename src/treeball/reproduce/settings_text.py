"""The settings of a table in one line: those that matter to its methods, each said once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..experiments.records import Record
from ..methods.registry import find

__all__ = ["matter", "settings_text"]

# Columns of the table, what no run of a reproduction changes, and what does not change a result.
_COLUMNS = ("method", "dim", "seed", "epochs", "max_radius", "objective")
_IDLE = ("heal", "weighted", "deterministic", "trace_every", "threads", "init")


def matter(settings: Record) -> Record:
    """The settings of a run that decide its result and are no column of the table."""
    goes_with = find(settings["method"]).settings.goes_with
    return {
        name: value
        for name, value in settings.items()
        if name not in (*_COLUMNS, *_IDLE)
        and (name not in goes_with or settings.get(*goes_with[name]) == goes_with[name][1])
    }


def settings_text(lines: Sequence[Record]) -> str:
    """Every setting once; where lines differ, whose value is whose."""
    values: dict[str, dict[Any, list[Record]]] = {}
    for line in lines:
        for name, value in matter(line["settings"]).items():
            values.setdefault(name, {}).setdefault(value, []).append(line)
    parts = []
    for name, by_value in values.items():
        if len(by_value) == 1:
            parts.append(f"{name} {_text(next(iter(by_value)))}")
            continue
        said = [f"{_text(value)} ({_whose(those, by_value)})" for value, those in by_value.items()]
        parts.append(f"{name} " + ", ".join(said))
    seeds = sorted({tuple(line["seeds"]) for line in lines})
    if len(seeds) == 1:
        parts.insert(0, f"seeds {' '.join(map(str, seeds[0]))}")
    return f"Settings: {'; '.join(parts)}."


def _whose(lines: Sequence[Record], by_value: dict[Any, list[Record]]) -> str:
    """Methods, with labels or dimensions where a method alone does not tell."""
    others = [line for those in by_value.values() for line in those if those is not lines]
    for naming in (_method, _labelled, _with_dim, _with_terms):
        names = list(dict.fromkeys(map(naming, lines)))
        if not set(names) & set(map(naming, others)):
            break
    return ", ".join(names)


def _method(line: Record) -> str:
    return str(line["method"])


def _labelled(line: Record) -> str:
    return f"{line['method']} {line['label']}".strip()


def _with_dim(line: Record) -> str:
    return f"{_labelled(line)} d={line['dim']}"


def _with_terms(line: Record) -> str:
    return f"{_with_dim(line)} radius {line['radius']} equal {line['terms']}"


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
