"""Arrow tables: of Parquet and Arrow files, and of everything that speaks Arrow (pandas, polars, DuckDB, ...)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ....errors import InputError
from ....hierarchy.read_report import listed, short
from ....hierarchy.repairs import RepairKind
from ..hints import setting
from ..paths import mark_of, path_column, relation_of_paths
from ..relation import Relation
from ..settings import ReadSettings
from .columns import Roles, locate, roles_from_header, roles_from_settings, with_forced_direction, with_name_column
from .dialect import Dialect
from .levels import level_columns, relation_of_levels
from .members import members_of, members_of_levels
from .pairs import as_weights, plain_lists, relation_of_columns


def relation_of_table(
    table: pa.Table, format: str, label: str, settings: ReadSettings, roles: Roles | None = None
) -> Relation:
    """Relation of an Arrow table with columns of child and parent, or id and parent, and maybe weight and name."""
    header = [str(name) for name in table.column_names]
    if table.num_rows == 0 or not header:
        raise InputError(f"{label} has no rows: a hierarchy needs at least one row with a child and its parent")
    if roles is None and names_no_parents(header, settings):
        found = levels_or_paths(table, header, label, settings)
        if found is not None:
            return found
    if roles is None:
        roles = choose_roles(header, [table.schema.field(i).type for i in range(len(header))], settings, label)
    roles = with_forced_direction(roles, settings)
    child, parent = plain_lists(table.column(roles.child)), plain_lists(table.column(roles.parent))
    weight = None if roles.weight is None else table.column(roles.weight)
    label_column = None if roles.label is None else plain_lists(table.column(roles.label))
    if _is_list(parent.type):
        child, parent, weight, label_column = _explode(child, parent, weight, label_column)
    if not roles.is_table and parent.null_count and not child.null_count:
        roles = replace(roles, direction="child-parent", is_table=True)
    relation = relation_of_columns(
        child,
        parent,
        roles=roles,
        weights=None if weight is None else as_weights(weight, label, None),
        label_column=label_column,
        label=label,
    )
    relation.format = format
    relation.swapped = roles.child > roles.parent and not settings.columns
    return relation


def names_no_parents(header: list[str], settings: ReadSettings) -> bool:
    """Whether no column is known to be one of parents, so that levels or paths may be what the table holds."""
    if settings.columns:
        return len(settings.columns) == 1 or settings.format == "levels"
    roles = roles_from_header(header)
    return roles is None or roles.is_membership


def levels_or_paths(table: pa.Table, header: list[str], label: str, settings: ReadSettings) -> Relation | None:
    """Relation of a table with a column for each level, or with one of paths; None for any other."""

    def texts(place: int) -> list[str]:
        column = plain_lists(table.column(place))
        if pa.types.is_nested(column.type):
            return [""] * len(column)
        return [text or "" for text in pc.cast(column, pa.string()).to_pylist()]

    if settings.format == "levels" and settings.columns:
        levels: tuple[int, ...] | None = tuple(locate(one, header, len(header), label) for one in settings.columns)
    else:
        levels = None if settings.columns else level_columns(header)
    if levels is not None:
        ignored = [name for place, name in enumerate(header) if place not in levels]
        relation = relation_of_levels([texts(level) for level in levels], ignored)
        plain_columns = [plain_lists(table.column(column)) for column in range(len(header))]
        relation.members = partial(members_of_levels, plain_columns, header, levels, None, label)
    else:
        head = table.slice(0, 2000)
        cells = [
            [str(cell) if cell is not None else "" for cell in plain_lists(head.column(i)).to_pylist()]
            for i in range(len(header))
        ]
        rows = tuple(zip(*cells, strict=True))
        dialect = Dialect(",", False, len(header), tuple(header), 0, True, rows)
        place = (
            locate(settings.columns[0], header, len(header), label)
            if settings.columns
            else path_column(dialect, settings)
        )
        if place is None or mark_of(texts(place)[:2000], settings, columns=True) is None:
            return None
        paths = texts(place)
        relation = relation_of_paths(
            paths, settings, label, mark_of(paths[:2000], settings, columns=True), count_repeats=False
        )
        relation.notes.append(
            f"column {place + 1} ({short(header[place])}) holds breadcrumbs, the others were not used"
        )
        others = [f"column {short(name)}" for column, name in enumerate(header) if column != place]
        relation.record_lines(RepairKind.COLUMNS_NOT_USED, [None] * len(others), others)
        plain_columns = [plain_lists(table.column(column)) for column in range(len(header))]
        relation.members = partial(members_of, plain_columns, header, place, None, label)
    relation.line_of = None
    relation.repairs = [replace(group, lines=None) for group in relation.repairs]
    return relation


def choose_roles(header: list[str], types: list[Any], settings: ReadSettings, label: str) -> Roles:
    """What each column is for: as the settings say, else by the header, else by their number and types."""
    if settings.columns:
        return roles_from_settings(settings, header, len(header), label)
    roles = roles_from_header(header)
    if roles is None and len(header) == 2:
        roles = Roles(0, 1)
    if roles is None and len(header) == 3 and (pa.types.is_floating(types[2]) or pa.types.is_integer(types[2])):
        roles = Roles(0, 1, weight=2)
    if roles is None:
        known = listed(header, len(header)) or "nothing"
        raise InputError(
            f"{label} has the columns {known}: say which hold child and parent, for instance "
            f"{setting('columns', 'id,parent')}"
        )
    return with_name_column(roles, settings, header, len(header), label)


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _explode(child: Any, parent: Any, *others: Any) -> tuple[Any, ...]:
    """One row per parent where parents come as lists; an empty or missing list keeps its row, without a parent."""
    lists = parent.combine_chunks()
    sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    rows = np.repeat(np.arange(len(sizes)), np.maximum(sizes, 1))
    place = np.full(rows.size, -1, np.int64)
    filled = np.repeat(sizes > 0, np.maximum(sizes, 1))
    place[filled] = np.arange(int(sizes.sum()))
    values = pc.list_flatten(lists)
    parents = pa.chunked_array([values.take(pa.array(place, mask=~filled))])
    index = pa.array(rows)
    return (child.take(index), parents, *(None if other is None else other.take(index) for other in others))
