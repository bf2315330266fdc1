"""Close names: which of millions of names are spelled most like a text that is none of them."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

PATH_MARKS = (" > ", "/", ":")
"""What separates the steps of a path."""
LEAST_LIKENESS = 0.6
_POOL = 16_384  # names that are compared letter by letter; some milliseconds
# How many different letters of a question are counted, and how many are kept of all questions: each takes time and a
# byte a name, and strangers may ask for any.
_MOST_LETTERS, _KEPT_LETTERS = 64, 96
_SAMPLE_BYTES = 1_000_000
_BATCH_BYTES = 131_072  # so that what is made for a batch stays in the processor's cache


class CloseNames:
    """The spellings of many names, whatever the case, prepared for questions about texts that are none of them.

    The likeness of two texts is the share of their letters that both have, in the same order or in any order. Names
    with too few in the same order are not alike; the mean of both ranks the others, which puts swapped letters ("dgo")
    before lost ones. Those in any order are never fewer and can be counted for all names at once, so only the best by
    this count are compared in order.

    Parameters
    ----------
    names
        A pyarrow array of strings without nulls.
    """

    def __init__(self, names: pa.Array) -> None:
        lower = pc.utf8_lower(names)
        self._whole = _Letters(names if lower.equals(names) else lower)  # no second copy where there is no capital
        self._paths, last = last_steps(self._whole.text)
        self._last = _Letters(last)

    def nearest(self, text: str, most: int) -> list[int]:
        """Positions of at most `most` names nearest in spelling to `text`, best first, then names that start with it.

        Of a name that is a path ("Kitchen > Cookware > Woks") the last step counts alone where it is more alike.
        """
        # Half a surrogate pair, as of a byte on the command line that is no UTF-8, counts as a question mark.
        query = pc.utf8_lower(pa.scalar(text.encode(errors="replace").decode())).as_py()
        if most < 1 or not query or not self._whole.may_be_like(len(query)):
            return []
        of_whole, of_last = self._whole.in_common(query), self._last.in_common(query)
        common = of_whole.copy() if of_last.size else of_whole
        common[self._paths] = np.maximum(common[self._paths], of_last)
        near = np.flatnonzero(common >= LEAST_LIKENESS)
        pool = near[_largest(common[near], _POOL)]
        left_out = common[pool].min() if near.size > _POOL else 0.0  # no name outside the pool is more alike
        likeness = self._whole.likeness(query, of_whole, pool)
        place = np.searchsorted(self._paths, pool)
        has_steps = np.append(self._paths, -1)[place] == pool
        by_last = self._last.likeness(query, of_last, place[has_steps])
        likeness[has_steps] = np.maximum(likeness[has_steps], by_last)
        pool, likeness = pool[likeness > 0], likeness[likeness > 0]
        if pool.size < most or np.partition(likeness, -most)[-most] < left_out:
            beginning = self._beginning_with(query, of_whole, of_last)
            beginning[pool] = 0
            others = np.flatnonzero(beginning)
            others = others[_largest(beginning[others], max(most, _POOL))]
            known = beginning[others]
            pool = np.concatenate([pool, others])
            likeness = np.concatenate([likeness, np.where(known < LEAST_LIKENESS, known / 2, known)])
        best: list[int] = pool[np.lexsort((pool, -likeness))[:most]].tolist()
        return best

    def _beginning_with(
        self, query: str, of_whole: NDArray[np.float64], of_last: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Likeness of the names, or their last steps, that start with `query`, and 0 for the others.

        They have all its letters in order, so that what is in common in any order is in common in order.
        """
        whole, last = (
            np.where(np.asarray(pc.starts_with(letters.text, query)), common, 0.0)
            for letters, common in ((self._whole, of_whole), (self._last, of_last))
        )
        whole[self._paths] = np.maximum(whole[self._paths], last)
        return whole


