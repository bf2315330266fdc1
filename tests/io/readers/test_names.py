"""Names survive: unicode, quotes, separators, blanks, numbers, other hashables."""

from __future__ import annotations

import csv
import re
from typing import Literal

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.io.readers import helpers
from tests.io.readers.helpers import Edges, edges_of
from treeball.io.readers import read
from treeball.io.readers.tables.columns import NULL_WORDS

# Control characters end lines or files in one format or another; everything else is fair.
CHARACTERS = st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp"))
SPICY = st.sampled_from(list("\"',;|>/\\-#:()[]{}&* \u00a0éΩ漢🦉"))
# Among whole numbers "7.0" is the 7 of a spreadsheet, and "@context" makes JSON-LD of JSON; of both there are tests.
MEANS_MORE = re.compile(r"\s*([-+]?\d+\.0+|@(context|graph|id|type))\s*")
NAMES = st.text(CHARACTERS | SPICY, min_size=1, max_size=12).filter(
    lambda name: name.strip() and not MEANS_MORE.fullmatch(name)
)
# Unquoted, a line that begins with "# " is a comment.
UNCOMMENTED = NAMES.filter(lambda name: not name.lstrip().startswith("#"))
TIDY = NAMES.map(str.strip)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _is_no_null(name: object) -> bool:
    return str(name).strip().lower() not in {*NULL_WORDS, "-1"}


@st.composite
def trees(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Edges:
    """A tree with a root of three children, so that its direction is plain; no root is called like a null."""
    distinct = draw(st.lists(names.filter(_is_no_null), min_size=5, max_size=12, unique=True))
    edges = {(name, distinct[0]) for name in distinct[1:4]}
    for place, name in enumerate(distinct[4:], start=4):
        edges.add((name, distinct[draw(st.integers(0, place - 1))]))
    return edges


@QUICK
@given(trees(UNCOMMENTED), st.sampled_from([",", ";", "\t"]), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_delimited_with_quoting(edges: Edges, separator: str, quoting: Literal[0, 1]) -> None:
    data = helpers.delimited(edges, separator, header=("child", "parent"), quoting=quoting)
    assert edges_of(read(data, format="edges", separator=separator, quoting="on", trim=False)) == edges


@QUICK
@given(trees(TIDY), st.sampled_from([",", ";", "\t"]))
def test_delimited_recognised(edges: Edges, separator: str) -> None:
    data = helpers.delimited(edges, separator, header=("child", "parent"), quoting=csv.QUOTE_ALL)
    hierarchy = read(data)
    assert edges_of(hierarchy) == edges
    assert hierarchy.report is not None
    assert hierarchy.report.n_repairs == 0


@QUICK
@given(trees(UNCOMMENTED))
def test_tabs_without_quoting(edges: Edges) -> None:
    data = b"child\tparent\n" + helpers.raw_tsv(edges)
    assert edges_of(read(data, format="edges", quoting="off", trim=False)) == edges


@QUICK
@given(trees(UNCOMMENTED.map(str.strip)))
def test_quotes_in_an_unquoted_file_belong_to_the_names(edges: Edges) -> None:
    # A doubled quote inside quotes, or none but closed ones on the first line, would be a fair reason to unquote.
    assume(not any('""' in name or (name[0] == '"' == name[-1]) for edge in edges for name in edge))
    assert edges_of(read(b"child\tparent\n" + helpers.raw_tsv(edges))) == edges


@QUICK
@given(trees(NAMES))
def test_formats_with_their_own_quoting(edges: Edges) -> None:
    for write in (
        helpers.parquet,
        helpers.json_objects,
        helpers.json_mappings,
        helpers.json_records,
        helpers.json_lines,
    ):
        assert edges_of(read(write(edges))) == edges
    assert edges_of(read(helpers.yaml_mappings(edges), format="yaml")) == edges
    if not any("\\" in name for edge in edges for name in edge):  # the newick library takes it as an escape
        assert edges_of(read(helpers.newick(edges), format="newick")) == edges


@QUICK
@given(trees(TIDY))
def test_outlines_keep_names_that_begin_with_a_word(edges: Edges) -> None:
    renamed = {("n" + child, "n" + parent) for child, parent in edges}
    assert edges_of(read(helpers.outline(renamed), format="outline")) == renamed


@QUICK
@given(trees(st.integers(-(2**40), 2**40)))  # type: ignore[arg-type]
def test_integers_stay_integers_in_objects_and_become_text_from_files(edges: Edges) -> None:
    import pandas

    pairs = sorted(edges)
    frame = pandas.DataFrame(pairs, columns=["child", "parent"])
    assert edges_of(read(pairs)) == edges_of(read(frame)) == edges
    expected = {(str(child), str(parent)) for child, parent in edges}
    assert edges_of(read(helpers.delimited(edges, "\t"))) == expected
    assert edges_of(read(helpers.json_lines(edges))) == expected


def test_any_hashable_names_a_node() -> None:
    edges = {((1, "a"), frozenset({2})), (3.5, frozenset({2})), (b"x", frozenset({2})), (None.__class__, 3.5)}
    assert edges_of(read(list(edges))) == edges


@pytest.mark.parametrize("name", ["no", "null", "1.0", "0x1F", "2024-01-01", "yes", "~", "NaN"])
def test_words_that_mean_something_to_parsers_stay_words(name: str) -> None:
    edges = {("a", name), ("b", name), (name, "top"), ("c", "top")}
    assert edges_of(read(helpers.delimited(edges))) == edges
    assert edges_of(read(helpers.json_mappings(edges))) == edges
    assert edges_of(read(f"top:\n  '{name}':\n    - a\n    - b\n  c:\n".encode())) == edges


def test_equal_labels_below_different_parents_are_different_nodes() -> None:
    outline = b"shop\n  shoes\n    sale\n  hats\n    sale\n"
    expected = {("shoes", "shop"), ("hats", "shop"), ("shop > shoes > sale", "shoes"), ("shop > hats > sale", "hats")}
    assert edges_of(read(outline)) == expected
    assert edges_of(read(b'{"shop": {"shoes": ["sale"], "hats": ["sale"]}}')) == expected


def test_labels_that_occur_twice_carry_their_id() -> None:
    table = b"id,parent,name\n1,,shop\n2,1,shoes\n3,1,hats\n4,2,sale\n5,3,sale\n"
    expected = {("shoes", "shop"), ("hats", "shop"), ("sale [4]", "shoes"), ("sale [5]", "hats")}
    assert edges_of(read(table, names="label")) == expected
    by_id = {("2", "1"), ("3", "1"), ("4", "2"), ("5", "3")}
    assert edges_of(read(table)) == edges_of(read(table, names="id")) == by_id


def test_a_label_that_looks_like_another_node_s_bracketed_name() -> None:
    table = b"id,parent,name\n1,,a\n2,1,b\n3,1,b\n4,1,b [2]\n5,1,3\n"
    hierarchy = read(table, names="label")
    assert len(set(hierarchy.names)) == hierarchy.n_nodes == 5


def test_names_with_line_ends_inside_quotes() -> None:
    data = b'child,parent\n"two\nlines",top\nb,top\n'
    assert edges_of(read(data)) == {("two\nlines", "top"), ("b", "top")}


def test_a_newick_inner_node_is_named_alike_in_any_order() -> None:
    first = edges_of(read(b"((b,a),(d,(c,e)));"))
    second = edges_of(read(b"(((e,c),d),(a,b));"))
    assert first == second
    assert ("a", "<a + 1>") in first
    assert ("<a + 1>", "<a + 4>") in first
