"""Search among ids, labels and synonyms: against a naive search, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeball
from treeball import Embedding, Hierarchy, InputError
from treeball.cli.main import run
from treeball.hierarchy.names import Names
from treeball.hierarchy.search_names import search_names

TEXTS = st.text(alphabet="abAB .-[é", max_size=6)
SHOP = """id,parent_id,name
cat01,,Shop
cat02,cat01,Music
cat02010,cat02,Rock
cat02011,cat02,Pop rock
cat02012,cat02,Bedrock sounds
rock7,cat01,Stones
"""


def naive(rows, wanted):
    """(code, matched) of all nodes that hold a text, by the rules as they are written down."""
    best: dict[int, tuple[tuple[int, ...], str]] = {}
    for code, texts in enumerate(rows):
        for kind, text in texts:
            lower, sought = text.lower(), wanted.strip().lower()
            if sought not in lower:
                continue
            words = [i for i in range(len(lower)) if i == 0 or not lower[i - 1].isalnum()]
            how = 3
            if any(lower.startswith(sought, i) for i in words):
                how = 2
            if lower.startswith(sought):
                how = 1
            if lower == sought:
                how = 0
            rank = (how, len(text), kind, code)
            if code not in best or rank < best[code][0]:
                best[code] = (rank, text)
    return [(code, best[code][1]) for code in sorted(best, key=lambda code: best[code][0])]


@given(
    st.lists(st.tuples(TEXTS, st.none() | TEXTS, st.lists(TEXTS, max_size=2)), min_size=1, max_size=12), TEXTS,
    st.integers(1, 5),
)  # fmt: skip
def test_matches_are_those_of_a_naive_search(rows, wanted, k):
    ids = [f"{place}{text}" for place, (text, _, _) in enumerate(rows)]
    names = Names(ids).described([label for _, label, _ in rows], [synonyms for _, _, synonyms in rows])
    if not wanted.strip():
        with pytest.raises(InputError, match="there is nothing to search for in"):
            search_names(names, wanted, k)
        return
    kept = [[] if names.synonyms is None else names.synonyms[code].as_py() or [] for code in range(len(ids))]
    texts = [
        [(0, ids[code]), *([] if label is None else [(1, label)]), *((2, synonym) for synonym in kept[code])]
        for code, label in enumerate(names.labels)
    ]
    found = search_names(names, wanted, k)
    assert [(names.index_of(one.name), one.matched) for one in found] == naive(texts, wanted)[:k]
    for one in found:
        assert one.label == names.labels[names.index_of(one.name)]
        assert (["id", "label", "synonym"].index(one.by), one.matched) in texts[names.index_of(one.name)]


def test_integers_and_signs_are_found_and_nothing_is_a_pattern():
    names = Names([100, 210, 2100]).described(["a.b", "a+b", "(a|b)"])
    assert [one.name for one in search_names(names, "210")] == [210, 2100]
    for text, name in (("a.b", 100), ("A+B", 210), ("|", 2100), ("(", 2100)):
        assert [one.name for one in search_names(names, text)] == [name]
    for nothing in (".*", "\\E", "\0", "\ud800", "axb"):
        assert search_names(names, nothing) == []


def test_the_better_match_comes_first_and_k_cuts():
    hierarchy = treeball.read(
        [{"id": row.split(",")[0], "parent_id": row.split(",")[1] or None, "name": row.split(",")[2]}
         for row in SHOP.splitlines()[1:]]
    )  # fmt: skip
    embedding = Embedding(np.zeros((len(hierarchy), 2)), hierarchy)
    assert [one.name for one in embedding.search("ROCK")] == ["cat02010", "rock7", "cat02011", "cat02012"]
    assert [one.by for one in embedding.search("rock")] == ["label", "id", "label", "label"]
    assert [one.name for one in embedding.search("rock", 1)] == ["cat02010"]
    assert embedding.search(["music", "zzz"])[1] == []
    with pytest.raises(InputError, match="k must be"):
        embedding.search("rock", 0)


def test_a_virtual_root_is_not_found():
    hierarchy = Hierarchy.from_codes(["a", "b", "<root>"], [0, 1], [2, 2], virtual_root=2)
    assert Embedding(np.zeros((3, 2)), hierarchy).search("root") == []


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("shop.csv").write_text(SHOP)
    model = str(treeball.fit("shop.csv", dim=3).save("shop.parquet"))
    assert run(["search", model, "rock", "-k", "2"]) == 0
    assert capsys.readouterr().out.splitlines() == ["Rock [cat02010]  label Rock", "Stones [rock7]   id rock7"]
    assert run(["search", model, "zzz", "mus"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "matches of zzz", "none", "matches of mus", "Music [cat02]  label Music",
    ]  # fmt: skip
    assert run(["search", model, "mus", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "text": "mus",
        "matches": [{"node": "cat02", "label": "Music", "matched": "Music", "by": "label"}],
    }
    assert run(["search", model, " "]) == 2
    assert "nothing to search for" in capsys.readouterr().err
    assert run(["search", model]) == 2
