"""``treeball neighbors``: the nodes nearest to a node."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ..errors import InputError
from .console import print_json, print_table, say
from .node_arguments import FromFile, FromSource, NodeNames

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..nearest.index import Index


def neighbors(
    model: Path,
    nodes: NodeNames = (),
    *,
    k: Annotated[int, Parameter(alias="-k")] = 10,
    source: FromSource = "geometry",
    index: bool = False,
    from_file: FromFile = None,
    json: bool = False,
) -> int:
    """List the nodes nearest to a node, with their distances.

    Parameters
    ----------
    model
        Model file that treeball fit wrote.
    nodes
        Names of nodes, exactly as in the hierarchy.
    k
        How many.
    source
        Distances of the geometry, or edges of the hierarchy by way of a common ancestor.
    index
        Search the approximate index beside the model (see treeball index), which is built when there is none.
    from_file
        Read names from this file instead, one a line; - for standard input.
    json
        Print one JSON object a line, one for each node.
    """
    from ..checks import require_whole
    from ..io.model_file import load
    from .node_arguments import plain, questions

    require_whole("k", k, 1)  # before an index is built for it
    if index and source != "geometry":
        raise InputError("--index searches by the distances of the geometry: leave out --from, or --index")
    embedding = load(model)
    asked = [name for (name,) in questions(embedding.names, nodes, from_file)]
    found = _index_of(embedding, model).neighbors(asked, k) if index else embedding.neighbors(asked, k, source)
    for name, nearest in zip(asked, found, strict=True):
        if json:
            rows = [{"node": plain(other), "distance": far} for other, far in nearest]
            print_json({"node": plain(name), "neighbors": rows})
        elif nearest:
            form = ".4f" if source == "geometry" else ".0f"
            print_table([(str(other), format(far, form)) for other, far in nearest], f"nearest to {name}")
    return 0


def _index_of(embedding: Embedding, model: Path) -> Index:
    """The index beside a model; built and saved when there is none."""
    from ..io.atomic import require_writable
    from ..nearest.index import build, index_file, load

    path = index_file(model)
    if path.exists():
        found = load(embedding, path)
    else:
        require_writable(path)
        say(f"building the index {path}, once")
        found = build(embedding)
        found.save(path)
    say(found.facts.sentence())
    return found
