"""HyperbolicEmbedding, the loss, the sampler and the dilation: parts of a user's own training."""

from __future__ import annotations

import copy
import io
import math
import pickle
import runpy
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeball
from tests import trees
from treeball import Hierarchy, InputError
from treeball.geometry import dilation, poincare
from treeball.methods.sufficiency import crowding, sufficiency

pytest.importorskip("torch", reason="torch is not installed")

import torch
from torch import nn

from treeball.torch import (
    BallParameter,
    Dilation,
    HyperbolicEmbedding,
    PairSampler,
    RiemannianAdam,
    RiemannianSGD,
    from_normal,
    geometry_aware_loss,
    softmax_loss,
)

torch.set_num_threads(1)  # tiny tensors: more threads only wait for each other

EDGES = [(f"g{i}", "all") for i in range(4)] + [(f"g{i}.{j}", f"g{i}") for i in range(4) for j in range(6)]


def hierarchy_of(edges):
    return Hierarchy.from_codes(range(edges.n), edges.child, edges.parent)


def descend(nodes, optimizer, sampler, epochs, before=lambda epoch: None):
    for epoch in range(epochs):
        before(epoch)
        for batch in sampler.epoch(epoch):
            optimizer.zero_grad()
            points = nodes(batch.heads), nodes(batch.tails), nodes(batch.negatives)
            geometry_aware_loss(*points, batch.weights, reduction="sum").backward()
            optimizer.step()


# ---- the module ----


def test_from_a_model_and_back(tmp_path):
    model = treeball.fit(EDGES, dim=3, epochs=20, method="poincare", seed=0)
    path = model.save(tmp_path / "m.parquet")
    for source in (model, path, str(path)):
        nodes = HyperbolicEmbedding.from_model(source)
        assert isinstance(nodes.points, BallParameter)
        assert nodes.points.dtype == torch.float64
        back = nodes.to_embedding()
        assert np.array_equal(back.vectors, model.vectors)
        assert list(back.names) == list(model.names)
    assert back.provenance.method == "torch"
    assert back.provenance.started_from["method"] == "poincare"
    assert back.provenance.input == model.provenance.input
    hyperboloid = treeball.fit(EDGES, dim=3, epochs=20, method="lorentz", objective="ancestors")
    nodes = HyperbolicEmbedding.from_model(hyperboloid)
    assert np.array_equal(nodes.points.detach(), hyperboloid.ball())
    assert nodes.to_embedding().objective == "ancestors"
    with pytest.raises(InputError, match="no points in the ball"):
        HyperbolicEmbedding.from_model(treeball.fit(EDGES, dim=3, epochs=1, method="euclidean"))


def test_what_comes_back_is_an_embedding_like_any_other(tmp_path):
    nodes = HyperbolicEmbedding.from_hierarchy(EDGES, dim=3)
    optimizer = RiemannianAdam(nodes.parameters(), lr=0.01)
    descend(nodes, optimizer, PairSampler(nodes.hierarchy, batch=8, negatives=5), 2)
    loaded = treeball.load(nodes.to_embedding().save(tmp_path / "m.parquet"))
    assert np.array_equal(loaded.vectors, nodes.points.detach())
    assert 0.0 < loaded.evaluate().map <= 1.0
    assert treeball.diagnose(loaded).method == "torch"
    assert treeball.heal(loaded).after.map >= loaded.evaluate().map
    from treeball.cli.main import run

    assert run(["info", str(tmp_path / "m.parquet")]) == 0
    assert run(["view", str(tmp_path / "m.parquet"), "--html", str(tmp_path / "m.html")]) == 0


