"""What parsed files have besides lists and dicts: numbers as they were written, and mappings that repeat a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Number", "Pairs", "is_name", "mapping_of"]


class Number(str):
    """A number as it was written; below a key it is a property, in a list it is a name."""


class Pairs(list[tuple[Any, Any]]):
    """Items of a mapping whose keys repeat."""

    def items(self) -> Pairs:
        """The items themselves, as a dict would give them."""
        return self

    def keys(self) -> list[Any]:
        """The key of every item."""
        return [key for key, _ in self]

    def values(self) -> list[Any]:
        """The value of every item."""
        return [value for _, value in self]


def mapping_of(items: Sequence[tuple[Any, Any]]) -> dict[Any, Any] | Pairs:
    """A dict, or Pairs when a dict would lose a repeated key."""
    mapping = dict(items)
    return mapping if len(mapping) == len(items) else Pairs(items)


def is_name(value: Any) -> bool:
    """Whether a value can name a node."""
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)
