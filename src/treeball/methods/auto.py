"""auto: which method suits a hierarchy and an objective, and which dimension it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import InputError
from ..hierarchy import Hierarchy
from ..limits import BALL_RADIUS
from .construct import construct
from .fit_settings import settings_of
from .registry import find
from .settings import ConstructSettings, Settings, SharpenedSettings, SoftmaxSettings

__all__ = ["Choice", "Dimension", "resolve", "smallest_dimension", "why_ill"]

DIMENSIONS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32)
# Up to so many nodes the training for all ancestors starts from a construction and against all nodes. Larger
# hierarchies tend to be too tall for that: they form better from random vectors against random nodes, in short steps.
FULL_SOFTMAX_UP_TO_NODES = 20_000
FULL_STEP, SAMPLED_STEP = 0.03, 0.01
INIT_SCALE, DILATION = 0.05, 1.5
# Up to so many nodes the softmax over all is trained, in minutes; for all ancestors in fewer dimensions,
# random first vectors stay tangled.
SOFTMAX_UP_TO_NODES, SOFTMAX_FROM_DIM = 20_000, 8


class Choice(NamedTuple):
    """What is to be done: settings of a method, why, and what else to try, of which the better one is kept."""

    settings: Settings
    reasons: list[str]
    rivals: tuple[Settings, ...] = ()


def resolve(hierarchy: Hierarchy, given: Mapping[str, Any]) -> Choice:
    """Settings of a method in which nothing is left to `auto`, and a sentence for every choice made.

    A tree can be constructed so that every parent is the nearest node, in a second and whatever its size. Of a DAG a
    construction can follow the primary parents only, and that all ancestors come first none achieves: there a training
    does better. What was given stays as it is, and what the method has no use for is refused.

    Parameters
    ----------
    given
        What the user set, by name.
    """
    asked = {name: value for name, value in given.items() if name != "method"}
    name, notes = given.get("method", "auto"), []
    if str(asked.get("dim")) in ("0", "auto"):
        # What else was set is looked at first: to find a dimension may take its time.
        del asked["dim"]
        _choose(hierarchy, name, asked)
        found = smallest_dimension(hierarchy, asked.get("seed", 0), asked.get("threads", 0))
        asked["dim"] = found.dim
        notes.append(found.note)
    choice = _choose(hierarchy, name, asked)
    needs = find(choice.settings.method).needs
    if needs is not None:
        needs(hierarchy, choice.settings)
    return choice._replace(reasons=[*notes, *choice.reasons])


def _choose(hierarchy: Hierarchy, name: str, given: Mapping[str, Any]) -> Choice:
    if name == "auto":
        return _suitable(hierarchy, given)
    return Choice(settings_of(find(name).settings, name, given), [])


def _suitable(hierarchy: Hierarchy, given: Mapping[str, Any]) -> Choice:
    """The method that suits, with what was given and, for the rest, what suits it; and why."""
    shape = f"{'a tree' if hierarchy.is_tree else 'a DAG'} of {hierarchy.n_nodes:,} nodes"
    few = hierarchy.n_nodes <= SOFTMAX_UP_TO_NODES
    takes_all = set(given) <= set(SoftmaxSettings.names())
    if given.get("objective", "parents") == "parents":
        if not hierarchy.is_tree and few:
            settings = settings_of(SoftmaxSettings, "softmax", given, by_auto=True)
            kept = {name: value for name, value in given.items() if name in ConstructSettings.names()}
            rival = settings_of(ConstructSettings, "construct", {"heal": True, **kept})
            why = f"auto: softmax training, and construct beside it: {shape} needs it for nodes with several parents"
            return Choice(settings, [why], (rival,))
        settings = settings_of(ConstructSettings, "construct", given, by_auto=True, heal=True)
        how = "construct, then heal" if settings.heal else "construct"
        reason = f"auto: {how}: {shape} needs no training for the objective parents"
        if not hierarchy.is_tree:
            reason = f"auto: {how}: {shape}; a node with several parents is placed by the one with the most ancestors"
        return Choice(settings, [reason])
    if few and takes_all and given.get("dim", SoftmaxSettings.dim) >= SOFTMAX_FROM_DIM:
        settings = settings_of(SoftmaxSettings, "softmax", given, by_auto=True)
        return Choice(settings, [f"auto: softmax training: {shape} needs it for the objective ancestors"])
    choice = _sharpened(hierarchy, given, shape)
    if few and not takes_all:
        others = ", ".join(name for name in given if name not in SoftmaxSettings.names())
        choice.reasons.append(f"the training softmax, which would suit as well, does not use {others}")
    return choice


def _sharpened(hierarchy: Hierarchy, given: Mapping[str, Any], shape: str) -> Choice:
    suits: dict[str, Any]
    batch = given.get("batch", SharpenedSettings.batch)
    if hierarchy.n_nodes <= FULL_SOFTMAX_UP_TO_NODES:
        suits = {"init": "construct", "full_softmax": True, "dilation": 1.0, "burn_in": 0}
        suits |= {"init_scale": INIT_SCALE, "lr": FULL_STEP * batch}
        if "init_radius" in given:  # of random first vectors
            suits["init"] = "random"
    else:
        suits = {"dilation": DILATION, "lr": SAMPLED_STEP * batch}
    settings = settings_of(SharpenedSettings, "sharpened", given, by_auto=True, **suits)
    assert isinstance(settings, SharpenedSettings)
    start = "a construction" if settings.starts_from_construction else "random vectors"
    others = "all" if settings.full_softmax else "random"
    how = f"auto: sharpened training from {start}, against {others} nodes"
    return Choice(settings, [f"{how}: {shape} needs it for the objective ancestors"])


@dataclass(frozen=True)
class Dimension:
    """The smallest dimension without an ill pair in the sample, and the share of ill nodes in the lower ones tried."""

    dim: int
    lower: dict[int, float]

    @property
    def note(self) -> str:
        """One sentence for a person."""
        costs = ", ".join(f"{share:.2%} in {dim}" for dim, share in self.lower.items())
        note = f"dimension {self.dim} is the smallest in which a construction leaves no ill node"
        return note + (f"; ill nodes: {costs}" if costs else "")


def smallest_dimension(hierarchy: Hierarchy, seed: int = 0, threads: int = 0, above: int = 1) -> Dimension:
    """The smallest dimension `above` another in which the construction leaves no ill node within float64's radius."""
    lower: dict[int, float] = {}
    share = 1.0
    for dim in (dim for dim in DIMENSIONS if dim > above):
        share = construct(hierarchy, dim, seed=seed, threads=threads).ill_share
        if not share:
            return Dimension(dim, lower)
        lower[dim] = share
    raise InputError(
        f"no dimension up to {DIMENSIONS[-1]} holds this hierarchy without ill nodes (still {share:.2%} there): "
        "its branches are too tall for float64; choose a dimension with --dim and live with some"
    )


def why_ill(hierarchy: Hierarchy, settings: Settings, ill: int) -> str:
    """A sentence on the pairs that construction and healing left ill: what stands in the way, and what would do."""
    pairs = "1 pair stays" if ill == 1 else f"{ill:,} pairs stay"
    reason = (
        f"{pairs} ill: float64 carries a radius of about {BALL_RADIUS:g}, and {settings.dim} dimensions have no room"
    )
    if not hierarchy.is_tree:
        return f"{pairs} ill; a node with several parents can be next to one of them only"
    try:
        found = smallest_dimension(hierarchy, settings.seed, settings.threads, above=settings.dim)
    except InputError:
        return f"{reason} for them within it; no dimension up to {DIMENSIONS[-1]} has"
    return f"{reason} for them within it; --dim {found.dim} would do"
