"""Hierarchy against networkx and against plain Python, on generated trees and DAGs."""

from __future__ import annotations

import pickle
import statistics as stdlib_statistics
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import trees
from tests.trees import Edges
from treeball.engine.cpu import graph
from treeball.errors import InputError
from treeball.hierarchy import Hierarchy

any_graph = st.one_of(trees.trees(), trees.dags())
# The first example compiles, or loads from the disk, the kernels: no deadline.
relaxed = settings(deadline=None, max_examples=60)


def build(edges: Edges, **options: Any) -> Hierarchy:
    return Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent, **options)


def upward(edges: Edges) -> nx.DiGraph:
    """Edges child -> parent, so the descendants of networkx are our ancestors."""
    above = nx.DiGraph()
    above.add_nodes_from(range(edges.n))
    above.add_edges_from(edges.pairs)
    return above


def as_lists(pointers: np.ndarray, index: np.ndarray) -> list[list[int]]:
    return [part.tolist() for part in np.split(index, pointers[1:-1])]


def longest_from_root(edges: Edges) -> list[int]:
    above = upward(edges)

    @cache
    def level(node: int) -> int:
        return max((level(parent) + 1 for parent in above[node]), default=0)

    return [level(node) for node in range(edges.n)]


@relaxed
@given(any_graph)
def test_csr_lists_parents_in_the_order_given_and_children_ascending(edges: Edges) -> None:
    h = build(edges)
    parents: list[list[int]] = [[] for _ in range(edges.n)]
    children: list[list[int]] = [[] for _ in range(edges.n)]
    for child, parent in edges.pairs:
        parents[child].append(parent)
        children[parent].append(child)
    assert as_lists(h.parent_ptr, h.parent_idx) == parents
    assert as_lists(h.child_ptr, h.child_idx) == [sorted(one) for one in children]
    assert as_lists(*h.positives("parents")) == [sorted(one) for one in parents]
    most = np.diff(h.ancestors()[0])
    assert h.primary_parent.tolist() == [max(one, key=lambda p: most[p], default=-1) for one in parents]
    assert [h.parents_of(i).tolist() for i in range(edges.n)] == parents
    assert [h.children_of(i).tolist() for i in range(edges.n)] == [sorted(one) for one in children]
    assert sorted(zip(*(side.tolist() for side in h.edges()), strict=True)) == sorted(edges.pairs)
    assert (h.n_nodes, h.n_edges, len(h)) == (edges.n, edges.child.size, edges.n)
    assert h.root == next(i for i in range(edges.n) if not parents[i])
    assert h.is_tree == (edges.child.size == edges.n - 1)


def test_dtypes_are_those_that_the_kernels_expect() -> None:
    h = build(trees.random_dag(20, 20, 0), weights=None)
    assert {h.parent_ptr.dtype, h.child_ptr.dtype, h.ancestors()[0].dtype} == {np.dtype(np.int64)}
    codes = [h.parent_idx, h.child_idx, h.depth, h.level, h.height, h.interval_in, h.interval_out]
    codes += [h.topological_order, h.primary_parent, h.ancestors()[1], h.positives("parents")[1], *h.edges()]
    assert {array.dtype for array in codes} == {np.dtype(np.int32)}


@relaxed
@given(any_graph)
def test_order_depth_level_and_height(edges: Edges) -> None:
    h, above = build(edges), upward(edges)
    rank = np.argsort(h.topological_order)
    assert sorted(h.topological_order.tolist()) == list(range(edges.n))
    assert all(rank[parent] < rank[child] for child, parent in edges.pairs)
    shortest = nx.single_source_shortest_path_length(above.reverse(), h.root)
    assert h.depth.tolist() == [shortest[i] for i in range(edges.n)]
    assert h.level.tolist() == longest_from_root(edges)

    @cache
    def height(node: int) -> int:
        return max((height(child) + 1 for child in above.predecessors(node)), default=0)

    assert h.height.tolist() == [height(i) for i in range(edges.n)]


@relaxed
@given(any_graph)
def test_intervals_hold_exactly_the_subtree_of_primary_parents(edges: Edges) -> None:
    h = build(edges)
    spanning = nx.DiGraph([(i, int(p)) for i, p in enumerate(h.primary_parent) if p >= 0])
    spanning.add_nodes_from(range(edges.n))
    assert sorted(h.interval_in.tolist()) == list(range(edges.n))
    for a in range(edges.n):
        inside = (h.interval_in[a] <= h.interval_in) & (h.interval_in < h.interval_out[a])
        assert set(np.flatnonzero(inside).tolist()) == nx.ancestors(spanning, a) | {a}


