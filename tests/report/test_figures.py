"""Figures: the geometry they draw, what they count, and the files they become."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeball
from tests import trees
from treeball import Embedding, Hierarchy, InputError
from treeball.cli.plot import plot
from treeball.embedding import LogEntry, Provenance
from treeball.evaluation.illness import KINDS
from treeball.geometry import poincare
from treeball.geometry.models import ball_to_hyperboloid

pytest.importorskip("matplotlib")

from matplotlib import image
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.text import Text

from treeball.report import arcs, disk, figures, groups, scene
from treeball.report.table import Column

Points = np.ndarray


@pytest.fixture(scope="module")
def hierarchy():
    edges = trees.balanced(3, 3)
    return Hierarchy.from_codes([f"node {code}" for code in range(edges.n)], edges.child, edges.parent)


@pytest.fixture(scope="module")
def embedding(hierarchy):
    """Random places: some pairs are ill, in all three ways."""
    rng = np.random.default_rng(1)
    radius = 1.2 * hierarchy.depth + rng.uniform(0, 2, hierarchy.n_nodes)
    vectors = poincare.from_radius(rng.normal(size=(hierarchy.n_nodes, 2)), radius)
    return Embedding(vectors, hierarchy, provenance=Provenance(method="poincare"))


@pytest.fixture(scope="module")
def traced(hierarchy):
    points = [
        {
            "epoch": epoch,
            "loss": None if epoch == 0 else 3.0 / epoch,
            "map": epoch / 100,
            "mean_rank": 101.0 - epoch,
            "capacity": 5,
            "intra_subtree": 3,
            "inter_subtree": 100 - epoch,
            "max_radius": epoch / 10,
        }
        for epoch in range(0, 101, 10)
    ]
    log = [
        LogEntry(30, "4 of 13 inner nodes lack capacity; dilated by 2; radius 3.0 -> 6.0", {"dilated": 2.0}),
        LogEntry(60, "all inner nodes have capacity"),
    ]
    vectors = np.zeros((hierarchy.n_nodes, 5))
    return Embedding(vectors, hierarchy, provenance=Provenance(method="ga-dl", trace=tuple(points), log=tuple(log)))


def lines_of(figure, gid):
    """The drawn polylines of the collections with a name, of all axes."""
    return [
        segment
        for axes in figure.axes
        for collection in axes.collections
        if isinstance(collection, LineCollection) and collection.get_gid() == gid
        for segment in collection.get_segments()
    ]


def ill_lines(figure):
    return [line for kind in KINDS for line in lines_of(figure, f"ill {kind}")]


def words_of(figure):
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def random_points(count, seed, most_radius=20.0):
    rng = np.random.default_rng(seed)
    return poincare.from_radius(rng.normal(size=(count, 2)), rng.uniform(0, most_radius, count))


# ---- arcs ----


def test_arcs_end_at_the_nodes_and_stay_on_geodesics():
    u, v = random_points(300, 0), random_points(300, 1)
    for start, end, line in zip(u, v, arcs.geodesics(u, v), strict=True):
        assert np.array_equal(line[0], start)
        assert np.array_equal(line[-1], end)
        assert (np.linalg.norm(line, axis=1) < 1).all()
    # A point of the geodesic adds nothing to the distance of its ends; radius 5 leaves float64 room to see that.
    u, v = random_points(300, 2, 5.0), random_points(300, 3, 5.0)
    middle = arcs.geodesic_arc(u, v, 4)[:, 1:-1]
    detour = poincare.distance(u[:, None], middle) + poincare.distance(middle, v[:, None])
    assert np.allclose(detour, poincare.distance(u, v)[:, None], rtol=1e-9, atol=1e-9)


def test_arcs_lie_on_circles_that_meet_the_rim_at_right_angles():
    u, v = random_points(200, 4, 6.0), random_points(200, 5, 6.0)
    points = arcs.geodesic_arc(u, v, 8)
    # The circle through three of the points, found without what makes it a geodesic ...
    a, b, c = points[:, 0], points[:, 4], points[:, 8]
    matrix = 2 * np.stack([b - a, c - a], axis=1)
    right = np.stack([(b * b - a * a).sum(1), (c * c - a * a).sum(1)], axis=1)
    bent = np.abs(np.linalg.det(matrix)) > 1e-3  # of nearly straight ones the circle is not to be had from three points
    centre = np.linalg.solve(matrix[bent], right[bent][..., None])[..., 0]
    radius = np.linalg.norm(a[bent] - centre, axis=1)
    assert bent.sum() > 100
    # ... holds all the others, and is orthogonal to the unit circle: |centre|^2 = 1 + radius^2.
    assert np.allclose(np.linalg.norm(points[bent] - centre[:, None], axis=-1), radius[:, None], rtol=1e-9)
    assert np.allclose((centre**2).sum(axis=1), 1 + radius**2, rtol=1e-9)


def test_a_diameter_is_one_straight_piece():
    u = random_points(50, 6)
    for other in (-0.3 * u, 0.1 * u, np.zeros_like(u)):
        assert np.abs(arcs.chord_angle(u, other)).max() < 1e-15
        assert all(line.shape == (2, 2) for line in arcs.geodesics(u, other))
    fine = arcs.geodesic_arc(u, -u, 6)
    assert np.allclose(fine, u[:, None] * np.linspace(1, -1, 7)[:, None], atol=1e-15)


def test_polylines_keep_the_tolerance():
    u, v = random_points(300, 7), random_points(300, 8)
    for tolerance in (1e-2, arcs.TOLERANCE, 5e-5):
        for start, end, line in zip(u, v, arcs.geodesics(u, v, tolerance), strict=True):
            exact = arcs.geodesic_arc(start[None], end[None], 2 * (len(line) - 1))[0, 1::2]
            middle = (line[:-1] + line[1:]) / 2
            assert np.linalg.norm(exact - middle, axis=1).max() <= 1.05 * tolerance


def test_a_node_upon_its_parent_is_drawn_as_a_point():
    u = random_points(3, 9)
    assert all(np.array_equal(line, [place, place]) for place, line in zip(u, arcs.geodesics(u, u), strict=True))


# ---- the disk ----


def test_every_ill_pair_is_one_red_line_and_every_edge_one_line(embedding):
    evaluation = embedding.evaluate()
    counts = evaluation.illness.counts()
    assert all(counts.values())
    figure: Any = figures.disk(embedding, evaluation=evaluation)
    for kind in KINDS:
        assert len(lines_of(figure, f"ill {kind}")) == counts[kind]
    assert len(lines_of(figure, "edges")) == embedding.hierarchy.n_edges
    dots = [line for line in figure.axes[0].get_lines() if line.get_gid() == "nodes"]
    assert sum(len(line.get_xdata()) for line in dots) == len(embedding)
    words = words_of(figure)
    assert f"{len(evaluation.illness)} ill pairs" in words
    for kind in KINDS:
        assert f"{kind.replace('_', '-')}: {counts[kind]}" in words
    # The red lines are those of the ill pairs, not just as many.
    ends = {(tuple(line[0]), tuple(line[-1])) for line in ill_lines(figure)}
    place = embedding.vectors
    illness = evaluation.illness
    assert ends == {(tuple(place[a]), tuple(place[b])) for a, b in zip(illness.node, illness.positive, strict=True)}


def test_the_scores_are_computed_when_not_given_and_left_out_when_unwanted(embedding):
    assert len(ill_lines(figures.disk(embedding))) == len(embedding.evaluate().illness)
    assert not ill_lines(figures.disk(embedding, evaluation=False))


def test_a_lorentz_embedding_gives_the_same_picture(embedding):
    twin = Embedding(ball_to_hyperboloid(embedding.vectors), embedding.hierarchy, "lorentz", embedding.provenance)
    here, there = (lines_of(figures.disk(one), "edges") for one in (embedding, twin))
    assert all(np.allclose(a[[0, -1]], b[[0, -1]], atol=1e-9) for a, b in zip(here, there, strict=True))


def test_focus_is_moved_to_the_centre_and_depth_cuts(embedding):
    hierarchy = embedding.hierarchy
    view = scene.make_scene(embedding, embedding.evaluate(), focus="node 2", depth=1)
    assert np.allclose(view.points[2], 0)
    assert sorted(view.nodes) == sorted([2, *hierarchy.children_of(2)])
    assert np.allclose(
        poincare.distance(view.points[1], view.points[5]), poincare.distance(embedding.vectors[1], embedding.vectors[5])
    )
    assert set(view.parent) == {2}
    total = len(embedding.evaluate().illness)
    assert view.hidden_ill == total - view.ill_node.size > 0
    figure = figures.disk(embedding, focus="node 2", depth=1)
    assert len(ill_lines(figure)) == view.ill_node.size
    assert any("outside" in words for words in words_of(figure))
    assert len(scene.make_scene(embedding, None, depth=2).nodes) == 1 + 3 + 9
    with pytest.raises(InputError, match="depth must be at least 1"):
        figures.disk(embedding, depth=0)
    with pytest.raises(InputError, match="nobody"):
        figures.disk(embedding, focus="nobody")


def test_levels_below_follow_every_parent_of_a_dag():
    edges = trees.random_dag(60, 40, 3)
    hierarchy = Hierarchy.from_codes(range(edges.n), edges.child, edges.parent)
    for top in (0, 1, 5):
        level = scene.levels_below(hierarchy, top, edges.n)
        assert np.array_equal(level >= 0, hierarchy.is_ancestor(top, np.arange(edges.n)) | (np.arange(edges.n) == top))
        for node in np.flatnonzero(level > 0):
            above = level[hierarchy.parents_of(int(node))]
            assert level[node] == 1 + above[above >= 0].min()
        assert level.max() > 1 or top != 0
        assert np.array_equal(scene.levels_below(hierarchy, top, 1), np.where(level > 1, -1, level))


def test_the_inset_holds_the_most_ill_pairs_and_is_drawn_to_a_finer_tolerance(embedding):
    figure = figures.disk(embedding, inset=True, labels=False)
    zoom = figure.axes[2]
    (left, right), (bottom, top) = zoom.get_xlim(), zoom.get_ylim()
    assert 0 < right - left < 1
    places = embedding.vectors[embedding.evaluate().illness.positive]
    inside = (places > (left, bottom)).all(axis=1) & (places < (right, top)).all(axis=1)
    assert inside.any()
    asked = figures.disk(embedding, inset=(0.1, 0.3, 0.5, 0.7)).axes[2]
    assert asked.get_xlim() == (0.1, 0.3)
    assert asked.get_ylim() == (0.5, 0.7)
    dashed = [patch for patch in figure.artists if "Connection" in type(patch).__name__]
    assert len(dashed) == 2


def test_labels_touch_neither_each_other_nor_the_frame(embedding):
    figure: Any = figures.disk(embedding)
    renderer = figure.canvas.get_renderer()
    labels = [text for text in figure.axes[0].texts if text.get_text().startswith("node")]
    assert len(labels) > 10
    boxes = [text.get_window_extent(renderer) for text in labels]
    width, height = figure.canvas.get_width_height()
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= width
        assert box.y1 <= height
    assert not [text for text in figures.disk(embedding, labels=False).axes[0].texts if text.get_text()]


def test_names_become_short_labels():
    assert groups.display_name("aquatic_mammal.n.01") == "aquatic mammal"
    assert groups.display_name("snake_case") == "snake_case"
    assert groups.display_name(7) == "7"
    assert len(groups.display_name("x" * 100)) == 26


def test_colours_follow_the_large_subtrees(embedding, hierarchy):
    view = scene.make_scene(embedding, None)
    assert view.group_names == ("node 1", "node 2", "node 3", "other")
    assert view.group[0] == 3
    for child, parent in zip(*hierarchy.edges(), strict=True):
        assert parent == 0 or view.group[child] == view.group[parent]
    by_depth = scene.make_scene(embedding, None, colouring="depth")
    assert by_depth.group_names == ("0", "1", "2", "3", "other")
    assert np.array_equal(by_depth.group, hierarchy.depth)
    assert len(disk.group_colours(by_depth)) == 5


def test_a_branch_that_is_nearly_all_is_divided_into_its_own():
    edges = trees.from_parents([0, 0, 1, 1, 1, 3, 3, 4, 4, 5, 5, 2])
    hierarchy = Hierarchy.from_codes(range(edges.n), edges.child, edges.parent)
    found = groups.groups_of(hierarchy, "subtree", np.ones(edges.n, bool), hierarchy.root)
    assert found.names == ("3", "4", "5", "2", "other")
    assert found.group.tolist() == [4, 4, 3, 0, 1, 2, 0, 0, 1, 1, 2, 2, 3]


def test_a_column_gives_the_colours(embedding, hierarchy):
    shown = np.ones(hierarchy.n_nodes, bool)
    kinds = np.where(np.arange(hierarchy.n_nodes) % 2, 0.0, 1.0)
    kinds[3] = np.nan
    by_kind = groups.groups_of(hierarchy, Column("kind", kinds, ("odd", "even"), 39), shown, hierarchy.root)
    assert by_kind.names == ("odd", "even", "no value")
    assert by_kind.group[:5].tolist() == [1, 0, 1, 2, 1]
    sizes = np.where(np.arange(hierarchy.n_nodes) < 10, np.nan, np.arange(hierarchy.n_nodes))
    view = scene.make_scene(embedding, None, colouring=Column("size", sizes, None, 30))
    assert (view.legend, view.is_scale) == ("size", True)
    assert set(view.group[:10]) == {len(view.group_names) - 1}
    assert (np.diff(view.group[10:]) >= 0).all()
    assert np.bincount(view.group[10:]).min() >= 3
    assert "up to 39" in view.group_names
    words = words_of(figures.disk(embedding, colouring=Column("size", sizes, None, 30)))
    assert "size" in words
    assert "no value" in words


def test_a_path_is_labelled_by_its_last_part():
    edges = [("Garden > Tools", "Garden"), ("Garden > Tools > Saws", "Garden > Tools"), ("Gardening", "Garden")]
    hierarchy = treeball.read(edges)
    said = {hierarchy.names[code]: groups.label_of(hierarchy, code) for code in range(hierarchy.n_nodes)}
    assert said == {
        "Garden": "Garden",
        "Garden > Tools": "Tools",
        "Garden > Tools > Saws": "Saws",
        "Gardening": "Gardening",
    }


def test_a_single_node_and_a_chain_can_be_drawn():
    for edges in (trees.chain(1), trees.chain(12)):
        hierarchy = Hierarchy.from_codes(range(edges.n), edges.child, edges.parent)
        vectors = poincare.from_radius(np.tile([1.0, 0.0], (edges.n, 1)), 0.5 * np.arange(edges.n))
        figure = figures.disk(Embedding(vectors, hierarchy), inset=True)
        assert len(lines_of(figure, "edges")) >= edges.n - 1


def test_the_poincare_disk_refuses_other_dimensions_and_geometries_with_a_remedy(hierarchy):
    solid = Embedding(np.zeros((hierarchy.n_nodes, 3)), hierarchy)
    flat = Embedding(np.zeros((hierarchy.n_nodes, 2)), hierarchy, "euclidean")
    with pytest.raises(InputError, match=r"this embedding has 3: fit one with dim 2 .* spread out"):
        figures.disk(solid, projection="disk")
    with pytest.raises(InputError, match="fit one with dim 2"):
        figures.two_disks(solid, solid, ["a", "b"])
    with pytest.raises(InputError, match="Euclidean"):
        figures.disk(flat, projection="disk")


# ---- several panels ----


def test_two_disks_show_both_and_their_counts(embedding):
    other = Embedding(poincare.recentre(embedding.vectors, [0.3, 0.2]), embedding.hierarchy)
    figure = figures.two_disks(embedding, other, ["baseline", "ours"], inset=False)
    assert len(ill_lines(figure)) == 2 * len(embedding.evaluate().illness)  # an isometry keeps every illness
    assert {"baseline", "ours"} <= set(words_of(figure))
    with pytest.raises(InputError, match="two titles"):
        figures.two_disks(embedding, other, ["one"])


def test_the_learning_process_has_a_panel_for_each_epoch(embedding, hierarchy):
    rows = [[(epoch, scale * embedding.vectors) for epoch, scale in ((0, 0.01), (50, 0.5), (100, 1.0))]] * 2
    figure = figures.learning_process(rows, hierarchy, ["baseline", "ours"])
    assert len(figure.axes) == 6
    ill = [len(Embedding(vectors, hierarchy).evaluate().illness) for _, vectors in rows[0]]
    assert len(ill_lines(figure)) == 2 * sum(ill)
    assert f"epoch 100\n{ill[-1]} ill" in words_of(figure)
    with pytest.raises(InputError, match="one title"):
        figures.learning_process(rows, hierarchy, ["baseline"])


def runs(*capacities):
    return [
        {"map": 0.5, "mean_rank": np.e, "illness": {"capacity": n, "intra_subtree": 2 * n, "inter_subtree": 0}}
        for n in capacities
    ]


def test_bars_are_means_and_whiskers_deviations():
    figure: Any = figures.illness_by_setting({"Base": runs(4, 6, 8), "0.2": runs(1, 1, 4)})
    capacity, intra, _ = figure.axes
    assert [bar.get_height() for bar in capacity.patches] == [6, 2]
    assert [bar.get_height() for bar in intra.patches] == [12, 4]
    whiskers = next(item for item in capacity.collections if isinstance(item, LineCollection)).get_segments()
    assert [list(whisker[:, 1]) for whisker in whiskers] == [[4, 8], [pytest.approx(2 - 3**0.5), 2 + 3**0.5]]
    assert [tick.get_text() for tick in capacity.get_xticklabels()] == ["Base", "0.2"]
    assert any("mean of 3 seeds" in words for words in words_of(figure))


def test_score_bars_add_the_logarithm_of_the_rank_and_map():
    flat = [{"map": 0.25, "mean_rank": 1.0, "capacity": 1, "intra_subtree": 2, "inter_subtree": 3}]
    figure: Any = figures.scores_by_setting({"Base": runs(4), "DL": flat})
    assert [bar.get_height() for bar in figure.axes[2].patches] == [0, 3]
    assert [bar.get_height() for bar in figure.axes[3].patches] == [pytest.approx(1.0), 0.0]
    assert [bar.get_height() for bar in figure.axes[4].patches] == [0.5, 0.25]
    with pytest.raises(InputError, match="no run to draw for DL"):
        figures.scores_by_setting({"Base": runs(4), "DL": []})


def test_the_trace_shows_every_number_and_marks_dilations(traced):
    figure: Any = figures.trace(traced)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[:5] == ["MAP", "Mean rank", "Ill pairs", "Loss", "Largest radius"]
    by_title = dict(zip(titles, figure.axes, strict=True))
    for axes in figure.axes[:5]:
        marks = [line for line in axes.get_lines() if list(line.get_xdata()) == [30, 30]]
        assert len(marks) == 1
        assert not [line for line in axes.get_lines() if list(line.get_xdata()) == [60, 60]]
    assert list(by_title["MAP"].get_lines()[0].get_ydata()) == [epoch / 100 for epoch in range(0, 101, 10)]
    assert np.isnan(by_title["Loss"].get_lines()[0].get_ydata()[0])
    assert [line.get_label() for line in by_title["Ill pairs"].get_lines()[:3]] == [
        "capacity",
        "intra-subtree",
        "inter-subtree",
    ]
    assert any("epoch 30: 4 of 13" in words for words in words_of(figure))


def test_a_model_without_a_trace_is_refused_with_the_remedy(embedding):
    with pytest.raises(InputError, match=r"no trace .* --trace-every"):
        figures.trace(embedding)


# ---- files ----


def red_pixels(path):
    picture = image.imread(path)[..., :3]
    return int(((picture[..., 0] > 0.55) & (picture[..., 1] < 0.25) & (picture[..., 2] < 0.25)).sum())


def test_a_path_without_an_ending_gives_a_png_and_an_svg(embedding, tmp_path):
    figure = figures.disk(embedding, title="5 < 6 & $x")
    png, svg = figures.save(figure, tmp_path / "tree-0.2")
    assert (png.name, svg.name) == ("tree-0.2.png", "tree-0.2.svg")
    assert sorted(tmp_path.iterdir()) == [png, svg]
    picture = image.imread(png)
    assert (picture[..., :3] < 0.98).any(axis=-1).mean() > 0.02
    assert red_pixels(png) > 500
    plain = figures.save(figures.disk(embedding, evaluation=False), tmp_path / "plain.png")
    assert red_pixels(plain[0]) == 0

    root = ET.parse(svg).getroot()
    assert root.tag.endswith("svg")
    written = ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"5 < 6 & $x", "node 0", "subtree of"} <= set(written)
    longest = max(len(number) for number in re.findall(r"\.(\d+)", " ".join(_paths(root))))
    assert longest == 2
    assert svg.stat().st_size < 80_000


def _paths(root):
    return [element.get("d", "") for element in root.iter("{http://www.w3.org/2000/svg}path")]


def test_the_same_figure_gives_the_same_bytes(embedding, tmp_path):
    (first,) = figures.save(figures.disk(embedding), tmp_path / "a.svg")
    (second,) = figures.save(figures.disk(embedding), tmp_path / "b.svg")
    assert first.read_bytes() == second.read_bytes()


def test_many_marks_become_an_image_inside_the_svg(embedding, tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "RASTERIZE_ABOVE", 10)
    (path,) = figures.save(figures.disk(embedding), tmp_path / "many.svg")
    root = ET.parse(path).getroot()
    assert list(root.iter("{http://www.w3.org/2000/svg}image"))
    curves = [element for element in root.iter("{http://www.w3.org/2000/svg}g") if element.get("id") == "edges"]
    assert not [path for group in curves for path in group.iter("{http://www.w3.org/2000/svg}path")]


def test_other_endings_and_missing_folders_are_refused(embedding, tmp_path):
    figure = figures.disk(embedding)
    with pytest.raises(InputError, match=r"\.png or \.svg"):
        figures.save(figure, tmp_path / "tree.pdf")
    with pytest.raises(InputError, match="there is no folder"):
        figures.save(figure, tmp_path / "nowhere" / "tree.png")
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_the_extra_is_named(embedding, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(treeball.MissingExtraError, match="pip install matplotlib"):
        figures.disk(embedding)


# ---- the command ----


@pytest.fixture
def folder(tmp_path, monkeypatch, embedding, traced):
    monkeypatch.chdir(tmp_path)
    embedding.save(tmp_path / "flat.parquet")
    traced.save(tmp_path / "traced.parquet")
    return tmp_path


def test_plot_writes_the_disk_and_the_trace_beside_the_user(folder, capsys):
    assert plot(Path("flat.parquet")) == 0
    assert plot(Path("flat.parquet"), output=Path("near"), focus="node 1", depth=2, inset=True, labels=False) == 0
    assert plot(Path("traced.parquet"), trace=True) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        f"wrote {name}" for name in ("flat.png", "near.png", "near.svg", "traced-trace.png")
    ]
    assert {path.name for path in folder.glob("*.*g")} == {"flat.png", "near.png", "near.svg", "traced-trace.png"}


def test_a_title_is_what_was_asked_for(folder, monkeypatch):
    drawn = []

    def keep(figure, path):
        drawn.append(words_of(figure))
        return [path]

    monkeypatch.setattr(figures, "save", keep)
    plot(Path("flat.parquet"), title="My tree")
    plot(Path("flat.parquet"), title="")
    plot(Path("flat.parquet"))
    plot(Path("traced.parquet"), trace=True, title="My training")
    assert "My tree" in drawn[0]
    assert not [words for words in drawn[1] if "MAP" in words]
    assert [words for words in drawn[2] if words.startswith("poincare, 40 nodes: MAP")]
    assert "My training" in drawn[3]


def test_plot_refuses_before_it_writes(folder):
    for options, why in (
        ({"model": Path("traced.parquet"), "projection": "disk"}, "fit one with dim 2"),
        ({"model": Path("traced.parquet"), "trace": True, "projection": "spread"}, "--projection cannot go"),
        ({"model": Path("flat.parquet"), "trace": True}, "--trace-every"),
        ({"model": Path("traced.parquet"), "trace": True, "focus": "node 1", "depth": 2}, "--focus and --depth"),
        ({"model": Path("flat.parquet"), "focus": "node 999"}, "node 999"),
        ({"model": Path("flat.parquet"), "output": Path("figure.jpg")}, "png or .svg"),
        ({"model": Path("flat.parquet"), "output": Path("nowhere/figure.png")}, "cannot write"),
    ):
        with pytest.raises(InputError, match=why):
            plot(**options)
    assert sorted(path.name for path in folder.iterdir()) == ["flat.parquet", "traced.parquet"]


def test_dots_grow_with_the_subtree(embedding):
    figure = figures.disk(embedding)
    dots = [line for line in figure.axes[0].get_lines() if isinstance(line, Line2D) and line.get_gid() == "nodes"]
    size = {
        tuple(place): line.get_markersize() for line in dots for place in np.stack(line.get_data(), axis=1).tolist()
    }
    root, inner, leaf = (size[tuple(embedding.vectors[code].tolist())] for code in (0, 1, 39))
    assert root > inner > leaf > 0
