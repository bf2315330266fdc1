"""Algorithm 1: closure edges and their weights, local capacity against a naive count, dilation when it is lacking."""

from __future__ import annotations

from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeball
from tests import trees
from treeball import Embedding, FitSettings, Hierarchy
from treeball.embedding import Dilations, Provenance
from treeball.errors import InputError
from treeball.geometry import poincare
from treeball.geometry.capacity import lower_bound
from treeball.geometry.dilation import dilate_ball
from treeball.methods import dilating, geometry_aware
from treeball.methods._fit import fit
from treeball.methods.pairs import Pairs
from treeball.methods.sufficiency import Crowding, Sufficiency, crowding, sufficiency
from treeball.methods.training_settings import ClosureSettings, DilationSettings

COMMON = {"dim": 2, "epochs": 60, "burn_in": 5, "deterministic": True}
CLOSURE, DILATION = {"n_tc": 20}, {"dilation_from": 20, "dilation_limit": 1}
SETTINGS = {
    "poincare": COMMON,
    "ga-dl": COMMON | DILATION,
    "ga-rw": COMMON | CLOSURE,
    "ga-dl-rw": COMMON | CLOSURE | DILATION,
}


def ga(method, **changes):
    """Settings of a short geometry-aware run."""
    return FitSettings(**(SETTINGS[method] | {"method": method} | changes))


def hierarchy_of(edges, weights=None):
    return Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent, weights=weights)


BALANCED = hierarchy_of(trees.balanced(5, 3))  # the 156 nodes of the paper's figure


@given(edges=st.one_of(trees.trees(), trees.dags()), eta=st.floats(0.01, 1.0))
@pytest.mark.parametrize(
    ("objective", "reading", "in_data"),
    [("parents", "literal", 0), ("parents", "lowered", 0), ("ancestors", "literal", 1), ("ancestors", "lowered", 0)],
)
def test_weights_of_the_closure_follow_equation_5(edges, eta, objective, reading, in_data):
    """Literally, L + eta * sum over E_tc: a closure edge that L sums over already has weight 1 + eta."""
    hierarchy = hierarchy_of(edges)
    graph = nx.DiGraph(edges.pairs)
    graph.add_nodes_from(range(edges.n))
    settings = ClosureSettings(method="ga-rw", eta_tc=eta, objective=objective, closure_reading=reading)
    pairs = Pairs.with_closure(hierarchy, settings)
    got = {(int(a), int(b)): w for a, b, w in zip(pairs.heads, pairs.tails, pairs.weights, strict=True)}
    assert len(got) == pairs.heads.size
    expected = {(a, b): 1.0 if graph.has_edge(a, b) else in_data + eta for a in graph for b in nx.descendants(graph, a)}
    assert got == pytest.approx(expected)
    for node in graph:
        excluded = pairs.positive_idx[pairs.positive_ptr[node] : pairs.positive_ptr[node + 1]]
        assert set(excluded.tolist()) == nx.descendants(graph, node)


def test_the_reading_of_equation_5_is_refused_where_it_changes_nothing():
    with pytest.raises(InputError, match="closure_reading goes with objective ancestors, and objective is parents"):
        fit(BALANCED, ga("ga-rw", closure_reading="lowered"))
    with pytest.raises(InputError, match="closure_reading must be one of literal, lowered, not 'loud'"):
        ga("ga-rw", objective="ancestors", closure_reading="loud")


def test_weight_0_leaves_the_closure_out_and_edge_weights_stay():
    pairs = Pairs.with_closure(BALANCED, ClosureSettings(method="ga-rw", eta_tc=0.0))
    assert pairs.heads.size == BALANCED.n_edges
    ancestors = ClosureSettings(method="ga-rw", eta_tc=0.0, objective="ancestors")
    assert Pairs.with_closure(BALANCED, ancestors).heads.size == Pairs.of(BALANCED, ancestors).heads.size
    lowered = ancestors.replace(closure_reading="lowered")
    assert Pairs.with_closure(BALANCED, lowered).heads.size == BALANCED.n_edges
    chain = trees.chain(4)
    weighted = hierarchy_of(chain, np.array([1.0, 2.0, 3.0]))
    pairs = Pairs.with_closure(weighted, ClosureSettings(method="ga-rw", eta_tc=0.3, weighted=True))
    got = {(int(a), int(b)): w for a, b, w in zip(pairs.heads, pairs.tails, pairs.weights, strict=True)}
    assert got == pytest.approx({(1, 0): 0.5, (2, 1): 1.0, (3, 2): 1.5, (2, 0): 0.3, (3, 1): 0.3, (3, 0): 0.3})


