"""The engine of the processor: kernels compiled by numba, on all cores."""

from __future__ import annotations

import numpy as np

from ...types import Codes, Floats, Ints, Mask, Pointers
from ...workers import in_parts, in_threads, thread_count
from ..finite import require_finite
from ..protocol import Compared, SoftmaxSteps, Trained
from .rank import is_curved, rank_positives, to_blocks
from .sampled_softmax import CLAMPED, FAILED_EPOCH, FAILED_NODE, GEOMETRIES, LOSS, WEIGHT, settle_all, train_epochs
from .search_tree import SearchTree
from .sharp_softmax import adam_step, sharp_gradient

__all__ = ["CpuEngine"]


class CpuEngine:
    """See :class:`treeball.engine.Engine`."""

    name = "cpu"
    device_name = "the processor"
    pairs_per_call = 100_000

    def workers(self, threads: int) -> int:
        """As many as there are threads."""
        return thread_count(threads)

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
        """Epochs of equation 2; workers share the vectors without locks."""
        counters = np.zeros((workers, 5))
        drawn_from = np.empty(0, np.int32) if lots is None else lots

        def work(worker: int) -> None:
            train_epochs(
                GEOMETRIES[geometry], vectors, heads, tails, weights, positive_ptr, positive_idx, steps, first_epoch,
                drawn_from, lots_until, negatives, bound, seed, worker, workers, counters[worker],
            )  # fmt: skip

        in_threads(work, range(workers), workers)
        if workers > 1:  # two that wrote one row at once may have left it off the sheet or beyond the bound
            settle_all(GEOMETRIES[geometry], vectors, bound)
        return _trained(counters)

    def compares_all(self, n: int, dim: int) -> bool:
        """Never."""
        return False

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
        """Steps of all nodes at once; each worker has a gradient of its own, and they are added up in order."""
        gradients = np.zeros((workers, *vectors.shape))
        losses, failed = np.zeros(workers), np.full(workers, -1)
        clamped = 0
        spare = vectors[:, vectors.shape[1] - steps.squeeze.shape[1] :]
        for step in range(steps.rates.size):
            gradients[:] = 0.0

            def work(worker: int, step: int = step) -> None:
                losses[worker], failed[worker] = sharp_gradient(
                    vectors, *compared, negatives, steps.sharpness[step], steps.forgiveness[step], first_epoch + step,
                    seed, worker, workers, gradients[worker],
                )  # fmt: skip

            in_threads(work, range(workers), workers)
            loss = float(losses.sum() / max(1, compared.heads.size))
            if (failed >= 0).any():
                return Trained(loss, clamped, (first_epoch + step, int(failed.max())))
            gradient, number = gradients.sum(axis=0), steps_before + step + 1
            if movers is not None:
                gradient[~movers] = 0.0
            clamped += adam_step(vectors, gradient, *moments, steps.rates[step], number, bound)
            spare *= steps.squeeze[step]
        return Trained(loss, clamped, None)

    def rank(
        self, coordinates: Floats, factor: Floats, sources: Ints, positive_ptr: Ints, positive_idx: Codes, threads: int
    ) -> tuple[Ints, Floats, Ints]:
        """Ranks, precisions and offenders, from the comparison with every node in blocks."""
        require_finite(coordinates, factor)
        blocks, factors = to_blocks(coordinates, factor)
        curved = is_curved(factor)
        ranks = np.empty(positive_idx.size, np.int64)
        precision = np.empty(sources.size)
        offender = np.empty(sources.size, np.int64)

        def work(part: slice) -> None:
            ends = slice(part.start, part.stop + 1)
            rank_positives(
                coordinates, blocks, factors, curved, sources[part], positive_ptr[ends], positive_idx, ranks,
                precision[part], offender[part], 1,
            )  # fmt: skip

        in_parts(work, sources.size, threads)
        return ranks, precision, offender

    def nearest(self, coordinates: Floats, factor: Floats, nodes: Ints, k: int, threads: int) -> tuple[Ints, Floats]:
        """Codes and keys of the nearest nodes, by a search tree."""
        return SearchTree(coordinates, factor).nearest(nodes, k, threads=threads)


def _trained(counters: Floats) -> Trained:
    """What all workers did together, from their counters (workers, 5)."""
    failed = counters[counters[:, FAILED_EPOCH] >= 0]
    loss, weight, clamped = counters[:, [LOSS, WEIGHT, CLAMPED]].sum(axis=0)
    return Trained(
        loss=float(loss / weight) if weight else 0.0,
        clamped=int(clamped),
        failed=(int(failed[0, FAILED_EPOCH]), int(failed[0, FAILED_NODE])) if failed.size else None,
    )
