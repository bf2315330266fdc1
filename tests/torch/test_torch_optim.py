"""Riemannian optimisers: torch's own on ordinary parameters, geodesics in the ball, and geoopt as a second opinion."""

from __future__ import annotations

import copy
import io

import numpy as np
import pytest

from treeball import InputError, limits
from treeball.geometry import poincare

pytest.importorskip("torch", reason="torch is not installed")

import torch
from torch import nn

from treeball.torch import BallParameter, RiemannianAdam, RiemannianSGD, distance, exp_map, on_ball, radius, transport
from treeball.torch.geometry import gap
from treeball.torch.parameter import to_geoopt

torch.set_num_threads(1)  # tiny tensors: more threads only wait for each other

SGD = [{}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}]
ADAM = [{}, {"betas": (0.8, 0.99), "weight_decay": 0.1}, {"amsgrad": True}]
BOTH = [(RiemannianSGD, options) for options in SGD] + [(RiemannianAdam, options) for options in ADAM]


def points(radii, dim=3, seed=0):
    directions = np.random.default_rng(seed).normal(size=(len(radii), dim))
    return torch.from_numpy(poincare.from_radius(directions, np.array(radii)))


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()


@pytest.mark.parametrize(
    ("ours", "theirs", "options"),
    [
        *((RiemannianSGD, torch.optim.SGD, {"dampening": 0.5 * ("nesterov" not in one), **one}) for one in SGD),
        *((RiemannianAdam, torch.optim.Adam, one) for one in ADAM),
    ],
)
def test_ordinary_parameters_move_as_in_torch_beside_the_ball(ours, theirs, options):
    one, other = network(), network()
    ball = BallParameter(points([1.0, 2.0]))
    x = torch.randn(5, 3, dtype=torch.float64)
    mixed = ours([{"params": [ball], "lr": 0.01}, {"params": list(one.parameters())}], lr=0.1, **options)
    plain = theirs(other.parameters(), lr=0.1, **options)
    for _ in range(5):
        for model, optimizer in ((one, mixed), (other, plain)):
            optimizer.zero_grad()
            loss = model(x).square().sum()
            if model is one:
                loss = loss + distance(ball, torch.zeros(3, dtype=torch.float64)).sum()
            loss.backward()
            optimizer.step()
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(ball.data, points([1.0, 2.0]))
    assert ball.grad is not None


def test_a_step_of_sgd_walks_lr_times_the_gradient_along_the_geodesic():
    """The gradient of a distance has length 1, so lr is the length of the walk, at any radius."""
    start = points([0.1, 1.0, 5.0, 15.0, 25.0])
    goal = points([2.0, 2.0, 3.0, 16.0, 20.0], seed=1)
    ball = BallParameter(start.clone())
    before = distance(ball, goal)
    before.sum().backward()
    RiemannianSGD([ball], lr=0.25).step()
    np.testing.assert_allclose(distance(ball, start).detach(), 0.25, rtol=1e-4)
    np.testing.assert_allclose((before - distance(ball, goal)).detach(), 0.25, rtol=1e-4)


def test_a_first_step_of_adam_is_lr_long():
    ball = BallParameter(points([0.1, 1.0, 5.0, 15.0]))
    (1e-3 * distance(ball, points([2.0, 2.0, 3.0, 16.0], seed=1))).sum().backward()
    RiemannianAdam([ball], lr=0.25).step()
    np.testing.assert_allclose(distance(ball, points([0.1, 1.0, 5.0, 15.0])).detach(), 0.25, rtol=1e-4)


def test_momentum_is_carried_along():
    start, goal = points([1.0, 3.0, 8.0]), points([2.0, 2.0, 9.0], seed=1)
    ball = BallParameter(start.clone())
    one = RiemannianSGD([ball], lr=0.3, momentum=0.9)

    def gradient():
        one.zero_grad()
        distance(ball, goal).sum().backward()
        return (gap(ball) ** 2 / 4 * ball.grad).detach()

    first = gradient()
    one.step()
    then = exp_map(start, -0.3 * first)
    assert torch.equal(ball, then)
    second = 0.9 * transport(start, then, first) + gradient()
    one.step()
    np.testing.assert_allclose(ball.detach(), exp_map(then, -0.3 * second), rtol=1e-14)


