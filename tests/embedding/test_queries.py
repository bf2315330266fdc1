"""Questions to an embedding, from geometry and from the hierarchy: against naive answers, and on the command line."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeball
from tests import trees
from treeball import Embedding, Hierarchy, InputError
from treeball.cli.main import run
from treeball.geometry import poincare
from treeball.nearest import nearest_nodes, search


def embedded(edges: trees.Edges, seed: int = 0, dim: int = 3, scale: float = 0.5) -> Embedding:
    """Random vectors, some of them the same: geometry and hierarchy have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    vectors = rng.uniform(-scale, scale, (edges.n, dim))
    vectors[rng.integers(0, edges.n, edges.n // 4)] = vectors[0]
    return Embedding(vectors, Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent))


def faithful() -> Embedding:
    """Every node's nearest node is its parent: edges grow outwards, and leave a node in directions far apart."""
    edges = trees.balanced(3, 3)
    hierarchy = Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent)
    vectors = np.zeros((edges.n, 2))
    for node in hierarchy.topological_order.tolist():
        children = hierarchy.children_of(node)
        back = poincare.recentre(vectors[hierarchy.primary_parent[node]], vectors[node]) if node else np.array([1.0, 0])
        angles = np.arctan2(back[1], back[0]) + 2 * np.pi * np.arange(1, children.size + 1) / (children.size + 1)
        steps = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        length = 3.0 + 0.5 * hierarchy.depth[node] + 0.01 * np.arange(children.size)
        vectors[children] = poincare.mobius_add(vectors[node], poincare.from_radius(steps, length))
    return Embedding(vectors, hierarchy)


@pytest.fixture(scope="module")
def exact():
    embedding = faithful()
    assert embedding.evaluate().hits_at_1 == 1
    return embedding


@pytest.fixture
def joined():
    """Two tops under a virtual root, which sits between them."""
    hierarchy = Hierarchy.from_codes(
        ["a", "a1", "a2", "b", "b1", "<root>"], [0, 1, 2, 3, 4], [5, 0, 0, 5, 3], virtual_root=5
    )
    vectors = [[0.5, 0], [0.7, 0.1], [0.7, -0.1], [-0.5, 0], [-0.7, 0], [0.0, 0]]
    return Embedding(np.array(vectors), hierarchy)


# ---- geometry ----


def test_a_faithful_embedding_is_read_back_whole(exact):
    hierarchy, again = exact.hierarchy, exact.read_back()
    assert np.array_equal(again.primary_parent, hierarchy.primary_parent)
    assert again.virtual_root is None
    names = list(exact)
    for question in (exact.ancestors_of, exact.children_of, exact.subtree):
        assert question(names, "geometry") == question(names, "hierarchy")
    pairs = [(a, b) for a in names[::7] for b in names[::5]]
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    for question in (exact.common_ancestor, exact.path):
        assert question(left, right, "geometry") == question(left, right, "hierarchy")
    assert exact.parent_of(names, "geometry") == exact.parent_of(names, "hierarchy")
    assert exact.parents_of(names, "geometry") == exact.parents_of(names, "hierarchy")
    holds = [bool(answer) for answer in exact.is_ancestor(left, right)]
    assert holds == [bool(answer) for answer in exact.is_ancestor(left, right, "hierarchy")]


def naive_nearest(embedding, code, k):
    distances = embedding.distances_between(np.full(len(embedding), code), np.arange(len(embedding)))
    others = [i for i in range(len(embedding)) if i not in (code, embedding.hierarchy.virtual_root)]
    return sorted(others, key=lambda i: (distances[i], i))[:k]


@given(trees.trees(max_nodes=30), st.integers(0, 5), st.integers(1, 40))
def test_neighbors_are_the_nearest_nodes(edges, seed, k):
    embedding = embedded(edges, seed)
    answers = embedding.neighbors(list(embedding), k)
    for code, answer in enumerate(answers):
        expected = naive_nearest(embedding, code, k)
        far = [distance for _, distance in answer]
        np.testing.assert_allclose(
            far, embedding.distances_between(np.full(len(expected), code), np.array(expected, int))
        )
        assert far == sorted(far)
        assert embedding.neighbors(f"n{code}", k) == answer


