"""Each format is recognised whatever marks of the others its labels, comments and quotes hold: a test a pair."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import get_args

import pytest

from treeball.errors import InputError
from treeball.io.readers import ReadSettings, read
from treeball.io.readers.recognition import ROWS, TEXT_FORMATS, Rank, recognised
from treeball.io.readers.sample import Sample
from treeball.io.readers.settings import Format
from treeball.io.readers.source import open_source

MARKS = {
    "taxdump": "1\t|\t1\t|\tno rank\t|",
    "wordnet": "  1 This software and database is being provided to you",
    "nexus": "#NEXUS begin trees; tree t = (a,b); end;",
    "obo": "format-version: 1.4",
    "obographs": '{"graphs": [{"nodes": [{"id": "a"}], "edges": [{"sub": "a", "pred": "is_a", "obj": "b"}]}]}',
    "rdf": "@prefix a: <https://example.org/> .",
    "rdf/xml": "<rdf:RDF/>",
    "json-ld": '"@context": {"@id": "https://example.org"}',
    "owl": "Ontology(<https://example.org/x>)",
    "json": '{"name": "a", "children": [{"name": "b"}]}',
    "newick": "((a,b)c,'d > e')f;",
    "levels": "L1,L2,L3",
    "table": "id,parent_id,name",
    "edges": "child\tparent",
    "semicolons": "sep=;",
    "yaml": "animal: [dog, cat]",
    "outline": "    - dog",
    "breadcrumbs": "a > b > c -> d / e",
    "comment": "# a comment",
}
"""What tells a format at sight, as somebody may write it into a label."""
LINES = {
    "obo": "[Term]\nid: A:1\nis_a: A:2\n",
    "rdf": "@prefix a: <https://example.org/> .\na:b a:c a:d .\n",
    "owl": "Ontology(<https://example.org/x>\n)\n",
    "yaml": "animal:\n  - dog\n",
    "newick": "(a,b)c;\n",
    "edges": "a\tb\nc\tb\n",
    "table": "id,parent\n1,\n2,1\n",
    "outline": "a\n  b\n  c\n",
}
"""The same on lines of their own, for quotes and comments that may hold line ends."""


def comma(rows: list[tuple[str, ...]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def unbracketed(mark: str) -> str:
    return mark.replace("[", "(").replace("]", ")")


WRITERS: dict[str, Callable[[str], str]] = {
    # Each puts a label beside others, so that it is quoted as the format quotes.
    "taxdump": lambda m: f"1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\t{' '.join(m.split())}\t|\n",
    "nexus": lambda m: (
        f"#NEXUS\nbegin trees;\ntree t = [{m.replace('[', '').replace(']', '')}] (a,{newick(m)})r;\nend;\n"
    ),
    "obo": lambda m: f"[Term]\nid: A:1\nname: {obo(m)}\n\n[Term]\nid: A:2\nis_a: A:1 ! {obo(m)}\n",
    "rdf": lambda m: f"@prefix e: <https://example.org/> .\ne:a <{SUB}> e:b ; <{LABEL}> {json.dumps(m)} .\n",
    "owl": lambda m: (
        "Prefix(:=<https://example.org/>)\nOntology(<https://example.org/x>\n"
        f"AnnotationAssertion(<{LABEL}> :a {json.dumps(m)})\nSubClassOf(:a :b)\n)\n"
    ),
    "json": lambda m: json.dumps({"name": "r", "children": [{"name": m}, {"name": "b"}]}),
    "newick": lambda m: f"({newick(m)},b,(c,{newick(m + ' 2')})d)r;",
    "levels": lambda m: comma([("L1", "L2"), ("r", m), ("r", "b")]),
    "table": lambda m: comma([("id", "parent_id", "name"), ("1", "", "r"), ("2", "1", m), ("3", "1", "b")]),
    "edges": lambda m: comma([("child", "parent"), ("b", "r"), (m, "r"), ("c", "r")]),
    "yaml": lambda m: f"r:\n  {json.dumps(m)}:\n    - b\n  c:\n",
    "outline": lambda m: f"r\n  b\n  {m.strip()}\n    c\n  d\n",
    "breadcrumbs": lambda m: comma([("category",), ("r > b",), ("r > c > d",)]) + f'"r > {quoted(m)}"\n',
}
"""Format -> a small hierarchy with the label."""
SUB = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


def newick(label: str) -> str:
    return "'" + label.replace("'", "''") + "'"


def obo(label: str) -> str:
    return label.replace("\\", "\\\\").replace("\n", "\\n").replace("{", "\\{").replace("!", "\\!").replace("\t", "\\t")


def quoted(label: str) -> str:
    return label.replace('"', '""')


def module_of(text: str) -> str:
    row = recognised(Sample.of(open_source(text.encode())), ReadSettings())
    return "" if row is None else row.format


PAIRS = [
    (one, other)
    for one in WRITERS
    for other in MARKS
    # A tab in a name is refused where nothing can quote it.
    if one != other and not (one in ("outline", "breadcrumbs") and "\t" in MARKS[other])
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_a_mark_of_another_format_in_a_label_changes_nothing(one: str, other: str) -> None:
    text = WRITERS[one](MARKS[other])
    assert module_of(text) == one
    assert module_of(text.rstrip("\n") + "\n\n") == one


QUOTING = ["rdf", "owl", "json", "newick", "levels", "table", "edges", "yaml"]


@pytest.mark.parametrize("one", QUOTING)
@pytest.mark.parametrize("other", LINES)
def test_lines_of_another_format_inside_of_quotes_change_nothing(one: str, other: str) -> None:
    text = WRITERS[one](LINES[other])
    if one == "rdf":
        text = text.replace(json.dumps(LINES[other]), f'"""{LINES[other]}"""')
    if one == "owl":
        text = text.replace(json.dumps(LINES[other]), f'"{LINES[other]}"')
    assert module_of(text) == one
    if one in ("json", "levels", "table", "edges", "yaml"):
        hierarchy = read(text.encode())
        names = [*map(str, hierarchy.names), *map(str, hierarchy.labels or ())]
        assert any(" ".join(LINES[other].split()) in " ".join(name.split()) for name in names)


COMMENTS: dict[str, Callable[[str], str]] = {
    "edges": lambda m: f"# {m}\n" + WRITERS["edges"]("x"),
    "table": lambda m: f"# {m}\n" + WRITERS["table"]("x"),
    "levels": lambda m: f"# {m}\n" + WRITERS["levels"]("x"),
    "yaml": lambda m: f"# {m}\n" + WRITERS["yaml"]("x"),
    "breadcrumbs": lambda m: f"# {m}\nr > a > c\nr > b\n",
    "rdf": lambda m: f"# {m}\n" + WRITERS["rdf"]("x"),
    "owl": lambda m: f"# {m}\n" + WRITERS["owl"]("x"),
    "obo": lambda m: f"! {m}\n" + WRITERS["obo"]("x"),
    "newick": lambda m: f"[{unbracketed(m)}] " + WRITERS["newick"]("x"),
}


@pytest.mark.parametrize("one", COMMENTS)
@pytest.mark.parametrize("other", MARKS)
def test_a_mark_of_another_format_in_a_comment_changes_nothing(one: str, other: str) -> None:
    assert module_of(COMMENTS[one](MARKS[other])) == one


def test_every_format_has_a_row_and_an_example() -> None:
    folders_and_containers = {"auto", "parquet", "directory"}
    assert set(TEXT_FORMATS) == set(get_args(Format)) - folders_and_containers
    assert {row.format for row in ROWS} - {"wordnet", "obographs"} == set(WRITERS)
    assert {row.rank for row in ROWS} == set(Rank)
    assert [row.rank for row in ROWS] == sorted(row.rank for row in ROWS)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("GO:0008150:\n  GO:0009987:\n  GO:0008152:\n", {"GO:0008150", "GO:0009987", "GO:0008152"}),
        ("C#:\n  F#:\n  G#x:\n    - a#b\n", {"C#", "F#", "G#x", "a#b"}),
        ("-a:\n  -b:\n    - c\n", {"-a", "-b", "c"}),
        ("- id: 1\n  name: |\n    A\n    b\n- id: 2\n  parent: 1\n  name: >\n    C\n    d\n", {"1", "2"}),
        ("%YAML 1.2\n---\nanimal:\n  dog:\n  cat:\n", {"animal", "dog", "cat"}),
        ("---\nanimal:\n  dog:\n  cat:\n...\n", {"animal", "dog", "cat"}),
        ("http://a.org/x:\n  12:30 show:\n  ? y\n", {"http://a.org/x", "12:30 show", "y"}),
        ('"a: b":\n  \'c # d\':\n  "e\\tf":\n', {"a: b", "c # d", "e\tf"}),
        ("name: r\nchildren:\n- name: a long\n    name\n- name: b\n", {"r", "a long name", "b"}),
        ("dog: mammal\ncat: mammal\nmammal: animal\n", {"dog", "cat", "mammal", "animal"}),
    ],
)
def test_yaml_is_told_by_its_parser(text: str, names: set[str]) -> None:
    assert set(read(text.encode()).names) == names


@pytest.mark.parametrize(
    "text", ["Animals:\n  Mammals:\n    Dog\n    Cat\n", "- a: b\n  - c: d\n", "- a\n  - b\n", "Title: x\n  a\n  b\n"]
)
def test_an_outline_with_colons_is_no_yaml(text: str) -> None:
    assert module_of(text) == "outline"


def test_comments_in_comments_are_no_json() -> None:
    assert module_of("[" * 2_000 + "]" * 2_000 + "(a,b)c;") == "newick"


def test_a_fault_in_a_format_is_told_by_its_own_reader() -> None:
    for text, said in {
        "animal:\n  dog: [a, b\n  cat:\n": "not valid YAML",
        "(('a > b','a > c')x,'d > e')r)z;": "not valid Newick",
        '{"a": {"b": {}}': "not valid JSON",
        '[{"id": 1, "parent": 2}, {"id": 2 "parent": 1}]': "not valid JSON",
    }.items():
        with pytest.raises(InputError, match=said):
            read(text.encode())


@pytest.mark.parametrize("end", ["", "x" * 300_000, "," * 10])
def test_the_beginning_of_a_long_text_is_enough(end: str) -> None:
    names = [f"a long name of a node, number {number}" for number in range(20_000)]
    newick = "[a comment] (" + ",".join(f"'{name} > {end[:20]}'" for name in names) + ")r;"
    assert module_of(newick) == "newick"
    document = json.dumps({"r": [f"{name} {end}" for name in names[:2]] + names})
    assert module_of(document) == "json"
    assert module_of("r:\n" + "".join(f"  {name}:{number}:\n" for number, name in enumerate(names))) == "yaml"