def test_from_a_hierarchy():
    constructed = HyperbolicEmbedding.from_hierarchy(EDGES, dim=3)
    assert constructed.to_embedding().evaluate().map == 1.0
    contracted = HyperbolicEmbedding.from_hierarchy(EDGES, dim=3, init_scale=0.1)
    expected = dilation.dilate_ball(constructed.points.detach(), 0.1)[0]
    np.testing.assert_allclose(contracted.points.detach(), expected, rtol=1e-12)
    random = HyperbolicEmbedding.from_hierarchy(treeball.read(EDGES), dim=4, init="random", seed=3)
    assert random.dim == 4
    assert 0.0 < random.radii().max().item() <= 0.002
    same = HyperbolicEmbedding.from_hierarchy(EDGES, dim=4, init="random", seed=3)
    assert torch.equal(random.points, same.points)
    for options, message in (
        ({"dim": 1}, "dim must be a whole number"),
        ({"dim": "auto"}, "whole number"),
        ({"init": "zeros"}, "init must be one of"),
        ({"init_scale": 0.0}, "init_scale must be above 0"),
    ):
        with pytest.raises(InputError, match=message):
            HyperbolicEmbedding.from_hierarchy(EDGES, **options)


def test_names_points_and_distances():
    model = treeball.fit(EDGES, dim=3, epochs=20, method="poincare", seed=0)
    nodes = HyperbolicEmbedding.from_model(model)
    codes = nodes.codes(["g1", "g1.3", "all"])
    assert nodes.names.take(codes.numpy()) == ["g1", "g1.3", "all"]
    assert np.array_equal(nodes(codes[:2]).detach(), [model["g1"], model["g1.3"]])
    assert nodes(codes.reshape(1, 3, 1)).shape == (1, 3, 1, 3)
    between = nodes.distance(codes[:, None], codes)
    assert between.shape == (3, 3)
    assert between[0, 1].item() == pytest.approx(model.distance("g1", "g1.3"))
    np.testing.assert_allclose(nodes.radii().detach(), model.radii())
    with pytest.raises(InputError, match=r"no node named 'g1\.9'; did you mean"):
        nodes.codes(["g1.9"])
    assert "29 nodes, dim=3" in repr(nodes)


def test_nearest_nodes_of_any_points():
    model = treeball.fit(EDGES, dim=3, epochs=20, method="poincare", seed=0)
    nodes = HyperbolicEmbedding.from_model(model)
    points = from_normal(torch.from_numpy(np.random.default_rng(0).normal(size=(7, 3))))
    every = poincare.distance(points[:, None], model.vectors)
    near, codes = nodes.nearest(points, k=4)
    assert np.array_equal(codes, np.argsort(every, axis=1)[:, :4])
    np.testing.assert_allclose(near, np.sort(every, axis=1)[:, :4])
    inner = nodes.codes(["all", "g0", "g1", "g2", "g3"])
    assert np.array_equal(nodes.nearest(points, 2, inner)[1], inner[np.argsort(every[:, inner], axis=1)[:, :2]])
    assert nodes.nearest(points, 99, inner)[1].shape == (7, 5)
    assert [found.shape for found in nodes.nearest(points, 2, inner[:0])] == [(7, 0), (7, 0)]


def test_an_added_root_is_not_nearest_unless_it_is_asked_for():
    nodes = HyperbolicEmbedding.from_hierarchy(EDGES[4:], dim=3)
    root = nodes.hierarchy.virtual_root
    points = nodes(torch.tensor([root])).detach()
    codes = nodes.nearest(points, 99)[1]
    assert sorted(codes[0].tolist()) == sorted(set(range(29)) - {root})
    assert nodes.nearest(points, 1, torch.arange(29))[1].tolist() == [[root]]


def test_copies_and_files_keep_the_marker():
    nodes = HyperbolicEmbedding.from_hierarchy(EDGES, dim=3)
    for other in (copy.deepcopy(nodes), pickle.loads(pickle.dumps(nodes))):
        assert isinstance(other.points, BallParameter)
        assert torch.equal(other.points, nodes.points)
        assert other.points.data_ptr() != nodes.points.data_ptr()
    file = io.BytesIO()
    torch.save(nodes.state_dict(), file)
    file.seek(0)
    fresh = HyperbolicEmbedding.from_hierarchy(EDGES, dim=3, init="random")
    fresh.load_state_dict(torch.load(file))
    assert torch.equal(fresh.points, nodes.points)
    assert isinstance(fresh.points, BallParameter)