def test_the_search_tree_gives_the_same_neighbors(monkeypatch, joined):
    large = embedded(trees.random_tree(300, 1), dim=2)
    for embedding in (large, joined):
        nodes = np.arange(len(embedding))
        plain = nearest_nodes(embedding, nodes, 4)
        monkeypatch.setattr(search, "PLAIN_COMPARISONS", 0)
        assert np.array_equal(nearest_nodes(embedding, nodes, 4), plain)
        monkeypatch.undo()


@given(trees.trees(max_nodes=40), st.integers(0, 20))
def test_what_is_read_back_is_a_tree_of_nearest_nodes(edges, seed):
    embedding = embedded(edges, seed)
    tree = embedding.read_back()
    assert tree.is_tree
    assert tree.names == embedding.names
    nearest = nearest_nodes(embedding, np.arange(len(embedding)), 1)[:, 0]
    for node, parent in enumerate(tree.primary_parent.tolist()):
        if parent in (-1, nearest[node]):
            continue
        # Not the nearest: then the nearest hangs from it, and so does whatever else is nearer than its parent.
        own = tree.is_ancestor(node, np.arange(len(embedding)))
        distances = embedding.distances_between(np.full(len(embedding), node), np.arange(len(embedding)))
        assert own[nearest[node]] or distances[parent] <= distances[~own & (np.arange(len(embedding)) != node)].min()


def test_the_top_is_the_node_nearest_to_the_origin():
    hierarchy = Hierarchy.from_codes(["child", "root"], [0], [1])
    embedding = Embedding(np.array([[0.5, 0.0], [0.1, 0.0]]), hierarchy)
    assert embedding.parent_of("root") is None  # though it has a nearest node, too
    assert embedding.ancestors_of("root") == []
    assert embedding.ancestors_of("child") == ["root"]
    assert embedding.children_of("root") == ["child"]


def test_tops_that_are_no_root_go_below_the_nearest_node_that_is_not_below_them():
    # c and its child d are each other's nearest, and so are a and b.
    names, parents = ["a", "b", "c", "d"], [0, 0, 2]
    embedding = Embedding(
        np.array([[0.0, 0.0], [0.1, 0.0], [-0.6, 0.0], [-0.65, 0.0]]),
        Hierarchy.from_codes(names, [1, 2, 3], parents),
    )
    assert embedding.ancestors_of("d") == ["c", "a"]


def test_one_node_has_no_relatives():
    embedding = Embedding(np.zeros((1, 2)), Hierarchy.from_codes(["only"], [], []))
    for source in ("geometry", "hierarchy"):
        assert embedding.parent_of("only", source) is None
        assert embedding.neighbors("only", 3, source) == []
        assert embedding.ancestors_of("only", source) == []
        assert embedding.subtree("only", source) == ["only"]
        assert embedding.path("only", "only", source) == ["only"]
        assert not embedding.is_ancestor("only", "only", source)


def test_the_score_of_an_ancestor_is_the_angle_at_it():
    def score(angle):
        ancestor = poincare.from_radius([1.0, 0.0], 12.0)
        step = poincare.from_radius([-math.cos(angle), math.sin(angle)], 12.0)
        node = poincare.mobius_add(ancestor, step)
        embedding = Embedding(
            np.array([np.zeros(2), ancestor, node]), Hierarchy.from_codes(["o", "above", "below"], [1, 2], [0, 1])
        )
        return embedding.is_ancestor("above", "below").score

    for angle in (math.pi, 2.0, math.pi / 2, 0.5):
        assert score(angle) == pytest.approx(math.sin(angle / 2) ** 2, rel=1e-3)
    assert score(0.0) == pytest.approx(0, abs=1e-9)


def test_scores_lie_between_0_and_1_and_tell_ancestors(exact):
    names = list(exact)
    pairs = [(a, b) for a in names for b in names]
    answers = exact.is_ancestor([a for a, _ in pairs], [b for _, b in pairs])
    truth = exact.is_ancestor([a for a, _ in pairs], [b for _, b in pairs], "hierarchy")
    scores = np.array([answer.score for answer in answers])
    assert scores.min() >= 0
    assert scores.max() <= 1
    right = np.array([bool(answer) for answer in truth])
    assert {answer.score for answer in truth} == {0.0, 1.0}
    assert np.quantile(scores[right], 0.01) > np.quantile(scores[~right], 0.99)


