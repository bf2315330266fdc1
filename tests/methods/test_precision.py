"""Coordinates of several terms from end to end: every parent nearest, and ranks exact, where float64 has ended."""

from __future__ import annotations

import mpmath
import numpy as np
import pyarrow.parquet as pq
import pytest

import treeball
from tests import trees
from treeball.embedding import Embedding
from treeball.errors import InputError
from treeball.evaluation import ranking
from treeball.geometry import half_space
from treeball.io.model_columns import rows_of
from treeball.methods import sarkar
from treeball.methods.construct import construct

mpmath.mp.dps = 100


def tall_tree(n: int = 150) -> treeball.Hierarchy:
    """A thick trunk: every node hangs below one of the last four, so that the plane has no room for it in float64."""
    rng = np.random.default_rng(1)
    parents = [int(rng.integers(max(0, i - 4), i)) for i in range(1, n)]
    edges = trees.from_parents(parents)
    return treeball.Hierarchy.from_codes([f"n{i}" for i in range(n)], edges.child, edges.parent)


@pytest.fixture(scope="module")
def tall() -> Embedding:
    return treeball.fit(tall_tree(), dim=2, method="construct", precision=4)


def exact_distances(points):
    """All distances (n, n) in 100 digits."""
    n = points.shape[1]
    numbers = [[sum(mpmath.mpf(float(t)) for t in points[:, i, k]) for k in range(points.shape[2])] for i in range(n)]
    found = [[mpmath.mpf(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i):
            square = sum((a - b) ** 2 for a, b in zip(numbers[i], numbers[j], strict=True))
            found[i][j] = found[j][i] = square / (numbers[i][-1] * numbers[j][-1])
    return found


@pytest.mark.parametrize("terms", [2, 4])
def test_ranks_are_those_of_100_digits_where_float64_fails(terms):
    hierarchy = tall_tree(90)
    points = sarkar.construct(hierarchy, 2, terms=terms).vectors
    vectors, held = half_space.rounded_to_ball(points)
    assert held > 0
    embedding = Embedding(vectors, hierarchy, precise=points)
    exact = exact_distances(points)
    scores = embedding.evaluate()
    ranking, hair = scores.ranking, mpmath.mpf("1e-12")
    tie = mpmath.mpf("1e-7")  # what is farther by one part in 10^9 ties, and squares of long distances are far apart
    columns = np.stack([ranking.sources, ranking.positive_idx, ranking.ranks], axis=1)
    for source, parent, rank in columns.tolist():
        limit = exact[source][parent]
        others = [exact[source][x] for x in range(90) if x not in (source, parent)]
        nearer, near = sum(x < limit * (1 - hair) for x in others), sum(x < limit * (1 + tie) for x in others)
        assert nearer + 1 <= rank <= near + 1
    assert embedding.rounded().evaluate().map < scores.map
    codes = np.arange(90)
    far = embedding.distances_between(codes[:, None], codes)
    right = [[float(2 * mpmath.asinh(mpmath.sqrt(exact[i][j]) / 2)) for j in range(90)] for i in range(90)]
    np.testing.assert_allclose(far, right, rtol=1e-14)
    for node in (3, 50):
        order = sorted((x for x in range(90) if x != node), key=lambda x: exact[node][x])
        found = treeball.nearest.nearest_nodes(embedding, np.array([node]), 5)[0]
        np.testing.assert_allclose(far[node, found], far[node, order[:5]], rtol=1e-12)


def test_more_terms_leave_nobody_ill_where_one_does(tall):
    hierarchy = tall.hierarchy
    assert construct(hierarchy, 2).ill_share > 0
    assert tall.precision == 4
    scores = tall.evaluate()
    assert (scores.map, len(scores.illness)) == (1.0, 0)
    assert scores.certificate is not None
    assert scores.max_radius > 40
    assert tall.rounded().evaluate().map < 1.0
    for name in ("n5", "n80", "n149"):
        parent = hierarchy.names[hierarchy.primary_parent[hierarchy.names.find(name)]]
        assert tall.parent_of(name) == parent
        assert tall.neighbors(name, 1)[0][0] == parent
        assert tall.neighbors(name, 1, within=parent)[0][0] == parent
        assert tall.is_ancestor(parent, name)
        assert tall.distance(name, parent) == pytest.approx(dict(tall.neighbors(name, 9))[parent], rel=1e-12)
    assert tall.read_back().n_edges == hierarchy.n_edges
    assert len(tall.neighbors("n80", 400)) == len(tall) - 1


def test_auto_takes_more_terms_where_they_cure_and_says_so():
    hierarchy = tall_tree()
    model = treeball.fit(hierarchy, dim=2)
    assert model.precision > 1
    assert len(model.evaluate().illness) == 0
    assert any("terms it is" in entry.text for entry in model.provenance.log)
    assert treeball.fit(hierarchy, dim=2, precision=1).precision == 1
    assert treeball.fit(hierarchy, dim=10).precision == 1


def test_the_file_keeps_all_terms_and_its_plain_column_the_rounded_vector(tall, tmp_path):
    path = tall.save(tmp_path / "tall.parquet")
    again = treeball.load(path)
    assert np.array_equal(again.precise, tall.precise)
    assert np.array_equal(rows_of(pq.read_table(path), "vector"), half_space.rounded_to_ball(tall.precise)[0])
    assert again.evaluate().to_dict() == tall.evaluate().to_dict()
    assert again.provenance.settings["precision"] == 4
    lost = treeball.verify(path)
    assert lost.sha256


def test_a_changed_term_is_found_by_the_hash(tall, tmp_path):
    path = tall.save(tmp_path / "tall.parquet")
    table = pq.read_table(path)
    place = table.column_names.index("half_space")
    rows = rows_of(table, "half_space").copy()
    rows[7, 1] = np.nextafter(rows[7, 1], 1.0)
    column = type(table["half_space"].combine_chunks()).from_arrays(rows.reshape(-1), rows.shape[1])
    pq.write_table(table.set_column(place, "half_space", column), path)
    with pytest.raises(InputError, match="damaged or changed"):
        treeball.load(path)


def test_an_export_is_rounded_and_says_what_it_loses(tall, tmp_path):
    done = tall.export(tmp_path / "plain.parquet")
    assert "coordinates of 4 terms are rounded to float64" in done.notes[0]
    plain = treeball.load(tmp_path / "plain.parquet")
    assert plain.precision == 1
    assert np.array_equal(plain.vectors, tall.vectors)
    assert plain.heal().after.map >= plain.evaluate().map


def test_what_is_not_built_for_terms_is_refused_in_a_sentence(tall):
    for attempt in (
        tall.heal,
        lambda: tall.insert([("new", "n3")]),
        lambda: treeball.fit(tall.hierarchy, method="poincare", precision=2),
        lambda: treeball.fit(tall.hierarchy, method="construct", precision=3),
        lambda: treeball.fit(tall.hierarchy, method="construct", precision=2, heal=True),
        lambda: treeball.fit(tall.hierarchy, method="sarkar", precision=2, max_radius=20.0),
        lambda: Embedding(tall.vectors, tall.hierarchy, precise=tall.precise[:, :5]),
        lambda: Embedding(tall.vectors, tall.hierarchy, precise=-tall.precise),
    ):
        with pytest.raises(InputError):
            attempt()


def test_who_takes_rounded_vectors_is_told(tall):
    torch_door = pytest.importorskip("treeball.torch")
    from treeball.sklearn import HierarchyEmbedder

    with pytest.warns(UserWarning, match="PyTorch takes vectors rounded to float64, and not the 4 terms"):
        torch_door.HyperbolicEmbedding.from_model(tall)
    embedder = HierarchyEmbedder(hierarchy=tall.hierarchy, method="construct", dim=2, settings={"precision": 2})
    with pytest.warns(UserWarning, match="scikit-learn takes vectors rounded to float64, and not the 2 terms"):
        embedder.fit([["n3"]]).transform([["n3"]])


def test_a_card_that_was_asked_for_is_not_left_out_in_silence(tall):
    coordinates, factor = tall.ranking_coordinates()
    with pytest.warns(UserWarning, match="compared by the processor, not by the card"):
        ranking.rank(coordinates, factor, tall.hierarchy, "parents", space=tall.space, device="cuda")


@pytest.mark.parametrize("method", ["construct", "sarkar"])
def test_distances_are_drawn_with_several_terms(method, tmp_path):
    model = treeball.fit(tall_tree(60), dim=3, method=method, objective="distances", precision=2)
    assert (model.precision, model.geometry) == (2, "half-space")
    again = treeball.load(model.save(tmp_path / "m.parquet"))
    nodes = np.arange(60)
    assert np.array_equal(
        again.distances_between(nodes[:, None], nodes), model.distances_between(nodes[:, None], nodes)
    )
    single = treeball.fit(tall_tree(60), dim=3, method=method, objective="distances")
    worst = [np.ptp(np.log(one.distances_between(*edges_of(one)))) for one in (single, model)]
    assert worst[1] <= worst[0] + 1e-6  # longer edges come from a fit, which ends where rounding lets it


def edges_of(model):
    child, parent = model.hierarchy.edges()
    return child, parent


@pytest.mark.parametrize("dim", [2, 3])
def test_sarkar_with_terms_is_sarkar_where_float64_reaches(dim):
    edges = trees.balanced(3, 3)
    hierarchy = treeball.Hierarchy.from_codes([str(i) for i in range(edges.n)], edges.child, edges.parent)
    plain = sarkar.construct(hierarchy, dim, scale=3.0)
    precise = sarkar.construct(hierarchy, dim, scale=3.0, terms=2)
    nodes = np.arange(edges.n)
    expected = Embedding(plain.vectors, hierarchy).distances_between(nodes[:, None], nodes)
    rounded = half_space.rounded_to_ball(precise.vectors)[0]
    found = Embedding(rounded, hierarchy, precise=precise.vectors).distances_between(nodes[:, None], nodes)
    if dim == 2:  # in more dimensions a fan may be turned about the way back
        np.testing.assert_allclose(found, expected, atol=1e-9)
    child, parent = edges.child, edges.parent
    np.testing.assert_allclose(found[child, parent], 3.0, rtol=1e-12)
    assert precise.bits_available == 106


def test_a_model_of_several_terms_serves_reports_and_pages(tall, tmp_path):
    from treeball.service.mapped import open_mapped, write_mapped

    assert tall.search_tree.nearest(np.array([3]), 1)[0].shape == (1, 1)
    write_mapped(tall, tmp_path)
    mapped = open_mapped(tmp_path)
    assert mapped.neighbors("n80", 3) == tall.neighbors("n80", 3)
    assert tall.diagnose().to_dict()


def test_what_rounding_loses_is_said_to_be_of_a_sample_where_it_is():
    from treeball.io.vectors import precision

    for nodes, sampled in ((60, False), (precision.SAMPLE + 60, True)):
        model = treeball.fit([(f"n{i}", f"n{i // 3}") for i in range(1, nodes)], dim=2, precision=2)
        said = precision.rounding_sentence(model, model.rounded())
        assert (f"of a sample of {precision.SAMPLE:,} nodes" in said) is sampled
