"""The files that a command reads a hierarchy from: one, or several that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..hierarchy import Hierarchy
    from ..io.readers.settings import ReadSettings


def read_hierarchy(source: str, more: Sequence[str], reading: ReadSettings) -> Hierarchy:
    """Read ``source``, or all files where there are ``more``, and show that it goes on where that takes its time."""
    from ..io.readers import read
    from ..methods.progress import WorkProgress

    with WorkProgress() as work:
        work.begin(f"reading {source}" if not more else f"reading {source} and {len(more)} more")
        return read(together(source, more), reading)


def together(source: str, more: Sequence[str]) -> str | list[Path]:
    """What to read: the source itself, or a list of files where there are more."""
    return [Path(one) for one in (source, *more)] if more else source
