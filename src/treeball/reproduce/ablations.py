"""The ablations on the synthetic trees: the runs behind their bars, and which claims of the paper they bear out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..experiments.records import Record
from ..experiments.summary import mean_and_spread
from . import paper
from .lines import of_one_setting
from .measures import score, shown
from .planner import Job, Planner, variant_name
from .recipes import Row

__all__ = ["ETAS", "TC_EPOCHS", "bars_of", "claims_markdown", "figure_jobs"]

ETAS = (0.0, 0.1, 0.2, 0.5, 1.0)
TC_EPOCHS = (100, 300, 1000, 3000)
WEIGHTS, PARTS = paper.FIGURES["weights"], paper.FIGURES["parts"]

Bars = Mapping[str, Sequence[Record]]


def figure_jobs(planner: Planner) -> list[Job]:
    """The runs behind the bars of a synthetic tree, all at one radius, the first that was chosen."""
    if planner.tree.dataset != "synthetic" or paper.SYNTHETIC_DIM not in planner.dims:
        return []
    methods = planner.choices.methods
    asked = {*methods, *(["ga-rw"] if "ga-dl-rw" in methods else [])}
    radius = planner.choices.radii[0]
    jobs = [
        planner.job(Row(method), paper.SYNTHETIC_DIM, radius, seed, **changes)
        for bars in _bars().values()
        for method, changes in bars.values()
        if not asked or method in asked
        for seed in planner.seeds
    ]
    return [job for job in jobs if job is not None]


def bars_of(records: Sequence[Record]) -> Mapping[str, Bars]:
    """The runs behind the bars among the records of a synthetic tree: figure -> label of a bar -> one record per seed.

    A bar without any is left out.
    """
    planar = [one for one in records if one["settings"]["dim"] == paper.SYNTHETIC_DIM and one["terms"] == "epochs"]
    radii = [one["radius"] for one in planar if one["variant"]]
    figures: dict[str, dict[str, Sequence[Record]]] = {}
    for figure, bars in _bars().items():
        for label, (method, changes) in bars.items():
            usual = changes.items() <= {"eta_tc": paper.ETA_TC, "n_tc": paper.N_TC}.items()
            wanted = (method, "" if usual else variant_name(changes))
            runs = [one for one in planar if (one["settings"]["method"], one["variant"]) == wanted]
            runs = [one for one in runs if not radii or one["radius"] in radii]
            if runs:
                figures.setdefault(figure, {})[label] = of_one_setting(runs)
    return figures


def _bars() -> dict[str, dict[str, tuple[str, dict[str, Any]]]]:
    """Figure -> label -> method and what differs from its usual settings.

    One figure varies the weight of closure edges in the whole algorithm, so that weight 0 is dilation alone; the other
    takes the algorithm apart.
    """
    return {
        WEIGHTS: {
            "base": ("poincare", {}),
            **{f"{eta:g}": ("ga-dl-rw", {"eta_tc": eta}) for eta in ETAS},
        },
        PARTS: {
            "base": ("poincare", {}),
            "DL": ("ga-dl", {}),
            **{f"RW {epochs:,}": ("ga-rw", {"n_tc": epochs}) for epochs in TC_EPOCHS},
            "GA": ("ga-dl-rw", {}),
        },
    }


# ---- claims ----


@dataclass(frozen=True)
class _Claim:
    """A sentence of the paper, and how the bars of a figure judge it.

    Attributes
    ----------
    better, worse : labels of the bars of which the sentence says that the first has less of the measure (or a higher
        MAP); None for the best of all other bars
    among : prefix of the labels that are compared when one of the two is None
    """

    figure: str
    words: str
    measure: str
    better: str
    worse: str | None
    among: str = ""


_CLAIMS = (
    _Claim(WEIGHTS, "Closure edges reduce capacity illness.", "capacity", "1", "0"),
    _Claim(WEIGHTS, "Closure edges eliminate inter-subtree illness.", "inter_subtree", "1", "0"),
    _Claim(WEIGHTS, "Closure edges increase intra-subtree illness.", "intra_subtree", "0", "1"),
    _Claim(WEIGHTS, "A small weight mitigates that.", "intra_subtree", "0.2", "1"),
    _Claim(WEIGHTS, "η_tc = 0.2 yields the best results.", "map", "0.2", None),
    _Claim(PARTS, "N_tc = 300 yields the best results.", "map", "RW 300", None, "RW"),
    _Claim(PARTS, "The whole algorithm has less illness than the baseline.", "illness", "GA", "base"),
    _Claim(PARTS, "The whole algorithm has the highest MAP.", "map", "GA", None),
    _Claim(PARTS, "The whole algorithm has the lowest MR.", "mean_rank", "GA", None),
)


def claims_markdown(trees: Mapping[str, Mapping[str, Bars]]) -> str:
    """A sentence for each claim of the paper about its bars, and for each tree: whether it holds there.

    Parameters
    ----------
    trees
        What a tree is called -> figure -> label of a bar -> its records.
    """
    said = []
    for claim in _CLAIMS:
        verdicts = [f"{name}: {verdict}." for name, bars in trees.items() if (verdict := _judge(claim, bars))]
        if verdicts:
            number = claim.figure.removeprefix("figure-")
            said.append(f"- Figure {number}: *{claim.words}* {' '.join(verdicts)}")
    return "\n".join(said) + "\n" if said else ""


def _judge(claim: _Claim, figures: Mapping[str, Bars]) -> str:
    """Whether a claim holds, with the figures that say so; empty where runs are missing."""
    bars = figures.get(claim.figure, {})
    better: Callable[..., str] = max if claim.measure == "map" else min
    rest = [label for label in bars if label.startswith(claim.among) and label not in (claim.better, "base")]
    worse = claim.worse or better(rest, key=lambda label: _mean(bars[label], claim.measure), default="")
    if claim.better not in bars or worse not in bars:
        return ""
    ours, other = (mean_and_spread([score(run, claim.measure) for run in bars[x]]) for x in (claim.better, worse))
    gain = (ours["mean"] - other["mean"]) * (1 if claim.measure == "map" else -1)
    spread = max(ours["spread"] or 0.0, other["spread"] or 0.0)
    verdict = "undecided, within the spread" if abs(gain) <= spread else "holds" if gain > 0 else "**does not hold**"
    figures_text = ", ".join(
        f"{shown(claim.measure, one['mean'], one['spread'])} at {_place(claim.figure, label)}"
        for label, one in ((claim.better, ours), (worse, other))
    )
    return f"{verdict} ({_NAMES.get(claim.measure, claim.measure)} {figures_text})"


_NAMES = {
    "map": "MAP",
    "mean_rank": "MR",
    "intra_subtree": "intra-subtree",
    "inter_subtree": "inter-subtree",
    "illness": "ill pairs",
}


def _place(figure: str, label: str) -> str:
    return f"η_tc {label}" if figure == WEIGHTS and label != "base" else label


def _mean(runs: Sequence[Record], measure: str) -> float:
    return float(mean_and_spread([score(run, measure) for run in runs])["mean"])