@pytest.mark.parametrize("geometry", ["lorentz", "euclidean"])
def test_other_geometries_answer_too(exact, geometry):
    vectors = exact.vectors if geometry == "euclidean" else poincare.to_hyperboloid(exact.vectors)
    other = Embedding(vectors, exact.hierarchy, geometry)
    assert len(other.neighbors("n5", 3)) == 3
    assert 0 <= other.is_ancestor("n1", "n5").score <= 1
    if geometry == "lorentz":
        assert other.read_back().edges()[1].tolist() == exact.read_back().edges()[1].tolist()


# ---- hierarchy ----


def ways(graph, a, b):
    """Shortest way up from a and down to b, by brute force."""
    up_a, up_b = nx.single_source_shortest_path_length(graph, a), nx.single_source_shortest_path_length(graph, b)
    return min((up_a[node] + up_b[node] for node in up_a if node in up_b), default=None)


@given(trees.dags(max_nodes=14))
def test_answers_from_the_hierarchy_match_networkx(edges):
    embedding = embedded(edges)
    graph = nx.DiGraph(edges.pairs)
    graph.add_nodes_from(range(edges.n))
    number: dict[Hashable, int] = {f"n{i}": i for i in range(edges.n)}
    names = list(number)
    for name, ancestors in zip(names, embedding.ancestors_of(names, "hierarchy"), strict=True):
        assert {number[one] for one in ancestors} == nx.descendants(graph, number[name])
        up = nx.single_source_shortest_path_length(graph, number[name])
        assert [up[number[one]] for one in ancestors] == sorted(up[number[one]] for one in ancestors)
    for name, below in zip(names, embedding.subtree(names, "hierarchy"), strict=True):
        assert {number[one] for one in below} == nx.ancestors(graph, number[name]) | {number[name]}
        assert below[0] == name
        assert len(set(below)) == len(below)
    for name, children in zip(names, embedding.children_of(names, "hierarchy"), strict=True):
        assert [number[one] for one in children] == sorted(graph.predecessors(number[name]))
    for a in names:
        distances = embedding.distance(a, names, "hierarchy")
        assert [None if math.isinf(d) else d for d in distances] == [ways(graph, number[a], number[b]) for b in names]
        for b, path in zip(names, embedding.path(a, names, "hierarchy"), strict=True):
            assert (path[0], path[-1]) == (a, b)
            steps = [(number[x], number[y]) for x, y in pairwise(path)]
            assert all(graph.has_edge(x, y) or graph.has_edge(y, x) for x, y in steps)
            assert len(steps) == ways(graph, number[a], number[b])
        near = embedding.neighbors(a, 5, "hierarchy")
        expected = sorted((ways(graph, number[a], number[b]), number[b]) for b in names if b != a)[:5]
        assert [(d, number[b]) for b, d in near] == expected


def test_an_added_root_is_never_an_answer(joined):
    for source in ("geometry", "hierarchy"):
        assert joined.ancestors_of("a1", source) == ["a"]
        assert joined.common_ancestor("a1", "a2", source) == "a"
        assert joined.common_ancestor("a1", "b1", source) is None
        assert joined.path("a1", "b1", source) == []
        assert all("<root>" not in dict(near) for near in joined.neighbors(list(joined.names)[:5], 9, source))
        assert joined.parent_of("a", source) is None
        assert joined.parents_of("a", source) == []
    assert joined.distance("a1", "b1", "hierarchy") == math.inf
    # Asked for by name it is a node like any other.
    assert joined.children_of("<root>", "hierarchy") == ["a", "b"]
    assert joined.path("<root>", "b1", "hierarchy") == ["<root>", "b", "b1"]
    assert joined.distance("b1", "<root>", "hierarchy") == 2


