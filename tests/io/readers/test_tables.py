"""Tables: pandas, polars, Arrow and Parquet with all their column types."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq

from tests.io.readers import helpers
from tests.io.readers.helpers import ANIMALS, DIAMOND, edges_of
from treeball.io.readers import read
from treeball.io.readers.settings import ReadSettings

IDS = {(2, 1), (3, 1), (4, 2), (5, 2)}


def test_integer_ids_with_a_gap_for_the_root_are_not_floats() -> None:
    frame = pandas.DataFrame({"id": [1, 2, 3, 4, 5], "parent_id": [None, 1, 1, 2, 2]})
    assert frame["parent_id"].dtype == float
    hierarchy = read(frame, strict=True)
    assert edges_of(hierarchy) == IDS
    assert all(type(name) is int for name in hierarchy.names)
    assert edges_of(read(polars.DataFrame({"id": [1, 2, 3, 4, 5], "parent_id": [None, 1, 1, 2, 2]}))) == IDS
    nan = polars.DataFrame({"id": [1.0, 2.0, 3.0, 4.0, 5.0], "parent_id": [float("nan"), 1, 1, 2, 2]})
    assert edges_of(read(nan)) == IDS


def test_categories_strings_and_dictionaries() -> None:
    pairs = sorted(ANIMALS)
    frame = pandas.DataFrame(pairs, columns=["child", "parent"]).astype("category")
    assert edges_of(read(frame)) == ANIMALS
    table = pa.table({"child": pa.array([c for c, _ in pairs]).dictionary_encode(), "parent": [p for _, p in pairs]})
    assert edges_of(read(table)) == ANIMALS
    large = pa.table({name: table[name].cast(pa.large_string()) for name in ("child", "parent")})
    assert edges_of(read(large)) == ANIMALS
    assert edges_of(read(polars.DataFrame(pairs, schema=["child", "parent"], orient="row"))) == ANIMALS


def test_mixed_python_objects_in_a_frame() -> None:
    frame = pandas.DataFrame({"child": ["a", 2, (3, 4)], "parent": ["top", "top", 2]}, dtype=object)
    assert edges_of(read(frame)) == {("a", "top"), (2, "top"), ((3, 4), 2)}


def test_text_and_numbers_in_two_columns_meet_as_text() -> None:
    table = pa.table({"child": ["1", "2"], "parent": [0, 0]})
    assert edges_of(read(table)) == {("1", "0"), ("2", "0")}


def test_lists_of_parents() -> None:
    names = helpers.nodes_of(DIAMOND)
    parents = [[p for c, p in sorted(DIAMOND) if c == name] for name in names]
    parents[names.index("animal")] = None
    table = pa.table({"id": names, "parents": pa.array(parents, pa.list_(pa.string()))})
    assert edges_of(read(table, strict=True)) == DIAMOND
    assert edges_of(read(polars.from_arrow(table))) == DIAMOND
    sink = io.BytesIO()
    pq.write_table(table.slice(0), sink)
    assert edges_of(read(sink.getvalue())) == DIAMOND


def test_parquet_reads_only_what_it_needs_and_says_so(tmp_path: Path) -> None:
    pairs = sorted(ANIMALS)
    table = pa.table(
        {
            "vector": [[0.0, 1.0]] * len(pairs),
            "parent": [p for _, p in pairs],
            "colour": ["red"] * len(pairs),
            "child": [c for c, _ in pairs],
            "weight": np.arange(len(pairs), dtype=np.float32),
        }
    )
    pq.write_table(table, tmp_path / "x")
    hierarchy = read(tmp_path / "x")
    assert edges_of(hierarchy) == ANIMALS
    assert hierarchy.report is not None
    assert hierarchy.report.notes == ("columns not used: vector, colour",)
    assert hierarchy.report.direction == "parent -> child"
    assert hierarchy.parent_weight is not None
    assert edges_of(read(tmp_path / "x", columns=("4", "2"))) == ANIMALS
    assert edges_of(read(tmp_path / "x", columns=("child", "parent"))) == ANIMALS


def test_arrow_files(tmp_path: Path) -> None:
    pairs = sorted(ANIMALS)
    table = pa.table({"child": [c for c, _ in pairs], "parent": [p for _, p in pairs]})
    with pa.OSFile(str(tmp_path / "x"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    assert edges_of(read(tmp_path / "x")) == ANIMALS


def test_names_beside_ids() -> None:
    frame = pandas.DataFrame({"id": [1, 2, 3], "name": ["top", "a", "a"], "parent": [None, 1, 1]})
    assert edges_of(read(frame, names="label")) == {("a [2]", "top"), ("a [3]", "top")}
    assert edges_of(read(frame)) == edges_of(read(frame, names="id")) == {(2, 1), (3, 1)}
    assert list(read(frame).labels) == ["top", "a", "a"]
    assert list(read(frame, names="id").labels) == [None, None, None]


def test_parents_given_by_name() -> None:
    table = b"id,name,parent\n1,animal,\n2,mammal,animal\n3,dog,mammal\n4,cat,mammal\n"
    expected = {("mammal", "animal"), ("dog", "mammal"), ("cat", "mammal")}
    assert edges_of(read(table, strict=True)) == expected
    records = (
        b'[{"id":1,"name":"animal"},{"id":2,"name":"mammal","parent":"animal"},{"id":3,"name":"dog","parent":"mammal"}]'
    )
    assert edges_of(read(records)) == {("mammal", "animal"), ("dog", "mammal")}


def test_a_column_of_names_chosen_by_the_user() -> None:
    table = b"code,parent_code,bezeichnung,extra\nx,,Tier,1\ny,x,Hund,2\nz,x,Katze,3\n"
    assert edges_of(read(table)) == {("y", "x"), ("z", "x")}
    for settings in (ReadSettings(name_column="bezeichnung"), ReadSettings(columns=("1", "2"), name_column="3")):
        hierarchy = read(table, settings)
        assert edges_of(hierarchy) == {("y", "x"), ("z", "x")}
        assert list(hierarchy.labels) == ["Tier", "Hund", "Katze"]
        assert edges_of(read(table, settings, names="label")) == {("Hund", "Tier"), ("Katze", "Tier")}


def test_headers_in_other_shapes() -> None:
    assert edges_of(read(b"category,parent_category\na,r\nb,r\n")) == {("a", "r"), ("b", "r")}
    assert edges_of(read(b",child,parent\n0,a,r\n1,b,r\n")) == {("a", "r"), ("b", "r")}
    assert edges_of(read(b"#child\tparent\na\tr\nb\tr\n")) == {("a", "r"), ("b", "r")}
    assert edges_of(read(b"# a comment, with commas\n# and more\nchild\tparent\na\tr\nb\tr\n")) == {
        ("a", "r"),
        ("b", "r"),
    }
    assert edges_of(read(b"kind,above\n5,1\n6,1\n")) == {("5", "1"), ("6", "1")}


def test_numpy_arrays() -> None:
    assert edges_of(read(np.array(sorted(IDS)))) == IDS
    assert edges_of(read(np.array(sorted(ANIMALS)))) == ANIMALS


def test_a_separator_inside_of_quotes_does_not_make_the_quotes_names() -> None:
    rows = '"1"|""|"a|b"\n"2"|"1"|"c"\n"3"|"1"|"d"\n"4"|"2"|"e"\n'
    hierarchy = read(rows.encode())
    assert sorted(map(str, hierarchy.names)) == ["1", "2", "3", "4"]
    assert hierarchy.report is not None
    assert hierarchy.report.n_roots == 1
    assert hierarchy.names.labels_by_name(["1"]) == {"1": "a|b"}
