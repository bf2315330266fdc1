"""The same hierarchy written in every format reads back to the same edges."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.io.readers import helpers
from tests.io.readers.helpers import ANIMALS, DIAMOND, Edges, edges_of
from treeball.errors import InputError
from treeball.io.readers import read

# Three trees: the known one, one with blanks and separators in its names, one that is a bare chain of letters.
SHOP: Edges = {
    ("Apparel & Accessories", "all goods"),
    ("Food, Beverages & Tobacco", "all goods"),
    ("Coffee / Tea", "Food, Beverages & Tobacco"),
    ("Größe Ω; weiß", "Apparel & Accessories"),
    ("Socks - long", "Apparel & Accessories"),
}

TREE_WRITERS: dict[str, Callable[[Edges], bytes]] = {
    "json mappings": helpers.json_mappings,
    "yaml": helpers.yaml_mappings,
    "newick": helpers.newick,
    "outline": helpers.outline,
    "outline with tabs": lambda edges: helpers.outline(edges, indent="\t"),
    "markdown": lambda edges: helpers.outline(edges, bullet="* "),
}
GRAPH_WRITERS: dict[str, Callable[[Edges], bytes]] = {
    "csv": helpers.delimited,
    "csv with header": lambda edges: helpers.delimited(edges, header=("child", "parent")),
    "tsv": lambda edges: helpers.delimited(edges, "\t"),
    "tsv without quoting": helpers.raw_tsv,
    "semicolons, all quoted": lambda edges: helpers.delimited(edges, ";", quoting=csv.QUOTE_ALL),
    "pipes": lambda edges: helpers.delimited(edges, "|"),
    "id table": helpers.id_table,
    "parquet": helpers.parquet,
    "json objects": helpers.json_objects,
    "json records": helpers.json_records,
    "json lines": helpers.json_lines,
    "carriage returns": lambda edges: helpers.delimited(edges).replace(b"\n", b"\r\n"),
    "utf-8 with mark": lambda edges: b"\xef\xbb\xbf" + helpers.delimited(edges),
    "utf-16": lambda edges: helpers.delimited(edges).decode().encode("utf-16"),
    "gzip": lambda edges: helpers.compressed(helpers.delimited(edges), "gzip"),
    "zstd": lambda edges: helpers.compressed(helpers.delimited(edges), "zstd"),
    "bz2": lambda edges: helpers.compressed(helpers.delimited(edges), "bz2"),
    "zstd parquet": lambda edges: helpers.compressed(helpers.parquet(edges), "zstd"),
}


@pytest.mark.parametrize("edges", [ANIMALS, SHOP], ids=["animals", "shop"])
@pytest.mark.parametrize("writer", [*TREE_WRITERS, *GRAPH_WRITERS])
def test_trees_come_back_from_every_format(writer: str, edges: Edges) -> None:
    write = {**TREE_WRITERS, **GRAPH_WRITERS}[writer]
    hierarchy = read(write(edges))
    assert edges_of(hierarchy) == edges
    assert hierarchy.report is not None
    assert hierarchy.report.n_repairs == 0
    assert hierarchy.report.direction_doubt is None


@pytest.mark.parametrize("writer", GRAPH_WRITERS)
def test_nodes_with_several_parents_come_back_where_the_format_can_carry_them(writer: str) -> None:
    hierarchy = read(GRAPH_WRITERS[writer](DIAMOND))
    assert edges_of(hierarchy) == DIAMOND
    assert not hierarchy.is_tree


def test_several_roots_come_back_under_an_added_one() -> None:
    forest = ANIMALS | {("rose", "plant")}
    for write in (*TREE_WRITERS.values(), *GRAPH_WRITERS.values()):
        hierarchy = read(write(forest))
        assert edges_of(hierarchy) == forest
        assert hierarchy.names[hierarchy.root] == "<root>"
        assert hierarchy.virtual_root == hierarchy.root


@pytest.mark.parametrize("edges", [ANIMALS, SHOP], ids=["animals", "shop"])
def test_breadcrumbs_name_nodes_by_their_path(edges: Edges) -> None:
    hierarchy = read(helpers.breadcrumbs(edges))
    last = {name: str(name).split(" > ")[-1] for name in hierarchy.names}
    assert {(last[c], last[p]) for c, p in edges_of(hierarchy)} == edges
    assert all(str(c).rsplit(" > ", 1)[0] == p for c, p in edges_of(hierarchy))


def test_a_directory_tree(tmp_path: Path) -> None:
    top = tmp_path / "animal"
    for folder in ("mammal/dog", "mammal/cat", "bird"):
        (top / folder).mkdir(parents=True)
    (top / "bird" / "owl").write_text("not read")
    (top / "loop").symlink_to(top, target_is_directory=True)
    hierarchy = read(top, format="directory")
    expected = {
        ("animal/mammal", "animal"),
        ("animal/bird", "animal"),
        ("animal/loop", "animal"),
        ("animal/mammal/dog", "animal/mammal"),
        ("animal/mammal/cat", "animal/mammal"),
        ("animal/bird/owl", "animal/bird"),
    }
    assert edges_of(hierarchy) == expected


@pytest.mark.parametrize("edges", [ANIMALS, DIAMOND], ids=["tree", "dag"])
def test_obo(edges: Edges) -> None:
    assert edges_of(read(helpers.obo(edges))) == {(f"T:{c}", f"T:{p}") for c, p in edges}
    assert edges_of(read(helpers.obo(edges), names="label")) == edges


@pytest.mark.parametrize("edges", [ANIMALS, DIAMOND, SHOP], ids=["tree", "dag", "shop"])
@pytest.mark.parametrize("predicate", ["subClassOf", "broader", "narrower"])
@pytest.mark.parametrize("syntax", ["turtle", "xml", "nt"])
def test_rdf(edges: Edges, predicate: str, syntax: str) -> None:
    data = helpers.rdf(edges, syntax, predicate)
    assert edges_of(read(data)) == {(helpers.iri(c), helpers.iri(p)) for c, p in edges}
    assert edges_of(read(data, names="label")) == edges


@pytest.mark.parametrize("edges", [ANIMALS, SHOP], ids=["animals", "shop"])
def test_taxdump(edges: Edges, tmp_path: Path) -> None:
    folder = helpers.taxdump(edges, tmp_path / "dump")
    assert edges_of(read(folder, names="label")) == edges
    assert edges_of(read(folder / "nodes.dmp", names="label")) == edges
    assert read(folder, names="id").names[0] == "1"


@pytest.mark.parametrize(("edges", "relation"), [(ANIMALS, "tree"), (DIAMOND, "dag")])
def test_wordnet(edges: Edges, relation: Any, tmp_path: Path) -> None:
    folder = helpers.wordnet(edges, tmp_path / "wn")
    expected = {(f"{c}.n.01", f"{p}.n.01") for c, p in edges}
    assert edges_of(read(folder, relation=relation)) == expected
    assert edges_of(read(folder / "data.noun", relation=relation)) == expected


def test_python_objects() -> None:
    import networkx
    import pandas
    import polars
    import pyarrow

    pairs = sorted(DIAMOND)
    columns = {"child": [c for c, _ in pairs], "parent": [p for _, p in pairs]}
    below = helpers.children_of(DIAMOND)
    for source in (
        pairs,
        iter(pairs),
        [list(pair) for pair in pairs],
        below,
        {parent: set(children) for parent, children in below.items()},
        networkx.DiGraph(pairs),
        networkx.DiGraph(pairs).reverse(),
        pandas.DataFrame(columns),
        polars.DataFrame(columns),
        pyarrow.table(columns),
        pyarrow.table(columns).to_batches()[0],
        [{"child": c, "parent": p} for c, p in pairs],
    ):
        assert edges_of(read(source)) == DIAMOND
    assert edges_of(read(dict(sorted(ANIMALS)))) == ANIMALS
    assert edges_of(read({"animal": {"mammal": {"dog": {}, "cat": None}, "bird": ["owl"]}})) == ANIMALS
    undirected = [("animal", "bird"), ("animal", "mammal"), ("mammal", "dog"), ("mammal", "cat"), ("bird", "owl")]
    assert edges_of(read(networkx.Graph(undirected))) == ANIMALS


def test_a_hierarchy_is_returned_as_it_is() -> None:
    hierarchy = read(sorted(ANIMALS))
    assert read(hierarchy) is hierarchy


def test_the_search_for_cycles_goes_on_after_reading() -> None:
    """It is paused while millions of objects are made, and only then."""
    import gc

    assert gc.isenabled()
    read(helpers.json_objects(helpers.ANIMALS))
    assert gc.isenabled()
    with pytest.raises(InputError):
        read(b'{"a": [1, 2')
    assert gc.isenabled()
