"""verify: what it says of a good model, of one of an earlier version, and of damaged ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import treeball
from tests.model_files import earlier
from treeball import Embedding, Hierarchy, InputError
from treeball.cli.main import run


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hierarchy = Hierarchy.from_codes(["animal", "dog", "cat"], [1, 2], [0, 0])
    return Embedding(np.array([[0.0, 0.0], [0.5, 0.0], [-0.5, 0.1]]), hierarchy).save(Path("model.parquet"))


def test_it_says_what_was_checked(model, capsys):
    found = treeball.verify(model)
    assert (found.nodes, found.edges, found.geometry, found.dim, found.format) == (3, 2, "poincare", 2, 3)
    assert len(found.sha256) == 64
    assert run(["verify", "model.parquet"]) == 0
    told = capsys.readouterr()
    assert f"SHA-256 {found.sha256}, as it was saved" in told.out
    for word in ("pages", "3 nodes", "2 edges", "dimension 2", "record"):
        assert word in told.out
    assert run(["verify", "model.parquet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == found.to_dict()


def test_equal_models_have_equal_hashes_and_others_do_not(model):
    embedding = treeball.load(model)
    same, other = (
        embedding.save("same.parquet"),
        Embedding(embedding.vectors / 2, embedding.hierarchy).save("other.parquet"),
    )
    assert treeball.verify(same).sha256 == treeball.verify(model).sha256
    assert treeball.verify(other).sha256 != treeball.verify(model).sha256


def test_models_of_earlier_versions_are_said_to_have_no_hash(model, capsys):
    earlier(model)
    assert treeball.verify(model).sha256 is None
    assert run(["verify", "model.parquet"]) == 0
    assert "no SHA-256: it was saved by an earlier version" in capsys.readouterr().out
    assert run(["export", "model.parquet", "-o", "new.parquet"]) == 0
    assert treeball.verify("new.parquet").sha256 is not None


def test_a_damaged_model_ends_in_a_sentence_and_exit_code_2(model, capsys):
    data = bytearray(model.read_bytes())
    data[len(data) // 2] ^= 1
    Path("damaged.parquet").write_bytes(data)
    Path("notes.parquet").write_text("hello")
    for name, words in (("damaged.parquet", "damaged"), ("notes.parquet", "not a treeball model"), ("no", "no file")):
        with pytest.raises(InputError, match=words):
            treeball.verify(name)
        assert run(["verify", name]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith(f"treeball: {name!r}" if name != "no" else "treeball: there is no file 'no'")
        assert told.err.count("\n") == 1
