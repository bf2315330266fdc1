"""Scores and illness against a naive implementation written from the definitions, on random trees and DAGs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeball
from tests import trees
from treeball import Embedding, Hierarchy, evaluate
from treeball.cli.evaluate import evaluate as evaluate_command
from treeball.evaluation import Certificate, ranking
from treeball.evaluation.illness import KINDS
from treeball.geometry import euclidean, poincare
from treeball.geometry.models import ball_to_hyperboloid
from treeball.geometry.spaces import space_of
from treeball.types import Objective

SPACES = {"poincare": poincare, "euclidean": euclidean}


def hierarchy_of(edges):
    return Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent)


def random_embedding(edges, geometry, dim, seed, coarse=False):
    """Points in the ball of norm 0.9; `coarse` puts them on a grid so that distances tie."""
    points = np.random.default_rng(seed).uniform(-0.9, 0.9, (edges.n, dim)) / np.sqrt(dim)
    if coarse:
        points = np.round(points * 4) / 5
    return Embedding(points, hierarchy_of(edges), geometry)


def naive_scores(edges, distances, objective):
    """Definition 1 and DESIGN's MAP, MR and hits@1, word for word; ties are ties up to one part in 10^9."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(edges.n))
    graph.add_edges_from(edges.pairs)  # child -> parent
    precisions, ranks, hits, ill = [], [], [], []
    for a in range(edges.n):
        positives = set(graph.successors(a)) if objective == "parents" else nx.descendants(graph, a)
        if not positives:
            continue
        others = [v for v in range(edges.n) if v != a]
        negatives = [v for v in others if v not in positives]
        found = []
        for i, b in enumerate(sorted(positives, key=lambda v: distances[a, v]), start=1):
            closer = sum(distances[a, v] <= distances[a, b] * (1 + 1e-9) for v in negatives)
            ranks.append(1 + closer)
            found.append(i / (i + closer))
            if closer:
                nearest = min(distances[a, v] for v in negatives)
                ill.append((a, b, {v for v in negatives if distances[a, v] <= nearest * (1 + 1e-12)}))
        precisions.append(np.mean(found))
        hits.append(all(min(distances[a, b] for b in positives) * (1 + 1e-9) < distances[a, v] for v in negatives))
    return np.mean(precisions), np.mean(ranks), np.mean(hits), ill, graph


def kind_of(graph, b, offender):
    if graph.has_edge(offender, b):
        return "capacity"
    return "intra_subtree" if nx.has_path(graph, offender, b) else "inter_subtree"


