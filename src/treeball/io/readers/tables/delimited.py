"""Parsing of delimited text into Arrow columns, with exact line numbers for whatever is wrong."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from ....errors import InputError
from ....hierarchy.read_report import listed, short
from ....hierarchy.repairs import RepairKind
from ....words import count
from ....workers import apart
from ...memory import require_room
from ..hints import setting
from ..relation import Relation
from ..sample import Sample
from ..settings import ReadSettings
from ..source import Source
from .columns import (
    Roles,
    is_weight,
    looks_like_header,
    roles_from_header,
    roles_from_settings,
    with_forced_direction,
    with_name_column,
)
from .dialect import Dialect, blanked, comment_spans, guess_dialect, quotes_enclose, refuse_width
from .levels import level_columns
from .pairs import as_weights, relation_of_columns

_BYTES_PER_CELL = 5
_BYTES_PER_COLUMN = 6_000
_LINE = re.compile(rb"[^\r\n]*+(?:\r\n|\r|\n|\Z)")
_SEPARATOR_NAMES = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "pipe", " ": "space"}


@dataclass(frozen=True, slots=True)
class Parsed:
    """Columns of a delimited text.

    Attributes
    ----------
    dialect
        How the text is written.
    columns
        Arrow columns of strings, header and comments left out.
    line_of
        Line in the file of row i.
    comments
        Comment lines, at the top and among the rows.
    inner
        How many of them are among the rows.
    quotes
        What was decided about double quotes; empty if there are none, or if the settings say.
    """

    dialect: Dialect
    columns: list[pa.ChunkedArray]
    line_of: Callable[[int], int]
    comments: tuple[int, ...] = ()
    inner: int = 0
    quotes: str = ""

    def tell(self, relation: Relation, note: bool = True) -> None:
        """List the comment lines and the decision about quotes in ``relation``, and note the comments."""
        if self.comments and note:
            relation.notes.append(f"{count(len(self.comments), 'comment line')} skipped")
        relation.record_lines(RepairKind.COMMENT_LINES, self.comments)
        if self.quotes:
            relation.record_lines(RepairKind.QUOTES_READ, [None], self.quotes)


def parse(source: Source, settings: ReadSettings) -> Parsed:
    """All columns of ``source``; a row of another width is refused by its line."""
    sample = Sample.of(source)
    dialect = guess_dialect(sample, settings)
    if dialect is None:
        refuse_width(sample, source.label)
        raise InputError(
            f"{source.label} has one column: each line needs a child and its parent, separated by tab, comma, "
            f"semicolon or |; name another separator with {setting('separator')}"
        )
    top = end_of_comments(source.data, dialect.declared + dialect.comments)
    rest, quotes = source.data[top:], ""
    if b'"' in rest and settings.quoting == "auto":
        dialect = replace(dialect, quoting=quotes_enclose(rest, dialect.separator))
        quotes = "double quotes enclose values" if dialect.quoting else "double quotes belong to the names"
    inner = comment_spans(rest, dialect.separator, dialect.width + dialect.padding, dialect.quoting)
    rest = blanked(rest, inner) if inner else rest
    data = _tidy(rest, dialect)
    locate = _RowLocator(rest, dialect, source.data[:top])
    names = [f"f{i}" for i in range(dialect.width + dialect.padding)]
    ragged: list[Any] = []

    def on_ragged_row(row: Any) -> str:
        ragged.append(row)
        return "error"

    try:
        table = _read_csv(data, dialect, names, on_ragged_row)
    except pa.ArrowInvalid as error:
        if ragged:
            raise _ragged_error(source, dialect, ragged[0], locate) from None
        raise InputError(f"{source.label} cannot be parsed as delimited text: {_first_sentence(error)}") from None
    table = table.slice(1 if dialect.header is not None else 0)
    if table.num_rows == 0:
        raise InputError(f"{source.label} holds a header and no edges: each further line needs a child and its parent")
    columns = [table.column(name) for name in names]
    if any(pc.any(pc.not_equal(pc.utf8_trim_whitespace(column), "")).as_py() for column in columns[dialect.width :]):
        wide = dialect.width + dialect.padding
        header = dialect.header and (*dialect.header, *[""] * dialect.padding)
        dialect = replace(dialect, width=wide, padding=0, header=header)
    comments = _comment_lines(source.data, top, dialect, [top + start for start, _ in inner])
    return Parsed(dialect, columns[: dialect.width], locate, comments, len(inner), quotes)


def _comment_lines(data: bytes, top: int, dialect: Dialect, inner: Sequence[int]) -> tuple[int, ...]:
    """Numbers of the comment lines: those at the top, and those that begin at ``inner``."""
    lines = enumerate(_LINE.findall(data[:top]), start=1)
    above = [number for number, line in lines if line.strip()][dialect.declared :]
    if not inner:
        return tuple(above)
    ends = [found.end() for found in re.finditer(rb"\r\n|\n|\r", data)]
    return (*above, *(int(end) + 1 for end in np.searchsorted(ends, inner, side="right")))


def relation_of(source: Source, settings: ReadSettings, table: bool) -> Relation:
    """Edge list or (``table``) id/parent table in ``source``."""
    parsed = parse(source, settings)
    dialect = parsed.dialect
    roles = with_forced_direction(choose_roles(parsed.dialect, settings, source.label, table), settings)
    columns = parsed.columns
    weights = None
    if roles.weight is not None:
        weights = as_weights(columns[roles.weight], source.label, parsed.line_of)
    relation = relation_of_columns(
        columns[roles.child],
        columns[roles.parent],
        roles=replace(roles, is_table=roles.is_table or table),
        weights=weights,
        label_column=None if roles.label is None else columns[roles.label],
        trim=settings.trim,
        line_of=parsed.line_of,
        label=source.label,
    )
    separator = _SEPARATOR_NAMES.get(dialect.separator, repr(dialect.separator))
    kind = "an id/parent table" if relation.is_table else "an edge list"
    relation.format = f"{kind} ({separator}-separated)"
    relation.columns_given = True
    relation.swapped = roles.child > roles.parent and not settings.columns
    if dialect.comments:
        relation.notes.append(f"{count(dialect.comments, 'comment line')} at the top skipped")
    if parsed.inner:
        relation.notes.append(f"{count(parsed.inner, 'comment line')} among the rows skipped")
    parsed.tell(relation, note=False)
    if dialect.header is None and len(relation.child) > 1:
        _note_possible_header(relation)
    if dialect.header is not None and settings.header == "auto" and not settings.columns:
        _note_header_of_names(relation, (dialect.header[roles.child], dialect.header[roles.parent]))
    return relation


_TITLE_ROWS = 10  # rows of a title that are looked at for a header below them


def choose_roles(dialect: Dialect, settings: ReadSettings, label: str, table: bool) -> Roles:
    """What each column is for: as the settings say, else by the header, else by position and the rows of the sample."""
    if settings.columns:
        return roles_from_settings(settings, dialect.header, dialect.width, label)
    roles = roles_from_header(dialect.header) if dialect.header is not None else None
    if dialect.header is None and settings.header == "auto":
        _refuse_title_above_header(dialect, label)
    if roles is None:
        roles = _roles_by_position(dialect, label, table, bool(settings.name_column))
    return with_name_column(roles, settings, dialect.header, dialect.width, label)


def _refuse_title_above_header(dialect: Dialect, label: str) -> None:
    """Refuse a table that begins with rows of one cell, a title, and a header below them."""
    for number, row in enumerate(dialect.rows[:_TITLE_ROWS]):
        roles = roles_from_header(row)
        if roles is not None and roles.direction is not None and looks_like_header(row, dialect.rows[number + 1 :]):
            if number and set(row).isdisjoint(cell for other in dialect.rows[number + 1 :] for cell in other):
                raise InputError(
                    f"{label} has {count(number, 'row')} of text above the header {listed(row, len(row), 5)}: remove "
                    f"what is above the header, or say {setting('header', 'no')} if these are nodes"
                )
            return
        if sum(bool(cell.strip()) for cell in row) > 1:
            return


def _roles_by_position(dialect: Dialect, label: str, table: bool, named: bool) -> Roles:
    """First and second column; a third is the weight when all of it are numbers, or a name beside two ids."""
    if dialect.width == 2 or named:
        return Roles(0, 1, is_table=table)
    if dialect.width == 3:
        third = [row[2].strip() for row in dialect.rows if len(row) == 3]
        if not any(third):
            return Roles(0, 1, is_table=table)
        if all(is_weight(cell) for cell in third):
            return Roles(0, 1, weight=2, is_table=table)
        if parents_are_ids(dialect.rows):
            return Roles(0, 1, label=2, direction="child-parent", is_table=True)
        if sum(is_weight(cell) for cell in third) > len(third) / 2:
            return Roles(0, 1, weight=2, is_table=table)
    seen = f"named {listed(dialect.header, dialect.width)}" if dialect.header else "without a header"
    raise InputError(
        f"{label} has {dialect.width} columns {seen}: say which hold child and parent, for instance "
        f"{setting('columns', '1,2')}"
    )


def parents_are_ids(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the second column refers to the first, as in a table that gives each node a row of its own."""
    defined = {row[0].strip() for row in rows if len(row) > 1}
    referred = {row[1].strip() for row in rows if len(row) > 1} - {"", "0", "-1"}
    return bool(referred) and len(referred & defined) >= 0.9 * len(referred)


