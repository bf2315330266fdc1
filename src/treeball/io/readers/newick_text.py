"""Trees in Newick notation, read token by token: one pass, no recursion, whatever the depth."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...errors import InputError
from ..memory import EVERY, require_room
from .relation import MISSING

# A quoted text always matches to its end or to that of the file, so that no quote is looked at twice; a quote inside of
# a word belongs to the word. Only '' stands for a quote inside of quotes: a backslash is a character like any other.
QUOTED = r"'(?:[^']|'')*+(?:'|\Z)|\"[^\"]*+(?:\"|\Z)"
_TOKEN = re.compile(rf"({QUOTED})|([(),:;\[])|([^\s()\[,:;'\"][^\s()\[,:;]*)|\]")
_PART = re.compile(rf"(?:\A|(?<=[\s(),:=;\[\]]))(?:{QUOTED})|[;\[]")
_BRACKET = re.compile(r"[\[\]]")


@dataclass(slots=True)
class Tree:
    """Nodes in the order they open: name or None, whether it is in quotes, branch length or None, parent."""

    names: list[str | None] = field(default_factory=list)
    quoted: list[bool] = field(default_factory=list)
    lengths: list[float | None] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    ended: bool = True
    further_values: int = 0

    def add(self, parent: int) -> int:
        """A new node without a name below ``parent``; its number."""
        if not len(self.names) % EVERY:
            require_room()
        self.names.append(None)
        self.quoted.append(False)
        self.lengths.append(None)
        self.parents.append(parent)
        return len(self.names) - 1

    def inner(self) -> list[bool]:
        """Whether each node has children."""
        inner = [False] * len(self.names)
        for parent in self.parents:
            if parent != MISSING:
                inner[parent] = True
        return inner

    def leaves(self) -> set[str]:
        """Names of the leaves that have one."""
        return {name for name, inner in zip(self.names, self.inner(), strict=True) if not inner and name is not None}

    def append(self, other: Tree) -> None:
        """Take in another tree beside this one."""
        shift = len(self.names)
        self.names += other.names
        self.quoted += other.quoted
        self.lengths += other.lengths
        self.parents += [parent if parent == MISSING else parent + shift for parent in other.parents]
        self.ended = self.ended and other.ended
        self.further_values += other.further_values


def statements(text: str, position: int = 0) -> Iterator[tuple[int, int]]:
    """Where each part of ``text`` that a semicolon ends begins and ends; comments and quotes may hold semicolons."""
    start = position
    while (token := _PART.search(text, position)) is not None:
        position = token.end()
        if token.group() == ";":
            yield start, position
            start = position
        elif token.group() == "[":
            position = end_of_comment(text, token.start())
    if text[start:].strip():
        yield start, len(text)


def end_of_comment(text: str, start: int) -> int:
    """Where the comment in brackets ends that begins at ``start``; comments may hold others. Never closed: the end."""
    depth, position = 0, start
    while (bracket := _BRACKET.search(text, position)) is not None:
        depth += 1 if bracket.group() == "[" else -1
        position = bracket.end()
        if depth == 0:
            return position
    return len(text)


def unquoted(text: str) -> str:
    """A label without its quotes."""
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] == '"' else text


class UnfinishedError(InputError):
    """The text ends before the tree does."""


def accepts(text: str, whole: bool) -> bool:
    """Whether ``text`` is one tree after the other, or begins like that where it is not the whole."""
    if not whole:
        text = text[: max(text.rfind(mark) for mark in ",);") + 1]
    found = False
    for start, end in statements(text):
        part = text[start:end]
        if not part.strip(" \t\r\n;"):
            continue
        try:
            parse_tree(part, "")
        except UnfinishedError:
            return not whole and end == len(text)
        except InputError:
            return False
        found = True
    return found


def parse_tree(text: str, label: str) -> Tree:
    """The tree of one statement; ``label`` is how messages call the input."""
    tree, path = Tree(), list[int]()
    node, position = MISSING, 0
    colons = 0
    while (token := _TOKEN.search(text, position)) is not None:
        position = token.end()
        quote, mark, word = token.groups()
        if mark == "[":
            position = end_of_comment(text, token.start())
            continue
        if quote is None and mark is None and word is None:
            continue  # a bracket that closes nothing
        if node == MISSING and mark != ";":
            node = tree.add(MISSING)
        if mark == "(":
            if tree.names[node] is not None or colons or len(tree.parents) > node + 1:
                raise _wrong(label, "a parenthesis opens after a name; add a comma before it")
            path.append(node)
            node = tree.add(node)
        elif mark == ",":
            if not path:
                raise _wrong(label, "a comma stands outside all parentheses; remove it")
            node, colons = tree.add(path[-1]), 0
        elif mark == ")":
            if not path:
                surplus = text.count(")") - text.count("(")
                was = "was" if surplus == 1 else "were"
                raise _wrong(
                    label, f"{_parentheses(max(surplus, 1))} closed that {was} never opened; remove it or open it"
                )
            node, colons = path.pop(), 0
        elif mark == ":":
            colons += 1
        elif mark == ";":
            if path:
                raise _wrong(label, f"{_parentheses(len(path))} not closed before ';'")
            return tree
        elif colons:
            _take_length(tree, node, word or quote, colons, label)
        elif tree.names[node] is not None:
            raise _wrong(label, _side_by_side(tree.names[node], str(word or quote)))
        else:
            name = unquoted(quote) if quote is not None else word
            tree.names[node] = name if name.strip() else None
            tree.quoted[node] = quote is not None
    tree.ended = False
    if path:
        raise UnfinishedError(str(_wrong(label, f"{_parentheses(len(path))} not closed")))
    return tree


def _take_length(tree: Tree, node: int, text: str, colons: int, label: str) -> None:
    """The first value after a node is its branch length; some programs write others after further colons."""
    if colons > 1:
        tree.further_values += 1
        return
    try:
        length = float(text)
    except ValueError:
        raise _wrong(label, f"branch length {text!r:.40} is not a number") from None
    if not math.isfinite(length):
        raise InputError(f"{label}: branch length {text} is not finite; correct it")
    tree.lengths[node] = length


def _wrong(label: str, reason: str) -> InputError:
    return InputError(f"{label} is not valid Newick: {reason}")


def _side_by_side(name: str | None, following: str) -> str:
    remedy = "quote names that hold blanks with '...'"
    if str(name).endswith("\\"):
        remedy = "write a quote inside of a quoted name as '', since a backslash escapes nothing"
    return f"{name!r:.40} and {following!r:.40} stand side by side; {remedy}"


def _parentheses(number: int) -> str:
    return "1 parenthesis is" if number == 1 else f"{number:,} parentheses are"