@given(edges=trees.trees(), seed=st.integers(0, 50), dim=st.sampled_from([2, 3, 10, 17]))
def test_sufficiency_equals_the_naive_one(edges, seed, dim):
    if edges.n < 2:
        return
    hierarchy = hierarchy_of(edges)
    vectors = np.random.default_rng(seed).uniform(-0.9, 0.9, (edges.n, dim)) / np.sqrt(dim)
    found = sufficiency(vectors, hierarchy, threads=2)
    assert found.nodes.tolist() == sorted(set(edges.parent.tolist()))
    for node, k, radius, lacking in zip(found.nodes, found.children, found.radius, found.lacking, strict=True):
        assert k == np.count_nonzero(edges.parent == node)
        others = np.delete(poincare.distance(vectors[node], vectors), node)
        assert radius == pytest.approx(np.sort(others)[k - 1], rel=1e-9)
        assert lacking == (k > lower_bound(radius, dim))


def test_sufficiency_of_a_sample():
    vectors = np.random.default_rng(0).uniform(-0.5, 0.5, (156, 2))
    whole, part = sufficiency(vectors, BALANCED), sufficiency(vectors, BALANCED, sample=10)
    assert (whole.nodes.size, part.nodes.size, part.inner) == (31, 10, 31)
    assert set(part.nodes) <= set(whole.nodes)
    assert "of 10 sampled inner nodes have more children than the lower bound" in str(part)
    assert "of 31 inner nodes have more children than the lower bound" in str(whole)


def nearer_sibling(vectors, hierarchy, child, parent):
    """Whether a sibling, unless it is a parent too, is at least as near to the child as the parent."""
    rivals = set(hierarchy.children_of(parent).tolist()) - {child} - set(hierarchy.parents_of(child).tolist())
    distance = poincare.distance(vectors[child], vectors)
    return any(distance[rival] <= distance[parent] for rival in rivals)


@given(edges=st.one_of(trees.trees(), trees.dags()), seed=st.integers(0, 50), dim=st.sampled_from([2, 3, 10]))
def test_crowding_equals_the_naive_one(edges, seed, dim):
    hierarchy = hierarchy_of(edges)
    vectors = np.random.default_rng(seed).uniform(-0.9, 0.9, (hierarchy.n_nodes, dim)) / np.sqrt(dim)
    found = crowding(vectors, hierarchy, threads=2)
    assert found.pairs == found.crowded.size == hierarchy.n_edges
    for child, parent, crowded in zip(found.children, found.parents, found.crowded, strict=True):
        assert crowded == nearer_sibling(vectors, hierarchy, int(child), int(parent))


def test_crowding_looks_at_a_sample_where_siblings_are_many():
    star = hierarchy_of(trees.star(400))
    vectors = np.random.default_rng(0).uniform(-0.5, 0.5, (400, 2))
    whole, part = crowding(vectors, star, effort=1024), crowding(vectors, star, effort=40, seed=3)
    assert (whole.crowded.size, part.crowded.size, part.pairs) == (399, 40, 399)
    assert np.array_equal(part.crowded, whole.crowded[part.children - 1])
    assert np.array_equal(part.children, crowding(vectors, star, effort=40, seed=3, threads=2).children)
    assert not np.array_equal(part.children, crowding(vectors, star, effort=40, seed=4).children)
    assert "of 40 sampled children have a sibling nearer than their parent" in str(part)
    assert "of 399 children have" in str(whole)


def test_crowded_children_predict_capacity_illness_where_the_papers_rule_does_not():
    """Early and late in training, before and after a dilation, on a slim and on a bushy tree."""
    shares = []
    for tree in (BALANCED, hierarchy_of(trees.balanced(12, 2))):
        for dim, epochs, factor in product((2, 3, 5), (30, 100, 300), (1.0, 1.5, 2.5)):
            trained = fit(tree, method="poincare", dim=dim, epochs=epochs, burn_in=5, deterministic=True, seed=dim)
            vectors, _ = dilate_ball(trained.vectors, factor)
            ill = Embedding(vectors, tree, "poincare", trained.provenance).evaluate().illness.counts()["capacity"]
            shares.append((ill / tree.n_edges, crowding(vectors, tree).share, sufficiency(vectors, tree).share))
    ill, crowded, lacking = np.array(shares).T
    assert np.corrcoef(ill, crowded)[0, 1] > 0.95
    assert np.corrcoef(ill, lacking)[0, 1] < 0.75
    assert np.all(crowded >= ill)
    assert np.any((lacking == 0) & (ill > 0.5))


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("children", "of 155 children have a sibling nearer than their parent"),
        ("paper", "of 31 inner nodes have more children than the lower bound"),
    ],
)
def test_dilation_happens_where_capacity_lacks_and_is_logged(rule, found):
    embedding = fit(BALANCED, ga("ga-dl", sufficiency=rule))
    (entry,) = embedding.provenance.log
    assert entry.epoch == 20
    assert f"{found}; dilated by 1.5; radius" in entry.text
    before = fit(BALANCED, ga("ga-dl", epochs=20, sufficiency=rule, dilation_limit=0))
    assert before.provenance.log == ()
    assert float(entry.text.split("radius ")[1].split(" ")[0]) == pytest.approx(before.radii().max(), abs=0.05)


