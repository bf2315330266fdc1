"""Charts of numbers: scores of several settings as bars, and the course of one training."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..evaluation.illness import KINDS
from .style import BLUE, GREEN, ILL, ILL_NAMES, OLIVE, ORANGE, OTHER, PINK, SUBTREES, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..embedding import Embedding, LogEntry

Results = Mapping[str, Sequence[Mapping[str, Any]]]
_BASELINES = ("base", "baseline", "poincare", "lorentz", "euclidean")
_MARKERS = "osD^vP"


def illness_by_setting(results: Results, *, setting: str = "$\\eta_{tc}$") -> Figure:
    """Bars of the three illnesses against a setting, mean and spread over seeds: the paper's Figure 4.

    Parameters
    ----------
    results
        For each value of the setting, in the order to be drawn, the scores of one run per seed: what
        ``Evaluation.to_dict()`` gives, or an entry of a trace.
    setting
        Label of the horizontal axes.
    """
    _require_runs(results)
    with style():
        figure = new_figure(10.2, 3.3)
        for axes, kind in zip(figure.subplots(1, 3), KINDS, strict=True):
            _bars(axes, results, kind, f"{ILL_NAMES[kind].capitalize()} illness", ILL[kind])
            axes.set_xlabel(setting, parse_math=True)
        _finish(figure, results)
    return figure


def scores_by_setting(results: Results, *, setting: str = "") -> Figure:
    """The bars of :func:`illness_by_setting` with the logarithm of the mean rank and MAP: the paper's Figure 5."""
    _require_runs(results)
    with style():
        figure = new_figure(10.2, 6.0)
        panels = figure.subplots(2, 3).ravel()
        for axes, kind in zip(panels, KINDS, strict=False):
            _bars(axes, results, kind, f"{ILL_NAMES[kind].capitalize()} illness", ILL[kind])
        _bars(panels[3], results, "log_mean_rank", "log MR", BLUE)
        _bars(panels[4], results, "map", "MAP", GREEN)
        panels[4].set_ylim(0.0, 1.12)
        panels[5].set_axis_off()
        for axes in panels[:5]:
            axes.set_xlabel(setting, parse_math=True)
        _finish(figure, results)
    return figure


