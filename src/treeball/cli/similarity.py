"""``treeball similarity``: how similar two nodes are by the hierarchy, beside their distance."""

from __future__ import annotations

from pathlib import Path

from .console import print_json, print_rows, print_table
from .node_arguments import FromFile, NodeNames


def similarity(
    model: Path,
    nodes: NodeNames = (),
    *,
    from_file: FromFile = None,
    json: bool = False,
) -> int:
    """Tell how similar two nodes are by the hierarchy, or the two of each pair, beside their distance.

    Path, Wu-Palmer, Lin and Resnik similarity, the last two by the most informative common ancestor. Information
    content is that of the hierarchy itself, 1 - log(1 + descendants) / log(nodes): no corpus is counted.

    Parameters
    ----------
    model
        Model file that treeball fit wrote.
    nodes
        Ids, labels or synonyms of two nodes, or of more in pairs.
    from_file
        Read pairs from this file instead, one a line, separated by a tab; - for standard input.
    json
        Print one JSON object a line, one for each pair.
    """
    from ..io.model_file import load
    from .node_arguments import Spoken, plain, questions

    embedding = load(model)
    pairs = questions(embedding.names, nodes, from_file, size=2)
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    found = embedding.similarity(first, second)
    spoken = Spoken(embedding.names, [*first, *second, *(one.most_informative_ancestor for one in found)])
    if json:
        for a, b, one in zip(first, second, found, strict=True):
            record = {"a": plain(a), "b": plain(b), **one.to_dict()}
            print_json(record | spoken.labels(a, b, one.most_informative_ancestor))
        return 0
    columns = {
        "distance": [f"{one.distance:.6g}" for one in found],
        "path": [f"{one.path:.4f}" for one in found],
        "Wu-Palmer": [f"{one.wu_palmer:.4f}" for one in found],
        "Lin": [f"{one.lin:.4f}" for one in found],
        "Resnik": [f"{one.resnik:.4f}" for one in found],
        "most informative common ancestor": [
            "none" if one.most_informative_ancestor is None else spoken.shown(one.most_informative_ancestor)
            for one in found
        ],
    }
    if len(found) == 1:
        print_table([(name, column[0]) for name, column in columns.items()])
    else:
        named = [[spoken.shown(name) for name in side] for side in (first, second)]
        print_rows(("a", "b", *columns), list(zip(*named, *columns.values(), strict=True)))
    return 0
