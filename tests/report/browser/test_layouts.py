"""Layouts to scale in Chromium: what is drawn is as long as the lengths say, and so are the bar and the axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeball
from tests import trees
from treeball.report.browser import write_page
from treeball.types import Layout

from .driver import View

Open = Callable[..., View]

# Names of their own for all nodes, so that a test can ask for them; depths of the tips: 5, 2, 4.5, 1.5 and 0.7.
GENES = "(((a:3,b:0)ab:1.5,c:4)abc:0.5,(d:1,e:0.2)de:0.5)root;"
DEPTHS = {"root": 0, "abc": 0.5, "ab": 2.0, "a": 5.0, "b": 2.0, "c": 4.5, "de": 0.5, "d": 1.5, "e": 0.7}
# All tips 30 below the root.
DATED = "((a:10,b:10)ab:20,(c:25,d:25)cd:5)root;"


def page_of(folder: Path, newick: str, layout: Layout = "rectangular") -> Path:
    source = folder / "tree.nwk"
    source.write_text(newick)
    return write_page(treeball.fit(source, method="sarkar", dim=5), folder / "tree.html", layout=layout)


@pytest.fixture(scope="module")
def genes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_of(tmp_path_factory.mktemp("genes"), GENES)


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_of(tmp_path_factory.mktemp("dated"), DATED)


def drawn(view: View) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names, parents (-1 for the root) and places (n, 2) in pixels of all nodes."""
    names, parents, x, y = view.do(
        """() => {
          const { tree, flat } = treeball;
          const { view } = flat;
          return [Array.from({ length: tree.n }, (_, i) => tree.names.of(i)), [...tree.parent],
            Array.from(flat.x, (x) => view.x + view.sx * x), Array.from(flat.y, (y) => view.y + view.sy * y)];
        }"""
    )
    return names, np.array(parents), np.stack([x, y], axis=1)


def marks(view: View) -> dict[str, Any]:
    return dict(view.do("treeball.marks"))


def pixels_per_unit(view: View) -> float:
    """By the scale bar alone: the line that is drawn, and the number that is written above it."""
    shown = marks(view)
    x0, y0, x1, y1 = shown["lines"][0]
    assert y0 == y1
    return float((x1 - x0) / float(shown["texts"][0]["text"].replace(",", "")))


def zoom(view: View, x: float, y: float, turn: float, *, shift: bool = False) -> None:
    view.page.mouse.move(x, y)
    if shift:
        view.page.keyboard.down("Shift")
    before = view.do("treeball.flat.view.sy")
    view.page.mouse.wheel(0, turn)
    view.wait(f"treeball.flat.view.sy !== {before!r}")
    if shift:
        view.page.keyboard.up("Shift")
    view.do("treeball.picture.isFine = false")
    view.settle()


@pytest.mark.parametrize("zooms", [0, 3])
def test_rectangular_places_and_the_bar_are_sums_of_lengths(open_view: Open, genes: Path, zooms: int) -> None:
    view = open_view(genes)
    for _ in range(zooms):
        zoom(view, 500, 300, -400)
    names, _, places = drawn(view)
    unit = pixels_per_unit(view)
    from_root = (places[:, 0] - places[names.index("root"), 0]) / unit
    np.testing.assert_allclose(from_root, [DEPTHS[name] for name in names], atol=1e-5)
    rows = sorted(places[[names.index(tip) for tip in "abcde"], 1])
    assert np.ptp(np.diff(rows)) < 1e-6  # one row for each tip, all alike
    # What is drawn is what was laid out.
    box = view.page.locator("#stage").bounding_box()
    x, y = view.place("ab")
    np.testing.assert_allclose((x - box["x"], y - box["y"]), places[names.index("ab")], atol=1e-2)


@pytest.mark.parametrize("zooms", [0, 3])
def test_radial_edges_and_the_bar_are_as_long_as_weights(open_view: Open, genes: Path, zooms: int) -> None:
    view = open_view(genes, address="#layout=radial")
    for _ in range(zooms):
        zoom(view, 500, 300, -400)
    names, parents, places = drawn(view)
    unit = pixels_per_unit(view)
    for i, name in enumerate(names[1:], 1):
        edge = DEPTHS[name] - DEPTHS[names[parents[i]]]
        assert math.dist(places[i], places[parents[i]]) / unit == pytest.approx(edge, abs=1e-5)
    assert marks(view)["ticks"] == []


