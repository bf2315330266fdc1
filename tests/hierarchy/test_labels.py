"""Ids and labels: nodes are found by id, label or synonym, what may be several is refused, edits keep labels."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeball.errors import InputError
from treeball.hierarchy import Hierarchy, diff
from treeball.hierarchy._edit import Edit, add_edges, remove_nodes, rename_nodes, reparent_nodes
from treeball.hierarchy.lookup_keys import LookupKeys
from treeball.hierarchy.names import Names

FEW = st.sampled_from(["a", "b", "c", "Rock", "Pop", "rock", "a [b]", "7", "8"])


def shop(names: list[str] | None = None) -> Hierarchy:
    """Music (Rock, Pop) and Bikes (Accessories) and Phones (Cases)."""
    return Hierarchy.from_codes(
        names or ["s", "m", "m1", "m2", "b", "b1", "p", "p1"],
        [1, 2, 3, 4, 5, 6, 7],
        [0, 1, 1, 0, 4, 0, 6],
        labels=["Shop", "Music", "Rock", "Pop", "Bikes", "Accessories", "Phones", None],
        synonyms=[[], ["songs"], ["rock'n'roll", "m99"], [], [], [], ["songs"], []],
    )


# ---- finding ----


def test_a_node_is_found_by_id_label_synonym_and_as_it_is_shown() -> None:
    names = shop().names
    for text in ("m1", "Rock", "rock'n'roll", "m99", "Rock [m1]"):
        assert names.find(text) == 2
    assert names.shown_of([2, 7]) == ["Rock [m1]", "p1"]
    assert names.index_of("m1") == 2
    with pytest.raises(InputError, match="no node named 'Rock'"):
        names.index_of("Rock")  # an id is an id


def test_what_may_be_several_nodes_is_refused_with_the_candidates() -> None:
    with pytest.raises(InputError, match=r"'songs' may be any of 2 nodes: Music \[m\], Phones \[p\]; give the id"):
        shop().names.find("songs")
    with pytest.raises(InputError, match=r"did you mean 'Rock \[m1\]'"):
        shop().names.find("Rok")
    with pytest.raises(InputError, match=r"no node named 'zzzz'.* \(1 more are missing\)"):
        shop().names.find_many(["Rock", "zzzz", "m", "yyyy", "Pop"])


def test_spelled_integers_and_integers_mean_the_same() -> None:
    for ids in ([10, 20], ["10", "20"]):
        names = Hierarchy.from_codes(ids, [1], [0], labels=["Top", "Low"]).names
        assert names.find(20) == names.find("20") == names.find("Low") == names.find("Low [20]") == 1


def naive_look_up(names: Names, wanted: str) -> list[int]:
    """Id, else label, else synonym, else ``label [id]``, by looking at every node."""
    ids, labels = list(names), list(names.labels)
    lists = [[]] * len(ids) if names.synonyms is None else [some or [] for some in names.synonyms.to_pylist()]
    tests = (
        lambda i: ids[i] == wanted,
        lambda i: labels[i] == wanted,
        lambda i: wanted in lists[i],
        lambda i: labels[i] is not None and wanted == f"{labels[i]} [{ids[i]}]",
    )
    found = ([i for i in range(len(ids)) if test(i)] for test in tests)
    return next((codes for codes in found if codes), [])


@st.composite
def described(draw: st.DrawFn) -> Names:
    ids = draw(st.lists(FEW, min_size=1, max_size=7, unique=True))
    labels = draw(st.lists(st.none() | FEW, min_size=len(ids), max_size=len(ids)))
    synonyms = draw(st.lists(st.lists(FEW, max_size=2), min_size=len(ids), max_size=len(ids)))
    return Names(pa.array(ids)).described(labels, synonyms)


@given(described(), st.lists(FEW, min_size=1, max_size=12))
def test_look_up_is_what_looking_at_every_node_finds(names: Names, questions: list[str]) -> None:
    # One after the other: from some number on texts are sorted instead of scanned.
    questions = [*questions, *names.shown_of(range(len(names)))]
    expected = [naive_look_up(names, text) for text in questions]
    assert [names.look_up(text) for text in questions] == expected
    meant = [names.meant(text).codes for text in questions]
    assert all(codes == exact for codes, exact in zip(meant, expected, strict=True) if exact)
    if all(len(codes) == 1 for codes in meant):
        assert names.find_many(questions).tolist() == [codes[0] for codes in meant]
    else:
        with pytest.raises(InputError):
            names.find_many(questions)


@given(st.lists(st.none() | FEW, max_size=9), st.lists(FEW, min_size=1, max_size=12))
def test_keys_scanned_sorted_and_asked_for_together_agree(texts: list[str | None], questions: list[str]) -> None:
    array = pa.array(texts, pa.string())
    expected = {text: [i for i, one in enumerate(texts) if one == text] for text in questions}
    sorted_keys = LookupKeys(array, order=np.asarray(LookupKeys(array).order))
    for keys in (LookupKeys(array), sorted_keys):
        assert {text: keys.codes_of(text) for text in questions} == expected
        distinct = list(expected)
        assert keys.codes_of_many(distinct) == {text: codes for text, codes in expected.items() if codes}


# ---- the sequence of labels ----


def test_labels_are_a_sequence_and_say_no_more_than_they_must() -> None:
    labels = Hierarchy.from_codes(["a", "b", "c"], [1, 2], [0, 0], labels=[" A ", "b", ""]).labels
    assert list(labels) == labels[:] == ["A", None, None]
    assert (labels[0], labels[-1], len(labels), labels.known) == ("A", None, 3, 1)
    without = Hierarchy.from_codes(["a", "b"], [1], [0])
    assert list(without.labels) == [None, None]
    assert not without.names.has_labels
    with pytest.raises(ValueError, match="3 labels for 2 nodes"):
        Hierarchy.from_codes(["a", "b"], [1], [0], labels=["x", "y", "z"])


def test_labels_travel_with_a_hierarchy() -> None:
    before = shop()
    again: Hierarchy = pickle.loads(pickle.dumps(before))
    assert again.labels == before.labels
    assert again.names.find("m99") == 2
    dag = Hierarchy.from_codes(["r", "a", "b"], [1, 2, 2], [0, 1, 0], labels=["R", "A", "B"])
    assert list(dag.transitive_reduction().labels) == ["R", "A", "B"]
    assert list(before.described(["x"] * 8).labels) == ["x"] * 8


# ---- edits ----


def test_new_nodes_bring_their_labels_and_old_ones_keep_theirs() -> None:
    new = Names.of(["p2", "p"]).described(["Accessories", "Telephones"], [["extras"], []])
    made = add_edges(Edit.of(shop()), [("p2", "p")], new).hierarchy
    assert made.names.shown_of([6, 8]) == ["Phones [p]", "Accessories [p2]"]
    assert made.names.find("extras") == 8
    assert made.names.find("rock'n'roll") == 2


def test_a_full_table_again_changes_nothing_though_a_label_occurs_twice_now() -> None:
    before = shop()
    child, parent = before.edges()
    pairs = list(zip(before.names.take(child), before.names.take(parent), strict=True))
    more = before.names.extended(Names.of(["p2"]).described(["Accessories"]))
    edit = add_edges(Edit.of(before), [*pairs, ("p2", "p")], more)
    assert list(edit.hierarchy.names) == [*before.names, "p2"]
    assert edit.loose.tolist() == [False] * 8 + [True]
    assert add_edges(Edit.of(before), pairs, before.names).hierarchy is before


def test_edges_without_labels_may_name_old_nodes_by_label() -> None:
    made = add_edges(Edit.of(shop()), [("m3", "Music"), ("Rock", "Music")]).hierarchy
    assert list(made.names)[8:] == ["m3"]
    assert made.parents_of("m3") == ["m"]
    with pytest.raises(InputError, match=r"'Accessories \[b1\]' is in the model already, below 'Bikes \[b\]' and not"):
        add_edges(Edit.of(shop()), [("Accessories", "Phones")])
    with pytest.raises(InputError, match="'songs' may be any of 2 nodes"):
        add_edges(Edit.of(shop()), [("new", "songs")])


def test_other_edits_keep_labels() -> None:
    edit = Edit.of(shop())
    removed = remove_nodes(edit, ["Music"]).hierarchy
    assert removed.names.shown_of(range(5)) == ["Shop [s]", "Bikes [b]", "Accessories [b1]", "Phones [p]", "p1"]
    moved = reparent_nodes(edit, {"Accessories": "Phones"}).hierarchy
    assert moved.parents_of("Accessories") == ["p"]
    assert moved.labels == edit.hierarchy.labels


def test_renaming_changes_what_was_named() -> None:
    edit = Edit.of(shop())
    relabelled = rename_nodes(edit, {"Rock": "Rock music"}).hierarchy
    assert relabelled.names.shown(2) == "Rock music [m1]"
    renamed = rename_nodes(edit, {"m1": "m7"}).hierarchy
    assert renamed.names.shown(2) == "Rock [m7]"
    assert renamed.names.find("rock'n'roll") == 2


# ---- comparing ----


def test_ids_are_never_guessed_to_be_renamed_and_other_labels_are_told() -> None:
    before = shop(["s", "m", "m1", "m2", "b", "sku-1001", "p", "p1"])
    after = Hierarchy.from_codes(
        ["s", "m", "m1", "m2", "b", "sku-1002", "p", "p1"],
        [1, 2, 3, 4, 5, 6, 7],
        [0, 1, 1, 0, 4, 0, 6],
        labels=["Shop", "Music", "Rock & Roll", "Pop", "Bikes", "Accessories", "Phones", "Cases"],
    )
    changes = diff(before, after)
    assert (changes.added, changes.removed, changes.renamed) == (("sku-1002",), ("sku-1001",), ())
    assert changes.relabelled == (("m1", "Rock", "Rock & Roll"), ("p1", None, "Cases"))
    assert changes.to_dict()["relabelled"][0] == {"node": "m1", "from": "Rock", "to": "Rock & Roll"}
    bare = [Hierarchy.from_codes(one.names.to_arrow(), *one.edges()) for one in (before, after)]
    assert diff(*bare).renamed == (("sku-1001", "sku-1002"),)  # names are all there is: then it is a guess
    assert not diff(bare[0], before)


def test_names_given_as_anything_have_labels() -> None:
    def codes() -> Iterator[tuple[int, str]]:
        yield (1, "x")
        yield (2, "y")

    names = Hierarchy.from_codes(list(codes()), [1], [0], labels=["One", None]).names
    assert names.shown_of([0, 1]) == ["One [(1, 'x')]", "(2, 'y')"]
    assert names.find("One") == names.find((1, "x")) == 0