@pytest.mark.parametrize("options", [{"dampening": 0.5}, {"dampening": 0.5, "weight_decay": 0.2}, {"nesterov": True}])
def test_momentum_at_the_origin_is_that_of_torch(options):
    """There the ball is flat, and its metric is 4 times the ordinary one."""
    start, goal = 1e-6 * points([1.0, 2.0, 3.0]), points([1.0, 2.0, 3.0], seed=1)
    ball, plain = BallParameter(start.clone()), nn.Parameter(start.clone())
    # Weight decay is a pull by the hyperbolic radius, in hyperbolic units: no quarter of it.
    decay = options.get("weight_decay", 0.0)
    one = RiemannianSGD([ball], lr=4e-7, momentum=0.9, **options)
    other = torch.optim.SGD([plain], lr=1e-7, momentum=0.9, **{**options, "weight_decay": 4 * decay})
    for step in range(4):
        for parameter, optimizer in ((ball, one), (plain, other)):
            parameter.grad = (1 + step) * (parameter.detach() - goal)
            optimizer.step()
        np.testing.assert_allclose((ball - start).detach(), (plain - start).detach(), rtol=1e-9)


def test_every_row_of_a_sparse_gradient_has_its_own_first_momentum():
    ball = BallParameter(points([0.5, 1.0]))
    one = RiemannianSGD([ball], lr=0.1, momentum=0.9, dampening=0.5)
    for row in (0, 1):
        before = ball.detach().clone()
        one.zero_grad()
        radius(nn.functional.embedding(torch.tensor([row]), ball, sparse=True)).sum().backward()
        one.step()
        assert distance(ball, before)[row].item() == pytest.approx(0.1)


def test_weight_decay_pulls_in_proportion_to_the_radius():
    ball = BallParameter(points([0.5, 4.0, 20.0]))
    ball.grad = torch.zeros_like(ball)
    RiemannianSGD([ball], lr=0.1, weight_decay=0.5).step()
    np.testing.assert_allclose(radius(ball).detach(), np.array([0.5, 4.0, 20.0]) * 0.95, rtol=1e-6)


@pytest.mark.parametrize(("optimizer", "options"), BOTH)
def test_points_find_their_goal(optimizer, options):
    goal = points([0.0, 1.0, 2.0, 3.0], seed=1)
    ball = BallParameter(points([2.0, 0.0, 1.0, 3.0]))
    one = optimizer([ball], lr=0.05, **{**options, "weight_decay": 0.0})
    for _ in range(600):
        one.zero_grad()
        (distance(ball, goal) ** 2).sum().backward()
        one.step()
    assert distance(ball, goal).max().item() < 0.02
    assert one.clamped == 0


@pytest.mark.parametrize("optimizer", [RiemannianSGD, RiemannianAdam])
def test_the_radius_limit_holds_and_is_counted(optimizer):
    for limit, options in ((limits.BALL_RADIUS, {}), (5.0, {"max_radius": 5.0})):
        ball = BallParameter(points([1.0, 2.0, 33.0]))
        one = optimizer([ball], lr=10.0, **options)
        for _ in range(5):
            one.zero_grad()
            (-10.0 * radius(ball)[:2]).sum().backward()
            one.step()
        assert torch.isfinite(ball).all()
        assert radius(ball)[:2].max().item() <= limit
        assert radius(ball)[:2].min().item() > limit - 0.01
        assert one.clamped >= 6
        # What does not move is left where it was put.
        assert torch.equal(ball[2], points([1.0, 2.0, 33.0])[2])


