"""Tensors in the ball: values against mpmath and treeball.geometry, gradients against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from tests.geometry import oracle
from tests.geometry.samples import RADII, ball_pairs
from treeball import InputError, limits
from treeball.geometry import dilation, poincare
from treeball.geometry.models import ball_to_hyperboloid

pytest.importorskip("torch", reason="torch is not installed")

import torch

from treeball.torch import (
    dilate,
    distance,
    exp_map,
    from_hyperboloid,
    from_normal,
    geodesic,
    log_map,
    mobius_add,
    project,
    radius,
    to_hyperboloid,
    to_normal,
    transport,
)
from treeball.torch.geometry import gap, largest_radius

torch.set_num_threads(1)  # tiny tensors: more threads only wait for each other

DIMENSIONS = (2, 5, 10)


def tensor(x):
    return torch.tensor(x, dtype=torch.float64)


def points(dim, radii, seed=0):
    return tensor(poincare.from_radius(np.random.default_rng(seed).normal(size=(len(radii), dim)), np.array(radii)))


@pytest.mark.parametrize("dim", DIMENSIONS)
@pytest.mark.parametrize("case", list(ball_pairs(2)))
def test_distances_are_those_of_the_oracle(dim, case):
    u, v = ball_pairs(dim)[case]
    got = distance(tensor(u), tensor(v)).numpy()
    for i, radius_u in enumerate(RADII):
        want = oracle.ball_distance(oracle.exact(u[i]), oracle.exact(v[i]))
        rim = min(limits.gap_from_radius(radius_u), float(poincare.one_minus_square(v[i])))
        assert oracle.relative_error(got[i], want) < 2e-15 + 4 * 2.0**-78 / rim


@pytest.mark.parametrize("dim", DIMENSIONS)
@pytest.mark.parametrize("case", list(ball_pairs(2)))
def test_gradients_are_those_of_the_oracle(dim, case):
    """The ordinary gradient, times a²/4, is the Riemannian one; 0 where the points coincide."""
    u, v = ball_pairs(dim)[case]
    x, y = tensor(u).requires_grad_(), tensor(v).requires_grad_()
    distance(x, y).sum().backward()
    for at, to, gradient in ((u, v, x.grad), (v, u, y.grad)):
        riemannian = (gap(tensor(at)) ** 2 / 4 * gradient).numpy()
        assert np.isfinite(riemannian).all()
        for i in range(len(RADII)):
            if np.array_equal(at[i], to[i]):
                assert not riemannian[i].any()
            else:
                want = oracle.ball_gradient(oracle.exact(at[i]), oracle.exact(to[i]))
                rim = float(min(poincare.one_minus_square(at[i]), poincare.one_minus_square(to[i])))
                assert oracle.vector_error(riemannian[i], want) < 2e-14 + 16 * 2.0**-78 / rim


def test_gradients_by_finite_differences():
    x, y = points(4, [0.0, 1e-3, 0.5, 2.0, 4.0]), points(4, [0.3, 0.2, 1.0, 0.5, 5.0], seed=1)
    x.requires_grad_(), y.requires_grad_()
    for function in (distance, mobius_add):
        assert torch.autograd.gradcheck(function, (x, y))
        assert torch.autograd.gradgradcheck(function, (x, y))
    for one in (gap, to_normal, from_normal, lambda z: radius(z)[1:], lambda z: dilate(z, 1.5)):
        assert torch.autograd.gradcheck(one, (x,))
    tangent = (0.1 * y.detach()).requires_grad_()
    assert torch.autograd.gradcheck(exp_map, (x, tangent))
    assert torch.autograd.gradcheck(transport, (x, y, tangent))


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_maps_are_those_of_the_numpy_geometry(dim):
    radii = [0.0, 1e-9, 0.5, 3.0, 10.0, 20.0, 29.0]
    x, y = points(dim, radii), points(dim, radii[::-1], seed=1)
    pairs = (
        (to_normal(x), poincare.to_normal(x)),
        (from_normal(to_normal(x)), poincare.from_normal(poincare.to_normal(x))),
        (mobius_add(x, y), poincare.mobius_add(x, y)),
        (dilate(x, 1.5), dilation.dilate_ball(x, 1.5)[0]),
        (dilate(x, 0.3), dilation.dilate_ball(x, 0.3)[0]),
    )
    for got, want in pairs:
        assert torch.isfinite(got).all()
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(radius(x), poincare.radius(x), rtol=1e-11)
    tangent = gap(x) * y
    np.testing.assert_allclose(exp_map(x, tangent), poincare.exp_map(x, tangent), rtol=1e-13, atol=1e-300)


def test_transport_is_parallel():
    """It keeps lengths and angles, turns the geodesic's direction into itself, and comes back."""
    rng = np.random.default_rng(0)
    for size in (1.0, 8.0, 20.0):
        x = points(5, np.full(20, size))
        step = tensor(rng.normal(size=(20, 5))) * gap(x) / 4
        y = exp_map(x, step)
        v, w = (tensor(rng.normal(size=(20, 5))) * gap(x) for _ in range(2))
        tv, tw = transport(x, y, v), transport(x, y, w)

        def inner(at, one, other):
            return (4 * (one * other).sum(-1) / gap(at)[:, 0] ** 2).numpy()

        np.testing.assert_allclose(inner(y, tv, tw), inner(x, v, w), rtol=1e-7, atol=1e-7)
        onwards = transport(x, y, step)
        np.testing.assert_allclose(onwards, -poincare.log_map(y, x), rtol=1e-6, atol=1e-7 * float(gap(y).max()))
        np.testing.assert_allclose(transport(y, x, tv), v, rtol=1e-7, atol=1e-8 * float(gap(x).max()))
    assert torch.equal(transport(x, x, v), v)