@pytest.mark.parametrize("geometry", ["poincare", "euclidean"])
@given(
    edges=st.one_of(trees.trees(), trees.dags()),
    dim=st.integers(2, 4),
    seed=st.integers(0, 99),
    objective=st.sampled_from(["parents", "ancestors"]),
    coarse=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_scores_equal_the_naive_ones(geometry, edges, dim, seed, objective, coarse):
    if edges.n < 2:
        return
    embedding = random_embedding(edges, geometry, dim, seed, coarse)
    nodes = np.arange(edges.n)
    distances = embedding.distances_between(nodes[:, None], nodes)
    mean_precision, mean_rank, hits, ill, graph = naive_scores(edges, distances, objective)
    result = evaluate(embedding, objective, threads=2)
    assert result.map == pytest.approx(mean_precision, rel=1e-12)
    assert result.mean_rank == pytest.approx(mean_rank, rel=1e-12)
    assert result.hits_at_1 == pytest.approx(hits, rel=1e-12)

    illness = result.illness
    got = {
        (int(a), int(b)): (int(o), KINDS[k])
        for a, b, o, k in zip(illness.node, illness.positive, illness.offender, illness.kind, strict=True)
    }
    assert set(got) == {(a, b) for a, b, _ in ill}
    for a, b, nearest in ill:
        offender, kind = got[a, b]
        assert offender in nearest
        assert kind == kind_of(graph, b, offender)
    assert sum(illness.counts().values()) == len(ill)


@pytest.mark.parametrize("geometry", ["poincare", "euclidean", "lorentz"])
def test_ranking_coordinates_order_like_the_distance(geometry):
    edges = trees.random_tree(60, 3)
    embedding = random_embedding(edges, "poincare", 3, 5)
    distances = poincare.distance(embedding.vectors[:, None], embedding.vectors[None])
    if geometry == "euclidean":
        embedding = Embedding(embedding.vectors, embedding.hierarchy, "euclidean")
        distances = euclidean.distance(embedding.vectors[:, None], embedding.vectors[None])
    if geometry == "lorentz":
        embedding = Embedding(ball_to_hyperboloid(embedding.vectors), embedding.hierarchy, "lorentz")
    x, factor = embedding.ranking_coordinates()
    keys = np.square(x[:, None] - x[None]).sum(axis=-1) * factor[None]
    assert np.array_equal(np.argsort(keys, axis=1), np.argsort(distances, axis=1))


def test_more_nodes_than_a_block():
    edges = trees.preferential(700, 1)
    embedding = random_embedding(edges, "poincare", 5, 2)
    x, factor = embedding.ranking_coordinates()
    distances = np.square(x[:, None] - x[None]).sum(axis=-1) * factor[None]
    mean_precision, mean_rank, hits, ill, _ = naive_scores(edges, distances, "parents")
    result = evaluate(embedding)
    assert result.map == pytest.approx(mean_precision, rel=1e-12)
    assert result.mean_rank == pytest.approx(mean_rank, rel=1e-12)
    assert result.hits_at_1 == pytest.approx(hits, rel=1e-12)
    assert len(result.illness) == len(ill)


def test_a_perfect_star_scores_one_and_a_tie_counts_against_us():
    edges = trees.star(4)
    corners = np.array([[0, 0], [0.9, 0], [-0.45, 0.78], [-0.45, -0.78]])
    perfect = evaluate(Embedding(corners, hierarchy_of(edges)))
    assert (perfect.map, perfect.mean_rank, perfect.hits_at_1) == (1.0, 1.0, 1.0)
    assert perfect.illness.counts() == dict.fromkeys(KINDS, 0)
    tied = evaluate(Embedding(np.array([[0.5, 0], [0, 0.0], [-0.5, 0.0], [0.5, 0.0]]), hierarchy_of(edges)))
    # From node 1 at the origin the root, 2 and 3 are all at the same distance: rank 3, not 1.
    assert tied.ranking.ranks[0] == 3


@pytest.mark.parametrize("geometry", ["poincare", "lorentz", "euclidean"])
@pytest.mark.parametrize("radius", [1e-3, 1.0, 12.0])
@pytest.mark.parametrize(("farther", "rank"), [(0.5e-9, 2), (4e-9, 1)])
def test_what_is_farther_by_less_than_a_billionth_ties(geometry, radius, farther, rank):
    """A node at the origin, its parent and a stranger on either side of it."""
    space = space_of(geometry)
    ways = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])
    lengths = np.array([radius, radius * (1 + farther), 0.0])
    points = (
        ways * lengths[:, None] if geometry == "euclidean" else space.from_ball(poincare.from_radius(ways, lengths))
    )
    hierarchy = Hierarchy.from_codes(["parent", "stranger", "node"], [1, 2], [0, 0])
    scores = Embedding(points, hierarchy, geometry).evaluate()
    assert scores.ranking.ranks.tolist()[1] == rank
    assert (2 in scores.illness.node) == (rank > 1)


