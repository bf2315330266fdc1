"""What pages of a model folder show: upper levels, what is below a node, and how much of it there is."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.scale.hierarchies import random_edges, write
from treeball import InputError
from treeball.cli.main import run
from treeball.scale.fit import fit_folder
from treeball.scale.folder import ModelFolder
from treeball.scale.pages import Pages, PageSettings
from treeball.scale.settings import ScaleSettings
from treeball.scale.upper import upper_levels

EDGES = random_edges(1500)


def quiet(_):
    pass


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """1,500 nodes, of which an update has removed 30, with 80 new ones, some below others."""
    home = tmp_path_factory.mktemp("pages")
    settings = ScaleSettings(method="construct", dim=5, branch_nodes=400, workers=1)
    fit_folder((write(EDGES, home / "edges"),), home / "model", settings, quiet)
    gone = set(sorted({child for child, _ in EDGES} - {parent for _, parent in EDGES})[:30])
    new = [(f"new {i}", f"n{i % 7}") for i in range(60)] + [(f"below {i}", f"new {i}") for i in range(20)]
    pattern = write([edge for edge in EDGES if edge[0] not in gone] + new, home / "next")
    assert run(["update", str(home / "model"), pattern]) == 0
    return home / "model"


@pytest.fixture(scope="module")
def folder(model):
    return ModelFolder(model)


def primary_children_of(folder):
    """By place, the places of all children, in a plain way."""
    found: dict[int, list[int]] = {place: [] for place in range(len(folder)) if not folder.is_removed(place)}
    for place in found:
        if (parent := folder.primary_parent(place)) >= 0:
            found[parent].append(place)
    return found


def test_children_and_nodes_below_are_counted_with_what_was_added_and_removed(folder):
    children = primary_children_of(folder)
    below = dict.fromkeys(children, 0)
    for place in below:
        above = folder.primary_parent(place)
        while above >= 0:
            below[above] += 1
            above = folder.primary_parent(above)
    places = np.array(list(below))
    rng = np.random.default_rng(0)
    some = rng.permutation(places)[:700]
    assert folder.count_below(some).tolist() == [below[place] for place in some.tolist()]
    assert folder.count_below(np.array([0])).tolist() == [1500 - 30 + 80 - 1]
    for place in places.tolist():
        assert sorted(folder.primary_children(place).tolist()) == children[place]
        assert folder.primary_children(place, 3).tolist() == folder.primary_children(place)[:3].tolist()
    assert not np.isin(folder.removed, [one for place in places for one in folder.children(place)]).any()


@pytest.mark.parametrize("most", [2, 40, 5000])
def test_upper_levels_are_whole_but_for_the_last(folder, most):
    shown = upper_levels(folder, most)
    assert len(shown.embedding) == shown.places.size == min(most, 1500 - 30 + 80)
    names = folder.names(shown.places)
    assert [str(name) for name in shown.embedding.hierarchy.names] == names
    np.testing.assert_array_equal(shown.embedding.vectors, folder.vectors(shown.places))
    parents = shown.embedding.hierarchy.primary_parent
    assert [folder.primary_parent(place) for place in shown.places[1:].tolist()] == shown.places[parents[1:]].tolist()
    depths = np.zeros(len(names), int)
    for row in range(1, len(names)):
        depths[row] = depths[parents[row]] + 1
    assert (np.diff(depths) >= 0).all()
    part = shown.part("model", served=True)
    assert (part.nodes, part.above) == (1550, [])
    assert part.children.tolist() == [folder.primary_children(place).size for place in shown.places.tolist()]


def test_a_leaf_is_shown_below_its_parent_whatever_there_is_beside_it(folder):
    children = primary_children_of(folder)
    parent = max(children, key=lambda one: len(children[one]))
    leaves = [one for one in children[parent] if not children[one]]
    assert len(leaves) > 10
    for leaf in (leaves[0], leaves[-1]):
        shown = upper_levels(folder, 5, around=folder.names([leaf])[0])
        assert shown.places[0] == parent
        assert leaf in shown.places
        assert shown.places.size == np.unique(shown.places).size == 5
    inner = next(one for one in children[parent] if children[one])
    assert upper_levels(folder, 5, around=folder.names([inner])[0]).places[0] == inner
    assert "new 3" in folder.names(upper_levels(folder, 5, around="below 3").places)


def test_what_cannot_be_shown_is_refused(folder):
    with pytest.raises(InputError, match="nothing below 'n1499'"):
        upper_levels(folder, 20, "n1499")
    with pytest.raises(InputError, match="at least 2"):
        upper_levels(folder, 1)
    gone = sorted({child for child, _ in EDGES} - {parent for _, parent in EDGES})[0]
    assert Pages(folder).served(gone)[0] == 404
    assert Pages(folder).served("nobody")[0] == 404


def test_pages_are_made_once(folder, monkeypatch):
    pages = Pages(folder, PageSettings(most=30))
    status, first = pages.served(None)
    assert status == 200
    monkeypatch.setattr(pages, "page", None)
    assert pages.served(None) == (200, first)


def test_a_table_colours_every_page(folder, tmp_path, model, capsys):
    table = tmp_path / "sales.csv"
    table.write_text("node,sales\n" + "".join(f"n{i},{i}\n" for i in range(200)))
    page = tmp_path / "page.html"
    assert run(["view", str(model), "-o", str(page), "--most", "50", "--table", str(table)]) == 0
    assert "column 'sales': " in capsys.readouterr().err
    assert '"name":"sales"' in page.read_text("utf-8").replace('": ', '":')
    pages = Pages(folder, PageSettings(most=20, table=table))
    assert '"name":"sales"' in pages.served("n1")[1].decode().replace('": ', '":')


def test_view_writes_a_page_of_a_folder(model, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert run(["view", str(model), "-o", str(page), "--most", "50"]) == 0
    assert "50 of 1,550 nodes" in capsys.readouterr().err
    text = page.read_text("utf-8").replace('": ', '":')
    # A folder keeps no lengths, so that nothing could be to scale.
    assert '"to_scale":null' in text
    assert '"served":false' in text
    assert run(["view", str(model), "-o", str(page), "--below", "n1499"]) == 2
    assert run(["view", str(model), "-o", str(page), "--below", "n1"]) == 0
    capsys.readouterr()
    for layout in ("rectangular", "radial"):
        assert run(["view", str(model), "-o", str(page), "--layout", layout]) == 2
        assert "a model folder keeps no lengths" in capsys.readouterr().err
    assert run(["view", str(model), "-o", str(page), "--most", "50", "--layout", "disk"]) == 0
    assert json.loads((model / "manifest.json").read_text())["added"]
