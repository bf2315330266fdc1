"""Relation: what every format reader hands over, pairs of node codes that repair.py then makes a hierarchy of."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...errors import InputError
from ...hierarchy.repairs import RepairGroup, RepairKind
from ...types import Codes
from ..memory import EVERY, require_room, require_room_after

if TYPE_CHECKING:
    from .tables.members import Members

Weights = NDArray[np.float64]
Direction = Literal["child-parent", "parent-child"]

_SURROGATE = re.compile("[\ud800-\udfff]")

MISSING = -1
"""Code of an empty cell: as a parent it declares a root, as a child it is an empty name."""


@dataclass(slots=True)
class Relation:
    """Pairs of nodes as read, not yet checked.

    Attributes
    ----------
    format
        Format that was read, as the summary names it.
    names
        Distinct names (n): an Arrow array, or a list of hashables. A name without a pair is an isolated node.
    child, parent
        Codes (m,) into ``names``, or MISSING. When ``direction`` is None they are first and second column only.
    weights
        Weight (m,) of each pair, or None.
    labels
        What people call each node, (n,), None where there is no label; or None altogether.
    synonyms
        What else each node is found by, (n,) lists of text: synonyms and other ids; or None altogether.
    row_labels
        Label (m,) that each row of a table gives its node, an Arrow array; None if there is no such column.
    names_hold_labels
        True where the names hold the labels already, as paths do: then labels are only used to name nodes by them.
    direction
        Known direction of the columns, or None when the structure has to tell.
    default_direction
        What to assume when the structure cannot tell.
    columns_given
        True when the input has two columns whose direction is worth reporting.
    swapped
        True when the column of the children stands to the right of that of the parents.
    is_table
        True when every node has a row of its own, so that a parent without one is undefined.
    words_mark_roots
        True for edges of a table or a list, where a word such as NULL stands for no parent.
    line_of
        Line in the file of pair i, or None where lines mean nothing.
    steps
        Last step of the path of each node, (n,), where the nodes stand in paths; or None.
    members
        Finds the rows of the table beside its column of paths; None for any other format.
    declared
        True (n,) for nodes that need no row of their own; or None.
    files
        Of several files that were joined: the first pair of each, and its path.
    repairs, notes
        What the format reader itself changed, and what it wants to tell.
    """

    format: str
    names: Any
    child: Codes
    parent: Codes
    weights: Weights | None = None
    labels: Any = None
    synonyms: Any = None
    row_labels: Any = None
    names_hold_labels: bool = False
    direction: Direction | None = None
    default_direction: Direction = "child-parent"
    columns_given: bool = False
    swapped: bool = False
    is_table: bool = False
    words_mark_roots: bool = False
    line_of: Callable[[int], int | None] | None = None
    steps: Any = None
    members: Callable[[], Members | None] | None = None
    declared: NDArray[np.bool_] | None = None
    files: tuple[tuple[int, str], ...] = ()
    repairs: list[RepairGroup] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def line(self, pair: int) -> int | None:
        """Line of pair ``pair``, where known."""
        return None if self.line_of is None else self.line_of(pair)

    def record(
        self, kind: RepairKind, detail: str | Sequence[str], pairs: NDArray[Any], child: Codes | None = None
    ) -> None:
        """List what happens to ``pairs`` (k,): their children, or the nodes ``child`` (k,), are the nodes of the rows.

        Names and labels are those of this moment.
        """
        self.repairs += groups_of_pairs(
            self, RepairGroup(kind, pairs.size, detail, names=self.names, labels=self.labels), pairs, child
        )

    def record_nodes(
        self,
        kind: RepairKind,
        nodes: Sequence[object],
        detail: str | Sequence[str] = "",
        lines: Iterable[int | None] | None = None,
    ) -> None:
        """List repairs of a few nodes (k,)."""
        if nodes:
            self.repairs.append(RepairGroup.of_nodes(kind, nodes, detail, lines))

    def number_lines(self, line_of: Callable[[int], int | None]) -> None:
        """Turn the lines so far, which are numbers of texts from 1, into the lines ``line_of`` texts from 0."""
        number_of = self.line_of
        if number_of is not None:
            self.line_of = lambda pair: line_of((number_of(pair) or 1) - 1)
        for place, group in enumerate(self.repairs):
            if group.lines is not None:
                found = np.array([line_of(line - 1) or 0 if line else 0 for line in group.lines.tolist()], np.int64)
                self.repairs[place] = replace(group, lines=found)

    def record_lines(self, kind: RepairKind, lines: Iterable[int | None], detail: str | Sequence[str] = "") -> None:
        """List repairs of lines, or of the whole file where the line is None."""
        self.repairs.append(RepairGroup.of_lines(kind, lines, detail))


def groups_of_pairs(
    relation: Relation, group: RepairGroup, pairs: NDArray[Any], child: Codes | None = None, parent: Codes | None = None
) -> Iterator[RepairGroup]:
    """``group`` with the lines and codes of ``pairs`` (k,), ascending: a group for each file that they are in."""
    if not pairs.size:
        return
    child = relation.child[pairs] if child is None else child
    parent = relation.parent[pairs] if parent is None else parent
    starts = [0, *np.searchsorted(pairs, [start for start, _ in relation.files[1:]]).tolist(), pairs.size]
    files = [file for _, file in relation.files] or [group.file]
    for file, (start, stop) in zip(files, pairwise(starts), strict=True):
        if start < stop:
            lines = lines_at(relation.line_of, pairs[start:stop])
            detail = group.detail if isinstance(group.detail, str) else group.detail[start:stop]
            own, above = child[start:stop], parent[start:stop]
            yield replace(group, count=stop - start, detail=detail, file=file, lines=lines, child=own, parent=above)


def lines_at(line_of: Callable[[int], int | None] | None, rows: NDArray[Any]) -> NDArray[np.int64] | None:
    """Lines (k,) of rows (k,), 0 where unknown; None where no line is known."""
    if line_of is None:
        return None
    require_room(rows.size * np.dtype(np.int64).itemsize)
    many = getattr(line_of, "many", None)
    if many is not None:
        found: NDArray[np.int64] = many(rows)
        return found
    return np.fromiter((line_of(row) or 0 for row in rows.tolist()), np.int64, rows.size)


class RelationBuilder:
    """Collects pairs one by one; for formats and objects that are read in Python."""

    def __init__(self) -> None:
        self._code_of: dict[Hashable, int] = {}
        self.child: list[int] = []
        self.parent: list[int] = []
        self.weights: list[float] = []
        self.lines: list[int] = []

    def node(self, name: Hashable) -> int:
        """Code of ``name``, a new one when it was not seen before."""
        return self._code_of.setdefault(name, len(self._code_of))

    @property
    def names(self) -> list[Hashable]:
        """Names so far, in the order of their codes."""
        return list(self._code_of)

    def edge(self, child: int, parent: int, weight: float | None = None, line: int | None = None) -> None:
        """Add a pair of codes; ``weight`` and ``line`` must be given for all pairs or for none."""
        if not len(self.child) % EVERY:
            require_room()
        self.child.append(child)
        self.parent.append(parent)
        if weight is not None:
            self.weights.append(weight)
        if line is not None:
            self.lines.append(line)

    def edges(self, children: Sequence[int], parents: Sequence[int]) -> None:
        """Add several pairs that have neither weight nor line."""
        before = len(self.child)
        self.child += children
        self.parent += parents
        require_room_after(before, len(self.child))

    def finish(self, format: str, **attributes: Any) -> Relation:
        """The relation collected so far; ``attributes`` are further fields of :class:`Relation`."""
        names: Any = list(self._code_of)
        if all(type(name) is str for name in names):
            names = string_array(names)
        if self.lines:
            attributes.setdefault("line_of", self.lines.__getitem__)
        if self.weights:
            attributes.setdefault("weights", np.array(self.weights, np.float64))
        return Relation(format, names, np.array(self.child, np.int32), np.array(self.parent, np.int32), **attributes)


def string_array(values: Iterable[str | None]) -> pa.Array:
    """Arrow array of strings; a lone surrogate, which is no character and has no place in UTF-8, is refused."""
    values = list(values)
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:
        refuse_surrogates(values)
        raise


def refuse_surrogates(names: Iterable[Any]) -> None:
    """Raise InputError for the first text that holds a lone surrogate."""
    for name in names:
        if isinstance(name, str) and not name.isascii() and _SURROGATE.search(name):
            raise InputError(
                f"the name {escape_surrogates(name)!s:.80} holds a lone surrogate, half of a character: correct the "
                "text where it was decoded or escaped"
            )


def escape_surrogates(text: str) -> str:
    r"""Text that UTF-8 can hold: a lone surrogate, as file names and JSON may carry it, becomes ``\udcff``."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def apply_labels(names: Any, labels: Any) -> Any:
    """Names (n,) made of labels: the label where it is unique, ``label [name]`` where it occurs twice.

    Parameters
    ----------
    names, labels
        Both (n,); a null label leaves the name as it is.
    """
    ids = names if isinstance(names, (pa.Array, pa.ChunkedArray)) else pa.array([str(name) for name in names])
    ids = pc.cast(ids, pa.string())
    texts = pc.utf8_trim_whitespace(pc.cast(_as_array(labels), pa.string()))
    texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    encoded = pc.dictionary_encode(texts)
    codes = pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)
    present = pc.is_valid(texts).to_numpy(zero_copy_only=False)
    count = np.bincount(codes[present], minlength=len(encoded.dictionary) + 1)
    repeated = pa.array(present & (count[codes] > 1))
    joined = pc.binary_join_element_wise(texts, pc.binary_join_element_wise("[", ids, "]", ""), " ")
    result = pc.coalesce(pc.if_else(repeated, joined, texts), ids)
    if pc.count_distinct(result).as_py() == len(result):
        return result
    # A label happens to equal another node's id or its bracketed name: rare enough to be settled one by one.
    taken = set(names)
    settled = []
    for name, label in zip(names, result.to_pylist(), strict=True):
        plain = name.as_py() if isinstance(name, pa.Scalar) else name
        choice = label if label not in taken else plain
        taken.add(choice)
        settled.append(choice)
    return settled if len(set(settled)) == len(settled) else names


def _as_array(values: Any) -> pa.Array:
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks()
    return values if isinstance(values, pa.Array) else string_array(values)
