"""Which of two columns is the child: by what the input says, else by the structure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...types import Codes
from .hints import setting
from .relation import MISSING, Direction, Relation
from .settings import ReadSettings

_ARROWS: dict[Direction, str] = {"child-parent": "child -> parent", "parent-child": "parent -> child"}

_REVERSE: dict[Direction, Direction] = {"child-parent": "parent-child", "parent-child": "child-parent"}


@dataclass(frozen=True, slots=True)
class Decision:
    """Direction of the pairs.

    Attributes
    ----------
    direction
        Which side of a pair is the child.
    reason_for_doubt
        Why it is a guess, or None.
    swapped
        Whether the pairs stand the other way round in the file.
    """

    direction: Direction
    reason_for_doubt: str | None = None
    swapped: bool = False

    @property
    def in_file(self) -> Direction:
        """Direction of the columns in the order of the file."""
        return _REVERSE[self.direction] if self.swapped else self.direction

    @property
    def arrow(self) -> str:
        """As the summary writes it."""
        return _ARROWS[self.in_file]

    @property
    def doubt(self) -> str | None:
        """Sentence for the report, or None."""
        if self.reason_for_doubt is None:
            return None
        return (
            f"the direction is a guess, since {self.reason_for_doubt}: read as {self.arrow}; "
            f"{setting('direction', _REVERSE[self.in_file])} turns it round"
        )


def decide(relation: Relation, settings: ReadSettings) -> Decision:
    """Direction of the pairs in ``relation``: forced, stated by the input, or inferred."""
    if relation.direction is not None:
        return Decision(relation.direction, swapped=relation.swapped)
    if settings.direction == "header":
        return Decision(relation.default_direction, swapped=relation.swapped)
    if settings.direction != "auto":
        return Decision(settings.direction)
    return replace(infer(relation.child, relation.parent, relation.default_direction), swapped=relation.swapped)


def infer(first: Codes, second: Codes, default: Direction = "child-parent") -> Decision:
    """Direction by structure.

    A child has one parent, or few; a parent has many children. So the column with more distinct names is that of the
    children: read this way, names occur there about once and few nodes are left without a parent. Cells left
    empty in one column only make that column the parents, since a root has no parent.

    Parameters
    ----------
    first, second
        Codes (m,) of the two columns, MISSING for empty cells.
    default
        What to answer, with a doubt, when both readings are alike.
    """
    gaps_first, gaps_second = bool((first == MISSING).any()), bool((second == MISSING).any())
    if gaps_first != gaps_second:
        return Decision("parent-child" if gaps_first else "child-parent")
    linked = (first != second) & (first >= 0) & (second >= 0)
    first, second = first[linked], second[linked]
    if first.size == 0:
        return Decision(default)
    size = int(max(first.max(), second.max())) + 1
    in_first, in_second = np.bincount(first, minlength=size), np.bincount(second, minlength=size)
    distinct_first, distinct_second = int((in_first > 0).sum()), int((in_second > 0).sum())
    nodes = int(((in_first > 0) | (in_second > 0)).sum())
    if distinct_first == distinct_second:
        return Decision(default, "both columns have as many distinct names")
    direction: Direction = "child-parent" if distinct_first > distinct_second else "parent-child"
    roots = nodes - max(distinct_first, distinct_second)
    leaves = nodes - min(distinct_first, distinct_second)
    once = in_first if direction == "child-parent" else in_second
    single = bool((once <= 1).all())
    if single or leaves >= 2 * roots:
        return Decision(direction)
    return Decision(default, f"one reading gives {roots:,} roots and {leaves:,} leaves, the other the reverse")
