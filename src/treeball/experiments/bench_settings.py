"""What a user sets of a bench: what is compared, on which terms, and the settings that all methods are given."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from ..checks import is_number, require, require_choice, require_whole
from ..errors import InputError
from ..types import Objective

if TYPE_CHECKING:
    from .records import Record

__all__ = ["DIMS", "METHODS", "SEEDS", "BenchPlan", "CommonSettings", "HoldOut", "Job"]

METHODS = ("auto", "poincare", "ga-dl-rw", "construct")
DIMS = (5, 10)
SEEDS = (0, 1, 2)
HoldOut = Literal["none", "leaves", "edges", "closure"]
"""What a bench holds out of the training, to be ranked afterwards."""
SHARE = 0.05
# What a bench varies, or says once for all.
_ITS_OWN = {"method": "methods", "dim": "dims", "seed": "seeds", "objective": "objective", "threads": "threads"}


@dataclass(frozen=True, kw_only=True)
class CommonSettings:
    """Settings that are the same for all methods that use them; by default every method takes its own.

    Parameters
    ----------
    epochs
        Passes over all positive pairs of every training.
    lr
        Learning rate.
    batch
        Pairs that published trainers average over; here it only divides the learning rate.
    negatives
        Random nodes that each positive pair is contrasted with.
    burn_in
        Epochs at the start that run at a reduced learning rate.
    n_tc
        Number of epochs at the start that use closure edges, in the methods that do.
    dilation_from
        When dilations may start, in the methods that dilate: a share of the epochs below 1, or a number of epochs.
    max_radius
        Largest distance from the origin, in hyperbolic units.
    heal
        Move what is ill afterwards.
    deterministic
        Train with one worker, so that the same seed gives the same bytes on any number of cores.
    """

    epochs: int | None = None
    lr: float | None = None
    batch: int | None = None
    negatives: int | None = None
    burn_in: int | None = None
    n_tc: int | None = None
    dilation_from: float | None = None
    max_radius: float | None = None
    heal: bool | None = None
    deterministic: bool | None = None

    def given(self) -> dict[str, Any]:
        """The settings that were given, by name."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value is not None}


class Job(NamedTuple):
    """One run of a bench."""

    method: str
    dim: int
    seed: int

    def __str__(self) -> str:
        return f"{self.method}, d={self.dim}, seed {self.seed}"


@dataclass(frozen=True, kw_only=True)
class BenchPlan:
    """Every method in every dimension with every seed, on the same terms.

    Attributes
    ----------
    share
        Share that is held out; None where nothing is.
    settings
        What all methods are given, as far as they use it, by name.
    """

    methods: Sequence[str] = METHODS
    dims: Sequence[int] = DIMS
    seeds: Sequence[int] = SEEDS
    objective: Objective = "parents"
    split: HoldOut = "none"
    share: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("methods", "dims", "seeds"):
            given = getattr(self, name)
            values = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
            require(bool(values), f"{name} must be a list of at least one, not {given!r}")
            object.__setattr__(self, name, tuple(dict.fromkeys(values)))
        for name, least in (("dims", 2), ("seeds", 0)):
            for number in getattr(self, name):
                require_whole(f"every one of {name}", number, least)
            object.__setattr__(self, name, tuple(int(number) for number in getattr(self, name)))
        require_choice("objective", self.objective, get_args(Objective))
        require_choice("split", self.split, get_args(HoldOut))
        self._check_split()
        self._check_settings()

    def _check_split(self) -> None:
        if self.split == "none":
            require(self.share is None, "a share goes with a split: say what to hold out, leaves, edges or closure")
            return
        share = SHARE if self.share is None else self.share
        object.__setattr__(self, "share", share)
        require(is_number(share) and 0 < share < 1, f"the share to hold out must be above 0 and below 1, not {share!r}")
        require(
            self.split != "closure" or self.objective == "parents",
            "a split of the closure goes with the objective parents, for which its training pairs are the positives; "
            "with ancestors what is held out would be trained: leave the objective out",
        )

    def _check_settings(self) -> None:
        """Refuse what no method of the bench could take; what only some of them use is said in the table."""
        from ..methods.fit_settings import FitSettings, given_settings
        from ..methods.registry import find, is_plug_in, require_known
        from ..methods.settings import refuse_unknown

        every_setting = {one.name for one in dataclasses.fields(FitSettings)}
        by_shipped: set[str] = set()
        by_plug_ins: set[str] = set()
        for method in self.methods:
            require(isinstance(method, str), f"methods must be names, not {method!r}")
            if method != "auto":
                require_known(method)
            names = every_setting if method == "auto" else set(find(method).settings.names())
            by_plug_ins |= names if is_plug_in(method) else set()
            by_shipped |= set() if is_plug_in(method) else names
        refuse_unknown(self.settings, sorted(every_setting | by_plug_ins), "bench")
        for name, option in _ITS_OWN.items():
            if name in self.settings:
                raise InputError(f"{name} is not one of the settings that all methods share: give it as {option}")
        # A method from outside checks what it alone uses, when its run begins.
        alone = by_plug_ins - by_shipped
        given_settings(None, **{name: value for name, value in self.settings.items() if name not in alone})

    @property
    def terms(self) -> Record:
        """What is the same for every run."""
        return {
            "objective": self.objective,
            "split": self.split,
            "share": self.share,
            "settings": {name: _plain(value) for name, value in sorted(self.settings.items())},
        }

    def jobs(self) -> list[Job]:
        """All runs, one seed after the other: whoever stops early has all methods with the first."""
        return [Job(method, dim, seed) for seed in self.seeds for dim in self.dims for method in self.methods]


def _plain(value: Any) -> Any:
    """As JSON gives it back: a number of NumPy is one of Python."""
    return value.item() if hasattr(value, "item") else value
