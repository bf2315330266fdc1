"""auto: which method suits a hierarchy and an objective, and which dimension it needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..checks import require, require_whole
from ..hierarchy import Hierarchy
from ..limits import TERMS
from .dimension import smallest_dimension, smallest_trained_dimension
from .fit_settings import settings_of
from .registry import find, is_plug_in
from .settings import ConstructSettings, Settings, SoftmaxSettings

__all__ = ["Choice", "resolve", "softmax_for"]

# Up to so many nodes a DAG is trained for the objective parents; beyond it takes many hours.
SOFTMAX_UP_TO_NODES = 200_000
# Epochs of that training by the objective, and whether there is little room (few dimensions): so many at most, and in
# larger hierarchies so many over the nodes.
TIGHT_BELOW_DIM = 8
EPOCHS = {
    ("parents", False): (1000, 25_000_000),
    ("parents", True): (4000, 100_000_000),
    ("ancestors", False): (1000, 50_000_000),
    ("ancestors", True): (8000, 100_000_000),
}
LEAST_EPOCHS = 100
# In small ones, where they cost nothing, more: so many over the nodes, up to a limit.
SMALL_EPOCHS, SMALL_OVER_NODES = 4000, 2_000_000
# Up to so many nodes a training that leaves pairs ill is compared with all that a user could try: each takes seconds.
TRIED_TWICE = 2_000
# Up to so many nodes a training that leaves pairs ill is compared with a healed construction. For all ancestors of the
# 5,596 nodes of Google's taxonomy that takes 17 CPU seconds in 2 dimensions and 33 in 5, a small part of the training.
HEALED_UP_TO_NODES = 6_000
# Up to so many nodes a construction that leaves pairs ill is tried with more terms a coordinate.
MORE_TERMS_UP_TO_NODES = 150_000
# A hierarchy lists a part of its closure when so many of the pairs that its edges imply are edges, too.
LISTED_SHARE = 0.2


class Choice(NamedTuple):
    """What is to be done: settings of a method, why, and what else to try, of which the better one is kept.

    `trace_every` is that of a method from outside whose settings have no such field.
    """

    settings: Settings
    reasons: list[str]
    rivals: tuple[Settings, ...] = ()
    trace_every: int = 0


def resolve(hierarchy: Hierarchy, given: Mapping[str, Any], *, progress: bool = False) -> Choice:
    """Settings of a method in which nothing is left to `auto`, and a sentence for every choice made.

    A tree can be constructed so that every parent is the nearest node, in a second and whatever its size. Of a DAG a
    construction can follow the primary parents only, and that all ancestors come first none achieves: there a training
    does better. What was given stays as it is, and what the method has no use for is refused.

    Parameters
    ----------
    given
        What the user set, by name.
    progress
        Show the trainings by which a dimension is found.
    """
    asked = {name: value for name, value in given.items() if name != "method"}
    name, notes = given.get("method", "auto"), []
    if asked.get("dim") == "auto":
        require(
            asked.get("objective") != "distances",
            "dim auto counts ill pairs, and the objective distances has none: give a dimension, such as 10",
        )
        # What else was set is looked at first: to find a dimension may take its time.
        del asked["dim"]
        if isinstance(_choose(hierarchy, name, asked).settings, SoftmaxSettings):
            found = smallest_trained_dimension(
                hierarchy, lambda dim: _choose(hierarchy, name, {**asked, "dim": dim}).settings, progress=progress
            )
        else:
            found = smallest_dimension(
                hierarchy, asked.get("seed", 0), asked.get("threads", 0), terms=asked.get("precision", 1)
            )
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
    kind = find(name).settings
    if is_plug_in(name) and "trace_every" not in kind.names():
        return _traced(name, given)
    return Choice(settings_of(kind, name, given), [])


def _traced(name: str, given: Mapping[str, Any]) -> Choice:
    """A training from outside, which is traced without a setting of its own."""
    every = given.get("trace_every", 0)
    require_whole("trace_every", every, 0)
    rest = {option: value for option, value in given.items() if option != "trace_every"}
    settings = settings_of(find(name).settings, name, rest)
    require(
        not every or settings.epochs_to_train > 0,
        f"the method {name} has no epochs to trace: leave trace_every out, or let its settings return their number as "
        "epochs_to_train",
    )
    return Choice(settings, [], trace_every=every)


def _suitable(hierarchy: Hierarchy, given: Mapping[str, Any]) -> Choice:
    """The method that suits, with what was given and, for the rest, what suits it; and why."""
    shape = f"{'a tree' if hierarchy.is_tree else 'a DAG'} of {hierarchy.n_nodes:,} nodes"
    if given.get("objective", "parents") == "ancestors":
        settings = softmax_for(hierarchy.n_nodes, given)
        reason = f"auto: softmax training: {shape} needs it for the objective ancestors"
        return Choice(settings, [reason], _rivals(hierarchy, given, settings))
    if given.get("objective") == "distances":
        reason = f"auto: construct: {shape} is drawn to scale for the objective distances"
        return Choice(settings_of(ConstructSettings, "construct", given, by_auto=True), [reason])
    listed, implied = _listed_and_implied(hierarchy)
    if listed > LISTED_SHARE * implied and given.get("open_world", True):
        why = (
            f"auto: softmax training in an open world: {listed:,} of the {implied:,} pairs that the edges imply are "
            "edges, too, so the file lists a part of a closure, and what it does not list may be true; it is "
            "compared with no other method; open_world=False (on the command line: --no-open-world) trains on the "
            "listed pairs alone and compares"
        )
        return Choice(softmax_for(hierarchy.n_nodes, {"open_world": True, **given}), [why])
    if not hierarchy.is_tree and hierarchy.n_nodes <= SOFTMAX_UP_TO_NODES:
        why = f"auto: softmax training, and construct beside it: {shape} needs it for nodes with several parents"
        settings = softmax_for(hierarchy.n_nodes, given)
        return Choice(settings, [why], _rivals(hierarchy, given, settings))
    terms = given.get("precision", 1)
    settings = settings_of(ConstructSettings, "construct", given, by_auto=True, heal=terms == 1)
    how = "construct, then heal" if settings.heal else "construct"
    how += f" with {terms} terms a coordinate" if terms > 1 else ""
    reason = f"auto: {how}: {shape} needs no training for the objective parents"
    if not hierarchy.is_tree:
        reason = f"auto: {how}: {shape}; a node with several parents is placed by the one with the most ancestors"
    return Choice(settings, [reason], _more_terms(hierarchy, given, settings))


def _more_terms(hierarchy: Hierarchy, given: Mapping[str, Any], settings: Settings) -> tuple[Settings, ...]:
    """The same construction with coordinates of more terms, to be tried where the first leaves pairs ill.

    Not where the precision was set, and not of so many nodes that comparing all with all takes long.
    """
    if "precision" in given or not hierarchy.is_tree or hierarchy.n_nodes > MORE_TERMS_UP_TO_NODES:
        return ()
    return tuple(settings.replace(heal=False, precision=terms) for terms in TERMS[1:])


def _listed_and_implied(hierarchy: Hierarchy) -> tuple[int, int]:
    """How many edges others imply, and how many pairs they imply in all."""
    basic = hierarchy.transitive_reduction().n_edges
    return hierarchy.n_edges - basic, 0 if hierarchy.n_edges == basic else hierarchy.ancestors()[1].size - basic


def softmax_for(nodes: int, given: Mapping[str, Any]) -> Settings:
    """The training on a softmax over all nodes, with as many epochs as suit it."""
    is_tight = given.get("dim", SoftmaxSettings.dim) < TIGHT_BELOW_DIM
    most, over_nodes = EPOCHS[given.get("objective", "parents"), is_tight]
    epochs = min(most, max(LEAST_EPOCHS, over_nodes // nodes))
    epochs = max(epochs, min(SMALL_EPOCHS, SMALL_OVER_NODES // nodes))
    # Healing would push away what may be true.
    heal = not given.get("open_world", False)
    return settings_of(SoftmaxSettings, "softmax", given, by_auto=True, epochs=epochs, heal=heal)


def _rivals(hierarchy: Hierarchy, given: Mapping[str, Any], settings: Settings) -> tuple[Settings, ...]:
    """What to compare a training with: a construction, and for small hierarchies everything that a user could try.

    For the objective ancestors a construction wins only if it is healed. In a large hierarchy healing may take longer
    than the training: there a construction is healed only after it has won.
    """
    is_small = hierarchy.n_nodes <= TRIED_TWICE
    kept = {name: value for name, value in given.items() if name in ConstructSettings.names()}
    rivals: list[Settings] = []
    if settings.objective == "parents":
        rivals.append(settings_of(ConstructSettings, "construct", {**kept, "heal": False}))
    if hierarchy.n_nodes <= HEALED_UP_TO_NODES and settings.heal:
        rivals.append(settings_of(ConstructSettings, "construct", {**kept, "heal": True}))
    if is_small and "epochs" not in given and settings.epochs_to_train != SoftmaxSettings.epochs:
        rivals.append(settings.replace(epochs=SoftmaxSettings.epochs))
    if is_small and "init" not in given:
        rivals.append(settings.replace(init="random"))
    return tuple(rivals)
