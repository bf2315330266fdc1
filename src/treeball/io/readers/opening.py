"""Where a text itself begins: after the blanks, comments and instructions at its top.

They are stepped over one at a time, each to its own end, so that a banner of any length is looked at once.
"""

from __future__ import annotations

import re

_BLANKS = re.compile(r"\s*+")
_ROOT = re.compile(r"<([A-Za-z_][\w:.\-]*+)(?=[\s>])")
_XML = (("<?", "?>"), ("<!--", "-->"))
_CODE = (("//", "\n"), ("#", "\n"), ("/*", "*/"))
_OBO = (("!", "\n"),)
_DOCTYPE = "<!doctype"
_IN_BRACKETS = re.compile(r"""\]|"[^"]*+"|'[^']*+'|<!--""")


def after_xml_comments(text: str, position: int = 0) -> int:
    """Where the DOCTYPE or the first element of an XML text begins, from ``position`` on."""
    return _after(text, position, _XML)


def after_code_comments(text: str) -> int:
    """Where the first word begins after comments as programs have them: of a line, or in ``/* */``."""
    return _after(text, 0, _CODE)


def after_obo_comments(text: str) -> int:
    """Where the first tag or stanza begins after comments of OBO."""
    return _after(text, 0, _OBO)


def root_element(text: str) -> str:
    """Name of the first element of XML or HTML, small letters; of HTML also by its DOCTYPE. Empty if there is none."""
    start = after_xml_comments(text)
    if text[start : start + len(_DOCTYPE)].lower() == _DOCTYPE:
        span = doctype_span(text, start)
        if span is None:
            return ""
        if text[start + len(_DOCTYPE) : span[2] - 1].lower().split()[:1] == ["html"]:
            return "html"
        start = after_xml_comments(text, span[2])
    found = _ROOT.match(text, start)
    return found.group(1).lower() if found else ""


def doctype_span(text: str, start: int) -> tuple[int, int, int] | None:
    """Where the part in brackets of the DOCTYPE at ``start`` begins and ends, and where the DOCTYPE ends.

    None if it never ends.
    """
    bracket, close = text.find("[", start), text.find(">", start)
    if close < 0:
        return None
    if bracket < 0 or close < bracket:
        return close, close, close + 1
    position = bracket + 1
    while (token := _IN_BRACKETS.search(text, position)) is not None:
        if token.group() == "]":
            close = text.find(">", token.end())
            return None if close < 0 else (bracket + 1, token.start(), close + 1)
        position = token.end()
        if token.group() == "<!--":
            position = text.find("-->", position) + 3
            if position < 3:
                return None
    return None


def _after(text: str, position: int, kinds: tuple[tuple[str, str], ...]) -> int:
    """First place from ``position`` on that is neither blank nor in a comment of these kinds; one without end stays."""
    while True:
        blanks = _BLANKS.match(text, position)
        position = blanks.end() if blanks else position
        marks = next((marks for marks in kinds if text.startswith(marks[0], position)), None)
        end = -1 if marks is None else text.find(marks[1], position + len(marks[0]))
        if marks is None or end < 0:
            return position
        position = end + len(marks[1])
