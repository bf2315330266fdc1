"""Imports of vectors made elsewhere: what is understood, what is refused, and in which words."""

from __future__ import annotations

import json
import logging
import os
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import treeball
from tests import trees
from treeball import Embedding, Hierarchy, InputError
from treeball.cli.main import run
from treeball.geometry.models import ball_to_hyperboloid
from treeball.io.frames import from_pandas, to_networkx, to_pandas
from treeball.io.vectors._import import import_vectors

TREE = "child,parent\ndog,animal\ncat,animal\npoodle,dog\n"
POINTS = {"animal": (0.0, 0.0), "dog": (0.5, 0.0), "cat": (-0.5, 0.25), "poodle": (0.75, 0.125)}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tree.csv").write_text(TREE)


def lines(separator=" ", points=POINTS):
    return "".join(separator.join([name, *map(str, point)]) + "\n" for name, point in points.items())


def same(embedding):
    assert {name: tuple(embedding[name]) for name in embedding} == POINTS
    return True


# ---- what other tools write ----


@pytest.mark.parametrize(
    "content",
    [
        "4 2\n" + lines(),
        lines(),
        lines("\t"),
        lines(","),
        "name,dim0,dim1\n" + lines(","),
        "﻿name,dim0,dim1\n" + lines(","),
        "4 2\n" + lines().replace("\n", " \n"),
        json.dumps(POINTS),
        json.dumps({"names": list(POINTS), "vectors": list(POINTS.values())}),
    ],
    ids=["word2vec", "GloVe", "TSV", "CSV", "CSV with header", "BOM", "blank at the end", "JSON", "JSON lists"],
)
def test_text_of_other_tools(content):
    Path("v.txt").write_text(content)
    assert same(import_vectors("v.txt", "tree.csv"))


def test_binary_of_other_tools():
    binary = b"4 2\n" + b"".join(
        name.encode() + b" " + np.array(point, "<f4").tobytes() for name, point in POINTS.items()
    )
    Path("v.bin").write_bytes(binary)
    assert same(import_vectors("v.bin", "tree.csv"))
    np.save("v.npy", np.array(list(POINTS.values())))
    Path("words.txt").write_text("\n".join(POINTS))
    assert same(import_vectors("v.npy", "tree.csv", names="words.txt"))
    pq.write_table(pa.table({"word": list(POINTS), "embedding": [list(point) for point in POINTS.values()]}), "v.pq")
    assert same(import_vectors("v.pq", "tree.csv"))


def test_gensim_vectors():
    pytest.importorskip("gensim", reason="gensim is heavy and not installed")
    from gensim.models.poincare import PoincareModel

    relations = [tuple(line.split(",")) for line in TREE.splitlines()[1:]]
    model = PoincareModel(relations, size=2, negative=1, seed=0)
    model.train(epochs=2)
    model.kv.save_word2vec_format("v.txt")
    model.kv.save_word2vec_format("v.bin", binary=True)
    for path in ("v.txt", "v.bin"):
        embedding = import_vectors(path, "tree.csv")
        for name in embedding:
            np.testing.assert_allclose(embedding[name], model.kv[name], atol=1e-6)


def test_lorentz_and_euclidean_vectors():
    lifted = {name: tuple(ball_to_hyperboloid(point)) for name, point in POINTS.items()}
    Path("v.txt").write_text(lines(points=lifted))
    embedding = import_vectors("v.txt", "tree.csv", geometry="lorentz")
    assert embedding.geometry == "lorentz"
    assert embedding.dim == 2
    flat = Embedding(np.array(list(POINTS.values())), treeball.read("tree.csv"))
    assert embedding.distance("cat", "dog") == pytest.approx(2 * np.arcsinh(np.sqrt(1.0625 / (0.6875 * 0.75))))
    assert flat is not None
    Path("v.txt").write_text(lines(points={name: (9 * x, 9 * y) for name, (x, y) in POINTS.items()}))
    assert import_vectors("v.txt", "tree.csv", geometry="euclidean").distance("animal", "dog") == 4.5


