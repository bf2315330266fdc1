"""Vectors that come with names: a mapping, a DataFrame or gensim's vectors, and their order beside a hierarchy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..hierarchy import Hierarchy
from ..types import Ints

__all__ = ["NamedVectors", "in_order_of", "named_vectors", "numbers", "rows_without_names"]

_EXAMPLES = 3


class NamedVectors(NamedTuple):
    """Names and their vectors, as an object of another library holds them; `kind` is what messages call it."""

    names: list[Hashable]
    values: Any
    kind: str


def named_vectors(source: Any) -> NamedVectors | None:
    """The names and vectors of a mapping, a pandas DataFrame or gensim's KeyedVectors; None for a plain array."""
    if isinstance(source, Mapping):
        return NamedVectors(list(source), list(source.values()), f"the {type(source).__name__}")
    if hasattr(source, "index_to_key") and hasattr(source, "vectors"):
        return NamedVectors(list(source.index_to_key), source.vectors, f"the {type(source).__name__}")
    if hasattr(source, "index") and hasattr(source, "columns") and hasattr(source, "to_numpy"):
        return NamedVectors(list(source.index), source, "the frame")
    return None


def numbers(values: Any, what: str) -> NDArray[np.floating]:
    """Vectors as an array of floating-point numbers, in the precision that they come in.

    InputError if they are no numbers, or rows of different lengths.
    """
    try:
        array = np.asarray(values)
        return array if array.dtype.kind == "f" else array.astype(np.float64, casting="unsafe")
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be rows of numbers, all of the same length: {error}") from None


def rows_without_names(vectors: Any, hierarchy: Hierarchy) -> Any:
    """The rows of `vectors`, whose names, if they come along, are those of the hierarchy in its order.

    Raises
    ------
    InputError
        If the names come in another order, or are other names: rows would belong to other nodes.
    """
    named = named_vectors(vectors)
    if named is None:
        return vectors
    texts = [str(name) for name in named.names]
    # A frame that was made without an index counts its rows: these are names only if the nodes have such names.
    is_count = texts == [str(row) for row in range(len(texts))]
    own = hierarchy.names.to_arrow().to_pylist()
    if texts != own and not (is_count and set(texts) != set(own)):
        place = next((row for row, pair in enumerate(zip(texts, own, strict=False)) if pair[0] != pair[1]), None)
        what = "has other names than the hierarchy"
        if place is not None:
            what = f"has {texts[place]!r} in row {place}, which is the row of {own[place]!r}"
        raise InputError(
            f"{named.kind} {what}: use Embedding.from_vectors(names, vectors, hierarchy), which orders rows by name"
        )
    return named.values


def in_order_of(hierarchy: Hierarchy, names: Iterable[Hashable]) -> Ints:
    """The row of every node among `names`, (n,); -1 for a virtual root that has none.

    Raises
    ------
    InputError
        If a name comes twice or is no node, or if a node is not among the names.
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"names must be a list with one name for each vector, not {names!r}")
    texts = [str(name) for name in names]
    twice = [name for name, times in Counter(texts).items() if times > 1]
    if twice:
        raise InputError(f"the names hold {_some(twice)} more than once: keep one vector for each node")
    own = hierarchy.names.to_arrow().to_pylist()
    extra = sorted(set(texts) - set(own))
    if extra:
        raise InputError(f"the names hold {_some(extra)}, and the hierarchy has no such node: leave these vectors out")
    row_of = {text: row for row, text in enumerate(texts)}
    rows = np.array([row_of.get(text, -1) for text in own], np.int64)
    missing = [own[code] for code in np.flatnonzero(rows < 0).tolist() if code != hierarchy.virtual_root]
    if missing:
        raise InputError(
            f"the names lack {_some(missing)}: give a vector for each node, or drop nodes without one with "
            'treeball.import_vectors(..., missing="drop")'
        )
    return rows


def _some(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_EXAMPLES])
    return shown if len(names) <= _EXAMPLES else f"{shown} and {len(names) - _EXAMPLES:,} more"
