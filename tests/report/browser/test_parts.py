"""Pages of a model folder: what one shows of it, and the ways from one to the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.scale.hierarchies import random_edges, write
from treeball.scale.fit import fit_folder
from treeball.scale.folder import ModelFolder
from treeball.scale.pages import Pages, PageSettings
from treeball.scale.serve import application
from treeball.scale.settings import ScaleSettings
from treeball.web.local import LocalServer

from .driver import View

Open = Callable[..., View]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    """3,000 nodes, of which pages show 60."""
    home = tmp_path_factory.mktemp("parts")
    settings = ScaleSettings(method="construct", dim=5, branch_nodes=1000, workers=1)
    fit_folder((write(random_edges(3000), home / "edges"),), home / "model", settings, lambda words: None)
    return ModelFolder(home / "model")


@pytest.fixture(scope="module")
def pages(folder: ModelFolder) -> Pages:
    return Pages(folder, PageSettings(most=60, title="Parts"))


@pytest.fixture
def address(pages: Pages) -> Iterator[str]:
    with LocalServer(application(pages)) as server:
        yield server.address


def deepest(folder: ModelFolder) -> list[str]:
    """The way from the root to a leaf as far below it as any, by primary parents."""
    depths = {0: 0}
    for place in range(1, len(folder)):
        depths[place] = depths[folder.primary_parent(place)] + 1
    place = max(depths, key=lambda one: depths[one])
    way = [place]
    while way[-1]:
        way.append(folder.primary_parent(way[-1]))
    return folder.names(way[::-1])


def texts(view: View, selector: str) -> list[str]:
    return [text.strip() for text in view.page.locator(selector).all_text_contents()]


def has_cut_node(view: View) -> str:
    """A node but the uppermost with something below it that is not shown."""
    return str(
        view.do(
            """() => {
              const { tree, part } = treeball;
              for (let one = 1; one < tree.size.length; one++) {
                if (part.below[one] > tree.size[one] - 1) return tree.ids.of(one);
              }
            }"""
        )
    )


def test_a_page_says_of_what_it_is_a_part(open_view: Open, address: str, folder: ModelFolder) -> None:
    view = open_view(address)
    assert view.page.locator("#facts").inner_text().startswith("60 of 3K nodes · dimension 5 · MAP")
    facts = dict(zip(texts(view, "#pane-node dt"), texts(view, "#pane-node dd"), strict=True))
    assert facts["Below it"] == "2,999 (59 shown)"
    children = folder.primary_children(0).size
    assert facts["Children"].split(" ")[0] == f"{children:,}"
    assert "2,940 nodes below it are not on this page." in view.page.locator("#pane-node").inner_text()
    assert "Nearest of the nodes shown" in texts(view, "#pane-node h3")
    below = folder.count_below(folder.primary_children(0))
    shown = [text.replace(",", "") for text in texts(view, "#pane-node ul:last-child .value") if text]
    assert shown == [str(one) for one in sorted(map(int, shown), reverse=True)]
    assert set(map(int, shown)) <= set(below.tolist())
    assert f"The page shows 60 of the 3,000 nodes of {folder.path}" in str(
        view.page.locator("#pane-about").text_content()
    )


def test_one_goes_down_by_links_and_up_by_the_path(open_view: Open, address: str, folder: ModelFolder) -> None:
    view = open_view(address)
    name = has_cut_node(view)
    view.do("name => treeball.goTo(treeball.tree.names.find(name))", name)
    view.settle()
    view.page.click("#pane-node a.wide")
    view.has_opened()
    assert view.focus == name
    assert view.do("treeball.tree.ids.of(0)") == name
    level = dict(zip(texts(view, "#pane-node dt"), texts(view, "#pane-node dd"), strict=True))["Level"]
    above = folder.names(folder.shape.above(folder.find(name)))
    assert int(level) == len(above)
    assert texts(view, "#crumbs li") == [*above, name]
    assert not view.page.locator("#pane-node a.wide").count()  # it is the uppermost here
    view.page.locator("#crumbs a").first.click()
    view.has_opened()
    assert view.focus == above[0]
    view.page.go_back()
    view.has_opened()
    assert view.focus == name


def test_a_node_that_is_not_shown_is_found_in_the_whole_model(
    open_view: Open, address: str, folder: ModelFolder
) -> None:
    view = open_view(address)
    *above, leaf = deepest(folder)
    assert view.node(leaf) < 0
    view.page.fill("#search", leaf)
    assert any(text == f"Look for “{leaf}”in all 3,000 nodes" for text in texts(view, "#matches li"))
    view.page.locator("#matches li").last.dispatch_event("pointerdown")
    view.page.wait_for_url("**/?node=*")
    view.has_opened()
    # A leaf has nothing below it: it is shown beside its siblings.
    assert view.focus == leaf
    assert texts(view, "#crumbs li") == [*above, leaf]
    assert view.do("treeball.tree.ids.of(0)") == above[-1]


def test_a_name_that_no_node_has_is_told_with_a_way_back(open_view: Open, address: str) -> None:
    view = open_view(address)
    hostile = "<img src=x onerror=alert(1)> & nobody"
    view.page.fill("#search", hostile)
    view.page.keyboard.press("Enter")
    view.page.wait_for_url("**/?node=*")
    assert f"there is no node '{hostile}'" in view.page.inner_text("main")
    assert view.do("document.images.length") == 0
    assert all("404" in problem for problem in view.problems)
    view.problems.clear()
    view.page.click("main a")
    view.has_opened()
    assert view.focus == "n0"


def test_a_page_in_a_file_has_the_command_that_shows_more(open_view: Open, pages: Pages, tmp_path: Path) -> None:
    file = tmp_path / "part.html"
    file.write_text(pages.page(pages.first(), served=False), "utf-8")
    view = open_view(file)
    name = has_cut_node(view)
    view.do("name => treeball.goTo(treeball.tree.names.find(name))", name)
    view.settle()
    assert view.page.locator("#pane-node code").inner_text() == f"treeball view {pages.folder.path} --below {name}"
    assert not view.page.locator("a").count()
    view.page.fill("#search", "nobody")
    assert texts(view, "#matches li") == ["No such name"]
