"""The approximate index: its metric against mpmath, answers and recall against naive ones, its file, its commands."""

from __future__ import annotations

import ctypes
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import sleep

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeball
from treeball import Embedding, Hierarchy, InputError, MissingExtraError
from treeball.cli.main import run
from treeball.engine.cpu.index_metric import c_function
from treeball.geometry import poincare
from treeball.geometry.models import ball_to_hyperboloid
from treeball.nearest import index as approximate
from treeball.nearest.index_graph import Graph

from . import trees

GEOMETRIES = ["poincare", "lorentz", "euclidean"]


def embedded(edges: trees.Edges, geometry="poincare", seed=0, dim=4, radius=12.0) -> Embedding:
    """Random vectors, up to a radius."""
    rng = np.random.default_rng(seed)
    points = poincare.from_radius(rng.normal(size=(edges.n, dim)), rng.uniform(0, radius, edges.n))
    vectors = {"poincare": points, "lorentz": ball_to_hyperboloid(points), "euclidean": 3 * points}[geometry]
    return Embedding(
        vectors, Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent), geometry
    )


def constructed(edges: trees.Edges, dim=5) -> Embedding:
    return treeball.fit(Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent), dim=dim)


def naive_recall(index, embedding, k=10):
    """Share of the k found for each node that are no farther than its true k-th nearest."""
    shares = []
    for code, name in enumerate(embedding.names):
        far = np.sort(np.delete(embedding.distances_between(code, np.arange(len(embedding))), code))
        found = [distance for _, distance in index.neighbors(name, k)]
        shares.append(sum(distance <= far[k - 1] * (1 + 1e-9) for distance in found) / k)
    return np.mean(shares)


def called(flatness, a, b):
    pointer = ctypes.POINTER(ctypes.c_double)
    rows = [np.ascontiguousarray(row, np.float64) for row in (a, b)]
    return c_function(flatness).ctypes(*(row.ctypes.data_as(pointer) for row in rows), len(rows[0]))


def row_of(point):
    return np.append(point, 1.0 / poincare.one_minus_square(point))


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def bushy():
    """A construction with nodes of many children, more than a node has links."""
    return constructed(trees.preferential(900, 3))


@pytest.fixture(scope="module")
def index(bushy):
    return approximate.build(bushy, threads=1)


# ---- the metric ----


@settings(max_examples=60)
@given(
    dim=st.integers(2, 12),
    radii=st.tuples(st.floats(0, 30), st.floats(0, 30)),
    angle=st.sampled_from([1e-12, 1e-6, 1e-2, 1.0]),
    seed=st.integers(0, 9999),
)
def test_the_metric_is_the_hyperbolic_distance_up_to_the_rim(dim, radii, angle, seed):
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=dim)
    u = poincare.from_radius(direction, radii[0])
    v = poincare.from_radius(direction + angle * rng.normal(size=dim), radii[1])
    with mpmath.workdps(60):
        x, y = ([mpmath.mpf(float(value)) for value in point] for point in (u, v))
        a, b = (1 - mpmath.fsum(value**2 for value in point) for point in (x, y))
        gap2 = mpmath.fsum((p - q) ** 2 for p, q in zip(x, y, strict=True))
        expected = [float(gap2 / mpmath.root(a * b, 2**flatness)) for flatness in range(4)]
    found = [called(flatness, row_of(u), row_of(v)) for flatness in range(4)]
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-37)
    distance = float(poincare.distance(u, v))
    assert 2 * np.arcsinh(np.sqrt(found[0])) == pytest.approx(distance, rel=1e-5)


def test_with_factors_of_1_every_order_is_the_squared_euclidean_distance():
    for flatness in range(4):
        assert called(flatness, [1.0, 2.0, 1.0], [4.0, 6.0, 1.0]) == 25.0


