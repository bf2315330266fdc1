"""Whether local capacity is sufficient in an embedding (section 4 of the paper): two rules for Algorithm 1.

The paper's rule, `sufficiency`, asks of an inner node with k children whether the lower bound on the local capacity at
its k-th nearest node reaches k. It counts nodes, and knows nothing of directions. `crowding` asks for the definition
itself, child by child: is a sibling nearer to it than its parent, which is to say, are the two less than theta_r apart
as their parent sees them? It counts children, and what it counts are the pairs that turn out capacity-ill.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..engine.cpu.crowded import crowded_children
from ..engine.cpu.kth_nearest import kth_nearest
from ..engine.cpu.rank import to_blocks
from ..geometry import capacity, poincare
from ..hierarchy import Hierarchy
from ..words import count
from ..workers import in_parts, thread_count
from .training_settings import DilationSettings

__all__ = ["Crowding", "Sufficiency", "check", "crowding", "sufficiency"]

# A check compares at most so many nodes with all others.
CHECK_NODES = 1024
# So few crowded children are chance, whatever their share: in a small tree one is more than the share asks for.
CHANCE = 10


def check(vectors: NDArray[np.float64], hierarchy: Hierarchy, settings: DilationSettings) -> Crowding | Sufficiency:
    """Look for a lack of local capacity by the rule of the settings."""
    threads = thread_count(settings.threads)
    if settings.sufficiency == "paper":
        return sufficiency(vectors, hierarchy, sample=CHECK_NODES, seed=settings.seed, threads=threads)
    return crowding(vectors, hierarchy, effort=CHECK_NODES, seed=settings.seed, threads=threads)


@dataclass(frozen=True)
class Crowding:
    """Which children have a sibling at least as near as their parent.

    Attributes
    ----------
    children, parents : int (m,)
        Pairs looked at.
    crowded : bool (m,)
    pairs : int
        How many pairs of child and parent there are in all.
    """

    children: NDArray[np.int32]
    parents: NDArray[np.int32]
    crowded: NDArray[np.bool_]
    pairs: int

    @property
    def share(self) -> float:
        """Share of the children that are crowded."""
        return float(self.crowded.mean()) if self.crowded.size else 0.0

    def exceeds(self, share: float, dilating: bool) -> bool:
        """Whether more than this share is crowded, and more than a few; where dilating has begun, half as many do.

        Noise must not decide.
        """
        most = max(share * self.crowded.size, CHANCE)
        return int(self.crowded.sum()) > (0.5 * most if dilating else most)

    def __str__(self) -> str:
        sampled = "" if self.crowded.size == self.pairs else "sampled "
        return (
            f"{int(self.crowded.sum()):,} of {self.crowded.size:,} {sampled}children have a sibling nearer than "
            "their parent"
        )


def crowding(
    vectors: NDArray[np.float64], hierarchy: Hierarchy, *, effort: int | None = None, seed: int = 0, threads: int = 1
) -> Crowding:
    """Look for a sibling at least as near as the parent, for every child.

    Parameters
    ----------
    vectors : float64 (n, d)
        Points of the Poincare ball.
    effort
        Look at random children only where all take more comparisons than so many nodes with all others.
    """
    children, parents = hierarchy.edges()
    siblings = np.diff(hierarchy.child_ptr)[parents]
    if effort is not None and siblings.size:
        most = int(effort * hierarchy.n_nodes / siblings.mean())
        if most < children.size:
            chosen = np.sort(np.random.default_rng(seed).choice(children.size, most, replace=False))
            children, parents = children[chosen], parents[chosen]
    rim = poincare.one_minus_square(vectors)
    crowded = np.empty(children.size, np.bool_)

    def work(part: slice) -> None:
        crowded_children(
            vectors, rim, children[part], parents[part], hierarchy.child_ptr, hierarchy.child_idx,
            hierarchy.parent_ptr, hierarchy.parent_idx, crowded[part],
        )  # fmt: skip

    in_parts(work, children.size, threads)
    return Crowding(children, parents, crowded, siblings.size)


@dataclass(frozen=True)
class Sufficiency:
    """Local capacity of the inner nodes of an embedding, or of a sample of them.

    Attributes
    ----------
    nodes : int64 (m,)
        Inner nodes looked at.
    children : int64 (m,)
        How many children k each has.
    radius : float64 (m,)
        r_A, the distance to the k-th nearest node.
    lacking : bool (m,)
        Whether k exceeds the lower bound on the local capacity at that radius.
    inner : int
        How many inner nodes there are in all.
    """

    nodes: NDArray[np.int64]
    children: NDArray[np.int64]
    radius: NDArray[np.float64]
    lacking: NDArray[np.bool_]
    inner: int

    @property
    def share(self) -> float:
        """Share of the inner nodes that have more children than the lower bound."""
        return float(self.lacking.mean()) if self.nodes.size else 0.0

    def exceeds(self, share: float, dilating: bool) -> bool:
        """Whether more than this share has more children than the lower bound, dilating or not."""
        return self.share > share

    def __str__(self) -> str:
        sampled = "" if self.nodes.size == self.inner else "sampled "
        beyond = f"{int(self.lacking.sum()):,} of {self.nodes.size:,} {sampled}inner nodes"
        return f"{beyond} have more children than the lower bound"

    def verdict(self, ill: int | None, is_exact: bool = True) -> str:
        """One sentence about local capacity, for all commands.

        The lower bound promises room, and a node with more children may have room too. So a node lacks capacity only if
        a pair is capacity-ill, that is, a sibling is at least as near to a child as the parent.

        Parameters
        ----------
        ill
            How many pairs are capacity-ill, None if they were not counted.
        is_exact
            Whether they were counted among all pairs, and not among those of a sample of the nodes.
        """
        if ill is None:
            return f"{self}; whether one of them lacks capacity tells  treeball evaluate"
        if ill:
            return f"{count(ill, 'pair')} {'is' if ill == 1 else 'are'} capacity-ill; {self}"
        ranked = "" if is_exact else " that was ranked"
        return f"no node{ranked} lacks capacity, as no pair is capacity-ill; {self}, which is no fault"


def sufficiency(
    vectors: NDArray[np.float64], hierarchy: Hierarchy, *, sample: int | None = None, seed: int = 0, threads: int = 1
) -> Sufficiency:
    """Compare the number of children of every inner node with the room within its k-th nearest node.

    Parameters
    ----------
    vectors : float64 (n, d)
        Points of the Poincare ball.
    sample
        Look at this many random inner nodes only.
    """
    counts = np.diff(hierarchy.child_ptr)
    inner = np.flatnonzero(counts).astype(np.int64)
    nodes = inner
    if sample is not None and sample < inner.size:
        nodes = np.sort(np.random.default_rng(seed).choice(inner, sample, replace=False))
    rim = poincare.one_minus_square(vectors)
    blocks, factors = to_blocks(vectors, 1.0 / rim)
    children, keys = counts[nodes], np.empty(nodes.size)

    def work(part: slice) -> None:
        kth_nearest(vectors, blocks, factors, nodes[part], children[part], keys[part])

    in_parts(work, nodes.size, threads)
    radius = 2.0 * np.arcsinh(np.sqrt(keys / rim[nodes]))
    lacking = capacity.insufficient(children, radius, vectors.shape[1])
    return Sufficiency(nodes, children, radius, lacking, inner.size)
