"""Several files as one hierarchy: categories in one, say, and the products that hang below them in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...errors import InputError
from ...hierarchy.read_report import short
from ...hierarchy.repairs import RepairKind
from ...types import Codes
from ...words import count
from .direction import decide
from .relation import MISSING, Relation, lines_at, string_array
from .settings import ReadSettings
from .tables.pairs import drop_names, mark_roots


@dataclass(frozen=True, slots=True)
class Part:
    """One file, read."""

    label: str
    path: str
    relation: Relation


@dataclass(frozen=True, slots=True)
class _Placed:
    """A file with its pairs, child before parent, by the names of all files."""

    part: Part
    child: Codes
    parent: Codes

    @property
    def hangs_below_others(self) -> bool:
        """Whether none of its parents has a row in the file itself."""
        linked = self.parent >= 0
        return bool(linked.any()) and not np.isin(self.parent[linked], self.child[self.child >= 0]).any()


def joined(parts: Sequence[Part], settings: ReadSettings) -> Relation:
    """One relation of all files; nodes with the same name are the same node."""
    encoded = pa.chunked_array([_names(part.relation) for part in parts]).dictionary_encode()
    names = encoded.chunk(0).dictionary
    recode = [chunk.indices.to_numpy(zero_copy_only=False).astype(np.int32) for chunk in encoded.chunks]
    placed = [_place(part, codes, settings) for part, codes in zip(parts, recode, strict=True)]
    _refuse_shared_ids(placed, names)
    child, parent = (np.concatenate([getattr(one, side) for one in placed]) for side in ("child", "parent"))
    label_of = _labels(parts)
    parent, by_label = _refer_by_label(child, parent, names, label_of)
    names, (child, parent) = drop_names(names, [child, parent], by_label)
    weights = [part.relation.weights for part in parts if part.relation.weights is not None]
    relation = Relation(
        f"{len(parts)} files ({'; '.join(f'{part.label}: {part.relation.format}' for part in parts)})",
        names,
        child,
        parent,
        weights=np.concatenate(weights) if len(weights) == len(parts) else None,
        names_hold_labels=all(part.relation.names_hold_labels for part in parts),
        direction="child-parent",
        is_table=any(part.relation.is_table for part in parts),
        words_mark_roots=any(part.relation.words_mark_roots for part in parts),
        line_of=_JoinedLines([part.relation for part in parts]),
        files=_files(parts),
        repairs=[replace(group, file=part.path) for part in parts for group in part.relation.repairs],
        notes=[f"{part.label}: {note}" for part in parts for note in part.relation.notes],
    )
    if relation.is_table:
        mark_roots(relation)
    shown = label_of if relation.names_hold_labels else _labels([p for p in parts if not p.relation.names_hold_labels])
    if shown:
        relation.labels = [shown.get(name) for name in relation.names.to_pylist()]
    synonyms = _synonyms(parts)
    if synonyms:
        relation.synonyms = [synonyms.get(name, []) for name in relation.names.to_pylist()]
    if by_label.any():
        number = count(int(by_label.sum()), "parent")
        relation.notes.append(f"{number} given by label instead of id")
    if weights and relation.weights is None:
        relation.notes.append("the weights are not used, since not every file has them")
        lacking = [f"{part.label} has no weights" for part in parts if part.relation.weights is None]
        relation.record_lines(RepairKind.WEIGHTS_NOT_USED, [None] * len(lacking), lacking)
    return relation


class _JoinedLines:
    """Lines of pairs that are numbered through all files."""

    def __init__(self, relations: Sequence[Relation]) -> None:
        self._relations = relations
        self._starts = np.cumsum([0, *(relation.child.size for relation in relations)])

    def __call__(self, pair: int) -> int | None:
        """Line of one pair in its file."""
        return int(self.many(np.array([pair]))[0]) or None

    def many(self, pairs: NDArray[Any]) -> NDArray[np.int64]:
        """Lines (k,) of pairs (k,), 0 where unknown."""
        found = np.zeros(pairs.size, np.int64)
        part = np.searchsorted(self._starts, pairs, side="right") - 1
        for place, relation in enumerate(self._relations):
            lines = lines_at(relation.line_of, pairs[part == place] - self._starts[place])
            if lines is not None:
                found[part == place] = lines
        return found


def _files(parts: Sequence[Part]) -> tuple[tuple[int, str], ...]:
    """The first pair of each file, and its path."""
    starts = np.cumsum([0, *(part.relation.child.size for part in parts)]).tolist()
    return tuple(zip(starts, (part.path for part in parts), strict=False))


def _names(relation: Relation) -> pa.Array:
    names = relation.names
    if isinstance(names, list):
        return string_array([str(name) for name in names])
    return pc.cast(names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names, pa.string())


def _place(part: Part, codes: Codes, settings: ReadSettings) -> _Placed:
    def among_all(own: Codes) -> Codes:
        return np.where(own >= 0, codes[np.maximum(own, 0)], np.int32(MISSING)).astype(np.int32)

    relation = part.relation
    child, parent = relation.child, relation.parent
    if decide(relation, settings).direction == "parent-child":
        child, parent = parent, child
    return _Placed(part, among_all(child), among_all(parent))


def _refuse_shared_ids(placed: Sequence[_Placed], names: pa.Array) -> None:
    """Refuse products that have the ids of categories: as one node they would hang below themselves or each other."""
    members = [one for one in placed if one.hangs_below_others]
    for member in members:
        for other in placed:
            if other in members:
                continue
            shared = np.intersect1d(member.child[member.child >= 0], other.child[other.child >= 0])
            if shared.size:
                name = short(names[int(shared[0])].as_py())
                raise InputError(
                    f"{member.part.label} and {other.part.label} both have rows of the id {name} "
                    f"({count(int(shared.size), 'id')} in all): give the rows of one file ids of their own, with a "
                    "prefix for instance"
                )


def _labels(parts: Sequence[Part]) -> dict[str, str]:
    """Label of each name: that of the first file which has one."""
    found: dict[str, str] = {}
    for part in parts:
        labels: Any = part.relation.labels
        if labels is not None:
            texts = labels if isinstance(labels, list) else labels.to_pylist()
            for name, text in zip(_names(part.relation).to_pylist(), texts, strict=True):
                if text:
                    found.setdefault(name, text)
    return found


def _synonyms(parts: Sequence[Part]) -> dict[str, list[str]]:
    """What else each name is found by, in any of the files."""
    found: dict[str, list[str]] = {}
    for part in parts:
        lists: Any = part.relation.synonyms
        if lists is not None:
            lists = lists if isinstance(lists, list) else lists.to_pylist()
            for name, others in zip(_names(part.relation).to_pylist(), lists, strict=True):
                found.setdefault(name, []).extend(others or [])
    return found


def _refer_by_label(
    child: Codes, parent: Codes, names: pa.Array, label_of: dict[str, str]
) -> tuple[Codes, NDArray[np.bool_]]:
    """The parents (m,), where one without a row that is called like just one node is that node.

    Also returns which names (n,) stood for another that way.
    """
    spelled = names.to_pylist()
    defined = np.zeros(len(spelled), bool)
    defined[child[child >= 0]] = True
    called: dict[str, int] = {}
    for code in np.flatnonzero(defined).tolist():
        text = label_of.get(spelled[code])
        if text:
            called[text] = MISSING if text in called else code
    stands_for = np.arange(len(spelled), dtype=np.int32)
    for code in np.flatnonzero(~defined).tolist():
        target = called.get(spelled[code], MISSING)
        if target != MISSING:
            stands_for[code] = target
    moved = np.where(parent >= 0, stands_for[np.maximum(parent, 0)], np.int32(MISSING)).astype(np.int32)
    return moved, stands_for != np.arange(len(spelled))
