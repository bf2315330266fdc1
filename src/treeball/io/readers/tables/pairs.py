"""From two Arrow columns (and weights, labels) to a Relation: interning of names, empty cells, blanks around names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ....errors import InputError
from ....hierarchy.read_report import listed, short
from ....hierarchy.repairs import RepairKind
from ....types import Codes
from ....words import count
from ....workers import apart
from ..hints import setting
from ..relation import MISSING, Relation, Weights
from .columns import CERTAIN_NULL_WORDS, NO_PARENT_NUMBERS, NULL_WORDS, Roles

LineOf = Callable[[int], int | None]
_NO_PARENT = pa.array(sorted(NULL_WORDS | NO_PARENT_NUMBERS))
_VIEWS = {"string_view": pa.string(), "binary_view": pa.binary()}


def relation_of_columns(
    child: pa.ChunkedArray,
    parent: pa.ChunkedArray,
    *,
    roles: Roles,
    weights: Weights | None = None,
    label_column: pa.ChunkedArray | None = None,
    trim: bool = False,
    line_of: LineOf | None = None,
    label: str = "",
) -> Relation:
    """Relation of two columns (m,).

    Parameters
    ----------
    child, parent
        Columns of any type that Arrow can compare, null where there is no name.
    roles
        What is known of direction and kind; ``roles.alternative`` allows parents that refer to labels.
    weights
        Checked weights (m,).
    label_column
        Readable names (m,) of the children.
    trim
        Whether blanks around names are removed.
    line_of
        Line of row i.
    label
        Name of the input for messages.
    """
    child, parent, plainer = _without_decimals(child, parent)
    ids = None
    if label_column is not None and roles.alternative is not None and _refers_to(parent, child, label_column):
        ids, child, label_column = child, label_column, None
    names, codes = intern([child, parent], label)
    child_codes, parent_codes = codes
    relation = Relation(
        "columns",
        names,
        child_codes,
        parent_codes,
        weights=weights,
        direction=roles.direction,
        default_direction=roles.weak_direction or "child-parent",
        is_table=roles.is_table,
        line_of=line_of,
        columns_given=True,
        words_mark_roots=not roles.is_table,
    )
    if plainer:
        relation.notes.append(plainer)
        relation.record_lines(RepairKind.DECIMALS_REMOVED, [None], plainer)
    if trim and pa.types.is_string(names.type):
        _trim(relation)
    codes = [relation.child, relation.parent]
    relation.names, (relation.child, relation.parent) = _without_blank(relation.names, codes)
    if roles.is_table:
        mark_roots(relation)
    if label_column is not None:
        relation.labels = _labels_by_node(relation.child, label_column, len(relation.names))
        relation.row_labels = label_column
        _list_other_labels(relation, label_column)
    if ids is not None:
        relation.synonyms = _ids_of_nodes(relation.child, ids, len(relation.names))
        note_named_by_label(relation)
    note_columns_not_used(relation, roles.ignored)
    return relation


def note_named_by_label(relation: Relation) -> None:
    """Note and list that the labels are the names, since the parents are labels."""
    relation.notes.append("the parents are labels, so nodes are named by their labels; their ids find them too")
    relation.record_lines(RepairKind.NAMED_BY_LABEL, [None], "the parents are labels")
    lists = relation.synonyms.to_pylist() if isinstance(relation.synonyms, pa.Array) else relation.synonyms or ()
    names = relation.names.to_pylist() if isinstance(relation.names, pa.Array) else relation.names
    several = [(name, listed(ids, len(ids), 3)) for name, ids in zip(names, map(_distinct, lists), strict=True) if ids]
    if several:
        name, ids = several[0]
        relation.notes.append(
            f"{count(len(several), 'label')} of several ids, each read as one node, such as {short(name)} ({ids}): "
            "give the parents by id to keep them apart"
        )
        details = [f"the ids {ids} have one label, and are one node" for _, ids in several]
        relation.record_nodes(RepairKind.NAMED_BY_LABEL, [name for name, _ in several], details)


def _distinct(ids: Sequence[str] | None) -> list[str]:
    """The ids of a node if they are several, else none."""
    found = list(dict.fromkeys(ids or ()))
    return found if len(found) > 1 else []


def note_columns_not_used(relation: Relation, columns: Sequence[str], what: str = "columns") -> None:
    """Note and list the columns, or fields, that are not read."""
    if columns:
        relation.notes.append(f"{what} not used: {listed(columns, len(columns), 5)}")
        details = [f"{what.removesuffix('s')} {short(name)}" for name in columns]
        relation.record_lines(RepairKind.COLUMNS_NOT_USED, [None] * len(columns), details)


DECIMAL_NOTE = "ids written as 1.0 in one column and as 1 in the other were read as the same numbers"

_WHOLE, _DECIMAL, _EMPTY = r"[-+]?\d+", r"[-+]?\d+\.0+", r"\s*|(?i:nan|<na>|null|none)"


def without_decimals(text: str) -> str:
    """``1.0`` -> ``1``; anything else as it is."""
    return text.split(".")[0] if re.fullmatch(_DECIMAL, text) else text


def decimals_differ(first: Iterable[str], second: Iterable[str]) -> bool:
    """Whether one side has integers only and the other integers written with ``.0``, as tables with gaps are saved."""
    whole, decimal = (re.compile(rf"\s*(?:{one})\s*|{_EMPTY}") for one in (_WHOLE, _DECIMAL))
    sides = [set(first), set(second)]
    filled = [any(re.fullmatch(_EMPTY, text) is None for text in side) for side in sides]
    return all(filled) and any(
        all(whole.fullmatch(text) for text in one) and all(decimal.fullmatch(text) for text in other)
        for one, other in (sides, sides[::-1])
    )


def _without_decimals(child: Any, parent: Any) -> tuple[Any, Any, str | None]:
    """Both columns with ``1.0`` as ``1`` where only one of them has decimals; and the note about it."""
    if not (pa.types.is_string(child.type) and pa.types.is_string(parent.type)):
        return child, parent, None
    heads = [[text or "" for text in column.slice(0, 100).to_pylist()] for column in (child, parent)]
    decimal = any(re.fullmatch(rf"\s*{_DECIMAL}\s*", text) for head in heads for text in head)
    if not decimal and all(any(text.strip() for text in head) for head in heads):
        return child, parent, None  # with nothing but roots at the top one has to look further
    if not decimals_differ(*([text or "" for text in column.unique().to_pylist()] for column in (child, parent))):
        return child, parent, None
    bare = [pc.replace_substring_regex(column, r"^(\s*[-+]?\d+)\.0+(\s*)$", r"\1\2") for column in (child, parent)]
    return bare[0], bare[1], DECIMAL_NOTE


def intern(columns: list[pa.ChunkedArray], label: str = "") -> tuple[pa.Array, list[Codes]]:
    """Distinct values of all ``columns`` together, in order of appearance, and the codes of each column.

    Nulls, and NaN among numbers, get the code MISSING.
    """
    columns = _common_type([_plain_type(column, label) for column in columns], label)
    chunks = [chunk for column in columns for chunk in column.chunks]
    together = pa.chunked_array(chunks, type=columns[0].type)
    try:
        encoded = apart(together.dictionary_encode)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise InputError(f"{label}: values of type {columns[0].type} cannot name nodes; use text or numbers") from None
    parts = [pc.fill_null(chunk.indices, MISSING).to_numpy(zero_copy_only=False) for chunk in encoded.chunks]
    flat = np.concatenate([np.asarray(part, np.int32) for part in parts]) if parts else np.zeros(0, np.int32)
    names = encoded.chunk(0).dictionary if encoded.num_chunks else pa.array([], columns[0].type)
    lengths = np.cumsum([len(column) for column in columns])[:-1]
    return names, [np.ascontiguousarray(part) for part in np.split(flat, lengths)]


def as_weights(column: Any, label: str, line_of: LineOf | None) -> Weights | None:
    """Weights (m,) as float64; refuses anything but finite numbers from 0 on. None when the column is empty."""
    if isinstance(column, pa.ChunkedArray) and (pa.types.is_string(column.type)):
        column = pc.utf8_trim_whitespace(column)
        column = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
        column = pc.replace_substring_regex(column, r"^([+-]?\d+),(\d+)$", r"\1.\2")  # a decimal comma
    if len(column) and column.null_count == len(column):
        return None
    try:
        numbers = pc.cast(column, pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        row = _first_non_number(column.to_pylist())
        raise InputError(
            f"{place(label, row, line_of)}: weight {column[row].as_py()!r} is not a number; correct it or leave the "
            "weight column out"
        ) from None
    values: Weights = pc.fill_null(numbers, float("nan")).to_numpy().astype(np.float64)
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        shown = "missing" if not column[row].is_valid else f"{values[row]:g}"
        raise InputError(
            f"{place(label, row, line_of)}: the weight is {shown}, but weights must be finite numbers from 0 on; "
            "correct it or leave the weight column out"
        )
    return values


def place(label: str, row: int, line_of: LineOf | None) -> str:
    """``file, line 7`` where lines are known, else ``source, row 7`` counted from 1."""
    line = None if line_of is None else line_of(row)
    return f"{label}, row {row + 1}" if line is None else f"{label}, line {line}"


def _first_non_number(values: list[Any]) -> int:
    for row, value in enumerate(values):
        try:
            float(value if value is not None else 0)
        except (TypeError, ValueError):
            return row
    return 0


def plain_lists(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """``column`` with views and large lists replaced by the types that every Arrow function knows.

    Times in nanoseconds, which Python has no type for, become text.
    """
    kind = column.type
    if pa.types.is_temporal(kind) and getattr(kind, "unit", "") == "ns":
        return pc.cast(column, pa.string())
    if pa.types.is_large_string(kind):
        return pc.cast(column, pa.string())
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        inner = kind.value_type
        if str(inner) in _VIEWS:
            return pa.chunked_array([pa.array(column.to_pylist(), pa.list_(_VIEWS[str(inner)]))])
        return pc.cast(column, pa.list_(pa.string() if pa.types.is_large_string(inner) else inner))
    return _without_views(column)


def _without_views(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """``column`` with its text in one piece.

    Arrow's cast follows the views of nulls too (26.0), which may be anything: that ended the process.
    """
    plain = _VIEWS.get(str(column.type))
    if plain is None:
        return column
    return pa.chunked_array([pa.array(column.to_pylist(), plain)]) if column.null_count else pc.cast(column, plain)


def _plain_type(column: pa.ChunkedArray, label: str) -> pa.ChunkedArray:
    """``column`` without dictionary encoding, in the plain string type, NaN as null."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = pc.cast(column, kind.value_type)
        kind = column.type
    if pa.types.is_null(kind):
        return pc.cast(column, pa.string())
    if pa.types.is_large_string(kind):
        return pc.cast(column, pa.string())
    if str(kind) in _VIEWS:
        return _without_views(column)
    if pa.types.is_floating(kind):
        column = pc.cast(column, pa.float64())
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
        whole = pc.all(pc.equal(column, pc.floor(column))).as_py()
        small = pc.all(pc.less(pc.abs(column), 2.0**53)).as_py()
        # Integer ids turn to floats when a column has gaps for the roots.
        return pc.cast(column, pa.int64()) if whole is not False and small is not False else column
    if pa.types.is_nested(kind):
        raise InputError(f"{label}: a column of type {kind} cannot name nodes; use text or numbers")
    return column


