"""Words of names: what is left of a name once case, accents, plurals, punctuation and small words are gone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Sequence

from ..hierarchy import Hierarchy

__all__ = ["joined", "own_names", "synonyms_of", "words_of"]

_BEHIND = re.compile(r"\s\[[^\[\]\s]+\]$|\.[nvars]\.\d+$")  # what tells names apart: "Rock [cat02010]", "dog.n.01"
_STEP = re.compile(r"\s*(?:>|/|\\|\||»|:+|\.)\s*")  # between the name of a parent and that of its child, in a path
_WORD = re.compile(r"[^\W_]+")
_APOSTROPHES = re.compile(r"['’`´]")
_SMALL = frozenset(["a", "an", "and", "for", "of", "or", "the", "with"])  # on and in are not: On-Ear, In-Ear


def own_names(hierarchy: Hierarchy) -> list[str]:
    """What each node is called, (n,): its label or name, of a path the last step, without id or number of a sense.

    A virtual root is called nothing.
    """
    names = hierarchy.names.called(range(hierarchy.n_nodes))
    own = []
    for name, parent in zip(names, hierarchy.primary_parent.tolist(), strict=True):
        text = name
        if parent >= 0 and name.startswith(names[parent]):
            step = _STEP.match(name, len(names[parent]))
            text = name[step.end() :] or name if step else name
        own.append(_BEHIND.sub("", text))
    if hierarchy.virtual_root is not None:
        own[hierarchy.virtual_root] = ""
    return own


def synonyms_of(hierarchy: Hierarchy) -> list[list[str]]:
    """What else each node is called, (n,) lists."""
    known = hierarchy.names.synonyms
    return [[] for _ in range(hierarchy.n_nodes)] if known is None else [some or [] for some in known.to_pylist()]


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in their order: "Men's Coats & Jackets" is men, coat, jacket."""
    plain = unicodedata.normalize("NFKD", _APOSTROPHES.sub("", name).casefold())
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    words = _WORD.findall(plain)
    return tuple(_singular(word) for word in words if word not in _SMALL) or tuple(words)


def _singular(word: str) -> str:
    """A form that singular and plural share; it need not be a word: both "glove" and "gloves" give "glof"."""
    if len(word) < 4 or not word.isascii():
        return word
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-2] if re.search(r"(?:ch|sh|ss|x|z)es$", word) else word[:-1]
    for ending, instead in (("ie", "y"), ("oe", "o"), ("ve", "f"), ("fe", "f")):
        if word.endswith(ending):
            return word[:-2] + instead
    return word


def joined(words: Sequence[str], known: Container[str]) -> tuple[str, ...]:
    """The words, two in a row written as one where that is a known word: "dish washer" is a dishwasher."""
    found: list[str] = []
    for word in words:
        if found and found[-1] + word in known:
            found[-1] += word
        else:
            found.append(word)
    return tuple(found)
