"""Repairs follow the stated policy and are all counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.io.readers import helpers
from tests.io.readers.helpers import ANIMALS, edges_of
from treeball.errors import FaultsError, InputError
from treeball.hierarchy.read_report import ReadReport
from treeball.io.readers import read


def _report(source: Any, **overrides: Any) -> ReadReport:
    report = read(source, **overrides).report
    assert report is not None
    return report


def test_a_clean_input_needs_none() -> None:
    report = _report(helpers.delimited(ANIMALS), strict=True)
    assert report.headline() == "6 nodes, 5 edges read as child -> parent, 1 root (animal), 0 repairs"
    assert report.summary() == report.headline()


def test_each_kind_is_counted() -> None:
    dirty = (
        b"child,parent\n"
        b"dog,mammal\ncat,mammal\nowl,bird\nmammal,animal\nbird,animal\n"
        b"dog,mammal\ndog,mammal\n"  # duplicates
        b"owl,owl\n"  # self-loop
        b"animal,dog\n"  # closes a cycle
        b",bird\n"  # nobody's child
        b"rose,plant\n"  # a second root
        b"tulip , plant\n"  # blanks
    )
    hierarchy = read(dirty)
    assert edges_of(hierarchy) == ANIMALS | {("rose", "plant"), ("tulip", "plant")}
    assert hierarchy.report is not None
    assert hierarchy.report.repair_counts == {
        "names trimmed": 1,
        "empty names": 1,
        "self-loops": 1,
        "duplicate edges": 2,
        "cycle edges": 1,
        "roots joined": 2,
    }
    assert hierarchy.report.n_repairs == 8
    assert hierarchy.report.headline().endswith(
        "2 roots (animal, plant) joined under <root>, 8 repairs (1 name trimmed, 1 empty name, 1 self-loop, "
        "2 duplicate edges, 1 cycle edge, 2 roots joined)"
    )


def test_a_parent_without_a_row_stays() -> None:
    hierarchy = read(b"id,parent_id\n1,\n2,1\n3,9\n4,9\n")
    assert edges_of(hierarchy) == {("2", "1"), ("3", "9"), ("4", "9")}
    assert hierarchy.report is not None
    assert hierarchy.report.repair_counts == {"undefined parents": 1, "roots joined": 2}


@pytest.mark.parametrize("marker", ["", "0", "-1", "NULL", "null", "None", "NaN", "\\N", "1"])
def test_marks_of_a_root_in_a_table(marker: str) -> None:
    hierarchy = read(f"id,parent_id\n1,{marker}\n2,1\n3,1\n4,3\n".encode(), strict=True)
    assert edges_of(hierarchy) == {("2", "1"), ("3", "1"), ("4", "3")}


@pytest.mark.parametrize("marker", ["NULL", "null", "None", "NaN", "N/A", "NA", "\\N", "-", "<NA>", "-1", ""])
@pytest.mark.parametrize(
    "rows",
    [
        "child,parent\n0,{}\n1,0\n2,0\n",
        "0,{}\n1,0\n2,0\n3,1\n",
        "parent,child\n{},0\n0,1\n0,2\n",
        "child,parent,weight\n0,{},1\n1,0,2\n",
    ],
)
def test_a_word_for_no_parent_marks_a_root_in_an_edge_list(rows: str, marker: str) -> None:
    hierarchy = read(rows.format(marker).encode(), strict=True)
    report = hierarchy.report
    assert report is not None
    assert report.roots == ("0",)
    assert hierarchy.virtual_root is None
    assert marker not in hierarchy.names
    if marker:
        assert [(one.kind, one.node) for one in report.repairs if "quotes" not in one.kind] == [("root markers", "0")]
        assert any(note.startswith(f"1 row with the parent {marker}, read as no parent") for note in report.notes)


def test_pairs_and_records_have_words_for_no_parent_too() -> None:
    assert edges_of(read([("a", "NULL"), ("b", "a"), ("c", "a")])) == {("b", "a"), ("c", "a")}
    lines = b'{"child": "a", "parent": "None"}\n{"child": "b", "parent": "a"}\n'
    assert edges_of(read(lines)) == {("b", "a")}


def test_a_table_of_nothing_but_roots_is_refused_in_a_sentence() -> None:
    for rows in (b"child,parent\nn0,NULL\n", b"id,parent_id\n,\n", b"child,parent\nNULL,NULL\n"):
        with pytest.raises(InputError, match="holds no edge"):
            read(rows)


def test_a_node_that_is_a_child_is_a_node_whatever_it_is_called() -> None:
    rows = "child,parent\n{0},r\na,{0}\nb,{0}\n"
    for name in ("None", "NULL", "NA", "-1"):
        assert edges_of(read(rows.format(name).encode())) == {(name, "r"), ("a", name), ("b", name)}
    document = {"nodes": ["NULL", "a", "b"], "links": [["a", "NULL"], ["b", "NULL"]]}
    assert edges_of(read(document)) == {("a", "NULL"), ("b", "NULL")}


def test_a_word_that_may_be_a_name_stays_beside_other_tops() -> None:
    rows = b"child,parent\nWindhoek,NA\nBerlin,DE\nBonn,DE\n"
    assert edges_of(read(rows)) == {("Windhoek", "NA"), ("Berlin", "DE"), ("Bonn", "DE")}


def test_a_node_that_is_called_like_a_mark_stays_a_node() -> None:
    assert edges_of(read(b"id,parent_id\n0,\n1,0\n2,0\n")) == {("1", "0"), ("2", "0")}
    assert edges_of(read(b"1,0\n2,0\n3,2\n")) == {("1", "0"), ("2", "0"), ("3", "2")}


def test_the_added_root_takes_a_free_name() -> None:
    hierarchy = read([("a", "<root>"), ("b", "<root>"), ("c", "d"), ("e", "d")])
    assert hierarchy.names[hierarchy.root] == "<root 2>"
    hierarchy = read([("a", "b"), ("x", "b"), ("c", "d")], root="everything")
    assert hierarchy.names[hierarchy.root] == "everything"
    hierarchy = read([(1, 2), (3, 2), (4, 5)])
    assert edges_of(hierarchy) == {(1, 2), (3, 2), (4, 5)}
    assert hierarchy.names[hierarchy.root] == "<root>"


def test_of_two_equal_edges_the_first_keeps_its_weight() -> None:
    hierarchy = read(b"a,r,2\nb,r,3\na,r,7\n")
    assert hierarchy.parent_weight is not None
    weights = {hierarchy.names[i]: hierarchy.parent_weight[hierarchy.parent_ptr[i]] for i in range(2)}
    assert weights == {"a": 2.0, "b": 3.0}


def test_weights_stay_with_their_edges_through_every_repair() -> None:
    rows = b"child,parent,weight\n" + b"x,x,9\na,r,1\nb,r,2\na,r,8\n,r,7\nr,c,6\nc,a,3\nd,s,4\n"
    hierarchy = read(rows)
    assert hierarchy.parent_weight is not None
    child, parent = hierarchy.edges()
    found = {
        (hierarchy.names[int(c)], hierarchy.names[int(p)]): w
        for c, p, w in zip(child, parent, hierarchy.parent_weight.tolist(), strict=True)
    }
    # r -> c comes before c -> a, so the latter closes the cycle a -> r -> c -> a.
    assert found == {
        ("a", "r"): 1.0,
        ("b", "r"): 2.0,
        ("r", "c"): 6.0,
        ("d", "s"): 4.0,
        ("c", "<root>"): 1.0,
        ("s", "<root>"): 1.0,
        ("x", "<root>"): 1.0,
    }


def test_negative_branch_lengths_become_zero() -> None:
    hierarchy = read(b"(a:-0.5,b:1)c;")
    assert hierarchy.parent_weight is not None
    assert hierarchy.parent_weight.tolist() == [0.0, 1.0]
    assert hierarchy.report is not None
    assert hierarchy.report.repair_counts == {"negative branch lengths": 1}


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=30))
def test_any_set_of_pairs_becomes_a_hierarchy(pairs: list[tuple[int, int]]) -> None:
    """Against networkx: nothing is invented, nothing more than needed is removed."""
    loops = {pair for pair in pairs if pair[0] == pair[1]}
    if len({name for pair in pairs for name in pair}) == 1:
        with pytest.raises(InputError, match="no edge"):
            read(pairs)
        return
    hierarchy = read(pairs, direction="child-parent", reduce="never")
    assert hierarchy.report is not None
    kept, repairs = edges_of(hierarchy), dict(hierarchy.report.repair_counts)
    distinct = set(pairs) - loops
    assert kept <= distinct
    assert repairs.get("self-loops", 0) == sum(a == b for a, b in pairs)
    assert repairs.get("duplicate edges", 0) == sum(a != b for a, b in pairs) - len(distinct)
    assert repairs.get("cycle edges", 0) == len(distinct) - len(kept)
    graph = networkx.DiGraph(list(kept))
    graph.add_nodes_from({name for pair in pairs for name in pair})
    assert networkx.is_directed_acyclic_graph(graph)
    for child, parent in distinct - kept:  # each removed edge closes a cycle
        assert networkx.has_path(graph, parent, child)
    tops = [node for node in graph if graph.out_degree(node) == 0]
    assert hierarchy.report.n_roots == len(tops)
    assert repairs.get("roots joined", 0) == (len(tops) if len(tops) > 1 else 0)
    listed = hierarchy.report.repairs
    assert Counter(repair.kind for repair in listed) == repairs | dict(hierarchy.report.decision_counts)
    faults = sum(number for kind, number in repairs.items() if kind != "roots joined")
    if not faults:
        read(pairs, direction="child-parent", reduce="never", strict=True)
        return
    with pytest.raises(FaultsError) as caught:
        read(pairs, direction="child-parent", reduce="never", strict=True)
    assert list(caught.value.repairs) == [repair for repair in listed if repair.kind != "roots joined"]


def test_what_is_not_used_of_an_ontology_is_counted() -> None:
    clauses = (
        b'synonym: "hound" EXACT []\nsynonym: "doggy" RELATED []\nis_a: T:cat\nequivalent_to: T:owl\n'
        b"relationship: eats T:cat\nrelationship: eats T:owl\n"
    )
    gone = b'\n[Term]\nid: T:gone\nsynonym: "unicorn" EXACT []\nrelationship: eats T:cat\nis_obsolete: true\n'
    hierarchy = read(helpers.obo(ANIMALS) + b"\n[Term]\nid: T:new\n" + clauses + gone)
    assert hierarchy.report is not None
    assert hierarchy.report.notes == (
        "1 obsolete term left out",
        "4 other relations passed over (eats 3, equivalent_to 1)",
        "nodes are named by their ids, and 6 have labels to show",
    )


def test_obsolete_terms_and_restrictions_are_notes_not_repairs() -> None:
    obo = helpers.obo(ANIMALS) + b"\n[Term]\nid: T:gone\nis_obsolete: true\n\n[Term]\nid: T:left\nis_a: T:gone\n"
    hierarchy = read(obo + b"is_a: T:dog\nrelationship: part_of T:cat\n")
    assert hierarchy.report is not None
    assert hierarchy.report.repair_counts == {}
    assert hierarchy.report.notes == (
        "1 obsolete term left out, and 1 relation with them",
        "1 part_of relation passed over; part_of=True (on the command line: --part-of) follows them",
        "nodes are named by their ids, and 6 have labels to show",
    )
    assert ("T:left", "T:cat") not in edges_of(hierarchy)
    with_parts = read(obo + b"is_a: T:dog\nrelationship: part_of T:cat\n", part_of=True)
    assert edges_of(with_parts) - edges_of(hierarchy) == {("T:left", "T:cat")}
    assert with_parts.report is not None
    assert with_parts.report.notes == (
        "1 obsolete term left out, and 1 relation with them",
        "1 node with several parents, such as T:left (below dog [T:dog], cat [T:cat])",
        "nodes are named by their ids, and 6 have labels to show",
    )
    turtle = b"""@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix : <http://e/> .
