"""split: hold some of a hierarchy back, to see later whether an embedding of the rest knows where it belongs."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import is_number, require_whole
from ..errors import InputError
from ..hierarchy import Hierarchy
from ..io.together import write_together
from ..types import Ints, Mask

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
        Nodes to train on that are in no pair of `train`; :meth:`hierarchy` has them.
    notes
        Sentences for a person.
    validation
        Pairs held out to choose by, such as a threshold; empty unless asked for.
    """

    train: Pairs
    held_out: Pairs
    alone: list[Hashable]
    notes: tuple[str, ...] = ()
    validation: Pairs = field(default_factory=list)

    def __repr__(self) -> str:
        validation = f"{len(self.validation):,} to validate, " if self.validation else ""
        return f"<Split: {len(self.train):,} pairs to train on, {validation}{len(self.held_out):,} held out>"

    def hierarchy(self) -> Hierarchy:
        """What to train on, with every node: ``treeball.fit(parts.hierarchy())``."""
        from ..io.readers import read

        # A node without a parent is declared by a pair without one. What was split is never reduced: a pair that others
        # imply is one to train on.
        rows = [*self.train, *((name, None) for name in self.alone)]
        return read(rows, direction="child-parent", reduce="never")

    def save(self, folder: Path) -> tuple[Path, ...]:
        """Write train.tsv, heldout.tsv and, when there is one, validation.tsv; the folder is made if need be.

        :func:`treeball.read` reads them. Returns their paths, in this order.
        """
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write to the folder {str(folder)!r}: {error.strerror}; choose another") from None
        stale = folder / "validation.tsv"
        if not self.validation and stale.exists():
            raise InputError(
                f"{stale} is there from another split, and this one has no validation part: choose another folder, or "
                "remove the file"
            )
        # An empty parent is one of a table with a row for each node; other names stay clear of its conventions.
        header = ("node", "parent") if self.alone else ("child", "parent")
        tables = {"train.tsv": [header, *self.train, *((name, "") for name in self.alone)]}
        tables["heldout.tsv"] = [("child", "parent"), *self.held_out]
        if self.validation:
            tables["validation.tsv"] = [("child", "parent"), *self.validation]
        paths = tuple(folder / name for name in tables)
        with write_together(*paths) as temporaries:
            for temporary, rows in zip(temporaries, tables.values(), strict=True):
                temporary.write_bytes(_tsv(rows))
        return paths


