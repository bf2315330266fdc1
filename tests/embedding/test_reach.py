"""Reach: the positives of a node are the nodes within it, and hierarchies of any kind are read back from it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeball
from tests import trees
from tests.healthy import healthy, hierarchy_of
from treeball import Embedding
from treeball.embedding import Provenance
from treeball.embedding._above import upwards, walk
from treeball.evaluation import _reach, reaches

OBJECTIVES = st.sampled_from(["parents", "ancestors"])


def distances(embedding):
    everyone = np.arange(len(embedding))
    return embedding.distances_between(everyone[:, None], everyone[None])


def positives(embedding):
    ptr, idx = embedding.hierarchy.positives(embedding.objective)
    return [set(part.tolist()) for part in np.split(idx, ptr[1:-1])]


def within(embedding):
    """The nodes within the reach of each, naively."""
    far, reach = distances(embedding), embedding.reach
    return [
        {other for other in range(len(embedding)) if other != node and far[node, other] <= reach[node]}
        if reach[node]
        else set()
        for node in range(len(embedding))
    ]


def scattered(edges, objective, seed):
    """Random places, so that most nodes are ill."""
    vectors = np.random.default_rng(seed).uniform(-0.5, 0.5, (edges.n, 3))
    return Embedding(vectors, hierarchy_of(edges), provenance=Provenance(objective=objective))


# ---- what a reach is ----


@given(st.one_of(trees.trees(20), trees.dags(20)), OBJECTIVES, st.sampled_from(["euclidean", "poincare"]))
def test_of_a_healthy_node_it_is_the_middle(edges, objective, geometry):
    embedding = healthy(hierarchy_of(edges), objective, geometry)
    assert within(embedding) == positives(embedding)
    far = distances(embedding)
    for node, own in enumerate(positives(embedding)):
        others = set(range(len(embedding))) - own - {node}
        if own and others:
            middle = (max(far[node, list(own)]) + min(far[node, list(others)])) / 2
            assert embedding.reach[node] == pytest.approx(middle, rel=1e-12)
        elif not own:
            assert embedding.reach[node] == 0.0


@given(st.one_of(trees.trees(20), trees.dags(20)), OBJECTIVES, st.integers(0, 50))
def test_of_an_ill_node_it_makes_the_fewest_mistakes(edges, objective, seed):
    embedding = scattered(edges, objective, seed)
    far, found = distances(embedding), within(embedding)
    ill = set(embedding.evaluate().illness.node.tolist())
    for node, own in enumerate(positives(embedding)):
        everyone = sorted((far[node, other], other) for other in range(len(embedding)) if other != node)
        caught: list[set[int]] = [set()]
        for _, other in everyone:
            caught.append(caught[-1] | {other})
        mistakes = [len(own ^ some) for some in caught]
        assert len(own ^ found[node]) == min(mistakes)
        assert len(found[node]) == mistakes.index(min(mistakes))  # the smallest of equally good ones
        if objective == "parents" and len(own) == 1 and node in ill:
            assert embedding.reach[node] == 0.0


@given(trees.trees(30), st.integers(0, 20), st.booleans())
def test_two_nearest_nodes_tell_the_reach_of_a_large_tree(edges, seed, faithful):
    embedding = healthy(hierarchy_of(edges), "parents") if faithful else scattered(edges, "parents", seed)
    expected = reaches(embedding)
    again = Embedding(embedding.vectors, embedding.hierarchy, embedding.geometry)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_reach, "EXACT_UP_TO_NODES", 0)
        assert np.array_equal(again.reach, expected)
    assert not again.has_exact_ranks


def test_nobody_is_within_a_reach_of_0_and_a_parent_at_the_same_place_is_within_another():
    hierarchy = hierarchy_of(trees.chain(4))
    vectors = np.array([[0.0, 0.0], [0.0, 0.0], [0.3, 0.0], [0.3, 0.0]])
    embedding = Embedding(vectors, hierarchy)
    assert embedding.reach[0] == 0.0
    assert embedding.reach[3] > 0.0
    assert embedding.parents_of(["n0", "n3"]) == [[], ["n2"]]
    two = Embedding(np.zeros((2, 2)), hierarchy_of(trees.chain(2)))
    assert two.reach.tolist() == [0.0, 1.0]  # there is nobody beyond
    assert two.ancestors_of(["n0", "n1"]) == [[], ["n0"]]
    for objective in ("parents", "ancestors"):
        asked = two.with_provenance(Provenance(objective=objective))
        assert asked.parents_of([]) == asked.ancestors_of([]) == []
        assert asked.is_ancestor([], []) == []


def test_another_objective_has_other_reaches():
    parents = healthy(hierarchy_of(trees.random_dag(12, 6, 3)), "parents")
    assert parents.reach is parents.reach
    parents.read_back()
    ancestors = parents.with_provenance(Provenance(objective="ancestors"))
    assert not np.array_equal(ancestors.reach, parents.reach)
    assert not ancestors.is_read_back
    assert parents.with_provenance(Provenance(seed=3)).reach is parents.reach


# ---- what is read back ----


def shown(embedding, names):
    """All answers about some nodes."""
    pairs = [(a, b) for a in names for b in names]
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    return {
        "parent": embedding.parent_of(names),
        "parents": embedding.parents_of(names),
        "ancestors": embedding.ancestors_of(names),
        "is_ancestor": [bool(answer) for answer in embedding.is_ancestor(left, right)],
        "common": embedding.common_ancestor(left, right),
        "path": embedding.path(left, right),
    }


@given(st.one_of(trees.trees(20), trees.dags(16)), OBJECTIVES, st.booleans(), st.booleans())
def test_every_hierarchy_is_read_back_from_a_healthy_embedding(edges, objective, virtual, whole):
    embedding = healthy(hierarchy_of(edges, virtual), objective)
    truth = embedding.hierarchy if objective == "parents" else embedding.hierarchy.transitive_reduction()
    true = Embedding(embedding.vectors, truth, embedding.geometry)
    names = list(embedding)
    real = truth.names.take(truth.real_nodes())
    far = distances(embedding)
    if whole:
        embedding.read_back()
    for name, parents in zip(real, embedding.parents_of(real), strict=True):
        code = truth.names.index_of(name)
        assert len(parents) == len(set(parents))
        assert set(parents) == set(truth.names.take(truth.parents_of(code))) & set(real)
        away = [far[code, truth.names.index_of(parent)] for parent in parents]
        assert away == pytest.approx(sorted(away), rel=1e-12)  # the nearest first
        assert embedding.parent_of(name) == (parents[0] if parents else None)
    for name in real:
        expected = true.ancestors_of(name, "hierarchy")
        found = embedding.ancestors_of(name)
        assert set(found) == set(expected)
        way = upwards(truth, truth.names.index_of(name))
        up = [way[truth.names.index_of(above)][0] for above in found]
        assert up == sorted(up)  # by the fewest edges first
    left, right = [a for a in names for _ in names], [b for _ in names for b in names]
    found = [bool(answer) for answer in embedding.is_ancestor(left, right)]
    assert found == [bool(answer) for answer in true.is_ancestor(left, right, "hierarchy")]
    assert embedding.common_ancestor(left, right) == true.common_ancestor(left, right, "hierarchy")
    edges_of = {frozenset(truth.names.take(edge)) for edge in zip(*truth.edges(), strict=True)}
    for steps, expected in zip(embedding.path(left, right), true.path(left, right, "hierarchy"), strict=True):
        assert len(steps) == len(expected)
        assert all(frozenset(step) in edges_of for step in pairwise(steps))
    assert embedding.is_read_back == whole
    again = embedding.read_back()
    assert again.virtual_root == truth.virtual_root
    assert {*zip(*map(np.ndarray.tolist, again.edges()), strict=True)} == {
        *zip(*map(np.ndarray.tolist, truth.edges()), strict=True)
    }
    assert embedding.children_of(names) == true.children_of(names, "hierarchy")
    assert [set(below) for below in embedding.subtree(names)] == [
        set(below) for below in true.subtree(names, "hierarchy")
    ]


@given(st.one_of(trees.trees(25), trees.dags(20)), OBJECTIVES, st.integers(0, 100), st.floats(0.0, 1.0))
def test_a_walk_says_what_reading_back_says_however_ill(edges, objective, seed, noise):
    hierarchy = hierarchy_of(edges)
    well = healthy(hierarchy, objective)
    rng = np.random.default_rng(seed)
    moved = well.vectors + noise * 0.02 * rng.normal(size=well.vectors.shape)
    embedding, other = (Embedding(moved, hierarchy, "euclidean", well.provenance) for _ in range(2))
    other.read_back()
    tree = other.read_back()
    for node in rng.permutation(len(embedding))[:6]:
        above = walk(embedding, np.array([node]))
        for code, level in ({} if above is None else above.level).items():
            assert above.parents_of(code).tolist() == tree.parents_of(code).tolist()
            assert tree.level[code] == level
    names = list(embedding)[:5]
    assert shown(embedding, names) == shown(other, names)


@given(trees.dags(25), OBJECTIVES, st.integers(0, 100))
def test_whatever_the_illness_a_hierarchy_is_read_back(edges, objective, seed):
    embedding = scattered(edges, objective, seed)
    tree = embedding.read_back()
    assert tree.n_nodes == len(embedding)
    assert embedding.reach[tree.root] == 0.0
    for name in embedding:
        assert name not in embedding.ancestors_of(name)


# ---- nodes that come later ----


@pytest.mark.parametrize("seed", range(3))
def test_insert_keeps_reaches_true(seed):
    rng = np.random.default_rng(seed)
    old = treeball.fit([(f"n{child}", f"n{parent}") for child, parent in trees.random_tree(60, seed).pairs], dim=6)
    assert len(old.evaluate().illness) == 0
    new = [(f"new {i}", f"n{rng.integers(60)}") for i in range(40)]
    embedding = old.insert(new).embedding
    assert embedding.vectors[: len(old)].tobytes() == old.vectors.tobytes()
    assert len(embedding.evaluate().illness) == 0
    assert (embedding.reach[: len(old)] <= old.reach).all()
    assert within(embedding) == positives(embedding)
    for name in embedding:
        assert embedding.parents_of(name) == embedding.parents_of(name, "hierarchy")


def test_a_new_node_within_the_reach_of_an_old_one_makes_it_smaller():
    hierarchy = hierarchy_of(trees.from_parents([0, 0]))
    old = Embedding(np.array([[0.0, 0.0], [0.2, 0.0], [-0.999, 0.0]]), hierarchy)
    embedding = old.insert([("new", "n1")]).embedding
    assert embedding.vectors[:3].tobytes() == old.vectors.tobytes()
    parent, new = embedding.distance("n1", ["n0", "new"])
    assert parent < new < old.reach[1]
    assert embedding.reach[1] == pytest.approx((parent + new) / 2)
    assert embedding.parents_of(["n0", "n1", "n2", "new"]) == [[], ["n0"], ["n0"], ["n1"]]


# ---- models from training ----


@pytest.mark.parametrize("objective", ["parents", "ancestors"])
def test_a_trained_dag_with_several_roots_is_read_back(objective):
    pairs = [("x", "a"), ("x", "b"), ("y", "b"), ("z", "x"), ("z", "y"), ("w", "z"), ("v", "c")]
    embedding = treeball.fit(pairs, objective=objective, dim=6)
    assert embedding.hierarchy.virtual_root is not None
    assert len(embedding.evaluate().illness) == 0
    assert embedding.parents_of("a") == []
    assert embedding.parent_of("v") == "c"
    assert set(embedding.parents_of("x")) == {"a", "b"}
    assert set(embedding.ancestors_of("w")) == {"z", "x", "y", "a", "b"}
    assert embedding.common_ancestor("w", "v") is None
    assert embedding.path("w", "v") == []
    assert embedding.is_ancestor("a", "w")
    assert not embedding.is_ancestor("c", "w")
