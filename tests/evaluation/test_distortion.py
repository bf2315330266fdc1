"""Distortion against a naive implementation from the definition, with networkx for the path lengths."""

from __future__ import annotations

import json
import math
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import trees
from treeball import Embedding, Hierarchy, InputError, fit
from treeball.evaluation import _distortion as module
from treeball.evaluation import distortion
from treeball.geometry.models import ball_to_hyperboloid


def random_embedding(edges, geometry="poincare", dim=3, seed=0):
    points = np.random.default_rng(seed).uniform(-0.9, 0.9, (edges.n, dim)) / np.sqrt(dim)
    hierarchy = Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent)
    return Embedding(ball_to_hyperboloid(points) if geometry == "lorentz" else points, hierarchy, geometry)


def ratios_of(embedding, pairs):
    """Embedded distance over path length for every pair of nodes, the slow way."""
    graph = nx.Graph(pairs)
    graph.add_nodes_from(range(len(embedding)))
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    names = embedding.hierarchy.names
    return np.array(
        [embedding.distance(names[a], names[b]) / lengths[a][b] for a, b in combinations(range(len(embedding)), 2)]
    )


def mean_error(ratios, scale):
    return np.abs(scale * ratios - 1).mean()


@pytest.mark.parametrize("geometry", ["poincare", "euclidean", "lorentz"])
@given(edges=st.one_of(trees.trees(25), trees.dags(25)), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_exact_distortion_equals_the_naive_one(geometry, edges, seed):
    if edges.n < 2:
        return
    embedding = random_embedding(edges, geometry, seed=seed)
    ratios = ratios_of(embedding, edges.pairs)
    result = distortion(embedding)
    assert result.exact
    assert result.average_interval is None
    assert result.pairs == ratios.size
    assert result.metric == ("tree" if edges.child.size == edges.n - 1 else "graph")
    assert result.worst == pytest.approx(ratios.max() / ratios.min(), rel=1e-9)
    # The mean error is piecewise linear and convex in the scale: its minimum is at one of its corners.
    assert result.average == pytest.approx(min(mean_error(ratios, 1 / r) for r in ratios), rel=1e-9)
    assert result.average == pytest.approx(mean_error(ratios, result.scale), rel=1e-9)


def test_a_multiple_of_the_path_length_has_no_distortion():
    line = Hierarchy.from_codes(list("abcd"), [1, 2, 3], [0, 1, 2])
    result = distortion(Embedding(np.array([[0.0, 0], [2.5, 0], [5.0, 0], [7.5, 0]]), line, "euclidean"))
    assert (result.average, result.worst, result.scale) == (0.0, 1.0, 0.4)


def test_an_example_by_hand():
    # Ratios 1 (0-1), 3 (1-2) and 2 (0-2). At scale 1/2: |0.5 - 1|, |1.5 - 1| and 0.
    line = Hierarchy.from_codes(list("abc"), [1, 2], [0, 1])
    result = distortion(Embedding(np.array([[0.0, 0], [1.0, 0], [4.0, 0]]), line, "euclidean"))
    assert result.worst == 3.0
    # Any scale from 1/3 to 1/2 does: |c - 1| + |3c - 1| + |2c - 1| has its corner of least value at 1/2 or 1/3.
    assert result.average == pytest.approx(min(mean_error(np.array([1, 3, 2]), c) for c in np.linspace(0.2, 1, 801)))


def test_a_scaled_embedding_has_the_same_distortion():
    embedding = random_embedding(trees.preferential(80, 2), "euclidean")
    twice = Embedding(2 * embedding.vectors, embedding.hierarchy, "euclidean")
    one, two = distortion(embedding), distortion(twice)
    assert two.average == pytest.approx(one.average, rel=1e-12)
    assert two.worst == pytest.approx(one.worst, rel=1e-12)
    assert two.scale == pytest.approx(one.scale / 2, rel=1e-12)


@pytest.mark.parametrize("edges", [trees.random_dag(150, 80, 3), trees.random_dag(70, 2000, 4)], ids=["thin", "dense"])
def test_paths_through_a_dag(edges):
    embedding = random_embedding(edges, "euclidean")
    ratios = ratios_of(embedding, edges.pairs)
    result = distortion(embedding)
    assert result.metric == "graph"
    assert result.worst == pytest.approx(ratios.max() / ratios.min(), rel=1e-9)
    assert result.average == pytest.approx(mean_error(ratios, result.scale), rel=1e-9)


def test_a_large_dag_is_measured_by_its_primary_parents_and_says_so():
    edges = trees.random_dag(2100, 500, 1)
    embedding = random_embedding(edges, "euclidean")
    result = distortion(embedding, sample=1000)
    assert result.metric == "primary tree"
    parent = embedding.hierarchy.primary_parent
    below = np.flatnonzero(parent >= 0)
    tree = Hierarchy.from_codes(embedding.hierarchy.names, below, parent[below])
    same = distortion(Embedding(embedding.vectors, tree, "euclidean"), sample=1000)
    assert same.metric == "tree"
    assert (result.average, result.worst) == (same.average, same.worst)


def test_a_sample_estimates_the_average_within_its_interval():
    embedding = random_embedding(trees.preferential(400, 6))
    exact = distortion(embedding)
    inside = 0
    for seed in range(100):
        sampled = distortion(embedding, sample=400, seed=seed)
        assert not sampled.exact
        assert sampled.pairs == 400
        assert sampled.worst <= exact.worst * (1 + 1e-12)
        low, high = sampled.average_interval
        assert low <= sampled.average <= high
        inside += low <= exact.average <= high
    # 95 % intervals: 88 or fewer of 100 inside has a probability below 0.005.
    assert inside > 88


def test_large_trees_are_sampled_by_default():
    embedding = random_embedding(trees.preferential(2001, 1), "euclidean", dim=2)
    result = distortion(embedding)
    assert not result.exact
    assert result.pairs == 200_000
    assert result == distortion(embedding, seed=0)
    assert result != distortion(embedding, seed=1)
    with pytest.raises(InputError, match="give a positive number"):
        distortion(embedding, sample=0)


def test_sampled_pairs_are_of_different_nodes_and_all_are_drawn():
    first, second = module._random_pairs(5, 4000, 0)
    assert (first != second).all()
    counts = np.bincount(first * 5 + second, minlength=25).reshape(5, 5)
    assert counts[~np.eye(5, dtype=bool)].min() > 130  # 200 expected


def test_a_sample_as_large_as_all_pairs_is_all_pairs():
    embedding = random_embedding(trees.star(10))
    assert distortion(embedding, sample=45) == distortion(embedding, sample=0) == distortion(embedding)


def test_nodes_that_coincide_have_infinite_worst_distortion_and_json_still_works():
    star = Hierarchy.from_codes(list("abc"), [1, 2], [0, 0])
    result = distortion(Embedding(np.array([[0.0, 0], [0.5, 0], [0.5, 0]]), star))
    assert math.isinf(result.worst)
    assert result.average == pytest.approx(1 / 3)
    record = result.to_dict()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["worst"] is None
    everywhere = distortion(Embedding(np.zeros((3, 2)), star))
    assert everywhere.average == 1.0
    assert everywhere.to_dict()["scale"] is None


def test_a_single_node_has_no_distortion_to_speak_of():
    result = distortion(Embedding(np.zeros((1, 2)), Hierarchy.from_codes(["only"], [], [])))
    assert result.pairs == 0
    assert result.exact
    assert result.to_dict()["average"] is None


def test_the_record_labels_the_worst_of_a_sample():
    embedding = random_embedding(trees.random_tree(60, 1))
    assert distortion(embedding).to_dict()["worst_of"] == "all pairs"
    record = distortion(embedding, sample=100).to_dict()
    assert record["worst_of"] == "the sample"
    assert len(record["average_interval_95"]) == 2
    with pytest.raises(InputError, match="sample of -1"):
        distortion(embedding, sample=-1)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weights", [[1e-310, 1.0, 2.0], [1.7e308] * 3, [1e-310] * 3, [1e-160, 1e160, 1.0]])
@pytest.mark.parametrize("objective", ["parents", "distances"])
def test_lengths_at_the_ends_of_what_numbers_hold(weights, objective):
    """Ratios to 1e-310, or sums of 1e308, would be infinite."""
    hierarchy = Hierarchy.from_codes(["r", "a", "b", "c"], [1, 2, 3], [0, 1, 2], weights=weights)
    measured = distortion(fit(hierarchy, dim=2, objective=objective))
    assert measured.pairs + measured.left_aside == 6
    assert measured.pairs == 0 or math.isfinite(measured.average * measured.worst * measured.scale)
