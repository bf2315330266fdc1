"""Which columns of many files are child and parent: decided as the single-file reader does, and written as SQL.

The single-file reader looks at header and sample of the first file. DuckDB is asked for what needs all rows.
"""

from __future__ import annotations

import glob
import gzip
import os
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from textwrap import shorten
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from ..hierarchy.read_report import listed, short
from ..io.model_columns import METADATA_KEY, VECTORS_KEY
from ..io.readers._read import _format_of
from ..io.readers.relation import Direction
from ..io.readers.sample import Sample
from ..io.readers.settings import ReadSettings
from ..io.readers.source import Source
from ..io.readers.tables.arrow_table import choose_roles as choose_typed_roles
from ..io.readers.tables.arrow_table import levels_or_paths, names_no_parents
from ..io.readers.tables.columns import (
    CERTAIN_NULL_WORDS,
    NO_PARENT_NUMBERS,
    NULL_WORDS,
    Roles,
    looks_like_header,
    with_forced_direction,
)
from ..io.readers.tables.delimited import choose_roles, end_of_comments
from ..io.readers.tables.dialect import Dialect, comment_spans, guess_dialect, split_rows
from ..words import count

__all__ = ["Columns", "Input", "columns_of", "ending", "open_binary", "quoted", "unreadable"]

_HEAD, _LONGEST_HEAD, _SHORT_HEAD = 1 << 20, 1 << 24, 1 << 16
_LINES_OF_OTHERS = 50
_SAMPLE_ROWS = 2000
_DISK_FULL = "no space left|file too large|disk quota|failed to offload|max_temp_directory_size"
_SPACE = "".join(letter for letter in map(chr, range(0x3001)) if letter.isspace())
_EDGES = ("edge_list", "parent_table")
_WAY_OUT = "name the columns with --columns child,parent, or fit the file alone, as a single-file model"
_TYPES_WITHOUT_NAMES = ("STRUCT", "MAP", "UNION", "BLOB", "VARIANT")


@dataclass(frozen=True)
class Input:
    """Files of one kind, and how to read them.

    Attributes
    ----------
    files : paths or addresses, in order
    is_text : whether they are CSV, and not Parquet
    reading : the user's choices
    """

    files: tuple[str, ...]
    is_text: bool
    reading: ReadSettings


@dataclass(frozen=True)
class Columns:
    """SQL that gives ``child`` and ``parent``, and what a person is told about it.

    Attributes
    ----------
    child, parent : SQL expressions; only first and second side when `direction` is None
    table : SQL of the rows
    named : what child and parent are called
    direction : None when the structure has to tell
    default : direction to assume, with a doubt, when the structure cannot tell
    notes : what else to say
    unseen : beginnings of names that the sample has none of, with what to do about them
    root_words : words that mark roots once `direction` is known: of the second side, and of the first
    """

    child: str
    parent: str
    table: str
    named: tuple[str, str]
    direction: Direction | None
    default: Direction = "child-parent"
    notes: tuple[str, ...] = ()
    unseen: tuple[tuple[str, str], ...] = ()
    root_words: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def select(self) -> str:
        """Query of all edges, in the order of the files."""
        return f"SELECT {self.child} AS child, {self.parent} AS parent FROM {self.table}"

    @property
    def said(self) -> str:
        """Which columns are read as what."""
        child, parent = self.named
        return "; ".join((f"{child} is child, {parent} is parent", *self.notes))

    def decided(self, direction: Direction, *why: str) -> Columns:
        """These columns with a direction that the data told."""
        now = replace(self, direction="child-parent", notes=(*self.notes, *why), root_words=((), ()))
        if direction == "parent-child":
            now = replace(now, child=self.parent, parent=self.child, named=self.named[::-1])
        words = self.words_of(direction)
        if not words:
            return now
        return replace(now, parent=_without_words(now.parent, words), notes=(*now.notes, _marks_roots(words)))

    def words_of(self, direction: Direction) -> tuple[str, ...]:
        """Words that mark roots if `direction` is the direction."""
        return self.root_words[direction == "parent-child"]

    def check(self, piece: pa.RecordBatch, file: str) -> None:
        """Refuse names whose beginning would have changed how the file is read, had the sample held one."""
        for side in ("child", "parent"):
            for mark, remedy in self.unseen:
                row = pc.index(pc.starts_with(piece[side], mark), pa.scalar(True)).as_py()
                if row >= 0:
                    name = short(piece[side][row].as_py())
                    raise InputError(f"{file!r} or a file after it holds the name {name}, and no name like it in its "
                                     f"first lines: {remedy}")  # fmt: skip


