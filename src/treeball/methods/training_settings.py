"""Settings of the trainings on equation 2: of the paper's own, and of the published ones that it is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from ..checks import is_number, is_positive, require, require_choice, require_flag, require_fraction, require_whole
from ..limits import PUBLISHED_RADIUS
from .settings import EpochSettings

__all__ = [
    "BaselineSettings",
    "BurnInNegatives",
    "ClosureReading",
    "ClosureSettings",
    "DilationSettings",
    "EuclideanSettings",
    "GeometryAwareSettings",
    "OutsideBallSettings",
    "SufficiencyRule",
    "TrainingSettings",
]

SufficiencyRule = Literal["children", "paper"]
ClosureReading = Literal["literal", "lowered"]
BurnInNegatives = Literal["uniform", "degree"]


@dataclass(frozen=True, kw_only=True)
class TrainingSettings(EpochSettings):
    """Of a training by gradient descent on equation 2.

    Parameters
    ----------
    batch
        Pairs that published trainers average over; here it only divides the learning rate: a pair moves by lr / batch.
    burn_in
        Epochs at the start that run at a reduced learning rate, so that directions form before distances.
    burn_in_factor
        The reduction of the learning rate during burn-in.
    burn_in_negatives
        How negatives are drawn during burn-in: all nodes alike, or by degree, so that the hubs of the hierarchy find
        their directions first. Afterwards all are alike.
    weighted
        Multiply the step of each pair by the weight of its edge (scaled to mean 1); objective parents only.
    init_radius
        Hyperbolic radius of the ball that random first vectors are drawn from, with init random.
    """

    batch: int = 10
    burn_in: int = 20
    burn_in_factor: float = 0.01
    burn_in_negatives: BurnInNegatives = "uniform"
    weighted: bool = False
    init_radius: float = 0.002

    goes_with: ClassVar[dict[str, tuple[str, Any]]] = {
        **EpochSettings.goes_with,
        "init_radius": ("init", "random"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("batch", 1), ("burn_in", 0)):
            require_whole(name, getattr(self, name), least)
        require_flag("weighted", self.weighted)
        require_fraction("burn_in_factor", self.burn_in_factor)
        require_choice("burn_in_negatives", self.burn_in_negatives, get_args(BurnInNegatives))
        require(
            is_positive(self.init_radius) and self.init_radius < self.max_radius,
            f"init_radius must be above 0 and below max_radius ({self.max_radius}), not {self.init_radius}",
        )
        require(
            not (self.weighted and self.objective == "ancestors"),
            "weighted goes with the objective parents: an ancestor pair has no weight of its own",
        )

    @property
    def first_radius(self) -> float:
        """As it was set."""
        return self.init_radius


@dataclass(frozen=True, kw_only=True)
class BaselineSettings(TrainingSettings):
    """Of the published trainers, which keep within radius 12.2."""

    max_radius: float = PUBLISHED_RADIUS


@dataclass(frozen=True, kw_only=True)
class OutsideBallSettings(BaselineSettings):
    """Of trainings in other coordinates than the ball."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.init == "random",
            f"init construct works in the ball, and the method {self.method} is not there: take init random",
        )


@dataclass(frozen=True, kw_only=True)
class EuclideanSettings(OutsideBallSettings):
    """Of the flat baseline."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(not self.heal, "heal works in hyperbolic space: leave it out for euclidean")


@dataclass(frozen=True, kw_only=True)
class ClosureSettings(TrainingSettings):
    """Of a training with re-weighted closure edges (equation 7).

    Parameters
    ----------
    eta_tc
        Weight of closure edges (to ancestors that are no parents).
    n_tc
        Number of epochs at the start that use closure edges.
    closure_reading
        What equation 7 does to closure edges that are data already, with the objective ancestors: literal adds eta_tc
        to their weight of 1, lowered takes eta_tc instead of it.
    """

    eta_tc: float = 0.2
    n_tc: int = 300
    closure_reading: ClosureReading = "literal"

    goes_with: ClassVar[dict[str, tuple[str, Any]]] = {
        **TrainingSettings.goes_with,
        "closure_reading": ("objective", "ancestors"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_share("eta_tc", self.eta_tc)
        require_whole("n_tc", self.n_tc, 0)
        require_choice("closure_reading", self.closure_reading, get_args(ClosureReading))


@dataclass(frozen=True, kw_only=True)
class DilationSettings(TrainingSettings):
    """Of a training that dilates where local capacity is lacking (equations 3 and 6).

    Parameters
    ----------
    dilation
        Factor by which a dilation multiplies all distances to the origin.
    sufficiency
        How a lack of local capacity is found. children: by the share of children that have a sibling nearer than their
        parent; paper: by the share of inner nodes that have more children, k, than the lower bound allows within the
        distance to the k-th nearest node.
    dilation_share
        Dilate when the share is larger than this; by default 0.005 with the rule children, 0.01 with paper. With the
        rule children, dilating goes on until the share is below half of that, and ten children or fewer are chance.
    dilation_from
        When dilations may start, because subtrees must find their directions first, which a dilation keeps. A number
        below 1 is a share of the epochs, a whole number counts epochs.
    dilation_limit
        Largest number of dilations.
    """

    dilation: float = 1.5
    sufficiency: SufficiencyRule = "children"
    dilation_share: float | None = None
    dilation_from: float = 0.3
    dilation_limit: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_dilation(self.dilation)
        require_choice("sufficiency", self.sufficiency, get_args(SufficiencyRule))
        _require_share("dilation_share", self.largest_lack)
        object.__setattr__(self, "dilation_from", _share_or_epochs("dilation_from", self.dilation_from))
        require_whole("dilation_limit", self.dilation_limit, 0)

    @property
    def first_dilation(self) -> int:
        """The epoch before which local capacity is checked first."""
        return _epochs_of(self.dilation_from, self.epochs)

    def means_the_same(self, name: str, recorded: Any) -> bool:
        """Epochs and a share that comes to as many mean the same start of dilation."""
        if name == "dilation_from" and is_number(recorded) and _epochs_of(recorded, self.epochs) == self.first_dilation:
            return True
        return super().means_the_same(name, recorded)

    def to_dict(self) -> dict[str, Any]:
        """As for every method; epochs stay a whole number."""
        return super().to_dict() | {"dilation_from": self.dilation_from}

    @property
    def largest_lack(self) -> float:
        """The share up to which local capacity is sufficient."""
        if self.dilation_share is not None:
            return self.dilation_share
        return 0.01 if self.sufficiency == "paper" else 0.005


@dataclass(frozen=True, kw_only=True)
class GeometryAwareSettings(DilationSettings, ClosureSettings):
    """Of Algorithm 1 as a whole: dilation and closure edges."""


def _require_share(name: str, value: Any) -> None:
    require(is_number(value) and 0 <= value <= 1, f"{name} must be between 0 and 1, not {value!r}")


def _share_or_epochs(name: str, value: Any) -> float:
    """A share of the epochs, below 1, as it is, or a number of epochs as an int."""
    good = is_number(value) and value >= 0 and (value < 1 or value == int(value))
    require(
        good, f"{name} must be a share of the epochs, from 0 to below 1, or a whole number of epochs, not {value!r}"
    )
    return int(value) if value >= 1 or value == 0 else float(value)


def _epochs_of(value: float, epochs: int) -> int:
    """A number of epochs: the value itself, or that share of all epochs, rounded down."""
    return int(value) if value >= 1 else int(value * epochs + 1e-9)


def _require_dilation(value: Any) -> None:
    require(is_positive(value) and value <= 100, f"dilation must be above 0 and at most 100, not {value}")
