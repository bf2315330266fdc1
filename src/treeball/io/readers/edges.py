"""A few edges to add to a hierarchy that is there already: what they hold need not hang together."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...hierarchy.names import Names
from ...hierarchy.read_report import ReadReport
from ...hierarchy.repairs import RepairKind
from ._read import read
from .relation import apply_labels
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


@dataclass(frozen=True, slots=True)
class _EdgeSettings(ReadSettings):
    """Settings for edges whose tops are nodes of a model: those have no rows here, and are as many as they are.

    Parameters
    ----------
    of_ids
        Whether the nodes of the model are named by ids with labels beside them.
    """

    of_ids: bool = False

    @property
    def keeps_ids(self) -> bool:
        return self.of_ids

    @property
    def accepted(self) -> frozenset[RepairKind]:
        return frozenset([RepairKind.UNDEFINED_PARENTS, RepairKind.ROOTS_JOINED])

    @property
    def refused(self) -> frozenset[RepairKind]:
        return frozenset([RepairKind.CYCLE_EDGES, RepairKind.SELF_LOOPS])


def read_edges(source: Any, reading: ReadSettings | None = None, known: Names | None = None) -> NewEdges:
    """Edges of a file or an object; pairs (child, parent) are taken as they are.

    Parameters
    ----------
    source
        Pairs of names, or anything :func:`treeball.read` takes. What it holds need not hang together: tops are
        nodes that the model knows.
    reading
        How to read a file. Where neither it nor a header says otherwise, children come before parents: a few edges are
        too little to infer it from.
    known
        Names of the model. New nodes are named as its nodes are, by ids or by labels.
    """
    if isinstance(source, NewEdges):
        return source
    if isinstance(source, (list, tuple)) and all(isinstance(one, (list, tuple)) and len(one) == 2 for one in source):
        return NewEdges([(child, parent) for child, parent in source])
    reading = reading or ReadSettings()
    direction = "header" if reading.direction == "auto" else reading.direction
    given = {setting.name: getattr(reading, setting.name) for setting in fields(ReadSettings)}
    of_ids = known is not None and known.has_labels
    found = read(source, _EdgeSettings(**given | {"direction": direction, "reduce": "never"}, of_ids=of_ids))
    child, parent = found.real_edges()
    pairs = list(zip(found.names.take(child), found.names.take(parent), strict=True))
    described = found.names if found.virtual_root is None else found.names.subset(found.real_nodes())
    if known is not None and reading.names == "auto" and _are_named_by_labels(known, pairs, described):
        return _by_labels(pairs, described, found.report)
    return NewEdges(pairs, described, found.report)


def _are_named_by_labels(known: Names, pairs: list[tuple[Hashable, Hashable]], described: Names) -> bool:
    """Whether the nodes of the model are named by what are labels in a table of new nodes.

    A model made of a table whose parents are labels is named by labels and has no ids. It is such a model if it has
    labels of the table as names, or, where all rows are new, no name with a digit while all the ids have one.
    """
    if known.has_labels or not described.has_labels:
        return False
    labels = described.labels_by_name(described)
    if any(known.from_text(name) in known for name in labels):
        return False
    if any(label in known for label in labels.values()):
        return True
    if not any(parent in known for _, parent in pairs):
        return False
    has_digit = pc.any(pc.match_substring_regex(known.as_text(), "[0-9]")).as_py()
    return not has_digit and all(any(letter.isdigit() for letter in name) for name in labels)


def _by_labels(pairs: list[tuple[Hashable, Hashable]], described: Names, report: ReadReport | None) -> NewEdges:
    """The same edges between nodes named by their labels."""
    named = apply_labels(described.to_arrow(), described.labels.to_arrow())
    texts = named if isinstance(named, list) else named.to_pylist()
    name_of = dict(zip(described, texts, strict=True))
    if report is not None:
        ids = f"nodes are named by their ids, and {described.labels.known:,} have labels to show"
        notes = [note for note in report.notes if note != ids]
        report = replace(report, notes=(*notes, "new nodes are named by their labels, as those of the model are"))
    renamed = Names(pa.array(texts, pa.string()))
    return NewEdges([(name_of[child], name_of[parent]) for child, parent in pairs], renamed, report)
