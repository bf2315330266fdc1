"""Edge lists: two or three columns, one edge a line."""

from __future__ import annotations

from ..relation import Relation
from ..sample import Sample
from ..settings import ReadSettings
from ..source import Source
from ..tables import delimited
from ..tables.dialect import guess_dialect


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """High when every line has the same two or three columns; low, but not nothing, when only most have."""
    dialect = guess_dialect(sample, settings)
    if dialect is None:
        return 0.0
    if dialect.declared:
        return 0.93
    if not dialect.regular:
        share = sum(len(row) == dialect.width for row in dialect.rows) / max(len(dialect.rows), 1)
        return 0.3 * share
    if dialect.separator == "\t":
        return 0.9
    indented = sum(line[:1].isspace() for line in sample.lines)
    # An outline may have a comma on every line too.
    return 0.5 if dialect.separator == " " or indented > len(sample.lines) / 2 else 0.8


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of the two columns."""
    return delimited.relation_of(source, settings, table=False)