@relaxed
@given(any_graph)
def test_ancestors_and_ancestor_and_parent_tests(edges: Edges) -> None:
    h, above = build(edges), upward(edges)
    expected = [sorted(nx.descendants(above, i)) for i in range(edges.n)]
    assert as_lists(*h.ancestors()) == expected
    assert as_lists(*h.positives("ancestors")) == expected
    everyone = np.arange(edges.n)
    is_ancestor = h.is_ancestor(everyone[None, :], everyone[:, None])
    assert [np.flatnonzero(row).tolist() for row in is_ancestor] == expected
    is_parent = h.is_parent(everyone[None, :], everyone[:, None])
    assert [np.flatnonzero(row).tolist() for row in is_parent] == [sorted(above[i]) for i in range(edges.n)]


@relaxed
@given(any_graph)
def test_common_ancestor_is_the_deepest_with_ties_to_the_smallest_code(edges: Edges) -> None:
    h, above, level = build(edges), upward(edges), longest_from_root(edges)
    upper = [nx.descendants(above, i) | {i} for i in range(edges.n)]
    everyone = np.arange(edges.n)
    found = h.common_ancestor(everyone[:, None], everyone)
    for a in range(edges.n):
        for b in range(edges.n):
            assert found[a, b] == min(upper[a] & upper[b], key=lambda node: (-level[node], node))


@relaxed
@given(any_graph)
def test_transitive_reduction(edges: Edges) -> None:
    weights = np.arange(edges.child.size, dtype=np.float64)
    h = build(edges, weights=weights)
    reduced = h.transitive_reduction()
    kept = list(zip(*(side.tolist() for side in reduced.edges()), strict=True))
    assert sorted(kept) == sorted(nx.transitive_reduction(upward(edges)).edges)
    assert as_lists(*reduced.ancestors()) == as_lists(*h.ancestors())
    assert reduced.names is h.names
    weight_of = dict(zip(edges.pairs, weights.tolist(), strict=True))
    assert reduced.parent_weight is not None
    assert reduced.parent_weight.tolist() == [weight_of[pair] for pair in kept]
    assert reduced.transitive_reduction() is reduced


def test_reduction_of_a_closure_is_the_tree_again() -> None:
    tree = trees.shuffled(trees.preferential(300, 1), 2)
    h = build(tree)
    pointers, index = h.ancestors()
    below = np.repeat(np.arange(tree.n), np.diff(pointers))
    closure = Hierarchy.from_codes(h.names, below, index)
    assert closure.n_edges == h.depth.sum()
    assert closure.transitive_reduction().primary_parent.tolist() == h.primary_parent.tolist()


@relaxed
@given(any_graph)
def test_statistics(edges: Edges) -> None:
    h = build(edges)
    figures = h.statistics()
    degree = dict(upward(edges).to_undirected().degree)
    inner = {parent for _, parent in edges.pairs}
    assert (figures.nodes, figures.edges, figures.roots) == (edges.n, edges.child.size, 1)
    assert (figures.inner, figures.leaves) == (len(inner), edges.n - len(inner))
    assert figures.max_degree == max(degree.values())
    assert figures.std_degree == pytest.approx(stdlib_statistics.pstdev(degree.values()))
    of_inner = [degree[node] for node in inner]
    assert figures.std_degree_inner == pytest.approx(stdlib_statistics.pstdev(of_inner) if inner else 0.0)
    assert (figures.depth, figures.longest_path) == (h.depth.max(), h.level.max())
    assert figures.multi_parent == sum(len(one) > 1 for one in as_lists(h.parent_ptr, h.parent_idx))


def test_virtual_root_and_report_are_kept() -> None:
    h = Hierarchy.from_codes(["a", "b", "<root>"], [0, 1], [2, 2], virtual_root=2)
    assert (h.root, h.virtual_root, h.statistics().roots, h.report) == (2, 2, 2, None)
    assert repr(h) == "<Hierarchy: tree of 3 nodes, 2 edges, virtual root>"
    with pytest.raises(ValueError, match="virtual root, node 0, is not the root, node 2"):
        Hierarchy.from_codes(["a", "b", "<root>"], [0, 1], [2, 2], virtual_root=0)


def test_weights_follow_their_edges() -> None:
    h = Hierarchy.from_codes("abcd", [3, 1, 3, 2], [2, 0, 1, 0], weights=[0.32, 0.1, 0.31, 0.2])
    assert h.parent_idx.tolist() == [0, 0, 2, 1]
    assert h.parent_weight is not None
    assert h.parent_weight.tolist() == [0.1, 0.2, 0.32, 0.31]


