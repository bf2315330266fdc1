"""The next version of a hierarchy, as a whole: what it adds, removes, hangs elsewhere and calls otherwise."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from ..types import Floats, Ints, Mask
from . import Hierarchy
from ._diff import diff
from ._edit import Edit
from ._update_limits import new_roots_sentence
from .names import Names

__all__ = ["NextVersion", "next_version"]


@dataclass(frozen=True, repr=False)
class NextVersion:
    """How a hierarchy becomes its next version.

    Attributes
    ----------
    edit : the new hierarchy, in which nodes that stay keep their order and new ones follow; see `Edit`
    added : names of the new nodes
    removed : names of the nodes that are gone
    moved : names of nodes that hang below other parents; all that is below them goes along
    renamed : (old name, new name), in hierarchies without ids beside the names
    relabelled : (node, label before, label after)
    other_synonyms : names of nodes of both versions whose synonyms or alternative ids are others now
    labels_kept : names of nodes that keep their label because the new version gives them none
    """

    edit: Edit
    added: list[Hashable]
    removed: list[Hashable]
    moved: list[Hashable]
    renamed: list[tuple[Hashable, Hashable]]
    relabelled: list[tuple[Hashable, str | None, str | None]]
    other_synonyms: list[Hashable]
    labels_kept: list[Hashable]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.moved or self.renamed or self.relabelled or self.other_synonyms)

    @property
    def kept(self) -> int:
        """How many nodes are in both versions."""
        return int(np.count_nonzero(self.edit.origin >= 0))

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON, with names as text."""
        return {
            "kept": self.kept,
            "added": [str(name) for name in self.added],
            "removed": [str(name) for name in self.removed],
            "moved": [str(name) for name in self.moved],
            "renamed": [{"from": str(old), "to": str(new)} for old, new in self.renamed],
            "relabelled": [{"node": str(node), "from": old, "to": new} for node, old, new in self.relabelled],
            "other_synonyms": [str(name) for name in self.other_synonyms],
            "labels_kept": [str(name) for name in self.labels_kept],
        }


def next_version(before: Hierarchy, after: Hierarchy, *, allow_new_roots: bool = False) -> NextVersion:
    """Compare two versions by the names of their nodes, ids where they have ids.

    A name that is in one version only is another node, unless neither version has labels beside its names and
    :func:`treeball.hierarchy.diff` finds that it was renamed.

    Raises
    ------
    InputError
        If the root of the new version is not a node of the old one: then nothing is where it was. If the new version
        has a root that is not in the old one, unless `allow_new_roots` is true and the old one is a forest.
    """
    has_ids = before.names.has_labels or after.names.has_labels
    old_text, new_text = before.names.as_text(), after.names.as_text()
    code = _codes(new_text, old_text)
    renamed = [] if has_ids or (code >= 0).all() else list(diff(before, after).renamed)
    for old, new in renamed:
        code[after.names.index_of(new)] = before.names.index_of(old)
    _require_known_roots(before, after, code, allow_new_roots)
    if code[after.root] < 0:
        raise InputError(
            f"the root {after.names.shown(after.root)!r} is not in the model, whose root is "
            f"{before.names.shown(before.root)!r}: everything would move, so fit the new version instead"
        )
    # Those that stay in their old order, then the new ones in that of the file.
    order = np.argsort(np.where(code >= 0, code, before.n_nodes), kind="stable")
    hierarchy = _reordered(after, order, _names(before, after, order, code[order]))
    origin = code[order]
    moved = _moved(before, hierarchy, origin)
    loose = _with_descendants(hierarchy, moved | (origin < 0))
    gone = np.ones(before.n_nodes, np.bool_)
    gone[origin[origin >= 0]] = False
    if before.virtual_root is not None:
        gone[before.virtual_root] = False  # no node of the export
    names = hierarchy.names
    return NextVersion(
        Edit(hierarchy, origin, loose),
        added=names.take(np.flatnonzero(origin < 0)),
        removed=before.names.take(np.flatnonzero(gone)),
        moved=names.take(np.flatnonzero(moved)),
        renamed=renamed,
        relabelled=_relabelled(before, hierarchy, origin) if after.names.has_labels else [],
        other_synonyms=_other_synonyms(before.names, names, origin),
        labels_kept=names.take(_labels_kept(before.names, after.names.subset(order), origin)),
    )


def _require_known_roots(before: Hierarchy, after: Hierarchy, code: Ints, allowed: bool) -> None:
    """Refuse roots that are no nodes of the old version, and a second root where the old version has one root."""
    if after.virtual_root is None:
        return
    tops = after.children_of(after.virtual_root).astype(np.int64)
    if before.virtual_root is None:
        others = tops[code[tops] != before.root]
        raise InputError(
            new_roots_sentence(
                _with_children(after, others),
                "without a parent",
                f"make a new model: this one has one root, {before.names.shown(before.root)!r}, and takes no second",
            )
        )
    fresh = tops[code[tops] < 0]
    if fresh.size and not allowed:
        raise InputError(
            new_roots_sentence(
                _with_children(after, fresh),
                "without a parent and not in the model",
                "accept new roots with --allow-new-roots (allow_new_roots=True)",
            )
        )


