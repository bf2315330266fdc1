"""Similarities by the hierarchy: against the formulas, written naively, and on the command line."""

from __future__ import annotations

import json
import math
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

import treeball
from tests import trees
from tests.embedding.test_queries import embedded, refused, said
from treeball import Embedding, Hierarchy

# Of WordNet: from the root down to dog and cat, with both parents of the dog.
ANIMALS = [
    ("physical_entity", "entity"), ("object", "physical_entity"), ("whole", "object"), ("living_thing", "whole"),
    ("organism", "living_thing"), ("animal", "organism"), ("chordate", "animal"), ("vertebrate", "chordate"),
    ("mammal", "vertebrate"), ("placental", "mammal"), ("carnivore", "placental"), ("canine", "carnivore"),
    ("feline", "carnivore"), ("dog", "canine"), ("cat", "feline"), ("domestic_animal", "animal"),
    ("dog", "domestic_animal"),
]  # fmt: skip


def naive(hierarchy, a, b):
    """Path, Wu-Palmer, Lin and Resnik similarity by networkx, from the formulas alone."""
    virtual = hierarchy.virtual_root
    graph = nx.DiGraph(list(zip(*map(np.ndarray.tolist, hierarchy.edges()), strict=True)))
    graph.add_nodes_from(range(hierarchy.n_nodes))
    if virtual is not None:
        graph.remove_node(virtual)
    up_a, up_b = (nx.single_source_shortest_path_length(graph, node) for node in (a, b))
    common = set(up_a) & set(up_b)
    if not common:
        return 0.0, 0.0, 0.0, 0.0

    def content(node):
        if len(graph) == 1:
            return 0.0
        return 1 - math.log(1 + len(nx.ancestors(graph, node))) / math.log(len(graph))

    def depth(node):  # in nodes, by the longest way up
        return 1 + max((depth(parent) for parent in graph.successors(node)), default=0)

    path = max(1 / (1 + up_a[node] + up_b[node]) for node in common)
    palmer = max(2 * depth(node) / (up_a[node] + up_b[node] + 2 * depth(node)) for node in common)
    resnik = max(content(node) for node in common)
    total = content(a) + content(b)
    lin = 1.0 if a == b else 2 * resnik / total if total else 0.0
    return path, palmer, lin, resnik


def check(embedding):
    names = list(embedding)
    pairs = [(a, b) for a in range(len(names)) for b in range(len(names))]
    real = [pair for pair in pairs if embedding.hierarchy.virtual_root not in pair]
    found = embedding.similarity([names[a] for a, _ in real], [names[b] for _, b in real])
    for (a, b), one in zip(real, found, strict=True):
        assert (one.path, one.wu_palmer, one.lin, one.resnik) == pytest.approx(naive(embedding.hierarchy, a, b))
        assert one.distance == embedding.distance(names[a], names[b])
        for value in (one.path, one.wu_palmer, one.lin, one.resnik):
            assert 0 <= value <= 1
        best = one.most_informative_ancestor
        if best is not None:
            content = embedding.hierarchy.information_content
            assert content[names.index(best)] == one.resnik
            assert best in [names[a], *embedding.ancestors_of(names[a], "hierarchy")]
            assert best in [names[b], *embedding.ancestors_of(names[b], "hierarchy")]


@given(trees.dags(max_nodes=10))
def test_formulas_on_dags(edges):
    check(embedded(edges))


@given(trees.trees(max_nodes=10))
def test_formulas_on_trees(edges):
    check(embedded(edges))


def test_a_virtual_root_joins_nothing():
    hierarchy = Hierarchy.from_codes(
        ["a", "a1", "a2", "b", "b1", "<root>"], [0, 1, 2, 3, 4], [5, 0, 0, 5, 3], virtual_root=5
    )
    embedding = Embedding(np.random.default_rng(3).uniform(-0.5, 0.5, (6, 2)), hierarchy)
    check(embedding)
    apart = embedding.similarity("a1", "b1")
    assert (apart.path, apart.wu_palmer, apart.lin, apart.resnik) == (0, 0, 0, 0)
    assert apart.most_informative_ancestor is None
    assert embedding.similarity("a1", "a2").wu_palmer == 2 / 4  # a is at depth 1, as a root is
    assert embedding.similarity("a", "<root>").path == 1 / 2  # asked for by name it is a node like any other


def test_information_content_is_that_of_seco():
    hierarchy = treeball.read([("b", "a"), ("c", "b"), ("d", "b"), ("d", "a2"), ("a2", "a")])  # d counts once
    content = dict(zip(hierarchy.names, hierarchy.information_content, strict=True))
    assert content == pytest.approx(
        {"a": 0, "b": 1 - math.log(3) / math.log(5), "a2": 1 - math.log(2) / math.log(5), "c": 1, "d": 1}
    )
    with pytest.raises(ValueError, match="read-only"):
        hierarchy.information_content[0] = 1


def test_dog_and_cat_are_as_similar_as_those_of_wordnet_are_known_to_be():
    hierarchy = treeball.read(ANIMALS)
    embedding = Embedding(np.zeros((len(hierarchy), 2)), hierarchy)
    found = embedding.similarity("dog", "cat")
    assert found.path == pytest.approx(0.2)  # the examples of WordNet libraries have both figures
    assert found.wu_palmer == pytest.approx(0.857, abs=5e-4)
    assert found.most_informative_ancestor == "carnivore"
    assert embedding.similarity(["dog", "dog"], "cat") == [found, found]


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("shop.csv").write_text("id,parent_id,name\ns,,Shop\nm,s,Music\nm1,m,Rock\nm2,m,Pop\nb,s,Bikes\n")
    embedding = treeball.fit("shop.csv", dim=3)
    model = str(embedding.save("shop.parquet"))
    rows = dict(line.split("  ", 1) for line in said(["similarity", model, "Rock", "Pop"], capsys).splitlines())
    assert {name: value.strip() for name, value in rows.items()} == {
        "distance": f"{embedding.distance('m1', 'm2'):.6g}",
        "path": "0.3333",
        "Wu-Palmer": "0.6667",
        "Lin": f"{1 - math.log(3) / math.log(5):.4f}",
        "Resnik": f"{1 - math.log(3) / math.log(5):.4f}",
        "most informative common ancestor": "Music [m]",
    }
    record = json.loads(said(["similarity", model, "Rock", "Bikes", "--json"], capsys))
    assert record == {"a": "m1", "b": "b", **embedding.similarity("Rock", "Bikes").to_dict()} | {
        "labels": {"m1": "Rock", "b": "Bikes", "s": "Shop"}
    }
    Path("pairs.tsv").write_text("Rock\tPop\nRock\tRock\n")
    lines = said(["similarity", model, "--from-file", "pairs.tsv"], capsys).splitlines()
    assert lines[0].split()[:3] == ["a", "b", "distance"]
    assert lines[2].split()[:6] == ["Rock", "[m1]", "Rock", "[m1]", "0", "1.0000"]
    refused(["similarity", model, "Rock"], capsys, "two names")
