"""Phylogenies: which tree of a file is meant, what its nodes are called, and its branch lengths as weights."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...hierarchy.read_report import listed, short
from ...hierarchy.repairs import RepairKind
from ...words import count
from .hints import setting
from .newick_text import Tree
from .relation import MISSING, Relation, string_array
from .settings import ReadSettings

_VALUE = r"(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?"
_NUMERIC = re.compile(rf"[-+]?{_VALUE}(?:/{_VALUE})*+|[nN]a[nN]")
_MOST_SUPPORT = 1000  # of as many bootstrap replicates; larger numbers that never repeat are ids of taxa


@dataclass(frozen=True, slots=True)
class Trees:
    """Trees of one file, parsed when they are asked for.

    Attributes
    ----------
    names
        Name of each tree, None for one without.
    parse
        Parses the one at a place, from 0.
    first
        Place of the one that the file itself marks as its default.
    """

    names: Sequence[str | None]
    parse: Callable[[int], Tree]
    first: int = 0

    def __len__(self) -> int:
        return len(self.names)

    def called(self, place: int) -> str:
        """``number 3 (con_50)``."""
        name = self.names[place]
        return f"number {place + 1:,}" + (f" ({short(name)})" if name else "")


def relation_of_trees(trees: Trees, format: str, label: str, settings: ReadSettings) -> Relation:
    """Relation of the tree that is meant, or of several as one forest."""
    tree, note = _choose(trees, label, settings.tree)
    support = _support_values(tree) if settings.names != "label" else []
    values = [str(tree.names[node]) for node in support]
    for node in support:
        tree.names[node] = None
    nameless = np.array([name is None for name in tree.names], bool)
    nameless[support] = False
    unnamed = int(nameless.sum())
    names, renamed = _name_all(tree)
    relation = Relation(
        format,
        string_array(names),
        np.arange(len(names), dtype=np.int32),
        np.array(tree.parents, np.int32),
        direction="child-parent",
    )
    _add_weights(relation, tree)
    notes = relation.notes
    if note:
        notes.append(note)
        relation.record_lines(RepairKind.TREES_CHOSEN, [None], [note])
    if support:
        details = [f"the label {value} is a support value" for value in values]
        relation.record_nodes(RepairKind.SUPPORT_VALUES, [names[node] for node in support], details)
        notes.append(
            f"{count(len(support), 'inner label')} taken as support values, the nodes named after the leaves below; "
            f"{setting('names', 'label')} takes the labels as names"
        )
    if unnamed:
        notes.append(f"{count(unnamed, 'unnamed node')} named after the leaves below")
        relation.record(RepairKind.NODES_NAMED, "the node has no label", np.flatnonzero(nameless))
    if renamed:
        notes.append(
            f"{count(len(renamed), 'node')} with a label that occurs before or elsewhere: each has an addition to its "
            "name"
        )
        relation.record(RepairKind.NODES_RENAMED, "another node has this label", np.array(sorted(renamed)))
    if tree.further_values:
        notes.append(f"{count(tree.further_values, 'value')} after branch lengths passed over")
        skipped = f"{count(tree.further_values, 'value')} after branch lengths"
        relation.record_lines(RepairKind.VALUES_SKIPPED, [None], skipped)
    if not tree.ended:
        notes.append("the ';' at the end is missing: read as if it were there")
        relation.record_lines(RepairKind.ENDS_ADDED, [None], "the ';' at the end is missing")
    return relation


def _choose(trees: Trees, label: str, wanted: str) -> tuple[Tree, str | None]:
    """The tree that is meant, and what to say of the others.

    Several trees over the same leaves are samples or alternatives, and joined they would be nonsense; trees without a
    common leaf are parts of one forest.
    """
    number = len(trees)
    if wanted not in ("auto", "all"):
        place = _place(trees, label, wanted)
        note = f"tree {trees.called(place)} of {number:,} was read" if number > 1 else None
        return trees.parse(place), note
    if number == 1:
        return trees.parse(0), None
    chosen = trees.parse(trees.first)
    if wanted == "auto":
        seen = chosen.leaves()
        for place in range(number):
            if place == trees.first:
                continue
            leaves = trees.parse(place).leaves()
            if not seen.isdisjoint(leaves):
                return chosen, (
                    f"{number:,} trees that share leaves: {trees.called(trees.first)} was read; "
                    f"{setting('tree', '1' if trees.first else '2')} chooses another, 'all' joins them"
                )
            seen |= leaves
    forest = trees.parse(0)
    for place in range(1, number):
        forest.append(trees.parse(place))
    return forest, f"{number:,} trees read as one forest; {setting('tree', '1')} reads one of them"


def _place(trees: Trees, label: str, wanted: str) -> int:
    if wanted in trees.names:
        return trees.names.index(wanted)
    if wanted.isascii() and wanted.isdigit() and 1 <= int(wanted) <= len(trees):
        return int(wanted) - 1
    named = [name for name in trees.names if name]
    known = f" or {listed(named, len(named), 5)}" if named else ""
    raise InputError(f"{label} has no tree {wanted!r}: choose one of the numbers 1 to {len(trees):,}{known}, or all")


def _support_values(tree: Tree) -> list[int]:
    """Inner nodes whose label is a number, such as 95, 0.98 or 100/0.99: how sure the clade is, not what it is called.

    Large whole numbers, each there once, are ids (of NCBI taxa, say) and stay names; so does whatever is in quotes.
    """
    found = [
        node
        for node, inner in enumerate(tree.inner())
        if inner and not tree.quoted[node] and _NUMERIC.fullmatch(tree.names[node] or "")
    ]
    labels = [str(tree.names[node]) for node in found]
    ids = len(set(labels)) == len(labels) and all(label.isdecimal() for label in labels)
    if ids and any(int(label) > _MOST_SUPPORT for label in labels):
        return []
    return found


def _name_all(tree: Tree) -> tuple[list[str], list[int]]:
    """Distinct names of all nodes, and the nodes whose label needs an addition, since another node has the same.

    An unnamed inner node is named after its first leaf in alphabetical order and how many leaves are below it, so that
    its name does not depend on the order in which the file lists them; an inner label that repeats gets this added.
    """
    n = len(tree.names)
    leaf = [not inner for inner in tree.inner()]
    first: list[str | None] = [None] * n
    leaves = [0] * n
    names: list[str] = [""] * n
    for node in range(n - 1, -1, -1):  # children come after their parent
        if leaf[node]:
            first[node], leaves[node] = tree.names[node], 1
        parent = tree.parents[node]
        if parent != MISSING:
            leaves[parent] += leaves[node]
            candidates = [name for name in (first[parent], first[node]) if name is not None]
            first[parent] = min(candidates) if candidates else None
    uses = Counter(name for name in tree.names if name is not None)
    taken = {name for name, times in uses.items() if times == 1}
    repeats: Counter[str] = Counter()  # a chain of nodes with one child each has the same leaves all along
    number = 0
    renamed: list[int] = []
    for node in range(n):
        own = tree.names[node]
        if leaf[node] and own is not None and uses[own] > 1 and own not in taken:
            names[node] = own  # the first leaf of this name keeps it
            taken.add(own)
    for node in range(n):
        own = tree.names[node]
        if names[node]:
            continue
        if own is not None and uses[own] == 1:
            names[node] = own
            continue
        if own is not None:
            renamed.append(node)
        if leaf[node] and own is not None:
            wanted = own
        elif leaf[node]:
            number += 1
            wanted = f"<leaf {number}>"
        else:
            wanted = f"<{first[node] or 'leaf'} + {leaves[node] - 1}>"
            wanted = wanted if own is None else f"{own} {wanted}"
        choice = wanted
        while choice in taken:
            repeats[wanted] += 1
            choice = f"{wanted} #{repeats[wanted] + 1}"
        taken.add(choice)
        names[node] = choice
    return names, renamed


def _add_weights(relation: Relation, tree: Tree) -> None:
    """Branch lengths as weights when there are any: 1 where one is missing, 0 where one is below zero."""
    weights = np.array([np.nan if length is None else length for length in tree.lengths], np.float64)
    weights[(relation.parent < 0) & np.isnan(weights)] = 0.0
    edges = relation.parent >= 0
    if not edges.any() or not np.isfinite(weights[edges]).any():
        return
    missing = np.flatnonzero(np.isnan(weights) & edges)
    if missing.size:
        relation.notes.append(f"{count(missing.size, 'branch length')} missing, taken as 1")
        relation.record(RepairKind.LENGTHS_MISSING, "the branch has no length", missing)
        weights[np.isnan(weights)] = 1.0
    relation.record(RepairKind.NEGATIVE_LENGTHS, "a branch length is below zero", np.flatnonzero(weights < 0))
    relation.weights = np.maximum(weights, 0.0)
