"""The search tree against the comparison with every node, and both against naive NumPy: equal to the last bit."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeball
from tests import trees
from treeball import Embedding, Hierarchy
from treeball.engine import choose
from treeball.engine.cpu.engine import CpuEngine
from treeball.engine.cpu.search_tree import SearchTree
from treeball.errors import InputError
from treeball.evaluation import ranking
from treeball.geometry import poincare
from treeball.methods import sarkar

KINDS = ["ball", "rim", "duplicates", "euclidean"]


def random_points(kind, n, dim, seed):
    """Points (n, dim) and factors (n,): in the ball, up to radius 33, on a grid with many equal ones, or flat."""
    rng = np.random.default_rng(seed)
    if kind == "rim":
        # A few directions and many radii: points near the rim are near each other only along a ray.
        direction = rng.normal(size=(1 + n // 4, dim))[rng.integers(0, 1 + n // 4, n)]
        points = poincare.from_radius(direction + 1e-6 * rng.normal(size=(n, dim)), rng.uniform(0, 33, n))
    else:
        points = rng.uniform(-0.9, 0.9, (n, dim)) / np.sqrt(dim)
    if kind == "duplicates":
        points = np.round(points * 2) / 5
    factor = np.ones(n) if kind == "euclidean" else 1.0 / poincare.one_minus_square(points)
    return points, factor


def naive_keys(queries, points, factor):
    """Keys (m, n), summed over coordinates in the order of the kernels."""
    keys = np.zeros((len(queries), len(points)))
    for k in range(points.shape[1]):
        keys += np.square(queries[:, k, None] - points[None, :, k])
    return keys * factor


def random_positives(n, seed):
    """Sources with one to four positives each: sources, pointers and ascending codes."""
    rng = np.random.default_rng(seed)
    sources = np.flatnonzero(rng.random(n) < 0.7)
    own = [rng.choice(np.delete(np.arange(n), a), min(n - 1, rng.integers(1, 5)), replace=False) for a in sources]
    ptr = np.concatenate([[0], np.cumsum([len(p) for p in own])]).astype(np.int64)
    return sources, ptr, np.concatenate([np.sort(p) for p in own] or [np.empty(0)]).astype(np.int32)


def naive_ranks(keys, factor, sources, ptr, idx):
    """By distances, which tie where they differ by less than one part in 10^9."""
    root = np.sqrt(keys * factor[:, None])
    far = root if (factor == 1.0).all() else np.arcsinh(root)
    ranks, offender = np.empty(idx.size, np.int64), np.full(sources.size, -1)
    for i, a in enumerate(sources):
        positives = idx[ptr[i] : ptr[i + 1]]
        others = np.setdiff1d(np.arange(len(keys)), [a, *positives])
        ranks[ptr[i] : ptr[i + 1]] = [1 + np.sum(far[a, others] <= far[a, b] * (1 + 1e-9)) for b in positives]
        if others.size:
            offender[i] = others[np.argmin(keys[a, others])]
    return ranks, offender


CASES = {
    "kind": st.sampled_from(KINDS),
    "n": st.integers(1, 400),
    "dim": st.integers(2, 12),
    "seed": st.integers(0, 999),
}


@given(**CASES)
@settings(max_examples=150, deadline=None)
def test_ranks_equal_those_of_all_comparisons(kind, n, dim, seed):
    points, factor = random_points(kind, n, dim, seed)
    sources, ptr, idx = random_positives(n, seed) if n > 1 else (np.empty(0, int), np.zeros(1, int), np.empty(0, int))
    ranks, precision, offender = SearchTree(points, factor).rank(sources, ptr, idx, threads=1 + seed % 2)
    expected = choose().rank(points, factor, sources, ptr, idx.astype(np.int32), 1)
    np.testing.assert_array_equal(ranks, expected[0])
    np.testing.assert_array_equal(precision, expected[1])
    np.testing.assert_array_equal(offender, expected[2])
    ill = SearchTree(points, factor).ill(sources, ptr, idx, threads=1)
    np.testing.assert_array_equal(ill, np.minimum.reduceat(ranks, ptr[:-1]) > 1 if sources.size else [])
    naive = naive_ranks(naive_keys(points, points, factor), factor, sources, ptr, idx)
    np.testing.assert_array_equal(ranks, naive[0])
    np.testing.assert_array_equal(offender, naive[1])


@given(**CASES, k=st.integers(1, 12), asked=st.sampled_from(["codes", "points", "points without a node"]))
@settings(max_examples=150, deadline=None)
def test_nearest_equal_those_of_a_sort(kind, n, dim, seed, k, asked):
    points, factor = random_points(kind, n, dim, seed)
    rng = np.random.default_rng(seed)
    tree = SearchTree(points, factor)
    nodes = rng.integers(0, n, 30)
    if asked == "codes":
        left_out, queries = nodes, points[nodes]
        codes, keys = tree.nearest(nodes, k, threads=1)
    else:
        left_out = np.full(30, -1) if asked == "points" else nodes
        queries = points[nodes] + rng.choice([0.0, 1e-3], (30, 1)) * rng.normal(size=(30, dim))
        codes, keys = tree.nearest(queries, k, exclude=None if asked == "points" else nodes, threads=2)
    expected = naive_keys(queries, points, factor)
    for i in range(30):
        others = np.flatnonzero(np.arange(n) != left_out[i])
        order = others[np.lexsort((others, expected[i, others]))][:k]
        np.testing.assert_array_equal(codes[i, : order.size], order)
        np.testing.assert_array_equal(keys[i, : order.size], expected[i, order])
        assert np.all(codes[i, order.size :] == -1)
        assert np.all(np.isinf(keys[i, order.size :]))


@pytest.mark.parametrize("kind", KINDS)
def test_several_levels_of_groups(kind):
    points, factor = random_points(kind, 9_000, 3, 1)
    tree = SearchTree(points, factor)
    sources, ptr, idx = random_positives(9_000, 2)
    few = slice(0, 300)
    own = ptr[:301], idx[: ptr[300]]
    found = tree.rank(sources[few], *own)
    expected = choose().rank(points, factor, sources[few], *own, 2)
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got, want)
    assert 0 < tree.visited_share(sources[few], *own) <= 1.1
    keys = naive_keys(points[:50], points, factor)
    keys[np.arange(50), np.arange(50)] = np.inf
    np.testing.assert_array_equal(tree.nearest(np.arange(50), 20)[1], np.sort(keys, axis=1)[:, :20])


def test_most_points_are_passed_over():
    points, factor = random_points("ball", 20_000, 2, 3)
    nearest = SearchTree(points, factor).nearest(np.arange(500), 1)[0][:, 0]
    ptr = np.arange(501)
    assert SearchTree(points, factor).visited_share(np.arange(500), ptr, nearest) < 0.02


def test_wrong_shapes_are_refused():
    tree = SearchTree(np.zeros((5, 2)), np.ones(5))
    with pytest.raises(InputError, match="points"):
        tree.nearest(np.zeros((3, 4)), 1)
    with pytest.raises(InputError, match="k >= 1"):
        tree.nearest([0], 0)
    with pytest.raises(InputError, match="factors"):
        SearchTree(np.zeros((5, 2)), np.ones(4))


def hierarchy_of(edges):
    return Hierarchy.from_codes(range(edges.n), edges.child, edges.parent)


def trained():
    hierarchy = hierarchy_of(trees.preferential(1_500, 2))
    return treeball.fit(hierarchy, method="poincare", dim=5, epochs=20, burn_in=2)


def constructed():
    hierarchy = hierarchy_of(trees.preferential(1_500, 3))
    return Embedding(sarkar.construct(hierarchy, 5).vectors, hierarchy)


@pytest.mark.parametrize("make", [trained, constructed])
@pytest.mark.parametrize("sample", [0, 300])
def test_both_ways_give_the_same_ranking(make, sample, monkeypatch):
    embedding = make()
    x, factor = embedding.ranking_coordinates()
    plain = ranking.rank(x, factor, embedding.hierarchy, "parents", sample=sample, seed=1)
    monkeypatch.setattr(ranking, "_TREE_FROM_NODES", 0)
    monkeypatch.setattr(ranking, "_TREE_FROM_SOURCES", 0)
    monkeypatch.setattr(ranking, "_WORTHWHILE_SHARE", 2.0)
    monkeypatch.setattr(CpuEngine, "rank", None)
    pruned = ranking.rank(x, factor, embedding.hierarchy, "parents", sample=sample, seed=1, threads=2)
    for name, value in vars(plain).items():
        np.testing.assert_array_equal(getattr(pruned, name), value)


@pytest.mark.slow
def test_ctrl_c_does_not_wait_until_a_large_tree_is_built():
    points, factor = random_points("ball", 1_500_000, 5, 0)
    SearchTree(points[:1000], factor[:1000])  # compiled by now
    # Whoever starts the tests in the background lets them ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            SearchTree(points, factor)
    finally:
        signal.signal(signal.SIGINT, before)
    # The work goes on where it does not disturb, until the process ends.
    assert [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPoolExecutor")]
