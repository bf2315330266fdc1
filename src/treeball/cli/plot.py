"""``treeball plot``: an embedding in the Poincaré disk, or the course of its training, as a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ..errors import InputError
from .console import say


def plot(
    model: Path,
    *,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    trace: Annotated[bool, Parameter(negative="")] = False,
    focus: str | None = None,
    depth: int | None = None,
    inset: Annotated[bool, Parameter(negative="")] = False,
    colour: Literal["subtree", "depth"] = "subtree",
    labels: bool = True,
) -> int:
    """Draw a model: a 2-d one in the Poincaré disk with its ill pairs in red, or the training of any model.

    Parameters
    ----------
    model
        Model file that treeball fit wrote.
    output
        Figure to write, ending in .png or .svg, or without an ending for both; by default the name of the model with
        the ending .png, in the current directory.
    trace
        Draw scores, illnesses, loss and radius against epochs; the model must have been fitted with --trace-every.
    focus
        Node to move to the centre of the disk; distances stay as they are.
    depth
        Show only so many levels below the focus, or below the root without one.
    inset
        Enlarge the part with the most ill pairs.
    colour
        What colours stand for: the largest subtrees, or the depth.
    labels
        Write the names of the largest subtrees where they do not overlap.
    """
    from ..files import require_writable
    from ..model_file import load
    from ..report import figures, style

    disk_options = {"--focus": focus is not None, "--depth": depth is not None, "--inset": inset}
    given = [name for name, is_given in disk_options.items() if is_given]
    if trace and given:
        raise InputError(
            f"{' and '.join(given)} cannot go with --trace: they are about the disk; leave out one of them"
        )
    output = output or Path(f"{model.stem}-trace.png" if trace else f"{model.stem}.png")
    for target in style.targets(output):
        require_writable(target)
    with style.style():  # a missing library is reported before the work
        embedding = load(model)
    if trace:
        figure = figures.trace(embedding)
    else:
        figure = figures.disk(
            embedding,
            focus=None if focus is None else embedding.hierarchy.names.from_text(focus),
            depth=depth,
            inset=inset,
            labels=labels,
            colouring=colour,
        )
    for path in figures.save(figure, output):
        say(f"wrote {path}")
    return 0
