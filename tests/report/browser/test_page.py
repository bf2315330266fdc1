"""What the page is made of, without a browser: the layout, the measurements, the packing, the file."""

from __future__ import annotations

import base64
import json
import re
import zlib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeball
from tests import trees
from treeball.engine.cpu.plane_layout import count_leaves, squared_cosh
from treeball.errors import InputError
from treeball.geometry import poincare
from treeball.report.browser import make_page, packing
from treeball.report.browser.companion import companion, sampled_map
from treeball.report.browser.facts import measure
from treeball.report.browser.order import level_order
from treeball.report.browser.places import Places, places_of_vectors
from treeball.report.table import read_column


def hierarchy_of(edges: trees.Edges) -> treeball.Hierarchy:
    return treeball.Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent)


def seen_from(source: int, parent: np.ndarray, places: Places) -> tuple[np.ndarray, np.ndarray]:
    """Points in the disk with `source` in the middle, and distances from it."""
    frame = np.empty((parent.size, 4))
    squared_cosh(source, parent, places.angle / 2, np.cosh(places.length / 2), np.sinh(places.length / 2), frame)
    a, b = frame[:, 0] + 1j * frame[:, 1], frame[:, 2] + 1j * frame[:, 3]
    z = b / np.conj(a)
    return np.stack([z.real, z.imag], axis=1), 2 * np.arccosh(np.maximum(np.abs(a), 1.0))


# ---- layout ----


@given(trees.trees())
def test_level_order_puts_children_side_by_side(edges: trees.Edges) -> None:
    hierarchy = hierarchy_of(edges)
    order = level_order(hierarchy)
    assert sorted(order.code) == list(range(edges.n))
    assert (order.position[order.code] == np.arange(edges.n)).all()
    for i in range(edges.n):
        children = order.code[order.first[i] : order.first[i + 1]]
        assert children.tolist() == hierarchy.children_of(int(order.code[i])).tolist()
        assert (order.parent[order.first[i] : order.first[i + 1]] == i).all()
    leaves = count_leaves(order.parent)
    assert leaves[0] == max(1, (np.diff(order.first) == 0).sum())


def test_places_give_back_the_distances_of_vectors() -> None:
    hierarchy = hierarchy_of(trees.random_tree(300, 1))
    rng = np.random.default_rng(2)
    vectors = poincare.from_radius(rng.normal(size=(300, 2)), rng.uniform(0, 8, 300))
    for geometry in ("poincare", "lorentz"):
        points = vectors if geometry == "poincare" else poincare.to_hyperboloid(vectors)
        embedding = treeball.Embedding(points, hierarchy, geometry)
        places = places_of_vectors(embedding)
        order = level_order(hierarchy, places.angle)
        own = Places(places.angle[order.code], places.length[order.code])
        for source in (0, 7, 299):
            shown, far = seen_from(source, order.parent, own)
            at = vectors[order.code[source]]
            np.testing.assert_allclose(far, poincare.distance(at, vectors[order.code]), rtol=1e-6, atol=1e-6)
            # The picture is not mirrored: angles between nodes are those seen from the source.
            real = poincare.recentre(vectors[order.code], at)
            turn = (shown[:, 0] + 1j * shown[:, 1]) * (real[:, 0] - 1j * real[:, 1])
            some = np.abs(turn) > 0.1
            turn = turn[some] / np.abs(turn[some])
            assert np.abs(turn - turn[0]).max() < 1e-5


