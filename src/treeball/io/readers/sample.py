"""Sample: the beginning of an input, as the format sniffers see it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .source import Source

_LINE_END = re.compile(r"\r\n|\n|\r")
_MAX_LINES = 2_000


@dataclass(frozen=True, slots=True)
class Sample:
    """Beginning of a text.

    Attributes
    ----------
    text
        The first 256 kB.
    lines
        Its complete lines that are not blank, at most 2,000.
    whole
        True when that is all of the input.
    """

    text: str
    lines: tuple[str, ...]
    whole: bool

    @classmethod
    def of(cls, source: Source) -> Sample:
        """Sample of ``source``."""
        text = source.sample_text
        lines = split_lines(text)
        whole = len(text.encode("utf-8", "replace")) >= len(source.data)
        if not whole and len(lines) > 1:
            lines.pop()  # cut in the middle
        kept = [line for line in lines if line.strip()]
        return cls(text, tuple(kept[:_MAX_LINES]), whole and len(kept) <= _MAX_LINES)


def split_lines(text: str) -> list[str]:
    """Lines of ``text`` at LF, CRLF and CR only: names may hold the rarer separators that str.splitlines knows."""
    if "\r" not in text:
        return text.split("\n")
    return _LINE_END.split(text)
