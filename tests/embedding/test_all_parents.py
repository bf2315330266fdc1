"""All parents of a node of a DAG, wherever one is named: Python, the command, the service; also after insert."""

from __future__ import annotations

import json

import pytest

import treeball
from tests.embedding.test_queries import said
from treeball.embedding._questions import doubt_of

EDGES = [("dog", "canine"), ("dog", "pet"), ("cat", "feline"), ("cat", "pet"), ("canine", "animal"),
         ("feline", "animal"), ("pet", "animal"), ("wolf", "canine")]  # fmt: skip


@pytest.fixture(scope="module")
def grown():
    """A model of a DAG with no ill pair, and a new node with two parents."""
    model = treeball.fit(EDGES, dim=5, seed=0)
    assert model.provenance.scores["map"] == 1.0
    return model.insert([("hamster", "pet"), ("hamster", "feline"), ("poodle", "dog")]).embedding


def test_all_are_known_after_insert(grown, tmp_path):
    again = treeball.load(grown.save(tmp_path / "grown.parquet"))
    for model in (grown, again):
        assert model.parents_of(["dog", "hamster", "poodle"], "hierarchy") == [
            ["canine", "pet"], ["pet", "feline"], ["dog"],
        ]  # fmt: skip
        if doubt_of(model, "geometry"):  # it has scores, so that illness is known
            with pytest.warns(UserWarning, match="ill pair"):
                shown = model.parents_of(["hamster", "poodle"])
        else:
            shown = model.parents_of(["hamster", "poodle"])
            assert set(shown[0]) == {"pet", "feline"}
        assert shown[1] == ["dog"]


def test_the_command_names_all(grown, tmp_path, capsys):
    model = str(grown.save(tmp_path / "grown.parquet"))
    lines = said(["ask", model, "parent", "hamster", "wolf", "animal", "--from", "hierarchy"], capsys).splitlines()
    assert lines == ["hamster  pet, feline", "wolf     canine", "animal   none"]
    record = json.loads(said(["ask", model, "parent", "hamster", "--from", "hierarchy", "--json"], capsys))
    assert record == {"node": "hamster", "parent": "pet", "parents": ["pet", "feline"]}
    record = json.loads(said(["ask", model, "parents", "dog", "--json", "--from", "hierarchy"], capsys))
    assert record == {"node": "dog", "parents": ["canine", "pet"]}


def test_the_service_names_all(grown, tmp_path):
    pytest.importorskip("pydantic")
    from tests.service.test_serve import application, ask

    app = application(grown, tmp_path)
    answer = ask(app, "/parent?node=hamster&from=hierarchy")[1]
    assert answer == {"node": "hamster", "parent": "pet", "parents": ["pet", "feline"]}
    assert ask(app, "/parent?node=animal&from=hierarchy")[1] == {"node": "animal", "parent": None, "parents": []}
