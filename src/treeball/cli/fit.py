"""``treeball fit``: read a hierarchy, train, score, save."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ..addresses import local_path
from ..errors import InputError
from ..methods.fit_settings import FitSettings
from ..report.watch import WatchSettings
from ..words import count
from .console import distortion_rows, print_json, print_line, print_table, say, say_what_was_read, score_rows
from .folder import FolderSettings, fit_folder
from .outputs import partial_of, save, stem_of
from .sources import ReadingOptions, read_hierarchy

if TYPE_CHECKING:
    from ..embedding import Embedding


def fit(
    source: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *more: str,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    resume: bool = False,
    checkpoint_seconds: float = 30.0,
    json: bool = False,
    out_of_core: Annotated[FolderSettings, Parameter(name="*", group="Model folder")] = FolderSettings(),  # noqa: B008
    settings: Annotated[FitSettings, Parameter(name="*")] = FitSettings(),  # noqa: B008
    reading: Annotated[ReadingOptions, Parameter(name="*", group="Reading")] = ReadingOptions(),  # noqa: B008
    watching: Annotated[WatchSettings, Parameter(name="*", group="Watching")] = WatchSettings(),  # noqa: B008
) -> int:
    """Embed a hierarchy and save the model.

    Ctrl-C saves the model as far as it is trained; --resume goes on from there, or from the last checkpoint. Where the
    output is a model already, the unfinished one is saved beside it, as model.partial.parquet.

    Many files, as in 'edges/*.parquet', or an --engine make a model folder, out of core: see docs/scale.md.

    Parameters
    ----------
    source
        File with the hierarchy, in any format treeball reads; - for standard input; example:mammals for shipped data.
    more
        Further files that belong to it, such as products below categories.
    output
        Model file to write; by default the name of the source with the ending .parquet, in the current directory.
    resume
        Go on with an interrupted run of the same settings; --epochs may be larger than it was. A model folder goes on
        anyway.
    checkpoint_seconds
        How often to save a checkpoint beside the output while training.
    json
        Print the scores as one JSON object.
    """
    from ..scale.source import is_pattern

    source, more = local_path(source), tuple(map(local_path, more))
    if out_of_core.engine is not None or is_pattern(source):
        watching.require_none()
        if checkpoint_seconds != 30.0:
            raise InputError("--checkpoint-seconds is for model files: a folder keeps every branch that is done")
        return fit_folder((source, *more), output, out_of_core, settings, reading, json)
    out_of_core.require_none()
    from ..io.atomic import require_writable
    from ..methods import Checkpoints
    from ..methods import fit as embed
    from ..methods._fit import begin
    from ..methods.auto import resolve

    if resume:
        _require_no_model(more)
    output = output or _default_output(source)
    require_writable(output, source, *more)
    checkpoint = output.with_name(output.name + ".checkpoint")
    require_writable(checkpoint, source, *more)
    checkpoints = Checkpoints(checkpoint, checkpoint_seconds)
    hierarchy = read_hierarchy(source, more, reading)
    say_what_was_read(hierarchy.report)
    choice = resolve(hierarchy, settings.given(), progress=True)
    chosen = choice.settings
    for reason in choice.reasons:
        say(reason)
    epochs = chosen.epochs_to_train
    watching.require_training(epochs, chosen.method)
    if resume and not epochs:
        say(f"there is nothing to resume: {chosen.method} has no epochs, and is done anew")
    before = _resume_point(output, checkpoint) if resume and epochs else None
    if before is not None:
        say(f"resuming at epoch {begin(hierarchy, chosen, before).epoch} of {epochs}")
    elif checkpoint.exists():
        say(f"starting afresh; --resume would go on from {checkpoint}")
    with watching.observers(output, say) as observers:
        embedding = embed(hierarchy, choice, resume=before, checkpoints=checkpoints, watch=observers, progress=True)
        # Where another method was better, those who watched the training see how that ended.
        observers.finish(embedding if embedding.provenance.method == chosen.method else None)
    made = embedding.provenance
    constructed = made.method != chosen.method  # a rival was better
    finished = constructed or made.epochs_done >= min(epochs, made.settings.get("epochs", epochs))
    saved = output if finished or before is not None or not output.exists() else partial_of(output)
    save(embedding, saved)
    if not finished:
        kept = "" if saved == output else f"; {output} is as it was"
        say(f"stopped after epoch {made.epochs_done} of {epochs}; saved {saved}; go on with --resume{kept}")
    for entry in made.log[len(choice.reasons) :]:
        say(f"epoch {entry.epoch}: {entry.text}" if epochs and not constructed else entry.text)
    evaluation = embedding.evaluate(threads=chosen.threads, device=chosen.scored_on)
    record, rows = evaluation.to_dict(), score_rows(evaluation)
    if embedding.keeps_distances:  # what it was made for comes first
        from ..evaluation import distortion

        measured = distortion(embedding, seed=chosen.seed)
        record["distortion"] = measured.to_dict()
        rows = [*distortion_rows(measured), *rows]
    if json:
        print_json(record)
    else:
        how = f", {count(made.epochs_done, 'epoch')}" if made.epochs_done else ""
        print_table(rows, f"{made.method}, dimension {chosen.dim}{how}")
        if evaluation.certificate is not None:
            print_line(evaluation.certificate.sentence())
    if made.clamped.times and made.clamped.at_radius is not None:
        steps = count(made.clamped.times, "step")
        say(f"{steps} ended beyond the largest radius and stopped there, at {made.clamped.at_radius:.1f}")
    if not finished:
        return 1
    checkpoint.unlink(missing_ok=True)
    say(f"saved {output}")
    return 0


def _default_output(source: str) -> Path:
    output = Path(f"{stem_of(source)}.parquet")
    taken = source != "-" and output.exists() and output.samefile(source)
    return output.with_suffix(".model.parquet") if taken else output


def _require_no_model(more: Sequence[str]) -> None:
    """Refuse the model after ``--resume MODEL``: it would be read as one more file of edges."""
    from ..io.model_file import is_model

    for path in more:
        if Path(path).is_file() and is_model(Path(path)):
            raise InputError(
                f"--resume takes no file, so {path!r} would be read as one more hierarchy: to train this model "
                f"further, name it as the output: --resume -o {path}"
            )


def _resume_point(output: Path, checkpoint: Path) -> Embedding | None:
    from ..io.model_file import load

    for path in (checkpoint, output):
        if path.exists():
            return load(path)
    say(f"nothing to resume beside {output}: starting at the first epoch")
    return None
