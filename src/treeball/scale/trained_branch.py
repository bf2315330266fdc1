"""What a folder that is trained does in the place of a plan, and of placing a branch: it trains them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import NumericalError
from ..methods.auto import softmax_for
from ..methods.settings import SoftmaxSettings
from ..types import Ints, Objective
from ..words import count
from .anchors import Anchors, choose_anchors, room_for_anchors
from .branch import Branch
from .branch_training import Below, precision_of, start_below, train_below, train_together, train_whole
from .contracted import Edges, contracted
from .settings import ScaleSettings
from .trunk import Shape

__all__ = ["totals", "train_anchors", "trained_branch", "training_of"]

# Nodes of a branch that are ranked before and after its training, of which the better is kept.
_RANKED = 4096
# Sums are added up in the order of the workers, so that their number is a part of the result: always the same.
_WORKERS = 8
_NO_NUMBERS = "the training of {} stopped giving numbers: fit with another --seed, more --dim or larger --branch-nodes"


def training_of(settings: ScaleSettings, nodes: int) -> SoftmaxSettings:
    """How so many nodes are trained in one piece: as on a single machine."""
    given = {"dim": settings.dim, "objective": settings.objective, "seed": settings.seed, "threads": _WORKERS}
    epochs = {"epochs": settings.epochs} if settings.epochs else {}
    training = softmax_for(nodes, given | epochs | {"device": "cpu"})
    assert isinstance(training, SoftmaxSettings)
    return training


def train_anchors(
    folder: Path, cuts: Ints, settings: ScaleSettings, virtual: bool, tell: Callable[[str], None]
) -> dict[str, Any]:
    """Choose and train the anchors of a folder and write them; -> what the manifest says of them."""
    shape, edges = Shape.load(folder), Edges.load(folder)
    n = shape.parent.size
    room = room_for_anchors(n, settings.branch_nodes)
    places, fixed, left_out = choose_anchors(shape, edges, cuts, room, settings.seed)
    hierarchy = contracted(edges, places, virtual)
    training = training_of(settings, places.size)
    trunk, epochs = int(fixed.sum()), count(training.epochs, "epoch")
    stand_ins = int(places.size) - trunk
    who = f"{trunk:,} nodes of the trunk and {stand_ins:,} that stand in for all others" if stand_ins else "all nodes"
    tell(f"training {who}: {epochs}")
    sharpness = 0.0
    try:
        if places.size == n:
            vectors = train_whole(hierarchy, training)
        else:
            vectors, sharpness = train_together(hierarchy, training)
    except NumericalError:
        raise NumericalError(_NO_NUMBERS.format("the trunk" if stand_ins else "all nodes")) from None
    Anchors(places, fixed, vectors, sharpness).save(folder / "work")
    largest = places.size + int(np.diff(cuts).max()) if stand_ins else n
    return {
        "trunk": trunk,
        "plan": {
            "sharpness": sharpness, "epochs_of_trunk": training.epochs,
            "epochs": training_of(settings, largest).epochs, "stand_ins": stand_ins, "parents_left_out": left_out,
        },
    }  # fmt: skip


def trained_branch(home: Path, task: int, settings: dict[str, Any]) -> tuple[Branch, dict[str, Any]]:
    """One branch, trained below the trunk, and what its record says: the better of before and after is kept."""
    first, last = settings["cuts"][task], settings["cuts"][task + 1]
    objective: Objective = settings["objective"]
    shape, edges, anchors = Shape.load(home), Edges.load(home), Anchors.load(home / "work")
    # A hierarchy of one branch: all its nodes are anchors, and trained.
    whole = bool(anchors.places.size == shape.parent.size)
    if whole:
        hierarchy = contracted(edges, anchors.places, settings["virtual_root"])
        trained = start = Below(anchors.places, hierarchy, np.zeros(last, bool), anchors.vectors)
    else:
        start = start_below(anchors, edges, first, last, settings["virtual_root"])
        # The seed is one number to the training.
        seed = int(np.random.default_rng([settings["seed"], task]).integers(1 << 31))
        training = SoftmaxSettings(
            method="softmax", objective=objective, dim=anchors.vectors.shape[1], epochs=settings["plan"]["epochs"],
            seed=seed, threads=1, device="cpu", sharpness=anchors.sharpness,
        )  # fmt: skip
        try:
            trained = train_below(start, training)
        except NumericalError:
            raise NumericalError(_NO_NUMBERS.format(f"branch {task}")) from None
    own = np.searchsorted(start.places, np.arange(first, last))
    has = own[np.diff(start.hierarchy.positives(objective)[0])[own] > 0]
    rng = np.random.default_rng([settings["seed"], task])
    looked_at = np.sort(rng.choice(has, min(_RANKED, has.size), replace=False))
    before = precision_of(start, objective, looked_at)
    after = before if whole else precision_of(trained, objective, looked_at)
    better = bool(after.sum() >= before.sum())
    kept, precision = (trained, after) if better else (start, before)
    above = np.array(shape.above(first), np.int64)
    rows = np.concatenate([np.searchsorted(kept.places, above), own])
    branch = Branch(first, last, above, _parents(shape, above, first, last), np.ascontiguousarray(kept.vectors[rows]))
    ill = start.places[looked_at[precision < 1.0]]
    return branch, {
        "ill": int(ill.size), "looked_at": int(looked_at.size), "ill_places": ill.tolist()[:1000],
        "precision": float(precision.sum()), "precision_before": float(before.sum()), "training_kept": better,
    }  # fmt: skip


def _parents(shape: Shape, above: Ints, first: int, last: int) -> Any:
    """Rows of the parents of the nodes above, and of those of a branch behind them; -1 for the root."""
    own = shape.parent[first:last].astype(np.int64)
    rows = np.where(own < first, np.searchsorted(above, own), own - first + above.size)
    if first == 0:
        rows[0] = -1
    return np.concatenate([np.arange(-1, above.size - 1), rows]).astype(np.int32)


def totals(records: list[dict[str, Any]]) -> dict[str, Any]:
    """What the manifest says of all trained branches; nothing of constructed ones."""
    if "precision" not in records[0]:
        return {}
    ranked = max(1, sum(record["looked_at"] for record in records))
    return {
        "map_in_branches": sum(record["precision"] for record in records) / ranked,
        "map_before_training": sum(record["precision_before"] for record in records) / ranked,
        "trainings_not_kept": sum(not record["training_kept"] for record in records),
    }
