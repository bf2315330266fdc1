"""``treeball plan``: what a model folder will take, before anything runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ..errors import InputError
from ..io.readers.settings import ReadSettings
from .console import print_json, print_table
from .folder import FolderSettings
from .folder_answers import refuse_reading


def plan(
    source: str,
    *more: str,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    dim: int = 10,
    objective: Literal["parents", "ancestors"] = "parents",
    method: Literal["auto", "construct", "softmax"] = "auto",
    epochs: int | None = None,
    json: bool = False,
    out_of_core: Annotated[FolderSettings, Parameter(name="*", group="Model folder")] = FolderSettings(),  # noqa: B008
    reading: Annotated[ReadSettings, Parameter(name="*", group="Reading")] = ReadSettings(),  # noqa: B008
) -> int:
    """Say what treeball fit would take to make a model folder: tasks, memory, time and disk.

    What cannot fit is refused in a sentence.

    Parameters
    ----------
    source
        Parquet or CSV files with edges, as in 'edges/*.parquet'.
    more
        Further files.
    output
        Folder that the model would be in, for the room on its disk.
    dim
        Dimension of the space.
    objective
        What nodes are near to; for ancestors they are trained, which takes longer.
    method
        How nodes get their places. With auto it is the time of a construction, unless the objective is ancestors.
    epochs
        Epochs of each training; by default what suits the size.
    json
        Print one JSON object.
    """
    from ..scale.estimate import estimate
    from ..scale.settings import ScaleSettings

    if epochs == 0:
        raise InputError("--epochs is 0: give at least 1")
    refuse_reading(reading)
    settings = ScaleSettings(
        dim=dim, objective=objective, method=method, epochs=epochs or 0, reading=reading, **out_of_core.given()
    )
    found = estimate((source, *more), settings, output)
    if json:
        print_json(asdict(found))
        return 0
    rows = [
        ("edges", f"{found.rows:,}"),
        ("branches", f"{found.tasks:,}, {found.workers:,} at a time"),
        ("memory", f"about {found.memory / 1e9:.1f} GB in all, {found.branch_memory / 1e9:.2f} GB a worker"),
        ("time", f"about {found.seconds / 60:.0f} minutes"),
        ("shards", f"{found.tasks:,} of about {found.shard_bytes / 1e6:.0f} MB"),
        ("disk", f"about {found.model_bytes / 1e9:.1f} GB, and {found.work_bytes / 1e9:.1f} GB on the way"),
    ]
    print_table(rows, " + ".join((source, *more)))
    return 0
