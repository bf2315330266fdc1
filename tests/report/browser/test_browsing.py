"""Walking through a model in Chromium: what a person does, and what must be on the screen then."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import treeball
from treeball.geometry import poincare
from treeball.report.browser import write_page

from .driver import View

Open = Callable[..., View]


def pixels(view: View) -> np.ndarray:
    """What the stage shows, (height, width, 3)."""
    image = pytest.importorskip("PIL.Image")
    box = view.page.locator("#stage").bounding_box()
    # Left of the panel and below the path: the disk alone.
    clip = {"x": box["x"] + 110, "y": box["y"] + 40, "width": 780, "height": box["height"] - 40}
    return np.asarray(image.open(io.BytesIO(view.page.screenshot(clip=clip))).convert("RGB")).astype(int)


def drawn(picture: np.ndarray) -> int:
    """Pixels that are not the ground, which is what most of them are."""
    ground = np.median(picture.reshape(-1, 3), axis=0)
    return int((np.abs(picture - ground).sum(axis=2) > 40).sum())


def red(picture: np.ndarray) -> int:
    r, g, b = picture[..., 0], picture[..., 1], picture[..., 2]
    return int(((r > 150) & (r - g > 60) & (r - b > 60) & (g - b < 40)).sum())  # not orange


@pytest.mark.parametrize("renderer", ["webgl", "canvas"])
def test_opens_from_a_file_and_draws(open_view: Open, disk_page: Path, renderer: str) -> None:
    view = open_view(disk_page, address=f"?renderer={renderer}")
    paint = view.do("performance.getEntriesByName('first-paint')[0].startTime")
    kind = view.do("treeball.renderer.kind")
    print(f"first paint after {paint:.0f} ms, ready after {view.seconds_to_open:.2f} s, {kind}")
    assert kind == renderer
    assert view.page.title() == "mammals · treeball"
    assert drawn(pixels(view)) > 5_000
    assert view.focus == "mammal.n.01"


def test_labels_and_ids_are_both_found(open_view: Open, tmp_path: Path) -> None:
    labels = ["Shop", "Music", "Rock", "Phones", "Rock"]
    names = ["cat0", "cat1", "cat10", "cat2", "cat20"]
    hierarchy = treeball.Hierarchy.from_codes(names, [1, 2, 3, 4], [0, 1, 0, 3], labels=labels)
    page = write_page(treeball.fit(hierarchy, dim=2), tmp_path / "shop.html")
    view = open_view(page)
    matches = view.page.locator("#matches [role=option]")
    view.page.fill("#search", "rock")
    assert sorted(text.split("\n")[0] for text in matches.all_inner_texts()) == ["Rock [cat10]", "Rock [cat20]"]
    view.page.fill("#search", "cat20")
    assert matches.count() == 1
    view.page.keyboard.press("Enter")
    view.settle()
    assert view.page.locator("#pane-node h2").inner_text() == "Rock [cat20]"
    assert view.do("location.hash") == "#node=cat20"
    assert open_view(page, address="#node=cat10").page.locator("#pane-node h2").inner_text() == "Rock [cat10]"
    assert open_view(page, address="#node=Music").focus == "Music"  # an address by label does, too


def test_search_completes_and_brings_to_the_middle(open_view: Open, disk_page: Path) -> None:
    view = open_view(disk_page)
    view.page.keyboard.press("/")
    view.page.keyboard.type("DOG")
    matches = view.page.locator("#matches [role=option]")
    assert matches.first.inner_text().startswith("dog.n.01")
    assert matches.count() > 3
    view.page.keyboard.press("Enter")
    view.settle()
    assert view.focus == "dog.n.01"
    assert view.from_middle("dog.n.01") < 1e-3
    assert "dog.n.01" in view.page.locator("#pane-node h2").inner_text()
    view.page.fill("#search", "no such animal")
    assert view.page.locator("#matches").inner_text() == "No such name"


def test_click_recentres_and_double_click_opens_a_subtree(open_view: Open, companion_page: Path) -> None:
    view = open_view(companion_page)
    view.page.mouse.click(*view.place("placental.n.01"))
    view.settle()
    assert view.focus == "placental.n.01"
    assert view.from_middle("placental.n.01") < 1e-3
    view.page.mouse.dblclick(*view.place("carnivore.n.01"))
    view.settle()
    assert view.focus == "carnivore.n.01"
    names = {name for name, _, _ in view.shown()}
    assert "canine.n.02" in names
    assert "placental.n.01" not in names
    assert "Only carnivore" in view.page.locator("#scope").inner_text()
    view.page.keyboard.press("Escape")
    view.settle()
    assert "placental.n.01" in {name for name, _, _ in view.shown()}


def test_the_disk_shows_the_vectors_and_dragging_keeps_their_distances(
    open_view: Open, disk_page: Path, disk_model: treeball.Embedding
) -> None:
    view = open_view(disk_page)
    for moves in ([], [(60, 30), (-140, 90)], [(200, -160)]):
        if moves:
            x, y = 470.0, 440.0
            view.page.mouse.move(x, y)
            view.page.mouse.down()
            for dx, dy in moves:
                x, y = x + dx, y + dy
                view.page.mouse.move(x, y, steps=4)
            view.page.mouse.up()
            view.settle()
        near = [(name, (x, y)) for name, x, y in view.shown() if np.hypot(x, y) < 0.97]
        assert len(near) > 20
        codes = disk_model.names.index_of_many([name for name, _ in near])
        shown = np.array([place for _, place in near])
        left, right = np.triu_indices(len(near), 1)
        expected = poincare.distance(disk_model.vectors[codes[left]], disk_model.vectors[codes[right]])
        np.testing.assert_allclose(poincare.distance(shown[left], shown[right]), expected, atol=2e-4)


def test_a_drag_brings_another_node_into_focus(open_view: Open, companion_page: Path) -> None:
    view = open_view(companion_page)
    x, y = view.place("placental.n.01")
    middle = view.place("mammal.n.01")
    view.page.mouse.move(x, y)
    view.page.mouse.move(x + 1, y)
    view.page.mouse.down()
    view.page.mouse.move(*middle, steps=6)
    view.page.mouse.up()
    view.settle()
    assert view.focus == "placental.n.01"
    assert view.do("location.hash") == "#node=placental.n.01"


def test_the_wheel_zooms_about_the_pointer(open_view: Open, companion_page: Path) -> None:
    view = open_view(companion_page)
    before = view.place("placental.n.01")
    view.page.mouse.move(*before)
    view.page.mouse.wheel(0, -400)
    view.wait("treeball.camera.zoom > 1.1")
    view.settle()
    assert np.hypot(*np.subtract(view.place("placental.n.01"), before)) < 2.0


def test_keyboard_walks_the_tree(open_view: Open, companion_page: Path) -> None:
    view = open_view(companion_page)
    view.page.focus("#stage")
    seen = []
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowUp", "ArrowUp"):
        view.page.keyboard.press(key)
        view.settle()
        seen.append(view.focus)
    assert seen[0] == "placental.n.01"
    assert seen[1] == seen[3] != seen[2]
    assert seen[4:] == ["placental.n.01", "mammal.n.01"]
    view.page.keyboard.press("ArrowDown")
    view.page.keyboard.press("Enter")
    view.settle()
    assert view.do("treeball.top") == view.node("placental.n.01")
    announced = view.page.locator("#announcer").inner_text()
    assert "placental.n.01" in announced


def test_back_forward_and_deep_links(open_view: Open, companion_page: Path) -> None:
    view = open_view(companion_page, address="#node=dog.n.01")
    assert view.focus == "dog.n.01"
    assert view.from_middle("dog.n.01") < 1e-3
    assert view.page.locator("#crumbs li").last.inner_text() == "dog"
    view.page.locator("#crumbs button").nth(1).click()
    view.settle()
    assert view.focus == "placental.n.01"
    view.page.click("#back")
    view.wait("treeball.tree.names.of(treeball.focus) === 'dog.n.01'")
    view.page.click("#forward")
    view.wait("treeball.tree.names.of(treeball.focus) === 'placental.n.01'")
    view.do("() => { location.hash = '#node=cat.n.01&in=carnivore.n.01' }")
    view.wait("treeball.tree.names.of(treeball.focus) === 'cat.n.01'")
    assert view.do("treeball.top") == view.node("carnivore.n.01")
    view.do("() => { location.hash = '#node=unicorn%' }")
    view.wait("treeball.focus === 0")


def test_themes(open_view: Open, companion_page: Path) -> None:
    view = open_view(companion_page)
    light = np.median(pixels(view))
    view.page.click("#theme")
    view.settle()
    view.page.wait_for_timeout(50)
    dark = np.median(pixels(view))
    assert light > 200 > 60 > dark
    view.page.reload()
    view.wait("globalThis.treeball !== undefined")
    assert view.do("document.documentElement.dataset.theme") == "dark"
    assert open_view(companion_page, color_scheme="dark").do("document.documentElement.dataset.theme") == "dark"


def test_illness_panel_flies_to_a_pair_and_red_is_visible(
    open_view: Open, disk_page: Path, disk_model: treeball.Embedding
) -> None:
    view = open_view(disk_page)
    illness = disk_model.evaluate().illness
    assert red(pixels(view)) > 500
    view.page.click("#tab-illness")
    assert view.page.locator("#tab-illness .badge").inner_text() == f"{len(illness):,}"
    for kind, total in enumerate(illness.counts().values()):
        if total:
            assert view.page.locator(f"label[for=kind-{kind}] .value").inner_text() == f"{total:,}"
    chosen = view.page.locator(".pair").nth(2)
    name = chosen.locator(".name").inner_text()
    pair = int(chosen.get_attribute("data-pair") or -1)
    chosen.click()
    view.settle()
    assert view.focus == name
    assert view.from_middle(name) < 1e-3
    arcs = view.do("treeball.picture.arcs.filter(arc => arc.isStrong).map(arc => arc.isDashed)")
    assert sorted(arcs) == [False, True]
    names, ill = view.do("name => treeball.tree.names.of(name)", view.node(name)), "treeball.facts.ill"
    node, positive, offender = (
        disk_model.names.index_of(view.do(f"treeball.tree.names.of({ill}.{field}[{pair}])"))
        for field in ("node", "positive", "offender")
    )
    assert names == name
    found = np.flatnonzero((illness.node == node) & (illness.positive == positive))
    assert illness.offender[found].tolist() == [offender]
    view.page.uncheck("#show-ill")
    view.do("treeball.goTo(0)")
    view.settle()
    view.page.wait_for_timeout(50)
    assert red(pixels(view)) < 100


def test_hover_tells_distances_of_the_vectors(
    open_view: Open, companion_page: Path, companion_model: treeball.Embedding
) -> None:
    view = open_view(companion_page, address="#node=carnivore.n.01")
    view.page.mouse.move(*view.place("carnivore.n.01"))
    card = view.page.locator("#card")
    card.wait_for(state="visible")
    text = card.inner_text()
    assert "carnivore.n.01" in text
    assert "mammal › placental" in text
    lines = text.split("\n")
    for name, distance in companion_model.neighbors("carnivore.n.01", 5):
        line = next(i for i, line in enumerate(lines) if line.startswith(f"{name} ·") or line == name)
        assert float(lines[line + 1]) == pytest.approx(distance, abs=2e-3)
    to_parent = companion_model.distance("carnivore.n.01", "placental.n.01")
    assert float(lines[lines.index("To parent") + 1]) == pytest.approx(to_parent, abs=2e-3)
    about = view.page.locator("#pane-about").text_content() or ""
    assert "2-d companion" in about
    assert "MAP" in about


@pytest.mark.parametrize("colouring", ["subtree", "depth", "radius", "illness"])
def test_colours(open_view: Open, companion_page: Path, colouring: str) -> None:
    view = open_view(companion_page)
    view.page.select_option("#colour", colouring)
    view.settle()
    assert view.do("treeball.colouring") == colouring
    assert view.page.locator("#legend-entries li").count() >= 1


def test_touch_pinches_and_taps(open_view: Open, companion_page: Path) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
    view = open_view(companion_page, **phone)
    view.page.touchscreen.tap(*view.place("placental.n.01"))
    view.settle()
    assert view.focus == "placental.n.01"
    touch = view.context.new_cdp_session(view.page)
    middle = view.place("placental.n.01")
    for kind, apart in [("touchStart", 60), *(("touchMove", 60 + 8 * step) for step in range(1, 9)), ("touchEnd", 0)]:
        points = [{"x": middle[0] + sign * apart, "y": middle[1], "id": i} for i, sign in enumerate((-1, 1))]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points if apart else []})
    view.wait("treeball.camera.zoom > 1.5")
    view.page.click("#toggle-panel")
    assert view.page.locator("#panel").is_visible()
    wide, window = view.do("[document.documentElement.scrollWidth, innerWidth]")
    assert wide == window


def test_every_parent_of_a_node_is_shown_and_leads_there(open_view: Open, tmp_path: Path) -> None:
    edges = [("a", "r"), ("b", "r"), ("c", "r"), ("s", "a"), ("s", "b"), ("s", "c"), ("t", "s"), ("u", "b")]
    page = write_page(treeball.fit(edges, dim=5), tmp_path / "dag.html")
    view = open_view(page, address="#node=s")
    buttons = view.page.locator("#parents button .name")
    parents = buttons.all_inner_texts()
    assert sorted(parents) == ["a", "b", "c"]
    assert view.page.locator("#pane-node h3").first.inner_text().lower() == "3 parents"
    assert parents[0] in view.page.locator("#crumbs").inner_text()  # the picture draws it below this one
    buttons.nth(2).click()
    view.settle()
    assert view.focus == parents[2]
    # Each of the parents lists it among its children, wherever it is drawn.
    for parent in ("a", "b", "c"):
        there = open_view(page, address=f"#node={parent}").page
        assert "s" in there.locator("#pane-node ul.nodes").last.locator(".name").all_inner_texts()
        fact = there.locator("#pane-node dl.facts dt", has_text="Children")
        children = fact.locator("xpath=following-sibling::dd[1]")
        assert children.inner_text() == {"a": "1", "b": "2", "c": "1"}[parent]
        below = there.locator("#pane-node dl.facts dt", has_text="Below it").locator("xpath=following-sibling::dd[1]")
        assert below.inner_text() == {"a": "2", "b": "3", "c": "2"}[parent]
    assert open_view(page, address="#node=t").page.locator("#parents").count() == 0  # one parent is in the path


def test_hidden_characters_of_names_are_written_out(open_view: Open, tmp_path: Path) -> None:
    names = ["root", "Dog\u200bfood", "\u202egpj.exe", "Dogfood", "a\U000e0041"]
    hierarchy = treeball.Hierarchy.from_codes(names, [1, 2, 3, 4], [0, 0, 0, 0])
    page = write_page(treeball.fit(hierarchy, dim=2), tmp_path / "x.html", title="a\u202eb")
    view = open_view(page)
    shown = view.page.locator("#pane-node ul.nodes .name").all_inner_texts()
    assert {r"Dog\u200bfood", r"\u202egpj.exe", "Dogfood", r"a\U000e0041"} <= set(shown)
    assert view.page.locator("#title").inner_text() == r"a\u202eb"
    assert not set("\u200b\u202e\U000e0041") & set(view.page.locator("body").inner_text())
    view.page.fill("#search", "gpj")
    assert view.page.locator("#matches [role=option] .name").all_inner_texts() == [r"\u202egpj.exe"]