:dog rdfs:subClassOf :mammal, [ a owl:Restriction ] .
:cat rdfs:subClassOf :mammal .
:old rdfs:subClassOf :mammal ; owl:deprecated true .
:alone a owl:Class .
"""
    hierarchy = read(turtle)
    assert edges_of(hierarchy) == {("http://e/dog", "http://e/mammal"), ("http://e/cat", "http://e/mammal")}
    assert "http://e/alone" in hierarchy.names
    assert "http://e/old" not in hierarchy.names
    assert hierarchy.report is not None
    assert hierarchy.report.notes == (
        "1 obsolete term left out, and 1 relation with them",
        "1 relation to or from unnamed classes passed over",
    )


def test_report_survives_json(tmp_path: Path) -> None:
    import json

    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\nb,c\nd,e\nb,b\n")
    report = _report(path)
    assert ReadReport.from_dict(json.loads(json.dumps(report.to_dict()))) == report
    import hashlib

    assert report.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert report.source == str(path)
    assert _report([("a", "b"), ("c", "b")]).sha256 is None


def test_the_hash_is_of_the_bytes_as_stored(tmp_path: Path) -> None:
    import gzip
    import hashlib

    packed = gzip.compress(helpers.delimited(ANIMALS))
    assert _report(packed).sha256 == hashlib.sha256(packed).hexdigest()


def test_large_codes_do_not_overflow() -> None:
    n = 70_000  # n * n is beyond 32 bits
    pairs = np.column_stack((np.arange(1, n), np.arange(1, n) // 2))
    hierarchy = read(pairs)
    assert hierarchy.n_edges == n - 1
    assert hierarchy.report is not None
    assert hierarchy.report.n_repairs == 0


def _rows(source: Any, **overrides: Any) -> set[tuple[str, int | None, str | None]]:
    """Kind, line and node of every repair."""
    report = _report(source, **overrides)
    assert Counter(repair.kind for repair in report.repairs) == {**report.repair_counts, **report.decision_counts}
    return {(repair.kind, repair.line, repair.node) for repair in report.repairs}


DIRTY = (
    b"# made by hand\nchild,parent,note\ndog,mammal,x\ncat,mammal,x\nowl,bird,x\nmammal,animal,x\nbird,animal,x\n"
    b"dog,mammal,x\ndog,mammal,x\nowl,owl,x\nanimal,dog,x\n,bird,x\nrose,plant,x\n\n# between\ntulip , plant,x\n"
)


def test_every_occurrence_is_listed_with_its_line() -> None:
    assert _rows(DIRTY) == {
        ("duplicate edges", 8, "dog"),
        ("duplicate edges", 9, "dog"),
        ("self-loops", 10, "owl"),
        ("cycle edges", 11, "animal"),
        ("empty names", 12, None),
        ("names trimmed", 16, "tulip "),
        ("roots joined", None, "animal"),
        ("roots joined", None, "plant"),
        ("comment lines", 1, None),
        ("comment lines", 15, None),
        ("columns not used", None, None),
    }


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("quoted", [False, True])
def test_lines_are_those_of_the_file_whatever_ends_them(end: bytes, quoted: bool) -> None:
    rows = [
        b"child,parent",
        b'"a",r' if quoted else b"a,r",
        b"",
        b"b,r",
        b"  " if end != b"\r" else b"",
        b"a,r",
        b"b,r",
    ]
    rows = [row for row in rows if row.strip() or not quoted]
    expected = {(6, "a"), (7, "b")} if not quoted else {(4, "a"), (5, "b")}
    found = _rows(end.join(rows))
    assert {(line, node) for kind, line, node in found if kind == "duplicate edges"} == expected


@pytest.mark.parametrize(
    ("text", "settings", "expected"),
    [
        ("id,parent_id,name\n1,,A\n2,1,B\n2,1,C\n", {}, {("other labels", 4, "2"), ("duplicate edges", 4, "2")}),
        ("id,parent_id\n1,0\n2,1\n3,1\n", {}, {("root markers", 2, "1")}),
        ("id,parent_id\n1,1\n2,1\n3,1\n", {}, {("own parents", 2, "1")}),
        ("id,parent_id\n1,\n2,9\n3,9\n", {}, {
            ("undefined parents", 3, "9"), ("roots joined", None, "1"), ("roots joined", None, "9")
        }),
        ("L1,L2,other\nA,B,x\n,C,x\n", {}, {("rows continued", 3, None), ("columns not used", None, None)}),
        ("a\n  b\n  c\n  b\n", {}, {("repeated siblings merged", 4, "b")}),
        ("a\n    b\n  c\n", {}, {("irregular indents", 3, None)}),
        ("a\n  b\n    x\n  c\n    x\n", {}, {
            ("nodes named by path", 3, "a > b > x"), ("nodes named by path", 5, "a > c > x")
        }),
        ("# Title\n- a\n  - b\n  - c\n", {}, {("text lines", 1, None)}),
        ("# top\nA > B\nA > C\nA > B\n", {}, {("comment lines", 1, None), ("repeated siblings merged", 4, "B")}),
        ("Category\nA > B\nA > C\n", {}, {("header lines", 1, None)}),
        ("a,b\nb,c\na,c\nd,c\n", {}, {("closure edges removed", 3, "a")}),
        ("a,b\nb,c\na,c\nd,b\nc,e\n", {"reduce": "always"}, {("implied edges removed", 3, "a")}),
        ("((a:1,b:-1)95:1,(c:1,d)90:1)r:1;", {"names": "auto"}, {
            ("negative branch lengths", None, "b"), ("missing branch lengths", None, "d"),
            ("support values", None, "<a + 1>"), ("support values", None, "<c + 1>"),
        }),
        ("((a,b),(a,c))r", {"format": "newick"}, {
            ("ends added", None, None), ("repeated labels renamed", None, "a #2"),
            ("unnamed nodes named", None, "<a + 1>"), ("unnamed nodes named", None, "<a + 1> #2"),
        }),
    ],
)  # fmt: skip
def test_decisions_and_repairs_of_each_format_are_listed(text: str, settings: Any, expected: Any) -> None:
    guess = ("directions guessed", None, None)
    found = _rows(text.encode(), **settings)
    assert found - {guess} == expected - {guess}


def test_what_an_ontology_leaves_out_is_listed_by_term() -> None:
    obo = (
        "[Term]\nid: T:1\nname: a\nalt_id: T:9\n\n[Term]\nid: T:2\nis_a: T:9\nrelationship: part_of T:3\n\n"
        "[Term]\nid: T:3\nis_a: T:1\nrelationship: eats T:2\n\n[Term]\nid: T:4\nis_a: T:1\nis_obsolete: true\n"
    )
    assert _rows(obo.encode()) == {
        ("alternative ids", 8, "T:2"),
        ("obsolete terms", None, "T:4"),
        ("obsolete relations", 18, "T:4"),
        ("part_of relations skipped", 9, "T:2"),
        ("statements skipped", None, None),
    }


def test_lines_of_other_encodings_are_listed() -> None:
    obo = b"[Term]\nid: T:1\nname: caf\xe9\n\n[Term]\nid: T:2\nis_a: T:1\n"
    assert ("Latin-1 lines", 3, None) in _rows(obo)


def test_strict_lists_all_faults_at_once() -> None:
    with pytest.raises(FaultsError) as caught:
        read(DIRTY, strict=True)
    first, *lines = str(caught.value).splitlines()
    assert first.startswith("bytes has 6 faults (1 name trimmed, 1 empty name, 1 self-loop, 2 duplicate edges, 1 cycle")
    assert "  bytes, line 9: dog -> mammal is repeated" in lines
    assert len(lines) == len(caught.value.repairs) == 6
    assert {repair.line for repair in caught.value.repairs} == {8, 9, 10, 11, 12, 16}


def test_strict_lists_the_first_of_many_faults() -> None:
    with pytest.raises(FaultsError) as caught:
        read(b"a,r\nb,r\n" + b"a,r\n" * 5000, strict=True)
    first, *lines = str(caught.value).splitlines()
    assert "5,000 faults" in first
    assert len(lines) == 21
    assert lines[-1].strip().startswith("and 4,980 more: --repairs FILE")
    assert len(caught.value.repairs) == 5000


def test_strict_accepts_several_roots() -> None:
    hierarchy = read(b"a,b\nc,b\nd,e\nf,e\n", strict=True)
    assert hierarchy.report is not None
    assert hierarchy.report.repair_counts == {"roots joined": 2}


def test_repairs_of_several_files_name_their_file(tmp_path: Path) -> None:
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    files[0].write_text("id,parent_id\n1,\n2,1\n2,1\n3,1\n")
    files[1].write_text("# x\nid,parent_id\n4,2\n4,2\n5,7\n")
    report = _report(files)
    assert {(repair.kind, Path(repair.file).name, repair.line) for repair in report.repairs} == {
        ("duplicate edges", "a.csv", 4),
        ("duplicate edges", "b.csv", 4),
        ("comment lines", "b.csv", 1),
        ("undefined parents", "b.csv", 5),
        ("roots joined", " + ".join(map(str, files)).rpartition("/")[2], None),
    }


def test_a_million_duplicates_are_arrays() -> None:
    repeats = _report(b"child,parent\n" + b"a,r\nb,r\n" * 200_000).repairs
    assert len(repeats) == 399_998
    assert len(repeats.groups) == 1
    assert isinstance(repeats.groups[0].child, np.ndarray)
    assert (repeats[0].line, repeats[-1].line) == (4, 400_001)
