"""Splits of hierarchies into parts to train on, to validate and to test, without a leak between them."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import treeball
from tests import trees
from tests.evaluation.test_taxonomy_work import closure_of, named, pairs_of
from treeball import Hierarchy, InputError
from treeball.cli.main import run


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


SHARES = st.sampled_from([0.1, 0.2, 0.3])
WHAT = st.sampled_from(["leaves", "edges", "closure"])


def split_or_none(hierarchy, **options):
    try:
        return treeball.split(hierarchy, **options)
    except InputError as error:
        assert "choose a share" in str(error)  # noqa: PT017
        return None


@given(trees.dags(max_nodes=30), WHAT, SHARES, SHARES, st.integers(0, 5))
def test_three_parts_share_nothing_and_lose_nothing(edges, what, share, validation, seed):
    hierarchy = named(edges)
    made = split_or_none(hierarchy, **{what: share}, validation=validation, seed=seed)
    assume(made is not None)
    train, test, chosen = set(made.train), set(made.held_out), set(made.validation)
    assert not train & (test | chosen)
    assert not test & chosen
    assert train | test | chosen == (closure_of(hierarchy) if what == "closure" else pairs_of(hierarchy))
    two_way = treeball.split(hierarchy, **{what: share}, seed=seed)
    assert two_way.held_out == made.held_out  # whatever else is held out
    assert not two_way.validation
    if what == "leaves":
        whole = pairs_of(hierarchy)
        leaves = {child for child, _ in whole} - {parent for _, parent in whole}
        held, to_choose = ({child for child, _ in part} for part in (test, chosen))
        assert not held & to_choose
        assert not (held | to_choose) & {name for pair in train for name in pair}
        population, sizes = len(leaves), (len(held), len(to_choose))
    else:
        basic = len(pairs_of(hierarchy.transitive_reduction())) if what == "closure" else 0
        population, sizes = len(train | test | chosen) - basic, (len(test), len(chosen))
    assert sizes == (round(share * population), round(validation * population))


@given(trees.dags(max_nodes=30), st.integers(0, 5))
def test_less_of_the_closure_to_train_on_changes_nothing_else(edges, seed):
    hierarchy = named(edges)
    basic = pairs_of(hierarchy.transitive_reduction())
    size = len(closure_of(hierarchy)) - len(basic)
    made = [split_or_none(hierarchy, closure=0.1, validation=0.2, keep=keep, seed=seed) for keep in (0, 0.1, 0.35, 0.7)]
    assume(None not in made)
    assert len({(tuple(one.held_out), tuple(one.validation)) for one in made}) == 1
    assert set(made[0].train) == basic
    for smaller, larger in itertools.pairwise(made):
        assert set(smaller.train) <= set(larger.train)
    for keep, one in zip((0, 0.1, 0.35, 0.7), made, strict=True):
        assert not set(one.train) & (set(one.held_out) | set(one.validation))
        left = size - len(one.held_out) - len(one.validation)
        assert len(one.train) - len(basic) == min(round(keep * size), left)


def test_the_whole_closure_can_be_held_out():
    hierarchy = treeball.read("example:mammals")
    for made in (treeball.split(hierarchy, closure=1.0), treeball.split(hierarchy, closure=0.7, validation=0.3)):
        assert set(made.train) == pairs_of(hierarchy)
        assert set(made.held_out) | set(made.validation) == closure_of(hierarchy) - pairs_of(hierarchy)


@pytest.mark.parametrize("names", ["text", "numbers"])
@pytest.mark.parametrize("what", ["leaves", "edges", "closure"])
def test_the_hierarchy_to_train_on_has_every_node(what, names):
    edges = trees.shuffled(trees.random_dag(60, 15, 3), 3)
    hierarchy = named(edges) if names == "text" else Hierarchy.from_codes(range(60), edges.child, edges.parent)
    shares: dict[str, Any] = {what: 0.25, "validation": 0.25}
    made = treeball.split(hierarchy, **shares)
    train = made.hierarchy()
    assert pairs_of(train) == set(made.train)
    held = {child for child, _ in made.held_out + made.validation} if what == "leaves" else set()
    assert set(train.names) - {"<root>"} == set(hierarchy.names) - held
    if names == "text":
        made.save(Path("parts"))
        assert pairs_of(treeball.read("parts/train.tsv", reduce="never")) == pairs_of(train)


def test_a_closure_to_train_on_is_not_reduced():
    made = treeball.split([("b", "a"), ("c", "b"), ("d", "c"), ("e", "d")], closure=0.2)
    assert len(made.held_out) == 1
    assert made.hierarchy().n_edges == 9


def test_files_of_a_three_way_split():
    hierarchy = treeball.read("example:mammals")
    made = treeball.split(hierarchy, closure=0.05, validation=0.05)
    paths = made.save(Path("parts"))
    assert [path.name for path in paths] == ["train.tsv", "heldout.tsv", "validation.tsv"]
    for path, pairs in zip(paths, (made.train, made.held_out, made.validation), strict=True):
        assert pairs_of(treeball.read(path, reduce="never")) == set(pairs)
    # What is left of another split would be taken for a part of this one.
    with pytest.raises(InputError, match=r"validation.tsv is there from another split.*choose another folder"):
        treeball.split(hierarchy, closure=0.05).save(Path("parts"))
    assert pairs_of(treeball.read("parts/train.tsv")) == set(made.train)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"leaves": 1.0}, "leaves to hold out must be above 0 and below 1"),
        ({"closure": 1.1}, "closure to hold out must be above 0 and at most 1"),
        ({"closure": float("nan")}, "above 0 and at most 1"),
        ({"closure": 0.1, "validation": 0.0}, "validation to hold out must be above 0"),
        ({"closure": 0.1, "validation": 0.95}, r"closure 0.1, validation 0.95 are 1.05 together: choose smaller"),
        ({"closure": 0.3, "validation": 0.3, "keep": 0.5}, "keep 0.5 are 1.1 together"),
        ({"edges": 0.5, "validation": 0.5}, "are 1 together: choose smaller ones"),
        ({"edges": 0.1, "keep": 0.5}, "give it together with closure"),
        ({"closure": 0.1, "keep": -0.5}, "must be from 0 to 1"),
        ({"closure": 0.1, "seed": -1}, "seed must be a whole number"),
        ({"closure": 0.1, "validation": 1e-9}, "is 0: choose a share"),
    ],
)
def test_shares_that_cannot_be_are_refused(options, sentence):
    with pytest.raises(InputError, match=sentence):
        treeball.split("example:mammals", **options)


def test_it_is_said_that_nothing_is_known_of_an_orphan():
    made = treeball.split(named(trees.random_tree(50, 0)), edges=0.2, validation=0.1)
    (note,) = made.notes
    assert "15 nodes lost their last parent and hang from nothing" in note
    assert "a rank near 25, half the nodes, is all that any method can show for 15 of the 15 pairs" in note
    assert "hold out leaves, for insert to place, or pairs of the closure" in note
    # Every node below has two parents, and one pair is held out: nobody is an orphan.
    two = treeball.read([(f"c{i}", top) for i in range(20) for top in ("a", "b")] + [("a", "r"), ("b", "r")])
    assert treeball.split(two, edges=0.02).notes == ()
    assert treeball.split("example:mammals", closure=0.5).notes == ()


def test_three_parts_on_the_command_line(capsys):
    options = ["--closure", "0.05", "--validation", "0.05", "--keep", "0.1", "--seed", "2"]
    assert run(["split", "example:mammals", "-o", "parts", *options]) == 0
    said = capsys.readouterr().err
    assert "1,716 pairs to train on in parts/train.tsv" in said
    assert "268 pairs in parts/heldout.tsv, 268 pairs in parts/validation.tsv" in said
    assert sorted(os.listdir("parts")) == ["heldout.tsv", "train.tsv", "validation.tsv"]
    made = treeball.split("example:mammals", closure=0.05, validation=0.05, keep=0.1, seed=2)
    assert pairs_of(treeball.read("parts/train.tsv", reduce="never")) == set(made.train)
    assert run(["split", "example:mammals", "-o", "edges", "--edges", "0.1"]) == 0
    assert "is all that any method can show" in capsys.readouterr().err
    assert run(["split", "example:mammals", "-o", "parts", "--edges", "0.1", "--keep", "0.1"]) == 2
    assert "give it together with closure" in capsys.readouterr().err
