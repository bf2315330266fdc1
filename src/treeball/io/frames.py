"""pandas and networkx: there and back. Nothing in treeball imports this unless asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    from .vectors._import import from_memory
    from .vectors.in_memory import of_frame

    held = of_frame(frame)
    if hierarchy is None and held.parents is None:
        raise InputError("the frame has no column parent: give the hierarchy as well")
    return from_memory(held, hierarchy, **options)


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
