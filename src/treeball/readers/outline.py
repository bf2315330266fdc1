"""Indented outlines: one node a line, deeper lines below shallower ones; blanks, tabs, bullets, `tree` output."""

from __future__ import annotations

import re

from treeball.errors import InputError
from treeball.readers.paths import PathTree
from treeball.readers.relation import MISSING, Relation, Repair
from treeball.readers.sample import Sample, split_lines
from treeball.readers.settings import ReadSettings
from treeball.readers.source import Source

_INDENT = re.compile(r"^[\s\u00a0│├└─┬╰╭]*")
_BULLET = re.compile(r"^(?:[-*+•◦▪‣]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")

_TREE_FOOTER = re.compile(r"^\d+ director(?:y|ies)(?:, \d+ files?)?\s*$")


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """High when lines differ in indentation and none jumps below the first."""
    lines = sample.lines
    indents = [_width(line) for line in lines]
    if len(lines) < 2 or len(set(indents)) < 2 or indents[0] > min(indents) or settings.separator_text is not None:
        return 0.0
    inner_tabs = sum("\t" in line.strip() for line in lines)
    if inner_tabs > len(lines) / 2:
        return 0.0
    bulleted = all(_BULLET.match(line[_INDENT.match(line).end() :]) for line in lines)  # type: ignore[union-attr]
    drawn = any(mark in line for line in lines for mark in "├└╰")
    return 0.85 if bulleted or drawn else 0.65


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of the outline; a line hangs below the nearest line above it that is indented less."""
    lines = [(number, line) for number, line in enumerate(split_lines(source.text), start=1) if line.strip()]
    if len(lines) > 2 and _TREE_FOOTER.match(lines[-1][1]) and any("── " in line for _, line in lines):
        lines.pop()
    bare = [(number, _width(line), line[_prefix_length(line) :].strip()) for number, line in lines]
    if all(_BULLET.match(text + " ") for _, _, text in bare):
        bare = [(number, width, _BULLET.sub("", text + " ", count=1).strip()) for number, width, text in bare]
    tree = PathTree()
    open_levels: list[tuple[int, int]] = []
    irregular, first_irregular = 0, None
    for number, width, text in bare:
        previous = None
        while open_levels and open_levels[-1][0] >= width:
            previous = open_levels.pop()[0]
        if previous is not None and previous != width:
            # The line stands between two levels: it belongs to the upper of them, but that is a guess.
            irregular += 1
            first_irregular = first_irregular or number
        node = tree.add(open_levels[-1][1] if open_levels else MISSING, text, number)
        open_levels.append((width, node))
    if len({width for _, width, _ in bare}) < 2:
        raise InputError(
            f"{source.label} has one column and no indentation: indent each line below its parent, or give a child "
            "and its parent on each line"
        )
    relation = tree.to_relation("an outline")
    if irregular:
        relation.repairs.append(
            Repair("irregular indents", irregular, first_irregular, "the line is indented between two levels")
        )
    return relation


def _prefix_length(line: str) -> int:
    found = _INDENT.match(line)
    return found.end() if found else 0


def _width(line: str) -> int:
    return len(line[: _prefix_length(line)].expandtabs(8))
