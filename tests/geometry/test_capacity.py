"""Local capacity: the geometry behind it, known spherical codes, greedy packings, and where the paper's bounds hold."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.geometry.samples import every_dimension
from treeball.geometry import capacity, poincare
from treeball.geometry._float64 import FloatArray

GOLDEN = (1 + math.sqrt(5)) / 2


# Spherical codes, by their definition


def polygon(n: int) -> FloatArray:
    angles = 2 * np.pi * np.arange(n) / n
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def icosahedron() -> FloatArray:
    corners = [np.roll([0.0, a, b * GOLDEN], i) for a, b in itertools.product((1, -1), repeat=2) for i in range(3)]
    return np.array(corners) / math.hypot(1.0, GOLDEN)


def cross_polytope(dim: int) -> FloatArray:
    return np.concatenate([np.eye(dim), -np.eye(dim)])


def roots_of_d(dim: int) -> FloatArray:
    """±e_i ± e_j: the kissing configuration in dimensions 3 to 5 (12, 24, 40 neighbours, 60 degrees apart)."""
    rows = []
    for i, j in itertools.combinations(range(dim), 2):
        for a, b in itertools.product((1, -1), repeat=2):
            row = np.zeros(dim)
            row[i], row[j] = a, b
            rows.append(row)
    return np.array(rows) / math.sqrt(2.0)


def roots_of_e8() -> FloatArray:
    halves = [s for s in itertools.product((0.5, -0.5), repeat=8) if math.prod(s) > 0]
    return np.concatenate([roots_of_d(8), np.array(halves) / math.sqrt(2.0)])


def roots_of_e6() -> FloatArray:
    """The 72 roots of E8 orthogonal to an A2: the kissing configuration in 6 dimensions, in an orthonormal basis."""
    e8 = roots_of_e8()
    first = e8[0]
    second = e8[np.flatnonzero(np.isclose(e8 @ first, -0.5))[0]]
    inside = e8[np.isclose(e8 @ first, 0.0) & np.isclose(e8 @ second, 0.0)]
    basis = np.linalg.svd(inside, full_matrices=False)[2][:6]
    return inside @ basis.T


def cell_600() -> FloatArray:
    """The 120 unit icosians: 36 degrees apart in 4 dimensions."""
    even = [
        p
        for p in itertools.permutations(range(4))
        if sum(p[i] > p[j] for i, j in itertools.combinations(range(4), 2)) % 2 == 0
    ]
    rows = list(cross_polytope(4)) + [np.array(s) / 2 for s in itertools.product((1.0, -1.0), repeat=4)]
    for signs in itertools.product((1.0, -1.0), repeat=3):
        base = np.array([GOLDEN * signs[0], signs[1], signs[2] / GOLDEN, 0.0]) / 2
        rows += [base[list(p)] for p in even]
    return np.array(rows)


def latitude_rings(angle: float) -> FloatArray:
    """A plain code of an angle in 3 dimensions: rings `angle` apart, each filled with points `angle` apart."""
    rows = [np.array([[0.0, 0.0, 1.0]])]
    for colatitude in np.arange(angle, np.pi + 1e-9, angle):
        ratio = math.sin(angle / 2) / max(math.sin(colatitude), 1e-12)
        count = int(math.pi / math.asin(ratio) + 1e-9) if ratio < 1 else 1
        if count == 1 and np.pi - colatitude < 1e-6:
            rows.append(np.array([[0.0, 0.0, -1.0]]))
            continue
        turn = 2 * np.pi * np.arange(count) / count
        ring = np.stack([np.sin(colatitude) * np.cos(turn), np.sin(colatitude) * np.sin(turn)], axis=-1)
        rows.append(np.concatenate([ring, np.full((count, 1), np.cos(colatitude))], axis=-1))
    return np.concatenate(rows)


def smallest_angle(code: FloatArray) -> float:
    chords = np.linalg.norm(code[:, None] - code, axis=-1)
    np.fill_diagonal(chords, np.inf)
    return float(2 * np.arcsin(chords.min() / 2))


def greedy_code(angle: float, dim: int, tries: int, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    chosen = np.empty((0, dim))
    for _ in range(tries):
        x = rng.normal(size=dim)
        x /= np.linalg.norm(x)
        if chosen.size == 0 or np.max(chosen @ x) <= math.cos(angle):
            chosen = np.vstack([chosen, x])
    return chosen


KNOWN_CODES = {
    "icosahedron": icosahedron(),
    "octahedron": cross_polytope(3),
    "fcc neighbours": roots_of_d(3),
    "24-cell": roots_of_d(4),
    "600-cell": cell_600(),
    "D5": roots_of_d(5),
    "E6": roots_of_e6(),
    "E8": roots_of_e8(),
    "cross polytope 16": cross_polytope(16),
}
every_known_code = pytest.mark.parametrize("name", list(KNOWN_CODES))


def test_the_known_codes_are_what_they_claim() -> None:
    sizes = {name: len(code) for name, code in KNOWN_CODES.items()}
    assert sizes == {
        "icosahedron": 12,
        "octahedron": 6,
        "fcc neighbours": 12,
        "24-cell": 24,
        "600-cell": 120,
        "D5": 40,
        "E6": 72,
        "E8": 240,
        "cross polytope 16": 32,
    }
    assert math.degrees(smallest_angle(icosahedron())) == pytest.approx(63.4349, abs=1e-4)
    assert math.degrees(smallest_angle(cell_600())) == pytest.approx(36.0, abs=1e-9)
    for name in ("fcc neighbours", "24-cell", "D5", "E6", "E8"):
        assert math.degrees(smallest_angle(KNOWN_CODES[name])) == pytest.approx(60.0, abs=1e-9)


# theta_r and its inverse


@given(st.floats(0.01, 30.0), st.integers(2, 6))
def test_at_theta_siblings_are_as_far_from_each_other_as_from_their_parent(radius: float, dim: int) -> None:
    theta = float(capacity.theta(radius))
    directions = np.zeros((2, dim))
    directions[0, 0] = 1.0
    directions[1, :2] = math.cos(theta), math.sin(theta)
    children = poincare.from_radius(directions, np.full(2, radius))
    # Relative 2^-53 in the coordinates is 2^-54 e^r in distance.
    allowed = 1e-12 + 8 * 2.0**-54 * math.exp(radius)
    assert abs(poincare.distance(children[0], children[1]) - radius) <= allowed


def test_the_main_texts_theta_is_too_small_by_a_factor_two() -> None:
    """With arcsin alone the siblings end up nearer to each other than to their parent: capacity illness."""
    for radius in (1.0, 3.0, 8.0):
        short = math.asin(1 / (2 * math.cosh(radius / 2)))
        assert 2 * short == pytest.approx(capacity.theta(radius), rel=1e-15)
        children = poincare.from_radius([[1.0, 0.0], [math.cos(short), math.sin(short)]], np.array([radius, radius]))
        assert poincare.distance(children[0], children[1]) < 0.9 * radius


def test_theta_matches_mpmath_and_its_asymptote() -> None:
    radii = np.array([0.0, 1e-8, 0.1, 1.0, 10.0, 34.0, 100.0, 1500.0])
    for r, theta in zip(radii, capacity.theta(radii), strict=True):
        want = 2 * mpmath.asin(1 / (2 * mpmath.cosh(mpmath.mpf(r) / 2)))
        assert abs(theta - want) <= 4e-16 * want + mpmath.mpf(5e-324)
    assert capacity.theta(0.0) == pytest.approx(math.pi / 3, rel=1e-15)
    assert capacity.theta(20.0) == pytest.approx(2 * math.exp(-10.0), rel=1e-8)


@given(st.floats(1e-3, 300.0))
def test_radius_for_angle_inverts_theta(radius: float) -> None:
    # Near r = 0 theta is flat (pi/3 - r²/(4 sqrt 3) ...), so a rounding of theta is worth u / r.
    assert capacity.radius_for_angle(capacity.theta(radius)) == pytest.approx(radius, rel=1e-14, abs=1e-14 / radius)


def test_wide_angles_need_no_radius() -> None:
    np.testing.assert_array_equal(capacity.radius_for_angle([math.pi / 3 + 1e-9, 2.0, math.pi]), 0.0)


@given(st.floats(0.01, 12.0), st.floats(0.01, 12.0))
def test_siblings_at_different_distances(first: float, second: float) -> None:
    """There the farther one is as far from its sibling as from the parent; the paper's theta is a special case."""
    angle = float(capacity.angle_between_siblings(first, second))
    longer = max(first, second)
    children = poincare.from_radius([[1.0, 0.0], [math.cos(angle), math.sin(angle)]], np.array([first, second]))
    allowed = 1e-12 + 16 * 2.0**-54 * (math.exp(first) + math.exp(second))
    assert abs(poincare.distance(children[0], children[1]) - longer) <= allowed
    assert capacity.angle_between_siblings(first, first) == pytest.approx(capacity.theta(first), rel=1e-14)
    never_more = math.acos(math.tanh(min(first, second) / 2))
    assert angle <= capacity.angle_between_siblings(min(first, second), np.inf) * (1 + 1e-12)
    assert capacity.angle_between_siblings(min(first, second), np.inf) == pytest.approx(never_more, rel=1e-9)


