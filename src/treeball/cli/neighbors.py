"""``treeball neighbors``: the nodes nearest to a node."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from .console import print_json, print_table


def neighbors(model: Path, node: str, *, k: Annotated[int, Parameter(alias="-k")] = 10, json: bool = False) -> int:
    """List the nodes nearest to a node, with their distances.

    Parameters
    ----------
    model
        Model file that treeball fit wrote.
    node
        Name of the node, exactly as in the hierarchy.
    k
        How many.
    json
        Print one JSON object.
    """
    from ..model_file import load

    embedding = load(model)
    name = embedding.hierarchy.names.from_text(node)
    nearest = embedding.neighbors(name, k)
    if json:
        print_json({"node": node, "neighbors": [{"node": str(other), "distance": far} for other, far in nearest]})
    elif nearest:
        print_table([(str(other), f"{far:.4f}") for other, far in nearest], f"nearest to {node}")
    return 0
