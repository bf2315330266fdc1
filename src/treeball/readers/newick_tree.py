"""Newick trees, tokenised by the newick library; branch lengths become weights."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from treeball.errors import InputError, MissingExtraError
from treeball.readers.paths import PathTree
from treeball.readers.relation import MISSING, Relation, Repair
from treeball.readers.report import count
from treeball.readers.sample import Sample
from treeball.readers.settings import ReadSettings
from treeball.readers.source import Source

_OPENING = re.compile(r"^\s*(?:\[[^\]]*\]\s*)*\(")


@dataclass(slots=True)
class _Tree:
    """Nodes in the order they open: name or None, branch length or None, parent."""

    names: list[str | None] = field(default_factory=list)
    lengths: list[float | None] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)

    def add(self, parent: int) -> int:
        self.names.append(None)
        self.lengths.append(None)
        self.parents.append(parent)
        return len(self.names) - 1


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """High for text that opens with a parenthesis, closes as many as it opens and ends with a semicolon."""
    if not _OPENING.match(sample.text):
        return 0.0
    balanced = sample.text.count("(") == sample.text.count(")")
    ended = sample.text.rstrip().endswith(";")
    if not sample.whole:
        return 0.8
    return 0.95 if balanced and ended else (0.5 if balanced or ended else 0.2)


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of one or more trees; several are read as one forest."""
    try:
        import newick
    except ImportError:
        raise MissingExtraError("newick", "formats", "reading Newick") from None
    try:
        tokens = newick.NewickString(source.text)
    except (ValueError, StopIteration, RuntimeError) as error:
        raise InputError(f"{source.label} is not valid Newick ({error}); correct it") from None
    raw = _build(tokens, newick.TokenType, source.label)
    named = _name_all(raw)
    tree = PathTree()
    places: list[int] = []
    for name, parent in zip(named, raw.parents, strict=True):
        places.append(tree.add(MISSING if parent == MISSING else places[parent], name))
    relation = tree.to_relation("Newick")
    _add_weights(relation, raw, places)
    unnamed = sum(name is None for name in raw.names)
    if unnamed:
        relation.notes.append(f"{count(unnamed, 'unnamed node')} named after the leaves below")
    return relation


def _build(tokens: Any, kinds: Any, label: str) -> _Tree:
    """Tree from tokens without recursion: a caterpillar of a million taxa must not end in a RecursionError."""
    tree = _Tree()
    path: list[int] = []
    node = MISSING
    in_length = False
    trees = 0
    for token in tokens:
        kind = token.type
        if kind in (kinds.WHITESPACE, kinds.COMMENT):
            continue
        if node == MISSING and kind != kinds.SEMICOLON:
            node = tree.add(MISSING)
        if kind == kinds.OBRACE:
            if tree.names[node] is not None or in_length or len(tree.parents) > node + 1:
                raise InputError(
                    f"{label} is not valid Newick: a parenthesis opens after a name; add a comma before it"
                )
            path.append(node)
            node = tree.add(node)
        elif kind == kinds.COMMA:
            if not path:
                raise InputError(f"{label} is not valid Newick: a comma stands outside all parentheses; remove it")
            node, in_length = tree.add(path[-1]), False
        elif kind == kinds.CBRACE:
            if not path:
                raise InputError(f"{label} is not valid Newick: a parenthesis closes that was never opened")
            node, in_length = path.pop(), False
        elif kind == kinds.COLON:
            in_length = True
        elif kind == kinds.SEMICOLON:
            if path:
                raise InputError(f"{label} is not valid Newick: {len(path)} parentheses are not closed before ';'")
            trees += node != MISSING
            node, in_length = MISSING, False
        elif in_length:
            tree.lengths[node] = _length(token.char, label)
        elif tree.names[node] is not None:
            raise InputError(
                f"{label} is not valid Newick: {tree.names[node]!r:.40} and {token.char!r:.40} stand side by side; "
                "quote names that hold blanks with '...'"
            )
        else:
            tree.names[node] = _unquoted(token.char)
    if path:
        raise InputError(f"{label} is not valid Newick: {len(path)} parentheses are not closed")
    return tree


def _unquoted(text: str) -> str | None:
    if len(text) >= 2 and text.startswith("'") and text.endswith("'"):
        text = text[1:-1].replace("''", "'").replace("\\'", "'")
    return text if text.strip() else None


def _length(text: str, label: str) -> float:
    try:
        length = float(text)
    except ValueError:
        raise InputError(f"{label} is not valid Newick: branch length {text!r:.40} is not a number") from None
    if not math.isfinite(length):
        raise InputError(f"{label}: branch length {text} is not finite; correct it")
    return length


def _name_all(tree: _Tree) -> list[str]:
    """Names of all nodes. An unnamed inner node is named after its first leaf in alphabetical order and how many
    leaves are below it, so that its name does not depend on the order in which the file lists them."""
    n = len(tree.names)
    leaf = [True] * n
    for parent in tree.parents:
        if parent != MISSING:
            leaf[parent] = False
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
    taken = {name for name in tree.names if name is not None}
    repeats: Counter[str] = Counter()  # a chain of nodes with one child each has the same leaves all along
    number = 0
    for node in range(n):
        own = tree.names[node]
        if own is not None:
            names[node] = own
            continue
        if leaf[node]:
            number += 1
            wanted = f"<leaf {number}>"
        else:
            wanted = f"<{first[node] or 'leaf'} + {leaves[node] - 1}>"
        choice = wanted
        while choice in taken:
            repeats[wanted] += 1
            choice = f"{wanted} #{repeats[wanted] + 1}"
        taken.add(choice)
        names[node] = choice
    return names


def _add_weights(relation: Relation, tree: _Tree, places: list[int]) -> None:
    """Branch lengths as weights when every edge has one; lengths below zero count as zero."""
    import numpy as np

    weights = np.full(len(relation.child), np.nan)
    for length, place, parent in zip(tree.lengths, places, tree.parents, strict=True):
        if place != MISSING:
            known = length if length is not None else (0.0 if parent == MISSING else None)
            weights[place] = np.nan if known is None else known
    edges = relation.parent >= 0
    if not edges.any() or not np.isfinite(weights[edges]).any():
        return
    missing = int(np.isnan(weights[edges]).sum())
    if missing:
        relation.notes.append(f"branch lengths are not used as weights, since {missing:,} are missing")
        return
    negative = int((weights < 0).sum())
    if negative:
        relation.repairs.append(Repair("negative branch lengths", negative, None, "a branch length is below zero"))
    relation.weights = np.maximum(weights, 0.0)
