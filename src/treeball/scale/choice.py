"""auto: whether a construction is good enough for nodes with several parents, or a training is better.

A construction takes seconds, and a training of the same nodes an hour. So the construction comes first, and is ranked
on a sample of nodes. If that leaves too much to wish for, the anchors are trained and a few branches below them; if
these are better than they were, all are, and of both the one with the higher MAP on the same sample is kept. The
scores that are told of the model in the end are those of another sample. Beyond a size that takes too long, and a
training has to be asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from ..errors import NumericalError
from ..types import Ints
from .evaluate import SAMPLE, FolderScores, evaluate_nodes
from .folder import ModelFolder
from .layout import read_json, write_json
from .settings import Placing

if TYPE_CHECKING:
    from .fit import Making

__all__ = ["GOOD_ENOUGH", "TRAINED_UP_TO_NODES", "choose"]

GOOD_ENOUGH = 0.999
"""MAP of a sample from which on a construction is kept, and nothing else is tried."""
TRAINED_UP_TO_NODES = 1_000_000
"""Up to so many nodes a training is tried where it was not asked for: of a million it takes most of a core hour."""
# Branches trained to see whether it is worth while: a fixed number, for the same bytes by any number of workers.
_TRIED = 2
_FILE = "choice.json"


def choose(making: Making) -> Placing:
    """Which of both methods gives the better folder; what the other has made is removed."""
    path = making.folder / "work" / _FILE
    if not path.is_file():
        write_json(path, _compared(making))
    chosen = read_json(path)
    better: Placing = chosen["method"]
    for how in get_args(Placing):
        if how != better:
            making.remove(how)
    making.tell(f"auto: {chosen['why']}: {better} it is")
    return better


def _compared(making: Making) -> dict[str, Any]:
    built = ModelFolder(making.folder, making.by("construct"))
    sample = _drawn(making, built, [(0, len(built))])
    one = evaluate_nodes(built, sample, "parents")
    if one.map >= GOOD_ENOUGH:
        return _chosen("construct", f"construct has {_said(one)}", construct=one)
    if len(built) > TRAINED_UP_TO_NODES:
        why = f"construct has {_said(one)}, and --method softmax would train for long (see treeball plan)"
        return _chosen("construct", why, construct=one)
    making.tell(
        f"auto: construct has {_said(one)} of {one.nodes:,} sampled nodes; training some branches, to see if that is "
        "better (--method construct leaves this out)"
    )
    try:
        return _trained_beside(making, built, sample, one)
    except NumericalError as error:
        why = f"construct has {_said(one)}, and softmax training was given up: {str(error).split(':')[0]}"
        return _chosen("construct", why, construct=one)


def _trained_beside(making: Making, built: ModelFolder, sample: Ints, one: FolderScores) -> dict[str, Any]:
    """Train some branches, and the others where these are better; the better of both methods on a sample of nodes.

    `one` are the scores of the construction on that sample.
    """
    cuts = making.stages.planned("softmax")["cuts"]
    tasks = len(cuts) - 1
    few = sorted(_rng(making).choice(tasks, min(tasks, _TRIED), replace=False).tolist())
    records = making.some("softmax", few)
    trained = sum(record["precision"] for record in records) / sum(record["looked_at"] for record in records)
    there = [(cuts[task], cuts[task + 1]) for task in few]
    before = evaluate_nodes(built, _drawn(making, built, there), "parents")
    if not trained > before.map:
        why = f"construct has {_said(before)} in {len(few):,} branches, and softmax training {trained:.4f} at most"
        return _chosen("construct", why, construct=one)
    making.tell(f"auto: MAP {trained:.4f} instead of {before.map:.4f} in {len(few):,} branches: training the others")
    two = evaluate_nodes(ModelFolder(making.folder, making.by("softmax")), sample, "parents")
    better: Placing = "softmax" if (two.map, -two.mean_rank) > (one.map, -one.mean_rank) else "construct"
    why = f"construct has {_said(one)}, and softmax training {_said(two)}, of the same {one.nodes:,} sampled nodes"
    return _chosen(better, why, construct=one, softmax=two)


def _chosen(method: Placing, why: str, **scores: FolderScores) -> dict[str, Any]:
    found = {name: {"map": one.map, "mean_rank": one.mean_rank, "nodes": one.nodes} for name, one in scores.items()}
    return {"method": method, "why": why, "compared": found}


def _said(scores: FolderScores) -> str:
    return f"MAP {scores.map:.4f} and mean rank {scores.mean_rank:.2f}"


def _rng(making: Making) -> np.random.Generator:
    return np.random.default_rng([making.settings.seed, 7])


def _drawn(making: Making, folder: ModelFolder, ranges: list[tuple[int, int]]) -> Ints:
    """A sample of some ranges of places, ascending, without an added root."""
    first = np.array([max(low, int(folder.has_virtual_root)) for low, _ in ranges], np.int64)
    ends = np.cumsum([high - low for low, (_, high) in zip(first.tolist(), ranges, strict=True)])
    drawn = np.sort(_rng(making).choice(int(ends[-1]), min(SAMPLE, int(ends[-1])), replace=False))
    which = np.searchsorted(ends, drawn, "right")
    before = np.concatenate([[0], ends])[:-1]
    return np.asarray(first[which] + drawn - before[which], np.int64)
