"""pandas and networkx: there and back. Nothing in treeball imports this unless asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..hierarchy import Hierarchy
from ..types import Coordinates

if TYPE_CHECKING:
    from ..embedding import Embedding

__all__ = ["from_pandas", "library", "to_networkx", "to_pandas"]


def to_pandas(embedding: Embedding, coordinates: Coordinates | None = None) -> Any:
    """A DataFrame indexed by node, with label (where nodes have any), parent (the first) and a column for each number.

    The virtual root is left out. `coordinates` are those of :meth:`Embedding.export`; the columns say which they are.
    """
    pd = library("pandas")

    from ..geometry.coordinates import column_names, to_kind

    hierarchy = embedding.hierarchy
    values, kind = to_kind(embedding.vectors, embedding.space, coordinates)
    names = list(hierarchy.names)
    parents = [None if code in (-1, hierarchy.virtual_root) else names[code] for code in hierarchy.primary_parent]
    frame = pd.DataFrame(values, columns=column_names(kind, values.shape[1]))
    frame.insert(0, "parent", pd.Series(parents, dtype=object))
    if hierarchy.names.has_labels:
        frame.insert(0, "label", pd.Series(list(hierarchy.labels), dtype=object))
    frame.index = pd.Index(names, name="node", tupleize_cols=False)
    return frame if hierarchy.virtual_root is None else frame.drop(index=[names[hierarchy.virtual_root]])


def from_pandas(frame: Any, hierarchy: Any = None, **options: Any) -> Embedding:
    """An embedding from a DataFrame: nodes in the index or a column ``node``, numbers in the other columns.

    Those called ``label``, ``parent`` and ``reach`` are no numbers of a vector. The hierarchy is anything
    :func:`treeball.read` takes, by default the column ``parent``. `options` are those of
    :func:`treeball.import_vectors`.
    """
    from ..geometry.coordinates import kind_of_columns
    from .vectors._import import embedding_of
    from .vectors.vectors import Vectors

    if "node" in frame.columns:
        frame = frame.set_index("node")
    columns = [column for column in frame.columns if column not in ("label", "parent", "reach")]
    try:
        values = frame[columns].to_numpy(np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(f"the columns of the frame, but node and parent, must be numbers: {error}") from None
    if hierarchy is None:
        if "parent" not in frame.columns:
            raise InputError("the frame has no column parent: give the hierarchy as well")
        parents = [None if _is_missing(parent) else parent for parent in frame["parent"]]
        hierarchy = dict(zip(frame.index, parents, strict=True))
    kind = kind_of_columns([str(name) for name in columns])
    labels = [None if _is_missing(label) else str(label) for label in frame["label"]] if "label" in frame else None
    vectors = Vectors([str(name) for name in frame.index], values, kind, labels=labels)
    return embedding_of(vectors, hierarchy, "the frame", **options)


def to_networkx(source: Hierarchy | Embedding) -> Any:
    """A networkx DiGraph with edges child -> parent, which :func:`treeball.read` reads back to the same hierarchy.

    Edges have their ``weight`` where the hierarchy has weights, nodes their ``label`` and ``synonyms`` where they have
    any. Of an embedding, nodes have their ``vector`` and edges their ``distance``. The virtual root is left out.
    """
    nx = library("networkx")

    hierarchy = source if isinstance(source, Hierarchy) else source.hierarchy
    names = list(hierarchy.names)
    graph = nx.DiGraph()
    kept = hierarchy.real_nodes().tolist()
    graph.add_nodes_from(names[code] for code in kept)
    if hierarchy.names.has_labels:
        labels = zip(kept, hierarchy.labels.take(kept), strict=True)
        nx.set_node_attributes(graph, {names[code]: text for code, text in labels if text is not None}, "label")
    if hierarchy.names.synonyms is not None:
        lists = zip(kept, hierarchy.names.synonyms.take(kept).to_pylist(), strict=True)
        nx.set_node_attributes(graph, {names[code]: some for code, some in lists if some}, "synonyms")
    child, parent = hierarchy.edges()
    attributes: dict[str, Any] = {}
    if hierarchy.parent_weight is not None:
        attributes["weight"] = hierarchy.parent_weight.tolist()
    if not isinstance(source, Hierarchy):
        attributes["distance"] = source.distances_between(child, parent).tolist()
        nx.set_node_attributes(graph, {names[code]: source.vectors[code] for code in kept}, "vector")
    for place, (low, high) in enumerate(zip(child.tolist(), parent.tolist(), strict=True)):
        if high != hierarchy.virtual_root:
            graph.add_edge(names[low], names[high], **{name: values[place] for name, values in attributes.items()})
    return graph


def library(name: str) -> Any:
    """A library that somebody who asks for its objects has, or is told to install."""
    try:
        return import_module(name)
    except ImportError:
        raise InputError(f"this needs the library {name!r}: install it with  pip install {name}") from None


def _is_missing(value: Any) -> bool:
    return (
        value is None or (isinstance(value, float) and np.isnan(value)) or type(value).__name__ in ("NAType", "NaTType")
    )
