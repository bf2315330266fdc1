"""Breadcrumbs: one path a line, "A > B > C" or "A/B/C", also with an id in front as Google and Shopify publish them.

The paths may also be one column of a table, as shops export their products: ``id,category``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ....errors import InputError
from ....hierarchy.read_report import short
from ....words import count
from ..hints import setting
from ..path_tree import PathTree
from ..relation import MISSING, Relation
from ..sample import Sample, split_lines
from ..settings import ReadSettings
from ..source import Source
from ..tables import delimited
from ..tables.columns import locate, plain, roles_from_header
from ..tables.dialect import Dialect, guess_dialect

_ARROWS = (" -> ", " => ", "->", "=>", " > ", ">", " » ", " › ", " → ")
_MARKS = (*_ARROWS, " :: ", "::", " / ", "/", " | ", "|", "\\")
_IN_TABLES = (" -> ", " => ", " > ", " » ", " › ", " → ")
_PRETTY = {">": " > "}
_ID = re.compile(r"^(?:\d+|\w+://\S+)\s+[-:]\s+")  # as Google and Shopify write them
_QUOTED = re.compile(r"\"((?:[^\"]|\"\")*)\"[,;\t]*")
_HEADER_WORDS = frozenset(
    {"path", "paths", "fullpath", "category", "categories", "categorypath", "categoryname", "breadcrumb", "breadcrumbs"}
    | {"taxonomy", "hierarchy", "productcategory", "googleproductcategory", "producttype"}
)


@dataclass(slots=True)
class _Paths:
    """Paths as text, one an item; where they stand; what was left out."""

    texts: list[str]
    line_of: Callable[[int], int]
    notes: list[str] = field(default_factory=list)


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """High when a separator of steps occurs in most lines and paths share their beginnings, or are paths at sight."""
    if len(settings.columns) == 1:
        return 1.0
    if _path_column(_dialect(sample, settings), settings) is not None:
        return 0.96
    lines = [line for line in sample.lines if not line.lstrip().startswith("#")]
    lines = _unquoted(lines, settings)
    lines = lines[_has_header(lines, settings) :]
    mark = _mark_of(lines, settings)
    if mark is None or any("\t" in line for line in lines):
        return 0.0
    with_ids = all(_ID.match(line) for line in lines)
    paths = [_steps(_ID.sub("", line) if with_ids else line, mark) for line in lines]
    share = sum(len(path) > 1 for path in paths) / len(paths)
    tops = {path[0] for path in paths if path}
    shared = len(tops) < len(paths) or len(paths) == 1
    if (share < 0.5 and not with_ids) or not (shared or _are_paths(paths, mark)):
        return 0.0
    if any(line[:1].isspace() for line in lines):
        return 0.3
    # A file of one quoted column has commas, too, but none of them separates anything.
    quoted = any(_QUOTED.fullmatch(line.strip()) for line in sample.lines) and lines != list(sample.lines)
    if quoted and mark in _ARROWS:
        return 0.92
    if mark in _ARROWS and share > 0.9 and all(line.count(",") == line.count(", ") for line in lines):
        return 0.87  # commas belong to the text
    return 0.75 if mark in _ARROWS else 0.6


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation in which every node is named by its full path."""
    sample = Sample.of(source)
    dialect = _dialect(sample, settings)
    found = _path_column(dialect, settings)
    in_table = dialect is not None and (found is not None or (len(settings.columns) == 1 and dialect.regular))
    paths = _from_table(source, settings, found) if in_table else _from_lines(source, settings)
    mark = _mark_of([text for text in paths.texts[:2000] if text.strip()], settings, in_table)
    if mark is None and settings.columns:
        raise InputError(
            f"column {settings.columns[0]} of {source.label} holds no paths such as A > B: name the columns of child "
            f"and parent, for instance {setting('columns', 'id,parent')}, or {setting('separator')}"
        )
    mark = mark or " > "
    with_ids = bool(paths.texts) and all(_ID.match(text) for text in paths.texts)
    tree = PathTree()
    complete: set[int] = set()
    for number, text in enumerate(paths.texts, start=1):
        node = MISSING
        for step in _steps(_ID.sub("", text) if with_ids else text, mark):
            node = tree.add(node, step, number, expect_new=False)
        if node in complete and not in_table:
            tree.repeated += 1
            tree.first_repeat = tree.first_repeat or number
        elif node != MISSING:
            complete.add(node)
    places = tree.lines
    tree.first_repeat = tree.first_repeat and paths.line_of(tree.first_repeat - 1)
    tree.first_empty = tree.first_empty and paths.line_of(tree.first_empty - 1)
    relation = tree.to_relation("breadcrumbs", _PRETTY.get(mark, mark), full=True)
    relation.line_of = lambda pair: paths.line_of(places[pair] - 1)
    relation.notes.extend(paths.notes)
    if with_ids:
        relation.notes.append("the id in front of each path was left out")
    return relation


def _from_lines(source: Source, settings: ReadSettings) -> _Paths:
    """One path a line; comments and a header left out, quotes of a single column removed."""
    lines = [(number, line) for number, line in enumerate(split_lines(source.text), start=1) if line.strip()]
    kept = [(number, line) for number, line in lines if not line.startswith("#")]
    texts, numbers, notes = _unquoted([line for _, line in kept], settings), [number for number, _ in kept], []
    if len(kept) < len(lines):
        notes.append(f"{count(len(lines) - len(kept), 'comment line')} skipped")
    if _has_header(texts, settings):
        notes.append(_header_note(numbers[0], texts[0]))
        texts, numbers = texts[1:], numbers[1:]
    if len(settings.columns) == 1 and settings.columns[0] not in ("1", *(line.strip() for _, line in kept[:1])):
        raise InputError(f"{source.label} has no column {settings.columns[0]!r}: it has one column; leave columns out")
    return _Paths(texts, numbers.__getitem__, notes)