@pytest.mark.parametrize(
    ("rule", "dilated", "enough"), [("children", [30, 40, 50, 80], [60]), ("paper", [30, 80], [40])]
)
def test_dilating_goes_on_until_half_the_share(monkeypatch, rule, dilated, enough):
    """Shares about the threshold of 10 %: noise neither starts nor ends the dilating, but for the paper's rule."""
    percent = {20: 9, 30: 11, 40: 9, 50: 6, 60: 4, 70: 9, 80: 12, 90: 1}
    seen = iter(percent.values())

    def check(vectors, hierarchy, settings):
        some, codes = np.arange(100) < next(seen), np.arange(100, dtype=np.int32)
        if settings.sufficiency == "children":
            return Crowding(codes, codes, some, 100)
        return Sufficiency(codes.astype(np.int64), codes.astype(np.int64), np.ones(100), some, 100)

    monkeypatch.setattr(geometry_aware, "check", check)
    several = {"dilation_limit": 9, "dilation": 1.01, "dilation_share": 0.1, "epochs": 89}
    log = fit(BALANCED, ga("ga-dl", sufficiency=rule, **several)).provenance.log
    assert [entry.epoch for entry in log if "dilated" in entry.facts] == dilated
    assert [entry.epoch for entry in log if "sufficient" in entry.facts] == enough
    assert all("room enough" in entry.text for entry in log if entry.epoch in enough)


def test_dilation_obeys_its_settings():
    never = fit(BALANCED, ga("ga-dl", dilation_limit=0)).provenance.log
    content = fit(BALANCED, ga("ga-dl", dilation_share=1.0)).provenance.log
    late = fit(BALANCED, ga("ga-dl", dilation_from=37)).provenance.log
    several = fit(BALANCED, ga("ga-dl", dilation_limit=3, dilation=1.1)).provenance.log
    assert (never, content) == ((), ())
    assert late[0].epoch == 37
    assert [entry.epoch for entry in several] == [20, 30, 40]


def test_the_start_of_dilation_is_a_share_of_the_epochs():
    for epochs, first in ((100, 30), (60, 18), (7, 2)):
        settings = DilationSettings(method="ga-dl", epochs=epochs)
        assert (settings.dilation_from, settings.first_dilation) == (0.3, first)
    for start, epochs, first in ((0.29, 100, 29), (0, 50, 0), (1, 50, 1), (300, 1000, 300), (40.0, 100, 40)):
        assert DilationSettings(method="ga-dl", epochs=epochs, dilation_from=start).first_dilation == first
    recorded = DilationSettings(method="ga-dl", dilation_from=300.0).to_dict()["dilation_from"]
    assert (recorded, type(recorded)) == (300, int)
    for wrong in (-1, 1.5, "early", np.nan, True):
        with pytest.raises(InputError, match="dilation_from must be a share of the epochs"):
            FitSettings(method="ga-dl", dilation_from=wrong)  # type: ignore[arg-type]


def test_a_short_training_dilates():
    log = fit(BALANCED, method="ga-dl", dim=2, epochs=60, burn_in=5, deterministic=True).provenance.log
    assert next(entry.epoch for entry in log if "dilated" in entry.facts) == 18


@pytest.mark.parametrize("method", ["ga-dl", "ga-dl-rw"])
def test_a_training_that_ends_before_it_may_dilate_is_refused(method):
    with pytest.raises(InputError, match="dilation_from is epoch 300, and the training ends after 60 epochs"):
        fit(BALANCED, ga(method, dilation_from=300))
    with pytest.raises(InputError, match="no dilation would ever come"):
        fit(BALANCED, ga(method, dilation_from=60))
    assert fit(BALANCED, ga(method, dilation_from=300, dilation_limit=0)).provenance.dilations.done == 0
    assert fit(BALANCED, ga(method, dilation_from=59)).provenance.dilations.done == 1


