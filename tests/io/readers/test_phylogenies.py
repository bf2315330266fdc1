"""Newick with several trees, and NEXUS, as BEAST, MrBayes, PAUP and Mesquite write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.io.readers.helpers import Edges, edges_of
from treeball.errors import InputError
from treeball.io.readers import read


def _read(source: str, **overrides: Any) -> tuple[Edges, str]:
    hierarchy = read(source.encode(), **overrides)
    assert hierarchy.report is not None
    return edges_of(hierarchy), "\n".join(hierarchy.report.notes)


SAMPLES = "((a,b)x,c)r;\n((a,c)y,b)r;\n((b,c)z,a)r;\n"


def test_of_trees_that_share_leaves_one_is_read() -> None:
    edges, notes = _read(SAMPLES)
    assert edges == _read("((a,b)x,c)r;")[0]
    assert "3 trees that share leaves: number 1 was read; tree=2" in notes
    edges, notes = _read(SAMPLES, tree=2)
    assert edges == _read("((a,c)y,b)r;")[0]
    assert "tree number 2 of 3 was read" in notes
    assert read(SAMPLES.encode(), tree="all").n_nodes == 16
    with pytest.raises(InputError, match=r"no tree '4': choose one of the numbers 1 to 3, or all"):
        read(SAMPLES.encode(), tree="4")


def test_trees_without_a_common_leaf_are_a_forest() -> None:
    edges, notes = _read("(a,b)x;\n(c,d)y;")
    assert edges == {("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")}
    assert "2 trees read as one forest" in notes
    assert _read("(a,b)x;(c,d)y;", tree="2")[0] == {("c", "y"), ("d", "y")}


NEXUS = """#NEXUS
[written by hand; begin trees; tree fake = (q,r); end;]
BEGIN TAXA;
  TITLE Bob's taxa;
  DIMENSIONS NTAX=3;
  TAXLABELS Homo_sapiens 'Pan paniscus' Gorilla;
END;
begin characters;
  matrix
  Homo 'ACGT  [ don't close this
;
endblock;
Begin Trees;
  Translate
    1 Homo_sapiens,
    2 'Pan; (paniscus)',
    3 Gorilla [the ape]
    ;
  tree STATE_0 [&lnP=-34.6,x={1;2}] = [&R] ((1[&rate=1.0]:0.1,2:[&r={0,1}]0.2)[&posterior=1.0]:1,3:2):0;
  utree * 'best one' = [&U] (1:1,(2:1,3:1):1);
