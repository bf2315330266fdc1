"""The construction: geometry of what it places, and zero illness on every kind of tree."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import trees
from treeball import Embedding, Hierarchy, fit
from treeball.engine.cpu import placement as placing
from treeball.engine.cpu.engine import CpuEngine
from treeball.geometry import poincare
from treeball.geometry.directions import even_directions, ordered_directions, smallest_angle
from treeball.methods._heal import heal
from treeball.methods.construct import BRUTE_FORCE_PAIRS, Plan, Scaffold, construct
from treeball.workers import thread_count


def tree(parents):
    """A hierarchy from the parent of every node but the first."""
    n = len(parents) + 1
    return Hierarchy.from_codes([f"n{i}" for i in range(n)], np.arange(1, n), np.asarray(parents, int))


def shapes(kind, n, rng):
    """Parents of n - 1 nodes, node i + 1 below parents[i]."""
    if kind in ("chain", "star", "caterpillar"):
        return getattr(trees, kind)(n).parent
    if kind == "broom":
        handle = max(1, n // 2)
        return [i - 1 if i < handle else handle - 1 for i in range(1, n)]
    if kind == "random":
        return trees.random_tree(n, int(rng.integers(2**31))).parent
    ends, parents = [0], []
    for i in range(1, n):  # preferential attachment
        parents.append(int(ends[rng.integers(0, len(ends))]))
        ends += [parents[-1], i]
    return parents


def ill_pairs(vectors, hierarchy):
    scores = Embedding(vectors, hierarchy).evaluate()
    return sum(scores.illness.counts().values()), scores


@settings(max_examples=30, deadline=None)
@given(
    kind=st.sampled_from(["chain", "star", "caterpillar", "broom", "random", "preferential"]),
    n=st.integers(1, 2000),
    seed=st.integers(0, 10**6),
)
def test_any_tree_ends_with_zero_illness_in_ten_dimensions(kind, n, seed):
    hierarchy = tree(shapes(kind, n, np.random.default_rng(seed)))
    made = construct(hierarchy, 10, seed=seed)
    if n > 1:
        healed = heal(Embedding(made.vectors, hierarchy))
        assert sum(healed.after.illness.counts().values()) == 0, (made.plan, healed.note)
        assert healed.after.map == 1.0
        assert healed.after.certificate.margin > 1.0


@pytest.mark.parametrize(("nodes", "branching", "dim"), [(156, 5, 2), (781, 5, 2), (1093, 3, 3)])
def test_balanced_trees_are_perfect_in_low_dimensions(nodes, branching, dim):
    hierarchy = tree(trees.balanced(branching, round(math.log(nodes * (branching - 1) + 1, branching)) - 1).parent)
    assert hierarchy.n_nodes == nodes
    assert ill_pairs(construct(hierarchy, dim).vectors, hierarchy)[0] == 0


def test_edges_have_the_lengths_asked_for_and_grow_outwards():
    hierarchy = tree(shapes("random", 400, np.random.default_rng(3)))
    scaffold = Scaffold(hierarchy, 5)
    plan = Plan(25.0, 4.0, 1.1)
    vectors = scaffold.place(plan)
    lengths = placing.edge_lengths(
        scaffold.order, scaffold.parent, scaffold.height, plan.budget, plan.longest, math.log(plan.growth)
    )
    child = np.flatnonzero(scaffold.parent >= 0)
    parent = scaffold.parent[child]
    np.testing.assert_allclose(poincare.distance(vectors[child], vectors[parent]), lengths[child], rtol=1e-4)
    inner = child[scaffold.parent[parent] >= 0]
    assert (lengths[inner] >= 1.0999 * lengths[scaffold.parent[inner]]).all()
    assert poincare.radius(vectors).max() <= 25.001
    assert np.array_equal(vectors[hierarchy.root], np.zeros(5))


def test_the_tallest_path_uses_the_whole_budget():
    hierarchy = tree([0, 1, 2, 3, 0, 0, 1])
    scaffold = Scaffold(hierarchy, 3)
    lengths = placing.edge_lengths(scaffold.order, scaffold.parent, scaffold.height, 20.0, 20.0, math.log(1.5))
    path = lengths[[1, 2, 3, 4]]
    assert path.sum() == pytest.approx(20.0)
    np.testing.assert_allclose(path[1:] / path[:-1], 1.5)


def test_siblings_of_different_length_keep_the_angle_they_need():
    """A node with one tall child and many leaves: every leaf is farther from the tall child than from its parent."""
    parents = [0] + [0] * 60 + [1, 62, 63, 64, 65]
    hierarchy = tree(parents)
    made = construct(hierarchy, 3)
    assert ill_pairs(made.vectors, hierarchy)[0] == 0


@pytest.mark.parametrize("dim", [2, 3, 10])
def test_placing_does_not_depend_on_threads(dim):
    hierarchy = tree(shapes("random", 5000, np.random.default_rng(1)))
    plan = Plan(30.0, 3.0, 1.05)
    one, several = (Scaffold(hierarchy, dim, threads).place(plan) for threads in (1, 3))
    assert np.array_equal(one, several)
    assert thread_count(3) == 3


def test_the_same_seed_gives_the_same_bytes():
    hierarchy = tree(shapes("preferential", 700, np.random.default_rng(5)))
    first, again = (construct(hierarchy, 4, seed=9) for _ in range(2))
    assert first.vectors.tobytes() == again.vectors.tobytes()
    assert first.plan == again.plan


def test_a_chain_of_thousands_starts_in_a_space_that_is_as_good_as_flat():
    hierarchy = tree(shapes("chain", 5000, None))
    made = construct(hierarchy, 2)
    ill, scores = ill_pairs(made.vectors, hierarchy)
    assert ill == 0
    assert scores.max_radius < 31


@pytest.mark.parametrize("n", [10_000, 50_000])
def test_plans_that_make_the_same_edges_of_a_chain_are_tried_once(n):
    """All of a chain's edges are shorter than the longest one allowed, whatever that is."""
    scaffold = Scaffold(tree(shapes("chain", n, None)), 3)
    plans = list(scaffold.plans())
    assert len({(plan.budget, plan.growth) for plan in plans}) == len(plans)
    # None is so steep that the first edges vanish.
    assert all(np.ptp(scaffold.place(plan)[:, 0][:3]) > 0 for plan in plans)


