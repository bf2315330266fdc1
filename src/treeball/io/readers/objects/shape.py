"""Shape: whether nested data are a hierarchy, rather than some other document that happens to be nested.

Two shapes are hierarchies. Node objects have a name, and other node objects below one of the keys for children; their
other keys are properties. Names inside names are mappings in which every key is a node, so that nothing stands below a
key but further mappings, lists of names, or nothing. A text or a number below a key makes a record of the mapping, and
records nest in every kind of document. The two shapes do not mix.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from types import NoneType
from typing import Any

from ....errors import InputError
from ....hierarchy.read_report import listed, short
from ....hierarchy.repairs import RepairKind
from ....words import count
from ..hints import setting
from ..relation import MISSING, Relation
from ..tables.columns import is_number
from .entries import Entries
from .values import Number

__all__ = ["Shape"]

_NUMBERS = frozenset([Number, int, float, bool, NoneType])
_GRAPHS = (
    frozenset(["nodes", "edges"]),
    frozenset(["nodes", "links"]),
    frozenset(["vertices", "edges"]),
    frozenset(["source", "target"]),
    frozenset(["from", "to"]),
    frozenset(["sub", "obj"]),
    frozenset(["subject", "object"]),
)
_DEEPEST_SHOWN = 4  # keys that a message names above the one at fault


class Shape:
    """What a walk finds that no hierarchy holds.

    The first of it is refused. When the format was named by the user, it is counted instead: then a text below a key is
    a node, and a number is left out.
    """

    def __init__(self, entries: Entries, format: str, label: str, insisted: bool) -> None:
        self.unused: dict[str, None] = {}  # keys of node objects that are no names and hold no children
        self._entries, self._format, self._label, self._insisted = entries, format, label, insisted
        self._texts = self._numbers = self._mixed = 0
        self._ways: set[bool] = set()

    def take_value(self, key: int, value: Any) -> None:
        """A value below the entry ``key``."""
        if isinstance(value, str) and not isinstance(value, Number):
            if value.strip():
                self._texts += 1
                self._refuse_if_auto(f"the text {short(value)!r} stands below {self._trail(key)}, as in a record")
        elif isinstance(value, (str, int, float)):
            self._numbers += 1
            kind = "truth value" if isinstance(value, bool) else "number"
            self._refuse_if_auto(f"the {kind} {value} stands below {self._trail(key)}, as in a record")

    def take_child(self, node: int, value: Any) -> None:
        """What stands below a key for the children of the entry ``node``."""
        if isinstance(value, (str, int, float)) and str(value).strip():
            self._refuse_if_auto(f"{short(value)!r} stands where the children of {self._trail(node)} belong")

    def take_list(self, items: Collection[Any], above: int, below_key: bool) -> None:
        """A list below the entry ``above``; where that is a key, numbers in the list are names only if keys are."""
        kinds = set(map(type, items))
        if not self._insisted and not kinds.isdisjoint((list, tuple)) and any(items):
            self._refuse_if_auto(f"lists stand inside of a list{self._below(above)}, as in a table")
        if not below_key or not items or not kinds <= _NUMBERS or is_number(str(self._entries.names[above])):
            return
        self._refuse_if_auto(f"a list of numbers stands{self._below(above)}, as in a record")

    def take_node_object(self, above: int, name_key: str) -> None:
        """An object that has a name of its own stands below the entry ``above``, which is a key."""
        self._mixed += 1
        self._refuse_if_auto(f"an object with its own {short(name_key)} stands below the key {self._trail(above)}")

    def take_keys(self, keys: Collection[Any], above: int) -> None:
        """Keys of a mapping that are taken as names, unless they are those of a graph."""
        found = next((pair for pair in _GRAPHS if pair.issubset(keys)), None)
        if found is not None:
            self._mixed += 1
            self._refuse_if_auto(f"the keys {' and '.join(sorted(found))}{self._below(above)} are those of a graph")

    def take_mapping(self, key: int, holds_children: bool) -> None:
        """A mapping stands below a key; either all of these hold their children below a key for them, or none does."""
        self._ways.add(holds_children)
        if len(self._ways) > 1:
            self._mixed += 1
            what = "has" if holds_children else "lacks"
            self._refuse_if_auto(f"what stands below {self._trail(key)} {what} a key for children, unlike the others")

    def require_edges(self) -> None:
        """Refuse names if none is below another: a flat list is no hierarchy."""
        number = len(self._entries.names)
        if number > 1 and not self._insisted and not self._entries.are_nested:
            raise InputError(
                f"{self._label} holds {count(number, 'name')} side by side and none below another "
                f"({listed(self._entries.names, number, 3)}): give objects with a name and children, or records with "
                "an id and a parent"
            )

    def note_what_was_assumed(self, relation: Relation) -> None:
        """Note and list what was read in a shape that only the named format makes a hierarchy."""
        found = [
            f"{count(self._texts, 'text')} below a key read as names" if self._texts else "",
            f"{count(self._numbers, 'number')} below a key left out" if self._numbers else "",
            f"{count(self._mixed, 'object')} of another shape read as names" if self._mixed else "",
        ]
        if any(found):
            details = list(filter(None, found))
            relation.notes.append(f"read as names inside names since the format was named: {', '.join(details)}")
            relation.record_lines(RepairKind.SHAPES_ASSUMED, [None] * len(details), details)

    def _refuse_if_auto(self, found: str) -> None:
        if self._insisted:
            return
        name = "yaml" if self._format == "YAML" else "json"
        raise InputError(
            f"{self._label} is no hierarchy of a known shape: {found}; give names inside names, objects with a name "
            f"and children, or records with an id and a parent, or say {setting('format', name)} to read every "
            "key and text as a name"
        )

    def _below(self, above: int) -> str:
        return "" if above == MISSING else f" below {self._trail(above)}"

    def _trail(self, entry: int) -> str:
        """The entry as a message calls it, by itself and some of what is above: ``log > creator``."""
        keys = [short(key) for key in islice(self._entries.upwards(entry), _DEEPEST_SHOWN)]
        return " > ".join(reversed(keys))