@pytest.mark.parametrize("edges", [trees.balanced(3, 4), trees.random_tree(200, 3), trees.caterpillar(40)])
def test_no_edges_of_the_radial_layout_cross(open_view: Open, tmp_path: Path, edges: trees.Edges) -> None:
    weights = np.random.default_rng(1).exponential(size=edges.child.size) + 0.05
    names = [f"n{i}" for i in range(edges.n)]
    hierarchy = treeball.Hierarchy.from_codes(names, edges.child, edges.parent, weights=weights)
    view = open_view(write_page(treeball.fit(hierarchy, method="sarkar"), tmp_path / "tree.html", layout="radial"))
    _, parents, places = drawn(view)
    a, b = places[parents[1:]], places[1:]

    def side(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
        (x0, y0), (x1, y1) = np.moveaxis(q - p, -1, 0), np.moveaxis(r - p, -1, 0)
        return np.asarray(x0 * y1 - y0 * x1)

    p, q, r, s = a[:, None], b[:, None], a[None], b[None]
    crosses = (side(p, q, r) * side(p, q, s) < -1e-3) & (side(r, s, p) * side(r, s, q) < -1e-3)
    assert not crosses.any()


def ticks(view: View) -> list[tuple[float, float]]:
    """What is written below the axis, and where."""
    shown = marks(view)
    texts = [one for one in shown["texts"][1:] if one["align"] == "center"]
    assert len(texts) == len(shown["ticks"]) > 1
    return [(float(one["text"].replace(",", "")), float(one["x"])) for one in texts]


def test_the_axis_counts_from_the_root(open_view: Open, genes: Path) -> None:
    view = open_view(genes)
    names, _, places = drawn(view)
    unit = pixels_per_unit(view)
    root = places[names.index("root"), 0]
    found = ticks(view)
    assert (found[0][0], found[-1][0]) == (0, 5)
    for value, x in found:
        assert x == pytest.approx(root + value * unit, abs=1e-3)
    assert "From the root" in [one["text"] for one in marks(view)["texts"]]
    assert view.do("treeball.marks.texts.every((one) => one.x >= 0 && one.y <= treeball.height)")


def test_the_axis_of_a_dated_tree_counts_back_from_the_tips(open_view: Open, dated: Path) -> None:
    view = open_view(dated)
    names, _, places = drawn(view)
    unit = pixels_per_unit(view)
    found = dict(ticks(view))
    tips = places[names.index("a"), 0]
    assert found[0.0] == pytest.approx(tips, abs=1e-3)
    assert found[10.0] == pytest.approx(places[names.index("ab"), 0], abs=1e-3)
    assert found[30.0] == pytest.approx(places[names.index("root"), 0], abs=1e-3)
    assert tips - found[30.0] == pytest.approx(30 * unit, rel=1e-6)
    assert "Before the tips" in [one["text"] for one in marks(view)["texts"]]
    view.page.mouse.click(*view.place("cd"))
    view.settle()
    facts = view.page.locator("#pane-node .facts").first.inner_text()
    assert "Before the tips\n25" in facts
    assert "Length of its edge\n5" in facts
    view.page.mouse.click(*view.place("d"))  # at once: nothing moves, so these clicks are no double click
    view.settle()
    assert view.focus == "d"
    assert "Before the tips\n0\n" in view.page.locator("#pane-node .facts").first.inner_text()


def test_ticks_can_be_told_apart_however_far_one_zooms_in(open_view: Open, tmp_path: Path) -> None:
    view = open_view(page_of(tmp_path, GENES.replace(":3,", ":0.0000003,").replace(":4)", ":0.0000004)")))
    for _ in range(60):
        view.do("treeball.zoomIn()")
    view.do("treeball.picture.isFine = false")
    view.settle()
    written = [one["text"] for one in marks(view)["texts"]]
    assert len(written) == len(set(written))
    values = marks(view)["ticks"]
    assert [value for value, _ in ticks(view)] == pytest.approx(values, rel=1e-12)


def test_a_hierarchy_without_lengths_counts_edges(open_view: Open, companion_page: Path) -> None:
    view = open_view(companion_page, address="#layout=rectangular")
    names, _, places = drawn(view)
    unit = pixels_per_unit(view)
    levels = view.do("[...treeball.tree.depth]")
    np.testing.assert_allclose((places[:, 0] - places[names.index("mammal.n.01"), 0]) / unit, levels, atol=1e-4)
    for value, _ in ticks(view):
        assert value == int(value)
    view.page.click("#tab-about")
    assert "every edge has the length 1" in view.page.locator("#pane-about").inner_text()
    assert "Length of its edge" not in view.page.locator("#pane-node").text_content()


def test_layouts_are_changed_by_hand_and_by_address(open_view: Open, genes: Path) -> None:
    view = open_view(genes, address="#node=ab")
    assert view.do("treeball.layout") == "rectangular"
    assert not view.page.locator("#disk").is_visible()
    view.page.select_option("#layout", "radial")
    view.settle()
    assert view.do("location.hash") == "#node=ab&layout=radial"
    view.page.locator("#stage").focus()
    view.page.keyboard.press("l")
    view.settle()
    assert view.do("treeball.layout") == "disk"
    assert view.page.locator("#disk").is_visible()
    assert view.focus == "ab"
    assert view.from_middle("ab") < 1e-3
    assert view.do("treeball.marks.lines.length") == 0
    view.page.keyboard.press("l")
    view.settle()
    assert view.do("location.hash") == "#node=ab"
    assert view.page.locator("#picture-kind").inner_text() == "To scale"
    assert open_view(genes, address="#node=ab&layout=disk").do("treeball.layout") == "disk"
    assert open_view(genes, address="#layout=nonsense").do("treeball.layout") == "rectangular"


def test_back_and_forward_keep_the_layout_and_the_address_says_so(open_view: Open, genes: Path) -> None:
    view = open_view(genes, address="#node=ab")
    view.page.mouse.click(*view.place("de"))
    view.settle()
    view.page.select_option("#layout", "radial")
    view.page.go_back()
    view.wait("treeball.tree.names.of(treeball.focus) === 'ab'")
    assert view.do("treeball.layout") == "radial"
    assert view.do("location.hash") == "#node=ab&layout=radial"


def test_whether_ill_pairs_are_drawn_is_remembered_for_each(open_view: Open, companion_page: Path) -> None:
    view = open_view(companion_page)
    view.page.click("#tab-illness")
    show = view.page.locator("#show-ill")
    assert show.is_checked()
    view.page.select_option("#layout", "rectangular")
    assert not show.is_checked()
    view.page.select_option("#layout", "disk")
    assert show.is_checked()
    show.uncheck()
    view.page.select_option("#layout", "radial")
    view.page.select_option("#layout", "disk")
    assert not show.is_checked()


@pytest.mark.parametrize("layout", ["rectangular", "radial"])
def test_pointer_keyboard_search_and_subtrees(open_view: Open, companion_page: Path, layout: str) -> None:
    view = open_view(companion_page, address=f"#layout={layout}")
    before = view.do("({ ...treeball.flat.view })")
    view.page.mouse.click(*view.place("carnivore.n.01"))
    view.settle()
    assert view.focus == "carnivore.n.01"
    assert view.do("({ ...treeball.flat.view })") == before  # what is seen already stays where it is
    view.page.keyboard.press("ArrowUp")
    assert view.focus == "placental.n.01"
    # A drag moves all by as much.
    x, y = view.place("placental.n.01")
    view.page.mouse.move(500, 700)
    view.page.mouse.down()
    view.page.mouse.move(420, 650, steps=4)
    view.page.mouse.up()
    view.settle()
    assert view.place("placental.n.01") == pytest.approx((x - 80, y - 50), abs=0.01)
    assert view.focus == "placental.n.01"
    # A search brings what is not on the screen into sight.
    for _ in range(8):
        zoom(view, 300, 200, -120)
    view.page.keyboard.press("/")
    view.page.keyboard.type("dog.n.01")
    view.page.keyboard.press("Enter")
    view.settle()
    assert view.focus == "dog.n.01"
    x, y = view.place("dog.n.01")
    assert 0 < x < 930
    assert 56 < y < 760
    # A double click shows a subtree alone, as large as the window.
    view.page.keyboard.press("Home")
    view.page.click("#home")
    view.settle()
    view.page.mouse.dblclick(*view.place("carnivore.n.01"))
    view.settle()
    names = {name for name, _, _ in view.shown()}
    assert "canine.n.02" in names
    assert "placental.n.01" not in names
    view.page.keyboard.press("Escape")
    view.settle()
    assert view.do("({ ...treeball.flat.view })") == pytest.approx(before)


def test_opening_a_subtree_flies_there(open_view: Open, companion_page: Path) -> None:
    view = open_view(companion_page, address="#layout=rectangular")
    view.do("treeball.openSubtree(treeball.tree.names.find('carnivore.n.01'))")
    assert view.do("treeball.flat.flight !== null")
    view.settle()
    assert view.do("treeball.flat.view.sy") == pytest.approx(view.do("treeball.flat.least.sy"))
    still = open_view(companion_page, address="#layout=rectangular", reduced_motion="reduce")
    still.do("treeball.openSubtree(treeball.tree.names.find('carnivore.n.01'))")
    assert still.do("treeball.flat.flight === null")


def test_shift_zooms_rows_alone(open_view: Open, genes: Path) -> None:
    view = open_view(genes)
    before = view.do("({ ...treeball.flat.view })")
    zoom(view, 500, 300, -120, shift=True)
    after = view.do("({ ...treeball.flat.view })")
    assert after["sx"] == before["sx"]
    assert after["sy"] > 1.1 * before["sy"]


def test_the_whole_follows_the_window_until_it_is_moved(open_view: Open, genes: Path) -> None:
    view = open_view(genes)
    for width, height in ((1700, 1000), (390, 780), (1280, 800)):
        view.page.set_viewport_size({"width": width, "height": height})
        view.wait(f"treeball.width === {width} && treeball.flat.view.sx === treeball.flat.least.sx")
        _, _, places = drawn(view)
        area = view.do("treeball.area")
        assert places[:, 0].min() >= area["left"]
        assert places[:, 0].max() <= area["right"]
        assert places[:, 1].min() >= area["top"]
        assert places[:, 1].max() <= area["bottom"]
    zoom(view, 500, 300, -120)
    moved = view.do("({ ...treeball.flat.view })")
    view.page.set_viewport_size({"width": 1100, "height": 700})
    view.wait("treeball.width === 1100")
    assert view.do("({ ...treeball.flat.view })") == moved


def test_names_do_not_touch_each_other_the_axis_or_the_legend(open_view: Open, companion_page: Path) -> None:
    view = open_view(companion_page, address="#layout=rectangular")
    for _ in range(4):
        zoom(view, 500, 400, -120)
    names = view.do(
        """() => treeball.labels.map(({ text, x, y, size, isBold }) => {
          const { context } = treeball.overlay;
          context.font = context.font.replace(/^.*px/u, `${isBold ? 600 : 450} ${size}px`);
          return [x, y - 0.8 * size, x + context.measureText(text).width, y];
        })"""
    )
    others = view.do(
        """() => {
          const stage = document.getElementById('stage').getBoundingClientRect();
          const { left, top, right, bottom } = document.getElementById('legend').getBoundingClientRect();
          return [treeball.marks.band, [left - stage.left, top - stage.top, right - stage.left, bottom - stage.top]];
        }"""
    )
    assert len(names) > 20
    for i, a in enumerate(names):
        for b in names[:i] + others:
            assert a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3], (a, b)


