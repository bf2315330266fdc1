"""compare: paths as names, a virtual root, numbers as text, and words for one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import treeball
from treeball.cli.main import run
from treeball.hierarchy import diff

PRODUCTS = "id,category\n1,Garden > Furniture\n2,Garden > Tools\n3,Kitchen > Pans\n4,Sports > Skis\n"


@pytest.mark.parametrize(
    ("now", "is_renamed"),
    [("Terrace", False), ("Furnitures", True), ("furniture", True), ("Garden furniture", True), ("Gardening", False)],
)
def test_paths_are_renamed_when_their_last_steps_are_alike(now, is_renamed):
    before, after = (treeball.read(text.encode()) for text in (PRODUCTS, PRODUCTS.replace("Furniture", now)))
    found = diff(before, after)
    old, new = "Garden > Furniture", f"Garden > {now}"
    assert found.renamed == (((old, new),) if is_renamed else ())
    assert found.removed == (() if is_renamed else (old,))
    assert found.added == (() if is_renamed else (new,))


def test_names_that_only_begin_like_their_parent_are_no_paths():
    before, after = (treeball.read({"cat": None, "dog": "cat", name: "cat"}) for name in ("cats", "catz"))
    assert diff(before, after).renamed == (("cats", "catz"),)


@pytest.mark.parametrize("model_first", [False, True])
def test_the_added_root_of_a_model_is_no_node(model_first, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("products.csv").write_text(PRODUCTS)
    treeball.fit("products.csv", dim=2).save("model.parquet")
    sources = ["model.parquet", "products.csv"] if model_first else ["products.csv", "model.parquet"]
    assert run(["compare", *sources, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record == {"common": 7, "added": [], "removed": [], "renamed": [], "reparented": [], "relabelled": []}


def test_a_model_keeps_all_parents_and_its_numbers_are_those_of_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pairs = [(2, 1), (3, 1), (4, 2), (4, 3), (6, 5)]
    Path("numbers.csv").write_text("child,parent\n" + "".join(f"{child},{parent}\n" for child, parent in pairs))
    treeball.fit(pairs, dim=2).save("model.parquet")
    assert run(["compare", "numbers.csv", "model.parquet", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record == {"common": 6, "added": [], "removed": [], "renamed": [], "reparented": [], "relabelled": []}


LENGTHS = "((((human:6,(chimp:2,bonobo:2):4):2,gorilla:8):6,orang:14):6,siamang:20);"


def test_how_far_nodes_moved_is_not_said_where_plain_coordinates_keep_no_places(tmp_path, capsys):
    tree = treeball.read(LENGTHS.encode())
    to_scale, near = treeball.fit(tree, objective="distances"), treeball.fit(tree)
    assert to_scale.radii().max() > 300
    assert treeball.compare(to_scale, near).moved is None
    assert not treeball.compare(to_scale, to_scale).moved.any()
    for name, model in (("a", to_scale), ("b", near)):
        model.save(tmp_path / f"{name}.parquet")
    assert run(["compare", str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")]) == 0
    assert "farther out than plain coordinates keep places" in capsys.readouterr().out


def test_a_model_of_several_terms_is_not_at_the_places_of_its_rounded_self():
    edges = [(f"n{child}", f"n{child - 1}") for child in range(1, 40)]
    precise = treeball.fit(edges, dim=2, precision=2)
    moved = treeball.compare(precise, precise.rounded()).moved
    assert moved is None or moved.any()
    assert not treeball.compare(precise, precise).moved.any()
