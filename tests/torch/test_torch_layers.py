"""Balls of any curvature, layers between them, and heads whose classes are nodes."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from treeball import InputError
from treeball.geometry import poincare

pytest.importorskip("torch", reason="torch is not installed")

import torch
from torch import nn

from treeball.torch import (
    Ball,
    BallParameter,
    HyperbolicEmbedding,
    HyperbolicLinear,
    HyperbolicLogits,
    PrototypeHead,
    RiemannianAdam,
    distance,
    from_normal,
    mobius_add,
)

torch.set_num_threads(1)

EDGES = [(f"g{i}", "all") for i in range(4)] + [(f"g{i}.{j}", f"g{i}") for i in range(4) for j in range(6)]


def points(dim, radii, seed=0):
    directions = np.random.default_rng(seed).normal(size=(len(radii), dim))
    return torch.tensor(poincare.from_radius(directions, np.array(radii)))


# ---- curvature ----


@pytest.mark.parametrize("c", [0.01, 1.0, 4.0])
def test_the_formulas_of_any_curvature(c):
    """The metric is 4 |dx|^2 / (1 - c |x|^2)^2: short ways have that length, and maps undo each other."""
    ball = Ball(c)
    x = ball.from_unit(points(3, [0.1, 1.0, 3.0]))
    step = 1e-6 * torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    length = 2 * torch.linalg.vector_norm(step, dim=1) / (1 - c * (x**2).sum(1))
    np.testing.assert_allclose(ball.distance(x, x + step).numpy(), length.numpy(), rtol=1e-4)
    y = ball.from_unit(points(3, [2.0, 0.5, 1.0], seed=1))
    np.testing.assert_allclose(ball.exp_map(x, ball.log_map(x, y)).numpy(), y.numpy(), rtol=1e-9)
    np.testing.assert_allclose(ball.from_normal(ball.to_normal(x)).numpy(), x.numpy(), rtol=1e-12)
    np.testing.assert_allclose(torch.linalg.vector_norm(ball.to_normal(x), dim=1).numpy(), ball.radius(x).numpy())
    middle = ball.geodesic(x, y, 0.25)
    np.testing.assert_allclose(ball.distance(x, middle).numpy(), 0.25 * ball.distance(x, y).numpy(), rtol=1e-9)
    # Moebius addition as it is defined for any c.
    dot, xx, yy = (x * y).sum(1, keepdim=True), (x * x).sum(1, keepdim=True), (y * y).sum(1, keepdim=True)
    naive = ((1 + 2 * c * dot + c * yy) * x + (1 - c * xx) * y) / (1 + 2 * c * dot + c * c * xx * yy)
    np.testing.assert_allclose(ball.mobius_add(x, y).numpy(), naive.numpy(), rtol=1e-9)


def test_a_small_curvature_is_flat():
    ball, x, y = Ball(1e-12), torch.ones(1, 2, dtype=torch.float64), torch.zeros(1, 2, dtype=torch.float64)
    assert ball.distance(x, y).item() == pytest.approx(2 * 2**0.5, rel=1e-6)


def test_a_curvature_can_be_learned_and_stays_positive():
    ball = Ball(1.0, learnable=True)
    optimizer = RiemannianAdam(ball.parameters(), lr=0.5)
    u, v = torch.tensor([[0.1, 0.0]]).double(), torch.tensor([[0.0, 0.1]]).double()
    for _ in range(50):
        optimizer.zero_grad()
        ball.distance(u, v).sum().backward()
        optimizer.step()
    assert 0 < ball.c.item() < 1.0
    assert list(Ball(2.0).parameters()) == []
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="positive, finite c"):
            Ball(wrong)


def test_points_of_geoopt_come_along_with_their_distances():
    geoopt = pytest.importorskip("geoopt", reason="geoopt is not installed")
    own = HyperbolicEmbedding.from_hierarchy(EDGES, dim=3, init_scale=0.2)
    theirs = geoopt.PoincareBall(c=4.0)
    parameter = geoopt.ManifoldParameter(own.points.detach() / 2.0, manifold=theirs)
    with pytest.raises(InputError, match="from_geoopt"):
        HyperbolicEmbedding(own.hierarchy, parameter)
    nodes = HyperbolicEmbedding.from_geoopt(own.hierarchy, parameter)
    np.testing.assert_allclose(nodes.points.detach().numpy(), own.points.detach().numpy(), rtol=1e-6)
    first, second = parameter[3].detach(), parameter[7].detach()
    ours = nodes.distance(torch.tensor([3]), torch.tensor([7])).item()
    assert ours / 2.0 == pytest.approx(theirs.dist(first, second).item(), rel=1e-5)
    learned = geoopt.ManifoldParameter(own.points.detach() / 2.0, manifold=geoopt.PoincareBall(c=4.0, learnable=True))
    with pytest.raises(InputError, match="is learned"):
        HyperbolicEmbedding.from_geoopt(own.hierarchy, learned)


# ---- layers ----


def test_a_linear_layer_is_matrix_and_moebius_bias():
    torch.manual_seed(0)
    layer = HyperbolicLinear(3, 5)
    assert isinstance(layer.bias, BallParameter)
    x = points(3, [0.0, 0.5, 4.0])
    with torch.no_grad():
        layer.bias.copy_(points(5, [0.7])[0])
        norm = torch.linalg.vector_norm(x, dim=1, keepdim=True)
        tangent = torch.atanh(norm) / torch.where(norm > 0, norm, 1.0) * x
        moved = tangent @ layer.weight.T
        length = torch.linalg.vector_norm(moved, dim=1, keepdim=True)
        naive = mobius_add(torch.tanh(length) / torch.where(length > 0, length, 1.0) * moved, layer.bias)
    np.testing.assert_allclose(layer(x).detach().numpy(), naive.numpy(), rtol=1e-9, atol=1e-12)
    assert torch.autograd.gradcheck(layer, (points(3, [0.2, 1.0]).requires_grad_(),))


def test_logits_are_signed_distances_from_hyperplanes():
    torch.manual_seed(0)
    layer = HyperbolicLogits(3, 4)
    with torch.no_grad():
        layer.points.copy_(points(3, [0.0, 0.3, 1.0, 2.0]))
    x = points(3, [0.5, 1.5, 3.0], seed=2)
    logits = layer(x).detach()
    for k in range(4):
        p, normal = layer.points[k].detach(), layer.normals[k].detach()
        # Points of the hyperplane: p (+) w with w at right angles to the normal; the nearest is found by descent.
        basis = torch.linalg.svd(normal[None])[2][1:]
        for i in range(3):
            free = torch.zeros(2, dtype=torch.float64, requires_grad=True)
            search = torch.optim.LBFGS(
                [free], lr=0.5, max_iter=200, tolerance_grad=1e-12, line_search_fn="strong_wolfe"
            )

            def way(free=free, basis=basis, p=p, i=i):
                return distance(mobius_add(p, from_normal(free @ basis)), x[i])

            def closure(way=way, search=search):
                search.zero_grad()
                value = way()
                value.backward()
                return value

            search.step(closure)
            expected = 2 * torch.linalg.vector_norm(normal).item() * way().item()
            assert abs(logits[i, k].item()) == pytest.approx(expected, rel=1e-4)
    side = (mobius_add(-layer.points.detach(), x[:, None]) * layer.normals.detach()).sum(-1)
    assert torch.equal(torch.sign(logits), torch.sign(side))


def test_layers_learn_together():
    """Classes that no hyperplane through the origin separates."""
    torch.manual_seed(0)
    labels = torch.arange(60) % 3
    centres = torch.tensor([[1.0, 0.0], [1.5, 0.6], [1.5, -0.6]], dtype=torch.float64)
    features = centres[labels] + 0.05 * torch.randn(60, 2, dtype=torch.float64)
    ball = Ball(0.5, learnable=True)
    hidden, last = HyperbolicLinear(2, 4, ball=ball), HyperbolicLogits(4, 3, ball=ball)
    optimizer = RiemannianAdam(nn.ModuleList([hidden, last]).parameters(), lr=0.05)
    for _ in range(200):
        optimizer.zero_grad()
        nn.functional.cross_entropy(last(hidden(ball.from_normal(features))), labels).backward()
        optimizer.step()
    assert (last(hidden(ball.from_normal(features))).argmax(1) == labels).float().mean() > 0.95


# ---- prototypes ----


def test_a_class_is_the_likelier_the_nearer_its_node():
    nodes = HyperbolicEmbedding.from_hierarchy(EDGES, dim=3)
    classes = [f"g{i}.{j}" for i in range(4) for j in range(6)]
    head = PrototypeHead(nodes, classes)
    outputs = torch.randn(7, 3, dtype=torch.float32, generator=torch.Generator().manual_seed(0))
    logits = head(outputs)
    assert logits.shape == (7, 24)
    expected = distance(from_normal(outputs.double())[:, None], nodes(nodes.codes(classes)))
    np.testing.assert_allclose(logits.detach().numpy(), -8.0 * expected.detach().numpy(), rtol=1e-9)
    assert head.nodes.points.requires_grad
    fixed = PrototypeHead(nodes, classes, learn=False)
    assert not [parameter for parameter in fixed.parameters() if parameter.requires_grad]


@pytest.mark.parametrize(
    ("classes", "options", "said"),
    [
        (["g0.0", "g0.0"], {}, "two classes are the same node"),
        (["g0.0", "g9"], {}, "g9"),
        (["g0.0"], {"factor": 0.0}, "factor must be a positive number"),
    ],
)
def test_heads_refuse_what_makes_no_sense(classes, options, said):
    with pytest.raises(InputError, match=said):
        PrototypeHead(HyperbolicEmbedding.from_hierarchy(EDGES, dim=3), classes, **options)


def test_the_example_of_prototypes_learns(monkeypatch, capsys):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    example = runpy.run_path(str(Path(__file__).parents[2] / "docs/examples/class_prototypes.py"))
    scope = example["main"].__globals__
    monkeypatch.setitem(scope, "EPOCHS", 15)
    monkeypatch.setitem(scope, "RATES", (0.01,))
    monkeypatch.setitem(scope, "FACTORS", (8.0,))
    monkeypatch.setitem(scope, "HEADS", ("hyperbolic",))
    monkeypatch.setattr("sys.argv", ["class_prototypes.py", "--seeds", "0", "--train", "300"])
    example["main"]()
    *_, accuracy, severity = [cell.strip() for cell in capsys.readouterr().out.splitlines()[-1].strip("|").split("|")]
    assert float(accuracy) > 0.6
    assert 1 <= float(severity) <= 9