def scores_by_dimension(lines: Sequence[Mapping[str, Any]]) -> Figure:
    """MAP and mean rank of several methods against the dimension, with their spread; those of held-out pairs, too.

    Parameters
    ----------
    lines
        For each dimension and method the ``mean`` and ``spread`` of the scores: ``treeball.bench(...).table().lines``.
    """
    if not any(_mean(line, "map") is not None for line in lines):
        raise InputError("there is no score to draw: every run failed, or no node has a positive")
    panels = {"map": "MAP", "mean_rank": "Mean rank"}
    if any(_mean(line, "held_out_map") is not None for line in lines):
        panels |= {"held_out_map": "Held-out MAP", "held_out_mean_rank": "Held-out mean rank"}
    dims = sorted({line["dim"] for line in lines})
    methods = list(dict.fromkeys(line["method"] for line in lines))
    with style():
        rows = len(panels) // 2
        figure = new_figure(10.2, 3.6 * rows)
        for axes, (name, title) in zip(figure.subplots(rows, 2).ravel(), panels.items(), strict=True):
            for number, method in enumerate(methods):
                mine = [line for line in lines if line["method"] == method and _mean(line, name) is not None]
                # Methods that score the same would hide each other: each stands a little beside the dimension.
                place = [dims.index(line["dim"]) + 0.06 * (number - (len(methods) - 1) / 2) for line in mine]
                means = np.array([line[name]["mean"] for line in mine])
                spreads = np.array([line[name]["spread"] or 0.0 for line in mine])
                lowest = 1.0 if name.endswith("mean_rank") else 0.0  # no score is below it
                whiskers = np.stack([np.minimum(spreads, np.maximum(means - lowest, 0.0)), spreads])
                colour, marker = SUBTREES[number % len(SUBTREES)], _MARKERS[(number // len(SUBTREES)) % len(_MARKERS)]
                axes.errorbar(
                    place, means, whiskers, color=colour, marker=marker, markersize=4, capsize=3, label=method
                )
            axes.set_title(title)
            axes.yaxis.grid(True)
            axes.set_xticks(range(len(dims)), [str(dim) for dim in dims])
            axes.set_xlim(-0.5, len(dims) - 0.5)
            axes.set_xlabel("dimension")
            if name.endswith("mean_rank"):
                axes.set_yscale("log")
                axes.set_ylim(bottom=0.94)
                _plain_log_ticks(axes)
            else:
                axes.set_ylim(0.0, 1.03)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.tight_layout(rect=(0, 0.08 if rows == 1 else 0.045, 1, 1), w_pad=2.0, h_pad=1.5)
        figure.legend(handles, labels, loc="lower left", ncols=min(6, len(labels)), borderaxespad=0.4)
        counts = sorted({len(line["seeds"]) for line in lines})
        seeds = " to ".join(str(one) for one in (counts[:1] if len(counts) == 1 else (counts[0], counts[-1])))
        words = "one run each" if seeds == "1" else f"mean of {seeds} seeds; whiskers: standard deviation"
        figure.text(0.99, 0.012, words, ha="right", va="bottom", fontsize=8, color="#666666")
    return figure


def trace(embedding: Embedding, *, title: str | None = None) -> Figure:
    """The course of a training: scores, illnesses, loss and radius against epochs, dilations as vertical lines.

    Parameters
    ----------
    embedding
        Fitted with the setting ``trace_every``; the trace is kept in its model file.
    title
        By default the method and the size; an empty text for none.
    """
    entries = embedding.provenance.trace
    if not entries:
        raise InputError(
            "this embedding has no trace of its training: fit it again with trace_every "
            "(treeball fit ... --trace-every 50)"
        )
    epochs = _column(entries, "epoch")
    with style():
        figure = new_figure(10.2, 5.6)
        panels = figure.subplots(2, 3, sharex=True).ravel()
        _line(panels[0], epochs, _column(entries, "map"), "MAP", GREEN)
        panels[0].set_ylim(0.0, 1.03)
        _line(panels[1], epochs, _column(entries, "mean_rank"), "Mean rank", BLUE)
        panels[1].set_yscale("log")
        panels[1].set_ylim(bottom=0.94)  # no rank is below 1
        for kind in KINDS:
            _line(panels[2], epochs, _column(entries, kind), "Ill pairs", ILL[kind], ILL_NAMES[kind])
        panels[2].set_ylim(bottom=0.0)
        panels[2].legend(loc="best")
        _line(panels[3], epochs, _column(entries, "loss"), "Loss", ORANGE)
        _line(panels[4], epochs, _column(entries, "max_radius"), "Largest radius", PINK)
        panels[4].set_ylim(bottom=0.0)
        for axes in panels[3:5]:
            axes.set_xlabel("epoch")
        panels[2].tick_params(labelbottom=True)
        panels[2].set_xlabel("epoch")
        _plain_log_ticks(panels[1])
        panels[5].set_axis_off()
        decisions = [note for note in embedding.provenance.log if "dilated" in note.facts]
        for axes in panels[:5]:
            for note in decisions:
                axes.axvline(note.epoch, color=OLIVE, linestyle=(0, (4, 2)), linewidth=1.0, zorder=1)
        _write_notes(panels[5], decisions, entries)
        figure.suptitle(
            _heading(embedding) if title is None else title, x=0.012, ha="left", fontsize=10.5, fontweight="bold"
        )
        figure.tight_layout()
    return figure


# ---- parts ----


def _require_runs(results: Results) -> None:
    empty = [name for name, runs in results.items() if not runs]
    if not results or empty:
        raise InputError(f"there is no run to draw{' for ' + ', '.join(empty) if empty else ''}: give one per seed")


def _mean(line: Mapping[str, Any], name: str) -> float | None:
    mean: float | None = line.get(name, {}).get("mean")
    return mean


def _value(run: Mapping[str, Any], name: str) -> float:
    """A score by name, from a record with the illnesses nested (an evaluation) or flat (a trace)."""
    if name == "log_mean_rank":
        return math.log(_value(run, "mean_rank"))
    value = run["illness"].get(name) if name in KINDS and "illness" in run else run.get(name)
    return math.nan if value is None else float(value)


def _column(entries: Sequence[Mapping[str, Any]], name: str) -> NDArray[np.float64]:
    return np.array([_value(entry, name) for entry in entries])


def _bars(axes: Axes, results: Results, name: str, title: str, colour: str) -> None:
    """Mean as a bar, standard deviation as a whisker, every run as a dot, the mean in figures above."""
    from matplotlib.ticker import MaxNLocator

    columns = [_column(runs, name) for runs in results.values()]
    means = np.array([column.mean() for column in columns])
    spreads = np.array([column.std(ddof=1) if column.size > 1 else 0.0 for column in columns])
    places = np.arange(float(len(columns)))
    colours = [OTHER if label.lower() in _BASELINES else colour for label in results]
    axes.bar(places, means, 0.66, color=colours, alpha=0.75, linewidth=0)
    several = np.array([column.size > 1 for column in columns])
    whiskers = np.stack([np.minimum(spreads, means), spreads])[:, several]  # no score is below zero
    axes.errorbar(places[several], means[several], whiskers, fmt="none", ecolor="#333333", elinewidth=1.1, capsize=3)
    for place, column in zip(places, columns, strict=True):
        shift = np.linspace(-0.16, 0.16, column.size) if column.size > 1 else np.zeros(1)
        axes.scatter(
            place + shift, column, s=9, color="white", edgecolors="#333333", linewidths=0.6, zorder=3, clip_on=False
        )
    tops = np.array(
        [max(mean + spread, column.max()) for mean, spread, column in zip(means, spreads, columns, strict=True)]
    )
    high = max(float(np.nanmax(tops)), 1e-9)
    for place, top, words in zip(places.tolist(), tops.tolist(), _figures(means, name), strict=True):
        axes.text(place, top + 0.035 * high, words, ha="center", va="bottom", fontsize=8 if places.size < 7 else 7.5)
    axes.set_ylim(0.0, 1.14 * high)
    if name in KINDS:
        axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_title(title)
    axes.yaxis.grid(True)
    labels = list(results)
    crowded = sum(len(label) for label in labels) > 34
    axes.set_xticks(places, labels, rotation=35 if crowded else 0, ha="right" if crowded else "center")
    if crowded:
        for text in axes.get_xticklabels():
            text.set_rotation_mode("anchor")
    axes.tick_params(axis="x", length=0)


def _figures(means: NDArray[np.float64], name: str) -> list[str]:
    """The means of one panel in figures, all with the same number of decimals."""
    if name in KINDS:
        whole = means.max() >= 1000 or (means == means.round()).all()
        return [f"{mean:,.0f}" if whole else f"{mean:,.1f}" for mean in means]
    if name == "map":
        return [f"{mean:.3f}".removeprefix("0") for mean in means]
    return [f"{mean:.2f}" for mean in means]


def _finish(figure: Figure, results: Results) -> None:
    counts = {len(runs) for runs in results.values()}
    seeds = f"{counts.pop()}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    words = "one run each" if seeds == "1" else f"bars: mean of {seeds} seeds; whiskers: standard deviation; dots: runs"
    figure.tight_layout(rect=(0, 0.05 if figure.get_size_inches()[1] < 4 else 0.03, 1, 1), w_pad=2.0, h_pad=1.5)
    figure.text(0.99, 0.012, words, ha="right", va="bottom", fontsize=8, color="#666666")


def _line(axes: Axes, x: NDArray[Any], y: NDArray[Any], title: str, colour: str, label: str | None = None) -> None:
    few = x.size <= 40
    axes.plot(x, y, color=colour, label=label, marker="o" if few else None, markersize=2.8)
    axes.set_title(title)
    axes.yaxis.grid(True)
    axes.margins(x=0.02)


def _plain_log_ticks(axes: Axes) -> None:
    """Numbers people read: 2, 5, 10, 20 rather than powers of ten with nothing between them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 200 else (1.0,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _write_notes(axes: Axes, decisions: Sequence[LogEntry], entries: Sequence[Mapping[str, Any]]) -> None:
    """The dilations in words beside their lines, and whether scores come from a sample."""
    notes = [fill(f"epoch {note.epoch:,}: {note.text}", 44, subsequent_indent="  ") for note in decisions[:5]]
    if len(decisions) > 5:
        notes.append(f"and {len(decisions) - 5} more")
    words = "Dilations (dashed lines)\n" + "\n".join(notes) if notes else "No dilation."
    if "sampled" in entries[-1]:
        words += f"\n\nScores and illnesses of\n{entries[-1]['sampled']:,} sampled nodes."
    axes.text(0.0, 0.97, words, transform=axes.transAxes, va="top", fontsize=8, color="#444444", linespacing=1.4)


def _heading(embedding: Embedding) -> str:
    method = embedding.provenance.method or embedding.geometry
    return f"Training of {method}, dimension {embedding.dim}, {len(embedding):,} nodes"