def _note_header_of_names(relation: Relation, header: tuple[str, str]) -> None:
    """Say so when a word of the header is a node, too: the first line may be a row."""
    names = relation.names if isinstance(relation.names, pa.Array) else pa.array(relation.names, pa.string())
    if pc.any(pc.is_in(names, pa.array(header, pa.string()))).as_py():
        relation.notes.append(
            f"the first line ({short(header[0])}, {short(header[1])}) was taken as a header, though its words are "
            f"names as well; {setting('header', 'no')} reads it as a row"
        )


def _note_possible_header(relation: Relation) -> None:
    """Say so if the first line may be a header: it is tied to nothing else, or its words number levels."""
    first = (int(relation.child[0]), int(relation.parent[0]))
    if min(first) < 0 or relation.line(0) is None:
        return
    others = (relation.child[1:], relation.parent[1:])
    is_tied = any((side == code).any() for side in others for code in first)
    one, two = (short(relation.names[code]) for code in first)
    if is_tied and level_columns((one, two)) is None:
        return
    why = "reads like a header of levels" if is_tied else "is tied to no other line"
    relation.notes.append(
        f"line {relation.line(0)} ({one}, {two}) {why}: if it is a header, say {setting('header', 'yes')}"
    )


def _read_csv(data: bytes, dialect: Dialect, names: list[str], handler: Callable[[Any], str]) -> pa.Table:
    block = 1 << 22

    def read() -> pa.Table:
        return pacsv.read_csv(
            pa.BufferReader(data),
            # Rows are numbered only when read by one thread.
            read_options=pacsv.ReadOptions(use_threads=False, block_size=block, column_names=names),
            parse_options=pacsv.ParseOptions(
                delimiter="\t" if dialect.separator == " " else dialect.separator,
                quote_char='"' if dialect.quoting else False,
                newlines_in_values=dialect.quoting,
                invalid_row_handler=handler,
            ),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), check_utf8=False, strings_can_be_null=False
            ),
        )

    cells = data.count(b"\n") * len(names) + len(names)
    require_room(2 * len(data) + _BYTES_PER_CELL * cells + _BYTES_PER_COLUMN * len(names))
    while True:
        try:
            return apart(read)
        except pa.ArrowInvalid as error:
            if "straddl" not in str(error) or block > len(data):
                raise
            block = min(block * 16, (1 << 31) - 1) if block < (1 << 30) else len(data) + 1
            if block > (1 << 31) - 1:
                raise


