"""The files that a command reads a hierarchy from: one, or several that belong together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

Sources = Annotated[list[str], Parameter(name="source", allow_leading_hyphen=True, negative_iterable=())]
"""One file, ``-`` or ``example:mammals``; or several files, such as categories and products."""


def to_read(sources: list[str]) -> str | list[Path]:
    """What :func:`treeball.read` takes for it."""
    return sources[0] if len(sources) == 1 else [Path(source) for source in sources]