def _common_type(columns: list[pa.ChunkedArray], label: str) -> list[pa.ChunkedArray]:
    kinds = {column.type for column in columns if column.null_count < len(column)}
    if len(kinds) <= 1:
        kind = next(iter(kinds), pa.string())
    elif all(pa.types.is_integer(kind) for kind in kinds):
        kind = pa.int64()
    else:
        kind = pa.string()
    try:
        return [
            pa.chunked_array([pa.nulls(len(column), kind)])
            if column.null_count == len(column)
            else pc.cast(column, kind)
            for column in columns
        ]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        types = " and ".join(sorted(str(kind) for kind in kinds))
        raise InputError(f"{label}: columns of type {types} cannot be compared; convert both to text") from None


def _refers_to(parent: Any, ids: Any, labels: Any) -> bool:
    """Whether the parents are found among the labels rather than among the ids; those of roots refer to nothing."""
    try:
        names, (parents, by_id) = _without_blank(*intern([parent, ids]))
        if pa.types.is_string(names.type):
            given = pc.is_in(pc.utf8_lower(pc.utf8_trim_whitespace(parent)), value_set=_NO_PARENT)
            parent = pc.if_else(given, pa.scalar(None, pa.string()), pc.cast(parent, pa.string()))
        _, (parents_again, by_label) = _without_blank(*intern([parent, labels]))
    except (InputError, pa.ArrowNotImplementedError):
        return False
    in_ids = np.isin(parents[parents >= 0], by_id).sum()
    in_labels = np.isin(parents_again[parents_again >= 0], by_label).sum()
    return bool(in_labels > in_ids)


