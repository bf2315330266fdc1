"""A disk that is spread out: true distances from the centre, room for every node, and lines that follow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeball
from tests import trees
from treeball import Embedding, Hierarchy
from treeball.geometry import poincare
from treeball.geometry.models import ball_to_hyperboloid
from treeball.report.scene import make_scene
from treeball.report.spread import spread_disk, spread_lines, suitable

pytest.importorskip("matplotlib")

from matplotlib.text import Text

from treeball.cli.plot import plot
from treeball.report import figures


def hierarchy_of(edges):
    return Hierarchy.from_codes([f"node {code}" for code in range(edges.n)], edges.child, edges.parent)


@pytest.fixture(scope="module")
def far_tree():
    """A constructed 2-d model of 800 nodes, which reaches far out."""
    return treeball.fit(hierarchy_of(trees.random_tree(800, 1)), dim=2, seed=0)


def radius_and_angle(points):
    return np.linalg.norm(points, axis=1), np.arctan2(points[:, 1], points[:, 0])


def share_of_circle(angle):
    """The widest gap between neighbours around the circle, as a share of it."""
    around = np.sort(angle)
    return np.diff(np.append(around, around[0] + 2 * np.pi)).max() / (2 * np.pi)


def test_what_the_poincare_disk_shows_on_its_rim_fills_the_spread_one(far_tree):
    rim = 1.0 - np.linalg.norm(far_tree.ball(), axis=1)
    assert np.median(rim) < 0.003  # two pixels of 640
    view = make_scene(far_tree, None, projection=None)
    assert view.lines == "spread"
    radius, angle = radius_and_angle(view.points)
    assert np.median(radius) < 0.9
    assert share_of_circle(angle) < 0.02
    # Distances from the centre are to scale, and nobody overtakes another on the way around.
    true = poincare.radius(far_tree.ball())
    assert np.allclose(radius * view.reach, true, rtol=1e-9)
    assert view.reach == true.max()
    away = true > 0  # the centre has no angle
    before, angle = np.arctan2(*far_tree.ball()[away].T[::-1]), angle[away]
    around = np.mod(angle - angle[np.argmin(before)], 2 * np.pi)
    around[np.abs(around - 2 * np.pi) < 1e-9] = 0.0
    assert (np.diff(around[np.argsort(before, kind="stable")]) >= -1e-9).all()


def test_a_subtree_that_the_vectors_hold_together_is_a_sector(far_tree):
    hierarchy = far_tree.hierarchy
    view = make_scene(far_tree, None, projection="spread")
    _, angle = radius_and_angle(view.points)
    top = hierarchy.children_of(hierarchy.root)
    sizes = (hierarchy.interval_out - hierarchy.interval_in)[top]
    branch = int(top[sizes.argmax()])
    begin, end = hierarchy.interval_in[branch], hierarchy.interval_out[branch]
    inside = (hierarchy.interval_in >= begin) & (hierarchy.interval_in < end)
    middle = np.angle(np.exp(1j * angle[inside]).mean())
    reach = np.abs(np.angle(np.exp(1j * (angle[inside] - middle)))).max()
    outside = np.abs(np.angle(np.exp(1j * (angle[~inside & (np.arange(len(angle)) != hierarchy.root)] - middle))))
    assert outside.min() > 0.8 * reach


def test_two_dimensions_stay_in_the_poincare_disk_where_they_are_to_be_seen():
    near = poincare.from_radius(np.random.default_rng(0).normal(size=(200, 2)), np.linspace(0, 6, 200))
    assert suitable(near) == "disk"
    view = make_scene(Embedding(near, hierarchy_of(trees.random_tree(200, 0))), None, projection=None)
    assert view.lines == "geodesics"
    assert np.array_equal(view.points, near)


def test_nodes_on_one_ray_stay_on_one():
    points = poincare.from_radius(np.array([[1.0, 2.0]] * 5 + [[-1.0, 0.5]]), [0.0, 5, 9, 12, 15, 9])
    placed = spread_disk(points, np.ones(6, bool))
    _, angle = radius_and_angle(placed.points[1:5])
    assert np.allclose(angle, angle[0])


@pytest.mark.parametrize("geometry", ["poincare", "lorentz", "euclidean"])
def test_more_dimensions_keep_the_distances_from_the_node_in_the_middle(geometry):
    hierarchy = hierarchy_of(trees.balanced(3, 4))
    vectors = np.random.default_rng(0).normal(size=(hierarchy.n_nodes, 5))
    if geometry != "euclidean":
        vectors = poincare.from_radius(vectors, np.linspace(0.1, 9.0, hierarchy.n_nodes))
    if geometry == "lorentz":
        vectors = ball_to_hyperboloid(vectors)
    embedding = Embedding(vectors, hierarchy, geometry)
    for focus in (None, "node 1"):
        view = make_scene(embedding, None, focus=focus, projection=None)
        middle = hierarchy.root if focus is None else 1
        true = embedding.space.distance(embedding.vectors, embedding.vectors[middle])
        assert np.allclose(np.linalg.norm(view.points, axis=1) * view.reach, true)
    # Seen from node 1, its own subtrees and the rest of the tree are in sectors that do not meet.
    _, angle = radius_and_angle(view.points)
    turn = np.mod(angle, 2 * np.pi) / (2 * np.pi)
    own = np.asarray([hierarchy.interval_in[1] < begin < hierarchy.interval_out[1] for begin in hierarchy.interval_in])
    rest = ~own
    rest[1] = False
    assert turn[own].max() < turn[rest].min()


def test_lines_end_at_the_nodes_and_never_leave_the_ring_between_them():
    rng = np.random.default_rng(3)
    start, end = (rng.normal(size=(400, 2)) * 0.4 for _ in range(2))
    start[0] = 0.0  # the centre has no angle
    end[1] = start[1] * 1.5  # no turn at all
    for a, b, line in zip(start, end, spread_lines(start, end), strict=True):
        assert np.array_equal(line[0], a)
        assert np.array_equal(line[-1], b)
        radius = np.linalg.norm(line, axis=1)
        low, high = sorted((np.linalg.norm(a), np.linalg.norm(b)))
        assert (radius > low - 1e-9).all()
        assert (radius < high + 1e-9).all()
    assert len(spread_lines(start, end)[1]) == 2


def test_the_picture_says_how_it_is_to_be_read(far_tree, tmp_path):
    def words(figure):
        return " ".join(text.get_text() for text in figure.findobj(Text)).replace("\n", " ")

    assert "angles are widened where nodes crowd" in words(figures.disk(far_tree, evaluation=False))
    figure = figures.disk(far_tree, evaluation=False, projection="disk")
    assert "Spread out" not in words(figure)
    deep = treeball.fit("example:mammals", dim=5)
    drawn: Any = figures.disk(deep)
    assert "as far from the middle one as in 5 dimensions" in words(drawn)
    rings = [patch for patch in drawn.axes[0].patches if patch.get_gid() == "ring"]
    reach = deep.space.distance(deep.vectors, deep.vectors[deep.hierarchy.root]).max()
    numbers = [float(text.get_text()) for text in drawn.axes[0].texts if text.get_text().replace(".", "").isdigit()]
    assert [ring.radius * reach for ring in rings] == pytest.approx(numbers)
    assert len(rings) >= 2


def test_plot_takes_models_of_any_dimension(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    treeball.fit("example:mammals", dim=10).save("deep.parquet")
    assert plot(Path("deep.parquet"), title="Mammals") == 0
    assert Path("deep.png").stat().st_size > 50_000
    with pytest.raises(treeball.InputError, match=r"this embedding has 10: fit one with dim 2 .*--projection spread"):
        plot(Path("deep.parquet"), projection="disk")
