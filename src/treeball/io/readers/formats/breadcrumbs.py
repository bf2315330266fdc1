"""Breadcrumbs: one path a line, "A > B > C" or "A/B/C", also with an id in front as Google and Shopify publish them.

The paths may also be one column of a table, as shops export their products: ``id,category``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ....errors import InputError
from ....hierarchy.read_report import short
from ....hierarchy.repairs import RepairGroup, RepairKind
from ....words import count
from ..hints import setting
from ..paths import ARROWS, ID, are_paths, mark_of, path_column, relation_of_paths, steps_of
from ..relation import Relation
from ..sample import Sample, split_lines
from ..settings import ReadSettings
from ..source import Source
from ..tables import delimited
from ..tables.columns import CATEGORY_WORDS, PATH_WORDS, locate, plain, roles_from_header
from ..tables.dialect import Dialect, guess_dialect
from ..tables.members import Members, members_of

_SAMPLE = 2000
_COMMENT = re.compile(r"#(?:[\s#!]|\Z)")
_QUOTED = re.compile(r"\"((?:[^\"]|\"\")*)\"[,;\t]*")


@dataclass(slots=True)
class _Paths:
    """Paths as text, one an item; where they stand; what was left out."""

    texts: list[str]
    line_of: Callable[[int], int]
    notes: list[str] = field(default_factory=list)
    repairs: list[RepairGroup] = field(default_factory=list)
    members: Callable[[], Members | None] | None = None


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """High when a separator of steps occurs in most lines and paths share their beginnings, or are paths at sight."""
    if len(settings.columns) == 1:
        return 1.0
    dialect = _dialect(sample, settings)
    if path_column(dialect, settings) is not None:
        return 0.96
    roles = None if dialect is None or dialect.header is None else roles_from_header(dialect.header)
    if roles is not None and not roles.is_membership:
        return 0.0
    comments = _are_comments(sample.lines, settings)
    lines = [line for line, is_comment in zip(sample.lines, comments, strict=True) if not is_comment]
    lines = _unquoted(lines, settings)
    lines = lines[_has_header(lines, settings) :]
    mark = mark_of(lines, settings)
    if mark is None or any("\t" in line for line in lines):
        return 0.0
    with_ids = all(ID.match(line) for line in lines)
    paths = [steps_of(ID.sub("", line) if with_ids else line, mark) for line in lines]
    if with_ids and mark == " > ":
        return 0.95
    share = sum(len(path) > 1 for path in paths) / len(paths)
    tops = {path[0] for path in paths if path}
    shared = len(tops) < len(paths) or len(paths) == 1
    is_given = mark == settings.separator_text and len(mark) > 1
    if (share < 0.5 and not with_ids and not is_given) or not (shared or are_paths(paths, mark)):
        return 0.0
    if any(line[:1].isspace() for line in lines):
        return 0.3
    # A file of one quoted column has commas, too, but none of them separates anything.
    quoted = any(_QUOTED.fullmatch(line.strip()) for line in sample.lines) and lines != list(sample.lines)
    if quoted and mark in ARROWS:
        return 0.92
    longer = {path[0] for path in paths if len(path) > 1}
    tops_of_paths = share > 0.5 and all(len(path) > 1 or path[0] in longer for path in paths if path)
    in_text = all(line.count(one) == f"{line} ".count(one + " ") for line in lines for one in ",;")
    if mark in (*ARROWS, " / ", " :: ") and (share > 0.9 or tops_of_paths) and in_text:
        return 0.87  # commas and semicolons belong to the text
    return 0.75 if mark in ARROWS else 0.6


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation in which every node is named by its full path, or by the id in front of it."""
    sample = Sample.of(source)
    dialect = _dialect(sample, settings)
    found = path_column(dialect, settings)
    in_table = dialect is not None and (found is not None or (len(settings.columns) == 1 and dialect.regular))
    paths = _from_table(source, settings, found) if in_table else _from_lines(source, settings)
    mark = mark_of([text for text in paths.texts[:2000] if text.strip()], settings, in_table)
    relation = relation_of_paths(paths.texts, settings, source.label, mark, count_repeats=not in_table)
    relation.number_lines(paths.line_of)
    relation.members = paths.members
    relation.repairs[:0] = paths.repairs
    relation.notes[:0] = paths.notes
    return relation


def _from_lines(source: Source, settings: ReadSettings) -> _Paths:
    """One path a line; comments and a header left out, quotes of a single column removed."""
    lines = [(number, line) for number, line in enumerate(split_lines(source.text), start=1) if line.strip()]
    comments = _are_comments([line for _, line in lines], settings)
    kept = [one for one, is_comment in zip(lines, comments, strict=True) if not is_comment]
    texts, numbers = _unquoted([line for _, line in kept], settings), [number for number, _ in kept]
    notes: list[str] = []
    repairs: list[RepairGroup] = []
    if len(kept) < len(lines):
        notes.append(f"{count(len(lines) - len(kept), 'comment line')} skipped")
        skipped = [number for (number, _), is_comment in zip(lines, comments, strict=True) if is_comment]
        repairs.append(RepairGroup.of_lines(RepairKind.COMMENT_LINES, skipped))
    if _has_header(texts, settings):
        notes.append(_header_note(numbers[0], texts[0]))
        repairs.append(RepairGroup.of_lines(RepairKind.HEADER_LINES, numbers[:1], [short(texts[0])]))
        texts, numbers = texts[1:], numbers[1:]
    if len(settings.columns) == 1 and settings.columns[0] not in ("1", *(line.strip() for _, line in kept[:1])):
        raise InputError(f"{source.label} has no column {settings.columns[0]!r}: it has one column; leave columns out")
    return _Paths(texts, numbers.__getitem__, notes, repairs)