@pytest.mark.parametrize(("optimizer", "options"), BOTH)
def test_sparse_gradients_move_their_rows_only(optimizer, options):
    start = points(np.linspace(0.1, 3.0, 8))
    goal = points([1.0, 1.0], seed=1)
    rows = torch.tensor([2, 5])
    sparse, dense = BallParameter(start.clone()), BallParameter(start[rows].clone())
    first, second = optimizer([sparse], lr=0.05, **options), optimizer([dense], lr=0.05, **options)
    for _ in range(4):
        first.zero_grad(), second.zero_grad()
        distance(nn.functional.embedding(rows, sparse, sparse=True), goal).sum().backward()
        distance(dense, goal).sum().backward()
        assert sparse.grad.is_sparse
        first.step(), second.step()
    assert torch.equal(sparse[rows], dense)
    others = torch.tensor([0, 1, 3, 4, 6, 7])
    assert torch.equal(sparse[others], start[others])


def test_sparse_gradients_of_ordinary_parameters_follow_torch():
    table = nn.Embedding(4, 3, sparse=True)
    table(torch.tensor([1])).sum().backward()
    RiemannianSGD(table.parameters(), lr=0.1).step()
    with pytest.raises(RuntimeError, match="sparse gradients"):
        RiemannianAdam(table.parameters(), lr=0.1).step()


@pytest.mark.parametrize(("optimizer", "options"), BOTH)
def test_a_saved_optimizer_goes_on_where_it_was(optimizer, options):
    goal = points([1.0, 2.0, 3.0], seed=1)

    def steps(ball, one, count):
        for _ in range(count):
            one.zero_grad()
            distance(ball, goal).sum().backward()
            one.step()

    ball = BallParameter(points([0.5, 1.0, 1.5]))
    one = optimizer([ball], lr=0.1, **options)
    steps(ball, one, 3)
    file = io.BytesIO()
    torch.save(one.state_dict(), file)
    file.seek(0)
    copied = copy.deepcopy(ball.detach())
    steps(ball, one, 3)
    again = BallParameter(copied)
    other = optimizer([again], lr=0.7)
    other.load_state_dict(torch.load(file))
    steps(again, other, 3)
    assert torch.equal(ball, again)


@pytest.mark.parametrize(("ours", "theirs"), [(RiemannianSGD, torch.optim.SGD), (RiemannianAdam, torch.optim.Adam)])
def test_the_state_of_an_optimizer_of_torch_leaves_the_limit_as_it_is(ours, theirs):
    ball = BallParameter(points([1.0]))
    one = ours([ball], max_radius=2.0)
    one.load_state_dict(theirs([nn.Parameter(points([1.0]))], lr=9.0).state_dict())
    (-radius(ball)).sum().backward()
    one.step()
    assert radius(ball).item() == pytest.approx(2.0)


@pytest.mark.parametrize("optimizer", [RiemannianSGD, RiemannianAdam])
def test_a_limit_that_the_dtype_does_not_carry_is_refused(optimizer):
    double, single = BallParameter(points([1.0])), BallParameter(points([1.0]).float())
    optimizer([double], max_radius=34.0)
    for parameter, limit in ((double, 35.0), (double, 0.0), (single, 10.0)):
        for group, options in (({}, {"max_radius": limit}), ({"max_radius": limit}, {})):
            with pytest.raises(InputError, match="max_radius must be above 0 and at most"):
                optimizer([{"params": [parameter], **group}], **options)
    with pytest.raises(InputError, match="max_radius must be above 0 and at most"):
        optimizer([double], max_radius=20.0).add_param_group({"params": [single]})


