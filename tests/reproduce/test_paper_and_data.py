"""What the paper prints, and the trees that stand in for its data sets."""

from __future__ import annotations

import re

import numpy as np
import pytest

from treeball.errors import InputError
from treeball.io.readers.formats import wordnet
from treeball.reproduce import datasets, generated, paper
from treeball.reproduce.datasets import TREES
from treeball.reproduce.recipes import RECIPES

# ---- what the paper prints ----

QUOTED = r"""
yelp 2 ga-dl & 1.351 & \textbf{0.926} & \textbf{86} & 65 & 47
yelp 10 ga-dl-rw & \textbf{1.015} & \textbf{0.993} & 5 & 6 & \textbf{9}
verbs 2 euclidean & 66.302 & 0.124 & 7366 & 3778 & 1879
verbs 5 lorentz & 2.389 & 0.853 & 285 & 2277 & 468
verbs 10 ga-dl & \textbf{1.654} & \textbf{0.884} & \textbf{184} & 1456 & 828
nouns 10 ga-dl & 7.900 & 0.754 & 10647 & 13547 & 5551
nouns 10 ga-dl-rw & \textbf{2.738} & \textbf{0.722} & \textbf{9483} & 24844 & \textbf{32}
catalog 5 poincare & 86.759 & 0.063 & 130479 & 2001 & 174
closure 10 ga-dl-rw & \textbf{4.270} & \textbf{0.797} & \textbf{38277} & \textbf{134541} & 12575
"""


@pytest.mark.parametrize("quoted", QUOTED.strip().splitlines())
def test_rows_are_those_of_the_paper(quoted):
    key, *cells = (re.sub(r"\\textbf\{(.*?)\}", r"\1", cell).strip() for cell in quoted.split("&"))
    tree, dim, method = key.split()
    row = paper.row(tree, method, int(dim))
    printed = (row.mean_rank, row.map, row.capacity, row.intra_subtree, row.inter_subtree)
    assert printed == tuple(float(cell) for cell in cells)


def test_tables_have_every_method_and_dimension_of_the_plan():
    for name, tree in TREES.items():
        recipe = RECIPES[tree.dataset]
        if tree.dataset != "synthetic":
            asked = {(dim, row.method) for dim in recipe.dims for row in recipe.rows}
            assert {(row.dim, row.method) for row in paper.TABLES[name]} == asked


def test_ill_pairs_of_a_row_never_exceed_the_edges():
    for name, rows in paper.TABLES.items():
        for row in rows:
            if row.capacity is not None:
                ill = row.capacity + row.intra_subtree + row.inter_subtree
                assert 0 < ill <= TREES[name].shape.edges


# ---- data ----


def test_the_generated_catalogue_has_the_statistics_of_the_papers():
    printed = paper.SHAPES["catalog"]
    hierarchy = generated.catalog_like_tree()
    shape = hierarchy.statistics()
    assert hierarchy.is_tree
    assert (shape.nodes, shape.edges, shape.max_degree, shape.depth) == (134_812, 134_811, 726, 6)
    assert shape.std_degree == pytest.approx(printed.std_degree, abs=0.05)
    again = generated.catalog_like_tree()
    np.testing.assert_array_equal(hierarchy.parent_idx, again.parent_idx)


def test_synthetic_trees_have_five_children_to_each_inner_node():
    for name, nodes, depth in (("synthetic-156", 156, 3), ("synthetic-781", 781, 4)):
        hierarchy = datasets.load(TREES[name], None)
        assert hierarchy.n_nodes == nodes
        assert hierarchy.statistics().depth == depth
        assert set(np.diff(hierarchy.child_ptr).tolist()) == {0, 5}


def test_files_are_read_as_written(data):
    hierarchy = datasets.load(TREES["yelp"], data)
    assert hierarchy.n_nodes == 5
    assert '"quoted" name' in hierarchy.names


def test_the_shape_of_a_closure_counts_all_pairs(data):
    tree = TREES["closure"]
    shape = datasets.shape_of(tree, datasets.load(tree, data))
    assert (shape["nodes"], shape["edges"], shape["max_degree"], shape["std_degree"]) == (5, 10, 4, 0.0)


def test_a_missing_file_is_named_with_the_remedy(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"yelp needs the file yelp-tree\.tsv\.gz.*--data"):
        datasets.locate(TREES["yelp"], None)
    with pytest.raises(InputError, match=r"catalog needs the file shopify-facets-hardware.*does not hold.*--data"):
        datasets.locate(TREES["catalog"], tmp_path)
    with pytest.raises(InputError, match=r"there is no folder .*nowhere"):
        datasets.locate(TREES["yelp"], tmp_path / "nowhere")
    monkeypatch.setattr(wordnet, "installed_folder", _not_installed)
    with pytest.raises(InputError, match=r"wordnet-verbs-tree\.tsv\.gz, .*or an installed WordNet.*apt install"):
        datasets.locate(TREES["verbs"], tmp_path)


def test_an_installed_wordnet_serves_in_place_of_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(wordnet, "installed_folder", lambda: tmp_path)
    assert datasets.locate(TREES["verbs"], None) == "wordnet:verbs"
    assert datasets.locate(TREES["closure"], tmp_path) == "wordnet:nouns"


def _not_installed():
    raise InputError("no WordNet is installed")


def test_all_files_are_looked_for_before_the_first_is_read(data, monkeypatch):
    monkeypatch.setattr(datasets, "load", lambda tree, data: pytest.fail(f"{tree.name} was read"))
    with pytest.raises(InputError, match="catalog needs the file"):
        datasets.load_all(["synthetic", "yelp", "catalog"], data)


def test_figures_have_the_numbers_of_the_compiled_paper():
    # In the source: fig:figure2, fig: syn process; in the appendix fig: illness, fig: syn tc weight, fig: syn result.
    assert list(paper.FIGURES.items()) == [
        ("embeddings", "figure-1"),
        ("process", "figure-2"),
        ("illness", "figure-3"),
        ("weights", "figure-4"),
        ("parts", "figure-5"),
    ]