def test_transport_against_gyration():
    """P v = (b / a) gyr[y, -x] v, with the gyration written out by Möbius additions."""
    x, y, v = points(3, [1.0, 2.0, 0.5]), points(3, [1.5, 0.1, 2.0], seed=1), points(3, [0.5, 0.5, 0.5], seed=2)
    turned = mobius_add(-mobius_add(y, -x), mobius_add(y, mobius_add(-x, v)))
    np.testing.assert_allclose(transport(x, y, v), gap(y) / gap(x) * turned, rtol=1e-12, atol=1e-14)


def test_from_tangent_takes_any_output_of_a_network():
    wild = tensor([[0.0, 0.0], [1e-300, 0.0], [3.0, 4.0], [1e5, 0.0], [0.0, -1e150]]).requires_grad_()
    ball = from_normal(wild)
    assert radius(ball).tolist()[:3] == pytest.approx([0.0, 1e-300, 5.0])
    np.testing.assert_allclose(radius(ball)[3:].detach(), limits.BALL_RADIUS, atol=1e-3)
    distance(ball, tensor([0.1, 0.2])).sum().backward()
    assert torch.isfinite(wild.grad).all()
    assert from_normal(wild, max_radius=2.0).norm(dim=-1).max().item() == pytest.approx(np.tanh(1.0))
    small = tensor([[1e-9, 0.0]]).requires_grad_()
    from_normal(small).sum().backward()
    assert small.grad.tolist() == [[0.5, 0.5]]


def test_project_moves_and_counts():
    x = points(4, [1.0, 5.0, 20.0, 34.0])
    far = torch.cat([x, 3.0 * x[:1] / x[:1].norm()])
    held, moved = project(far, 10.0)
    assert int(moved) == 3
    assert torch.equal(held[:2], far[:2])
    assert radius(held).max() <= 10.0
    assert int(project(held, 10.0)[1]) == 0
    assert int(project(far)[1]) == 2
    np.testing.assert_allclose(held.numpy(), poincare.project(far.numpy(), 10.0)[0], rtol=1e-14)