def test_closures_schedulers_and_hooks():
    layer, ball = network(), BallParameter(points([1.0, 2.0]))
    torch.optim.Adam(layer.parameters())  # torch wraps the step of a class at its first instance
    one = RiemannianAdam([ball, *layer.parameters()], lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(one, 1, gamma=0.5)
    calls = []
    one.register_step_post_hook(lambda *_: calls.append(1))

    def closure():
        one.zero_grad()
        loss = layer(ball).sum()
        loss.backward()
        return loss

    assert one.step(closure).item() == pytest.approx(network()(points([1.0, 2.0])).sum().item())
    schedule.step()
    assert calls == [1]
    assert one.param_groups[0]["lr"] == 0.05


def test_groups_may_have_their_own_limit():
    a, b = BallParameter(points([1.0])), BallParameter(points([1.0]))
    one = RiemannianSGD([{"params": [a], "max_radius": 2.0}], lr=9.0)
    one.add_param_group({"params": [b]})
    (-radius(a) - radius(b)).sum().backward()
    one.step()
    assert radius(a).item() == pytest.approx(2.0)
    assert radius(b).item() == pytest.approx(10.0)
    assert one.clamped == 1


def test_which_parameters_live_in_the_ball():
    assert on_ball(BallParameter(torch.zeros(2)))
    assert not on_ball(nn.Parameter(torch.zeros(2)))


# ---- geoopt ----


@pytest.fixture
def geoopt():
    return pytest.importorskip("geoopt", reason="geoopt is not installed")


def test_parameters_of_geoopt_are_told_apart(geoopt):
    zeros = torch.zeros(2, 3, dtype=torch.float64)
    assert on_ball(geoopt.ManifoldParameter(zeros, manifold=geoopt.PoincareBall()))
    assert on_ball(geoopt.ManifoldParameter(zeros, manifold=geoopt.PoincareBallExact(c=1.0)))
    assert not on_ball(geoopt.ManifoldParameter(zeros))
    for manifold in (geoopt.PoincareBall(c=0.5), geoopt.Sphere(), geoopt.Lorentz()):
        with pytest.raises(InputError, match="PoincareBall with c=1 only"):
            RiemannianSGD([geoopt.ManifoldParameter(zeros + 0.5, manifold=manifold)], lr=0.1)


def test_distances_and_maps_of_geoopt(geoopt):
    ball = geoopt.PoincareBall()
    x, y = points([0.5, 1.0, 3.0, 5.0]), points([1.0, 2.0, 2.5, 5.5], seed=1)
    v = gap(x) * points([1.0] * 4, seed=2)
    np.testing.assert_allclose(distance(x, y), ball.dist(x, y), rtol=1e-9)
    np.testing.assert_allclose(exp_map(x, v), ball.expmap(x, v), rtol=1e-9)
    np.testing.assert_allclose(transport(x, y, v), ball.transp(x, y, v), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    ("ours", "theirs", "options"),
    [
        (RiemannianSGD, "RiemannianSGD", {}),
        (RiemannianAdam, "RiemannianAdam", {"eps": 1e-8}),
        (RiemannianAdam, "RiemannianAdam", {"betas": (0.8, 0.99), "amsgrad": True, "eps": 1e-8}),
    ],
)
def test_optimizers_take_the_steps_of_geoopt(geoopt, ours, theirs, options):
    goal = points([1.0, 2.0, 3.0], seed=1)

    def train(make):
        ball = geoopt.ManifoldParameter(points([0.5, 1.0, 1.5]), manifold=geoopt.PoincareBallExact())
        one = make([ball], lr=0.05, **options)
        for _ in range(20):
            one.zero_grad()
            (distance(ball, goal) ** 2).sum().backward()
            one.step()
        return ball.detach()

    np.testing.assert_allclose(train(ours), train(getattr(geoopt.optim, theirs)), rtol=1e-7, atol=1e-9)


def test_to_geoopt_shares_the_memory(geoopt):
    ball = BallParameter(points([0.5, 1.0]))
    theirs = to_geoopt(ball)
    assert isinstance(theirs, geoopt.ManifoldParameter)
    assert isinstance(theirs.manifold, geoopt.PoincareBall)
    assert theirs.data_ptr() == ball.data_ptr()
    assert on_ball(theirs)
