"""Vocabulary: the words of two hierarchies as numbers, each with how much it tells; close spellings are one word."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from ..types import Floats
from .words import joined

__all__ = ["Vocabulary"]

Words = tuple[str, ...]

# Two spellings are one word when so much of their letters is the same, in the same order: colour and color have .91,
# jewellery and jewelry .88. Shorter words are too often other words.
_LEAST_LIKENESS, _SHORTEST = 0.85, 5
# Airports are no airpots: what is spelled otherwise counts as if it had one more word, which the other name lacks.
_DOUBT, _WEIGHT_OF_DOUBT = "~", 2.0


class Vocabulary:
    """The words of the names of two hierarchies.

    Parameters
    ----------
    first, second
        The words of every name of the two.

    Attributes
    ----------
    weight
        How much a word tells, float64 (v,): the logarithm of how rare it is among the names of both.
    """

    weight: Floats

    def __init__(self, first: Sequence[Words], second: Sequence[Words]) -> None:
        sides = [Counter(word for words in names for word in set(words)) for names in (first, second)]
        self._known = frozenset(sides[0] | sides[1])
        self._same = _respelled(sides[0].keys() - sides[1].keys(), sides[1].keys() - sides[0].keys())
        self._number: dict[str, int] = {}
        seen: Counter[int] = Counter()
        for names in (first, second):
            for words in names:
                seen.update(set(self.numbers(words)))
        total = len(first) + len(second)
        counts = np.array([seen[number] for number in range(len(self._number))], np.float64)
        self.weight = np.log1p(total / np.maximum(counts, 1.0))
        if _DOUBT in self._number:
            self.weight[self._number[_DOUBT]] = _WEIGHT_OF_DOUBT

    def __len__(self) -> int:
        return len(self._number)

    def numbers(self, words: Words) -> list[int]:
        """The words as numbers, in their order, and one for doubt where a word is spelled otherwise."""
        one_by_one = joined(words, self._known)
        spelled = [self._same.get(word, word) for word in one_by_one]
        if any(word in self._same for word in one_by_one):
            spelled.append(_DOUBT)
        return [self._number.setdefault(word, len(self._number)) for word in spelled]


def _respelled(first: Collection[str], second: Collection[str]) -> dict[str, str]:
    """Words of the second side only -> their spelling on the first only, where each is the nearest of the other."""
    there, back = _nearest(second, first), _nearest(first, second)
    return {word: other for word, other in there.items() if back.get(other) == word}


def _nearest(words: Collection[str], others: Collection[str]) -> dict[str, str]:
    """Of each word the other that is spelled most alike, if it is alike enough."""
    from rapidfuzz.fuzz import ratio
    from rapidfuzz.process import extractOne

    blocks: dict[str, list[str]] = defaultdict(list)  # a wrong first letter is rare, and comparing all is quadratic
    for other in _long(others):
        blocks[other[:2]].append(other)
    found = {
        word: extractOne(word, blocks[word[:2]], scorer=ratio, score_cutoff=100 * _LEAST_LIKENESS)
        for word in _long(words)
        if word[:2] in blocks
    }
    return {word: best[0] for word, best in found.items() if best is not None}


def _long(words: Collection[str]) -> Iterator[str]:
    """Words long enough to be told from others, in a fixed order."""
    return (word for word in sorted(words) if len(word) >= _SHORTEST and word.isalpha())
