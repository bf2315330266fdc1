"""PathTree: nodes known by where they stand; for outlines, nested data, breadcrumbs and folders.

Equal labels occur under different parents ("Accessories"), so a node is its path; it is named by its label where
that is unique and by its whole path where it is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np

from ...errors import InputError
from .relation import MISSING, Relation, Repair, string_array

_MOST_CHARACTERS = 1 << 29  # a chain of n steps has names of n^2 characters in all


class PathTree:
    """Tree that grows by (parent, label); adding the same label twice under one parent gives the same node."""

    def __init__(self) -> None:
        self.labels: list[Hashable] = []
        self.parents: list[int] = []
        self.lines: list[int] = []
        self.empty = self.repeated = 0
        self.first_empty: int | None = None
        self.first_repeat: int | None = None
        self._code_of: dict[tuple[int, Hashable], int] = {}

    def add(self, parent: int, label: Hashable, line: int = 0, expect_new: bool = True) -> int:
        """Code of the child ``label`` of ``parent`` (MISSING for a top).

        An empty label makes no node: it is counted, and the parent stands in for it. ``expect_new`` counts a
        label that is there already as a repeat.
        """
        if isinstance(label, str) and not label.strip():
            self.empty += 1
            self.first_empty = self.first_empty or line or None
            return parent
        if isinstance(label, str):
            label = str(label)  # plain text, whatever subclass the reader used
        code = self._code_of.setdefault((parent, label), len(self.labels))
        if code == len(self.labels):
            self.labels.append(label)
            self.parents.append(parent)
            self.lines.append(line)
        elif expect_new:
            self.repeated += 1
            self.first_repeat = self.first_repeat or line or None
        return code

    def full_paths(self, separator: str) -> list[str]:
        """Path of every node from its top; parents come before their children."""
        paths: list[str] = []
        size = 0
        for label, parent in zip(self.labels, self.parents, strict=True):
            paths.append(str(label) if parent == MISSING else f"{paths[parent]}{separator}{label}")
            size += len(paths[-1])
            if size > _MOST_CHARACTERS:
                raise InputError(
                    f"the tree is {paths[-1].count(separator):,} levels deep, too deep for nodes that are named by "
                    "their path: give an edge list with a name for each node"
                )
        return paths

    def to_relation(self, format: str, separator: str = " > ", full: bool = False) -> Relation:
        """The tree as a relation; ``full`` names every node by its path."""
        notes = []
        names: list[Any]
        if full:
            names = self.full_paths(separator)
        else:
            names = self.labels
            count = Counter(names)
            if len(count) < len(names):
                paths = self.full_paths(separator)
                shared = sum(number for number in count.values() if number > 1)
                names = [label if count[label] == 1 else path for label, path in zip(names, paths, strict=True)]
                notes.append(f"{shared:,} nodes share their label with another and are named by their path")
                if len(set(names)) < len(names):
                    names = paths
        names = _unique(names)
        repairs = []
        if self.empty:
            repairs.append(Repair("empty names", self.empty, self.first_empty, "a node has no name"))
        if self.repeated:
            repairs.append(
                Repair("repeated siblings merged", self.repeated, self.first_repeat, "a sibling's name is repeated")
            )
        lines = self.lines
        return Relation(
            format,
            string_array(names) if all(type(name) is str for name in names) else names,
            np.arange(len(names), dtype=np.int32),
            np.array(self.parents, np.int32),
            labels=string_array([str(label) for label in self.labels]) if full else None,
            names_hold_labels=full,
            direction="child-parent",
            line_of=(lambda pair: lines[pair] or None) if any(lines) else None,
            repairs=repairs,
            notes=notes,
        )


def _unique(names: list[Any]) -> list[Any]:
    """``names`` with ``#2``, ``#3`` added to repeats: paths collide only when labels hold the separator itself."""
    if len(set(names)) == len(names):
        return names
    taken, result = set(names), []
    seen: set[Hashable] = set()
    for name in names:
        choice, number = name, 2
        while choice in seen or (choice != name and choice in taken):
            choice, number = f"{name} #{number}", number + 1
        seen.add(choice)
        result.append(choice)
    return result
