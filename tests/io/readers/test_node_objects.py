"""Node objects of JSON and of Python: what their keys mean is looked up once for all that have the same."""

from __future__ import annotations

import pytest

from treeball.io.readers import read
from treeball.io.readers.objects import keywords


def test_keys_of_equal_objects_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[object] = []

    def counted(key: object) -> str:
        looked_at.append(key)
        return str(key)

    monkeypatch.setattr(keywords, "plain", counted)
    keywords.keywords_of.cache_clear()
    tree = {"name": "root", "children": [{"name": f"n{i}", "size": 1} for i in range(1_000)]}
    assert read(tree).n_nodes == 1_001
    assert 0 < len(looked_at) < 100
    keywords.keywords_of.cache_clear()


def test_of_repeated_keys_the_last_name_counts() -> None:
    text = b'{"name": "r", "children": [{"name": "a", "Name": "b"}, {"name": "c", "NAME": null}, {"title": "d"}]}'
    assert set(read(text).names) == {"r", "b", "c", "d"}
    assert set(read(b'{"name": "r", "children": [{"name": "a", "name": "b"}, {"label": "x", "name": "y"}]}').names) == {
        "r",
        "b",
        "y",
    }
