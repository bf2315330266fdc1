"""``treeball capacity``: how much room the children of each node need."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from .console import print_json, print_rows
from .sources import ReadingOptions, read_hierarchy


def capacity(
    source: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *more: str,
    dim: int,
    json: bool = False,
    reading: Annotated[ReadingOptions, Parameter(name="*", group="Reading")] = ReadingOptions(),  # noqa: B008
) -> int:
    """Show, by number of children, the distance from their parent that the bounds on local capacity ask for.

    With less than the distance of the upper bound some of the children must be ill; at that of the lower bound there is
    room for all. See the documentation on local capacity for both.

    Parameters
    ----------
    source
        File with the hierarchy, in any format treeball reads.
    more
        Further files that belong to it, such as products below categories.
    dim
        Dimension of the space.
    json
        Print one JSON object.
    """
    import numpy as np

    from ..errors import InputError
    from ..geometry.capacity import radius_needed_lower, radius_needed_upper

    if dim < 2:
        raise InputError(f"dim must be a whole number of at least 2, not {dim}: a tree cannot branch in one dimension")
    hierarchy = read_hierarchy(source, more, reading)
    children, nodes = np.unique(np.diff(hierarchy.child_ptr), return_counts=True)
    children, nodes = children[children > 0], nodes[children > 0]
    impossible, roomy = radius_needed_upper(children, dim), radius_needed_lower(children, dim)
    found = list(zip(children.tolist(), nodes.tolist(), impossible.tolist(), roomy.tolist(), strict=True))
    if json:
        keys = ("children", "nodes", "at_least", "enough")
        print_json(
            {
                "source": " ".join((source, *more)),
                "dim": dim,
                "capacity": [dict(zip(keys, row, strict=True)) for row in found],
            }
        )
        return 0
    header = ("children", "nodes", "at least (upper bound)", "enough (lower bound)")
    rows = [(f"{k:,}", f"{n:,}", f"{least:.2f}", f"{enough:.2f}") for k, n, least, enough in found]
    print_rows(header, rows, f"{' '.join((source, *more))}: distance from the parent, in {dim} dimensions")
    return 0
