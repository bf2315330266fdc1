"""Draws a scene on axes: rim, geodesic edges, dots, ill pairs in red, and a window enlarged beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation.illness import KINDS
from ..types import Floats
from .arcs import TOLERANCE, geodesics
from .groups import MOST_STEPS
from .scene import Scene
from .spread import spread_lines
from .style import GROUND, ILL, ILL_NAMES, INK, OTHER, RIM, RING, SUBTREES

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

Window = tuple[float, float, float, float]

# As vectors, more than this many marks make an SVG that browsers struggle with.
RASTERIZE_ABOVE = 5_000
_REACH = 1.012  # half the width of the axes: the rim and its line


@dataclass(frozen=True)
class Pen:
    """Widths and sizes in points for a disk of a certain size."""

    edge: float
    ill: float
    dot: float
    growth: float
    doublings: float
    opacity: float

    @classmethod
    def for_disk(cls, inches: float, nodes: int, ill: int) -> Pen:
        """Thinner lines in smaller disks, for more nodes and for more ill pairs."""
        scale = (inches / 6.0) ** 0.6
        crowding = float(np.clip((150.0 / max(nodes, 1)) ** 0.25, 0.2, 2.0))
        thinning = float(np.clip((40.0 / max(ill, 1)) ** 0.2, 0.25, 1.0))
        return cls(
            edge=0.9 * scale * crowding,
            ill=max(0.3, 1.6 * scale * thinning),
            dot=2.0 * scale * crowding,
            growth=0.42 * scale * crowding**0.5,
            doublings=float(np.log2(max(nodes, 2))),
            # Through many lines the few wide ones stay to be seen.
            opacity=float(np.clip(0.6 * (1_500.0 / max(nodes, 1)) ** 0.25, 0.2, 0.6)),
        )

    def larger(self, factor: float) -> Pen:
        """The pen for an enlarged part of the picture."""
        return replace(
            self,
            edge=self.edge * factor,
            ill=self.ill * factor,
            dot=self.dot * factor,
            growth=self.growth * factor,
        )

    def dot_radius(self, doublings: float) -> float:
        """Radius in points of a dot whose subtree has 2^doublings nodes: the few large ones stand out of the many."""
        return self.dot / 2 + self.growth * doublings * min(1.0, doublings / self.doublings)


def group_colours(scene: Scene) -> Floats:
    """Colours (groups, 4): apart from each other, or a light-to-dark scale; grey for those that belong to none."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgba_array

    groups = len(scene.group_names) - 1
    if scene.is_scale:
        steps = colormaps["viridis"](np.linspace(0.0, 0.92, MOST_STEPS))[:groups]
        return np.concatenate([np.asarray(steps).reshape(-1, 4), to_rgba_array([OTHER])])
    return np.asarray(to_rgba_array([*SUBTREES[:groups], OTHER]))


def draw_disk(axes: Axes, scene: Scene, pen: Pen) -> None:
    """The whole disk on axes, which lose their frame."""
    from matplotlib.patches import Circle

    axes.set(xlim=(-_REACH, _REACH), ylim=(-_REACH, _REACH), aspect="equal")
    axes.set_axis_off()
    axes.add_patch(Circle((0, 0), 1.0, facecolor=GROUND, edgecolor=RIM, linewidth=0.8, zorder=0))
    _draw_rings(axes, scene)
    _draw_marks(axes, scene, pen, TOLERANCE, None)


def _draw_rings(axes: Axes, scene: Scene) -> None:
    """Circles at round distances from the centre, each with its number, where distances are drawn to scale."""
    from matplotlib.patches import Circle
    from matplotlib.ticker import MaxNLocator

    if not scene.reach:
        return
    for distance in MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(0.0, scene.reach):
        radius = distance / scene.reach
        if 0.0 < radius < 0.97:
            axes.add_patch(Circle((0, 0), radius, fill=False, edgecolor=RING, linewidth=0.6, zorder=0.5, gid="ring"))
            axes.text(
                0.0,
                radius,
                f"{distance:g}",
                fontsize=6.0,
                color=OTHER,
                ha="center",
                va="center",
                zorder=5.5,
                bbox={"boxstyle": "square,pad=0.1", "facecolor": GROUND, "alpha": 0.7, "linewidth": 0},
            )