def split(
    source: Any,
    *,
    leaves: float | None = None,
    edges: float | None = None,
    closure: float | None = None,
    validation: float | None = None,
    keep: float | None = None,
    seed: int = 0,
) -> Split:
    """Hold out a share of the leaves, of the edges or of the closure of a hierarchy; give one of the three.

    The same seed and share hold out the same, whatever `validation` and `keep` are; the same `validation` as well gives
    the same validation part for every `keep`, and a smaller `keep` trains on some of the pairs of a larger one.

    Parameters
    ----------
    source
        A :class:`Hierarchy` or anything :func:`treeball.read` takes.
    leaves
        Share of the leaves: they are missing from the training part altogether, for :func:`treeball.insert` to place.
    edges
        Share of the edges; all nodes stay. One that loses its last parent becomes a root: an orphan.
    closure
        Share of the pairs (node, ancestor) that are no basic edges, up to 1. Basic are the edges that no others imply:
        they are always trained on, as in published link prediction, and so are the other pairs of the closure.
    validation
        Share of the same leaves, edges or pairs, drawn from those that are not held out, for a part of its own to
        choose by.
    keep
        For `closure`: share of the pairs that are no basic edges to train on, 0 for the basic edges alone. By default
        all that are held out by neither `closure` nor `validation`.
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
    _check_shares(what, share, validation, keep)
    require_whole("seed", seed, 0)
    hierarchy = read(source)
    child, parent = hierarchy.real_edges()
    rng = np.random.default_rng(seed)
    if what == "leaves":
        leaf = np.unique(child[np.diff(hierarchy.child_ptr)[child] == 0])
        drawn = _draw(leaf, share, validation, keep, rng, what)[:2]
        test, chosen = (np.isin(child, part) for part in drawn)
        kept = np.setdiff1d(hierarchy.real_nodes(), np.concatenate(drawn))
        return _made(hierarchy, child, parent, test, chosen, ~(test | chosen), kept)
    population = np.arange(child.size)
    if what == "closure":
        child, parent, basic = _closure(hierarchy)
        population, what = np.flatnonzero(~basic), "pairs of the closure that are no basic edges"
    test, chosen, unused = (_mask(child.size, part) for part in _draw(population, share, validation, keep, rng, what))
    return _made(hierarchy, child, parent, test, chosen, ~(test | chosen | unused), hierarchy.real_nodes())


def _check_shares(what: str, share: float, validation: float | None, keep: float | None) -> None:
    """Refuse what is no share, and shares that are more than there is."""
    whole = what == "closure"  # there the basic edges are left to train on
    for name, value in ((what, share), ("validation", validation)):
        if value is not None and not (is_number(value) and (0.0 < value < 1.0 or (whole and value == 1.0))):
            most = "and at most 1" if whole else "and below 1"
            raise InputError(f"the share of {name} to hold out must be above 0 {most}, not {value!r}")
    if keep is not None and not whole:
        raise InputError(
            "keep is the share of closure pairs to train on: give it together with closure, or leave it out"
        )
    if keep is not None and not (is_number(keep) and 0.0 <= keep <= 1.0):
        raise InputError(f"keep, the share of closure pairs to train on, must be from 0 to 1, not {keep!r}")
    total = share + (validation or 0.0) + (keep or 0.0)
    if total > 1.0 + 1e-9 or (not whole and total >= 1.0):
        shares = {what: share, "validation": validation, "keep": keep}
        listed = ", ".join(f"{name} {value:g}" for name, value in shares.items() if value is not None)
        raise InputError(
            f"the shares {listed} are {total:g} together: choose smaller ones, that leave some to train on"
        )


def _draw(
    population: Any, share: float, validation: float | None, keep: float | None, rng: np.random.Generator, what: str
) -> tuple[Ints, Ints, Ints]:
    """Disjoint parts of the population: held out, for validation, and unused; what is left is trained on."""
    size = population.size
    counts = [round(part * size) for part in (share, validation or 0.0)]
    for part, count in zip((share, validation), counts, strict=True):
        if part is not None and not (0 < count < size or (count == size and part == 1.0)):
            raise InputError(
                f"{part:g} of the {size:,} {what} is {count:,}: choose a share that holds out and keeps some"
            )
    if keep is None and sum(counts) >= size and share + (validation or 0.0) < 1.0:
        raise InputError(f"none of the {size:,} {what} is left to train on: choose a share that keeps some")
    # What is held out is drawn first, so that no other share changes it.
    test = rng.choice(population, counts[0], replace=False)
    rest = rng.permutation(np.setdiff1d(population, test))
    trained = size if keep is None else round(keep * size)
    return test, rest[: counts[1]], rest[counts[1] + trained :]


def _mask(size: int, places: Ints) -> Mask:
    mask = np.zeros(size, np.bool_)
    mask[places] = True
    return mask


def _closure(hierarchy: Hierarchy) -> tuple[Any, Any, Any]:
    """All pairs (node, ancestor), and which of them are edges that no others imply."""
    pointers, ancestor = hierarchy.ancestors()
    node = np.repeat(np.arange(hierarchy.n_nodes), np.diff(pointers))
    real = ancestor != (-1 if hierarchy.virtual_root is None else hierarchy.virtual_root)
    node, ancestor = node[real], ancestor[real]
    return node, ancestor, hierarchy.transitive_reduction().is_parent(ancestor, node)


def _made(hierarchy: Hierarchy, child: Any, parent: Any, test: Mask, validation: Mask, train: Mask, kept: Any) -> Split:
    names = hierarchy.names
    alone = np.setdiff1d(kept, np.concatenate([child[train], parent[train]]))
    tops_before = np.setdiff1d(hierarchy.real_nodes(), child)
    orphans = np.setdiff1d(np.setdiff1d(kept, child[train]), tops_before)
    notes = []
    if orphans.size:
        held = child[test | validation]
        notes.append(
            f"{orphans.size:,} nodes lost their last parent and hang from nothing now, such as "
            f"{str(names[int(orphans[0])])!r}: nothing in training says where they belong, so a rank near "
            f"{kept.size // 2:,}, half the nodes, is all that any method can show for {np.isin(held, orphans).sum():,} "
            f"of the {held.size:,} pairs; hold out leaves, for insert to place, or pairs of the closure instead"
        )
    found = [
        list(zip(names.take(child[part]), names.take(parent[part]), strict=True)) for part in (train, test, validation)
    ]
    return Split(found[0], found[1], names.take(alone), tuple(notes), found[2])


def _tsv(rows: Sequence[tuple[Hashable, ...]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
