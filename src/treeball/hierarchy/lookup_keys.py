"""Look-up keys: texts that lead to nodes, such as labels and synonyms; one text may lead to several."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["LookupKeys", "clean_labels", "clean_synonyms", "obo_curie", "other_obo_spelling"]

_SCANS_BEFORE_SORTING = 8  # a few questions are cheaper by scanning than by sorting millions of texts
_FEW = 4
_OBO = "http://purl.obolibrary.org/obo/"
_CURIE = re.compile(r"([A-Za-z][\w.\-]*+):([\w.\-]++)", re.ASCII)


class LookupKeys:
    """Texts and the nodes they lead to.

    Parameters
    ----------
    texts
        A pyarrow array of strings; nulls lead nowhere.
    codes
        The node of each text; by default text i leads to node i.
    order
        Places of the texts in sorted order, nulls last; by default sorted when that pays.
    """

    def __init__(
        self, texts: pa.Array, codes: NDArray[np.int64] | None = None, order: NDArray[np.int64] | None = None
    ) -> None:
        self.texts, self.codes = texts, codes
        self._scans = 0
        if order is not None:
            self.order = order

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Places of the texts in sorted order, nulls last."""
        return np.asarray(pc.sort_indices(self.texts)).astype(np.int64)

    def codes_of(self, text: str) -> list[int]:
        """Nodes that a text leads to, ascending."""
        if "order" in vars(self) or self._scans >= _SCANS_BEFORE_SORTING:
            return self._nodes(self._bisected(text))
        self._scans += 1
        return self._nodes(np.asarray(pc.indices_nonzero(pc.equal(self.texts, pa.scalar(text, self.texts.type)))))

    def codes_of_many(self, texts: Sequence[str]) -> dict[Hashable, list[int]]:
        """Nodes that each of the texts leads to, of those that lead anywhere."""
        if len(texts) <= _FEW or "order" in vars(self):
            found = {text: self.codes_of(text) for text in texts}
            return {text: codes for text, codes in found.items() if codes}
        wanted = pc.is_in(self.texts, value_set=pa.array(texts, self.texts.type), skip_nulls=True)
        places = np.asarray(pc.indices_nonzero(wanted))
        groups: dict[str, list[int]] = {}
        for text, place in zip(self.texts.take(pa.array(places)).to_pylist(), places.tolist(), strict=True):
            groups.setdefault(text, []).append(place)
        return {text: self._nodes(np.array(group)) for text, group in groups.items()}

    def _bisected(self, text: str) -> NDArray[np.int64]:
        end = len(self.texts) - self.texts.null_count

        def text_at(place: int) -> str:
            found: str = self.texts[int(place)].as_py()
            return found

        begin = bisect_left(self.order, text, 0, end, key=text_at)
        last = begin
        while last < end and text_at(self.order[last]) == text:
            last += 1
        return self.order[begin:last]

    def _nodes(self, places: NDArray[np.integer]) -> list[int]:
        codes = places if self.codes is None else self.codes[places]
        found: list[int] = np.unique(codes).tolist()
        return found


def clean_labels(labels: Iterable[str | None] | pa.Array, ids: pa.Array) -> pa.Array:
    """Labels (n,) without blanks around them; null for those that are empty or say no more than the id does."""
    texts = pc.utf8_trim_whitespace(_as_text(labels))
    if len(texts) != len(ids):
        raise ValueError(f"{len(texts):,} labels for {len(ids):,} nodes: there must be one for each")
    says_nothing = pc.or_kleene(pc.equal(texts, ""), pc.equal(texts, ids.cast(texts.type)))
    return pc.if_else(pc.fill_null(says_nothing, True), pa.scalar(None, texts.type), texts)


def clean_synonyms(synonyms: Iterable[Iterable[str]] | pa.Array, n: int) -> pa.Array:
    """Synonyms as a pyarrow array of lists (n,), each without blanks around it, empty ones and repeats left out."""
    if isinstance(synonyms, pa.Array):
        tidy = synonyms  # whoever has an array has cleaned it
    else:
        tidy = [list(dict.fromkeys(text.strip() for text in some or () if text and text.strip())) for some in synonyms]
    if len(tidy) != n:
        raise ValueError(f"synonyms of {len(tidy):,} nodes, but there are {n:,}: there must be a list for each")
    return tidy if isinstance(tidy, pa.Array) else pa.array(tidy, pa.list_(pa.string()))


def obo_curie(iri: str) -> str:
    """How OBO spells the id of a term: ``http://purl.obolibrary.org/obo/GO_0005634`` is ``GO:0005634``.

    An IRI outside of that namespace, and any other text, stays as it is. Of several underscores the last one divides,
    if a number follows it.
    """
    path = iri.removeprefix(_OBO)
    prefix, _, number = path.rpartition("_")
    if path == iri or not (prefix and number) or ("_" in prefix and not number.isdecimal()):
        return iri
    curie = f"{prefix}:{number}"
    return curie if _CURIE.fullmatch(curie) else iri


def other_obo_spelling(text: str) -> str:
    """The IRI of an id of OBO, or the id of an IRI; the text itself if it is neither."""
    found = _CURIE.fullmatch(text)
    return obo_curie(text) if found is None else f"{_OBO}{found[1]}_{found[2]}"


def _as_text(values: Iterable[str | None] | pa.Array) -> pa.Array:
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.Array):
        return values if pa.types.is_string(values.type) else values.cast(pa.string())
    return pa.array([None if value is None else str(value) for value in values], pa.string())
