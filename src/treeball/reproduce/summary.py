"""From stored runs to the lines of a table: means over seeds next to the paper's figures, and what they show."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from ..experiments.records import Record
from ..experiments.summary import mean_and_spread
from . import paper
from .datasets import Tree
from .plan import ALL_METHODS

MEASURES = ("mean_rank", "map", "capacity", "intra_subtree", "inter_subtree")
GEOMETRY_AWARE = ("ga-dl", "ga-dl-rw")
BASELINES = ("poincare", "lorentz")
# The reproduction counts as such when it comes this close to the paper's MAP, or exceeds it.
TOLERANCE = 0.02


def summarise(tree: Tree, records: Sequence[Record]) -> Record:
    """Everything the table of `tree` says, as one JSON object; `records` are its stored runs."""
    lines = []
    groups: dict[tuple[int, str], list[Record]] = {}
    for record in records:
        if not record["variant"]:
            groups.setdefault((record["settings"]["dim"], record["settings"]["method"]), []).append(record)
    for dim, method in sorted(groups, key=lambda key: (key[0], _place(key[1]), key[1])):
        lines.append(_line(tree, _of_one_setting(groups[dim, method])))
    return {
        "tree": tree.name,
        "title": tree.title,
        "note": tree.note,
        "objective": tree.objective,
        "lines": lines,
        "comparison": compare(tree, lines),
    }


def _place(method: str) -> int:
    return ALL_METHODS.index(method) if method in ALL_METHODS else len(ALL_METHODS)


def _of_one_setting(records: list[Record]) -> list[Record]:
    """Those that share their settings, but for the seed, with the latest: seeds of different settings have no mean."""
    latest = max(records, key=lambda record: str(record["finished"]))
    chosen = [record for record in records if _without_seed(record) == _without_seed(latest)]
    return sorted(chosen, key=lambda record: int(record["settings"]["seed"]))


def _without_seed(record: Record) -> Record:
    return {name: value for name, value in record["settings"].items() if name != "seed"}


def _line(tree: Tree, records: list[Record]) -> Record:
    settings = _without_seed(records[0])
    method, dim = settings["method"], settings["dim"]
    printed = paper.row(tree.name, method, dim)
    line: Record = {"dim": dim, "method": method, "seeds": [record["settings"]["seed"] for record in records]}
    for measure in MEASURES:
        values = [_score(record, measure) for record in records]
        line[measure] = mean_and_spread(values) | {"paper": None if printed is None else getattr(printed, measure)}
    line["seconds"] = statistics.fmean(record["seconds"]["training"] for record in records)
    line["sampled"] = next((record["sample"] for record in records if record["scores"].get("sampled")), 0)
    line["threads"] = sorted({record["threads"] for record in records})
    line["versions"] = sorted({record["version"] for record in records})
    line["log"] = records[0]["log"]
    line["settings"] = settings
    return line


def _score(record: Record, measure: str) -> float:
    """A score; the illness counts of a sample are those of its nodes, so they are scaled to all."""
    scores = record["scores"]
    if measure in ("mean_rank", "map"):
        return float(scores[measure])
    sampled = scores.get("sampled")
    return float(scores["illness"][measure]) * (sampled["of"] / sampled["nodes"] if sampled else 1.0)


def compare(tree: Tree, lines: Sequence[Record]) -> Record:
    """Whether the geometry-aware methods beat the baselines, and how far each is from the paper.

    Returns
    -------
    dict
        ``"by_dim"``: per dimension the better of ga-dl and ga-dl-rw in MAP and in MR, whether each beats poincare and
        lorentz, which of them beats both baselines in both scores, whether ga-dl has fewer capacity illnesses
        than poincare, and whether all methods had the same epochs and seeds. None stands for a run that is missing.
        ``"to_paper"``: per geometry-aware line the margin of our MAP over the paper's less 0.02, and the same for the
        better of the two.
    """
    by_dim, to_paper = [], []
    for dim in sorted({line["dim"] for line in lines}):
        methods = {line["method"]: line for line in lines if line["dim"] == dim}
        ours = [methods[name] for name in GEOMETRY_AWARE if name in methods]
        if not ours:
            continue
        rivals = [methods[name] for name in BASELINES if name in methods]
        by_dim.append(
            {"dim": dim, **_against_baselines(ours, rivals), "ga_dl_has_less_capacity_illness": _less(methods)}
        )
        to_paper += _margins(tree, dim, ours)
    return {"by_dim": by_dim, "to_paper": to_paper}


def _against_baselines(ours: list[Record], rivals: list[Record]) -> Record:
    best_map = max(ours, key=lambda line: float(line["map"]["mean"]))
    best_rank = min(ours, key=lambda line: float(line["mean_rank"]["mean"]))
    record: Record = {
        "map": _best(
            best_map, "map", {rival["method"]: _mean(best_map, "map") > _mean(rival, "map") for rival in rivals}
        ),
        "mean_rank": _best(
            best_rank,
            "mean_rank",
            {rival["method"]: _mean(best_rank, "mean_rank") < _mean(rival, "mean_rank") for rival in rivals},
        ),
        "beats_all_in_both": [
            line["method"]
            for line in ours
            if rivals
            and all(
                _mean(line, "map") > _mean(rival, "map") and _mean(line, "mean_rank") < _mean(rival, "mean_rank")
                for rival in rivals
            )
        ],
    }
    terms = [(line["seeds"], line["settings"]["epochs"]) for line in ours + rivals]
    record["equal_terms"] = all(one == terms[0] for one in terms)
    return record


def _best(line: Record, measure: str, beats: dict[str, bool]) -> Record:
    return {"method": line["method"], "mean": _mean(line, measure), "beats": beats}


def _less(methods: dict[str, Record]) -> bool | None:
    if "ga-dl" not in methods or "poincare" not in methods:
        return None
    return _mean(methods["ga-dl"], "capacity") < _mean(methods["poincare"], "capacity")


def _margins(tree: Tree, dim: int, ours: Iterable[Record]) -> list[Record]:
    rows = []
    for line in ours:
        printed = line["map"]["paper"]
        if printed is not None:
            rows.append(_margin(dim, line["method"], _mean(line, "map"), printed))
    in_paper = [
        row.map for row in paper.TABLES[tree.name] if row.dim == dim and row.method in GEOMETRY_AWARE and row.map
    ]
    if len(in_paper) > 1:
        rows.append(_margin(dim, "better of both", max(_mean(line, "map") for line in ours), max(in_paper)))
    return rows


def _margin(dim: int, method: str, ours: float, printed: float) -> Record:
    wanted = round(printed - TOLERANCE, 6)
    return {"dim": dim, "method": method, "map": ours, "wanted": wanted, "margin": ours - wanted}


def _mean(line: Record, measure: str) -> float:
    return float(line[measure]["mean"])
