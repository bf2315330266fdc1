"""Entries: what a walk through nested data finds, in order, and the relation that they make."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise

from ....hierarchy.read_report import short
from ....hierarchy.repairs import RepairKind
from ....words import count
from ...memory import require_room_after
from ..path_tree import PathTree
from ..relation import MISSING, Relation, RelationBuilder
from ..tables.records import OtherLabel, list_other_labels, nodes_or_missing

__all__ = ["Entries"]


class Entries:
    """Nodes as they were found: the entry above each (MISSING for a top), its name, and its id or None.

    Neighbours with the same entry above are one run, and become nodes together: a million siblings are one step.
    """

    def __init__(self) -> None:
        self.names: list[Hashable] = []
        self.ids: list[Hashable] = []
        self._runs: list[tuple[int, int]] = []  # the entry above, and where the run begins
        self._above: int | None = None

    def add(self, above: int, name: Hashable, ident: Hashable = None) -> int:
        """Add one, and tell which it is."""
        self._open_run(above)
        self.names.append(name)
        self.ids.append(ident)
        return len(self.names) - 1

    def add_all(self, above: int, names: Sequence[Hashable], ids: Sequence[Hashable] | None = None) -> int:
        """Add siblings, and tell which is the first of them."""
        self._open_run(above)
        first = len(self.names)
        self.names += names
        self.ids += [None] * len(names) if ids is None else ids
        require_room_after(first, len(self.names))
        return first

    @property
    def are_nested(self) -> bool:
        """Whether any of them is below another."""
        return any(above != MISSING for above, _ in self._runs)

    def upwards(self, entry: int) -> Iterator[Hashable]:
        """Names from an entry up to its top."""
        while entry != MISSING:
            yield self.names[entry]
            run = bisect_right(self._runs, entry, key=lambda run: run[1]) - 1
            entry = self._runs[run][0]

    def to_relation(self, format: str) -> Relation:
        """By id when every node has one (a node may then stand in several places), else by path."""
        if self.ids and None not in self.ids:
            return self._by_id(format)
        tree = PathTree()
        places: list[int] = []
        for above, below in self._families():
            parent = MISSING if above == MISSING else places[above]
            places += tree.add_all(parent, self.names[below])
        relation = tree.to_relation(format)
        without = self.ids.count(None)
        if without < len(self.ids):
            relation.notes.append(f"ids not used, for {count(without, 'node')} of {len(self.ids):,} have none")
            relation.record_lines(RepairKind.COLUMNS_NOT_USED, [None], "field of ids, which some nodes lack")
        return relation

    def _open_run(self, above: int) -> None:
        if above != self._above:
            self._runs.append((above, len(self.names)))
            self._above = above

    def _families(self) -> Iterator[tuple[int, slice]]:
        """The entry above, and which entries are below it, run by run."""
        for (above, start), (_, end) in pairwise([*self._runs, (MISSING, len(self.names))]):
            yield above, slice(start, end)

    def _by_id(self, format: str) -> Relation:
        builder = RelationBuilder()
        labels: dict[int, str] = {}
        codes: list[int] = []
        others: list[OtherLabel] = []
        for above, below in self._families():
            parent = MISSING if above == MISSING else codes[above]
            found = nodes_or_missing(builder, self.ids[below])
            codes += found
            there = [code for code in found if code != MISSING]
            builder.edges(there, [parent] * len(there))
            for code, name in zip(found, map(str, self.names[below]), strict=True):
                if code != MISSING and labels.setdefault(code, name) != name:
                    others.append((code, f"another label: {short(name)}", None))
        distinct = self.names != self.ids
        ordered = [labels[code] for code in range(len(labels))] if distinct else None
        relation = builder.finish(format, direction="child-parent", labels=ordered)
        list_other_labels(relation, builder.names, others)
        return relation