def test_subtrees_can_be_cut(exact):
    assert exact.subtree("n0", "hierarchy", 0) == ["n0"]
    assert exact.subtree("n0", "hierarchy", 1) == ["n0", "n1", "n2", "n3"]
    assert len(exact.subtree("n1", depth=1)) == 4
    for wrong in (-1, 1.5, True):
        with pytest.raises(InputError, match="depth"):
            exact.subtree("n0", depth=wrong)


# ---- one and many ----


def test_a_list_asks_for_each(exact):
    assert exact.parent_of(["n5", "n6"]) == [exact.parent_of("n5"), exact.parent_of("n6")]
    assert exact.parent_of(np.array(["n5", "n6"], object)) == exact.parent_of(["n5", "n6"])
    assert exact.neighbors([], 3) == []
    assert exact.distance("n1", ["n2", "n3"]).tolist() == [exact.distance("n1", "n2"), exact.distance("n1", "n3")]
    assert exact.distance(["n2", "n3"], "n1").shape == (2,)
    assert isinstance(exact.distance("n1", "n2"), float)
    assert exact.common_ancestor(["n4", "n4"], ["n5", "n4"]) == ["n1", "n4"]
    with pytest.raises(InputError, match="2 and 3 nodes make no pairs"):
        exact.distance(["n1", "n2"], ["n1", "n2", "n3"])


def test_names_may_be_tuples_and_numbers():
    embedding = treeball.fit([((1, "b"), (0, "a")), ((2, "c"), (0, "a"))], dim=2)
    assert embedding.parent_of((1, "b"), "hierarchy") == (0, "a")
    assert embedding.children_of([(0, "a")], "hierarchy") == [[(1, "b"), (2, "c")]]
    numbers = treeball.fit([(2, 1), (3, 1)], dim=2)
    assert numbers.path(2, 3, "hierarchy") == [2, 1, 3]


def test_unknown_names_and_sources_are_refused(exact):
    for ask in (
        lambda: exact.neighbors("n5x"),
        lambda: exact.distance("n1", "n5x"),
        lambda: exact.subtree(["n1", "n2", "n3", "n4", "n5x"]),
        lambda: exact.is_ancestor("n5x", "n1"),
    ):
        with pytest.raises(InputError, match="no node named 'n5x'; did you mean"):
            ask()
    for ask in (
        lambda: exact.neighbors("n1", source="tree"),
        lambda: exact.distance("n1", "n2", "tree"),
        lambda: exact.parent_of("n1", "tree"),
        lambda: exact.path("n1", "n2", "tree"),
    ):
        with pytest.raises(InputError, match="source must be geometry or hierarchy, not 'tree'"):
            ask()


# ---- the command line ----


@pytest.fixture
def model(tmp_path, monkeypatch, exact):
    monkeypatch.chdir(tmp_path)
    exact.save("m.parquet")
    return "m.parquet"


def said(arguments, capsys):
    assert run(arguments) == 0
    return capsys.readouterr().out


def refused(arguments, capsys, *words):
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.strip().splitlines()) == 1
    for word in words:
        assert word in captured.err


def test_neighbors_of_many(model, capsys, exact):
    Path("names.txt").write_text("n5\n\nn6\n")
    lines = said(["neighbors", model, "--from-file", "names.txt", "-k", "2", "--json"], capsys).splitlines()
    assert [json.loads(line)["node"] for line in lines] == ["n5", "n6"]
    found = [(one["node"], one["distance"]) for one in json.loads(lines[1])["neighbors"]]
    assert found == exact.neighbors("n6", 2)
    text = said(["neighbors", model, "n5", "n6", "-k", "1", "--from", "hierarchy"], capsys)
    assert text.splitlines() == ["nearest to n5", "n1  1", "nearest to n6", "n1  1"]


def test_distances(model, capsys, exact):
    assert float(said(["distance", model, "n5", "n6"], capsys)) == pytest.approx(exact.distance("n5", "n6"), rel=1e-5)
    assert said(["distance", model, "n5", "n6", "--from", "hierarchy"], capsys).strip() == "2"
    Path("pairs.tsv").write_text("n5\tn6\nn0\tn1\n")
    lines = said(["distance", model, "--from-file", "pairs.tsv", "--json"], capsys).splitlines()
    assert json.loads(lines[1]) == {"a": "n0", "b": "n1", "distance": exact.distance("n0", "n1")}
    assert len(said(["distance", model, "n5", "n6", "n0", "n1"], capsys).splitlines()) == 2


