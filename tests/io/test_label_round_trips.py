"""Labels, synonyms and all parents: through every file that is written and read back, and from every reader."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import networkx
import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeball
from tests import trees
from tests.model_files import earlier, rewritten
from treeball import Embedding, Hierarchy
from treeball.cli.main import run
from treeball.io.frames import from_pandas, to_networkx, to_pandas
from treeball.io.readers import read
from treeball.io.vectors import import_vectors

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1).filter(
    lambda text: text == text.strip()
)


def described(edges: trees.Edges, **options: Any) -> Hierarchy:
    """Every third node has no label, and labels occur twice."""
    n = edges.n
    return Hierarchy.from_codes(
        [f"id{i}" for i in range(n)],
        edges.child,
        edges.parent,
        labels=[None if i % 3 == 2 else f"Label {i // 2}" for i in range(n)],
        synonyms=[[f"other {i}"] if i % 2 else [] for i in range(n)],
        **options,
    )


def embedding_of(hierarchy: Hierarchy, dim: int = 3) -> Embedding:
    vectors = np.random.default_rng(0).uniform(-0.5, 0.5, (len(hierarchy), dim))
    return Embedding(vectors, hierarchy)


def facts_of(hierarchy: Hierarchy, *, order: bool = True) -> dict[Any, Any]:
    """Of every node its parents with weights, label and synonyms."""
    names, lists = hierarchy.names, hierarchy.names.synonyms
    result = {}
    for code in hierarchy.real_nodes().tolist():
        first, last = hierarchy.parent_ptr[code], hierarchy.parent_ptr[code + 1]
        weights = [None] * (last - first) if hierarchy.parent_weight is None else hierarchy.parent_weight[first:last]
        above = [
            (names[parent], weight)
            for parent, weight in zip(hierarchy.parents_of(code).tolist(), weights, strict=True)
            if parent != hierarchy.virtual_root
        ]
        synonyms = [] if lists is None else lists[code].as_py() or []
        result[names[code]] = (above if order else sorted(above), hierarchy.labels[code], synonyms)
    return result


def forest() -> Hierarchy:
    """Two roots below a virtual one, and a node with three parents."""
    return Hierarchy.from_codes(
        ["a", "a1", "a2", "low", "b", "b1", "<root>"],
        [1, 2, 3, 3, 3, 5, 0, 4],
        [0, 0, 1, 2, 4, 4, 6, 6],
        labels=["A", "Twice", "Twice", "Low", None, "B1", None],
        synonyms=[["alpha"], [], [], ["l", "lowest"], [], [], []],
        weights=np.array([0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 1.0, 1.0]),
        virtual_root=6,
    )


def weighted() -> Hierarchy:
    edges = trees.random_dag(20, 10, 3)
    return described(edges, weights=np.arange(edges.child.size) + 1.0)


HIERARCHIES = {
    "tree": lambda: described(trees.random_tree(30, 1)),
    "dag": lambda: described(trees.random_dag(40, 30, 2)),
    "weights": weighted,
    "forest": forest,
    "integers": lambda: Hierarchy.from_codes([7, 8, 9], [1, 2, 2], [0, 0, 1], labels=["Top", None, "Low"]),
    "no labels": lambda: Hierarchy.from_codes(["a", "b", "c"], [1, 2], [0, 0]),
}


# ---- models ----


@pytest.mark.parametrize("kind", HIERARCHIES)
def test_a_model_keeps_everything_and_is_read_as_a_hierarchy_with_all_of_it(kind: str, tmp_path: Path) -> None:
    before = HIERARCHIES[kind]()
    path = embedding_of(before).save(tmp_path / "m.parquet")
    loaded = treeball.load(path)
    assert facts_of(loaded.hierarchy) == facts_of(before)
    assert loaded.labels == before.labels
    again = read(path, reduce="never")
    assert facts_of(again) == facts_of(before)
    assert (again.virtual_root is None) == (before.virtual_root is None)
    assert again.names.kind == before.names.kind
    assert list(again.names) == list(before.names)


def test_a_model_of_an_earlier_version_loads_without_labels(tmp_path: Path) -> None:
    path = embedding_of(described(trees.random_tree(8, 1))).save(tmp_path / "m.parquet")
    old = treeball.load(earlier(rewritten(path, label=None, synonyms=None)))
    assert list(old.labels) == [None] * 8
    assert old.find("id3") == "id3"


def test_labels_are_one_column_of_text_and_absent_where_there_are_none(tmp_path: Path) -> None:
    with_labels = pq.read_table(embedding_of(described(trees.random_tree(9, 1))).save(tmp_path / "a.parquet"))
    assert with_labels["label"].type == pa.string()
    assert with_labels["label"].null_count == 3
    without = pq.read_table(embedding_of(HIERARCHIES["no labels"]()).save(tmp_path / "b.parquet"))
    assert not {"label", "synonyms"} & set(without.column_names)


# ---- exports ----


@pytest.mark.parametrize("kind", ["tree", "dag", "forest"])
@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "json", "safetensors", "duckdb"])
def test_exports_carry_labels_and_imports_read_them(kind: str, ending: str, tmp_path: Path) -> None:
    before = HIERARCHIES[kind]()
    for coordinates in ("ball", "tangent"):  # a Parquet file of ball coordinates is a model, of others a table
        path = tmp_path / f"{coordinates}.{ending}"
        embedding_of(before).export(path, coordinates=coordinates)
        after = import_vectors(path, coordinates=coordinates).hierarchy
        facts, expected = facts_of(after), facts_of(before)
        for name in expected:
            assert facts[name][1] == expected[name][1]
            if ending not in ("csv", "tsv"):
                assert facts[name][2] == expected[name][2]
                above = {parent for parent, _ in facts[name][0]} - {"<root>"}
                assert above == {parent for parent, _ in expected[name][0]}


def test_an_exported_table_is_read_with_all_parents(tmp_path: Path) -> None:
    before = HIERARCHIES["dag"]()
    embedding_of(before).export(tmp_path / "t.parquet", coordinates="tangent")
    assert facts_of(read(tmp_path / "t.parquet", reduce="never")) == facts_of(before)


def test_formats_without_a_place_for_labels_say_so(tmp_path: Path) -> None:
    embedding = embedding_of(described(trees.random_tree(9, 1)))
    lost = {}
    for ending in ("npy", "txt", "bin", "csv", "parquet", "json"):
        notes = embedding.export(tmp_path / f"v.{ending}", coordinates="tangent").notes
        lost[ending] = [note for note in notes if "no place" in note]
    assert lost["npy"] == ["npy has no place for labels and synonyms: they are left out"]
    assert lost["txt"] == ["word2vec has no place for labels and synonyms: they are left out"]
    assert lost["csv"] == ["csv has no place for synonyms: they are left out"]
    assert lost["parquet"] == lost["json"] == []


@settings(max_examples=25, deadline=None)
@given(
    labels=st.lists(st.none() | TEXT, min_size=4, max_size=4),
    synonyms=st.lists(st.lists(TEXT, max_size=3, unique=True), min_size=4, max_size=4),
)
def test_any_text_may_be_a_label(labels: list[str | None], synonyms: list[list[str]]) -> None:
    hierarchy = Hierarchy.from_codes(["i0", "i1", "i2", "i3"], [1, 2, 3], [0, 0, 1], labels=labels, synonyms=synonyms)
    embedding = embedding_of(hierarchy)
    with TemporaryDirectory() as folder:
        for ending in ("parquet", "csv", "tsv", "json", "safetensors"):
            path = Path(folder) / f"v.{ending}"
            embedding.export(path, coordinates="tangent")
            after = import_vectors(path, coordinates="tangent").hierarchy
            assert list(after.labels) == list(hierarchy.labels)
            if ending not in ("csv", "tsv"):
                assert facts_of(after) == facts_of(hierarchy)
        model = embedding.save(Path(folder) / "m.parquet")
        assert facts_of(read(model)) == facts_of(treeball.load(model).hierarchy) == facts_of(hierarchy)


def test_pandas_and_networkx_there_and_back() -> None:
    before = HIERARCHIES["tree"]()
    frame = to_pandas(embedding_of(before))
    assert frame["label"].tolist()[:3] == ["Label 0", "Label 0", None]
    assert list(from_pandas(frame).labels) == list(before.labels)
    graph = to_networkx(HIERARCHIES["dag"]())
    assert graph.nodes["id1"]["label"] == "Label 0"
    assert facts_of(read(graph, reduce="never"), order=False) == facts_of(HIERARCHIES["dag"](), order=False)


def test_a_vector_file_brings_its_labels_to_a_hierarchy_without(tmp_path: Path) -> None:
    before = HIERARCHIES["tree"]()
    embedding_of(before).export(tmp_path / "v.csv")
    child, parent = before.edges()
    pairs = list(zip(before.names.take(child), before.names.take(parent), strict=True))
    after = import_vectors(tmp_path / "v.csv", pairs)
    assert {name: after.label_of(name) for name in after} == dict(zip(before.names, before.labels, strict=True))


# ---- readers ----

OBO = b"""format-version: 1.4

