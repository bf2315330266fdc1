"""Words for sentences that a person reads, and numbers for JSON that a program reads."""

from __future__ import annotations

import math

__all__ = ["count", "json_number"]


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 epoch", "2,000 epochs"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def json_number(value: float | None) -> float | None:
    """A number as JSON holds it, which has neither NaN nor infinity: None stands for them."""
    return None if value is None or not math.isfinite(value) else float(value)