@given(st.integers(2, 4), st.integers(0, 10_000))
def test_pushing_children_out_to_the_sphere_keeps_them_apart(dim: int, seed: int) -> None:
    """Why the capacity of a ball is that of its sphere: whatever fits inside at mixed distances fits on the rim."""
    rng = np.random.default_rng(seed)
    points = poincare.from_radius(rng.normal(size=(40, dim)), 4.0 * rng.random(40) ** 0.5)
    kept: list[int] = []
    radii = poincare.radius(points)
    for i in range(40):
        apart = poincare.distance(points[i], points[kept])
        if np.all(apart > np.maximum(radii[i], radii[kept])):
            kept.append(i)
    pushed = poincare.from_radius(points[kept], np.full(len(kept), 4.0))
    distances = poincare.distance(pushed[:, None], pushed)
    np.fill_diagonal(distances, np.inf)
    assert distances.min() > 4.0 - 1e-9


# The bounds as pinned


def test_bounds_are_the_closed_forms() -> None:
    r = 3.0
    assert capacity.lower_bound(r, 2) == pytest.approx(math.pi * math.exp(r / 2), rel=1e-13)
    for d in (3, 10, 16):
        want = math.sqrt(2 * math.pi * d) * 2.0 ** (1 - d) * math.exp((d - 1) * r / 2)
        assert capacity.lower_bound(r, d) == pytest.approx(want, rel=1e-13)
    for d in (17, 64):
        want = math.sqrt(2 * math.pi) * math.log(2 / math.sqrt(3)) * d**1.5 * 2.0 ** (1 - d)
        assert capacity.lower_bound(r, d) == pytest.approx(want * math.exp((d - 1) * r / 2), rel=1e-12)
    assert capacity.upper_bound(r, 2) == pytest.approx(math.pi * math.exp(r / 2), rel=1e-13)
    assert capacity.upper_bound(r, 5) == pytest.approx(2.0**5 * math.exp(5 * r / 2), rel=1e-13)


