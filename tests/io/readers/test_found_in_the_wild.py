"""Files as spreadsheets, pandas, phylogenetics programs and editors write them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import networkx
import pandas
import polars
import pytest

from tests.io.readers.helpers import Edges, edges_of
from treeball.errors import InputError
from treeball.io.readers import read
from treeball.io.readers.hints import setting


def _read(source: Any, **overrides: Any) -> tuple[Edges, str]:
    """Edges, and the notes as one text."""
    hierarchy = read(source.encode() if isinstance(source, str) else source, **overrides)
    assert hierarchy.report is not None
    return edges_of(hierarchy), "\n".join(hierarchy.report.notes)


def _refused(source: Any, *said: str, **overrides: Any) -> None:
    with pytest.raises(InputError) as caught:
        read(source.encode() if isinstance(source, str) else source, **overrides)
    for part in said:
        assert part in str(caught.value)
    assert caught.value.__cause__ is None


# Newick


@pytest.mark.parametrize(("left", "right"), [("95", "95"), ("0.98", "0.98"), ("100/0.99", "87/1"), ("1e-3", ".5")])
def test_support_values_name_no_clades(left: str, right: str) -> None:
    edges, notes = _read(f"((a:1,b:1){left}:2,(c:1,d:1){right}:1);")
    assert edges == {
        ("a", "<a + 1>"),
        ("b", "<a + 1>"),
        ("c", "<c + 1>"),
        ("d", "<c + 1>"),
        ("<a + 1>", "<a + 3>"),
        ("<c + 1>", "<a + 3>"),
    }
    assert "2 inner labels taken as support values" in notes


def test_numbers_that_are_names_stay_names() -> None:
    assert _read("((9606,9598)207598,9593)9605;")[0] == {
        ("9606", "207598"),
        ("9598", "207598"),
        ("207598", "9605"),
        ("9593", "9605"),
    }
    assert ("a", "95") in _read("((a,b)'95',c)r;")[0]
    assert ("a", "95 <a + 1>") in _read("((a,b)95,(c,d)95)r;", names="label")[0]


@pytest.mark.parametrize("tree", ["((a,b)X,(c,d)X)R;", "((a,b)X,(c,d)a)R;", "((a,a),(a,d))R;", "((a,b),(a,b))R;"])
def test_no_two_clades_are_ever_one(tree: str) -> None:
    hierarchy = read(tree.encode(), strict=True)
    assert hierarchy.n_nodes == 7
    assert hierarchy.report is not None
    assert any("an addition to its name" in note for note in hierarchy.report.notes)


def test_a_repeated_inner_label_is_told_apart_by_its_leaves() -> None:
    edges, _ = _read("((a,b)X,(c,d)X)R;")
    assert edges == _read("((d,c)X,(b,a)X)R;")[0]
    assert {("X <a + 1>", "R"), ("X <c + 1>", "R")} <= edges


def test_newick_with_a_fault_is_recognised() -> None:
    edges, notes = _read("((a,b)X,c)R")
    assert ("a", "X") in edges
    assert "';' at the end is missing" in notes
    _refused("((a,b),(c,d)", "1 parenthesis is not closed")
    _refused("((a,b),c;", "1 parenthesis is not closed before ';'")
    _refused("((a,b),c));", "1 parenthesis is closed that was never opened")
    assert _read("(a),(b)\n(c),(b)\n")[0] == {("(a)", "(b)"), ("(c)", "(b)")}


# Tables


def test_integers_saved_as_floats_meet_integers() -> None:
    frame = pandas.DataFrame({"id": [1, 2, 3], "parent": [None, 1, 2]})
    for text in (
        frame.to_csv(index=False),
        "id,parent\n1,\n2,1.0\n3,2.0\n",
        "id;parent;name\n1;;1\n2;1.0;2\n3;2.0;3\n",
    ):
        edges, notes = _read(text, strict=True)
        assert edges == {("2", "1"), ("3", "2")}
        assert "written as 1.0" in notes
    for records in (
        '[{"id":1,"parent":null},{"id":2,"parent":1.0},{"id":3,"parent":2.0}]',
        '{"id":1,"parent":null}\n{"id":2,"parent":1.0}\n{"id":3,"parent":2.0}\n',
    ):
        edges, notes = _read(records, strict=True)
        assert edges == {("2", "1"), ("3", "2")}
        assert "written as 1.0" in notes
    assert _read("1.0,7\n2.0,7.5\n3,7\n")[0] == {("1.0", "7"), ("2.0", "7.5"), ("3", "7")}


STAR = {("a", "r"), ("b", "r")}


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("# exported, today\n# by, me\nchild,parent\na,r\nb,r\n", "2 comment lines at the top"),
        ("# exported, today\na,r\nb,r\n", "1 comment line at the top"),
        ("# words\n# more, words\n#child,parent\na,r\nb,r\n", "2 comment lines at the top"),
        ("child,parent\na,r\n# a section\nb,r\n# c, r\n", "2 comment lines among the rows"),
        ("child\tparent\na\tr\n#section\nb\tr\n", "1 comment line among the rows"),
        ("sep=;\nchild;parent\na;r\nb;r\n", ""),
        ('"sep=,"\r\na,r\r\nb,r\r\n', ""),
        ("child;parent;;\na;r;;\nb;r;;\n", ""),
        ("a,r,,,\nb,r,,,\n", ""),
    ],
)
def test_lines_and_columns_that_are_no_data(text: str, note: str) -> None:
    edges, notes = _read(text, strict=True)
    assert edges == STAR
    assert note in notes


def test_names_that_begin_with_a_hash_stay() -> None:
    assert _read("#a\tr\n#b\tr\nc\t#a\n")[0] == {("#a", "r"), ("#b", "r"), ("c", "#a")}
    assert _read("# a,r\n# b,r\n")[0] == {("# a", "r"), ("# b", "r")}
    assert _read("child,parent\n#a,r\nb,r\n")[0] == {("#a", "r"), ("b", "r")}
    assert _read('child,parent\n"# a",r\nb,r\n')[0] == {("# a", "r"), ("b", "r")}
    assert _read('child,parent\n"a\n# b",r\nc,r\n')[0] == {("a\n# b", "r"), ("c", "r")}


@pytest.mark.parametrize("top", ["", "#child,parent\n"])
def test_thousands_of_comment_lines_at_the_top(top: str) -> None:
    edges, notes = _read("# a comment\n" * 5000 + top + "a,r\nb,r\nc,a\n")
    assert edges == {("a", "r"), ("b", "r"), ("c", "a")}
    assert "5,000 comment lines at the top skipped" in notes
    edges, _ = _read("# a comment\n" * 5000 + "a > b\na > c\n")
    assert edges == {("a > b", "a"), ("a > c", "a")}


def test_thousands_of_names_that_begin_as_comments_do() -> None:
    edges, _ = _read("".join(f"#{number},#{number // 2}\n" for number in range(1, 5000)))
    assert len(edges) == 4999


def test_the_line_after_thousands_of_comments_is_named() -> None:
    _refused("# a comment\n" * 3000 + "a,r\nb,r\nc,a,d,e\n", "line 3003")


def test_lines_are_counted_with_the_comments() -> None:
    _refused("# x\n\nchild,parent\n# y\na,r\n\n# z\nb,r,t\nc,r\n", "line 8: 3 columns")
    _refused("sep=;\nchild;parent\na;r\nb;r;t\nc;r\n", "line 4: 3 columns")
    _refused("child,parent\n# y\na,r\na,r\nb,r\n", "line 4", "is repeated", strict=True)


def test_separator_of_excel_decides() -> None:
    assert _read("sep=;\na,1;r\nb,2;r\n")[0] == {("a,1", "r"), ("b,2", "r")}


def test_one_column_twice() -> None:
    _refused("a,b\nc,b\n", "names a column twice", columns="1,1")
    _refused("child,parent\nc,b\n", "twice", columns="1,child")


def test_a_second_name_of_an_id_is_noted() -> None:
    for source in (
        "id,parent,name\n1,,x\n2,1,y\n2,1,z\n",
        '[{"id":1,"name":"x"},{"id":2,"parent":1,"name":"y"},{"id":2,"parent":1,"name":"z"}]',
        '{"id":1,"name":"x","children":[{"id":2,"name":"y"},{"id":2,"name":"z"}]}',
    ):
        edges, notes = _read(source, names="label")
        assert edges == {("y", "x")}
        assert "1 id (2) with a second name: the first was kept" in notes


# Breadcrumbs

SHOP = {("A > B, C", "A"), ("A > B, C > D", "A > B, C"), ("A > B, C > E", "A > B, C"), ("A > F", "A")}


def test_one_column_saved_by_a_spreadsheet() -> None:
    rows = '"A > B, C > D"\n"A > B, C > E"\nA > F\n'
    assert _read(rows)[0] == SHOP
    for header in ("category_path", "Kategorie", "Breadcrumb"):
        edges, notes = _read(f"{header}\n{rows}")
        assert edges == SHOP
        assert f"line 1 ({header}) was taken as a header" in notes
    assert ("A > F", "A") in _read("Kategorie\nA > F\nA > G\n", header="no")[0]
    assert read(b"Kategorie\nA > F\nA > G\n", header="no").n_nodes == 5
    assert _read("X > Y\nA > F\nA > G\n", header="yes")[0] == {("A > F", "A"), ("A > G", "A")}
    assert ('"A > F"', '"A') in _read('"A > F"\n"A > G"\n', quoting="off")[0]
    assert _read('"A" > "B"\n"A" > "C"\n')[0] == {('"A" > "B"', '"A"'), ('"A" > "C"', '"A"')}


def test_a_top_category_on_the_first_line_is_no_header() -> None:
    hierarchy = read(b"A\nA > D\nA > E\nA > F\n")
    assert hierarchy.n_nodes == 4
    assert hierarchy.report is not None
    assert not hierarchy.report.notes


def test_paths_that_share_no_beginning() -> None:
    for mark in (" > ", " -> ", " › "):
        two = mark.join(("Kitchen", "Cookware", "Tajines")) + "\n" + mark.join(("Sports", "Winter", "Skis")) + "\n"
        for text in (two, f"category\n{two}"):
            assert _read(text)[0] == {
                (f"Kitchen{mark}Cookware", "Kitchen"),
                (f"Kitchen{mark}Cookware{mark}Tajines", f"Kitchen{mark}Cookware"),
                (f"Sports{mark}Winter", "Sports"),
                (f"Sports{mark}Winter{mark}Skis", f"Sports{mark}Winter"),
            }
    few = {("Kitchen > Pans, large", "Kitchen"), ("Sports > Skis", "Sports")}
    assert _read("Kitchen > Pans, large\nSports > Skis\n")[0] == few
    # Pairs of a chain, arrows that may point either way, and words with a slash are no paths at sight.
    for text in ("a > b\nb > c\n", "a -> b\nc -> d\n", "and/or\neither/neither\n"):
        _refused(text, "has one column")


def test_a_column_of_paths() -> None:
    expected = {("A > B", "A"), ("A > C", "A")}
    for text in (
        "id,category\n1,A > B\n2,A > C\n3,A > B\n",
        "sku,category\nx1,A > B\nx2,A > C\nx3,A > B\n",
        "title\tcategory\tsku\nT\tA > B\tx1\nT\tA > C\tx2\n",
    ):
        edges, notes = _read(text, strict=True)
        assert edges == expected
        assert "column 2 (category) holds breadcrumbs" in notes
    assert _read("sku,category\nx1,A/B\nx2,A/C\n", columns="category")[0] == {("A/B", "A"), ("A/C", "A")}
    assert _read("category\nA/B\nA/C\n", columns="category")[0] == {("A/B", "A"), ("A/C", "A")}
    _refused("child,parent\nx1,A\nx2,A\n", "holds no paths", columns="child")
    _refused("child,parent\nx1,A\nx2,A\n", "no column 'kid'", columns="kid")
    _refused('[{"id": 1, "parent": null}]', "no column 'id'", columns="id")
    with pytest.raises(InputError, match="enough for breadcrumbs only"):
        read(pandas.DataFrame({"a": ["x"], "b": ["y"]}), columns="a")


@pytest.mark.parametrize("mark", [" -> ", " => ", "->", " > ", " » "])
def test_arrows(mark: str) -> None:
    assert _read(f"a{mark}b{mark}c\na{mark}d\n")[0] == {
        (f"a{mark}b", "a"),
        (f"a{mark}b{mark}c", f"a{mark}b"),
        (f"a{mark}d", "a"),
    }


def test_commas_in_paths_are_text() -> None:
    assert _read("Food, Drinks > Tea\nFood, Drinks > Milk\n")[0] == {
        ("Food, Drinks > Tea", "Food, Drinks"),
        ("Food, Drinks > Milk", "Food, Drinks"),
    }


# Outlines, and tables that are none


@pytest.mark.parametrize(
    ("text", "line", "columns"),
    [
        ("category,parent\nPets,\nDog food,Pets\n  Boots,Pets\nCats,Pets,\n", 5, 3),
        ("category,parent\nPets,\nDog food,Pets\n  Boots,Pets\nCats, small,Pets\nBirds,Pets\n", 5, 3),
        ("category,parent,weight\nPets,,\nDog food,Pets,1\n Boots,Pets,\nBirds,Pets\n", 5, 2),
        ("category;parent\nPets;\n  Dogs;Pets\nCats\n", 4, 1),
        ("category,parent\n Dogs,Pets\n Cats,Pets\n Birds,Pets,\n", 4, 3),
        ("# from the shop\nDogs,Pets\nCats,Pets\n  Boots,Shoes\nShoes\n", 5, 1),
    ],
)
def test_a_ragged_table_with_an_indented_row_is_no_outline(text: str, line: int, columns: int) -> None:
    _refused(text, f"line {line}: {columns} column", "where the other lines have")
    assert _read(text, format="outline")[0]


def test_a_table_with_a_header_and_indented_rows_is_no_outline() -> None:
    assert _read("category,parent\n  Dogs,Pets\n  Cats,Pets\n")[0] == {("Dogs", "Pets"), ("Cats", "Pets")}


@pytest.mark.parametrize("indent", ["  ", "\t"])
def test_outlines_with_commas(indent: str) -> None:
    assert _read(f"Food\n{indent}Tea, black\n{indent}Milk\nPets\n{indent}Cats\n")[0] >= {
        ("Tea, black", "Food"),
        ("Milk", "Food"),
        ("Cats", "Pets"),
    }
    assert _read(f"Food, drinks\n{indent}Tea, black, green\n{indent}Milk, cold\n")[0] == {
        ("Tea, black, green", "Food, drinks"),
        ("Milk, cold", "Food, drinks"),
    }
    assert _read(f"- Food, drinks\n- Pets, wild, tame\n{indent}- Cats, small\n")[0] >= {
        ("Cats, small", "Pets, wild, tame")
    }


# Markdown and YAML


def test_bullets_among_other_text() -> None:
    edges, notes = _read("My list:\n\n- animal\n  - mammal\n")
    assert edges == {("mammal", "animal")}
    assert "1 line of headings and text skipped" in notes
    edges, notes = _read("# Zoo\n\nWhat we have, by kind.\n\n* animal\n  * bird\n    * owl\n\n## End\n\nBye.\n")
    assert edges == {("bird", "animal"), ("owl", "bird")}
    assert "4 lines" in notes
    assert _read("fruit\n  - apple\n    - red\n")[0] == {("apple", "fruit"), ("red", "apple")}
    assert _read("fruit:\n- apple\n- pear\n")[0] == {("apple", "fruit"), ("pear", "fruit")}


@pytest.mark.parametrize("key", [r'"a \"b\" c"', "'a \"b\" c'", 'a "b" c'])
def test_quotes_in_keys_of_yaml(key: str) -> None:
    assert _read(f"{key}:\n  dog:\n    - 1\n    - x\n")[0] == {("dog", 'a "b" c'), ("1", "dog"), ("x", "dog")}


def test_doubled_quotes_in_keys_of_yaml() -> None:
    assert _read("'it''s':\n  dog:\n")[0] == {("dog", "it's")}


def test_anchors_of_yaml() -> None:
    edges, _ = _read("animal: &x\n  mammal: &y\n    - dog\nother: *y\n")
    assert {("mammal", "animal"), ("other > dog", "other")} <= edges


# Formats of others


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('<?xml version="1.0"?>\n<graphml xmlns="x"><graph/></graphml>', ["GraphML", "networkx", "pass the graph"]),
        ('<gexf version="1.2"><graph/></gexf>', ["GEXF", "networkx"]),
        ("<!DOCTYPE html>\n<html><body>a, b</body></html>", ["HTML"]),
        ("<ul><li>a, b</li>\n<li>c, d</li></ul>", ["XML but not RDF/XML"]),
        ("<phyloxml><phylogeny/></phyloxml>", ["phyloXML", "Newick"]),
        ("digraph G {\n a -> b;\n c -> b;\n}\n", ["Graphviz DOT", "networkx"]),
        ("// made by hand\nstrict graph {\n a -- b\n}\n", ["Graphviz DOT"]),
        ("graph [\n  directed 1\n  node [\n    id 1\n  ]\n]\n", ["GML", "networkx.read_gml"]),
        ("Prefix: : <http://e/>\nOntology: <http://e>\nClass: :a\n  SubClassOf: :b\n", ["Manchester", "RDF/XML"]),
        ("*Vertices 2\n1 a\n2 b\n*Arcs\n1 2\n", ["Pajek"]),
        ('{"@context": "https://schema.org", "@id": "x"}', ["JSON-LD", "not fetched", "Turtle"]),
        ('{"@context": {"a": "b"}, oops', ["not valid JSON-LD"]),
    ],
)
def test_foreign_formats_are_refused_by_name(content: str, said: list[str]) -> None:
    _refused(content, *said)


def test_names_that_look_like_markup() -> None:
    assert _read("<root>,x\n<a>,x\n")[0] == {("<root>", "x"), ("<a>", "x")}
    assert _read("graph,x\ndigraph,x\n")[0] == {("graph", "x"), ("digraph", "x")}


def test_json_ld() -> None:
    context = '{"skos": "http://www.w3.org/2004/02/skos/core#", "broader": {"@id": "skos:broader", "@type": "@id"}}'
    graph = '[{"@id": "http://e/a", "broader": "http://e/r"}, {"@id": "http://e/b", "broader": "http://e/r"}]'
    expected = {("http://e/a", "http://e/r"), ("http://e/b", "http://e/r")}
    assert _read(f'{{"@context": {context}, "@graph": {graph}}}')[0] == expected


# Objects and messages


def test_hints_work_in_python_and_on_the_command_line() -> None:
    assert setting("header", "yes") == "header=yes (on the command line: --header yes)"
    assert setting("name_column") == "name_column=... (on the command line: --name-column ...)"
    assert setting("trim", "false") == "trim=False (on the command line: --no-trim)"
    assert setting("strict", "true") == "strict=True (on the command line: --strict)"


def test_texts_that_are_no_path() -> None:
    with pytest.raises(InputError, match="give a path"):
        read("")
    with pytest.raises(InputError, match=r"several lines \(a,b c,b\) is no path.*as bytes"):
        read("a,b\nc,b\n")


def test_frames_and_series() -> None:
    with pytest.raises(InputError, match=r"pass frame\.collect\(\)"):
        read(polars.LazyFrame({"child": ["a"], "parent": ["b"]}))
    for series in (pandas.Series(["a", "b"]), polars.Series(["a", "b"])):
        with pytest.raises(InputError, match="is one column"):
            read(series)


def test_the_index_of_a_frame() -> None:
    frame = pandas.DataFrame({"id": [1, 2, 3], "parent": [None, 1, 1], "name": ["x", "y", "z"]}).set_index("id")
    assert edges_of(read(frame, strict=True)) == {(2, 1), (3, 1)}
    assert edges_of(read(frame, strict=True, names="label")) == {("y", "x"), ("z", "x")}
    assert edges_of(read(frame[["parent"]], strict=True)) == {(2, 1), (3, 1)}
    assert edges_of(read(frame, columns=("id", "parent"))) == {(2, 1), (3, 1)}
    named = pandas.Index([5, 6], name="row")
    for columns in ("child", "parent"), ("x", "y"):
        pairs = pandas.DataFrame([("a", "r"), ("b", "r")], columns=columns, index=named)
        assert edges_of(read(pairs)) == STAR


def test_weights_that_some_edges_of_a_graph_lack() -> None:
    for graph in (networkx.DiGraph(), networkx.Graph()):
        graph.add_edge("a", "r", weight=1.0)
        graph.add_edge("b", "r")
        hierarchy = read(graph)
        assert hierarchy.parent_weight is None
        assert hierarchy.report is not None
        assert "the weights are not used, since 1 of 2 edges have none" in hierarchy.report.notes


def test_tuples_as_names_in_a_mapping() -> None:
    expected = {(("a", 1), ("r", 1)), (("b", 1), ("r", 1))}
    assert edges_of(read({("a", 1): ("r", 1), ("b", 1): ("r", 1)})) == expected
    assert edges_of(read({("a", 1): ("r", 1), ("b", 1): ("r", 1), ("r", 1): None})) == expected
    assert edges_of(read({("a",): ("r",), ("b",): ("r",)})) == {(("a",), ("r",)), (("b",), ("r",))}
    assert edges_of(read({"r": ("a", "b")})) == STAR
    assert edges_of(read({("r", 1): ("a", "b")})) == {("a", ("r", 1)), ("b", ("r", 1))}


def test_half_a_character() -> None:
    for source in ({"a\ud800": "r", "b": "r"}, [("a\ud800", 1), ("b", 1)], b'{"r": ["a\\ud800", "b"]}'):
        with pytest.raises(InputError, match=r"the name a\\ud800 holds a lone surrogate"):
            read(source)


def test_folders_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("open", "shut"):
        (tmp_path / name / "below").mkdir(parents=True)
    listing = os.scandir

    def scandir(path: Any) -> Any:
        if Path(path).name == "shut":
            raise PermissionError(13, "Permission denied")
        return listing(path)

    monkeypatch.setattr(os, "scandir", scandir)
    report = read(tmp_path, format="directory").report
    assert report is not None
    assert report.repair_counts == {"folders not listed": 1}
    with pytest.raises(InputError, match=r"shut could not be listed"):
        read(tmp_path, format="directory", strict=True)


def test_obo_with_lines_that_are_all_comment() -> None:
    head = "! a file\nformat-version: 1.4\n\n! terms follow\n"
    animal = "[Term]\nid: T:animal ! animal\n! birds come later\nname: animal\n\n"
    owl = "[Term]\nid: T:owl\n  ! at night\nis_a: T:animal ! animal\n"
    hierarchy = read((head + animal + owl).encode())
    assert list(hierarchy.names) == ["T:animal", "T:owl"]
    assert hierarchy.n_edges == 1
