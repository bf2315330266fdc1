"""A few edges to add to a hierarchy that is there already: what they hold need not hang together."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields, replace
from typing import Any

from ...hierarchy.names import Names
from ...hierarchy.read_report import ReadReport
from ...hierarchy.repairs import RepairKind
from ._read import read
from .settings import ReadSettings

__all__ = ["NewEdges", "read_edges"]


@dataclass(frozen=True)
class NewEdges:
    """Edges to add.

    Attributes
    ----------
    pairs
        (child, parent) by their names, ids where there are ids.
    described
        Names of the nodes with their labels and synonyms; None where nothing is known but the pairs.
    report
        What was read, where it was read from a file.
    """

    pairs: list[tuple[Hashable, Hashable]]
    described: Names | None = None
    report: ReadReport | None = None

    def with_pair(self, child: Hashable, parent: Hashable) -> NewEdges:
        """These edges and one more."""
        return replace(self, pairs=[*self.pairs, (child, parent)])


class _EdgeSettings(ReadSettings):
    """Settings for edges whose tops are nodes of a model: those have no rows here, and are as many as they are."""

    @property
    def accepted(self) -> frozenset[RepairKind]:
        return frozenset([RepairKind.UNDEFINED_PARENTS, RepairKind.ROOTS_JOINED])

    @property
    def refused(self) -> frozenset[RepairKind]:
        return frozenset([RepairKind.CYCLE_EDGES, RepairKind.SELF_LOOPS])


def read_edges(source: Any, reading: ReadSettings | None = None) -> NewEdges:
    """Edges of a file or an object; pairs (child, parent) are taken as they are.

    Parameters
    ----------
    source
        Pairs of names, or anything :func:`treeball.read` takes. What it holds need not hang together: tops are
        nodes that the model knows.
    reading
        How to read a file. Where neither it nor a header says otherwise, children come before parents: a few edges are
        too little to infer it from.
    """
    if isinstance(source, NewEdges):
        return source
    if isinstance(source, (list, tuple)) and all(isinstance(one, (list, tuple)) and len(one) == 2 for one in source):
        return NewEdges([(child, parent) for child, parent in source])
    reading = reading or ReadSettings()
    direction = "header" if reading.direction == "auto" else reading.direction
    given = {setting.name: getattr(reading, setting.name) for setting in fields(ReadSettings)}
    found = read(source, _EdgeSettings(**given | {"direction": direction, "reduce": "never"}))
    child, parent = found.real_edges()
    pairs = list(zip(found.names.take(child), found.names.take(parent), strict=True))
    described = found.names if found.virtual_root is None else found.names.subset(found.real_nodes())
    return NewEdges(pairs, described, found.report)
