"""``treeball serve``: a model as a read-only HTTP service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ..interruption import INTERRUPTED
from ..service.settings import ServeSettings
from .console import say
from .folder_answers import serve_folder


def serve(
    model: Path,
    *,
    settings: Annotated[ServeSettings, Parameter(name="*")] = ServeSettings(),  # noqa: B008
) -> int:
    """Answer questions to a model over HTTP, with JSON, until Ctrl-C: neighbours, distances, relatives, vectors.

    SIGHUP reads the model again without ending a connection.

    GET /openapi.json describes what can be asked, and / is the page of treeball view. A model folder answers fewer
    questions, one at a time: see docs/scale.md.

    Parameters
    ----------
    model
        Model file that treeball fit wrote; a model folder is served to this machine, with --port and --max-k alone.
    """
    from ..scale.layout import is_folder

    if is_folder(model):
        return serve_folder(model, settings)
    from ..service.run import serve as run

    was_interrupted = run(model, settings, say)
    say("stopped")
    return INTERRUPTED if was_interrupted else 0