def test_names_that_were_made_up_give_way_to_tips(open_view: Open, tmp_path: Path) -> None:
    view = open_view(page_of(tmp_path, "((a:1,b:1):1,(c:1,d:1):1);"))
    shown = {one["text"] for one in view.do("treeball.labels")}
    assert shown == {"<a + 3>", "a", "b", "c", "d"}  # the root is in focus


@pytest.mark.parametrize("newick", ["a;", "(a:0.3)b;", "((a:0,b:0)c:0,d:0)e;", "(a:1e-90,b:2e-90)c;"])
@pytest.mark.parametrize("layout", ["rectangular", "radial"])
def test_trees_of_hardly_anything(open_view: Open, tmp_path: Path, newick: str, layout: Layout) -> None:
    if newick == "a;":
        hierarchy = treeball.Hierarchy.from_codes(["a"], [], [])
        model = treeball.Embedding(np.zeros((1, 2)), hierarchy, "poincare")
        page = write_page(model, tmp_path / "tree.html", layout=layout)
    else:
        page = page_of(tmp_path, newick, layout)
    view = open_view(page)
    assert np.isfinite(drawn(view)[2]).all()
    bar = marks(view)["bar"]
    assert bar is None if newick == "a;" or ":0," in newick else 60 <= bar["pixels"] <= 150
    for one in ("treeball.zoomIn()", "treeball.openSubtree(treeball.tree.n - 1)", "treeball.goHome()"):
        view.do(one)
        view.settle()
        assert np.isfinite(drawn(view)[2]).all()


