"""Settings of a training run: flags, help, validation and provenance all come from these frozen dataclasses."""

from __future__ import annotations

import dataclasses
import math
import numbers
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from .errors import InputError
from .limits import BALL_RADIUS, PUBLISHED_RADIUS

Method = Literal[
    "auto", "construct", "sharpened", "poincare", "lorentz", "euclidean", "ga-dl", "ga-dl-rw", "ga-rw", "sarkar"
]
Init = Literal["random", "construct"]
Objective = Literal["parents", "ancestors"]
Geometry = Literal["poincare", "lorentz", "euclidean"]


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """How to embed a hierarchy.

    Parameters
    ----------
    method
        auto constructs and heals, or trains, whichever suits the hierarchy and the objective;
        construct (capacity-guided construction); sharpened (training for what MAP counts);
        poincare (Nickel & Kiela 2017), lorentz (Nickel & Kiela 2018), euclidean; the geometry-aware ga-dl (dilation),
        ga-dl-rw (dilation and re-weighted closure edges) and ga-rw (those edges alone); sarkar (Sala et al. 2018).
    dim
        Dimension of the space; auto (0 in Python) takes the smallest in which a construction leaves no ill pair.
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
    whole
        Contrast every node with all others instead, in the ball only: with the nearest ones, found anew every few
        epochs, exactly, and with the rest by the random `negatives`, each standing for its share of them.
    sharpen
        Epochs at the end in which the method sharpened sharpens; at most half of all.
    burn_in
        Epochs at the start that run at a reduced learning rate, so that directions form before distances.
    burn_in_factor
        The reduction of the learning rate during burn-in.
    weighted
        Multiply the step of each pair by the weight of its edge (scaled to mean 1); objective parents only.
    init
        Where training starts: at random points near the origin, or untangled, at a construction drawn together.
    contract
        Factor on all distances to the origin that draws the construction together, with init construct.
    init_radius
        Hyperbolic radius of the ball that random first vectors are drawn from.
    max_radius
        Largest distance from the origin, in hyperbolic units; vectors beyond it are clamped and counted. By default
        12.2, the limit of the published trainers, for their methods, and 30, what float64 carries, for the others.
    heal
        Move what is ill after the construction or the training, for the objective parents; auto does.
    eta_tc
        Weight of closure edges (to ancestors that are no parents) in the methods that use them.
    n_tc
        Number of epochs at the start that use closure edges.
    dilation
        Factor by which a dilation multiplies all distances to the origin.
    dilation_share
        Dilate when more than this share of the inner nodes lacks local capacity: more children than the lower bound
        allows within the distance to the k-th nearest node, k being the number of children.
    dilation_from
        First epoch that may dilate: subtrees must have found their directions, which a dilation keeps.
    dilation_limit
        Largest number of dilations.
    trace_every
        Record illness, MAP, mean rank, loss and radius every so many epochs in the model file; 0 records nothing.
    seed
        Fixes the first vectors and all random choices.
    threads
        Workers; 0 uses all cores.
    deterministic
        Train with one worker, so that the same seed gives the same bytes on any number of cores.
    """

    method: Method = "auto"
    dim: int = 10
    objective: Objective = "parents"
    epochs: int = 1000
    lr: float = 1.0
    batch: int = 10
    negatives: int = 50
    whole: bool = False
    sharpen: int = 200
    burn_in: int = 20
    burn_in_factor: float = 0.01
    weighted: bool = False
    init: Init = "random"
    contract: float = 0.1
    init_radius: float = 0.002
    max_radius: float | None = None
    heal: bool = False
    eta_tc: float = 0.2
    n_tc: int = 300
    dilation: float = 1.5
    dilation_share: float = 0.01
    dilation_from: int = 300
    dilation_limit: int = 3
    trace_every: int = 0
    seed: int = 0
    threads: int = 0
    deterministic: bool = False

    def __post_init__(self) -> None:
        if str(self.dim) == "auto":
            object.__setattr__(self, "dim", 0)
        for name, choices in (("method", Method), ("objective", Objective), ("init", Init)):
            known = get_args(choices)
            _require(
                getattr(self, name) in known, f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r}"
            )
        if self.dim != 0:
            require_whole("dim", self.dim, 2, "a tree cannot branch in one dimension")
        _require(self.dim <= 4096, f"dim must be at most 4096, not {self.dim}: a few dozen are plenty for any tree")
        require_whole("epochs", self.epochs, 0)
        require_whole("sharpen", self.sharpen, 0)
        require_whole("batch", self.batch, 1)
        require_whole("negatives", self.negatives, 1)
        _require(
            not (self.whole and self.geometry != "poincare"),
            f"whole works in the ball, and the method {self.method} is not there: leave it out",
        )
        _require(
            not (self.heal and self.method == "euclidean"), "heal works in hyperbolic space: leave it out for euclidean"
        )
        _require(
            self.init == "random" or self.geometry == "poincare",
            f"init construct works in the ball, and the method {self.method} is not there: take init random",
        )
        _require(
            _positive(self.contract) and self.contract <= 1,
            f"contract must be above 0 and at most 1, not {self.contract}",
        )
        require_whole("burn_in", self.burn_in, 0)
        require_whole("seed", self.seed, 0)
        require_whole("threads", self.threads, 0)
        _require(self.seed < 2**63, f"seed must be below 2**63, not {self.seed}")
        _require(_positive(self.lr), f"lr must be a positive number, not {self.lr}: published runs use 0.3 to 1")
        _require(
            _positive(self.burn_in_factor) and self.burn_in_factor <= 1,
            f"burn_in_factor must be above 0 and at most 1, not {self.burn_in_factor}",
        )
        _require(
            _positive(self.radius_limit) and self.radius_limit <= 34,
            f"max_radius must be above 0 and at most 34, not {self.max_radius}: float64 coordinates end there",
        )
        _require(
            _positive(self.init_radius) and self.init_radius < self.radius_limit,
            f"init_radius must be above 0 and below max_radius ({self.radius_limit}), not {self.init_radius}",
        )
        require_whole("n_tc", self.n_tc, 0)
        require_whole("dilation_from", self.dilation_from, 0)
        require_whole("dilation_limit", self.dilation_limit, 0)
        require_whole("trace_every", self.trace_every, 0)
        for name in ("eta_tc", "dilation_share"):
            value = getattr(self, name)
            _require(_is_number(value) and 0 <= value <= 1, f"{name} must be between 0 and 1, not {value!r}")
        for name in ("weighted", "deterministic", "whole", "heal"):
            _require(
                isinstance(getattr(self, name), bool), f"{name} must be True or False, not {getattr(self, name)!r}"
            )
        _require(_positive(self.dilation) and self.dilation <= 100, f"dilation must be above 0, not {self.dilation}")
        _require(
            not (self.weighted and self.objective == "ancestors"),
            "weighted goes with the objective parents: an ancestor pair has no weight of its own",
        )
        _require(
            not (self.weighted and (self.whole or self.method == "sharpened")),
            "weighted goes with random negatives, not with whole or the method sharpened, where every node counts the "
            "same: leave one of them out",
        )

    @property
    def geometry(self) -> Geometry:
        """Space in which the method works."""
        return self.method if self.method in ("lorentz", "euclidean") else "poincare"

    @property
    def radius_limit(self) -> float:
        """`max_radius`, or what the method takes by default."""
        if self.max_radius is not None:
            return self.max_radius
        baseline = self.method in ("poincare", "lorentz", "euclidean")
        return PUBLISHED_RADIUS if baseline else BALL_RADIUS

    def replace(self, **changes: Any) -> Self:
        """A copy with some settings changed; an unknown name is an error that lists the known ones."""
        known = [field.name for field in dataclasses.fields(self)]
        for name in changes:
            _require(name in known, f"there is no setting {name!r}; the settings are {', '.join(known)}")
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Everything that influences the result, for the model's provenance."""
        plain = {int: int, float: float}
        record = {
            field.name: plain.get(type(field.default), lambda value: value)(getattr(self, field.name))
            for field in dataclasses.fields(self)
        }
        del record["threads"]
        return record


def _require(condition: bool, sentence: str) -> None:
    if not condition:
        raise InputError(sentence)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def _positive(value: Any) -> bool:
    return _is_number(value) and value > 0


def require_whole(name: str, value: int, least: int, why: str = "") -> None:
    """Refuse what is no whole number of at least `least`, in one sentence."""
    good = isinstance(value, numbers.Integral) and not isinstance(value, bool) and value >= least
    _require(
        good,
        f"{name} must be a whole number of at least {least}, not {value!r}" + (f": {why}" if why else ""),
    )
