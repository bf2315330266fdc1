"""One run of a bench: choose the settings, fit, score, rank what was held out; or say why that failed."""

from __future__ import annotations

import time
import traceback
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import __version__
from ..embedding import Embedding
from ..errors import TreeballError
from ..evaluation import Split, evaluate_held_out, split
from ..hierarchy import Hierarchy
from ..interruption import is_interruption
from ..io.readers import read
from ..methods import insert
from ..methods.auto import Choice, resolve
from ..methods.registry import find
from ..workers import thread_count
from .bench_settings import BenchPlan, Job
from .records import Record
from .timed_fit import ShowProgress, timed_fit, warm_up

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Bencher", "choose"]


class Parts(NamedTuple):
    """What is trained on, and what is held out of it."""

    train: Hierarchy
    held_out: Split | None


class Bencher:
    """Makes the runs of a plan on one hierarchy.

    Parameters
    ----------
    threads
        Workers; 0 uses all cores.
    progress
        Makes a display for a training.
    """

    def __init__(
        self, hierarchy: Hierarchy, plan: BenchPlan, threads: int = 0, progress: ShowProgress | None = None
    ) -> None:
        self.hierarchy = hierarchy
        self.plan = plan
        self.threads = threads
        self.progress = progress
        self._warm: set[str] = set()
        self.parts = lru_cache(maxsize=1)(self._parts)  # all runs of a seed follow one another

    def run(self, job: Job) -> Record:
        """The record of a run; one that failed has the reason as ``failure``, and what it had by then.

        Raises
        ------
        KeyboardInterrupt
            Ctrl-C is no failure of a method.
        """
        record: Record = {"job": job._asdict(), "terms": self.plan.terms, "threads": thread_count(self.threads)}
        try:
            self._run(job, record)
        except Exception as error:
            if is_interruption(error):
                raise KeyboardInterrupt from error
            record["failure"] = " ".join(str(error).split()) or type(error).__name__
            if not isinstance(error, TreeballError):  # nobody foresaw it: a developer wants to know where
                record["failure"] = f"{type(error).__name__}: {record['failure']}"
                record["traceback"] = traceback.format_exc()
        record["version"] = __version__
        record["finished"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return record

    def _run(self, job: Job, record: Record) -> None:
        """Add to the record step by step, so that a failure leaves what was found before it."""
        train, held_out = self.parts(job.seed)
        own = {**job._asdict(), "objective": self.plan.objective, "threads": self.threads}
        choice, not_used = choose(train, own, self.plan.settings)
        record["settings"] = choice.settings.to_dict()
        record["not_used"] = not_used
        if choice.settings.deterministic and choice.settings.epochs_to_train:
            record["threads"] = 1  # whatever there are
        for settings in (choice.settings, *choice.rivals):
            if settings.method not in self._warm:
                warm_up(settings)
                self._warm.add(settings.method)
        fitted = timed_fit(train, choice, progress=self.progress)
        made = fitted.embedding.provenance
        record["made_by"] = made.method
        record["seconds"] = fitted.seconds
        record["pairs_trained"] = fitted.pairs
        record["clamped"] = made.clamped.times
        record["log"] = [entry.to_dict() for entry in made.log]
        record["scores"] = fitted.embedding.evaluate(self.plan.objective, threads=self.threads).to_dict()
        record["pairs"] = int(train.positives(self.plan.objective)[1].size)
        if held_out is not None:
            record["held_out"] = self._rank_held_out(fitted.embedding, held_out)

    def _rank_held_out(self, embedding: Embedding, held_out: Split) -> Record:
        if self.plan.split == "leaves":  # which the model does not have yet
            embedding = insert(embedding, held_out.held_out, threads=self.threads).embedding
        ranked = evaluate_held_out(embedding, held_out.held_out, self.plan.objective, threads=self.threads)
        return ranked.to_dict()

    def _parts(self, seed: int) -> Parts:
        """The parts that a seed draws, the same for all methods and dimensions."""
        if self.plan.split == "none":
            return Parts(self.hierarchy, None)
        share: dict[str, Any] = {self.plan.split: self.plan.share}
        made = split(self.hierarchy, **share, seed=seed)
        nodes = [*made.train, *((name, None) for name in made.alone)]
        return Parts(read(nodes, direction="child-parent", reduce="never"), made)


def choose(hierarchy: Hierarchy, own: Mapping[str, Any], common: Mapping[str, Any]) -> tuple[Choice, list[str]]:
    """Settings of a run, and the names of those common ones that its method has no use for.

    Parameters
    ----------
    own
        Method, dimension, seed and what else every method takes.
    common
        What all methods were given.
    """
    # What auto takes is asked without the common settings: one that few methods use should not decide for it.
    is_left_open = own["method"] == "auto"
    kind = type(resolve(hierarchy, own).settings) if is_left_open else find(own["method"]).settings
    used = {name: value for name, value in common.items() if name in kind.names()}
    return resolve(hierarchy, {**own, **used}), [name for name in common if name not in used]