def test_nothing_overflows_in_128_dimensions() -> None:
    assert np.isfinite(capacity.log_lower_bound(40.0, 128))
    assert np.isfinite(capacity.log_ceiling(40.0, 128))
    assert capacity.upper_bound(40.0, 128) == np.inf
    assert capacity.lower_bound(0.0, 128) > 0.0
    assert not capacity.insufficient(10**9, 40.0, 128)


@every_dimension
def test_radius_needed_inverts_the_bounds(dim: int) -> None:
    children = np.array([7, 100, 5000, 10**6, 10**12])
    for needed, bound in (
        (capacity.radius_needed_lower, capacity.log_lower_bound),
        (capacity.radius_needed_upper, capacity.log_upper_bound),
    ):
        radii = needed(children, dim)
        inside = radii > 0.0
        np.testing.assert_allclose(bound(radii, dim)[inside], np.log(children)[inside], rtol=1e-12)
        assert np.all(bound(0.0, dim) >= np.log(children)[~inside])
        np.testing.assert_array_equal(needed([0, 1], dim), 0.0)
    if dim > 2:
        assert np.all(capacity.radius_needed_upper(children, dim) < capacity.radius_needed_lower(children, dim))


@every_dimension
def test_insufficient_agrees_with_the_radius_needed(dim: int) -> None:
    children = np.array([2, 5, 40, 401])
    needed = capacity.radius_needed_lower(children, dim)
    # In two dimensions pi children fit at radius 0, so two are content there.
    tight = needed > 0
    assert not capacity.insufficient(children, needed + 1e-9, dim).any()
    np.testing.assert_array_equal(capacity.insufficient(children, needed - 1e-9, dim), tight)
    assert not capacity.insufficient(0, 0.0, dim)
    assert capacity.insufficient(children[:, None], np.linspace(0, 5, 7), dim).shape == (4, 7)


