"""DuckDB files of other people: their rows are read, and no SQL that they hold is run."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from treeball.errors import InputError
from treeball.io.vectors import _import
from treeball.io.vectors._read import read_vectors
from treeball.io.vectors.formats import duckdb_table

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")

SECRET = "the content of another file"
ROWS = "(values ('a', null, [0e0, 0e0]), ('b', 'a', [1e-1, 2e-1]))"
TABLE = f"create table embedding as select * from {ROWS} t(node, parent, vector)"
INFO = "create table embedding_info (key varchar, value varchar)"


def database(path: Path, *statements: str) -> Path:
    """A DuckDB file made by some SQL."""
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def view(query: str) -> tuple[str, str]:
    return f"create view embedding as {query}", INFO


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    return path


QUERIES = {
    "reads a file": "select content as node, [0.1, 0.2] as vector from read_text('{secret}')",
    "lists a folder": "select file as node, [0.1, 0.2] as vector from glob('{secret}*')",
    "reads a CSV file": "select column0 as node, [0.1, 0.2] as vector from read_csv('{secret}', header=false)",
    "reads the environment": "select current_setting('home_directory') || 'x' as node, [0.1, 0.2] as vector",
    "reads its own table": "select * from rows_of_it",
    "loops for ever": (
        "with recursive r(n) as (select 1 union all select n + 1 from r) "
        "select n::varchar as node, [0.1, 0.2] as vector from r where n < 0"
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_view_is_refused_whatever_it_does(name: str, tmp_path: Path, secret: Path) -> None:
    query = QUERIES[name].format(secret=secret)
    own = f"create table rows_of_it as select * from {ROWS} t(node, parent, vector)"
    path = database(tmp_path / "v.duckdb", own, *view(query))
    began = time.monotonic()
    with pytest.raises(InputError, match="embedding is a view, not a table; treeball runs no SQL") as refused:
        read_vectors(path)
    assert time.monotonic() - began < 20.0
    assert SECRET not in str(refused.value)
    assert "create table embedding as select" in str(refused.value)


def test_a_view_of_the_descriptions_is_refused(tmp_path: Path, secret: Path) -> None:
    stolen = f"create view embedding_info as select 'coordinates' as key, content as value from read_text('{secret}')"
    path = database(tmp_path / "v.duckdb", TABLE, stolen)
    with pytest.raises(InputError, match="embedding_info is a view, not a table"):
        read_vectors(path)


@pytest.mark.parametrize("computed", ["[0.1, 0.2 + length(node)]", "list_resize([0.1], 2, 0.3)"])
def test_generated_columns_are_refused(computed: str, tmp_path: Path) -> None:
    made = f"create table embedding (node varchar, vector double[] generated always as ({computed}) virtual)"
    path = database(tmp_path / "v.duckdb", made, "insert into embedding (node) values ('a')", INFO)
    with pytest.raises(InputError, match="the table embedding has a generated column; treeball runs no SQL"):
        read_vectors(path)


def test_a_table_macro_is_no_table(tmp_path: Path, secret: Path) -> None:
    macro = f"create macro embedding() as table select content as node from read_text('{secret}')"
    path = database(tmp_path / "v.duckdb", macro, INFO)
    with pytest.raises(InputError, match="has no table embedding: it needs the tables embedding and embedding_info"):
        read_vectors(path)


def test_names_of_the_file_replace_no_function_of_the_check(tmp_path: Path, secret: Path) -> None:
    """Macros named like functions of the catalog, and like what the check compares with."""
    shadows = (
        "create macro duckdb_tables() as table select 'embedding' as table_name, 'create table' as sql, "
        "'given' as database_name, 'main' as schema_name",
        "create macro duckdb_views() as table select 1 as view_name where false",
        "create macro lower(x) as 'embedding'",
    )
    path = database(tmp_path / "v.duckdb", *view(f"select content as node from read_text('{secret}')"), *shadows)
    with pytest.raises(InputError, match="embedding is a view, not a table"):
        read_vectors(path)


def test_defaults_and_indexes_of_a_table_are_not_run(tmp_path: Path) -> None:
    made = (
        "create sequence numbers",
        "create table embedding (node varchar default 'n' || nextval('numbers'), parent varchar, vector double[], "
        "check (length(node) < 9))",
        f"insert into embedding select * from {ROWS} t",
        "create index by_name on embedding (lower(node))",
    )
    path = database(tmp_path / "v.duckdb", *made, INFO, "create view unused as select 1 as other")
    vectors, chosen, _ = read_vectors(path)
    assert (vectors.names, vectors.parents, chosen) == (["a", "b"], [[], [0]], "duckdb")
    assert vectors.values.tolist() == [[0.0, 0.0], [0.1, 0.2]]


@pytest.mark.parametrize("name", ["md:it's.duckdb", "sqlite:v.duckdb", "a b;drop.duckdb", 'q"[1]*.duckdb'])
def test_names_of_files_have_no_meaning_in_sql(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database(tmp_path / "plain.duckdb", TABLE, INFO).rename(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    assert read_vectors(Path(name), "duckdb")[0].names == ["a", "b"]


def test_the_connection_reads_no_other_file_and_cannot_be_told_to(tmp_path: Path, secret: Path) -> None:
    path = database(tmp_path / "v.duckdb", TABLE, INFO)
    forbidden = (
        f"select * from read_text('{secret}')",
        f"attach '{tmp_path}/w.duckdb'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "set memory_limit = '1TB'",
        f"copy (select 1) to '{tmp_path}/written.csv'",
        "create table given.main.more (x integer)",
    )
    with duckdb_table._opened(duckdb, path) as connection:
        for statement in forbidden:
            with pytest.raises(duckdb.Error):
                connection.execute(statement)
        wanted = "select current_setting(?)"
        read: dict[str, Any] = {
            name: connection.execute(wanted, [name]).fetchone()[0]
            for name in ("enable_external_access", "autoinstall_known_extensions", "autoload_known_extensions")
        }
    assert read == dict.fromkeys(read, False)
    assert sorted(os.listdir(tmp_path)) == ["secret.txt", "v.duckdb"]


def test_reading_ends_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = "create table embedding as select i::varchar as node, [0.1, 0.2] as vector from range(3000000) t(i)"
    path = database(tmp_path / "v.duckdb", many, INFO)
    monkeypatch.setattr(duckdb_table, "_TIME_LIMIT", 0.0)
    monkeypatch.setattr(duckdb_table, "_BYTES_PER_SECOND", 1e12)
    with pytest.raises(InputError, match="takes too long to read: export its rows to Parquet"):
        read_vectors(path)


def test_what_import_says_of_a_view_is_the_same(tmp_path: Path) -> None:
    path = database(tmp_path / "v.duckdb", *view(f"select * from {ROWS} t(node, parent, vector)"))
    with pytest.raises(InputError, match="embedding is a view"):
        _import.import_vectors(path)
