"""Dialect of a delimited text: separator, quoting, number of columns, header, leading comments."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ....errors import InputError
from ..sample import Sample
from ..settings import ReadSettings
from .columns import is_number, looks_like_header, roles_from_header
from .levels import level_columns

MOST_COLUMNS = 10_000
# Commas come last: they also occur in names and decimals, on every line if need be.
_CANDIDATES = ("\t", ";", "|", ",")
# So much of the first line tells how it is quoted.
_FIRST_LINE = 1 << 21
_EXCEL_SEPARATOR = re.compile(r"\s*\"?sep=([\t -~])\"?[ ,;\t]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a delimited text is written.

    Attributes
    ----------
    separator
        One character; a blank stands for any run of blanks.
    quoting
        Whether double quotes enclose values.
    width
        Number of columns.
    header
        The header cells, or None.
    comments
        Number of lines before the data that begin with ``#``.
    regular
        Whether every line of the sample has ``width`` columns.
    rows
        Rows of the sample without header and comments.
    padding
        Number of columns after ``width`` that are empty in every row.
    declared
        Whether the first line is that of Excel which names the separator, ``sep=;``.
    """

    separator: str
    quoting: bool
    width: int
    header: tuple[str, ...] | None
    comments: int
    regular: bool
    rows: tuple[tuple[str, ...], ...]
    padding: int = 0
    declared: bool = False


def guess_dialect(sample: Sample, settings: ReadSettings) -> Dialect | None:
    """The dialect of ``sample``, or None when no separator makes columns of it; one format after the other asks."""
    if settings not in sample.guesses:
        found = _guess(sample.lines, settings)
        if found is not None and found.comments:
            found = replace(found, comments=found.comments + sample.comments_left_out)
        sample.guesses[settings] = found
    guess: Dialect | None = sample.guesses[settings]
    return guess


def _guess(lines: Sequence[str], settings: ReadSettings) -> Dialect | None:
    given = settings.separator_text
    declared = _EXCEL_SEPARATOR.fullmatch(lines[0]) if lines else None
    if declared is not None:
        lines = lines[1:]
        given = declared.group(1) if given is None else given
    if given is not None:
        forced = _dialect_with(given, lines, settings) if len(given) == 1 else None
        return forced and replace(forced, declared=declared is not None)
    found = [dialect for mark in _CANDIDATES if (dialect := _dialect_with(mark, lines, settings)) is not None]
    regular = [dialect for dialect in found if dialect.regular]
    if regular:
        # With several regular separators a header that makes sense decides, then the order above.
        named = [one for one in regular if one.header is not None and roles_from_header(one.header) is not None]
        # A mark that a blank follows everywhere is punctuation within names, if another mark makes columns, too.
        tight = [one for one in regular if any(cell[:1] != " " for row in one.rows for cell in row[1:])]
        return (named or tight or regular)[0]
    spaced = _dialect_with(" ", lines, settings)
    if spaced is not None and spaced.regular and _blanks_separate(spaced):
        return spaced
    return max(found, key=lambda one: sum(len(row) == one.width for row in one.rows), default=None)


def split_rows(lines: Sequence[str], separator: str, quoting: bool) -> list[tuple[str, ...]]:
    """Rows of a few lines, for guessing; the whole file is parsed by delimited.py."""
    if separator == " ":
        return [tuple(line.split()) for line in lines]
    if not quoting:
        return [tuple(line.split(separator)) for line in lines]
    try:
        rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
        return [tuple(row) for row in rows if row]
    except csv.Error:
        return [tuple(line.split(separator)) for line in lines]