def columns_of(base: Any, given: Input, is_node: Callable[[str], bool] | None = None) -> Columns:
    """Find the columns of child and parent; InputError where header and data leave open which they are.

    `is_node` tells the nodes of a model that is there already: a first line that names one is no header.
    """
    found = _columns_of_text(base, given, is_node) if given.is_text else _columns_of_parquet(base, given)
    if found.direction is not None or given.reading.direction != "header":
        return found
    return found.decided(found.default)


# ---- CSV ----


@dataclass(frozen=True)
class _Layout:
    """How a file lays out the columns of the first one: its columns in their order, and lines above the header."""

    order: tuple[int, ...]
    skipped: int


def _columns_of_text(base: Any, given: Input, is_node: Callable[[str], bool] | None) -> Columns:
    heads = [(file, _head(file, _HEAD if place == 0 else _SHORT_HEAD)) for place, file in enumerate(given.files)]
    filled = [(file, head) for file, head in heads if head.strip()]
    if not filled:
        raise InputError(f"{given.files[0]!r} is empty: give files with columns child and parent")
    file, data = filled[0]
    source = Source(repr(file), None, data if file == given.files[0] else _head(file, _HEAD), "")
    sample, settings = Sample.of(source), given.reading
    dialect, format = _dialect_of(source, sample, settings)
    roles = choose_roles(dialect, settings, repr(file), format == "parent_table")
    roles = with_forced_direction(replace(roles, is_table=roles.is_table or format == "parent_table"), settings)
    quoting = _quoting(dialect, sample, settings)
    layouts = [(file, _first_layout(source, dialect))]
    layouts += [(other, _layout_of(other, head, dialect)) for other, head in filled[1:]]
    table = _text_table(layouts, dialect, quoting)
    if dialect.header is None and settings.header == "auto":
        _require_tied(base, dialect, roles, _text_table(layouts[:1], dialect, quoting), file, is_node)
    names = tuple(dialect.header or (f"column {number + 1}" for number in range(dialect.width)))
    kinds = ["VARCHAR"] * dialect.width
    notes = ["no header"] if dialect.header is None else []
    if len(filled) < len(heads):
        notes.append(f"left out {count(len(heads) - len(filled), 'empty file')}")
    unseen = [(mark, "remove comment lines, or convert the files to Parquet") for mark in ("# ", "##")]
    if not quoting and settings.quoting == "auto" and '"' not in sample.text:
        unseen.append(('"', "say --quoting on or --quoting off"))
    columns = _with_roles(base, _Table(table, tuple(f"f{i}" for i in range(dialect.width)), names, tuple(kinds), True,
                                       settings.trim, file), roles, notes)  # fmt: skip
    return replace(columns, unseen=tuple(unseen))


def _head(file: str, size: int) -> bytes:
    """Whole lines at the beginning of a file; more of it where lines are very long."""
    try:
        with open_binary(file) as opened:
            data: bytes = opened.read(size)
            if len(data) == size and data.count(b"\n") + data.count(b"\r") < 5:
                data += opened.read(_LONGEST_HEAD - size)
            cut = bool(opened.read(1))
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise InputError(unreadable(repr(file), error, "correct or leave it out")) from None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{file!r} is UTF-16: convert it, as with  iconv -f utf-16 -t utf-8")
    if cut:
        end = max(data.rfind(b"\n"), data.rfind(b"\r"))
        data = data[: end + 1] if end >= 0 else data
    return data.removeprefix(b"\xef\xbb\xbf")


