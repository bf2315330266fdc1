"""Names: what nodes are known by and what people call them, and the way back from either to a code."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import InputError
from ._ids import BRIEF, Ids, is_broken
from .close_names import CloseNames
from .labels import Labels
from .lookup_keys import LookupKeys, clean_labels, clean_synonyms, other_obo_spelling
from .loose_names import LooseNames, Meant, log_loosely

__all__ = ["Names"]

_CANDIDATES = 5


class Names(Ids):
    """Immutable sequence of node names; ``names[code]`` is a name and ``index_of(name)`` its code.

    A name is the identity of a node: its id where the input has ids. People call a node by its label, where it has one,
    or by a synonym, and :meth:`find` knows what they mean. Text given as pyarrow arrays stays in them, so that millions
    of names need no Python object each; names of any other kind (integers, tuples, ...) are kept as a tuple.

    Parameters
    ----------
    values
        Distinct names: a pyarrow array, a NumPy array or an iterable of hashables.
    labels
        A pyarrow array of strings (n,), null where there is none; see :meth:`described` for anything else.
    synonyms
        A pyarrow array of lists of strings (n,): what else leads to a node, other ids included.
    """

    def __init__(self, values: Any, labels: pa.Array | None = None, synonyms: pa.Array | None = None) -> None:
        super().__init__(values)
        self._labels = None if labels is None or labels.null_count == len(labels) else labels
        self._synonyms = None if synonyms is None or not len(synonyms.flatten()) else synonyms

    @classmethod
    def of(cls, values: Any) -> Names:
        """``values`` itself when it is a Names, else a new one."""
        return values if isinstance(values, Names) else cls(values)

    def described(self, labels: Any = None, synonyms: Any = None) -> Names:
        """The same names with labels (n,), None where there is none, and with lists of synonyms (n,)."""
        return Names(
            self._values if self._text is None else self._text,
            None if labels is None else clean_labels(labels, self.as_text()),
            None if synonyms is None else clean_synonyms(synonyms, len(self)),
        )

    def subset(self, codes: Iterable[int] | NDArray[Any]) -> Names:
        """The names of some nodes, with their labels and synonyms."""
        index = pa.array(codes, pa.int64())
        values = self.take(index.to_pylist()) if self._text is None else self._text.take(index)
        return Names(values, *(None if one is None else one.take(index) for one in (self._labels, self._synonyms)))

    def extended(self, others: Names) -> Names:
        """These names and others after them, with the labels and synonyms of both."""
        values: Any = [*self, *others]
        if self.kind == others.kind == "str":
            values = _joined(self.to_arrow(), others.to_arrow())
        labels, synonyms = (
            None
            if one is None and other is None
            else _joined(_or_nulls(one, len(self), kind), _or_nulls(other, len(others), kind))
            for one, other, kind in (
                (self._labels, others._labels, pa.string()),
                (self._synonyms, others._synonyms, pa.list_(pa.string())),
            )
        )
        return Names(values, labels, synonyms)

    def renamed(self, values: Sequence[Hashable]) -> Names:
        """Other names for the same nodes, which keep labels and synonyms."""
        as_text = self.kind == "str" and all(isinstance(name, str) for name in values)
        return Names(pa.array(values, pa.string()) if as_text else values, self._labels, self._synonyms)

    @cached_property
    def labels(self) -> Labels:
        """What people call the nodes, None for those that have no label."""
        return Labels(pa.nulls(len(self), pa.string()) if self._labels is None else self._labels)

    @property
    def has_labels(self) -> bool:
        """Whether any node has a label."""
        return self._labels is not None

    @property
    def synonyms(self) -> pa.Array | None:
        """What else leads to the nodes: a pyarrow array of lists of strings (n,); None where there are none."""
        return self._synonyms

    def look_up(self, name: Hashable) -> list[int]:
        """Codes of the nodes that `name` may mean: that of this id, else all of this label, else all of this synonym.

        An integer may be spelled, and ``label [id]``, as :meth:`shown` writes it, means what it says. An id of OBO,
        ``GO:0005634``, may be given as its IRI, and the IRI as the id.
        """
        code = self._by_id(name)
        if code >= 0:
            return [code]
        if not isinstance(name, str) or is_broken(name):
            return []
        for keys in self.other_keys:
            found = keys.codes_of(name)
            if found:
                return found
        found = self._by_shown(name)
        code = -1 if found else self._find(other_obo_spelling(name))
        return found if code < 0 else [code]

    def meant(self, name: Hashable) -> Meant:
        """The nodes that `name` may mean: those of :meth:`look_up`, else those that it leads to loosely.

        A text leads to a node loosely if it is its id, label or synonym but for the case, or the last steps of its
        path: "dog food" for "Pets > Dog Food".
        """
        codes = self.look_up(name)
        if codes or not isinstance(name, str) or is_broken(name):
            return Meant(codes)
        return self._loose.find(name)

    def find(self, name: Hashable) -> int:
        """Code of the node that `name` means, see :meth:`meant`; InputError when it is none, or one of several.

        A node that was found loosely is logged.
        """
        meant = self.meant(name)
        if len(meant.codes) == 1:
            if meant.loosely:
                log_loosely(name, self.shown(meant.codes[0]), meant)
            return meant.codes[0]
        raise InputError(self.several_nodes(name, meant.codes) if meant.codes else self._no_such_node(name))

    def find_exactly(self, name: Hashable) -> int:
        """Code of the node that `name` means letter by letter, see :meth:`look_up`; for changes of that node."""
        codes = self.look_up(name)
        if len(codes) == 1:
            return codes[0]
        raise InputError(self.several_nodes(name, codes) if codes else self._no_such_node(name))

    def listed(self, text: str) -> list[str]:
        """Names between commas, unless the whole text means a node, commas and all."""
        if "," not in text or self.meant(text).codes:
            return [text]
        return [part.strip() for part in text.split(",") if part.strip()]

    def find_many(self, names: Iterable[Hashable]) -> NDArray[np.int32]:
        """Codes, int32, of the nodes that many names mean; InputError names the first that means none, or several."""
        wanted = list(names)
        codes = self._codes_of(wanted)
        missing = np.flatnonzero(codes < 0).tolist()
        meant = self.candidates(wanted[place] for place in missing)
        for place in missing:
            found = meant.get(wanted[place])
            if not found:
                loosely = self.meant(wanted[place])
                found = [self.find(wanted[place])] if len(loosely.codes) == 1 else loosely.codes
            if not found:
                lost = sum(wanted[other] not in meant for other in missing)
                more = f" ({lost - 1:,} more are missing)" if lost > 1 else ""
                raise InputError(self._no_such_node(wanted[place]) + more)
            if len(found) > 1:
                raise InputError(self.several_nodes(wanted[place], found))
            codes[place] = found[0]
        return codes

    def candidates(self, names: Iterable[Hashable]) -> dict[Hashable, list[int]]:
        """Codes of the nodes that have each of the names as a label, else as a synonym; of those that lead anywhere."""
        texts = [name for name in dict.fromkeys(names) if isinstance(name, str) and not is_broken(name)]
        found: dict[Hashable, list[int]] = {}
        for keys in self.other_keys:
            found.update(keys.codes_of_many([text for text in texts if text not in found]))
        return found

    def shown(self, code: int) -> str:
        """A node as people read it: ``label [id]``, or its name where it has no label."""
        return self.shown_of([code])[0]

    def shown_of(self, codes: Iterable[int] | NDArray[Any]) -> list[str]:
        """Many nodes as people read them: ``label [id]``, or the name where there is no label."""
        names = self.take(codes)
        if self._labels is None:
            return [str(name) for name in names]
        labels = self.labels.take(codes)
        return [str(n) if label is None else f"{label} [{n}]" for n, label in zip(names, labels, strict=True)]

    def called(self, codes: Iterable[int] | NDArray[Any]) -> list[str]:
        """What to write beside many nodes in a picture: the label, or the name where there is no label."""
        labels = self.labels.take(codes)
        return [str(n) if label is None else label for n, label in zip(self.take(codes), labels, strict=True)]

    def shown_as(self, names: Iterable[Hashable]) -> list[str]:
        """Many names as people read them; what is no name of a node stays as it is."""
        given = list(names)
        if self._labels is None:
            return [str(name) for name in given]
        codes = self._codes_of(given)
        known = codes >= 0
        texts = iter(self.shown_of(codes[known]))
        return [next(texts) if is_known else str(name) for name, is_known in zip(given, known.tolist(), strict=True)]

    def labels_by_name(self, names: Iterable[Hashable]) -> dict[str, str]:
        """Labels by the names, as text, of those nodes that have one."""
        given = list(dict.fromkeys(names))
        if self._labels is None:
            return {}
        labels = self.labels.take(self.index_of_many(given))
        return {str(name): label for name, label in zip(given, labels, strict=True) if label is not None}

    def several_nodes(self, name: Hashable, codes: Sequence[int]) -> str:
        """The sentence that a name means several nodes."""
        some = ", ".join(self.shown_of(codes[:_CANDIDATES])) + (", ..." if len(codes) > _CANDIDATES else "")
        return f"{BRIEF.repr(name)} may be any of {len(codes):,} nodes: {some}; give the id of one"

    def _by_id(self, name: Hashable) -> int:
        """Code of the node of this id, though an integer may be spelled, or a spelled one given as integer; or -1."""
        code = self._find(name)
        if code < 0 and isinstance(name, str) and name.removeprefix("-").isdecimal():
            return self._find(int(name))
        if code < 0 and isinstance(name, (int, np.integer)) and not isinstance(name, bool):
            return self._find(str(int(name)))
        return code

    def _by_shown(self, text: str) -> list[int]:
        """The node that ``label [id]`` stands for, if there is one."""
        if self._labels is None or not text.endswith("]"):
            return []
        for cut in (at for at in range(len(text)) if text.startswith(" [", at)):
            code = self._by_id(text[cut + 2 : -1])
            if code >= 0 and self.labels[code] == text[:cut]:
                return [code]
        return []

    @cached_property
    def _loose(self) -> LooseNames:
        ids = [(self.as_text(), None)] if self.kind == "str" else []
        return LooseNames([*ids, *((keys.texts, keys.codes) for keys in self.other_keys)])

    @cached_property
    def other_keys(self) -> tuple[LookupKeys, ...]:
        """What leads to nodes besides their ids; what the first knows, the second is not asked for."""
        keys = [] if self._labels is None else [LookupKeys(self._labels)]
        if self._synonyms is not None:
            owner = np.repeat(np.arange(len(self)), pc.fill_null(self._synonyms.value_lengths(), 0).to_numpy())
            keys.append(LookupKeys(self._synonyms.flatten(), owner))
        return tuple(keys)

    # ---- spelling ----

    def _close_codes(self, text: str, most: int) -> list[int]:
        """A node counts by its label, too."""
        if self._labels is None:
            return super()._close_codes(text, most)
        places = super()._close_codes(text, 2 * most)  # a node may be near by its name and by its label
        return list(dict.fromkeys(self._labelled[at - len(self)] if at >= len(self) else at for at in places))[:most]

    def _suggested(self, names: list[Hashable]) -> Sequence[Hashable]:
        return names if self._labels is None else self.shown_as(names)

    @cached_property
    def _labelled(self) -> list[int]:
        """Codes of the nodes that have a label."""
        codes: list[int] = np.flatnonzero(np.asarray(pc.is_valid(self._labels))).tolist()
        return codes

    @cached_property
    def _spellings(self) -> CloseNames:
        texts = self.as_text()
        return CloseNames(texts if self._labels is None else _joined(texts, self._labels.drop_null()))


def _joined(one: pa.Array, other: pa.Array) -> pa.Array:
    return pa.concat_arrays([one, other.cast(one.type)])


def _or_nulls(values: pa.Array | None, n: int, kind: pa.DataType) -> pa.Array:
    return pa.nulls(n, kind) if values is None else values
