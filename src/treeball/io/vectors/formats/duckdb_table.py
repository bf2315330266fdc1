"""DuckDB: a database with one table of vectors and one that says what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ....errors import InputError, MissingExtraError
from ...atomic import cannot_write
from ...memory import held
from ..arrow_table import from_table, to_table
from ..vectors import VectorFile, Vectors
from .registry import Format

__all__ = ["FORMATS", "read", "sniff", "write"]

TABLE = "embedding"


def sniff(data: bytes) -> float:
    """By the bytes that follow the checksum of the first block."""
    return 1.0 if data[8:12] == b"DUCK" else 0.0


def read(source: VectorFile) -> Vectors:
    """The table ``embedding`` of a DuckDB database."""
    duckdb = _duckdb()
    try:
        with duckdb.connect(str(source.path), read_only=True) as connection, held():
            table = connection.sql(f"select * from {TABLE}").to_arrow_table()
            info = dict(connection.execute(f"select key, value from {TABLE}_info").fetchall())
    except (duckdb.Error, OSError) as error:
        if "out of memory" in str(error).lower():
            raise MemoryError from None
        reason = " ".join(str(error).split())[:120]
        raise InputError(f"{source.label!r} has no readable tables {TABLE} and {TABLE}_info: {reason}") from None
    return from_table(table, info, source.label)


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
