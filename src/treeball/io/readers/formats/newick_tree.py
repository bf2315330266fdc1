"""Newick trees, tokenised by the newick library; branch lengths become weights."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....errors import InputError, MissingExtraError
from ....words import count
from ..hints import setting
from ..relation import MISSING, Relation, Repair, string_array
from ..sample import Sample
from ..settings import ReadSettings
from ..source import Source

_OPENING = re.compile(r"^\s*(?:\[[^\]]*\]\s*)*\(")
_VALUE = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_NUMERIC = re.compile(rf"[-+]?{_VALUE}(?:/{_VALUE})*|[nN]a[nN]")
_MOST_SUPPORT = 1000  # of as many bootstrap replicates; larger numbers that never repeat are ids of taxa


@dataclass(slots=True)
class _Tree:
    """Nodes in the order they open: name or None, whether it is in quotes, branch length or None, parent."""

    names: list[str | None] = field(default_factory=list)
    quoted: list[bool] = field(default_factory=list)
    lengths: list[float | None] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    ended: bool = True

    def add(self, parent: int) -> int:
        self.names.append(None)
        self.quoted.append(False)
        self.lengths.append(None)
        self.parents.append(parent)
        return len(self.names) - 1


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """High for text that opens with a parenthesis and has commas inside of it, however well it is closed and ended."""
    if not _OPENING.match(sample.text):
        return 0.0
    balanced = sample.text.count("(") == sample.text.count(")")
    ended = sample.text.rstrip().endswith(";")
    if sample.whole and balanced and ended:
        return 0.95
    if _looks_broken_off(sample, ended):
        return 0.9
    if not sample.whole:
        return 0.8
    return 0.5 if balanced or ended else 0.2


def _looks_broken_off(sample: Sample, ended: bool) -> bool:
    """Whether the text is a tree with a fault, rather than columns in which a name begins with a parenthesis."""
    first = sample.lines[0]
    if any("\t" in line.strip() for line in sample.lines):
        return False
    if not ended and len(sample.lines) > 1 and all(line.count("(") == line.count(")") for line in sample.lines):
        return False
    depth = 0
    for character in sample.text[:10_000]:
        depth += (character == "(") - (character == ")")
        if character == "," and depth > 0:
            return True
    return first.lstrip().startswith("((")


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of one or more trees; several are read as one forest."""
    try:
        import newick
    except ImportError:
        raise MissingExtraError("newick", "formats", "reading Newick") from None
    try:
        tokens = newick.NewickString(source.text)
    except (ValueError, StopIteration, RuntimeError) as error:
        opened, closed = source.text.count("("), source.text.count(")")
        if "brace" in str(error) and closed > opened:
            reason = (
                f"{_parentheses(closed - opened)} closed that {'was' if closed - opened == 1 else 'were'} never opened"
            )
            raise InputError(f"{source.label} is not valid Newick: {reason}; remove it or open it") from None
        raise InputError(f"{source.label} is not valid Newick ({error}); correct it") from None
    raw = _build(tokens, newick.TokenType, source.label)
    support = _support_values(raw) if settings.names != "label" else []
    for node in support:
        raw.names[node] = None
    unnamed = sum(name is None for name in raw.names) - len(support)
    names, renamed = _name_all(raw)
    relation = Relation(
        "Newick",
        string_array(names),
        np.arange(len(names), dtype=np.int32),
        np.array(raw.parents, np.int32),
        direction="child-parent",
    )
    _add_weights(relation, raw)
    if support:
        relation.notes.append(
            f"{count(len(support), 'inner label')} taken as support values, the nodes named after the leaves below; "
            f"{setting('names', 'label')} takes the labels as names"
        )
    if unnamed:
        relation.notes.append(f"{count(unnamed, 'unnamed node')} named after the leaves below")
    if renamed:
        relation.notes.append(
            f"{count(renamed, 'node')} with a label that occurs before or elsewhere: each has an addition to its name"
        )
    if not raw.ended:
        relation.notes.append("the ';' at the end is missing: read as if it were there")
    return relation


def _inner(tree: _Tree) -> list[bool]:
    """Whether each node has children."""
    inner = [False] * len(tree.names)
    for parent in tree.parents:
        if parent != MISSING:
            inner[parent] = True
    return inner


def _support_values(tree: _Tree) -> list[int]:
    """Inner nodes whose label is a number, such as 95, 0.98 or 100/0.99: how sure the clade is, not what it is called.

    Large whole numbers, each there once, are ids (of NCBI taxa, say) and stay names; so does whatever is in quotes.
    """
    found = [
        node
        for node, inner in enumerate(_inner(tree))
        if inner and not tree.quoted[node] and _NUMERIC.fullmatch(tree.names[node] or "")
    ]
    labels = [str(tree.names[node]) for node in found]
    ids = len(set(labels)) == len(labels) and all(label.isdecimal() for label in labels)
    if ids and any(int(label) > _MOST_SUPPORT for label in labels):
        return []
    return found


def _build(tokens: Any, kinds: Any, label: str) -> _Tree:
    """Tree from tokens without recursion: a caterpillar of a million taxa must not end in a RecursionError."""
    tree = _Tree()
    path: list[int] = []
    node = MISSING
    in_length = False
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
                raise InputError(f"{label} is not valid Newick: {_parentheses(len(path))} not closed before ';'")
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
            tree.quoted[node] = token.char.startswith("'")
    tree.ended = node == MISSING
    if path:
        raise InputError(f"{label} is not valid Newick: {_parentheses(len(path))} not closed")
    return tree


def _parentheses(number: int) -> str:
    return "1 parenthesis is" if number == 1 else f"{number:,} parentheses are"


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


def _name_all(tree: _Tree) -> tuple[list[str], int]:
    """Distinct names of all nodes, and how many labels needed an addition, since another node has the same.

    An unnamed inner node is named after its first leaf in alphabetical order and how many leaves are below it, so that
    its name does not depend on the order in which the file lists them; an inner label that repeats gets this added.
    """
    n = len(tree.names)
    leaf = [not inner for inner in _inner(tree)]
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
    number = renamed = 0
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
        renamed += own is not None
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


def _add_weights(relation: Relation, tree: _Tree) -> None:
    """Branch lengths as weights when every edge has one; lengths below zero count as zero."""
    weights = np.array([np.nan if length is None else length for length in tree.lengths], np.float64)
    weights[(relation.parent < 0) & np.isnan(weights)] = 0.0
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
