"""split: hold some of a hierarchy back, to see later whether an embedding of the rest knows where it belongs."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..hierarchy import Hierarchy
from ..io.atomic import atomic_write

__all__ = ["Split", "split"]

Pairs = list[tuple[Hashable, Hashable]]


@dataclass(frozen=True, repr=False)
class Split:
    """Pairs (node, parent) to train on, pairs held out, and what is worth telling.

    Attributes
    ----------
    train, held_out
        Pairs of names; for the closure, pairs of a node and one of its ancestors.
    alone
        Nodes to train on that are in no pair of `train`.
    """

    train: Pairs
    held_out: Pairs
    alone: list[Hashable]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Split: {len(self.train):,} pairs to train on, {len(self.held_out):,} held out>"

    def save(self, folder: Path) -> tuple[Path, Path]:
        """Write train.tsv and heldout.tsv, which :func:`treeball.read` reads; the folder is made if need be."""
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write to the folder {str(folder)!r}: {error.strerror}; choose another") from None
        train, held_out = folder / "train.tsv", folder / "heldout.tsv"
        # An empty parent is one of a table with a row for each node; other names stay clear of its conventions.
        header = ("node", "parent") if self.alone else ("child", "parent")
        with atomic_write(train) as first, atomic_write(held_out) as second:
            first.write_bytes(_tsv([header, *self.train, *((name, "") for name in self.alone)]))
            second.write_bytes(_tsv([("child", "parent"), *self.held_out]))
        return train, held_out


def split(
    source: Any,
    *,
    leaves: float | None = None,
    edges: float | None = None,
    closure: float | None = None,
    seed: int = 0,
) -> Split:
    """Hold out a share of the leaves, of the edges or of the closure of a hierarchy; give one of the three.

    Parameters
    ----------
    source
        A :class:`Hierarchy` or anything :func:`treeball.read` takes.
    leaves
        Share of the leaves: they are missing from the training part altogether, for :func:`treeball.insert` to place.
    edges
        Share of the edges; all nodes stay. One that loses its last parent becomes a root: an orphan.
    closure
        Share of the pairs (node, ancestor) that are no edges. Training is on all other pairs of the closure, and the
        edges themselves (those that no others imply) are always among them, as in published link prediction.
    seed
        Chooses what is held out.
    """
    from ..io.readers import read

    given = {
        name: value for name, value in (("leaves", leaves), ("edges", edges), ("closure", closure)) if value is not None
    }
    if len(given) != 1:
        raise InputError("say what to hold out: one of leaves, edges and closure, with a share such as 0.05")
    what, share = next(iter(given.items()))
    if not 0.0 < share < 1.0:
        raise InputError(f"the share of {what} to hold out must be above 0 and below 1, not {share!r}")
    hierarchy = read(source)
    child, parent = hierarchy.real_edges()
    rng = np.random.default_rng(seed)
    if what == "leaves":
        childless = np.diff(hierarchy.child_ptr)[child] == 0
        chosen = _draw(np.unique(child[childless]), share, rng, what)
        held = np.isin(child, chosen)
        return _made(hierarchy, child, parent, held, np.setdiff1d(hierarchy.real_nodes(), chosen))
    if what == "closure":
        child, parent, basic = _closure(hierarchy)
        held = np.zeros(child.size, np.bool_)
        held[_draw(np.flatnonzero(~basic), share, rng, "pairs of the closure that are no edges")] = True
    else:
        held = np.zeros(child.size, np.bool_)
        held[_draw(np.arange(child.size), share, rng, what)] = True
    return _made(hierarchy, child, parent, held, hierarchy.real_nodes())


def _draw(population: Any, share: float, rng: np.random.Generator, what: str) -> Any:
    count = round(share * population.size)
    if not 0 < count < population.size:
        raise InputError(
            f"{share:g} of the {population.size:,} {what} is {count:,}: choose a share that holds out and keeps some"
        )
    return np.sort(rng.choice(population, count, replace=False))


def _closure(hierarchy: Hierarchy) -> tuple[Any, Any, Any]:
    """All pairs (node, ancestor), and which of them are edges that no others imply."""
    pointers, ancestor = hierarchy.ancestors()
    node = np.repeat(np.arange(hierarchy.n_nodes), np.diff(pointers))
    real = ancestor != (-1 if hierarchy.virtual_root is None else hierarchy.virtual_root)
    node, ancestor = node[real], ancestor[real]
    return node, ancestor, hierarchy.transitive_reduction().is_parent(ancestor, node)


def _made(hierarchy: Hierarchy, child: Any, parent: Any, held: Any, kept: Any) -> Split:
    names = hierarchy.names
    alone = np.setdiff1d(kept, np.concatenate([child[~held], parent[~held]]))
    tops_before = np.setdiff1d(hierarchy.real_nodes(), child)
    orphans = np.setdiff1d(np.setdiff1d(kept, child[~held]), tops_before)
    notes = []
    if orphans.size:
        example = names[int(orphans[0])]
        notes.append(f"{orphans.size:,} nodes lost their last parent and are roots now, such as {str(example)!r}")
    return Split(
        list(zip(names.take(child[~held]), names.take(parent[~held]), strict=True)),
        list(zip(names.take(child[held]), names.take(parent[held]), strict=True)),
        names.take(alone),
        tuple(notes),
    )


def _tsv(rows: Sequence[tuple[Hashable, ...]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
