"""Editing a hierarchy: nodes added, removed, renamed, and subtrees hung elsewhere. What stays keeps its order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import InputError
from . import Hierarchy
from .loose_names import Meant, log_loosely
from .names import Names

__all__ = ["Edit", "add_edges", "remove_nodes", "rename_nodes", "reparent_nodes"]

Pairs = list[tuple[Hashable, Hashable]]


_PATH_SIGNS = " >/|:»›→=-\\"  # signs between the steps of a path


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


def add_edges(edit: Edit, pairs: Pairs, described: Names | None = None) -> Edit:
    """Hang new nodes below old ones and below each other; edges that are there already change nothing.

    Parameters
    ----------
    pairs
        (child, parent) by their ids. Where nothing describes them, what is no id may be a label or a synonym of an old
        node.
    described
        Labels and synonyms of the new nodes, by their ids. Those that are in no pair have to be old ones.
    """
    hierarchy = edit.hierarchy
    names, n = hierarchy.names, hierarchy.n_nodes
    if not pairs:
        raise InputError("there is no new node: the list of edges is empty")
    for child, parent in pairs:
        for name in (child, parent):
            if not isinstance(name, Hashable) or name is None or (isinstance(name, str) and not name.strip()):
                raise InputError(
                    f"no node can be named {name!r}, as in the edge from {child!r} to {parent!r}: correct it"
                )
    numeric = _are_numbers(hierarchy)
    given = dict.fromkeys(name for pair in pairs for name in pair)
    by_label = described is None or not described.has_labels
    code = _known_codes(names, given, by_label=by_label)
    if not by_label and described is not None:
        pairs, code = _with_labels_for_ids(names, pairs, described, code)
    if described is not None:
        given = dict.fromkeys([*given, *(name for pair in pairs for name in pair)])
        alone = [name for name in described if name not in given]
        known = _known_codes(names, alone, by_label=by_label)
        lost = next((name for name in alone if name not in known), None)
        if lost is not None:
            raise InputError(
                f"{described.shown(described.find(lost))!r} is not in the model and has no parent in the new edges "
                f"(an empty one, 0, -1 or null is none): give it one, such as {names.shown(hierarchy.root)!r}"
            )
    labelled = {} if described is None else described.labels_by_name(described)
    code |= _old_nodes_by_labels(hierarchy, pairs, code)
    code |= _old_inner_nodes(hierarchy, pairs, {*labelled, *code})
    added: dict[Hashable, int] = {}
    for child, _ in pairs:
        if child not in code:
            code[child] = added.setdefault(_as_stored(child, numeric), n + len(added))
    edges: dict[tuple[int, int], None] = {}
    for child, parent in pairs:
        low, high = code[child], code.get(parent, added.get(_as_stored(parent, numeric), -1))
        if high < 0:
            high = code[parent] = _parent_by_loose_name(hierarchy, child, parent)
        if low < n:
            parents = hierarchy.parents_of(low)
            if high not in parents:
                has = f"below {names.shown(int(parents[0]))!r}" if parents.size else "the root"
                raise InputError(
                    f"{_shown(names, low, child)} is in the model already, {has} and not below "
                    f"{_shown(names, high, parent)}: give the new node another name, or move the old one with reparent"
                )
            continue
        edges[low, high] = None
    if not added:
        return edit
    old_child, old_parent = hierarchy.edges()
    new = np.array(list(edges), np.int64).reshape(-1, 2)
    weights = hierarchy.parent_weight
    made = _made(
        names.extended(_new_names(list(added), described)),
        np.concatenate([old_child, new[:, 0]]),
        np.concatenate([old_parent, new[:, 1]]),
        None if weights is None else np.concatenate([weights, np.ones(len(new))]),
        hierarchy.virtual_root,
    )
    return Edit(
        made,
        np.concatenate([edit.origin, np.full(len(added), -1)]),
        np.concatenate([edit.loose, np.ones(len(added), np.bool_)]),
    )


def _old_nodes_by_labels(hierarchy: Hierarchy, pairs: Pairs, code: Mapping[Hashable, int]) -> dict[Hashable, int]:
    """Codes of old nodes that are paths in the pairs, while the model names them by ids and has their steps as labels.

    Without this, "Home > Kitchen" would be a second kitchen below the node with the label "Home".
    """
    names = hierarchy.names
    if not names.has_labels:
        return {}
    known, found = dict(code), dict[Hashable, int]()
    paths = {child: parent for child, parent in pairs if isinstance(child, str) and isinstance(parent, str)}
    for child in sorted(paths, key=len):
        parent = paths[child]
        rest = child.removeprefix(parent)
        step = rest.lstrip(_PATH_SIGNS)
        if child in known or parent not in known or rest in (child, step) or not step:
            continue
        below = [int(one) for one in hierarchy.children_of(known[parent])]
        shown = [{str(names.labels[one]).casefold(), str(names[one]).casefold()} for one in below]
        same = [one for one, texts in zip(below, shown, strict=True) if step.casefold() in texts]
        if len(same) > 1:
            raise InputError(names.several_nodes(child, same))
        if same:
            known[child] = found[child] = same[0]
            log_loosely(child, names.shown(same[0]), Meant(same, "by the labels of its path"))
    return found


def _old_inner_nodes(hierarchy: Hierarchy, pairs: Pairs, exact: Set[Hashable]) -> dict[Hashable, int]:
    """Codes of old nodes that the pairs name loosely, both as parents and as children of their old parents.

    A path such as "shop > dog food > dry" states the edges above its new node too. Without this, each of its steps
    in another case would be a second branch.

    Parameters
    ----------
    exact
        Names that need no such search: those that an old node has exactly, and new ids that have a label.
    """
    above: dict[Hashable, list[Hashable]] = {}
    for child, parent in pairs:
        above.setdefault(child, []).append(parent)
    names = hierarchy.names
    found: dict[Hashable, int] = {}
    for name in dict.fromkeys(parent for _, parent in pairs if parent in above and parent not in exact):
        codes = names.meant(name).codes
        if len(codes) == 1:
            parents = set(hierarchy.parents_of(codes[0]).tolist())
            if all(parents.intersection(names.meant(parent).codes) for parent in above[name]):
                found[name] = names.find(name)
    return found


def _parent_by_loose_name(hierarchy: Hierarchy, child: Hashable, parent: Hashable) -> int:
    """The old node that a parent means loosely, such as by the last step of its path; InputError without one."""
    names = hierarchy.names
    if names.meant(parent).codes:
        return names.find(parent)
    close = names.close_matches(str(parent))
    hint = f"; did you mean {', '.join(map(repr, close))}?" if close else ": add an edge for it"
    if hierarchy.virtual_root is not None:
        hint += f" (a new root is a child of {names[hierarchy.virtual_root]!r})"
    raise InputError(f"the parent {parent!r} of {child!r} is neither in the model nor a new node{hint}")


def _with_labels_for_ids(
    names: Names, pairs: Pairs, described: Names, code: dict[Hashable, int]
) -> tuple[Pairs, dict[Hashable, int]]:
    """The pairs with ids for labels, and the codes of old nodes that are named by their labels.

    A node that has no label among the new ones, and no id in the model, may be named by the label of one that has:
    first of a new node, then of an old one.
    """
    labelled = described.labels_by_name(described)
    unknown = [name for name in described if name not in code and str(name) not in labelled]
    ids: dict[Hashable, Hashable] = {}
    for name, found in described.candidates(unknown).items():
        if len(found) > 1:
            raise InputError(described.several_nodes(name, found))
        ids[name] = described[found[0]]
    rest = [name for name in unknown if name not in ids]
    codes = _known_codes(names, rest, by_label=True)
    return [(ids.get(child, child), ids.get(parent, parent)) for child, parent in pairs], code | codes


def _known_codes(names: Names, given: Iterable[Hashable], *, by_label: bool) -> dict[Hashable, int]:
    """Codes of those of the names that an old node has as its id or, by label, that mean one."""
    spelled = {name: names.from_text(name) if isinstance(name, str) else name for name in given}
    code = {name: int(names.index_of(known)) for name, known in spelled.items() if known in names}
    if by_label and (names.has_labels or names.synonyms is not None):
        others = [name for name in spelled if name not in code]
        for name, found in names.candidates(others).items():
            if len(found) > 1:
                raise InputError(names.several_nodes(name, found))
            code[name] = found[0]
    return code


def _new_names(added: list[Hashable], described: Names | None) -> Names:
    """Names of new nodes, with the labels and synonyms that are known of them."""
    made = Names.of(pa.array(added, pa.string()) if all(isinstance(name, str) for name in added) else added)
    if described is None:
        return made
    rows = [described.look_up(name) for name in added]
    labels = [described.labels[row[0]] if row else None for row in rows]
    lists = described.synonyms
    return made.described(labels, None if lists is None else [lists[row[0]].as_py() if row else [] for row in rows])


def _shown(names: Names, code: int, given: Hashable) -> str:
    """An old node for a sentence, with its label; a new one as it was given."""
    return repr(names.shown(code)) if code < len(names) and names.has_labels else repr(given)


def remove_nodes(edit: Edit, nodes: Iterable[Hashable]) -> Edit:
    """Remove nodes and all that hangs below them and nowhere else."""
    hierarchy = edit.hierarchy
    waiting = [hierarchy.names.find_exactly(name) for name in nodes]
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
        hierarchy.names.subset(kept),
        code[child[stays]],
        code[parent[stays]],
        None if weights is None else weights[stays],
        None if virtual is None else int(code[virtual]),
    )
    return Edit(made, edit.origin[kept], edit.loose[kept])


def rename_nodes(edit: Edit, names: Mapping[Hashable, Hashable]) -> Edit:
    """Give nodes other names; two may swap theirs. What was named is what changes: an id, or else the label."""
    hierarchy = edit.hierarchy
    codes = [hierarchy.names.find_exactly(name) for name in names]
    changed, labels = list(hierarchy.names), list(hierarchy.labels)
    numeric = _are_numbers(hierarchy)
    for old, code, name in zip(names, codes, names.values(), strict=True):
        if name is None or (isinstance(name, str) and not name.strip()):
            raise InputError(f"{changed[code]!r} cannot be renamed to {name!r}: give a name that is not empty")
        if labels[code] is not None and labels[code] == old:
            labels[code] = str(name)
        elif _is_synonym(hierarchy.names, code, old):
            raise InputError(
                f"{old!r} is a synonym of {hierarchy.names.shown(code)!r}, and synonyms are not renamed: name the id "
                "of the node to give it another id, or its label to give it another label"
            )
        else:
            changed[code] = _as_stored(name, numeric)
    if len(set(changed)) < len(changed):
        taken = next(name for name in names.values() if changed.count(_as_stored(name, numeric)) > 1)
        raise InputError(f"there is a node named {taken!r} already: choose another name")
    child, parent = hierarchy.edges()
    renamed = hierarchy.names.renamed(changed)
    if labels != list(hierarchy.labels):
        renamed = renamed.described(labels, renamed.synonyms)
    made = _made(renamed, child, parent, hierarchy.parent_weight, hierarchy.virtual_root)
    return Edit(made, edit.origin, edit.loose)


def _is_synonym(names: Names, code: int, given: Hashable) -> bool:
    """Whether a node goes by this only beside its id and its label."""
    lists = names.synonyms
    return lists is not None and given in (lists[code].as_py() or ()) and str(given) != str(names[code])


def reparent_nodes(edit: Edit, parents: Mapping[Hashable, Hashable]) -> Edit:
    """Hang nodes, with their subtrees, below other parents, which replace all that they had."""
    hierarchy = edit.hierarchy
    child, parent = (np.array(one) for one in hierarchy.edges())
    tops = []
    for name, target in parents.items():
        node, above = hierarchy.names.find_exactly(name), hierarchy.names.find_exactly(target)
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
