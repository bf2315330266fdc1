"""``treeball fit``: read a hierarchy, train, score, save."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ..readers.settings import ReadSettings
from ..report.watching import WatchSettings
from ..settings import FitSettings
from ..words import count
from .console import TrainingProgress, print_json, print_table, say, score_rows

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..hierarchy import Hierarchy
    from ..methods.descent import Epochs
    from ..methods.fit import Checkpoints
    from ..methods.run import Run
    from ..report.watching import Observers

_MAP_SECONDS = 2.0
_MAP_SAMPLE = 200


def fit(
    source: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    resume: bool = False,
    checkpoint_seconds: float = 30.0,
    json: bool = False,
    settings: Annotated[FitSettings, Parameter(name="*")] = FitSettings(),  # noqa: B008
    reading: Annotated[ReadSettings, Parameter(name="*", group="Reading")] = ReadSettings(),  # noqa: B008
    watching: Annotated[WatchSettings, Parameter(name="*", group="Watching")] = WatchSettings(),  # noqa: B008
) -> int:
    """Embed a hierarchy and save the model.

    Ctrl-C saves the model as far as it is trained; --resume goes on from there, or from the last checkpoint.

    Parameters
    ----------
    source
        File with the hierarchy, in any format treeball reads; - for standard input; example:mammals for shipped data.
    output
        Model file to write; by default the name of the source with the ending .parquet, in the current directory.
    resume
        Go on with an interrupted run of the same settings; --epochs may be larger than it was.
    checkpoint_seconds
        How often to save a checkpoint beside the output while training.
    json
        Print the scores as one JSON object.
    """
    from ..embedding import Embedding
    from ..files import require_writable
    from ..methods.auto import resolve
    from ..methods.fit import Checkpoints, start
    from ..methods.fit import fit as train
    from ..readers import read

    output = output or _default_output(source)
    require_writable(output, source)
    checkpoint = output.with_name(output.name + ".checkpoint")
    require_writable(checkpoint, source)
    checkpoints = Checkpoints(checkpoint, checkpoint_seconds)
    hierarchy = read(source, reading)
    if hierarchy.report is not None:
        say(hierarchy.report.summary())
    settings, reasons = resolve(hierarchy, settings)
    for reason in reasons:
        say(reason)
    before = _resume_point(output, checkpoint) if resume else None
    first = 0
    if before is not None:
        first = start(hierarchy, settings, before).epoch
        say(f"resuming at epoch {first} of {settings.epochs}")
    elif checkpoint.exists():
        say(f"starting afresh; --resume would go on from {checkpoint}")
    epochs = 0 if settings.method in ("sarkar", "construct") else settings.epochs
    with (
        watching.observers(output, say) as observers,
        TrainingProgress(epochs, first) as progress,
        _StopOnInterrupt() as interrupt,
    ):
        watcher = _Watcher(progress, interrupt, checkpoints, hierarchy, settings, observers)
        embedding = train(hierarchy, settings, resume=before, checkpoints=checkpoints, watch=watcher, why=reasons)
        observers.finish(embedding)

    embedding.save(output)
    done = int(embedding.provenance["epochs_done"])
    constructed = settings.method in ("sarkar", "construct")
    finished = done >= settings.epochs or constructed
    if not finished:
        say(f"stopped after epoch {done} of {settings.epochs}; saved {output}; go on with --resume")
    for entry in embedding.provenance["log"][len(reasons) :]:
        say(entry["text"] if constructed else f"epoch {entry['epoch']}: {entry['text']}")
    evaluation = embedding.evaluate(threads=settings.threads)
    embedding = Embedding(
        embedding.vectors,
        hierarchy,
        embedding.geometry,
        {**embedding.provenance, "scores": evaluation.to_dict()},
    )
    embedding.save(output)
    if json:
        print_json(evaluation.to_dict())
    else:
        how = "" if constructed else f", {count(done, 'epoch')}"
        print_table(score_rows(evaluation), f"{settings.method}, dimension {settings.dim}{how}")
        if evaluation.certificate is not None:
            print(evaluation.certificate.sentence())
    _tell_clamped(embedding)
    if not finished:
        return 1
    checkpoint.unlink(missing_ok=True)
    say(f"saved {output}")
    return 0


class _StopOnInterrupt:
    """Turns the first Ctrl-C into a request to stop at the end of the epoch; the second ends the program."""

    requested = False

    def __enter__(self) -> _StopOnInterrupt:
        self._previous = signal.signal(signal.SIGINT, self._request)
        return self

    def _request(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        signal.signal(signal.SIGINT, self._previous)
        say("stopping at the end of this epoch (Ctrl-C again to quit at once)")

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._previous)


class _Watcher:
    """Shows progress after every few epochs; on Ctrl-C saves a checkpoint and stops the training."""

    def __init__(
        self,
        progress: TrainingProgress,
        interrupt: _StopOnInterrupt,
        checkpoints: Checkpoints,
        hierarchy: Hierarchy,
        settings: FitSettings,
        observers: Observers,
    ) -> None:
        self.observers = observers
        self.pause_every = observers.pause_every
        self.progress = progress
        self.interrupt = interrupt
        self.checkpoints = checkpoints
        self.hierarchy = hierarchy
        self.settings = settings
        self.sampled_map: float | None = None
        self.last_map = time.monotonic()

    def __call__(self, run: Run, done: Epochs) -> bool:
        if time.monotonic() - self.last_map > _MAP_SECONDS:
            sample = run.embedding().evaluate(sample=_MAP_SAMPLE, threads=self.settings.threads)
            self.sampled_map = sample.map
            self.last_map = time.monotonic()
        rate = done.pairs / max(done.seconds, 1e-9)
        # The exact score follows the last epoch; a sampled one of some time ago would only confuse.
        self.progress.show(run.epoch, done.loss, rate, self.sampled_map if run.epoch < self.settings.epochs else None)
        self.observers(run, done)
        if self.interrupt.requested:
            self.checkpoints.save(run)
        return self.interrupt.requested


def _default_output(source: str) -> Path:
    if source == "-":
        return Path("model.parquet")
    stem = Path(source.removeprefix("example:").rstrip("/")).name.replace(":", "-")
    for ending in (".gz", ".zst"):
        stem = stem.removesuffix(ending)
    stem = Path(stem).stem or "model"
    output = Path(f"{stem}.parquet")
    return Path(f"{stem}.model.parquet") if output.exists() and output.samefile(source) else output


def _resume_point(output: Path, checkpoint: Path) -> Embedding | None:
    from ..model_file import load

    for path in (checkpoint, output):
        if path.exists():
            return load(path)
    say(f"nothing to resume beside {output}: starting at the first epoch")
    return None


def _tell_clamped(embedding: Embedding) -> None:
    clamped = embedding.provenance["clamped"]
    if clamped["times"]:
        steps = count(clamped["times"], "step")
        say(f"{steps} ended beyond the largest radius and stopped there, at {clamped['at_radius']:.1f}")