def test_single_precision_keeps_points_inside():
    edges = trees.chain(30)
    radii = np.arange(1.0, 31.0)
    vectors = poincare.from_radius(np.random.default_rng(0).normal(size=(30, 3)), radii)
    nodes = HyperbolicEmbedding(hierarchy_of(edges), vectors)
    with pytest.warns(UserWarning, match=r"radius of 9\.9, and 21 points beyond it"):
        nodes.float()
    np.testing.assert_allclose(nodes.radii().detach(), np.minimum(radii, 9.9), atol=0.02)
    assert isinstance(nodes.points, BallParameter)
    assert nodes.points.dtype == torch.float32
    before = nodes.points.detach().clone()
    assert torch.equal(nodes.double().points, before.double())
    near = HyperbolicEmbedding.from_hierarchy(EDGES, dim=3, init_scale=0.1).to(torch.float32)
    optimizer = RiemannianAdam(near.parameters(), lr=0.05)
    descend(near, optimizer, PairSampler(near.hierarchy, batch=8, negatives=5), 2)
    assert near.to_embedding().evaluate().map > 0.5


def deep_and_wide():
    """A model whose leaves lie beyond what float32 carries."""
    return HyperbolicEmbedding.from_hierarchy([(f"n{i}", f"n{(i - 1) // 4}") for i in range(1, 1400)], dim=3)


def test_a_float64_state_in_a_float32_module_stays_inside():
    saved = deep_and_wide().state_dict()
    module = HyperbolicEmbedding.from_hierarchy(
        [(f"n{i}", f"n{(i - 1) // 4}") for i in range(1, 1400)], dim=3, init="random"
    )
    module = module.to(torch.float32)
    with pytest.warns(UserWarning, match="carries a radius of 9.9"):
        module.load_state_dict(saved)
    assert module.radii().max().item() < 9.91
    optimizer = RiemannianAdam(module.parameters(), lr=0.1)
    for batch in PairSampler(module.hierarchy, batch=256, negatives=5):
        optimizer.zero_grad()
        loss = geometry_aware_loss(module(batch.heads), module(batch.tails), module(batch.negatives), batch.weights)
        assert loss.dtype == torch.float32
        loss.backward()
        optimizer.step()
    assert torch.isfinite(module.points).all()


def test_a_state_outside_the_ball_is_refused_by_name():
    module = HyperbolicEmbedding.from_hierarchy(EDGES, dim=2)
    for wrong, said in ((math.nan, "not finite"), (1.5, "outside the unit ball")):
        state = {"points": module.points.detach().clone()}
        state["points"][1, 0] = wrong
        with pytest.raises(InputError, match=said):
            copy.deepcopy(module).load_state_dict(state)


@pytest.mark.parametrize("how", ["assign", "to_empty", "overwritten"])
def test_points_stay_points_whatever_torch_puts_in_their_place(how):
    module = HyperbolicEmbedding.from_hierarchy(EDGES, dim=2)
    state = {name: value.detach().clone() for name, value in module.state_dict().items()}
    if how == "assign":
        module.load_state_dict(state, assign=True)
    elif how == "to_empty":
        module.to("meta").to_empty(device="cpu").load_state_dict(state)
    else:
        torch.__future__.set_overwrite_module_params_on_conversion(True)
        try:
            module.float().double()
        finally:
            torch.__future__.set_overwrite_module_params_on_conversion(False)
        module.load_state_dict(state)
    assert isinstance(module.points, BallParameter)
    assert module.points.requires_grad
    assert torch.equal(module.points.detach(), state["points"])


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW])
def test_an_optimiser_that_does_not_know_the_ball_is_refused(optimizer):
    module = HyperbolicEmbedding.from_hierarchy(EDGES, dim=2)
    before = module.points.detach().clone()
    chosen = optimizer(module.parameters(), lr=0.1)
    module.points.sum().backward()
    with pytest.raises(InputError, match="take RiemannianAdam or RiemannianSGD"):
        chosen.step()
    assert torch.equal(module.points.detach(), before)
    other = torch.nn.Linear(2, 2)  # and nobody else is in the way of it
    chosen = optimizer(other.parameters(), lr=0.1)
    other(torch.ones(2)).sum().backward()
    chosen.step()


@pytest.mark.parametrize("wrong", [math.nan, math.inf, 1.0, 3.0])
def test_nothing_is_nearest_to_a_point_that_is_none(wrong):
    module = HyperbolicEmbedding.from_hierarchy(EDGES, dim=2)
    asked = torch.zeros(3, 2, dtype=torch.float64)
    asked[1, 0] = wrong
    with pytest.raises(InputError, match="point 1 of those asked for is not inside the ball"):
        module.nearest(asked)


