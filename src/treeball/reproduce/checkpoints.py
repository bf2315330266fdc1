"""A long run that was stopped goes on where it was: its vectors beside its record, and the seconds that they took."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import TreeballError
from ..experiments.records import Record, read_json, write_json
from ..methods._fit import Checkpoints

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..methods.run import Run

__all__ = ["RunCheckpoints"]


class RunCheckpoints(Checkpoints):
    """Saves a run every half minute, with the seconds of training so far.

    Parameters
    ----------
    record
        Where the record of the finished run will be; the checkpoint lies beside it.
    identity
        What the run consists of: a checkpoint of another one is not taken up.
    """

    def __init__(self, record: Path, identity: Record) -> None:
        super().__init__(record.with_suffix(".checkpoint.parquet"))
        self.notes = record.with_suffix(".checkpoint")
        self.identity = identity
        self.seconds_before = 0.0
        self._seconds: dict[str, float] = {}
        self._started = time.perf_counter()

    def resume(self, say: Callable[[str], None]) -> Embedding | None:
        """The vectors to go on with, or None to begin; call it right before training."""
        from ..io.model_file import load

        notes, vectors = read_json(self.notes), None
        if notes is not None and self.path.is_file():
            try:
                vectors = load(self.path)
            except TreeballError as error:
                say(f"    its checkpoint cannot be read, starting afresh: {error}")
        if vectors is not None and notes is not None:
            epoch = vectors.provenance.epochs_done
            seconds = notes["seconds"].get(str(epoch))
            if notes["identity"] == self.identity and seconds is not None:
                say(f"    going on after epoch {epoch:,}")
                self._seconds, self.seconds_before = notes["seconds"], seconds
            else:
                say("    its checkpoint is of another run, starting afresh")
                vectors = None
        self._started = time.perf_counter()
        return vectors

    def save(self, run: Run) -> None:
        """Save now; first what it took, so that there are never vectors of which that is not known."""
        self._seconds[str(run.epoch)] = self.seconds_before + time.perf_counter() - self._started
        write_json(self.notes, {"identity": self.identity, "seconds": self._seconds})
        super().save(run)

    def remove(self) -> None:
        """The run is done."""
        for path in (self.path, self.notes):
            path.unlink(missing_ok=True)