def _dialect_of(source: Source, sample: Sample, settings: ReadSettings) -> tuple[Dialect, str]:
    """How the first file separates its columns; InputError for what holds no two columns of nodes."""
    if len(settings.columns) == 1 or settings.format not in ("auto", "edges", "table"):
        raise InputError("a partitioned model is made of edges: name two columns with --columns child,parent")
    dialect = guess_dialect(sample, settings)
    format = _format_of(source, settings)
    if dialect is None:
        raise InputError(
            f"{source.label} has one column: edges need two, child and parent, separated by comma, semicolon, tab or "
            "|; name another separator with --separator"
        )
    if format not in _EDGES and not dialect.regular:
        format = _EDGES[0]  # the line with too many or too few columns is named where the rows are read
    if format not in _EDGES:
        raise InputError(
            f"{source.label} holds {_spoken(format)}, and a partitioned model is made of edges, a child and its parent "
            f"a row: {_WAY_OUT}"
        )
    if dialect.separator == " ":
        raise InputError(
            f"{source.label} separates columns by blanks, which a partitioned fit does not read: convert it to commas"
        )
    below = source.data[end_of_comments(source.data, dialect.declared + dialect.comments) :]
    if comment_spans(below, dialect.separator, dialect.width + dialect.padding, dialect.quoting):
        raise InputError(f"{source.label} has comment lines among its rows: remove them for a partitioned fit")
    return dialect, format


def _spoken(format: str) -> str:
    words = {"levels": "a column for each level", "breadcrumbs": "paths (breadcrumbs)"}
    return words.get(format, f"no columns of edges but {format.replace('_', ' ')}")


def _quoting(dialect: Dialect, sample: Sample, settings: ReadSettings) -> bool:
    """Whether double quotes enclose values; where the sample has none, they do in CSV and not beside tabs."""
    if settings.quoting != "auto":
        return settings.quoting == "on"
    return dialect.quoting if '"' in sample.text else dialect.separator in ",;"


def _first_layout(source: Source, dialect: Dialect) -> _Layout:
    top = source.data[: end_of_comments(source.data, dialect.declared + dialect.comments)]
    return _Layout(tuple(range(dialect.width)), len(re.findall(rb"\r\n|\n|\r", top)))


def _layout_of(file: str, head: bytes, dialect: Dialect) -> _Layout:
    """Layout of a further file; InputError where its header is another one."""
    physical = re.split(r"\r\n|\n|\r", head.decode("utf-8", "replace"), maxsplit=_LINES_OF_OTHERS)
    lines = [(number, line) for number, line in enumerate(physical) if line.strip()]
    skipped = int(dialect.declared and lines[0][1].lower().lstrip('" ').startswith("sep="))
    wanted = dialect.header
    while True:
        rows = split_rows([line for _, line in lines[skipped:_LINES_OF_OTHERS]], dialect.separator, dialect.quoting)
        cells = [cell.strip() for cell in rows[0]] if rows else []
        if wanted is not None and cells:
            named = [cells[0].lstrip("#").strip(), *cells[1:]][: dialect.width]
            if sorted(named) == sorted(wanted):
                order = tuple(_places(named, wanted))
                break
        is_comment = bool(lines[skipped:]) and lines[skipped][1].startswith("#") and dialect.comments > 0
        if wanted is None and not is_comment:
            if len(rows) > 1 and looks_like_header(cells, rows[1:]):
                raise InputError(f"{file!r} has the header {listed(cells, len(cells), 5)}, the first file has none: "
                                 "give all files a header, or none")  # fmt: skip
            order = tuple(range(dialect.width))
            break
        if not is_comment:
            shown = listed(wanted or (), dialect.width, 5)
            raise InputError(
                f"{file!r} begins with {listed(cells, len(cells), 5)}, and the first file has the header {shown}: give "
                "all files the same header"
            )
        skipped += 1
    return _Layout(order, lines[skipped][0] if wanted is not None or skipped else 0)


