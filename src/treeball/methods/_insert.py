"""insert: places for new nodes in an embedding whose other vectors stay byte for byte as they are.

A new node settles around its parent at a place where the parent is its nearest node and where it is the nearest node of
nobody else (`places`), by the rule of the construction: edges grow outwards, tall branches have short ones. Where there
is no such place, the parent is full: then some old nodes move (`make_room`), as few as will do, and the report names
them. Removing, renaming and hanging elsewhere are of the same kind: only the nodes concerned change.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..embedding import Embedding
from ..errors import InputError
from ..hierarchy._edit import Edit, add_edges, remove_nodes, rename_nodes, reparent_nodes
from ..io.readers.edges import NewEdges, read_edges
from ..io.readers.settings import ReadSettings
from ..types import Floats, Ints, Mask
from ..words import count
from ._fit import HEAL_UP_TO_NODES, fit
from ._heal import heal
from ._insert_check import fell_ill_because_of, ill_among
from ._scores_after import renamed, scores_before
from .construct import GOOD_ENOUGH
from .make_room import make_room as make_room_for
from .places import TIGHT, settle
from .progress import WorkProgress
from .settings import ConstructSettings
from .settled import Settled

__all__ = ["Insertion", "apply_edit", "insert"]

# Where room is short in the end, so many ill pairs are healed, in so many rounds; of more the whole is made anew.
HEALED_ILL, HEALING_ROUNDS = 64, 5


@dataclass(frozen=True, repr=False)
class Insertion:
    """What inserting did.

    Attributes
    ----------
    embedding : the new embedding; its provenance says what was done, and has the scores after it
    placed : names of the nodes that were given a place: new ones, and those of subtrees that hang elsewhere now
    ill : names of those that have another node as near as their parents, or nearer
    without_place : names of those for which there was no free place, which may be why others are ill
    fell_ill : names of other nodes that were well, and are ill because of those placed
    moved_for_room : names of other nodes that moved because there was no room beside them
    full : names of the nodes that had no room left for their new children, for whose sake they moved
    healed_by_moving : names of other nodes that healing moved; the vectors of all others are byte for byte the old ones
    removed : how many nodes were removed
    """

    embedding: Embedding
    placed: list[Hashable]
    ill: list[Hashable]
    without_place: list[Hashable]
    fell_ill: list[Hashable]
    healed_by_moving: list[Hashable]
    removed: int = 0
    moved_for_room: list[Hashable] = field(default_factory=list)
    full: list[Hashable] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Insertion: {self.note}>"

    @property
    def parent_nearest(self) -> int:
        """How many of the nodes placed have their parents nearest."""
        return len(self.placed) - len(self.ill)

    @property
    def note(self) -> str:
        """One sentence for the log."""
        parts = []
        if self.placed:
            parts.append(f"placed {len(self.placed):,} nodes, {self.parent_nearest:,} with their parent nearest")
            parts.append(f"{len(self.fell_ill):,} other nodes fell ill")
        if self.moved_for_room:
            parts.append(f"moved {count(len(self.moved_for_room), 'other node')} to make room below {self._full}")
        if self.removed:
            parts.append(f"removed {self.removed:,} nodes")
        if self.healed_by_moving:
            parts.append(f"healing moved {len(self.healed_by_moving):,} other nodes")
        return "; ".join(parts) or "renamed nodes"

    @property
    def _full(self) -> str:
        return repr(str(self.full[0])) if len(self.full) == 1 else f"{len(self.full):,} full nodes"

    def to_dict(self) -> dict[str, Any]:
        """The facts, for ``treeball insert --json``."""
        return {
            "nodes": len(self.embedding),
            "placed": len(self.placed),
            "parent_nearest": self.parent_nearest,
            "ill": [str(name) for name in self.ill],
            "without_place": [str(name) for name in self.without_place],
            "fell_ill": [str(name) for name in self.fell_ill],
            "moved_for_room": [str(name) for name in self.moved_for_room],
            "full": [str(name) for name in self.full],
            "healed_by_moving": [str(name) for name in self.healed_by_moving],
            "removed": self.removed,
        }


def insert(
    embedding: Embedding,
    edges: Any = None,
    *,
    remove: Iterable[Hashable] = (),
    rename: Mapping[Hashable, Hashable] | None = None,
    reparent: Mapping[Hashable, Hashable] | None = None,
    reading: ReadSettings | None = None,
    make_room: bool = True,
    heal_ill: bool = False,
    threads: int = 0,
    progress: bool = False,
) -> Insertion:
    """Add nodes to an embedding, remove, rename or move some; all other vectors stay byte for byte as they are.

    Where a node is full, so that a new child of it has no place, some old nodes move, as few as will do: leaves next to
    it, else what is below it, at last the whole, and the insertion names them. That is for trees made for the objective
    parents in which all nodes are well, or as good as all; in others nobody moves, but for healing.

    Parameters
    ----------
    embedding
        Any embedding in hyperbolic space.
    edges
        New edges: pairs (child, parent), a file, or anything :func:`treeball.read` takes. Parents are nodes of the
        embedding or new themselves, by their ids; where no labels come with them, labels do as well. Edges that it has
        already change nothing. What is done, is done in this order: rename, remove, reparent, insert.
    remove
        Nodes to remove with all that hangs below them and nowhere else.
    rename
        New names by old ones: an id gets another id, a label another label.
    reparent
        New parents by nodes, which take their subtrees along.
    reading
        How to read a file of edges; child before parent where neither this nor a header says otherwise.
    make_room
        Move old nodes where there is no room for new ones; without it none moves, and those without a place are named.
    heal_ill
        Heal the embedding if a node is ill that was placed or that fell ill for it: other nodes may move, see
        :func:`treeball.heal`.
    threads
        0 uses all cores.
    progress
        Show on standard error what is being done, if it takes more than a moment.
    """
    _require_fit_to_insert(embedding, heal_ill)
    edit = Edit.of(embedding.hierarchy)
    if rename:
        edit = rename_nodes(edit, rename)
    given = list(remove)
    if given:
        edit = remove_nodes(edit, given)
    if reparent:
        edit = reparent_nodes(edit, reparent)
    if edges is not None:
        new = read_edges(edges, reading, embedding.names)
        _require_same_naming(embedding, new)
        edit = add_edges(edit, new.pairs, new.described)
    if edges is None and not (rename or given or reparent):
        raise InputError("there is nothing to do: give new edges, or nodes to remove, rename or reparent")
    if edit.hierarchy is embedding.hierarchy:
        return Insertion(embedding, placed=[], ill=[], without_place=[], fell_ill=[], healed_by_moving=[])
    return apply_edit(embedding, edit, make_room=make_room, heal_ill=heal_ill, threads=threads, progress=progress)


def apply_edit(
    embedding: Embedding,
    edit: Edit,
    *,
    make_room: bool = True,
    heal_ill: bool = False,
    threads: int = 0,
    progress: bool = False,
) -> Insertion:
    """Give an embedding the hierarchy of an edit: loose nodes get places, the vectors of all others stay."""
    _require_fit_to_insert(embedding, heal_ill)
    made = renamed(embedding, edit)
    if made is not None and embedding.provenance.scores is not None:
        insertion = Insertion(made, placed=[], ill=[], without_place=[], fell_ill=[], healed_by_moving=[])
        record = embedding.provenance.with_log(insertion.note, insertion=insertion.to_dict())
        return replace(insertion, embedding=made.with_provenance(record))
    with WorkProgress(silent=not progress) as work:
        insertion = _placed(embedding, edit, make_room, threads, work)
        if heal_ill and (insertion.fell_ill or insertion.ill):
            work.begin("healing")
            insertion = _healed(insertion, edit.loose, threads, work)
        made = insertion.embedding
        work.begin("evaluating")
        evaluation = made.evaluate(embedding.objective, threads=threads)
        made.quick_reach()  # so that it is saved
    # The scores of the provenance are those of another hierarchy.
    # Of those that moved the record has the number: a list may be as long as the model.
    facts = {**insertion.to_dict(), "moved_for_room": len(insertion.moved_for_room)}
    remark, kept = scores_before(embedding.provenance.scores, evaluation)
    record = embedding.provenance.without_scores().with_log(insertion.note + remark, insertion=facts, **kept)
    return replace(insertion, embedding=made.with_provenance(record.with_scores(evaluation)))


def _require_fit_to_insert(embedding: Embedding, heal_ill: bool) -> None:
    embedding.space.require_hyperbolic("insert")
    if embedding.keeps_distances:
        raise InputError(
            "insert places new nodes next to their parents, not to scale: add them to the hierarchy and fit it again "
            "with --objective distances"
        )
    embedding.require_one_term("insert")
    if heal_ill and embedding.objective == "ancestors":
        raise InputError(
            "insert does not heal an embedding made for the objective ancestors: insert without it, and heal the "
            "result with treeball heal"
        )


def _require_same_naming(embedding: Embedding, new: NewEdges) -> None:
    """Refuse a table of ids for a model whose nodes are named by the labels: every row would be a new node."""
    names, described = embedding.names, new.described
    if described is None or not described.has_labels:
        return
    ids = {name for pair in new.pairs for name in pair}
    if any(names.from_text(name) in names if isinstance(name, str) else name in names for name in ids):
        return
    shared = [label for label in described.labels if label is not None and label in names]
    if shared:
        raise InputError(
            f"the new edges name nodes by ids ({next(iter(ids))!r}, say) and the model by labels ({shared[0]!r}): read "
            "them with --names label, names='label' in Python, or make the model anew"
        )


def _placed(embedding: Embedding, edit: Edit, may_move: bool, threads: int, work: WorkProgress) -> Insertion:
    hierarchy, loose = edit.hierarchy, edit.loose
    names, parent = hierarchy.names, hierarchy.primary_parent
    stays = edit.origin >= 0
    points = np.zeros((hierarchy.n_nodes, embedding.dim))
    points[stays] = embedding.ball()[edit.origin[stays]]
    work.begin("placing nodes", int(loose.sum()))
    settled = Settled(points, parent, ~loose, TIGHT)
    lost = settle(hierarchy, points, settled, loose, threads, work.advance)
    full = np.unique(parent[lost])
    moved = np.zeros(hierarchy.n_nodes, np.bool_)
    if lost.size and may_move and _is_well(embedding, threads):
        work.begin(f"making room below {count(full.size, 'full node')}")
        before = points.copy()
        lost = _with_room(edit, points, settled, lost, threads, work)
        moved = (points != before).any(axis=1) & ~loose
    vectors = np.empty((hierarchy.n_nodes, embedding.vectors.shape[1]))
    vectors[stays] = embedding.vectors[edit.origin[stays]]
    vectors[loose | moved] = embedding.space.from_ball(points[loose | moved])
    made = Embedding(vectors, hierarchy, embedding.geometry, embedding.provenance)
    work.begin("checking")
    made.evaluate(threads=threads)  # of what is not too large these are all ranks, which the next questions need
    return Insertion(
        embedding=made,
        placed=names.take(np.flatnonzero(loose)),
        ill=names.take(ill_among(made, loose, threads)),
        without_place=names.take(np.sort(lost)),
        fell_ill=names.take(fell_ill_because_of(made, loose | moved, threads)),
        healed_by_moving=[],
        removed=len(embedding) - int(stays.sum()),
        moved_for_room=names.take(np.flatnonzero(moved)),
        full=names.take(full) if moved.any() else [],
    )


def _is_well(embedding: Embedding, threads: int) -> bool:
    """Whether there is an order to keep up by moving nodes: that of a tree whose nodes have their parents nearest."""
    if not embedding.hierarchy.is_tree or embedding.objective != "parents":
        return False
    scores = embedding.evaluate("parents", threads=threads)
    return len(scores.illness) <= GOOD_ENOUGH * max(1, scores.ranking.sources.size)


def _with_room(edit: Edit, points: Floats, settled: Settled, lost: Ints, threads: int, work: WorkProgress) -> Ints:
    """Make room for the `lost` nodes, changing `points`; -> those without a free place even so."""
    hierarchy = edit.hierarchy
    before = points.copy()
    left = make_room_for(hierarchy, points, settled, lost, threads, work.advance)
    if not left.size:
        return left
    # No part has room enough: whichever has fewer ill nodes, and none that was well.
    kept = Embedding(before, hierarchy)
    ill_before = ill = kept.evaluate("parents", sample=0, threads=threads).illness.node
    points[:] = before
    for tried in _that_move_more(kept, ill.size, threads, work):
        found = tried.evaluate("parents", sample=0, threads=threads).illness.node
        if found.size < ill.size and (edit.loose[found] | np.isin(found, ill_before)).all():
            points[:], ill = tried.ball(), found
        if not ill.size:
            break
    return np.intersect1d(lost, ill)


def _that_move_more(kept: Embedding, ill: int, threads: int, work: WorkProgress) -> Iterator[Embedding]:
    """The embedding healed, where that does not take long, and the whole as `fit` constructs it."""
    if ill <= HEALED_ILL and len(kept) <= HEAL_UP_TO_NODES:
        work.begin("healing")
        yield heal(kept, rounds=HEALING_ROUNDS, threads=threads).embedding
    work.begin("constructing the whole anew")
    yield fit(kept.hierarchy, ConstructSettings(method="construct", dim=kept.dim, heal=True, threads=threads))


def _healed(insertion: Insertion, loose: Mask, threads: int, work: WorkProgress) -> Insertion:
    before = insertion.embedding
    given = before.ball()
    healing = heal(_with_longer_edges(before, given, insertion, threads, work), threads=threads)
    made = healing.embedding
    moved = np.flatnonzero((made.vectors != given).any(axis=1) & ~loose)
    names = made.hierarchy.names
    ill = set(names.take(np.unique(healing.after.illness.node)))
    return replace(
        insertion,
        embedding=made,
        ill=names.take(ill_among(made, loose, threads)),
        without_place=[name for name in insertion.without_place if name in ill],
        fell_ill=[name for name in insertion.fell_ill if name in ill],
        healed_by_moving=names.take(moved),
    )


def _with_longer_edges(
    embedding: Embedding, points: Floats, insertion: Insertion, threads: int, work: WorkProgress
) -> Embedding:
    """The embedding in the ball; around full nodes leaves settle anew, on longer edges, if fewer are ill then."""
    hierarchy = embedding.hierarchy
    plain = Embedding(points, hierarchy, "poincare", embedding.provenance)
    if not insertion.without_place:
        return plain
    changed = np.array(points)
    settled = Settled(changed, hierarchy.primary_parent, np.ones(hierarchy.n_nodes, np.bool_), TIGHT)
    lost = hierarchy.names.index_of_many(insertion.without_place).astype(np.int64)
    make_room_for(hierarchy, changed, settled, lost, threads, work.advance, leaves_only=True)
    roomy = Embedding(changed, hierarchy, "poincare", embedding.provenance)
    ill = [len(one.evaluate("parents", sample=0, threads=threads).illness) for one in (plain, roomy)]
    return roomy if ill[1] < ill[0] else plain
