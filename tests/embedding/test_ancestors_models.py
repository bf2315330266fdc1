"""Models whose geometry does not know relatives: ill pairs are said, and the hierarchy suggests parents."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pytest

from tests import trees
from tests.healthy import healthy
from treeball import Embedding, Hierarchy
from treeball.cli.main import run
from treeball.embedding import Provenance
from treeball.embedding._suggest_parent import suggest_parent
from treeball.geometry import poincare
from treeball.types import Objective

SAID = "so relatives that geometry shows may be wrong"
QUESTIONS = [
    ("parent", "n5"),
    ("parents", "n5"),
    ("children", "n1"),
    ("ancestors", "n20"),
    ("subtree", "n1"),
    ("is-ancestor", "n1", "n5"),
    ("common-ancestor", "n4", "n5"),
    ("path", "n4", "n5"),
]


def everything_near_the_root(objective: Objective = "ancestors", scored: bool = True) -> Embedding:
    """A balanced tree, its root at the origin and all else far away in random directions: nearly all are ill."""
    edges = trees.balanced(3, 3)
    hierarchy = Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent)
    directions = np.random.default_rng(0).normal(size=(edges.n, 4))
    vectors = poincare.from_radius(directions, np.where(np.arange(edges.n) == 0, 0.0, 8.0))
    embedding = Embedding(vectors, hierarchy, provenance=Provenance(objective=objective))
    made = embedding.provenance
    return embedding.with_provenance(made.with_scores(embedding.evaluate())) if scored else embedding


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    everything_near_the_root().save("m.parquet")
    everything_near_the_root(scored=False).save("unknown.parquet")
    healthy(everything_near_the_root().hierarchy, "ancestors").save("well.parquet")
    return everything_near_the_root()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question[0])
def test_the_command_warns_of_relatives_by_geometry(model, question, capsys):
    assert run(["ask", "m.parquet", *question, "--json"]) == 0
    said = capsys.readouterr()
    assert SAID in said.err
    assert re.match(r"(treeball: )?this model has \d+ ill pairs, ", said.err)
    assert said.err.endswith(": --from hierarchy knows them\n")
    assert said.err.count("\n") == 1
    assert json.loads(said.out)
    for silent in (["m.parquet", *question, "--from", "hierarchy"], ["unknown.parquet", *question]):
        assert run(["ask", *silent]) == 0
        assert capsys.readouterr().err == ""


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question[0])
def test_without_illness_all_ancestors_tell_what_the_hierarchy_knows(model, question, capsys):
    assert run(["ask", "well.parquet", *question, "--json"]) == 0
    geometry = json.loads(capsys.readouterr().out)
    assert run(["ask", "well.parquet", *question, "--json", "--from", "hierarchy"]) == 0
    hierarchy = json.loads(capsys.readouterr().out)
    assert geometry | {"score": 1.0} == hierarchy | {"score": 1.0}


def test_neighbours_and_distances_are_what_they_are(model, capsys):
    assert run(["neighbors", "m.parquet", "n5"]) == 0
    assert run(["distance", "m.parquet", "n5", "n6"]) == 0
    assert capsys.readouterr().err == ""
    assert model.neighbors("n5", 1) == [("n0", pytest.approx(8.0))]


def test_python_warns_where_a_model_is_ill(model):
    asked = {
        model.parent_of: ("n5",),
        model.parents_of: ("n5",),
        model.is_ancestor: ("n1", "n5"),
        model.children_of: (["n1", "n2"],),
        model.ancestors_of: ("n20",),
        model.subtree: ("n1",),
        model.common_ancestor: ("n4", "n5"),
        model.path: ("n4", "n5"),
    }
    for question, names in asked.items():
        with pytest.warns(UserWarning, match=f"{SAID}: source='hierarchy' knows them") as told:
            question(*names)
        assert told[0].filename == __file__
        question(*names, source="hierarchy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unknown = everything_near_the_root(scored=False)
        assert 0.0 < unknown.is_ancestor("n1", "n5").score < 1.0
        unknown.parent_of("n5")


def test_the_lowest_common_ancestor_of_the_neighbours_is_suggested_first(model):
    def best(*near: str) -> list[object]:
        return [one.name for one in suggest_parent(model, near, 3)]

    assert suggest_parent(everything_near_the_root("parents"), ["n4", "n5"], 1)[0].name == "n0"
    assert best("n4", "n5")[:2] == ["n1", "n0"]
    assert best("n13", "n14", "n15")[0] == "n4"
    assert best("n13", "n17")[0] == "n1"
    # One neighbour may be a sibling or the parent: both are offered, those with children before the others.
    assert best("n39") == ["n12", "n39", "n3"]
    assert best("n4", "n13")[0] == "n4"
    # Above most of them, if none is above all but the root.
    facts = suggest_parent(model, ["n4", "n5", "n39"], 40)
    assert (facts[0].name, facts[1].name) == ("n0", "n1")
    assert [one.neighbors_below for one in facts[:2]] == [3, 2]
    unrelated = [one.score for one in facts if not one.neighbors_below and one.children]
    assert len(unrelated) > 3
    assert unrelated == sorted(unrelated)


def test_tops_under_an_added_root_have_no_common_ancestor(model):
    hierarchy = Hierarchy.from_codes(
        ["a", "a1", "a2", "b", "b1", "<root>"], [0, 1, 2, 3, 4], [5, 0, 0, 5, 3], virtual_root=5
    )
    vectors = np.array([[0.5, 0], [0.7, 0.1], [0.7, -0.1], [-0.5, 0], [-0.7, 0], [0.0, 0]])
    found = suggest_parent(
        Embedding(vectors, hierarchy, provenance=Provenance(objective="ancestors")), ["a1", "a2", "b1"]
    )
    assert found[0].name == "a"
    assert {one.name for one in found} == {"a", "a1", "a2", "b", "b1"}
