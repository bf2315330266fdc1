"""The report as one HTML page: text, tables and charts, no script and nothing fetched."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from ..._version import __version__
from ...evaluation.illness import KINDS
from ...geometry.spaces import space_of
from . import charts
from .groups import Group
from .room import short_of_room
from .words import KIND_WORDS, capacity_cells

if TYPE_CHECKING:
    from ...methods.sufficiency import Sufficiency
    from . import Diagnosis
    from .room import CapacityRow
    from .worst import WorstNode, WorstPair

_SUBTREES = 12
_ROWS = 200


def make_page(diagnosis: Diagnosis) -> str:
    """The whole page; every name in it is escaped, and its policy lets no script run."""
    style = (files(__package__) / "style.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    title = f"Diagnosis of {_escape(diagnosis.model)}"
    sections = [
        _head(diagnosis),
        _advice(diagnosis),
        _where(diagnosis),
        _room(diagnosis),
        _dilations(diagnosis),
        _worst_nodes(diagnosis),
        _worst_pairs(diagnosis),
        _precision(diagnosis),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{digest}'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(section for section in sections if section)
        + f"\n</main>\n<footer>treeball {__version__}</footer>\n</body>\n</html>\n"
    )


def _head(diagnosis: Diagnosis) -> str:
    scores, ranking = diagnosis.evaluation, diagnosis.evaluation.ranking
    ill, pairs = len(scores.illness), int(ranking.ranks.size)
    tiles = [
        ("MAP", _number(scores.map, ".4f")),
        ("mean rank", _number(scores.mean_rank, ".2f")),
        ("hits@1", _number(scores.hits_at_1, ".3f")),
        ("ill pairs", f"{ill:,}"),
        ("largest radius", f"{scores.max_radius:.2f}"),
    ]
    shown = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in tiles)
    counts = scores.illness.counts()
    legend = "".join(
        f'<li><i class="{kind.replace("_", "-")}"></i>{KIND_WORDS[kind]} <b>{counts[kind]:,}</b></li>' for kind in KINDS
    )
    sampled = "" if ranking.is_exact else f", {ranking.sources.size:,} of them ranked"
    return (
        f"<header><h1>Diagnosis of {_escape(diagnosis.model)}</h1>"
        f"<p>method {_escape(diagnosis.method)}, {space_of(diagnosis.geometry).title}, dimension {scores.dim}; "
        f"{scores.nodes:,} nodes{sampled}; "
        f"objective {scores.objective}</p></header>\n<dl class=tiles>{shown}</dl>\n"
        f"<section class=kinds>{charts.kinds_bar(pairs, list(counts.values()))}"
        f'<ul class=legend>{legend}<li><i class="well"></i>well <b>{pairs - ill:,}</b></li></ul>'
        "<p class=note>A pair of a node and its parent (or ancestor) is ill when another node is at least as close. "
        "<b>Capacity</b>: that other node is a child of the same parent. <b>Intra-subtree</b>: it is deeper in the "
        "parent's subtree. <b>Inter-subtree</b>: it is outside of it.</p></section>"
    )


def _advice(diagnosis: Diagnosis) -> str:
    items = "".join(
        f"<li><p>{_escape(one.reason)}</p>{'' if one.command is None else _command(one.command)}</li>"
        for one in diagnosis.advice
    )
    return f"<section><h2>What to do</h2><ol class=advice>{items}</ol></section>"


def _where(diagnosis: Diagnosis) -> str:
    if not diagnosis.by_depth:
        return ""
    subtrees = diagnosis.by_subtree[:_SUBTREES]
    more = len(diagnosis.by_subtree) - len(subtrees)
    return (
        "<section><h2>Where it is ill</h2><div class=grid>"
        + _figure(
            "By depth",
            charts.share_bars(diagnosis.by_depth, "depth", "Share of ill pairs by depth"),
            diagnosis.by_depth,
        )
        + _figure(
            "By number of children of the parent",
            charts.share_bars(diagnosis.by_children, "children", "Share of ill pairs by number of children"),
            diagnosis.by_children,
        )
        + _figure(
            "By top-level subtree" + (f" (the {len(subtrees)} worst of {len(diagnosis.by_subtree):,})" if more else ""),
            charts.lying_bars(subtrees, "Ill pairs by top-level subtree"),
            diagnosis.by_subtree,
        )
        + _figure(
            "By who is nearer instead",
            charts.lying_bars(diagnosis.by_offender, "Ill pairs by who is nearer", shares=False),
            diagnosis.by_offender,
        )
        + "</div></section>"
    )


def _room(diagnosis: Diagnosis) -> str:
    found = diagnosis.sufficiency
    if found is None or not found.nodes.size:
        return ""
    dim = diagnosis.evaluation.dim
    short = short_of_room(found.children, found.radius, dim)
    told = (
        "Children of a node must be far enough from it to be farther from each other. "
        f"{_escape(str(found))} by the lower bound that Algorithm 1 dilates by, and {int(short.sum()):,} have children "
        "that no bound promises room for."
    )
    looks = [
        ("dot", "enough room", ~found.lacking),
        ("low", "less than the line, but area alone leaves room", found.lacking & ~short),
        ("bad", "short of room", short),
    ]
    legend = "".join(f"<li><i class={look}></i>{words}</li>" for look, words, there in looks if there.any())
    return (
        f"<section><h2>Room for the children</h2><p>{told}</p><div class=grid>"
        f"<figure><figcaption>Radius the children have</figcaption>{charts.capacity_dots(found, dim)}"
        f"<ul class=legend>{legend}<li><i class=line></i>radius that is enough</li></ul></figure>"
        f"<div>{_capacity_table(diagnosis.capacity, found)}</div></div></section>"
    )


def _dilations(diagnosis: Diagnosis) -> str:
    if not diagnosis.dilations:
        return ""
    now = diagnosis.dilations[0]
    header = ("factor", "largest radius", "clamped", "insufficient", "relieved", "ill pairs", "MAP")
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
    return (
        "<section><h2>What a dilation would do</h2>"
        "<p>All distances to the origin multiplied, nothing trained afterwards. Children get more room, and subtrees "
        f"that already overlap do so more. Measured on {now.pairs:,} pairs and {now.inner:,} inner nodes, the same for "
        "every factor.</p><div class=grid>"
        f"<figure><figcaption>Ill pairs by kind</figcaption>{charts.dilation_bars(diagnosis.dilations)}"
        "<ul class=legend><li><i class=line></i>inner nodes that are insufficient</li></ul></figure>"
        f"<div>{_table(header, rows)}</div></div></section>"
    )


def _worst_nodes(diagnosis: Diagnosis) -> str:
    if not diagnosis.worst_nodes:
        return ""
    cards = "".join(_node_card(number, one) for number, one in enumerate(diagnosis.worst_nodes, 1))
    return (
        "<section><h2>The worst inner nodes</h2><p>Those that take part in the most ill pairs, as the node that others "
        f"fail to be closest to and as one that fails itself.</p><ol class=cards>{cards}</ol></section>"
    )


def _node_card(number: int, one: WorstNode) -> str:
    chips = "".join(
        f'<span class="chip {kind.replace("_", "-")}">{count:,} {KIND_WORDS[kind]}</span>'
        for kind, count in one.illness.items()
        if count
    )
    facts = [f"parent <b>{_escape(one.parent)}</b>" if one.parent is not None else "the root"]
    facts.append(f"{one.children:,} children")
    facts.append(f"offender <b>{_escape(one.offender)}</b>")
    return (
        f"<li><h3><span>{number}</span>{_escape(one.node)}</h3><div class=chips>{chips}</div>"
        f"<p class=facts>{' · '.join(facts)}</p><p>{_escape(one.sentence)}</p>{_command(one.command)}</li>"
    )


def _worst_pairs(diagnosis: Diagnosis) -> str:
    if not diagnosis.worst_pairs:
        return ""
    word = "parent" if diagnosis.evaluation.objective == "parents" else "ancestor"
    rows = "".join(_pair_row(one) for one in diagnosis.worst_pairs)
    return (
        f"<section><h2>The worst pairs</h2><div class=wide><table><thead><tr><th>node<th>true {word}"
        "<th>nearest other node<th>kind<th class=n>rank<th>what is wrong</tr></thead>"
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def _pair_row(one: WorstPair) -> str:
    chip = f'<span class="chip {one.kind.replace("_", "-")}">{KIND_WORDS[one.kind]}</span>'
    names = "".join(f"<td class=name>{_escape(name)}" for name in (one.node, one.positive, one.offender))
    return f"<tr>{names}<td>{chip}<td class=n>{one.rank:,}<td>{_escape(one.sentence)}</tr>"


def _precision(diagnosis: Diagnosis) -> str:
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
    return (
        "<section><h2>Radius and precision</h2><div class=grid>"
        f"<figure><figcaption>Radii of the nodes</figcaption>{charts.radius_histogram(one)}</figure>"
        f"<div>{_table(None, rows)}</div></div></section>"
    )


# ---- parts ----


def _figure(caption: str, chart: str, groups: Sequence[Group]) -> str:
    header = ("", "pairs", *(KIND_WORDS[kind] for kind in KINDS), "ill")
    rows = [
        (group.label, f"{group.pairs:,}", *(f"{count:,}" for count in group.ill), f"{group.share:.1%}")
        for group in groups[:_ROWS]
    ]
    return (
        f"<figure><figcaption>{_escape(caption)}</figcaption>{chart}"
        f"<details><summary>the numbers</summary>{_table(header, rows)}</details></figure>"
    )


def _capacity_table(rows: Sequence[CapacityRow], found: Sufficiency) -> str:
    header = ("children", "nodes", "have", "at least", "enough", "insufficient", "short", "ill")
    return _table(header, capacity_cells(rows, found)) + (
        "<p class=note>Medians of radii. <b>Have</b>: distance of k children's parent to its k-th nearest node. "
        "<b>At least</b>: with less, some of the children must be ill (upper bound). <b>Enough</b>: with so much there "
        "is room (lower bound); with less, Algorithm 1 calls a node <b>insufficient</b>. <b>Short</b>: area alone does "
        "not promise room either.</p>"
    )


def _table(header: Sequence[str] | None, rows: Sequence[Sequence[str]]) -> str:
    head = ""
    if header is not None:
        cells = "".join(f"<th{'' if i == 0 else ' class=n'}>{_escape(cell)}" for i, cell in enumerate(header))
        head = f"<thead><tr>{cells}</tr></thead>"
    body = "".join(
        "<tr>" + "".join(f"<td{'' if i == 0 else ' class=n'}>{_escape(cell)}" for i, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f"<div class=wide><table>{head}<tbody>{body}</tbody></table></div>"


def _command(line: str) -> str:
    """A command line that wraps between words and not within them."""
    return "<code>" + " ".join(f"<span>{_escape(word)}</span>" for word in line.split(" ")) + "</code>"


def _number(value: float, form: str) -> str:
    return "none" if np.isnan(value) else format(value, form)


def _escape(text: str) -> str:
    return html.escape(text, quote=True)
