"""Filtered neighbours over HTTP: the answers of the model, and what is refused."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic")

from tests.service.test_labels import model
from tests.service.test_serve import MODELS, application, ask, post, refused


def test_filters_are_those_of_the_model(tmp_path):
    app = application(MODELS["dag"](), tmp_path)
    embedding = MODELS["dag"]()
    for query, chosen in (
        ("leaves=true", {"leaves": True}),
        ("siblings=true&leaves=false", {"siblings": True}),
        ("unrelated=true&within=n1", {"unrelated": True, "within": "n1"}),
    ):
        for source in ("geometry", "hierarchy"):
            near = embedding.neighbors("n7", 4, source, **chosen)
            due = {"node": "n7", "neighbors": [{"node": node, "distance": far} for node, far in near]}
            assert ask(app, f"/neighbors?node=n7&k=4&from={source}&{query}") == (200, due)
            body = {"nodes": ["n7", "n9"], "k": 4, "from": source, **chosen}
            assert post(app, "/neighbors", body)[1]["answers"][0] == due


def test_the_subtree_may_be_named_by_a_label_or_a_number(tmp_path):
    app = application(model("integers"), tmp_path)
    for within in ("Music", "200", "Music [200]"):
        found = ask(app, f"/neighbors?node=Rock&within={within.replace(' ', '%20')}")[1]["neighbors"]
        assert {row["node"] for row in found} == {200, 220}
    assert post(app, "/neighbors", {"nodes": [210], "within": 200})[1]["answers"][0]["neighbors"] == found


def test_filters_that_are_none_are_refused(tmp_path):
    app = application(model(), tmp_path)
    refused(ask(app, "/neighbors?node=Rock&leaves=yes"), 422, "leaves must be true or false, not 'yes'")
    refused(post(app, "/neighbors", {"nodes": ["Rock"], "siblings": 1}), 422, "siblings must be true or false, not 1")
    refused(ask(app, "/neighbors?node=Rock&within=Musik"), 404, "no node named 'Musik'", "Music [m]")
    refused(ask(app, "/neighbors?node=Rock&within="), 404, "no node named ''")
    refused(ask(app, "/neighbors?node=Rock&within=Twice"), 422, "may be any of 2 nodes")
    refused(post(app, "/neighbors", {"nodes": ["Rock"], "within": None}), 422, "not by None")
    properties = ask(app, "/openapi.json")[1]["components"]["schemas"]["NeighborsInBody"]["properties"]
    assert properties["leaves"]["type"] == "boolean"
    assert "default" not in properties["within"]