def _trim(relation: Relation) -> None:
    """Remove blanks around names. If all of a column has them they are the style of the file, else a repair."""
    names, codes = relation.names, [relation.child, relation.parent]
    trimmed = pc.utf8_trim_whitespace(names)
    if trimmed.equals(names):
        return
    changed = pc.not_equal(trimmed, names).to_numpy(zero_copy_only=False)
    in_style = any(bool(column.size) and bool(np.all(_take(changed, column))) for column in codes)
    touched = np.logical_or.reduce([_take(changed, column) for column in codes])
    if in_style:
        relation.notes.append(f"blanks around the names were removed; {setting('trim', 'false')} keeps them")
    rows = np.flatnonzero(touched)
    node = np.where(_take(changed, relation.child[rows]), relation.child[rows], relation.parent[rows])
    kind = RepairKind.BLANKS_REMOVED if in_style else RepairKind.NAMES_TRIMMED
    relation.record(kind, "there are blanks around a name", rows, node)
    encoded = trimmed.dictionary_encode()
    recode = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    relation.names = encoded.dictionary
    relation.child, relation.parent = (
        np.where(column >= 0, recode[np.maximum(column, 0)], np.int32(MISSING)).astype(np.int32) for column in codes
    )


def _take(flags: NDArray[np.bool_], codes: Codes) -> NDArray[np.bool_]:
    return np.where(codes >= 0, flags[np.maximum(codes, 0)], False)


