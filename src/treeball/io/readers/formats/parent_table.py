"""Tables that give each node a row: its id, the id of its parent, perhaps a name."""

from __future__ import annotations

from ....errors import InputError
from ..relation import Relation
from ..sample import Sample
from ..settings import ReadSettings
from ..source import Source
from ..tables import delimited
from ..tables.columns import roles_from_header, roles_from_settings
from ..tables.dialect import guess_dialect
from . import edge_list


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """Above an edge list when the header speaks of ids, or when some row has no parent and the rest refer to rows."""
    dialect = guess_dialect(sample, settings)
    if dialect is None or not dialect.regular or dialect.separator == " ":
        return 0.0
    try:
        roles = roles_from_settings(settings, dialect.header, dialect.width, "") if settings.columns else None
    except InputError:
        return 0.0  # the reader of edge lists says what is wrong
    if roles is None and dialect.header is not None:
        roles = roles_from_header(dialect.header)
    if roles is not None and roles.is_table:
        return edge_list.sniff(sample, settings) + 0.05
    parent = roles.parent if roles is not None else 1
    child = roles.child if roles is not None else 0
    roots = [row for row in dialect.rows if row[child].strip() and not row[parent].strip()]
    if roots and delimited.parents_are_ids([(row[child], row[parent]) for row in dialect.rows]):
        return edge_list.sniff(sample, settings) + 0.05
    return 0.0


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of id and parent id, named by the name column where there is one."""
    return delimited.relation_of(source, settings, table=True)
