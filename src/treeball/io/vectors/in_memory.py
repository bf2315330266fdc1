"""Vectors in memory: a mapping, a pandas DataFrame or what gensim trained, as `Vectors`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...embedding._named_vectors import named_vectors, numbers
from ...errors import InputError
from ...geometry.coordinates import kind_of_columns
from ...hierarchy._ids import BRIEF
from .vectors import Vectors

__all__ = ["InMemory", "of_frame", "vectors_in_memory"]


class InMemory(NamedTuple):
    """Vectors that were in memory.

    Attributes
    ----------
    vectors : the names and their vectors
    parents : parent by node (None for a root), if the object names parents; else None
    label : what messages call the object
    doubt : a sentence on what was assumed; None if nothing was
    """

    vectors: Vectors
    parents: dict[Any, Any] | None
    label: str
    doubt: str | None = None


def vectors_in_memory(source: Any) -> InMemory:
    """The vectors that an object holds by name; InputError if it holds none."""
    if hasattr(source, "columns") and hasattr(source, "set_index"):
        return of_frame(source)
    held = getattr(source, "kv", None) or getattr(source, "wv", None) or source
    named = named_vectors(held)
    if named is None:
        raise InputError(
            "vectors come from the path of a file, a mapping from name to vector, a DataFrame or gensim's "
            f"KeyedVectors, not from {BRIEF.repr(source)}; with names in a list use Embedding.from_vectors"
        )
    values = numbers(named.values, named.kind)
    if values.ndim != 2 or len(values) != len(named.names):
        raise InputError(f"{named.kind} holds {len(named.names):,} names for an array of shape {values.shape}")
    return InMemory(Vectors([str(name) for name in named.names], values), None, named.kind, _doubt(held))


def of_frame(frame: Any) -> InMemory:
    """The vectors of a DataFrame: nodes in the index or a column ``node``, numbers in the other columns.

    Columns called ``label``, ``parent`` and ``reach`` are no numbers of a vector.
    """
    if "node" in frame.columns:
        frame = frame.set_index("node")
    columns = [column for column in frame.columns if column not in ("label", "parent", "reach")]
    try:
        values = frame[columns].to_numpy(np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(f"the columns of the frame, but node and parent, must be numbers: {error}") from None
    parents = None
    if "parent" in frame.columns:
        above = [None if _is_missing(parent) else parent for parent in frame["parent"]]
        parents = dict(zip(frame.index, above, strict=True))
    labels = [None if _is_missing(label) else str(label) for label in frame["label"]] if "label" in frame else None
    kind = kind_of_columns([str(name) for name in columns])
    return InMemory(Vectors([str(name) for name in frame.index], values, kind, labels=labels), parents, "the frame")


def _doubt(held: Any) -> str | None:
    kinds = [kind.__name__ for kind in type(held).__mro__]
    if "KeyedVectors" not in kinds or "PoincareKeyedVectors" in kinds:
        return None
    return "KeyedVectors do not say their space: they were read as points of the Poincaré ball; name it with geometry"


def _is_missing(value: Any) -> bool:
    return (
        value is None or (isinstance(value, float) and np.isnan(value)) or type(value).__name__ in ("NAType", "NaTType")
    )
