"""``treeball plot``: an embedding in a disk, or the course of its training, as a figure or a moving one."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ..errors import InputError
from .console import say

if TYPE_CHECKING:
    from ..embedding import Embedding


def plot(
    model: Path,
    *,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    trace: Annotated[bool, Parameter(negative="")] = False,
    focus: str | None = None,
    depth: int | None = None,
    inset: Annotated[bool, Parameter(negative="")] = False,
    colour: Literal["subtree", "depth"] = "subtree",
    projection: Literal["auto", "disk", "spread"] = "auto",
    labels: bool = True,
    title: str | None = None,
    animate: Path | None = None,
    fps: float = 12.0,
) -> int:
    """Draw a model in a disk, with its ill pairs in red, or the course of its training.

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
    projection
        disk draws a 2-d model in the Poincaré disk, spread any model with distances from the centre to scale and
        angles as wide as nodes need them; auto takes the first, unless it would show most nodes on the rim.
    labels
        Write the names of the largest subtrees where they do not overlap.
    title
        Words above the picture; by default the method, the size and the scores; "" for none.
    animate
        Moving picture of the training to write, ending in .gif or .mp4 (which needs ffmpeg); the model, of any
        dimension, must have been fitted with --snapshots.
    fps
        Snapshots per second of the moving picture.
    """
    from ..io.atomic import require_writable
    from ..io.model_file import load
    from ..report import figures, style

    disk_options = {
        "--focus": focus is not None,
        "--depth": depth is not None,
        "--inset": inset,
        "--projection": projection != "auto",
    }
    given = [name for name, is_given in disk_options.items() if is_given]
    if trace and given:
        raise InputError(
            f"{' and '.join(given)} cannot go with --trace: they are about the disk; leave out one of them"
        )
    if animate is not None:
        still = [
            name
            for name, is_given in {
                "--trace": trace,
                "--inset": inset,
                "--projection": projection != "auto",
                "-o": output is not None,
            }.items()
            if is_given
        ]
        if still:
            raise InputError(
                f"{' and '.join(still)} cannot go with --animate, which writes one moving picture of the disk"
            )
        return _animate(model, animate, focus, depth, colour, title, fps)
    output = output or Path(f"{model.stem}-trace.png" if trace else f"{model.stem}.png")
    for target in style.targets(output):
        require_writable(target)
    with style.style():  # a missing library is reported before the work
        embedding = load(model)
    if trace:
        figure = figures.trace(embedding, title=title)
    else:
        figure = figures.disk(
            embedding,
            focus=_node(embedding, focus),
            depth=depth,
            inset=inset,
            labels=labels,
            colouring=colour,
            projection=None if projection == "auto" else projection,
            title=title,
        )
    for path in figures.save(figure, output):
        say(f"wrote {path}")
    return 0


def _animate(
    model: Path,
    target: Path,
    focus: str | None,
    depth: int | None,
    colour: Literal["subtree", "depth"],
    title: str | None,
    fps: float,
) -> int:
    from ..io.atomic import require_writable
    from ..io.model_file import load
    from ..report import animation, style
    from ..report.snapshots import frames_path, load_frames

    animation.require_ending(target)
    require_writable(target, model)
    with style.style():
        embedding = load(model)
    frames = load_frames(frames_path(model), embedding.hierarchy)
    method = embedding.provenance.method or embedding.geometry
    animation.animate(
        frames,
        embedding.hierarchy,
        target,
        title=f"{model.stem}: {method}, {len(embedding):,} nodes" if title is None else title,
        focus=_node(embedding, focus),
        depth=depth,
        colouring=colour,
        fps=fps,
    )
    say(f"wrote {target}")
    return 0


def _node(embedding: Embedding, text: str | None) -> Hashable | None:
    """The node a user named."""
    return None if text is None else embedding.find(text)
