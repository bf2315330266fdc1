"""``treeball diagnose``: which nodes of a model are ill, of what, why, and what would treat it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ..types import Objective
from ..words import count
from .console import print_json, print_line, print_paragraph, print_rows, print_table, say, score_rows

if TYPE_CHECKING:
    from ..report.diagnose import Diagnosis, Group
    from ..report.diagnose.room import Precision

_LISTED = 10
_SUBTREES = 10
_GROUPS = 30


def diagnose(
    model: Path,
    *,
    html: Path | None = None,
    json: bool = False,
    objective: Objective | None = None,
    sample: Annotated[int | None, Parameter(alias="-n")] = None,
    seed: int = 0,
    worst: int | None = None,
    threads: int = 0,
) -> int:
    """Say what is wrong with a model: who is ill, of what, where, why, and which command would treat it.

    Parameters
    ----------
    model
        Model file that treeball fit wrote.
    html
        Also write the report with charts to this page, which needs no network.
    json
        Print one JSON object.
    objective
        Rank a node's parents or all its ancestors; by default what the model was trained for.
    sample
        Rank only this many random nodes; 0 ranks all. By default as many as treeball evaluate does.
    seed
        Chooses the sample.
    worst
        How many of the worst inner nodes and pairs to tell about; by default 10 here and 20 in the page and the JSON.
    threads
        Workers; 0 uses all cores.
    """
    from ..io.atomic import require_writable
    from ..io.model_file import load
    from ..report.diagnose import WORST
    from ..report.diagnose import diagnose as examine

    if html is not None:
        require_writable(html, model)
    embedding = load(model)
    found = examine(
        embedding,
        objective,
        sample=sample,
        seed=seed,
        worst=WORST if worst is None else worst,
        model=str(model),
        threads=threads,
    )
    if html is not None:
        found.save_html(html)
        say(f"wrote {html}")
    if json:
        print_json(found.to_dict())
    else:
        _print(found, worst or _LISTED)
    return 0


def _print(found: Diagnosis, listed: int) -> None:
    scores = found.evaluation
    print_table(score_rows(scores), f"{found.model}: {found.method}, {scores.nodes:,} nodes, dimension {scores.dim}")
    if len(scores.illness):
        _print_groups("Ill pairs by depth", "depth", found.by_depth[:_GROUPS])
        _print_groups("Ill pairs by the parent's number of children", "children", found.by_children)
        _print_groups("Ill pairs by top-level subtree, the worst first", "subtree", found.by_subtree[:_SUBTREES])
        _print_groups("Ill pairs by who is nearer instead", "nearer is", found.by_offender, shares=False)
    _print_capacity(found)
    _print_dilations(found)
    _print_precision(found)
    _print_worst(found, listed)
    _heading("What to do")
    for number, one in enumerate(found.advice, 1):
        print_paragraph(one.reason, "   ", f"{number}. ")
        if one.command is not None:
            print_line(f"   {one.command}", "bold")


def _print_groups(title: str, what: str, groups: Sequence[Group], *, shares: bool = True) -> None:
    header = [what, "pairs", "capacity", "intra", "inter", *(["ill"] if shares else [])]
    rows = [
        [group.label, f"{group.pairs:,}", *(f"{number:,}" for number in group.ill)]
        + ([f"{group.share:6.1%}{_bar(group.share)}"] if shares else [])
        for group in groups
    ]
    print_line()
    print_rows(header, rows, title)


def _print_capacity(found: Diagnosis) -> None:
    from ..report.diagnose.words import capacity_cells

    if found.sufficiency is None or not found.capacity:
        return
    header = ("children", "nodes", "have", "at least", "enough", "insufficient", "short", "ill pairs")
    title = "Radius the children have, that of the upper bound (at least) and of the lower (enough): "
    title += found.capacity_verdict or ""
    print_line()
    print_rows(header, capacity_cells(found.capacity, found.sufficiency), title)


def _print_dilations(found: Diagnosis) -> None:
    if not found.dilations:
        return
    rows = [
        (
            "as it is" if one.factor == 1 else f"x {one.factor:g}",
            f"{one.max_radius:.1f}",
            f"{one.clamped:,}",
            f"{one.lacking / max(one.inner, 1):.1%}",
            f"{sum(one.ill) / max(one.pairs, 1):.1%}",
            f"{one.map:.3f}",
        )
        for one in found.dilations
    ]
    header = ("dilated", "radius", "clamped", "insufficient", "ill", "MAP")
    print_line()
    print_rows(header, rows, "Effect expected of a dilation, without training")


def _carrier(one: Precision) -> str:
    return "several terms carry" if one.gone is None else "float64 carries"


def _print_precision(found: Diagnosis) -> None:
    one = found.precision
    rows = [("largest and median radius", f"{one.max_radius:.2f}, {one.median_radius:.2f}")]
    if one.used is not None and one.resolution is not None:
        rows += [
            ("radius used", f"{one.used:.0%} of the {one.carried:.4g} that {_carrier(one)}"),
            ("resolution there", f"{one.resolution:.1e}, the shortest edge is {one.shortest_edge:.2g}"),
            ("decided by rounding", count(one.undecided, "node")),
        ]
    if one.limit is not None:
        rows.append(
            ("clamped", f"{count(one.clamped, 'time')} at {one.limit:.1f}; {count(one.at_limit, 'node')} there")
        )
    print_line()
    print_table(rows, "Radius and precision")


def _print_worst(found: Diagnosis, listed: int) -> None:
    from ..report.diagnose.words import KIND_WORDS

    if found.worst_nodes:
        _heading("Worst inner nodes, by the ill pairs they take part in")
    for number, node in enumerate(found.worst_nodes[:listed], 1):
        total = sum(node.illness.values())
        parent = "no parent" if node.parent is None else f"parent {node.shown(node.parent)}"
        print_line(
            f"{number:>2}. {node.shown(node.node)}  {KIND_WORDS[node.kind]} ({node.illness[node.kind]:,} of "
            f"{count(total, 'ill pair')})",
            "bold",
        )
        print_paragraph(f"{parent}; offender {node.shown(node.offender)}. {node.sentence}", "    ")
        print_line(f"    {node.command}", "cyan")
    if found.worst_pairs:
        _heading("Worst pairs, by rank")
    for number, pair in enumerate(found.worst_pairs[:listed], 1):
        both = f"{pair.shown(pair.node)} -> {pair.shown(pair.positive)}"
        print_line(f"{number:>2}. {both}  {KIND_WORDS[pair.kind]}, rank {pair.rank:,}", "bold")
        print_paragraph(pair.sentence, "    ")


# ---- parts ----


def _heading(words: str) -> None:
    print_line()
    print_line(words, "italic")


def _bar(share: float) -> str:
    """A small bar beside a share, on a terminal."""
    return "  " + "━" * round(20 * share) if sys.stdout.isatty() else ""
