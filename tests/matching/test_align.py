"""align: which node is which, where it abstains, anchors, broader nodes, and the tables it writes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeball
from treeball import InputError

SHOP = [
    "Home > Kitchen > Knives & Accessories",
    "Home > Kitchen > Pans",
    "Home > Kitchen > Pans > Crêpe Pans",
    "Home > Garden > Garden Chairs",
    "Home > Garden > Accessories",
    "Electronics > Audio > Headphones",
    "Electronics > Audio > Colour Organs",
    "Electronics > Audio > Accessories",
    "Media > Music > Salsa",
    "Media > Music > Jazz",
]
OTHER = [
    "House & Home > Kitchen > Knife & Accessory",
    "House & Home > Kitchen > Pan",
    "House & Home > Kitchen > Pan > Crepe Pan",
    "House & Home > Garden > Chair",
    "House & Home > Garden > Accessories",
    "Electronics > Audio > Head Phones",
    "Electronics > Audio > Color Organ",
    "Electronics > Audio > Accessories",
    "Food > Dips > Salsa",
    "Food > Drinks > Tea",
]


@pytest.fixture(scope="module")
def shops():
    return treeball.read(SHOP), treeball.read(OTHER)


@pytest.fixture(scope="module")
def found(shops):
    return treeball.align(*shops)


def test_names_are_the_same_but_for_case_plural_accents_punctuation_and_spelling(found):
    assert found.matches["Home > Kitchen > Knives & Accessories"] == "House & Home > Kitchen > Knife & Accessory"
    assert found.matches["Home > Kitchen > Pans > Crêpe Pans"] == "House & Home > Kitchen > Pan > Crepe Pan"
    assert found.matches["Electronics > Audio > Headphones"] == "Electronics > Audio > Head Phones"
    assert found.matches["Electronics > Audio > Colour Organs"] == "Electronics > Audio > Color Organ"


def test_the_words_of_the_parent_may_be_left_out(found):
    answer = found.answer("Home > Garden > Garden Chairs")
    assert answer.counterpart == "House & Home > Garden > Chair"
    assert answer.why == "same name but for the parent's words, parents match"


def test_frequent_names_are_told_apart_by_their_ancestors(found):
    assert found.matches["Home > Garden > Accessories"] == "House & Home > Garden > Accessories"
    assert found.matches["Electronics > Audio > Accessories"] == "Electronics > Audio > Accessories"


def test_it_abstains_where_the_same_name_is_another_thing(found):
    answer = found.answer("Media > Music > Salsa", candidates=2)
    assert (answer.counterpart, answer.kind, answer.why) == (None, None, "unsure")
    assert answer.candidates[0].node == "Food > Dips > Salsa"
    assert answer.confidence == answer.candidates[0].confidence < 0.8


def test_it_abstains_where_nothing_is_alike(found):
    assert found.answer("Media > Music > Jazz").why == "no name is alike"
    assert found.answer("Media > Music > Jazz").confidence == 0.0
    nothing = treeball.align([("cat", "animal")], [("oak", "plant")])
    assert nothing.matches == {}
    assert nothing.n_abstained == 2


def test_it_abstains_between_equals():
    a = treeball.read(["Tools > Saws"])
    b = treeball.read(["Tools > Old > Saws", "Tools > New > Saws"])
    found = treeball.align(a, b)
    assert "Tools > Saws" not in found.matches
    assert {one.node for one in found.candidates_of("Tools > Saws")} == {"Tools > New > Saws", "Tools > Old > Saws"}


def test_counts_and_sentences(found):
    assert found.n_nodes == len(found.first) - 1  # the virtual root does not count
    assert found.n_matched == len(found.matches)
    assert found.n_matched + found.n_abstained == found.n_nodes == len(found.answers())
    assert (
        repr(found) == f"<Alignment of {found.n_nodes} nodes: {found.n_matched} matched, {found.n_abstained} abstained>"
    )
    assert f"{found.n_matched} matched" in found.summary()
    assert found.to_dict()["matched"] == found.n_matched


def test_a_hierarchy_is_itself():
    tree = treeball.read("example:mammals")
    found = treeball.align(tree, tree)
    assert all(node == other for node, other in found.matches.items())
    assert found.n_matched > 0.98 * found.n_nodes  # but for names with two senses


def test_ids_do_not_count_where_there_are_labels_and_synonyms_do():
    def side(ids, labels, synonyms):
        names = ["r", *ids]
        return treeball.Hierarchy.from_codes(names, [1, 2], [0, 0], labels=["life", *labels], synonyms=[[], *synonyms])

    a = side(["1", "2"], ["Common wombat", "Platypus"], [[], ["Ornithorhynchus anatinus"]])
    b = side(["1", "2"], ["Ornithorhynchus anatinus", "Common wombats"], [[], []])
    found = treeball.align(a, b)
    assert found.matches == {"r": "r", "1": "2", "2": "1"}
    answer = found.answer("Platypus")
    assert (answer.node, answer.label, answer.counterpart_label) == ("2", "Platypus", "Ornithorhynchus anatinus")
    assert answer.why == "same name"


def test_models_files_and_embeddings(tmp_path, shops):
    model = treeball.fit(shops[0], dim=3)
    model.save(tmp_path / "model.parquet")
    expected = treeball.align(*shops).matches
    assert treeball.align(model, shops[1]).matches == expected
    assert treeball.align(str(tmp_path / "model.parquet"), shops[1]).matches == expected


PATHS = st.lists(
    st.lists(st.sampled_from(["red hats", "blue hats", "hats", "shoes", "wool", "silk"]), min_size=1, max_size=3).map(
        " > ".join
    ),
    min_size=2,
    max_size=8,
)


@settings(deadline=None, max_examples=50)
@given(PATHS, PATHS, st.randoms())
def test_either_side_may_come_first_and_order_does_not_matter(paths, others, random):
    first, second = (
        treeball.read(["top > " + path for path in paths]),
        treeball.read(["top > " + path for path in others]),
    )
    found, turned = treeball.align(first, second), treeball.align(second, first)
    assert {other: node for node, other in found.matches.items()} == turned.matches
    assert len(set(found.matches.values())) == len(found.matches)
    mixed = ["top > " + path for path in paths]
    random.shuffle(mixed)
    again = treeball.align(treeball.read(mixed), second)
    assert again.matches == found.matches
    for answer in found.answers():
        assert 0.0 <= answer.confidence <= 1.0
        assert (answer.confidence >= 0.8) == (answer.kind == "same")


def test_a_lower_threshold_answers_more_and_a_higher_one_less(shops, found):
    more, less = (treeball.align(*shops, confidence=least).matches for least in (0.5, 0.99))
    assert less.items() < found.matches.items() <= more.items()


@pytest.mark.parametrize("least", [0.49, 1.1, float("nan"), "0.8", True])
def test_a_confidence_that_makes_no_sense(shops, least):
    with pytest.raises(InputError, match=r"confidence must be a number from 0.5 to 1"):
        treeball.align(*shops, confidence=least)


# ---- anchors ----


def test_anchors_are_certain_and_speak_for_their_relatives():
    a = treeball.read(["Sofas > Parts", "Sofas > Legs", "Lamps > Parts", "Lamps > Legs"])
    b = treeball.read(["Couches > Parts", "Couches > Legs", "Lights > Parts", "Lights > Legs"])
    assert treeball.align(a, b).matches == {}
    found = treeball.align(a, b, anchors={"Sofas": "Couches"})
    assert found.answer("Sofas").why == "given"
    assert found.answer("Sofas").confidence == 1.0
    assert found.matches["Sofas > Parts"] == "Couches > Parts"
    assert "Lamps" not in found.matches
    assert found.to_dict()["given"] == 1


def test_an_anchor_overrules_names_and_its_nodes_are_taken(shops):
    found = treeball.align(*shops, anchors=[("Media > Music > Jazz", "House & Home > Kitchen > Pan")])
    assert found.matches["Media > Music > Jazz"] == "House & Home > Kitchen > Pan"
    assert "Home > Kitchen > Pans" not in found.matches
    assert found.candidates_of("Media > Music > Jazz", 3)[0].node == "House & Home > Kitchen > Pan"


def test_two_nodes_may_be_given_the_same_counterpart(shops):
    anchors = [("Media > Music > Jazz", "Food > Dips"), ("Media > Music > Salsa", "Food > Dips")]
    found = treeball.align(*shops, anchors=anchors)
    assert [found.matches[node] for node, _ in anchors] == ["Food > Dips", "Food > Dips"]


def test_anchors_from_files(tmp_path, shops):
    path = tmp_path / "anchors.tsv"
    path.write_text("Media > Music > Jazz\tFood > Dips\n\n", "utf-8")
    assert treeball.align(*shops, anchors=path).matches["Media > Music > Jazz"] == "Food > Dips"
    path.write_text('"Media > Music > Jazz",Food > Dips\n', "utf-8")
    assert treeball.align(*shops, anchors=str(path)).matches["Media > Music > Jazz"] == "Food > Dips"


def test_a_table_corrected_by_hand_is_a_file_of_anchors(tmp_path, shops):
    table = tmp_path / "found.csv"
    shops = treeball.read([*SHOP, "Electronics > Audio > Turntables"]), shops[1]
    treeball.align(*shops, broader=True).save(table)
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row["node_a"] == "Media > Music > Salsa":
            row |= {"node_b": "Food > Dips > Salsa", "kind": ""}
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    again = treeball.align(*shops, anchors=table)
    assert again.matches["Media > Music > Salsa"] == "Food > Dips > Salsa"
    assert again.answer("Home > Kitchen > Pans").why == "given"
    assert again.answer("Home > Kitchen > Pans").confidence == 1.0
    assert sum(row["kind"] == "broader" for row in rows) > 0
    assert again.to_dict()["given"] == sum(row["node_b"] != "" and row["kind"] != "broader" for row in rows)


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "parquet"])
def test_a_table_of_any_ending_is_a_file_of_anchors(tmp_path, shops, ending):
    table, found = tmp_path / f"found.{ending}", treeball.align(*shops, broader=True)
    found.save(table)
    again = treeball.align(*shops, anchors=table)
    assert again.matches == found.matches
    assert again.to_dict()["given"] == len(found.matches) > 0


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", b"{", "is not valid JSON"),
        ("a.json", b"\xff", "is not text in UTF-8"),
        ("a.json", b'{"Media": "Food"}', "has rows without node_a and node_b: give a table that treeball align wrote"),
        ("a.json", b'[{"node_a": "Media"}]', "has rows without node_a and node_b"),
        (
            "a.json",
            b'[{"node_a": "x", "node_b": null}, {"node_a": "Medai", "node_b": "Food"}]',
            "a.json', row 2: no node",
        ),
        ("a.parquet", b"PAR1", "cannot be read as Parquet"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path, shops, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said):
        treeball.align(*shops, anchors=tmp_path / name)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"Media\n", "line 1, has 1 columns where 2 belong"),
        (b"Media\tFood\nMedia\tFood\tx\n", "line 2, has 3 columns where 2 belong"),
        (b"Media\tFood\n\nMedia > Music\tFoood\n", r"anchors.tsv', line 3: no node named 'Foood'; did you mean 'Food'"),
        (b"Media\tFood\nMedia\tElectronics\n", "two counterparts to 'Media', 'Electronics' and 'Food': keep one"),
        (b"\xff\xfe\x00\tFood\n", "is not text in UTF-8"),
        (b'"Media\tFood\n', "cannot be read"),
    ],
)
def test_anchors_that_cannot_be_used(tmp_path, shops, content, said):
    path = tmp_path / "anchors.tsv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        treeball.align(*shops, anchors=path)


def test_anchors_that_are_none(tmp_path, shops):
    with pytest.raises(InputError, match="there is no file"):
        treeball.align(*shops, anchors=tmp_path / "none.tsv")
    with pytest.raises(InputError, match="is a directory"):
        treeball.align(*shops, anchors=tmp_path)
    with pytest.raises(InputError, match="anchors must be pairs"):
        treeball.align(*shops, anchors=[("Media", "Food", "x")])


# ---- broader ----


def test_broader_is_the_counterpart_of_the_nearest_matched_ancestor(shops):
    a = treeball.read([*SHOP, "Electronics > Audio > Turntables > Belts"])
    found = treeball.align(a, shops[1], broader=True)
    for node in ("Electronics > Audio > Turntables", "Electronics > Audio > Turntables > Belts"):
        answer = found.answer(node)
        assert (answer.kind, answer.counterpart) == ("broader", "Electronics > Audio")
        assert answer.why == "counterpart of Electronics > Audio"
        assert node not in found.matches
    assert found.answer("Media > Music > Jazz").kind is None
    assert "2 of them with a broader node" in found.summary()


# ---- calibration ----


def anatomies(groups=40):
    """Organs and parts whose names differ in case in two hierarchies, and parts without a matched ancestor."""
    rng = np.random.default_rng(1)
    letters = np.array(list("bcdfghklmnprstvz"))
    syllables = [rng.choice(letters, 3600), rng.choice(list("aeiou"), 3600)]
    text = "".join(a + b for a, b in zip(*syllables, strict=True))
    words = [text[start : start + 8] for start in range(0, len(text), 8)]
    words = list(dict.fromkeys(words))
    first, second = [("body", "all")], [("BODY", "ALL")]
    for group in range(groups):
        organ, *parts = words[5 * group : 5 * group + 5]
        first += [(organ, "body"), *((part, organ) for part in parts)]
        second += [(organ.upper(), "BODY"), *((part.upper(), organ.upper()) for part in parts)]
    lone = words[5 * groups : 6 * groups]
    first += [(word, "all") for word in lone]
    second += [(f"GROUP{number % 3}", "ALL") for number in range(3)]
    second += [(word.upper(), f"GROUP{number % 3}") for number, word in enumerate(lone)]
    return treeball.read(first), treeball.read(second), lone


def test_names_that_differ_in_case_alone_are_sure_where_ancestors_agree_elsewhere():
    a, b, lone = anatomies()
    found = treeball.align(a, b)
    assert all(found.matches.get(word) == word.upper() for word in lone)
    assert all(answer.confidence >= 0.8 for answer in found.answers() if answer.node in lone)


def test_every_answer_has_a_confidence_and_rivals_share_one():
    a, b, _ = anatomies()
    found = treeball.align(a, b, broader=True)
    assert all(isinstance(answer.confidence, float) and 0 <= answer.confidence <= 1 for answer in found.answers(2))
    for node in a.names.take(a.real_nodes()):
        assert sum(one.confidence for one in found.candidates_of(node, 100)) <= 1 + 1e-6


def test_a_broader_node_is_as_sure_as_matched_nodes_are_below_the_same_one():
    parts = [f"{word} cord" for word in ["red", "blue", "green", "grey", "pink", "black", "white", "gold"]]
    first = [("organ", "body"), *((part, "organ") for part in parts), ("zzz", "organ")]
    shares = []
    for elsewhere in (0, 6):
        second = [("organ", "body"), ("other", "body")]
        second += [(part, "other" if number < elsewhere else "organ") for number, part in enumerate(parts)]
        anchors = [("organ", "organ"), ("body", "body"), *zip(parts, parts, strict=True)]
        answer = treeball.align(first, second, anchors=anchors, broader=True).answer("zzz")
        assert (answer.kind, answer.counterpart) == ("broader", "organ")
        shares.append(answer.confidence)
    assert shares[0] > 0.9
    assert shares[1] < 0.5


# ---- tables ----


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "parquet"])
def test_tables_hold_every_node_once(tmp_path, shops, found, ending):
    path = tmp_path / f"found.{ending}"
    found.save(path, candidates=2)
    if ending == "json":
        rows = json.loads(path.read_text("utf-8"))
    elif ending == "parquet":
        rows = pq.read_table(path).to_pylist()
    else:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="," if ending == "csv" else "\t"))
    assert list(rows[0]) == ["node_a", "label_a", "node_b", "label_b", "kind", "confidence", "why", "candidates"]
    assert [row["node_a"] for row in rows] == [str(name) for name in shops[0].names.take(shops[0].real_nodes())]
    answered = {row["node_a"]: row["node_b"] for row in rows if row["node_b"]}
    assert answered == found.matches
    row = next(row for row in rows if row["node_a"] == "Media > Music > Salsa")
    assert 0 < float(row["confidence"]) < 0.8
    assert all(row["confidence"] not in ("", None) for row in rows)
    named = row["candidates"][0]["node"] if ending == "json" else row["candidates"]
    assert named.startswith("Food > Dips > Salsa")
    assert list(tmp_path.iterdir()) == [path]  # nothing is left of a temporary file


def test_a_file_of_another_kind_is_refused(tmp_path, found):
    with pytest.raises(InputError, match=r"does not end in one of .csv, .tsv, .json, .parquet"):
        found.save(tmp_path / "found.xlsx")
    with pytest.raises(InputError, match="there is no folder"):
        found.save(tmp_path / "none" / "found.csv")
    assert list(Path(tmp_path).iterdir()) == []


def test_one_node_and_many():
    lone = treeball.Hierarchy.from_codes(["only"], [], [])
    assert treeball.align(lone, lone).n_nodes == 1
    star = treeball.Hierarchy.from_codes(
        ["hub", *map(str, range(1000))], np.arange(1, 1001), np.zeros(1000, np.int64), labels=["hub", *["same"] * 1000]
    )
    found = treeball.align(star, star)
    assert set(found.matches) <= {"hub"}  # a thousand nodes of one name are no one's counterpart
