"""Longer edges that make up for bends, and how far out drawings go."""

from __future__ import annotations

import numpy as np
import pytest

import treeball
from treeball import Hierarchy
from treeball.engine.cpu import stretch
from treeball.evaluation import distortion
from treeball.hierarchy.metric import PathLengths
from treeball.methods import drawing_board, drawing_plans
from treeball.methods.centred import centred
from treeball.methods.distances import draw
from treeball.methods.drawing_board import Board
from treeball.methods.drawing_plans import Plan
from treeball.methods.stretching import GENTLY, WIDELY

from .test_distances import coalescent, random_tree, tree


def test_stretches_give_paths_what_they_are_missing():
    """Least squares on all pairs find the stretches by which paths were made longer, within their bounds."""
    rng = np.random.default_rng(0)
    parent = np.array([-1] + [int(rng.integers(0, i)) for i in range(1, 20)])
    right = rng.uniform(0.0, 1.0, 20)
    right[0] = 0.0
    order = np.arange(20)
    first, second = (codes.astype(np.int64) for codes in np.triu_indices(20, 1))
    meet = np.empty(first.size, np.int64)
    stretch.common_ancestors(order, parent, first, second, meet)
    total = np.zeros(20)
    for node in order[1:]:
        total[node] = total[parent[node]] + right[node]
    missing = total[first] + total[second] - 2.0 * total[meet]
    found = np.zeros(20)
    even, none, most = np.ones(first.size), np.zeros(20), np.full(20, 2.0)
    stretch.fit_stretches(order, parent, first, second, meet, even, missing, none, none, most, 2_000, found)
    assert found == pytest.approx(right, abs=1e-3)
    stretch.fit_stretches(order, parent, first, second, meet, even, missing, none, none, 0.25 * most, 500, found)
    assert found.max() <= 0.5
    assert found.min() >= 0.0


@pytest.mark.parametrize("way", [GENTLY, WIDELY])
def test_longer_edges_make_up_for_bends(way):
    hierarchy = coalescent(80, 4)
    board = Board(hierarchy, 8, 1, 0)
    plan = Plan(220.0, 0.2, True, 0.9)
    before = board.judged(board.place(plan), everything=True)[1]
    assert board.judged(board.stretched(plan, way), everything=True)[1] < 0.6 * before


def test_stretched_edges_stay_within_the_room():
    board = Board(coalescent(40, 2), 5, 1, 0)
    stretched = treeball.geometry.half_space.radius(board.stretched(Plan(330.0, 0.2, True, 0.9), WIDELY))
    assert stretched.max() <= drawing_plans.ROOM


def test_the_average_of_a_large_tree_is_that_of_random_pairs(monkeypatch):
    """Not of the pairs nearest by path, which are most of those that are looked at."""
    monkeypatch.setattr(drawing_board, "ALL_PAIRS", 10)
    rng = np.random.default_rng(2)
    hierarchy = tree([2 * ((i - 1) // 2) for i in range(1, 401)], rng.exponential(size=400))
    board = Board(hierarchy, 5, 1, 0)
    assert board.all is None
    drawing = draw(hierarchy, 5, plan=Plan(300.0, 1.0, True, 0.9, True))
    made = treeball.Embedding(drawing.points[0], hierarchy, "half-space")
    points = board.place(Plan(300.0, 1.0, True, 0.9, True))
    assert board.judged(points)[1] == pytest.approx(distortion(made).average, rel=0.1)


@pytest.mark.parametrize(
    "hierarchy",
    [
        tree([0]),
        tree([0, 0, 1, 1, 2, 2], [40.0, 40.0, 1.0, 1.0, 2.0, 2.0]),
        tree([0, 1, 2, 3], [1.0, 9.0, 1.0, 5.0]),
        random_tree(40, 3, spread=2.0),
        coalescent(30, 6),
    ],
    ids=["pair", "long stems", "chain", "decades", "coalescent"],
)
def test_ranks_are_those_of_distances_as_far_out_as_drawings_go(hierarchy):
    """Keys of parents are finite, and all come in the order of distances."""
    made = treeball.fit(hierarchy, objective="distances", dim=4, scores=False)
    nodes = np.arange(hierarchy.n_nodes)
    far = made.distances_between(nodes[:, None], nodes[None])
    assert np.isfinite(far).all()
    child, parent = (codes.astype(np.int64) for codes in hierarchy.edges())
    rank = [
        1 + sum(far[a, x] <= far[a, b] * (1 + 1e-9) for x in nodes if x not in (a, b))
        for a, b in zip(child, parent, strict=True)
    ]
    assert made.evaluate().mean_rank == pytest.approx(np.mean(rank))
    paths = PathLengths(hierarchy).between(nodes[:, None], nodes[None])
    assert np.abs(far - paths * np.median(far[paths > 0] / paths[paths > 0])).max() < 0.3 * far.max()


def test_a_root_far_above_all_else_has_most_of_the_radius():
    """Two stems of four fifths of the depth: the radius was 262."""
    rest = coalescent(10, 1)
    child, parent = (codes.astype(np.int64) for codes in rest.edges())
    n, root = rest.n_nodes, 2 * rest.n_nodes
    height = centred(rest).depth.max()
    top = int(np.setdiff1d(parent, child)[0])
    hierarchy = Hierarchy.from_codes(
        [f"n{i}" for i in range(root + 1)],
        np.concatenate([child, child + n, [top, top + n]]),
        np.concatenate([parent, parent + n, [root, root]]),
        weights=np.concatenate([rest.parent_weight, rest.parent_weight, [4.0 * height] * 2]),
    )
    assert drawing_plans.largest_radius(centred(hierarchy)) > 320.0
    made = treeball.fit(hierarchy, objective="distances", dim=4, scores=False)
    assert np.isfinite(made.evaluate().mean_rank)
