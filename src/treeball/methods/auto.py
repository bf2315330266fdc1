"""auto: which method suits a hierarchy and an objective, and which dimension it needs."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError
from ..hierarchy import Hierarchy
from ..limits import BALL_RADIUS
from ..settings import FitSettings
from .construct import construct

__all__ = ["Dimension", "resolve", "smallest_dimension", "why_ill"]

DIMENSIONS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32)
# First step of a pair: longer ones tear a construction, shorter ones take longer for the same.
WHOLE_STEP, SAMPLED_STEP = 0.03, 0.02
# How far the construction is drawn together, and the dilation near the end.
CONTRACT, DILATION = 0.05, 1.6
# The sample that stands for all but the nearest nodes gets too thin beyond this many.
WHOLE_UP_TO_NODES = 20_000


def resolve(hierarchy: Hierarchy, settings: FitSettings) -> tuple[FitSettings, list[str]]:
    """Settings in which nothing is left to `auto`, and a sentence for every choice made.

    A tree can be constructed so that every parent is the nearest node, in a second and whatever its size; of a DAG
    the construction follows the primary parents. That all ancestors come first no construction achieves, because edges
    would have to double from level to level: there a training from an untangled start does better.
    """
    reasons = []
    if not settings.dim:
        found = smallest_dimension(hierarchy, settings.seed, settings.threads)
        settings = settings.replace(dim=found.dim)
        reasons.append(found.note)
    if settings.method == "auto":
        shape = f"{'a tree' if hierarchy.is_tree else 'a DAG'} of {hierarchy.n_nodes:,} nodes"
        if settings.objective == "parents":
            settings = settings.replace(method="construct", heal=True, init="random", whole=False)
            reason = f"auto: construct, then heal: {shape} needs no training for the objective parents"
            if not hierarchy.is_tree:
                reason += "; a node with several parents is placed by the first"
        else:
            needs = f"{shape} needs it for the objective ancestors"
            if hierarchy.n_nodes <= WHOLE_UP_TO_NODES:
                settings = settings.replace(
                    method="untangled", init="construct", contract=CONTRACT, whole=True, dilation=DILATION,
                    lr=WHOLE_STEP * settings.batch, burn_in=0,
                )  # fmt: skip
                reason = f"auto: training from a construction, against all nodes: {needs}"
            else:
                settings = settings.replace(method="ga-dl", lr=SAMPLED_STEP * settings.batch, dilation_limit=1)
                reason = f"auto: ga-dl, against random nodes: {needs}"
        reasons.append(reason)
    return settings, reasons


@dataclass(frozen=True)
class Dimension:
    """The smallest dimension without an ill pair in the sample, and the share of ill nodes in the lower ones tried."""

    dim: int
    lower: dict[int, float]

    @property
    def note(self) -> str:
        """One sentence for a person."""
        costs = ", ".join(f"{share:.2%} in {dim}" for dim, share in self.lower.items())
        return f"dimension {self.dim} is the smallest without ill nodes" + (f"; ill nodes: {costs}" if costs else "")


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


def why_ill(hierarchy: Hierarchy, settings: FitSettings, ill: int) -> str:
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
