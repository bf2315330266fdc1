"""Settings of a training run: flags, help, validation and provenance all come from these frozen dataclasses."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from .errors import InputError

Method = Literal["poincare", "lorentz", "euclidean"]
Objective = Literal["parents", "ancestors"]
Geometry = Literal["poincare", "lorentz", "euclidean"]


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """How to embed a hierarchy.

    Parameters
    ----------
    method
        poincare (Nickel & Kiela 2017), lorentz (Nickel & Kiela 2018) or euclidean.
    dim
        Dimension of the space.
    objective
        What a node should be close to: its direct parents, or all its ancestors.
    epochs
        Passes over all positive pairs.
    lr
        Learning rate; one pair moves by lr / batch.
    batch
        Pairs that published trainers average over; here it only divides the learning rate.
    negatives
        Random nodes that each positive pair is contrasted with.
    burn_in
        Epochs at the start that run at a reduced learning rate, so that directions form before distances.
    burn_in_factor
        The reduction of the learning rate during burn-in.
    weighted
        Multiply the step of each pair by the weight of its edge (scaled to mean 1); objective parents only.
    init_radius
        Hyperbolic radius of the ball that the first vectors are drawn from.
    max_radius
        Largest distance from the origin, in hyperbolic units; vectors beyond it are clamped and counted. The default,
        12.2, is the limit of the published trainers.
    seed
        Fixes the first vectors and all random choices.
    threads
        Workers; 0 uses all cores.
    deterministic
        Train with one worker, so that the same seed gives the same bytes on any number of cores.
    """

    method: Method = "poincare"
    dim: int = 10
    objective: Objective = "parents"
    epochs: int = 500
    lr: float = 1.0
    batch: int = 10
    negatives: int = 50
    burn_in: int = 20
    burn_in_factor: float = 0.01
    weighted: bool = False
    init_radius: float = 0.002
    max_radius: float = 12.2
    seed: int = 0
    threads: int = 0
    deterministic: bool = False

    def __post_init__(self) -> None:
        for name, choices in (("method", Method), ("objective", Objective)):
            known = get_args(choices)
            _require(
                getattr(self, name) in known, f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r}"
            )
        _whole("dim", self.dim, 2, "a tree cannot branch in one dimension")
        _require(self.dim <= 4096, f"dim must be at most 4096, not {self.dim}: a few dozen are plenty for any tree")
        _whole("epochs", self.epochs, 0)
        _whole("batch", self.batch, 1)
        _whole("negatives", self.negatives, 1)
        _whole("burn_in", self.burn_in, 0)
        _whole("seed", self.seed, 0)
        _whole("threads", self.threads, 0)
        _require(self.seed < 2**63, f"seed must be below 2**63, not {self.seed}")
        _require(_positive(self.lr), f"lr must be a positive number, not {self.lr}: published runs use 0.3 to 1")
        _require(
            _positive(self.burn_in_factor) and self.burn_in_factor <= 1,
            f"burn_in_factor must be above 0 and at most 1, not {self.burn_in_factor}",
        )
        _require(
            _positive(self.max_radius) and self.max_radius <= 34,
            f"max_radius must be above 0 and at most 34, not {self.max_radius}: float64 coordinates end there",
        )
        _require(
            _positive(self.init_radius) and self.init_radius < self.max_radius,
            f"init_radius must be above 0 and below max_radius ({self.max_radius}), not {self.init_radius}",
        )
        _require(
            not (self.weighted and self.objective == "ancestors"),
            "weighted goes with the objective parents: an ancestor pair has no weight of its own",
        )

    @property
    def geometry(self) -> Geometry:
        """Space in which the method works."""
        return self.method

    def replace(self, **changes: Any) -> Self:
        """A copy with some settings changed; an unknown name is an error that lists the known ones."""
        known = [field.name for field in dataclasses.fields(self)]
        for name in changes:
            _require(name in known, f"there is no setting {name!r}; the settings are {', '.join(known)}")
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Everything that influences the result, for the model's provenance."""
        record = dataclasses.asdict(self)
        del record["threads"]
        return record


def _require(condition: bool, sentence: str) -> None:
    if not condition:
        raise InputError(sentence)


def _positive(value: float) -> bool:
    return math.isfinite(value) and value > 0


def _whole(name: str, value: int, least: int, why: str = "") -> None:
    good = isinstance(value, int) and not isinstance(value, bool) and value >= least
    _require(
        good,
        f"{name} must be a whole number of at least {least}, not {value!r}" + (f": {why}" if why else ""),
    )