def _from_table(source: Source, settings: ReadSettings, found: int | None) -> _Paths:
    """The column of paths of a table: the one the user named, or the one that was found."""
    parsed = delimited.parse(source, _column_settings(settings))
    header, width = parsed.dialect.header, parsed.dialect.width
    column = locate(settings.columns[0], header, width, source.label) if settings.columns else found or 0
    texts = [text or "" for text in parsed.columns[column].to_pylist()]
    line_of, columns = parsed.line_of, parsed.columns
    name = None if header is None else header[column]
    if header is None and _has_header([text for text in texts[:2000] if text.strip()], settings):
        name = texts.pop(0).strip()
        line_of = lambda row: parsed.line_of(row + 1)  # noqa: E731
        columns = [one.slice(1) for one in columns]
    called = f"column {column + 1}" + (f" ({short(name)})" if name else "")
    notes = [f"{called} holds breadcrumbs, the other columns were not used; {setting('columns')} names others"]
    if parsed.comments:
        notes.append(f"{count(len(parsed.comments), 'comment line')} skipped")
    others = [f"column {place + 1}" for place in range(width) if place != column]
    if header is not None:
        others = [f"column {short(name)}" for place, name in enumerate(header) if place != column]
    repairs = [RepairGroup.of_lines(RepairKind.COMMENT_LINES, parsed.comments)]
    repairs.append(RepairGroup.of_lines(RepairKind.COLUMNS_NOT_USED, [None] * len(others), others))
    members = partial(members_of, columns, header, column, line_of, source.label)
    return _Paths(texts, line_of, notes, repairs, members)


def _column_settings(settings: ReadSettings) -> ReadSettings:
    """Settings for the columns alone: a separator of steps is none of columns."""
    given = settings.separator_text
    return settings if given is None or given in "\t,;" else replace(settings, separator="auto")


def _dialect(sample: Sample, settings: ReadSettings) -> Dialect | None:
    return guess_dialect(sample, _column_settings(settings))


def _are_comments(lines: Sequence[str], settings: ReadSettings) -> list[bool]:
    """Whether each line is a comment: it begins with #, and is no path whose top does.

    A path holds the mark that separates steps, no blank follows its #, and no other line has its top without the #.
    Where the mark has no blanks around it, several lines must share the top. A blank may follow the # where all lines
    begin with one.
    """
    begun = [line.lstrip().startswith("#") for line in lines]
    if not any(begun):
        return begun
    others = [line for line, is_begun in zip(lines, begun, strict=True) if not is_begun]
    mark = mark_of(others[:_SAMPLE], settings)
    if mark is None:
        mark = mark_of([line for line in lines[:_SAMPLE] if line.lstrip().startswith("#")], settings)
        if mark is None:
            return begun
    tops_of = [(steps_of(line, mark) or [""])[0] for line in lines]
    shared = Counter(top for top, line in zip(tops_of, lines, strict=True) if top != line.strip())
    bare = {(steps_of(line, mark) or [""])[0] for line in others}

    def is_path(line: str, top: str) -> bool:
        if top.lstrip("#").strip() in bare or not shared[top]:
            return False
        if others and _COMMENT.match(top):
            return False
        return shared[top] > 1 or top == line.strip() or mark != mark.strip()

    return [is_begun and not is_path(line, top) for is_begun, line, top in zip(begun, lines, tops_of, strict=True)]


def _unquoted(lines: Sequence[str], settings: ReadSettings) -> list[str]:
    """Lines without the quotes of a single CSV column, where that is how they are quoted."""
    opened = [line.strip() for line in lines if line.lstrip().startswith('"')]
    if settings.quoting == "off" or not opened:
        return list(lines)
    if settings.quoting == "auto" and not all(_QUOTED.fullmatch(line) for line in opened):
        return list(lines)
    bare = (_QUOTED.fullmatch(line.strip()) for line in lines)
    return [
        line if found is None else found.group(1).replace('""', '"') for line, found in zip(lines, bare, strict=True)
    ]


def _has_header(lines: Sequence[str], settings: ReadSettings) -> bool:
    """Whether the first line names the column: it has no step that others have, and is a known word or no path."""
    if settings.header != "auto" or len(lines) < 2:
        return settings.header == "yes" and bool(lines)
    first, rest = lines[0].strip(), lines[1:2000]
    mark = mark_of(rest, settings)
    if mark is None or mark.strip() in first or any(steps_of(line, mark)[:1] == [first] for line in rest):
        return False
    if all(ID.match(line) for line in rest):
        return ID.match(first) is None
    share = sum(mark in line for line in rest) / len(rest)
    return plain(first) in CATEGORY_WORDS | PATH_WORDS or (share > 0.9 and len(rest) > 1)


def _header_note(line: int, text: str) -> str:
    return f"line {line} ({short(text)}) was taken as a header; {setting('header', 'no')} reads it as a path"