def test_ask(model, capsys):
    assert said(["ask", model, "parent", "n5"], capsys) == "n1\n"
    assert said(["ask", model, "parent", "n5", "n0", "--from", "hierarchy"], capsys) == "n5  n1\nn0  none\n"
    assert said(["ask", model, "parent", "n5", "n0"], capsys) == "n5  n1\nn0  none\n"
    assert said(["ask", model, "parents", "n5"], capsys) == "n1\n"
    assert json.loads(said(["ask", model, "parents", "n5", "--json"], capsys)) == {"node": "n5", "parents": ["n1"]}
    assert said(["ask", model, "children", "n1"], capsys) == "n4\nn5\nn6\n"
    assert said(["ask", model, "ancestors", "n13"], capsys) == "n4\nn1\nn0\n"
    assert said(["ask", model, "common-ancestor", "n4", "n5"], capsys) == "n1\n"
    assert (
        said(["ask", model, "path", "n4", "n5", "n4", "n1"], capsys) == "n4 to n5:\nn4\nn1\nn5\n\nn4 to n1:\nn4\nn1\n"
    )
    assert said(["ask", model, "subtree", "n0", "--depth", "1"], capsys) == "n0\n  n1\n  n2\n  n3\n"
    record = json.loads(said(["ask", model, "subtree", "n0", "--depth", "1", "--json"], capsys))
    assert (record["subtree"], record["depths"]) == (["n0", "n1", "n2", "n3"], [0, 1, 1, 1])
    text = said(["ask", model, "is-ancestor", "n1", "n13", "n2", "n13"], capsys).splitlines()
    assert text[0].startswith("n1 is an ancestor of n13 (score 0.")
    assert text[1].startswith("n2 is no ancestor of n13 (score 0.")
    record = json.loads(said(["ask", model, "is-ancestor", "n1", "n13", "--json"], capsys))
    assert record["is_ancestor"] is True
    assert record["score"] > 0.1
    assert json.loads(said(["ask", model, "parent", "n0", "--json", "--from", "hierarchy"], capsys)) == {
        "node": "n0",
        "parent": None,
        "parents": [],
    }
    assert json.loads(said(["ask", model, "path", "n4", "n5", "--json"], capsys))["path"] == ["n4", "n1", "n5"]


def test_a_subtree_is_an_outline_that_can_be_read(model, capsys, exact):
    Path("outline.txt").write_text(said(["ask", model, "subtree", "n0"], capsys))
    again = treeball.read("outline.txt", format="outline", names="label")
    assert again.n_edges == exact.hierarchy.n_edges


DAG = [("a", "r"), ("b", "r"), ("s", "a"), ("s", "b"), ("t", "s"), ("t", "b"), ("u", "a")]