class _Letters:
    """How often each letter is in each of many texts; a letter is counted when it is first asked for."""

    def __init__(self, text: pa.Array) -> None:
        self.text = pa.concat_arrays([text]) if text.offset else text
        self._lengths = np.asarray(pc.utf8_length(self.text))
        self._longest = int(self._lengths.max(initial=0))
        self._type = np.min_scalar_type(self._longest)  # holds every count
        self._offsets, self._bytes = _offsets_and_bytes(self.text)
        self._known: dict[str, NDArray[np.unsignedinteger]] = {}

    def may_be_like(self, length: int) -> bool:
        """Whether any text is long enough to be like one of this length."""
        return 2 * self._longest >= LEAST_LIKENESS * (self._longest + length)

    def in_common(self, query: str) -> NDArray[np.float64]:
        """Likeness of each text to `query` by the letters they share in any order, from 0 to 1, (n,)."""
        wanted = dict(Counter(query).most_common(_MOST_LETTERS))
        counts = self._counts_of(list(wanted))
        shared = np.zeros(len(self.text), np.promote_types(self._type, np.min_scalar_type(len(query))))
        fewer = np.empty(len(self.text), self._type)
        for letter, times in wanted.items():
            np.minimum(counts[letter], min(times, np.iinfo(self._type).max), out=fewer)
            shared += fewer
        ratio: NDArray[np.float64] = shared / (self._lengths + len(query))
        ratio *= 2
        return ratio

    def likeness(self, query: str, in_common: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """How alike the texts in `rows` and `query` are, the mean of both ways to see it; 0 where they are not."""
        from rapidfuzz.distance import LCSseq
        from rapidfuzz.process import cdist

        some = self.text.take(pa.array(rows)).to_pylist()
        shared = cdist([query], some, scorer=LCSseq.similarity)[0]
        in_order = 2 * (shared / (self._lengths[rows] + len(query)))
        return np.where(in_order < LEAST_LIKENESS, 0.0, (in_order + in_common[rows]) / 2)

    def _counts_of(self, letters: list[str]) -> dict[str, NDArray[np.unsignedinteger]]:
        known = self._known
        missing = [letter for letter in letters if letter not in known]
        if missing:
            known = {**known, **self._count(missing)}
            # Replaced as a whole: another thread may be reading it.
            self._known = dict(list(known.items())[-_KEPT_LETTERS:])
        return known

    def _count(self, letters: list[str]) -> dict[str, NDArray[np.unsignedinteger]]:
        # Several counts share a 64-bit word, each with bits enough for the longest text: one sum makes them all. Places
        # that are left take the most frequent of the other letters, so that few later questions have to count.
        bits = 8 * self._type.itemsize
        n_left = -len(letters) % (64 // bits)
        spare = [letter for letter in self._frequent if letter not in self._known and letter not in letters]
        letters = letters + spare[:n_left]
        counts: dict[str, NDArray[np.unsignedinteger]] = {}
        for first in range(0, len(letters), 64 // bits):
            shifts = {letter: bits * place for place, letter in enumerate(letters[first : first + 64 // bits])}
            sums = self._sums(shifts)
            counts |= {letter: (sums >> np.uint64(shift)).astype(self._type) for letter, shift in shifts.items()}
        return counts

    @cached_property
    def _frequent(self) -> list[str]:
        """Letters of one byte, the most frequent first."""
        counts = np.bincount(self._bytes[:_SAMPLE_BYTES], minlength=128)[:128]
        return [chr(byte) for byte in np.argsort(-counts, kind="stable") if counts[byte]]

    def _sums(self, shifts: dict[str, int]) -> NDArray[np.uint64]:
        """For each text the sum of 2 ** shift over its letters, of those that are in `shifts`."""
        value = np.zeros(256, np.uint64)
        longer: dict[bytes, np.uint64] = {}
        for letter, shift in shifts.items():
            if letter.isascii():
                value[ord(letter)] = 1 << shift
            else:
                longer[letter.encode()] = np.uint64(1 << shift)
        n = len(self.text)
        sums = np.zeros(n, np.uint64)
        batch = max(1, n * _BATCH_BYTES // max(self._bytes.size, 1))
        for first in range(0, n, batch):
            offsets = self._offsets[first : first + batch + 1].astype(np.intp)
            data = self._bytes[offsets[0] : offsets[-1]]
            offsets -= offsets[0]
            values = np.zeros(data.size + 1, np.uint64)  # one more, as reduceat wants one where an empty text begins
            value.take(data, mode="clip", out=values[:-1])  # the mode alone makes it twice as fast
            for several_bytes, one in longer.items():
                values[_occurrences(data, several_bytes)] += one
            np.add.reduceat(values, offsets[:-1], out=sums[first : first + batch])
        sums[self._offsets[1:] == self._offsets[:-1]] = 0
        return sums


def _largest(values: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Where the `most` largest values are, of equal ones the first."""
    if values.size <= most:
        return np.arange(values.size)
    least = np.partition(values, -most)[-most]  # with the ties there are, several times as fast as argpartition
    larger = np.flatnonzero(values > least)
    return np.concatenate([larger, np.flatnonzero(values == least)[: most - larger.size]])


def last_steps(text: pa.Array) -> tuple[NDArray[np.int64], pa.Array]:
    """Which texts are paths, and of each what stands behind its last " > ", "/" or ":"."""
    offsets, data = _offsets_and_bytes(text)
    begins, ends = offsets[:-1].astype(np.int64), offsets[1:]
    for step in (mark.encode() for mark in PATH_MARKS):
        places = _occurrences(data, step)
        row = np.searchsorted(offsets, places, "right") - 1
        behind = places + len(step)
        inside = behind <= ends[row]  # not across two texts
        np.maximum.at(begins, row[inside], behind[inside])
    paths = np.flatnonzero((begins > offsets[:-1]) & (begins < ends))
    begins, ends = begins[paths], ends[paths]
    edges = np.zeros(2 * paths.size + 2, np.int64)  # bytes between the first and the second are kept, and so on
    edges[1:-1:2], edges[2:-1:2], edges[-1] = begins, ends, data.size
    is_kept = np.repeat(np.arange(edges.size - 1) % 2 == 1, np.diff(edges))
    new_offsets = np.concatenate([[0], np.cumsum(ends - begins)]).astype(offsets.dtype)
    buffers = [None, pa.py_buffer(new_offsets), pa.py_buffer(data[is_kept])]
    return paths, pa.Array.from_buffers(text.type, paths.size, buffers)


def _occurrences(data: NDArray[np.uint8], sought: bytes) -> NDArray[np.int64]:
    """Where a sequence of bytes begins in `data`."""
    rarest = sought.index(max(sought))  # ">" of " > ", and what tells a letter's alphabet
    room = max(data.size - len(sought) + 1, 0)
    places = np.flatnonzero(data[rarest : rarest + room] == sought[rarest])
    for step, byte in enumerate(sought):
        if step != rarest:
            places = places[data[places + step] == byte]
    return places


def _offsets_and_bytes(text: pa.Array) -> tuple[NDArray[np.integer], NDArray[np.uint8]]:
    kind = np.int64 if pa.types.is_large_string(text.type) else np.int32
    _, offsets, data = text.buffers()
    edges: NDArray[np.integer] = np.frombuffer(offsets, kind, len(text) + 1) if len(text) else np.zeros(1, kind)
    return edges, np.frombuffer(data or b"", np.uint8)[: edges[-1]]
