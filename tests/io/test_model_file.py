"""Model files: what is damaged, foreign or hostile is refused in one sentence; what is read is what was saved."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import treeball
from tests.model_files import earlier, rewritten
from treeball import Embedding, Hierarchy, InputError
from treeball.cli.main import run
from treeball.embedding import Provenance
from treeball.io.model_columns import METADATA_KEY
from treeball.io.model_file import is_model
from treeball.io.model_hash import HASH_KEY

SEED, FLIPS = 20240611, 3_000
NAMES = ["animal", "dog", "cat", "poodle", "tabby é", "beagle", "lynx"]


@pytest.fixture
def model() -> Embedding:
    labels = ["Animal", None, "Cat", "Poodle", None, "Beagle", "Lynx"]
    synonyms = [[], ["hound"], [], [], ["tiger cat", "moggy"], [], []]
    hierarchy = Hierarchy.from_codes(
        NAMES,
        [1, 2, 3, 4, 5, 6, 6],
        [0, 0, 1, 2, 1, 2, 0],
        weights=np.arange(1.0, 8.0),
        labels=labels,
        synonyms=synonyms,
    )
    vectors = np.random.default_rng(0).uniform(-0.5, 0.5, (7, 3))
    made = Provenance(method="poincare", objective="ancestors", seed=3, settings={"dim": 3, "lr": 0.5})
    embedding = Embedding(vectors, hierarchy, "poincare", made.with_log("a note", number=2.0))
    return embedding.with_provenance(embedding.provenance.with_scores(embedding.evaluate()))


def content(embedding: Embedding) -> Any:
    """All that a model says."""
    names, hierarchy = embedding.names, embedding.hierarchy
    return (
        list(names),
        list(names.labels),
        None if names.synonyms is None else names.synonyms.to_pylist(),
        [codes.tolist() for codes in hierarchy.edges()],
        None if hierarchy.parent_weight is None else hierarchy.parent_weight.tolist(),
        embedding.vectors.tobytes(),
        embedding.reach.tobytes(),
        embedding.geometry,
        embedding.provenance.to_dict(),
    )


def test_a_flipped_bit_is_found_or_changes_nothing(tmp_path, model):
    path = model.save(tmp_path / "model.parquet")
    data, saved = path.read_bytes(), content(treeball.load(path))
    found = 0
    for bit in np.random.default_rng(SEED).integers(0, 8 * len(data), FLIPS).tolist():
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            read = content(treeball.load(path))
        except InputError as error:
            found += 1
            assert str(path) in str(error)  # noqa: PT017
            assert "\n" not in str(error)  # noqa: PT017
        else:
            assert read == saved, f"bit {bit} of {8 * len(data)} (seed {SEED}) changes what is read"
    assert found > FLIPS / 2


def refused(path: Path, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        treeball.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


SCORES = {
    "nodes": 7, "edges": 7, "dim": 3, "objective": "ancestors", "map": 1.0, "mean_rank": 1.0, "hits_at_1": 1.0,
    "illness": {"capacity": 0, "intra_subtree": 0, "inter_subtree": 0}, "max_radius": 2.0,
}  # fmt: skip


@pytest.mark.parametrize(
    "fields",
    [
        {"objective": "children"}, {"objective": ["parents"]}, {"method": 7}, {"version": [1]}, {"seed": -1},
        {"settings": [1]}, {"settings": {"epochs": "many"}}, {"epochs_done": 1e9}, {"loss": "low"},
        {"log": {}}, {"log": [3]}, {"log": [{"epoch": 1}]},
        {"log": [{"epoch": float("inf"), "text": "x"}]}, {"trace": [{"epoch": 1, "map": "x"}]}, {"trace": [{}]},
        {"input": {"source": 3}}, {"input": "file"}, {"clamped": {"times": 1.5}}, {"record": "x"},
        {"scores": [1]}, {"scores": SCORES | {"map": float("nan")}}, {"scores": SCORES | {"map": "1"}},
        {"scores": {"certificate": {"pairs": 3, "margin": None}}}, {"scores": SCORES | {"nodes": None}},
        {"scores": SCORES | {"mean_rank": 10**400}}, {"scores": SCORES | {"illness": {"capacity": "many"}}},
        {"scores": SCORES | {"illness": [3]}}, {"scores": SCORES | {"objective": 3}},
        {"scores": SCORES | {"sampled": 3}}, {"scores": SCORES | {"sampled": {"nodes": "x", "of": 1}}},
        {"scores": SCORES | {"certificate": {"pairs": 3, "margin": float("inf")}}},
        {"scores": SCORES | {"certificate": {"pairs": "x", "margin": None}}}, {"scores": SCORES | {"certificate": 1}},
    ],
)  # fmt: skip
def test_a_record_of_wrong_types_is_refused_in_one_sentence(tmp_path, model, fields):
    path = rewritten(model.save(tmp_path / "model.parquet"), lambda record: record | fields)
    refused(path, "its record of what made it is damaged")


def test_a_record_with_half_a_character_is_refused_in_one_sentence(tmp_path, model):
    path = rewritten(model.save(tmp_path / "model.parquet"), lambda record: record | {"version": "x\ud800"})
    refused(path, "surrogates not allowed")


def test_characters_beyond_16_bits_may_be_escaped_in_a_record(tmp_path, model):
    def escaped(record):
        return json.dumps(record | {"version": "\U0001f600"}, ensure_ascii=True).encode()

    path = rewritten(model.save(tmp_path / "model.parquet"), escaped)
    assert treeball.load(path).provenance.version == "\U0001f600"


def test_a_record_that_is_nested_deeply_is_refused_in_one_sentence(tmp_path, model):
    saved = model.save(tmp_path / "model.parquet").read_bytes()
    for depth, place in ((50, '"settings": {"a":'), (50, '"of another tool": {"a":'), (100_000, '"settings": {"a":')):
        path = tmp_path / "deep.parquet"
        path.write_bytes(saved)
        deep = f"{place} {'[' * depth}{']' * depth}}}"
        refused(rewritten(path, lambda record, deep=deep: f"{json.dumps(record)[:-1]}, {deep}}}".encode()), "deep")


@pytest.mark.parametrize("text", [b"", b"[]", b"3", b"null", b"{", b"\xff\xfe", b'{"format": 3}', b'"text"'])
def test_metadata_that_are_no_record_are_refused(tmp_path, model, text):
    refused(rewritten(model.save(tmp_path / "model.parquet"), lambda _: text), "holds no usable model")


def test_a_virtual_root_alone_is_no_model(tmp_path):
    alone = treeball.Embedding(np.zeros((1, 2)), treeball.Hierarchy.from_codes(["all"], [], []))
    path = rewritten(alone.save(tmp_path / "model.parquet"), lambda record: record | {"virtual_root": "all"})
    refused(path, "nothing below its virtual root")


@pytest.mark.parametrize(
    "fields",
    [
        {"geometry": "klein"}, {"geometry": ["poincare"]}, {"names": 3}, {"names": "int"}, {"dim": 99}, {"dim": "x"},
        {"virtual_root": "nobody"}, {"virtual_root": "dog"}, {"virtual_root": [1]},
    ],
)  # fmt: skip
def test_what_the_record_says_of_the_file_is_checked(tmp_path, model, fields):
    refused(rewritten(model.save(tmp_path / "model.parquet"), lambda record: record | fields), "holds no usable model")


@pytest.mark.parametrize("version", [4, 99, 10**30, 0, -1, "three", "3", 3.0, True, None, [3], {}])
def test_a_model_file_of_an_unknown_format_version_is_refused(tmp_path, model, version):
    path = rewritten(model.save(tmp_path / "model.parquet"), lambda record: record | {"format": version})
    refused(path, rf"the format version .*, and treeball {re.escape(treeball.__version__)} reads versions 1 to 3: ")


def test_a_model_file_of_a_later_format_version_says_to_update_treeball(tmp_path, model):
    path = rewritten(model.save(tmp_path / "model.parquet"), lambda record: record | {"format": 4})
    refused(path, "has the format version 4, .*: update treeball, or make the model again with  treeball fit")


def test_a_model_file_without_a_format_version_is_refused(tmp_path, model):
    def without(record: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in record.items() if name != "format"}

    path = rewritten(model.save(tmp_path / "model.parquet"), without)
    refused(path, "has no format version, and treeball .* reads versions 1 to 3")


def test_a_later_format_version_is_named_even_if_its_hash_is_computed_in_another_way(tmp_path, model):
    path = rewritten(model.save(tmp_path / "model.parquet"), lambda record: record | {"format": 4})
    table = pq.read_table(path)
    metadata = table.schema.metadata | {HASH_KEY: b"blake3:0"}
    pq.write_table(table.replace_schema_metadata(metadata), path)
    refused(path, "has the format version 4")


def test_earlier_format_versions_still_load(tmp_path, model):
    path = earlier(model.save(tmp_path / "model.parquet"))
    assert content(treeball.load(path)) == content(model)


@pytest.mark.parametrize("command", [["info"], ["verify"], ["evaluate"], ["neighbors", "dog"], ["fit"]])
def test_commands_refuse_a_model_file_of_an_unknown_format_version(tmp_path, model, capsys, command):
    path = rewritten(model.save(tmp_path / "model.parquet"), lambda record: record | {"format": 99})
    name, *more = command
    assert run([name, str(path), *more]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "format version 99" in said.err
    assert str(path) in said.err


def test_a_model_of_an_unknown_format_version_is_not_read_as_a_hierarchy(tmp_path, model):
    path = rewritten(model.save(tmp_path / "model.parquet"), lambda record: record | {"format": 99})
    with pytest.raises(InputError, match="is a model that cannot be read: its record has the format version 99"):
        treeball.read(path)


def lists(rows: Any, kind: Any = None) -> pa.Array:
    return pa.array(rows, kind)


TRIPLES = [[0.1, 0.0, 0.0]] * 7
THREE = pa.list_(pa.float64(), 3)
NO_UTF8 = pa.StringArray.from_buffers(7, pa.py_buffer(np.arange(8, dtype="i4")), pa.py_buffer(b"abc\xff\xfedg"))


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("vector", None), ("node", None), ("parent", None),
        ("vector", lists([*TRIPLES[:6], [float("nan"), 0.0, 0.0]], THREE)),
        ("vector", lists([*TRIPLES[:6], [1e308, 1e308, 0.0]], THREE)),
        ("vector", lists([*TRIPLES[:6], None], THREE)), ("vector", lists([*TRIPLES[:6], [None, 0.0, 0.0]], THREE)),
        ("vector", lists(TRIPLES)), ("vector", lists([["a"] * 3] * 7, pa.list_(pa.string(), 3))),
        ("vector", lists([[0.1]] * 7, pa.list_(pa.float64(), 1))), ("vector", lists([0.1] * 7)),
        ("node", lists([*NAMES[:6], None], pa.string())), ("node", lists([*NAMES[:6], "dog"])),
        ("node", lists(range(7))), ("node", NO_UTF8),
        ("parent", lists([None, "animal", "animal", "dog", "cat", "dog", "unicorn"])),
        ("parent", lists(["lynx", "animal", "animal", "dog", "cat", "dog", "cat"])), ("parent", lists(range(7))),
        ("weight", lists(["x"] * 7)), ("weight", lists([None, 1.0, float("nan"), 1.0, 1.0, 1.0, 1.0])),
        ("label", lists(range(7))), ("synonyms", lists([[1]] * 7)), ("synonyms", lists(["x"] * 7)),
        ("reach", lists([float("nan")] * 7)), ("reach", lists([1.0] * 7)), ("reach", lists(["x"] * 7)),
        ("other_parents", lists(["x"] * 7)),
        ("other_parents", lists([["unicorn"]] * 7)), ("other_weights", lists([["x"]] * 7)), ("other_weights", None),
    ],
)  # fmt: skip
def test_columns_that_are_no_model_are_refused_in_one_sentence(tmp_path, model, column, values):
    model.reach  # noqa: B018  # so that the file has it
    path = model.save(tmp_path / "model.parquet")
    refused(rewritten(path, **{column: values}), "holds no usable model|is damaged")


def test_vectors_of_one_dimension_or_too_long_for_distances_are_refused():
    hierarchy = Hierarchy.from_codes(["r", "a"], [1], [0])
    line = np.array([[0.0], [0.5]])
    with pytest.raises(InputError, match="at least 2 dimensions, and these vectors are of 1"):
        Embedding(line, hierarchy)
    with pytest.raises(InputError, match="at least 2 dimensions, and these vectors are of 1"):
        Embedding(np.array([[1.0, 0.0], [np.cosh(1.0), np.sinh(1.0)]]), hierarchy, "lorentz")
    assert Embedding(line, hierarchy, "euclidean").distance("a", "r") == 0.5
    for geometry, far in (("euclidean", [0.0, 1e308, 0.0]), ("lorentz", [1e308, 1e308, 0.0])):
        near = [0.0, 0.0, 0.0] if geometry == "euclidean" else [1.0, 0.0, 0.0]
        with pytest.raises(InputError, match="the vector of 'a' is too long for distances in float64"):
            Embedding(np.array([near, far]), hierarchy, geometry)
    assert np.isfinite(Embedding(np.array([[-1e153, 0.0], [1e153, 0.0]]), hierarchy, "euclidean").distance("a", "r"))


def test_what_is_not_a_number_is_written_as_null(tmp_path, model):
    interval = {"interval_95": {"mean_rank": (1.0, float("inf"))}, "nodes": 1, "of": 7}
    made = Provenance(
        loss=float("nan"), trace=({"epoch": 1, "map": float("nan")},), scores=SCORES | {"sampled": interval}
    )
    path = model.with_provenance(made).save(tmp_path / "model.parquet")
    text = pq.read_schema(path).metadata[METADATA_KEY].decode()
    assert "NaN" not in text
    assert "Infinity" not in text
    read = treeball.load(path).provenance
    assert read.loss is None
    assert read.trace[0]["map"] is None
    assert read.scores["sampled"]["interval_95"] == {"mean_rank": [1.0, None]}


def test_models_of_earlier_versions_are_read(tmp_path, model):
    path = model.save(tmp_path / "model.parquet")
    saved = content(treeball.load(path))
    assert content(treeball.load(earlier(path))) == saved


def test_numbers_that_earlier_versions_wrote_are_read_as_none(tmp_path, model):
    def change(record: dict[str, Any]) -> dict[str, Any]:
        sampled = {"nodes": 1, "of": 7, "interval_95": {"mean_rank": [1.0, float("inf")]}}
        return record | {"loss": float("nan"), "scores": SCORES | {"sampled": sampled}}

    made = treeball.load(earlier(rewritten(model.save(tmp_path / "model.parquet"), change))).provenance
    assert made.loss is None
    assert made.scores["sampled"]["interval_95"] == {"mean_rank": [1.0, None]}


def test_a_name_of_a_column_that_is_no_text_makes_no_model(tmp_path, model):
    path = model.save(tmp_path / "model.parquet")
    path.write_bytes(path.read_bytes().replace(b"parent", b"par\xee\xeent"))
    assert not is_model(path)


def test_a_model_whose_hash_is_gone_or_wrong_is_refused(tmp_path, model):
    path = model.save(tmp_path / "model.parquet")
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({METADATA_KEY: table.schema.metadata[METADATA_KEY]}), path)
    refused(path, "the SHA-256 that it was saved with is gone")
    pq.write_table(table.slice(0, 7).set_column(0, "node", pa.array([*NAMES[:6], "ocelot"])), path)
    refused(path, "its SHA-256 is not the one it was saved with")


def test_the_hash_is_of_the_content_and_not_of_the_bytes(tmp_path, model):
    path = model.save(tmp_path / "model.parquet")
    saved = content(treeball.load(path))
    pq.write_table(pq.read_table(path), path, compression="none", row_group_size=2, use_dictionary=False)
    assert content(treeball.load(path)) == saved


def test_the_service_tells_scores_that_are_not_all_numbers(tmp_path, model):
    pytest.importorskip("pydantic")
    from tests.service.test_serve import application, ask

    sampled = {"nodes": 1, "of": 7, "interval_95": {"mean_rank": [1.0, float("inf")]}}
    path = rewritten(
        earlier(model.save(tmp_path / "model.parquet")),
        lambda record: record | {"scores": SCORES | {"sampled": sampled}},
    )
    folder = tmp_path / "mapped"
    folder.mkdir()
    status, told = ask(application(treeball.load(path), folder), "/info")
    assert status == 200
    assert told["scores"]["sampled"]["interval_95"] == {"mean_rank": [1.0, None]}


def test_a_model_that_is_read_as_a_hierarchy_is_checked_alike(tmp_path, model):
    path = model.save(tmp_path / "model.parquet")
    assert list(treeball.read(path).names) == NAMES
    pq.write_table(pq.read_table(path), path, compression="none", row_group_size=2, use_dictionary=False)
    assert list(treeball.read(path).names) == NAMES
    table = pq.read_table(path)
    pq.write_table(table.set_column(0, "node", pa.array([*NAMES[:6], "ocelot"])), path)
    with pytest.raises(InputError, match="is a model that was damaged or changed"):
        treeball.read(path)


@pytest.mark.parametrize(
    ("column", "values", "reason"),
    [
        ("node", lists([*NAMES[:6], "cat"]), "two nodes are named 'cat'"),
        ("weight", lists([None, 1.0, float("-inf"), 1.0, 1.0, 1.0, 1.0]), "no finite number"),
        ("weight", lists([None, 1.0, None, 1.0, 1.0, 1.0, 1.0]), "no finite number"),
        ("other_weights", lists([[], [], [], [], [], [], [float("nan")]]), "no finite number"),
        ("other_weights", lists([[], [], [], [], [], [], ["x"]]), "other things than numbers"),
        ("other_parents", lists([[], [], [], [], [], [], ["unicorn"]]), "names that are no nodes"),
        ("other_parents", lists([[], [], [], [], [], [], [None]], pa.list_(pa.string())), "other_parents has gaps"),
    ],
)  # fmt: skip
def test_nodes_and_edges_that_are_no_model_make_no_hierarchy_either(tmp_path, model, column, values, reason):
    path = rewritten(model.save(tmp_path / "model.parquet"), **{column: values})
    refused(path, f"holds no usable model.*{reason}")
    with pytest.raises(InputError, match=f"damaged Parquet file.*{reason}"):
        treeball.read(path)
