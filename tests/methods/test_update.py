"""update: what has not changed stays byte for byte, and what has is as well as if it had been there always."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeball
from treeball import InputError

EDGES = [
    ("dog", "mammal"),
    ("cat", "mammal"),
    ("mammal", "animal"),
    ("owl", "bird"),
    ("hen", "bird"),
    ("bird", "animal"),
]


def vectors_of(embedding: treeball.Embedding, names: list[str]) -> np.ndarray:
    return embedding.vectors[[embedding.names.index_of(name) for name in names]]


def test_an_update_moves_what_has_changed_and_nothing_else() -> None:
    model = treeball.fit(EDGES, dim=5)
    edges = [("dog", "mammal"), ("cat", "mammal"), ("mammal", "animal"), ("owl", "bird"), ("bat", "mammal")]
    made = treeball.update(model, [*edges, ("bird", "animal"), ("cats", "cat")])
    assert (made.changes.added, made.changes.removed) == (["bat", "cats"], ["hen"])
    same = ["animal", "mammal", "bird", "dog", "cat", "owl"]
    np.testing.assert_array_equal(vectors_of(made.embedding, same), vectors_of(model, same))
    assert len(made.embedding.evaluate().illness) == 0
    assert made.insertion.parent_nearest == 2


def test_nothing_new_is_the_same_model() -> None:
    model = treeball.fit(EDGES, dim=5)
    made = treeball.update(model, EDGES[::-1])
    assert not made.changes
    assert made.embedding is model


def test_a_part_of_an_export_is_refused_unless_forced() -> None:
    model = treeball.fit(EDGES, dim=5)
    part = [("dog", "mammal"), ("mammal", "animal")]
    with pytest.raises(InputError, match="4 nodes of 7 would be removed"):
        treeball.update(model, part)
    assert len(treeball.update(model, part, force=True).embedding) == 3


def test_a_dag_keeps_its_other_parents() -> None:
    model = treeball.fit([*EDGES, ("bat", "mammal"), ("bat", "flyer"), ("flyer", "animal")], dim=6)
    made = treeball.update(model, [*EDGES, ("bat", "mammal"), ("bat", "flyer"), ("flyer", "animal"), ("owl", "flyer")])
    assert made.changes.moved == ["owl"]
    hierarchy = made.embedding.hierarchy
    assert hierarchy.names.take(hierarchy.parents_of(hierarchy.names.index_of("owl"))) == ["bird", "flyer"]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_weeks_of_a_random_tree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parents = {f"n{i}": f"n{int(rng.integers(0, i))}" for i in range(1, 40)}
    model = treeball.fit(list(parents.items()), dim=8)
    for week in range(3):
        leaves = [name for name in parents if name not in parents.values()]
        moved, gone = rng.choice(leaves, 2, replace=False)
        del parents[str(gone)]
        parents[str(moved)] = "n0"
        inner = ["n0", *(name for name in parents if name != moved)]
        for i in range(5):
            parents[f"w{week}-{i}"] = str(rng.choice(inner))
        made = treeball.update(model, list(parents.items()))
        same = [name for name in parents if name in model.names and name != moved]
        np.testing.assert_array_equal(vectors_of(made.embedding, same), vectors_of(model, same))
        assert dict(zip(made.embedding.names, ["n0", *parents], strict=False)).keys() == {"n0", *parents}
        model = made.embedding
    assert len(model.evaluate().illness) == 0


OBO = """format-version: 1.2

[Term]
id: T:1
name: organ

[Term]
id: T:2
name: heart
synonym: "Herz" RELATED []
is_a: T:1

[Term]
id: T:3
name: lung
is_a: T:1
"""


def test_a_version_with_other_synonyms_alone_is_a_change(tmp_path: Path) -> None:
    for name, text in (("before.obo", OBO), ("after.obo", OBO.replace("Herz", "Pumpe"))):
        (tmp_path / name).write_text(text)
    model = treeball.fit(tmp_path / "before.obo", dim=3)
    made = treeball.update(model, tmp_path / "after.obo")
    assert made.changes.other_synonyms == ["T:2"]
    assert made.changes.to_dict()["other_synonyms"] == ["T:2"]
    assert made.embedding.names.look_up("Pumpe") == model.names.look_up("Herz")
    assert made.embedding.names.look_up("Herz") == []
    assert np.array_equal(made.embedding.vectors, model.vectors)
    assert not treeball.update(model, tmp_path / "before.obo").changes


def test_a_new_node_that_is_ill_with_its_second_parent_is_named_and_can_be_healed() -> None:
    """Its parents are far from each other: next to the one, the other is farther than its own child."""
    old = [("2", "1"), ("3", "1"), ("4", "2"), ("5", "2"), ("6", "4")]
    new = [*old, ("7", "4"), ("7", "3")]
    model = treeball.fit(old, dim=5)
    made = treeball.update(model, new)
    assert made.insertion.ill == ["7"]
    assert len(made.embedding.evaluate().illness) == 1
    healed = treeball.update(model, new, heal_ill=True)
    assert healed.insertion.ill == []
    assert healed.insertion.healed_by_moving
    assert len(healed.embedding.evaluate().illness) == 0
    assert set(healed.embedding.parents_of("7")) == {"3", "4"}
