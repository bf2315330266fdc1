"""Layouts to scale, without a browser: lengths, depths, rows, and which trees are dated."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import treeball
from tests import trees
from treeball.report.browser.order import LevelOrder, level_order
from treeball.report.browser.to_scale import ToScale, is_dated, lay_to_scale


def laid_out(edges: trees.Edges, weights: Any = None) -> tuple[ToScale, LevelOrder, treeball.Hierarchy]:
    names = [f"n{i}" for i in range(edges.n)]
    hierarchy = treeball.Hierarchy.from_codes(names, edges.child, edges.parent, weights=weights)
    order = level_order(hierarchy)
    return lay_to_scale(hierarchy, order), order, hierarchy


@given(trees.trees(), st.integers(0, 1_000))
def test_edges_are_as_long_as_their_weights(edges: trees.Edges, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=edges.child.size) * rng.integers(0, 2, edges.child.size)  # half of them 0
    layout, order, _ = laid_out(edges, weights)
    own = np.zeros(edges.n)
    own[edges.child] = weights
    np.testing.assert_array_equal(layout.length, own[order.code])
    above = order.parent[1:]
    np.testing.assert_allclose(layout.depth[1:] - layout.depth[above], layout.length[1:], atol=1e-12)
    assert layout.depth[0] == 0


@given(trees.trees())
def test_leaves_have_rows_of_their_own_and_inner_nodes_their_middle(edges: trees.Edges) -> None:
    layout, order, _ = laid_out(edges)
    is_leaf = np.diff(order.first) == 0
    assert layout.rows == is_leaf.sum()
    assert sorted(layout.row[is_leaf]) == [i + 0.5 for i in range(layout.rows)]
    low, high = np.where(is_leaf, layout.row, np.inf), np.where(is_leaf, layout.row, -np.inf)
    for i in range(edges.n - 1, 0, -1):
        low[order.parent[i]] = min(low[order.parent[i]], low[i])
        high[order.parent[i]] = max(high[order.parent[i]], high[i])
    np.testing.assert_array_equal(layout.row, (low + high) / 2)
    # Without lengths an edge counts 1, and no tree is dated.
    assert (layout.length[1:] == 1).all()
    assert not layout.has_lengths
    assert not layout.is_dated


def test_a_dag_is_drawn_by_its_primary_parents() -> None:
    # c hangs below a (2) and below b (7), which has more ancestors.
    hierarchy = treeball.Hierarchy.from_codes(
        ["root", "a", "b", "c"], [1, 2, 3, 3], [0, 1, 1, 2], weights=[1.0, 3.0, 2.0, 7.0]
    )
    order = level_order(hierarchy)
    layout = lay_to_scale(hierarchy, order)
    assert layout.depth[order.position[3]] == 1 + 3 + 7


def test_edges_to_a_root_that_was_added_have_no_length() -> None:
    names = ["root", "r", "s", "a", "b"]
    hierarchy = treeball.Hierarchy.from_codes(
        names, [1, 2, 3, 4], [0, 0, 1, 2], weights=[1.0, 1.0, 0.02, 0.02], virtual_root=0
    )
    layout = lay_to_scale(hierarchy, level_order(hierarchy))
    assert layout.depth.tolist() == [0.0, 0.0, 0.0, 0.02, 0.02]
    assert layout.is_dated


def test_which_trees_are_dated() -> None:
    edges = trees.from_parents([0, 0, 1, 1])  # the root, two children, and two below the first of them
    assert laid_out(edges, [1.0, 3.0, 2.0, 2.0])[0].is_dated
    assert laid_out(edges, [1.0, 3.01, 2.0, 1.995])[0].is_dated  # rounded lengths
    assert not laid_out(edges, [1.0, 3.0, 2.0, 1.5])[0].is_dated
    assert not laid_out(edges, [0.0, 0.0, 0.0, 0.0])[0].is_dated
    assert not laid_out(trees.balanced(2, 3))[0].is_dated  # levels are no dates
    assert not is_dated(np.array([5.0]))


def test_a_single_node_and_a_long_chain() -> None:
    layout, _, _ = laid_out(trees.from_parents([]))
    assert (layout.height, layout.rows, layout.row.tolist()) == (0.0, 1, [0.5])
    layout, _, _ = laid_out(trees.chain(100_000), np.full(99_999, 0.25))
    assert layout.height == 0.25 * 99_999
    assert (layout.row == 0.5).all()


def test_lengths_at_the_ends_of_what_numbers_hold() -> None:
    layout, _, _ = laid_out(trees.star(4), [1e-300, 5.0, 1e300])
    assert np.isfinite(layout.depth).all()
    assert laid_out(trees.star(3), [-1.0, 2.0])[0].length.min() == 0
