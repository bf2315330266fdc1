"""The figures of the paper: its numbers, its subjects, our runs of the synthetic trees."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError
from ..experiments.records import Record
from . import paper
from .ablations import bars_of
from .datasets import trees_of
from .planner import PICTURED
from .store import read_records

if TYPE_CHECKING:
    from ..embedding import Embedding

_TITLES = {"poincare": "Baseline (poincare)", "ga-dl-rw": "Geometry-aware (ga-dl-rw)"}


def require_plotting() -> None:
    """Fail before the work rather than after it when figures could not be drawn."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot", "drawing the figures (--no-figures leaves them out)")


def draw_figures(out: Path) -> list[Path]:
    """Draw every figure whose runs are stored, as PNG and SVG in the folder ``figures``; returns the files."""
    from ..report import figures
    from .illness_figure import three_illnesses

    folder = out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    files = [*_draw_pictures(out, folder), *figures.save(three_illnesses(), folder / paper.FIGURES["illness"])]
    for tree in trees_of("synthetic"):
        for figure, bars in bars_of(read_records(out, tree.name)).items():
            if len(bars) > 1:
                results = {label: [run["scores"] for run in runs] for label, runs in bars.items()}
                files += _draw_bars(figure, results, folder / f"{figure}-{tree.name}")
    return files


def _draw_pictures(out: Path, folder: Path) -> list[Path]:
    """Both embeddings at the end, and how they came about."""
    from ..report import figures

    rows = [_snapshots(out, method) for method in PICTURED]
    if not all(rows):
        return []
    titles = [_TITLES[method] for method in PICTURED]
    left, right = (row[-1][1] for row in rows)
    files = figures.save(figures.two_disks(left, right, titles), folder / paper.FIGURES["embeddings"])
    vectors = [[(epoch, embedding.vectors) for epoch, embedding in row] for row in rows]
    process = figures.learning_process(vectors, left.hierarchy, titles)
    return files + figures.save(process, folder / paper.FIGURES["process"])


def _draw_bars(figure: str, results: dict[str, list[Record]], path: Path) -> list[Path]:
    from ..report import figures

    draw: Callable[[dict[str, list[Record]]], Any]
    draw = figures.illness_by_setting if figure == paper.FIGURES["weights"] else figures.scores_by_setting
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