# ---- answers ----


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("shape", [trees.chain, trees.star, trees.caterpillar])
def test_what_is_found_are_nodes_with_their_true_distances(geometry, shape):
    embedding = embedded(shape(60), geometry)
    found = approximate.build(embedding)
    for name in embedding:
        answer = found.neighbors(name, 5)
        others = [other for other, _ in answer]
        assert len(set(others)) == 5
        assert name not in others
        assert [far for _, far in answer] == sorted(embedding.distance(name, others).tolist())
    assert naive_recall(found, embedding, 5) > 0.99


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_the_stored_recall_is_the_true_one(geometry):
    embedding = embedded(trees.random_tree(400, 1), geometry, dim=8)
    found = approximate.build(embedding, links=4, recall=0.9)
    assert found.facts.sampled == 400
    assert found.facts.recall == pytest.approx(naive_recall(found, embedding), abs=1e-12)
    assert found.facts.recall >= 0.9


def test_nodes_with_more_children_than_links_are_searched_well(bushy, index):
    assert max(len(bushy.hierarchy.children_of(code)) for code in range(len(bushy))) > 2 * index.facts.links
    assert index.facts.recall >= 0.99
    assert naive_recall(index, bushy) == pytest.approx(index.facts.recall, abs=1e-12)


def test_answers_have_the_form_of_exact_ones(bushy, index):
    asked = ["n3", "n500", "n77"]
    assert index.neighbors(asked, 10) == [index.neighbors(name, 10) for name in asked]
    everyone = list(bushy)
    same = np.mean(
        [found == exact for found, exact in zip(index.neighbors(everyone), bushy.neighbors(everyone), strict=True)]
    )
    assert same > 0.9
    assert index.neighbors([]) == []
    assert len(index.neighbors("n3", 5000)) > 800
    with pytest.raises(InputError, match="no node named 'dog'"):
        index.neighbors("dog")
    for k in (0, 2.5, True):
        with pytest.raises(InputError, match="k must be a whole number of at least 1"):
            index.neighbors("n3", k)


def test_equal_points_are_found_in_the_order_of_their_codes():
    edges = trees.star(30)
    hierarchy = Hierarchy.from_codes([f"n{i}" for i in range(30)], edges.child, edges.parent)
    found = approximate.build(Embedding(np.zeros((30, 2)), hierarchy))
    assert found.facts.recall == 1
    answer = found.neighbors("n7", 4)
    assert [far for _, far in answer] == [0, 0, 0, 0]
    assert sorted(answer, key=lambda pair: int(str(pair[0])[1:])) == answer


def test_an_added_root_is_never_an_answer():
    hierarchy = Hierarchy.from_codes(
        ["a", "a1", "a2", "b", "b1", "<root>"], [0, 1, 2, 3, 4], [5, 0, 0, 5, 3], virtual_root=5
    )
    embedding = Embedding(np.linspace(-0.5, 0.5, 12).reshape(6, 2), hierarchy)
    found = approximate.build(embedding)
    assert found.facts.nodes == 5
    for name in embedding:
        assert found.neighbors(name) == embedding.neighbors(name)


def test_one_node_has_no_neighbors():
    alone = Embedding(np.zeros((1, 2)), Hierarchy.from_codes([("a", 1)], [], []))
    found = approximate.build(alone)
    assert found.facts.recall == 1
    assert found.neighbors(("a", 1)) == []


def test_the_search_is_widened_until_it_finds_enough():
    embedding = embedded(trees.random_tree(600, 2), dim=10, radius=3.0)
    narrow, wide = (approximate.build(embedding, links=4, recall=recall).facts for recall in (0.3, 0.97))
    assert narrow.expansion < wide.expansion
    assert narrow.recall < wide.recall


def test_what_cannot_be_reached_is_said_of_the_best_that_was_tried(monkeypatch):
    embedding = embedded(trees.random_tree(600, 2), dim=10, radius=3.0)
    monkeypatch.setattr(approximate, "_EXPANSIONS", (1,))
    reached = []
    for flatness in ((2,), (3,), (2, 3)):
        monkeypatch.setattr(approximate, "_FLATNESS", flatness)
        reached.append(approximate.build(embedding, links=2, recall=1.0, threads=1).facts)
    assert reached[2].recall == max(reached[0].recall, reached[1].recall) < 1
    assert "recall@10 1 could not be reached" in reached[2].warnings()[0]


