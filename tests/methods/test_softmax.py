"""The softmax with free sharpness: its gradient by finite differences, Adam on the ball, resuming, and auto."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treeball
from tests import trees
from treeball import FitSettings, Hierarchy, InputError
from treeball.engine.cpu.sharp_softmax import adam_step, sharp_gradient
from treeball.geometry import poincare
from treeball.methods import softmax
from treeball.methods.auto import resolve


def lattice(width, depth):
    """A DAG in which nearly every node has two parents, side by side."""
    edges = [
        ((level, i), (level - 1, j)) for level in range(1, depth) for i in range(width) for j in {i, (i + 1) % width}
    ]
    named = [(str(a), str(b)) for a, b in edges] + [(str((0, i)), "root") for i in range(width)]
    return treeball.read(named)


def naive_loss(vectors, hierarchy, objective, k):
    ptr, idx = hierarchy.positives(objective)
    total = 0.0
    for node in range(len(vectors)):
        own = idx[ptr[node] : ptr[node + 1]]
        far = np.asarray(poincare.distance(vectors[node], vectors))
        others = np.setdiff1d(np.arange(len(vectors)), [node, *own])
        for p in own:
            total += math.log(1.0 + np.exp(k * (far[p] - far[others])).sum()) / own.size
    return total


@pytest.mark.parametrize("objective", ["parents", "ancestors"])
@pytest.mark.parametrize("sharpness", [1.0, 7.0, 40.0])
def test_the_gradient_is_that_of_the_loss_over_all_nodes(objective, sharpness):
    hierarchy = lattice(3, 3)
    n, dim = hierarchy.n_nodes, 3
    vectors = poincare.from_radius(np.random.default_rng(0).normal(size=(n, dim)), np.linspace(0.2, 2.0, n))
    ptr, idx = hierarchy.positives(objective)
    heads = np.flatnonzero(np.diff(ptr)).astype(np.int32)
    near = np.full((n, n), -1, np.int32)  # all non-positives are listed: nothing is left to chance
    for node in range(n):
        others = np.setdiff1d(np.arange(n), [node, *idx[ptr[node] : ptr[node + 1]]])
        near[node, n - others.size :] = others
    gradient = np.zeros((n, dim))
    loss, failed = sharp_gradient(vectors, heads, ptr, idx, ptr, idx, near, 0, sharpness, 0.0, 0, 0, 0, 1, gradient)
    assert failed == -1
    assert loss == pytest.approx(naive_loss(vectors, hierarchy, objective, sharpness), rel=1e-12)
    scale = 0.5 * (1.0 - np.square(vectors).sum(axis=1))  # of the frame: a unit vector there is so long here
    for node in range(n):
        for axis in range(dim):
            step = 1e-6 * scale[node]
            moved = [vectors.copy(), vectors.copy()]
            moved[0][node, axis] += step
            moved[1][node, axis] -= step
            up, down = (naive_loss(one, hierarchy, objective, sharpness) for one in moved)
            assert gradient[node, axis] == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-4)


def test_no_sharpness_overflows():
    hierarchy = lattice(4, 3)
    vectors = poincare.from_radius(np.random.default_rng(1).normal(size=(hierarchy.n_nodes, 2)), np.full(13, 11.0))
    ptr, idx = hierarchy.positives("parents")
    heads = np.flatnonzero(np.diff(ptr)).astype(np.int32)
    gradient = np.zeros(vectors.shape)
    near = np.full((13, 1), -1, np.int32)
    loss, failed = sharp_gradient(vectors, heads, ptr, idx, ptr, idx, near, 30, 1000.0, 0.2, 0, 0, 0, 1, gradient)
    assert failed == -1
    assert np.isfinite(loss)
    assert np.isfinite(gradient).all()


def test_forgiveness_weakens_the_pull_of_what_is_far():
    hierarchy = treeball.read([("b", "a"), ("c", "a"), ("d", "b"), ("e", "b")])
    n = hierarchy.n_nodes
    vectors = poincare.from_radius(np.random.default_rng(3).normal(size=(n, 2)), np.full(n, 1.0))
    ptr, idx = hierarchy.positives("parents")
    near = np.array([np.delete(np.arange(n), [node, *idx[ptr[node] : ptr[node + 1]]][:2])[:3] for node in range(n)])
    for node in np.flatnonzero(np.diff(ptr)).astype(np.int32):
        pulls = []
        for forgiveness in (0.0, 0.3):
            gradient = np.zeros((n, 2))
            loss, _ = sharp_gradient(
                vectors, np.array([node]), ptr, idx, ptr, idx, near.astype(np.int32), 0, 5.0, forgiveness, 0, 0, 0, 1,
                gradient,
            )  # fmt: skip
            pulls.append(gradient)
        # With one positive the loss is log(1 + Z), and the share of the positive 1 / (1 + Z).
        np.testing.assert_allclose(pulls[1], pulls[0] * math.exp(-loss) ** 0.3, rtol=1e-9, atol=1e-15)


def test_what_is_left_out_is_neither_drawn_nor_pushed():
    hierarchy = treeball.read([("b", "a"), ("c", "b"), ("d", "c"), ("e", "c"), ("d", "a")])
    n, d = hierarchy.n_nodes, hierarchy.names.index_of("d")
    vectors = poincare.from_radius(np.random.default_rng(4).normal(size=(n, 2)), np.full(n, 1.0))
    parents, ancestors = hierarchy.positives("parents"), hierarchy.positives("ancestors")
    nobody = np.full((n, 1), -1, np.int32)
    for left_out, touched in ((parents, {"a", "b", "c", "d", "e"}), (ancestors, {"a", "c", "d", "e"})):
        gradient = np.zeros((n, 2))
        sharp_gradient(
            vectors, np.array([d], np.int32), *parents, *left_out, nobody, 200, 5.0, 0.0, 0, 0, 0, 1, gradient
        )
        assert set(hierarchy.names.take(np.flatnonzero(gradient.any(axis=1)))) == touched


def test_the_gradient_does_not_depend_on_how_many_share_the_work():
    edges = trees.random_tree(300, seed=1)
    hierarchy = Hierarchy.from_codes(range(edges.n), edges.child, edges.parent)
    vectors = poincare.from_radius(np.random.default_rng(5).normal(size=(300, 3)), np.linspace(0.1, 3.0, 300))
    ptr, idx = hierarchy.positives("ancestors")
    heads = np.flatnonzero(np.diff(ptr)).astype(np.int32)
    nobody = np.full((300, 1), -1, np.int32)
    found = []
    for workers in (1, 3):
        gradient, loss = np.zeros(vectors.shape), 0.0
        for worker in range(workers):
            loss += sharp_gradient(
                vectors, heads, ptr, idx, ptr, idx, nobody, 20, 4.0, 0.1, 7, 1, worker, workers, gradient
            )[0]
        found.append((loss, gradient))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-9, atol=1e-12)


def test_a_sample_estimates_the_sum_over_all_others():
    edges = trees.random_tree(200, seed=2)
    hierarchy = Hierarchy.from_codes(range(edges.n), edges.child, edges.parent)
    vectors = poincare.from_radius(np.random.default_rng(6).normal(size=(200, 3)), np.linspace(0.1, 2.0, 200))
    ptr, idx = hierarchy.positives("parents")
    heads = np.flatnonzero(np.diff(ptr)).astype(np.int32)
    nobody = np.full((200, 1), -1, np.int32)
    losses = [
        sharp_gradient(vectors, heads, ptr, idx, ptr, idx, nobody, 2000, 1.0, 0.0, epoch, 0, 0, 1, np.zeros((200, 3)))
        for epoch in range(5)
    ]
    exact = naive_loss(vectors, hierarchy, "parents", 1.0)
    assert np.mean([loss for loss, _ in losses]) == pytest.approx(exact, rel=2e-3)


def test_a_first_step_of_adam_walks_its_length_along_a_geodesic():
    rng = np.random.default_rng(2)
    vectors = poincare.from_radius(rng.normal(size=(5, 3)), np.linspace(0.0, 4.0, 5))
    gradient = rng.normal(size=(5, 3))
    gradient[3] = 0.0
    before = vectors.copy()
    assert adam_step(vectors, gradient, np.zeros((5, 3)), np.zeros(5), 0.25, 1, 1.0) == 0
    moved = poincare.distance(before, vectors)
    np.testing.assert_allclose(moved[[0, 1, 2, 4]], 0.25, rtol=1e-9)
    assert moved[3] == 0.0
    unit = -gradient / np.linalg.norm(gradient, axis=1, keepdims=True).clip(1e-300)
    tangent = unit * (0.25 * 0.5 * (1.0 - np.square(before).sum(axis=1, keepdims=True)))
    expected = poincare.exp_map(before, tangent)
    np.testing.assert_allclose(vectors[[0, 1, 2, 4]], np.asarray(expected)[[0, 1, 2, 4]], rtol=1e-9, atol=1e-12)
    held = poincare.from_radius(np.ones((1, 2)), np.array([3.0]))
    assert adam_step(held, -np.ones((1, 2)), np.zeros((1, 2)), np.zeros(1), 5.0, 1, math.tanh(2.0)) == 1
    assert poincare.radius(held)[0] == pytest.approx(4.0)


@pytest.mark.parametrize("objective", ["parents", "ancestors"])
def test_a_dag_has_no_ill_pair(objective):
    hierarchy = lattice(8, 5)
    model = treeball.fit(hierarchy, method="softmax", objective=objective, dim=10, epochs=400, deterministic=True)
    assert len(model.evaluate().illness) == 0
    assert model.provenance.settings["sharpness"] is None


def test_stopping_where_adam_begins_anew_and_resuming_ends_with_the_same_bytes(tmp_path):
    settings = FitSettings(method="softmax", dim=4, epochs=410, deterministic=True)
    hierarchy = lattice(5, 4)
    whole = treeball.fit(hierarchy, settings).save(tmp_path / "whole.parquet").read_bytes()
    part = treeball.fit(hierarchy, settings, watch=lambda run, done: run.epoch >= 150)
    assert part.provenance.epochs_done == 160
    part.save(tmp_path / "part.parquet")
    resumed = treeball.fit(hierarchy, settings, resume=treeball.load(tmp_path / "part.parquet"))
    assert resumed.save(tmp_path / "resumed.parquet").read_bytes() == whole


def test_spare_dimensions_are_squeezed_out_one_after_the_other(tmp_path):
    hierarchy = lattice(5, 4)
    settings = FitSettings(method="softmax", dim=3, epochs=400, spare=2, deterministic=True)
    seen = {}

    def watch(run, done):
        seen[run.epoch] = np.abs(run.vectors[:, 3:]).max(axis=0)
        assert run.embedding().dim == 3
        return False

    whole = treeball.fit(hierarchy, settings, watch=watch)
    assert whole.spare is None
    assert whole.dim == 3
    assert seen[20].size == 2
    assert seen[200][0] > 1e-3 > seen[200][1]  # the last one goes first
    assert seen[240].max() < 0.2 * seen[20].max()  # the end of untangling
    assert seen[250].size == 0
    part = treeball.fit(hierarchy, settings, watch=lambda run, done: run.epoch >= 100)
    part.save(tmp_path / "part.parquet")
    assert part.spare.shape == (hierarchy.n_nodes, 2)
    resumed = treeball.fit(hierarchy, settings, resume=treeball.load(tmp_path / "part.parquet"))
    assert np.array_equal(resumed.vectors, whole.vectors)


def test_auto_takes_a_part_of_a_closure_for_an_open_world():
    """The documented recipe of link prediction: no option set."""
    parts = treeball.split("example:mammals", closure=0.1, seed=3)
    model = treeball.fit(parts.train, seed=3, epochs=400)
    assert model.provenance.settings["open_world"] is True
    assert "in an open world" in model.provenance.log[0].text
    assert "compared with no other method; open_world=False" in model.provenance.log[0].text
    assert treeball.evaluate_held_out(model, parts.held_out).map > 0.95
    closed = resolve(treeball.read(parts.train), {"open_world": False})
    assert closed.settings.to_dict()["open_world"] is False
    assert closed.rivals  # a DAG like others


def test_auto_trains_dags_and_compares_with_the_construction(tmp_path):
    hierarchy = lattice(6, 4)
    model = treeball.fit(hierarchy, epochs=300, dim=10)
    plain = treeball.fit(hierarchy, method="construct", dim=10)
    assert model.evaluate().map >= plain.evaluate().map
    said = [entry.text for entry in model.provenance.log]
    assert "auto: softmax training, and construct beside it" in said[0]
    assert f"construct MAP {plain.evaluate().map:.4f}" in said[-1]
    assert said[-1].endswith("softmax it is")
    poor = treeball.fit(hierarchy, epochs=1, dim=10)  # one epoch makes nothing of it
    assert poor.provenance.method == "construct"
    assert poor.provenance.log[-2].text.endswith("construct it is")
    assert poor.provenance.log[-1].text.startswith("healed")
    assert poor.provenance.scores["map"] == poor.evaluate().map > plain.evaluate().map
    unhealed = treeball.fit(hierarchy, epochs=1, dim=10, heal=False)
    assert unhealed.provenance.log[-1].text.endswith("construct it is")
    assert unhealed.vectors.tobytes() == plain.vectors.tobytes()


def test_auto_takes_what_uses_all_that_was_given():
    dag = lattice(4, 3)
    assert resolve(dag, {}).settings.method == "softmax"
    assert resolve(dag, {"sharpness": 5.0}).settings.to_dict()["sharpness"] == 5.0
    with pytest.raises(
        InputError,
        match="softmax, which auto chose, does not use batch: leave it out, or name a method that does, such as",
    ):
        resolve(dag, {"batch": 5})
    assert resolve(dag, {"objective": "ancestors", "dim": 5}).settings.epochs_to_train == 8000
    assert resolve(dag, {"objective": "ancestors", "epochs": 7, "dim": 5}).settings.epochs_to_train == 7
    with pytest.raises(InputError, match="softmax, which auto chose, does not use dilation"):
        resolve(dag, {"objective": "ancestors", "dilation": 2.0})
    edges = trees.star(100_000)
    large = Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent)
    assert resolve(large, {"objective": "ancestors"}).settings.epochs_to_train == 500
    assert resolve(large, {}).settings.method == "construct"


def test_settings_of_the_softmax_are_checked():
    for wrong in (0.0, float("nan"), 2000.0):
        with pytest.raises(InputError, match="sharpness must be between 1 and 1000"):
            FitSettings(method="softmax", sharpness=wrong)
    with pytest.raises(InputError, match="does not use batch"):
        treeball.fit(lattice(3, 3), method="softmax", batch=5)
    with pytest.raises(InputError, match="poincare does not use sharpness"):
        treeball.fit(lattice(3, 3), method="poincare", sharpness=5.0)


def families():
    """Small DAGs of many shapes."""
    rng = np.random.default_rng(0)

    def layered(widths, more):
        above, edges = ["root"], []
        for level, width in enumerate(widths):
            here = [f"{level}.{i}" for i in range(width)]
            for node in here:
                parents = rng.choice(len(above), min(len(above), 1 + rng.binomial(2, more)), replace=False)
                edges += [(node, above[parent]) for parent in parents]
            above = here
        return edges

    def random(n, most):
        return [(f"{i}", f"{j}") for i in range(1, n) for j in rng.choice(i, min(i, 1 + rng.integers(0, most)), False)]

    def tree_plus(n, share):
        edges = {(f"{i}", f"{rng.integers(max(0, i // 4 - 2), max(1, i // 2))}") for i in range(1, n)}
        extra = [sorted(rng.choice(n, 2, replace=False)) for _ in range(int(share * n))]
        return sorted(edges | {(f"{low}", f"{high}") for high, low in extra})

    yield "layered", layered([4, 15, 60], 0.5)
    yield "two wide layers", layered([2, 40, 50], 0.7)
    yield "random, two parents", random(90, 2)
    yield "random, three parents", random(90, 3)
    yield "random, six parents", random(60, 6)
    yield "tree and 1 % more edges", tree_plus(120, 0.01)
    yield "tree and 10 % more edges", tree_plus(120, 0.1)
    yield "tree and 50 % more edges", tree_plus(120, 0.5)
    corners = [(f"{side}{i}", f"t{i}") for i in range(15) for side in "ab"]
    yield "chain of diamonds", corners + [(f"t{i + 1}", f"{side}{i}") for i in range(15) for side in "ab"]
    yield "one diamond", [("b", "a"), ("c", "a"), ("d", "b"), ("d", "c")]


FAMILIES = dict(families())


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["parents", "ancestors"])
@pytest.mark.parametrize("name", FAMILIES)
def test_auto_is_never_below_a_plain_method(name, objective):
    hierarchy = treeball.read(FAMILIES[name])
    auto = treeball.fit(hierarchy, objective=objective).evaluate()
    for method in ("poincare", "ga-dl-rw", "construct"):
        plain = treeball.fit(hierarchy, method=method, objective=objective, seed=1).evaluate()
        assert auto.map >= plain.map - 0.002
        assert auto.mean_rank <= plain.mean_rank + 0.01


@pytest.mark.parametrize("objective", ["parents", "ancestors"])
def test_a_dag_is_read_back_from_its_geometry(objective):
    model = treeball.fit(lattice(4, 3), objective=objective, dim=8, epochs=400)
    assert len(model.evaluate().illness) == 0
    assert set(model.ancestors_of("(1, 0)")) == {"(0, 0)", "(0, 1)", "root"}
    for name in model:
        assert set(model.parents_of(name)) == set(model.parents_of(name, source="hierarchy"))


def test_the_dimension_is_found_before_the_method_is_chosen():
    tree = treeball.read("example:mammals")
    chosen = resolve(tree, {"method": "poincare", "objective": "ancestors", "dim": "auto"}).settings
    assert (chosen.method, chosen.dim) == ("poincare", 2)
    with pytest.raises(InputError, match="dim must be a whole number"):
        treeball.fit(tree, objective="ancestors", dim="abc")


def test_what_a_rival_made_says_what_led_to_it(tmp_path):
    hierarchy = lattice(6, 4)
    poor = treeball.fit(hierarchy, epochs=1, dim=10, trace_every=1)
    assert poor.provenance.log[0].text.startswith("auto: softmax training")
    assert poor.provenance.trace[0]["epoch"] == 1
    assert set(poor.provenance.log[-2].facts["compared"]) == {"softmax", "construct"}
    with pytest.raises(InputError, match="the model was made by construct, and this would be a training by softmax"):
        treeball.fit(hierarchy, epochs=10, dim=10, trace_every=1, resume=poor)


def test_a_training_that_stays_tangled_starts_again_with_less(monkeypatch, tmp_path):
    hierarchy = lattice(8, 4)
    monkeypatch.setattr(softmax, "TANGLED", -1.0)  # whatever the loss
    monkeypatch.setattr(softmax, "LOWER", 0.1)
    settings = FitSettings(method="softmax", dim=6, epochs=600, deterministic=True)
    model = treeball.fit(hierarchy, settings)
    (entry,) = model.provenance.log
    assert entry.facts == {"sharpness": 5.0}
    assert "nodes stay tangled with sharpness 20" in entry.text
    assert len(model.evaluate().illness) == 0
    for stop in (200, 380):  # before and after it is judged
        seen: list[int] = []

        def watch(run, done, stop=stop, seen=seen):
            seen.append(done.count)
            return sum(seen) >= stop

        part = treeball.fit(hierarchy, settings, watch=watch)
        part.save(tmp_path / "part.parquet")
        resumed = treeball.fit(hierarchy, settings, resume=treeball.load(tmp_path / "part.parquet"))
        assert np.array_equal(resumed.vectors, model.vectors)
    fixed = treeball.fit(hierarchy, settings, sharpness=20.0)
    assert fixed.provenance.log == ()


def test_the_dimension_of_a_dag_is_found_by_short_trainings():
    dag = lattice(6, 4)
    chosen = resolve(dag, {"dim": "auto", "epochs": 200, "deterministic": True})
    assert chosen.reasons[0].startswith(
        f"dimension {chosen.settings.dim} is the smallest in which a training of 200 epochs leaves no ill pair"
    )
    assert len(treeball.fit(dag, chosen).evaluate().illness) == 0
    assert 2 < chosen.settings.dim <= 10
    with pytest.raises(InputError, match="no dimension up to 32 holds this hierarchy without ill pairs after 1 epochs"):
        resolve(dag, {"dim": "auto", "epochs": 1})
