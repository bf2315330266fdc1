"""The edges as they come: Parquet or CSV files, here or on any file system of fsspec, read in pieces by DuckDB."""

from __future__ import annotations

import glob
import gzip
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from textwrap import shorten
from typing import Any

import pyarrow as pa

from ..errors import InputError, MissingExtraError

__all__ = ["Columns", "Edges", "connect", "is_pattern"]

_PIECE = 1 << 20
# Lines in which it is looked for the one that is uneven.
_LOOKED_AT = 10_000_000
_CHILD, _PARENT = ("child", "id", "node", "source"), ("parent", "parent_id", "target")
# What DuckDB calls the first columns of a file without a header.
_NUMBERED, _NO_HEADER = ("column0", "column1"), "no header: the first column is child, the second is parent"
_READERS = {".parquet": "read_parquet", ".pq": "read_parquet", ".csv": "read_csv", ".tsv": "read_csv"}


def is_pattern(source: str) -> bool:
    """Whether a source names many files, as ``edges/*.parquet`` does."""
    return any(sign in source for sign in "*?[") and not Path(source).exists()


def connect(memory: int, folder: Path, threads: int) -> Any:
    """A database without a file that keeps to `memory` bytes, and spills what is more into `folder`."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", "scale", "a model folder") from None
    # The files are data that is not trusted: none of them may make DuckDB fetch or load an extension.
    base = duckdb.connect(config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
    folder.mkdir(parents=True, exist_ok=True)
    base.execute(f"SET memory_limit='{max(memory, 1 << 28) // (1 << 20)}MiB'")
    base.execute("SET temp_directory=?", [str(folder)])
    base.execute(f"SET threads={threads}")
    base.execute("SET enable_progress_bar=false")
    base.execute("SET lock_configuration=true")
    return base


@dataclass(frozen=True)
class Columns:
    """SQL that gives ``child`` and ``parent``, and for a person what is read as them."""

    select: str
    said: str


@dataclass(frozen=True)
class Edges:
    """A data set of edges.

    Attributes
    ----------
    files : paths, in order
    sizes : bytes of each
    """

    files: tuple[str, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, sources: tuple[str, ...]) -> Edges:
        """Find the files of one or several patterns."""
        files: list[str] = []
        for source in sources:
            found = _remote(source) if "://" in source else sorted(glob.glob(source, recursive=True))
            if not found:
                raise InputError(f"there is no file {source!r}; give Parquet or CSV files, such as 'edges/*.parquet'")
            files += found
        for file in files:
            if os.path.isdir(file):
                raise InputError(f"{file!r} is a folder: give the files in it, as in '{file.rstrip('/')}/*.parquet'")
            if _ending(file) not in _READERS:
                raise InputError(f"{file!r} is neither Parquet nor CSV: a model folder is made of such files only")
        if len({_READERS[_ending(file)] for file in files}) > 1:
            raise InputError(f"{files[0]!r} and {files[-1]!r} are of different kinds: give Parquet or CSV, not both")
        return cls(tuple(files), tuple(0 if "://" in file else os.path.getsize(file) for file in files))

    def fingerprint(self) -> str:
        """A hash of names, sizes and times of all files: whether it is still the same input."""
        digest = hashlib.sha256()
        for file, size in zip(self.files, self.sizes, strict=True):
            when = 0 if "://" in file else os.stat(file).st_mtime_ns
            digest.update(f"{file}\0{size}\0{when}\n".encode())
        return digest.hexdigest()

    def scan(self, base: Any) -> str:
        """SQL that gives columns ``child`` and ``parent`` in the order of the files; '' and NULL are no names."""
        return self.columns(base).select

    def columns(self, base: Any, is_node: Callable[[str], bool] | None = None) -> Columns:
        """Find the columns of child and parent: by their names, else the first two.

        `is_node` tells nodes that are known already: a first line that names one is no header.
        """
        if any("://" in file for file in self.files):
            _register(base, self.files[0])
        first, csv = self.files[0], _READERS[_ending(self.files[0])] == "read_csv"
        if self.sizes[0] == 0 and "://" not in first:
            raise InputError(f"{first!r} is empty: give files with columns child and parent")
        options = ", all_varchar=true" if csv else ""
        table = _table(self.files, options)
        kinds = _described(base, table, first)
        known = _by_name(list(kinds))
        if csv and known is None and len(kinds) > 1 and _is_no_header(base, first, list(kinds)[:2], is_node):
            # What looks like a header is an edge: without this it would be lost.
            table = _table(self.files, options + ", header=false")
            kinds = _described(base, table, first)
            child, parent = list(kinds)[:2]
            said = _NO_HEADER
        elif len(kinds) < 2:
            uneven = ", or rows of different lengths" if csv else ""
            raise InputError(f"{first!r} has one column{uneven}: edges need two, child and parent")
        else:
            child, parent = known or list(kinds)[:2]
            said = _NO_HEADER if csv and (child, parent) == _NUMBERED else f"{child} is child, {parent} is parent"
        unused = [name for name in kinds if name not in (child, parent)]
        if unused:
            some = ", ".join(unused[:3]) + (", ..." if len(unused) > 3 else "")
            said += f"; not used: {some}"
        bare = _decimal(base, table, (child, parent)) if csv else set()
        for name in (child, parent):
            if "[" in kinds[name] or kinds[name].startswith(("STRUCT", "MAP", "UNION", "BLOB")):
                raise InputError(f"{first!r}: the column {name!r} of type {kinds[name]} cannot name nodes; use text")
        names = (
            f"{_name_of(column, kinds[column], csv, column in bare)} AS {role}"
            for column, role in ((child, "child"), (parent, "parent"))
        )
        if csv:
            said += "; without blanks around names"
        return Columns(f"SELECT {', '.join(names)} FROM {table}", said)

    def pieces(self, base: Any, select: str) -> Iterator[pa.RecordBatch]:
        """Batches of a query, in the order of the files."""
        try:
            answer = base.sql(select)
            # Versions of DuckDB have different names for it.
            read = getattr(answer, "to_arrow_reader", None) or answer.fetch_arrow_reader
            pieces = read(_PIECE)
        except Exception as error:
            raise InputError(_unreadable(repr(self.files[0]), error, "correct or leave it out")) from None
        while True:
            try:
                piece = pieces.read_next_batch()
            except StopIteration:
                return
            except Exception as error:
                what = repr(self.files[0]) + (" or one after it" if len(self.files) > 1 else "")
                raise InputError(_unreadable(what, error, "correct or leave it out")) from None
            yield piece


def _table(files: tuple[str, ...], options: str) -> str:
    """SQL that reads some files, each column by the name that it has in the first."""
    listed = ", ".join(map(_literal, files))
    # Without it a folder named parent=x would be a column of all files in it.
    options = ", hive_partitioning=false" + options
    return f"{_READERS[_ending(files[0])]}([{listed}], union_by_name=false{options})"


def _literal(file: str) -> str:
    """SQL for one file: DuckDB would take [1] in a name for a pattern, and a name such as s3:x for an address."""
    path = os.path.abspath(file) if ":" in file and "://" not in file else file
    return "'" + glob.escape(path).replace("'", "''") + "'"


def _described(base: Any, table: str, file: str) -> dict[str, str]:
    """Columns of a table with their types."""
    try:
        return {row[0]: row[1] for row in base.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()}
    except Exception as error:
        raise InputError(_unreadable(repr(file), error, "give files with columns child and parent")) from None


def _by_name(columns: list[str]) -> tuple[str, str] | None:
    """The columns of child and parent, where their names say which they are."""
    lower = {name.lower(): name for name in columns}
    child = next((lower[name] for name in _CHILD if name in lower), None)
    parent = next((lower[name] for name in _PARENT if name in lower), None)
    return None if child is None or parent is None else (child, parent)


def _is_no_header(base: Any, file: str, names: list[str], is_node: Callable[[str], bool] | None) -> bool:
    """Whether one of what is taken for names of columns is a node, as in a file without a header."""
    if is_node is not None and any(is_node(name.strip()) for name in names):
        return True
    first, second = (f"trim({_quoted(name)})" for name in names)
    select = (
        f"SELECT 1 FROM {_table((file,), ', all_varchar=true')} WHERE {first} IN (?, ?) OR {second} IN (?, ?) LIMIT 1"
    )
    try:
        return bool(base.execute(select, names + names).fetchall())
    except Exception as error:
        raise InputError(_unreadable(repr(file), error, "correct or leave it out")) from None


def _decimal(base: Any, table: str, columns: tuple[str, str]) -> set[str]:
    """The one of two columns of text that has whole numbers written as ``1.0`` where the other has ``1``.

    So pandas saves ids with gaps, and roots are gaps. Their first rows say whether a look at all is needed.
    """
    ends = [f"trim({_quoted(column)})" for column in columns]
    for one, other in (ends, ends[::-1]):
        wanted = (
            f"bool_and({one} = '' OR regexp_full_match({one}, '[-+]?[0-9]+'))",
            (f"bool_and({other} = '' OR regexp_full_match({other}, '[-+]?[0-9]+[.]0+'))"),
        )
        for rows in (f"(FROM {table} WHERE {other} <> '' LIMIT 1000)", table):
            try:
                found = base.execute(f"SELECT {', '.join(wanted)} FROM {rows}").fetchall()
            except Exception:  # what is wrong with a file is said where it is read
                return set()
            if found != [(True, True)]:
                break
        else:
            return {columns[ends.index(other)]}
    return set()


def _name_of(column: str, kind: str, is_text: bool, bare: bool) -> str:
    """SQL for the name of a node that a column tells, NULL where it tells none."""
    quoted = _quoted(column)
    if kind in ("DOUBLE", "FLOAT"):
        # Integer ids turn to floats when a column has gaps for the roots.
        whole = f"{quoted} = floor({quoted}) AND abs({quoted}) < 9007199254740992"
        # As text, for Parquet's statistics, by which conditions are decided, know of no NaN.
        text = f"nullif({quoted}::VARCHAR, 'nan')"
        return f"coalesce(CASE WHEN {whole} THEN TRY_CAST({quoted} AS BIGINT)::VARCHAR END, {text})"
    name = f"trim({quoted})" if is_text else f"{quoted}::VARCHAR"
    if bare:
        name = f"regexp_replace({name}, '[.]0+$', '')"
    return f"nullif({name}, '')"


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _ending(file: str) -> str:
    return Path(file.removesuffix(".gz")).suffix.lower()


def _first_line(error: Exception) -> str:
    return shorten(str(error), 160, placeholder=" ...")


def _unreadable(what: str, error: Exception, remedy: str) -> str:
    """Why files cannot be read, in a sentence; what DuckDB says of the place is kept."""
    text = str(error)
    named = re.search(r'sniffing file "([^"]+)"', text) or re.search(r"^ *file = (.+)$", text, re.MULTILINE)
    if named:
        what = repr(named[1].strip())
    line = re.search(r"CSV Error on Line: (\d+)", text)
    where = f"line {int(line[1]):,} of {what}" if line else what
    if re.search(r"not utf-8 encoded|invalid unicode", text, re.IGNORECASE):
        return f"{where} is no UTF-8 text: convert it, as with  iconv -f latin1 -t utf-8"
    if named and "sniffing" in text:
        uneven = _uneven(named[1])
        where = f"line {uneven:,} of {what}" if uneven else what
        return f"{where} has more or fewer columns than the first, or a quote that is not closed; {remedy}"
    wanted = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if wanted:
        which = "more" if int(wanted[2]) > int(wanted[1]) else "fewer"
        return f"{where} has {which} columns than the others, which have {wanted[1]}; {remedy}"
    return f"{where} cannot be read: {_first_line(error)}; {remedy}"


def _uneven(file: str) -> int:
    """The first line with another number of columns than the first line has; 0 where none is known."""
    try:
        with (gzip.open if file.endswith(".gz") else open)(file, "rt", encoding="utf-8", errors="replace") as lines:
            first = lines.readline()
            separator = max(",;\t|", key=first.count)
            columns = first.count(separator)
            for number, text in enumerate(islice(lines, _LOOKED_AT), 2):
                if text.count(separator) != columns and '"' not in text and text.strip():
                    return number
    except OSError:
        pass
    return 0


def _remote(source: str) -> list[str]:
    try:
        import fsspec
    except ImportError:
        raise MissingExtraError("fsspec", "scale", f"reading {source}") from None
    protocol = source.split("://", 1)[0]
    try:
        return sorted(f"{protocol}://{found}" for found in fsspec.filesystem(protocol).glob(source))
    except Exception as error:
        raise InputError(f"{source!r} cannot be listed: {_first_line(error)}; check the address") from None


def _register(base: Any, file: str) -> None:
    import fsspec

    base.register_filesystem(fsspec.filesystem(file.split("://", 1)[0]))
