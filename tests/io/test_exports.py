"""Exports: what is written reads back to the same distances, other tools can load it, and float32 says what it lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeball
from tests import trees
from treeball import Embedding, Hierarchy, InputError, limits
from treeball.cli.main import run
from treeball.embedding import Provenance
from treeball.geometry import poincare
from treeball.geometry.models import ball_to_hyperboloid
from treeball.io.vectors._import import import_vectors
from treeball.io.vectors.precision import measure_loss, to_float32

ENDINGS = ["parquet", "csv", "tsv", "npy", "txt", "safetensors", "duckdb", "json"]
COORDINATES = ["ball", "hyperboloid", "half-space", "tangent", "polar"]
# What names may hold: quotes, separators, blanks; a line break or a control character is for no table.
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1).filter(
    lambda name: name == name.strip()
)


def embedding_of(names, radius=10.0, seed=0, dim=3, geometry="poincare") -> Embedding:
    rng = np.random.default_rng(seed)
    edges = trees.random_tree(len(names), seed)
    points = poincare.from_radius(rng.normal(size=(edges.n, dim)), rng.uniform(0, radius, edges.n))
    vectors = {"poincare": points, "lorentz": ball_to_hyperboloid(points), "euclidean": 3 * points}[geometry]
    return Embedding(
        vectors, Hierarchy.from_codes(names, edges.child, edges.parent), geometry, Provenance(method="random")
    )


@pytest.fixture
def embedding():
    return embedding_of([f"n{i}" for i in range(60)])


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def all_distances(embedding, names):
    codes = np.array([embedding.names.index_of(name) for name in names])
    return embedding.distances_between(codes[:, None], codes[None, :])


# ---- round trips ----


@settings(max_examples=40)
@given(
    names=st.lists(NAMES, min_size=2, max_size=8, unique_by=lambda name: "_".join(name.split())),
    ending=st.sampled_from(ENDINGS),
    seed=st.integers(0, 1000),
)
def test_float64_comes_back_to_the_last_bit(names, ending, seed):
    before = embedding_of(names, radius=25.0, seed=seed)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"v.{ending}"
        before.export(path)
        after = import_vectors(path, before.hierarchy)
    assert after.geometry == "poincare"
    assert after.vectors.tobytes() == before.vectors.tobytes()


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("geometry", ["poincare", "lorentz"])
def test_every_format_keeps_the_distances_in_all_coordinates(ending, coordinates, geometry):
    before = embedding_of([f"n{i}" for i in range(40)], radius=20.0, geometry=geometry)
    done = before.export(f"v.{ending}", coordinates=coordinates)
    assert (done.coordinates, done.dtype, done.count, done.loss) == (coordinates, "float64", 40, None)
    silent = {"coordinates": coordinates} if ending in ("txt", "npy") else {}
    after = import_vectors(f"v.{ending}", before.hierarchy, geometry=geometry, **silent)
    assert after.geometry == geometry
    # Other coordinates are other numbers: each point may shift by the distance of a few neighbouring floats.
    shift = 40 * limits.radius_resolution(20.0)
    np.testing.assert_allclose(all_distances(after, list(after)), all_distances(before, list(before)), atol=shift)


@pytest.mark.parametrize("ending", ENDINGS)
def test_euclidean_models_too(ending):
    before = embedding_of([f"n{i}" for i in range(20)], geometry="euclidean")
    assert before.export(f"v.{ending}").coordinates == "euclidean"
    after = import_vectors(f"v.{ending}", before.hierarchy, geometry="euclidean" if ending in ("txt", "npy") else None)
    assert after.geometry == "euclidean"
    assert after.vectors.tobytes() == before.vectors.tobytes()
    with pytest.raises(InputError, match="Euclidean model has no tangent coordinates"):
        before.export(f"w.{ending}", coordinates="tangent")


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "safetensors", "duckdb", "json"])
def test_formats_that_hold_the_parents_need_no_other_file(ending):
    edges = trees.random_dag(30, 12, 0) if ending not in ("csv", "tsv") else trees.random_tree(30, 0)
    hierarchy = Hierarchy.from_codes([f"n {i}" for i in range(30)], edges.child, edges.parent)
    before = Embedding(np.random.default_rng(0).uniform(-0.4, 0.4, (30, 3)), hierarchy)
    before.export(f"v.{ending}", coordinates="tangent")
    after = import_vectors(f"v.{ending}")

    def pairs(one):
        child, parent = one.edges()
        return sorted(zip(one.names.take(child), one.names.take(parent), strict=True))

    assert pairs(after.hierarchy) == pairs(hierarchy)
    names = list(before)
    np.testing.assert_allclose(all_distances(after, names), all_distances(before, names), atol=1e-12)


def test_a_table_says_that_it_names_the_first_of_several_parents():
    edges = trees.random_dag(30, 12, 0)
    before = Embedding(np.zeros((30, 2)), Hierarchy.from_codes([f"n{i}" for i in range(30)], edges.child, edges.parent))
    assert "several parents" in before.export("v.csv").notes[0]


def test_the_added_root_is_left_out_unless_asked_for():
    hierarchy = Hierarchy.from_codes(["<root>", "a", "b", "c"], [1, 2, 3], [0, 0, 1], virtual_root=0)
    before = Embedding(np.array([[0.0, 0], [0.5, 0], [-0.5, 0], [0.7, 0]]), hierarchy)
    assert before.export("v.json").count == 3
    record = json.loads(Path("v.json").read_text())
    assert (record["names"], record["parents"]) == (["a", "b", "c"], [[], [], [0]])
    after = import_vectors("v.json", hierarchy)
    assert after["<root>"].tolist() == [0, 0]
    assert "put at the origin" in after.provenance.imported["notes"][0]
    assert before.export("w.json", virtual_root=True).count == 4
    lorentz = import_vectors("v.json", hierarchy, geometry="lorentz")
    assert lorentz["<root>"].tolist() == [1, 0, 0]


def test_parquet_is_again_a_model(embedding):
    done = embedding.export("v.parquet", coordinates="hyperboloid")
    model = treeball.load("v.parquet")
    assert model.geometry == "lorentz"
    assert "a model" in done.notes[0]
    np.testing.assert_allclose(all_distances(model, list(model)), all_distances(embedding, list(model)), rtol=1e-6)
    embedding.export("w.parquet", dtype="float32")
    assert treeball.load("w.parquet").vectors.tobytes() == embedding.vectors.astype(np.float32).astype(float).tobytes()
    import pyarrow.parquet as pq

    assert str(pq.read_schema("w.parquet").field("vector").type) == "fixed_size_list<element: float>[3]"


# ---- other tools ----


def test_npy_and_names(embedding):
    embedding.export("v.npy", coordinates="tangent", dtype="float32")
    array = np.load("v.npy")
    assert array.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(array, axis=1), embedding.radii(), rtol=1e-6)
    assert Path("v.names.txt").read_text().splitlines() == list(embedding)
    assert sorted(os.listdir()) == ["v.names.txt", "v.npy"]


def test_csv_in_pandas(embedding):
    import pandas as pd

    embedding.export("v.csv", coordinates="half-space")
    frame = pd.read_csv("v.csv", index_col="node")
    assert list(frame.columns) == ["parent", "reach", "y1", "y2", "height"]
    assert frame["reach"].tolist() == embedding.reach.tolist()
    assert frame.loc["n5", "parent"] == embedding.parent_of("n5", "hierarchy")
    expected = poincare.to_half_space(embedding.vectors)
    np.testing.assert_allclose(frame[["y1", "y2", "height"]], expected, rtol=1e-14)


def test_duckdb_table(embedding):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    embedding.export("v.duckdb")
    with duckdb.connect("v.duckdb", read_only=True) as connection:
        rows = connection.sql("select node, parent, vector[1] from embedding order by rowid").fetchall()
        assert dict(connection.sql("select * from embedding_info").fetchall())["coordinates"] == "ball"
    assert rows[5] == ("n5", embedding.parent_of("n5", "hierarchy"), embedding["n5"][0])


def test_safetensors_library(embedding):
    safetensors = pytest.importorskip("safetensors", reason="safetensors is not installed")
    pytest.importorskip("safetensors.numpy")
    embedding.export("v.safetensors", coordinates="hyperboloid")
    with safetensors.safe_open("v.safetensors", "numpy") as file:
        assert json.loads(file.metadata()["names"]) == list(embedding)
        assert file.metadata()["coordinates"] == "hyperboloid"
        assert np.array_equal(file.get_tensor("vectors"), ball_to_hyperboloid(embedding.vectors))


def test_gensim_loads_word2vec(embedding):
    pytest.importorskip("gensim", reason="gensim is heavy and not installed")
    from gensim.models import KeyedVectors
    from gensim.models.poincare import PoincareKeyedVectors

    embedding.export("v.txt")
    keyed = PoincareKeyedVectors.load_word2vec_format("v.txt", datatype=np.float64)
    assert keyed.distance("n1", "n2") == pytest.approx(embedding.distance("n1", "n2"), rel=1e-9)
    done = embedding.export("v.bin")
    assert done.dtype == "float32"
    keyed = KeyedVectors.load_word2vec_format("v.bin", binary=True)
    assert np.array_equal(keyed["n7"], embedding["n7"].astype(np.float32))


def test_blanks_in_names_become_underscores_in_word2vec():
    before = embedding_of(["dog food", "dog", "cat"])
    assert "1 names hold blanks" in before.export("v.txt").notes[0]
    assert Path("v.txt").read_text().splitlines()[1].startswith("dog_food ")
    assert import_vectors("v.txt", before.hierarchy)["dog food"].tolist() == before["dog food"].tolist()
    with pytest.raises(InputError, match="'a b' and 'a_b' are the same"):
        embedding_of(["a b", "a_b"]).export("w.txt")
    assert not Path("w.txt").exists()


# ---- float32 ----


def crowded(radius):
    """Ten clusters of nodes about one unit apart, at a radius in the plane."""
    rng = np.random.default_rng(0)
    steps = poincare.from_radius(rng.normal(size=(300, 2)), rng.uniform(0, 1, 300))
    centres = poincare.from_radius(rng.normal(size=(10, 2)), np.full(10, radius))
    points = poincare.mobius_add(np.repeat(centres, 30, axis=0), steps)
    edges = trees.random_tree(300, 0)
    return Embedding(points, Hierarchy.from_codes([f"n{i}" for i in range(300)], edges.child, edges.parent))


def test_float32_says_what_it_lost():
    shallow, middle, deep = (crowded(radius).export(f"{radius}.npy", dtype="float32").loss for radius in (3, 14, 20))
    assert shallow.share < 0.001
    assert shallow.moved_most < 1e-5
    assert (shallow.pulled_in, middle.pulled_in) == (0, 0)
    assert deep.pulled_in > 0
    assert shallow.share < middle.share < deep.share
    assert shallow.moved_most < middle.moved_most < deep.moved_most
    assert deep.to_dict()["order_changes"] == deep.changed / deep.pairs
    assert deep.sources == 300
    assert "pulled in" in deep.sentence()
    assert "pulled in" not in shallow.sentence()
    # Read back, nothing lies outside the ball.
    assert np.isfinite(import_vectors("20.npy", crowded(20).hierarchy).radii()).all()


def test_the_loss_is_counted_as_defined():
    embedding = embedding_of([f"n{i}" for i in range(30)], radius=15.0, dim=2, seed=3)
    rounded, pulled_in = to_float32(embedding.vectors, "ball")
    after = Embedding(rounded.astype(float), embedding.hierarchy)
    loss = measure_loss(embedding, after, pulled_in)
    pairs = changed = 0
    for a in embedding:
        near = [name for name, _ in embedding.neighbors(a, 10)]
        for i, x in enumerate(near):
            for y in near[i + 1 :]:
                if embedding.distance(a, x) * (1 + 1e-9) < embedding.distance(a, y):
                    pairs += 1
                    changed += after.distance(a, x) >= after.distance(a, y)
    assert (loss.pairs, loss.changed) == (pairs, changed)
    moved = [float(poincare.distance(embedding[name], after[name])) for name in embedding]
    assert loss.moved_most == max(moved)
    assert loss.hits_at_1 == (embedding.evaluate().hits_at_1, after.evaluate().hits_at_1)
    assert loss.margin == (embedding.evaluate().ranking.margin, after.evaluate().ranking.margin)


def test_ties_are_not_counted_as_lost_order():
    # Nodes on a circle are equally far from its centre, up to the last bits, which float32 shuffles.
    n = 400
    angles = np.linspace(0.0, 2.0 * np.pi, n - 1, endpoint=False)
    points = np.zeros((n, 2))
    points[1:] = poincare.from_radius(np.stack([np.cos(angles), np.sin(angles)], axis=1), np.full(n - 1, 2.0))
    hierarchy = Hierarchy.from_codes([f"n{i}" for i in range(n)], np.arange(1, n), np.zeros(n - 1, int))
    embedding = Embedding(points, hierarchy)
    loss = embedding.export("v.npy", dtype="float32").loss
    far = embedding.distance("n0", [f"n{i}" for i in range(1, n)])
    assert np.unique(far).size > 1
    assert far.max() < far.min() * (1 + 1e-9)
    # The 10 nearest of a node on the circle lie on both sides of it, two by two: 5 ties among 45 pairs. Of n0 all are.
    assert loss.pairs == (n - 1) * 40
    assert loss.changed == 0
    assert "equally far to one part in 10^9 do not count" in loss.sentence()


# ---- the command line ----


def test_export_on_the_command_line(embedding, capsys):
    embedding.save("m.parquet")
    assert run(["export", "m.parquet", "-o", "v.csv", "--coordinates", "tangent"]) == 0
    assert "wrote 60 vectors of 3 numbers (tangent, float64) to v.csv" in capsys.readouterr().err
    assert run(["export", "m.parquet", "-o", "v.dat", "--format", "json", "--dtype", "float32", "--json"]) == 0
    said = capsys.readouterr()
    record = json.loads(said.out)
    assert (record["format"], record["dtype"]) == ("json", "float32")
    assert 0 <= record["float32_loss"]["order_changes"] <= 1
    assert "float32 changes the order of" in said.err


def test_bad_exports_are_refused_and_leave_nothing(embedding, capsys):
    embedding.save("m.parquet")
    before = Path("m.parquet").read_bytes()
    Path("v.npy").write_bytes(b"old")
    Path("v.names.txt").mkdir()
    for arguments, words in [
        (["-o", "v.xyz"], ["v.xyz", "--format"]),
        (["-o", "m.parquet"], ["it is the input"]),
        (["-o", "no/such/v.csv"], ["no/such"]),
        (["-o", "v.csv", "--coordinates", "klein"], ["klein"]),
        (["-o", "v.bin", "--dtype", "float64"], ["float32 only"]),
        (["-o", "v.npy"], ["v.names.txt"]),
        ([], ["output"]),
    ]:
        assert run(["export", "m.parquet", *arguments]) == 2
        said = capsys.readouterr()
        assert len(said.err.strip().splitlines()) == 1
        for word in words:
            assert word in said.err
    assert Path("m.parquet").read_bytes() == before
    assert Path("v.npy").read_bytes() == b"old"
    assert sorted(os.listdir()) == ["m.parquet", "v.names.txt", "v.npy"]
    with pytest.raises(InputError, match="does not fit on one line"):
        embedding_of(["a\nb", "c"]).export("w.npy")
    with pytest.raises(InputError, match="format must be one of"):
        embedding.export("w", format="hdf5")
    with pytest.raises(InputError, match="dtype must be one of"):
        embedding.export("w.csv", dtype="float16")


def test_a_missing_library_is_named(embedding, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(
        InputError, match=r"needs the library 'duckdb' \(extra 'duckdb'\): install it with  pip install duckdb"
    ):
        embedding.export("v.duckdb")
    assert os.listdir() == []
