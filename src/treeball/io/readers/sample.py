"""Sample: the beginning of an input, as the format sniffers see it."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import Any

from ..memory import require_room
from .source import Source

_LINE_END = re.compile(r"\r\n|\n|\r")
_BYTES_PER_LINE = 200  # a line, and what readers keep beside it
_MAX_LINES = 2_000
_MAX_COMMENTS = 1_000


@dataclass(frozen=True, slots=True)
class Sample:
    """Beginning of a text.

    Attributes
    ----------
    text
        The comments at the top and the first 256 kB after them.
    lines
        Its complete lines that are not blank, at most 2,000 besides the comments at the top, of which the last 1,000
        are kept.
    whole
        True when that is all of the input.
    comments_left_out
        How many lines of the comments at the top are not in ``lines``.
    guesses
        What was found out about it, for whoever asks again.
    """

    text: str
    lines: tuple[str, ...]
    whole: bool
    comments_left_out: int = 0
    guesses: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, source: Source) -> Sample:
        """Sample of ``source``."""
        text = source.sample_text
        lines = split_lines(text)
        whole = len(text.encode("utf-8", "replace")) >= len(source.data)
        if not whole and len(lines) > 1:
            lines.pop()  # cut in the middle
        kept = [line for line in lines if line.strip()]
        comments = next((number for number, line in enumerate(kept) if not line.startswith("#")), 0)
        first = max(comments - _MAX_COMMENTS, 0)
        last = comments + _MAX_LINES
        return cls(text, tuple(kept[first:last]), whole and len(kept) <= last and not first, first)


def split_lines(text: str) -> list[str]:
    """Lines of ``text`` at LF, CRLF and CR only: names may hold the rarer separators that str.splitlines knows."""
    require_room(sys.getsizeof(text) + _BYTES_PER_LINE * (text.count("\n") + text.count("\r")))
    if "\r" not in text:
        return text.split("\n")
    return _LINE_END.split(text)
