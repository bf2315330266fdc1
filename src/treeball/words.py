"""Words for sentences and tables that a person reads, and numbers for JSON that a program reads."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["aligned", "count", "json_line", "json_number", "json_value", "printable", "say"]

# Control characters (C0, DEL, C1), which a terminal obeys, line separators, and halves of characters, which no stream
# takes.
_OBEYED = "\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
# Characters that a terminal hides, so that two names look alike or one hides what is beside it: all that Unicode calls
# default-ignorable (zero-width spaces and joiners, marks of direction, soft hyphens, fillers, tags, variation
# selectors), and marks of annotations. Persian and emoji use some of them rightly; their names stay distinct.
_HIDDEN = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_UNPRINTABLE = re.compile(f"[{_OBEYED}{_HIDDEN}]")


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 epoch", "2,000 epochs"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines of text, each column as wide as its widest cell."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def printable(text: str) -> str:
    r"""Text as it may be printed on one line: what a terminal would obey or hide is written out, as in ``\x1b``."""
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
    """A value as JSON on one line, with nothing in it that a terminal would obey or hide; read back it is the same."""
    text = json.dumps(json_value(value), ensure_ascii=False, allow_nan=False)
    return _UNPRINTABLE.sub(lambda found: json.dumps(found[0])[1:-1], text)