def test_what_was_imported_is_in_the_model():
    Path("v.txt").write_text("5 2\n" + lines() + "unicorn 0.1 0.1\n")
    embedding = import_vectors("v.txt", "tree.csv", objective="ancestors")
    assert embedding.objective == "ancestors"
    imported = embedding.provenance.imported
    assert imported["format"] == "word2vec"
    assert len(imported["sha256"]) == 64
    assert imported["notes"] == ["1 vectors are of no node (such as 'unicorn') and not used"]
    assert embedding.provenance.method == "imported"
    assert embedding.evaluate().objective == "ancestors"


def test_integer_ids_match_their_digits():
    Path("v.txt").write_text("1 0.0 0.0\n2 0.5 0.0\n")
    embedding = import_vectors("v.txt", [(2, 1)])
    assert embedding[2].tolist() == [0.5, 0.0]


def test_nodes_without_a_vector():
    Path("v.txt").write_text(lines(points={name: POINTS[name] for name in ("animal", "cat", "poodle")}))
    with pytest.raises(InputError, match=r"1 of 4 nodes have no vector in v.txt \(such as 'dog'\): .*--missing drop"):
        import_vectors("v.txt", "tree.csv")
    embedding = import_vectors("v.txt", "tree.csv", missing="drop")
    assert sorted(map(str, embedding)) == ["animal", "cat", "poodle"]
    assert embedding.parent_of("poodle", "hierarchy") == "animal"
    assert "left out" in embedding.provenance.imported["notes"][0]
    Path("v.txt").write_text(lines(points={name: POINTS[name] for name in ("cat", "dog", "poodle")}))
    with pytest.raises(InputError, match="without them there are 2 roots"):
        import_vectors("v.txt", "tree.csv", missing="drop")


def test_dropping_keeps_every_way_up_of_a_dag():
    edges = trees.random_dag(30, 20, 1)
    names = [f"n{i}" for i in range(30)]
    hierarchy = Hierarchy.from_codes(names, edges.child, edges.parent)
    gone = {"n4", "n9", "n12"}
    Path("v.txt").write_text("".join(f"{name} 0.1 0.1\n" for name in names if name not in gone))
    smaller = import_vectors("v.txt", hierarchy, missing="drop").hierarchy
    for a in set(names) - gone:
        for b in set(names) - gone:
            above = hierarchy.is_ancestor(names.index(a), names.index(b))
            assert smaller.is_ancestor(smaller.names.index_of(a), smaller.names.index_of(b)) == above


