"""Random hierarchies, written in every format, come back equal or are refused with a sentence."""

from __future__ import annotations

import pytest

from tests.io.readers.helpers import Edges, edges_of
from tests.io.readers.round_trips.formats import FORMATS, attempt
from tests.io.readers.round_trips.written import Format
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