@pytest.mark.parametrize("layout", ["rectangular", "radial"])
def test_a_large_tree_is_drawn_and_searched(open_view: Open, tmp_path: Path, layout: Layout) -> None:
    edges = trees.random_tree(30_000, 1)
    weights = np.random.default_rng(0).exponential(size=edges.child.size)
    names = [f"n{i}" for i in range(edges.n)]
    hierarchy = treeball.Hierarchy.from_codes(names, edges.child, edges.parent, weights=weights)
    model = treeball.Embedding(np.random.default_rng(0).normal(size=(edges.n, 2)) * 0.1, hierarchy, "poincare")
    view = open_view(write_page(model, tmp_path / "large.html", layout=layout))
    assert 1_000 < view.do("treeball.picture.scene.count") < 25_000  # a part stands for all
    view.do("treeball.goTo(treeball.tree.names.find('n29999'))")
    view.settle()
    assert "n29999" in {one["text"] for one in view.do("treeball.labels")}


def test_the_way_down_a_long_chain_is_cut_short(open_view: Open, tmp_path: Path) -> None:
    edges = trees.chain(20_000)
    hierarchy = treeball.Hierarchy.from_codes([f"n{i}" for i in range(edges.n)], edges.child, edges.parent)
    model = treeball.Embedding(np.random.default_rng(0).normal(size=(edges.n, 2)) * 0.1, hierarchy, "poincare")
    view = open_view(write_page(model, tmp_path / "chain.html", layout="rectangular"), address="#node=n19999")
    crumbs = view.page.locator("#crumbs li").all_inner_texts()
    assert crumbs[:2] == ["n0", "…"]
    assert crumbs[-1] == "n19999"
    assert len(crumbs) == 201
    assert "n19999" in {one["text"] for one in view.do("treeball.labels")}


