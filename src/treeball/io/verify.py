"""verify: whether a model file still holds what was saved."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..types import Geometry
from ..words import count
from .model_file import open_model

__all__ = ["Verification", "verify"]


@dataclass(frozen=True)
class Verification:
    """What was checked of a model file, and found to be in order.

    Attributes
    ----------
    path
        The file.
    format
        Version of its format.
    sha256
        Hash of names, hierarchy, vectors and record, which is the one they were saved with; None where none was saved.
    nodes, edges, geometry, dim
        What the file holds.
    """

    path: Path
    format: int
    sha256: str | None
    nodes: int
    edges: int
    geometry: Geometry
    dim: int

    def checks(self) -> list[tuple[str, str]]:
        """What was checked and what was found, in words."""
        content = f"SHA-256 {self.sha256}, as it was saved"
        if self.sha256 is None:
            content = "no SHA-256: it was saved by an earlier version; saving it again adds one"
        return [
            ("pages", "all read, and those that have a checksum agree with it"),
            ("content", content),
            (
                "hierarchy",
                f"{count(self.nodes, 'node')} with names of their own, {count(self.edges, 'edge')}, no cycle",
            ),
            ("vectors", f"{count(self.nodes, 'point')} of the geometry {self.geometry}, dimension {self.dim}"),
            ("record", "every field is of its type"),
        ]

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON."""
        told = {name: getattr(self, name) for name in ("format", "sha256", "nodes", "edges", "geometry", "dim")}
        return {"path": str(self.path), **told, "checked": dict(self.checks())}


def verify(path: str | os.PathLike[str]) -> Verification:
    """Check that a model file still holds what was saved, and that it fits together.

    What :func:`treeball.load` checks, too, and nothing more: it is for those who want to know before they need it.
    Scores are not computed anew; :meth:`treeball.Embedding.evaluate` does that.

    Raises
    ------
    InputError
        If the file is damaged, was changed after it was saved, or is no model.
    """
    path = Path(path)
    found = open_model(path)
    embedding = found.embedding
    return Verification(
        path,
        found.format,
        found.sha256,
        len(embedding),
        embedding.hierarchy.n_edges,
        embedding.geometry,
        embedding.dim,
    )