def _without_blank(names: pa.Array, codes: list[Codes]) -> tuple[pa.Array, list[Codes]]:
    """``names`` without blank ones, whose codes become MISSING."""
    if not pa.types.is_string(names.type):
        return names, codes
    blank = pc.equal(pc.utf8_trim_whitespace(names), "").to_numpy(zero_copy_only=False)
    return drop_names(names, codes, blank)


def drop_names(names: pa.Array, codes: list[Codes], drop: NDArray[np.bool_]) -> tuple[pa.Array, list[Codes]]:
    """``names`` without those to drop (n,), whose codes become MISSING."""
    if not drop.any():
        return names, codes
    recode = np.where(drop, MISSING, np.cumsum(~drop) - 1).astype(np.int32)
    kept = names.filter(pa.array(~drop)) if isinstance(names, pa.Array) else _kept(names, drop)
    return kept, [
        np.where(column >= 0, recode[np.maximum(column, 0)], np.int32(MISSING)).astype(np.int32) for column in codes
    ]


def _kept(names: list[Any], drop: NDArray[np.bool_]) -> list[Any]:
    return [name for name, dropped in zip(names, drop.tolist(), strict=True) if not dropped]


def mark_roots(relation: Relation) -> None:
    """In a table, a node that is its own parent is a root, and so is one whose parent is 0, -1 or a word for null."""
    child, parent = relation.child, relation.parent
    own = child == parent
    relation.record(RepairKind.OWN_PARENTS, "{child} is its own parent", np.flatnonzero(own & (child >= 0)))
    relation.parent = np.where(own, np.int32(MISSING), parent)
    nodes, values = _without_rows(relation)
    _drop_markers(
        relation,
        nodes[
            [
                value in (0, -1) or str(value).lower() in NULL_WORDS or str(value) in NO_PARENT_NUMBERS
                for value in values
            ]
        ],
    )


