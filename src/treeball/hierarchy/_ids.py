"""Ids: the sequence of distinct names that nodes are known by, and the way back from a name to its code."""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import InputError

if TYPE_CHECKING:
    from .close_names import CloseNames

_BATCH = 65_536
_SCANS_BEFORE_LOOKUP = 8  # a few single questions are cheaper by scanning than by a dict of millions of names
BRIEF = reprlib.Repr()
BRIEF.maxtuple, BRIEF.maxlist, BRIEF.maxstring, BRIEF.maxother = 3, 3, 200, 200


class Ids(Sequence[Hashable]):
    """Immutable sequence of names; ``ids[code]`` is a name and ``index_of(name)`` its code.

    Text names given as a pyarrow array stay in it, so that millions of them need no Python object each; any
    other sequence of hashables (text, integers, tuples, ...) is kept as a tuple.

    Parameters
    ----------
    values
        A pyarrow array, a NumPy array or an iterable of hashables.
    """

    def __init__(self, values: Any) -> None:
        self._text: pa.Array | None = None
        self._values: tuple[Hashable, ...] = ()
        self._scans = 0
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        if isinstance(values, pa.Array):
            if values.null_count:
                raise ValueError(f"name {pc.index(pc.is_null(values), True).as_py()} is null")
            if pa.types.is_dictionary(values.type):
                values = values.dictionary_decode()
            if _is_text(values.type):
                self._text = values
            else:
                self._values = tuple(values.to_pylist())
        elif isinstance(values, np.ndarray):
            self._values = tuple(values.tolist())
        else:
            self._values = tuple(values)

    def __len__(self) -> int:
        return len(self._values) if self._text is None else len(self._text)

    @overload
    def __getitem__(self, index: int) -> Hashable: ...
    @overload
    def __getitem__(self, index: slice) -> list[Hashable]: ...
    def __getitem__(self, index: int | slice) -> Hashable | list[Hashable]:
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        if self._text is None:
            return self._values[index]
        name: str = self._text[range(len(self))[index]].as_py()
        return name

    def take(self, codes: Iterable[int] | NDArray[Any]) -> list[Hashable]:
        """Names of many codes at once."""
        if self._text is None:
            return [self._values[code] for code in codes]
        names: list[Hashable] = self._text.take(pa.array(codes, pa.int64())).to_pylist()
        return names

    def __iter__(self) -> Iterator[Hashable]:
        if self._text is None:
            yield from self._values
        else:
            for first in range(0, len(self), _BATCH):
                yield from self._text.slice(first, _BATCH).to_pylist()

    def __contains__(self, name: object) -> bool:
        return self._find(name) >= 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ids):
            return NotImplemented
        if self._text is not None and other._text is not None and self._text.type == other._text.type:
            return bool(self._text.equals(other._text))
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(repr(name) for name in self[:3]) + (", ..." if len(self) > 3 else "")
        return f"<{type(self).__name__}: {len(self):,} ({shown})>"

    @cached_property
    def kind(self) -> Literal["str", "int", "other"]:
        """Whether all names are text, all are integers, or neither."""
        if self._text is not None:
            return "str"
        types = {type(name) for name in self._values}
        if all(issubclass(one, str) for one in types):
            return "str"
        if all(issubclass(one, (int, np.integer)) and one is not bool for one in types):
            return "int"
        return "other"

    @cached_property
    def _lookup(self) -> dict[Hashable, int]:
        lookup = {name: code for code, name in enumerate(self)}
        if len(lookup) < len(self):
            twice = next(name for code, name in enumerate(self) if lookup[name] != code)
            raise ValueError(f"two nodes are named {twice!r}")
        return lookup

    def require_distinct(self) -> None:
        """Raise ValueError when a name occurs twice, or TypeError when one cannot be hashed."""
        if self._text is None or self._n_distinct < len(self):
            _ = self._lookup

    @cached_property
    def _n_distinct(self) -> int:
        return len(pc.unique(self._text))

    def _find(self, name: object) -> int:
        """Code of ``name``, or -1."""
        try:
            hash(name)
        except TypeError:
            return -1
        if self._text is None or "_lookup" in self.__dict__ or self._scans >= _SCANS_BEFORE_LOOKUP:
            return self._lookup.get(name, -1)
        self._scans += 1
        if not isinstance(name, str) or is_broken(name):
            return -1
        code: int = pc.index(self._text, pa.scalar(name, self._text.type)).as_py()
        return code

    def index_of(self, name: Hashable) -> int:
        """Code of a name; InputError with close matches when there is no such node."""
        code = self._find(name)
        if code < 0:
            raise InputError(self._no_such_node(name))
        return code

    def index_of_many(self, names: Iterable[Hashable]) -> NDArray[np.int32]:
        """Codes, int32, of many names; InputError names the first that does not exist."""
        wanted = list(names)
        codes = self._codes_of(wanted)
        missing = np.flatnonzero(codes < 0)
        if missing.size:
            more = f" ({missing.size - 1:,} more are missing)" if missing.size > 1 else ""
            raise InputError(self._no_such_node(wanted[missing[0]]) + more)
        return codes

    def _codes_of(self, wanted: list[Hashable]) -> NDArray[np.int32]:
        """Codes, int32, of many names; -1 for those that are none."""
        text = None if "_lookup" in self.__dict__ else self._text
        if text is not None and all(isinstance(name, str) and not is_broken(name) for name in wanted):
            found = pc.index_in(pa.array(wanted, text.type), value_set=text)
            return np.array(pc.fill_null(found, -1), np.int32)
        return np.fromiter((self._find(name) for name in wanted), np.int32, len(wanted))

    def to_arrow(self) -> pa.Array:
        """Names as a pyarrow string array; InputError when two different names have the same text."""
        if self._text is not None:
            return self._text
        text = pa.array([str(name) for name in self._values], pa.string())
        if pc.count_distinct(text).as_py() < len(self):
            seen: dict[str, Hashable] = {}
            for name in self._values:
                other = seen.setdefault(str(name), name)
                if other != name:
                    raise InputError(
                        f"the names {other!r} ({type(other).__name__}) and {name!r} ({type(name).__name__}) "
                        "are different but have the same text: rename one of them"
                    )
        return text

    def from_text(self, text: str) -> Hashable:
        """The name that a person means who typed `text`: itself, or the integer it spells where names are integers."""
        if text not in self and text.removeprefix("-").isdecimal() and int(text) in self:
            return int(text)
        return text

    def _no_such_node(self, name: object) -> str:
        start = f"no node named {BRIEF.repr(name)}"
        if isinstance(name, tuple) and self.kind != "other":
            return f"{start}: a tuple is one name; for several nodes give a list"
        close = self.close_matches(str(name))
        if close:
            return f"{start}; did you mean {', '.join(repr(match) for match in self._suggested(close))}?"
        example = f" (they look like {self[0]!r})" if len(self) else ""
        return f"{start} among the {len(self):,} there are{example}"

    def close_matches(self, text: str, most: int = 3) -> list[Hashable]:
        """Names nearest in spelling to ``text`` whatever the case, best first, then names that start with it.

        Of a name that is a path ("Kitchen > Cookware > Woks") the last step counts alone where it is more alike.
        The first question prepares the names (`close_names`); then it takes milliseconds among millions.
        """
        return self.take(self._close_codes(text, most))

    def _close_codes(self, text: str, most: int) -> list[int]:
        return self._spellings.nearest(text, most) if text and len(self) else []

    def _suggested(self, names: list[Hashable]) -> Sequence[Hashable]:
        """Names as a sentence suggests them."""
        return names

    @cached_property
    def _spellings(self) -> CloseNames:
        from .close_names import CloseNames

        return CloseNames(self.as_text())

    def as_text(self) -> pa.Array:
        """Names as text, though two may be the same."""
        return self._text if self._text is not None else pa.array(map(str, self._values), pa.string())


def _is_text(arrow_type: pa.DataType) -> bool:
    return bool(pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type))


def is_broken(text: str) -> bool:
    """Whether a text has half a surrogate pair, as Python reads bytes of a command line that are no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