def _places(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """For each of some names, distinct or not, which of the wanted ones it is."""
    left = list(enumerate(wanted))
    found = []
    for name in names:
        at = next(place for place, (_, one) in enumerate(left) if one == name)
        found.append(left.pop(at)[0])
    return found


def _text_table(layouts: list[tuple[str, _Layout]], dialect: Dialect, quoting: bool) -> str:
    """SQL of the rows of all files, with the columns of the first one as f0, f1, ...; files of one layout together."""
    width = dialect.width + dialect.padding
    mark = '"' if quoting else ""
    parts = []
    for layout, group in groupby(layouts, key=lambda one: one[1]):
        order = (*layout.order, *range(dialect.width, width))
        columns = ", ".join(f"'f{place}': 'VARCHAR'" for place in order)
        files = ", ".join(file_text(file) for file, _ in group)
        parts.append(
            f"SELECT {', '.join(f'f{i}' for i in range(dialect.width))} FROM read_csv([{files}], auto_detect=false, "
            f"columns={{{columns}}}, header={str(dialect.header is not None).lower()}, skip={layout.skipped}, "
            f"delim={text(dialect.separator)}, quote='{mark}', escape='{mark}', "
            "hive_partitioning=false)"
        )
    return f"({' UNION ALL '.join(parts)})"


def _require_tied(
    base: Any, dialect: Dialect, roles: Roles, table: str, file: str, is_node: Callable[[str], bool] | None
) -> None:
    """Refuse a first line that may be a header of unknown words: none of its names occurs in any other line."""
    places = (roles.child, roles.parent)
    if not dialect.rows:
        return
    first = [dialect.rows[0][place].strip() for place in places]
    below = {row[place].strip() for row in dialect.rows[1:] if len(row) == dialect.width for place in places}
    if not all(first) or not below.isdisjoint(first) or (is_node is not None and any(map(is_node, first))):
        return
    sides = [f"trim(f{place}, {text(_SPACE)})" for place in places]
    either = " OR ".join(f"{side} IN (?, ?)" for side in sides)
    query = f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {either} LIMIT 2)"
    try:
        tied = base.execute(query, first * 2).fetchall()[0][0] > 1
    except Exception as error:
        raise InputError(unreadable(repr(file), error, "correct or leave it out")) from None
    if not tied:
        named = shorten(",".join(first), 60, placeholder=" ...")
        raise InputError(
            f"the first line of {file!r} ({named}) may be a header or an edge, for no "
            f"other line has its names: name child and parent, as in --columns {named}, "
            "or say --header no"
        )


# ---- Parquet ----


