"""``treeball align``: which node of one hierarchy is which of another."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from .console import print_json, print_rows, say
from .sources import ReadingOptions, read_hierarchies

if TYPE_CHECKING:
    from ..matching import Alignment


def align(
    a: Annotated[str, Parameter(allow_leading_hyphen=True)],
    b: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    anchors: Path | None = None,
    confidence: float = 0.8,
    candidates: int = 0,
    broader: bool = False,
    escape_formulas: bool = False,
    json: bool = False,
    reading: Annotated[ReadingOptions, Parameter(name="*", group="Reading")] = ReadingOptions(),  # noqa: B008
) -> int:
    """Say which node of B is which node of A, from names, structure and given pairs, and abstain where unsure.

    A node is the counterpart of one other at most. Names are compared by their words; then ancestors and children that
    are matched speak for or against.

    Parameters
    ----------
    a
        A file with a hierarchy in any format treeball reads, or a model; - for standard input.
    b
        Another.
    output
        Table to write, with a row for each node of A; the ending .csv, .tsv, .json or .parquet says as what. By default
        it is printed.
    anchors
        File with two columns, a node of A and its counterpart in B, which are certain; or a table that this command
        wrote, corrected by hand.
    confidence
        Least confidence of an answer, from 0.5 to 1; where there is less, the answer is empty.
    candidates
        Name so many candidates of each node that has no answer.
    broader
        Give a node without a counterpart that of its nearest ancestor that has one: the node of B below which it would
        hang.
    escape_formulas
        Put an apostrophe before text that a spreadsheet would compute, such as =cmd(); for .csv and .tsv.
    json
        Print one JSON object a line, one for each node.
    """
    from ..checks import require, require_whole
    from ..io.atomic import require_writable
    from ..io.readers import read
    from ..matching import align as align_hierarchies
    from ..matching.table import record, require_ending

    require_whole("candidates", candidates, 0)
    require(output is not None or not escape_formulas, "--escape-formulas goes with --output")
    if output is not None:
        require_ending(output, escape_formulas=escape_formulas)
        require_writable(output, a, b, *([] if anchors is None else [anchors]))
    one, other = read_hierarchies([lambda: read(a, reading), lambda: read(b, reading)], reading, (a, b))
    found = align_hierarchies(one, other, anchors=anchors, confidence=confidence, broader=broader, progress=True)
    if output is not None:
        found.save(output, candidates, escape_formulas=escape_formulas)
    if json:
        for answer in found.answers(candidates):
            print_json(record(answer, candidates > 0))
    elif output is None:
        _print(found, candidates)
    say(found.summary())
    if output is not None:
        say(f"wrote {output}")
    return 0


def _print(found: Alignment, candidates: int) -> None:
    header = ["node", "counterpart", "confidence", "why"]
    rows = []
    for answer in found.answers(candidates):
        sure = f"{answer.confidence:.2f}"
        broader = "below " if answer.kind == "broader" else ""
        other = "" if answer.counterpart is None else broader + _shown(answer.counterpart, answer.counterpart_label)
        row = [_shown(answer.node, answer.label), other, sure, answer.why]
        if candidates:
            row.append("; ".join(f"{_shown(one.node, one.label)} ({one.confidence:.2f})" for one in answer.candidates))
        rows.append(row)
    print_rows([*header, "candidates"] if candidates else header, rows)


def _shown(name: Hashable, label: str | None) -> str:
    return str(name) if label is None else f"{label} [{name}]"
