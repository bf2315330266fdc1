"""insert: places for new nodes in an embedding whose other vectors stay byte for byte as they are.

A new node settles around its parent at a place where the parent is its nearest node and where it is the nearest node of
nobody else (`engine.cpu.settle_new`), by the rule of the construction: edges grow outwards, tall branches have short
ones. Where there is no such place, float64 or the room around the parent has come to its end, and the report names the
node. Removing, renaming and hanging elsewhere are of the same kind: only the nodes concerned change.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..embedding import Embedding
from ..engine.cpu import box_tree, placement
from ..engine.cpu.settle_new import settle_new
from ..errors import InputError
from ..hierarchy import Hierarchy
from ..hierarchy._edit import Edit, add_edges, remove_nodes, rename_nodes, reparent_nodes
from ..io.readers.edges import NewEdges, read_edges
from ..io.readers.settings import ReadSettings
from ..limits import PLACED_RADIUS, SETTLE_RADIUS
from ..types import Floats, Ints, Mask
from ._heal import heal
from ._insert_check import factors_of, fell_ill_because_of, parent_not_nearest
from .heal_tree import GROWTH, LONGEST, MARGIN

__all__ = ["Insertion", "apply_edit", "insert"]


# Budget, growth and margin as in healing; and what float64 still tells apart, for nodes below the outermost ones.
ATTEMPTS = np.array([(SETTLE_RADIUS, GROWTH, MARGIN), (PLACED_RADIUS, 1.003, 1.002)])
DIRECTIONS = 1024
# The new nodes of a batch are compared with each other one by one; then they join the trees.
BATCH = 4096


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

    def __repr__(self) -> str:
        return f"<Insertion: {self.note}>"

    @property
    def parent_nearest(self) -> int:
        """How many of the nodes placed have a parent as their nearest node."""
        return len(self.placed) - len(self.ill)

    @property
    def note(self) -> str:
        """One sentence for the log."""
        parts = []
        if self.placed:
            parts.append(f"placed {len(self.placed):,} nodes, {self.parent_nearest:,} with their parent nearest")
            parts.append(f"{len(self.fell_ill):,} other nodes fell ill")
        if self.removed:
            parts.append(f"removed {self.removed:,} nodes")
        if self.healed_by_moving:
            parts.append(f"healing moved {len(self.healed_by_moving):,} other nodes")
        return "; ".join(parts) or "renamed nodes"

    def to_dict(self) -> dict[str, Any]:
        """The facts, for ``treeball insert --json``."""
        return {
            "nodes": len(self.embedding),
            "placed": len(self.placed),
            "parent_nearest": self.parent_nearest,
            "ill": [str(name) for name in self.ill],
            "without_place": [str(name) for name in self.without_place],
            "fell_ill": [str(name) for name in self.fell_ill],
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
    heal_ill: bool = False,
    threads: int = 0,
) -> Insertion:
    """Add nodes to an embedding, remove, rename or move some; all other vectors stay byte for byte as they are.

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
    heal_ill
        Heal the embedding if a node is ill that was placed or that fell ill for it: other nodes may move, see
        :func:`treeball.heal`.
    threads
        0 uses all cores.
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
        new = read_edges(edges, reading)
        _require_same_naming(embedding, new)
        edit = add_edges(edit, new.pairs, new.described)
    if edges is None and not (rename or given or reparent):
        raise InputError("there is nothing to do: give new edges, or nodes to remove, rename or reparent")
    if edit.hierarchy is embedding.hierarchy:
        return Insertion(embedding, placed=[], ill=[], without_place=[], fell_ill=[], healed_by_moving=[])
    return apply_edit(embedding, edit, heal_ill=heal_ill, threads=threads)


def apply_edit(embedding: Embedding, edit: Edit, *, heal_ill: bool = False, threads: int = 0) -> Insertion:
    """Give an embedding the hierarchy of an edit: loose nodes get places, the vectors of all others stay."""
    _require_fit_to_insert(embedding, heal_ill)
    insertion = _placed(embedding, edit, threads)
    if heal_ill and (insertion.fell_ill or insertion.ill):
        insertion = _healed(insertion, edit.loose, threads)
    made = insertion.embedding
    # The scores of the provenance are those of another hierarchy.
    record = embedding.provenance.without_scores().with_log(insertion.note, insertion=insertion.to_dict())
    evaluation = made.evaluate(embedding.objective, threads=threads)
    made.quick_reach()  # so that it is saved
    return replace(insertion, embedding=made.with_provenance(record.with_scores(evaluation)))


def _require_fit_to_insert(embedding: Embedding, heal_ill: bool) -> None:
    embedding.space.require_hyperbolic("insert")
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