def _with_children(hierarchy: Hierarchy, nodes: Ints) -> list[str]:
    """Nodes as people read them, each with its first child, which shows where a wrong parent is named."""
    names, shown = hierarchy.names, []
    for node in nodes.tolist():
        below = hierarchy.children_of(node)
        with_child = f" (the parent of {names.shown(int(below[0]))!r})" if below.size else ""
        shown.append(f"{names.shown(node)!r}{with_child}")
    return shown


def _labels_kept(old: Names, new: Names, origin: Ints) -> Ints:
    """Nodes that have a label in the old version and none in the new one, which has labels for others."""
    if not (old.has_labels and new.has_labels):
        return np.empty(0, np.int64)
    stays = np.flatnonzero(origin >= 0)
    then, now = old.labels.to_arrow().take(pa.array(origin[stays])), new.labels.to_arrow().take(pa.array(stays))
    kept = pc.and_(pc.is_valid(then), pc.is_null(now)).to_numpy(zero_copy_only=False)
    return np.asarray(stays[kept])


def _codes(texts: pa.Array, known: pa.Array) -> Ints:
    """The place of every text among the known ones, -1 for none."""
    found = pc.fill_null(pc.index_in(texts, value_set=known), -1)
    return np.array(found.to_numpy(zero_copy_only=False), np.int64)


def _names(before: Hierarchy, after: Hierarchy, order: Ints, origin: Ints) -> Names:
    """Names, labels and synonyms of the new version.

    A node without a label keeps that of the old version. Synonyms are those of the new version if it has any at all.
    """
    names = after.names.subset(order)
    if before.names.kind == "int" and names.kind == "str":
        names = names.renamed([before.names.from_text(name) for name in names.as_text().to_pylist()])
    old, place = before.names, pa.array(origin, pa.int64(), mask=origin < 0)
    labels, synonyms = names.labels.to_arrow(), names.synonyms
    if old.has_labels:
        labels = pc.coalesce(labels, old.labels.to_arrow().take(place).cast(labels.type))
    if synonyms is None and old.synonyms is not None:
        synonyms = old.synonyms.take(place)
    return names.described(labels if labels.null_count < len(labels) else None, synonyms)


def _reordered(hierarchy: Hierarchy, order: Ints, names: Names) -> Hierarchy:
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    child, parent = hierarchy.edges()
    virtual = hierarchy.virtual_root
    return Hierarchy.from_codes(
        names,
        place[child],
        place[parent],
        weights=hierarchy.parent_weight,
        virtual_root=None if virtual is None else int(place[virtual]),
        report=hierarchy.report,
    )


def _moved(before: Hierarchy, after: Hierarchy, origin: Ints) -> Mask:
    """Which nodes (n,) of both versions have other parents than before; one that became the root stays."""
    child, parent = after.edges()
    known = (origin[child] >= 0) & (origin[parent] >= 0)
    was = before.is_parent(origin[parent[known]], origin[child[known]])
    same = np.bincount(child[known], weights=was, minlength=after.n_nodes)
    now, then = np.diff(after.parent_ptr), np.zeros(after.n_nodes, np.int64)
    stays = origin >= 0
    then[stays] = np.diff(before.parent_ptr)[origin[stays]]
    moved: Mask = stays & ((same != now) | (same != then))
    moved[after.root] = False
    return moved


def _with_descendants(hierarchy: Hierarchy, nodes: Mask) -> Mask:
    """These nodes and all below them, by first parents."""
    deltas = np.zeros(hierarchy.n_nodes + 1)
    np.add.at(deltas, hierarchy.interval_in[nodes], 1)
    np.add.at(deltas, hierarchy.interval_out[nodes], -1)
    covered: Floats = np.cumsum(deltas)
    return np.asarray(covered[hierarchy.interval_in] > 0)


def _relabelled(before: Hierarchy, after: Hierarchy, origin: Ints) -> list[tuple[Hashable, str | None, str | None]]:
    stays = np.flatnonzero(origin >= 0)
    now = after.names.labels.to_arrow().take(pa.array(stays))
    then = before.names.labels.to_arrow().take(pa.array(origin[stays]))
    same = pc.fill_null(pc.equal(now, then), False).to_numpy(zero_copy_only=False)
    both_none = pc.and_(pc.is_null(now), pc.is_null(then)).to_numpy(zero_copy_only=False)
    changed = np.flatnonzero(~(same | both_none))
    return [(after.names[int(stays[i])], then[int(i)].as_py(), now[int(i)].as_py()) for i in changed]


def _other_synonyms(before: Names, after: Names, origin: Ints) -> list[Hashable]:
    """Which nodes of both versions have other synonyms, in whatever order."""
    if before.synonyms is None and after.synonyms is None:
        return []
    stays = np.flatnonzero(origin >= 0)
    now, then = _synonym_sets(after, stays), _synonym_sets(before, origin[stays])
    changed = [node for node, a, b in zip(stays.tolist(), now, then, strict=True) if a != b]
    return after.take(np.array(changed, np.int64))


def _synonym_sets(names: Names, nodes: Ints) -> list[frozenset[str]]:
    if names.synonyms is None:
        return [frozenset()] * nodes.size
    return [frozenset(some or ()) for some in names.synonyms.take(pa.array(nodes)).to_pylist()]
