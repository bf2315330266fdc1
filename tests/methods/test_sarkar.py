"""The combinatorial construction: its edges, its directions, its guarantee, and the precision it says it needs."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import trees
from treeball import Embedding, Hierarchy, InputError
from treeball.evaluation import distortion
from treeball.geometry import poincare
from treeball.geometry.directions import even_directions, smallest_angle
from treeball.limits import BALL_RADIUS, radius_resolution
from treeball.methods import sarkar
from treeball.methods.sarkar import construct, scale_needed


def hierarchy_of(edges):
    return Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent)


def edge_lengths(vectors, hierarchy):
    below = np.flatnonzero(hierarchy.primary_parent >= 0)
    return poincare.distance(vectors[below], vectors[hierarchy.primary_parent[below]])


def angles_at(node, vectors, neighbors):
    """Angles (k, k) between the ways from a node to its neighbours."""
    seen = poincare.recentre(vectors[neighbors], vectors[node])
    seen /= np.linalg.norm(seen, axis=1, keepdims=True)
    return np.arccos(np.clip(seen @ seen.T, -1, 1))


def measured(result, hierarchy):
    return distortion(Embedding(result.vectors, hierarchy))


# ---- edges and angles ----


@given(edges=st.one_of(trees.trees(), trees.dags()), dim=st.integers(2, 5))
@settings(max_examples=60)
def test_every_edge_has_the_length_it_says(edges, dim):
    hierarchy = hierarchy_of(edges)
    result = construct(hierarchy, dim, max_radius=20.0)
    assert result.vectors.shape == (edges.n, dim)
    assert result.clamped == 0
    assert not result.vectors[hierarchy.root].any()
    # Storing coordinates at radius 20 costs some 1e-8, see poincare.from_radius.
    assert edge_lengths(result.vectors, hierarchy) == pytest.approx(result.scale, abs=10 * radius_resolution(20.0))
    assert poincare.radius(result.vectors).max() <= 20.0 + 10 * radius_resolution(20.0)


@pytest.mark.parametrize("dim", [2, 3, 6])
def test_angles_at_every_node_are_those_of_the_code(dim):
    hierarchy = hierarchy_of(trees.preferential(150, 3))
    result = construct(hierarchy, dim, max_radius=15.0)
    for node in range(hierarchy.n_nodes):
        neighbors = np.concatenate([hierarchy.parents_of(node), hierarchy.children_of(node)])
        found = np.sort(angles_at(node, result.vectors, neighbors), axis=None)
        code = even_directions(neighbors.size, dim)
        assert found == pytest.approx(np.sort(np.arccos(np.clip(code @ code.T, -1, 1)), axis=None), abs=1e-6)


@pytest.mark.parametrize("dim", [2, 3, 10])
def test_a_chain_is_a_straight_line(dim):
    hierarchy = hierarchy_of(trees.chain(60))
    result = construct(hierarchy, dim, scale=0.25)
    steps = np.abs(np.arange(60)[:, None] - np.arange(60)[None])
    distances = poincare.distance(result.vectors[:, None], result.vectors[None])
    assert distances == pytest.approx(0.25 * steps, abs=1e-8)
    assert measured(result, hierarchy).worst == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("dim", [2, 3, 5])
def test_a_long_chain_uses_short_edges(dim):
    result = construct(hierarchy_of(trees.chain(1001)), dim)
    assert result.scale == BALL_RADIUS / 1000
    assert poincare.radius(result.vectors[-1]) == pytest.approx(BALL_RADIUS, abs=0.01)


def test_a_star_in_the_plane_is_symmetric():
    result = construct(hierarchy_of(trees.star(1001)), 2, scale=5.0)
    assert poincare.radius(result.vectors[1:]) == pytest.approx(5.0, abs=1e-12)
    gaps = poincare.distance(result.vectors[1:], np.roll(result.vectors[1:], 1, axis=0))
    assert gaps == pytest.approx(gaps[0], rel=1e-9)
    # The hyperbolic law of sines in half the triangle: sinh(gap / 2) = sinh(5) sin(2π / 1000 / 2).
    assert math.sinh(gaps[0] / 2) == pytest.approx(math.sinh(5.0) * math.sin(math.pi / 1000), rel=1e-9)


@pytest.mark.parametrize("dim", [3, 10])
def test_a_star_of_a_thousand_in_space(dim):
    hierarchy = hierarchy_of(trees.star(1001))
    result = construct(hierarchy, dim)
    assert edge_lengths(result.vectors, hierarchy) == pytest.approx(result.scale, abs=0.01)
    assert Embedding(result.vectors, hierarchy).evaluate().map == 1.0


def test_a_single_node_is_the_origin():
    result = construct(Hierarchy.from_codes(["only"], [], []), 3)
    assert result.vectors.tolist() == [[0.0, 0.0, 0.0]]
    assert result.clamped == 0


def test_two_nodes_need_no_room_to_bend():
    result = construct(hierarchy_of(trees.chain(2)), 2)
    assert 0 < result.scale == result.scale_for_epsilon < BALL_RADIUS


def test_a_dag_is_placed_by_its_primary_parents():
    hierarchy = Hierarchy.from_codes(list("rabc"), [1, 2, 3, 3], [0, 0, 2, 1])
    result = construct(hierarchy, 2, scale=3.0)
    assert poincare.distance(result.vectors[3], result.vectors[2]) == pytest.approx(3.0)
    assert poincare.distance(result.vectors[3], result.vectors[1]) > 6.0


def test_nodes_in_blocks_are_those_in_one_piece(monkeypatch):
    hierarchy = hierarchy_of(trees.preferential(300, 5))
    whole = construct(hierarchy, 3).vectors
    monkeypatch.setattr(sarkar, "_BLOCK", 8)
    assert np.allclose(construct(hierarchy, 3).vectors, whole, rtol=0, atol=1e-15)


# ---- directions ----


@pytest.mark.parametrize(
    ("size", "dim", "degrees", "short_by"),
    [
        (7, 2, 360 / 7, 1e-9),
        (4, 3, math.degrees(math.acos(-1 / 3)), 1e-9),  # tetrahedron
        (6, 3, 90.0, 1e-9),  # octahedron
        (11, 10, math.degrees(math.acos(-1 / 10)), 1e-9),  # simplex
        (13, 10, 90.0, 1e-9),
        (12, 3, 63.4349, 0.005),  # icosahedron
        (24, 3, 43.6908, 0.02),
        (24, 4, 60.0, 0.045),  # 24-cell
        (40, 5, 60.0, 0.03),  # D5 kissing arrangement
    ],
)
def test_codes_come_near_the_best_angles_known(size, dim, degrees, short_by):
    assert (1 - short_by) * degrees <= math.degrees(smallest_angle(size, dim)) <= degrees * (1 + 1e-6)


@pytest.mark.parametrize(("size", "dim"), [(1, 2), (1, 5), (2, 5), (5, 4), (8, 4), (9, 4), (50, 3), (1500, 4)])
def test_codes_are_unit_vectors_with_the_angle_reported(size, dim):
    code = even_directions(size, dim)
    assert code.shape == (size, dim)
    assert np.linalg.norm(code, axis=1) == pytest.approx(1.0, abs=1e-14)
    cosines = code @ code.T - 3 * np.eye(size)
    expected = math.pi if size == 1 else math.acos(max(-1.0, cosines.max()))
    # Of a large code what is reported is a bound, and a tight one.
    assert smallest_angle(size, dim) == pytest.approx(expected, abs=1e-7 if size <= 1024 else 2e-3)
    assert smallest_angle(size, dim) <= expected + 1e-7
    with pytest.raises(ValueError, match="read-only"):
        code[0, 0] = 2.0


def test_thousands_of_points_spread_far_better_than_chance():
    chance = np.random.default_rng(0).normal(size=(1500, 4))
    chance /= np.linalg.norm(chance, axis=1, keepdims=True)
    by_chance = math.acos((chance @ chance.T - 3 * np.eye(1500)).max())
    assert smallest_angle(1500, 4) > 5 * by_chance


def test_the_same_seed_gives_the_same_code_and_another_seed_another():
    first = np.array(even_directions(40, 5, 1))
    even_directions.cache_clear()
    assert np.array_equal(first, even_directions(40, 5, 1))
    assert not np.allclose(first, even_directions(40, 5, 2))


# ---- distortion ----


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("dim", [2, 3, 6])
@pytest.mark.parametrize(
    "edges",
    [trees.star(30), trees.balanced(2, 2), trees.balanced(3, 2), trees.caterpillar(7), trees.preferential(12, 1)],
    ids=["star", "binary", "ternary", "caterpillar", "preferential"],
)
def test_distortion_keeps_the_promise_where_float64_can_hold_it(edges, dim, epsilon):
    hierarchy = hierarchy_of(edges)
    result = construct(hierarchy, dim, epsilon=epsilon, max_radius=33.0)
    if result.scale < result.scale_for_epsilon:
        assert result.scale == 33.0 / hierarchy.depth.max()
        assert result.bits_needed > 45
        return
    assert "that distortion" in result.note
    assert measured(result, hierarchy).worst <= 1.0 + epsilon


def test_some_of_the_promises_above_are_put_to_the_test():
    for epsilon in (0.1, 0.3, 1.0):
        result = construct(hierarchy_of(trees.balanced(2, 2)), 2, epsilon=epsilon)
        assert result.scale == result.scale_for_epsilon


@pytest.mark.parametrize("degree", [3, 6, 60])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0])
def test_the_promise_on_the_sharpest_spiral_that_a_tree_can_hold(degree, epsilon):
    # A way that turns by the smallest angle at every node, always to the same side, with as many bits as it takes.
    angle = 2 * math.pi / degree
    scale = scale_needed(angle, epsilon)
    with mpmath.workdps(60 + int(2 * 12 * scale / math.log(10))):
        cosh, sinh, cos, sin = mpmath.cosh(scale), mpmath.sinh(scale), mpmath.cos(angle), mpmath.sin(angle)
        walk = mpmath.matrix([[cosh, sinh, 0], [sinh, cosh, 0], [0, 0, 1]])
        turn = mpmath.matrix([[1, 0, 0], [0, -cos, -sin], [0, sin, -cos]])  # by π - angle
        place = walk
        for edges in range(1, 12):
            # The origin of the hyperboloid goes to the first column of `place`.
            assert edges * scale / mpmath.acosh(place[0, 0]) <= 1 + epsilon
            place = place * turn * walk


def test_the_planar_scale_is_the_published_one():
    hierarchy = hierarchy_of(trees.balanced(5, 3))  # degree 6 inside
    assert construct(hierarchy, 2, epsilon=0.2).scale_for_epsilon == pytest.approx(
        1.2 / 0.2 * 2 * math.log(6 / (math.pi / 2))
    )


def test_distortion_falls_with_the_edge_length():
    hierarchy = hierarchy_of(trees.balanced(3, 3))
    for dim in (2, 3):
        found = [measured(construct(hierarchy, dim, scale=s), hierarchy) for s in (1.0, 2.0, 4.0, 8.0)]
        assert all(a.worst > b.worst for a, b in pairwise(found))
        assert all(a.average > b.average for a, b in pairwise(found))


# ---- precision ----


def rounded_edge(depth, scale, bits, angle=0.7):
    """Length of the last edge of a chain after rounding its ball coordinates; inf where they leave the ball."""
    with mpmath.workprec(bits + 4 * int(depth * scale) + 200):
        points = []
        for level in (depth - 1, depth):
            norm = mpmath.tanh(mpmath.mpf(level * scale) / 2)
            exact = (norm * mpmath.cos(angle), norm * mpmath.sin(angle))
            with mpmath.workprec(bits):
                points.append([+x for x in exact])
        gaps = [1 - sum(x * x for x in point) for point in points]
        if min(gaps) <= 0:
            return math.inf
        q = sum((x - y) ** 2 for x, y in zip(*points, strict=True)) / (gaps[0] * gaps[1])
        return float(2 * mpmath.asinh(mpmath.sqrt(q)))


@pytest.mark.parametrize(("depth", "scale"), [(4, 1.0), (4, 7.5), (13, 2.3), (2, 40.0), (19, 133.1), (300, 0.1)])
@pytest.mark.parametrize("epsilon", [0.5, 0.1, 0.001])
def test_the_bits_needed_are_enough_and_not_far_from_necessary(depth, scale, epsilon):
    bits = sarkar.bits_needed(depth, scale, epsilon)
    angles = np.linspace(0.05, 1.5, 8)
    for angle in angles:
        assert rounded_edge(depth, scale, bits, angle) == pytest.approx(scale, rel=epsilon)
    # With five bits fewer there are nodes whose edge is lost.
    assert max(abs(rounded_edge(depth, scale, bits - 5, angle) - scale) for angle in angles) > epsilon * scale


def test_below_the_bits_of_the_radius_nothing_is_left():
    # At radius 80 the gap 1 - |x|² is 2^-113: with 140 bits the edge is there, with 100 the ball ends before the node.
    for angle in np.linspace(0.05, 1.5, 20):
        assert rounded_edge(2, 40.0, 140, angle) == pytest.approx(40.0, abs=1e-6)
        assert abs(rounded_edge(2, 40.0, 100, angle) - 40.0) > 5.0


def test_bits_grow_linearly_with_depth_and_scale():
    assert sarkar.bits_needed(19, 133.1, 0.1) == pytest.approx(19 * 133.1 / math.log(2), rel=0.002)
    assert sarkar.bits_needed(20, 5.0, 0.1) - sarkar.bits_needed(10, 5.0, 0.1) == pytest.approx(50 / math.log(2), abs=1)


def test_float64_really_loses_edges_beyond_its_radius():
    hierarchy = hierarchy_of(trees.balanced(2, 3))
    result = construct(hierarchy, 2, scale=14.0, max_radius=34.0)
    assert result.bits_used > result.bits_available == 53
    assert result.clamped == 8
    assert "8 nodes are held at radius 34" in result.note
    deepest = hierarchy.depth[1:] == 3
    lengths = edge_lengths(result.vectors, hierarchy)
    assert lengths[~deepest] == pytest.approx(14.0, abs=0.01)
    assert (np.abs(lengths[deepest] - 14.0) > 1.0).all()
    assert construct(hierarchy, 2).bits_used <= 53


@pytest.mark.parametrize("dim", [2, 3])
def test_many_levels_beyond_the_rim_stay_inside_the_ball(dim):
    hierarchy = hierarchy_of(trees.balanced(2, 7))
    result = construct(hierarchy, dim, scale=12.0)
    Embedding(result.vectors, hierarchy)  # refuses what is not inside
    assert result.clamped == (hierarchy.depth >= 3).sum()


def test_the_note_and_record_say_what_was_chosen():
    short = construct(hierarchy_of(trees.balanced(3, 4)), 2)
    assert short.scale == 7.5
    assert short.note.startswith("edges have length 7.5, the longest that keeps 4 levels within radius 30;")
    assert construct(hierarchy_of(trees.balanced(3, 4)), 2, scale=2).note.startswith(
        "edges have the length 2 asked for"
    )
    record = short.to_dict()
    assert list(record) == [
        "scale", "scale_for_epsilon", "bits_needed", "bits_used", "bits_available", "clamped", "note",
    ]  # fmt: skip
    assert record["bits_needed"] > 53 >= record["bits_used"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"dim": 1}, "dim must be at least 2"),
        ({"epsilon": 0.0}, "epsilon must be above 0"),
        ({"epsilon": math.nan}, "epsilon must be above 0"),
        ({"max_radius": 40.0}, "max_radius must be above 0 and at most 34"),
        ({"scale": -1.0}, "scale must be above 0"),
        ({"scale": 31.0}, "at most max_radius"),
    ],
)
def test_bad_settings_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        construct(hierarchy_of(trees.star(4)), **({"dim": 2} | wrong))