def test_a_dilation_stops_at_the_largest_radius_and_is_then_skipped():
    free = fit(BALANCED, ga("ga-dl", dilation_limit=9, dilation_share=0.0))
    held = fit(BALANCED, ga("ga-dl", dilation_limit=9, dilation_share=0.0, max_radius=2.5))
    assert free.provenance.dilations.skipped == 0
    state = held.provenance.dilations
    assert state.epochs[0] == 20
    assert state.factors[-1] < 1.5
    assert (state.done, state.skipped) == (len(state.epochs), 4 - state.done)
    assert state.skipped > 0
    assert state.last_skipped == 50
    skips = [entry for entry in held.provenance.log if "skipped" in entry.facts]
    assert len(skips) == 1  # said once, and counted
    assert "the largest radius, 2.5, leaves no room for a dilation" in skips[0].text
    assert any("as far as the largest radius allows, and not by 1.5" in entry.text for entry in held.provenance.log)


def test_a_dilation_puts_no_more_than_the_outermost_vector_at_the_largest_radius():
    seen: dict[int, np.ndarray] = {}

    def watch(run, done):
        seen[run.epoch] = run.vectors.copy()

    outer = ga("ga-dl", max_radius=0.05, dilation=50.0, trace_every=20, epochs=21, lr=1e-9)
    after = fit(BALANCED, outer, watch=watch)
    before = poincare.radius(seen[20])
    (factor,) = after.provenance.dilations.factors
    assert factor == pytest.approx(0.05 / before.max())
    np.testing.assert_allclose(after.radii(), factor * before, rtol=1e-6)
    assert np.count_nonzero(after.radii() > 0.05 - 1e-9) == 1


def test_a_note_in_between_does_not_change_which_epochs_dilate(monkeypatch):
    several = ga("ga-dl", dilation_limit=9, dilation=1.01, dilation_share=0.4)
    plain = fit(BALANCED, several)

    def chatty(*given):
        decision = dilating.decide(*given)
        return decision._replace(text=decision.text or "looked", facts=decision.facts if decision.text else {})

    monkeypatch.setattr(geometry_aware, "decide", chatty)
    assert fit(BALANCED, several).provenance.dilations == plain.provenance.dilations

    def watch(run, done):
        run.note("somebody looked")

    assert fit(BALANCED, several, watch=watch).provenance.dilations == plain.provenance.dilations


def test_the_state_of_dilation_is_a_field_of_the_record(tmp_path):
    made = fit(BALANCED, ga("ga-dl", dilation_limit=3, dilation=1.1)).provenance
    state = made.dilations
    assert (state.done, state.epochs, state.factors, state.skipped) == (3, (20, 30, 40), (1.1, 1.1, 1.1), 0)
    assert 0 < state.share <= 1
    assert made.to_dict()["dilations"]["epochs"] == [20, 30, 40]
    assert Provenance.from_dict(made.to_dict()).dilations == state
    assert fit(BALANCED, ga("ga-rw")).provenance.dilations is None
    assert "dilations" not in fit(BALANCED, ga("ga-rw")).provenance.to_dict()
    with pytest.raises(InputError, match="dilations: epochs: 'x' is no list"):
        Provenance.from_dict({"dilations": {"epochs": "x", "factors": []}})
    with pytest.raises(InputError, match="not one factor for each epoch"):
        Provenance.from_dict({"dilations": {"epochs": [1], "factors": []}})


def test_a_record_of_an_earlier_version_has_its_state_in_the_log(tmp_path):
    settings = ga("ga-dl", dilation_limit=3, dilation=1.1)
    whole = fit(BALANCED, settings)
    part = fit(BALANCED, settings, watch=lambda run, done: run.epoch >= 35)
    old = part.provenance.to_dict()
    del old["dilations"]
    old["settings"]["dilation_from"] = 20
    read = Provenance.from_dict(old)
    assert read.dilations == Dilations(epochs=(20, 30), factors=(1.1, 1.1), is_lacking=True)
    resumed = fit(BALANCED, settings, resume=part.with_provenance(read))
    assert np.array_equal(resumed.vectors, whole.vectors)
    assert resumed.provenance.dilations == whole.provenance.dilations


def test_epochs_of_an_earlier_record_and_a_share_that_means_them_go_on():
    part = fit(BALANCED, ga("ga-dl", dilation_from=18), watch=lambda run, done: run.epoch >= 10)
    assert fit(BALANCED, ga("ga-dl", dilation_from=0.3), resume=part).provenance.epochs_done == 60
    with pytest.raises(InputError, match=r"dilation_from was 18 and is now 0\.5"):
        fit(BALANCED, ga("ga-dl", dilation_from=0.5), resume=part)