def test_a_single_node_and_a_pair():
    for n in (1, 2):
        hierarchy = tree([0] * (n - 1))
        made = construct(hierarchy, 2)
        assert made.vectors.shape == (n, 2)
        assert made.ill_share == 0.0


@pytest.mark.parametrize("dim", [3, 5, 10])
@pytest.mark.parametrize("least", [2, 7, 40, 300, 3000])
def test_ordered_codes_are_codes_with_directions_to_spare(dim, least):
    code = ordered_directions(least, dim)
    assert least <= len(code) <= max(2 * dim, 1.5 * least + 2)
    np.testing.assert_allclose(np.linalg.norm(code, axis=1), 1.0)
    cosines = code[:1500] @ code[:1500].T - 2.0 * np.eye(min(len(code), 1500))
    assert math.acos(min(1.0, cosines.max())) >= smallest_angle(len(code), dim) - 1e-9
    if least <= 2 * dim:
        np.testing.assert_allclose(code[0], -code[1], atol=1e-12)


def test_the_first_of_an_ordered_code_are_farther_apart_than_the_rest():
    code = ordered_directions(200, 4)
    head, whole = (c @ c.T - 2.0 * np.eye(len(c)) for c in (code[:10], code))
    assert head.max() < whole.max() - 0.1


def test_latitudes_beat_random_directions_by_far():
    size, dim = 5000, 5
    rng = np.random.default_rng(0)
    random = rng.normal(size=(size, dim))
    random /= np.linalg.norm(random, axis=1, keepdims=True)
    code = even_directions(size, dim)
    assert code.shape == (size, dim)
    nearest = [math.acos(min(1.0, (c @ c.T - 2.0 * np.eye(size)).max())) for c in (random, code)]
    assert nearest[1] > 5 * nearest[0]


@pytest.mark.slow
def test_what_stays_ill_is_explained_with_the_dimension_that_would_do():
    """A thick trunk: every node hangs below one of the last eight. Few such trees fit into the plane."""
    rng = np.random.default_rng(1)
    hierarchy = tree([int(rng.integers(max(0, i - 8), i)) for i in range(1, 500)])
    embedding = fit(hierarchy, dim=2, precision=1)
    left = sum(embedding.evaluate().illness.counts().values())
    assert left > 0
    last = embedding.provenance.log[-1].text
    assert f"{left:,} pair" in last
    assert "ill: float64 carries a radius of about 30" in last
    better = re.search(r"--dim (\d+) would do", last)
    if better:
        assert fit(hierarchy, dim=int(better[1])).evaluate().map == 1.0
    else:
        assert "no dimension up to 32 has" in last


def test_a_long_chain_is_not_compared_with_itself(monkeypatch):
    """Where many nodes are in one place, as in the first plans for a chain, ranks would count all pairs of them."""
    compared = []

    def rank(engine, coordinates, factor, sources, *more):
        compared.append(len(coordinates) * sources.size)
        return ranked(engine, coordinates, factor, sources, *more)

    ranked = CpuEngine.rank
    monkeypatch.setattr(CpuEngine, "rank", rank)
    n = 8_000
    chain = Hierarchy.from_codes([f"n{i}" for i in range(n)], np.arange(1, n), np.arange(n - 1))
    made = construct(chain, 10)
    assert made.ill_share == 0.0
    assert max(compared) <= BRUTE_FORCE_PAIRS < n * n