def test_a_sampler_is_a_loop_with_a_length():
    sampler = PairSampler(treeball.read(EDGES), batch=2, negatives=3, eta_tc=0.2, n_tc=1, dtype=torch.float32)
    lengths = []
    for number in range(3):
        expected = list(sampler.epoch(number))
        lengths.append(len(sampler))
        found = list(sampler)
        assert len(found) == lengths[-1]
        assert all(batch.weights.dtype == torch.float32 for batch in found)
        for one, other in zip(found, expected, strict=True):
            assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    assert lengths[0] > lengths[1] == lengths[2]  # the first epoch has the closure, too


def test_half_precision_is_refused_and_changes_nothing():
    nodes = HyperbolicEmbedding.from_hierarchy(EDGES, dim=3)
    before = nodes.points.detach().clone()
    for change in (nodes.half, nodes.bfloat16, lambda: nodes.to(torch.float16)):
        with pytest.raises(InputError, match="float64 or float32"):
            change()
    assert torch.equal(nodes.points, before)
    assert nodes.points.dtype == torch.float64


def test_points_are_checked():
    hierarchy = treeball.read(EDGES)
    inside = torch.zeros(hierarchy.n_nodes, 2, dtype=torch.float64)
    shared = BallParameter(inside)
    assert HyperbolicEmbedding(hierarchy, shared).points is shared
    assert HyperbolicEmbedding(hierarchy, inside).points.data_ptr() != inside.data_ptr()
    for points, message in (
        (inside[1:], "one row per node"),
        (inside + 1.0, "outside the unit ball"),
        (inside * torch.nan, "is not finite"),
        (inside.half(), "float64 or float32"),
        (inside.long(), "float64 or float32"),
        (inside.long().numpy(), "float64 or float32"),
        (BallParameter(inside.half()), "float64 or float32"),
        (nn.Parameter(inside), "ordinary parameter"),
    ):
        with pytest.raises(InputError, match=message):
            HyperbolicEmbedding(hierarchy, points)


def test_geoopt_trains_what_treeball_made():
    geoopt = pytest.importorskip("geoopt", reason="geoopt is not installed")
    nodes = HyperbolicEmbedding.from_hierarchy(EDGES, dim=3, init="random")
    before = nodes.points.detach().clone()
    theirs = nodes.to_geoopt()
    assert isinstance(theirs, geoopt.ManifoldParameter)
    assert [*nodes.parameters()] == [theirs]
    sampler = PairSampler(nodes.hierarchy, batch=8, negatives=5)
    descend(nodes, geoopt.optim.RiemannianAdam(nodes.parameters(), lr=0.1), sampler, 20)
    assert not torch.equal(nodes.points, before)
    assert nodes.to_embedding().evaluate().map > 0.7
    again = HyperbolicEmbedding(nodes.hierarchy, theirs)
    assert again.points is theirs
    descend(again, RiemannianSGD(again.parameters(), lr=0.1), sampler, 2)


# ---- loss and sampler ----


def test_the_loss_is_equation_2_and_its_weights_equation_5():
    rng = np.random.default_rng(0)
    heads, tails = rng.uniform(-0.4, 0.4, (2, 6, 3))
    negatives = rng.uniform(-0.4, 0.4, (6, 4, 3))
    weights = rng.uniform(0.0, 1.0, 6)
    each = []
    for a, b, others in zip(heads, tails, negatives, strict=True):
        top = np.exp(-poincare.distance(a, b))
        each.append(-np.log(top / (top + np.exp(-poincare.distance(a, others)).sum())))
    points = torch.from_numpy(heads), torch.from_numpy(tails), torch.from_numpy(negatives)
    given = torch.from_numpy(weights)
    assert geometry_aware_loss(*points).item() == pytest.approx(np.mean(each))
    np.testing.assert_allclose(geometry_aware_loss(*points, given, reduction="none"), weights * each)
    assert geometry_aware_loss(*points, given, reduction="sum").item() == pytest.approx(weights @ each)
    assert geometry_aware_loss(*points, given).item() == pytest.approx(weights @ each / 6)

    def flat(u, v):
        return torch.linalg.vector_norm(u - v, dim=-1)

    plain = softmax_loss(flat(points[0], points[1]), flat(points[0][:, None], points[2]))
    assert geometry_aware_loss(*points, distance=flat).item() == pytest.approx(plain.item())