def mark_roots_of_edges(relation: Relation) -> None:
    """In an edge list, a word for null among the parents marks a root, unless a node is called so.

    A word that may be a name as well, such as NA or -, is one as long as a parent that is no such word has no row as a
    child either: where roots are marked, all are.
    """
    nodes, values = _without_rows(relation)
    words = [str(value).strip().lower() for value in values]
    certain = np.array([word in CERTAIN_NULL_WORDS for word in words], bool)
    possible = certain | np.array([word in NULL_WORDS or word == "-1" for word in words], bool)
    found = possible if possible.all() else certain
    if found.any():
        word = values[int(np.argmax(found))]
        number = int(np.isin(relation.parent, nodes[found]).sum())
        relation.notes.append(
            f"{count(number, 'row')} with the parent {word!s}, read as no parent; a row for {word!s} as a child, with "
            "no parent, makes it a node"
        )
        _drop_markers(relation, nodes[found])


def _without_rows(relation: Relation) -> tuple[NDArray[np.int64], list[Any]]:
    """Codes (k,) of the nodes that are no child in any pair, and their names."""
    defined = np.zeros(len(relation.names), bool) if relation.declared is None else relation.declared.copy()
    defined[relation.child[relation.child >= 0]] = True
    nodes, names = np.flatnonzero(~defined), relation.names
    if isinstance(names, pa.Array):
        return nodes, names.take(pa.array(nodes)).to_pylist()
    return nodes, [names[code] for code in nodes.tolist()]


def _drop_markers(relation: Relation, markers: NDArray[np.int64]) -> None:
    """List the pairs whose parent is a marker, and leave the markers out of the names."""
    if not markers.size:
        return
    drop = np.zeros(len(relation.names), bool)
    drop[markers] = True
    relation.record(
        RepairKind.ROOT_MARKERS, "{parent} stands for no parent", np.flatnonzero(_take(drop, relation.parent))
    )
    if relation.declared is not None:
        relation.declared = relation.declared[~drop]
    labels, codes = relation.labels, [relation.child, relation.parent]
    relation.names, (relation.child, relation.parent) = drop_names(relation.names, codes, drop)
    if labels is not None:
        relation.labels = drop_names(labels, [], drop)[0]


SECOND_NAME = "with a second name: the first was kept"


def several_names(number: int, example: object) -> str:
    """Note about ids that have another name in a later row."""
    more = ", ..." if number > 1 else ""
    return f"{count(number, 'id')} ({short(example)}{more}) {SECOND_NAME}"


def _list_other_labels(relation: Relation, column: pa.ChunkedArray) -> None:
    """Note and list the rows whose label is not that of the first row of their id."""
    rows = np.flatnonzero(relation.child >= 0)
    nodes = relation.child[rows]
    if np.unique(nodes).size == nodes.size:
        return
    texts = pc.utf8_trim_whitespace(pc.cast(column, pa.string())).take(pa.array(rows))
    first = pc.utf8_trim_whitespace(relation.labels).take(pa.array(nodes))
    differs = pc.and_(pc.not_equal(texts, first), pc.not_equal(texts, ""))
    other = np.flatnonzero(pc.fill_null(differs, False).to_numpy(zero_copy_only=False))
    if other.size:
        found = np.unique(nodes[other])
        name = relation.names[int(found[0])]
        relation.notes.append(several_names(int(found.size), name.as_py() if isinstance(name, pa.Scalar) else name))
        relation.record(RepairKind.OTHER_LABELS, "{child} has another label in this row", rows[other])


def _ids_of_nodes(child: Codes, ids: pa.ChunkedArray, n: int) -> pa.Array:
    """Ids of the rows of each node, as lists (n,)."""
    texts = pc.cast(ids, pa.string())
    rows = np.flatnonzero((child >= 0) & pc.is_valid(texts).to_numpy())
    order = rows[np.argsort(child[rows], kind="stable")]
    ends = np.concatenate(([0], np.cumsum(np.bincount(child[rows], minlength=n))))
    return pa.ListArray.from_arrays(ends.astype(np.int32), texts.take(pa.array(order)).combine_chunks())


def _labels_by_node(child: Codes, column: pa.ChunkedArray, n: int) -> pa.Array:
    """Label (n,) of each node: that of its first row, null for nodes without a row."""
    rows = np.full(n, -1, np.int64)
    order = np.flatnonzero(child >= 0)[::-1]  # the first row of a node is written last
    rows[child[order]] = order
    index = pa.array(rows, mask=rows < 0)
    return pc.cast(column.combine_chunks().take(index), pa.string())
