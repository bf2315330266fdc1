"""The walk through node objects and mappings of mappings, without recursion.

Siblings without children come in long lists, all with the same keys: such a run is taken as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from ....errors import InputError
from ....hierarchy.repairs import RepairKind
from ..relation import MISSING, Relation
from ..tables.pairs import note_columns_not_used
from .entries import Entries
from .keywords import keywords_of
from .shape import Shape
from .values import Number, Pairs, is_name

__all__ = ["relation_of_tree"]

_TEXTS = {str, Number}


class _Pending(NamedTuple):
    """A value that is still to be looked at.

    Attributes
    ----------
    value
        The value itself, or leaves that are taken together.
    above
        Entry above it, or MISSING.
    in_list
        Whether it is an element of a list, the child of a node object, or the whole.
    below_key
        Whether the entry above it is a key, with at most one list in between.
    in_items
        Whether it is an element of a list.
    """

    value: Any
    above: int
    in_list: bool = True
    below_key: bool = False
    in_items: bool = False


def relation_of_tree(value: Any, format: str, label: str, insisted: bool) -> Relation:
    """Relation of node objects and mappings; other shapes are refused unless the format is ``insisted`` upon."""
    entries = Entries()
    shape = Shape(entries, format, label, insisted)
    containers: set[int] = set()
    visits = nameless = 0
    pending = [_Pending(value, MISSING)]
    while pending:
        place = pending.pop()
        item = place.value
        if place.in_items and (item is None or isinstance(item, bool)):
            nameless += 1  # no entry: a tree whose nodes all have ids stays one
            continue
        if isinstance(item, _Leaves):
            shape.unused.update(dict.fromkeys(item.unused))
            entries.add_all(place.above, item.names, item.ids)
            continue
        if isinstance(item, (dict, list, tuple, set, frozenset)):
            visits += 1
            containers.add(id(item))
            if visits > 1000 + 20 * len(containers):
                raise InputError(f"{label} refers to itself or repeats its parts without end: write it out as a tree")
        later: list[_Pending] = []
        if isinstance(item, (dict, Pairs)):
            later = _open_mapping(place, entries, shape)
        elif isinstance(item, (list, tuple, set, frozenset)):
            later = _open_list(place, shape)
        elif isinstance(item, str) and not (isinstance(item, Number) and not place.in_list):
            entries.add(place.above, str(item))
        elif place.in_list and item is not None and not isinstance(item, bool):
            entries.add(place.above, _checked(item, label))
        pending.extend(reversed(later))
    shape.require_edges()
    relation = entries.to_relation(f"nested {format}")
    note_columns_not_used(relation, list(shape.unused), "fields")
    shape.note_what_was_assumed(relation)
    if nameless:
        detail = "an element of a list is null or a truth value, and names no node"
        relation.record_lines(RepairKind.EMPTY_NAMES, [None] * nameless, detail)
    return relation


@dataclass(frozen=True, slots=True)
class _Leaves:
    """Siblings without children: their names, their ids where they have any, and keys that are not used."""

    names: Sequence[str]
    ids: Sequence[str] | None = None
    unused: tuple[str, ...] = ()


def _open_list(place: _Pending, shape: Shape) -> list[_Pending]:
    """What is inside a list, with what are leaves of one kind taken together."""
    shape.take_list(place.value, place.above, place.below_key)
    later: list[_Pending] = []
    for kind, group in groupby(place.value, _kind):
        run = list(group)
        leaves = None if place.below_key and isinstance(kind, tuple) else _leaves(kind, run)
        later += [_Pending(one, place.above, True, place.below_key, True) for one in ([leaves] if leaves else run)]
    return later


def _kind(item: Any) -> Any:
    """What neighbours have in common that can be taken together: their keys, or their type."""
    return tuple(item) if type(item) is dict else type(item)


def _leaves(kind: Any, run: list[Any]) -> _Leaves | None:
    """Elements of one kind as leaves; None where they are something else, or have to be looked at one by one."""
    if kind in _TEXTS:
        return _Leaves(list(map(str, run)))
    if not isinstance(kind, tuple) or not kind:
        return None
    keywords = keywords_of(kind)
    if keywords.children:
        return None
    columns = [_texts(run, kind[places[0]]) for places in (keywords.names, keywords.ids) if places]
    if not columns or None in columns:
        return None
    used = {places[0] for places in (keywords.names, keywords.ids) if places}
    return _Leaves(columns[0] or [], columns[-1] if keywords.ids else None, _unused(kind, keywords.others, used))


def _texts(run: list[dict[Any, Any]], key: Any) -> list[str] | None:
    """The values of a key, where all are texts or numbers."""
    values = [one[key] for one in run]
    kinds = set(map(type, values))
    if not kinds <= _TEXTS:
        return None
    return list(map(str, values)) if Number in kinds else values


def _unused(keys: Sequence[Any], others: Sequence[int], used: Collection[int]) -> tuple[str, ...]:
    return tuple(str(keys[place]) for place in others if place not in used)


def _open_mapping(place: _Pending, entries: Entries, shape: Shape) -> list[_Pending]:
    """What is inside a mapping: the children of the node it describes, or a node for each of its keys."""
    item, parent = place.value, place.above
    if not item:
        return []
    keys, values = list(item.keys()), list(item.values())
    keywords = keywords_of(keys)
    name = _first_named(values, keywords.names)
    ident = _first_named(values, keywords.ids)
    children = [values[i] for i in keywords.children] if keywords.children else []
    named = ident if name is None else name
    if named is not None and (children or place.in_list):
        if place.below_key:
            shape.take_node_object(parent, str(keys[named]))
        entry = entries.add(parent, values[named], None if ident is None else values[ident])
        shape.unused.update(dict.fromkeys(_unused(keys, keywords.others, {named, ident if ident is not None else -1})))
        for child in children:
            shape.take_child(entry, child)
        return [_Pending(child, entry) for child in children]
    # Among mappings of mappings a key is a node whatever it is called: only a list below it makes it a keyword.
    nested = len(children) == 1 and isinstance(children[0], list)
    if nested and all(is_name(values[i]) or values[i] is None for i in keywords.others):
        # An object with children and no name stands for its parent; a nameless top is no node at all.
        if parent != MISSING and not place.in_list:
            shape.take_mapping(parent, True)
        shape.unused.update(dict.fromkeys(_unused(keys, keywords.others, ())))
        above = parent if parent == MISSING or not place.in_list else entries.add(parent, "")
        return [_Pending(children[0], above, True, parent != MISSING)]
    if not place.in_list:
        shape.take_mapping(parent, False)
    if all(type(key) is str for key in keys):
        shape.take_keys(item.keys(), parent)
    first = entries.add_all(parent, ["" if key is None else key for key in keys])
    for number, value in enumerate(values):
        shape.take_value(first + number, value)
    return [
        _Pending(value, first + number, False, True) for number, value in enumerate(values) if not _is_nothing(value)
    ]


def _is_nothing(value: Any) -> bool:
    """Whether there is no node in what stands below a key: a number, a truth value, nothing, or an empty list."""
    if isinstance(value, (dict, list, tuple, set, frozenset)):
        return not value
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, str))


def _first_named(values: Sequence[Any], places: Sequence[int]) -> int | None:
    return next((place for place in places if is_name(values[place])), None)


def _checked(item: Any, label: str) -> Hashable:
    if not isinstance(item, Hashable):
        raise InputError(f"{label}: a node cannot be named by {item!r:.80}")
    return item