def test_one_node_alone() -> None:
    h = Hierarchy.from_codes(["only"], [], [])
    assert (h.root, h.is_tree, h.depth.tolist(), h.height.tolist()) == (0, True, [0], [0])
    assert as_lists(*h.ancestors()) == [[]]
    assert h.common_ancestor(0, 0) == 0
    assert h.statistics().max_degree == 0


@pytest.mark.parametrize(
    ("names", "child", "parent", "message"),
    [
        ("ab", [1, 0], [0, 0], "node 'a' is its own parent"),
        ("ab", [1, 1], [0, 0], "edge 'b' -> 'a' occurs twice"),
        ("abcd", [1, 2, 3, 1], [0, 1, 2, 3], "cycle of 3 nodes: 'b' -> 'd' -> 'c' -> 'b'"),
        ("abc", [0, 1, 2], [1, 2, 0], "cycle of 3 nodes: 'a' -> 'b' -> 'c' -> 'a'"),
        ("abc", [1], [0], "2 roots ('a', 'c') but there must be one"),
        ("", [], [], "at least one node"),
        ("ab", [1], [2], "parent codes must lie in 0..1, found 2..2"),
        ("ab", [-1], [0], "child codes must lie in 0..1"),
        ("ab", [1, 1], [0], "2 children but 1 parents"),
        ("ab", [1.0], [0], "child codes must be integers"),
        ("ab", [[1]], [[0]], "one-dimensional"),
        ("aa", [1], [0], "two nodes are named 'a'"),
    ],
)
def test_edges_that_are_no_hierarchy_are_refused(names: str, child: list[int], parent: list[int], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the message is checked whole, not as a pattern)
        Hierarchy.from_codes(names, child, parent)
    assert message in str(caught.value)


def test_long_messages_are_shortened() -> None:
    ring = np.arange(100)
    with pytest.raises(ValueError, match=r"cycle of 100 nodes: 0 -> 1 -> 2 -> 3 -> 4 -> \.\.\. -> 0$"):
        Hierarchy.from_codes(range(100), ring, np.roll(ring, -1))
    with pytest.raises(ValueError, match=r"100 roots \(0, 1, 2, 3, 4, \.\.\.\)"):
        Hierarchy.from_codes(range(100), [], [])


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1.0], "2 edges but weights of shape"), ([1.0, float("nan")], "weight of edge 1 is nan")],
)
def test_bad_weights_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Hierarchy.from_codes("abc", [1, 2], [0, 0], weights=weights)


def test_nothing_can_be_changed() -> None:
    child = np.array([1, 2, 3, 3], np.int32)
    h = Hierarchy.from_codes("abcd", child, [0, 0, 1, 2], weights=[1.0, 2.0, 3.0, 4.0])
    arrays = [getattr(h, name) for name in ("parent_ptr", "parent_idx", "parent_weight", "child_ptr", "child_idx")]
    arrays += [
        h.topological_order,
        h.depth,
        h.level,
        h.height,
        h.interval_in,
        h.interval_out,
        h.primary_parent,
    ]
    arrays += [*h.ancestors(), *h.positives("parents"), *h.positives("ancestors")]
    assert not any(array.flags.writeable for array in arrays)
    with pytest.raises(AttributeError, match="cannot be changed"):
        h.root = 1
    with pytest.raises(AttributeError, match="cannot be changed"):
        del h.names
    assert child.flags.writeable, "the caller's array is left as it was"


def test_a_copy_is_the_same_and_as_immutable() -> None:
    h = Hierarchy.from_codes("abcd", [3, 1, 3, 2], [2, 0, 1, 0], weights=[0.32, 0.1, 0.31, 0.2], virtual_root=0)
    copy = pickle.loads(pickle.dumps(h))
    assert (copy.names, copy.root, copy.virtual_root) == (h.names, h.root, h.virtual_root)
    assert (copy.parent_idx.tolist(), copy.parent_ptr.tolist()) == (
        h.parent_idx.tolist(),
        h.parent_ptr.tolist(),
    )
    assert copy.parent_weight.tolist() == h.parent_weight.tolist()
    assert not copy.parent_idx.flags.writeable


def test_computed_arrays_are_kept() -> None:
    h = build(trees.random_dag(30, 30, 3))
    assert h.depth is h.depth
    assert h.interval_in is h.interval_in
    assert h.ancestors()[1] is h.positives("ancestors")[1]


def test_queries_refuse_codes_that_do_not_exist() -> None:
    h = build(trees.chain(4))
    with pytest.raises(IndexError, match=r"0\.\.3, found 0\.\.4"):
        h.is_ancestor([0, 4], 1)
    with pytest.raises(IndexError):
        h.common_ancestor(-1, 0)
    with pytest.raises(TypeError, match="integers"):
        h.is_parent(0.5, 1)
    with pytest.raises(IndexError):
        h.children_of(4)
    with pytest.raises(InputError, match="unknown objective 'siblings': use 'parents' or 'ancestors'"):
        h.positives("siblings")  # type: ignore[arg-type]


