"""NEXUS files of phylogenetics programs: the trees of their TREES blocks, with the names of TRANSLATE or TAXLABELS."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ....errors import InputError
from ....hierarchy.read_report import short
from ..newick_text import QUOTED, Tree, end_of_comment, parse_tree, statements, unquoted
from ..phylogeny import Trees, relation_of_trees
from ..relation import Relation
from ..sample import Sample
from ..settings import ReadSettings
from ..source import Source

_OPENING = re.compile(r"\s*#NEXUS\b", re.IGNORECASE)
_END = re.compile(r"\bend(?:block)?\s*;", re.IGNORECASE)
_WORD = re.compile(rf"{QUOTED}|[\[=,*]|[^\s\[=,*;'\"][^\s\[=,;]*")


@dataclass(slots=True)
class _Found:
    """A tree as text, with the names that its numbers stand for."""

    name: str
    text: str
    is_default: bool
    translation: dict[str, str]


@dataclass(slots=True)
class _Document:
    trees: list[_Found] = field(default_factory=list)
    taxa: list[str] = field(default_factory=list)


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """Certain by its first word."""
    return 1.0 if _OPENING.match(sample.text) else 0.0


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of one of the trees."""
    if _OPENING.match(source.sample_text) is None:
        raise InputError(f"{source.label} is not NEXUS, which begins with #NEXUS: leave the format to be recognised")
    document = _document(source.text, source.label)
    found = document.trees
    if not found:
        raise InputError(f"{source.label} is NEXUS without a tree: save it with a TREES block, or give Newick")

    def parse(place: int) -> Tree:
        tree = parse_tree(found[place].text, f"{source.label}, tree {found[place].name}")
        _translate(tree, found[place].translation, document.taxa)
        return tree

    default = next((place for place, one in enumerate(found) if one.is_default), 0)
    trees = Trees([one.name for one in found], parse, default)
    return relation_of_trees(trees, "NEXUS", source.label, settings)


def _document(text: str, label: str) -> _Document:
    """Trees and taxa of all blocks; other blocks are skipped unread, whatever quotes and brackets they hold."""
    opening = _OPENING.match(text)
    position = opening.end() if opening else 0
    document = _Document()
    block, translation = "", dict[str, str]()
    while (span := next(statements(text, position), None)) is not None:
        statement, position = text[span[0] : span[1]], span[1]
        words = _words(statement)
        first = next(words, "").lower()
        if first == "begin":
            block, translation = next(words, "").lower(), {}
            if block not in ("trees", "taxa"):
                end = _END.search(text, position)
                position = end.end() if end else len(text)
        elif first in ("end", "endblock"):
            block = ""
        elif block == "trees" and first == "translate":
            try:
                translation = _translation(words)
            except ValueError as error:
                line = text.count("\n", 0, span[0] + len(statement) - len(statement.lstrip())) + 1
                raise InputError(
                    f"{label}, line {line}: not valid NEXUS ({error}); give each name a key of its own"
                ) from None
        elif block == "trees" and first in ("tree", "utree"):
            document.trees.append(_tree(statement, len(document.trees), translation))
        elif block == "taxa" and first == "taxlabels":
            document.taxa = [unquoted(word) for word in words if word not in "=,*"]
    return document


def _words(statement: str) -> Iterator[str]:
    """Words and marks of a statement without its comments."""
    position = 0
    while (word := _WORD.search(statement, position)) is not None:
        position = word.end()
        if word.group() == "[":
            position = end_of_comment(statement, word.start())
        else:
            yield word.group()


def _translation(words: Iterator[str]) -> dict[str, str]:
    """``1 Homo_sapiens, 2 'Pan paniscus'`` as a mapping. A key with two names raises ValueError: one would be lost."""
    table: dict[str, str] = {}
    entry: list[str] = []
    for word in (*words, ","):
        if word != ",":
            entry.append(unquoted(word))
            continue
        if len(entry) > 1:
            key, name = entry[0], " ".join(entry[1:])
            if table.setdefault(key, name) != name:
                raise ValueError(f"TRANSLATE calls {short(key)} both {short(table[key])} and {short(name)}")
        entry = []
    return table


def _tree(statement: str, number: int, translation: dict[str, str]) -> _Found:
    """A statement ``tree * name = [&R] (...);``, in which comments may stand anywhere and hold anything."""
    position, is_default, names = 0, False, list[str]()
    while (word := _WORD.search(statement, position)) is not None:
        position = word.end()
        if word.group() == "[":
            position = end_of_comment(statement, word.start())
        elif word.group() == "=":
            break
        elif word.group() == "*":
            is_default = True
        else:
            names.append(unquoted(word.group()))
    name = names[1] if len(names) > 1 else f"tree {number + 1}"
    return _Found(name, statement[position:], is_default, translation)


def _translate(tree: Tree, translation: dict[str, str], taxa: list[str]) -> None:
    """Names for the numbers of taxa: by the table of the block, else by their place among the taxa."""
    if not translation and taxa:
        leaves = tree.leaves()
        if leaves and all(leaf.isdecimal() and 1 <= int(leaf) <= len(taxa) for leaf in leaves):
            translation = {str(number): name for number, name in enumerate(taxa, start=1)}
            inner = tree.inner()
            for node, name in enumerate(tree.names):
                if name is not None and not inner[node]:
                    tree.names[node] = translation.get(name, name)
            return
    if translation:
        tree.names = [name if name is None else translation.get(name, name) for name in tree.names]
