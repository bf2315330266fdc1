"""Readers: from a file, a folder or a Python object to a :class:`treeball.hierarchy.Hierarchy`.

Names are resolved on first use, so that asking for the settings does not load pyarrow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treeball.readers.reading import read
    from treeball.readers.report import ReadReport
    from treeball.readers.settings import ReadSettings

__all__ = ["ReadReport", "ReadSettings", "read"]

_HOME = {"ReadReport": "report", "ReadSettings": "settings", "read": "reading"}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
