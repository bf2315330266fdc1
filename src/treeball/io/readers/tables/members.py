"""Members: the rows of a table whose column of paths says where each row belongs, such as products in categories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ..relation import Relation
from .columns import member_columns
from .levels import level_rows
from .pairs import LineOf, relation_of_columns


@dataclass(frozen=True, slots=True)
class Members:
    """Rows with an id and a path each, which another file may make a hierarchy of.

    Attributes
    ----------
    are_products, are_groups
        Whether the header calls the ids those of products and the like, or those of the categories themselves.
    relation
        Makes the relation of the rows: the parent of a row is the text of its path.
    """

    are_products: bool
    are_groups: bool
    relation: Callable[[], Relation]


def members_of_levels(
    columns: Sequence[pa.ChunkedArray],
    header: Sequence[str] | None,
    levels: Sequence[int],
    line_of: LineOf | None,
    label: str,
) -> Members | None:
    """Members of a table with a column for each level: the path of a row is made of its levels."""
    others = [place for place in range(len(columns)) if place not in levels]
    if not others or header is None:
        return None
    texts = [pc.cast(columns[level], pa.string()).to_pylist() for level in levels]
    paths = pa.chunked_array([pa.array([" > ".join(cells) or None for cells, _ in level_rows(texts)], pa.string())])
    shown = [*(columns[place] for place in others), paths]
    return members_of(shown, [*(header[place] for place in others), "path"], len(others), line_of, label)


def members_of(
    columns: Sequence[pa.ChunkedArray], header: Sequence[str] | None, group: int, line_of: LineOf | None, label: str
) -> Members | None:
    """Members of a table; ``group`` is the number of its column of paths. None if no column holds ids."""

    def is_distinct(place: int) -> bool:
        column = columns[place]
        texts = pc.cast(column, pa.string())
        return bool(pc.count_distinct(column).as_py() == len(column) and not pc.any(pc.equal(texts, "")).as_py())

    found = member_columns(header, len(columns), group, is_distinct)
    if found is None:
        return None

    def relation() -> Relation:
        name = found.roles.label
        made = relation_of_columns(
            columns[found.roles.child],
            columns[group],
            roles=found.roles,
            label_column=None if name is None else columns[name],
            trim=True,
            line_of=line_of,
            label=label,
        )
        made.format = "rows with paths"
        return made

    return Members(found.are_products, found.are_groups, relation)
