"""From a Relation to a clean Hierarchy: every repair by a stated policy, counted, or refused when strict.

The policy: blank names lose their pairs; self-loops and repeats are dropped (the first stays); of a cycle the pair
that closes it, in the order of the file, is dropped; a parent without a row of its own in an id/parent table stays
as a node; several roots are joined under an added one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...engine.cpu.graph import find_back_edges
from ...errors import InputError
from ...hierarchy import Hierarchy
from ...hierarchy.lookup_keys import clean_labels, clean_synonyms
from ...hierarchy.names import Names
from ...hierarchy.read_report import ReadReport, listed, short
from ...types import Codes
from ...words import count
from .closure import check_closure
from .direction import Decision, decide
from .duplicates import check_rows
from .hints import setting
from .relation import MISSING, Relation, Repair, apply_labels, refuse_surrogates
from .settings import ReadSettings

_ROOTS_SHOWN = 3


class Repairer:
    """One pass over a relation; keeps the pairs, where they came from, and the list of what was changed."""

    def __init__(self, relation: Relation, label: str, settings: ReadSettings) -> None:
        self.relation, self.label, self.settings = relation, label, settings
        self.repairs: list[Repair] = []
        self.notes = list(relation.notes)
        self.names, self.labels, self.synonyms = _described(relation, settings)
        self.child, self.parent, self.weights = relation.child, relation.parent, relation.weights
        self.origin: NDArray[np.int64] | None = None

    def record(self, kind: str, count: int, detail: str, pair: int | None = None, line: int | None = None) -> None:
        """Count a repair; when strict, refuse instead, naming the line of ``pair`` where lines are known."""
        if count == 0 or kind in self.settings.accepted:
            return
        if pair is not None:
            line = self.relation.line(pair if self.origin is None else int(self.origin[pair]))
        where = self.label if line is None else f"{self.label}, line {line}"
        if kind in self.settings.refused:
            more = f" ({count:,} {kind} in all)" if count > 1 else ""
            raise InputError(f"{where}: {detail}{more}, and no node can hang below itself: correct or remove that edge")
        if self.settings.strict:
            raise InputError(
                f"{where}: {detail}; correct it, or read without {setting('strict', 'true')} to have it repaired"
            )
        self.repairs.append(Repair(kind, count, line, detail))

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

    def drop(self, bad: NDArray[np.bool_], kind: str, detail: str) -> None:
        """Record and remove the pairs of ``bad`` (m,); ``detail`` may name {child} and {parent} of the first."""
        if not bad.any():
            return
        first = int(np.argmax(bad))
        low, high = int(self.child[first]), int(self.parent[first])
        text = detail.format(child=self.name(low) if low >= 0 else "", parent=self.name(high) if high >= 0 else "")
        self.record(kind, int(bad.sum()), text, pair=first)
        self.keep(~bad)


def to_hierarchy(relation: Relation, label: str, settings: ReadSettings, sha256: str | None = None) -> Hierarchy:
    """Hierarchy of ``relation`` with its report."""
    if isinstance(relation.names, list):
        refuse_surrogates(relation.names)
    refuse_surrogates([settings.root])
    work = Repairer(relation, label, settings)
    for repair in relation.repairs:
        work.record(repair.kind, repair.count, repair.detail, line=repair.line)
    decision = decide(relation, settings)
    if decision.direction == "parent-child":
        work.child, work.parent = work.parent, work.child
    check_rows(work)
    _drop_empty_names(work)
    _find_orphans(work)
    work.keep(work.parent != MISSING)  # a row without a parent only declares its node
    work.drop(work.child == work.parent, "self-loops", "{child} is its own parent")
    work.drop(_repeats(len(work.names), work.child, work.parent), "duplicate edges", "{child} -> {parent} is repeated")
    back = find_back_edges(len(work.names), work.child, work.parent)
    work.drop(np.asarray(back, bool), "cycle edges", "{child} -> {parent} closes a cycle")
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
    work.drop(work.child == MISSING, "empty names", "a node has no name")


def _find_orphans(work: Repairer) -> None:
    """In a table every node should have a row; a parent without one stays as a node, but is counted."""
    if not work.relation.is_table:
        return
    defined = np.zeros(len(work.names), bool)
    defined[work.child] = True
    referred = np.flatnonzero(work.parent >= 0)
    orphaned = referred[~defined[work.parent[referred]]]
    if orphaned.size:
        undefined = np.unique(work.parent[orphaned]).size
        name = work.name(int(work.parent[orphaned[0]]))
        work.record("undefined parents", undefined, f"parent {name} has no row of its own", pair=int(orphaned[0]))


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
        work.keep(~check.implied)
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
    has_parent = np.zeros(n, bool)
    has_parent[work.child] = True
    roots = np.flatnonzero(~has_parent)
    shown = tuple(work.name(int(root)) for root in roots[:_ROOTS_SHOWN])
    names = Names(work.names, work.labels, work.synonyms)
    child, parent, weights = work.child, work.parent, work.weights
    virtual: int | None = None
    virtual_name: str | None = None
    if roots.size > 1:
        more = listed(shown, roots.size)
        work.record("roots joined", int(roots.size), f"there are {roots.size:,} roots ({more})")
        virtual = n
        virtual_name = _free_name(settings.root, names)
        names = names.extended(Names([virtual_name]))
        child = np.concatenate((child, roots.astype(np.int32)))
        parent = np.concatenate((parent, np.full(roots.size, n, np.int32)))
        if weights is not None:
            weights = np.concatenate((weights, np.ones(roots.size)))
    counts: dict[str, int] = {}
    for repair in work.repairs:
        counts[repair.kind] = counts.get(repair.kind, 0) + repair.count
    if settings.reduce == "always":
        whole = Hierarchy.from_codes(names, child, parent, weights=weights)
        reduced = whole.transitive_reduction()
        (child, parent), weights = reduced.edges(), reduced.parent_weight
        work.notes.append(f"{count(whole.n_edges - reduced.n_edges, 'edge')} that others imply left out")
    if not relation.is_table:
        _tell_of_several_parents(work, child, parent)  # of a closure, only those that stay
    if names.has_labels:
        work.notes.append(f"nodes are named by their ids, and {names.labels.known:,} have labels to show")
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
        repairs=counts,
        notes=tuple(work.notes),
        sha256=sha256,
    )
    return Hierarchy.from_codes(names, child, parent, weights=weights, virtual_root=virtual, report=report)


def _free_name(wanted: str, names: Names) -> str:
    """``wanted``, or the first of ``wanted 2``, ``wanted 3``, ... that no node has."""
    taken = {name for name in names if isinstance(name, str) and name.startswith(wanted.rstrip(">"))}
    choice, number = wanted, 2
    while choice in taken:
        choice = f"{wanted[:-1]} {number}>" if wanted.endswith(">") else f"{wanted} {number}"
        number += 1
    return choice