def quotes_enclose(data: bytes, separator: str) -> bool:
    """Whether double quotes enclose values in ``data``, rather than being part of the names.

    They do when every value that begins with a quote ends with one. Where columns are separated by
    anything but comma or semicolon, quoting must also have a reason: it hides a separator, a quote or a line end, or
    the first line is quoted throughout; otherwise the quotes are taken as part of the names.
    """
    mark = re.escape(separator.encode())
    blanks = b"" if separator == " " else b"[ ]*"  # a run of blanks must not be looked through again from each of them
    opening = re.compile(rb"(?:\A|[\r\n]|" + mark + rb")" + blanks + rb"(\")")
    value = re.compile(rb"\"([^\"]*+(?:\"\"[^\"]*+)*+)\"(?=" + mark + rb"|[\r\n]|\Z)")
    common = separator in ",;"
    ends = [end for end in (data.find(b"\n"), data.find(b"\r")) if end >= 0]
    first_line = data[: min([*ends, _FIRST_LINE])]
    cell = blanks + rb"\"[^\"]*+(?:\"\"[^\"]*+)*+\"" + blanks
    # A separator inside of quotes is no end of a value; the first line may be cut off.
    quoted_cells = re.compile(cell + rb"(?:" + mark + cell + rb")*+").fullmatch(first_line)
    throughout = quoted_cells is not None or len(opening.findall(first_line)) > first_line.count(separator.encode())
    reasons = True
    position = count = 0
    while (start := opening.search(data, position)) is not None:
        quoted = value.match(data, start.start(1))
        if quoted is None:
            return False
        body = quoted.group(1)
        reasons = reasons and re.search(mark + rb"|[\"\r\n]", body) is not None
        if not (common or throughout or reasons):
            return False
        count += 1
        position = quoted.end()
    return count > 0