def test_the_gradient_of_the_loss():
    rng = np.random.default_rng(0)
    points = [torch.from_numpy(rng.uniform(-0.4, 0.4, shape)).requires_grad_() for shape in ((3, 2), (3, 2), (3, 4, 2))]
    assert torch.autograd.gradcheck(geometry_aware_loss, points)
    # A positive that coincides with its head, and a negative that does.
    head = points[0].detach().clone().requires_grad_()
    geometry_aware_loss(head, head, torch.stack([head, -head], 1)).backward()
    assert torch.isfinite(head.grad).all()


def test_a_negative_at_infinity_does_not_count_and_shapes_are_checked():
    near = torch.tensor([1.0, 2.0])
    far = torch.tensor([[3.0, torch.inf], [1.0, torch.inf]])
    assert torch.equal(softmax_loss(near, far), softmax_loss(near, far[:, :1]))
    assert softmax_loss(torch.tensor([700.0]), torch.tensor([[0.0]])).item() == 700.0
    with pytest.raises(InputError, match="one more axis"):
        softmax_loss(near, near)
    with pytest.raises(InputError, match="reduction must be one of"):
        softmax_loss(near, far, reduction="max")  # type: ignore[arg-type]


@given(trees.dags(), st.sampled_from(["parents", "ancestors"]), st.integers(0, 3))
def test_an_epoch_has_every_pair_once_and_no_positive_among_its_negatives(edges, objective, seed):
    hierarchy = hierarchy_of(edges)
    pointers, positives = hierarchy.positives(objective)
    above = [set(positives[a:b].tolist()) for a, b in pairwise(pointers)]
    sampler = PairSampler(hierarchy, objective=objective, batch=7, negatives=5, seed=seed)
    seen = []
    for batch in sampler.epoch(seed):
        assert batch.negatives.shape == (len(batch.heads), 5)
        assert batch.weights.tolist() == [1.0] * len(batch.heads)
        for head, tail, others in zip(*(column.tolist() for column in batch[:3]), strict=True):
            seen.append((head, tail))
            assert not {head, *above[head]} & set(others)
            assert all(0 <= node < edges.n for node in others)
    # Pairs for which no negative is left have no loss, and are left out.
    expected = [(a, b) for a in range(edges.n) for b in above[a] if len(above[a]) < edges.n - 1]
    assert sorted(seen) == sorted(expected)


def test_negatives_are_uniform():
    hierarchy = hierarchy_of(trees.balanced(2, 2))
    counts = np.zeros((7, 7))
    for batch in PairSampler(hierarchy, negatives=4000, objective="ancestors").epoch(0):
        for head, others in zip(batch.heads.tolist(), batch.negatives.numpy(), strict=True):
            counts[head] += np.bincount(others, minlength=7)
    for head in range(1, 7):
        free = np.flatnonzero(counts[head])
        assert free.size == 7 - 1 - hierarchy.depth[head]
        np.testing.assert_allclose(counts[head, free] / counts[head].sum(), 1 / free.size, atol=0.02)


def test_closure_pairs_count_less_in_the_first_epochs():
    hierarchy = hierarchy_of(trees.balanced(2, 3))
    sampler = PairSampler(hierarchy, batch=16, negatives=3, eta_tc=0.2, n_tc=2)
    for epoch, closure in ((0, True), (1, True), (2, False)):
        weights: list[Any] = []
        pairs: list[Any] = []
        for batch in sampler.epoch(epoch):
            weights += batch.weights.tolist()
            pairs += zip(batch.heads.tolist(), batch.tails.tolist(), strict=True)
            if closure:
                assert not hierarchy.is_ancestor(batch.negatives.numpy(), batch.heads.numpy()[:, None]).any()
        direct = hierarchy.is_parent([b for _, b in pairs], [a for a, _ in pairs])
        assert direct.sum() == 14
        assert len(pairs) == (2 * 1 + 4 * 2 + 8 * 3 if closure else 14)
        assert weights == np.where(direct, 1.0, 0.2).tolist()


