"""The reach in files: a column of models and of exported tables, and what of it is read again."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import treeball
from tests import trees
from tests.healthy import healthy, hierarchy_of
from tests.model_files import rewritten
from treeball import Embedding, InputError
from treeball.io.frames import from_pandas

PAIRS = [("b", "a"), ("c", "a"), ("d", "b"), ("d", "c")]


# ---- models ----


def test_the_file_has_a_column(tmp_path):
    import duckdb
    import polars as pl

    embedding = treeball.fit(PAIRS, dim=4)
    assert len(embedding.evaluate().illness) == 0
    path = embedding.save(tmp_path / "m.parquet")
    assert pl.read_parquet(path)["reach"].to_list() == embedding.reach.tolist()
    names = list(embedding)
    rows = duckdb.sql(f"select node from '{path}' where reach = 0").fetchall()
    assert rows == [("a",)]
    again = treeball.load(path)
    assert "reach" in vars(again)
    assert np.array_equal(again.reach, embedding.reach)
    assert [set(parents) for parents in again.parents_of(names)] == [
        set(parents) for parents in embedding.parents_of(names, "hierarchy")
    ]
    assert treeball.read(path).parent_weight is None  # a column of numbers is no weight


def test_a_file_without_the_column_is_read_and_answers(tmp_path):
    embedding = treeball.fit(PAIRS, dim=4)
    path = rewritten(embedding.save(tmp_path / "m.parquet"), reach=None)
    old = treeball.load(path)
    assert old.known_reach() is None
    assert set(old.parents_of("d")) == {"b", "c"}
    assert np.array_equal(old.reach, embedding.reach)
    # What nobody ranked has none either, and costs nothing: so it is with a checkpoint.
    bare = Embedding(embedding.vectors, embedding.hierarchy)
    assert "reach" not in pq.read_schema(bare.save(tmp_path / "bare.parquet")).names


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf, None])
def test_a_damaged_column_is_refused_in_one_sentence(tmp_path, wrong):
    embedding = treeball.fit([("b", "a"), ("c", "a")], dim=2)
    path = embedding.save(tmp_path / "m.parquet")
    rewritten(path, reach=pa.array([0.0, 1.0, wrong], pa.float64()))
    with pytest.raises(InputError, match="reach for each of 3 nodes"):
        treeball.load(path)


def test_insert_heal_and_import_save_it(tmp_path):
    pairs = [(f"n{child}", f"n{parent}") for child, parent in trees.random_tree(40, 1).pairs]
    fitted = treeball.fit(pairs, method="poincare", dim=5, epochs=20, deterministic=True)
    healed = fitted.heal().embedding
    healed.export(tmp_path / "v.txt")
    models = {
        "fitted": fitted,
        "healed": healed,
        "inserted": healed.insert([("new", "n3")]).embedding,
        "imported": treeball.import_vectors(tmp_path / "v.txt", healed.hierarchy),
    }
    for name, model in models.items():
        again = treeball.load(model.save(tmp_path / f"{name}.parquet"))
        assert "reach" in vars(again)
        assert np.array_equal(again.reach, Embedding(model.vectors, model.hierarchy, model.geometry).reach)
        if name != "fitted":
            assert again.parents_of(list(again)) == again.parents_of(list(again), "hierarchy")


# ---- exports ----


@pytest.fixture
def model():
    return healthy(hierarchy_of(trees.random_dag(30, 15, 2), virtual=True), "ancestors", "poincare")


def test_tables_have_it(model, tmp_path):
    import duckdb

    kept = model.hierarchy.real_nodes()
    for name in ("v.csv", "v.tsv", "v.parquet", "v.json", "v.duckdb"):
        model.export(tmp_path / name, coordinates="tangent")
        again = treeball.import_vectors(tmp_path / name, model.hierarchy, objective="ancestors")
        assert again.dim == model.dim  # it is no coordinate
    due = model.reach[kept].tolist()
    assert pd.read_csv(tmp_path / "v.csv")["reach"].tolist() == due
    assert pq.read_table(tmp_path / "v.parquet")["reach"].to_pylist() == due
    assert json.loads((tmp_path / "v.json").read_text())["reach"] == due
    with duckdb.connect(str(tmp_path / "v.duckdb"), read_only=True) as connection:
        assert [reach for (reach,) in connection.sql("select reach from embedding").fetchall()] == due
    for name in ("v.npy", "v.txt", "v.safetensors"):
        model.export(tmp_path / name)
        assert b"reach" not in (tmp_path / name).read_bytes()


def test_a_frame_with_it_has_the_same_vectors(tmp_path):
    embedding = treeball.fit([("b", "a"), ("c", "a")], dim=3)
    embedding.export(tmp_path / "v.csv")
    assert np.array_equal(from_pandas(pd.read_csv(tmp_path / "v.csv")).vectors, embedding.vectors)


@pytest.mark.parametrize("coordinates", ["ball", "hyperboloid"])
def test_a_rounded_model_has_the_reaches_of_what_is_read(tmp_path, coordinates):
    embedding = treeball.fit("example:mammals", dim=5)
    for dtype in ("float64", "float32"):
        embedding.export(tmp_path / "m.parquet", coordinates=coordinates, dtype=dtype)
        again = treeball.load(tmp_path / "m.parquet")
        assert "reach" in vars(again)
        assert np.array_equal(again.reach, Embedding(again.vectors, again.hierarchy, again.geometry).reach)
        assert np.array_equal(again.reach, embedding.reach) == (dtype == "float64" and coordinates == "ball")


@pytest.mark.parametrize(
    ("pairs", "objective", "written"),
    [(PAIRS[:3], "parents", True), (PAIRS[:3], "ancestors", False), (PAIRS, "parents", False)],
)
def test_what_would_take_long_is_left_out(tmp_path, monkeypatch, pairs, objective, written):
    fitted = treeball.fit(pairs, dim=4, objective=objective, epochs=50) if not written else treeball.fit(pairs, dim=4)
    bare = Embedding(fitted.vectors, fitted.hierarchy, fitted.geometry, fitted.provenance)
    monkeypatch.setattr("treeball.evaluation.EXACT_UP_TO_NODES", 3)
    monkeypatch.setattr("treeball.evaluation._reach.EXACT_UP_TO_NODES", 3)
    bare.export(tmp_path / "v.csv")
    assert ("reach" in pd.read_csv(tmp_path / "v.csv").columns) == written
    bare.evaluate()  # now it follows from the ranks
    bare.export(tmp_path / "v.csv")
    assert pd.read_csv(tmp_path / "v.csv")["reach"].tolist() == bare.reach.tolist()
