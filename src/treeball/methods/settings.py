"""Settings of the methods: each has a frozen dataclass with what it uses, and nothing else.

Those of trainings on equation 2, the paper's own and what it is compared with, are in `training_settings`. What a user
gives, and how the settings of a method are made of it, is in `fit_settings`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, get_args

from ..checks import is_number, is_positive, require, require_choice, require_flag, require_fraction, require_whole
from ..limits import BALL_RADIUS, LARGEST_RADIUS, PUBLISHED_RADIUS, TERMS
from ..types import Device, Objective

__all__ = [
    "ConstructSettings",
    "EpochSettings",
    "Init",
    "SarkarSettings",
    "Settings",
    "SoftmaxSettings",
    "refuse_unknown",
]

Init = Literal["random", "construct"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every method has.

    Parameters
    ----------
    method
        Its name.
    dim
        Dimension of the space.
    objective
        What a node should be close to: its direct parents, or all its ancestors; or distances, which makes those
        between nodes proportional to the lengths of paths.
    heal
        Move what is ill afterwards.
    seed
        Fixes the first vectors and all random choices.
    threads
        Workers; 0 uses all cores.
    device
        Where to train and to score: cpu, cuda (a graphics card), or auto, which takes a card where there is one and it
        pays.
    deterministic
        Train with one worker, so that the same seed gives the same bytes on any number of cores. Constructions always
        do.
    """

    method: str
    dim: int = 10
    objective: Objective = "parents"
    heal: bool = False
    seed: int = 0
    threads: int = 0
    device: Device = "auto"
    deterministic: bool = False

    # A setting that means something only beside a certain value of another one.
    goes_with: ClassVar[dict[str, tuple[str, Any]]] = {}

    def __post_init__(self) -> None:
        require_whole("dim", self.dim, 2, "a tree cannot branch in one dimension")
        require(self.dim <= 4096, f"dim must be at most 4096, not {self.dim}: a few dozen are plenty for any tree")
        require_choice("objective", self.objective, get_args(Objective))
        require_whole("seed", self.seed, 0)
        require(self.seed < 2**63, f"seed must be below 2**63, not {self.seed}")
        require_whole("threads", self.threads, 0)
        require_choice("device", self.device, get_args(Device))
        require(
            not (self.deterministic and self.device == "cuda"),
            "deterministic needs one worker after the other, and a card has thousands at once: take device cpu",
        )
        require(
            not (self.heal and self.objective == "distances"),
            "heal moves nodes towards their parents, which would spoil distances: leave it out",
        )
        for name in ("heal", "deterministic"):
            require_flag(name, getattr(self, name))

    @classmethod
    def names(cls) -> list[str]:
        """All settings of the method."""
        return [field.name for field in dataclasses.fields(cls)]

    @property
    def scored_on(self) -> Device:
        """The device that compares distances for scores: the same bytes on any machine name none of its cards."""
        return "cpu" if self.deterministic else self.device

    @property
    def epochs_to_train(self) -> int:
        """How many epochs there will be; 0 for a construction."""
        return 0

    @property
    def space(self) -> str | None:
        """Geometry of the vectors where it is not that of the method."""
        return None

    def replace(self, **changes: Any) -> Self:
        """A copy with some settings changed; an unknown name is an error that lists the known ones."""
        refuse_unknown(changes, self.names(), self.method)
        return dataclasses.replace(self, **changes)

    def means_the_same(self, name: str, recorded: Any) -> bool:
        """Whether a setting, as a record has it, is that of these settings."""
        return bool(self.to_dict()[name] == recorded)

    def to_dict(self) -> dict[str, Any]:
        """Everything that influences the result, for the model's provenance, in types that JSON has."""
        record = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            is_float = isinstance(field.default, float) and is_number(value)
            record[field.name] = float(value) if is_float else _plain(value)
        del record["threads"], record["device"]
        return record


@dataclass(frozen=True, kw_only=True)
class ConstructSettings(Settings):
    """Of a construction.

    Parameters
    ----------
    precision
        How many float64 each coordinate is the sum of: 1, 2 or 4, which carry radius 30, 66 and 140.
    """

    precision: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            not isinstance(self.precision, bool) and self.precision in TERMS,
            f"precision must be 1, 2 or 4 terms a coordinate, not {self.precision!r}",
        )
        require(
            not (self.heal and self.precision > 1),
            f"heal works on coordinates of one term, and precision is {self.precision}: leave one of them out",
        )

    @property
    def space(self) -> str | None:
        """Distances reach farther than the ball carries."""
        return "half-space" if self.objective == "distances" else None


