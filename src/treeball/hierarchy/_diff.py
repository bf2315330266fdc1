"""What is different between two versions of a hierarchy."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Set
from dataclasses import dataclass
from typing import Any

from . import Hierarchy

__all__ = ["Changes", "diff"]

_LEAST_LIKENESS = 0.6


@dataclass(frozen=True)
class Changes:
    """Nodes that two hierarchies do not have in common, and those that hang elsewhere; a virtual root does not count.

    Attributes
    ----------
    added, removed
        Nodes of the second only, and of the first only, less those in `renamed`.
    renamed
        (old, new) of nodes that are probably the same: of the nodes in both versions, the same are their children; or,
        having none, the one is all that went and the other all that came below the same parents, and they are spelled
        alike, the parent's name left out where both begin with it, as paths do. Nobody guesses where nodes have ids
        beside their labels, in either version: an id is the same node or it is not.
    relabelled
        (node, label before, label after) of nodes in both, where both versions have labels; None for no label.
    reparented
        (node, parents before, parents after) of nodes in both.
    common
        How many nodes are in both.
    """

    added: tuple[Hashable, ...]
    removed: tuple[Hashable, ...]
    renamed: tuple[tuple[Hashable, Hashable], ...]
    reparented: tuple[tuple[Hashable, tuple[Hashable, ...], tuple[Hashable, ...]], ...]
    common: int
    relabelled: tuple[tuple[Hashable, str | None, str | None], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.renamed or self.reparented or self.relabelled)

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON, with names as text."""
        return {
            "common": self.common,
            "added": [str(name) for name in self.added],
            "removed": [str(name) for name in self.removed],
            "renamed": [{"from": str(old), "to": str(new)} for old, new in self.renamed],
            "reparented": [
                {"node": str(node), "from": [str(name) for name in old], "to": [str(name) for name in new]}
                for node, old, new in self.reparented
            ],
            "relabelled": [{"node": str(node), "from": old, "to": new} for node, old, new in self.relabelled],
        }


def diff(before: Hierarchy, after: Hierarchy) -> Changes:
    """Compare two hierarchies by the names of their nodes, ids where they have ids."""
    old, new = _parents(before), _parents(after)
    kinds = [{isinstance(name, str) for name in side} for side in (old, new)]
    if {True} in kinds and {False} in kinds:  # a file may hold as text what a table or a model holds as numbers
        old, new = _as_text(old), _as_text(new)
    removed = [name for name in old if name not in new]
    added = [name for name in new if name not in old]
    has_ids = before.names.has_labels or after.names.has_labels
    renamed = [] if has_ids else _renamed(old, new, removed, added)
    now = dict(renamed)
    reparented = [
        (name, parents, new[name])
        for name, parents in old.items()
        if name in new and {now.get(parent, parent) for parent in parents} != set(new[name])
    ]
    gone, come = {one for one, _ in renamed}, {other for _, other in renamed}
    return Changes(
        tuple(name for name in added if name not in come),
        tuple(name for name in removed if name not in gone),
        tuple(renamed),
        tuple(reparented),
        len(old) - len(removed),
        tuple(_relabelled(before, after)),
    )


def _relabelled(before: Hierarchy, after: Hierarchy) -> Iterator[tuple[Hashable, str | None, str | None]]:
    """Nodes of both that have another label in the second; nothing where one of the two has no labels at all."""
    if not (before.names.has_labels and after.names.has_labels):
        return
    labels = {str(name): label for name, label in zip(after.names, after.labels, strict=True)}
    for name, label in zip(before.names, before.labels, strict=True):
        now = labels.get(str(name), label)
        if now != label:
            yield name, label, now


def _parents(hierarchy: Hierarchy) -> dict[Hashable, tuple[Hashable, ...]]:
    names = list(hierarchy.names)
    return {
        names[code]: tuple(names[parent] for parent in hierarchy.parents_of(code) if parent != hierarchy.virtual_root)
        for code in hierarchy.real_nodes().tolist()
    }


def _as_text(parents: dict[Hashable, tuple[Hashable, ...]]) -> dict[Hashable, tuple[Hashable, ...]]:
    return {str(name): tuple(str(parent) for parent in above) for name, above in parents.items()}


def _renamed(
    old: dict[Hashable, tuple[Hashable, ...]],
    new: dict[Hashable, tuple[Hashable, ...]],
    removed: list[Hashable],
    added: list[Hashable],
) -> list[tuple[Hashable, Hashable]]:
    # Children that came or went themselves tell nothing.
    common = old.keys() & new.keys()
    children_before, children_after = _children(old, common), _children(new, common)
    pairs = _unique_matches(
        {name: frozenset(children_before[name]) for name in removed if name in children_before},
        {name: frozenset(children_after[name]) for name in added if name in children_after},
    )
    now = dict(pairs)
    leaves = _unique_matches(
        {
            name: frozenset(now.get(parent, parent) for parent in old[name])
            for name in removed
            if name not in children_before and old[name]
        },
        {name: frozenset(new[name]) for name in added if name not in children_after and new[name]},
    )
    alike = [
        (one, other) for one, other in leaves if _likeness((one, old[one]), (other, new[other])) >= _LEAST_LIKENESS
    ]
    return pairs + alike


def _likeness(*nodes: tuple[Hashable, tuple[Hashable, ...]]) -> float:
    """How alike two nodes, given with their parents, are spelled; paths are by their last steps."""
    from rapidfuzz.distance import Indel

    steps = [_last_step(name, parents) for name, parents in nodes]
    one, other = ((step if all(steps) else str(name)).lower() for step, (name, _) in zip(steps, nodes, strict=True))
    return Indel.normalized_similarity(one, other)


def _last_step(name: Hashable, parents: tuple[Hashable, ...]) -> str:
    """What a name adds to that of its parent, as in "Garden > Tools"; empty where it does not begin with it."""
    found = (re.fullmatch(rf"{re.escape(str(parent))}\W+(.+)", str(name), re.DOTALL) for parent in parents)
    return next((match.group(1) for match in found if match), "")


def _children(parents: dict[Hashable, tuple[Hashable, ...]], counted: Set[Hashable]) -> dict[Hashable, list[Hashable]]:
    children: dict[Hashable, list[Hashable]] = defaultdict(list)
    for name, above in parents.items():
        for parent in above if name in counted else ():
            children[parent].append(name)
    return dict(children)


def _unique_matches(
    left: dict[Hashable, frozenset[Hashable]], right: dict[Hashable, frozenset[Hashable]]
) -> list[tuple[Hashable, Hashable]]:
    """Pairs of names with the same signature, where it is the only one on either side."""
    groups: dict[frozenset[Hashable], tuple[list[Hashable], list[Hashable]]] = {}
    for side, signatures in enumerate((left, right)):
        for name, signature in signatures.items():
            groups.setdefault(signature, ([], []))[side].append(name)
    return [(one[0], other[0]) for one, other in groups.values() if len(one) == len(other) == 1]
