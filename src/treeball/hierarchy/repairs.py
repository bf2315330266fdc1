"""Every kind of repair that a reader makes without asking, and the sequence that lists each occurrence."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..types import Codes

__all__ = ["FIELDS", "Repair", "RepairGroup", "RepairKind", "Repairs", "short"]

_BLOCK = 10_000  # rows made at a time: their texts are taken out of Arrow arrays together

Level = Literal["fault", "repair", "decision"]


class RepairKind(Enum):
    """Kinds of repair: name, name of a single one, what is done, level. A reader can record no other kind.

    A *fault* is counted in the headline of a report and refused by ``strict``. A *repair* is counted and accepted by
    ``strict``. A *decision* is listed, and a note of the report says so.
    """

    EMPTY_NAMES = ("empty names", "empty name", "the pair is dropped", "fault")
    SELF_LOOPS = ("self-loops", "self-loop", "the edge is dropped", "fault")
    DUPLICATE_EDGES = ("duplicate edges", "duplicate edge", "the first edge stays, this one is dropped", "fault")
    CYCLE_EDGES = ("cycle edges", "cycle edge", "the edge is dropped", "fault")
    UNDEFINED_PARENTS = ("undefined parents", "undefined parent", "it stays as a node", "fault")
    NAMES_TRIMMED = ("names trimmed", "name trimmed", "the blanks are removed", "fault")
    IRREGULAR_INDENTS = ("irregular indents", "irregular indent", "the line belongs to the upper level", "fault")
    SIBLINGS_MERGED = ("repeated siblings merged", "repeated sibling merged", "both are one node", "fault")
    NEGATIVE_LENGTHS = ("negative branch lengths", "negative branch length", "it becomes 0", "fault")
    FOLDERS_NOT_LISTED = ("folders not listed", "folder not listed", "it stays without content", "fault")
    ROOTS_JOINED = ("roots joined", "root joined", "it hangs below the virtual root", "repair")

    COMMENT_LINES = ("comment lines", "comment line", "the line is skipped", "decision")
    TEXT_LINES = ("text lines", "text line", "the line is skipped", "decision")
    HEADER_LINES = ("header lines", "header line", "the line is read as a header", "decision")
    COLUMNS_NOT_USED = ("columns not used", "column not used", "its values are not read", "decision")
    WEIGHTS_NOT_USED = ("weights not used", "weight not used", "every edge has the same weight", "decision")
    QUOTES_READ = ("quotes read", "quote decision", "the names are read so", "decision")
    ENCODINGS_CHOSEN = ("encodings chosen", "encoding chosen", "the text is decoded so", "decision")
    LATIN_1_LINES = ("Latin-1 lines", "Latin-1 line", "the line is read as Latin-1", "decision")
    SHEETS_CHOSEN = ("sheets chosen", "sheet chosen", "the other sheets are not read", "decision")
    DIRECTIONS_GUESSED = ("directions guessed", "direction guessed", "the edges are read so", "decision")
    BLANKS_REMOVED = ("blanks removed", "name with blanks", "the blanks of the whole column are removed", "decision")
    DECIMALS_REMOVED = ("decimals removed", "id with decimals", "1.0 is read as 1", "decision")
    ROOT_MARKERS = ("root markers", "root marker", "the node is a root", "decision")
    OWN_PARENTS = ("own parents", "own parent", "the node is a root", "decision")
    ROWS_CONTINUED = ("rows continued", "row continued", "the empty cells are those of the row above", "decision")
    OTHER_LABELS = ("other labels", "other label", "the first label stays", "decision")
    IDS_REPEATED = ("repeated ids", "repeated id", "another row of the id is taken", "decision")
    PARENTS_RESOLVED = ("parents resolved", "parent resolved", "the parent is the node of the other file", "decision")
    PATH_IDS_DROPPED = ("path ids dropped", "path id dropped", "the node is named by its path", "decision")
    NAMED_BY_PATH = ("nodes named by path", "node named by path", "the path is the name", "decision")
    NAMED_BY_LABEL = ("nodes named by label", "reading of labels as names", "the ids find them too", "decision")
    CLOSURE_EDGES = ("closure edges removed", "closure edge removed", "other edges imply it", "decision")
    IMPLIED_EDGES = ("implied edges removed", "implied edge removed", "other edges imply it", "decision")

    SHAPES_ASSUMED = ("shapes assumed", "shape assumed", "keys and texts are names", "decision")
    TREES_CHOSEN = ("trees chosen", "tree chosen", "the trees of the file are read so", "decision")
    SUPPORT_VALUES = ("support values", "support value", "it is no name", "decision")
    NODES_NAMED = ("unnamed nodes named", "unnamed node named", "it is named after its leaves", "decision")
    NODES_RENAMED = ("repeated labels renamed", "repeated label renamed", "the name gets an addition", "decision")
    LENGTHS_MISSING = ("missing branch lengths", "missing branch length", "it is taken as 1", "decision")
    VALUES_SKIPPED = ("values skipped", "value skipped", "it is not read", "decision")
    ENDS_ADDED = ("ends added", "end added", "the text is read as if the end were there", "decision")

    OBSOLETE_TERMS = ("obsolete terms", "obsolete term", "the term is left out", "decision")
    OBSOLETE_RELATIONS = ("obsolete relations", "obsolete relation", "the relation is left out", "decision")
    ALTERNATIVE_IDS = ("alternative ids", "alternative id", "it is read as the term itself", "decision")
    GENUS_PARENTS = ("genus parents", "genus parent", "the genus of the definition is the parent", "decision")
    PART_OF_SKIPPED = ("part_of relations skipped", "part_of relation skipped", "it makes no edge", "decision")
    STATEMENTS_SKIPPED = ("statements skipped", "kind of statement skipped", "it makes no edge", "decision")
    TERMS_JOINED = ("repeated terms joined", "repeated term joined", "it is the same term", "decision")
    PREFIXES_UNDECLARED = ("undeclared prefixes", "undeclared prefix", "the name is taken as written", "decision")
    OTHER_LANGUAGES = ("labels in other languages", "label in another language", "another label stands in", "decision")
    NAMES_NOT_FOUND = ("name files missing", "name file missing", "nodes are named by their number", "decision")
    ROOTS_CHOSEN = ("roots chosen", "root chosen", "the graph hangs from it", "decision")
    KNOWN_CYCLES = ("known cycles broken", "known cycle broken", "the edge is replaced", "decision")
    NODES_LEFT_OUT = ("nodes left out", "node left out", "it has no edge", "decision")

    def __init__(self, plural: str, singular: str, done: str, level: Level) -> None:
        self.plural, self.singular, self.done, self.level = plural, singular, done, level


class Repair(NamedTuple):
    """One repair: its kind, the file, the line and the node where known, and what was done."""

    kind: str
    file: str
    line: int | None
    node: str | None
    done: str


FIELDS = Repair._fields
"""Columns of a list of repairs."""


@dataclass(frozen=True, slots=True, eq=False)
class RepairGroup:
    """Occurrences (k,) of one kind in one file. Large groups are arrays, and their rows are made when they are read.

    Attributes
    ----------
    kind
        What was repaired.
    count
        Number k of occurrences.
    detail
        What was found: one text for all, which may name {child} and {parent}, or a text for each.
    file
        The file; empty until the reader adds it.
    lines
        Line (k,) of each in the file, 0 where unknown, or None.
    child, parent
        Codes (k,) of the nodes; negative for no node, or None.
    names, labels
        What the codes mean: Arrow arrays or sequences.
    """

    kind: RepairKind
    count: int
    detail: str | Sequence[str] = ""
    file: str = ""
    lines: NDArray[np.int64] | None = None
    child: Codes | None = None
    parent: Codes | None = None
    names: Any = None
    labels: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.kind, RepairKind):
            raise TypeError(f"{self.kind!r} is no RepairKind: declare it in {__name__}")

    @classmethod
    def of_nodes(
        cls,
        kind: RepairKind,
        nodes: Sequence[object],
        detail: str | Sequence[str] = "",
        lines: Iterable[int | None] | None = None,
    ) -> RepairGroup:
        """A group of few occurrences, each with its node (k,), its text and its line."""
        import numpy as np

        at = None if lines is None else np.array([line or 0 for line in lines], np.int64)
        return cls(kind, len(nodes), detail, "", at, np.arange(len(nodes), dtype=np.int32), names=nodes)

    @classmethod
    def of_lines(cls, kind: RepairKind, lines: Iterable[int | None], detail: str | Sequence[str] = "") -> RepairGroup:
        """A group of lines."""
        import numpy as np

        at = np.array([line or 0 for line in lines], np.int64)
        return cls(kind, at.size, detail, "", at)

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int | None, str | None, str]]:
        """Line, node and what was found, of the occurrences from ``start`` to ``stop``."""
        stop = self.count if stop is None else min(stop, self.count)
        lines = [0] * (stop - start) if self.lines is None else self.lines[start:stop].tolist()
        names = _taken(self.names, self.child, start, stop)
        details = _details(self, names, start, stop)
        for line, name, detail in zip(lines, names, details, strict=True):
            yield line or None, None if name is None else str(name), detail


class Repairs(Sequence[Repair]):
    """All repairs of one reading, in the order in which they were made; rows are made when they are read.

    ``pandas.DataFrame(report.repairs)`` is a table of them.
    """

    def __init__(self, groups: Iterable[RepairGroup] = ()) -> None:
        self.groups = tuple(group for group in groups if group.count)
        self._ends = list(accumulate(group.count for group in self.groups))

    def __len__(self) -> int:
        return self._ends[-1] if self.groups else 0

    def __iter__(self) -> Iterator[Repair]:
        for group in self.groups:
            for start in range(0, group.count, _BLOCK):
                yield from _repairs(group, start, start + _BLOCK)

    @overload
    def __getitem__(self, place: int) -> Repair: ...

    @overload
    def __getitem__(self, place: slice) -> list[Repair]: ...

    def __getitem__(self, place: int | slice) -> Repair | list[Repair]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        at = place + len(self) if place < 0 else place
        if not 0 <= at < len(self):
            raise IndexError(f"there are {len(self):,} repairs, and none at {place}")
        group = bisect_right(self._ends, at)
        start = at - (self._ends[group - 1] if group else 0)
        return next(_repairs(self.groups[group], start, start + 1))

    def __repr__(self) -> str:
        return f"<{len(self):,} repairs of {len({group.kind for group in self.groups}):,} kinds>"

    def counts(self, *levels: Level) -> dict[str, int]:
        """Kind -> how many, of the kinds of these levels."""
        found: dict[str, int] = {}
        for group in self.groups:
            if group.kind.level in levels:
                found[group.kind.plural] = found.get(group.kind.plural, 0) + group.count
        return found

    def examples(self, most: int) -> list[Repair]:
        """The first rows of each group, at most so many each."""
        return [row for group in self.groups for row in _repairs(group, 0, most)]


def short(name: object) -> str:
    """Name for a message: on one line and not longer than a line."""
    text = " ".join(str(name).split())
    return text if len(text) <= 60 else text[:57] + "..."


def _repairs(group: RepairGroup, start: int, stop: int) -> Iterator[Repair]:
    kind = group.kind
    for line, node, detail in group.rows(start, stop):
        yield Repair(kind.plural, group.file, line, node, f"{detail}: {kind.done}" if detail else kind.done)


def _details(group: RepairGroup, names: Sequence[Any], start: int, stop: int) -> Sequence[str]:
    detail = group.detail
    if not isinstance(detail, str):
        return detail[start:stop]
    if "{child}" not in detail and "{parent}" not in detail:
        return [detail] * (stop - start)
    parents = _taken(group.names, group.parent, start, stop)
    own, above = _taken(group.labels, group.child, start, stop), _taken(group.labels, group.parent, start, stop)
    children = map(_called, names, own)
    return [
        detail.format(child=child, parent=parent)
        for child, parent in zip(children, map(_called, parents, above), strict=True)
    ]


def _called(name: object, label: object) -> str:
    """Node for messages: its name, with its label where it has one."""
    if name is None:
        return ""
    return short(name if label is None else f"{label} [{name}]")


def _taken(values: Any, codes: Codes | None, start: int, stop: int) -> Sequence[Any]:
    """Values of a stretch of codes, None for a code below zero."""
    if values is None or codes is None:
        return [None] * (stop - start)
    part = codes[start:stop]
    if hasattr(values, "to_pylist"):
        import pyarrow as pa

        found: list[Any] = values.take(pa.array(part, mask=part < 0)).to_pylist()
        return found
    return [values[code] if code >= 0 else None for code in part.tolist()]
