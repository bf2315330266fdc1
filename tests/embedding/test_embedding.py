"""Embedding: lookups, distances, and the model file that every tool can read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import treeball
from tests import trees
from treeball import Embedding, Hierarchy, InputError
from treeball.embedding import Provenance
from treeball.geometry.models import ball_to_hyperboloid


@pytest.fixture
def small():
    names = ["animal", "dog", "cat", "poodle"]
    hierarchy = Hierarchy.from_codes(names, [1, 2, 3], [0, 0, 1])
    vectors = np.array([[0.0, 0.0], [0.5, 0.0], [-0.5, 0.1], [0.8, 0.05]])
    return Embedding(vectors, hierarchy, "poincare", Provenance(method="by hand"))


def test_lookup_distance_and_neighbors(small):
    assert np.array_equal(small["dog"], [0.5, 0.0])
    assert "dog" in small
    assert "dgo" not in small
    assert small.distance("animal", "dog") == pytest.approx(2 * np.arctanh(0.5))
    assert [name for name, _ in small.neighbors("poodle", 2)] == ["dog", "animal"]
    assert small.neighbors("poodle", 2)[0][1] == pytest.approx(small.distance("poodle", "dog"))
    assert len(small.neighbors("dog", 99)) == 3
    assert small.parent_of("poodle") == "dog"
    assert len(small) == 4
    assert small.dim == 2


def test_an_embedding_iterates_over_its_names(small):
    assert list(small) == list(small.names) == ["animal", "dog", "cat", "poodle"]


def test_wrong_arguments_are_refused_in_a_sentence(small):
    for k in (0, -1, 2.5, "2", None):
        with pytest.raises(InputError, match="k must be a whole number"):
            small.neighbors("dog", k)
    for option, wrong in (("sample", -1), ("sample", 2.5), ("sample", True), ("threads", -1), ("seed", "x")):
        with pytest.raises(InputError, match=option):
            small.evaluate(**{option: wrong})
    with pytest.raises(InputError, match="objective"):
        small.evaluate("children")
    with pytest.raises(InputError, match="needs an embedding"):
        treeball.evaluate("model.parquet")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="geometry must be one of"):
        Embedding(small.vectors, small.hierarchy, "klein")


def test_saving_follows_links_and_refuses_what_is_no_file(small, tmp_path):
    target, link = tmp_path / "real.parquet", tmp_path / "link.parquet"
    small.save(target)
    link.symlink_to(target)
    Embedding(small.vectors / 2, small.hierarchy).save(link)
    assert link.is_symlink()
    assert treeball.load(target)["dog"][0] == 0.25
    os.mkfifo(tmp_path / "pipe")
    for wrong in (tmp_path / "pipe", tmp_path, Path("."), Path("")):
        with pytest.raises(InputError, match="cannot write"):
            small.save(wrong)
    assert (tmp_path / "pipe").is_fifo()


def test_an_unknown_name_suggests_a_close_one(small):
    with pytest.raises(InputError, match="did you mean 'dog'"):
        small["dgo"]


def test_vectors_are_read_only_and_checked(small):
    with pytest.raises(ValueError, match="read-only"):
        small["dog"][0] = 1
    with pytest.raises(InputError, match="one row per node"):
        Embedding(np.zeros((3, 2)), small.hierarchy)


@pytest.mark.parametrize("bad", [[1.0, 0.0], [np.nan, 0.0], [0.0, np.inf], [3.0, 4.0]])
def test_a_vector_outside_the_ball_is_refused_by_name(small, bad):
    vectors = np.array(small.vectors)
    vectors[2] = bad
    with pytest.raises(InputError, match="the vector of 'cat'"):
        Embedding(vectors, small.hierarchy)


def test_the_added_root_is_no_neighbor():
    hierarchy = Hierarchy.from_codes(["a", "b", "<root>"], [0, 1], [2, 2], virtual_root=2)
    embedding = Embedding(np.array([[0.5, 0], [-0.5, 0], [0, 0.0]]), hierarchy)
    assert embedding.neighbors("a") == [("b", embedding.distance("a", "b"))]


def test_lorentz_and_ball_agree(small):
    lifted = Embedding(ball_to_hyperboloid(small.vectors), small.hierarchy, "lorentz")
    assert lifted.dim == 2
    assert lifted.distance("cat", "poodle") == pytest.approx(small.distance("cat", "poodle"), rel=1e-12)
    np.testing.assert_allclose(lifted.radii(), small.radii(), rtol=1e-12)
    assert lifted.evaluate().to_dict()["map"] == small.evaluate().to_dict()["map"]


@pytest.mark.parametrize("edges", [trees.random_tree(50, 0), trees.random_dag(50, 30, 0), trees.star(2)])
def test_save_and_load_keep_everything(tmp_path, edges):
    hierarchy = Hierarchy.from_codes([f"n {i} é" for i in range(edges.n)], edges.child, edges.parent)
    vectors = np.random.default_rng(0).uniform(-0.5, 0.5, (edges.n, 3))
    before = Embedding(vectors, hierarchy, "poincare", Provenance(method="x", objective="ancestors", seed=3))
    path = before.save(tmp_path / "model.parquet")
    after = treeball.load(path)
    assert after.vectors.tobytes() == vectors.tobytes()
    assert list(after.hierarchy.names) == list(hierarchy.names)
    for ours, theirs in zip(after.hierarchy.edges(), hierarchy.edges(), strict=True):
        assert np.array_equal(ours, theirs)
    assert after.objective == "ancestors"
    assert after.provenance.seed == 3
    assert after.evaluate().to_dict() == before.evaluate().to_dict()
    assert [file.name for file in tmp_path.iterdir()] == ["model.parquet"]


def test_integer_names_and_an_added_root_survive(tmp_path):
    hierarchy = Hierarchy.from_codes([7, 8, "<root>"], [0, 1], [2, 2], virtual_root=2)
    path = Embedding(np.eye(3)[:, :2] / 3, hierarchy).save(tmp_path / "m.parquet")
    after = treeball.load(path)
    assert list(after.hierarchy.names) == [7, 8, "<root>"]
    assert after.hierarchy.virtual_root == 2


def test_the_file_is_plain_parquet_for_other_tools(tmp_path, small):
    import duckdb
    import pandas as pd
    import polars as pl

    path = str(small.save(tmp_path / "m.parquet"))
    expected = [("animal", None), ("dog", "animal"), ("cat", "animal"), ("poodle", "dog")]
    frame = pd.read_parquet(path)
    assert [(n, None if pd.isna(p) else p) for n, p in zip(frame["node"], frame["parent"], strict=True)] == expected
    assert list(frame["vector"][3]) == [0.8, 0.05]
    assert pl.read_parquet(path).select("node", "parent").rows() == expected
    rows = duckdb.sql(f"select node, parent, vector[1] from '{path}'").fetchall()
    assert rows[3] == ("poodle", "dog", 0.8)
    description = json.loads(pq.read_schema(path).metadata[b"treeball"])
    assert description["geometry"] == "poincare"
    assert description["dim"] == 2
    assert description["version"] == treeball.__version__


def test_a_second_save_replaces_the_file_whole(tmp_path, small):
    path = small.save(tmp_path / "m.parquet")
    first = path.read_bytes()
    assert small.save(path).read_bytes() == first
    Embedding(small.vectors / 2, small.hierarchy).save(path)
    assert treeball.load(path)["dog"][0] == 0.25
    assert len(list(tmp_path.iterdir())) == 1


def test_files_that_are_no_models_are_refused_in_one_sentence(tmp_path, small):
    import pyarrow as pa

    text = tmp_path / "notes.txt"
    text.write_text("hello")
    table = tmp_path / "table.parquet"
    pq.write_table(pa.table({"a": [1]}), table)
    model = small.save(tmp_path / "m.parquet").read_bytes()
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(model[: len(model) // 2])
    for path, words in [
        (tmp_path / "missing", "there is no file"),
        (tmp_path, "is a directory"),
        (text, "not a treeball model"),
        (table, "not a treeball model"),
        (cut, "damaged or cut short"),
    ]:
        with pytest.raises(InputError, match=words) as caught:
            treeball.load(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_any_damage_to_a_model_file_is_an_input_error(tmp_path, small):
    """Every byte flipped in turn: either the file still reads, or one sentence says that it does not."""
    model = small.save(tmp_path / "m.parquet").read_bytes()
    path = tmp_path / "damaged.parquet"
    for position in range(0, len(model), 7):
        damaged = bytearray(model)
        damaged[position] ^= 0xFF
        path.write_bytes(damaged)
        try:
            treeball.load(path)
        except InputError as error:
            assert str(path) in str(error)  # noqa: PT017
