"""Which dimension a hierarchy needs, for a construction or a training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import InputError
from ..geometry.terms import carried_radius
from ..hierarchy import Hierarchy
from .construct import construct
from .progress import TrainingProgress
from .registry import find
from .run import Run
from .settings import Settings

__all__ = ["Dimension", "smallest_dimension", "smallest_trained_dimension", "why_ill"]

DIMENSIONS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32)
# Epochs of a training that only shows whether a dimension has room.
PILOT_EPOCHS = 1000


@dataclass(frozen=True)
class Dimension:
    """The smallest dimension without an ill pair, and the share of ill nodes or pairs in the lower ones tried."""

    dim: int
    lower: dict[int, float]
    made_by: str = "construction"
    what: str = "node"

    @property
    def note(self) -> str:
        """One sentence for a person."""
        costs = ", ".join(f"{share:.2%} in {dim}" for dim, share in self.lower.items())
        note = f"dimension {self.dim} is the smallest in which a {self.made_by} leaves no ill {self.what}"
        return note + (f"; ill {self.what}s: {costs}" if costs else "")


def smallest_dimension(
    hierarchy: Hierarchy, seed: int = 0, threads: int = 0, above: int = 1, terms: int = 1
) -> Dimension:
    """The smallest dimension `above` another in which the construction leaves no ill node within what terms carry."""
    lower: dict[int, float] = {}
    share = 1.0
    for dim in (dim for dim in DIMENSIONS if dim > above):
        share = construct(hierarchy, dim, seed=seed, threads=threads, terms=terms).ill_share
        if not share:
            return Dimension(dim, lower)
        lower[dim] = share
    raise InputError(
        f"no dimension up to {DIMENSIONS[-1]} holds this hierarchy without ill nodes (still {share:.2%} there): "
        "its branches are too tall for float64; choose a dimension with --dim and live with some"
    )


def smallest_trained_dimension(
    hierarchy: Hierarchy, settings_in: Callable[[int], Settings], *, progress: bool = False
) -> Dimension:
    """The smallest dimension in which a training of at most `PILOT_EPOCHS` leaves no ill pair.

    By bisection, since every try is a training: where a dimension has no ill pair, larger ones are taken to have none.

    Parameters
    ----------
    settings_in
        The settings of the training in a dimension.
    """
    epochs = min(PILOT_EPOCHS, settings_in(DIMENSIONS[-1]).epochs_to_train)
    shares: dict[int, float] = {}
    low, high = 0, len(DIMENSIONS)
    while low < high:
        middle = (low + high) // 2
        dim = DIMENSIONS[middle]
        run = Run.begin(hierarchy, settings_in(dim).replace(epochs=epochs))
        with TrainingProgress(epochs, 0, silent=not progress) as line:
            for done in find(run.settings.method).run(run):
                line.see(run, done)
        scores = run.embedding().evaluate(threads=run.settings.threads, device=run.settings.scored_on)
        shares[dim] = len(scores.illness) / max(1, scores.ranking.ranks.size)
        low, high = (middle + 1, high) if shares[dim] else (low, middle)
    lower = {dim: share for dim, share in sorted(shares.items()) if share}
    if low == len(DIMENSIONS):
        raise InputError(
            f"no dimension up to {DIMENSIONS[-1]} holds this hierarchy without ill pairs after {epochs:,} epochs "
            f"(still {shares[DIMENSIONS[-1]]:.2%} there): choose a dimension with --dim and live with some"
        )
    return Dimension(DIMENSIONS[low], lower, f"training of {epochs:,} epochs", "pair")


def why_ill(hierarchy: Hierarchy, settings: Settings, ill: int, terms: int = 1) -> str:
    """A sentence on the pairs that construction and healing left ill: what stands in the way, and what would do."""
    pairs = "1 pair stays" if ill == 1 else f"{ill:,} pairs stay"
    carrier = "float64 carries" if terms == 1 else f"{terms} terms a coordinate carry"
    radius = f"a radius of about {carried_radius(terms):.0f}"
    reason = f"{pairs} ill: {carrier} {radius}, and {settings.dim} dimensions have no room"
    if not hierarchy.is_tree:
        return f"{pairs} ill; a construction follows one parent of a node, the training softmax has room for several"
    try:
        found = smallest_dimension(hierarchy, settings.seed, settings.threads, above=settings.dim, terms=terms)
    except InputError:
        return f"{reason} for them within it; no dimension up to {DIMENSIONS[-1]} has"
    return f"{reason} for them within it; --dim {found.dim} would do"