def _columns_of_parquet(base: Any, given: Input) -> Columns:
    file, settings = given.files[0], given.reading
    if len(settings.columns) == 1 or settings.format not in ("auto", "parquet"):
        raise InputError("a partitioned model is made of edges: name two columns with --columns child,parent")
    table = f"read_parquet([{', '.join(map(file_text, given.files))}], union_by_name=false, hive_partitioning=false)"
    try:
        kinds = {row[0]: row[1] for row in base.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()}
        keys = {
            bytes(row[0]) for row in base.execute(f"SELECT key FROM parquet_kv_metadata({file_text(file)})").fetchall()
        }
        answer = base.sql(f"SELECT * FROM {table} LIMIT {_SAMPLE_ROWS}")
        # Versions of DuckDB have different names for it.
        head = (getattr(answer, "to_arrow_table", None) or answer.fetch_arrow_table)()
    except Exception as error:
        raise InputError(unreadable(repr(file), error, "give files with columns child and parent")) from None
    if not settings.columns and keys & {METADATA_KEY, VECTORS_KEY} and {"node", "parent"} <= set(kinds):
        raise InputError(f"{file!r} is a model or its exported vectors: fit it as a single-file model, which reads all "
                         "its parents, or name two columns with --columns node,parent")  # fmt: skip
    header = list(kinds)
    if len(header) < 2:
        raise InputError(f"{file!r} has one column: edges need two, child and parent")
    if names_no_parents(header, settings) and levels_or_paths(head, header, repr(file), settings) is not None:
        raise InputError(
            f"{file!r} holds a column for each level, or paths, and a partitioned model is made of edges, a child and "
            f"its parent a row: {_WAY_OUT}"
        )
    types = [head.schema.field(place).type for place in range(len(header))]
    roles = with_forced_direction(choose_typed_roles(header, types, settings, repr(file)), settings)
    for place in (roles.child, roles.parent):
        kind = kinds[header[place]]
        if "[" in kind or kind.startswith(_TYPES_WITHOUT_NAMES):
            raise InputError(f"{file!r}: the column {header[place]!r} of type {kind} cannot name nodes; use text")
    source = _Table(table, tuple(map(quoted, header)), tuple(header), tuple(kinds.values()), False, False, file)
    if not roles.is_table:
        child, parent = (source.columns[place] for place in (roles.child, roles.parent))
        empty = [f"count(*) FILTER ({column} IS NULL)" for column in (child, parent)]
        without_child, without_parent = source.ask(base, f"SELECT {', '.join(empty)} FROM {table}")[0]
        if without_parent and not without_child:
            roles = replace(roles, direction="child-parent", is_table=True)
    return _with_roles(base, source, roles, [])


# ---- both ----


@dataclass(frozen=True)
class _Table:
    """Rows of all files: SQL, and for each column its SQL name, what a person calls it, and its type."""

    sql: str
    columns: tuple[str, ...]
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    is_text: bool
    trims: bool
    file: str

    def ask(self, base: Any, query: str, *values: object) -> list[Any]:
        """Rows of an answer."""
        try:
            found: list[Any] = base.execute(query, list(values)).fetchall()
        except Exception as error:
            what = f"{self.file!r} or a file after it"
            raise InputError(unreadable(what, error, "correct or leave it out")) from None
        return found

    def name(self, place: int) -> str:
        """SQL for the name of a node that a column tells, NULL where it tells none."""
        column, kind = self.columns[place], self.kinds[place]
        if kind in ("DOUBLE", "FLOAT"):
            # Integer ids turn to floats when a column has gaps for the roots.
            whole = f"{column} = floor({column}) AND abs({column}) < 9007199254740992"
            # As text, for Parquet's statistics, by which conditions are decided, know of no NaN.
            name = f"nullif({column}::VARCHAR, 'nan')"
            return f"coalesce(CASE WHEN {whole} THEN TRY_CAST({column} AS BIGINT)::VARCHAR END, {name})"
        if kind not in ("VARCHAR", "UUID") and not kind.startswith("ENUM"):
            return f"{column}::VARCHAR"
        trimmed = f"trim({column}::VARCHAR, {text(_SPACE)})"
        return f"nullif({trimmed}, '')" if self.trims else f"CASE WHEN {trimmed} <> '' THEN {column}::VARCHAR END"


def _with_roles(base: Any, table: _Table, roles: Roles, notes: list[str]) -> Columns:
    """SQL of two columns: labels where parents refer to them, integers without decimals, roots without a parent."""
    child, parent = roles.child, roles.parent
    if roles.label is not None and roles.alternative is not None and _refers_to(base, table, roles):
        notes = [*notes, f"parents are found in {table.names[roles.label]}, so that names nodes"]
        notes += _labels_of_several_ids(base, table, child, roles.label)
        child = roles.label
    first, second = (_without_decimals(base, table, *pair) for pair in ((child, parent), (parent, child)))
    root_words: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    if roles.is_table:
        markers = _root_markers(base, table, first, second)
        is_root = f"{second} = {first}"
        if markers:
            is_root += f" OR {second} IN ({', '.join(map(text, markers))})"
            notes = [*notes, _marks_roots(markers)]
        second = f"CASE WHEN {is_root} THEN NULL ELSE {second} END"
    elif roles.direction is not None:
        markers = _edge_markers(base, table, first, second)
        if markers:
            notes = [*notes, _marks_roots(markers)]
            second = _without_words(second, markers)
    else:
        one, two = (tuple(_edge_markers(base, table, *sides)) for sides in ((first, second), (second, first)))
        root_words = (one, two)
    unused = [short(name) for place, name in enumerate(table.names) if place not in (child, parent) and name.strip()]
    if unused:
        notes = [*notes, f"not used: {', '.join(unused[:3])}{', ...' if len(unused) > 3 else ''}"]
    if table.trims:
        notes = [*notes, "without blanks around names"]
    return Columns(
        first, second, table.sql, (table.names[child], table.names[parent]), roles.direction,
        roles.weak_direction or "child-parent", tuple(notes), root_words=root_words,
    )  # fmt: skip


