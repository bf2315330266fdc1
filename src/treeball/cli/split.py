"""``treeball split``: hold some of a hierarchy back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ..io.readers.settings import ReadSettings
from ..words import count
from .console import say


def split(
    source: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    output: Annotated[Path, Parameter(alias="-o")],
    leaves: float | None = None,
    edges: float | None = None,
    closure: float | None = None,
    seed: int = 0,
    reading: Annotated[ReadSettings, Parameter(name="*", group="Reading")] = ReadSettings(),  # noqa: B008
) -> int:
    """Hold out a share of the leaves, edges or closure pairs of a hierarchy: writes train.tsv and heldout.tsv.

    Fit a model to train.tsv; treeball evaluate MODEL --held-out heldout.tsv then ranks what it has not seen.

    Parameters
    ----------
    source
        File with the hierarchy, in any format treeball reads; - for standard input; example:mammals for shipped data.
    output
        Folder for the two files; it is made if need be.
    leaves
        Share of the leaves, such as 0.05; they are missing from train.tsv altogether.
    edges
        Share of the edges; all nodes stay, and some become orphans.
    closure
        Share of the pairs (node, ancestor) that are no edges; train.tsv has all other pairs of the closure.
    seed
        Chooses what is held out.
    """
    from ..evaluation._split import split as hold_out
    from ..io.readers import read

    hierarchy = read(source, reading)
    if hierarchy.report is not None:
        say(hierarchy.report.summary())
    made = hold_out(hierarchy, leaves=leaves, edges=edges, closure=closure, seed=seed)
    train, held_out = made.save(output)
    for note in made.notes:
        say(note)
    say(f"{count(len(made.train), 'pair')} to train on in {train}, {count(len(made.held_out), 'pair')} in {held_out}")
    return 0
