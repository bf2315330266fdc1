"""Every figure treeball draws: embeddings in the disk, their training, and comparisons of settings.

Each function returns a matplotlib Figure, and :func:`save` writes it as PNG or SVG.

>>> from treeball.report import figures
>>> figures.save(figures.disk(embedding), "mammals.png")     # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from ..embedding import Embedding
from ..errors import InputError
from ..evaluation.illness import KINDS
from ..hierarchy import Hierarchy
from ..types import Geometry, Objective
from .arcs import geodesics
from .charts import illness_by_setting, scores_by_dimension, scores_by_setting, trace
from .disk import Pen, Window, draw_disk, draw_window, group_legend, ill_legend
from .groups import Colouring, display_name
from .labels import place_labels
from .scene import Scene, densest_window, disk_points, make_scene
from .spread import Projection, require_plane, shows_vectors
from .style import ILL, ILL_NAMES, new_figure, save, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..evaluation import Evaluation

__all__ = [
    "caption",
    "disk",
    "illness_by_setting",
    "learning_process",
    "save",
    "scores_by_dimension",
    "scores_by_setting",
    "trace",
    "two_disks",
]

_MARGIN = 0.2  # inches, as all sizes here
_TITLE = 0.32
_ZOOM_WIDTH = 0.32  # of the window, in units of the disk's radius


def disk(
    embedding: Embedding,
    *,
    evaluation: Evaluation | Literal[False] | None = None,
    title: str | None = None,
    inset: bool | Window | None = None,
    focus: Hashable | None = None,
    depth: int | None = None,
    labels: bool = True,
    colouring: Colouring = "subtree",
    projection: Projection | None = None,
) -> Figure:
    """An embedding in the disk, its ill pairs in red.

    Parameters
    ----------
    embedding
        Of any dimension and geometry.
    evaluation
        Scores of this embedding, if they are at hand; by default they are computed. False draws no ill pairs.
    title
        By default the method, the size and the scores; an empty text for none.
    inset
        True enlarges the part with the most ill pairs; or the part itself as (left, right, bottom, top).
    focus
        Node to move to the centre, by the isometry that keeps all distances.
    depth
        Show only so many levels below the focus, or below the root without one.
    labels
        Write names where they do not overlap, the largest subtrees first.
    colouring
        What colours stand for: the largest subtrees, the depth, or a column of a table, see
        :func:`treeball.report.table.read_column`.
    projection
        ``"disk"``, the Poincaré disk, for two hyperbolic dimensions, or ``"spread"``: distances from the centre to
        scale, and angles as wide as nodes need them. By default the first, unless it would show most nodes on the rim.
    """
    if projection == "disk":
        require_plane(embedding)  # refuse before the work of ranking
    if evaluation is None:
        evaluation = embedding.evaluate()
    scores = evaluation or None
    scene = make_scene(embedding, scores, focus=focus, depth=depth, colouring=colouring, projection=projection)
    title = _title(embedding, scores, focus, depth) if title is None else title
    with style():
        side, column = 6.4, 2.7 if inset else 2.3
        figure = new_figure(side + column + 3 * _MARGIN, side + 2 * _MARGIN + (_TITLE if title else 0.0))
        window = _window(scene) if inset is True else inset or None
        # The column with the legends is on the side of the window, so that no line to it crosses the disk.
        left = window is not None and window[0] + window[1] < 0
        disk_x, column_x = (column + 2 * _MARGIN, _MARGIN) if left else (_MARGIN, side + 2 * _MARGIN)
        axes = _box(figure, disk_x, _MARGIN, side, side)
        pen = Pen.for_disk(side, scene.nodes.size, scene.ill_kind.size)
        draw_disk(axes, scene, pen)
        words = _box(figure, column_x, _MARGIN, column, side)
        words.set_axis_off()
        low = window is not None and window[2] + window[3] < 0
        if window is not None:
            zoom = _box(figure, column_x, _MARGIN if low else _MARGIN + side - column, column, column)
            draw_window(zoom, axes, scene, pen.larger(1.5), window)
        below = 1.0 if window is None or low else 1.0 - (column + 2 * _MARGIN) / side
        if scores is not None:
            ill_legend(words, scene, loc="upper left", bbox_to_anchor=(0.0, below))
            below -= 1.0 / side
        group_legend(words, scene, loc="upper left", bbox_to_anchor=(0.0, below))
        _note(words, scene, embedding, scores, (column + _MARGIN) / side if low else 0.0)
        if title:
            _text(figure, _MARGIN, side + 2 * _MARGIN + 0.2, title, fontsize=10.5, fontweight="bold", va="top")
        if labels:
            bounds = (disk_x - 0.17, 0.03, disk_x + side + 0.5 * _MARGIN, side + 1.6 * _MARGIN)
            pixels = [value * figure.dpi for value in bounds]
            place_labels(axes, scene, embedding.hierarchy, pen, _ill_crowd(scene), pixels)
    return figure


def two_disks(
    left: Embedding,
    right: Embedding,
    titles: Sequence[str],
    *,
    evaluations: Sequence[Evaluation] | None = None,
    inset: bool = True,
) -> Figure:
    """Two 2-d embeddings side by side, ill pairs in red, the part with the most of them enlarged: the paper's Figure 1.

    Parameters
    ----------
    left, right
        Two-dimensional embeddings, as for :func:`disk`.
    titles
        One for each.
    evaluations
        Their scores, if they are at hand.
    inset
        Whether to enlarge a part of each.
    """
    embeddings = (left, right)
    if len(titles) != 2:
        raise InputError(f"two disks need two titles, not {len(titles)}")
    for embedding in embeddings:
        disk_points(embedding)
    scores = list(evaluations or [embedding.evaluate() for embedding in embeddings])
    side, zoom_side = 5.0, 2.2
    foot = zoom_side if inset else 0.85
    with style():
        figure = new_figure(2 * side + 3 * _MARGIN, side + foot + _TITLE + 2.8 * _MARGIN)
        for number, (embedding, score) in enumerate(zip(embeddings, scores, strict=True)):
            scene = make_scene(embedding, score)
            x, y = _MARGIN + number * (side + _MARGIN), foot + 2 * _MARGIN
            axes = _box(figure, x, y, side, side)
            pen = Pen.for_disk(side, scene.nodes.size, scene.ill_kind.size)
            draw_disk(axes, scene, pen)
            _text(figure, x, y + side + 0.12, titles[number], fontweight="bold", fontsize=11)
            if inset:
                zoom = _box(figure, x, _MARGIN, zoom_side, zoom_side)
                draw_window(zoom, axes, scene, pen.larger(1.5), _window(scene))
            legend_x = x + (zoom_side + _MARGIN if inset else 0.0)
            words = _box(figure, legend_x, _MARGIN, side / 2, foot)
            words.set_axis_off()
            ill_legend(words, scene, loc="lower left", bbox_to_anchor=(0.0, 0.28 if inset else 0.0))
            place = (legend_x, _MARGIN) if inset else (legend_x + 1.8, _MARGIN + 0.2)
            _text(figure, *place, f"MAP {score.map:.3f}\nmean rank {score.mean_rank:.2f}", linespacing=1.4)
    return figure


def learning_process(
    rows: Sequence[Sequence[tuple[int, NDArray[np.float64]]]],
    hierarchy: Hierarchy,
    row_titles: Sequence[str],
    *,
    geometry: Geometry = "poincare",
    objective: Objective = "parents",
) -> Figure:
    """Embeddings at several epochs, one training run a row, ill pairs in red: the paper's Figure 2.

    Parameters
    ----------
    rows
        For each run the epochs and the vectors (n, 2) at their end.
    hierarchy
        What the vectors embed.
    row_titles
        One for each run.
    geometry, objective
        What the vectors are and what they were trained for; they decide which pairs are ill.
    """
    if not rows or len(rows) != len(row_titles) or any(not row for row in rows):
        raise InputError("the learning process needs one title and at least one epoch for each row")
    columns = max(len(row) for row in rows)
    side, gap, left, foot = 1.55, 0.08, 0.42, 0.4
    cell = side + 0.36
    with style():
        figure = new_figure(left + columns * (side + gap) + _MARGIN, foot + len(rows) * (cell + gap))
        for i, (row, name) in enumerate(zip(rows, row_titles, strict=True)):
            bottom = foot + (len(rows) - 1 - i) * (cell + gap)
            _text(
                figure,
                0.12,
                bottom + side / 2,
                name,
                rotation=90,
                va="center",
                ha="left",
                fontweight="bold",
                fontsize=9,
            )
            for j, (epoch, vectors) in enumerate(row):
                embedding = Embedding(vectors, hierarchy, geometry)
                scene = make_scene(embedding, embedding.evaluate(objective))
                x = left + j * (side + gap)
                pen = Pen.for_disk(side, scene.nodes.size, scene.ill_kind.size)
                draw_disk(_box(figure, x, bottom, side, side), scene, pen)
                words = f"epoch {epoch:,}\n{scene.ill_kind.size:,} ill"
                _text(figure, x + side / 2, bottom + side + 0.02, words, ha="center", fontsize=8, linespacing=1.15)
        _kinds_in_a_row(figure)
    return figure


# ---- parts ----


def _kinds_in_a_row(figure: Figure) -> None:
    from matplotlib.lines import Line2D

    marks = [Line2D([], [], color=ILL[kind], linewidth=2.0) for kind in KINDS]
    words = [f"{ILL_NAMES[kind]} illness" for kind in KINDS]
    figure.legend(marks, words, loc="lower center", ncols=len(KINDS), borderaxespad=0.4, handlelength=1.6)


def _box(figure: Figure, x: float, y: float, width: float, height: float) -> Axes:
    """Axes at a place in inches from the lower left corner."""
    across, up = figure.get_size_inches()
    return figure.add_axes((x / across, y / up, width / across, height / up))


def _text(figure: Figure, x: float, y: float, words: str, **look: object) -> None:
    across, up = figure.get_size_inches()
    figure.text(x / across, y / up, words, **look)  # type: ignore[arg-type]


def caption(embedding: Embedding, scores: Evaluation | None) -> str:
    """The method, the size and the scores of an embedding, for a title."""
    words = f"{embedding.provenance.method or embedding.geometry}, {len(embedding):,} nodes"
    if scores is not None and not np.isnan(scores.map):
        words += f": MAP {scores.map:.3f}, mean rank {scores.mean_rank:.2f}"
    return words


def _title(embedding: Embedding, scores: Evaluation | None, focus: Hashable | None, depth: int | None) -> str:
    words = caption(embedding, scores)
    if focus is not None:
        names = embedding.names
        words += f"; seen from {display_name(names.called([names.find(focus)])[0])}"
    if depth is not None:
        words += f"; {depth} {'level' if depth == 1 else 'levels'}"
    return words


def _note(axes: Axes, scene: Scene, embedding: Embedding, scores: Evaluation | None, height: float) -> None:
    """Say what the picture does not: how it is to be read, ill pairs outside it, or nodes that were never ranked."""
    notes = []
    if scene.lines == "spread" and shows_vectors(embedding):
        notes.append(
            "Spread out: distances from the centre\nare to scale; angles are widened where\n"
            "nodes crowd, in the order they have."
        )
    elif scene.lines == "spread":
        notes.append(
            f"Spread out: each node is as far from the\nmiddle one as in {embedding.dim} dimensions; the\n"
            "order around it is the tree's."
        )
    if scene.hidden_ill:
        notes.append(f"{scene.hidden_ill:,} more ill pairs outside\nthe part shown")
    if scores is not None and not scores.ranking.is_exact:
        notes.append(
            f"ill pairs of {scores.ranking.sources.size:,} sampled\nnodes out of {scores.ranking.population:,}"
        )
    axes.text(0.0, height, "\n\n".join(notes), transform=axes.transAxes, fontsize=8, color="#666666", va="bottom")


def _window(scene: Scene) -> Window:
    half = _ZOOM_WIDTH / 2
    x, y = densest_window(scene, 0.85 * half)  # not to the frame: an ill node needs air around it
    # Far outside the rim there is nothing to see.
    x, y = (float(np.clip(value, half - 1.04, 1.04 - half)) for value in (x, y))
    return x - half, x + half, y - half, y + half


def _ill_crowd(scene: Scene) -> NDArray[np.float64]:
    lines = geodesics(scene.points[scene.ill_node], scene.points[scene.ill_positive])
    return np.concatenate(lines) if lines else np.empty((0, 2))
