"""Labels: what people call the nodes of a hierarchy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["Labels"]

_BATCH = 65_536


class Labels(Sequence[str | None]):
    """Immutable sequence with the label of each node, None where it has none; decoded as it is read.

    Parameters
    ----------
    texts
        A pyarrow array of strings with nulls.
    """

    def __init__(self, texts: pa.Array) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, index: int) -> str | None: ...
    @overload
    def __getitem__(self, index: slice) -> list[str | None]: ...
    def __getitem__(self, index: int | slice) -> str | list[str | None] | None:
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        label: str | None = self._texts[range(len(self))[index]].as_py()
        return label

    def take(self, codes: Iterable[int] | NDArray[Any]) -> list[str | None]:
        """Labels of many nodes at once."""
        labels: list[str | None] = self._texts.take(pa.array(codes, pa.int64())).to_pylist()
        return labels

    def __iter__(self) -> Iterator[str | None]:
        for first in range(0, len(self), _BATCH):
            yield from self._texts.slice(first, _BATCH).to_pylist()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Labels):
            return bool(self._texts.equals(other._texts))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(repr(label) for label in self[:3]) + (", ..." if len(self) > 3 else "")
        return f"<Labels: {self.known:,} of {len(self):,} nodes ({shown})>"

    @property
    def known(self) -> int:
        """How many nodes have a label."""
        return len(self._texts) - int(self._texts.null_count)

    def to_arrow(self) -> pa.Array:
        """The labels as a pyarrow array of strings, null where there is none."""
        return self._texts