def _marks_roots(words: Sequence[str]) -> str:
    return f"a parent {listed(words, len(words))} marks a root"


def _without_words(name: str, words: Sequence[str]) -> str:
    """SQL of a column of names, NULL instead of some words."""
    return f"CASE WHEN {name} IN ({', '.join(map(text, words))}) THEN NULL ELSE {name} END"


def _refers_to(base: Any, table: _Table, roles: Roles) -> bool:
    """Whether more parents are found among the labels than among the ids."""
    assert roles.label is not None
    child, parent, label = (table.name(place) for place in (roles.child, roles.parent, roles.label))
    rows = f"WITH rows AS (SELECT {child} AS child, {parent} AS parent, {label} AS label FROM {table.sql})"
    counts = (f"(SELECT count(*) FROM rows WHERE parent IN (SELECT {one} FROM rows))" for one in ("child", "label"))
    by_id, by_label = table.ask(base, f"{rows} SELECT {', '.join(counts)}")[0]
    return bool(by_label > by_id)


def _labels_of_several_ids(base: Any, table: _Table, ids: int, labels: int) -> list[str]:
    """A note about the ids that become one node, for they have one label."""
    found, example = table.ask(
        base,
        f"SELECT count(*), min(label) FROM (SELECT {table.name(labels)} AS label FROM {table.sql} WHERE label IS NOT "
        f"NULL GROUP BY label HAVING count(DISTINCT {table.name(ids)}) > 1)",
    )[0]
    if not found:
        return []
    return [f"{count(found, 'label')} of several ids, each read as one node, such as {short(example)}"]


def _without_decimals(base: Any, table: _Table, place: int, other: int) -> str:
    """SQL of a column of names: ``1.0`` as ``1`` where all of it is so, and the other column has integers.

    So pandas saves ids with gaps, and roots are gaps. The first rows say whether a look at all is needed.
    """
    name = table.name(place)
    if any(table.kinds[one] != "VARCHAR" for one in (place, other)):
        return name
    here, there = (f"trim({table.columns[one]}, {text(_SPACE)})" for one in (place, other))
    empty = r"(?i:nan|<na>|null|none)?"
    wanted = [
        f"bool_and({there} IS NULL OR regexp_full_match({there}, '[-+]?[0-9]+|{empty}'))",
        f"bool_and({here} IS NULL OR regexp_full_match({here}, '[-+]?[0-9]+[.]0+|{empty}'))",
        f"bool_or(regexp_full_match({there}, '[-+]?[0-9]+'))",
        f"bool_or(regexp_full_match({here}, '[-+]?[0-9]+[.]0+'))",
    ]
    first_rows = f"(SELECT * FROM {table.sql} WHERE {here} <> '' LIMIT 1000)"
    for rows, needed in ((first_rows, 2), (table.sql, 4)):
        if not all(table.ask(base, f"SELECT {', '.join(wanted)} FROM {rows}")[0][:needed]):
            return name
    is_decimal = f"regexp_full_match({here}, '[-+]?[0-9]+[.]0+')"
    return f"CASE WHEN {is_decimal} THEN regexp_replace({here}, '[.]0+$', '') ELSE {name} END"