def test_queries_take_the_shape_of_their_arguments() -> None:
    h = build(trees.random_dag(10, 10, 0))
    assert h.is_ancestor(0, 3).shape == ()
    assert h.is_ancestor([], []).shape == (0,)
    assert h.is_parent(np.zeros((2, 1), int), [1, 2, 3]).shape == (2, 3)
    assert h.common_ancestor(0, np.array([[1, 2]], np.uint8)).shape == (1, 2)


@pytest.mark.parametrize("shape", [trees.chain, trees.star, trees.caterpillar])
def test_a_million_nodes_of_extreme_shape(shape) -> None:
    """Neither recursion nor a quadratic step: this takes a second, not an hour."""
    n = 1_000_000
    edges = shape(n)
    h = Hierarchy.from_codes(range(n), edges.child, edges.parent)
    assert h.depth.max() == h.height[0] == {"chain": n - 1, "star": 1, "caterpillar": n // 2}[shape.__name__]
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, n, (2, 200_000))
    common = h.common_ancestor(a, b)
    if shape is trees.chain:
        assert (common == np.minimum(a, b)).all()
        assert (h.is_ancestor(a, b) == (a < b)).all()
    elif shape is trees.star:
        assert (common == np.where(a == b, a, 0)).all()
    else:
        low, high = np.minimum(a, b), np.maximum(a, b)
        spine = low - low % 2
        assert (common == np.where(low == high, low, spine)).all()


def test_a_long_dag_is_not_climbed_node_by_node() -> None:
    """A chain with a few shortcuts: ancestor tests and common ancestors skip whole stretches."""
    n = 300_000
    spine = trees.chain(n)
    far = np.arange(n // 10, n, n // 10)
    h = Hierarchy.from_codes(range(n), np.append(spine.child, far), np.append(spine.parent, far - n // 10))
    a, b = np.random.default_rng(0).integers(0, n, (2, 200_000))
    assert (h.common_ancestor(a, b) == np.minimum(a, b)).all()
    assert (h.is_ancestor(a, b) == (a < b)).all()
    assert h.transitive_reduction().is_tree


def test_closure_too_large_for_memory_is_refused_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    h = build(trees.chain(1000))

    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(np, "empty", full)
    with pytest.raises(InputError, match=r"499,500 pairs .* use the objective 'parents'"):
        h.ancestors()


def closing_edges(edges: Edges) -> list[bool]:
    """Whether each edge closes a cycle with the edges kept before it."""
    kept = nx.DiGraph()
    kept.add_nodes_from(range(edges.n))
    closing = []
    for child, parent in edges.pairs:
        closing.append(nx.has_path(kept, parent, child))
        if not closing[-1]:
            kept.add_edge(child, parent)
    return closing


@relaxed
@given(trees.digraphs())
def test_back_edges_are_those_that_close_a_cycle_with_the_edges_kept_before(edges: Edges) -> None:
    assert graph.find_back_edges(edges.n, edges.child, edges.parent).tolist() == closing_edges(edges)


@relaxed
@given(trees.digraphs(), st.integers(0, 1000))
def test_back_edges_do_not_depend_on_the_order_the_search_starts_from(edges: Edges, seed: int) -> None:
    child, parent = (graph.read_only(side, np.int32) for side in (edges.child, edges.parent))
    position = np.random.default_rng(seed).permutation(edges.n).astype(np.int32)
    assert graph.edges_closing_cycles(child, parent, position, 10**9).tolist() == closing_edges(edges)


@pytest.mark.parametrize("budget", [0, 1, 5])
def test_without_budget_more_is_removed_but_the_rest_is_acyclic(budget: int) -> None:
    rng = np.random.default_rng(0)
    child, parent = (graph.read_only(side, np.int32) for side in rng.integers(0, 30, (2, 120)))
    position = rng.permutation(30).astype(np.int32)
    kept = ~graph.edges_closing_cycles(child, parent, position, budget)
    assert nx.is_directed_acyclic_graph(nx.DiGraph(zip(child[kept].tolist(), parent[kept].tolist(), strict=True)))


def test_back_edges_of_large_rings() -> None:
    n = 300_000
    ring = np.arange(n)
    for child in (ring, ring[::-1].copy(), np.random.default_rng(0).permutation(n)):
        removed = graph.find_back_edges(n, child, (child + 1) % n)
        assert np.flatnonzero(removed).tolist() == [n - 1]
