"""DuckDB: a database with one table of vectors and one that says what they are."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ....errors import InputError, MissingExtraError
from ...atomic import cannot_write
from ...memory import held, room_left
from ..arrow_table import from_table, to_table
from ..vectors import VectorFile, Vectors
from .registry import Format

__all__ = ["FORMATS", "read", "sniff", "write"]

TABLE = "embedding"
_TIME_LIMIT = 60.0  # seconds to read the tables, besides the time that the size of the file allows
_BYTES_PER_SECOND = 10_000_000  # a tenth of what DuckDB reads from a slow disk
_INTERRUPTED_EVERY = 0.01  # seconds; an interruption between two queries has no effect
_LEAST_MEMORY = 1 << 28  # bytes; DuckDB cannot scan a table with less
# A file may hold SQL: views, macros, generated columns. DuckDB would run it, so extensions and spilling are off too.
_SETTINGS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false", "temp_directory": ""}
_QUOTED = re.compile("'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")


def sniff(data: bytes) -> float:
    """By the bytes that follow the checksum of the first block."""
    return 1.0 if data[8:12] == b"DUCK" else 0.0


def read(source: VectorFile) -> Vectors:
    """The base table ``embedding`` of a DuckDB database; SQL that the database holds is never run."""
    duckdb = _duckdb()
    try:
        with held(), _opened(duckdb, source.path) as connection, _time_limit(connection, len(source.data)):
            for name in (TABLE, f"{TABLE}_info"):
                _require_base_table(connection, name, source.label)
            table = connection.sql(f"select * from given.main.{TABLE}").to_arrow_table()
            info = dict(connection.execute(f"select key, value from given.main.{TABLE}_info").fetchall())
    except duckdb.InterruptException:
        raise InputError(
            f"{source.label!r} takes too long to read: export its rows to Parquet with DuckDB, and import that file"
        ) from None
    except (duckdb.Error, OSError) as error:
        if "out of memory" in str(error).lower():
            raise MemoryError from None
        reason = " ".join(str(error).split())[:120]
        raise InputError(f"{source.label!r} has no readable tables {TABLE} and {TABLE}_info: {reason}") from None
    return from_table(table, info, source.label)


@contextmanager
def _opened(duckdb: Any, path: Path) -> Iterator[Any]:
    """A connection that reads this one file and no other, as the database ``given``, and cannot be told otherwise.

    The file is attached to an empty database, so that no name in a query means anything that the file defines. The
    path is absolute: DuckDB takes the beginning of a relative one, as in ``md:name``, for a kind of database.
    """
    limit = max(room_left(), _LEAST_MEMORY) >> 20
    with duckdb.connect(":memory:", config={**_SETTINGS, "memory_limit": f"{limit}MiB"}) as connection:
        quoted = str(path.absolute()).replace("'", "''")
        connection.execute(f"attach '{quoted}' as given (type duckdb, read_only)")
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
        yield connection


@contextmanager
def _time_limit(connection: Any, size: int) -> Iterator[None]:
    """Interrupt the connection when reading a file of `size` bytes takes too long."""
    done = threading.Event()

    def interrupt() -> None:
        if not done.wait(_TIME_LIMIT + size / _BYTES_PER_SECOND):
            connection.interrupt()
            while not done.wait(_INTERRUPTED_EVERY):
                connection.interrupt()

    timer = threading.Thread(target=interrupt, daemon=True)
    timer.start()
    try:
        yield
    finally:
        done.set()


def _require_base_table(connection: Any, name: str, label: str) -> None:
    """Refuse a view, and a table with computed columns: reading them runs SQL that the file holds."""
    remedy = (
        f"treeball runs no SQL that a file holds: write the rows into a table, in DuckDB with  "
        f"create table {name} as select ..."
    )
    here = f"database_name = 'given' and schema_name = 'main' and lower({{}}) = '{name}'"
    found = connection.execute(f"select sql from duckdb_tables() where {here.format('table_name')}").fetchall()
    if not found:
        views = f"select count(*) from duckdb_views() where {here.format('view_name')}"
        if connection.execute(views).fetchone()[0]:
            raise InputError(f"{label!r}: {name} is a view, not a table; {remedy}")
        raise InputError(f"{label!r} has no table {name}: it needs the tables {TABLE} and {TABLE}_info")
    if "GENERATED ALWAYS" in _QUOTED.sub("", found[0][0]).upper():
        raise InputError(f"{label!r}: the table {name} has a generated column; {remedy}")


def write(vectors: Vectors, path: Path, target: Path) -> list[str]:
    """A database with the tables ``embedding`` (node, label, parent, vector, ...) and ``embedding_info``."""
    duckdb = _duckdb()
    try:
        with duckdb.connect(str(path)) as connection:
            connection.register("exported", to_table(vectors))
            connection.execute(f"create table {TABLE} as select * from exported")
            connection.unregister("exported")
            connection.execute(f"create table {TABLE}_info (key varchar, value varchar)")
            rows = [[key, str(value)] for key, value in vectors.description().items()]
            connection.executemany(f"insert into {TABLE}_info values (?, ?)", rows)
            # On closing it DuckDB would leave in a log beside the file what does not fit on the disk, and say nothing.
            connection.execute("checkpoint")
    except duckdb.Error as error:
        raise cannot_write(target, OSError(" ".join(str(error).split())[:200])) from error
    finally:
        path.with_name(path.name + ".wal").unlink(missing_ok=True)
    return [f"the table is called {TABLE}; {TABLE}_info says what its vectors are"]


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", "duckdb", "a DuckDB table") from None
    return duckdb


FORMATS = (
    Format("duckdb", sniff, read, write, holds_reach=True, holds_points=True, holds_labels=True, holds_synonyms=True),
)
