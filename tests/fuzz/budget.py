"""How much memory and time one input may take."""

from __future__ import annotations

import os
from typing import Any

from treeball.io.readers.settings import ReadSettings

__all__ = ["MARGIN", "MEMORY", "SECONDS", "reading"]

SECONDS = 10.0
"""Longer than this is a hang."""

MEMORY = int(os.environ.get("FUZZ_MEGABYTES", "512")) << 20
"""What an input may take, in bytes: far more than any of them needs."""

MARGIN = MEMORY // 2
"""What it may take beyond that before somebody notices."""


def reading(options: dict[str, Any]) -> dict[str, Any]:
    """Settings of a reading with the budget, where there is a setting for it."""
    return {**options, "max_memory": MEMORY} if "max_memory" in ReadSettings.__dataclass_fields__ else options