def _from_table(source: Source, settings: ReadSettings, found: int | None) -> _Paths:
    """The column of paths of a table: the one the user named, or the one that was found."""
    parsed = delimited.parse(source, _column_settings(settings))
    header, width = parsed.dialect.header, parsed.dialect.width
    column = locate(settings.columns[0], header, width, source.label) if settings.columns else found or 0
    texts = [text or "" for text in parsed.columns[column].to_pylist()]
    line_of = parsed.line_of
    name = None if header is None else header[column]
    if header is None and _has_header([text for text in texts[:2000] if text.strip()], settings):
        name = texts.pop(0).strip()
        line_of = lambda row: parsed.line_of(row + 1)  # noqa: E731
    called = f"column {column + 1}" + (f" ({short(name)})" if name else "")
    notes = [f"{called} holds breadcrumbs, the other columns were not used; {setting('columns')} names others"]
    if parsed.dialect.comments + parsed.comments:
        notes.append(f"{count(parsed.dialect.comments + parsed.comments, 'comment line')} skipped")
    return _Paths(texts, line_of, notes)


def _column_settings(settings: ReadSettings) -> ReadSettings:
    """Settings for the columns alone: a separator of steps is none of columns."""
    given = settings.separator_text
    return settings if given is None or given in "\t,;" else replace(settings, separator="auto")


def _dialect(sample: Sample, settings: ReadSettings) -> Dialect | None:
    return guess_dialect(sample, _column_settings(settings))


def _path_column(dialect: Dialect | None, settings: ReadSettings) -> int | None:
    """Number of the only column that holds paths, when the others are no parents; None in any other case."""
    if dialect is None or not dialect.regular or dialect.separator == " " or len(settings.columns) > 1:
        return None
    if dialect.header is not None and roles_from_header(dialect.header) is not None and not settings.columns:
        return None
    cells = [[row[i].strip() for row in dialect.rows] for i in range(dialect.width)]
    marks = _IN_TABLES if settings.separator_text in (None, *"\t,;") else (settings.separator_text or "",)
    shares = [max(sum(mark in cell for cell in column) for mark in marks) / max(len(column), 1) for column in cells]
    best = max(range(dialect.width), key=shares.__getitem__)
    others = [i for i in range(dialect.width) if i != best]
    if shares[best] <= 0.5 or any(shares[i] > 0.05 for i in others):
        return None
    # Elsewhere in the row stands an id, or at least no step of these paths; commas in paths make columns, too.
    steps = {step.strip() for mark in marks for cell in cells[best] if mark in cell for step in cell.split(mark)}
    steps.update(cells[best])
    if any(not steps.isdisjoint(cell for cell in cells[i] if cell) for i in others):
        return None
    identified = any(len(set(cells[i])) == len(cells[i]) > 1 for i in others)
    return best if dialect.header is not None or identified else None


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
    mark = _mark_of(rest, settings)
    if mark is None or mark.strip() in first or any(_steps(line, mark)[:1] == [first] for line in rest):
        return False
    if all(_ID.match(line) for line in rest):
        return _ID.match(first) is None
    share = sum(mark in line for line in rest) / len(rest)
    return plain(first) in _HEADER_WORDS or (share > 0.9 and len(rest) > 1)


def _header_note(line: int, text: str) -> str:
    return f"line {line} ({short(text)}) was taken as a header; {setting('header', 'no')} reads it as a path"


def _steps(line: str, mark: str) -> list[str]:
    """Steps of a path; a separator at either end of the line, as in /usr/lib/, makes no empty step."""
    bare = line.strip()
    while bare.startswith(mark.strip()) and mark.strip():
        bare = bare[len(mark.strip()) :].lstrip()
    while bare.endswith(mark.strip()) and mark.strip():
        bare = bare[: -len(mark.strip())].rstrip()
    return [step.strip() for step in bare.split(mark)] if bare else []


def _are_paths(paths: Sequence[Sequence[str]], mark: str) -> bool:
    """Whether lines that begin differently are paths all the same, and no pairs: a top is a top on every line."""
    tops, below = {path[0] for path in paths if path}, {step for path in paths for step in path[1:]}
    longest = max(map(len, paths), default=0)
    return (
        mark in _IN_TABLES
        and all(len(path) > 1 for path in paths)
        and tops.isdisjoint(below)
        and (longest > 2 or mark == " > ")  # "a -> b" may point either way
    )


def _mark_of(lines: Sequence[str], settings: ReadSettings, columns: bool = False) -> str | None:
    """Separator of the steps: the user's, or the first that occurs in half the lines."""
    given = settings.separator_text
    if given is not None and not (columns and given in "\t,;"):
        return given if any(given in line for line in lines) else None
    if len(lines) > 1 and all(_ID.match(line) for line in lines) and any(" > " in line for line in lines):
        return " > "
    for mark in _MARKS:
        if 2 * sum(mark in line for line in lines) >= len(lines) > 0:
            return mark
    return None
