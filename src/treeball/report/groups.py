"""What the colours of a picture stand for: the largest subtrees, depths, or a column of the user's own table."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Literal, NamedTuple

import numpy as np

from ..hierarchy import Hierarchy
from ..types import Ints, Mask
from ..words import printable
from .table import Column

Colouring = Literal["subtree", "depth"] | Column

MOST_SUBTREES = 8
MOST_STEPS = 8
_DOMINANT = 0.4
_LONGEST_NAME = 26


class Groups(NamedTuple):
    """Colour groups of nodes.

    Attributes
    ----------
    group : int64 (n,), an index into `names`
    names : what each colour stands for; the last is for all that belong to none, unless they are a scale
    legend : what the colours stand for together
    is_scale : whether the groups are steps of a scale, from low to high; then nodes without a step are in the last
    """

    group: Ints
    names: tuple[str, ...]
    legend: str
    is_scale: bool = False


def groups_of(hierarchy: Hierarchy, colouring: Colouring, shown: Mask, top: int) -> Groups:
    """Colour groups of all nodes; those of subtrees and depths fit the nodes shown, from `top` down."""
    if isinstance(colouring, Column):
        return _by_column(colouring, shown)
    return _by_depth(hierarchy, shown) if colouring == "depth" else _by_subtree(hierarchy, shown, top)


def _by_subtree(hierarchy: Hierarchy, shown: Mask, top: int) -> Groups:
    """The largest branches below `top`; one that holds much of the whole is divided into its own branches."""
    start, end = hierarchy.interval_in, hierarchy.interval_out
    before = np.concatenate([[0], np.cumsum(shown[np.argsort(start)])])
    size = before[end] - before[start]  # shown nodes only

    def branches(node: int) -> Ints:
        children = hierarchy.children_of(node)
        own = children[(hierarchy.primary_parent[children] == node) & shown[children]]
        return np.asarray(own[np.argsort(-size[own], kind="stable")], np.int64)

    below = branches(top)
    while below.size and size[below[0]] > _DOMINANT * shown.sum() and branches(int(below[0])).size:
        below = np.concatenate([branches(int(below[0])), below[1:]])
        below = below[np.argsort(-size[below], kind="stable")]
    below = below[:MOST_SUBTREES]
    group = np.full(hierarchy.n_nodes, len(below), np.int64)
    for number, branch in enumerate(below):
        group[(start >= start[branch]) & (start < end[branch])] = number
    return Groups(group, (*(label_of(hierarchy, code) for code in below.tolist()), "other"), "subtree of")


def _by_depth(hierarchy: Hierarchy, shown: Mask) -> Groups:
    """Depth from the root; the deepest levels share a colour."""
    first = int(hierarchy.depth[shown].min())
    deepest = int(hierarchy.depth[shown].max()) - first
    group = np.clip(hierarchy.depth - first, 0, MOST_STEPS - 1).astype(np.int64)
    names = [f"{first + level}" for level in range(min(deepest, MOST_STEPS - 1) + 1)]
    if deepest >= MOST_STEPS:
        names[-1] += " and more"
    return Groups(group, (*names, "other"), "depth", is_scale=True)


def _by_column(column: Column, shown: Mask) -> Groups:
    """The categories of a column, or steps of its numbers with equally many nodes in each."""
    has_value = ~np.isnan(column.values)
    if column.categories is not None:
        names = (*column.categories, "no value")
        group = np.where(has_value, column.values, len(column.categories))
        return Groups(group.astype(np.int64), names, column.name)
    seen = column.values[shown & has_value]
    ends = np.unique(np.quantile(seen, np.arange(1, MOST_STEPS + 1) / MOST_STEPS)) if seen.size else np.empty(0)
    group = np.where(has_value, np.minimum(np.searchsorted(ends, column.values), ends.size - 1), ends.size)
    names = (*(f"up to {end:.4g}" for end in ends), "no value")
    return Groups(group.astype(np.int64), names, column.name, is_scale=True)


def display_name(name: Hashable) -> str:
    """A name fit for a label: words of a WordNet synset, and never longer than a few words."""
    text = re.sub(r"\.[nvasr]\.\d+$", "", str(name))
    if text != str(name):
        text = text.replace("_", " ")
    text = printable(" ".join(text.split()))
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1].rstrip() + "…"


def label_of(hierarchy: Hierarchy, code: int) -> str:
    """What to write beside a node; of a name such as "Garden > Tools", whose parent is "Garden", the last part."""
    name, above = hierarchy.names.called([code])[0], int(hierarchy.primary_parent[code])
    if above >= 0:
        path = re.escape(str(hierarchy.names.called([above])[0]))
        name = re.sub(rf"^{path}\s*(?:>|/|\||::|›|»)\s*(?=\S)", "", str(name))
    return display_name(name)