def _placed(embedding: Embedding, edit: Edit, threads: int) -> Insertion:
    hierarchy, loose = edit.hierarchy, edit.loose
    ball = embedding.ball()
    stays = edit.origin >= 0
    points = np.zeros((hierarchy.n_nodes, embedding.dim))
    points[stays] = ball[edit.origin[stays]]
    movers, found = _settle(hierarchy, points, loose)
    vectors = np.empty((hierarchy.n_nodes, embedding.vectors.shape[1]))
    vectors[stays] = embedding.vectors[edit.origin[stays]]
    vectors[loose] = embedding.space.from_ball(points[loose])
    made = Embedding(vectors, hierarchy, embedding.geometry, embedding.provenance)
    names = hierarchy.names
    return Insertion(
        embedding=made,
        placed=names.take(np.flatnonzero(loose)),
        ill=names.take(parent_not_nearest(made, loose, threads)),
        without_place=names.take(np.sort(movers[~found])),
        fell_ill=names.take(fell_ill_because_of(made, loose, threads)),
        healed_by_moving=[],
        removed=len(embedding) - int(stays.sum()),
    )


def _healed(insertion: Insertion, loose: Mask, threads: int) -> Insertion:
    before = insertion.embedding
    given = before.ball()
    healing = heal(_with_room(before, given, insertion, threads), threads=threads)
    made = healing.embedding
    moved = np.flatnonzero((made.vectors != given).any(axis=1) & ~loose)
    names = made.hierarchy.names
    ill = set(names.take(np.unique(healing.after.illness.node)))
    return replace(
        insertion,
        embedding=made,
        ill=names.take(parent_not_nearest(made, loose, threads)),
        without_place=[name for name in insertion.without_place if name in ill],
        fell_ill=[name for name in insertion.fell_ill if name in ill],
        healed_by_moving=names.take(moved),
    )


def _with_room(embedding: Embedding, points: Floats, insertion: Insertion, threads: int) -> Embedding:
    """The embedding in the ball; around full nodes all leaves settle anew, on longer edges, if fewer are ill then."""
    hierarchy = embedding.hierarchy
    plain = Embedding(points, hierarchy, "poincare", embedding.provenance)
    if not insertion.without_place:
        return plain
    parent, children = hierarchy.primary_parent, np.diff(hierarchy.child_ptr)
    full = np.zeros(hierarchy.n_nodes, np.bool_)
    full[parent[hierarchy.names.index_of_many(insertion.without_place)]] = True
    leaves = (children == 0) & (parent >= 0) & full[np.maximum(parent, 0)]
    changed = np.array(points)
    _settle(hierarchy, changed, leaves)
    roomy = Embedding(changed, hierarchy, "poincare", embedding.provenance)
    ill = [len(one.evaluate("parents", sample=0, threads=threads).illness) for one in (plain, roomy)]
    return roomy if ill[1] < ill[0] else plain


# ---- finding places ----


def _settle(hierarchy: Hierarchy, points: Floats, loose: Mask) -> tuple[Ints, Mask]:
    """Give the `loose` nodes places, changing `points`; -> the nodes in their order, and which found a free place."""
    parent = hierarchy.primary_parent
    height = placement.heights(hierarchy.topological_order, parent)
    # Inner nodes before leaves, level by level, the tallest first: they have the shortest edges and need the most room.
    movers = np.flatnonzero(loose)
    # In the tree of primary parents: a DAG may have a shorter way to the root.
    depth = placement.depths(hierarchy.topological_order, parent)
    movers = movers[np.lexsort((-height[movers], depth[movers], height[movers] == 0))]
    found = np.zeros(movers.size, np.bool_)
    directions = _directions(points.shape[1])
    settled = ~loose
    for first in range(0, movers.size, BATCH):
        batch = movers[first : first + BATCH]
        nodes = np.flatnonzero(settled)
        seat = np.full(points.shape[0], -1)
        seat[nodes] = np.arange(nodes.size)
        # What a later node could make ill needs some room; the smaller margin will do for float64.
        near, guarded = factors_of(points, nodes, parent[nodes, None], ATTEMPTS[-1, 2])
        at = np.ascontiguousarray(points[nodes])
        settle_new(
            batch, parent, height, seat, box_tree.build(at, near), box_tree.build(at, guarded), ATTEMPTS, LONGEST,
            directions, points, found[first : first + BATCH],
        )  # fmt: skip
        settled[batch] = True
    return movers, found


def _directions(dim: int) -> Floats:
    """Unit vectors (k, dim): even turns in the plane, else drawn once and for all."""
    if dim == 2:
        turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(DIRECTIONS)
        return np.stack([np.cos(turn), np.sin(turn)], axis=1)
    drawn = np.random.default_rng(0).normal(size=(DIRECTIONS, dim))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))
