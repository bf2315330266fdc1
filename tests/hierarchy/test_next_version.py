"""The next version of a hierarchy: against a comparison of sets of parents, one node after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeball
from treeball import InputError
from treeball.hierarchy._next_version import next_version


def table(*rows: str) -> treeball.Hierarchy:
    return treeball.read("\n".join(["id,parent_id,name", *rows]).encode())


BEFORE = table("1,,Home", "2,1,Kitchen", "3,1,Garden", "4,2,Pans", "5,2,Pots", "6,4,Iron pans")


def test_what_came_went_moved_and_is_called_otherwise() -> None:
    after = table("7,3,Rakes", "1,,Home", "3,1,Gardens", "4,3,Pans", "2,1,Kitchen", "6,4,Iron pans")
    found = next_version(BEFORE, after)
    assert (found.added, found.removed, found.moved) == (["7"], ["5"], ["4"])
    assert found.relabelled == [("3", "Garden", "Gardens")]
    assert not found.renamed
    edit = found.edit
    assert list(edit.hierarchy.names) == ["1", "2", "3", "4", "6", "7"]  # the old order, then what is new
    assert edit.origin.tolist() == [0, 1, 2, 3, 5, -1]
    assert edit.loose.tolist() == [False, False, False, True, True, True]  # what is below goes along
    assert edit.hierarchy.names.labels[2] == "Gardens"
    assert found.kept == 5
    assert not next_version(BEFORE, BEFORE)


def test_an_id_is_never_taken_for_another_but_a_name_may_be() -> None:
    other_id = table("1,,Home", "2,1,Kitchen", "3,1,Garden", "4,2,Pans", "9,2,Pots", "6,4,Iron pans")
    found = next_version(BEFORE, other_id)
    assert (found.added, found.removed, found.renamed) == (["9"], ["5"], [])
    names, spelled = (
        treeball.read([("dog", word), ("cat", word), ("owl", "bird"), (word, "animal"), ("bird", "animal")])
        for word in ("mammal", "mammals")
    )
    found = next_version(names, spelled)
    assert found.renamed == [("mammal", "mammals")]
    assert (found.added, found.removed, found.moved) == ([], [], [])


def test_labels_stay_where_the_new_version_has_none() -> None:
    pairs = treeball.read([("2", "1"), ("3", "1"), ("4", "2"), ("5", "2"), ("6", "4"), ("7", "1")], names="id")
    found = next_version(BEFORE, pairs)
    assert found.edit.hierarchy.names.labels[:3] == ["Home", "Kitchen", "Garden"]
    assert found.relabelled == []
    assert found.added == ["7"]


def test_another_root_is_refused() -> None:
    with pytest.raises(InputError, match="fit the new version"):
        next_version(BEFORE, table("0,,All", "1,0,Home", "2,1,Kitchen"))


@st.composite
def versions(draw: st.DrawFn) -> list[dict[int, set[int]]]:
    """Parents of the nodes of two DAGs with the root 0, in which a parent has the smaller number."""
    made = []
    for _ in range(2):
        nodes = sorted({0, *draw(st.sets(st.integers(1, 14), min_size=1, max_size=12))})
        parents: dict[int, set[int]] = {0: set()}
        for place, node in enumerate(nodes[1:], start=1):
            parents[node] = draw(st.sets(st.sampled_from(nodes[:place]), min_size=1, max_size=2))
        made.append(parents)
    return made


@given(versions())
def test_against_sets_of_parents(both: list[dict[int, set[int]]]) -> None:
    before, after = (
        treeball.read(
            [(f"n{c}", f"n{p}") for c, above in one.items() for p in above], direction="child-parent", reduce="never"
        )
        for one in both
    )
    renamed = {int(str(new)[1:]): int(str(old)[1:]) for old, new in next_version(before, after).renamed}
    found = next_version(before, after)
    names = found.edit.hierarchy.names
    number = [int(str(name)[1:]) for name in names]
    old = {node: renamed.get(node, node) for node in number}
    stays = {node for node in number if old[node] in both[0] and (node in renamed or node not in renamed.values())}
    assert {int(str(name)[1:]) for name in found.added} == set(number) - stays
    moved = {
        node for node in stays if node and {old[p] if p in stays else -1 for p in both[1][node]} != both[0][old[node]]
    }
    assert {int(str(name)[1:]) for name in found.moved} == moved
    loose = {number[i] for i in np.flatnonzero(found.edit.loose)}
    hierarchy = found.edit.hierarchy
    for code, node in enumerate(number):
        above = hierarchy.primary_parent[code]
        expected = node in moved or node not in stays or (above >= 0 and number[above] in loose)
        assert (node in loose) == expected
