"""DuckDB files with tables, views and types that nobody exported, imported as vectors."""

from __future__ import annotations

import tempfile
from pathlib import Path

import treeball
from treeball.io.vectors import export, import_vectors

from ..case import Case
from ..dice import Dice
from ..mutate import mutated
from . import models

_ROWS = (
    "SELECT CASE WHEN i < 9 THEN 'leaf ' || i WHEN i < 12 THEN 'inner ' || (i - 9) ELSE 'root' END AS node, "
    "[i / 20.0, i / 30.0] AS vector FROM range(13) t(i)"
)
_TABLES = (
    "CREATE TABLE embedding AS {rows}",
    "CREATE TABLE embedding AS SELECT node, vector::DOUBLE[2] AS vector FROM ({rows})",
    "CREATE TABLE embedding AS SELECT node, vector::FLOAT[2] AS vector FROM ({rows})",
    "CREATE TABLE embedding AS SELECT node, vector::VARCHAR AS vector FROM ({rows})",
    "CREATE TABLE embedding AS SELECT node, [NULL, vector[1]] AS vector FROM ({rows})",
    "CREATE TABLE embedding AS SELECT node, CASE node WHEN 'leaf 3' THEN [1.0] ELSE vector END AS vector FROM ({rows})",
    "CREATE TABLE embedding AS SELECT NULL AS node, vector FROM ({rows})",
    "CREATE TABLE embedding AS SELECT 'same' AS node, vector FROM ({rows})",
    "CREATE TABLE embedding AS SELECT {{'a': node}} AS node, vector FROM ({rows})",
    "CREATE TABLE embedding AS SELECT node, vector, node AS parent FROM ({rows})",
    "CREATE TABLE embedding AS SELECT node, [1e400, 'nan'::DOUBLE] AS vector FROM ({rows})",
    "CREATE TABLE embedding (node VARCHAR, vector DOUBLE[])",
    "CREATE TABLE other AS {rows}",
    "CREATE SCHEMA deep; CREATE TABLE deep.embedding AS {rows}",
    "CREATE SEQUENCE numbers; CREATE TABLE embedding AS SELECT node, vector, nextval('numbers') AS n FROM ({rows})",
)
_VIEWS = (
    "CREATE VIEW embedding AS {rows}",
    "CREATE VIEW embedding AS SELECT * FROM ({rows}) WHERE EXISTS (SELECT * FROM read_text('/etc/hostname'))",
    "CREATE VIEW embedding AS SELECT * FROM ({rows}) WHERE EXISTS (SELECT * FROM glob('/etc/*'))",
    "CREATE VIEW embedding AS SELECT * FROM ({rows}) WHERE 0 < (SELECT count(random()) FROM range(100000000000))",
    "CREATE VIEW embedding AS WITH RECURSIVE t(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM t) "
    "SELECT * FROM ({rows}) WHERE 0 < (SELECT count(i) FROM t)",
    "CREATE MACRO twice(x) AS x || x; CREATE VIEW embedding AS SELECT * FROM ({rows}) WHERE twice(node) <> ''",
)
_made: list[bytes] = []
_views: list[bytes] = []
"""Each gives the vectors of all nodes when it is run, so that a view that runs is read."""


def prepare() -> None:
    """Write all tables, and import the first."""
    import duckdb

    model = treeball.fit(models.EDGES, method="sarkar", dim=2)
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate((*_TABLES, *_VIEWS)):
            path = Path(folder) / f"{number}.duckdb"
            export(model, path, format="duckdb")
            with duckdb.connect(str(path)) as database:
                database.execute("DROP TABLE embedding")
                database.execute(text.format(rows=_ROWS))
            (_made if number < len(_TABLES) else _views).append(path.read_bytes())
        case = Case("databases", {"input": _made[0]}, {"view": False})
        attempt(case, case.write(Path(folder) / "case"))


def make(dice: Dice) -> Case:
    """One of the files, at times with other bytes."""
    data = dice.choice([*_made, *_views])
    is_view = data in _views
    return Case("databases", {"input": mutated(data, _made, dice) if dice.random() < 0.6 else data}, {"view": is_view})


def attempt(case: Case, folder: Path) -> None:
    """Import it; a view is never run."""
    embedding = import_vectors(folder / "input", treeball.read(models.EDGES), format="duckdb")
    assert not case.options["view"], "a view was run"
    assert len(embedding) == len(treeball.read(models.EDGES).names)
