"""bench: several methods on one hierarchy, in several dimensions and with several seeds, on equal terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..checks import require_whole
from ..hierarchy import Hierarchy
from ..interruption import answered
from ..methods._fit import read_and_tell
from ..methods.progress import TrainingProgress
from ..types import Objective
from ..words import say as say_it
from .bench_folder import BenchFolder
from .bench_settings import DIMS, METHODS, SEEDS, BenchPlan, HoldOut
from .bench_table import BenchTable, row_of, summarise
from .one_run import Bencher
from .records import Record, csv_text, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Bench", "bench"]


@dataclass(frozen=True, repr=False)
class Bench:
    """Finished runs of several methods on one hierarchy.

    Attributes
    ----------
    rows
        One flat mapping for each run: method, dimension, seed, all settings, scores, seconds; and ``failure``, a
        sentence, or None.
    data, terms
        The hierarchy that all runs are on (its size and hashes), and what is the same for all of them.
    missing
        How many runs that were asked for are not there, because somebody stopped the bench.
    """

    records: list[Record]
    plan: BenchPlan
    data: Record
    missing: int = 0

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row for each run."""
        return [row_of(record) for record in self.records]

    @property
    def terms(self) -> Record:
        """What is the same for all runs."""
        return self.plan.terms

    def __repr__(self) -> str:
        failed = sum("failure" in record for record in self.records)
        return f"<Bench of {len(self.records):,} runs, {failed:,} failed, {self.missing:,} missing>"

    def table(self) -> BenchTable:
        """Mean and spread over seeds by dimension and method: print it, or take its ``lines``."""
        return summarise(self.plan, self.rows, self.records)

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        from ..io.frames import library

        return library("pandas").DataFrame(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON."""
        table = self.table()
        return {
            "data": self.data,
            "terms": self.terms,
            "runs": self.rows,
            "lines": table.lines,
            "notes": table.notes,
            "missing": self.missing,
        }

    def to_csv(self) -> str:
        """All runs, one a line; a cell is empty where a method has no such setting or a run no such figure."""
        rows = self.rows
        columns = list(dict.fromkeys(name for row in rows for name in row))
        # The failure ends every row, whatever settings a method has.
        columns = [name for name in columns if name not in _LAST] + [name for name in _LAST if name in columns]
        return csv_text(columns, ([row.get(name) for name in columns] for row in rows))

    def figure(self) -> Figure:
        """MAP and mean rank by dimension and method, with their spread; needs matplotlib."""
        from ..report.charts import scores_by_dimension

        return scores_by_dimension(self.table().lines)

    def save(self, folder: Path) -> list[Path]:
        """Write results.csv and table.md; returns the files."""
        return [
            write_text(folder / "results.csv", self.to_csv()),
            write_text(folder / "table.md", self.table().to_markdown()),
        ]


_LAST = ("version", "finished", "failure")


def bench(
    source: Any,
    folder: Path | str | None = None,
    *,
    methods: Sequence[str] = METHODS,
    dims: Sequence[int] = DIMS,
    seeds: Sequence[int] = SEEDS,
    objective: Objective = "parents",
    split: HoldOut = "none",
    share: float | None = None,
    threads: int = 0,
    progress: bool = False,
    **settings: Any,
) -> Bench:
    """Fit several methods in several dimensions with several seeds on one hierarchy, and score them.

    A method that fails is a row with the reason. Ctrl-C ends the bench with what is finished.

    Parameters
    ----------
    source
        A :class:`Hierarchy` or anything :func:`treeball.read` takes.
    folder
        Where every finished run is kept at once; a second call with the same folder makes only what is missing. Other
        methods, dimensions and seeds are added; other terms (the rest) or another hierarchy are refused.
    methods, dims, seeds
        What is compared: all combinations.
    objective
        What is trained for and ranked.
    split
        Hold out leaves, edges or closure pairs (see :func:`treeball.split`), drawn by the seed, and rank them too.
    share
        The share to hold out, 0.05 by default.
    threads
        Workers; 0 uses all cores.
    progress
        Show on standard error which run is on, how far it is, and how it ended.
    **settings
        Settings of :func:`treeball.fit` for all methods, such as ``epochs=200``; the table says who does not use one.
    """
    plan = BenchPlan(
        methods=methods,
        dims=dims,
        seeds=seeds,
        objective=objective,
        split=split,
        share=share,
        settings={name: value for name, value in settings.items() if value is not None},
    )
    require_whole("threads", threads, 0)
    hierarchy = source if isinstance(source, Hierarchy) else read_and_tell(source)
    say: Callable[[str], None] = say_it if progress else lambda text: None
    bencher = Bencher(hierarchy, plan, threads, TrainingProgress if progress else None)
    bencher.parts(plan.seeds[0])  # a share that cannot be held out is refused before anything is written
    kept = BenchFolder(None if folder is None else Path(folder), hierarchy, plan)
    jobs = plan.jobs()
    missing = 0
    for number, job in enumerate(jobs, start=1):
        if kept.get(job) is not None:
            say(f"[{number}/{len(jobs)}] {job}: done before")
            continue
        say(f"[{number}/{len(jobs)}] {job}")
        try:
            record = bencher.run(job)
        except KeyboardInterrupt:
            answered()
            missing = sum(kept.get(job) is None for job in jobs)
            break
        kept.put(job, record)
        say(f"    {_outcome(record)}")
    result = Bench(kept.records(), kept.plan, {"source": kept.source, **kept.data}, missing)
    if kept.path is not None:
        result.save(kept.path)
    return result


def _outcome(record: Record) -> str:
    """A finished run in a line."""
    if "failure" in record:
        return f"failed: {record['failure']}"
    scores, held_out = record["scores"], record.get("held_out")
    if scores["map"] is None:
        return f"no node has a positive; {record['seconds']:.1f} s"
    text = f"MAP {scores['map']:.4f}, mean rank {scores['mean_rank']:.3f}"
    if held_out is not None:
        text += f"; held out: MAP {held_out['map']:.4f}, mean rank {held_out['mean_rank']:.3f}"
    return f"{text}; {record['seconds']:.1f} s"