def test_equal_edges_tie_whatever_rounding_says():
    """All edges of this construction are equally long: children of a node are as near to it as its parent is."""
    embedding = treeball.fit("example:mammals", method="sarkar", dim=5)
    nodes = np.arange(len(embedding))
    far = embedding.distances_between(nodes[:, None], nodes)
    parents = embedding.hierarchy.primary_parent
    expected = []
    for node in nodes[parents >= 0]:
        closer = far[node] <= far[node, parents[node]] * (1 + 1e-9)
        expected.append(1 / (closer.sum() - 1))  # but itself
    assert embedding.evaluate().map == pytest.approx(np.mean(expected), rel=1e-12)


def test_a_single_node_has_no_scores():
    result = evaluate(Embedding(np.zeros((1, 2)), Hierarchy.from_codes(["only"], [], [])))
    assert np.isnan(result.map)
    assert result.to_dict()["map"] is None


def test_sampling_estimates_the_exact_scores_within_its_interval():
    edges = trees.preferential(600, 4)
    embedding = random_embedding(edges, "poincare", 5, 8)
    exact = evaluate(embedding, "ancestors")
    assert exact.ranking.is_exact
    assert exact.ranking.intervals()["map"] == (exact.map, exact.map)
    assert exact.ranking.intervals()["mean_rank"] == (exact.mean_rank, exact.mean_rank)
    inside = {"map": 0, "mean_rank": 0, "hits_at_1": 0}
    for seed in range(100):
        sampled = evaluate(embedding, "ancestors", sample=150, seed=seed)
        assert not sampled.ranking.is_exact
        for name, (low, high) in sampled.ranking.intervals().items():
            assert low <= getattr(sampled, name) <= high
            inside[name] += low <= getattr(exact, name) <= high
    # 95 % intervals: 88 or fewer of 100 inside has a probability below 0.005.
    assert min(inside.values()) > 88, inside


def test_a_sample_without_a_failure_does_not_claim_certainty():
    corners = np.array([[np.cos(t), np.sin(t)] for t in np.arange(8) * np.pi / 4]) * 0.99
    star = Embedding(np.vstack([[0, 0], corners]), hierarchy_of(trees.star(9)))
    low, high = evaluate(star, sample=4).ranking.intervals()["map"]
    assert high == 1.0
    assert low < 0.8


def test_the_json_record_has_the_documented_keys():
    record = evaluate(random_embedding(trees.random_tree(20, 1), "poincare", 2, 0)).to_dict()
    assert list(record) == [
        "nodes", "edges", "dim", "objective", "map", "mean_rank", "hits_at_1", "illness", "max_radius",
    ]  # fmt: skip
    assert list(record["illness"]) == ["capacity", "intra_subtree", "inter_subtree"]


def perfect_star(leaves=8):
    turn = np.arange(leaves) * 2 * np.pi / leaves
    corners = np.stack([np.cos(turn), np.sin(turn)], axis=1) * 0.99
    return Embedding(np.vstack([[0.01, 0], corners]), hierarchy_of(trees.star(leaves + 1)))


@pytest.mark.parametrize("geometry", ["poincare", "lorentz", "euclidean"])
def test_the_margin_is_the_smallest_ratio_of_distances(geometry):
    cases: list[tuple[trees.Edges, Objective]] = [
        (trees.preferential(60, 1), "parents"),
        (trees.random_tree(40, 2), "ancestors"),
    ]
    for edges, objective in cases:
        embedding = random_embedding(edges, "euclidean" if geometry == "euclidean" else "poincare", 3, 4)
        if geometry == "lorentz":
            embedding = Embedding(ball_to_hyperboloid(embedding.vectors), embedding.hierarchy, "lorentz")
        ratios = []
        ptr, idx = embedding.hierarchy.positives(objective)
        for a in range(edges.n):
            positives = idx[ptr[a] : ptr[a + 1]]
            others = np.setdiff1d(np.arange(edges.n), [a, *positives])
            distances = embedding._distances_from(a)
            if positives.size and others.size:
                ratios.append(distances[others].min() / distances[positives].max())
        assert evaluate(embedding, objective).ranking.margin == pytest.approx(min(ratios), rel=1e-9)


