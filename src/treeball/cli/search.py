"""``treeball search``: nodes whose id, label or synonym holds a text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from .console import print_json, print_rows


def search(
    model: Path,
    texts: tuple[str, ...],
    *,
    k: Annotated[int, Parameter(alias="-k")] = 10,
    json: bool = False,
) -> int:
    """Find nodes whose id, label or synonym holds a text, in any case.

    Those that are the text come first, then those that begin with it, those with a word that begins with it, and those
    that hold it anywhere; of equally good ones the shortest.

    Parameters
    ----------
    model
        Model file that treeball fit wrote.
    texts
        What to look for; each text is a search of its own.
    k
        How many, for each.
    json
        Print one JSON object a line, one for each text.
    """
    from ..io.model_file import load
    from .node_arguments import Spoken

    embedding = load(model)
    found = embedding.search(list(texts), k)
    spoken = Spoken(embedding.names, [match.name for matches in found for match in matches])
    for text, matches in zip(texts, found, strict=True):
        if json:
            print_json({"text": text, "matches": [match.to_dict() for match in matches]})
            continue
        rows = [(spoken.shown(match.name), f"{match.by} {match.matched}") for match in matches]
        print_rows(None, rows or [("none", "")], f"matches of {text}" if len(texts) > 1 else None)
    return 0
