"""What a user sets of a fit, on the command line or in Python, and how the settings of a method are made of it.

`FitSettings` is the union of all settings, where None means "not given". `settings_of` makes those of a method of them,
and refuses in a sentence what that method has no use for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from ..checks import require
from ..errors import InputError
from ..types import Device, Objective
from .settings import ConstructSettings, Init, Settings, SoftmaxSettings, refuse_unknown
from .training_settings import BurnInNegatives, ClosureReading, GeometryAwareSettings, SufficiencyRule

__all__ = ["FitSettings", "given_settings", "settings_of"]


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """How to embed a hierarchy: what is not given, the method decides, and what it has no use for, it refuses.

    Parameters
    ----------
    method
        auto constructs and heals, or trains, whichever suits the hierarchy and the objective;
        construct (capacity-guided construction); softmax (training for DAGs and for all ancestors);
        poincare (Nickel & Kiela 2017), lorentz (Nickel & Kiela 2018), euclidean; the geometry-aware ga-dl (dilation),
        ga-dl-rw (dilation and re-weighted closure edges) and ga-rw (those edges alone); sarkar (Sala et al. 2018);
        or one that was registered.
    dim
        Dimension of the space, 10 by default; auto takes the smallest in which a construction, or a short
        training where one is needed, leaves no ill pair.
    objective
        What a node should be close to: its direct parents (the default), or all its ancestors; or distances: those
        between nodes are made proportional to the lengths of paths, by edge weights where there are some.
    epochs
        Passes over all positive pairs; 1000 by default.
    lr
        Learning rate, 1 by default; one pair moves by lr / batch, and a node of softmax by lr / sharpness.
    batch
        Pairs that published trainers average over, 10 by default; here it only divides the learning rate.
    negatives
        Random nodes that each positive pair is contrasted with; 50 by default.
    sharpness
        Factor on distances in the softmax at the start of the method softmax; it rises eightfold. By default 20 where
        nodes have several parents, less in few dimensions where they do not, and less where nodes stay tangled.
    spare
        Dimensions more than `dim` in which nodes untangle in the method softmax; they are squeezed out one after the
        other. By default 3, up to 10 in all; for the objective ancestors 5, up to 20 in all.
    forgiveness
        How far the method softmax lets go of a positive that is hopelessly far, from 0 to 1: more of it gives a higher
        MAP and a higher mean rank; 0.2 by default.
    open_world
        Whether, to the method softmax, a pair that others imply but that is not listed may be true: then it is neither
        drawn together nor pushed apart. auto sets it for hierarchies that list a part of their closure.
    burn_in
        Epochs at the start that run at a reduced learning rate, 20 by default, so that directions form before
        distances.
    burn_in_factor
        The reduction of the learning rate during burn-in; 0.01 by default.
    burn_in_negatives
        How negatives are drawn during burn-in: uniform, the default, takes all nodes alike, degree those with more
        parents and children more often, so that the hubs of the hierarchy find their directions first.
    weighted
        Multiply the step of each pair by the weight of its edge (scaled to mean 1); objective parents only.
    init
        Where training starts: at random points near the origin, or untangled, at a construction drawn together, as
        softmax does.
    init_scale
        Factor on all distances to the origin that draws the construction together, with init construct; 0.1 by default,
        0.03 for softmax.
    init_radius
        Hyperbolic radius of the ball that random first vectors are drawn from, with init random; 0.002 by default.
    max_radius
        Largest distance from the origin, in hyperbolic units; vectors beyond it are clamped and counted. By default
        12.2, the limit of the published trainers, for their methods and softmax, and 30, what float64 carries, for the
        others.
    precision
        How many float64 each coordinate is the sum of, in construct and sarkar: 1, 2 or 4, which carry radius 30, 66
        and 140. auto takes more than 1 where that leaves no ill pair in a dimension in which 1 does.
    heal
        Move what is ill after the construction or the training; auto does.
    eta_tc
        Weight of closure edges (to ancestors that are no parents) in the methods that use them; 0.2 by default.
    n_tc
        Number of epochs at the start that use closure edges; 300 by default.
    closure_reading
        What those epochs do to closure edges that are data already, with the objective ancestors: literal, the default,
        adds eta_tc to their weight of 1, as equation 7 says; lowered takes eta_tc instead of it.
    dilation
        Factor by which a dilation multiplies all distances to the origin; 1.5 by default.
    sufficiency
        How the methods that dilate find a lack of local capacity. children, the default: by the share of children that
        have a sibling nearer than their parent; paper: by the share of inner nodes that have more children, k, than the
        lower bound allows within the distance to the k-th nearest node.
    dilation_share
        Dilate when the share is larger than this; by default 0.005 with the rule children, 0.01 with paper. With the
        rule children, dilating goes on until the share is below half of that, and ten children or fewer are chance.
    dilation_from
        When dilations may start, because subtrees must find their directions first, which a dilation keeps. A number
        below 1 is a share of the epochs (0.3 by default), a whole number counts epochs.
    dilation_limit
        Largest number of dilations; 3 by default.
    trace_every
        Record illness, MAP, mean rank, loss and radius every so many epochs in the model file; 0 records nothing.
    seed
        Fixes the first vectors and all random choices; 0 by default.
    threads
        Workers; 0, the default, uses all cores.
    device
        Where to train and to score: cpu, cuda (a graphics card), or auto, the default, which takes a card where there
        is one and it pays.
    deterministic
        Train with one worker, so that the same seed gives the same bytes on any number of cores.
    """

    method: str | None = None
    dim: int | Literal["auto"] | None = None
    objective: Objective | None = None
    epochs: int | None = None
    lr: float | None = None
    batch: int | None = None
    negatives: int | None = None
    sharpness: float | None = None
    spare: int | None = None
    forgiveness: float | None = None
    open_world: bool | None = None
    burn_in: int | None = None
    burn_in_factor: float | None = None
    burn_in_negatives: BurnInNegatives | None = None
    weighted: bool | None = None
    init: Init | None = None
    init_scale: float | None = None
    init_radius: float | None = None
    max_radius: float | None = None
    precision: Literal[1, 2, 4] | None = None
    heal: bool | None = None
    eta_tc: float | None = None
    n_tc: int | None = None
    closure_reading: ClosureReading | None = None
    dilation: float | None = None
    sufficiency: SufficiencyRule | None = None
    dilation_share: float | None = None
    dilation_from: float | None = None
    dilation_limit: int | None = None
    trace_every: int | None = None
    seed: int | None = None
    threads: int | None = None
    device: Device | None = None
    deterministic: bool | None = None

    def __post_init__(self) -> None:
        """Refuse at once what no method would take; what the chosen one has no use for is refused when it is known."""
        from .registry import is_plug_in, require_known

        given = self.given()
        if given.pop("method", "auto") != "auto":
            require_known(str(self.method))
            if is_plug_in(str(self.method)):  # its own settings check what was given
                return
        if given.get("dim") == "auto":
            del given["dim"]
        if "precision" in given:
            ConstructSettings(method="fit", precision=given.pop("precision"))
        own = set(SoftmaxSettings.names()) - set(GeometryAwareSettings.names())
        SoftmaxSettings(method="fit", **{name: given.pop(name) for name in own & set(given)})
        if given.get("objective") == "distances":  # which no training takes, so that theirs would refuse it
            del given["objective"]
            Settings(method="fit", objective="distances", heal=given.get("heal", False))
        GeometryAwareSettings(method="fit", **given)

    def given(self) -> dict[str, Any]:
        """The settings that were given, by name."""
        record = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: value for name, value in record.items() if value is not None}

    def replace(self, **changes: Any) -> Self:
        """A copy with some settings changed; an unknown name is an error that lists the known ones."""
        refuse_unknown(changes, [field.name for field in dataclasses.fields(self)], "fit")
        return dataclasses.replace(self, **changes)


def given_settings(settings: FitSettings | None, **more: Any) -> dict[str, Any]:
    """What was given, by name: as settings, or singly, which goes before."""
    if settings is None:
        given: dict[str, Any] = {}
    elif isinstance(settings, FitSettings):
        given = settings.given()
    else:
        raise InputError(f"settings must be a FitSettings, not {settings!r}; single settings go by name, as in dim=5")
    given |= {name: value for name, value in more.items() if value is not None}
    known = {field.name for field in dataclasses.fields(FitSettings)}
    FitSettings(**{name: value for name, value in given.items() if name in known})  # which refuses what nobody takes
    return given


def settings_of(
    kind: type[Settings], method: str, given: Mapping[str, Any], *, by_auto: bool = False, **defaults: Any
) -> Settings:
    """The settings of a method: what was given, else `defaults`, else those of the method.

    Parameters
    ----------
    kind
        Class of the settings of the method.
    given
        What the user set, by name. What the method has no use for is refused.
    by_auto
        Whether the user left the method to auto; for that sentence.
    """
    from .registry import find, is_plug_in, method_names

    unused = [name for name in given if name not in kind.names()]
    everywhere = [field.name for field in dataclasses.fields(FitSettings)]
    refuse_unknown(unused, sorted({*everywhere, *kind.names()}), "fit")
    if unused:
        names = " and ".join(filter(None, (", ".join(unused[:-1]), unused[-1])))
        them = "it" if len(unused) == 1 else "them"
        who = f"{method}, which auto chose," if by_auto else method
        other = next((one for one in method_names() if set(given) <= set(find(one).settings.names())), None)
        remedy = f", or name a method that does, such as {other}" if by_auto and other else ""
        raise InputError(f"the method {who} does not use {names}: leave {them} out{remedy}")
    try:
        settings = kind(**{"method": method, **defaults, **given})
    except (ValueError, TypeError) as error:
        if isinstance(error, InputError) or not is_plug_in(method):
            raise
        raise InputError(f"the method {method} refuses its settings: {error}") from error
    for name, (other, value) in kind.goes_with.items():
        require(
            name not in given or getattr(settings, other) == value,
            f"{name} goes with {other} {value}, and {other} is {getattr(settings, other)}: leave {name} out",
        )
    return settings
