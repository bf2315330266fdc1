"""Text in CSV and TSV that a spreadsheet would take for a formula, such as a node called ``=cmd()``.

A spreadsheet computes a cell that begins with ``=``, ``+``, ``-`` or ``@``. With an apostrophe before it, it is text.
We write one where we are asked to, and take it away again when we read such a table. So that names which begin like
that on their own come back as they were, these get one more, asked or not.
"""

from __future__ import annotations

import re

__all__ = ["escaped", "restored"]

_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")  # the last four are the wide ones
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def escaped(text: str | None, formulas: bool) -> str | None:
    """Text as a cell holds it; `formulas` says whether what looks like one gets an apostrophe. A number does not."""
    if text is None or not _FORMULA.match(text):
        return text
    if text.startswith("'") or (formulas and not _NUMBER.fullmatch(text)):
        return f"'{text}"
    return text


def restored(text: str) -> str:
    """The text that `escaped` made a cell of."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text
