"""PathTree: nodes known by where they stand; for outlines, nested data, breadcrumbs and folders.

Equal labels occur under different parents ("Accessories"), so a node is its path; it is named by its label where
that is unique and by its whole path where it is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa

from ...errors import InputError
from ...hierarchy.repairs import RepairKind
from ..memory import EVERY, require_room, require_room_after, watched
from .relation import MISSING, Relation, refuse_surrogates, string_array

_MOST_CHARACTERS = 1 << 29  # a chain of n steps has names of n^2 characters in all
_FEW = 8  # children that are added faster one by one
_COPIES = 5  # of names, besides the ones here, while a hierarchy is made of them


class PathTree:
    """Tree that grows by (parent, label); adding the same label twice under one parent gives the same node."""

    def __init__(self) -> None:
        self.labels: list[Hashable] = []
        self.parents: list[int] = []
        self.lines: list[int] = []
        self.empty: list[int] = []  # lines without a name, 0 if unknown
        self.repeated: list[tuple[int, int]] = []  # codes and lines of siblings that were there already
        self._children: dict[int, dict[Hashable, int]] = {}
        self._together: dict[int, range] = {}  # children that came all at once, and are looked up by nobody so far

    def add(self, parent: int, label: Hashable, line: int = 0, expect_new: bool = True) -> int:
        """Code of the child ``label`` of ``parent`` (MISSING for a top).

        An empty label makes no node: it is counted, and the parent stands in for it. ``expect_new`` counts a
        label that is there already as a repeat.
        """
        if isinstance(label, str):
            if not label or label.isspace():
                self.empty.append(line)
                return parent
            label = str(label)  # plain text, whatever subclass the reader used
        count = len(self.labels)
        children = self._children.get(parent)
        if children is None:
            together = self._together.get(parent, ())
            children = self._children[parent] = {self.labels[one]: one for one in together}
        code = children.setdefault(label, count)
        if code == count:
            if not code % EVERY:
                require_room()
            self.labels.append(label)
            self.parents.append(parent)
            self.lines.append(line)
        elif expect_new:
            self.repeat(code, line)
        return code

    def repeat(self, code: int, line: int) -> None:
        """Take note of a node that is written again."""
        self.repeated.append((code, line))

    def add_all(self, parent: int, labels: Sequence[Hashable]) -> Sequence[int]:
        """Codes of several children of ``parent``, in order; many new ones are added in one step."""
        first, number = len(self.labels), len(labels)
        if parent in self._children or parent in self._together or not _are_new(labels):
            return [self.add(parent, label) for label in labels]
        codes = self._together[parent] = range(first, first + number)
        self.labels += labels
        self.parents += [parent] * number
        self.lines += [0] * number
        require_room_after(first, first + number)
        return codes

    def full_paths(self, separator: str) -> pa.Array:
        """Path (n,) of every node from its top, in one buffer: a path is its parent's and one step more."""
        try:
            steps = [str(label).encode() for label in self.labels]
        except UnicodeEncodeError:
            refuse_surrogates(self.labels)
            raise
        between = separator.encode()
        length = np.zeros(len(steps), np.int64)
        for code, (step, parent) in enumerate(zip(steps, self.parents, strict=True)):
            length[code] = len(step) + (0 if parent == MISSING else int(length[parent]) + len(between))
        ends = np.concatenate(([0], np.cumsum(length)))
        if ends[-1] > _MOST_CHARACTERS:
            raise InputError(
                f"the tree is {self._depth():,} levels deep, too deep for nodes that are named by their path: give an "
                "edge list with a name for each node"
            )
        require_room(_COPIES * int(ends[-1]))
        paths = bytearray(int(ends[-1]))
        for code, (step, parent) in enumerate(zip(steps, self.parents, strict=True)):
            start, end = int(ends[code]), int(ends[code + 1])
            if parent != MISSING:
                above = int(ends[parent])
                paths[start : end - len(step) - len(between)] = paths[above : above + int(length[parent])]
                paths[end - len(step) - len(between) : end - len(step)] = between
            paths[end - len(step) : end] = step
        return pa.StringArray.from_buffers(len(steps), pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(paths))

    def _depth(self) -> int:
        depth = [0] * len(self.parents)
        for code, parent in enumerate(self.parents):
            depth[code] = 0 if parent == MISSING else depth[parent] + 1
        return max(depth, default=0)

    def path_of(self, code: int, separator: str) -> str:
        """Path of one node from its top."""
        steps = []
        while code != MISSING:
            steps.append(str(self.labels[code]))
            code = self.parents[code]
        return separator.join(reversed(steps))

    def to_relation(self, format: str, separator: str = " > ", full: bool = False) -> Relation:
        """The tree as a relation; ``full`` names every node by its path."""
        notes = []
        by_path: list[int] = []
        names: Any
        if full:
            names = self._distinct_paths(separator)
        else:
            names = self.labels
            if len(set(names)) < len(names):
                count = Counter(names)
                shared = sum(number for number in count.values() if number > 1)
                names = [
                    label if count[label] == 1 else self.path_of(code, separator)
                    for code, label in watched(enumerate(names))
                ]
                notes.append(f"{shared:,} nodes share their label with another and are named by their path")
                by_path = [code for code, label in enumerate(self.labels) if count[label] > 1]
                if len(set(names)) < len(names):
                    names = self._distinct_paths(separator)
            if isinstance(names, list) and all(type(name) is str for name in names):
                names = string_array(names)
        lines = self.lines
        relation = Relation(
            format,
            names,
            np.arange(len(names), dtype=np.int32),
            np.array(self.parents, np.int32),
            labels=string_array([str(label) for label in self.labels]) if full else None,
            steps=self.labels,
            names_hold_labels=full,
            direction="child-parent",
            line_of=(lambda pair: lines[pair] or None) if any(lines) else None,
            notes=notes,
        )
        relation.record_lines(RepairKind.EMPTY_NAMES, self.empty, "a node has no name")
        merged = [str(self.labels[code]) for code, _ in self.repeated]
        at = [line for _, line in self.repeated]
        relation.record_nodes(RepairKind.SIBLINGS_MERGED, merged, "a sibling's name is repeated", at)
        relation.record(RepairKind.NAMED_BY_PATH, "another node has this label", np.array(by_path, np.int32))
        return relation

    def _distinct_paths(self, separator: str) -> pa.Array:
        """Paths of all nodes; two can be the same only where labels hold the mark that separates steps."""
        paths = self.full_paths(separator)
        mark = separator.strip()
        if mark and not any(mark in str(label) for label in self.labels):
            return paths
        return string_array(_unique(paths.to_pylist()))


def _are_new(labels: Sequence[Hashable]) -> bool:
    """Whether labels are as many children, with nothing to merge, to leave out or to make plain."""
    if len(labels) < _FEW or set(map(type, labels)) != {str}:
        return False
    distinct = set(labels)
    return len(distinct) == len(labels) and "" not in distinct and not any(map(str.isspace, cast("set[str]", distinct)))


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
