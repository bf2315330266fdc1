"""Keys of node objects that mean something: their name, their id and their children."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..tables.columns import plain
from .values import is_name

__all__ = ["CHILD_KEYS", "ID_KEYS", "NAME_KEYS", "keywords_of", "value_under"]

NAME_KEYS = ("name", "label", "title", "text", "displayname")
ID_KEYS = ("id", "key", "code", "uuid", "identifier")
CHILD_KEYS = frozenset(
    {"children", "child", "items", "nodes", "subcategories", "categories", "subcategory", "sub", "subs"}
    | {"subclasses", "narrower", "branches", "descendants", "childnodes"}
)


@dataclass(frozen=True, slots=True)
class Keywords:
    """Places of the keys of a mapping that mean something: the names and ids with the best of them first."""

    names: tuple[int, ...]
    ids: tuple[int, ...]
    children: tuple[int, ...]
    others: tuple[int, ...]


_MOST_KEYS = 1_000
"""A mapping with more keys is no node object: its keys are names themselves."""


def value_under(item: Mapping[Any, Any], keys: tuple[str, ...]) -> Any:
    """The name that ``item`` holds under the best of the keys, or None."""
    known = {plain(key): value for key, value in item.items() if is_name(value)}
    return next((known[key] for key in keys if key in known), None)


def keywords_of(keys: Collection[object]) -> Keywords:
    """What the keys of a mapping mean. Of equal keys the last counts."""
    if len(keys) > _MOST_KEYS:
        return Keywords((), (), (), tuple(range(len(keys))))
    return _keywords_of(tuple(map(str, keys)))


@lru_cache(maxsize=256)  # in a file of node objects most have the same
def _keywords_of(keys: tuple[str, ...]) -> Keywords:
    words = [plain(key) for key in keys]
    places = range(len(words))
    return Keywords(
        tuple(i for key in NAME_KEYS for i in reversed(places) if words[i] == key),
        tuple(i for key in ID_KEYS for i in reversed(places) if words[i] == key),
        tuple(i for i in places if words[i] in CHILD_KEYS),
        tuple(i for i in places if words[i] not in CHILD_KEYS),
    )