def end_of_comments(data: bytes, comments: int) -> int:
    """Where the line after so many that are not blank begins."""
    end = 0
    while comments and (line := _LINE.match(data, end)) is not None and end < len(data):
        end = line.end()
        comments -= bool(line.group().strip())
    return end


def _tidy(data: bytes, dialect: Dialect) -> bytes:
    """Text that Arrow parses as meant: no blank lines, one separator between blank-separated columns."""
    if dialect.separator == " ":
        lines = (re.sub(rb"[ \t]+", b"\t", line.strip(b" \t")) for line in re.split(rb"[\r\n]+", data))
        return b"\n".join(line for line in lines if line)
    if dialect.quoting:
        mark = re.escape(dialect.separator.encode())
        if re.search(mark + rb" +\"", data):
            # A blank before an opening quote would make the quote part of the value.
            pattern = re.compile(rb"(\"[^\"]*+(?:\"\"[^\"]*+)*\")|(" + mark + rb") +(?=\")")
            data = pattern.sub(lambda found: found.group(1) or found.group(2), data)
        return data
    # Most texts have no line that begins with a blank, which is seen faster than that none is blank throughout.
    if data[:1] in (b" ", b"\t") or any(begin in data for begin in (b"\n ", b"\n\t", b"\r ", b"\r\t")):
        return re.sub(rb"(?m)^[ \t]+\r?$", b"", data)
    return data


