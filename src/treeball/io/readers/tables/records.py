"""Records: mappings with an id and its parent (or parents), as JSON, YAML and Python lists hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

import pyarrow as pa

from ....errors import InputError
from ....hierarchy.read_report import listed, short
from ....hierarchy.repairs import RepairKind
from ...memory import watched
from ..hints import setting
from ..relation import MISSING, Relation, RelationBuilder, string_array
from ..settings import ReadSettings
from .columns import Roles, roles_from_header, roles_from_settings, with_name_column
from .pairs import (
    DECIMAL_NOTE,
    decimals_differ,
    mark_roots,
    note_columns_not_used,
    note_named_by_label,
    several_names,
    without_decimals,
)

Record = Mapping[Any, Any]
Row = tuple[Any, list[Any], Any, Any]
OtherLabel = tuple[int, str, int | None]
"""Code of a node, what its other label is, and the line of it."""


def are_records(values: Sequence[Any]) -> bool:
    """Whether ``values`` are mappings whose keys name a node and its parent."""
    head = values[:100]
    if not head or not all(isinstance(value, Mapping) for value in head):
        return False
    return roles_from_header(keys_of(head)) is not None


def keys_of(records: Sequence[Record]) -> list[str]:
    """All keys of ``records`` in order of first appearance."""
    shapes = dict.fromkeys(map(tuple, records))  # most have the same keys
    return list(dict.fromkeys(str(key) for shape in shapes for key in shape))


def relation_of_records(
    records: Sequence[Record],
    format: str,
    label: str,
    settings: ReadSettings,
    lines: Sequence[int] | None = None,
) -> Relation:
    """Relation of ``records``; a parent that is a list gives one pair for each of its entries.

    Parameters
    ----------
    records
        Mappings (r,); a missing or empty parent declares a root.
    format, label
        Name of the format, and of the input for messages.
    settings
        May name the columns.
    lines
        Line (r,) of each record, where the records have lines.
    """
    keys = keys_of(records)
    if settings.columns:
        roles: Roles | None = roles_from_settings(settings, keys, len(keys), label)
    else:
        roles = roles_from_header(keys)
    if roles is None:
        raise InputError(
            f"{label} has records with the keys {listed(keys, len(keys))}: say which name child and parent, for "
            f"instance {setting('columns', 'id,parent')}"
        )
    roles = with_name_column(roles, settings, keys, len(keys), label)
    _require_ids(records, keys[roles.parent], label)
    rows = _rows(records, roles, keys)
    ids: list[Any] | None = None
    if roles.alternative is not None and _parents_are_labels(rows):
        ids = [child for child, _, _, _ in rows]
        rows = [(name, parents, weight, None) for _, parents, weight, name in rows]
    plainer = _decimals_differ(rows)
    if plainer:
        rows = [(_whole(child), [_whole(one) for one in parents], *others) for child, parents, *others in rows]
    builder = RelationBuilder()
    others: list[OtherLabel] = []
    labels: dict[int, str] = {}
    weighted = roles.weight is not None and any(weight is not None for _, _, weight, _ in rows)
    codes = _add_edges(builder, rows, label, lines, weighted)
    for number, (code, (_, _, _, name)) in enumerate(zip(codes, rows, strict=True)):
        if name is not None and code != MISSING and labels.setdefault(code, str(name)) != str(name):
            others.append((code, f"another label: {short(name)}", lines[number] if lines is not None else None))
    relation = builder.finish(
        format,
        direction=roles.direction,
        default_direction=roles.weak_direction or "child-parent",
        columns_given=roles.direction is None,
        is_table=roles.is_table,
        words_mark_roots=not roles.is_table,
    )
    if plainer:
        relation.notes.append(DECIMAL_NOTE)
        relation.record_lines(RepairKind.DECIMALS_REMOVED, [None], DECIMAL_NOTE)
    list_other_labels(relation, builder.names, others)
    note_columns_not_used(relation, roles.ignored, "fields")
    if roles.is_table:
        mark_roots(relation)
    code_of = {name: code for code, name in enumerate(builder.names)} if labels or ids else {}
    if labels:
        named = [None if name is None else str(name) for _, parents, _, name in rows for _ in parents or (None,)]
        relation.row_labels = pa.chunked_array([string_array(named)])
        relation.labels = [labels.get(code_of[name]) for name in _values(relation.names)]
    if ids:
        own: dict[int, list[str]] = {}
        for code, one in zip(codes, ids, strict=True):
            if one is not None:
                own.setdefault(code, []).append(str(one))
        relation.synonyms = [own.get(code_of[name], []) for name in _values(relation.names)]
        note_named_by_label(relation)
    return relation


def _require_ids(records: Sequence[Record], key: str, label: str) -> None:
    """Refuse parents that are mappings without an id: each of their children would become a root."""
    several = [record.get(key) for record in records]
    for number, given in enumerate(several if _are_varied(several) else (), start=1):
        for parent in given if isinstance(given, list) else [given]:
            if isinstance(parent, Mapping) and parent and _scalar(parent) is None:
                raise InputError(
                    f"{label}, record {number}: the {key} has none of the keys id, key and name, only "
                    f"{listed(parent, len(parent), 4)}; name each parent by its id"
                )


def list_other_labels(relation: Relation, names: Sequence[Any], others: Sequence[OtherLabel]) -> None:
    """Note and list the labels that are not the first of their node."""
    if others:
        relation.notes.append(several_names(len({code for code, _, _ in others}), names[others[0][0]]))
        nodes, texts, lines = zip(*((names[code], text, line) for code, text, line in others), strict=True)
        relation.record_nodes(RepairKind.OTHER_LABELS, nodes, texts, lines)


def _add_edges(
    builder: RelationBuilder, rows: Sequence[Row], label: str, lines: Sequence[int] | None, weighted: bool
) -> list[int]:
    """Add the pairs of all rows, in one step where each has one and nothing besides; tells the code of each child."""
    mentioned = [name for child, parents, _, _ in watched(rows) for name in (child, *(parents or (None,)))]
    codes = nodes_or_missing(builder, mentioned)
    if len(codes) == 2 * len(rows) and lines is None and not weighted:
        builder.edges(codes[::2], codes[1::2])
        return codes[::2]
    children, left = [], iter(codes)
    for number, (_, parents, weight, _) in enumerate(rows):
        where = lines[number] if lines is not None else None
        children.append(next(left))
        amount = _weight(weight, label, number, where) if weighted else None
        for _ in parents or (None,):
            builder.edge(children[-1], next(left), amount, where)
    return children


def node_or_missing(builder: RelationBuilder, name: Any) -> int:
    """Code of ``name``; MISSING for None, NaN and blank text."""
    if name is None or (isinstance(name, float) and math.isnan(name)) or (isinstance(name, str) and not name.strip()):
        return MISSING
    if isinstance(name, str):
        name = str(name)  # a subclass (a number as written, a NumPy string) would not compare as plain text later
    elif hasattr(name, "item"):
        name = name.item()
    try:
        return builder.node(name)
    except TypeError:
        raise InputError(
            f"a node cannot be named by {name!r:.80}: names must be text, numbers or other hashables"
        ) from None


def nodes_or_missing(builder: RelationBuilder, names: Sequence[Any]) -> list[int]:
    """Codes of several ``names``, as those of one."""
    node = builder.node
    return [
        node(name) if type(name) is str and name and not name.isspace() else node_or_missing(builder, name)
        for name in names
    ]


def check_weight(value: Any, where: str) -> float:
    """``value`` as a weight: a finite number from 0 on."""
    try:
        weight = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{where}: weight {value!r:.80} is not a number; correct it or leave it out") from None
    if not (math.isfinite(weight) and weight >= 0):
        raise InputError(
            f"{where}: the weight is {weight:g}, but weights must be finite numbers from 0 on; correct it or leave "
            "it out"
        )
    return weight


def _weight(value: Any, label: str, number: int, line: int | None) -> float:
    where = f"{label}, record {number + 1}" if line is None else f"{label}, line {line}"
    return check_weight(math.nan if value is None else value, where)


def _rows(records: Sequence[Record], roles: Roles, keys: Sequence[str]) -> list[Row]:
    """Child, parents, weight and label of every record."""
    if not all(type(key) is str for shape in set(map(tuple, records)) for key in shape):
        records = [{str(key): record[key] for key in record} for record in records]
    child, parent = ([record.get(keys[place]) for record in records] for place in (roles.child, roles.parent))
    weight, name = (
        [None] * len(records) if place is None else [record.get(keys[place]) for record in records]
        for place in (roles.weight, roles.label)
    )
    several = [_parents(one) for one in parent] if _are_varied(parent) else [[one] for one in parent]
    if _are_varied(child):
        child = [_scalar(one) for one in child]
    if _are_varied(name):
        name = [None if isinstance(one, (list, dict)) else one for one in name]
    return list(zip(child, several, weight, name, strict=True))


def _are_varied(values: Sequence[Any]) -> bool:
    """Whether there is anything among values that is more than a text, a number or nothing."""
    return not all(issubclass(kind, (str, int, float, NoneType)) for kind in set(map(type, values)))


def _parents(given: Any) -> list[Any]:
    return [_scalar(one) for one in (given if isinstance(given, (list, set, frozenset)) else [given])]


def _scalar(value: Any) -> Any:
    if isinstance(value, (str, int)):
        return value
    if isinstance(value, Mapping):
        return next((value[key] for key in ("id", "key", "name") if key in value), None)
    if isinstance(value, list):
        return value[0] if len(value) == 1 else tuple(value) or None
    return value


def _parents_are_labels(rows: Sequence[Row]) -> bool:
    try:
        ids = {child for child, _, _, _ in rows}
        names = {name for _, _, _, name in rows}
        parents = {parent for _, several, _, _ in rows for parent in several} - {None, ""}
    except TypeError:
        return False
    return len(parents & names) > len(parents & ids)


def _decimals_differ(rows: Sequence[Row]) -> bool:
    children = [child for child, _, _, _ in rows if child is not None]
    parents = [parent for _, several, _, _ in rows for parent in several if parent is not None]
    return all(isinstance(name, str) for name in (*children, *parents)) and decimals_differ(children, parents)


def _whole(name: Any) -> Any:
    return without_decimals(name.strip()) if isinstance(name, str) else name


def _values(names: Any) -> list[Any]:
    return names if isinstance(names, list) else names.to_pylist()
