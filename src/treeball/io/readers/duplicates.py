"""Rows of a table that give one id several times, or no id at all, when the table is the next version of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...errors import InputError
from ...hierarchy.repairs import RepairKind
from ...words import count
from .relation import MISSING
from .settings import OnDuplicate, ReadSettings, UpdateReading
from .tables.pairs import SECOND_NAME

if TYPE_CHECKING:
    from ...hierarchy import Hierarchy
    from .repair import Repairer

__all__ = ["check_rows", "settings_for_update"]

_LISTED = 10


def settings_for_update(before: Hierarchy, reading: ReadSettings, on_duplicate: OnDuplicate) -> UpdateReading:
    """Settings by which the next version of `before` is read; a root that joins several is named as in `before`."""
    given = {field.name: getattr(reading, field.name) for field in fields(ReadSettings)}
    if before.virtual_root is not None and reading.root == ReadSettings().root:
        given["root"] = str(before.names[before.virtual_root])
    return UpdateReading(**given, on_duplicate=on_duplicate, one_parent=before.is_tree)


def check_rows(work: Repairer) -> None:
    """List rows without an id, and refuse or settle ids whose rows differ; only for the next version of a model."""
    settings = work.settings
    if not isinstance(settings, UpdateReading) or not work.relation.is_table:
        return
    _list_rows_without_id(work)
    if settings.on_duplicate != "all":
        _settle(work, settings)


def _list_rows_without_id(work: Repairer) -> None:
    rows = np.flatnonzero(work.child == MISSING)
    if rows.size:
        where = [_said(work, row) for row in rows[:_LISTED].tolist()]
        work.notes.append(f"{count(rows.size, 'row')} without an id left out: {_listed(where, rows.size)}")


def _settle(work: Repairer, settings: UpdateReading) -> None:
    differing = _ids_that_differ(work, settings.one_parent)
    if not differing.size:
        return
    rows = np.flatnonzero(np.isin(work.child, differing))
    some = [_rows_of(work, int(code), rows) for code in differing[:_LISTED]]
    listed = f"{count(differing.size, 'id')} with several rows that differ: {_listed(some, differing.size)}"
    if settings.on_duplicate == "error":
        raise InputError(
            f"{work.label}: {listed}; give each id once, or choose with --on-duplicate first, last or all "
            "(on_duplicate='first')"
        )
    codes = work.child[rows]
    last = settings.on_duplicate == "last"
    kept = (
        rows[::-1][np.unique(codes[::-1], return_index=True)[1]]
        if last
        else rows[np.unique(codes, return_index=True)[1]]
    )
    others = np.setdiff1d(rows, kept)
    work.record(RepairKind.IDS_REPEATED, "{child} below {parent}", others, work.child[others], work.parent[others])
    _take_labels(work, kept)
    if settings.one_parent:
        stays = np.ones(work.child.size, np.bool_)
        stays[rows] = False
        stays[kept] = True
        work.keep(stays)
    work.notes.append(f"{listed}; the {settings.on_duplicate} row of each was taken")


def _ids_that_differ(work: Repairer, one_parent: bool) -> NDArray[np.int64]:
    """Codes of the ids whose rows have different labels or, if a node may have one parent, different parents."""
    differ = np.zeros(len(work.names), np.bool_)
    rows = np.flatnonzero(work.child != MISSING)
    child = work.child[rows]
    columns: list[tuple[NDArray[Any], NDArray[np.bool_]]] = []
    if one_parent:
        columns.append((work.parent[rows], np.ones(rows.size, np.bool_)))
    labels = _row_labels(work)
    if labels is not None:
        columns.append((labels[rows], labels[rows] != MISSING))
    for values, counted in columns:
        order = np.lexsort((values[counted], child[counted]))
        code, value = child[counted][order], values[counted][order]
        differ[code[1:][(code[1:] == code[:-1]) & (value[1:] != value[:-1])]] = True
    return np.flatnonzero(differ)


def _row_labels(work: Repairer) -> NDArray[np.int64] | None:
    """A number for the label of each row (m,), the same for the same text, MISSING without one; None without labels."""
    column = work.relation.row_labels
    if column is None:
        return None
    texts = pc.utf8_trim_whitespace(pc.cast(column, pa.string()).combine_chunks())
    texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    numbers = np.asarray(texts.dictionary_encode().indices.fill_null(MISSING)).astype(np.int64)
    return numbers if work.origin is None else numbers[work.origin]


def _label(work: Repairer, row: int) -> str:
    """The label that a row gives, empty without one."""
    column = work.relation.row_labels
    value = None if column is None else column[row if work.origin is None else int(work.origin[row])].as_py()
    return "" if value is None else str(value).strip()


def _take_labels(work: Repairer, rows: NDArray[np.int64]) -> None:
    """Give the ids of these rows the labels of the rows; a row without a label leaves that of its id."""
    work.notes = [note for note in work.notes if not note.endswith(SECOND_NAME)]
    work.repairs = [group for group in work.repairs if group.kind is not RepairKind.OTHER_LABELS]
    if work.labels is None:
        return
    labels = work.labels.to_pylist()
    for row in rows.tolist():
        labels[int(work.child[row])] = _label(work, row) or labels[int(work.child[row])]
    work.labels = pa.array(labels, pa.string())


def _rows_of(work: Repairer, code: int, rows: NDArray[np.int64]) -> str:
    """An id with what its first rows say."""
    own = rows[work.child[rows] == code]
    said = [_said(work, row) for row in own[:3].tolist()]
    return f"{work.names[code]!s}: {', '.join(said)}{', ...' if own.size > 3 else ''}"


def _said(work: Repairer, row: int) -> str:
    """What a row says of its node: line, label and parent."""
    parent, label = int(work.parent[row]), _label(work, row)
    below = "without a parent" if parent == MISSING else f"below {work.name(parent)}"
    line = work.relation.line(row if work.origin is None else int(work.origin[row]))
    return " ".join(
        text for text in ("" if line is None else f"line {line}", repr(label) if label else "", below) if text
    )


def _listed(some: Sequence[str], total: int) -> str:
    return "; ".join(some) + ("; ..." if total > len(some) else "")
