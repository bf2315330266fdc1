"""Siblings that share children: next to each other, and all others as far away as before."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.scale.hierarchies import write
from treeball.engine.cpu import couples as kernel
from treeball.engine.cpu import placement
from treeball.geometry import poincare
from treeball.geometry.directions import even_directions
from treeball.scale.couples import Couples, find_couples
from treeball.scale.evaluate import evaluate_folder
from treeball.scale.fit import fit_folder
from treeball.scale.folder import ModelFolder
from treeball.scale.settings import ScaleSettings
from treeball.scale.trunk import NORM, Spread


@pytest.mark.parametrize("edges", [(1.4, 1.4), (2.25, 2.25), (1.5, 3.5)])
def test_between_siblings_far_out_both_are_nearer_than_their_parent_up_to_the_widest_angle(edges):
    first, second = (np.array([np.tanh(edge / 2), 0.0]) for edge in edges)
    reach = np.arccos(np.tanh(0.5 * edges[0]))
    for factor, expected in ((0.98, True), (1.02, False)):
        angle = factor * kernel.widest(*edges)
        turned = np.array([np.cos(angle), np.sin(angle)]) * second[0]
        at = factor * reach
        point = np.tanh(25.0 / 2) * np.array([np.cos(at), np.sin(at)])
        far = [poincare.distance(point, end) for end in (first, turned, np.zeros(2))]
        assert (max(far[:2]) < far[2] - 1e-9) == expected


def spread(children, seed=0, dim=6):
    """Directions of a parent and of children, and the lengths of their edges, the shortest first."""
    directions = np.array(even_directions(2 * children + 1, dim)[: children + 1])
    length = np.sort(np.random.default_rng(seed).uniform(2.0, 2.6, children))
    return directions, length


def bring(directions, length, pairs, own=2.0):
    """Bring pairs (earlier, later, weight) together; -> the new directions and who was turned."""
    table = np.array(sorted(((0, a, b, w) for a, b, w in pairs), key=lambda row: (row[2], row[1])))
    drawn = np.random.default_rng(1).normal(size=(24, directions.shape[1]))
    turned = directions.copy()
    moved = Couples(table, drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).bring_together(
        0, np.arange(length.size), length, own, turned
    )
    return turned, moved


def angles(directions):
    return np.arccos(np.clip(directions @ directions.T, -1.0, 1.0))


def test_couples_are_near_enough_and_nobody_is_too_near():
    directions, length = spread(60)
    pairs = [(0, 7, 2), (7, 9, 1), (3, 30, 1), (30, 41, 5), (5, 59, 1)]
    turned, moved = bring(directions, length, pairs)
    assert set(np.flatnonzero(moved)) <= {7, 9, 30, 41, 59}
    assert moved.sum() >= 3
    np.testing.assert_array_equal(turned[1:][~moved], directions[1:][~moved])
    np.testing.assert_array_equal(turned[0], directions[0])
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), 1.0, rtol=1e-12)
    apart = angles(turned)
    for a, b, _ in pairs:
        assert apart[1 + a, 1 + b] < kernel.widest(length[a], length[b])
    # In space: none of those that were turned is nearer to a sibling than to the parent of both, nor the other way.
    points = np.zeros((60, 6))
    for j in range(60):
        placement.put(np.zeros(6), turned[1 + j], length[j], NORM, points[j])
    for a, b in combinations(range(60), 2):
        if moved[a] or moved[b]:
            assert poincare.distance(points[a], points[b]) > max(length[a], length[b]) * 0.97


def test_siblings_that_are_near_enough_stay_where_they_are():
    directions, length = spread(8)
    angle = 0.8 * kernel.widest(length[2], length[5])
    across = directions[6] - (directions[6] @ directions[3]) * directions[3]
    directions[6] = np.cos(angle) * directions[3] + np.sin(angle) * across / np.linalg.norm(across)
    turned, moved = bring(directions, length, [(2, 5, 1)])
    assert not moved.any()
    np.testing.assert_array_equal(turned, directions)


def test_couples_are_the_siblings_that_share_children(tmp_path):
    # 0 is the root; 1, 2 and 3 are siblings, 4 is below 3; leaves 5 to 9.
    parent = np.array([-1, 0, 0, 0, 3, 1, 1, 2, 4, 3], np.int32)
    others = [(5, 2), (6, 2), (7, 3), (8, 1), (9, 0)]  # 8: no sibling of its parent; 9: the root
    child, other = (np.array(side, np.int32) for side in zip(*others, strict=True))
    assert find_couples(parent, child, other, tmp_path) == 2
    found = Couples.load(tmp_path, 4)
    assert found.table.tolist() == [[0, 1, 2, 2], [0, 2, 3, 1]]
    assert found.parents(0, 5).tolist() == [0]
    assert found.parents(1, 5).tolist() == []
    assert Couples.load(tmp_path / "of an earlier version", 4).table.size == 0


def test_turned_children_go_their_own_way_and_others_along_the_fan():
    fan, rows = np.arange(20.0).reshape(10, 2), np.array([3, 5, 7, 9])
    some = Spread(
        np.arange(4), np.ones(4), np.ones(4), fan, rows, np.array([1, 3]), np.array([[-1.0, -1.0], [-3.0, -3.0]])
    )
    np.testing.assert_array_equal(some.along(np.array([0, 1, 2])), [fan[0], fan[3], [-1, -1], fan[7]])
    np.testing.assert_array_equal(some.along(np.array([2])), [fan[0], fan[7]])


def many_siblings():
    """Sixty classes below each of two, with ten leaves each; one of these is a leaf of some other class too."""
    rng = np.random.default_rng(5)
    edges = []
    for top in range(2):
        edges.append((f"t{top}", "root"))
        for middle in range(60):
            edges.append((f"t{top}.{middle}", f"t{top}"))
            edges += [(f"t{top}.{middle}.{leaf}", f"t{top}.{middle}") for leaf in range(10)]
            if middle % 2 == 0:
                edges.append((f"t{top}.{middle}.0", f"t{top}.{rng.integers(0, 30) * 2 + 1}"))
    return edges


def test_leaves_of_couples_among_many_siblings_are_next_to_both(tmp_path, monkeypatch):
    pattern = write(many_siblings(), tmp_path / "edges")
    precision = {}
    for name, branch_nodes in (("in one branch", 4096), ("across branches", 300), ("apart", 4096)):
        if name == "apart":
            monkeypatch.setattr(kernel, "bring_together", lambda *_: None)
        settings = ScaleSettings(method="construct", dim=10, branch_nodes=branch_nodes, workers=1)
        fit_folder((pattern,), tmp_path / name, settings, lambda _: None)
        scores = evaluate_folder(ModelFolder(tmp_path / name), sample=0)
        assert scores.precision[~scores.several].mean() == 1.0
        precision[name] = scores.precision[scores.several].mean()
    assert precision["apart"] < 0.9
    assert precision["in one branch"] > 0.95
    assert precision["across branches"] > 0.95
