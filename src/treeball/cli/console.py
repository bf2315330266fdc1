"""What commands print: results to standard output, progress and remarks to standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ..words import count

if TYPE_CHECKING:
    from rich.progress import Progress

    from ..evaluation import Evaluation

_PLAIN_SECONDS = 10.0


def say(text: str) -> None:
    """A remark for the person at the terminal."""
    print(text, file=sys.stderr, flush=True)


def print_json(record: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    print(json.dumps(record, ensure_ascii=False))


def print_table(rows: list[tuple[str, str]], title: str | None = None) -> None:
    """Names and values on standard output: boxed on a terminal, aligned text in a pipe."""
    print_rows(None, rows, title)


def print_rows(header: Sequence[str] | None, rows: Sequence[Sequence[str]], title: str | None = None) -> None:
    """A table on standard output: boxed on a terminal, aligned text in a pipe."""
    if sys.stdout.isatty():
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(title or ""), box=SIMPLE_HEAD, show_header=header is not None, title_justify="left")
        for column in range(len(rows[0]) if rows else len(header or ())):
            table.add_column(header[column] if header else "", style="cyan" if column == 0 else "")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        Console().print(table)
        return
    if title:
        print(title)
    lines = [header, *rows] if header else list(rows)
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))] if lines else []
    for line in lines:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip())


def score_rows(evaluation: Evaluation) -> list[tuple[str, str]]:
    """The score table of an evaluation, with intervals when it was sampled."""
    record = evaluation.to_dict()
    sampled = record.get("sampled")

    def score(name: str, form: str) -> str:
        if record[name] is None:
            return "none: no node has a positive"
        if not sampled:
            return format(record[name], form)
        low, high = sampled["interval_95"][name]
        return f"{record[name]:{form}}  ({low:{form}} to {high:{form}})"

    illness = record["illness"]
    ill, pairs = sum(illness.values()), evaluation.ranking.ranks.size
    rows = [
        ("objective", f"{record['objective']} ({count(pairs, 'pair')})"),
        ("MAP", score("map", ".4f")),
        ("mean rank", score("mean_rank", ".3f")),
        ("hits@1", score("hits_at_1", ".4f")),
        ("ill pairs", f"{ill:,} of {pairs:,}"),
        ("  capacity", f"{illness['capacity']:,}"),
        ("  intra-subtree", f"{illness['intra_subtree']:,}"),
        ("  inter-subtree", f"{illness['inter_subtree']:,}"),
        ("largest radius", f"{record['max_radius']:.2f}"),
    ]
    if sampled:
        rows.append(("sampled", f"{sampled['nodes']:,} of {sampled['of']:,} nodes, 95 % intervals"))
    return rows


class TrainingProgress:
    """A live line while training: epoch, loss, pairs per second, time left, a sampled MAP. Plain lines in a pipe."""

    def __init__(self, epochs: int, first_epoch: int = 0) -> None:
        self.epochs = epochs
        self.first_epoch = first_epoch
        self.started = self.last_line = time.monotonic()
        self.live: Progress | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and self.epochs > self.first_epoch:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self.live = Progress(
                TextColumn("epoch"),
                MofNCompleteColumn(),
                BarColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.fields[state]}"),
                console=Console(stderr=True),
            )
            self.task = self.live.add_task("train", total=self.epochs, completed=self.first_epoch, state="")
            self.live.start()
        return self

    def show(self, epoch: int, loss: float, pairs_per_second: float, sampled_map: float | None) -> None:
        """Show the state after `epoch` epochs."""
        state = f"loss {loss:.4f}  {_rate(pairs_per_second)} pairs/s"
        if sampled_map is not None:
            state += f"  MAP≈{sampled_map:.3f}"
        now = time.monotonic()
        if self.live is not None:
            self.live.update(self.task, completed=epoch, state=state)
        elif now - self.last_line >= _PLAIN_SECONDS or epoch == self.epochs:
            done = max(1, epoch - self.first_epoch)
            left = (now - self.started) / done * (self.epochs - epoch)
            say(f"epoch {epoch}/{self.epochs}  {state}  {left:.0f} s left")
            self.last_line = now

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.stop()


def _rate(value: float) -> str:
    return f"{value / 1e6:.2f}M" if value >= 1e6 else f"{value / 1e3:.1f}k"