def refuse_width(sample: Sample, label: str) -> None:
    """Raise InputError for lines with more columns than any table has."""
    lines = sample.lines
    widths = [sorted(line.count(mark) + 1 for line in lines)[len(lines) // 2] for mark in _CANDIDATES if lines]
    width = max(widths, default=0)
    if width > MOST_COLUMNS:
        raise InputError(
            f"{label} has lines of {width:,} columns, and no table has more than {MOST_COLUMNS:,}: give an edge list, "
            "a child and its parent on each line"
        )


def _dialect_with(separator: str, lines: Sequence[str], settings: ReadSettings) -> Dialect | None:
    if 2 * sum(line.count(separator) >= MOST_COLUMNS for line in lines) > len(lines):
        return None
    quoting = settings.quoting == "on" or (
        settings.quoting == "auto"
        and any('"' in line for line in lines)
        and quotes_enclose("\n".join(lines).encode("utf-8", "replace"), separator)
    )
    rows = split_rows(lines, separator, quoting)
    comments = _leading_comments(lines, rows, settings)
    lines, rows = lines[comments:], rows[comments:]
    if not rows:
        return None
    width = Counter(len(row) for row in rows).most_common(1)[0][0]
    if width < 2:
        return None
    text = "\n".join(lines).encode("utf-8", "replace")
    inner = comment_spans(text, separator, width, quoting)
    if inner:
        kept = blanked(text, inner).decode("utf-8", "replace").split("\n")
        rows = split_rows([line for line in kept if line.strip()], separator, quoting)
    complete = [row for row in rows if len(row) == width]
    padding = 0
    while width - padding > 2 and not any(row[width - 1 - padding].strip() for row in complete):
        padding += 1
    if padding:
        rows = [row[: width - padding] if len(row) == width else row for row in rows]
        width -= padding
    header = None
    first = tuple(cell.strip() for cell in rows[0])
    first = (first[0].lstrip("#").strip(), *first[1:])
    named = any(
        column in first for column in (*settings.columns, settings.name_column) if column and not column.isdigit()
    )
    if len(first) == width and (
        settings.header == "yes" or (settings.header == "auto" and (named or _is_header(first, rows[1:1000])))
    ):
        header = first
        rows = rows[1:]
    regular = all(len(row) == width for row in rows)
    return Dialect(separator, quoting, width, header, comments, regular, tuple(rows), padding)


def _is_header(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names columns, by their roles or as levels; names of levels do not occur below."""
    if looks_like_header(first, rest):
        return True
    return level_columns(first) is not None and set(first).isdisjoint(cell.strip() for row in rest for cell in row)


def _leading_comments(lines: Sequence[str], rows: Sequence[Sequence[str]], settings: ReadSettings) -> int:
    """Lines at the top that begin with ``#``, but not a header among them, nor rows where other names begin so too."""
    count = 0
    while count < min(len(lines), len(rows)) and lines[count].startswith("#"):
        count += 1
    if count in (0, len(rows)):
        return 0
    rest = rows[count : count + 1000]
    width = len(rest[0])
    if any(cell.lstrip().startswith("#") and not cell.startswith("# ") for row in rest for cell in row):
        while count and len(rows[count - 1]) == width:
            count -= 1
        return count
    below = {cell.strip() for row in rest for cell in row}
    known = None if settings.header == "no" else below
    first = next((i for i in range(count) if _is_row(lines[i], rows[i], width, known)), count)
    if first < count:
        return first
    last = tuple(cell.strip() for cell in (rows[count - 1][0].lstrip("#"), *rows[count - 1][1:]))
    named = any(
        column in last for column in (*settings.columns, settings.name_column) if column and not column.isdigit()
    )
    is_header = named or settings.header == "yes" or _is_header(last, rest)
    if len(last) == width and settings.header != "no" and is_header and not _is_header(rest[0], rest[1:]):
        return count - 1
    return count


def _is_row(line: str, row: Sequence[str], width: int, below: set[str] | None) -> bool:
    """Whether a line that begins with ``#`` is a row: it has all columns, and one of its names occurs further down.

    Without a header, ``below`` is None, all columns are enough.
    """
    whole = len(row) == width and re.match(r"#(?:[ #]|\Z)", line) is None
    return whole and (
        below is None or any(cell.strip() in below for cell in row if cell.strip() and not is_number(cell))
    )


def comment_spans(data: bytes, separator: str, width: int, quoting: bool) -> list[tuple[int, int]]:
    """Where in ``data`` comments stand: lines after the first that begin with ``#`` while no name does.

    A line of as many columns as the others is a comment only when a blank or another ``#`` follows.
    """
    if b"\n#" not in data and b"\r#" not in data:
        return []
    lines = list(re.finditer(rb"(?<=[\r\n])#[^\r\n]*", data))
    top = re.match(rb"\s*+[^\r\n]*+", data)
    start = top.end() if top else 0
    lines = [line for line in lines if line.start() > start]
    everywhere = data.lstrip().startswith(b"#") and re.search(rb"[\r\n][ \t]*[^#\s]", data) is None
    if not lines or everywhere:
        return []
    mark = rb"[ \t]" if separator == " " else re.escape(separator.encode())
    cell = re.compile(rb"(?:\A|[\r\n]|" + mark + rb")" + (b"" if separator == " " else b"[ ]*") + rb"\"?#")
    if len(cell.findall(data, start)) != sum(len(cell.findall(line.group())) for line in lines):
        return []
    spans, position, quotes = [], 0, 0
    for line in lines:
        if quoting:
            quotes += data.count(b'"', position, line.start())
            position = line.start()
            if quotes % 2:
                continue  # inside of a value
        cells = line.group().strip() if separator == " " else line.group()
        if quoting and b'"' in cells:
            columns = len(split_rows([cells.decode("utf-8", "replace")], separator, quoting)[0])
        else:
            columns = len(re.findall(mark, cells)) + 1
        if columns == width and not re.match(rb"#(?:[ #]|\Z)", line.group()):
            return []
        spans.append(line.span())
    return spans


def blanked(data: bytes, spans: Sequence[tuple[int, int]]) -> bytes:
    """``data`` without what stands in ``spans``; line ends stay, so that lines keep their numbers."""
    parts, position = [], 0
    for start, end in spans:
        parts.append(data[position:start])
        position = end
    return b"".join((*parts, data[position:]))


def _blanks_separate(dialect: Dialect) -> bool:
    """Blanks separate columns, rather than words of one name, when ids are numbers or both columns share names."""
    if dialect.width > 3 or (dialect.width == 3 and not all(is_number(row[2]) for row in dialect.rows)):
        return False
    if dialect.header is not None:
        return True
    left, right = {row[0] for row in dialect.rows}, {row[1] for row in dialect.rows}
    numbers = all(is_number(name) for name in left | right)
    return numbers or not left.isdisjoint(right)