def test_epochs_are_fixed_by_the_seed():
    hierarchy = treeball.read(EDGES)

    def heads(seed, epoch):
        return torch.cat([batch.negatives for batch in PairSampler(hierarchy, batch=5, seed=seed).epoch(epoch)])

    assert torch.equal(heads(1, 4), heads(1, 4))
    assert not torch.equal(heads(1, 4), heads(1, 5))
    assert not torch.equal(heads(1, 4), heads(2, 4))
    for options, message in (({"batch": 0}, "batch"), ({"eta_tc": 2.0}, "eta_tc"), ({"objective": "x"}, "objective")):
        with pytest.raises(InputError, match=message):
            PairSampler(hierarchy, **options)


# ---- training ----


@pytest.mark.parametrize("sparse", [False, True])
def test_training_from_random_points_learns_the_tree(sparse):
    nodes = HyperbolicEmbedding.from_hierarchy(EDGES, dim=3, init="random", sparse=sparse)
    assert nodes.to_embedding().evaluate().map < 0.5
    optimizer = RiemannianSGD(nodes.parameters(), lr=0.3)
    descend(nodes, optimizer, PairSampler(nodes.hierarchy, batch=4, negatives=10), 60)
    assert nodes.to_embedding().evaluate().map > 0.9
    assert optimizer.clamped == 0


def test_a_network_learns_beside_the_nodes():
    """An encoder that sees one-hot leaves must put them near their group, whose place it has to find out."""
    torch.manual_seed(0)
    nodes = HyperbolicEmbedding.from_hierarchy(EDGES, dim=3, init_scale=0.3)
    encoder = nn.Linear(29, 3, dtype=torch.float64)
    optimizer = RiemannianAdam([*nodes.parameters(), *encoder.parameters()], lr=0.05)
    sampler = PairSampler(nodes.hierarchy, batch=28, negatives=10)
    one_hot = torch.eye(29, dtype=torch.float64)
    for epoch in range(60):
        for batch in sampler.epoch(epoch):
            optimizer.zero_grad()
            texts = from_normal(encoder(one_hot[batch.heads]))
            geometry_aware_loss(texts, nodes(batch.tails), nodes(batch.negatives)).backward()
            optimizer.step()
    child, parent = nodes.hierarchy.edges()
    found = nodes.nearest(from_normal(encoder(one_hot[torch.from_numpy(child).long()])), 1)[1][:, 0]
    assert (found.numpy() == parent).mean() > 0.9


# ---- dilation ----


def crowded(dim=3):
    """A star whose leaves sit too near to their parent."""
    hierarchy = hierarchy_of(trees.star(60))
    vectors = poincare.from_radius(np.random.default_rng(0).normal(size=(60, dim)), np.full(60, 1.0))
    vectors[0] = 0.0
    return HyperbolicEmbedding(hierarchy, vectors)


@pytest.mark.parametrize(
    ("rule", "measure", "found"),
    [
        ("children", crowding, "59 of 59 children have a sibling nearer than their parent"),
        ("paper", sufficiency, "1 of 1 inner nodes have more children than the lower bound"),
    ],
)
def test_dilation_follows_algorithm_1(rule, measure, found):
    nodes = crowded()
    vectors = nodes.points.detach().numpy().copy()
    dilate_if_crowded = Dilation(nodes, factor=1.5, first=20, limit=15, every=10, rule=rule)
    assert [dilate_if_crowded(epoch) for epoch in (0, 10, 19, 25)] == [None] * 4
    assert np.array_equal(nodes.points.detach(), vectors)
    assert dilate_if_crowded(30) == 1.5
    np.testing.assert_allclose(nodes.points.detach(), dilation.dilate_ball(vectors, 1.5)[0], rtol=1e-13)
    for epoch in range(40, 200, 10):
        room = not measure(nodes.points.detach().numpy(), nodes.hierarchy).exceeds(
            0.005, dilate_if_crowded.state.is_lacking
        )
        assert (dilate_if_crowded(epoch) is None) == room
    assert room
    assert nodes.log[0].epoch == 30
    assert f"{found}; dilated by 1.5; radius 1.0 -> 1.5" in nodes.log[0].text
    assert nodes.to_embedding().provenance.log == tuple(nodes.log)


