"""What an engine can do, whatever the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..types import Codes, Floats, Ints, Pointers

__all__ = ["Engine", "Trained"]


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


class Engine(Protocol):
    """What a device can do. Vectors are float64 (n, width) and are changed in place by the trainings."""

    name: str

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
        """
        ...

    def train_full_softmax(
        self,
        vectors: Floats,
        heads: Codes,
        positive_ptr: Pointers,
        positive_idx: Codes,
        near: Codes,
        steps: Floats,
        *,
        sharpness: int,
        first_epoch: int,
        negatives: int,
        bound: float,
        seed: int,
        workers: int,
    ) -> Trained:
        """Epochs of the softmax over all nodes, in the ball: the listed nodes exactly, the rest by a sample.

        Parameters
        ----------
        heads
            Nodes with a positive, in random order.
        near : (n, k)
            For each node non-positives near it, ascending; -1 for none.
        sharpness
            Factor on distances in the softmax.
        """
        ...

    def descend_softmax(
        self,
        vectors: Floats,
        moments: tuple[Floats, Floats],
        heads: Codes,
        positive_ptr: Pointers,
        positive_idx: Codes,
        near: Codes,
        *,
        sharpness: Floats,
        rates: Floats,
        first_epoch: int,
        steps_before: int,
        negatives: int,
        bound: float,
        seed: int,
        workers: int,
    ) -> Trained:
        """Steps of all nodes at once down the softmax over all nodes, by Adam, in the ball.

        Parameters
        ----------
        moments
            Those of Adam, (n, d) and (n,), changed in place; `steps_before` have been taken since they were zero.
        near
            As in `train_full_softmax`.
        sharpness, rates : (epochs,)
            Factor on distances, and length of a step in hyperbolic units, in each epoch.
        """
        ...

    def rank(
        self, coordinates: Floats, factor: Floats, sources: Ints, positive_ptr: Ints, positive_idx: Codes, threads: int
    ) -> tuple[Ints, Floats, Ints]:
        """Ranks of positives, average precisions and offenders of sources, by comparison with every node.

        Parameters
        ----------
        coordinates, factor
            See :meth:`treeball.geometry.spaces.Space.ranking_coordinates`.
        positive_ptr, positive_idx
            The positives of ``sources[i]`` are ``positive_idx[positive_ptr[i]:positive_ptr[i+1]]``, ascending.

        Returns
        -------
        ranks : int64 (pairs,)
            1 + number of non-positives at least as close, per positive.
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
