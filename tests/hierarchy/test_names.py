"""Names: both ways of storing them behave alike, and a wrong name is answered with the right one."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeball.errors import InputError
from treeball.hierarchy.names import Names

WORDS = ["dog.n.01", "cat.n.01", "god.n.01", "Hot Dog", "mammal.n.01", "é", "entity.n.01"]
text_lists = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), unique=True, max_size=30)


def stored_in_every_way(words: list[str]) -> list[Names]:
    half = len(words) // 2
    longer = pa.array(["before", *words, "after"], pa.string())
    return [
        Names(words),
        Names(np.array(words, dtype=object)),
        Names(pa.array(words, pa.string())),
        Names(pa.array(words, pa.large_string())),
        Names(pa.array(words, pa.string()).dictionary_encode()),
        Names(pa.chunked_array([words[:half], words[half:]], pa.string())),
        Names(longer.slice(1, len(words))),
    ]


@settings(deadline=None)
@given(text_lists)
def test_a_sequence_however_stored(words: list[str]) -> None:
    for names in stored_in_every_way(words):
        assert list(names) == words
        assert len(names) == len(words)
        assert [names[i] for i in range(len(words))] == words
        assert [names[i - len(words)] for i in range(len(words))] == words
        assert names[1::2] == words[1::2]
        assert names.take(np.arange(len(words))[::-1]) == words[::-1]
        assert [names.index_of(word) for word in words] == list(range(len(words)))
        assert names.index_of_many(reversed(words)).tolist() == list(range(len(words)))[::-1]
        assert names.to_arrow().to_pylist() == words
        assert names.kind == "str"
        assert names == Names(words)
        names.require_distinct()


def test_positions_outside_are_index_errors() -> None:
    for names in stored_in_every_way(WORDS):
        for position in (len(WORDS), -len(WORDS) - 1):
            with pytest.raises(IndexError):
                names[position]
        assert names[np.int32(1)] == "cat.n.01"  # type: ignore[call-overload]


def test_more_names_than_one_batch_are_iterated_in_order() -> None:
    words = [f"node {i}" for i in range(150_000)]
    assert list(Names(pa.array(words))) == words


@pytest.mark.parametrize("names", stored_in_every_way(WORDS))
def test_membership(names: Names) -> None:
    for _ in range(12):  # past the scans, when the lookup takes over
        assert "dog.n.01" in names
        assert "dog" not in names
        assert 3 not in names
        assert None not in names
        assert ["dog.n.01"] not in names  # type: ignore[comparison-overlap]


def test_any_hashable_is_a_name() -> None:
    ids = [1, "one", (2, "two"), frozenset([3]), None, 2.5]
    names = Names(ids)
    assert list(names) == ids
    assert [names.index_of(name) for name in ids] == list(range(6))
    assert names.index_of_many([(2, "two"), 1]).tolist() == [2, 0]
    assert names.kind == "other"
    assert names.to_arrow().to_pylist() == [str(name) for name in ids]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], "int"),
        (np.array([1, 2], np.int32), "int"),
        (pa.array([1, 2]), "int"),
        ([np.int64(1), 2], "int"),
        ([True, False], "other"),
        ([1, "1"], "other"),
        (["a"], "str"),
        (np.array(["a", "b"]), "str"),
    ],
)
def test_kind(values: object, kind: str) -> None:
    assert Names(values).kind == kind


def test_arrays_give_python_objects() -> None:
    assert all(type(name) is int for name in Names(np.array([1, 2], np.int32)))
    assert all(type(name) is str for name in Names(np.array(["a", "b"])))


def test_two_names_with_one_text_cannot_be_written() -> None:
    with pytest.raises(InputError, match=r"1 \(int\) and '1' \(str\) are different but have the same text"):
        Names([1, "a", "1"]).to_arrow()


@pytest.mark.parametrize("twice", [["a", "b", "a"], pa.array(["a", "b", "a"]), [1, 2, True]])
def test_repeated_names_are_refused(twice: object) -> None:
    with pytest.raises(ValueError, match="two nodes are named"):
        Names(twice).require_distinct()


def test_null_and_unhashable_names_are_refused() -> None:
    with pytest.raises(ValueError, match="name 1 is null"):
        Names(pa.array(["a", None]))
    with pytest.raises(TypeError, match="unhashable"):
        Names([["a"]]).require_distinct()


@pytest.mark.parametrize("names", stored_in_every_way(WORDS))
def test_an_unknown_name_is_answered_with_close_ones(names: Names) -> None:
    with pytest.raises(InputError, match=r"^no node named 'dgo\.n\.01'; did you mean 'dog\.n\.01', 'god\.n\.01'"):
        names.index_of("dgo.n.01")
    with pytest.raises(InputError, match=r"^no node named 'hot dog'; did you mean 'Hot Dog'\?"):
        names.index_of("hot dog")
    with pytest.raises(InputError, match=r"^no node named 'mamm'; did you mean 'mammal\.n\.01'\?"):
        names.index_of("mamm")
    with pytest.raises(InputError, match=r"^no node named 'qqq' among the 7 there are \(.* 'dog\.n\.01'\)$"):
        names.index_of("qqq")
    with pytest.raises(InputError, match=r"^no node named 'cat\.n\.1'; did you mean 'cat\.n\.01'.*\(1 more"):
        names.index_of_many(["dog.n.01", "cat.n.1", "xyz"])


def test_an_unknown_name_of_another_type() -> None:
    with pytest.raises(InputError, match=r"^no node named '12'; did you mean 12, "):
        Names([12, 123, 4]).index_of("12")
    with pytest.raises(InputError, match=r"^no node named 12; did you mean '12'"):
        Names(["12", "4"]).index_of_many([12])
    with pytest.raises(InputError, match=r"^no node named \['a'\]; did you mean"):
        Names(["['a']", "b"]).index_of(["a"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"among the 0 there are$"):
        Names([]).index_of("a")


@pytest.mark.parametrize(
    ("words", "query", "found"),
    [
        (["Electronics", "Kitchen", "Kitchen > Cookware", "Kitchen > Cookware > Woks"], "Woks", 3),
        (["Electronics", "Kitchen > Cookware > Woks", "Kitchen > Cookware"], "wosk", 1),
        (["life", "life/animals", "life/animals/mammals", "life/plants"], "mammal", 2),
        (["GO:0008150", "GO:0003674", "GO:0005575"], "0003674", 1),
        (["all", "all > a\nb > shoes", "all > socks"], "Sho", 1),
        (["Kitchen > Cookware", "Kitchen > Cutlery > ", "Kitchen"], "Kitchen > Cookwear", 0),
    ],
)
def test_the_last_step_of_a_path_is_enough(words: list[str], query: str, found: int) -> None:
    for names in stored_in_every_way(words):
        with pytest.raises(InputError, match=f"did you mean {re.escape(repr(words[found]))}"):
            names.index_of(query)


@pytest.mark.parametrize("names", stored_in_every_way(WORDS))
def test_bytes_that_are_no_text_are_a_name_that_does_not_exist(names: Names) -> None:
    typed = b"mammal\xff.n.01".decode(errors="surrogateescape")
    assert typed not in names
    for ask in (names.index_of, lambda name: names.index_of_many(["dog.n.01", name])):
        with pytest.raises(InputError, match=r"^no node named 'mammal\\udcff\.n\.01'; did you mean 'mammal\.n\.01'"):
            ask(typed)


def test_a_tuple_of_names_should_be_a_list() -> None:
    several = tuple(f"node {i}" for i in range(1000))
    for names in (Names(several), Names(range(9))):
        with pytest.raises(InputError, match=r"a tuple is one name; for several nodes give a list$") as refused:
            names.index_of(several)
        assert str(refused.value).startswith("no node named ('node 0', 'node 1', 'node 2', ...): ")
    # Where names may be tuples, it is a name like any other.
    with pytest.raises(InputError, match=r"^no node named \(1, 3\); did you mean \(1, 2\)\?$"):
        Names([(1, 2), "b"]).index_of((1, 3))
    long = "all > " + "x" * 100
    with pytest.raises(InputError, match=long):
        Names(["a"]).index_of(long)


def test_names_are_not_copied() -> None:
    names = Names(["a"])
    assert Names.of(names) is names
    assert repr(Names(range(5))) == "<Names: 5 (0, 1, 2, ...)>"
    assert Names(["a"]) != Names(["b"])
    assert Names(["a"]) != ["a"]
