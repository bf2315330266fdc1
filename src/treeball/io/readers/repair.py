"""From a Relation to a clean Hierarchy: every repair follows a stated policy, is listed, or is refused when strict.

The policy: blank names lose their pairs; self-loops and repeats are dropped (the first stays); of a cycle the pair
that closes it, in the order of the file, is dropped; a parent without a row of its own in an id/parent table stays
as a node; several roots are joined under an added one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...engine.cpu.graph import find_back_edges
from ...errors import FaultsError, InputError
from ...hierarchy import Hierarchy
from ...hierarchy.lookup_keys import clean_labels, clean_synonyms
from ...hierarchy.names import Names
from ...hierarchy.read_report import ReadReport, listed, repair_words, short
from ...hierarchy.repairs import RepairGroup, RepairKind, Repairs
from ...types import Codes
from ...words import count
from .closure import check_closure
from .direction import Decision, decide
from .duplicates import check_rows
from .hints import setting
from .relation import MISSING, Relation, apply_labels, groups_of_pairs, refuse_surrogates
from .settings import ReadSettings
from .tables.pairs import mark_roots_of_edges

_ROOTS_SHOWN = 3
_FAULTS_SHOWN = 20


class Repairer:
    """One pass over a relation; keeps the pairs, where they came from, and the list of what was changed."""

    def __init__(self, relation: Relation, label: str, settings: ReadSettings) -> None:
        self.relation, self.label, self.settings = relation, label, settings
        self.repairs = [group if group.file else replace(group, file=label) for group in relation.repairs]
        self.notes = list(relation.notes)
        self.names, self.labels, self.synonyms = _described(relation, settings)
        self.child, self.parent, self.weights = relation.child, relation.parent, relation.weights
        self.origin: NDArray[np.int64] | None = None

    def record(
        self, kind: RepairKind, detail: str, pairs: NDArray[Any], child: Codes, parent: Codes | None = None
    ) -> None:
        """List what happens to ``pairs`` (k,), numbers of the pairs that are left; ``detail`` names codes (k,)."""
        if kind in self.settings.accepted:
            return
        group = RepairGroup(kind, pairs.size, detail, self.label, names=self.names, labels=self.labels)
        first = pairs if self.origin is None else self.origin[pairs]
        self.repairs += groups_of_pairs(self.relation, group, first, child, child if parent is None else parent)

    def name(self, code: int) -> str:
        """Node for messages: its name, with its label where it has one."""
        name, label = _plain(self.names[code]), None if self.labels is None else _plain(self.labels[code])
        return short(name if label is None else f"{label} [{name}]")

    def keep(self, mask: NDArray[np.bool_]) -> None:
        """Keep only the pairs of ``mask`` (m,)."""
        if mask.all():
            return
        kept = np.flatnonzero(mask)
        self.child, self.parent = self.child[kept], self.parent[kept]
        self.weights = None if self.weights is None else self.weights[kept]
        self.origin = kept if self.origin is None else self.origin[kept]

    def drop(self, bad: NDArray[np.bool_], kind: RepairKind, detail: str) -> None:
        """List and remove the pairs of ``bad`` (m,); ``detail`` may name {child} and {parent}."""
        pairs = np.flatnonzero(bad)
        if pairs.size:
            self.record(kind, detail, pairs, self.child[pairs], self.parent[pairs])
            self.keep(~bad)

    def refuse_faults(self) -> None:
        """Raise FaultsError with all faults that the settings refuse."""
        refused, strict = self.settings.refused, self.settings.strict
        faults = Repairs(one for one in self.repairs if one.kind in refused or (strict and one.kind.level == "fault"))
        if not faults:
            return
        below_itself = all(group.kind in refused for group in faults.groups)
        listed, plain = list(_spoken(faults)), f"or read without {setting('strict', 'true')} to have"
        if len(faults) == 1:
            remedy = f"; correct it, {plain} it repaired"
            if below_itself:
                remedy = ", and no node can hang below itself: correct or remove that edge"
            raise FaultsError(listed[0] + remedy, repairs=faults)
        kinds = ", ".join(repair_words(kind, number) for kind, number in faults.counts("fault").items())
        remedy = f": correct them, {plain} them repaired"
        if below_itself:
            remedy = ", and no node can hang below itself: correct or remove these edges"
        if len(faults) > len(listed):
            rest = len(faults) - len(listed)
            listed.append(f"and {rest:,} more: --repairs FILE lists all (in Python: error.repairs)")
        raise FaultsError(f"{self.label} has {len(faults):,} faults ({kinds}){remedy}", listed, faults)


def _spoken(faults: Repairs) -> Iterator[str]:
    """A line for each of the first faults: where it is and what is wrong."""
    rows = ((group.file, row) for group in faults.groups for row in group.rows(0, _FAULTS_SHOWN))
    for file, (line, node, detail) in islice(rows, _FAULTS_SHOWN):
        where = file if line is None else f"{file}, line {line}"
        yield f"{where}: {detail or short(node)}"


def to_hierarchy(relation: Relation, label: str, settings: ReadSettings, sha256: str | None = None) -> Hierarchy:
    """Hierarchy of ``relation`` with its report."""
    for texts in (relation.names, relation.labels):
        if isinstance(texts, list):
            refuse_surrogates(texts)
    if isinstance(relation.synonyms, list):
        refuse_surrogates(text for some in relation.synonyms for text in some or ())
    refuse_surrogates([settings.root])
    decision = decide(relation, settings)
    if decision.direction == "parent-child":
        relation.child, relation.parent = relation.parent, relation.child
    # Of edges to add to a model, the tops are nodes of it, whatever they are called.
    if relation.words_mark_roots and not relation.is_table and RepairKind.ROOTS_JOINED not in settings.accepted:
        mark_roots_of_edges(relation)
    work = Repairer(relation, label, settings)
    if decision.doubt is not None:
        work.repairs.append(replace(RepairGroup.of_lines(RepairKind.DIRECTIONS_GUESSED, [None]), file=label))
    check_rows(work)
    _drop_empty_names(work)
    _find_orphans(work)
    work.keep(work.parent != MISSING)  # a row without a parent only declares its node
    work.drop(work.child == work.parent, RepairKind.SELF_LOOPS, "{child} is its own parent")
    repeats = _repeats(len(work.names), work.child, work.parent)
    work.drop(repeats, RepairKind.DUPLICATE_EDGES, "{child} -> {parent} is repeated")
    back = find_back_edges(len(work.names), work.child, work.parent)
    work.drop(np.asarray(back, bool), RepairKind.CYCLE_EDGES, "{child} -> {parent} closes a cycle")
    work.refuse_faults()
    if relation.is_table:
        _tell_of_several_parents(work, work.child, work.parent)
    _reduce_closure(work)
    return _build(work, decision, sha256)


def _described(relation: Relation, settings: ReadSettings) -> tuple[Any, pa.Array | None, pa.Array | None]:
    """Names, labels and synonyms of the nodes: by their ids, with or without labels, or by their labels."""
    names, labels, synonyms = relation.names, relation.labels, relation.synonyms
    if settings.names == "id":
        return names, None, None
    if labels is not None and settings.names == "label":
        named = apply_labels(names, labels)
        return named, None, None if relation.names_hold_labels else _ids_as_synonyms(names, synonyms)
    if labels is not None and not relation.names_hold_labels:
        labels = clean_labels(labels, Names.of(names).as_text())
        labels = None if labels.null_count == len(labels) else labels
    else:
        labels = None
    return names, labels, None if synonyms is None else clean_synonyms(synonyms, len(names))


def _ids_as_synonyms(names: Any, synonyms: Any) -> pa.Array:
    """The id of each node, which finds it still where it is named by its label, before its other synonyms."""
    if synonyms is not None:
        lists = synonyms.to_pylist() if isinstance(synonyms, pa.Array) else synonyms
        pairs = zip(Names.of(names).as_text().to_pylist(), lists, strict=True)
        return clean_synonyms([[one, *(others or [])] for one, others in pairs], len(names))
    return pa.ListArray.from_arrays(np.arange(len(names) + 1, dtype=np.int32), Names.of(names).as_text())


def _plain(value: Any) -> Any:
    return value.as_py() if isinstance(value, pa.Scalar) else value


def _drop_empty_names(work: Repairer) -> None:
    work.drop(work.child == MISSING, RepairKind.EMPTY_NAMES, "a node has no name")


def _find_orphans(work: Repairer) -> None:
    """In a table every node should have a row; a parent without one stays as a node, but is counted."""
    if not work.relation.is_table:
        return
    declared = work.relation.declared
    defined = np.zeros(len(work.names), bool) if declared is None else declared.copy()
    defined[work.child] = True
    referred = np.flatnonzero(work.parent >= 0)
    orphaned = referred[~defined[work.parent[referred]]]
    first = np.sort(orphaned[np.unique(work.parent[orphaned], return_index=True)[1]])
    work.record(RepairKind.UNDEFINED_PARENTS, "parent {child} has no row of its own", first, work.parent[first])


def _repeats(n: int, child: Any, parent: Any) -> NDArray[np.bool_]:
    """True (m,) for pairs that occurred before."""
    repeated = np.zeros(child.size, bool)
    if child.size:
        keys = child.astype(np.int64) * n + parent
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        repeated[order[1:]] = ordered[1:] == ordered[:-1]
    return repeated


def _reduce_closure(work: Repairer) -> None:
    """Store what generates the pairs when they are exactly a transitive closure."""
    if work.settings.reduce != "auto":
        return
    check = check_closure(len(work.names), work.child, work.parent)
    if check is None or not check.implied.any():
        return
    before = work.child.size
    if check.missing == 0:
        work.drop(check.implied, RepairKind.CLOSURE_EDGES, "{child} -> {parent}")
        work.notes.append(
            f"{before:,} edges are a transitive closure: kept the {work.child.size:,} that generate it; the objective "
            f"`ancestors` uses all of them, {setting('reduce', 'never')} keeps all as edges"
        )
    else:
        work.notes.append(
            f"{before:,} edges are nearly a transitive closure: all were kept, "
            f"{setting('reduce', 'always')} keeps those that generate the rest"
        )


def _tell_of_several_parents(work: Repairer, child: Codes, parent: Codes) -> None:
    """Say how many nodes have several parents: in a DAG that is as it should be, in a table of ids often a mistake."""
    several = np.flatnonzero(np.bincount(child, minlength=len(work.names)) > 1)
    if several.size:
        first = int(several[0])
        above = [work.name(int(code)) for code in parent[child == first]]
        work.notes.append(
            f"{count(int(several.size), 'node')} with several parents, such as {work.name(first)} "
            f"(below {listed(above, len(above), 3)})"
        )


def _build(work: Repairer, decision: Decision, sha256: str | None) -> Hierarchy:
    relation, settings = work.relation, work.settings
    n = len(work.names)
    if n == 0 or (n == 1 and work.child.size == 0):
        raise InputError(f"{work.label} holds no edge: a hierarchy needs at least one child with a parent")
    if work.child.size == 0 and RepairKind.ROOTS_JOINED not in settings.accepted:
        few = listed([work.name(code) for code in range(min(n, _ROOTS_SHOWN))], n, _ROOTS_SHOWN)
        raise InputError(
            f"{work.label} is a flat list of {count(n, 'node')}: no node is below another ({few}); give the file that "
            "states the parents, or name their column"
        )
    has_parent = np.zeros(n, bool)
    has_parent[work.child] = True
    roots = np.flatnonzero(~has_parent)
    shown = tuple(work.name(int(root)) for root in roots[:_ROOTS_SHOWN])
    names = Names(work.names, work.labels, work.synonyms)
    child, parent, weights = work.child, work.parent, work.weights
    virtual: int | None = None
    virtual_name: str | None = None
    if roots.size > 1:
        virtual = n
        virtual_name = _free_name(settings.root, names)
        _record_roots(work, roots)
        names = names.extended(Names([virtual_name]))
        child = np.concatenate((child, roots.astype(np.int32)))
        parent = np.concatenate((parent, np.full(roots.size, n, np.int32)))
        if weights is not None:
            weights = np.concatenate((weights, np.ones(roots.size)))
    if settings.reduce == "always":
        whole = Hierarchy.from_codes(names, child, parent, weights=weights)
        reduced = whole.transitive_reduction()
        (child, parent), weights = reduced.edges(), reduced.parent_weight
        _record_implied(work, child, parent)
        work.notes.append(f"{count(whole.n_edges - reduced.n_edges, 'edge')} that others imply left out")
    if not relation.is_table:
        _tell_of_several_parents(work, child, parent)  # of a closure, only those that stay
    if names.has_labels:
        work.notes.append(f"nodes are named by their ids, and {names.labels.known:,} have labels to show")
    repairs = Repairs(work.repairs)
    report = ReadReport(
        source=work.label,
        format=relation.format,
        n_nodes=len(names),
        n_edges=len(child),
        direction=decision.arrow if relation.columns_given else None,
        direction_doubt=decision.doubt,
        roots=shown,
        n_roots=int(roots.size),
        virtual_root=virtual_name,
        repair_counts=repairs.counts("fault", "repair"),
        decision_counts=repairs.counts("decision"),
        notes=tuple(work.notes),
        sha256=sha256,
        repairs=repairs,
    )
    return Hierarchy.from_codes(names, child, parent, weights=weights, virtual_root=virtual, report=report)


def _record_roots(work: Repairer, roots: NDArray[np.int64]) -> None:
    """List the roots that are joined; none has a line, since it has no parent."""
    if RepairKind.ROOTS_JOINED not in work.settings.accepted:
        detail, codes = f"one of {roots.size:,} roots", roots.astype(np.int32)
        work.repairs.append(
            RepairGroup(RepairKind.ROOTS_JOINED, roots.size, detail, work.label, child=codes, names=work.names)
        )


def _record_implied(work: Repairer, child: Codes, parent: Codes) -> None:
    """List the edges that are not among those that are left."""
    n = len(work.names) + 1
    own, left = (low.astype(np.int64) * n + high for low, high in ((work.child, work.parent), (child, parent)))
    pairs = np.flatnonzero(~np.isin(own, left))
    work.record(RepairKind.IMPLIED_EDGES, "{child} -> {parent}", pairs, work.child[pairs], work.parent[pairs])


def _free_name(wanted: str, names: Names) -> str:
    """``wanted``, or the first of ``wanted 2``, ``wanted 3``, ... that no node has."""
    taken = {name for name in names if isinstance(name, str) and name.startswith(wanted.rstrip(">"))}
    choice, number = wanted, 2
    while choice in taken:
        choice = f"{wanted[:-1]} {number}>" if wanted.endswith(">") else f"{wanted} {number}"
        number += 1
    return choice
