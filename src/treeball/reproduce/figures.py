"""Figures 2, 3, 5 and 6 of the paper, drawn from stored runs of the synthetic trees."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError
from ..experiments.records import Record, read_json
from .datasets import trees_of
from .plan import PICTURED, Choices, figure_jobs
from .runner import read_records

if TYPE_CHECKING:
    from ..embedding import Embedding

_TITLES = {"poincare": "Baseline (poincare)", "ga-dl-rw": "Geometry-aware (ga-dl-rw)"}


def require_plotting() -> None:
    """Fail before the work rather than after it when figures could not be drawn."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot", "drawing the figures (--no-figures leaves them out)")


def draw_figures(out: Path, choices: Choices) -> list[Path]:
    """Draw every figure whose runs are stored, as PNG and SVG in the folder ``figures``; returns the files."""
    folder = out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    files = _draw_pictures(out, folder)
    for tree in trees_of("synthetic"):
        for figure, bars in figure_jobs(tree, choices).items():
            results: dict[str, list[Record]] = {}
            for label, jobs in bars.items():
                found = [read_json(out / "runs" / f"{job.name}.json") for job in jobs]
                scores = [record["scores"] for record in found if record is not None]
                if scores:
                    results[label] = scores
            if len(results) > 1:
                files += _draw_bars(figure, results, folder / f"{figure}-{tree.name}")
    return files


def _draw_pictures(out: Path, folder: Path) -> list[Path]:
    """Figure 2, both embeddings at the end, and Figure 3, how they came about."""
    from ..report import figures

    rows = [_snapshots(out, method) for method in PICTURED]
    if not all(rows):
        return []
    titles = [_TITLES[method] for method in PICTURED]
    left, right = (row[-1][1] for row in rows)
    files = figures.save(figures.two_disks(left, right, titles), folder / "figure-2")
    vectors = [[(epoch, embedding.vectors) for epoch, embedding in row] for row in rows]
    return files + figures.save(figures.learning_process(vectors, left.hierarchy, titles), folder / "figure-3")


def _draw_bars(figure: str, results: dict[str, list[Record]], path: Path) -> list[Path]:
    from ..report import figures

    draw: Callable[[dict[str, list[Record]]], Any]
    draw = figures.illness_by_setting if figure == "figure-5" else figures.scores_by_setting
    return list(figures.save(draw(results), path))


def _snapshots(out: Path, method: str) -> list[tuple[int, Embedding]]:
    """Epochs and embeddings along the training of `method` on the small tree, of the lowest seed that kept them."""
    from ..io.model_file import load

    records = [
        record
        for record in read_records(out, "synthetic-156")
        if record["settings"]["method"] == method and record["snapshots"] and not record["variant"]
    ]
    if not records:
        return []
    first = min(records, key=lambda record: int(record["settings"]["seed"]))
    files = [(one["epoch"], out / one["file"]) for one in first["snapshots"]]
    return [(epoch, load(file)) for epoch, file in files if file.is_file()]