end;
"""
BEST = {
    ("Homo_sapiens", "<Gorilla + 2>"),
    ("Gorilla", "<Gorilla + 1>"),
    ("Pan; (paniscus)", "<Gorilla + 1>"),
    ("<Gorilla + 1>", "<Gorilla + 2>"),
}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_nexus(end: str) -> None:
    text = NEXUS.replace("\n", end)
    edges, notes = _read(text)
    assert edges == BEST
    assert "2 trees that share leaves: number 2 (best one) was read; tree=1" in notes
    hierarchy = read(text.encode(), tree="STATE_0")
    assert ("Homo_sapiens", "<Homo_sapiens + 1>") in edges_of(hierarchy)
    assert sorted(hierarchy.parent_weight) == [0.1, 0.2, 1.0, 2.0]
    assert _read(text, format="nexus", tree="best one")[0] == BEST
    with pytest.raises(InputError, match="no tree 'x': choose one of the numbers 1 to 2 or STATE_0, best one, or all"):
        read(text.encode(), tree="x")


def test_numbers_of_taxa_without_a_translation() -> None:
    text = "#nexus\nbegin taxa;\ntaxlabels cat dog 'big owl';\nend;\nbegin trees;\ntree a = ((1,2)90,3)r;\nend;\n"
    assert _read(text)[0] >= {("cat", "<cat + 1>"), ("dog", "<cat + 1>"), ("big owl", "r")}
    assert _read(text.replace("((1,2)90,3)", "((1,2)90,x)"))[0] >= {("1", "<1 + 1>"), ("x", "r")}


def test_values_after_the_branch_length_and_quotes() -> None:
    hierarchy = read(b"('it''s':1:95,\"x y\":2:3:4,Bob's:1)[&R]r;")
    assert edges_of(hierarchy) == {("it's", "r"), ("x y", "r"), ("Bob's", "r")}
    assert list(hierarchy.parent_weight) == [1.0, 2.0, 1.0]
    assert hierarchy.report is not None
    assert "3 values after branch lengths passed over" in hierarchy.report.notes


LABELS = st.text(
    st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")) | st.sampled_from("\\'>-;,()[]:"), min_size=1
).filter(lambda text: text.strip() == text and not text.startswith("<"))


@settings(max_examples=100, deadline=None)
@given(st.lists(LABELS, min_size=2, max_size=6, unique=True), st.integers(0, 5))
def test_any_label_survives_newick_and_nexus(labels: list[str], noise: int) -> None:
    comment = "[" * noise + ";'\"" + "]" * noise if noise else ""
    quoted = ["'" + label.replace("'", "''") + "'" for label in labels]
    tree = "(" + ",".join(f"{name}{comment}:{place}" for place, name in enumerate(quoted)) + ")top;"
    expected = {(label, "top") for label in labels}
    if "top" in labels:
        return
    for text in (tree, f"#NEXUS\nbegin trees;\ntree one = {comment} {tree}\nend;\n"):
        hierarchy = read(text.encode(), format="nexus" if text.startswith("#") else "newick")
        assert edges_of(hierarchy) == expected
    numbered = ",".join(f"{place} {name}" for place, name in enumerate(quoted))
    leaves = ",".join(map(str, range(len(labels))))
    text = f"#NEXUS\nbegin trees;\ntranslate {numbered};\ntree one = ({leaves})top;\nend;\n"
    assert edges_of(read(text.encode())) == expected


def test_a_very_deep_tree() -> None:
    depth = 50_000
    tree = "(" * depth + "leaf" + "".join(f")n{i}" for i in range(depth)) + ";"
    hierarchy = read(tree.encode())
    assert hierarchy.n_nodes == depth + 1
    assert np.diff(hierarchy.child_ptr).max() == 1


def test_branch_lengths_that_are_there_are_kept_where_others_are_missing() -> None:
    hierarchy = read(b"((a:0.5,b)c:2,d:3)r;")
    weights = dict(zip((hierarchy.names[code] for code in hierarchy.edges()[0]), hierarchy.parent_weight, strict=True))
    assert weights == {"a": 0.5, "b": 1.0, "c": 2.0, "d": 3.0}
    assert "1 branch length missing, taken as 1" in hierarchy.report.notes


@pytest.mark.parametrize("comment", ["[a tree]", "[of a [nested] kind] [&R]", "[(]\n"])
def test_comments_come_before_a_tree(comment: str) -> None:
    assert _read(f"{comment} ((a:1,b:1)x:1,c:2)r;\n")[0] == _read("((a:1,b:1)x:1,c:2)r;\n")[0]


@pytest.mark.parametrize("name", ["a\\", "C:\\dir\\", "\\", "a\\n", "\\'", "it's \\ that"])
def test_a_backslash_in_a_quoted_name_is_a_character(name: str) -> None:
    quoted = "'" + name.replace("'", "''") + "'"
    assert _read(f"({quoted},b){quoted[:-1]} r';")[0] == {(name, f"{name} r"), ("b", f"{name} r")}
    nexus = f"#NEXUS\nbegin trees;\ntranslate 1 {quoted}, 2 'b\\';\ntree t = (1,2)r;\nend;"
    assert _read(nexus)[0] == {(name, "r"), ("b\\", "r")}


def test_a_quote_behind_a_backslash_is_refused_with_the_remedy() -> None:
    with pytest.raises(InputError, match=r"stand side by side; write a quote inside of a quoted name as ''"):
        read(rb"('it\'s',b)r;")


def test_a_key_of_a_translation_has_one_name() -> None:
    text = "#NEXUS\nbegin trees;\n\ntranslate 1 a, 1 b, 2 c;\ntree t = (1,2)r;\nend;"
    with pytest.raises(InputError, match=r"^bytes, line 4: not valid NEXUS \(TRANSLATE calls 1 both a and b\); give"):
        read(text.encode())
    assert _read(text.replace("1 b", "1 a"))[0] == {("a", "r"), ("c", "r")}
