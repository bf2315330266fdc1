"""Formats of vectors: each in the table has the whole interface, knows its own files and reads back what it wrote."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import get_args

import numpy as np
import pytest

import treeball.io.vectors.formats as package
from treeball import Embedding, Hierarchy, InputError, import_vectors
from treeball.io.vectors._read import sniff
from treeball.io.vectors.formats.registry import find, format_by_ending, format_names
from treeball.io.vectors.vectors import VectorFile, Vectors, rows_of
from treeball.types import VectorFormat

# What a file itself says of its vectors; word2vec and npy hold names and numbers only, tables the first parent.
WITH_KIND = {"parquet", "csv", "tsv", "safetensors", "duckdb", "json"}
WITH_ALL_PARENTS = WITH_KIND - {"csv", "tsv"}


@pytest.fixture
def vectors():
    values = np.random.default_rng(0).uniform(-0.4, 0.4, (4, 3))
    return Vectors(["animal", "pet", "dog", "größe, 1"], values, "tangent", [[], [0], [0, 1], [2]])


def written(vectors, name, folder):
    path = folder / "vectors"
    if find(name).write_beside is not None:
        find(name).write_beside(vectors, find(name).beside(path))
    return path, find(name).write(vectors, path, path)


def test_table_and_command_line_name_the_same_formats():
    assert format_names() == list(get_args(VectorFormat))


def test_every_module_of_formats_is_in_the_table():
    modules = {module.name for module in iter_modules(package.__path__)} - {"registry"}
    formats = [format for name in modules for format in import_module(f"{package.__name__}.{name}").FORMATS]
    assert sorted(format.name for format in formats) == sorted(format_names())
    assert all(find(format.name) is format for format in formats)


@pytest.mark.parametrize("name", format_names())
def test_every_format_has_the_interface(name):
    format = find(name)
    assert format.name == name
    assert callable(format.sniff)
    assert callable(format.read)
    assert callable(format.write)


@pytest.mark.parametrize("name", format_names())
def test_every_format_reads_back_what_it_wrote(name, vectors, tmp_path):
    if name == "duckdb":
        pytest.importorskip("duckdb", reason="DuckDB is not installed")
    if "word2vec" in name:
        vectors = Vectors([name.replace(" ", "_") for name in vectors.names], vectors.values)
    path, notes = written(vectors, name, tmp_path)
    assert all(isinstance(note, str) for note in notes)
    assert sniff(path.read_bytes(), "the file") == name
    after = find(name).read(VectorFile(path, path.read_bytes()))
    assert after.names == vectors.names
    single = find(name).float64_format is not None
    assert np.array_equal(after.values, vectors.values.astype(np.float32) if single else vectors.values)
    assert after.kind == ("tangent" if name in WITH_KIND else None)
    if name in WITH_ALL_PARENTS:
        assert after.parents == vectors.parents
    elif name in WITH_KIND:
        assert after.parents == [rows[:1] for rows in vectors.parents]
    else:
        assert after.parents is None


@pytest.mark.parametrize("name", format_names())
def test_further_files_are_announced(name, vectors, tmp_path):
    if name == "duckdb":
        pytest.importorskip("duckdb", reason="DuckDB is not installed")
    if "word2vec" in name:
        vectors = Vectors(["a", "b", "c", "d"], vectors.values)
    path, _ = written(vectors, name, tmp_path)
    beside = find(name).beside
    assert sorted(tmp_path.iterdir()) == sorted([path] if beside is None else [path, beside(path)])


def test_endings_stand_for_formats():
    for ending, name in ((".VEC", "word2vec"), (".txt", "word2vec"), (".bin", "word2vec-binary"), (".tsv", "tsv")):
        assert format_by_ending(Path(f"v{ending}")) == name
    with pytest.raises(InputError, match=r"does not end in one of .parquet, .csv, .*, .json: name the format"):
        format_by_ending(Path("v.xyz"))


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"a\t1,5\t2\n", "tsv"),
        (b"a,1,2\n", "csv"),
        (b"a 1 2\nb, 3 4\n", "word2vec"),
        (b"7 23", "word2vec"),
        (b"1 2\na \x00\x00\x00\x00\x00\x00\x00\x00\n", "word2vec-binary"),
        (b' \n{"a": [1]}', "json"),
        (b"\x02\0\0\0\0\0\0\0{}", "safetensors"),
        (b"\x80\0\0\0\0\0\0\0DUCK", "duckdb"),  # a checksum may begin as a pickle does
    ],
)
def test_content_tells_the_format(content, name):
    assert sniff(content, "the file") == name


def test_rows_of_an_embedding_keep_names_vectors_and_parents_together():
    hierarchy = Hierarchy.from_codes(["a", "<root>", "b", "c"], [0, 2, 3, 3], [1, 1, 2, 0], virtual_root=1)
    embedding = Embedding(np.arange(8.0).reshape(4, 2) / 16, hierarchy)
    rows = rows_of(embedding, embedding.vectors, "ball", virtual_root=False)
    assert (rows.names, rows.parents) == (["a", "b", "c"], [[], [], [1, 0]])
    assert np.array_equal(rows.values, embedding.vectors[[0, 2, 3]])
    rows = rows_of(embedding, embedding.vectors, "ball", virtual_root=True)
    assert (rows.names, rows.parents) == (["a", "<root>", "b", "c"], [[1], [], [1], [2, 0]])


@pytest.mark.parametrize(
    "data", [b"9999999999 999\n\x00a", b"9 9\n\x01", b"1 0\n\x01", b"1 99999999999999999999\na b\n"]
)
def test_sizes_that_word2vec_files_cannot_have(data: bytes, tmp_path: Path) -> None:
    from treeball.io.vectors._read import read_vectors

    path = tmp_path / "vectors"
    path.write_bytes(data)
    for format in (None, "word2vec", "word2vec-binary"):
        with pytest.raises(InputError):
            read_vectors(path, format)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("json", b'{"a": ' + b"[" * 100_000),
        ("csv", b'name,v1,v2\n"' + b"x" * 200_000 + b'",1,2\nb,1\n'),
        ("safetensors", (200_000).to_bytes(8, "little") + b"[" * 200_000),
    ],
)
def test_depths_and_lengths_that_parsers_do_not_take_are_refused(name, content, tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(content)
    with pytest.raises(InputError, match="vectors"):
        find(name).read(VectorFile(path, content))


@pytest.mark.parametrize("field", ["names", "labels", "synonyms"])
def test_half_a_character_is_refused(field, tmp_path):
    record = {"names": ["a", "b"], "vectors": [[0.0, 0.1], [0.1, 0.0]], "parents": [[], [0]]}
    record[field] = {"names": ["a", "x\ud800"], "labels": [None, "x\ud800"], "synonyms": [[], ["x\ud800"]]}[field]
    path = tmp_path / "vectors.json"
    path.write_text(json.dumps(record), "utf-8")
    with pytest.raises(InputError, match=r"x\\ud800 holds a lone surrogate"):
        import_vectors(path)
