"""What an engine can do, whatever the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from ..types import Codes, Floats, Ints, Mask, Pointers

__all__ = ["Compared", "Engine", "SoftmaxSteps", "Trained"]


@dataclass(frozen=True)
class Trained:
    """What some epochs did.

    Attributes
    ----------
    loss
        Mean loss of a pair, weighted, or of a node in the last of them.
    clamped
        How often a vector was clamped to the largest radius.
    failed
        Epoch and node where the loss stopped being a number; None if it did not.
    """

    loss: float
    clamped: int
    failed: tuple[int, int] | None


class Compared(NamedTuple):
    """Which nodes a softmax over all nodes compares.

    Attributes
    ----------
    heads : (m,)
        Nodes with a positive; those that have nodes near them in common should follow each other.
    positive_ptr, positive_idx
        Positives of every node, ascending.
    left_out_ptr, left_out_idx
        What a node is never compared with, its positives among them, ascending.
    near : (n, k)
        For each node others near it, ascending; -1 for none.
    """

    heads: Codes
    positive_ptr: Pointers
    positive_idx: Codes
    left_out_ptr: Pointers
    left_out_idx: Codes
    near: Codes


class SoftmaxSteps(NamedTuple):
    """What every epoch of a descent on a softmax is like, a row each.

    Attributes
    ----------
    sharpness : (epochs,)
        Factor on distances.
    forgiveness : (epochs,)
        See `engine.cpu.sharp_softmax`.
    rates : (epochs,)
        Length of a step in hyperbolic units.
    squeeze : (epochs, spare)
        Factors on the last coordinates of all vectors after each step.
    """

    sharpness: Floats
    forgiveness: Floats
    rates: Floats
    squeeze: Floats

    @classmethod
    def even(cls, sharpness: float, rates: Floats) -> SoftmaxSteps:
        """Epochs of one sharpness that forgive nothing and squeeze nothing."""
        return cls(np.full(rates.size, sharpness), np.zeros(rates.size), rates, np.empty((rates.size, 0)))


class Engine(Protocol):
    """What a device can do. Vectors are float64 (n, width) and are changed in place by the trainings.

    Attributes
    ----------
    name
        That of the device for `choose`.
    device_name
        That of its maker.
    pairs_per_call
        So many pairs take long enough for the cost of a call not to matter.
    """

    name: str
    device_name: str
    pairs_per_call: int

    def workers(self, threads: int) -> int:
        """How many may work on a training at once, of so many threads; 0 stands for all cores."""
        ...

    def train(
        self,
        geometry: str,
        vectors: Floats,
        heads: Codes,
        tails: Codes,
        weights: Floats,
        positive_ptr: Pointers,
        positive_idx: Codes,
        steps: Floats,
        *,
        first_epoch: int,
        negatives: int,
        bound: float,
        seed: int,
        workers: int,
        lots: Codes | None = None,
        lots_until: int = 0,
    ) -> Trained:
        """Epochs of equation 2, each pair against random nodes.

        Parameters
        ----------
        geometry
            Name of a space.
        heads, tails, weights : (pairs,)
            Positive pairs A -> B in random order, and factors on their steps.
        positive_ptr, positive_idx
            Positives of every node, which are never drawn as its negatives.
        steps : (epochs,)
            Step of a pair in each epoch; `first_epoch` is the number of the first.
        bound
            See :meth:`treeball.geometry.spaces.Space.bound`.
        workers
            One alone is exactly reproducible.
        lots, lots_until
            Before the epoch of this number, negatives are as frequent as in this list of nodes; afterwards, and
            without it, all are alike.
        """
        ...

    def compares_all(self, n: int, dim: int) -> bool:
        """Whether `descend_softmax` compares each of so many nodes with all others, without lists and samples."""
        ...

    def descend_softmax(
        self,
        vectors: Floats,
        moments: tuple[Floats, Floats],
        compared: Compared,
        steps: SoftmaxSteps,
        *,
        first_epoch: int,
        steps_before: int,
        negatives: int,
        bound: float,
        seed: int,
        workers: int,
        movers: Mask | None = None,
    ) -> Trained:
        """Steps of all nodes at once down the softmax over all nodes, by Adam, in the ball.

        The listed nodes are compared with exactly, the rest by a sample of `negatives` for each node; or all are
        compared with all (`compares_all`).

        Parameters
        ----------
        moments
            Those of Adam, (n, d) and (n,), changed in place; `steps_before` have been taken since they were zero.
        movers : bool (n,)
            Who moves; the vectors of all others stay byte for byte as they are. By default everybody.
        """
        ...

    def rank(
        self, coordinates: Floats, factor: Floats, sources: Ints, positive_ptr: Ints, positive_idx: Codes, threads: int
    ) -> tuple[Ints, Floats, Ints]:
        """Ranks of positives, average precisions and offenders of sources, by comparison with every node.

        Coordinates that are no finite numbers are refused.

        Parameters
        ----------
        coordinates, factor
            See :meth:`treeball.geometry.spaces.Space.ranking_coordinates`.
        positive_ptr, positive_idx
            The positives of ``sources[i]`` are ``positive_idx[positive_ptr[i]:positive_ptr[i+1]]``, ascending.

        Returns
        -------
        ranks : int64 (pairs,)
            1 + number of non-positives at least as close, or farther by less than `limits.TIE`, per positive.
        precision : float64 (m,)
            Average precision of each source.
        offender : int64 (m,)
            Nearest non-positive of each source, of equals the one of smallest code; -1 if there is none.
        """
        ...

    def nearest(self, coordinates: Floats, factor: Floats, nodes: Ints, k: int, threads: int) -> tuple[Ints, Floats]:
        """Codes and keys (m, k) of the nearest other nodes of some nodes, nearest first, ties by code.

        Where there are fewer than k, the codes are -1 and the keys inf.
        """
        ...