def test_dilation_has_limits():
    nodes = crowded()
    dilate_if_crowded = Dilation(nodes, factor=1.1, first=0, limit=2, every=1)
    assert [dilate_if_crowded(epoch) for epoch in range(4)] == [1.1, 1.1, None, None]
    nodes = crowded()
    dilate_if_crowded = Dilation(nodes, factor=3.0, first=0, max_radius=2.0)
    assert dilate_if_crowded(0) == pytest.approx(2.0)  # as far as there is room
    assert nodes.radii().max().item() == pytest.approx(2.0)
    assert "as far as the largest radius allows, and not by 3" in nodes.log[0].text
    before = nodes.points.detach().clone()
    assert [dilate_if_crowded(epoch) for epoch in (10, 20)] == [None, None]
    assert torch.equal(nodes.points, before)
    assert (dilate_if_crowded.state.skipped, dilate_if_crowded.state.last_skipped) == (2, 20)
    assert nodes.to_embedding().provenance.dilations == dilate_if_crowded.state
    for options, message in (
        ({"factor": -1.0}, "dilation must be above 0"),
        ({"every": 0}, "at least 1 epoch apart"),
        ({"first": 0.3}, "first must be a whole number of at least 0, not 0.3"),
        ({"max_radius": 35.0}, "max_radius must be above 0 and at most 34"),
    ):
        with pytest.raises(InputError, match=message):
            Dilation(nodes, **options)


def test_the_state_of_a_dilation_is_saved_and_loaded(tmp_path):
    def trained(stop=None):
        nodes = crowded()
        dilation = Dilation(nodes, factor=1.1, first=0, limit=4, every=10)
        given = [dilation(epoch) for epoch in range(0, 30, 10)]
        if stop is not None:
            torch.save({"nodes": nodes.state_dict(), "dilation": dilation.state_dict()}, stop)
        return nodes, dilation, given

    nodes, dilation, given = trained(tmp_path / "state.pt")
    assert given == [1.1] * 3
    saved = torch.load(tmp_path / "state.pt", weights_only=True)
    again = crowded()
    again.load_state_dict(saved["nodes"])
    resumed = Dilation(again, factor=1.1, first=0, limit=4, every=10)
    resumed.load_state_dict(saved["dilation"])
    assert resumed.state == dilation.state
    assert resumed.state.epochs == (0, 10, 20)
    assert [resumed(30), resumed(40)] == [dilation(30), dilation(40)] == [1.1, None]
    assert torch.equal(again.points, nodes.points)
    assert again.to_embedding().provenance.dilations.done == 4
    for wrong in ({}, {"epochs": [1], "factors": []}, {"epochs": 3, "factors": [1.0]}):
        with pytest.raises(InputError, match="not the state of a Dilation"):
            resumed.load_state_dict(wrong)


def test_dilation_after_a_change_of_precision():
    nodes = crowded()
    by_default, too_far = (Dilation(nodes, factor=20.0, first=0, max_radius=limit) for limit in (None, 20.0))
    nodes.float()
    with pytest.raises(InputError, match=r"at most 9\.899 in torch\.float32, not 20"):
        too_far(0)
    assert by_default(0) == pytest.approx(9.9, abs=0.02)
    assert nodes.radii().max().item() == pytest.approx(9.9, abs=0.02)


@pytest.mark.parametrize(("optimizer", "moment"), [(RiemannianSGD, "momentum_buffer"), (RiemannianAdam, "exp_avg")])
def test_momenta_go_along_with_a_dilation(optimizer, moment):
    nodes = crowded()
    one = optimizer(nodes.parameters(), lr=0.01, **({"momentum": 0.9} if optimizer is RiemannianSGD else {}))
    nodes.distance(torch.arange(1, 30), torch.arange(31, 60)).sum().backward()
    one.step()

    def lengths():
        vectors, moments = nodes.points.detach().numpy(), one.state[nodes.points][moment].numpy()
        return poincare.tangent_norm(vectors, moments), moments / np.linalg.norm(moments, axis=1, keepdims=True).clip(
            1e-9
        )

    (length, direction), before = lengths(), nodes.points.detach().clone()
    assert Dilation(nodes, one, factor=2.0, first=0)(0) == 2.0
    assert not torch.equal(nodes.points, before)
    assert length.max() > 0
    for now, then in zip(lengths(), (length, direction), strict=True):
        np.testing.assert_allclose(now, then, rtol=1e-10)


