"""Close names: those that a naive comparison with every name finds, in the same order."""

from __future__ import annotations

import difflib
import re
import time
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import treeball.hierarchy.close_names
from treeball.hierarchy.close_names import CloseNames
from treeball.hierarchy.names import Names

# Text of few letters, so that several names are near the query; of one, two and three bytes, and steps of paths.
near_texts = st.text("abcAB.éÉж日 >/:", min_size=1, max_size=8)


def longest_common_subsequence(one: str, other: str) -> int:
    row = [0] * (len(other) + 1)
    for a in one:
        before = row
        row = [0]
        for j, b in enumerate(other):
            row.append(before[j] + 1 if a == b else max(row[j], before[j + 1]))
    return row[-1]


def likeness(name: str, query: str) -> float:
    last_step = re.sub("(?s)^.*( > |/|:)", "", name.lower())
    best = 0.0
    for text in {name.lower(), last_step} - {""}:
        length = len(text) + len(query)
        in_order = 2 * (longest_common_subsequence(text, query) / length)
        in_any = 2 * ((Counter(text) & Counter(query)).total() / length)
        if in_order >= 0.6:
            best = max(best, (in_order + in_any) / 2)
        elif text.startswith(query):
            best = max(best, in_order / 2)
    return best


@settings(deadline=None)
@given(st.lists(near_texts, max_size=20), near_texts, st.integers(1, 20))
@example(["a >", " b"], "b", 3)
@example(["a > > b", "a/", "a/b/"], "b", 3)
def test_those_of_a_naive_search(words: list[str], query: str, most: int) -> None:
    expected = {code: likeness(word, query.lower()) for code, word in enumerate(words)}
    ranked = sorted((code for code in expected if expected[code]), key=lambda code: -expected[code])
    for kind in (pa.string(), pa.large_string()):
        names = CloseNames(pa.array(words, kind))
        assert names.nearest(query, most) == ranked[:most]
        assert names.nearest(query, most) == ranked[:most]


@settings(deadline=None)
@given(st.lists(near_texts, unique=True, max_size=20), near_texts)
def test_none_of_difflib_is_missing(words: list[str], query: str) -> None:
    found = Names(words).close_matches(query, most=100)
    matcher = difflib.SequenceMatcher(b=query.lower(), autojunk=False)
    for word in words:
        matcher.set_seq1(word.lower())
        assert word in found or matcher.ratio() < 0.6
    if query in words:
        assert str(found[0]).lower().endswith(query.lower()) or query.lower().endswith(str(found[0]).lower())


@pytest.mark.parametrize("length", [255, 256, 70_000])
def test_names_of_any_length(length: int) -> None:
    names = CloseNames(pa.array(["b", "a" * length, "", "b" * length + "a"]))
    assert names.nearest("a" * (length - 1), 3) == [1]
    assert names.nearest("b" * (length + 1), 3) == [3]
    assert names.nearest("a" * 300 * length, 3) == []


def test_the_best_are_found_where_too_many_share_the_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(treeball.hierarchy.close_names, "_POOL", 4)
    words = ["gfedcbx"] * 50 + ["abcdefg hijk", "abdcefg", "abcdefx"] + ["gfedcbx"] * 50
    names = CloseNames(pa.array(words))
    assert names.nearest("abcdefg", 1) == [51]
    assert names.nearest("abcdefg", 3)[1:] == [50]


def test_counts_that_are_kept_do_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(treeball.hierarchy.close_names, "_MOST_LETTERS", 6)
    monkeypatch.setattr(treeball.hierarchy.close_names, "_KEPT_LETTERS", 8)
    names = CloseNames(pa.array(["abcdef", "日本語", "жзик", "abcdefghijklmnop"]))
    for _ in range(2):
        for query, found in [("abdcef", 0), ("本日語", 1), ("жзкик", 2), ("uvwxyz", None), ("abcdefghijklmno", 3)]:
            assert names.nearest(query, 1) == ([] if found is None else [found])
            assert len(names._whole._known) <= 8


def test_an_answer_comes_soon_among_many() -> None:
    names = Names(pa.array([f"taxon {i:06d}" for i in range(300_000)]))
    began = time.perf_counter()
    assert names.close_matches("taxno 123456")[0] == "taxon 123456"
    assert time.perf_counter() - began < 5.0
