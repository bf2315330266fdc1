"""The files that a command reads a hierarchy from: one, or several that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def to_read(source: str, more: Sequence[str]) -> str | list[Path]:
    """What :func:`treeball.read` takes: ``source`` itself, or all files where there are ``more``."""
    return [Path(one) for one in (source, *more)] if more else source
