"""Breadcrumbs: one path a line, "A > B > C" or "A/B/C", also with an id in front as Google and Shopify publish them."""

from __future__ import annotations

import re

from treeball.readers.paths import PathTree
from treeball.readers.relation import MISSING, Relation
from treeball.readers.report import count
from treeball.readers.sample import Sample, split_lines
from treeball.readers.settings import ReadSettings
from treeball.readers.source import Source

_MARKS = (" > ", ">", " » ", " › ", " → ", " -> ", " :: ", "::", " / ", "/", " | ", "|", "\\")
_PRETTY = {">": " > "}
_ID = re.compile(r"^(?:\d+|\w+://\S+)\s+[-:]\s+")  # as Google and Shopify write them


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """High when a separator of steps occurs in most lines and paths share their beginnings."""
    lines = [line for line in sample.lines if not line.lstrip().startswith("#")]
    mark = _mark_of(lines, settings)
    if mark is None or any("\t" in line for line in lines):
        return 0.0
    with_ids = all(_ID.match(line) for line in lines)
    paths = [_steps(_ID.sub("", line) if with_ids else line, mark) for line in lines]
    share = sum(len(path) > 1 for path in paths) / len(paths)
    tops = {path[0] for path in paths if path}
    shared = len(tops) < len(paths) or len(paths) == 1
    if (share < 0.5 and not with_ids) or not shared:
        return 0.0
    if any(line[:1].isspace() for line in lines):
        return 0.3
    return 0.75 if mark.strip() in (">", "»", "›", "→", "->") else 0.6


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation in which every node is named by its full path."""
    lines = split_lines(source.text)
    content = [line for line in lines if line.strip() and not line.startswith("#")]
    mark = _mark_of(content[:2000], settings) or " > "
    with_ids = bool(content) and all(_ID.match(line) for line in content)
    tree = PathTree()
    complete: set[int] = set()
    comments = 0
    for number, line in enumerate(lines, start=1):
        if line.startswith("#"):
            comments += 1
            continue
        node = MISSING
        steps = _steps(_ID.sub("", line) if with_ids else line, mark)
        for step in steps:
            node = tree.add(node, step, number, expect_new=False)
        if node in complete:
            tree.repeated += 1
            tree.first_repeat = tree.first_repeat or number
        elif node != MISSING:
            complete.add(node)
    relation = tree.to_relation("breadcrumbs", _PRETTY.get(mark, mark), full=True)
    if comments:
        relation.notes.append(f"{count(comments, 'comment line')} skipped")
    if with_ids:
        relation.notes.append("the id in front of each path was left out")
    return relation


def _steps(line: str, mark: str) -> list[str]:
    """Steps of a path; a separator at either end of the line, as in /usr/lib/, makes no empty step."""
    bare = line.strip()
    while bare.startswith(mark.strip()) and mark.strip():
        bare = bare[len(mark.strip()) :].lstrip()
    while bare.endswith(mark.strip()) and mark.strip():
        bare = bare[: -len(mark.strip())].rstrip()
    return [step.strip() for step in bare.split(mark)] if bare else []


def _mark_of(lines: list[str], settings: ReadSettings) -> str | None:
    """Separator of the steps: the user's, or the first that occurs in half the lines."""
    given = settings.separator_text
    if given is not None:
        return given if any(given in line for line in lines) else None
    if len(lines) > 1 and all(_ID.match(line) for line in lines) and any(" > " in line for line in lines):
        return " > "
    for mark in _MARKS:
        if 2 * sum(mark in line for line in lines) >= len(lines) > 0:
            return mark
    return None
