"""``treeball neighbors``: the nodes nearest to a node."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from .console import print_json, print_table
from .folder_answers import neighbors_folder, refuse_options
from .node_arguments import FromFile, FromSource, NodeNames

_AT_ONCE = 2_000  # nodes between two looks at the progress


def neighbors(
    model: Path,
    nodes: NodeNames = (),
    *,
    k: Annotated[int, Parameter(alias="-k")] = 10,
    source: FromSource = "geometry",
    leaves: bool = False,
    siblings: bool = False,
    unrelated: bool = False,
    within: str | None = None,
    from_file: FromFile = None,
    json: bool = False,
) -> int:
    """List the nodes nearest to a node, with their distances.

    --leaves, --siblings, --unrelated and --within choose who may be a neighbour, by the hierarchy, before k are taken;
    several together must all hold.

    Parameters
    ----------
    model
        Model file or folder that treeball fit wrote.
    nodes
        Ids, labels or synonyms of nodes, exactly as in the hierarchy.
    k
        How many.
    source
        Distances of the geometry, or edges of the hierarchy by way of a common ancestor.
    leaves
        Only nodes without children.
    siblings
        Only nodes that share a parent with the node.
    unrelated
        Neither its ancestors nor its descendants.
    within
        Only this node and what is below it, by id, label or synonym.
    from_file
        Read names from this file instead, one a line; - for standard input.
    json
        Print one JSON object a line, one for each node.
    """
    from ..checks import require_whole
    from ..io.model_file import load
    from ..methods.progress import WorkProgress
    from ..scale.layout import is_folder
    from .node_arguments import Spoken, plain, questions

    require_whole("k", k, 1)
    if is_folder(model):
        refuse_options(
            leaves=leaves, siblings=siblings, unrelated=unrelated, within=within, from_file=from_file,
            **({"from": source} if source != "geometry" else {}),
        )  # fmt: skip
        return neighbors_folder(model, nodes, k, json)
    embedding = load(model)
    asked = [name for (name,) in questions(embedding.names, nodes, from_file)]
    found = []
    with WorkProgress() as work:
        work.begin("finding neighbours", len(asked))
        for first in range(0, len(asked), _AT_ONCE):
            part = asked[first : first + _AT_ONCE]
            found += embedding.neighbors(
                part, k, source, leaves=leaves, siblings=siblings, unrelated=unrelated, within=within
            )
            work.advance(len(part))
    spoken = Spoken(embedding.names, [*asked, *(other for nearest in found for other, _ in nearest)])
    for name, nearest in zip(asked, found, strict=True):
        if json:
            rows = [{"node": plain(other), "distance": far, **spoken.label(other)} for other, far in nearest]
            print_json({"node": plain(name), "neighbors": rows, **spoken.labels(name)})
        else:
            form = ".4f" if source == "geometry" else ".0f"
            rows_of_text = [(spoken.shown(other), format(far, form)) for other, far in nearest]
            print_table(rows_of_text or [("none", "")], f"nearest to {spoken.shown(name)}")
    return 0
