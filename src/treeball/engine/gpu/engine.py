"""The engine of a graphics card; what does not pay there is done by the processor."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch
import triton

from ...types import Codes, Floats, Ints, Mask, Pointers
from ..cpu.engine import CpuEngine
from ..finite import require_finite
from ..protocol import Compared, SoftmaxSteps, Trained
from .full_softmax import AllPairs
from .neighbours import nearest_on_card
from .pair_steps import EUCLIDEAN, LORENTZ, POINCARE, put_on_sheet, train_epoch
from .ranks import rank_on_card
from .residents import Residents
from .softmax_steps import by_all_pairs, by_lists, descend
from .tiles import put_on_card

__all__ = ["GpuEngine"]

_GEOMETRIES = {"euclidean": EUCLIDEAN, "poincare": POINCARE, "lorentz": LORENTZ}
# Programs at work at once see each other's steps late. So there is no more than one for so many nodes: with four times
# as many, the verbs lose .02 of MAP.
_PROGRAMS_PER_PROCESSOR = 8
_NODES_PER_PROGRAM = 256
_ROWS = 32
_CELLS_PER_WARP = 256
# Bits of all pairs are 5 GB then, and a step takes about .6 s in ten dimensions.
_ALL_PAIRS_UP_TO, _ALL_PAIRS_UP_TO_DIM = 200_000, 32
# With so few rows at once a comparison needs hardly more memory than the vectors.
_FEWEST_ROWS = 1_024

_R = TypeVar("_R")


class GpuEngine(CpuEngine):
    """See :class:`treeball.engine.Engine`. One engine serves one training: it keeps its pairs on the card."""

    name = "cuda"
    pairs_per_call = 20_000_000

    def __init__(self, device: str = "cuda") -> None:
        self.device = torch.device(device)
        self.device_name, self.processors, self.stream = "an interpreter", 1, None
        if self.device.type == "cuda":
            card = torch.cuda.get_device_properties(self.device)
            self.device_name, self.processors = card.name, card.multi_processor_count
            # Several trainings at once share the card.
            self.stream = torch.cuda.Stream(self.device)
        self.residents = Residents(self.device)
        self._pairs: tuple[Codes, AllPairs] | None = None

    def workers(self, threads: int) -> int:
        """Some programs for each processor of the card, to keep it busy; threads are no matter."""
        return self.processors * _PROGRAMS_PER_PROCESSOR

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
        """Epochs of equation 2, a launch each; a worker is a program."""
        n, width = vectors.shape
        pairs = heads.size
        if not pairs:
            return Trained(0.0, 0, None)
        with torch.cuda.stream(self.stream):
            lanes, columns = triton.next_power_of_2(negatives + 1), triton.next_power_of_2(width)
            programs = max(1, min(workers, n // _NODES_PER_PROGRAM))
            warps = min(16, triton.next_power_of_2(max(1, lanes * columns // _CELLS_PER_WARP)))
            kind, shape = _GEOMETRIES[geometry], {"DIM": width, "WIDTH": columns}
            there = self.residents.of(heads, tails, weights, positive_ptr, positive_idx)
            lottery = self.residents.of(lots)[0] if lots is not None and lots.size else there[0]
            points = torch.from_numpy(vectors).to(self.device)
            sums = torch.zeros(steps.size, 3, dtype=torch.float64, device=self.device)
            failed = torch.full((steps.size,), -1, dtype=torch.int64, device=self.device)
            lengths = torch.tensor(steps, device=self.device)
            bounds = torch.tensor([bound], dtype=torch.float64, device=self.device)
            for number in range(steps.size):
                epoch = first_epoch + number
                offset, stride, key = _course(pairs, seed, epoch)
                n_lots = lots.size if lots is not None and epoch < lots_until else 0
                train_epoch[(programs,)](
                    points, *there, lottery, sums[number], failed[number:], lengths[number:], bounds, n, pairs, n_lots,
                    offset, stride, key, GEOMETRY=kind, NEGATIVES=negatives, LANES=lanes, num_warps=warps, **shape,
                )  # fmt: skip
                if kind == LORENTZ:
                    put_on_sheet[(triton.cdiv(n, _ROWS),)](points, n, ROWS=_ROWS, num_warps=1, **shape)
            torch.from_numpy(vectors).copy_(points)
            loss, weight, _ = sums[-1].tolist()
            clamped, nodes = int(sums[:, 2].sum().item()), failed.tolist()
        number = next((i for i, node in enumerate(nodes) if node >= 0), -1)
        return Trained(
            loss=loss / weight if weight else 0.0,
            clamped=clamped,
            failed=(first_epoch + number, nodes[number]) if number >= 0 else None,
        )

    def rank(
        self, coordinates: Floats, factor: Floats, sources: Ints, positive_ptr: Ints, positive_idx: Codes, threads: int
    ) -> tuple[Ints, Floats, Ints]:
        """Ranks, precisions and offenders, from the comparison with every node in tiles."""
        require_finite(coordinates, factor)

        def work(rows: int) -> tuple[Ints, Floats, Ints]:
            nodes = put_on_card(coordinates, factor, self.device)
            return rank_on_card(nodes, sources, positive_ptr, positive_idx, self.processors, rows)

        found = self._with_fewer_rows(work, sources.size)
        return found or super().rank(coordinates, factor, sources, positive_ptr, positive_idx, threads)

    def nearest(self, coordinates: Floats, factor: Floats, nodes: Ints, k: int, threads: int) -> tuple[Ints, Floats]:
        """Codes and keys of the nearest nodes, from the comparison with every node in tiles."""
        require_finite(coordinates, factor)

        def work(rows: int) -> tuple[Ints, Floats]:
            return nearest_on_card(put_on_card(coordinates, factor, self.device), nodes, k, self.processors, rows)

        found = self._with_fewer_rows(work, nodes.size)
        return found or super().nearest(coordinates, factor, nodes, k, threads)

    def _with_fewer_rows(self, work: Callable[[int], _R], rows: int) -> _R | None:
        """Let `work` compare so many rows at once, or fewer where the card's memory is full; None if that is no use."""
        while True:
            try:
                with torch.cuda.stream(self.stream):
                    return work(max(rows, 1))
            except torch.cuda.OutOfMemoryError:
                if rows <= _FEWEST_ROWS:
                    break
                rows //= 2
            torch.cuda.empty_cache()
        warnings.warn(f"the memory of {self.device_name} is full, so the processor does it", stacklevel=3)
        return None

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
        """Steps of all nodes at once; up to a size each is compared with all others, and nothing is sampled."""
        with torch.cuda.stream(self.stream):
            order = None
            if self.compares_all(*vectors.shape):
                if self._pairs is None or self._pairs[0] is not compared.heads:
                    self._pairs = (compared.heads, AllPairs(compared, len(vectors), self.device, self.processors))
                gradient_of, order = by_all_pairs(self._pairs[1], vectors, steps), self._pairs[1].order
            else:
                gradient_of = by_lists(
                    compared,
                    steps,
                    self.residents,
                    self.processors,
                    negatives=negatives,
                    first_epoch=first_epoch,
                    seed=seed,
                )
            return descend(
                gradient_of,
                vectors,
                moments,
                steps,
                self.device,
                order=order,
                n_heads=compared.heads.size,
                first_epoch=first_epoch,
                steps_before=steps_before,
                bound=bound,
                movers=movers,
            )

    def compares_all(self, n: int, dim: int) -> bool:
        """Up to so many nodes that a step of all pairs takes about a second, and dimensions that registers hold."""
        return n <= _ALL_PAIRS_UP_TO and dim <= _ALL_PAIRS_UP_TO_DIM


def _course(pairs: int, seed: int, epoch: int) -> tuple[int, int, int]:
    """Offset and stride that visit all pairs once, in another order every epoch, and a key for its random numbers."""
    rng = np.random.default_rng([seed, epoch])
    offset, stride, key = rng.integers([pairs, pairs, 1 << 62]).tolist()
    while math.gcd(stride, pairs) > 1 or not stride:
        stride += 1
    return offset, stride, key