def test_the_saved_svg_has_the_bar_and_the_axis(open_view: Open, dated: Path) -> None:
    view = open_view(dated)
    with view.page.expect_download() as download:
        view.page.click("#save-svg")
    text = Path(download.value.path()).read_text("utf-8")
    assert "<circle cx=" in text  # dots, and no disk
    assert 'r="0' not in text
    assert "Before the tips" in text
    for value, _ in ticks(view):
        assert f">{value:g}</text>" in text
    with view.page.expect_download() as download:
        view.page.click("#save-png")
    image = pytest.importorskip("PIL.Image")
    picture = np.asarray(image.open(download.value.path()).convert("L")).astype(int)
    # The axis is a line of one colour from the root to the tips.
    names, _, places = drawn(view)
    ratio = 2
    left, right = (round(ratio * places[names.index(name), 0]) for name in ("root", "a"))
    axis = round(ratio * marks(view)["lines"][3][1])
    row = picture[axis - 1 : axis + 2, left + 3 : right - 3]
    ground = int(np.median(picture))
    assert (np.abs(row - ground).max(axis=0) > 40).all()


def test_a_dag_says_what_is_not_drawn(open_view: Open, tmp_path: Path) -> None:
    hierarchy = treeball.Hierarchy.from_codes(["root", "a", "b", "c"], [1, 2, 3, 3], [0, 0, 1, 2])
    view = open_view(write_page(treeball.fit(hierarchy, dim=2), tmp_path / "dag.html", layout="rectangular"))
    assert view.do("treeball.picture.extra.length") == 0
    view.page.click("#tab-about")
    assert "1 edge to others is not drawn" in view.page.locator("#pane-about").inner_text()


def test_pages_without_layouts_to_scale_have_no_choice(open_view: Open, tmp_path: Path) -> None:
    from treeball.report.browser import make_page

    page = tmp_path / "page.html"
    page.write_text(make_page(treeball.fit(trees_of_three(), dim=2), title="page", to_scale=False), "utf-8")
    view = open_view(page, address="#layout=radial")
    assert view.do("treeball.layout") == "disk"
    assert not view.page.locator("#layout").is_visible()
    view.page.locator("#stage").focus()
    view.page.keyboard.press("l")
    assert view.do("treeball.layout") == "disk"


def trees_of_three() -> treeball.Hierarchy:
    return treeball.Hierarchy.from_codes(["root", "a", "b"], [1, 2], [0, 0])


def test_the_bar_and_the_steps_of_the_axis_are_round_at_any_size(open_view: Open, genes: Path) -> None:
    view = open_view(genes)
    seen = set()
    for _ in range(25):
        view.do("treeball.zoomIn(); treeball.picture.isFine = false")
        view.settle()
        shown = marks(view)
        assert 60 <= shown["bar"]["pixels"] <= 150.001  # 1, 2 and 5 are 2.5 apart at most
        steps = [b - a for a, b in pairwise(shown["ticks"])]
        for length in (shown["bar"]["length"], *steps):
            first_digit = length / 10 ** math.floor(math.log10(length) + 1e-6)
            assert min(abs(first_digit - one) for one in (1, 2, 5)) < 1e-3, length
        seen.add(shown["bar"]["length"])
    assert len(seen) > 5
