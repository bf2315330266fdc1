"""The service and labels: nodes are asked for by id, label or synonym, and answers carry ids and labels."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from treeball import Embedding, Hierarchy

pytest.importorskip("pydantic")

from tests.service.test_serve import application, ask, post, refused
from treeball.service.mapped import open_mapped, write_mapped

NAMES: dict[str, list[Any]] = {
    "text": ["s", "m", "m1", "m2", "p", "p1"],
    "integers": [100, 200, 210, 220, 300, 310],
}


def model(kind: str = "text") -> Embedding:
    hierarchy = Hierarchy.from_codes(
        NAMES[kind],
        [1, 2, 3, 4, 5],
        [0, 1, 1, 0, 4],
        labels=["Shop", "Music", "Rock", "Twice", None, "Twice"],
        synonyms=[[], ["songs"], ["rock'n'roll", "x9"], [], ["songs"], []],
    )
    return Embedding(np.random.default_rng(0).uniform(-0.5, 0.5, (6, 3)), hierarchy)


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    return application(model(), tmp_path_factory.mktemp("mapped"))


def test_answers_carry_ids_and_labels(app):
    status, answer = ask(app, "/neighbors?node=Rock&k=5")
    assert (status, answer["node"], answer["labels"]) == (200, "m1", {"m1": "Rock"})
    assert {row["node"]: row.get("label") for row in answer["neighbors"]} == {
        "s": "Shop",
        "m": "Music",
        "m2": "Twice",
        "p": None,
        "p1": "Twice",
    }
    assert ask(app, "/parents?node=x9&from=hierarchy")[1] == {
        "node": "m1",
        "parents": ["m"],
        "labels": {"m1": "Rock", "m": "Music"},
    }
    assert ask(app, "/parent?node=Shop&from=hierarchy")[1] == {
        "node": "s",
        "parent": None,
        "parents": [],
        "labels": {"s": "Shop"},
    }
    alike = ask(app, f"/similarity?a=Rock&b={quote('Twice [m2]')}")[1]
    assert (alike["most_informative_ancestor"], alike["labels"]) == ("m", {"m1": "Rock", "m2": "Twice", "m": "Music"})
    path = ask(app, f"/path?a=Rock&b={quote('Twice [m2]')}&from=hierarchy")[1]
    assert path["labels"] == {"m1": "Rock", "m": "Music", "m2": "Twice"}


def test_many_at_once_by_any_key(app):
    status, answer = post(app, "/vector", {"nodes": ["m1", "Rock", "rock'n'roll", "Rock [m1]"]})
    assert status == 200
    assert {one["node"] for one in answer["answers"]} == {"m1"}
    assert len({tuple(one["vector"]) for one in answer["answers"]}) == 1


def test_what_may_be_several_nodes_is_refused(app):
    refused(ask(app, "/neighbors?node=Twice"), 422, "'Twice' may be any of 2 nodes: Twice [m2], Twice [p1]", "id")
    refused(ask(app, "/neighbors?node=songs"), 422, "Music [m], p;")
    refused(ask(app, "/neighbors?node=Rok"), 404, "did you mean 'Rock [m1]'")
    first, second = post(app, "/vector", {"nodes": ["Twice", "Rock"]})[1]["answers"]
    assert "may be any of 2 nodes" in first["error"]
    assert second["node"] == "m1"


def test_the_description_knows_labels_only_where_there_are_any(app, tmp_path):
    schemas = ask(app, "/openapi.json")[1]["components"]["schemas"]
    assert "labels" in schemas["ParentsAnswer"]["properties"]
    assert "label" in schemas["Neighbor"]["properties"]
    bare = Hierarchy.from_codes(["a", "b"], [1], [0])
    without = application(Embedding(np.array([[0.0, 0.0], [0.1, 0.1]]), bare), tmp_path)
    schemas = ask(without, "/openapi.json")[1]["components"]["schemas"]
    assert "labels" not in schemas["ParentsAnswer"]["properties"]
    assert "labels" not in ask(without, "/parents?node=b")[1]


@pytest.mark.parametrize("kind", NAMES)
def test_a_mapped_model_finds_what_the_model_finds(kind, tmp_path):
    before = model(kind)
    write_mapped(before, tmp_path)
    after = open_mapped(tmp_path)
    assert list(after.labels) == list(before.labels)
    for text in (*NAMES[kind], "Shop", "Rock", "Twice", "songs", "x9", "Rock [m1]", "nothing", "zz"):
        assert after.names.look_up(text) == before.names.look_up(text)
    assert after.names.shown_of(range(6)) == before.names.shown_of(range(6))
