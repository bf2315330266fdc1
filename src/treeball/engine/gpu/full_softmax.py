"""Loss and gradient of the softmax over all nodes, on a card: every pair of nodes counts, none is sampled.

They are those of `engine.cpu.sharp_softmax`, where everybody is listed as near.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch

from ...types import Codes, Ints, Pointers
from ..protocol import Compared
from .all_pairs import BLOCK, COINCIDENT, FAR, LEAST, MASKED, TOTAL, add_up, pull_all
from .glance import Rough
from .segments import SegmentSum

__all__ = ["AllPairs", "Gradient", "Shape", "Shapes"]

_BLOCK = BLOCK.value
# Half the range of exponents, to the base 2, for which one power a pair will do.
_WIDEST = 900.0
# Up to this distance what a power is a product of is held by float32 as well.
_FARTHEST = 40.0
# So many programs for each processor fill a card.
_PROGRAMS_PER_PROCESSOR = 8
# The share of a sum that may be left out.
_NEGLIGIBLE = 1e-12
# Where more than this share of all pairs counts, as early in a training, none is looked for in so many steps.
_NEARLY_ALL, _LOOK_AGAIN = 0.9, 10
_BITS = 1.0 / math.log(2.0)


class Shape(NamedTuple):
    """How a pass over all pairs is cut: rows that a program owns, columns at a time, such tiles in one turn, warps."""

    rows: int
    columns: int
    ahead: int
    warps: int


class Shapes(NamedTuple):
    """Those of the two passes."""

    add_up: Shape
    pull_all: Shape

    @classmethod
    def of(cls, dim: int, device: torch.device) -> Shapes:
        """What is fastest for a dimension, on a card, and where an interpreter takes its time for every operation."""
        if device.type != "cuda":
            return cls(Shape(_BLOCK, _BLOCK, 1, 4), Shape(_BLOCK, _BLOCK, 1, 4))
        return cls(Shape(64, 4, 2, 2), Shape(128, 2, 2 if dim <= 12 else 1, 4))


class Power(NamedTuple):
    """How exp(-k d) is computed: if once a pair, scaled alike for all; and by products for k of so many bits, or 0."""

    one: bool
    whole_bits: int

    @classmethod
    def of(cls, sharpness: float, reach: float) -> Power:
        """What is fastest for k and up to a distance."""
        one = sharpness * reach * _BITS < 2.0 * _WIDEST
        by_products = one and reach < _FARTHEST and sharpness == int(sharpness)
        return cls(one, int(sharpness).bit_length() if by_products else 0)

    def scale(self, exponent: torch.Tensor, sharpness: float) -> torch.Tensor:
        """What multiplies exp(-k d) by 2^exponent, as the kernels take it."""
        return torch.exp2(exponent / sharpness) if self.whole_bits else exponent


class AllPairs:
    """Who is compared with whom, on a card, its nodes in an order that puts relatives side by side.

    Attributes
    ----------
    order : int64 (n,)
        The nodes in that order, those with positives first.
    head, tail
        Positive pairs, by places in that order.
    bits, masked, masked_both
        See `all_pairs`.
    """

    def __init__(self, compared: Compared, n: int, device: torch.device, processors: int) -> None:
        self.n, self.device, self.processors = n, device, processors
        self.blocks = -(-n // _BLOCK)
        heads = compared.heads.astype(np.int64)
        self.n_heads = heads.size
        self.order = np.concatenate([heads, np.setdiff1d(np.arange(n), heads)])
        self.place = np.empty(n, np.int64)
        self.place[self.order] = np.arange(n)
        row, column = self._pairs(compared.positive_ptr, compared.positive_idx)
        self.head, self.tail = torch.from_numpy(row).to(device), torch.from_numpy(column).to(device)
        self.positives = torch.from_numpy(np.maximum(np.bincount(row, minlength=n), 1.0)).to(device)
        self.by_head, self.by_tail = SegmentSum(row, n, device), SegmentSum(column, n, device)
        self._leave_out(*self._pairs(compared.left_out_ptr, compared.left_out_idx))

    def _pairs(self, ptr: Pointers, idx: Codes) -> tuple[Ints, Ints]:
        """Rows and columns of a CSR of nodes, of those with positives alone, as places in the order; rows ascend."""
        heads = self.order[: self.n_heads]
        counts = np.diff(ptr)[heads]
        row = np.repeat(np.arange(heads.size), counts)
        begin = np.repeat(ptr[heads] - np.cumsum(counts) + counts, counts)
        return row, self.place[idx[begin + np.arange(row.size)]]

    def _leave_out(self, row: Ints, column: Ints) -> None:
        """Lay out bits and marks: of the pairs, of everybody with itself, and of the padding."""
        width = self.blocks * _BLOCK
        own = np.arange(width)
        row, column = np.concatenate([row, own]), np.concatenate([column, own])
        self.words = width // 32
        word = row * self.words + column // 32
        order = np.argsort(word, kind="stable")
        word, bit = word[order], np.left_shift(np.uint32(1), (column[order] % 32).astype(np.uint32))
        first = np.flatnonzero(np.r_[True, np.diff(word) > 0])
        values = torch.from_numpy(np.bitwise_or.reduceat(bit, first).view(np.int32)).to(self.device)
        self.bits = torch.zeros(width, self.words, dtype=torch.int32, device=self.device)
        self.bits.view(-1)[torch.from_numpy(word[first]).to(self.device)] = values
        marks = np.zeros((self.blocks, self.blocks), np.int8)
        marks[row // _BLOCK, column // _BLOCK] = MASKED.value
        if self.n < width:
            beyond = np.packbits(own >= self.n, bitorder="little").view(np.int32)
            self.bits |= torch.from_numpy(beyond).to(self.device)
            # Nobody sees the padding; it is no head, so that what it sees is no matter.
            marks[:, -1] = MASKED.value
        self.masked = torch.from_numpy(marks).to(self.device)
        self.masked_both = torch.maximum(self.masked, self.masked.T.contiguous())

    def parts(self, rows: int) -> tuple[int, int]:
        """Into how many parts a pass over all nodes is cut to fill the card, and how many blocks that are each."""
        wanted = -(-self.processors * _PROGRAMS_PER_PROCESSOR * rows // (self.blocks * _BLOCK))
        share = -(-self.blocks // max(1, min(wanted, self.blocks)))
        return -(-self.blocks // share), share


class Gradient:
    """Loss and gradient of the softmax over all nodes, step after step."""

    def __init__(self, pairs: AllPairs, dim: int, shapes: Shapes | None = None) -> None:
        self.pairs, self.dim = pairs, dim
        self.shapes = shapes or Shapes.of(dim, pairs.device)
        # The log2 of each node's sum in the step before: nobody moves so far in one that this were no scale for it.
        self._level: torch.Tensor | None = None
        self.near = torch.empty(0)
        # For so many steps all pairs of blocks are taken to count.
        self._all_count = 0

    def __call__(
        self, vectors: torch.Tensor, sharpness: float, forgiveness: float, reach: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Loss of every node (n,) and gradient (n, d) in frames, of vectors in the order of the pairs.

        No two of them are farther apart than `reach`.
        """
        pairs, n, power = self.pairs, self.pairs.n, Power.of(sharpness, reach)
        rim = 1.0 - vectors.square().sum(dim=1)
        table = self._table(vectors, rim)
        bits = self._log2_sums(table, sharpness, power)
        head, tail, a, b = vectors[pairs.head], vectors[pairs.tail], rim[pairs.head], rim[pairs.tail]
        gap = head - tail
        s = gap.square().sum(dim=1)
        q = s / (a * b) + COINCIDENT.value
        x = 2.0 * sharpness * torch.asinh(torch.sqrt(q)) + bits[pairs.head] / _BITS
        softplus = torch.clamp(x, min=0.0) + torch.log1p(torch.exp(-x.abs()))
        loss = pairs.by_head(softplus[:, None])[:, 0] / pairs.positives
        share = torch.sigmoid(x)
        if forgiveness > 0.0:
            share = share * torch.exp(-forgiveness * softplus)
        scale = sharpness / pairs.positives
        pull = (share * scale[pairs.head] / (a * b * torch.sqrt(q * (1.0 + q))))[:, None]
        gradient = pairs.by_head(pull * (s[:, None] * head + a[:, None] * gap))
        gradient += pairs.by_tail(pull * (s[:, None] * tail - b[:, None] * gap))
        level = torch.log2(pairs.by_head(share[:, None])[:, 0] * scale) - bits
        level[pairs.n_heads :] = -math.inf
        level = torch.where(torch.isinf(bits), -math.inf, level)
        sums = self._pulls(table, level, sharpness, power)
        gradient -= sums[self.dim, :n, None] * vectors + rim[:, None] * sums[: self.dim, :n].T
        return loss, gradient

    def _table(self, vectors: torch.Tensor, rim: torch.Tensor) -> torch.Tensor:
        """Nodes as the kernels read them, the padding at the origin."""
        width = self.pairs.blocks * _BLOCK
        rows = torch.zeros(self.dim + 2, width, dtype=torch.float64, device=vectors.device)
        rows[: self.dim, : self.pairs.n] = vectors.T
        rows[self.dim] = 1.0
        rows[self.dim, : self.pairs.n] = 1.0 / rim
        return rows.view(self.dim + 2, -1, _BLOCK).transpose(0, 1).contiguous()

    def _launch(
        self,
        kernel: Any,
        shape: Shape,
        table: torch.Tensor,
        marks: torch.Tensor,
        sharpness: float,
        scale: torch.Tensor | float,
        **kind: Any,
    ) -> torch.Tensor:
        """What a kernel finds, summed over parts, (values, nodes); the least of them where that is wanted."""
        pairs, parts_share = self.pairs, self.pairs.parts(shape.rows)
        parts, share = parts_share
        values, width = (self.dim + 1 if kernel is pull_all else 1), pairs.blocks * _BLOCK
        out = torch.empty(parts, values, width, dtype=torch.float64, device=pairs.device)
        given = torch.stack([torch.as_tensor(x, dtype=torch.float64, device=pairs.device) for x in (sharpness, scale)])
        kernel[(width // shape.rows, parts)](
            table, pairs.bits, marks, given, out, pairs.words, pairs.blocks, share, int(sharpness), DIM=self.dim,
            ROWS=shape.rows, COLS=shape.columns, AHEAD=shape.ahead, num_warps=shape.warps, **kind,
        )  # fmt: skip
        return out.amin(dim=0) if kind.get("WANTED") is LEAST else out.sum(dim=0)

    def _log2_sums(self, table: torch.Tensor, sharpness: float, power: Power) -> torch.Tensor:
        """log2 sum_v exp(-k d(u, v)) of every node (n,); -inf for who is compared with nobody."""
        pairs, shape, n = self.pairs, self.shapes.add_up, self.pairs.n
        marks = pairs.masked
        if self._level is None:
            least = self._launch(add_up, shape, table, marks, 0.0, 0.0, WANTED=LEAST, WHOLE_BITS=0)[0, :n]
            nearest = 2.0 * torch.asinh(torch.sqrt(least))
            self._level = torch.where(torch.isinf(nearest), 0.0, nearest)
        shift = sharpness * _BITS * self._level
        self.near = self._near(table, sharpness)
        padded = torch.zeros(pairs.blocks * _BLOCK, dtype=torch.float64, device=pairs.device)
        padded[:n] = shift
        table[:, self.dim + 1] = padded.view(-1, _BLOCK)
        marks = torch.where(self.near, marks, FAR.value)
        if power.whole_bits:
            shift = (shift.amax() - _WIDEST).expand(n)
        # Distances are of log2 (z), so that k is a factor of them as it is.
        total = self._launch(
            add_up, shape, table, marks, sharpness, power.scale(shift[0], sharpness), WANTED=TOTAL,
            WHOLE_BITS=power.whole_bits,
        )[0, :n]  # fmt: skip
        found = torch.log2(total) - shift
        self._level = torch.where(torch.isfinite(found), -found / (sharpness * _BITS), self._level)
        return found

    def _near(self, table: torch.Tensor, sharpness: float) -> torch.Tensor:
        """Which pairs of blocks are near enough to count, (blocks, blocks); all of them where lately all were."""
        pairs, dim = self.pairs, self.dim
        if self._all_count:
            self._all_count -= 1
            return torch.ones(pairs.blocks, pairs.blocks, dtype=torch.bool, device=pairs.device)
        factor = table[:, dim].reshape(-1)
        limit = torch.zeros_like(factor)
        level = self._level if self._level is not None else torch.zeros(pairs.n, dtype=torch.float64)
        farthest = level + math.log(pairs.n / _NEGLIGIBLE) / sharpness
        limit[: pairs.n] = torch.sinh(0.5 * farthest).square() / factor[: pairs.n]
        rough = Rough(table[:, :dim].transpose(1, 2).reshape(-1, dim), factor)
        near = rough.within(torch.arange(factor.numel(), device=pairs.device), limit, _BLOCK) != 0
        if float(near.float().mean()) > _NEARLY_ALL:
            self._all_count = _LOOK_AGAIN
        return near

    def _pulls(self, table: torch.Tensor, level: torch.Tensor, sharpness: float, power: Power) -> torch.Tensor:
        """Sums of `pull_all`, (d + 1, nodes)."""
        pairs = self.pairs
        middle = level.amax() - _WIDEST
        middle = torch.where(torch.isfinite(middle), middle, 0.0)
        padded = torch.full((pairs.blocks * _BLOCK,), -math.inf, dtype=torch.float64, device=pairs.device)
        padded[: pairs.n] = level
        table[:, self.dim + 1] = (torch.exp2(padded - middle) if power.one else padded.clamp(min=-1e6)).view(-1, _BLOCK)
        marks = torch.where(self.near | self.near.T, pairs.masked_both, FAR.value)
        return self._launch(
            pull_all, self.shapes.pull_all, table, marks, sharpness, power.scale(middle, sharpness), ONE=power.one,
            WHOLE_BITS=power.whole_bits,
        )  # fmt: skip
