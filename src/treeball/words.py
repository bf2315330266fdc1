"""Words for sentences and tables that a person reads, and numbers for JSON that a program reads."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["aligned", "count", "json_line", "json_number", "json_value", "printable", "say"]

# What a terminal may take for a command or that hides what is beside it: control characters (C0, DEL, C1), separators
# of lines, what turns the direction of writing, and halves of characters, which no stream takes.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 epoch", "2,000 epochs"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines of text, each column as wide as its widest cell."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def printable(text: str) -> str:
    r"""Text as it may be printed on one line: what a terminal would obey is written out, as in ``\x1b``."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def say(text: str) -> None:
    """A remark on one line for the person at the terminal, on standard error."""
    print(printable(text), file=sys.stderr, flush=True)


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


def json_line(value: Any) -> str:
    """A value as JSON on one line, with nothing in it that a terminal would obey; read back it is the same."""
    text = json.dumps(json_value(value), ensure_ascii=False, allow_nan=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
