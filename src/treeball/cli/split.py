"""``treeball split``: hold some of a hierarchy back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ..words import count
from .console import say, say_what_was_read
from .sources import ReadingOptions, read_hierarchy


def split(
    source: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *more: str,
    output: Annotated[Path, Parameter(alias="-o")],
    leaves: float | None = None,
    edges: float | None = None,
    closure: float | None = None,
    validation: float | None = None,
    keep: float | None = None,
    seed: int = 0,
    reading: Annotated[ReadingOptions, Parameter(name="*", group="Reading")] = ReadingOptions(),  # noqa: B008
) -> int:
    """Hold out a share of the leaves, edges or closure pairs of a hierarchy: writes train.tsv and heldout.tsv.

    Fit a model to train.tsv; treeball evaluate MODEL --held-out heldout.tsv then ranks what it has not seen.
    --validation writes validation.tsv as well, from which evaluate chooses the threshold that tells true pairs.

    Parameters
    ----------
    source
        File with the hierarchy, in any format treeball reads; - for standard input; example:mammals for shipped data.
    more
        Further files that belong to it, such as products below categories.
    output
        Folder for the files; it is made if need be.
    leaves
        Share of the leaves, such as 0.05; they are missing from train.tsv altogether.
    edges
        Share of the edges; all nodes stay, and some become orphans, about which nothing can be known.
    closure
        Share of the pairs (node, ancestor) that are no basic edges, up to 1; train.tsv has the other pairs of the
        closure. Basic are the edges that no others imply: all of them stay.
    validation
        Share of the same leaves, edges or pairs for validation.tsv, such as 0.05; none of them is in the other files.
    keep
        With --closure: share of the pairs that are no basic edges to keep in train.tsv, 0 for basic edges alone; by
        default all that are not held out. It changes neither of the other files.
    seed
        Chooses what is held out.
    """
    from ..evaluation._split import split as hold_out

    hierarchy = read_hierarchy(source, more, reading)
    say_what_was_read(hierarchy.report)
    made = hold_out(hierarchy, leaves=leaves, edges=edges, closure=closure, validation=validation, keep=keep, seed=seed)
    paths = made.save(output)
    for note in made.notes:
        say(note)
    held = zip((made.held_out, made.validation), paths[1:], strict=False)
    told = ", ".join(f"{count(len(pairs), 'pair')} in {path}" for pairs, path in held)
    say(f"{count(len(made.train), 'pair')} to train on in {paths[0]}, {told}")
    return 0
