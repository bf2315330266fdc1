"""The paper's schematic of the three illnesses, from embeddings that have them: our own evaluation says so."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..embedding import Embedding
from ..hierarchy import Hierarchy
from ..report.arcs import geodesics
from ..report.style import GROUND, ILL, ILL_NAMES, INK, OTHER, RIM, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["EXAMPLES", "example", "three_illnesses"]

# A tree as small as the definition allows: A and B₁ are children of B, B₂ is a grandchild, B₃ is elsewhere.
_EDGES = (("B", "O"), ("D", "O"), ("E", "O"), ("A", "B"), ("B₁", "B"), ("B₂", "B₁"), ("B₃", "D"), ("F", "E"))

# Where nodes lie, as hyperbolic radius and angle in degrees. Every other node is nearest to its parent.
_USUAL = {
    "O": (0.0, 0.0),
    "B": (1.3, 165.0),
    "B₁": (2.3, 190.0),
    "B₂": (3.5, 205.0),
    "D": (1.3, 45.0),
    "B₃": (2.9, 45.0),
    "E": (1.3, 285.0),
    "F": (2.9, 285.0),
}
EXAMPLES = {
    "capacity": (
        "A lies nearer to its sibling B₁ than to its parent B:\nB has too little room around it for its children",
        {"A": (3.3, 177.0)},
    ),
    "intra_subtree": (
        "A lies nearer to B₂, which is farther down\nin the subtree of B, than to B",
        {"A": (4.0, 214.0)},
    ),
    "inter_subtree": (
        "A lies nearer to B₃, in another subtree,\nthan to its parent B",
        {"A": (3.6, 57.0)},
    ),
}

# Where a name stands beside its node, so that it covers no line; by kind where one differs from the others.
_NAME_BESIDE: dict[str | tuple[str, str], tuple[float, float]] = {
    "O": (0.09, 0.02),
    "B": (0.0, 0.1),
    "B₁": (0.11, 0.0),
    "B₂": (0.1, -0.05),
    "B₃": (0.02, -0.1),
    "D": (0.07, -0.06),
    ("capacity", "A"): (0.0, 0.1),
    ("intra_subtree", "A"): (0.1, -0.03),
    ("intra_subtree", "B₂"): (-0.09, 0.03),
    ("intra_subtree", "B₁"): (-0.1, 0.04),
    ("inter_subtree", "A"): (-0.09, 0.04),
    ("inter_subtree", "B₃"): (0.07, -0.08),
}


def example(kind: str) -> Embedding:
    """A small embedding in the disk that has one ill pair, A with its parent B, of this kind."""
    names = [*_USUAL, "A"]
    place = {name: i for i, name in enumerate(names)}
    child, parent = ([place[edge[end]] for edge in _EDGES] for end in (0, 1))
    polar = [(_USUAL | EXAMPLES[kind][1])[name] for name in names]
    points = [
        math.tanh(radius / 2) * np.array([math.cos(math.radians(angle)), math.sin(math.radians(angle))])
        for radius, angle in polar
    ]
    return Embedding(np.array(points), Hierarchy.from_codes(names, np.array(child), np.array(parent)), "poincare")


def three_illnesses() -> Figure:
    """Three disks, one for each illness: the edge that is ill in red, the node that A is taken for dashed."""
    with style():
        figure = new_figure(10.8, 4.3)
        for number, kind in enumerate(EXAMPLES):
            axes = figure.add_axes((0.012 + number * 0.331, 0.155, 0.315, 0.79))
            _draw(axes, example(kind), kind)
            axes.set_title(f"{ILL_NAMES[kind].capitalize()} illness", loc="center", fontsize=11)
            figure.text(0.17 + number * 0.331, 0.075, EXAMPLES[kind][0], ha="center", va="center", fontsize=8.5)
    return figure


def _draw(axes: Axes, embedding: Embedding, kind: str) -> None:
    from matplotlib.patches import Circle

    points, hierarchy = embedding.vectors, embedding.hierarchy
    illness = embedding.evaluate().illness
    (node,), (positive,), (offender,) = illness.node, illness.positive, illness.offender
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_xlim(-1.03, 1.03)
    axes.set_ylim(-1.03, 1.03)
    axes.add_patch(Circle((0, 0), 1.0, facecolor=GROUND, edgecolor=RIM, linewidth=1.2))
    child, parent = hierarchy.edges()
    for low, high, line in zip(child, parent, geodesics(points[child], points[parent]), strict=True):
        ill = (low, high) == (node, positive)
        axes.plot(*line.T, color=ILL[kind] if ill else OTHER, linewidth=2.6 if ill else 1.3, zorder=2 + ill)
    (wrong,) = geodesics(points[[node]], points[[offender]])
    axes.plot(*wrong.T, color=INK, linewidth=1.6, linestyle=(0, (2.2, 1.6)), zorder=3)
    for place, point in enumerate(points):
        name = str(hierarchy.names[place])
        told = place in (node, positive, offender)
        axes.plot(*point, "o", color=INK if told else OTHER, markersize=7 if told else 5, zorder=4)
        at = point + _NAME_BESIDE.get((kind, name), _NAME_BESIDE.get(name, (0.09, 0.0)))
        axes.text(
            at[0], at[1], name, ha="center", va="center", fontsize=12 if told else 10, color=INK if told else OTHER
        )
