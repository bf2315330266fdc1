"""``treeball distance``: how far two nodes are from each other."""

from __future__ import annotations

from pathlib import Path

from .console import print_json, print_line, print_rows
from .node_arguments import FromFile, FromSource, NodeNames


def distance(
    model: Path,
    nodes: NodeNames = (),
    *,
    source: FromSource = "geometry",
    from_file: FromFile = None,
    json: bool = False,
) -> int:
    """Tell the distance between two nodes, or between the two of each pair.

    Parameters
    ----------
    model
        Model file that treeball fit wrote.
    nodes
        Ids, labels or synonyms of two nodes, or of more in pairs.
    source
        Distance of the geometry, or edges of the hierarchy by way of a common ancestor.
    from_file
        Read pairs from this file instead, one a line, separated by a tab; - for standard input.
    json
        Print one JSON object a line, one for each pair.
    """
    from ..io.model_file import load
    from ..words import json_number
    from .node_arguments import Spoken, plain, questions

    embedding = load(model)
    pairs = questions(embedding.names, nodes, from_file, size=2)
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    far = embedding.distance(first, second, source).tolist()
    spoken = Spoken(embedding.names, [*first, *second])
    if json:
        for a, b, d in zip(first, second, far, strict=True):
            print_json({"a": plain(a), "b": plain(b), "distance": json_number(d), **spoken.labels(a, b)})
    elif len(far) == 1:
        print_line(f"{far[0]:.6g}")
    else:
        rows = zip(first, second, far, strict=True)
        print_rows(None, [(spoken.shown(a), spoken.shown(b), f"{d:.6g}") for a, b, d in rows])
    return 0
