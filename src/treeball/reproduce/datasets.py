"""The data sets of the reproduction by name: where each comes from, and what it has in common with the paper's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..hierarchy import Hierarchy
from ..io.readers import ReadSettings, read
from ..types import Objective
from . import generated, paper

# In this order they are run: the cheapest first.
DATASETS = ("synthetic", "yelp", "verbs", "catalog", "nouns", "closure")


@dataclass(frozen=True)
class Tree:
    """One hierarchy that gets a table of its own.

    Attributes
    ----------
    name : what files and tables are called
    dataset : the data set it belongs to, one of `DATASETS`
    title : heading of its table
    note : how it relates to what the paper used
    file : its file in the folder of --data; None for a generated tree
    wordnet : part and relation of an installed WordNet that serve when the file is absent
    shape : its line in the paper's table of data sets, if any
    """

    name: str
    dataset: str
    title: str
    note: str
    file: str | None = None
    wordnet: tuple[str, str] | None = None
    objective: Objective = "parents"
    shape: paper.Shape | None = None


TREES = {
    tree.name: tree
    for tree in (
        Tree(
            "synthetic-156",
            "synthetic",
            "Synthetic tree, 156 nodes",
            "Balanced, 5 children to each inner node, 4 layers with the root: the tree in the paper's Figure 1.",
        ),
        Tree(
            "synthetic-781",
            "synthetic",
            "Synthetic tree, 781 nodes",
            "Balanced, 5 children to each inner node, 5 layers with the root: the tree that the paper's text "
            "describes. The paper prints no score for it.",
        ),
        Tree(
            "yelp",
            "yelp",
            "Yelp categories",
            "The list of categories as of May 2019, first listed parent: 1,566 nodes. The paper's state of the list, "
            "1,587 nodes, was not found.",
            file="yelp-tree.tsv.gz",
            shape=paper.SHAPES["yelp"],
        ),
        Tree(
            "verbs",
            "verbs",
            "WordNet verbs",
            "WordNet 3.0, one hypernym a synset (the last listed), roots joined under one: the paper's number of "
            "nodes and edges; its largest degree and deviation could not be reproduced.",
            file="wordnet-verbs-tree.tsv.gz",
            wordnet=("verbs", "tree"),
            shape=paper.SHAPES["verbs"],
        ),
        Tree(
            "nouns",
            "nouns",
            "WordNet nouns",
            "WordNet 3.0, one hypernym a synset (the one with the most ancestors): the paper's number of nodes and "
            "edges, its largest degree but for one, its deviation.",
            file="wordnet-nouns-tree.tsv.gz",
            wordnet=("nouns", "tree"),
            shape=paper.SHAPES["nouns"],
        ),
        Tree(
            "catalog",
            "catalog",
            "Catalogue (Shopify hardware)",
            "A stand-in: the paper's commodity catalogue is not public. The hardware vertical of the Shopify taxonomy "
            "with its attribute values as leaves has its size and depth, but less bushy nodes; the paper's figures are "
            "those of its own catalogue.",
            file="shopify-facets-hardware.tsv.gz",
            shape=paper.SHAPES["catalog"],
        ),
        Tree(
            "catalog-matched",
            "catalog",
            "Catalogue (generated)",
            "A generated tree with the number of nodes, largest degree, deviation of degree and depth of the paper's "
            "commodity catalogue; the paper's figures are those of its own catalogue.",
            shape=paper.SHAPES["catalog"],
        ),
        Tree(
            "closure",
            "closure",
            "WordNet nouns, closure",
            "Objective `ancestors` on the 743,241 distinct pairs (node, ancestor). The paper's 769,130 are the lines "
            "of a list that repeats some pairs. Capacity illness is judged by direct hypernyms.",
            file="wordnet-nouns-closure.tsv.gz",
            wordnet=("nouns", "closure"),
            objective="ancestors",
            shape=paper.SHAPES["closure"],
        ),
    )
}

# Quotes belong to names here, and nothing may be guessed or repaired: these files are the record.
_AS_WRITTEN = ReadSettings(
    format="edges", direction="child-parent", separator="tab", header="no", quoting="off", strict=True
)


def trees_of(dataset: str) -> list[Tree]:
    """The trees of one data set; the synthetic one and the catalogue have two each."""
    return [tree for tree in TREES.values() if tree.dataset == dataset]


def locate(tree: Tree, data: Path | None) -> Path | str | None:
    """Where `tree` is read from: a file below `data`, an installed WordNet, or None when it is generated.

    Raises
    ------
    InputError
        If the file is missing and nothing can serve in its place; the sentence says what to do.
    """
    if tree.file is None:
        return None
    if data is not None and not data.is_dir():
        raise InputError(f"there is no folder {str(data)!r}: give --data the folder that holds {tree.file}")
    if data is not None and (data / tree.file).is_file():
        return data / tree.file
    missing = f"{tree.dataset} needs the file {tree.file}" + (f", which {str(data)!r} does not hold" if data else "")
    if tree.wordnet is None:
        raise InputError(f"{missing}: put it into a folder and name that with --data")
    from ..io.readers.formats.wordnet import installed_folder

    try:
        installed_folder()
    except InputError as error:
        raise InputError(
            f"{missing}, or an installed WordNet (Debian and Ubuntu: apt install wordnet-base): "
            "install that, or name the folder of the file with --data"
        ) from error
    return f"wordnet:{tree.wordnet[0]}"


def load_all(datasets: Iterable[str], data: Path | None) -> dict[str, Hierarchy]:
    """The hierarchies of some data sets by the names of their trees.

    All files are looked for before the first is read: nobody should learn of a missing one after an hour of work.
    """
    trees = [tree for dataset in datasets for tree in trees_of(dataset)]
    for tree in trees:
        locate(tree, data)
    return {tree.name: load(tree, data) for tree in trees}


def load(tree: Tree, data: Path | None) -> Hierarchy:
    """The hierarchy of `tree`."""
    source = locate(tree, data)
    if source is None:
        return _generate(tree)
    if isinstance(source, Path):
        return read(source, _AS_WRITTEN)
    assert tree.wordnet is not None
    return read(source, relation=tree.wordnet[1])


def _generate(tree: Tree) -> Hierarchy:
    if tree.name == "catalog-matched":
        return generated.catalog_like_tree()
    return generated.balanced_tree(5, 3 if tree.name == "synthetic-156" else 4)


def shape_of(tree: Tree, hierarchy: Hierarchy) -> dict[str, Any]:
    """Figures for the table of data sets; of a closure, those of the graph of all its pairs."""
    shape = hierarchy.statistics()
    record = {
        "nodes": shape.nodes,
        "edges": shape.edges,
        "max_degree": shape.max_degree,
        "std_degree": shape.std_degree,
        "std_degree_inner": shape.std_degree_inner,
        "depth": shape.depth,
    }
    if tree.objective == "ancestors":
        pointers, ancestors = hierarchy.ancestors()
        below = np.bincount(ancestors, minlength=hierarchy.n_nodes)
        degree = below + np.diff(pointers)
        record |= {
            "edges": int(ancestors.size),
            "max_degree": int(degree.max()),
            "std_degree": float(degree.std()),
            "std_degree_inner": float(degree[below > 0].std()),
        }
    return record
