"""Training kernels against finite differences of a loss written down independently, in 40 digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from treeball.engine.cpu import negatives as sampling
from treeball.engine.cpu import sampled_softmax as train
from treeball.engine.cpu import steps

STEP = 1e-7


def ball_points(rng, count, dim, largest_radius):
    direction = rng.normal(size=(count, dim))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return direction * np.tanh(rng.uniform(0.1, largest_radius, (count, 1)) / 2)


def to_hyperboloid(ball):
    square = np.square(ball).sum(axis=1, keepdims=True)
    return np.hstack([1 + square, 2 * ball]) / (1 - square)


def to_ball(points):
    return points[:, 1:] / (1 + points[:, :1])


def exact_loss(points, distance):
    """-log softmax of the first of the other points, seen from points[0]."""
    d = [distance(points[0], other) for other in points[1:]]
    return d[0] + mp.log(mp.fsum(mp.exp(-x) for x in d))


def poincare_distance(u, v):
    gap = mp.fsum((a - b) ** 2 for a, b in zip(u, v, strict=True))
    rim = (1 - mp.fsum(a * a for a in u)) * (1 - mp.fsum(b * b for b in v))
    return mp.acosh(1 + 2 * gap / rim)


def euclidean_distance(u, v):
    return mp.sqrt(mp.fsum((a - b) ** 2 for a, b in zip(u, v, strict=True)))


def exact_shares(points, distance):
    """Softmax of the negated distances from points[0], in the order of the others."""
    with mp.workdps(40):
        weights = [mp.exp(-distance(points[0], other)) for other in points[1:]]
        return np.array([float(w / mp.fsum(weights)) for w in weights])


def exact_move(points, distance, riemannian):
    """What a step should do to every point, per unit of step, when all dice show 0.

    The gradient; but a negative with a small share moves as if it had the smallest share that moves.
    """
    gradient = exact_gradient(points, distance, riemannian)
    shares = exact_shares(points, distance)[1:]
    gradient[2:] *= np.maximum(1, steps.SMALL_SHARE / shares)[:, None]
    return gradient


def exact_gradient(points, distance, riemannian):
    """Derivative of the loss with respect to every coordinate by central differences, in the metric of the ball."""
    with mp.workdps(40):
        exact = [[mp.mpf(float(x)) for x in row] for row in points]
        gradient = np.empty(points.shape)
        h = mp.mpf(10) ** -15
        for i, row in enumerate(exact):
            scale = ((1 - mp.fsum(x * x for x in row)) / 2) ** 2 if riemannian else mp.mpf(1)
            for k in range(points.shape[1]):
                kept = row[k]
                row[k] = kept + h
                above = exact_loss(exact, distance)
                row[k] = kept - h
                below = exact_loss(exact, distance)
                row[k] = kept
                gradient[i, k] = float(scale * (above - below) / (2 * h))
        return gradient


def take_step(step_function, vectors, step, bound, dice=0.0):
    count = vectors.shape[0] - 1
    x, s = np.empty((vectors.shape[1], count + 1)), np.empty((5, count))
    return step_function(
        vectors, 0, np.arange(1, count + 1), np.full(count, dice), count, count, step, bound, x, s, x[:, 0].copy()
    )


@pytest.mark.parametrize("dim", [2, 5, 17])
@pytest.mark.parametrize("radius", [0.5, 4.0])
def test_poincare_step_is_the_riemannian_gradient(dim, radius):
    points = ball_points(np.random.default_rng(dim), 7, dim, radius)
    moved = points.copy()
    loss, clamped = take_step(steps.poincare_step, moved, STEP, 1.0)
    with mp.workdps(40):
        assert loss == pytest.approx(float(exact_loss([list(map(mp.mpf, p)) for p in points], poincare_distance)))
    assert clamped == 0
    gradient = exact_move(points, poincare_distance, riemannian=True)
    np.testing.assert_allclose((points - moved) / STEP, gradient, atol=2e-6 * np.abs(gradient).max())


@pytest.mark.parametrize("dim", [2, 5, 17])
@pytest.mark.parametrize("radius", [0.5, 4.0])
def test_lorentz_step_is_the_same_gradient_seen_in_the_ball(dim, radius):
    points = ball_points(np.random.default_rng(dim), 7, dim, radius)
    lifted = to_hyperboloid(points)
    loss, clamped = take_step(steps.lorentz_step, lifted, STEP, 1e9)
    with mp.workdps(40):
        assert loss == pytest.approx(float(exact_loss([list(map(mp.mpf, p)) for p in points], poincare_distance)))
    assert clamped == 0
    np.testing.assert_allclose(np.square(lifted[:, 1:]).sum(axis=1) + 1, np.square(lifted[:, 0]), rtol=1e-14)
    gradient = exact_move(points, poincare_distance, riemannian=True)
    np.testing.assert_allclose((points - to_ball(lifted)) / STEP, gradient, atol=2e-6 * np.abs(gradient).max())


@pytest.mark.parametrize("dim", [2, 5, 17])
def test_euclidean_step_is_the_gradient(dim):
    points = np.random.default_rng(dim).normal(size=(7, dim))
    moved = points.copy()
    loss, _ = take_step(steps.euclidean_step, moved, STEP, np.inf)
    with mp.workdps(40):
        assert loss == pytest.approx(float(exact_loss([list(map(mp.mpf, p)) for p in points], euclidean_distance)))
    gradient = exact_move(points, euclidean_distance, riemannian=False)
    np.testing.assert_allclose((points - moved) / STEP, gradient, atol=2e-6 * np.abs(gradient).max())


@pytest.mark.parametrize("geometry", ["poincare", "lorentz", "euclidean"])
def test_a_negative_moves_with_the_probability_that_makes_its_average_move_the_gradient(geometry):
    ball = ball_points(np.random.default_rng(3), 30, 4, 3.0)
    function = getattr(steps, f"{geometry}_step")
    shares = exact_shares(ball, euclidean_distance if geometry == "euclidean" else poincare_distance)
    start = to_hyperboloid(ball) if geometry == "lorentz" else ball
    for dice in (0.001, 0.1, 0.5, 0.9):
        moved = start.copy()
        take_step(function, moved, 0.01, 1e9 if geometry == "lorentz" else 1.0, dice)
        has_moved = (moved != start).any(axis=1)
        assert has_moved[:2].all()
        assert np.array_equal(has_moved[2:], shares[1:] / steps.SMALL_SHARE > dice)
    assert (shares[1:] < 0.5 * steps.SMALL_SHARE).any()


def test_lorentz_step_moves_along_the_geodesic_by_the_step():
    """Two points and a far negative: B comes closer by the step times its share, exactly, however long the step."""
    a, b, far = 0.3, -0.9, 40.0
    points = np.array([[np.cosh(t), np.sinh(t), 0.0] for t in (a, b, far)])
    loss, _ = take_step(steps.lorentz_step, points, 0.25, 1e30)
    share = np.exp(-abs(a - b)) / (np.exp(-abs(a - b)) + np.exp(-abs(a - far)))
    assert loss == pytest.approx(-np.log(share), abs=1e-12)
    # excess is below the negligible share here, so nothing moves at all
    assert np.arcsinh(points[1, 1]) == pytest.approx(b, rel=1e-14)
    near = np.array([[np.cosh(t), np.sinh(t), 0.0] for t in (a, b, a + 1.0)])
    take_step(steps.lorentz_step, near, 0.25, 1e30)
    share = np.exp(-(a - b)) / (np.exp(-(a - b)) + np.exp(-1.0))
    assert np.arcsinh(near[1, 1]) == pytest.approx(b + 0.25 * (1 - share), rel=1e-9)
    assert np.arcsinh(near[2, 1]) == pytest.approx(a + 1.0 + 0.25 * (1 - share), rel=1e-9)
    assert np.arcsinh(near[0, 1]) == pytest.approx(a - 0.5 * (1 - share), rel=1e-9)


def test_lorentz_loss_does_not_cancel_at_large_radius():
    """Two neighbours at radius 25 on one ray: their distance is 1, which the plain inner product cannot see."""
    t = np.array([25.0, 26.0, 24.5])
    points = np.stack([np.cosh(t), np.sinh(t) * 0.6, np.sinh(t) * 0.8], axis=1)
    loss, _ = take_step(steps.lorentz_step, points, 0.0, 1e30)
    assert loss == pytest.approx(1.0 + np.log(np.exp(-1.0) + np.exp(-0.5)), rel=1e-6)


@pytest.mark.parametrize("geometry", ["poincare", "lorentz"])
def test_vectors_beyond_the_bound_are_clamped_and_counted(geometry):
    rng = np.random.default_rng(0)
    ball = ball_points(rng, 4, 3, 3.0)
    if geometry == "poincare":
        _, clamped = take_step(steps.poincare_step, ball, 50.0, 0.9)
        assert np.linalg.norm(ball, axis=1).max() <= 0.9 + 1e-12
    else:
        lifted = to_hyperboloid(ball)
        _, clamped = take_step(steps.lorentz_step, lifted, 1.0, 1.5)
        assert np.linalg.norm(lifted[:, 1:], axis=1).max() <= 1.5 + 1e-12
    assert clamped > 0


def test_coinciding_points_stay_finite():
    for function, points in (
        (steps.poincare_step, np.full((4, 3), 0.2)),
        (steps.euclidean_step, np.full((4, 3), 0.2)),
        (steps.lorentz_step, to_hyperboloid(np.full((4, 3), 0.2))),
    ):
        loss, _ = take_step(function, points, 0.1, 10.0)
        assert np.isfinite(loss)
        assert np.isfinite(points).all()


@pytest.mark.parametrize("geometry", ["poincare", "lorentz", "euclidean"])
def test_a_draw_of_negatives_can_serve_the_next_pair(geometry):
    """Another head and another positive, the negatives kept from the call before: the loss is that of a full call."""
    ball = ball_points(np.random.default_rng(5), 9, 3, 3.0)
    vectors = to_hyperboloid(ball) if geometry == "lorentz" else ball
    function = getattr(steps, f"{geometry}_step")
    count = 6
    dice, bound = np.zeros(count), 1e9 if geometry == "lorentz" else 1.0
    x, s, u = np.empty((vectors.shape[1], count + 1)), np.empty((5, count)), np.empty(vectors.shape[1])
    function(vectors.copy(), 0, np.array([1, 4, 5, 6, 7, 8]), dice, count, count, 0.1, bound, x, s, u)
    chosen = np.array([3, 4, 5, 6, 7, 8])
    shared, alone = vectors.copy(), vectors.copy()
    loss, _ = function(shared, 2, chosen, dice, count, 1, 0.1, bound, x, s, u)
    expected, _ = function(alone, 2, chosen, dice, count, count, 0.1, bound, x.copy(), s.copy(), u)
    assert loss == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(shared, alone, rtol=1e-12)


def test_clash_finds_the_head_and_every_positive():
    positives = np.array([99, 2, 5, 7, 99], np.int32)
    for node in (3, 2, 5, 7):
        assert sampling.clash(np.array([2, 1, node, 8]), 3, positives, 1, 4)
    assert not sampling.clash(np.array([2, 1, 4, 8]), 3, positives, 1, 4)  # the first entry is the positive itself
    assert not sampling.clash(np.array([2, 99]), 3, positives, 1, 4)


NO_LOTS = np.empty(0, np.int32)


def test_negatives_exclude_the_head_and_its_positives_and_are_uniform():
    n, draws = 12, 4000
    chosen, dice = np.zeros(6, np.int64), np.zeros(6)
    positives = np.array([99, 2, 5, 7, 99], np.int32)
    state, seen = np.uint64(1), np.zeros(n, int)
    for _ in range(draws):
        count, state = sampling.draw_negatives(chosen, dice, n, NO_LOTS, 3, positives, 1, 4, np.uint64(state))
        assert 0 <= dice.min() <= dice.max() < 1
        assert count == 6
        seen += np.bincount(chosen[1:], minlength=n)
    assert not seen[[2, 3, 5, 7]].any()
    expected = draws * 5 / 8
    rest = np.delete(seen, [2, 3, 5, 7])
    assert ((rest - expected) ** 2 / expected).sum() < 24.3  # chi-square, 7 degrees of freedom, p = 0.001


def test_negatives_from_lots_are_as_frequent_as_there_and_exclude_the_same():
    """Those that may not be drawn, node 2 and the head, are replaced by uniform ones."""
    n, draws, lots = 6, 4000, np.array([0, 1, 1, 1, 2, 3, 4, 4], np.int32)
    chosen, dice = np.zeros(6, np.int64), np.zeros(6)
    state, seen = np.uint64(1), np.zeros(n, int)
    for _ in range(draws):
        _, state = sampling.draw_negatives(chosen, dice, n, lots, 3, np.array([2], np.int32), 0, 1, np.uint64(state))
        seen += np.bincount(chosen[1:], minlength=n)
    assert not seen[[2, 3]].any()
    share = np.bincount(lots, minlength=n)[[0, 1, 4, 5]] / lots.size + 2 / lots.size / 4
    expected = share * draws * 5
    assert ((seen[[0, 1, 4, 5]] - expected) ** 2 / expected).sum() < 16.3  # chi-square, 3 degrees of freedom, p = 0.001


@pytest.mark.parametrize("head", [0, 7, 39, 59])
def test_many_positives_are_left_out_of_the_draw(head):
    """A node deep in a chain: nearly everything is an ancestor, and the few others are still drawn evenly."""
    n = 60
    rng = np.random.default_rng(head)
    positives = np.sort(rng.choice(np.delete(np.arange(n), head), 52, replace=False)).astype(np.int32)
    chosen, dice = np.zeros(51, np.int64), np.zeros(51)
    state, seen = np.uint64(1), np.zeros(n, int)
    for _ in range(400):
        _, state = sampling.draw_negatives(chosen, dice, n, NO_LOTS, head, positives, 0, 52, np.uint64(state))
        seen += np.bincount(chosen[1:], minlength=n)
    free = np.setdiff1d(np.arange(n), [*positives, head])
    assert set(np.flatnonzero(seen)) == set(free)
    expected = 400 * 50 / free.size
    assert ((seen[free] - expected) ** 2 / expected).sum() < 22.5  # chi-square, 6 degrees of freedom, p = 0.001


def test_no_negatives_when_every_other_node_is_positive():
    chosen = np.zeros(6, np.int64)
    both = np.array([1, 2], np.int32)
    count, _ = sampling.draw_negatives(chosen, chosen * 1.0, 3, NO_LOTS, 0, both, 0, 2, np.uint64(1))
    assert count == 1


@pytest.mark.parametrize("count", [1, 2, 3, 12, 97, 1000, 30030])
def test_every_epoch_visits_every_pair_once_in_an_order_of_its_own(count):
    orders = []
    for epoch in range(5):
        offset, stride = sampling.visiting_order(count, np.uint64(sampling.stream(0, epoch, -1)))
        order = (offset + np.arange(count) * stride) % count
        assert sorted(order) == list(range(count))
        orders.append(tuple(order))
    if count > 12:
        assert len(set(orders)) == 5


def run_epochs(vectors, first_epoch, count, seed=1, lots_until=0):
    n = vectors.shape[0]
    heads, tails = np.arange(1, n, dtype=np.int32), ((np.arange(1, n) - 1) // 3).astype(np.int32)
    ptr = np.concatenate([[0, 0], np.arange(1, n)]).astype(np.int64)
    counters = np.zeros(5)
    train.train_epochs(
        train.POINCARE, vectors, heads, tails, np.ones(n - 1), ptr, tails, np.full(count, 0.1), first_epoch,
        np.concatenate([heads, tails]), lots_until, 10, 0.999, seed, 0, 1, counters,
    )  # fmt: skip
    return counters


def test_epochs_do_not_depend_on_how_they_are_grouped():
    start = np.random.default_rng(0).uniform(-1e-3, 1e-3, (40, 2))
    together, apart, other = start.copy(), start.copy(), start.copy()
    run_epochs(together, 0, 10)
    run_epochs(apart, 0, 4)
    run_epochs(apart, 4, 6)
    run_epochs(other, 0, 10, seed=2)
    assert np.array_equal(together, apart)
    assert not np.array_equal(together, other)


def test_lots_are_for_the_first_epochs_however_they_are_grouped():
    start = np.random.default_rng(0).uniform(-1e-3, 1e-3, (40, 2))
    uniform, together, apart, later = (start.copy() for _ in range(4))
    run_epochs(uniform, 0, 10)
    run_epochs(together, 0, 10, lots_until=6)
    run_epochs(apart, 0, 4, lots_until=6)
    run_epochs(apart, 4, 6, lots_until=6)
    run_epochs(later, 6, 10, lots_until=6)
    assert np.array_equal(together, apart)
    assert not np.array_equal(together, uniform)
    plain = start.copy()
    run_epochs(plain, 6, 10)
    assert np.array_equal(later, plain)


def test_a_nan_is_reported_with_epoch_and_node():
    vectors = np.random.default_rng(0).uniform(-1e-3, 1e-3, (40, 2))
    vectors[7] = np.nan
    counters = run_epochs(vectors, 5, 3)
    assert counters[train.FAILED_EPOCH] == 5
    assert 0 < counters[train.FAILED_NODE] < 40


def test_training_lowers_the_loss():
    vectors = np.random.default_rng(0).uniform(-1e-3, 1e-3, (40, 5))
    first = run_epochs(vectors, 0, 1)
    run_epochs(vectors, 1, 200)
    last = run_epochs(vectors, 201, 1)
    assert last[train.LOSS] / last[train.WEIGHT] < 0.3 * first[train.LOSS] / first[train.WEIGHT]
