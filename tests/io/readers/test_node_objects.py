"""Node objects of JSON and of Python: what their keys mean is looked up once, and long runs are taken together."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeball.errors import InputError
from treeball.io.readers import path_tree, read
from treeball.io.readers.objects import keywords, walk
from treeball.io.readers.path_tree import PathTree
from treeball.io.readers.relation import MISSING

LABELS = st.sampled_from([*"abcdefghijklmnop", "", " ", "\u2003"])

FAMILIES = st.lists(LABELS, max_size=12) | st.lists(LABELS, min_size=8, max_size=18, unique=True)


def nodes() -> st.SearchStrategy[Any]:
    """Trees of texts, numbers, mappings and node objects, with many siblings of one kind."""
    names = st.sampled_from(["a", "b", "c d", "", " ", 1, 2.5, None, True])
    many = [st.sampled_from(list("abcdefghijklmno")), names]
    leaves = [
        *many,
        *(st.fixed_dictionaries({"name": one}) for one in many),
        *(st.fixed_dictionaries({"id": one, "label": one, "size": names}) for one in many),
        *(st.fixed_dictionaries({"title": one, "name": names}) for one in many),
    ]
    inner = st.one_of([st.lists(leaf, max_size=12) for leaf in leaves]) | st.lists(st.one_of(leaves), max_size=12)
    return st.recursive(
        inner,
        lambda inside: (
            st.lists(inside, max_size=4)
            | st.dictionaries(st.text("abc", max_size=2), inside, max_size=10)
            | st.fixed_dictionaries({"name": st.sampled_from("xyz"), "children": inside})
            | st.fixed_dictionaries({"id": st.sampled_from("xyz"), "children": inside})
            | st.tuples(inside, inner).map(lambda both: [{"name": "n", "children": both[0]}, *both[1]])
        ),
        max_leaves=6,
    )


def told(value: Any) -> Any:
    """All that is read from a value, or the sentence that refuses it."""
    try:
        hierarchy = read(json.dumps(value).encode())
    except InputError as error:
        return str(error)
    child, parent = hierarchy.edges()
    return list(hierarchy.names), list(hierarchy.labels), child.tolist(), parent.tolist(), str(hierarchy.report)


@given(nodes())
def test_what_is_taken_together_is_what_one_by_one_would_be(value: Any) -> None:
    together = told(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "_leaves", lambda *_: None)
        patch.setattr(path_tree, "_are_new", lambda _: False)
        assert told(value) == together


def records() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Records of one shape or of several, with parents of every kind."""
    names = st.sampled_from([*"abcdef", "", " ", 1, 2.5, None])
    parents = names | st.lists(names, max_size=3) | st.fixed_dictionaries({"id": names})
    plain = st.lists(st.fixed_dictionaries({"id": names, "parent": names}), min_size=2, max_size=12)
    named = st.fixed_dictionaries({"id": names, "parent": parents, "name": names | st.lists(names)})
    weighted = st.fixed_dictionaries({"id": names, "parent": parents, "weight": st.sampled_from([1, 0.5, None, -1])})
    bare = st.fixed_dictionaries({"id": names})
    return plain | st.lists(named, min_size=2, max_size=9) | st.lists(named | weighted | bare, min_size=2, max_size=9)


@given(records())
def test_records_in_one_list_are_those_of_as_many_lines(given_records: list[dict[str, Any]]) -> None:
    """Records that have lines are taken in one by one."""

    def read_as(data: bytes) -> Any:
        try:
            hierarchy = read(data)
        except InputError:
            return "refused"
        return list(hierarchy.names), list(hierarchy.labels), [codes.tolist() for codes in hierarchy.edges()]

    lines = "\n".join(json.dumps(one) for one in given_records).encode()
    assert read_as(json.dumps(given_records).encode()) == read_as(lines)


@given(st.lists(st.tuples(st.integers(-1, 3), FAMILIES), max_size=5), st.booleans())
def test_children_added_together_are_those_added_one_by_one(families: list[tuple[int, list[str]]], mixed: bool) -> None:
    together, one_by_one = PathTree(), PathTree()
    for number, (parent, labels) in enumerate(families):
        place = parent if parent < len(one_by_one.labels) else MISSING
        codes = [one_by_one.add(place, label) for label in labels]
        single = mixed and number % 2
        assert (
            list([together.add(place, one) for one in labels] if single else together.add_all(place, labels)) == codes
        )
    for name in ("labels", "parents", "lines", "empty", "repeated"):
        assert getattr(together, name) == getattr(one_by_one, name)


def test_a_mapping_with_very_many_keys_is_one_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keywords, "_MOST_KEYS", 3)
    names = {"a", "b", "name", "children"}
    assert set(read({"r": {name: {} for name in names}}).names) == {"r", *names}
    assert set(read([{"name": "a", "b": 1, "children": ["c"]}]).names) == {"a", "c"}


@pytest.mark.parametrize("nothing", [b"[]", b"{}", b"[[]]", b'{"name": null}'])
def test_data_without_a_node_hold_no_edge(nothing: bytes) -> None:
    with pytest.raises(InputError, match="holds no edge"):
        read(nothing)


def test_a_value_of_another_library_below_a_key_is_passed_over() -> None:
    np = pytest.importorskip("numpy")
    assert set(read({"r": {"a": np.zeros(3), "b": {"c": {}}}}).names) == {"r", "a", "b", "c"}


def test_keys_of_equal_objects_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[object] = []

    def counted(key: object) -> str:
        looked_at.append(key)
        return str(key)

    monkeypatch.setattr(keywords, "plain", counted)
    keywords._keywords_of.cache_clear()
    tree = {"name": "root", "children": [{"name": f"n{i}", "size": 1} for i in range(1_000)]}
    assert read(tree).n_nodes == 1_001
    assert 0 < len(looked_at) < 100
    keywords._keywords_of.cache_clear()


def test_of_repeated_keys_the_last_name_counts() -> None:
    text = b'{"name": "r", "children": [{"name": "a", "Name": "b"}, {"name": "c", "NAME": null}, {"title": "d"}]}'
    assert set(read(text).names) == {"r", "b", "c", "d"}
    assert set(read(b'{"name": "r", "children": [{"name": "a", "name": "b"}, {"label": "x", "name": "y"}]}').names) == {
        "r",
        "b",
        "y",
    }


@pytest.mark.parametrize("nothing", ["null", "true", "false"])
def test_an_element_that_names_nothing_is_listed_and_keeps_the_ids(nothing: str) -> None:
    leaf = '{"id": 2, "name": "a"}'
    text = f'{{"id": 0, "name": "r", "children": [{{"id": 1, "name": "a"}}, {nothing}, {leaf}]}}'
    hierarchy = read(text.encode())
    assert hierarchy.n_nodes == 3
    assert hierarchy.report is not None
    assert hierarchy.report.repair_counts == {"empty names": 1}
    with pytest.raises(InputError, match="null or a truth value"):
        read(text.encode(), strict=True)


def test_ids_that_some_nodes_lack_are_said_not_to_be_used() -> None:
    hierarchy = read(b'{"name": "r", "children": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}')
    assert hierarchy.report is not None
    assert "ids not used, for 1 node of 3 have none" in hierarchy.report.notes
    assert hierarchy.report.decision_counts == {"columns not used": 1}
