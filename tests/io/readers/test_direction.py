"""Direction: by header, by structure, by force; and the doubt said where there is one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.io.readers import helpers
from tests.io.readers.helpers import ANIMALS, DIAMOND, edges_of
from treeball.io.readers import read

REVERSED = {(p, c) for c, p in ANIMALS}


def _direction(source: Any, **overrides: Any) -> tuple[str | None, str | None]:
    report = read(source, **overrides).report
    assert report is not None
    return report.direction, report.direction_doubt


@pytest.mark.parametrize("edges", [ANIMALS, DIAMOND], ids=["tree", "dag"])
def test_structure_tells(edges: set[tuple[str, str]]) -> None:
    turned = {(p, c) for c, p in edges}
    assert edges_of(read(helpers.delimited(edges))) == edges
    assert edges_of(read(helpers.delimited(turned))) == edges
    assert _direction(helpers.delimited(edges)) == ("child -> parent", None)
    assert _direction(helpers.delimited(turned)) == ("parent -> child", None)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_structure_tells_for_every_tree_that_is_no_chain(data: st.DataObject) -> None:
    n = data.draw(st.integers(3, 30))
    parents = [data.draw(st.integers(0, i - 1)) for i in range(1, n)]
    edges = {(f"n{i}", f"n{p}") for i, p in enumerate(parents, start=1)}
    if len(set(parents)) == n - 1:
        assert _direction(sorted(edges))[1] is not None
        return
    for pairs in (sorted(edges), sorted((p, c) for c, p in edges)):
        hierarchy = read(pairs)
        assert edges_of(hierarchy) == edges
        assert hierarchy.report is not None
        assert hierarchy.report.direction_doubt is None


def test_closures_are_recognised_in_both_directions() -> None:
    closure = ANIMALS | {("dog", "animal"), ("cat", "animal"), ("owl", "animal")}
    for pairs in (sorted(closure), sorted((p, c) for c, p in closure)):
        assert edges_of(read(pairs)) == ANIMALS


@pytest.mark.parametrize("pairs", [[("a", "b")], [("a", "b"), ("b", "c")], [("a", "b"), ("c", "d")]])
def test_chains_are_doubtful_and_read_as_child_parent(pairs: list[tuple[str, str]]) -> None:
    direction, doubt = _direction(pairs)
    assert direction == "child -> parent"
    assert doubt is not None
    assert "is a guess" in doubt
    assert "direction=parent-child (on the command line: --direction parent-child) turns it round" in doubt
    assert edges_of(read(pairs)) == set(pairs)
    assert edges_of(read(pairs, direction="parent-child")) == {(b, a) for a, b in pairs}


def test_even_dags_are_doubtful() -> None:
    pairs = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("c", "x"), ("c", "y"), ("c", "z")]
    assert _direction(pairs)[1] is not None


@pytest.mark.parametrize(
    "header",
    [
        "child,parent",
        "hyponym,hypernym",
        "narrower,broader",
        "id,parent_id",
        "Node ID,Parent ID",
        "subclass,superclass",
    ],
)
def test_header_words_decide_even_against_the_structure(header: str) -> None:
    rows = helpers.delimited(REVERSED).decode()
    assert edges_of(read(f"{header}\n{rows}".encode(), reduce="never")) == REVERSED
    first, second = header.split(",")
    assert edges_of(read(f"{second},{first}\n{rows}".encode())) == ANIMALS


def test_source_and_target_count_only_when_the_structure_cannot_tell() -> None:
    rows = helpers.delimited(REVERSED).decode()
    assert edges_of(read(f"source,target\n{rows}".encode())) == ANIMALS
    assert edges_of(read(b"source,target\na,b\n")) == {("a", "b")}
    assert edges_of(read(b"target,source\na,b\n")) == {("b", "a")}
    doubt = _direction(b"target,source\na,b\n")[1]
    assert doubt is not None
    assert "direction=child-parent (on the command line: --direction child-parent) turns it round" in doubt
    assert edges_of(read(b"target,source\na,b\n", direction="child-parent")) == {("a", "b")}


def test_force_speaks_of_the_columns_as_they_stand() -> None:
    data = helpers.delimited(ANIMALS)
    assert edges_of(read(data, direction="child-parent")) == ANIMALS
    assert edges_of(read(data, direction="parent-child", reduce="never")) == REVERSED
    turned = helpers.delimited(REVERSED, header=("parent", "child"))
    assert edges_of(read(turned, direction="parent-child")) == ANIMALS
    assert _direction(turned) == _direction(turned, direction="parent-child") == ("parent -> child", None)


def test_columns_are_named_child_first() -> None:
    data = b"size,upper,lower\n1,animal,mammal\n2,mammal,dog\n3,mammal,cat\n"
    expected = {("mammal", "animal"), ("dog", "mammal"), ("cat", "mammal")}
    assert edges_of(read(data, columns=("lower", "upper"))) == expected
    assert edges_of(read(data, columns="3,2")) == expected
    hierarchy = read(data, columns=("lower", "upper", "size"))
    assert hierarchy.parent_weight is not None
    assert sorted(hierarchy.parent_weight.tolist()) == [1.0, 2.0, 3.0]


def test_gaps_show_which_column_holds_the_parents() -> None:
    assert edges_of(read(b",a\na,b\nb,c\n")) == {("b", "a"), ("c", "b")}
    assert edges_of(read(b"a,\nb,a\nc,b\n")) == {("b", "a"), ("c", "b")}


def test_adjacency_lists_default_to_children() -> None:
    assert edges_of(read({"a": ["b"]})) == {("b", "a")}
    assert edges_of(read({"dog": ["mammal"], "cat": ["mammal"], "mammal": ["animal"]})) == {
        ("dog", "mammal"),
        ("cat", "mammal"),
        ("mammal", "animal"),
    }


def test_an_undirected_tree_hangs_from_its_first_node_or_the_one_named() -> None:
    import networkx

    graph = networkx.path_graph(["a", "b", "c"])
    assert edges_of(read(graph)) == {("b", "a"), ("c", "b")}
    hierarchy = read(graph, root="b")
    assert edges_of(hierarchy) == {("a", "b"), ("c", "b")}
    assert edges_of(read(networkx.balanced_tree(2, 2))) == {(1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (6, 2)}


def test_a_header_of_unknown_words_is_pointed_at() -> None:
    data = b"Kategorie;Oberkategorie\nHund;Tier\nKatze;Tier\n"
    report = read(data).report
    assert report is not None
    assert report.notes == (
        "line 1 (Kategorie, Oberkategorie) is tied to no other line: if it is a header, say header=yes (on the command "
        "line: --header yes)",
    )
    assert edges_of(read(data, header="yes")) == {("Hund", "Tier"), ("Katze", "Tier")}
