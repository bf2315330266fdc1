"""What a command calls its output when nobody says."""

from __future__ import annotations

from pathlib import Path


def stem_of(source: str) -> str:
    """The name of a source without folder and endings; "model" for standard input."""
    if source == "-":
        return "model"
    stem = Path(source.removeprefix("example:").rstrip("/")).name.replace(":", "-")
    for ending in (".gz", ".zst"):
        stem = stem.removesuffix(ending)
    return Path(stem).stem or "model"