def test_single_precision():
    assert largest_radius(torch.float64) == 30.0
    limit = largest_radius(torch.float32)
    assert limit == pytest.approx(9.9, abs=0.01)
    x, y = points(5, [0.5, 4.0, 9.0]).float(), points(5, [1.0, 4.5, 9.5], seed=1).float()
    assert distance(x, y).dtype == torch.float32
    np.testing.assert_allclose(distance(x, y), poincare.distance(x.double(), y.double()), rtol=1e-6)
    assert int(project(points(5, [9.0, 12.0]).float())[1]) == 1
    with pytest.raises(InputError, match="float64 or float32"):
        from_normal(x.half())
    with pytest.raises(InputError, match="positive, finite factor"):
        dilate(x, 0.0)


def test_a_radius_limit_is_one_that_the_dtype_carries():
    x = points(3, [1.0, 2.0])
    for function in (from_normal, project, lambda y, limit: dilate(y, 2.0, limit)):
        for good, limit in ((x, 34.0), (x, 0.5), (x.float(), 9.8)):
            function(good, limit)
        for bad, limit in ((x, 34.1), (x, 0.0), (x, -1.0), (x, np.nan), (x, np.inf), (x.float(), 10.0)):
            with pytest.raises(InputError, match=r"max_radius must be above 0 and at most (34|9\.899) in"):
                function(bad, limit)


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_log_maps_and_geodesics_are_those_of_numpy(dim):
    radii = [0.0, 1e-8, 0.1, 1.0, 5.0, 15.0, 25.0]
    x, y = points(dim, radii), points(dim, radii[::-1], seed=1)
    at, to = x.numpy(), y.numpy()
    np.testing.assert_allclose(log_map(x, y).numpy(), poincare.log_map(at, to), rtol=1e-9, atol=1e-300)
    for share in (0.0, 0.25, 1.0, torch.linspace(0, 1, len(radii), dtype=torch.float64)):
        want = poincare.geodesic(at, to, np.broadcast_to(np.asarray(share), len(radii)))
        np.testing.assert_allclose(geodesic(x, y, share).numpy(), want, rtol=1e-12, atol=1e-12)
    near = exp_map(x[:5], log_map(x[:5], y[:5]))
    np.testing.assert_allclose(distance(near, y[:5]).numpy(), 0.0, atol=1e-5)


def test_a_geodesic_between_equal_points_stays_there_with_finite_gradients():
    x = points(3, [0.0, 1.0, 8.0]).requires_grad_()
    y = x.detach().clone().requires_grad_()
    middle = geodesic(x, y, 0.5)
    np.testing.assert_allclose(middle.detach().numpy(), x.detach().numpy(), rtol=1e-12)
    (middle.sum() + log_map(x, y).sum()).backward()
    assert torch.isfinite(x.grad).all()
    assert torch.isfinite(y.grad).all()


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_the_hyperboloid_and_back(dim):
    x = points(dim, [0.0, 1e-8, 1.0, 5.0, 15.0])
    sheet = to_hyperboloid(x)
    np.testing.assert_allclose(sheet.numpy(), ball_to_hyperboloid(x.numpy()), rtol=1e-12)
    np.testing.assert_allclose(from_hyperboloid(sheet).numpy(), x.numpy(), rtol=1e-12)


def test_gradients_of_log_maps_and_geodesics():
    x, y = points(3, [0.3, 1.0, 4.0]).requires_grad_(), points(3, [2.0, 0.5, 3.0], seed=1).requires_grad_()
    share = torch.tensor([0.2, 0.5, 0.9], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(log_map, (x, y))
    assert torch.autograd.gradcheck(geodesic, (x, y, share))
    assert torch.autograd.gradcheck(to_hyperboloid, (x,))
    assert torch.autograd.gradcheck(lambda u: from_hyperboloid(to_hyperboloid(u)), (x,))
