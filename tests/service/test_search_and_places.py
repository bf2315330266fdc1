"""/search, /subtree and /suggest-parent: the answers of the model, one and many at once, and what is refused."""

from __future__ import annotations

from urllib.parse import quote

import numpy as np
import pytest

import treeball
from treeball import Embedding, Hierarchy

pytest.importorskip("pydantic")

from tests.service.test_labels import model
from tests.service.test_serve import MODELS, application, ask, post, refused


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    return application(model(), tmp_path_factory.mktemp("mapped"))


# ---- search ----


@pytest.mark.parametrize("kind", ["text", "integers"])
def test_search_finds_what_the_model_finds(kind, tmp_path):
    app, embedding = application(model(kind), tmp_path), model(kind)
    texts = ["Rock", "RO", "song", "x9", "1", "tw", "nothing"]
    status, found = post(app, "/search", {"texts": texts, "k": 3})
    assert status == 200
    for text, answer in zip(texts, found["answers"], strict=True):
        assert answer == {"text": text, "matches": [one.to_dict() for one in embedding.search(text, 3)]}
        assert ask(app, f"/search?text={text}&k=3") == (200, answer)
    assert [one["by"] for one in found["answers"][3]["matches"]] == ["synonym"]
    assert found["answers"][-1]["matches"] == []


def test_an_empty_text_among_many_has_its_error_in_its_place(app):
    status, found = post(app, "/search", {"texts": ["Rock", "", " \x1c", "Pop"]})
    assert status == 200
    first, *empty, last = found["answers"]
    assert (first, last) == (ask(app, "/search?text=Rock")[1], ask(app, "/search?text=Pop")[1])
    assert [one.keys() for one in empty] == [{"text", "error"}] * 2
    assert empty[0]["error"] == "there is nothing to search for in '': give a part of an id, a label or a synonym"


def test_what_cannot_be_searched_for_is_refused(app):
    refused(ask(app, "/search"), 422, "'text' is missing")
    for blank in ("", "%20"):
        refused(ask(app, f"/search?text={blank}"), 422, "nothing to search for")
    refused(post(app, "/search", {"texts": ["a", 3]}), 422, "what to search for is a text, not 3")
    refused(post(app, "/search", {"texts": []}), 422, "1 to 1,000")
    refused(post(app, "/search", {"nodes": ["a"]}), 422, "no parameter 'nodes'; there are texts, k")
    refused(ask(app, "/search?text=" + "x" * 1025), 422, "1,024 characters")


# ---- subtree ----


def test_subtrees_are_those_of_the_model_with_depths(tmp_path):
    app, embedding = application(MODELS["well"](), tmp_path), MODELS["well"]()
    for source in ("geometry", "hierarchy"):
        tree = embedding.hierarchy if source == "hierarchy" else embedding.read_back()
        for node in embedding.names[:10]:
            answer = ask(app, f"/subtree?node={node}&from={source}")[1]
            assert answer["subtree"] == embedding.subtree(node, source)
            for name, depth in zip(answer["subtree"], answer["depths"], strict=True):
                # A node stands one deeper than a parent of its own that stands before it.
                above = [] if not depth else tree.names.take(tree.parents_of(tree.names.index_of(name)))
                shown = dict(zip(answer["subtree"], answer["depths"], strict=True))
                assert depth == 0 or depth - 1 in {shown.get(parent) for parent in above}
            cut = ask(app, f"/subtree?node={node}&from={source}&depth=1")[1]
            assert cut["subtree"] == embedding.subtree(node, source, 1)
            assert set(cut["depths"]) <= {0, 1}
    names = embedding.names[:10]
    many = post(app, "/subtree", {"nodes": [*names, "unicorn"], "depth": 0})[1]["answers"]
    assert [one.get("subtree") for one in many] == [*([name] for name in names), None]


