"""Random numbers on a card, as in `engine.cpu.negatives`: a counter in, 64 random bits out (splitmix64)."""

from __future__ import annotations

import triton
import triton.language as tl

GOLDEN = tl.constexpr(0x9E3779B97F4A7C15)
_MIX_A = tl.constexpr(0xBF58476D1CE4E5B9)
_MIX_B = tl.constexpr(0x94D049BB133111EB)
# A node that may not be drawn is drawn again so often, then left out.
REDRAWS = tl.constexpr(16)
# So many positives are looked at in one go.
TOGETHER = tl.constexpr(16)


@triton.jit
def mix(z):
    """Finaliser of splitmix64."""
    z = (z ^ (z >> 30)) * _MIX_A
    z = (z ^ (z >> 27)) * _MIX_B
    return z ^ (z >> 31)


@triton.jit
def below(bits, bound):
    """A number in [0, bound) from 64 random bits; bound < 2**32."""
    return (((bits >> 32) * bound.to(tl.uint64)) >> 32).to(tl.int64)


@triton.jit
def fraction(bits):
    """A number in [0, 1) from the low half of 64 random bits."""
    return (bits & 0xFFFFFFFF).to(tl.float64) * (1.0 / 4294967296.0)


@triton.jit
def is_taken(nodes, head, positive_idx, first, last):
    """Which of some nodes are `head` or one of positive_idx[first:last]."""
    taken = (nodes == head).to(tl.int32)
    for start in range(first, last, TOGETHER):
        place = start + tl.arange(0, TOGETHER)
        positive = tl.load(positive_idx + place, mask=place < last, other=-1).to(tl.int64)
        taken += tl.sum((nodes[:, None] == positive[None, :]).to(tl.int32), axis=1)
    return taken > 0


@triton.jit
def draw(state, lane, n, lots, n_lots, head, positive_idx, first, last):
    """A node for every lane, a number in [0, 1) with it, and whether it may be a negative of `head`.

    They are uniform, or where there are `lots`, an array of nodes, as frequent as in that; one that may not be drawn is
    replaced by a uniform node.
    """
    bits = mix(state + lane.to(tl.uint64) * GOLDEN)
    dice = fraction(bits)
    if n_lots > 0:  # noqa: SIM108 - of an expression both sides would be computed
        nodes = tl.load(lots + below(bits, n_lots)).to(tl.int64)
    else:
        nodes = below(bits, n)
    taken = is_taken(nodes, head, positive_idx, first, last)
    tries = 0
    while (tl.sum(taken.to(tl.int32)) > 0) & (tries < REDRAWS):
        bits = mix(bits + GOLDEN)
        nodes = tl.where(taken, below(bits, n), nodes)
        taken = is_taken(nodes, head, positive_idx, first, last)
        tries += 1
    return nodes, dice, taken == 0
