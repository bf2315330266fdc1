"""Recognition: which format a text is in, by a table of evidence.

Each row names a format, the evidence for it, and the rank of that evidence. Ranks are tried in order, and the first
rank with a row that fits decides:

1. The text opens as only this format does: its first word, its first statement, or a licence.
2. The parser of the format accepts the beginning of the text.
3. The lines have a shape that the format has, too. Among shapes the more confident one wins.

A mark of one format may stand in the labels, comments and quotes of another. It decides nothing there, since an opening
is looked for at the top alone, and since a parser knows its own quotes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module

from .hints import setting
from .paths import mark_of
from .sample import Sample
from .settings import ReadSettings
from .tables.dialect import guess_dialect

__all__ = ["ROWS", "TEXT_FORMATS", "Rank", "Row", "doubt", "recognised"]


class Rank(IntEnum):
    """How much a kind of evidence says; the lowest rank is tried first."""

    OPENING = 1
    PARSED = 2
    SHAPE = 3


@dataclass(frozen=True, slots=True)
class Row:
    """Evidence for one format.

    Attributes
    ----------
    format
        Name of the format, as the setting ``format`` has it.
    module
        Module of `formats` with ``sniff()`` and ``read()``.
    evidence
        What is seen in the text.
    rank
        How much that says.
    least
        Least confidence of ``sniff()`` that stands for this evidence.
    """

    format: str
    module: str
    evidence: str
    rank: Rank
    least: float


ROWS: tuple[Row, ...] = (
    Row("taxdump", "taxdump", "the first line has fields between bars and tabs", Rank.OPENING, 1.0),
    Row("wordnet", "wordnet", "the first line is that of the licence", Rank.OPENING, 1.0),
    Row("nexus", "nexus", "the first word is #NEXUS", Rank.OPENING, 1.0),
    Row("obo", "obo", "the first line is a tag or a stanza, and stanzas have ids", Rank.OPENING, 0.95),
    Row("obographs", "obographs", "the first keys are those of a graph of terms", Rank.OPENING, 1.0),
    Row("rdf", "rdf", "the first statement is a prefix, a triple or an element", Rank.OPENING, 0.97),
    Row("owl", "owl", "the first function or element is of an ontology", Rank.OPENING, 0.97),
    Row("yaml", "yaml_tree", "the first line is %YAML", Rank.OPENING, 1.0),
    Row("json", "json_tree", "the parser accepts the beginning", Rank.PARSED, 1.0),
    Row("newick", "newick_tree", "the parser accepts the beginning", Rank.PARSED, 0.97),
    Row("yaml", "yaml_tree", "the parser finds collections in collections", Rank.PARSED, 0.99),
    Row("json", "json_tree", "an object opens, with a fault inside", Rank.SHAPE, 0.1),
    Row("newick", "newick_tree", "a parenthesis opens, with a fault inside", Rank.SHAPE, 0.1),
    Row("levels", "levels", "the header numbers levels or names ranks", Rank.SHAPE, 0.1),
    Row("table", "parent_table", "the header speaks of ids", Rank.SHAPE, 0.1),
    Row("edges", "edge_list", "lines have two or three columns", Rank.SHAPE, 0.1),
    Row("yaml", "yaml_tree", "lines are keys and items", Rank.SHAPE, 0.1),
    Row("outline", "outline", "lines differ in indentation", Rank.SHAPE, 0.1),
    Row("breadcrumbs", "breadcrumbs", "lines are paths", Rank.SHAPE, 0.1),
)
"""Of rows that fit equally well the first wins."""

TEXT_FORMATS = {row.format: row.module for row in ROWS}
"""Format -> module of `formats`."""


def recognised(sample: Sample, settings: ReadSettings) -> Row | None:
    """The row that tells the format of ``sample``, or None if no row fits."""
    confidence: dict[str, float] = {}
    for rank in Rank:
        best: Row | None = None
        for row in (row for row in ROWS if row.rank == rank):
            if row.module not in confidence:
                module = import_module(f"{__package__}.formats.{row.module}")
                confidence[row.module] = module.sniff(sample, settings)
            sure = confidence[row.module]
            if sure >= row.least and (best is None or sure > confidence[best.module]):
                best = row
            if sure >= 1.0 and best is row:
                break
        if best is not None:
            return best
    return None


_ALIKE = {
    "edge_list": ("breadcrumbs", "yaml"),
    "outline": ("breadcrumbs",),
    "breadcrumbs": ("edges", "yaml"),
}
"""Module -> formats of another shape that the same lines may have."""
_LINES = {"breadcrumbs": "paths", "edges": "rows of an edge list", "yaml": "keys and values"}
_LEAST, _MOST = 0.5, 0.9


def doubt(sample: Sample, settings: ReadSettings, module: str) -> list[str]:
    """Notes for the report where lines, read by ``module``, have the shape of another format as well."""
    others = [format for format in _ALIKE.get(module, ()) if _sniffed(TEXT_FORMATS[format], sample, settings) >= _LEAST]
    if not others or (module == "breadcrumbs" and _sniffed(module, sample, settings) > _MOST):
        return []
    if _are_names_with_marks(sample, settings):
        return []
    return [
        f"the format is a guess, since the lines may be {_LINES[format]} as well: {setting('format', format)} reads "
        "them so"
        for format in others
    ]


def _sniffed(module: str, sample: Sample, settings: ReadSettings) -> float:
    sure: float = import_module(f"{__package__}.formats.{module}").sniff(sample, settings)
    return sure


def _are_names_with_marks(sample: Sample, settings: ReadSettings) -> bool:
    """Whether every cell of columns holds what separates steps, as addresses and codes do: then it belongs to them."""
    dialect, mark = guess_dialect(sample, settings), mark_of(sample.lines, settings)
    return dialect is not None and mark is not None and all(mark in cell for row in dialect.rows for cell in row)
