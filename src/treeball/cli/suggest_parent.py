"""``treeball suggest-parent``: where a new node could hang."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from .console import print_json, print_rows

if TYPE_CHECKING:
    from ..hierarchy.names import Names


def suggest_parent(
    model: Path,
    *,
    near: list[str],
    k: Annotated[int, Parameter(alias="-k")] = 5,
    json: bool = False,
) -> int:
    """Suggest parents for a node that the model does not have, from nodes that it is known to be near to.

    The score is the root of the mean squared distance to these nodes: the best candidate lies in their middle. For some
    siblings that is their parent. In a model made for the objective ancestors, where everything is near to the root,
    the hierarchy ranks the candidates: those above most of these nodes first, and of them the lowest.

    Parameters
    ----------
    model
        Model file that treeball fit wrote.
    near
        Ids, labels or synonyms of nodes, separated by commas; a name that holds a comma takes a --near of its own.
    k
        How many.
    json
        Print one JSON object.
    """
    from ..embedding._suggest_parent import suggest_parent as suggest
    from ..io.model_file import load
    from .node_arguments import Spoken

    embedding = load(model)
    names = [name for text in near for name in names_in(text, embedding.names)]
    found = suggest(embedding, names, k)
    if json:
        record = {"near": [str(name) for name in names], "suggestions": [one.to_dict() for one in found]}
        print_json(record | Spoken(embedding.names, names).labels(*names))
        return 0
    spoken = Spoken(embedding.names, [one.name for one in found])
    header = ("parent", "score", "children", "of the neighbours below it")
    rows = [
        (
            spoken.shown(one.name),
            f"{one.score:.4f}",
            f"{one.children:,}",
            f"{one.neighbors_below} of {len(dict.fromkeys(names))}",
        )
        for one in found
    ]
    print_rows(header, rows)
    return 0


def names_in(text: str, known: Names) -> list[Hashable]:
    """Names of the nodes between commas, unless the whole text is itself a known name, commas and all."""
    return [known[known.find(part)] for part in known.listed(text)]
