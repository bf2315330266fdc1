"""Random hierarchies, written in every format, come back equal or are refused with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.io.readers.helpers import Edges, edges_of
from tests.io.readers.round_trips.formats import FORMATS, attempt
from tests.io.readers.round_trips.written import Format
from treeball.errors import InputError
from treeball.io.readers import read

SEED = 28
FILES_PER_FORMAT = 30  # python -m tests.io.readers.round_trips --examples 20000 tries more


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_random_hierarchies_come_back(format: Format) -> None:
    kinds = []
    for number in range(FILES_PER_FORMAT):
        kind, text = attempt(format, SEED, number)
        assert kind != "wrong", text
        kinds.append(kind)
    assert kinds.count("refused") <= (1 - format.least_read) * FILES_PER_FORMAT


OWL = '<Ontology xmlns="http://www.w3.org/2002/07/owl#">{}<SubClassOf><Class IRI="#a"/><Class IRI="#b"/></SubClassOf>'
LABEL = '<AnnotationAssertion><AnnotationProperty abbreviatedIRI="rdfs:label"/><IRI>#a</IRI><Literal>x\\n</Literal>'
FOUND: dict[str, tuple[bytes, Edges]] = {
    "empty labels are no parents": (b"id,parent_id,name\na,,\nb,,\nc,a,x\n", {("c", "a")}),
    "a label NULL is no parent": (b"id,parent_id,name\na,NULL,x\nb,a,NULL\nc,a,a\n", {("b", "a"), ("c", "a")}),
    "a drawn line in a table": (
        "child,parent\na,├── x\nb,a\nc,a\n".encode(),
        {("a", "├── x"), ("b", "a"), ("c", "a")},
    ),
    "a short row below a first cell with #": (
        b"notes\tL1\tL2\tL3\nx\ta\tb\tc\n#1\ta\td\t\ny\ta\tb\te\n",
        {("a > b", "a"), ("a > d", "a"), ("a > b > c", "a > b"), ("a > b > e", "a > b")},
    ),
    "a first name with #": (b"#tag,a\nb,a\nc,b\n", {("#tag", "a"), ("b", "a"), ("c", "b")}),
    "a top that looks like an id": (
        b'"path"\n"1 - a"\n"1 - a > b"\n"1 - a > c"\n',
        {("1 - a > b", "1 - a"), ("1 - a > c", "1 - a")},
    ),
    "an id before a top with a semicolon": (b"7 - a;b\n8 - a;b > c\n9 - a;b > d\n", {("8", "7"), ("9", "7")}),
    "semicolons that end steps": (
        b"end;\nend; > a\nend; > b\n",
        {("end; > a", "end;"), ("end; > b", "end;")},
    ),
    "an arrow in the only parent": (
        b"source;target\na -> b;c\na -> b;d\na -> b;e\n",
        {("c", "a -> b"), ("d", "a -> b"), ("e", "a -> b")},
    ),
    "paths of products that share one category": (
        b"sku|category_path\ns1|a / b / c\ns2|a / b / c\n",
        {("a / b", "a"), ("a / b / c", "a / b")},
    ),
    "numbers of products and numbers of steps": (
        b"sku\tcategory\tsort\ns1\t22 | 25\t25\ns2\t22 | 26\t2\n",
        {("22 | 25", "22"), ("22 | 26", "22")},
    ),
    "a parent map with the key child": (
        b'{"name": "x", "child": "name", "y": "x"}',
        {("name", "x"), ("child", "name"), ("y", "x")},
    ),
    "lists of children below the keys of columns": (
        b'{"label": ["is_a"], "is_a": ["id"], "id": ["c"], "c": ["d"]}',
        {("is_a", "label"), ("id", "is_a"), ("c", "id"), ("d", "c")},
    ),
    "lists in a list of YAML": (b"- - a\n  - top\n- - b\n  - top\n", {("a", "top"), ("b", "top")}),
    "lists in brackets in a list of YAML": (b"- [a, top]\n- [b, top]\n", {("a", "top"), ("b", "top")}),
    "a mapping in braces, in YAML": (b"--- {'a': top, 'b': a}\n", {("a", "top"), ("b", "a")}),
    "a name that goes on in the next line of brackets": (
        b"parent: [top, top\n    two]\nchild: [top\n    two,\n  c]\n",
        {("top two", "top"), ("c", "top two")},
    ),
    "a name that goes on in the next line of an item": (
        b"top:\n- a\n  b\n- c\na b: [d]\n",
        {("a b", "top"), ("c", "top"), ("d", "a b")},
    ),
    "an explicit key of YAML": (b"---\na: top\n? 'b'\n: a\n", {("a", "top"), ("b", "a")}),
    "a slash in the names of a flat mapping": (
        b"x: Coffee / Tea\nCoffee / Tea: all\ny: Coffee / Tea\n",
        {("x", "Coffee / Tea"), ("y", "Coffee / Tea"), ("Coffee / Tea", "all")},
    ),
    "tops of paths that begin with #": (
        b"#1 Best > x\nFood > y\n",
        {("#1 Best > x", "#1 Best"), ("Food > y", "Food")},
    ),
    "tops of paths that all begin with #": (
        b"#a > x\n#a > y\n# b > z\n",
        {("#a > x", "#a"), ("#a > y", "#a"), ("# b > z", "# b")},
    ),
    "a name with # in a row with a quoted separator": (
        b'child|parent\nb|"a | c"\n#NEXUS|"a | c"\n',
        {("b", "a | c"), ("#NEXUS", "a | c")},
    ),
    "a semicolon in the top of paths between slashes": (
        "Größe Ω; weiß / x\nGröße Ω; weiß / y\n".encode(),
        {("Größe Ω; weiß / x", "Größe Ω; weiß"), ("Größe Ω; weiß / y", "Größe Ω; weiß")},
    ),
}


@pytest.mark.parametrize("case", FOUND)
def test_what_the_round_trips_found(case: str) -> None:
    content, edges = FOUND[case]
    hierarchy = read(content)
    assert edges_of(hierarchy) == edges
    assert hierarchy.report is not None
    assert set(hierarchy.report.repair_counts) <= {"roots joined"}


def test_literals_of_owl_xml_hold_no_escapes() -> None:
    content = OWL.format(LABEL + "</AnnotationAssertion>") + "</Ontology>"
    assert "x\\n" in list(read(content.encode()).labels)


def test_columns_that_are_named_do_not_make_a_table_of_others() -> None:
    content = b"rank,sort,thing,inside\n4,1,owl,n6\n1,,n4,earth\n9,1,xi,n6\n"
    report = read(content, columns=("thing", "inside"), header="yes").report
    assert report is not None
    assert set(report.repair_counts) == {"roots joined"}


def test_a_separator_that_may_be_another_is_said() -> None:
    report = read(b"a > b | c\na > b | d\na > b | e\n", format="breadcrumbs").report
    assert report is not None
    assert any("occurs in many lines as well" in note for note in report.notes)


def test_few_paths_among_many_tops_are_paths_in_the_format_breadcrumbs() -> None:
    hierarchy = read(b"a >> b\nc\nd\ne\nf\n", format="breadcrumbs")
    assert edges_of(hierarchy) == {("a >> b", "a")}


GUESSES: dict[str, tuple[bytes, dict[str, str], Edges]] = {
    "paths between bars, read as rows": (
        b"a | b\na | c\n",
        {"format": "breadcrumbs"},
        {("a | b", "a"), ("a | c", "a")},
    ),
    "keys and values with commas, read as rows": (
        b"x: Food, Drinks\ny: Food, Drinks\n",
        {"format": "yaml"},
        {("x", "Food, Drinks"), ("y", "Food, Drinks")},
    ),
    "rows with slashes, read as paths": (
        "Größe Ω; weiß / x\nGröße Ω; weiß / y\n".encode(),
        {"format": "edges", "direction": "parent-child"},
        {("weiß / x", "Größe Ω"), ("weiß / y", "Größe Ω")},
    ),
    "a first row whose names are words of a header": (
        b"child,parent\nx,child\ny,child\n",
        {"header": "no"},
        {("child", "parent"), ("x", "child"), ("y", "child")},
    ),
    "a path before a longer one": (b"lone\na > b\na > c\n", {"header": "no"}, {("a > b", "a"), ("a > c", "a")}),
}


@pytest.mark.parametrize("case", GUESSES)
def test_the_report_names_the_setting_of_the_other_reading(case: str) -> None:
    content, settings, edges = GUESSES[case]
    report = read(content).report
    assert report is not None
    said = "\n".join([*report.notes, report.direction_doubt or ""])
    first, value = next(iter(settings.items()))
    assert f"{first}={value} (" in said or f"{first}={value!r} (" in said
    assert edges_of(read(content, **settings)) == edges  # type: ignore[arg-type]


def test_every_separator_that_may_be_another_is_said() -> None:
    report = read(b"a => b|x>y\na|q => c|x>z|w\n", format="breadcrumbs").report
    assert report is not None
    assert [mark for mark in (">", "|") if any(f"separator={mark!r} " in note for note in report.notes)] == [">", "|"]


def test_a_line_of_drawn_marks_alone_makes_no_outline() -> None:
    with pytest.raises(InputError, match="one column"):
        read("a » b\n│\nc\nd\n".encode())


def test_the_slashes_of_an_address_among_names_separate_no_steps() -> None:
    with pytest.raises(InputError, match="one column"):
        read(b"x_1\ngid://shop/2\nncbi/3\ngid://shop/2 > y\nx_4\n")


def test_a_path_that_was_commented_out_is_listed() -> None:
    report = read(b"# made by hand\n#Food > old\nFood > z\nFood > y\n").report
    assert report is not None
    assert [repair.line for repair in report.repairs if repair.kind == "comment lines"] == [1, 2]


def test_lists_below_words_of_a_header_are_said_to_be_columns() -> None:
    report = read(b'{"parent": ["category"], "category": ["weight"]}').report
    assert report is not None
    assert any("taken as names of columns" in note for note in report.notes)


def test_ids_of_products_may_be_names_of_categories(tmp_path: Path) -> None:
    (tmp_path / "categories.csv").write_text("id,parent_id,name\ntop,,Top\nsku,top,Units\n")
    (tmp_path / "products.csv").write_text("sku,category_id\np1,sku\np2,top\n")
    hierarchy = read([tmp_path / "categories.csv", tmp_path / "products.csv"])
    assert edges_of(hierarchy) == {("sku", "top"), ("p1", "sku"), ("p2", "top")}


def test_a_first_row_with_hash_is_no_comment_when_there_is_no_header() -> None:
    assert edges_of(read(b"#tag,a\nb,c\nd,c\n", header="no", direction="child-parent")) == {
        ("#tag", "a"),
        ("b", "c"),
        ("d", "c"),
    }


def test_one_path_of_a_column_has_no_id_in_front() -> None:
    hierarchy = read(b"sku,category_path\ns1,1 - a | b\n", columns=("category_path",))
    assert edges_of(hierarchy) == {("1 - a | b", "1 - a")}


def test_three_colons_between_steps_are_refused() -> None:
    with pytest.raises(InputError, match=r"path 3: ':::' in 'a::key:::b' leaves open which step the third sign"):
        read(b"a\na::key:\na::key:::b\na::c\n")


def test_a_first_line_that_numbers_levels_is_said_to_be_an_edge() -> None:
    content = b"L0;L1\ngamma;tau\ngamma;L1\n"
    assert any("(L0, L1) reads like a header of levels" in note for note in read(content).report.notes)
    assert edges_of(read(content, header="yes")) == {("gamma > tau", "gamma"), ("gamma > L1", "gamma")}


def test_yaml_may_begin_with_an_explicit_key() -> None:
    content = "? 'a\u2028  b'\n: - dog\n  - cat\nbird: {}\n".encode()
    assert {child for child, _ in edges_of(read(content))} >= {"dog", "cat"}
