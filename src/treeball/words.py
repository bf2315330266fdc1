"""Words for sentences and tables that a person reads, and numbers for JSON that a program reads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["aligned", "count", "json_number", "json_value"]


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 epoch", "2,000 epochs"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines of text, each column as wide as its widest cell."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def json_number(value: float | None) -> float | None:
    """A number as JSON holds it, which has neither NaN nor infinity: None stands for them."""
    return None if value is None or not math.isfinite(value) else float(value)


def json_value(value: Any) -> Any:
    """Objects, lists and numbers as JSON holds them, however they are nested: None stands for NaN and infinity."""
    if isinstance(value, Mapping):
        return {name: json_value(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(one) for one in value]
    return json_number(value) if isinstance(value, float) else value
