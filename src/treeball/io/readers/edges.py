"""A few edges to add to a hierarchy that is there already: what they hold need not hang together."""

from __future__ import annotations

import os
from collections.abc import Hashable
from typing import Any

from ...errors import InputError
from ._read import read
from .settings import ReadSettings

__all__ = ["read_edges"]


def read_edges(source: Any, reading: ReadSettings | None = None) -> list[tuple[Hashable, Hashable]]:
    """Pairs (child, parent) of a file or an object; a list of pairs is taken as it is.

    Parameters
    ----------
    source
        Pairs of names, or anything :func:`treeball.read` takes. What it holds need not hang together: tops are
        nodes that the model knows.
    reading
        How to read a file. Where neither it nor a header says otherwise, children come before parents: a few edges are
        too little to infer it from.
    """
    if isinstance(source, (list, tuple)) and all(isinstance(one, (list, tuple)) and len(one) == 2 for one in source):
        return [(child, parent) for child, parent in source]
    reading = reading or ReadSettings()
    direction = "header" if reading.direction == "auto" else reading.direction
    found = read(source, reading, direction=direction, reduce="never")
    repairs = {} if found.report is None else found.report.repairs
    broken = repairs.get("cycle edges", 0) + repairs.get("self-loops", 0)
    if broken:
        where = os.fspath(source) if isinstance(source, (str, os.PathLike)) else "the new edges"
        raise InputError(
            f"{where}: a node hangs below itself, for the edges form a cycle ({broken:,} in all); remove one of it"
        )
    child, parent = found.real_edges()
    return list(zip(found.names.take(child), found.names.take(parent), strict=True))
