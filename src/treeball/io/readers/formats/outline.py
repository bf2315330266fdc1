"""Indented outlines: one node a line, deeper lines below shallower ones; blanks, tabs, bullets, `tree` output."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....errors import InputError
from ....hierarchy.repairs import RepairKind
from ....words import count
from ..path_tree import PathTree
from ..relation import MISSING, Relation
from ..sample import Sample, split_lines
from ..settings import ReadSettings
from ..source import Source
from ..tables.columns import roles_from_header
from ..tables.dialect import guess_dialect

_INDENT = re.compile(r"^[\s\u00a0│├└─┬╰╭]*")
_BULLET = re.compile(r"^(?:[-*+•◦▪‣]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")

_TREE_FOOTER = re.compile(r"^\d+ director(?:y|ies)(?:, \d+ files?)?\s*$")


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """High when lines differ in indentation and none jumps below the first; nothing when they are rows of columns."""
    lines = sample.lines
    if settings.separator_text is None and _is_markdown(lines):
        return 0.85
    indents = [_width(line) for line in lines if line[_prefix_length(line) :].strip()] or [0]
    if len(lines) < 2 or len(set(indents)) < 2 or indents[0] > min(indents) or settings.separator_text is not None:
        return 0.0
    inner_tabs = sum("\t" in line.strip() for line in lines)
    if inner_tabs > len(lines) / 2:
        return 0.0
    bulleted = all(_BULLET.match(line[_INDENT.match(line).end() :]) for line in lines)  # type: ignore[union-attr]
    if bulleted or (_is_drawn(lines) and not _has_roles(sample, settings)):
        return 0.85
    return 0.0 if _is_delimited(sample, settings) else 0.65


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of the outline; a line hangs below the nearest line above it that is indented less."""
    lines = [(number, line) for number, line in enumerate(split_lines(source.text), start=1) if line.strip()]
    if len(lines) > 2 and _TREE_FOOTER.match(lines[-1][1]) and any("── " in line for _, line in lines):
        lines.pop()
    skipped: list[int] = []
    if _is_markdown([line for _, line in lines]):
        bullets = [(number, line) for number, line in lines if _is_bullet(line)]
        skipped, lines = [number for number, line in lines if not _is_bullet(line)], bullets
    bare = [(number, _width(line), line[_prefix_length(line) :].strip()) for number, line in lines]
    if all(_BULLET.match(text + " ") for _, width, text in bare if width) or all(_is_bullet(line) for _, line in lines):
        bare = [(number, width, _BULLET.sub("", text + " ", count=1).strip()) for number, width, text in bare]
    tree = PathTree()
    open_levels: list[tuple[int, int]] = []
    irregular: list[int] = []
    for number, width, text in bare:
        previous = None
        while open_levels and open_levels[-1][0] >= width:
            previous = open_levels.pop()[0]
        if previous is not None and previous != width:
            # The line stands between two levels: it belongs to the upper of them, but that is a guess.
            irregular.append(number)
        node = tree.add(open_levels[-1][1] if open_levels else MISSING, text, number)
        open_levels.append((width, node))
    if len({width for _, width, _ in bare}) < 2:
        raise InputError(
            f"{source.label} has one column and no indentation: indent each line below its parent, or give a child "
            "and its parent on each line"
        )
    relation = tree.to_relation("an outline")
    if skipped:
        others = count(len(skipped), "line")
        relation.notes.append(f"only the bullets were read: {others} of headings and text skipped")
        relation.record_lines(RepairKind.TEXT_LINES, skipped, "the line is no bullet")
    relation.record_lines(RepairKind.IRREGULAR_INDENTS, irregular, "the line is indented between two levels")
    return relation


def _is_drawn(lines: Sequence[str]) -> bool:
    """Whether lines begin as `tree` draws them: all but the top and the count of folders at the end."""
    drawn = sum(any(mark in line[: _prefix_length(line)] for mark in "├└╰") for line in lines)
    return drawn >= max(1, len(lines) - 2)


def _has_roles(sample: Sample, settings: ReadSettings) -> bool:
    dialect = guess_dialect(sample, settings)
    return dialect is not None and dialect.header is not None and roles_from_header(dialect.header) is not None


def _is_delimited(sample: Sample, settings: ReadSettings) -> bool:
    """Whether these are columns, though a row may be indented and another too long: a ragged table is no outline."""
    dialect = guess_dialect(sample, settings)
    if dialect is None or dialect.separator == " ":
        return False
    if _has_roles(sample, settings):
        return True
    # An outline may have a comma on nearly every line too, but then most of its lines are indented.
    indented = sum(line[:1].isspace() for line in sample.lines)
    separated = sum(len(row) > 1 for row in dialect.rows)
    return indented <= len(sample.lines) / 2 and separated >= 0.75 * len(dialect.rows)


def _is_bullet(line: str) -> bool:
    return _BULLET.match(line[_prefix_length(line) :].rstrip() + " ") is not None


def _is_markdown(lines: Sequence[str]) -> bool:
    """Whether a nested list of bullets that begins at the margin stands among headings, paragraphs and the like."""
    widths = {_width(line) for line in lines if _is_bullet(line)}
    others = [line for line in lines if not _is_bullet(line)]
    return (
        len(widths) > 1 and min(widths) == 0 and bool(others) and all(line.strip()[0] not in "│├└╰" for line in others)
    )


def _prefix_length(line: str) -> int:
    found = _INDENT.match(line)
    return found.end() if found else 0


def _width(line: str) -> int:
    return len(line[: _prefix_length(line)].expandtabs(8))
