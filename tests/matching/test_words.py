"""Words of names, the vocabulary of two hierarchies, and bags of words against a naive implementation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeball
from treeball.matching.bags import Bags, laid_out
from treeball.matching.vocabulary import Vocabulary
from treeball.matching.words import joined, own_names, synonyms_of, words_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Men's Coats & Jackets", "men coat and jacket"),
        ("Bags, Cases & Sleeves", "bag case sleeve"),
        ("Gloves", "glove"),
        ("Knives", "knife"),
        ("Shelves", "shelf"),
        ("Potatoes", "potato"),
        ("Shoes", "shoe"),
        ("Watches", "watch"),
        ("Dishes", "DISH"),
        ("Batteries", "battery"),
        ("Movies", "movie"),
        ("Crêpe Pans", "crepe pan"),
        ("The Parts of a Clock", "part clock"),
        ("T-Shirts", "t shirt"),
        ("sour_cream", "Sour Cream"),
        ("Straße", "STRASSE"),
    ],
)
def test_names_that_have_the_same_words(one, other):
    assert words_of(one) == words_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("On-Ear Headphones", "In-Ear Headphones"),
        ("Glass", "Glas"),
        ("Bus", "Bu"),
        ("Card index", "Index card"),
        ("MP3 players", "MP4 players"),
        ("犬", "猫"),
    ],
)
def test_names_that_have_other_words(one, other):
    assert words_of(one) != words_of(other)


def test_a_name_of_small_words_or_of_nothing():
    assert words_of("The And") == ("the", "and")
    assert words_of(" & ") == ()


def test_two_words_are_one_where_that_is_a_word():
    assert joined(("dish", "washer", "part"), {"dishwasher"}) == ("dishwasher", "part")
    assert joined(("dish", "washer"), {"washer"}) == ("dish", "washer")


def test_own_names_are_without_path_id_and_number_of_a_sense():
    edges = [("A > B", "A"), ("A > B > B > C", "A > B"), ("Rock [cat02010]", "A"), ("dog.n.01", "A"), ("AB", "A")]
    tree = treeball.read(edges)
    called = dict(zip(tree.names, own_names(tree), strict=True))
    assert called == {
        "A": "A",
        "A > B": "B",
        "A > B > B > C": "B > C",
        "Rock [cat02010]": "Rock",
        "dog.n.01": "dog",
        "AB": "AB",
    }


def test_labels_go_before_ids_and_a_virtual_root_is_called_nothing():
    grove = treeball.Hierarchy.from_codes(
        ["1", "2", "root"],
        [0, 1],
        [2, 2],
        labels=["Cats", None, None],
        synonyms=[["Felidae"], [], []],
        virtual_root=2,
    )
    assert own_names(grove) == ["Cats", "2", ""]
    assert synonyms_of(grove) == [["Felidae"], [], []]


def test_close_spellings_are_one_word_with_a_doubt():
    known = Vocabulary([("colour", "chart"), ("wheel",)], [("color", "chart"), ("wheal",)])
    there, back = known.numbers(("colour", "chart")), known.numbers(("color", "chart"))
    assert set(there) < set(back)
    assert len(back) == 3
    assert known.weight[(set(back) - set(there)).pop()] == 2.0
    assert known.numbers(("wheel",)) != known.numbers(("wheal",))  # .8 alike is not enough


def test_a_word_that_both_know_is_no_other_spelling():
    known = Vocabulary([("lightning",), ("lighting",)], [("lighting",)])
    assert known.numbers(("lightning",)) != known.numbers(("lighting",))


def test_rare_words_tell_more():
    names = [("red", "wine"), ("red", "shoe"), ("red", "hat")]
    known = Vocabulary(names, [("red", "hat")])
    weight = {word: known.weight[known.numbers((word,))[0]] for word in ("red", "hat", "shoe")}
    assert weight["red"] < weight["hat"] < weight["shoe"]
    assert weight["hat"] == pytest.approx(math.log1p(4 / 2))


ROWS = st.lists(st.dictionaries(st.integers(0, 6), st.floats(0.1, 9.0), max_size=5), min_size=1, max_size=5)


@given(ROWS, ROWS)
def test_bags_against_dictionaries(ours, theirs):
    one, other = Bags(ours, 7), Bags(theirs, 7)
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(len(ours)), np.arange(len(theirs)), indexing="ij"))
    shared = [sum(value for word, value in ours[x].items() if word in theirs[y]) for x, y in zip(i, j, strict=True)]
    assert one.shared(i, other, j) == pytest.approx(shared)
    assert one.total == pytest.approx([sum(row.values()) for row in ours])

    def cosine(x, y):
        lengths = [math.sqrt(sum(value**2 for value in row.values())) for row in (x, y)]
        return sum(x[word] * y[word] for word in x.keys() & y.keys()) / math.prod(lengths) if all(lengths) else 0.0

    expected = [cosine(ours[x], theirs[y]) for x, y in zip(i, j, strict=True)]
    assert one.cosine(i, other, j) == pytest.approx(expected)


def test_ranges_laid_end_to_end():
    place, owner = laid_out(np.array([5, 0, 2]), np.array([2, 0, 3]))
    assert place.tolist() == [5, 6, 2, 3, 4]
    assert owner.tolist() == [0, 0, 2, 2, 2]
