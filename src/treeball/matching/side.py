"""One of two hierarchies that are aligned: the words of its names, of the paths to them and of what is below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..hierarchy import Hierarchy
from ..types import Ints, Pointers
from .bags import Bags
from .vocabulary import Vocabulary
from .words import own_names, synonyms_of, words_of

__all__ = ["Side", "two_sides"]

_MOST_NAMES = 8  # of a node: some ontologies list dozens of synonyms
_FADING, _LEAST = 0.7, 0.2  # what an ancestor's words count for, by each step up; less than the least is left out


@dataclass(frozen=True)
class Side:
    """A hierarchy in words.

    Attributes
    ----------
    name_ptr, names, spelled
        The names of node i, label and synonyms, are the rows ``name_ptr[i]:name_ptr[i+1]`` of `names`; names with the
        same words in the same order have the same number in `spelled`, less than `n_spelled`, on either side.
    path
        Words of the ancestors' names of every node, without the root's: the nearer, the heavier.
    whole
        Words of the names and of the path of every node.
    below
        Words of the children's names of every node.
    new
        Words of the name of every node that its path does not have; all of the name where that leaves none.
    """

    hierarchy: Hierarchy
    name_ptr: Pointers
    names: Bags
    spelled: Ints
    n_spelled: int
    path: Bags
    whole: Bags
    below: Bags
    new: Bags

    @property
    def owner(self) -> Ints:
        """The node of every name."""
        return np.repeat(np.arange(self.hierarchy.n_nodes), np.diff(self.name_ptr))


def two_sides(first: Hierarchy, second: Hierarchy) -> tuple[Side, Side]:
    """Two hierarchies in words of one vocabulary."""
    spoken = [_names(one) for one in (first, second)]
    vocabulary = Vocabulary(*([words for names in side for words in names] for side in spoken))
    seen: dict[tuple[int, ...], int] = {}
    numbered = [[[tuple(vocabulary.numbers(words)) for words in some] for some in side] for side in spoken]
    for words in (words for side in numbered for some in side for words in some):
        seen.setdefault(words, len(seen))
    return _side(first, numbered[0], vocabulary, seen), _side(second, numbered[1], vocabulary, seen)


def _names(hierarchy: Hierarchy) -> list[list[tuple[str, ...]]]:
    """The words of the names of every node, its own before its synonyms."""
    own, others = own_names(hierarchy), synonyms_of(hierarchy)
    several = ([words_of(name), *map(words_of, some)] for name, some in zip(own, others, strict=True))
    return [list(dict.fromkeys(names))[:_MOST_NAMES] for names in several]


def _side(
    hierarchy: Hierarchy,
    numbered: Sequence[Sequence[tuple[int, ...]]],
    vocabulary: Vocabulary,
    seen: dict[tuple[int, ...], int],
) -> Side:
    """A hierarchy in words, from the names of its nodes as numbers of words; `seen` numbers the names of both sides."""
    weight = vocabulary.weight.tolist()
    names = [[{word: weight[word] for word in numbers} for numbers in some] for some in numbered]
    own = [some[0] for some in names]
    path: list[dict[int, float]] = [{} for _ in own]
    below: list[dict[int, float]] = [{} for _ in own]
    parents = hierarchy.primary_parent.tolist()
    for node in hierarchy.topological_order.tolist():
        parent = parents[node]
        if parent < 0:
            continue
        below[parent].update(own[node])
        if parent != hierarchy.root:  # its name is on every path and tells nothing
            faded = {word: _FADING * one for word, one in path[parent].items() if _FADING * one > _LEAST * weight[word]}
            path[node] = faded | own[parent]
    n, whole = len(vocabulary), zip(path, numbered, strict=True)
    return Side(
        hierarchy,
        np.concatenate([[0], np.cumsum([len(some) for some in names], dtype=np.int64)]),
        Bags([words for some in names for words in some], n),
        np.array([seen[words] for some in numbered for words in some], np.int64),
        len(seen),
        Bags(path, n),
        Bags([above | {word: weight[word] for words in some for word in words} for above, some in whole], n),
        Bags(below, n),
        Bags([_without(words, above) for above, words in zip(path, own, strict=True)], n),
    )


def _without(words: dict[int, float], known: dict[int, float]) -> dict[int, float]:
    return {word: one for word, one in words.items() if word not in known} or words
