"""Tables with a column for each level of the tree: ``L1,L2,L3``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ....errors import InputError
from ..hints import setting
from ..relation import Relation
from ..sample import Sample
from ..settings import ReadSettings
from ..source import Source
from ..tables import delimited
from ..tables.columns import locate, roles_from_header
from ..tables.dialect import guess_dialect
from ..tables.levels import is_staggered, level_columns, relation_of_levels
from ..tables.members import members_of_levels


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """High when the header numbers levels or names ranks, and no column is one of parents; or by stairs of cells."""
    dialect = guess_dialect(sample, settings)
    if dialect is None or not dialect.regular or dialect.separator == " " or settings.columns:
        return 0.0
    if dialect.header is None:
        return 0.97 if is_staggered(dialect.rows) else 0.0
    roles = roles_from_header(dialect.header)
    if roles is not None and not roles.is_membership:
        return 0.0
    return 0.97 if level_columns(dialect.header) is not None else 0.0


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation in which every node is named by its full path."""
    parsed = delimited.parse(source, settings)
    dialect = parsed.dialect
    levels = _levels(dialect.header, dialect.width, settings, source.label)
    header = dialect.header or ()
    ignored = [name for place, name in enumerate(header) if place not in levels and name.strip()]
    relation = relation_of_levels([parsed.columns[level].to_pylist() for level in levels], ignored)
    relation.number_lines(parsed.line_of)
    relation.members = partial(members_of_levels, parsed.columns, dialect.header, levels, parsed.line_of, source.label)
    parsed.tell(relation)
    return relation


def _levels(header: Sequence[str] | None, width: int, settings: ReadSettings, label: str) -> tuple[int, ...]:
    if settings.columns:
        if len(settings.columns) < 2:
            raise InputError(f"columns={settings.columns[0]} names one level of {label}: name all, the uppermost first")
        return tuple(locate(column, header, width, label) for column in settings.columns)
    found = None if header is None else level_columns(header)
    if header is not None and found is None:
        raise InputError(
            f"{label} has no columns such as L1, L2, L3: name those of the levels, the uppermost first, for instance "
            f"{setting('columns', ','.join(header[:3]))}"
        )
    return found or tuple(range(width))