@pytest.mark.parametrize(
    "edges", [trees.balanced(3, 4), trees.random_tree(400, 3), trees.star(60), trees.caterpillar(40)]
)
def test_companion_is_planar_and_its_map_is_right(edges: trees.Edges) -> None:
    hierarchy = hierarchy_of(edges)
    order = level_order(hierarchy)
    places = companion(order)
    assert places.length[1:].min() > 0.5
    points, far = seen_from(0, order.parent, places)
    assert far.max() < 30
    # Subtrees of the root lie in sectors of their own.
    angle = np.arctan2(points[:, 1], points[:, 0])
    top = np.arange(edges.n)
    for i in range(1, edges.n):
        top[i] = i if order.parent[i] == 0 else top[order.parent[i]]
    spans = []
    for first in range(order.first[0], order.first[1]):
        turned = np.angle(np.exp(1j * (angle[top == first] - angle[first])))
        spans.append((angle[first] + turned.min(), angle[first] + turned.max()))
    spans.sort()
    assert all(before[1] < after[0] for before, after in pairwise(spans))
    score, sample = sampled_map(places, order, hierarchy, "parents")
    assert sample == edges.n - 1
    between = poincare.distance(points[:, None], points[None])
    to_parent = between[np.arange(1, edges.n), order.parent[1:]]
    # Equal lengths are common, and count against the parent: itself, the parent and whoever else is as close.
    closer = (between[1:] <= to_parent[:, None] + 1e-6).sum(axis=1) - 2
    assert score == pytest.approx((1 / (1 + closer)).mean(), abs=1e-3)


def test_companion_of_a_deep_tree_stays_finite() -> None:
    order = level_order(hierarchy_of(trees.chain(2_000)))
    places = companion(order)
    assert np.isfinite(places.length).all()
    assert places.length.sum() > 1_000


# ---- measurements ----


def test_facts_are_those_of_the_embedding() -> None:
    embedding = treeball.fit("example:mammals", method="poincare", dim=4, epochs=20, seed=1, deterministic=True)
    facts = measure(embedding)
    names = embedding.names
    assert facts.nearest is not None
    assert facts.nearest_distance is not None
    for code in (0, 5, 700):
        expected = embedding.neighbors(names[code], 5)
        assert names.take(facts.nearest[code]) == [name for name, _ in expected]
        np.testing.assert_allclose(facts.nearest_distance[code], [distance for _, distance in expected])
    illness = embedding.evaluate().illness
    assert facts.ill_node.size == len(illness)
    assert set(np.flatnonzero(facts.margin <= 0)) == set(illness.node.tolist())
    deficit = facts.ill_offender_distance - facts.ill_distance
    assert (np.diff(deficit) >= 0).all()
    assert np.isnan(facts.parent_distance).sum() == 1


def test_an_added_root_is_nobodys_neighbour() -> None:
    embedding = treeball.fit([("a", "x"), ("b", "x"), ("c", "y")], method="poincare", dim=2, epochs=3, seed=0)
    root = embedding.hierarchy.virtual_root
    facts = measure(embedding)
    assert root is not None
    assert facts.nearest is not None
    assert not (facts.nearest == root).any()
    for code, name in enumerate(embedding.names):
        found = [other for other in facts.nearest[code] if other >= 0]
        assert embedding.names.take(found) == [other for other, _ in embedding.neighbors(name, 5)]


# ---- packing ----


def read_varints(raw: bytes) -> list[int]:
    values, value, shift = [], 0, 0
    for byte in raw:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            values.append(value)
            value = shift = 0
    return values


@given(st.lists(st.integers(0, 2**31 - 1)))
def test_varints(values: list[int]) -> None:
    assert read_varints(packing.varints(values)) == values


@given(st.lists(st.integers(-(2**30), 2**30)))
def test_signed_varints(values: list[int]) -> None:
    assert [(value >> 1) ^ -(value & 1) for value in read_varints(packing.signed_varints(values))] == values


def test_floats_keep_what_is_shown() -> None:
    values = np.array([0.0, 1.0, -2.34567, 1e-9, 33.3333, np.nan, np.inf])
    rounded = packing.for_reading(values)
    np.testing.assert_allclose(rounded, values, rtol=1.3e-4)
    raw = np.frombuffer(packing.float_planes(values, np.float64), np.uint8)
    np.testing.assert_array_equal(raw.reshape(8, -1).T.copy().view(np.float64).ravel(), values)


# ---- the file ----


