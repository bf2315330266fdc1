"""update: a model of this week from that of last week and a whole export, moving only what has changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..embedding import Embedding
from ..hierarchy import Hierarchy
from ..hierarchy._next_version import NextVersion, next_version
from ..hierarchy._update_limits import UpdateLimits
from ..io.readers import read
from ..io.readers.duplicates import settings_for_update
from ..io.readers.settings import OnDuplicate, ReadSettings
from ._insert import Insertion, apply_edit

__all__ = ["Update", "plan_update", "require_within", "update"]

_SHOWN = 10


@dataclass(frozen=True, repr=False)
class Update:
    """What an update did.

    Attributes
    ----------
    embedding : the new embedding
    changes : what the new version adds, removes, hangs elsewhere and calls otherwise
    insertion : where the nodes concerned went, and who is ill
    """

    changes: NextVersion
    insertion: Insertion

    @property
    def embedding(self) -> Embedding:
        """The new embedding."""
        return self.insertion.embedding

    def __repr__(self) -> str:
        return f"<Update: {self.insertion.note}>"

    def to_dict(self) -> dict[str, Any]:
        """The facts, for ``treeball update --json``."""
        return {"changes": self.changes.to_dict(), **self.insertion.to_dict()}


def update(
    embedding: Embedding,
    version: Any,
    *,
    allow_new_roots: bool = False,
    max_removed: float | None = None,
    max_moved: float | None = None,
    on_duplicate: OnDuplicate = "error",
    force: bool = False,
    make_room: bool = True,
    heal_ill: bool = False,
    threads: int = 0,
    progress: bool = False,
) -> Update:
    """Bring an embedding to the next version of its hierarchy; vectors of what has not changed stay byte for byte.

    Nodes are compared by their names, ids where there are ids. What is new gets a place, what hangs elsewhere goes
    there with all below it, what is missing is removed, and labels are those of the new version. A node to which the
    new version gives no label keeps its label.

    Parameters
    ----------
    embedding
        Any embedding in hyperbolic space.
    version
        The whole new version: a hierarchy, a file, or anything :func:`treeball.read` takes.
    allow_new_roots
        Accept new nodes that have no parent, and parents that the new version does not define.
    max_removed, max_moved
        Largest share of the nodes, from 0 to 1, that may be removed, and that may get other parents; more is refused
        with InputError. By default 5 %, or 3 nodes if these are more, but never more than half.
    on_duplicate
        What to do with ids that several rows of a table give different parents or labels: refuse them ("error"), take
        the "first" or the "last" row, or keep "all" parents. Not asked of a hierarchy that is read already.
    force
        Set no limit to the nodes that are removed or moved.
    make_room
        Move old nodes where there is no room for new ones, as few as will do; see :func:`treeball.insert`.
    heal_ill
        Heal the embedding if a node is ill that was placed or that fell ill for it; see :func:`treeball.insert`.
    threads
        0 uses all cores.
    progress
        Show on standard error what is being done, if it takes more than a moment.

    Examples
    --------
    >>> import treeball
    >>> model = treeball.fit([("dog", "mammal"), ("cat", "mammal"), ("mammal", "animal"), ("owl", "animal")], dim=5)
    >>> made = treeball.update(model, [("dog", "mammal"), ("bat", "mammal"), ("mammal", "animal"), ("owl", "animal")])
    >>> made.changes.added, made.changes.removed
    (['bat'], ['cat'])
    """
    limits = UpdateLimits(allow_new_roots=allow_new_roots, max_removed=max_removed, max_moved=max_moved)
    changes = plan_update(embedding, version, limits.forced() if force else limits, on_duplicate)
    if not changes:
        return Update(changes, Insertion(embedding, [], [], [], [], []))
    insertion = apply_edit(
        embedding, changes.edit, make_room=make_room, heal_ill=heal_ill, threads=threads, progress=progress
    )
    return Update(changes, insertion)


def plan_update(
    embedding: Embedding, version: Any, limits: UpdateLimits, on_duplicate: OnDuplicate = "error"
) -> NextVersion:
    """What :func:`update` would change; InputError if that is more than the limits allow."""
    hierarchy = version
    if not isinstance(version, Hierarchy):
        hierarchy = read(version, settings_for_update(embedding.hierarchy, ReadSettings(), on_duplicate))
    changes = next_version(embedding.hierarchy, hierarchy, allow_new_roots=limits.allow_new_roots)
    require_within(changes, embedding.hierarchy, limits)
    return changes


def require_within(changes: NextVersion, before: Hierarchy, limits: UpdateLimits) -> None:
    """Refuse changes that are more than the limits allow."""

    def shown(what: str) -> list[str]:
        if what == "removed":
            return before.names.shown_as(changes.removed[:_SHOWN])
        return changes.edit.hierarchy.names.shown_as(changes.moved[:_SHOWN])

    limits.require(before.real_nodes().size, len(changes.removed), len(changes.moved), shown)
