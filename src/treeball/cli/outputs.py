"""Default output names, the lock of an output, and the fallback folder when the output cannot be written."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from ..words import say

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


class _Started:
    """When the command that runs was started, in nanoseconds since the epoch."""

    ns = time.time_ns()


def command_starts() -> None:
    """Note that a command starts now: what other programs write from now on, it does not replace unseen."""
    _Started.ns = time.time_ns()


@contextmanager
def changing(model: Path, output: Path, *inputs: str) -> Iterator[None]:
    """Hold the lock of `output` while a command reads `model`, changes it and writes it to `output`.

    `output` may be `model` itself. If it is another file that was written after this command had started, it is of
    another command that ran at the same time: it stays, and InputError says so.
    """
    from ..io.atomic import require_writable
    from ..io.locking import writer_lock

    def is_model() -> bool:
        return output.exists() and model.exists() and output.samefile(model)

    require_writable(output, *inputs, *([] if is_model() else [str(model)]))
    with writer_lock(output, tell=say):
        if not is_model() and output.exists() and output.stat().st_mtime_ns > _Started.ns:
            raise InputError(
                f"cannot write {str(output)!r}: another program has written it since this command started, and its "
                "changes would be lost; run the command again on that file, or choose another name for the output"
            )
        yield


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
