"""The charts of a diagnosis as SVG text; colours come from the page's style, so that they follow its theme."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence

import numpy as np

from ...evaluation.illness import KINDS
from ...limits import BALL_RADIUS_GONE
from ...methods.sufficiency import Sufficiency
from .groups import Group
from .room import Dilated, Precision, radius_enough, short_of_room
from .words import KIND_WORDS

_WIDTH = 560.0
_LEFT, _RIGHT, _TOP, _FOOT = 44.0, 10.0, 16.0, 38.0
_MOST_DOTS = 1_500
_LONGEST_LABEL = 26


def kinds_bar(pairs: int, ill: Sequence[int]) -> str:
    """One bar: all pairs, the ill ones by kind."""
    width, height = 1120.0, 26.0
    parts, x = [], 0.0
    shares = [*zip(KINDS, ill, strict=True), ("well", pairs - sum(ill))]
    for kind, count in shares:
        span = width * count / max(pairs, 1)
        words = KIND_WORDS.get(kind, "well")
        told = f"{words}: {count:,} of {pairs:,} pairs"
        parts.append(_rect(_class(kind), x, 0, max(span - 1.5, 0), height, told))
        x += span
    return _svg(width, height, "".join(parts), "Ill pairs by kind", cls="bar")


def share_bars(groups: Sequence[Group], axis: str, name: str) -> str:
    """Upright bars: the share of ill pairs of each group, by kind, with the number of pairs below."""
    height = 230.0
    plot_w, plot_h = _WIDTH - _LEFT - _RIGHT, height - _TOP - _FOOT
    high = _nice_top(max((group.share for group in groups), default=0.0), 1.0)
    step = plot_w / max(len(groups), 1)
    bar = min(0.72 * step, 46.0)
    parts = [_grid(height, high, lambda value: f"{value:.0%}")]
    longest = max((len(group.label) for group in groups), default=1)
    every = max(1, math.ceil((6.6 * longest + 8) / step))
    for i, group in enumerate(groups):
        x, y = _LEFT + (i + 0.5) * step, _TOP + plot_h
        inner = ""
        for kind, count in zip(KINDS, group.ill, strict=True):
            tall = plot_h * count / group.pairs / high
            y -= tall
            inner += _rect(_class(kind), x - bar / 2, y, bar, tall)
        details = ", ".join(f"{count:,} {KIND_WORDS[kind]}" for kind, count in zip(KINDS, group.ill, strict=True))
        told = f"{axis} {group.label}: {group.ill_pairs:,} of {group.pairs:,} pairs ill ({details})"
        parts.append(f"<g><title>{html.escape(told)}</title>{inner}</g>")
        if i % every == 0:
            parts.append(_text(x, height - 21, group.label, "middle"))
    parts.append(_text(_LEFT + plot_w / 2, height - 4, axis, "middle", "axis"))
    return _svg(_WIDTH, height, "".join(parts), name)


def lying_bars(groups: Sequence[Group], name: str, *, shares: bool = True) -> str:
    """Lying bars: ill pairs of each group, by kind, on the ghost of all its pairs."""
    row, label = 21.0, 176.0
    height = row * max(len(groups), 1) + 4
    most = max((group.pairs for group in groups), default=1)
    span = _WIDTH - label - 74
    parts = []
    for i, group in enumerate(groups):
        y = i * row + 3
        x = label
        inner = _rect("ghost", x, y, max(span * group.pairs / most, 1), 14)
        for kind, count in zip(KINDS, group.ill, strict=True):
            wide = span * count / most
            inner += _rect(_class(kind), x, y, wide, 14)
            x += wide
        told = f"{group.label}: {group.ill_pairs:,} of {group.pairs:,} pairs ill"
        end = label + max(span * group.pairs / most, 1) + 6
        parts.append(
            f"<g><title>{html.escape(told)}</title>{inner}</g>"
            + _text(label - 8, y + 11, _short(group.label), "end")
            + _text(end, y + 11, f"{group.ill_pairs:,}" + (f" ({group.share:.0%})" if shares else ""), "start", "value")
        )
    return _svg(_WIDTH, height, "".join(parts), name)


def capacity_dots(found: Sufficiency, dim: int) -> str:
    """Every inner node: how many children it has and the radius they have, against what the lower bound asks for."""
    height = 300.0
    plot_w, plot_h = _WIDTH - _LEFT - _RIGHT, height - _TOP - _FOOT
    chosen = np.arange(found.nodes.size)
    if chosen.size > _MOST_DOTS:
        chosen = np.random.default_rng(0).choice(chosen, _MOST_DOTS, replace=False)
        # The few with many children are what the picture is about.
        chosen = np.union1d(chosen, np.argsort(-found.children)[:100])
    most = max(int(found.children.max()), 2)
    curve = np.geomspace(1, most, 60)
    enough = radius_enough(curve, dim)
    high = _nice_top(max(float(found.radius[chosen].max()), float(enough.max())), None)

    def place(children: float, radius: float) -> tuple[float, float]:
        across = math.log(children) / math.log(most)
        return _LEFT + 8 + (plot_w - 16) * across, _TOP + plot_h * (1 - radius / high)

    parts = [_grid(height, high, lambda value: f"{value:g}")]
    short = short_of_room(found.children, found.radius, dim)
    for cls, mask in (("dot", ~found.lacking), ("dot low", found.lacking & ~short), ("dot bad", short)):
        # One path of zero-length strokes with round ends: a tenth of the size of as many circles.
        ends = [place(float(found.children[i]), float(found.radius[i])) for i in chosen[mask[chosen]]]
        line = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in sorted(set(ends)))
        parts.append(f'<path class="{cls}" d="{line}"/>')
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(k, r) for k, r in zip(curve, enough, strict=True)))
    parts.append(f'<polyline class="bound" points="{points}"/>')
    tick = 1
    while tick <= most:
        x, _ = place(tick, 0)
        parts.append(_text(x, height - 21, f"{tick:,}", "middle"))
        tick *= 2 if most < 40 else 4
    parts.append(_text(_LEFT + plot_w / 2, height - 4, "number of children", "middle", "axis"))
    return _svg(_WIDTH, height, "".join(parts), "Radius of the children against what they need")


def radius_histogram(precision: Precision) -> str:
    """Radii of the nodes on the whole length that float64 coordinates have."""
    height = 170.0
    plot_w, plot_h = _WIDTH - 20, height - 34 - 30
    reach = precision.max_radius if precision.gone is None else max(BALL_RADIUS_GONE, precision.max_radius)
    high = max(max(precision.counts), 1)
    base = 34 + plot_h

    def across(radius: float) -> float:
        return 10 + plot_w * radius / max(reach, 1e-9)

    parts = [f'<line class="base" x1="10" x2="{10 + plot_w:g}" y1="{base:g}" y2="{base:g}"/>']
    for low, up, count in zip(precision.bins, precision.bins[1:], precision.counts, strict=False):
        tall = plot_h * count / high
        wide = max(across(up) - across(low) - 0.6, 0.8)
        told = f"radius {low:.2f} to {up:.2f}: {count:,} nodes"
        parts.append(_rect("fill", across(low), base - tall, wide, tall, told))
    marks = [
        (precision.limit, "limit of the method"),
        (precision.carried, "useful in float64" if precision.gone is not None else "useful in these terms"),
        (precision.gone, "float64 ends"),
    ]
    places: dict[float, list[str]] = {}
    for radius, words in marks:
        if radius is not None and radius <= reach:
            places.setdefault(radius, []).append(words)
    for row, (radius, words_here) in enumerate(sorted(places.items(), reverse=True)):
        x, y = across(radius), 11.0 + 13.0 * (row % 2)
        parts.append(f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{y + 4:g}" y2="{base:g}"/>')
        anchor = "end" if x > 0.6 * _WIDTH else "middle"
        parts.append(_text(x, y, f"{' and '.join(words_here)}: {radius:.1f}", anchor))
    step = max(1, round(reach / 8))
    for radius in range(0, int(reach) + 1, step):
        parts.append(_text(across(radius), height - 15, str(radius), "middle"))
    parts.append(_text(10 + plot_w, height - 1, "distance from the origin", "end", "axis"))
    return _svg(_WIDTH, height, "".join(parts), "Radii of the nodes")


def dilation_bars(tried: Sequence[Dilated]) -> str:
    """Share of ill pairs by kind, MAP, and insufficient nodes after each dilation."""
    height = 250.0
    plot_w, plot_h = _WIDTH - _LEFT - _RIGHT, height - _TOP - _FOOT
    step = plot_w / len(tried)
    parts = [_grid(height, 1.0, lambda value: f"{value:.0%}")]
    lacking = []
    for i, one in enumerate(tried):
        x, y = _LEFT + (i + 0.5) * step, _TOP + plot_h
        inner = ""
        for kind, count in zip(KINDS, one.ill, strict=True):
            tall = plot_h * count / max(one.pairs, 1)
            y -= tall
            inner += _rect(_class(kind), x - 26, y, 52, tall)
        told = f"dilated by {one.factor:g}: {sum(one.ill):,} of {one.pairs:,} pairs ill, MAP {one.map:.3f}"
        parts.append(f"<g><title>{told}</title>{inner}</g>")
        parts.append(_text(x, max(y - 6, 11), f"MAP {one.map:.3f}", "middle", "value"))
        lacking.append((x, _TOP + plot_h * (1 - one.lacking / max(one.inner, 1))))
        parts.append(_text(x, height - 21, "as it is" if one.factor == 1 else f"× {one.factor:g}", "middle"))
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in lacking)
    parts.append(f'<polyline class="bound" points="{points}"/>')
    parts += [f'<circle class="knot" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in lacking]
    parts.append(_text(_LEFT + plot_w / 2, height - 4, "radii multiplied by", "middle", "axis"))
    return _svg(_WIDTH, height, "".join(parts), "Effect of dilations")


# ---- parts ----


def _svg(width: float, height: float, inside: str, name: str, cls: str = "chart") -> str:
    return (
        f'<svg class="{cls}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{html.escape(name)}"'
        f"{' preserveAspectRatio=none' if cls == 'bar' else ''}>{inside}</svg>"
    )


def _class(kind: str) -> str:
    return kind.replace("_", "-")


def _rect(cls: str, x: float, y: float, width: float, height: float, told: str = "") -> str:
    if width <= 0 or height <= 0:
        return ""
    size = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{cls}" {size}>' + (f"<title>{html.escape(told)}</title>" if told else "") + "</rect>"


def _text(x: float, y: float, words: str, anchor: str, cls: str = "tick") -> str:
    return f'<text class="{cls}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'


def _grid(height: float, high: float, form: Callable[[float], str]) -> str:
    """Level lines with their values at the left."""
    plot_h = height - _TOP - _FOOT
    lines = ""
    for part in range(5):
        y = _TOP + plot_h * (1 - part / 4)
        look, right = "base" if part == 0 else "grid", _WIDTH - _RIGHT
        lines += f'<line class="{look}" x1="{_LEFT:g}" x2="{right:g}" y1="{y:.1f}" y2="{y:.1f}"/>'
        lines += _text(_LEFT - 7, y + 4, form(high * part / 4), "end")
    return lines


def _nice_top(value: float, most: float | None) -> float:
    """The end of an axis: a round number that is four equal steps of a round number."""
    if value <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    top = next(step * unit for step in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10) if step * unit >= value * 0.999)
    return top if most is None else min(top, most)


def _short(label: str) -> str:
    label = " ".join(label.split())
    return label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1].rstrip() + "…"