# ---- what is refused ----


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["is empty"]),
        (b"4 2\n" + lines().encode()[:-7], ["line 5", "1 numbers where 2 belong"]),
        (b"9 2\n" + lines().encode(), ["announces 9 vectors and holds 4", "cut short"]),
        (lines().replace("0.25", "x").encode(), ["line 3", "'x' is not a number"]),
        (lines(",").replace("0.25", "x").encode(), ["line 3", "'x' is not a number"]),
        (lines(",").replace(",0.25", "").encode(), ["line 3", "2 columns where 3 belong"]),
        (lines().replace("0.25", "nan").encode(), ["'cat' is not finite"]),
        (lines().replace("0.25", "7").encode(), ["'cat' lies outside the unit ball", "--geometry"]),
        ((lines() + "dog 0.1 0.1\n").encode(), ["two vectors for 'dog'", "rows 2 and 5"]),
        (b"chien 0.1 0.1\n", ["'chien'", "'dog'", "spelled the same"]),
        (b"dog\ncat\n", ["no numbers"]),
        (b"dog,\ncat,\n", ["not a number"]),
        (pickle.dumps(POINTS), ["pickle", "save_word2vec_format"]),
        (b"\x00\x01\x02\x03" * 100, ["binary file of no known format"]),
        (b'{"dog": [1,', ["not valid JSON"]),
        (b"[1, 2]", ["header but no vectors"]),
        (b'{"dog": [0.1], "cat": [0.1, 0.2]}', ["one vector of the same length"]),
        (b"\x93NUMPY\x01\x00rubbish", ["cannot be read as an npy array"]),
        (b"PAR1 rubbish", ["cannot be read as Parquet"]),
        (b"\x20\0\0\0\0\0\0\0{rubbish" + b" " * 64, ["damaged or no safetensors"]),
        ("gr\u00f6\u00dfe 0.1 0.2\n".encode("latin-1"), ["line 1", "UTF-8"]),
        (b"2 2\ndog \x00\x00", ["cut short", "holds 0 of the 2"]),
    ],
)
def test_bad_vectors_are_refused_in_one_sentence(content, words, capsys):
    Path("v.bad").write_bytes(content)
    before = sorted(os.listdir())
    assert run(["import", "v.bad", "--hierarchy", "tree.csv", "-o", "m.parquet"]) == 2
    sentence = capsys.readouterr().err.strip().splitlines()[-1]
    assert sentence.startswith("treeball: ")
    assert "v.bad" in sentence
    for word in words:
        assert word in sentence
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("ending", ["csv", "npy", "txt", "bin", "safetensors", "json", "parquet"])
def test_any_damage_is_an_input_error(ending):
    """Bytes changed or lost at random: either the file still reads, or one sentence says that it does not."""
    hierarchy = Hierarchy.from_codes([f"n {i}" for i in range(20)], range(1, 20), [i // 3 for i in range(19)])
    before = Embedding(np.random.default_rng(0).uniform(-0.4, 0.4, (20, 3)), hierarchy)
    before.export(f"v.{ending}", coordinates="ball" if ending == "bin" else "tangent")
    data = Path(f"v.{ending}").read_bytes()
    rng = np.random.default_rng(1)
    for attempt in range(40):
        damaged = bytearray(data)
        if attempt % 4 == 0:
            del damaged[rng.integers(1, len(damaged)) :]
        for _ in range(rng.integers(1, 4)):
            damaged[rng.integers(0, min(len(damaged), 3000))] = rng.integers(0, 256)
        Path(f"v.{ending}").write_bytes(damaged)
        try:
            import_vectors(f"v.{ending}", hierarchy if attempt % 2 else None)
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017


def test_bad_arguments_are_refused(capsys):
    Path("v.txt").write_text(lines())
    np.save("v.npy", np.array(list(POINTS.values())))
    Path("three.txt").write_text("a\nb\nc\n")
    for arguments, words in [
        (["v.txt", "-o", "m.parquet"], ["v.txt", "--hierarchy"]),
        (["v.txt", "--hierarchy", "none.csv", "-o", "m.parquet"], ["none.csv"]),
        (["none.txt", "--hierarchy", "tree.csv", "-o", "m.parquet"], ["none.txt"]),
        ([".", "--hierarchy", "tree.csv", "-o", "m.parquet"], ["directory"]),
        (["v.txt", "--hierarchy", "tree.csv", "-o", "v.txt"], ["it is the input"]),
        (["v.txt", "--hierarchy", "tree.csv", "-o", "tree.csv"], ["it is the input"]),
        (["v.npy", "--hierarchy", "tree.csv", "-o", "m.parquet"], ["v.names.txt", "--names-file"]),
        (
            ["v.npy", "--hierarchy", "tree.csv", "--names-file", "three.txt", "-o", "m.parquet"],
            ["3 names", "4 vectors"],
        ),
        (["v.txt", "--hierarchy", "tree.csv", "-o", "m.parquet", "--geometry", "lorentz"], ["not on the hyperboloid"]),
        (["v.txt", "--hierarchy", "tree.csv", "-o", "m.parquet", "--coordinates", "half-space"], ["height"]),
        (
            ["v.txt", "--hierarchy", "tree.csv", "-o", "m.parquet", "--coordinates", "ball", "--geometry", "euclidean"],
            ["leave out one"],
        ),
        (["v.txt", "--hierarchy", "tree.csv", "-o", "m.parquet", "--missing", "guess"], ["guess"]),
    ]:
        assert run(["import", *arguments]) == 2, arguments
        sentence = capsys.readouterr().err.strip().splitlines()[-1]
        for word in words:
            assert word in sentence
        assert not Path("m.parquet").exists()
    with pytest.raises(InputError, match="missing must be one of error, drop"):
        import_vectors("v.txt", "tree.csv", missing="guess")  # type: ignore[arg-type]


def test_import_on_the_command_line(capsys):
    Path("v.txt").write_text("4 2\n" + lines())
    assert run(["import", "v.txt", "--hierarchy", "tree.csv", "-o", "m.parquet"]) == 0
    said = capsys.readouterr().err
    assert "4 nodes, 3 edges read as child -> parent" in said
    assert "geometry poincare, dimension 2: ball vectors read from word2vec" in said
    assert same(treeball.load("m.parquet"))
    for command in (["evaluate"], ["info"], ["neighbors"]):
        assert run([*command, "m.parquet", *(["dog"] if command == ["neighbors"] else [])]) == 0
    # A model's own export needs no hierarchy.
    assert run(["export", "m.parquet", "-o", "v.csv"]) == 0
    assert run(["import", "v.csv", "-o", "again.parquet"]) == 0
    assert same(treeball.load("again.parquet"))


# ---- objects with names ----


class Keyed:
    """What gensim's KeyedVectors look like."""

    def __init__(self, names, vectors):
        self.index_to_key, self.vectors = names, np.array(vectors)


class Trained:
    def __init__(self, **held):
        vars(self).update(held)


def backwards():
    return dict(reversed(POINTS.items()))


def test_vectors_in_memory_go_to_nodes_by_name():
    keyed = Keyed(list(backwards()), list(backwards().values()))
    for source in (backwards(), keyed, Trained(kv=keyed), Trained(wv=keyed)):
        embedding = import_vectors(source, "tree.csv")
        assert same(embedding)
        assert embedding.provenance.method == "imported"
    assert import_vectors(backwards(), "tree.csv").provenance.imported["source"] == "the dict"
    assert import_vectors(backwards(), "tree.csv", geometry="euclidean", objective="ancestors").geometry == "euclidean"


def test_a_frame_of_vectors_goes_to_nodes_by_its_index():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame.from_dict(backwards(), orient="index")
    assert same(import_vectors(frame, "tree.csv"))
    assert same(import_vectors(frame.rename_axis("node").reset_index(), "tree.csv"))
    assert same(import_vectors(frame.assign(parent=["dog", "animal", "animal", None])))
    with pytest.raises(InputError, match="the frame has two vectors for 'dog', in rows 3 and 5"):
        import_vectors(pandas.concat([frame, frame.loc[["dog"]]]), "tree.csv")


def test_what_gensim_trains_is_imported_as_it_is(caplog, monkeypatch):
    pytest.importorskip("gensim", reason="gensim is heavy and not installed")
    monkeypatch.setattr(logging.getLogger("treeball"), "disabled", False)  # a server of another test may have set it
    from gensim.models import KeyedVectors
    from gensim.models.poincare import PoincareModel

    pairs = [("dog", "animal"), ("cat", "animal"), ("poodle", "dog")]
    model = PoincareModel(pairs, size=2, negative=2, seed=1)
    model.train(epochs=2)
    for source in (model, model.kv):
        embedding = import_vectors(source, "tree.csv")
        assert {name: embedding[name].tolist() for name in embedding} == {
            name: model.kv[name].tolist() for name in model.kv.index_to_key
        }
    assert caplog.text == ""
    words = KeyedVectors(2)
    words.add_vectors(list(backwards()), np.array(list(backwards().values())))
    assert same(import_vectors(words, "tree.csv", geometry="euclidean"))
    assert caplog.text == ""
    taken = import_vectors(words, "tree.csv")
    assert taken.geometry == "poincare"
    assert "KeyedVectors do not say their space" in caplog.text
    assert "KeyedVectors do not say their space" in taken.provenance.imported["notes"][-1]


def test_vectors_in_memory_that_cannot_be_used_are_refused():
    points = backwards()
    for source, message in (
        (np.zeros((4, 2)), "not from array.*Embedding.from_vectors"),
        (7, "not from 7"),
        (None, "not from None"),
        ({**points, "dog": (0.5,)}, "the dict must be rows of numbers, all of the same length"),
        ({**points, "dog": ("a", "b")}, "the dict must be rows of numbers"),
        ({}, "0 names for an array of shape"),
        ({"wolf": (0.1, 0.1)}, "no name in the dict"),
        ({1: (0.1, 0.1), "1": (0.1, 0.2)}, "the dict has two vectors for '1', in rows 1 and 2"),
        (Keyed(["dog"], np.zeros((2, 2))), "1 names for an array of shape"),
        ({name: point for name, point in points.items() if name != "cat"}, "1 of 4 nodes have no vector in the dict"),
    ):
        with pytest.raises(InputError, match=message):
            import_vectors(source, "tree.csv")
    with pytest.raises(InputError, match="the dict does not name the parents of its nodes: give the hierarchy"):
        import_vectors(points)
    with pytest.raises(InputError, match="format describes a file, and these vectors are in memory"):
        import_vectors(points, "tree.csv", format="npy")
    assert "poodle" in import_vectors({**points, "wolf": (0.1, 0.1)}, "tree.csv")
    assert "cat" not in import_vectors(
        {name: point for name, point in points.items() if name != "cat"}, "tree.csv", missing="drop"
    )


# ---- pandas and networkx ----


def forest():
    return treeball.read([("b", "a"), ("c", "a"), ("e", "d")])


def test_pandas_there_and_back():
    hierarchy = forest()
    before = Embedding(np.random.default_rng(0).uniform(-0.4, 0.4, (hierarchy.n_nodes, 3)), hierarchy)
    frame = before.to_pandas("tangent")
    assert list(frame.columns) == ["parent", "v1", "v2", "v3"]
    assert sorted(frame.index) == list("abcde")
    assert frame.loc["b", "parent"] == "a"
    assert frame.loc["a", "parent"] is None
    after = from_pandas(frame)
    for name in "abcde":
        np.testing.assert_allclose(after[name], before[name], rtol=1e-12)
        assert after.parent_of(name, "hierarchy") == before.parent_of(name, "hierarchy")
    assert from_pandas(to_pandas(before), hierarchy).distance("b", "e") == before.distance("b", "e")
    with pytest.raises(InputError, match="no column parent"):
        from_pandas(frame.drop(columns="parent"))
    with pytest.raises(InputError, match="must be numbers"):
        from_pandas(frame.assign(v1="x"), hierarchy)


def test_networkx_there_and_back():
    hierarchy = forest()
    embedding = Embedding(np.random.default_rng(0).uniform(-0.4, 0.4, (hierarchy.n_nodes, 3)), hierarchy)
    graph = embedding.to_networkx()
    assert sorted(graph.edges) == [("b", "a"), ("c", "a"), ("e", "d")]
    assert graph.edges["b", "a"]["distance"] == embedding.distance("b", "a")
    assert np.array_equal(graph.nodes["c"]["vector"], embedding["c"])
    again = treeball.read(to_networkx(hierarchy))
    assert set(again.names) == set(hierarchy.names)
    assert again.n_edges == hierarchy.n_edges
    weighted = Hierarchy.from_codes(["a", "b"], [1], [0], weights=[2.5])
    assert treeball.read(to_networkx(weighted)).parent_weight.tolist() == [2.5]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_table_with_more_columns_than_any_model_has_is_refused(ending):
    separator = "," if ending == "csv" else "\t"
    Path(f"v.{ending}").write_text(separator.join(["dog", *["0.001"] * 10_000]) + "\n")
    with pytest.raises(InputError, match="10,001 columns, and a table of vectors has at most 10,000"):
        import_vectors(f"v.{ending}", "tree.csv")