@dataclass(frozen=True, kw_only=True)
class SarkarSettings(ConstructSettings):
    """Of the construction of Sala et al.

    Parameters
    ----------
    max_radius
        Largest distance from the origin, in hyperbolic units; nodes beyond it are held there and counted. With more
        terms it is what they carry.
    """

    max_radius: float = BALL_RADIUS

    goes_with: ClassVar[dict[str, tuple[str, Any]]] = {"max_radius": ("precision", 1)}

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_radius(self.max_radius)


@dataclass(frozen=True, kw_only=True)
class EpochSettings(Settings):
    """Of every training.

    Parameters
    ----------
    epochs
        Passes over all positive pairs.
    lr
        Learning rate.
    negatives
        Random nodes that each positive pair, or each node, is contrasted with.
    init
        Where training starts: at random points near the origin, or untangled, at a construction drawn together.
    init_scale
        Factor on all distances to the origin that draws the construction together, with init construct.
    max_radius
        Largest distance from the origin, in hyperbolic units; vectors beyond it are clamped and counted.
    trace_every
        Record illness, MAP, mean rank, loss and radius every so many epochs in the model file; 0 records nothing.
    """

    epochs: int = 1000
    lr: float = 1.0
    negatives: int = 50
    init: Init = "random"
    init_scale: float = 0.1
    max_radius: float = BALL_RADIUS
    trace_every: int = 0

    goes_with: ClassVar[dict[str, tuple[str, Any]]] = {"init_scale": ("init", "construct")}

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.objective != "distances",
            f"the method {self.method} cannot train for the objective distances: take auto, construct or sarkar",
        )
        require_choice("init", self.init, get_args(Init))
        for name, least in (("epochs", 0), ("negatives", 1), ("trace_every", 0)):
            require_whole(name, getattr(self, name), least)
        require(is_positive(self.lr), f"lr must be a positive number, not {self.lr}: published runs use 0.3 to 1")
        require_fraction("init_scale", self.init_scale)
        _require_radius(self.max_radius)

    @property
    def epochs_to_train(self) -> int:
        """All epochs."""
        return self.epochs

    @property
    def starts_from_construction(self) -> bool:
        """Whether the first vectors are a construction drawn together, not random ones."""
        return self.init == "construct"

    @property
    def first_radius(self) -> float:
        """Hyperbolic radius of the ball that random first vectors are drawn from."""
        return 0.002


@dataclass(frozen=True, kw_only=True)
class SoftmaxSettings(EpochSettings):
    """Of the training on a softmax over all nodes with free sharpness.

    Parameters
    ----------
    sharpness
        Factor on distances in the softmax at the start; it rises eightfold. It is the curvature of the space in other
        words: the sharper, the smaller the radius in which everything takes place, and the flatter the space there. By
        default 20 where nodes have several parents, less in few dimensions where they do not, and less where nodes
        stay tangled with that.
    spare
        Dimensions more than `dim` in which the nodes untangle; they are squeezed out one after the other. By default 3,
        up to 10 in all; for the objective ancestors 5, up to 20 in all.
    forgiveness
        How far a positive that is hopelessly far is let go for the sake of others: 0 never, 1 altogether. More of it
        gives a higher MAP and a higher mean rank.
    open_world
        Whether a pair that others imply, but that is not listed, may be true: then it is neither drawn together nor
        pushed apart. For hierarchies that list a part of their closure, as in link prediction.
    """

    init: Init = "construct"
    init_scale: float = 0.03
    sharpness: float | None = None
    spare: int | None = None
    forgiveness: float = 0.2
    open_world: bool = False
    max_radius: float = PUBLISHED_RADIUS

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.sharpness is None or (is_number(self.sharpness) and 1 <= self.sharpness <= 1000),
            f"sharpness must be between 1 and 1000, not {self.sharpness}",
        )
        require_whole("spare", 0 if self.spare is None else self.spare, 0)
        require(
            is_number(self.forgiveness) and 0 <= self.forgiveness <= 1,
            f"forgiveness must be between 0 and 1, not {self.forgiveness}",
        )
        require_flag("open_world", self.open_world)
        require(
            not (self.open_world and self.objective == "ancestors"),
            "open_world goes with the objective parents: for ancestors all that is implied is taken for true",
        )


def _plain(value: Any) -> Any:
    """A setting as JSON gives it back: a number of NumPy as one of Python, a tuple as a list, other objects as text."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)


def refuse_unknown(given: Iterable[str], known: list[str], who: str) -> None:
    """Refuse the first name that nobody knows, with those there are."""
    for name in given:
        require(name in known, f"there is no setting {name!r} of {who}; there are {', '.join(known)}")


def _require_radius(radius: Any) -> None:
    require(
        is_positive(radius) and radius <= LARGEST_RADIUS,
        f"max_radius must be above 0 and at most {LARGEST_RADIUS:g}, not {radius}: float64 coordinates end there",
    )