def test_a_slow_index_says_so():
    facts = approximate.IndexFacts("", 1, 2, 2, 32, 0.9, 0.95, 10, microseconds=5.0, exact_microseconds=4.0)
    assert facts.warnings() == ["exact search, which needs no index, is faster for this model"]
    assert "recall@10 0.9500 on 10 nodes; 5 µs a node, exact search 4 µs" in facts.sentence()


@pytest.mark.parametrize(
    ("option", "value"), [("recall", 0.0), ("recall", 1.5), ("links", 1), ("links", 1000), ("seed", -1)]
)
def test_impossible_settings_are_refused(bushy, option, value):
    with pytest.raises(InputError, match=f"{option} must be"):
        approximate.build(bushy, **{option: value})


# ---- the file ----


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_a_saved_index_answers_as_before(geometry):
    embedding = embedded(trees.random_tree(300, 5), geometry)
    before = approximate.build(embedding)
    after = approximate.load(embedding, before.save("i.usearch"))
    assert after.facts == before.facts
    assert after.neighbors(list(embedding), 7) == before.neighbors(list(embedding), 7)
    again = approximate.load(embedding, after.save("i.usearch"))  # over the file that it is mapped from
    assert again.neighbors("n1") == before.neighbors("n1")


def test_an_index_of_other_vectors_is_refused(bushy, index):
    index.save("i.usearch")
    moved = bushy.vectors.copy()
    moved[5, 0] += 1e-15
    with pytest.raises(InputError, match="built from other vectors than the model has: build it again with"):
        approximate.load(Embedding(moved, bushy.hierarchy), "i.usearch")
    with pytest.raises(InputError, match="built from other vectors"):
        approximate.load(Embedding(bushy.vectors, bushy.hierarchy, "euclidean"), "i.usearch")


def test_files_that_are_no_index_are_refused(bushy, index, tmp_path):
    with pytest.raises(InputError, match=r"there is no index 'i\.usearch': build it with  treeball index MODEL"):
        approximate.load(bushy, "i.usearch")
    whole = index.save("i.usearch").read_bytes()
    for damaged in (b"", b"TREEBALL", bytes(8) + b"TREEBALL", b"\xff" * 8 + b"TREEBALL", whole[:-1], whole[-500:]):
        (tmp_path / "i.usearch").write_bytes(damaged)
        with pytest.raises(InputError, match="build it again with  treeball index MODEL"):
            approximate.load(bushy, "i.usearch")


def test_an_interruption_leaves_no_file(index, monkeypatch, tmp_path):
    def half(self, path):
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(Graph, "save", half)
    with pytest.raises(KeyboardInterrupt):
        index.save("i.usearch")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_in_usearch_is_an_interruption(monkeypatch):
    graph = Graph.build(np.arange(3), np.ones((3, 3)), 4, 2, 1)

    def says(message):
        def fail(*_, **__):
            raise RuntimeError(message)

        return fail

    monkeypatch.setattr(graph._index, "search", says("Operation has been terminated"))
    with pytest.raises(KeyboardInterrupt):
        graph.search(np.ones((1, 3)), 1, 1, 1)
    monkeypatch.setattr(graph._index, "search", says("out of memory"))
    with pytest.raises(RuntimeError, match="out of memory"):
        graph.search(np.ones((1, 3)), 1, 1, 1)


def test_a_search_keeps_its_width_while_another_thread_searches():
    graph = Graph.build(np.arange(3), np.ones((3, 3)), 4, 2, 1)
    started, widths = Event(), []

    class Slow:
        """Stands in for the index of usearch; notes how wide a search is when it is nearly done."""

        def search(self, rows, count, threads):
            started.set()
            sleep(0.1)  # another search that does not wait sets its own width meanwhile
            widths.append((count, self.expansion_search))
            return Matches()

    class Matches(list):
        keys = ()

    graph._index = Slow()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(graph.search, np.ones((1, 3)), 1, 64, 1)
        started.wait()
        second = pool.submit(graph.search, np.ones((1, 3)), 2, 128, 1)
        first.result(), second.result()
    assert widths == [(1, 64), (2, 128)]


def test_without_usearch_its_extra_is_named(bushy, index, monkeypatch):
    index.save("i.usearch")
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    for work in (lambda: approximate.build(bushy), lambda: approximate.load(bushy, "i.usearch")):
        with pytest.raises(MissingExtraError, match=r"pip install 'treeball\[ann\]'"):
            work()


