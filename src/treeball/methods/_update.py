"""update: a model of this week from that of last week and a whole export, moving only what has changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..embedding import Embedding
from ..errors import InputError
from ..hierarchy import Hierarchy
from ..hierarchy._next_version import NextVersion, next_version
from ..io.readers import read
from ._insert import Insertion, apply_edit

__all__ = ["Update", "plan_update", "update"]

# A file in which more than this share of the nodes is missing is hardly a whole export.
_LEAST_KEPT = 0.5


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
    force: bool = False,
    make_room: bool = True,
    heal_ill: bool = False,
    threads: int = 0,
    progress: bool = False,
) -> Update:
    """Bring an embedding to the next version of its hierarchy; vectors of what has not changed stay byte for byte.

    Nodes are compared by their names, ids where there are ids. What is new gets a place, what hangs elsewhere goes
    there with all below it, what is missing is removed, and labels are those of the new version.

    Parameters
    ----------
    embedding
        Any embedding in hyperbolic space.
    version
        The whole new version: a hierarchy, a file, or anything :func:`treeball.read` takes.
    force
        Go on although more than half of the nodes would be removed.
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
    changes = plan_update(embedding, version, force=force)
    if not changes:
        return Update(changes, Insertion(embedding, [], [], [], [], []))
    insertion = apply_edit(
        embedding, changes.edit, make_room=make_room, heal_ill=heal_ill, threads=threads, progress=progress
    )
    return Update(changes, insertion)


def plan_update(embedding: Embedding, version: Any, *, force: bool = False) -> NextVersion:
    """What :func:`update` would change."""
    hierarchy = version if isinstance(version, Hierarchy) else read(version)
    changes = next_version(embedding.hierarchy, hierarchy)
    if changes.kept < _LEAST_KEPT * len(embedding) and not force:
        raise InputError(
            f"only {changes.kept:,} of the {len(embedding):,} nodes of the model are in the new version: give a whole "
            "export, with nodes named as in the model (names id or label), or force it"
        )
    return changes
