"""What a command calls its output when nobody says, and where it goes when it cannot go there."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from ..embedding import Embedding


def stem_of(source: str) -> str:
    """The name of a source without folder and endings; "model" for standard input."""
    if source == "-":
        return "model"
    stem = Path(source.removeprefix("example:").rstrip("/")).name.replace(":", "-")
    for ending in (".gz", ".zst"):
        stem = stem.removesuffix(ending)
    return Path(stem).stem or "model"


def partial_of(output: Path) -> Path:
    """Where a model that is not finished goes when `output` is another one already."""
    return output.with_name(f"{output.stem}.partial{output.suffix}")


def save(embedding: Embedding, output: Path) -> None:
    """Save the result of long work; if that fails, in the folder for temporary files, and say so in the error."""
    try:
        embedding.save(output)
    except InputError as error:
        rescued = Path(tempfile.mkdtemp(prefix="treeball-")) / output.name
        try:
            embedding.save(rescued)
        except InputError:
            raise error from None
        raise InputError(f"{error}; the model is saved as {str(rescued)!r}") from error
