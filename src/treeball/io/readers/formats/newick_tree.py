"""Newick trees; branch lengths become weights."""

from __future__ import annotations

import re

from ....errors import InputError
from ..newick_text import Tree, accepts, end_of_comment, parse_tree, statements
from ..phylogeny import Trees, relation_of_trees
from ..relation import Relation
from ..sample import Sample
from ..settings import ReadSettings
from ..source import Source
from . import nexus

_BLANK = re.compile(r"\s*+")
_MOST_TRIED = 1 << 16  # characters


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """High for text that opens with a parenthesis; nearly certain if the parser accepts its beginning."""
    if not _opens_with_a_parenthesis(sample.text):
        return 0.0
    balanced = sample.text.count("(") == sample.text.count(")")
    ended = sample.text.rstrip().endswith(";")
    broken_off = _looks_broken_off(sample, ended)
    whole = sample.whole and len(sample.text) <= _MOST_TRIED
    # One name in parentheses and one behind it may also be a row of two columns: then only the semicolon tells.
    if (ended or broken_off or not whole) and accepts(sample.text[:_MOST_TRIED], whole):
        return 0.99
    if ended and broken_off:
        return 0.97  # a fault in a tree, whatever its quoted names hold
    if sample.whole and balanced and ended:
        return 0.95
    if broken_off:
        return 0.9
    if not sample.whole:
        return 0.8
    return 0.5 if balanced or ended else 0.2


def _opens_with_a_parenthesis(text: str) -> bool:
    """Whether the first that is no comment is one; comments may hold others."""
    position = _BLANK.match(text).end()  # type: ignore[union-attr]  # it matches nothing as well
    while text[position : position + 1] == "[":
        position = _BLANK.match(text, end_of_comment(text, position)).end()  # type: ignore[union-attr]
    return text[position : position + 1] == "("


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
    """Relation of a tree; of several that share leaves one is read, others are one forest."""
    text = source.text
    if nexus.sniff(Sample.of(source), settings):
        raise InputError(f"{source.label} is NEXUS, which holds Newick among other things: leave the format out")
    spans = [span for span in statements(text) if text[span[0] : span[1]].strip(" \t\r\n;")]
    if not spans:
        raise InputError(f"{source.label} is not valid Newick: there is no tree in it")

    def parse(place: int) -> Tree:
        return parse_tree(text[slice(*spans[place])], source.label)

    return relation_of_trees(Trees([None] * len(spans), parse), "Newick", source.label, settings)
