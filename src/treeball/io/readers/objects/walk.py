"""The walk through node objects and mappings of mappings, without recursion.

Siblings without children come in long lists, all with the same keys: such a run is taken as a whole.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ....errors import InputError
from ..relation import MISSING, Relation
from .entries import Entries
from .keywords import keywords_of
from .values import Number, Pairs, is_name

__all__ = ["relation_of_tree"]

_TEXTS = {str, Number}
# What is still to be looked at: a value, the entry above it, and whether it stands in a list.
Pending = tuple[Any, int, bool]


def relation_of_tree(value: Any, format: str, label: str) -> Relation:
    """Relation of node objects and mappings."""
    entries = Entries()
    containers: set[int] = set()
    visits = 0
    pending: list[Pending] = [(value, MISSING, True)]
    while pending:
        item, parent, in_list = pending.pop()
        if isinstance(item, _Leaves):
            entries.add_all(parent, item.names, item.ids)
            continue
        if isinstance(item, (dict, list, tuple, set, frozenset)):
            visits += 1
            containers.add(id(item))
            if visits > 1000 + 20 * len(containers):
                raise InputError(f"{label} refers to itself or repeats its parts without end: write it out as a tree")
        later: list[Pending] = []
        if isinstance(item, (dict, Pairs)):
            later = _open_mapping(item, parent, in_list, entries)
        elif isinstance(item, (list, tuple, set, frozenset)):
            later = _open_list(item, parent)
        elif isinstance(item, str) and not (isinstance(item, Number) and not in_list):
            entries.add(parent, str(item))
        elif in_list and item is not None and not isinstance(item, bool):
            entries.add(parent, _checked(item, label))
        if later:
            pending.extend(reversed(later))
    return entries.to_relation(f"nested {format}")


@dataclass(frozen=True, slots=True)
class _Leaves:
    """Siblings without children: their names, and their ids where they have any."""

    names: Sequence[str]
    ids: Sequence[str] | None = None


def _open_list(items: Iterable[Any], parent: int) -> list[Pending]:
    """What is inside a list, with what are leaves of one kind taken together."""
    later: list[Pending] = []
    for shape, group in groupby(items, _shape):
        run = list(group)
        leaves = _leaves(shape, run)
        later += [(one, parent, True) for one in run] if leaves is None else [(leaves, parent, True)]
    return later


def _shape(item: Any) -> Any:
    """What neighbours have in common that can be taken together: their keys, or their type."""
    return tuple(item) if type(item) is dict else type(item)


def _leaves(shape: Any, run: list[Any]) -> _Leaves | None:
    """Elements of one shape as leaves; None where they are something else, or have to be looked at one by one."""
    if shape in _TEXTS:
        return _Leaves(list(map(str, run)))
    if not isinstance(shape, tuple) or not shape:
        return None
    keywords = keywords_of(shape)
    if keywords.children:
        return None
    columns = [_texts(run, shape[places[0]]) for places in (keywords.names, keywords.ids) if places]
    if not columns or None in columns:
        return None
    return _Leaves(columns[0] or [], columns[-1] if keywords.ids else None)


def _texts(run: list[dict[Any, Any]], key: Any) -> list[str] | None:
    """The values of a key, where all are texts or numbers."""
    values = [one[key] for one in run]
    kinds = set(map(type, values))
    if not kinds <= _TEXTS:
        return None
    return list(map(str, values)) if Number in kinds else values


def _open_mapping(item: Any, parent: int, in_list: bool, entries: Entries) -> list[Pending]:
    """What is inside a mapping: the children of the node it describes, or a node for each of its keys."""
    if not item:
        return []
    keys, values = item.keys(), list(item.values())
    keywords = keywords_of(keys)
    name = _first_name(values, keywords.names) if keywords.names else None
    ident = _first_name(values, keywords.ids) if keywords.ids else None
    children = [values[i] for i in keywords.children] if keywords.children else []
    if (name if name is not None else ident) is not None and (children or in_list):
        entry = entries.add(parent, name if name is not None else ident, ident)
        return [(child, entry, True) for child in children]
    # Among mappings of mappings a key is a node whatever it is called: only a list below it makes it a keyword.
    nested = len(children) == 1 and isinstance(children[0], list)
    if nested and all(is_name(values[i]) or values[i] is None for i in keywords.others):
        # An object with children and no name stands for its parent; a nameless top is no node at all.
        return [(children[0], parent if parent == MISSING else entries.add(parent, ""), True)]
    first = entries.add_all(parent, ["" if key is None else key for key in keys])
    return [(value, first + place, False) for place, value in enumerate(values) if not _is_nothing(value)]


def _is_nothing(value: Any) -> bool:
    """Whether there is no node in what stands below a key: a number, a truth value, nothing, or an empty list."""
    if isinstance(value, (dict, list, tuple, set, frozenset)):
        return not value
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, str))


def _first_name(values: Sequence[Any], places: Sequence[int]) -> Any:
    for place in places:
        if is_name(values[place]):
            return values[place]
    return None


def _checked(item: Any, label: str) -> Hashable:
    if not isinstance(item, Hashable):
        raise InputError(f"{label}: a node cannot be named by {item!r:.80}")
    return item