@pytest.mark.parametrize("dim", [-1, 0, 1])
def test_fewer_than_two_dimensions_are_refused(dim: int) -> None:
    for function in (capacity.lower_bound, capacity.upper_bound, capacity.guaranteed, capacity.ceiling):
        with pytest.raises(ValueError, match="dimensions"):
            function(1.0, dim)


# The plane, where everything is exact


@given(st.integers(3, 5000))
def test_in_the_plane_polygons_are_exact(n: int) -> None:
    angle = 2 * math.pi / n
    assert capacity.largest_planar_fan(angle) == n
    assert capacity.largest_planar_fan(angle * (1 + 1e-12)) == n - 1
    assert capacity.largest_planar_fan(angle * (1 - 1e-12)) == n


def test_planar_codes_of_wide_angles() -> None:
    np.testing.assert_array_equal(capacity.largest_planar_fan([math.pi, 3.2, 2.0]), [2, 1, 3])


@given(st.floats(0.0, 12.0))
def test_in_the_plane_the_lower_bound_holds_and_the_upper_one_is_passed_by_at_most_three(radius: float) -> None:
    exact = int(capacity.largest_planar_fan(capacity.theta(radius)))
    bound = float(capacity.lower_bound(radius, 2))
    assert math.floor(bound) <= exact
    # The same number serves as upper bound, which it is not: 2 pi / theta_r exceeds it by up to 2.9 e^(-r/2).
    assert exact <= bound + 2.9 * math.exp(-radius / 2)


def test_in_the_plane_the_upper_bound_is_passed_even_at_large_radius() -> None:
    radius = float(capacity.radius_for_angle(2 * math.pi / 1000))
    assert capacity.largest_planar_fan(capacity.theta(radius) * (1 - 1e-12)) == 1000
    assert capacity.upper_bound(radius, 2) < 1000


# True bounds


@every_dimension
def test_cap_fraction_matches_mpmath(dim: int) -> None:
    for angle in (1e-6, 0.01, 0.3, math.pi / 3):
        m = mpmath.mpf(dim - 1) / 2
        want = mpmath.log(mpmath.betainc(m, 0.5, 0, mpmath.sin(angle) ** 2, regularized=True) / 2)
        got = capacity.log_cap_fraction(angle, dim)
        assert abs(float(got - want)) <= 1e-14 * max(abs(float(want)), 10.0)


@every_known_code
def test_known_codes_lie_between_guarantee_and_ceiling(name: str) -> None:
    """The guarantee is one for every code that cannot be extended, hence for the best known ones."""
    code = KNOWN_CODES[name]
    radius = capacity.radius_for_angle(smallest_angle(code))
    dim = code.shape[1]
    if name != "cross polytope 16":  # which is far from the best for 60 degrees: 4320 are known
        assert len(code) >= capacity.guaranteed(radius, dim)
    assert len(code) <= capacity.ceiling(radius, dim) * (1 + 1e-12)


@every_known_code
def test_known_codes_work_in_the_ball_and_reach_the_lower_bound(name: str) -> None:
    """Placed around any node at the radius their angle asks for, no child is nearer to a sibling than to the parent."""
    code = KNOWN_CODES[name]
    dim = code.shape[1]
    radius = float(capacity.radius_for_angle(smallest_angle(code))) + 1e-3
    parent = poincare.from_radius(np.arange(1.0, dim + 1), 3.0)
    children = poincare.mobius_add(parent, poincare.from_radius(code, np.full(len(code), radius)))
    apart = poincare.distance(children[:, None], children)
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > poincare.distance(parent, children).max()
    assert len(code) >= capacity.lower_bound(radius, dim)
    assert not capacity.insufficient(math.floor(capacity.lower_bound(radius, dim)), radius, dim)


