"""Relatives of a node of a model folder, by the hierarchy: from arrays that are mapped and not read."""

from __future__ import annotations

from ..errors import InputError
from .folder import ModelFolder

__all__ = ["common_ancestors", "path_between", "subtree"]

MOST = 100_000
"""More nodes than this are no answer that a person reads."""


def subtree(folder: ModelFolder, place: int, depth: int | None = None, most: int = MOST) -> list[tuple[int, int]]:
    """Nodes below a node by any path, with how many edges below it they were found, in the order of an outline."""
    found: list[tuple[int, int]] = []
    seen: set[int] = set()
    waiting = [(place, 0)]
    while waiting:
        one, level = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        found.append((one, level))
        if len(found) > most:
            raise InputError(f"the subtree has more than {most:,} nodes: give a smaller --depth, or read the shards")
        if depth is None or level < depth:
            # No more of them than it takes to see that there are too many.
            waiting += [(child, level + 1) for child in folder.children(one)[most::-1].tolist()]
    return found


def common_ancestors(folder: ModelFolder, a: int, b: int) -> list[int]:
    """The nearest node that is above both, or one of them; none where only an added root is."""
    first, second = [a, *folder.ancestors(a)], {b, *folder.ancestors(b)}
    both = [one for one in first if one in second]
    # The nearest has all others above it.
    return both[:1] if not both else [max(both, key=lambda one: len(folder.ancestors(one)))]


def path_between(folder: ModelFolder, a: int, b: int) -> list[int]:
    """Nodes from one to the other, up by primary parents and down again; none where only an added root joins them."""

    def up(place: int) -> list[int]:
        way = [place]
        while above := folder.parents(way[-1])[:1]:
            way += above
        return way

    first, second = up(a), up(b)
    if first[-1] != second[-1]:
        return []
    while len(first) > 1 and len(second) > 1 and first[-2] == second[-2]:
        first.pop()
        second.pop()
    return first + second[-2::-1]
