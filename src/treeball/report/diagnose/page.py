"""The report as one HTML page: text, tables and charts, no script and nothing fetched.

Here the numbers become words; ``assets/page.html`` says where they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._version import __version__
from ...evaluation.illness import KINDS
from ...geometry.spaces import space_of
from ..templates import asset, render, trusted
from . import charts
from .groups import Group
from .room import short_of_room
from .words import KIND_WORDS, capacity_cells

if TYPE_CHECKING:
    from markupsafe import Markup

    from . import Diagnosis
    from .worst import WorstNode

_SUBTREES = 12
_ROWS = 200
_GROUP_HEADER = ("", "pairs", *(KIND_WORDS[kind] for kind in KINDS), "ill")


def make_page(diagnosis: Diagnosis) -> str:
    """The whole page; every name in it is escaped, and its policy lets no script run."""
    return render(
        "diagnose/assets/page.html",
        style=trusted(asset("diagnose/assets/style.css")),
        version=__version__,
        model=diagnosis.model,
        about=_about(diagnosis),
        tiles=_tiles(diagnosis),
        kinds=_kinds(diagnosis),
        advice=diagnosis.advice,
        where=_where(diagnosis),
        group_header=_GROUP_HEADER,
        room=_room(diagnosis),
        dilations=_dilations(diagnosis),
        worst_nodes=[(one, _chips(one)) for one in diagnosis.worst_nodes],
        worst_pairs=diagnosis.worst_pairs,
        positive="parent" if diagnosis.evaluation.objective == "parents" else "ancestor",
        kind_words=KIND_WORDS,
        precision=_precision(diagnosis),
    )


def _about(diagnosis: Diagnosis) -> str:
    scores, ranking = diagnosis.evaluation, diagnosis.evaluation.ranking
    sampled = "" if ranking.is_exact else f", {ranking.sources.size:,} of them ranked"
    return (
        f"method {diagnosis.method}, {space_of(diagnosis.geometry).title}, dimension {scores.dim}; "
        f"{scores.nodes:,} nodes{sampled}; objective {scores.objective}"
    )


def _tiles(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    scores = diagnosis.evaluation
    return [
        ("MAP", _number(scores.map, ".4f")),
        ("mean rank", _number(scores.mean_rank, ".2f")),
        ("hits@1", _number(scores.hits_at_1, ".3f")),
        ("ill pairs", f"{len(scores.illness):,}"),
        ("largest radius", f"{scores.max_radius:.2f}"),
    ]


def _kinds(diagnosis: Diagnosis) -> dict[str, Any]:
    illness, pairs = diagnosis.evaluation.illness, int(diagnosis.evaluation.ranking.ranks.size)
    counts = illness.counts()
    legend = [(kind, KIND_WORDS[kind], f"{counts[kind]:,}") for kind in KINDS]
    return {
        "chart": trusted(charts.kinds_bar(pairs, list(counts.values()))),
        "legend": [*legend, ("well", "well", f"{pairs - len(illness):,}")],
    }


class _Figure(NamedTuple):
    """A chart and the numbers in it."""

    caption: str
    chart: Markup
    rows: list[tuple[str, ...]]


def _where(diagnosis: Diagnosis) -> list[_Figure]:
    if not diagnosis.by_depth:
        return []
    subtrees = diagnosis.by_subtree[:_SUBTREES]
    more = len(diagnosis.by_subtree) - len(subtrees)
    return [
        _figure(
            "By depth",
            charts.share_bars(diagnosis.by_depth, "depth", "Share of ill pairs by depth"),
            diagnosis.by_depth,
        ),
        _figure(
            "By number of children of the parent",
            charts.share_bars(diagnosis.by_children, "children", "Share of ill pairs by number of children"),
            diagnosis.by_children,
        ),
        _figure(
            "By top-level subtree" + (f" (the {len(subtrees)} worst of {len(diagnosis.by_subtree):,})" if more else ""),
            charts.lying_bars(subtrees, "Ill pairs by top-level subtree"),
            diagnosis.by_subtree,
        ),
        _figure(
            "By who is nearer instead",
            charts.lying_bars(diagnosis.by_offender, "Ill pairs by who is nearer", shares=False),
            diagnosis.by_offender,
        ),
    ]


def _figure(caption: str, chart: str, groups: Sequence[Group]) -> _Figure:
    rows = [
        (group.label, f"{group.pairs:,}", *(f"{count:,}" for count in group.ill), f"{group.share:.1%}")
        for group in groups[:_ROWS]
    ]
    return _Figure(caption, trusted(chart), rows)


def _room(diagnosis: Diagnosis) -> dict[str, Any] | None:
    found = diagnosis.sufficiency
    if found is None or not found.nodes.size:
        return None
    dim = diagnosis.evaluation.dim
    short = short_of_room(found.children, found.radius, dim)
    looks = [
        ("dot", "enough room", ~found.lacking),
        ("low", "less than the line, but area alone leaves room", found.lacking & ~short),
        ("bad", "short of room", short),
    ]
    return {
        "found": diagnosis.capacity_verdict,
        "short": f"{int(short.sum()):,}",
        "chart": trusted(charts.capacity_dots(found, dim)),
        "legend": [(look, words) for look, words, there in looks if there.any()],
        "rows": capacity_cells(diagnosis.capacity, found),
    }


def _dilations(diagnosis: Diagnosis) -> dict[str, Any] | None:
    if not diagnosis.dilations:
        return None
    now = diagnosis.dilations[0]
    rows = [
        (
            f"{one.factor:g}",
            f"{one.max_radius:.1f}",
            f"{one.clamped:,}",
            f"{one.lacking / max(one.inner, 1):.1%}",
            f"{one.relieved:,}",
            f"{sum(one.ill) / max(one.pairs, 1):.1%}",
            _number(one.map, ".3f"),
        )
        for one in diagnosis.dilations
    ]
    return {
        "pairs": f"{now.pairs:,}",
        "inner": f"{now.inner:,}",
        "chart": trusted(charts.dilation_bars(diagnosis.dilations)),
        "rows": rows,
    }


def _chips(one: WorstNode) -> list[tuple[str, str]]:
    return [(kind, f"{count:,} {KIND_WORDS[kind]}") for kind, count in one.illness.items() if count]


def _precision(diagnosis: Diagnosis) -> dict[str, Any]:
    one = diagnosis.precision
    rows = [("largest radius", f"{one.max_radius:.2f}"), ("median radius", f"{one.median_radius:.2f}")]
    if one.used is not None and one.resolution is not None:
        rows += [
            ("share of the useful radius", f"{one.used:.0%}"),
            ("float64 points there are apart by", f"{one.resolution:.1e}"),
            ("shortest edge", f"{one.shortest_edge:.2g}"),
            ("nodes that rounding decides on", f"{one.undecided:,}"),
        ]
    if one.limit is not None:
        rows.append(("clamped while training", f"{one.clamped:,} times at {one.limit:.1f}"))
        rows.append(("nodes at that limit", f"{one.at_limit:,}"))
    return {"chart": trusted(charts.radius_histogram(one)), "rows": rows}


def _number(value: float, form: str) -> str:
    return "none" if np.isnan(value) else format(value, form)
