"""Neighbours that filters choose: against a naive choice, by any way of searching, and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeball
from tests import trees
from tests.embedding.test_queries import embedded, refused, said
from treeball import Embedding, Hierarchy, InputError
from treeball.nearest import kept

FLAGS = st.fixed_dictionaries({name: st.booleans() for name in ("leaves", "siblings", "unrelated")})


def naive(embedding, node, k, source, leaves, siblings, unrelated, within):
    """By networkx, one candidate after the other."""
    hierarchy = embedding.hierarchy
    graph = nx.DiGraph(list(zip(*map(np.ndarray.tolist, hierarchy.edges()), strict=True)))
    graph.add_nodes_from(range(len(embedding)))
    virtual = hierarchy.virtual_root
    fitting = []
    for other in range(len(embedding)):
        if other in (node, virtual):
            continue
        if leaves and graph.in_degree(other):
            continue
        if siblings and not (set(graph.successors(node)) & set(graph.successors(other))) - {virtual}:
            continue
        if unrelated and (nx.has_path(graph, node, other) or nx.has_path(graph, other, node)):
            continue
        if within is not None and not nx.has_path(graph, other, within):
            continue
        fitting.append(other)
    name = embedding.names[node]
    far = embedding.distance(name, embedding.names.take(fitting), source) if fitting else np.empty(0)
    reachable = [(d, other) for d, other in zip(far.tolist(), fitting, strict=True) if np.isfinite(d)]
    return sorted(reachable)[:k]


def check(embedding, k, flags, within):
    names = list(embedding)
    chosen = flags | {"within": None if within is None else names[within]}
    for source in ("geometry", "hierarchy"):
        answers = embedding.neighbors(names, k, source, **chosen)
        for node, answer in enumerate(answers):
            expected = naive(embedding, node, k, source, **flags, within=within)
            assert [far for _, far in answer] == pytest.approx([far for far, _ in expected])
            if source == "hierarchy":
                assert [name for name, _ in answer] == embedding.names.take([other for _, other in expected])


@given(trees.dags(max_nodes=14), FLAGS, st.integers(1, 16), st.data())
def test_filters_are_applied_before_k_is_taken(edges, flags, k, data):
    check(embedded(edges), k, flags, data.draw(st.none() | st.integers(0, edges.n - 1)))


def joined() -> Embedding:
    """Two tops under a virtual root."""
    hierarchy = Hierarchy.from_codes(
        ["a", "a1", "a2", "b", "b1", "<root>"], [0, 1, 2, 3, 4], [5, 0, 0, 5, 3], virtual_root=5
    )
    return Embedding(np.random.default_rng(3).uniform(-0.5, 0.5, (6, 2)), hierarchy)


@pytest.mark.parametrize("flags", [{}, {"siblings": True}, {"unrelated": True, "leaves": True}])
def test_a_virtual_root_is_neither_a_neighbour_nor_a_parent(flags):
    every = dict.fromkeys(("leaves", "siblings", "unrelated"), False) | flags
    for within in (None, 0, 5):
        check(joined(), 6, every, within)
    assert joined().neighbors("a", siblings=True) == []


@pytest.mark.parametrize(
    "flags", [{"leaves": True}, {"unrelated": True}, {"leaves": True, "unrelated": True}, {"within": "n3"}]
)
def test_a_search_finds_what_comparing_all_finds(monkeypatch, flags):
    plain, searched = (embedded(trees.random_dag(400, 150, 1), dim=3) for _ in range(2))
    names = list(plain)
    expected = plain.neighbors(names, 7, **flags)
    assert "search_tree" not in vars(plain)
    monkeypatch.setattr(kept, "PLAIN_COMPARISONS", 0)
    compared = []
    one_by_one = kept._nearest_of

    def counted(*asked):
        compared.append(asked[1])
        return one_by_one(*asked)

    monkeypatch.setattr(kept, "_nearest_of", counted)
    found = searched.neighbors(names, 7, **flags)
    assert len(compared) < len(names) or "within" in flags  # most are found by the search
    for answer, due in zip(found, expected, strict=True):
        assert [far for _, far in answer] == pytest.approx([far for _, far in due])
        assert len({name for name, _ in answer}) == len(due)


def test_what_is_no_filter_is_refused():
    model = joined()
    with pytest.raises(InputError, match="leaves must be True or False, not 'yes'"):
        model.neighbors("a", leaves="yes")  # type: ignore[call-overload]
    with pytest.raises(InputError, match="no node named 'c'"):
        model.neighbors("a", within="c")


def test_the_command_has_the_same_filters(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = ["shop,,Shop", "m,shop,Music", "m1,m,Rock", "m2,m,Pop", "m3,m2,K-pop", "b,shop,Bikes", "b1,b,Locks"]
    Path("shop.csv").write_text("id,parent_id,name\n" + "\n".join(rows) + "\n")
    model = str(treeball.fit("shop.csv", dim=3).save("shop.parquet"))
    assert said(["neighbors", model, "Rock", "--siblings", "--from", "hierarchy"], capsys).splitlines() == [
        "nearest to Rock [m1]",
        "Pop [m2]  2",
    ]
    assert said(["neighbors", model, "Rock", "--siblings", "--leaves"], capsys).splitlines() == [
        "nearest to Rock [m1]",
        "none",
    ]
    record = json.loads(said(["neighbors", model, "Rock", "--unrelated", "--within", "Music", "--json"], capsys))
    assert {row["node"] for row in record["neighbors"]} == {"m2", "m3"}
    record = json.loads(said(["neighbors", model, "Rock", "-k", "2", "--leaves", "--json"], capsys))
    assert {row["node"] for row in record["neighbors"]} == {"m3", "b1"}
    refused(["neighbors", model, "Rock", "--within", "Musik"], capsys, "no node named 'Musik'", "Music [m]")
