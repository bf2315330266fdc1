"""Names beside dots, as many as fit without touching each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..types import Floats
from .groups import label_of
from .scene import Scene
from .style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..hierarchy import Hierarchy
    from .disk import Pen

_MOST_LABELS = 32
_MOST_TRIED = 150
_SMALLEST_SHARE = 0.02  # of all nodes in a subtree that is labelled in a disk without empty places
_MOST_CROWD = 10_000  # places that stand for all when there are more
_GAP = 2.0  # points between a dot and its label
_SIZE = 7.5
_AIR = np.array([-2.0, -1.0, 2.0, 1.0])  # pixels around a label


def place_labels(
    axes: Axes, scene: Scene, hierarchy: Hierarchy, pen: Pen, crowd: Floats, bounds: Sequence[float]
) -> int:
    """Label the largest subtrees at one of eight places around their dots; returns how many found room.

    A place is refused when its box leaves `bounds` or meets another label or labelled dot; of those left, the one
    that covers least of the crowd is taken.

    Parameters
    ----------
    pen
        What the dots were drawn with.
    crowd : (c, 2)
        Further places in the disk that labels should not cover if they can help it.
    bounds
        Left, bottom, right and top of the free area in pixels.
    """
    from matplotlib.font_manager import FontProperties

    canvas: Any = axes.figure.canvas
    measure = canvas.get_renderer().get_text_width_height_descent
    font = FontProperties(size=_SIZE)
    line_height = measure("lp", font, False)[1]  # a line is as high as this even if its letters are not
    pixels_per_point = canvas.figure.dpi / 72.0
    tried = scene.nodes[:_MOST_TRIED]
    if scene.nodes.size > _MOST_TRIED:
        tried = tried[scene.extent[tried] > 1]  # a few leaves out of hundreds would be labelled by chance
        if scene.reach:  # there are nodes everywhere, and a label hides some
            tried = tried[scene.extent[tried] >= _SMALLEST_SHARE * scene.nodes.size]
    dots = axes.transData.transform(scene.points[scene.nodes])
    crowd = np.concatenate([dots, axes.transData.transform(crowd)]) if crowd.size else dots
    crowd = crowd[:: 1 + len(crowd) // _MOST_CROWD]
    taken = np.empty((0, 4))
    placed = 0
    for code in tried.tolist():
        if placed == _MOST_LABELS:
            break
        text = label_of(hierarchy, code)
        if not text:
            continue
        width, height, _ = measure(text, font, False)
        height = max(height, line_height)
        x, y = axes.transData.transform(scene.points[code])
        away = (pen.dot_radius(np.log2(scene.extent[code])) + _GAP) * pixels_per_point
        boxes = _around(x, y, width, height, away, scene.points[code])
        free = (boxes[:, :2] >= bounds[:2]).all(axis=1) & (boxes[:, 2:] <= bounds[2:]).all(axis=1)
        free &= ~_meet(boxes, taken).any(axis=1)
        if not free.any():
            continue
        covered = np.where(free, _meet(boxes, np.hstack([crowd, crowd])).sum(axis=1), np.inf)
        box = boxes[int(covered.argmin())]
        dot = [x - away, y - away, x + away, y + away]
        taken = np.vstack([taken, box + _AIR, dot])
        left, bottom = axes.transData.inverted().transform(box[:2])
        axes.text(
            left,
            bottom,
            text,
            fontsize=_SIZE,
            color=INK,
            va="bottom",
            zorder=6,
            clip_on=False,
            # A halo would turn the text into outlines in an SVG; a pale box keeps it text.
            bbox={"boxstyle": "square,pad=0.08", "facecolor": "white", "alpha": 0.72, "linewidth": 0},
        )
        placed += 1
    return placed


def _around(x: float, y: float, width: float, height: float, away: float, place: Floats) -> Floats:
    """Eight boxes (8, 4) around a dot, those that lead outwards from the centre of the disk first."""
    angles = np.arange(8) * np.pi / 4
    outward = np.arctan2(place[1], place[0]) if place.any() else np.pi / 4
    angles = angles[np.argsort(-np.cos(angles - outward), kind="stable")]
    cos, sin = np.cos(angles), np.sin(angles)
    left = x + cos * away + np.where(cos > 0.4, 0.0, np.where(cos < -0.4, -width, -width / 2))
    bottom = y + sin * away + np.where(sin > 0.4, 0.0, np.where(sin < -0.4, -height, -height / 2))
    return np.stack([left, bottom, left + width, bottom + height], axis=1)


def _meet(a: Floats, b: Floats) -> NDArray[np.bool_]:
    """Whether boxes a (m, 4) and b (k, 4) overlap, (m, k)."""
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])
    return np.asarray((low <= high).all(axis=-1))