def draw_window(axes: Axes, disk: Axes, scene: Scene, pen: Pen, window: Window) -> None:
    """The part (left, right, bottom, top) of the disk enlarged on `axes`, tied to its place by dashed lines."""
    from matplotlib.patches import Circle

    left, right, bottom, top = window
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal", xticks=[], yticks=[], facecolor="white")
    axes.add_patch(Circle((0, 0), 1.0, facecolor=GROUND, edgecolor=RIM, linewidth=0.8, zorder=0))
    _draw_marks(axes, scene, pen, TOLERANCE * (right - left) / 2, window)
    for spine in axes.spines.values():
        spine.set(visible=True, color="#555555", linewidth=1.0)
    _tie(axes, disk, window)


def _tie(axes: Axes, disk: Axes, window: Window) -> None:
    """A frame around the window in the disk, and dashed lines from the side that faces the enlargement to it."""
    from matplotlib.patches import ConnectionPatch, Rectangle

    left, right, bottom, top = window
    disk.add_patch(
        Rectangle(
            (left, bottom),
            right - left,
            top - bottom,
            fill=False,
            edgecolor="#555555",
            linewidth=1.0,
            zorder=7,
            clip_on=False,
        )
    )
    small = disk.transData.transform([(left, bottom), (right, top)])
    large = axes.transAxes.transform([(0, 0), (1, 1)])
    if large[1, 1] < small[0, 1]:  # below
        facing = [((left, bottom), (0, 1)), ((right, bottom), (1, 1))]
    elif large[0, 0] > small[1, 0]:
        facing = [((right, bottom), (0, 0)), ((right, top), (0, 1))]
    else:
        facing = [((left, bottom), (1, 0)), ((left, top), (1, 1))]
    for start, end in facing:
        line = ConnectionPatch(
            xyA=start,
            coordsA=disk.transData,
            xyB=end,
            coordsB=axes.transAxes,
            linestyle=(0, (4, 3)),
            linewidth=0.8,
            color="#555555",
            zorder=8,
        )
        axes.figure.add_artist(line)


def _draw_marks(axes: Axes, scene: Scene, pen: Pen, tolerance: float, window: Window | None) -> None:
    """Edges, ill pairs and dots, only those that touch the window."""
    from matplotlib.collections import LineCollection

    colours = group_colours(scene)
    seen = _touching(scene, scene.child, scene.parent, window)
    child, parent = scene.child[seen], scene.parent[seen]
    lines = edge_lines(scene, child, parent, tolerance)
    paint = colours[scene.group[child]]
    paint[:, 3] = pen.opacity
    axes.add_collection(
        LineCollection(
            lines,
            colors=paint,
            # Never wider than the red line that may lie on it.
            linewidths=np.minimum(pen.edge * (1.0 + 0.12 * np.log2(scene.extent[child])), 0.8 * pen.ill),
            rasterized=len(lines) > RASTERIZE_ABOVE,
            capstyle="round",
            clip_on=window is not None,
            zorder=1,
            gid="edges",
        ),
        autolim=False,
    )
    _draw_ill(axes, scene, pen, tolerance, window)
    _draw_dots(axes, scene, pen, window)


def edge_lines(scene: Scene, start: NDArray[np.int64], end: NDArray[np.int64], tolerance: float) -> list[Floats]:
    """Polylines between nodes, as the scene has its edges."""
    if scene.lines == "straight":
        return list(np.stack([scene.points[start], scene.points[end]], axis=1))
    if scene.lines == "spread":
        return spread_lines(scene.points[start], scene.points[end])
    return geodesics(scene.points[start], scene.points[end], tolerance)