def section(page: str, name: str) -> bytes:
    found = re.search(f'id="data-{name}">([^<]*)</script>', page)
    assert found
    return zlib.decompress(base64.b64decode(found[1]))


def test_the_same_model_gives_the_same_page_and_it_holds_everything() -> None:
    embedding = treeball.fit("example:mammals", method="poincare", dim=3, epochs=3, seed=0, deterministic=True)
    page = make_page(embedding, title="Tom & <Jerry>")
    assert page == make_page(embedding, title="Tom & <Jerry>")
    assert "Tom &amp; &lt;Jerry&gt;" in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page
    found = re.search(r'id="summary">(.*?)</script>', page)
    assert found
    summary = json.loads(found[1])
    assert summary["title"] == "Tom & <Jerry>"
    assert summary["nodes"] == 1182
    assert summary["picture"]["sample"] == 1000
    assert sorted(section(page, "names").decode().split("\n")) == sorted(map(str, embedding.names))
    assert sum(read_varints(section(page, "children"))) == 1181


def test_labels_are_what_is_shown_and_ids_are_in_the_page_too(tmp_path: Path) -> None:
    labels = ["Shop", "Music", None]
    hierarchy = treeball.Hierarchy.from_codes(["i0", "i1", "i2"], [1, 2], [0, 0], labels=labels)
    page = make_page(treeball.fit(hierarchy, dim=2), title="shop")
    shown, ids = (section(page, name).decode().split("\n") for name in ("names", "ids"))
    assert dict(zip(ids, shown, strict=True)) == {"i0": "Shop", "i1": "Music", "i2": "i2"}
    bare = treeball.Hierarchy.from_codes(["i0", "i1", "i2"], [1, 2], [0, 0])
    assert 'id="data-ids"' not in make_page(treeball.fit(bare, dim=2), title="bare")
    for key in ("i1", "Music"):
        (tmp_path / "t.csv").write_text(f"node,price\n{key},3\n")
        assert read_column(tmp_path / "t.csv", "price", hierarchy).values[1] == 3.0


def test_one_node_makes_a_page() -> None:
    embedding = treeball.Embedding(np.zeros((1, 2)), treeball.Hierarchy.from_codes(["alone"], [], []))
    assert "alone" in section(make_page(embedding, title="one"), "names").decode()


# ---- tables ----


@pytest.fixture
def animals() -> treeball.Hierarchy:
    return treeball.read([("dog", "mammal"), ("cat", "mammal"), ("mammal", "animal")])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "name,size\ndog,3\ncat,1.5\n"),
        ("t.tsv", "name\tsize\ndog\t3\ncat\t1.5\n"),
        ("t", "name;size\ndog;3\ncat;1.5\n"),
    ],
)
def test_tables_of_numbers(animals: treeball.Hierarchy, tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    column = read_column(path, None, animals)
    assert column.name == "size"
    assert column.matched == 2
    assert column.values[animals.names.index_of("dog")] == 3
    assert np.isnan(column.values[animals.names.index_of("animal")])


def test_tables_of_words(animals: treeball.Hierarchy, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    table = pa.table({"name": ["dog", "cat", "animal"], "wild": pa.array(["no", "no", "yes"]).dictionary_encode()})
    pq.write_table(table, path)
    column = read_column(path, "wild", animals)
    assert column.categories == ("no", "yes")
    assert column.values[animals.names.index_of("animal")] == 1


def test_tables_that_cannot_be_used(animals: treeball.Hierarchy, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for text, column, words in [
        ("name,size\ndog,3\n", "weight", "has no column 'weight'"),
        ("id,size\n17,3\n", "size", "names none of the nodes"),
        ("name\ndog\n", None, "has 1 column"),
        ("", None, "cannot be read"),
    ]:
        path.write_text(text)
        with pytest.raises(InputError, match=words):
            read_column(path, column, animals)
    with pytest.raises(InputError, match="there is no file"):
        read_column(tmp_path / "absent.csv", None, animals)
