"""What one can ask an embedding: neighbours, distances and relatives, for one node or for several."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..hierarchy.search_names import Match
from ..types import Floats, Source
from ..words import count
from . import _answers
from ._answers import Ancestry
from ._filters import Filters
from ._similarity import Similarity

__all__ = ["Questions"]

Several: TypeAlias = "list[Any] | NDArray[Any]"
Neighbors: TypeAlias = "list[tuple[Hashable, float]]"


class Questions:
    """The questions of an :class:`treeball.Embedding`.

    A node is given by its name (its id), its label or a synonym, see :meth:`treeball.Embedding.find`; answers are
    names. A list or an array asks for each and gives a list of answers. Where a question takes two nodes, lists pair
    up, and a single node goes with each of a list.

    `source` says what answers: ``"geometry"``, the distances alone, where the nodes within the reach of a node are its
    parents or, by the objective ancestors, all its ancestors (see :attr:`treeball.Embedding.reach`); or
    ``"hierarchy"``, the one the model was made from. A virtual root, which only joins roots, is never an answer.

    Without illness geometry tells all relatives as they are, but for an edge to a parent that is also an ancestor of
    another parent, in a model made for the objective ancestors: such edges are not seen. Relatives by the geometry of a
    model that is known to have ill pairs come with a warning.
    """

    @overload
    def distance(self, a: Hashable, b: Hashable, source: Source = "geometry") -> float: ...
    @overload
    def distance(self, a: Hashable | Several, b: Several, source: Source = "geometry") -> Floats: ...
    @overload
    def distance(self, a: Several, b: Hashable | Several, source: Source = "geometry") -> Floats: ...
    def distance(self, a: Any, b: Any, source: Source = "geometry") -> Any:
        """Distance between two nodes; from the hierarchy, edges by way of a common ancestor (inf if there is none)."""
        answer = self._pair(_answers.distance, a, b, source)
        return answer if isinstance(answer, np.ndarray) else float(answer)

    @overload
    def neighbors(
        self,
        name: Hashable,
        k: int = 10,
        source: Source = "geometry",
        *,
        leaves: bool = False,
        siblings: bool = False,
        unrelated: bool = False,
        within: Hashable | None = None,
    ) -> Neighbors: ...
    @overload
    def neighbors(
        self,
        name: Several,
        k: int = 10,
        source: Source = "geometry",
        *,
        leaves: bool = False,
        siblings: bool = False,
        unrelated: bool = False,
        within: Hashable | None = None,
    ) -> list[Neighbors]: ...
    def neighbors(
        self,
        name: Any,
        k: int = 10,
        source: Source = "geometry",
        *,
        leaves: bool = False,
        siblings: bool = False,
        unrelated: bool = False,
        within: Hashable | None = None,
    ) -> Any:
        """The k nearest other nodes with their distances, nearest first; a virtual root is left out.

        Filters choose who may be a neighbour, by the hierarchy whatever the `source`, before k are taken: there are k
        answers wherever there are k such nodes. Several filters must all hold.

        Parameters
        ----------
        name
            A node, or a list of nodes.
        k
            How many.
        source
            Distances of the geometry, or edges of the hierarchy by way of a common ancestor.
        leaves
            Only nodes without children.
        siblings
            Only nodes that share a parent with the node.
        unrelated
            Neither its ancestors nor its descendants.
        within
            Only this node and what is below it.
        """
        filters = Filters(leaves=leaves, siblings=siblings, unrelated=unrelated, within=within)
        return self._one(_answers.neighbors, name, k, source, filters)

    @overload
    def parent_of(self, name: Hashable, source: Source = "geometry") -> Hashable | None: ...
    @overload
    def parent_of(self, name: Several, source: Source = "geometry") -> list[Hashable | None]: ...
    def parent_of(self, name: Any, source: Source = "geometry") -> Any:
        """The nearest of the parents, None for a root; from the hierarchy, the first. See :meth:`parents_of`."""
        _warn_of_illness(self, source)
        return self._one(_answers.parent_of, name, source)

    @overload
    def parents_of(self, name: Hashable, source: Source = "geometry") -> list[Hashable]: ...
    @overload
    def parents_of(self, name: Several, source: Source = "geometry") -> list[list[Hashable]]: ...
    def parents_of(self, name: Any, source: Source = "geometry") -> Any:
        """All parents, none for a root: from geometry, the nodes within reach, the nearest first.

        By the objective ancestors, those of them that are ancestors of no other. With nobody within reach, though it is
        not the root, a node is ill, and its nearest node is given (see :meth:`read_back`).
        """
        _warn_of_illness(self, source)
        return self._one(_answers.parents_of, name, source)

    @overload
    def children_of(self, name: Hashable, source: Source = "geometry") -> list[Hashable]: ...
    @overload
    def children_of(self, name: Several, source: Source = "geometry") -> list[list[Hashable]]: ...
    def children_of(self, name: Any, source: Source = "geometry") -> Any:
        """The children: from geometry, the nodes that have it as a parent (see :meth:`read_back`)."""
        _warn_of_illness(self, source)
        return self._one(_answers.children_of, name, source)

    @overload
    def ancestors_of(self, name: Hashable, source: Source = "geometry") -> list[Hashable]: ...
    @overload
    def ancestors_of(self, name: Several, source: Source = "geometry") -> list[list[Hashable]]: ...
    def ancestors_of(self, name: Any, source: Source = "geometry") -> Any:
        """All ancestors, those by the fewest edges first: from geometry, the parents and their parents, up to the root.

        By the objective ancestors, the nodes within reach.
        """
        _warn_of_illness(self, source)
        return self._one(_answers.ancestors_of, name, source)

    @overload
    def is_ancestor(self, ancestor: Hashable, name: Hashable, source: Source = "geometry") -> Ancestry: ...
    @overload
    def is_ancestor(
        self, ancestor: Hashable | Several, name: Several, source: Source = "geometry"
    ) -> list[Ancestry]: ...
    @overload
    def is_ancestor(
        self, ancestor: Several, name: Hashable | Several, source: Source = "geometry"
    ) -> list[Ancestry]: ...
    def is_ancestor(self, ancestor: Any, name: Any, source: Source = "geometry") -> Any:
        """Whether a node is a proper ancestor of another, with a score; see :class:`treeball.embedding.Ancestry`."""
        _warn_of_illness(self, source)
        return self._pair(_answers.is_ancestor, ancestor, name, source)

    @overload
    def common_ancestor(self, a: Hashable, b: Hashable, source: Source = "geometry") -> Hashable | None: ...
    @overload
    def common_ancestor(
        self, a: Hashable | Several, b: Several, source: Source = "geometry"
    ) -> list[Hashable | None]: ...
    @overload
    def common_ancestor(
        self, a: Several, b: Hashable | Several, source: Source = "geometry"
    ) -> list[Hashable | None]: ...
    def common_ancestor(self, a: Any, b: Any, source: Source = "geometry") -> Any:
        """The nearest node that is above both, or one of them itself; None when only a virtual root is."""
        _warn_of_illness(self, source)
        return self._pair(_answers.common_ancestor, a, b, source)

    @overload
    def path(self, a: Hashable, b: Hashable, source: Source = "geometry") -> list[Hashable]: ...
    @overload
    def path(self, a: Hashable | Several, b: Several, source: Source = "geometry") -> list[list[Hashable]]: ...
    @overload
    def path(self, a: Several, b: Hashable | Several, source: Source = "geometry") -> list[list[Hashable]]: ...
    def path(self, a: Any, b: Any, source: Source = "geometry") -> Any:
        """Nodes from one up to a common ancestor and down to the other; empty when only a virtual root joins them."""
        _warn_of_illness(self, source)
        return self._pair(_answers.path, a, b, source)

    @overload
    def subtree(self, name: Hashable, source: Source = "geometry", depth: int | None = None) -> list[Hashable]: ...
    @overload
    def subtree(self, name: Several, source: Source = "geometry", depth: int | None = None) -> list[list[Hashable]]: ...
    def subtree(self, name: Any, source: Source = "geometry", depth: int | None = None) -> Any:
        """A node and all below it, each before its children; `depth` limits how many edges below."""
        _warn_of_illness(self, source)
        return self._one(_answers.subtree, name, source, depth)

    @overload
    def similarity(self, a: Hashable, b: Hashable) -> Similarity: ...
    @overload
    def similarity(self, a: Hashable | Several, b: Several) -> list[Similarity]: ...
    @overload
    def similarity(self, a: Several, b: Hashable | Several) -> list[Similarity]: ...
    def similarity(self, a: Any, b: Any) -> Any:
        """Path, Wu-Palmer, Lin and Resnik similarity of two nodes, told by the hierarchy, beside their distance.

        See :class:`treeball.embedding.Similarity` for the formulas.
        """
        return self._pair(_answers.similarity, a, b)

    @overload
    def search(self, text: str, k: int = 10) -> list[Match]: ...
    @overload
    def search(self, text: Several, k: int = 10) -> list[list[Match]]: ...
    def search(self, text: Any, k: int = 10) -> Any:
        """The k nodes whose id, label or synonym matches a text best, whatever the case: a :class:`Match` for each.

        Those that are the text come first, then those that begin with it, those with a word that begins with it, and
        those that hold it anywhere; of equally good ones the shortest.
        """
        return self._one(_answers.search, text, k)

    def _one(self, question: Callable[..., Any], name: Any, *options: Any) -> Any:
        # A name is hashable, tuples included; a list or an array is not.
        if isinstance(name, Hashable):
            return question(self, [name], *options)[0]
        return question(self, list(name), *options)

    def _pair(self, question: Callable[..., Any], first: Any, second: Any, *options: Any) -> Any:
        if isinstance(first, Hashable) and isinstance(second, Hashable):
            return question(self, [first], [second], *options)[0]
        left, right = (None if isinstance(names, Hashable) else list(names) for names in (first, second))
        left = [first] * len(right or ()) if left is None else left
        right = [second] * len(left) if right is None else right
        if len(left) != len(right):
            raise InputError(f"{len(left):,} and {len(right):,} nodes make no pairs: give lists of the same length")
        return question(self, left, right, *options)


def _warn_of_illness(embedding: Any, source: Source) -> None:
    """Warn whoever asks the geometry of an ill model for relatives."""
    doubt = doubt_of(embedding, source)
    if doubt:
        warnings.warn(f"{doubt}: source='hierarchy' knows them", stacklevel=3)


def doubt_of(embedding: Any, source: Source) -> str:
    """Why relatives that geometry shows may not be the true ones; empty unless the model is known to have ill pairs."""
    scores = embedding.provenance.scores or {}
    ill = sum(scores.get("illness", {}).values())
    if not ill or source != "geometry":
        return ""
    where = " among the nodes that were ranked" if "sampled" in scores else ""
    return f"this model has {count(ill, 'ill pair')}{where}, so relatives that geometry shows may be wrong"