def test_a_subtree_that_is_too_large_is_not_even_gathered(tmp_path, monkeypatch):
    names = [f"n{i}" for i in range(500)]
    hierarchy = Hierarchy.from_codes(names, range(1, 500), [0] * 499)
    app = application(
        Embedding(np.random.default_rng(0).uniform(-0.5, 0.5, (500, 2)), hierarchy), tmp_path, max_answer=9
    )
    from treeball.embedding import _answers

    looked_at = []
    outline = _answers.outline

    def counted(*asked):
        for one in outline(*asked):
            looked_at.append(one)
            yield one

    monkeypatch.setattr(_answers, "outline", counted)
    refused(ask(app, "/subtree?node=n0&from=hierarchy"), 422, "more than 9 entries")
    assert len(looked_at) <= 10


def test_depths_that_are_none_are_refused(app):
    for depth in ("-1", "1.5", "x", "7"):
        refused(ask(app, f"/subtree?node=s&depth={depth}"), 422, "depth must be a whole number between 0 and 6")
    refused(post(app, "/subtree", {"nodes": ["s"], "depth": None}), 422, "depth must be a whole number")


def test_labels_of_a_subtree_are_told(app):
    answer = ask(app, "/subtree?node=Music&from=hierarchy")[1]
    assert answer == {
        "node": "m",
        "subtree": ["m", "m1", "m2"],
        "depths": [0, 1, 1],
        "other_parents": {},
        "labels": {"m": "Music", "m1": "Rock", "m2": "Twice"},
    }


# ---- suggest-parent ----


def catalogue():
    rows = [
        ("dog food", "pets"),
        ("cat food", "pets"),
        ("pets", "shop"),
        ("pans, pots", "kitchen"),
        ("kitchen", "shop"),
    ]
    return treeball.fit(rows, dim=3)


def test_suggestions_are_those_of_the_model(tmp_path):
    app, embedding = application(catalogue(), tmp_path), catalogue()
    status, answer = ask(app, f"/suggest-parent?near={quote('dog food, cat food')}&k=2")
    assert status == 200
    due = [one.to_dict() for one in embedding.suggest_parent(["dog food", "cat food"], 2)]
    assert answer == {"near": ["dog food", "cat food"], "suggestions": due}
    assert due[0]["node"] == "pets"
    groups = [["dog food", "cat food"], ["pans, pots"], ["cat food", "unicorn"]]
    first, second, third = post(app, "/suggest-parent", {"near": groups, "k": 2})[1]["answers"]
    assert first == answer
    assert second == ask(app, f"/suggest-parent?near={quote('pans, pots')}&k=2")[1]  # a comma may be part of a name
    assert third["near"] == ["cat food", "unicorn"]
    assert third["error"].startswith("no node named 'unicorn'")


def test_suggestions_carry_labels(app):
    answer = ask(app, f"/suggest-parent?near={quote('Rock,Twice [m2]')}&k=6")[1]
    assert (answer["near"], answer["labels"]) == (["m1", "m2"], {"m1": "Rock", "m2": "Twice"})
    assert {one["node"]: one.get("label") for one in answer["suggestions"]}["s"] == "Shop"


def test_neighbours_that_are_none_are_refused(app):
    refused(ask(app, "/suggest-parent"), 422, "'near' is missing")
    refused(ask(app, "/suggest-parent?near=Rock,unicorn"), 404, "'unicorn'")
    refused(ask(app, "/suggest-parent?near=,"), 422, "needs neighbours")
    refused(ask(app, "/suggest-parent?near=" + "Rock," * 51), 422, "near has at most 50 names, not 51")
    refused(post(app, "/suggest-parent", {"near": ["Rock"]}), 422, "each of 'near' must be a list of 1 to 50 names")
    refused(post(app, "/suggest-parent", {"near": [[]]}), 422, "each of 'near' must be a list of 1 to 50 names")
    refused(post(app, "/suggest-parent", {"near": []}), 422, "1 to 1,000")
    refused(post(app, "/suggest-parent", {"near": [[3]]}), 422, "a text, not by 3")
