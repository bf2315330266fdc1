"""One look for every figure, and the way figures become files."""

from __future__ import annotations

import os
import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, MissingExtraError
from ..io.atomic import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which stay apart for the colour-blind, less their red, which is kept for what is ill, and
# less their yellow, which is lost on white.
BLUE, GREEN, ORANGE, SKY, PINK, OLIVE = "#0072b2", "#009e73", "#e69f00", "#56b4e9", "#b583c9", "#7a7a2e"
SLATE, SAND = "#4a5a74", "#b98a5e"
SUBTREES = (BLUE, ORANGE, GREEN, SKY, PINK, OLIVE, SLATE, SAND)
OTHER = "#8c8c8c"
INK, RIM, RING, GROUND = "#222222", "#b0b0b0", "#e6e6e6", "#fbfbfb"
# All red, and apart by lightness, which everybody sees.
ILL = {"capacity": "#f0231a", "intra_subtree": "#ff9d80", "inter_subtree": "#a0000f"}
ILL_NAMES = {"capacity": "capacity", "intra_subtree": "intra-subtree", "inter_subtree": "inter-subtree"}

_DPI = 200
_RC: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Helvetica", "Arial", "sans-serif"],
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.8,
    "axes.grid": False,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "text.color": INK,
    "axes.labelcolor": INK,
    "legend.fontsize": 8.5,
    "legend.title_fontsize": 8.5,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "text.parse_math": False,  # a node may be called "$5 or less"
    "svg.fonttype": "none",  # text stays text: searchable, small, set in the reader's font
    "svg.hashsalt": "treeball",  # the same figure gives the same bytes
}


def style() -> AbstractContextManager[None]:
    """The settings under which every figure is made and saved."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot", "drawing a figure") from error
    return matplotlib.rc_context(_RC)


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of a size in inches, outside pyplot: it belongs to its caller and opens no window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=_DPI)
    FigureCanvasAgg(figure)
    return figure


def targets(path: str | os.PathLike[str]) -> list[Path]:
    """The files that :func:`save` writes for a path: itself, or a PNG and an SVG when it has no ending."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending in (".png", ".svg"):
        return [path]
    # A dot may belong to the name, as in "verbs-0.2": only what looks like an ending is taken for one.
    if not ending or not ending[1:].isalpha():
        return [path.with_name(path.name + ".png"), path.with_name(path.name + ".svg")]
    raise InputError(f"cannot draw {str(path)!r}: figures are .png or .svg files, or both when the name has no ending")


def save(figure: Figure, path: str | os.PathLike[str]) -> list[Path]:
    """Write a figure as PNG or SVG by the ending of `path`, or as both when it has none; each whole or not at all.

    Returns
    -------
    list of Path
        The files written.
    """
    files = targets(path)
    with style():
        for file in files:
            form = file.suffix.lower()[1:]
            metadata = {"Date": None} if form == "svg" else {}
            with atomic_write(file) as temporary:
                figure.savefig(temporary, format=form, dpi=_DPI, metadata=metadata)
                if form == "svg":
                    temporary.write_text(_fewer_digits(temporary.read_text("utf-8")), "utf-8")
    return files


def _fewer_digits(svg: str) -> str:
    """Paths with two decimals, a hundredth of a point, where matplotlib writes six: half the file, the same picture."""

    def shorter(path: re.Match[str]) -> str:
        return " ".join(re.sub(r"(-?\d+\.\d\d)\d+", r"\1", path[0]).split())

    return re.sub(r' d="[^"]*"| [xy]="-?[\d.]+"', lambda path: " " + shorter(path), svg)
