"""Hierarchy: an immutable DAG of named nodes with edges child -> parent and exactly one root."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..engine.cpu import ancestry, graph, levels
from ..errors import InputError
from ..types import Codes, Mask, Objective, Pointers
from ._edges import checked_codes, checked_edges, checked_weights
from ._information import information_content
from ._statistics import Statistics, statistics_of
from .labels import Labels
from .names import Names

if TYPE_CHECKING:
    from .read_report import ReadReport

__all__ = ["Hierarchy", "Statistics"]

_Scalar = TypeVar("_Scalar", bound=np.generic)


class Hierarchy:
    """Immutable DAG of nodes with edges child -> parent; exactly one root (a virtual one joins several).

    Nodes are the codes 0..n-1. Make one with :meth:`from_codes` or :func:`treeball.read`. All arrays are
    read-only; those that are not needed to check the input are computed on first use and kept.

    Attributes
    ----------
    names
        Sequence of the names, ids where the input has ids; ``names[code]`` and ``names.index_of(name)``, and
        ``names.find(text)`` for what people say: an id, a label or a synonym.
    labels
        What people call the nodes, a sequence of text, None where there is no label.
    parent_ptr, parent_idx
        Parents of node i in the order given, ``parent_idx[parent_ptr[i]:parent_ptr[i+1]]``. int64 (n+1,) and int32
        (m,).
    parent_weight
        Weights of the edges, float64 (m,), aligned with ``parent_idx``; None when none were given.
    child_ptr, child_idx
        Children of node i in ascending order, int64 (n+1,) and int32 (m,).
    root, virtual_root
        Code of the root; ``virtual_root`` is the same code when it was added to join several, else None.
    topological_order
        int32 (n,): every parent before its children, breadth first.
    report
        What the reader understood and repaired, or None.
    """

    names: Names
    n_nodes: int
    n_edges: int
    parent_ptr: Pointers
    parent_idx: Codes
    parent_weight: NDArray[np.float64] | None
    child_ptr: Pointers
    child_idx: Codes
    root: int
    virtual_root: int | None
    is_tree: bool
    topological_order: Codes
    report: ReadReport | None

    def __init__(self, **attributes: Any) -> None:
        # cached_property writes to __dict__ too, so a __setattr__ that refuses leaves it working.
        for value in attributes.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self.__dict__.update(attributes)

    @classmethod
    def from_codes(
        cls,
        names: Any,
        child: ArrayLike,
        parent: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        labels: Iterable[str | None] | None = None,
        synonyms: Iterable[Iterable[str]] | None = None,
        virtual_root: int | None = None,
        report: ReadReport | None = None,
    ) -> Hierarchy:
        """Make a hierarchy from clean edges.

        Parameters
        ----------
        names
            Distinct names of the n nodes: any sequence of hashables, a pyarrow string array, or Names of another
            hierarchy, with their labels.
        child, parent
            Codes (m,) into ``names`` of the edges child -> parent.
        weights
            Finite weights (m,) of the edges.
        labels
            What people call the nodes, (n,), None where there is no label.
        synonyms
            What else the nodes are found by, other ids included: a list for each of the n nodes.
        virtual_root
            Code of the root when it was added to join several.
        report
            What the reader understood and repaired.

        Raises
        ------
        ValueError
            If the edges hold a self-loop, a repeat or a cycle, or leave more than one root.
        """
        names = Names.of(names)
        if labels is not None or synonyms is not None:
            names = names.described(labels, synonyms)
        names.require_distinct()
        edges = checked_edges(names, child, parent)
        n, m, root = len(names), edges.parent_idx.size, edges.root
        if virtual_root is not None and virtual_root != root:
            raise ValueError(f"the virtual root, node {virtual_root}, is not the root, node {root}")
        return cls(
            names=names,
            n_nodes=n,
            n_edges=m,
            parent_ptr=edges.parent_ptr,
            parent_idx=edges.parent_idx,
            parent_weight=None if weights is None else checked_weights(weights, m)[edges.order],
            child_ptr=edges.child_ptr,
            child_idx=edges.child_idx,
            root=root,
            virtual_root=None if virtual_root is None else root,
            is_tree=m == n - 1,
            topological_order=edges.topological_order,
            report=report,
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Hierarchy cannot be changed (tried to set {name!r})")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Hierarchy cannot be changed (tried to delete {name!r})")

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy is made from the edges again: unpickled arrays would be writable, and closures large.
        child, parent = self.edges()
        rebuild = partial(
            Hierarchy.from_codes,
            weights=self.parent_weight,
            virtual_root=self.virtual_root,
            report=self.report,
        )
        return rebuild, (self.names, child, parent)

    def __len__(self) -> int:
        return self.n_nodes

    @property
    def labels(self) -> Labels:
        """What people call the nodes, None where there is no label."""
        return self.names.labels

    def __repr__(self) -> str:
        shape = "tree" if self.is_tree else "DAG"
        root = "virtual root" if self.virtual_root is not None else f"root {self.names[self.root]!r}"
        return f"<Hierarchy: {shape} of {self.n_nodes:,} nodes, {self.n_edges:,} edges, {root}>"

    def described(
        self, labels: Iterable[str | None] | None = None, synonyms: Iterable[Iterable[str]] | None = None
    ) -> Hierarchy:
        """The same hierarchy with these labels (n,), None where there is none, and lists of synonyms (n,)."""
        names = self.names.described(labels, synonyms)
        return Hierarchy(**{name: vars(self)[name] for name in Hierarchy.__annotations__} | {"names": names})

    def edges(self) -> tuple[Codes, Codes]:
        """Codes (m,) of the children, ascending, and of their parents, aligned with ``parent_idx``."""
        children = np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.parent_ptr))
        return children, self.parent_idx

    def real_nodes(self) -> Codes:
        """Codes of all nodes but a virtual root, ascending."""
        nodes = np.arange(self.n_nodes, dtype=np.int32)
        return nodes if self.virtual_root is None else np.delete(nodes, self.virtual_root)

    def real_edges(self) -> tuple[Codes, Codes]:
        """Codes of the children, ascending, and of their parents, without the edges to a virtual root."""
        child, parent = self.edges()
        if self.virtual_root is None:
            return child, parent
        real = parent != self.virtual_root
        return child[real], parent[real]

    @overload
    def parents_of(self, node: int) -> Codes: ...
    @overload
    def parents_of(self, node: str) -> list[Hashable]: ...
    def parents_of(self, node: int | str) -> Codes | list[Hashable]:
        """Direct parents of one node in the order given: codes of a code, and names of a name that is text."""
        return self._neighbours(node, self.parent_ptr, self.parent_idx)

    @overload
    def children_of(self, node: int) -> Codes: ...
    @overload
    def children_of(self, node: str) -> list[Hashable]: ...
    def children_of(self, node: int | str) -> Codes | list[Hashable]:
        """Children of one node in ascending order: codes of a code, and names of a name that is text."""
        return self._neighbours(node, self.child_ptr, self.child_idx)

    def _neighbours(self, node: int | str, ptr: Pointers, idx: Codes) -> Codes | list[Hashable]:
        code = self.names.find(node) if isinstance(node, str) else range(self.n_nodes)[node]
        found = idx[ptr[code] : ptr[code + 1]]
        return self.names.take(found) if isinstance(node, str) else found

    @cached_property
    def primary_parent(self) -> Codes:
        """The parent of each node where one stands for all, int32 (n,), -1 for the root.

        It is the one with the most ancestors, which says the most about the node; of several such the first.
        """
        primary = np.full(self.n_nodes, -1, np.int32)
        child, parent = self.edges()
        if not self.is_tree:
            ancestors = np.diff(self._ancestor_pointers)
            order = np.lexsort((-ancestors[parent], child))  # stable: the order given decides between equals
            child, first = np.unique(child[order], return_index=True)
            parent = parent[order][first]
        primary[child] = parent
        return _frozen(primary)

    @property
    def depth(self) -> Codes:
        """Shortest distance from the root in edges, int32 (n,)."""
        return self._depth_and_level[0]

    @property
    def level(self) -> Codes:
        """Longest distance from the root in edges, int32 (n,): larger than that of every ancestor."""
        return self._depth_and_level[1]

    @cached_property
    def _depth_and_level(self) -> tuple[Codes, Codes]:
        depth, level = levels.depth_and_level(self.topological_order, self.parent_ptr, self.parent_idx)
        return _frozen(depth), _frozen(depth if self.is_tree else level)

    @cached_property
    def height(self) -> Codes:
        """Longest path down to a leaf in edges, int32 (n,)."""
        return _frozen(levels.height_above_leaves(self.topological_order, self.parent_ptr, self.parent_idx))

    @cached_property
    def information_content(self) -> NDArray[np.float64]:
        """How much a node says, by its descendants (Seco et al. 2004), float64 (n,): 1 for a leaf, 0 for a root."""
        return _frozen(information_content(self))

    @property
    def interval_in(self) -> Codes:
        """Preorder number in the tree of primary parents, int32 (n,)."""
        return self._intervals[0]

    @property
    def interval_out(self) -> Codes:
        """End of the subtree: x is in the subtree of a when ``in[a] <= in[x] < out[a]``, int32 (n,)."""
        return self._intervals[1]

    @cached_property
    def _intervals(self) -> tuple[Codes, Codes]:
        start, end = levels.euler_intervals(self.topological_order, self.primary_parent)
        return _frozen(start), _frozen(end)

    @cached_property
    def _fragment_top(self) -> Codes:
        return _frozen(levels.fragment_tops(self.topological_order, self.parent_ptr, self.parent_idx))

    @cached_property
    def _path_head_and_preorder(self) -> tuple[Codes, Codes]:
        head = levels.heavy_path_heads(self.topological_order, self.primary_parent, self.interval_in, self.interval_out)
        preorder = np.empty(self.n_nodes, np.int32)
        preorder[self.interval_in] = np.arange(self.n_nodes, dtype=np.int32)
        return _frozen(head), _frozen(preorder)

    def is_ancestor(self, ancestor: ArrayLike, node: ArrayLike) -> Mask:
        """Whether ``ancestor`` is a proper ancestor of ``node``, by any path; codes that broadcast."""
        above, below, shape = self._code_pairs(ancestor, node)
        start, end = self._intervals
        answer: Mask
        if self.is_tree:
            answer = (start[above] < start[below]) & (start[below] < end[above])
        else:
            answer = ancestry.is_ancestor(
                above, below, self.parent_ptr, self.parent_idx, self.level, self._fragment_top, start, end
            )
        return answer.reshape(shape)

    def is_parent(self, parent: ArrayLike, node: ArrayLike) -> Mask:
        """Whether ``parent`` is a direct parent of ``node``; codes that broadcast."""
        above, below, shape = self._code_pairs(parent, node)
        answer: Mask = ancestry.is_parent(above, below, self.parent_ptr, self.parent_idx)
        return answer.reshape(shape)

    def common_ancestor(self, a: ArrayLike, b: ArrayLike) -> Codes:
        """Nearest common ancestor-or-self of ``a`` and ``b``; codes that broadcast.

        On a DAG the one with the largest :attr:`level`, and of several such the smallest code.
        """
        left, right, shape = self._code_pairs(a, b)
        head, preorder = self._path_head_and_preorder
        answer: Codes = ancestry.common_ancestor(
            left,
            right,
            self.parent_ptr,
            self.parent_idx,
            self.level,
            self._fragment_top,
            self.primary_parent,
            head,
            self.interval_in,
            preorder,
        )
        return answer.reshape(shape)

    def _code_pairs(self, first: ArrayLike, second: ArrayLike) -> tuple[Codes, Codes, tuple[int, ...]]:
        pair = np.broadcast_arrays(np.asarray(first), np.asarray(second))
        left, right = (checked_codes(codes, self.n_nodes, "node") for codes in pair)
        return left, right, pair[0].shape

    def ancestors(self) -> tuple[Pointers, Codes]:
        """Transitive closure: pointers int64 (n+1,) and all proper ancestors of each node, sorted, int32."""
        return self._closure

    @cached_property
    def _closure(self) -> tuple[Pointers, Codes]:
        # The reduction has the same closure and fewer ways up, which keeps both passes linear in the output.
        few, pointers = self.transitive_reduction(), self._ancestor_pointers
        try:
            index = np.empty(int(pointers[-1]), np.int32)
        except MemoryError:
            raise InputError(
                f"the {pointers[-1]:,} pairs (node, ancestor) of this hierarchy do not fit into memory: "
                "use the objective 'parents'"
            ) from None
        ancestry.fill_ancestors(few.topological_order, few.parent_ptr, few.parent_idx, pointers, index)
        return pointers, _frozen(index)

    @cached_property
    def _ancestor_pointers(self) -> Pointers:
        few = self.transitive_reduction()
        return _frozen(ancestry.count_ancestors(few.topological_order, few.parent_ptr, few.parent_idx))

    @cached_property
    def _sorted_parents(self) -> tuple[Pointers, Codes]:
        if self.is_tree:
            return self.parent_ptr, self.parent_idx
        return self.parent_ptr, _frozen(graph.sort_lists(self.parent_ptr, self.parent_idx))

    def positives(self, objective: Objective) -> tuple[Pointers, Codes]:
        """Positives of every node under an objective: pointers int64 (n+1,) and sorted codes int32.

        With the objective distances they are the parents.
        """
        if objective in ("parents", "distances"):
            return self._sorted_parents
        if objective == "ancestors":
            return self._closure
        raise InputError(f"unknown objective {objective!r}: use 'parents' or 'ancestors'")

    def transitive_reduction(self) -> Hierarchy:
        """Same nodes without the edges that others imply; the hierarchy itself when there are none."""
        return self if self._reduction is None else self._reduction

    @cached_property
    def _reduction(self) -> Hierarchy | None:
        if self.is_tree:
            return None
        implied = ancestry.implied_edges(self.topological_order, self.parent_ptr, self.parent_idx, self.level)
        if not implied.any():
            return None
        children, parents = self.edges()
        return Hierarchy.from_codes(
            self.names,
            children[~implied],
            parents[~implied],
            weights=None if self.parent_weight is None else self.parent_weight[~implied],
            virtual_root=self.virtual_root,
            report=self.report,
        )

    def statistics(self) -> Statistics:
        """Size and shape, as in the data set table of the paper."""
        return statistics_of(self.parent_ptr, self.child_ptr, self.depth, self.level, self.virtual_root)


def _frozen(array: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """``array``, made read-only."""
    array.flags.writeable = False
    return array
