"""Transitive closures are recognised exactly and stored by what generates them."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.io.readers.helpers import edges_of
from treeball.io.readers import closure, read


@st.composite
def dags(draw: st.DrawFn) -> networkx.DiGraph:
    n = draw(st.integers(3, 12))
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(n))
    for child in range(1, n):
        for parent in draw(st.sets(st.integers(0, child - 1), min_size=1, max_size=3)):
            graph.add_edge(child, parent)
    return graph


@settings(max_examples=60, deadline=None)
@given(dags())
def test_against_networkx(graph: networkx.DiGraph) -> None:
    full = networkx.transitive_closure(graph)
    reduced = networkx.transitive_reduction(graph)
    hierarchy = read(sorted(full.edges), direction="child-parent")
    assert edges_of(hierarchy) == set(reduced.edges)
    assert edges_of(read(sorted(full.edges), direction="child-parent", reduce="never")) == set(full.edges)
    told = any("transitive closure" in note for note in hierarchy.report.notes)
    assert told == (len(reduced.edges) < len(full.edges))
    # Anything that is not closed is left alone, unless asked for.
    if set(graph.edges) != set(full.edges):
        assert edges_of(read(sorted(graph.edges), direction="child-parent")) == set(graph.edges)
    always = read(sorted(graph.edges), direction="child-parent", reduce="always")
    assert edges_of(always) == set(reduced.edges)


def test_the_summary_says_so() -> None:
    closed = [("a", "b"), ("b", "c"), ("a", "c"), ("d", "c")]
    report = read(closed).report
    assert report is not None
    assert report.n_edges == 3
    assert report.notes[0].startswith(
        "4 edges are a transitive closure: kept the 3 that generate it; the objective `anc"
    )


def test_nearly_closed_is_told_but_kept() -> None:
    chain = [(i, j) for i in range(60) for j in range(i + 1, 60)]
    # Leaves below the first node, so that the direction is plain; one pair of the closure is missing.
    leaves = [(f"leaf {k}", j) for k in range(30) for j in range(60)]
    pairs = chain + leaves[:-1]
    report = read(pairs).report
    assert report is not None
    assert report.n_edges == len(pairs)
    assert "nearly a transitive closure" in report.notes[0]


def test_stars_and_trees_have_nothing_to_reduce() -> None:
    for pairs in ([("a", "r"), ("b", "r")], [("a", "b"), ("c", "b"), ("b", "r")]):
        report = read(pairs).report
        assert report is not None
        assert report.notes == ()


def test_work_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 40
    child, parent = (
        np.array(side, np.int32) for side in zip(*((i, j) for i in range(n) for j in range(i)), strict=True)
    )
    whole = closure.check_closure(n, child, parent)
    monkeypatch.setattr(closure, "_CHUNK", 7)
    pieces = closure.check_closure(n, child, parent)
    assert whole is not None
    assert pieces is not None
    assert whole.missing == pieces.missing == 0
    assert np.array_equal(whole.implied, pieces.implied)
    assert np.array_equal(whole.implied, child - parent > 1)


def test_one_implied_edge_is_an_edge() -> None:
    report = read([("b", "a"), ("c", "b"), ("c", "a"), ("d", "c")], direction="child-parent", reduce="always").report
    assert report is not None
    assert report.notes == ("1 edge that others imply left out",)