@pytest.mark.parametrize("radius", [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
def test_in_space_even_plain_rings_reach_the_lower_bound(radius: float) -> None:
    angle = float(capacity.theta(radius))
    code = latitude_rings(angle)
    assert smallest_angle(code) >= angle - 1e-9
    assert capacity.lower_bound(radius, 3) <= len(code) <= capacity.ceiling(radius, 3)
    assert len(code) <= capacity.upper_bound(radius, 3)


@pytest.mark.parametrize(("dim", "radius"), [(3, 0.5), (3, 2.0), (4, 0.6), (4, 1.5), (5, 1.0), (8, 0.4)])
def test_greedy_packings_respect_the_upper_bounds(dim: int, radius: float) -> None:
    """At least half the guarantee (greedy stops early by running out of tries), never more than either upper bound."""
    code = greedy_code(float(capacity.theta(radius)), dim, tries=4000, seed=dim)
    assert smallest_angle(code) >= capacity.theta(radius) - 1e-12
    assert len(code) <= capacity.ceiling(radius, dim)
    assert len(code) <= capacity.upper_bound(radius, dim)
    assert len(code) >= 0.9 * capacity.guaranteed(radius, dim)
    assert len(code) >= capacity.lower_bound(radius, dim)


@pytest.mark.parametrize("name", ["fcc neighbours", "24-cell", "D5", "E6"])
def test_the_upper_bound_fails_at_small_radius_in_three_to_six_dimensions(name: str) -> None:
    """2^d e^(dr/2) is 8, 16, 32, 64 at r = 0, where 12, 24, 40, 72 children fit: the bound needs r "not very small"."""
    code = KNOWN_CODES[name]
    dim = code.shape[1]
    assert len(code) > capacity.upper_bound(0.01, dim)
    assert smallest_angle(code) > capacity.theta(0.01)
    assert len(code) < capacity.upper_bound(0.3, dim)


@every_dimension
def test_where_the_papers_bounds_are_proved_by_volume_alone(dim: int) -> None:
    """The tables of docs/capacity.md: from where on the upper, and up to where the lower bound is beyond doubt."""
    if dim == 2:
        return
    radii = np.linspace(0.0, 20.0, 20_001)
    upper_doubtful = radii[capacity.log_upper_bound(radii, dim) < capacity.log_ceiling(radii, dim)]
    assert upper_doubtful.max() < 0.46
    excess = capacity.log_lower_bound(radii, dim) - capacity.log_guaranteed(radii, dim)
    assert radii[excess > 0.0].min() > 3.1
    # Past that the lower bound exceeds the volume argument by a fixed factor, which better codes more than make up for.
    factor = math.sqrt(dim / (dim - 1)) if dim <= 16 else math.log(2 / math.sqrt(3)) * dim
    assert math.exp(excess.max()) <= factor * 1.05
    assert factor * 1.05 < 2 * (dim - 2)


@pytest.mark.parametrize("dim", [17, 64, 128])
def test_the_asymptotic_cap_approaches_the_exact_one(dim: int) -> None:
    angle = np.array([0.05, 0.3, 0.8])
    ratio = np.exp(capacity.log_cap_fraction_asymptotic(angle, dim) - capacity.log_cap_fraction(angle, dim))
    # 1 + o(1): the next term of the expansion is of order 1/d, and grows with tan².
    assert np.abs(ratio - 1).max() < 4.0 / dim


def test_the_fan_constant_is_the_printed_one_and_tends_to_log_2_over_sqrt_3() -> None:
    for angle in (1e-6, 0.1, 0.5, 1.0):
        with mpmath.workdps(40):
            sine, cosine = mpmath.sin(angle), mpmath.cos(angle)
            exact = mpmath.log(sine**2 / mpmath.sqrt((1 - cosine) ** 2 * (1 + 2 * cosine)))
        assert float(capacity.fan_constant(angle)) == pytest.approx(float(exact), rel=1e-13)
    assert float(capacity.fan_constant(1e-9)) == pytest.approx(math.log(2 / math.sqrt(3)), rel=1e-14)


@pytest.mark.parametrize("dim", [3, 10, 16, 17, 128])
def test_the_lower_bound_is_the_size_of_a_code_of_angle_theta(dim: int) -> None:
    """The closed form replaces sin(theta_r) by 2 e^(-r/2), cos by 1 and c by its limit: equal for large r."""
    for radius, tolerance in ((10.0, 0.02), (20.0, 1e-6)):
        size = capacity.log_fan_size(capacity.theta(radius), dim)
        assert float(size) == pytest.approx(float(capacity.log_lower_bound(radius, dim)), abs=tolerance * dim)
