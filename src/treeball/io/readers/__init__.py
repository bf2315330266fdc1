"""Readers: from a file, a folder or a Python object to a :class:`treeball.Hierarchy`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._lazy import lazy

if TYPE_CHECKING:
    from ._read import read
    from .settings import ReadSettings

__all__ = ["ReadSettings", "read"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "ReadSettings": "settings",
        "read": "_read",
    },
)