def _draw_dots(axes: Axes, scene: Scene, pen: Pen, window: Window | None) -> None:
    """Dots of the nodes, larger subtrees on top.

    Dots of one colour and size are one artist: an SVG then holds the dot once and each node as a place.
    """
    colours = group_colours(scene)
    nodes = scene.nodes[_touching(scene, scene.nodes, scene.nodes, window)]
    doublings = np.floor(np.log2(scene.extent[nodes])).astype(np.int64)
    look = doublings * len(scene.group_names) + scene.group[nodes]
    for chosen_look in np.unique(look).tolist():
        doubling, group = divmod(chosen_look, len(scene.group_names))
        chosen = nodes[look == chosen_look]
        axes.plot(
            *scene.points[chosen].T,
            linestyle="none",
            marker="o",
            markersize=2.0 * pen.dot_radius(doubling),
            markerfacecolor=colours[group],
            markeredgecolor="white",
            markeredgewidth=min(0.4, 0.15 * pen.dot),
            rasterized=nodes.size > RASTERIZE_ABOVE,
            clip_on=window is not None,
            zorder=5,
            gid="nodes",
        )


def _draw_ill(axes: Axes, scene: Scene, pen: Pen, tolerance: float, window: Window | None) -> None:
    from matplotlib.collections import LineCollection

    for number, kind in enumerate(KINDS):
        chosen = scene.ill_kind == number
        node, positive = scene.ill_node[chosen], scene.ill_positive[chosen]
        seen = _touching(scene, node, positive, window)
        lines = edge_lines(scene, node[seen], positive[seen], tolerance)
        axes.add_collection(
            LineCollection(
                lines,
                colors=ILL[kind],
                linewidths=pen.ill,
                rasterized=len(lines) > RASTERIZE_ABOVE,
                capstyle="round",
                clip_on=window is not None,
                zorder=4,
                gid=f"ill {kind}",
            ),
            autolim=False,
        )


def _touching(scene: Scene, a: NDArray[np.int64], b: NDArray[np.int64], window: Window | None) -> NDArray[np.bool_]:
    """Which geodesics may pass through the window: the box of the two ends, widened by half its size for the bend."""
    if window is None:
        return np.ones(a.size, bool)
    ends = np.stack([scene.points[a], scene.points[b]])
    low, high = ends.min(axis=0), ends.max(axis=0)
    slack = 0.5 * (high - low).max(axis=1, keepdims=True)
    left, right, bottom, top = window
    meets = (low - slack <= (right, top)) & (high + slack >= (left, bottom))
    return np.asarray(meets.all(axis=1))


def ill_legend(axes: Axes, scene: Scene, **where: Any) -> Legend:
    """The legend of the red lines, with the number of pairs of each kind."""
    from matplotlib.lines import Line2D

    counts = np.bincount(scene.ill_kind, minlength=len(KINDS))
    marks: list[Artist] = [Line2D([], [], color=ILL[kind], linewidth=2.0, solid_capstyle="round") for kind in KINDS]
    words = [f"{ILL_NAMES[kind]}: {count:,}" for kind, count in zip(KINDS, counts, strict=True)]
    title = f"{scene.ill_kind.size:,} ill " + ("pair" if scene.ill_kind.size == 1 else "pairs")
    return _legend(axes, marks, words, title, where)


def group_legend(axes: Axes, scene: Scene, **where: Any) -> Legend:
    """The legend of the colours that are shown."""
    from matplotlib.lines import Line2D

    colours = group_colours(scene)
    present, counts = np.unique(scene.group[scene.nodes], return_counts=True)
    # The root alone belongs to no subtree; that needs no line in the legend.
    few = (present == len(scene.group_names) - 1) & (counts < 0.01 * counts.sum())
    present = present[~few] if scene.legend == "subtree of" else present
    marks: list[Artist] = [Line2D([], [], color=colours[i], marker="o", markersize=5, linewidth=1.2) for i in present]
    words = [scene.group_names[i] for i in present]
    return _legend(axes, marks, words, scene.legend, where)


def _legend(axes: Axes, marks: list[Artist], words: list[str], title: str, where: dict[str, Any]) -> Legend:
    from matplotlib.legend import Legend

    # Not axes.legend: that keeps one legend per axes, and the disk has two.
    legend = Legend(
        axes, marks, words, title=title, alignment="left", borderaxespad=0.0, borderpad=0.0, handlelength=1.6, **where
    )
    legend.get_title().set(fontweight="bold", color=INK)
    axes.add_artist(legend)
    return legend