def test_an_exact_evaluation_without_an_ill_pair_has_a_certificate(tmp_path, capsys):
    embedding = perfect_star()
    result = evaluate(embedding)
    certificate = result.certificate
    distances = np.array([embedding._distances_from(a) for a in range(9)])
    siblings = distances[1:, 1:] + np.where(np.eye(8), np.inf, 0)
    assert certificate.pairs == 8 * 8
    assert certificate.margin == pytest.approx((siblings.min(axis=1) / distances[1:, 0]).min(), rel=1e-12)
    assert result.to_dict()["certificate"] == {"pairs": 64, "margin": certificate.margin}
    assert evaluate_command(embedding.save(tmp_path / "star.parquet")) == 0
    assert capsys.readouterr().out.splitlines()[-1] == certificate.sentence()


def test_no_certificate_for_a_sample_an_ill_pair_or_a_single_node():
    star = perfect_star()
    assert evaluate(star, sample=4).certificate is None
    ill = np.array(star.vectors)
    ill[2] = ill[1]
    assert evaluate(Embedding(ill, star.hierarchy)).certificate is None
    assert evaluate(Embedding(ill, star.hierarchy)).ranking.margin < 1
    ill[1:3] = ill[0]  # a tie at distance 0
    assert evaluate(Embedding(ill, star.hierarchy)).ranking.margin <= 1
    assert evaluate(Embedding(np.zeros((1, 2)), Hierarchy.from_codes(["only"], [], []))).certificate is None


def test_a_certificate_without_a_runner_up():
    two = evaluate(Embedding(np.array([[0.0, 0], [0.5, 0]]), hierarchy_of(trees.star(2))))
    assert two.to_dict()["certificate"] == {"pairs": 1, "margin": None}
    assert two.certificate.sentence() == "every parent is the nearest node: verified exactly over 1 pair"


def test_the_sentence_rounds_down():
    sentence = Certificate(6_742_709_000, 1.0399).sentence()
    assert sentence == (
        "every parent is the nearest node: verified exactly over 6.7 billion pairs; "
        "the runner-up is at least 1.03 times as far"
    )
    assert "at least 1.0004 times" in Certificate(12_345, 1.00049).sentence()
    assert "over 12,345 pairs" in Certificate(12_345, 1.00049).sentence()
    ancestors = Certificate(7_000_000_000_000, 1.5, "ancestors").sentence()
    assert ancestors.startswith("every ancestor of every node is nearer than any other node: verified exactly over")
    assert "over 7.0 trillion pairs" in ancestors


def test_beyond_the_limit_all_nodes_are_ranked_only_where_a_search_tree_is_quick(monkeypatch):
    edges = trees.preferential(600, 4)
    embedding = random_embedding(edges, "poincare", 2, 8)
    monkeypatch.setattr(ranking, "EXACT_UP_TO_NODES", 500)
    monkeypatch.setattr(ranking, "DEFAULT_SAMPLE", 100)
    assert evaluate(embedding).ranking.sources.size == 100  # too few nodes for a tree
    monkeypatch.setattr(ranking, "_TREE_FROM_NODES", 0)
    monkeypatch.setattr(ranking, "_TREE_FROM_SOURCES", 0)
    monkeypatch.setattr(ranking, "_WORTHWHILE_SHARE", 2.0)
    assert evaluate(embedding).ranking.is_exact
    assert evaluate(embedding, "ancestors").ranking.sources.size == 100
    monkeypatch.setattr(ranking, "EXACT_SECONDS", 0.0)
    assert evaluate(embedding).ranking.sources.size == 100
    assert evaluate(embedding, sample=0).ranking.is_exact
    monkeypatch.setattr(ranking, "_WORTHWHILE_SHARE", 0.0)
    monkeypatch.setattr(ranking, "EXACT_SECONDS", 1e9)
    assert evaluate(embedding).ranking.sources.size == 100