class _RowLocator:
    """Line number of a row; worked out only when a message or a list of repairs needs it."""

    def __init__(self, data: bytes, dialect: Dialect, top: bytes) -> None:
        self._data, self._dialect, self._top = data, dialect, len(re.findall(rb"\r\n|\n|\r", top))

    def __call__(self, row: int) -> int:
        """Line, from 1, of data row ``row``, from 0."""
        return self.line_of_record(row + (self._dialect.header is not None))

    def many(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """Lines (k,) of data rows (k,)."""
        return self._lines_of(rows.astype(np.int64) + (self._dialect.header is not None))

    def line_of_record(self, record: int) -> int:
        """Line of record ``record``, from 0, the header included."""
        return int(self._lines_of(np.array([record], np.int64))[0])

    def _lines_of(self, records: NDArray[np.int64]) -> NDArray[np.int64]:
        lines = self._lines
        known = np.minimum(records, max(lines.size - 1, 0))
        return self._top + (np.where(records < lines.size, lines[known], records + 1) if lines.size else records + 1)

    @cached_property
    def _lines(self) -> NDArray[np.int64]:
        """Line (r,), from 1, on which each record begins; blank lines are no records."""
        if self._dialect.quoting:
            return np.array(self._quoted(), np.int64)
        data = self._data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in self._data else self._data
        require_room(2 * len(data))
        ends = np.append(np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")), len(data))
        starts = np.concatenate(([0], ends[:-1] + 1))
        blank = starts == ends
        indented = np.isin(np.frombuffer(data, np.uint8)[np.minimum(starts, max(len(data) - 1, 0))], (9, 32)) & ~blank
        for line in np.flatnonzero(indented).tolist():
            blank[line] = not data[starts[line] : ends[line]].strip(b" \t")
        return np.flatnonzero(~blank) + 1

    def _quoted(self) -> list[int]:
        reader = csv.reader(io.StringIO(self._data.decode(), newline=""), delimiter=self._dialect.separator)
        found, before = [], 0
        try:
            for cells in reader:
                if cells:
                    found.append(before + 1)
                before = reader.line_num
        except csv.Error:
            pass
        return found


def _ragged_error(source: Source, dialect: Dialect, row: Any, locate: _RowLocator) -> InputError:
    line = locate.line_of_record(row.number - 1)
    separator = _SEPARATOR_NAMES.get(dialect.separator, repr(dialect.separator))
    columns = f"{row.actual_columns} column" + ("" if row.actual_columns == 1 else "s")
    advice = (
        f"a name that holds the separator ({separator}) needs double quotes around it"
        if row.actual_columns > row.expected_columns
        else f"complete the line, or name another separator than {separator} with {setting('separator')}"
    )
    return InputError(
        f"{source.label}, line {line}: {columns} where the other lines have {row.expected_columns}; {advice}"
    )


def _first_sentence(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