def test_a_dilation_multiplies_every_radius():
    stop = ga("ga-dl", dilation_from=30, trace_every=30, dilation=2.0)
    seen = {}

    def watch(run, done):
        seen[run.epoch] = run.vectors.copy()
        return False

    embedding = fit(BALANCED, stop.replace(epochs=31, lr=1e-9), watch=watch)
    np.testing.assert_allclose(embedding.radii(), 2 * poincare.radius(seen[30]), rtol=1e-6)


@pytest.mark.parametrize("method", ["ga-dl", "ga-rw", "ga-dl-rw"])
def test_resuming_a_geometry_aware_run_ends_with_the_same_bytes(method, tmp_path):
    settings = ga(method, trace_every=20)
    whole = fit(BALANCED, settings).save(tmp_path / "whole.parquet").read_bytes()
    for stop in (7, 20, 35):
        part = fit(BALANCED, settings, watch=lambda run, done, stop=stop: run.epoch >= stop)
        part.save(tmp_path / "part.parquet")
        resumed = fit(BALANCED, settings, resume=treeball.load(tmp_path / "part.parquet"))
        assert resumed.save(tmp_path / "resumed.parquet").read_bytes() == whole


@pytest.mark.parametrize("method", ["poincare", "ga-dl-rw"])
def test_negatives_by_degree_are_for_the_burn_in(method):
    plain, by_degree = fit(BALANCED, ga(method)), fit(BALANCED, ga(method, burn_in_negatives="degree"))
    unburnt = [fit(BALANCED, ga(method, burn_in=0, burn_in_negatives=how)) for how in ("uniform", "degree")]
    assert not np.array_equal(plain.vectors, by_degree.vectors)
    assert np.array_equal(unburnt[0].vectors, unburnt[1].vectors)


def test_closure_edges_are_used_in_the_first_epochs_only():
    plain = fit(BALANCED, ga("poincare", max_radius=30.0))
    unused = fit(BALANCED, ga("ga-rw", n_tc=0))
    used = fit(BALANCED, ga("ga-rw", n_tc=20))
    assert np.array_equal(plain.vectors, unused.vectors)
    assert not np.array_equal(plain.vectors, used.vectors)


@pytest.mark.slow
def test_the_better_geometry_aware_method_beats_the_baselines_on_the_papers_tree():
    settings = FitSettings(dim=2, epochs=1500, lr=0.5, batch=50, deterministic=True)
    later: dict[str, Any] = {"dilation_from": 500}
    scores = {
        method: np.mean([fit(BALANCED, settings, method=method, seed=seed, **more).evaluate().map for seed in range(3)])
        for method, more in {"poincare": {}, "lorentz": {}, "ga-dl": later, "ga-dl-rw": later}.items()
    }
    assert max(scores["ga-dl"], scores["ga-dl-rw"]) > max(scores["poincare"], scores["lorentz"]) + 0.01


def test_the_trace_holds_the_scores_of_its_epochs():
    embedding = fit(BALANCED, ga("ga-dl-rw", trace_every=25, epochs=50))
    trace = embedding.provenance.trace
    assert [point["epoch"] for point in trace] == [25, 50]
    last = embedding.evaluate().to_dict()
    assert trace[-1]["map"] == last["map"]
    assert trace[-1]["mean_rank"] == last["mean_rank"]
    assert {kind: trace[-1][kind] for kind in last["illness"]} == last["illness"]
    assert trace[-1]["max_radius"] == last["max_radius"]


def test_sarkar_is_a_method_of_fit():
    embedding = fit(BALANCED, method="sarkar", dim=2)
    assert embedding.provenance.method == "sarkar"
    assert "bits_needed" in embedding.provenance.log[0].facts["construction"]
    assert embedding.evaluate().mean_rank < 2


def test_a_few_crowded_children_of_a_small_tree_are_chance():
    def found(crowded, of):
        flags = np.zeros(of, np.bool_)
        flags[:crowded] = True
        codes = np.arange(of, dtype=np.int32)
        return Crowding(codes, codes, flags, of)

    assert not found(1, 155).exceeds(0.005, dilating=False)
    assert not found(10, 155).exceeds(0.005, dilating=False)
    assert found(11, 155).exceeds(0.005, dilating=False)
    assert found(6, 155).exceeds(0.005, dilating=True)  # half as many, once it has begun
    assert not found(5, 155).exceeds(0.005, dilating=True)
    assert not found(50, 10_000).exceeds(0.005, dilating=False)
    assert found(51, 10_000).exceeds(0.005, dilating=False)
