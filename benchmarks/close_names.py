"""Milliseconds until the names closest to a misspelled one are found, beside difflib on a pool of names.

    python benchmarks/close_names.py [FILE] [--names 2600000] [--questions 8] [--seed 0]

FILE has one name a line; by default names like those of a taxonomy are made. Each question is a name of them in which
two letters are swapped, or one is lost, doubled or wrong. *first* is the first time that a question is asked: the very
first prepares the names, and those that follow count the letters that are new. *again* is the best of 3 further times.
*pool* is the way without preparation: the letters in common with each name are counted anew, and the 2,000 names with
most are compared by difflib; it knows no paths. The last columns say whether the name that was meant comes first.
"""

from __future__ import annotations

import argparse
import difflib
import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from treeball.hierarchy import Names

POOL = 2_000
CONSONANTS, VOWELS = ["", "b", "c", "ch", "d", "g", "l", "m", "n", "p", "ph", "r", "s", "st", "t", "tr", "x"], "aeiou"
SYLLABLES = [consonant + vowel for consonant in CONSONANTS for vowel in VOWELS]


def made_names(n: int, rng: random.Random) -> list[str]:
    """Names like "Chilomata ropeus" and "Chilomata sp. AB1234"."""

    def word(low: int, high: int) -> str:
        return "".join(rng.choices(SYLLABLES, k=rng.randint(low, high)))

    genera = [word(2, 5).capitalize() for _ in range(max(n // 25, 1))]
    names: dict[str, None] = {}
    while len(names) < n:
        kind = rng.random()
        last = word(2, 5) if kind < 0.6 else f"sp. {rng.choice('ABCDEFGH')}{rng.choice('KLMNOP')}{rng.randrange(10**5)}"
        names[f"{rng.choice(genera)} {last}"] = None
    return list(names)


def misspelled(name: str, rng: random.Random) -> str:
    """The name with one mistake."""
    i = rng.randrange(len(name) - 1)
    wrong = [name[i + 1] + name[i], name[i + 1], 2 * name[i] + name[i + 1], rng.choice("aeinrst") + name[i + 1]]
    return name[:i] + rng.choice(wrong) + name[i + 2 :]


def shared_letters(text: pa.Array, query: str) -> np.ndarray:
    """For each text the share of bytes in common with the query, in any order."""
    offsets = np.frombuffer(text.buffers()[1], np.int32, len(text) + 1)
    data = np.frombuffer(text.buffers()[2], np.uint8)[: offsets[-1]]
    sought = np.frombuffer(query.encode(), np.uint8)
    shared = np.zeros(len(text), np.int64)
    for byte, times in zip(*np.unique(sought, return_counts=True), strict=True):
        shared += np.minimum(np.diff(np.searchsorted(np.flatnonzero(data == byte), offsets)), times)
    return np.asarray(2.0 * shared / (np.diff(offsets) + sought.size))


def by_pool(names: pa.Array, text: str, most: int = 3) -> Sequence[object]:
    """Close names without preparation."""
    lower, query = pc.utf8_lower(names), text.lower()
    shared = shared_letters(lower, query)
    starts = np.asarray(pc.starts_with(lower, query), np.bool_)
    pool = np.argsort(-(shared + starts), kind="stable")[:POOL]
    matcher = difflib.SequenceMatcher(b=query, autojunk=False)
    likeness = {}
    for code, candidate in zip(pool.tolist(), lower.take(pa.array(pool)).to_pylist(), strict=True):
        matcher.set_seq1(candidate)
        ratio = matcher.ratio()
        if ratio >= 0.6:
            likeness[code] = (ratio + shared[code]) / 2
        elif starts[code]:
            likeness[code] = ratio / 2
    best = sorted(likeness, key=lambda code: -likeness[code])[:most]
    return list(names.take(pa.array(best, pa.int64())).to_pylist())


def timed(work: Callable[[], Sequence[object]]) -> tuple[float, Sequence[object]]:
    """Milliseconds that some work takes, and its result."""
    started = time.perf_counter()
    result = work()
    return 1e3 * (time.perf_counter() - started), result


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", help="text with one name a line")
    parser.add_argument("--names", type=int, default=2_600_000, help="how many are made where there is no file")
    parser.add_argument("--questions", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    words = options.file.read_text().splitlines() if options.file else made_names(options.names, rng)
    stored = pa.array(words, pa.string())
    meant = rng.sample([word for word in words if len(word) > 3], options.questions)
    del words
    names = Names(stored)
    print(f"{len(names):,} names, {stored.nbytes / 1e6:.0f} MB\n")
    print(f"{'question':<40} {'first':>7} {'again':>7} {'pool':>7} {'pool / again':>13}  meant  by pool")
    for name in meant:
        text = misspelled(name, rng)
        first, found = timed(partial(names.close_matches, text))
        again = min(timed(partial(names.close_matches, text))[0] for _ in range(3))
        pool, found_by_pool = timed(partial(by_pool, stored, text))
        right, right_by_pool = ("yes" if list(found_[:1]) == [name] else "no" for found_ in (found, found_by_pool))
        times = f"{first:7.0f} {again:7.0f} {pool:7.0f} {pool / again:13.0f}"
        print(f"{text[:40]:<40} {times}  {right:<5}  {right_by_pool}", flush=True)


if __name__ == "__main__":
    main()