# ---- the worked example ----


@pytest.fixture
def example():
    return runpy.run_path(str(Path(__file__).parents[2] / "docs" / "examples" / "joint_learning.py"))


def test_the_example_does_not_look_at_the_path_of_a_name(example):
    assert example["text_of"]("Animals & Pet Supplies > Pet Supplies > Bird Toys") == "bird toys"
    assert example["text_of"]("afghan_hound.n.01") == "afghan hound"
    assert example["text_of"]("Bell Guards [ae-2-7-1-1-4-1]") == "bell guards"
    assert example["n_grams"]("a > b") == example["n_grams"]("c > b") != example["n_grams"]("a > c")


@pytest.mark.slow
def test_the_example_beats_guessing(example, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["joint_learning.py", "--epochs", "6", "--dim", "5"])
    example["main"]()
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    hits_at_10 = {
        words[0]: float(words[3]) for words in lines if words and words[0] in ("hyperbolic", "euclidean", "at")
    }
    assert len(hits_at_10) == 3
    assert min(hits_at_10["hyperbolic"], hits_at_10["euclidean"]) > 2 * hits_at_10["at"]


def test_an_added_root_is_no_parent_in_the_example(example, monkeypatch, capsys, tmp_path):
    (tmp_path / "forest.tsv").write_text("".join(f"{child}\t{parent}\n" for child, parent in EDGES[4:]))
    monkeypatch.setattr(
        sys, "argv", ["joint_learning.py", "--data", str(tmp_path / "forest.tsv"), "--epochs", "1", "--dim", "3"]
    )
    example["main"]()
    assert "\n4 inner nodes come into question" in capsys.readouterr().out


# ---- where it runs ----


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_the_same_on_a_gpu():
    results = []
    for device in ("cpu", "cuda"):
        nodes = HyperbolicEmbedding.from_hierarchy(EDGES, dim=3, init_scale=0.3).to(device)
        assert isinstance(nodes.points, BallParameter)
        assert nodes.codes(["all"]).device.type == device
        optimizer = RiemannianAdam(nodes.parameters(), lr=0.02)
        dilate_if_crowded = Dilation(nodes, optimizer, first=3, every=1)
        sampler = PairSampler(nodes.hierarchy, batch=8, negatives=5, device=device)
        descend(nodes, optimizer, sampler, 10, dilate_if_crowded)
        results.append(nodes.to_embedding().vectors)
        assert optimizer.clamped == 0
    np.testing.assert_allclose(results[0], results[1], rtol=1e-9, atol=1e-12)


def test_the_core_never_imports_torch():
    code = "import sys, treeball.cli.main, treeball.methods._fit, treeball.evaluation; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "geoopt", "treeball.torch"} & set(loaded)


def test_without_torch_it_says_what_to_install():
    code = "import sys; sys.modules['torch'] = None; import treeball.torch"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "MissingExtraError" in done.stderr
    assert "pip install torch" in done.stderr


def test_nodes_that_the_ball_has_no_places_for_are_told_of():
    tree = treeball.read(b"((((human:6,(chimp:2,bonobo:2):4):2,gorilla:8):6,orang:14):6,siamang:20);")
    with pytest.warns(UserWarning, match="of 11 nodes are farther out than the ball has places"):
        HyperbolicEmbedding.from_model(treeball.fit(tree, objective="distances"))


def test_points_of_another_dimension_are_refused():
    nodes = HyperbolicEmbedding.from_hierarchy([("a", "b"), ("c", "b")], dim=4)
    with pytest.raises(InputError, match=r"points of shape \(1, 3\) do not fit: give \(m, 4\)"):
        nodes.nearest(torch.zeros(1, 3, dtype=torch.float64))