@pytest.fixture
def dag(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = {"r": "Root", "s": "Shared"}
    rows = "".join(f"{child},{parent},{labels.get(child, '')}\n" for child, parent in [("r", ""), *DAG])
    Path("dag.csv").write_text("id,parent_id,name\n" + rows)
    treeball.fit(treeball.read("dag.csv", reduce="never"), dim=5).save("dag.parquet")
    return "dag.parquet"


@pytest.mark.parametrize("source", ["geometry", "hierarchy"])
def test_a_subtree_says_every_parent_of_each_node(dag, capsys, source):
    lines = said(["ask", dag, "subtree", "r", "--from", source], capsys).splitlines()
    assert lines[0] == "Root [r]"
    shown = {}
    for line in lines[1:]:
        name, _, others = line.strip().partition("  (also below ")
        above = (
            next(one for one in reversed(lines[: lines.index(line)]) if _indent(one) == _indent(line) - 2)
            .strip()
            .partition("  (")[0]
        )
        shown[name] = {above, *filter(None, others.rstrip(")").split(", "))}
    assert shown == {
        "a": {"Root [r]"}, "b": {"Root [r]"}, "u": {"a"}, "Shared [s]": {"a", "b"}, "t": {"Shared [s]", "b"},
    }  # fmt: skip
    record = json.loads(said(["ask", dag, "subtree", "a", "--from", source, "--json"], capsys))
    # Below a, both s and t hang from b as well, which is not below a.
    assert record["other_parents"] == {"s": ["b"], "t": ["b"]}
    assert record["labels"] == {"s": "Shared"}
    assert json.loads(said(["ask", dag, "subtree", "u", "--json"], capsys))["other_parents"] == {}


def _indent(line):
    return len(line) - len(line.lstrip())


def test_an_added_root_is_no_further_parent(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    treeball.fit([("b", "a"), ("d", "c"), ("e", "a"), ("e", "c")], dim=5).save("forest.parquet")
    record = json.loads(said(["ask", "forest.parquet", "subtree", "a", "--from", "hierarchy", "--json"], capsys))
    assert record["other_parents"] == {"e": ["c"]}


def test_standard_input_names_nodes(model, capsys, monkeypatch):
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"n5\nn6\n")))
    assert said(["ask", model, "parent", "--from-file", "-"], capsys) == "n5  n1\nn6  n1\n"


def test_bad_questions_are_refused(model, capsys):
    refused(["ask", model, "path", "n1"], capsys, "two names")
    refused(["ask", model, "parent"], capsys, "needs a name")
    refused(["ask", model, "uncle", "n1"], capsys, "uncle")
    refused(["ask", model, "parent", "n1x"], capsys, "no node named 'n1x'", "did you mean")
    refused(["ask", model, "parent", "n1", "--depth", "2"], capsys, "--depth goes with")
    refused(["distance", model, "n1", "n2", "n3"], capsys, "two names")
    refused(["neighbors", model], capsys, "needs a name")
    refused(["neighbors", model, "--from-file", "missing.txt"], capsys, "missing.txt")
    refused(["neighbors", model, "--from-file", "."], capsys, "directory")
    Path("empty.txt").write_text("\n\n")
    refused(["neighbors", model, "--from-file", "empty.txt"], capsys, "empty.txt", "names no node")
    Path("names.txt").write_text("n1\nn5x\n")
    refused(["neighbors", model, "--from-file", "names.txt"], capsys, "names.txt, line 2", "n5x")
    refused(["neighbors", model, "n1", "--from-file", "names.txt"], capsys, "not both")
    refused(["distance", model, "--from-file", "names.txt"], capsys, "names.txt, line 1", "separated by a tab")
    Path("latin.txt").write_bytes("größe\n".encode("latin-1"))
    refused(["neighbors", model, "--from-file", "latin.txt"], capsys, "latin.txt", "UTF-8")


def test_a_top_without_children_hangs_from_the_added_root_alone():
    edges = [("Dog food", "Pets"), ("Cat food", "Pets"), ("Boots", "Shoes")]
    table = {**dict(edges), "Pets": None, "Shoes": None, "Gift cards": None, "Vouchers": None}
    embedding = treeball.fit(table, dim=5)
    assert embedding.evaluate().hits_at_1 == 1.0
    for source in ("geometry", "hierarchy"):
        assert embedding.parent_of("Gift cards", source) is None
        assert embedding.ancestors_of("Gift cards", source) == []
        assert set(embedding.subtree("Pets", source)) == {"Pets", "Dog food", "Cat food"}
        assert not embedding.is_ancestor("Pets", "Gift cards", source)
        assert embedding.parent_of("Boots", source) == "Shoes"
    assert "<root>" not in [name for name, _ in embedding.neighbors("Gift cards", k=10)]


def test_an_answer_without_nodes_is_told_in_words(tmp_path, capsys):
    model = treeball.fit({"a": None, "b": None, "c": "a"}, dim=3).save(tmp_path / "two.parquet")
    for question, nodes in (("ancestors", ["b"]), ("children", ["c"]), ("path", ["b", "c"])):
        assert run(["ask", str(model), question, *nodes, "--from", "hierarchy"]) == 0
        assert capsys.readouterr().out == "none\n"