def _root_markers(base: Any, table: _Table, child: str, parent: str) -> list[str]:
    """Words such as NULL, 0 and -1 that some rows have as a parent, and that no row has as a child."""
    words = ", ".join(map(text, sorted(NULL_WORDS)))
    numbers = ", ".join(map(text, sorted(NO_PARENT_NUMBERS)))
    rows = f"(SELECT {child} AS child, {parent} AS parent FROM {table.sql})"
    asked = f"SELECT DISTINCT parent FROM {rows} WHERE lower(parent) IN ({words}) OR parent IN ({numbers})"
    found = {row[0] for row in table.ask(base, asked)}
    if found:
        listed_ = ", ".join(map(text, sorted(found)))
        found -= {row[0] for row in table.ask(base, f"SELECT DISTINCT child FROM {rows} WHERE child IN ({listed_})")}
    return sorted(found)


def _edge_markers(base: Any, table: _Table, child: str, parent: str) -> list[str]:
    """Words for null among the parents of an edge list, by the rule of `mark_roots_of_edges`."""
    found = [
        word for word in _root_markers(base, table, child, parent) if word not in NO_PARENT_NUMBERS or word == "-1"
    ]
    certain = [word for word in found if word.lower() in CERTAIN_NULL_WORDS]
    if len(certain) == len(found):
        return certain
    rows = f"(SELECT {child} AS child, {parent} AS parent FROM {table.sql})"
    others = (
        f"SELECT 1 FROM {rows} WHERE parent IS NOT NULL AND parent NOT IN ({', '.join(map(text, found))}) AND parent "
        f"NOT IN (SELECT child FROM {rows} WHERE child IS NOT NULL) LIMIT 1"
    )
    return certain if table.ask(base, others) else found


def open_binary(file: str) -> Any:
    """A file or an address, opened and decompressed."""
    if "://" in file:
        import fsspec

        return fsspec.open(file, "rb", compression="infer").open()
    return gzip.open(file, "rb") if file.endswith(".gz") else open(file, "rb")


def ending(file: str) -> str:
    """The ending of a file, without that of its compression."""
    return Path(file.removesuffix(".gz")).suffix.lower()


def quoted(column: str) -> str:
    """The name of a column in SQL."""
    return '"' + column.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text in SQL."""
    return "'" + value.replace("'", "''") + "'"


def file_text(file: str) -> str:
    """A file in SQL: DuckDB would take [1] in a name for a pattern, and a name such as s3:x for an address.

    A folder named ``parent=x`` is no column: queries say ``hive_partitioning=false``.
    """
    path = os.path.abspath(file) if ":" in file and "://" not in file else file
    return text(glob.escape(path))


def unreadable(what: str, error: Exception, remedy: str) -> str:
    """Why files cannot be read, in a sentence; what DuckDB says of the place is kept."""
    said = str(error)
    if re.search(_DISK_FULL, said, re.IGNORECASE):
        why = shorten(said, 160, placeholder=" ...")
        return f"there is no room for what --memory does not hold of {what} ({why}): make room, or allow more --memory"
    named = re.search(r"^ *file = (.+)$", said, re.MULTILINE)
    if named:
        what = repr(named[1].strip())
    line = re.search(r"CSV Error on Line: (\d+)", said)
    where = f"line {int(line[1]):,} of {what}" if line else what
    if re.search(r"not utf-8 encoded|invalid unicode", said, re.IGNORECASE):
        return f"{where} is no UTF-8 text: convert it, as with  iconv -f latin1 -t utf-8"
    if "unterminated quote" in said:
        return f"{where} has a quote that is not closed; {remedy}"
    wanted = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", said)
    if wanted:
        which = "more" if int(wanted[2]) > int(wanted[1]) else "fewer"
        return f"{where} has {which} columns than the others, which have {wanted[1]}; {remedy}"
    if "parser state machine" in said:
        return f"{where} mixes line ends, or has a quote where none belongs; {remedy}"
    return f"{where} cannot be read: {shorten(said, 160, placeholder=' ...')}; {remedy}"