def test_usearch_itself_opens_an_export(bushy):
    from usearch.index import CompiledMetric, Index, MetricKind, MetricSignature

    done = bushy.export("v.usearch")
    assert (done.format, done.coordinates, done.count, done.width) == ("usearch", "ball", 900, 6)
    assert "recall@10" in done.notes[0]
    assert "keys are rows of the model" in done.notes[0]
    metric = CompiledMetric(c_function(0).address, MetricKind.Unknown, MetricSignature.ArrayArraySize)
    opened = Index(ndim=6, metric=metric, dtype="f64", path="v.usearch")
    opened.metric = metric
    opened.expansion_search = 64
    assert len(opened) == 900
    for code in (5, 300):
        nearest = opened.search(row_of(bushy.vectors[code]), 2)
        assert nearest.keys[0] == code
        assert bushy.names[int(nearest.keys[1])] == bushy.parent_of(bushy.names[code])
        assert nearest.distances[1] == pytest.approx(
            np.sinh(bushy.neighbors(bushy.names[code], 1)[0][1] / 2) ** 2, rel=1e-5
        )
    for options in ({"coordinates": "tangent"}, {"dtype": "float32"}, {"added_root": True}):
        with pytest.raises(InputError, match="an index holds ball coordinates in float64"):
            bushy.export("v.usearch", **options)


# ---- the command line ----


@pytest.fixture
def model(bushy):
    bushy.save("m.parquet")
    return "m.parquet"


def test_an_index_is_built_and_asked(model, capsys, bushy):
    assert run(["index", model, "--json", "--threads", "1"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["path"] == "m.usearch"
    assert record["recall"] >= 0.99
    assert record["nodes"] == 900
    assert run(["neighbors", model, "n5", "n0", "-k", "3", "--index", "--json"]) == 0
    out, err = capsys.readouterr()
    found = approximate.load(bushy, "m.usearch")
    for line, name in zip(out.splitlines(), ["n5", "n0"], strict=True):
        expected = [{"node": other, "distance": far} for other, far in found.neighbors(name, 3)]
        assert json.loads(line) == {"node": name, "neighbors": expected}
    assert f"recall@10 {record['recall']:.4f} on 900 nodes" in err


def test_neighbors_build_a_missing_index_once(model, capsys):
    assert run(["neighbors", model, "n5", "--index"]) == 0
    assert "building the index m.usearch, once" in capsys.readouterr().err
    assert run(["neighbors", model, "n5", "--index"]) == 0
    out, err = capsys.readouterr()
    assert "nearest to n5" in out
    assert "building" not in err


def test_a_bad_number_is_refused_before_an_index_is_built(model, capsys, tmp_path):
    assert run(["neighbors", model, "n5", "--index", "-k", "0"]) == 2
    assert "k must be a whole number of at least 1, not 0" in capsys.readouterr().err
    assert run(["index", model, "--seed", "-1"]) == 2
    assert "seed must be a whole number of at least 0, not -1" in capsys.readouterr().err
    assert not (tmp_path / "m.usearch").exists()


def test_a_table_says_how_good_the_index_is(model, capsys):
    assert run(["index", model, "--recall", "0.5"]) == 0
    out, err = capsys.readouterr()
    assert "on 900 nodes, wanted 0.5" in out
    assert "saved m.usearch" in err


def test_a_stale_index_is_refused_on_the_command_line(model, capsys, bushy):
    approximate.build(embedded(trees.chain(20))).save("m.usearch")
    assert run(["neighbors", model, "n5", "--index"]) == 2
    assert "was built from other vectors than the model has" in capsys.readouterr().err
    assert run(["index", model]) == 0
    assert run(["neighbors", model, "n5", "--index"]) == 0
    assert run(["neighbors", model, "n5", "--index", "--from", "hierarchy"]) == 2
    assert "--index searches by the distances of the geometry" in capsys.readouterr().err


def test_an_index_is_exported(model, capsys):
    assert run(["export", model, "-o", "x.usearch", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == "usearch"
