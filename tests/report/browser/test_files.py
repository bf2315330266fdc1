"""What goes in and out: hostile names, tables, exports, browsers without WebGL, accessibility."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import treeball
from treeball.report.browser import write_page
from treeball.report.table import read_column

from .driver import View
from .test_browsing import drawn, pixels

Open = Callable[..., View]

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    '" onmouseover="alert(4)',
    "'quotes' & ampersands &amp; <!-- comments -->",
    "Žluťoučký kůň 馬 🐎 עברית",
    "]]> {{title}} ${alert(5)} \\u003c",
    "long " + "name " * 39,
]


@pytest.fixture
def hostile_model(tmp_path: Path) -> treeball.Embedding:
    """A breadcrumb file as a stranger might have it."""
    source = tmp_path / "paths.txt"
    paths = [f"Everything <b> » {name.strip()} » {leaf}" for name in HOSTILE for leaf in ("a", "b")]
    source.write_text("\n".join(paths), "utf-8")
    hierarchy = treeball.read(source, format="breadcrumbs", separator="»")
    return treeball.fit(hierarchy, method="poincare", dim=2, epochs=5, seed=0)


def test_hostile_names_are_text(open_view: Open, hostile_model: treeball.Embedding, tmp_path: Path) -> None:
    title = "<script>alert(6)</script>"
    view = open_view(write_page(hostile_model, tmp_path / "hostile.html", title=title))
    assert view.page.locator("#title").inner_text() == title
    names = hostile_model.names.take(hostile_model.hierarchy.children_of(hostile_model.hierarchy.root))
    assert len(names) == len(HOSTILE)
    for name, own in zip(names, HOSTILE, strict=True):
        assert str(name).endswith(own.strip())
        view.do("name => treeball.goTo(treeball.tree.names.find(name))", name)
        view.settle()
        assert view.focus == name
        assert view.page.locator("#pane-node h2").text_content() == name
        assert view.page.locator("#crumbs button[aria-current]").get_attribute("title") == name
        view.page.fill("#search", own.strip()[:30])
        assert any(str(name) in match for match in view.page.locator("#matches .name").all_text_contents())
        view.page.fill("#search", "")
        view.page.mouse.move(*view.place(str(name)))
        assert view.page.locator("#card strong").text_content() == name
        view.page.mouse.move(5, 300)
    assert view.do("document.querySelectorAll('main img, main script').length") == 0
    view.do("name => treeball.goTo(treeball.tree.names.find(name))", names[0])
    view.settle()
    svg = ElementTree.fromstring(download(view, "#save-svg"))
    texts = [element.text or "" for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert any("<script>" in text for text in texts)


def test_an_injected_script_would_not_run(open_view: Open, companion_page: Path) -> None:
    view = open_view(companion_page)
    view.do(
        """() => {
          const script = document.createElement('script');
          script.textContent = 'globalThis.ran = 1';
          document.body.append(script);
        }"""
    )
    assert view.do("globalThis.ran === undefined")
    assert any("Content Security Policy" in problem for problem in view.problems)
    view.problems.clear()


def download(view: View, button: str) -> bytes:
    with view.page.expect_download() as waiting:
        view.page.click(button)
    return Path(waiting.value.path()).read_bytes()


def test_png_export(open_view: Open, companion_page: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    view = open_view(companion_page)
    picture = image.open(io.BytesIO(download(view, "#save-png")))
    width, height = view.do("[treeball.width, treeball.height]")
    assert picture.size == (2 * width, 2 * height)
    colors = np.asarray(picture.convert("RGB")).reshape(-1, 3)
    assert len(np.unique(colors, axis=0)) > 200


def test_a_view_that_no_png_can_hold_is_told_of(open_view: Open, companion_page: Path) -> None:
    view = open_view(companion_page)
    # What a browser does with a canvas larger than it can encode.
    view.do("() => { HTMLCanvasElement.prototype.toBlob = (done) => done(null); }")
    view.page.click("#save-png")
    assert "too large" in str(view.page.locator("#announcer").text_content())


def test_a_page_that_was_cut_is_told_of(browser: Any, companion_page: Path, tmp_path: Path) -> None:
    cut = re.sub(r'<script type="text/plain" id="data-names">.*?</script>', "", companion_page.read_text("utf-8"))
    (tmp_path / "cut.html").write_text(cut, "utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "cut.html").as_uri())
    said = page.locator("#loading").filter(has_text="cannot be shown")
    said.wait_for()
    assert said.text_content() == 'This page cannot be shown: its part "names" is missing'
    page.close()


def test_svg_export_has_arcs_orthogonal_to_the_rim(open_view: Open, companion_page: Path) -> None:
    view = open_view(companion_page, address="#node=carnivore.n.01")
    svg = ElementTree.fromstring(download(view, "#save-svg"))
    space = "{http://www.w3.org/2000/svg}"
    rim = svg.find(f"{space}circle")
    assert rim is not None
    centre = complex(float(rim.attrib["cx"]), float(rim.attrib["cy"]))
    size = float(rim.attrib["r"])
    checked = 0
    for path in svg.iter(f"{space}path"):
        arc = re.fullmatch(r"M(\S+) (\S+)A(\S+) \S+ 0 0 ([01]) (\S+) (\S+)", path.attrib["d"])
        if not arc:
            continue
        x0, y0, radius, sweep, x1, y1 = (float(value) for value in arc.groups())
        a, b = complex(x0, y0), complex(x1, y1)
        chord = abs(b - a)
        if chord < 40:
            continue
        # The centre of the circle lies to the right of the way for a sweep of 1, as the second axis points down.
        side = 1 if sweep else -1
        middle = (a + b) / 2 + side * 1j * (b - a) / chord * (radius**2 - chord**2 / 4) ** 0.5
        assert abs(middle - centre) ** 2 == pytest.approx(size**2 + radius**2, rel=2e-3)
        checked += 1
    assert checked > 10
    assert "carnivore" in {element.text for element in svg.iter(f"{space}text")}


def test_a_lost_graphics_card_is_no_end(open_view: Open, disk_page: Path) -> None:
    view = open_view(disk_page, address="?renderer=webgl")
    view.do(
        """() => {
          const gl = document.getElementById('picture').getContext('webgl2');
          gl.getExtension('WEBGL_lose_context').loseContext();
        }"""
    )
    view.wait("treeball.renderer.kind === 'canvas'")
    view.page.wait_for_timeout(100)
    assert drawn(pixels(view)) > 5_000
    view.problems.clear()  # Chromium remarks on the loss


def test_canvas_where_there_is_no_webgl(launch: Callable[..., Any], open_view: Open, disk_page: Path) -> None:
    view = open_view(disk_page, browser=launch("--disable-gpu", "--disable-webgl", "--disable-webgl2"))
    assert view.do("treeball.renderer.kind") == "canvas"
    assert drawn(pixels(view)) > 5_000
    view.page.mouse.click(*view.place("placental.n.01"))
    view.settle()
    assert view.focus == "placental.n.01"


def test_both_renderers_draw_the_same(open_view: Open, disk_page: Path) -> None:
    gl, canvas = (pixels(open_view(disk_page, address=query)) for query in ("?renderer=webgl", "?renderer=canvas"))
    assert (np.abs(gl - canvas).sum(axis=2) > 150).mean() < 0.02


def test_a_column_of_ones_own_table(open_view: Open, companion_model: treeball.Embedding, tmp_path: Path) -> None:
    table = tmp_path / "weights.csv"
    table.write_text("animal,legs,diet\ndog.n.01,4,meat\nbat.n.01,2,insects\n,3,none\nnobody,7,air\n", "utf-8")
    numbers = read_column(table, "legs", companion_model.hierarchy)
    page = write_page(companion_model, tmp_path / "legs.html", column=numbers)
    view = open_view(page, address="#node=dog.n.01")
    assert view.do("treeball.colouring") == "column"
    assert "legs" in view.page.locator("#pane-node").inner_text()
    texts = read_column(table, "diet", companion_model.hierarchy)
    page = write_page(companion_model, tmp_path / "diet.html", column=texts)
    view = open_view(page)
    assert view.page.locator("#legend-entries").inner_text().split("\n") == ["insects", "meat", "no value"]


def test_several_roots_and_several_parents(open_view: Open, tmp_path: Path) -> None:
    edges = [("dog", "mammal"), ("dog", "pet"), ("cat", "mammal"), ("cat", "pet"), ("oak", "tree"), ("elm", "tree")]
    embedding = treeball.fit(edges, method="poincare", dim=3, epochs=5, seed=0)
    assert embedding.hierarchy.virtual_root is not None
    view = open_view(write_page(embedding, tmp_path / "dag.html"))
    assert len(view.do("treeball.picture.extra")) == 2
    assert "Added to join several roots" in view.page.locator("#pane-node").inner_text()


def test_a_tree_deeper_than_any_radius(open_view: Open, tmp_path: Path) -> None:
    """A chain of 300 nodes ends hundreds of units from the root; every picture of it is as exact as the first."""
    edges = [(f"n{i + 1}", f"n{i}") for i in range(300)]
    embedding = treeball.fit(edges, method="poincare", dim=3, epochs=1, seed=0)
    view = open_view(write_page(embedding, tmp_path / "chain.html"), address="#node=n300")
    assert view.from_middle("n300") < 1e-6
    view.do("treeball.goTo(treeball.tree.names.find('n2'))")
    view.settle()
    assert view.from_middle("n2") < 1e-6
    steps = view.do(
        """[1, 2, 3].map(i => {
          const { scene, where } = treeball.picture;
          return Math.hypot(scene.x[where[i]], scene.y[where[i]]);
        })"""
    )
    assert steps[1] < 1e-6
    assert steps[0] == pytest.approx(steps[2])


def test_controls_are_accessible(open_view: Open, disk_page: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    for theme in ("light", "dark"):
        view = open_view(disk_page, color_scheme=theme, bypass_csp=True)
        for tab in ("node", "illness", "about"):
            view.page.click(f"#tab-{tab}")
            found = axe.Axe().run(view.page)
            assert found.violations_count == 0, found.generate_report()
        view.page.fill("#search", "dog")
        found = axe.Axe().run(view.page)
        assert found.violations_count == 0, found.generate_report()
