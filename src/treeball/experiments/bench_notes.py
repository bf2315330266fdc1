"""What to know of a bench's table: what the figures are, where terms differ, what was not used, and what failed."""

from __future__ import annotations

from collections.abc import Sequence

from ..words import count
from .bench_settings import BenchPlan
from .records import Record
from .summary import settings_by_value

__all__ = ["notes_of"]

# These end a phase at some epoch.
_PHASES = ("n_tc",)
_HELD_OUT = {
    "leaves": "of the leaves",
    "edges": "of the edges",
    "closure": "of the pairs (node, ancestor) that are no edges",
}


def notes_of(plan: BenchPlan, lines: Sequence[Record], rows: Sequence[Record]) -> list[str]:
    """Sentences, each for a line of its own."""
    if not rows:
        return ["No run is finished yet."]
    notes = [_figures(rows, lines)]
    if plan.split != "none":
        notes.append(
            f"Held out: {plan.share:.3g} {_HELD_OUT[plan.split]}, drawn by the seed, the same for all methods. "
            "All other columns are about the training part."
        )
    if plan.split == "leaves":
        notes.append("Held-out leaves are placed by insert, below their parents, before these are ranked.")
    notes += _unequal(lines)
    notes += _not_used(plan, lines)
    notes += _phases_that_never_come(lines)
    known = sum(row["held_out_known"] or 0 for row in rows) if plan.split != "leaves" else 0
    if known:
        notes.append(f"{known:,} of the held-out pairs, over all runs, follow from what was trained.")
    if any(row["sampled_nodes"] for row in rows):
        notes.append("Scores are those of a sample of nodes, and ill pairs are counted among them.")
    return notes + _failures(rows)


def _figures(rows: Sequence[Record], lines: Sequence[Record]) -> str:
    several = any(len(line["seeds"]) > 1 for line in lines)
    spread = "Mean ± standard deviation over seeds" if several else "One run each"
    threads = " or ".join(count(one, "thread") for one in sorted({row["threads"] for row in rows}))
    versions = ", ".join(sorted({row["version"] for row in rows}))
    marked = "; the best of each dimension is marked" if len(lines) > 1 else ""
    return (
        f"{spread}{marked}. Seconds are those of the fit with {threads}, without compiling and scoring "
        f"(treeball {versions})."
    )


def _unequal(lines: Sequence[Record]) -> list[str]:
    """Settings that methods have in common and that differ, and methods that have none of epochs."""
    shown = [(line["method"], line["settings"]) for line in lines if line["settings"]]
    differ = []
    for name, by_value in settings_by_value(shown).items():
        if len(by_value) > 1:
            whose = (f"{value} ({', '.join(dict.fromkeys(who))})" for value, who in by_value.items())
            differ.append(f"{name} is {', '.join(whose)}")
    notes = []
    if differ:
        notes.append(f"Not on equal terms: {'; '.join(differ)}.")
    for name, what in (("epochs", "no training"), ("max_radius", "no largest radius to set")):
        without = dict.fromkeys(method for method, settings in shown if name not in settings)
        if without and len(without) < len({method for method, _ in shown}):
            notes.append(f"There is {what} in {', '.join(without)}.")
    return notes


def _not_used(plan: BenchPlan, lines: Sequence[Record]) -> list[str]:
    notes = []
    for name, value in plan.settings.items():
        who = dict.fromkeys(line["method"] for line in lines if name in line["not_used"])
        if who:
            notes.append(f"{name} {value} is not used by {', '.join(who)}.")
    return notes


def _phases_that_never_come(lines: Sequence[Record]) -> list[str]:
    notes = []
    for line in lines:
        settings = line["settings"]
        late = [name for name in _PHASES if settings.get("epochs") and settings.get(name, 0) >= settings["epochs"]]
        if late:
            said = " and ".join(f"{name} is {settings[name]:,}" for name in late)
            epochs = count(settings["epochs"], "epoch")
            notes.append(
                f"{line['method']}: {said}, beyond {epochs}, so what follows never comes: set {_them(late)} too."
            )
    return list(dict.fromkeys(notes))


def _failures(rows: Sequence[Record]) -> list[str]:
    """Every reason once for a method and a dimension."""
    seeds: dict[tuple[str, int, str], list[str]] = {}
    for row in rows:
        if row["failure"]:
            seeds.setdefault((row["method"], row["dim"], row["failure"]), []).append(str(row["seed"]))
    return [
        f"Failed: {method}, d={dim}, {'seed' if len(who) == 1 else 'seeds'} {', '.join(who)}: {reason}"
        for (method, dim, reason), who in seeds.items()
    ]


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"
