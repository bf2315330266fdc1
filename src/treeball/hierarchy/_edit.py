"""Editing a hierarchy: nodes added, removed, renamed, and subtrees hung elsewhere. What stays keeps its order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import InputError
from . import Hierarchy
from .names import Names

__all__ = ["Edit", "add_edges", "remove_nodes", "rename_nodes", "reparent_nodes"]

Pairs = list[tuple[Hashable, Hashable]]


@dataclass(frozen=True)
class Edit:
    """A hierarchy on its way from an old one to a new one.

    Attributes
    ----------
    hierarchy : the new one
    origin : int64 (n,), the code that each node had in the old one, -1 for new nodes
    loose : bool (n,), nodes that need a place: the new ones, and those of subtrees that hang elsewhere
    """

    hierarchy: Hierarchy
    origin: NDArray[np.int64]
    loose: NDArray[np.bool_]

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> Edit:
        """No change yet."""
        return cls(hierarchy, np.arange(hierarchy.n_nodes), np.zeros(hierarchy.n_nodes, np.bool_))


def add_edges(edit: Edit, pairs: Pairs) -> Edit:
    """Hang new nodes below old ones and below each other; edges that are there already change nothing."""
    hierarchy = edit.hierarchy
    names, n = hierarchy.names, hierarchy.n_nodes
    if not pairs:
        raise InputError("there is no new node: the list of edges is empty")
    numeric = _are_numbers(hierarchy)
    code: dict[Hashable, int] = {}

    def code_of(name: Hashable) -> int:
        known = names.from_text(name) if isinstance(name, str) else name
        return int(names.index_of(known)) if known in names else code.get(_as_stored(name, numeric), -1)

    for child, parent in pairs:
        for name in (child, parent):
            if not isinstance(name, Hashable) or name is None or (isinstance(name, str) and not name.strip()):
                raise InputError(
                    f"no node can be named {name!r}, as in the edge from {child!r} to {parent!r}: correct it"
                )
        if code_of(child) < 0:
            code[_as_stored(child, numeric)] = n + len(code)
    edges: dict[tuple[int, int], None] = {}
    for child, parent in pairs:
        low, high = code_of(child), code_of(parent)
        if high < 0:
            close = names.close_matches(str(parent))
            hint = f"; did you mean {', '.join(map(repr, close))}?" if close else ": add an edge for it"
            if hierarchy.virtual_root is not None:
                hint += f" (a new root is a child of {names[hierarchy.virtual_root]!r})"
            raise InputError(f"the parent {parent!r} of {child!r} is neither in the model nor a new node{hint}")
        if low < n:
            parents = hierarchy.parents_of(low)
            if high not in parents:
                has = f"below {names[int(parents[0])]!r}" if parents.size else "the root"
                raise InputError(
                    f"{child!r} is in the model already, {has} and not below {parent!r}: "
                    "give the new node another name, or move the old one with reparent"
                )
            continue
        edges[low, high] = None
    if not code:
        return edit
    old_child, old_parent = hierarchy.edges()
    added = np.array(list(edges), np.int64).reshape(-1, 2)
    weights = hierarchy.parent_weight
    made = _made(
        _extended(names, list(code)),
        np.concatenate([old_child, added[:, 0]]),
        np.concatenate([old_parent, added[:, 1]]),
        None if weights is None else np.concatenate([weights, np.ones(len(added))]),
        hierarchy.virtual_root,
    )
    return Edit(
        made,
        np.concatenate([edit.origin, np.full(len(code), -1)]),
        np.concatenate([edit.loose, np.ones(len(code), np.bool_)]),
    )


def remove_nodes(edit: Edit, nodes: Iterable[Hashable]) -> Edit:
    """Remove nodes and all that hangs below them and nowhere else."""
    hierarchy = edit.hierarchy
    waiting = [int(hierarchy.names.index_of(name)) for name in nodes]
    if hierarchy.root in waiting:
        raise InputError(
            f"{hierarchy.names[hierarchy.root]!r} is the root and cannot be removed: nothing would be left"
        )
    gone = np.zeros(hierarchy.n_nodes, np.bool_)
    gone[waiting] = True
    # A node of which all parents went has nothing to hang on.
    parents_left = np.diff(hierarchy.parent_ptr)
    done: set[int] = set()
    while waiting:
        node = waiting.pop()
        if node in done:
            continue
        done.add(node)
        for child in hierarchy.children_of(node).tolist():
            parents_left[child] -= 1
            if not parents_left[child] or gone[child]:
                gone[child] = True
                waiting.append(child)
    kept = np.flatnonzero(~gone)
    code = np.full(hierarchy.n_nodes, -1)
    code[kept] = np.arange(kept.size)
    child, parent = hierarchy.edges()
    stays = ~gone[child] & ~gone[parent]
    weights, virtual = hierarchy.parent_weight, hierarchy.virtual_root
    made = _made(
        _taken(hierarchy.names, kept),
        code[child[stays]],
        code[parent[stays]],
        None if weights is None else weights[stays],
        None if virtual is None else int(code[virtual]),
    )
    return Edit(made, edit.origin[kept], edit.loose[kept])


def rename_nodes(edit: Edit, names: Mapping[Hashable, Hashable]) -> Edit:
    """Give nodes other names; two may swap theirs."""
    hierarchy = edit.hierarchy
    codes = [int(hierarchy.names.index_of(name)) for name in names]
    changed = list(hierarchy.names)
    numeric = _are_numbers(hierarchy)
    for code, name in zip(codes, names.values(), strict=True):
        if name is None or (isinstance(name, str) and not name.strip()):
            raise InputError(f"{changed[code]!r} cannot be renamed to {name!r}: give a name that is not empty")
        changed[code] = _as_stored(name, numeric)
    if len(set(changed)) < len(changed):
        taken = next(name for name in names.values() if changed.count(_as_stored(name, numeric)) > 1)
        raise InputError(f"there is a node named {taken!r} already: choose another name")
    child, parent = hierarchy.edges()
    made = _made(_like(hierarchy.names, changed), child, parent, hierarchy.parent_weight, hierarchy.virtual_root)
    return Edit(made, edit.origin, edit.loose)


def reparent_nodes(edit: Edit, parents: Mapping[Hashable, Hashable]) -> Edit:
    """Hang nodes, with their subtrees, below other parents, which replace all that they had."""
    hierarchy = edit.hierarchy
    child, parent = (np.array(one) for one in hierarchy.edges())
    tops = []
    for name, target in parents.items():
        node, above = int(hierarchy.names.index_of(name)), int(hierarchy.names.index_of(target))
        if node == hierarchy.root:
            raise InputError(f"{name!r} is the root and cannot hang below {target!r}")
        first, last = hierarchy.parent_ptr[node], hierarchy.parent_ptr[node + 1]
        parent[first] = above
        child[first + 1 : last] = -1
        tops.append(node)
    stays = child >= 0
    weights = hierarchy.parent_weight
    made = _made(
        hierarchy.names,
        child[stays],
        parent[stays],
        None if weights is None else weights[stays],
        hierarchy.virtual_root,
    )
    loose = edit.loose.copy()
    for node in tops:
        within = (made.interval_in >= made.interval_in[node]) & (made.interval_in < made.interval_out[node])
        loose |= within
    return Edit(made, edit.origin, loose)


def _made(names: Any, child: Any, parent: Any, weights: Any, virtual_root: int | None) -> Hierarchy:
    try:
        return Hierarchy.from_codes(names, child, parent, weights=weights, virtual_root=virtual_root)
    except ValueError as error:
        raise InputError(f"this change leaves no hierarchy: {error}") from None


def _are_numbers(hierarchy: Hierarchy) -> bool:
    """Whether nodes are named by integers; a virtual root has a text name either way."""
    names = hierarchy.names
    if names.kind != "other" or hierarchy.virtual_root is None:
        return names.kind == "int"
    return Names.of(names.take(hierarchy.real_nodes())).kind == "int"


def _as_stored(name: Hashable, numeric: bool) -> Hashable:
    """The name as the model would hold it: a text that spells an integer is one where all names are."""
    if numeric and isinstance(name, str) and name.removeprefix("-").isdecimal():
        return int(name)
    return name


def _extended(names: Names, added: Sequence[Hashable]) -> Names:
    if names.kind == "str" and all(isinstance(name, str) for name in added):
        old = names.to_arrow()
        return Names.of(pa.concat_arrays([old, pa.array(added, old.type)]))
    return Names.of([*names, *added])


def _taken(names: Names, codes: NDArray[np.int64]) -> Names:
    return _like(names, names.take(codes))


def _like(names: Names, values: list[Hashable]) -> Names:
    if names.kind == "str" and all(isinstance(name, str) for name in values):
        return Names.of(pa.array(values, names.to_arrow().type))
    return Names.of(values)
