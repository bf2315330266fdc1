"""Vectors to and from other tools: files that export writes and import reads, coordinates, and what float32 loses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._lazy import lazy

if TYPE_CHECKING:
    from ._export import Export, export
    from ._import import import_vectors

__all__ = ["Export", "export", "import_vectors"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Export": "_export",
        "export": "_export",
        "import_vectors": "_import",
    },
)