[Term]
id: A:1
name: animal

[Term]
id: A:2
name: dog
alt_id: A:9
synonym: "hound, old" EXACT [x:1]
is_a: A:1
"""
TURTLE = b"""@prefix : <http://e/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix oio: <http://www.geneontology.org/formats/oboInOwl#> .
:d skos:broader :a ; skos:prefLabel "dog"@en, "Hund"@de ; skos:altLabel "hound, old" ; oio:id "A:2" .
:a skos:prefLabel "animal"@en .
"""
NODE_LINK = {
    "nodes": [{"id": "1", "name": "animal"}, {"id": "2", "name": "dog"}],
    "links": [{"source": "2", "target": "1"}],
}


@pytest.mark.parametrize(
    ("source", "ids", "keys"),
    [
        (b"id,parent_id,name\n1,,animal\n2,1,dog\n", ["1", "2"], []),
        (b"1\t\tanimal\n2\t1\tdog\n3\t1\tcat\n", ["1", "2", "3"], []),
        (OBO, ["A:1", "A:2"], ["hound, old", "A:9"]),
        (TURTLE, ["http://e/a", "http://e/d"], ["hound, old", "A:2", "Hund"]),
        (b"1 - animal\n2 - animal > dog\n", ["1", "2"], []),
        (json.dumps(NODE_LINK).encode(), ["1", "2"], []),
        (b'[{"id": 1, "name": "animal"}, {"id": 2, "parent": 1, "name": "dog"}]', ["1", "2"], []),
        (b'{"id": 1, "name": "animal", "children": [{"id": 2, "name": "dog"}]}', ["1", "2"], []),
    ],
)
def test_a_file_with_ids_and_labels(source: bytes, ids: list[str], keys: list[str]) -> None:
    hierarchy = read(source)
    assert sorted(map(str, hierarchy.names)) == ids
    dog = hierarchy.names.find("animal > dog" if b" > " in source else "dog")
    assert str(hierarchy.names[dog]) == ids[1]
    assert [hierarchy.names.find(key) for key in keys] == [dog] * len(keys)
    by_label = read(source, names="label")
    assert not by_label.names.has_labels
    assert by_label.names.find(ids[1]) == by_label.names.find(str(hierarchy.labels[dog]))  # the id still finds it
    bare = read(source, names="id")
    assert not bare.names.has_labels
    assert bare.names.synonyms is None


def test_a_taxonomy_dump_has_common_names_as_keys(tmp_path: Path) -> None:
    (tmp_path / "nodes.dmp").write_text("1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tspecies\t|\n3\t|\t1\t|\tspecies\t|\n")
    rows = [
        (1, "root", "scientific name"),
        (3, "Canis lupus", "scientific name"),
        (3, "wolf", "genbank common name"),
        (2, "cat", "common name"),
        (2, "Felis catus", "scientific name"),
        (3, "Canis lupus Linnaeus", "authority"),
        (2, "house cat", "common name"),
    ]
    (tmp_path / "names.dmp").write_text("".join(f"{i}\t|\t{name}\t|\t\t|\t{kind}\t|\n" for i, name, kind in rows))
    names = read(tmp_path).names
    assert names.shown_of(range(3)) == ["root [1]", "Felis catus [2]", "Canis lupus [3]"]
    assert [names[names.find(key)] for key in ("wolf", "cat", "house cat")] == ["3", "2", "2"]
    assert not names.look_up("Canis lupus Linnaeus")


def test_paths_are_names_and_have_no_labels() -> None:
    for source in (b"shop > shoes > sale\nshop > hats > sale\n", b"shop\n  shoes\n  hats\n"):
        assert not read(source).names.has_labels


def test_ids_in_front_of_paths_that_occur_twice_are_left_out() -> None:
    hierarchy = read(b"1 - a\n2 - a > b\n2 - a > c\n")
    assert list(hierarchy.names) == ["a", "a > b", "a > c"]
    assert hierarchy.report is not None
    assert "the ids in front of the paths were left out, since some occur twice" in hierarchy.report.notes


def test_attributes_of_a_graph() -> None:
    graph = networkx.DiGraph([("b", "a"), ("c", "a")])
    graph.nodes["b"].update(label="Bee", synonyms=["insect"])
    hierarchy = read(graph)
    assert hierarchy.names.find("Bee") == hierarchy.names.find("insect") == hierarchy.names.index_of("b")


def test_fit_from_a_frame_of_integers_has_labels(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"id": [1, 2, 3], "parent": [None, 1, 1], "name": ["top", "a", "a"]})
    embedding = treeball.fit(frame, dim=2)
    assert list(embedding.names) == [1, 2, 3]
    assert embedding.parent_of("a [3]") == 1
    assert embedding.find("top") == 1
    assert "a" not in embedding
    assert embedding.label_of(2) == "a"


# ---- insert ----


def test_a_full_table_every_week(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second Accessories appears: the first stays the node it was."""
    table = "id,parent_id,name\n1,,Shop\n2,1,Bikes\n3,1,Phones\n4,2,Accessories\n"
    (tmp_path / "w1.csv").write_text(table)
    (tmp_path / "w2.csv").write_text(table.replace("Bikes", "Bicycles") + "5,3,Accessories\n")
    model, second = str(tmp_path / "w1.parquet"), str(tmp_path / "w2.parquet")
    assert run(["fit", str(tmp_path / "w1.csv"), "-o", model]) == 0
    assert run(["insert", model, str(tmp_path / "w2.csv"), "-o", second, "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out.splitlines()[-1])["placed"] == 1
    assert "1 old node with another label in the new edges (2: Bikes -> Bicycles)" in said.err
    before, after = treeball.load(model), treeball.load(second)
    assert list(after.names) == ["1", "2", "3", "4", "5"]
    assert after.names.shown_of([3, 4]) == ["Accessories [4]", "Accessories [5]"]
    assert np.array_equal(after.vectors[:4], before.vectors)
    assert after.parent_of("5") == "3"


def test_a_table_of_ids_is_inserted_by_its_labels_into_a_model_of_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "w.csv").write_text("id,parent_id,name\n1,,Shop\n2,1,Bikes\n3,2,Bells\n")
    model = str(tmp_path / "m.parquet")
    assert run(["fit", str(tmp_path / "w.csv"), "-o", model, "--names", "label"]) == 0
    assert list(treeball.load(model).names) == ["Shop", "Bikes", "Bells"]
    capsys.readouterr()
    (tmp_path / "w.csv").write_text("id,parent_id,name\n1,,Shop\n2,1,Bikes\n3,2,Bells\n4,2,Locks\n")
    for options in ([], ["--names", "label"]):
        made = tmp_path / "x.parquet"
        assert run(["insert", model, str(tmp_path / "w.csv"), "-o", str(made), *options]) == 0
        hierarchy = treeball.load(made).hierarchy
        assert list(hierarchy.names) == ["Shop", "Bikes", "Bells", "Locks"]
        assert hierarchy.names.take(hierarchy.parents_of(3)) == ["Bikes"]
        said = capsys.readouterr().err
        assert bool(options) or "new nodes are named by their labels, as those of the model are" in said
