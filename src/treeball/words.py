"""Words for sentences that a person reads."""

from __future__ import annotations

__all__ = ["count"]


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 epoch", "2,000 epochs"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
