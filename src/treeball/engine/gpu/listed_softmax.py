"""The gradient of the softmax over all nodes from lists and a sample, where all pairs are too many for a card.

As `engine.cpu.sharp_softmax`: the nodes that are listed as near count exactly, the rest by a uniform sample, each for
its share. A program takes one head after the other; lanes are what it is compared with, columns are coordinates. What
it adds to the gradients of others it adds atomically, so that their last digits depend on who comes first.
"""

from __future__ import annotations

import triton
import triton.language as tl

from .random_bits import GOLDEN, draw, mix

__all__ = ["listed_gradient"]

COINCIDENT = tl.constexpr(1e-36)
# Forces below this share of the largest possible move nobody.
NEGLIGIBLE = tl.constexpr(1e-12)


@triton.jit(do_not_specialize=["n", "n_heads", "k_near", "samples", "key"])
def listed_gradient(
    vectors, heads, positive_ptr, positive_idx, left_out_ptr, left_out_idx, near, numbers, gradient, losses, failed,
    n, n_heads, k_near, samples, key,
    DIM: tl.constexpr, WIDTH: tl.constexpr, LANES: tl.constexpr, DRAWN: tl.constexpr, PULLING: tl.constexpr,
):  # fmt: skip
    """Add what the heads pull and push to `gradient`, (n, DIM) in frames, and their losses.

    Parameters
    ----------
    vectors : float64 (n, DIM)
    near : int32 (n, k_near)
        Non-positives near each node; -1 for none.
    numbers : float64 (3,)
        Sharpness, forgiveness, and for how many nodes one of the sample stands.
    losses : float64 (1,), failed : int64 (1,), out
    """
    axis = tl.arange(0, WIDTH)
    inside = axis < DIM
    k, forgiveness, weight = tl.load(numbers), tl.load(numbers + 1), tl.load(numbers + 2)
    lost = tl.zeros((), tl.float64)
    for place in range(tl.program_id(0), n_heads, tl.num_programs(0)):
        head = tl.load(heads + place).to(tl.int64)
        first, last = tl.load(positive_ptr + head), tl.load(positive_ptr + head + 1)
        u = tl.load(vectors + head * DIM + axis, mask=inside, other=0.0)
        a = 1.0 - tl.sum(u * u)
        # What is listed.
        lane = tl.arange(0, LANES)
        listed = tl.load(near + head * k_near + lane, mask=lane < k_near, other=-1).to(tl.int64)
        s, rim, gap, q = _seen(vectors, u, a, listed, listed >= 0, axis, DIM)
        # The sample, without what is listed, which counts there, and only there.
        token = tl.arange(0, DRAWN)
        drawn, _, free = draw(
            mix(key + head.to(tl.uint64) * GOLDEN), token, n, heads, 0, head, left_out_idx,
            tl.load(left_out_ptr + head), tl.load(left_out_ptr + head + 1),
        )  # fmt: skip
        twice = tl.sum((drawn[:, None] == listed[None, :]).to(tl.int32), axis=1) > 0
        used = free & (token < samples) & (twice == 0)
        drawn_s, drawn_rim, drawn_gap, drawn_q = _seen(vectors, u, a, drawn, used, axis, DIM)
        least = tl.minimum(tl.min(q), tl.min(drawn_q))
        if least < float("inf"):
            nearest = _distance(least)
            share = tl.where(listed >= 0, tl.exp(k * (nearest - _distance(q))), 0.0)
            drawn_share = tl.where(used, weight * tl.exp(k * (nearest - _distance(drawn_q))), 0.0)
            total = tl.sum(share) + tl.sum(drawn_share)
            count = (last - first).to(tl.float64)
            inverse, pull = tl.zeros((), tl.float64), tl.zeros((WIDTH,), tl.float64)
            for start in range(first, last, PULLING):
                pair = start + tl.arange(0, PULLING)
                pulling = pair < last
                tails = tl.load(positive_idx + pair, mask=pulling, other=0).to(tl.int64)
                tail_s, tail_rim, tail_gap, tail_q = _seen(vectors, u, a, tails, pulling, axis, DIM)
                x = tl.where(pulling, k * (_distance(tail_q) - nearest) + tl.log(total), -1e300)
                loss = tl.maximum(x, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(x)))
                lost += tl.sum(tl.where(pulling, loss, 0.0)) / count
                force = tl.where(pulling, 1.0 / (1.0 + tl.exp(-x)), 0.0)
                if forgiveness > 0.0:
                    force *= tl.exp(-forgiveness * loss)
                inverse -= tl.sum(force) / total
                f = force * k / count
                pull += _pull(gradient, vectors, u, a, tails, tail_s, tail_rim, tail_gap, tail_q, f, pulling, axis, DIM)
            push = share * inverse
            pull += _pull(
                gradient, vectors, u, a, listed, s, rim, gap, q, push * k / count, tl.abs(push) >= NEGLIGIBLE, axis, DIM
            )
            push = drawn_share * inverse
            pull += _pull(
                gradient, vectors, u, a, drawn, drawn_s, drawn_rim, drawn_gap, drawn_q, push * k / count,
                tl.abs(push) >= NEGLIGIBLE, axis, DIM,
            )  # fmt: skip
            tl.atomic_add(gradient + head * DIM + axis, pull, mask=inside, sem="relaxed")
        if not (tl.abs(lost) < float("inf")):
            tl.atomic_max(failed, head)
    tl.atomic_add(losses, lost, sem="relaxed")


@triton.jit
def _seen(vectors, u, a, nodes, used, axis, DIM: tl.constexpr):
    """Of some nodes |u - v|², 1 - |v|², u - v and the key; inf for those that are not used."""
    within = used[:, None] & (axis < DIM)[None, :]
    v = tl.load(vectors + nodes[:, None] * DIM + axis[None, :], mask=within, other=0.0)
    gap = u[None, :] - v
    s = tl.sum(gap * gap, axis=1)
    rim = 1.0 - tl.sum(v * v, axis=1)
    return s, rim, gap, tl.where(used, s / (a * rim) + COINCIDENT, float("inf"))


@triton.jit
def _distance(q):
    return tl.log(1.0 + 2.0 * (q + tl.sqrt(q) * tl.sqrt(1.0 + q)))


@triton.jit
def _pull(gradient, vectors, u, a, nodes, s, rim, gap, q, f, moving, axis, DIM: tl.constexpr):
    """Add forces f along geodesics to the gradients of nodes; -> what they add to that of u."""
    f = tl.where(moving, f / (a * rim * tl.sqrt(q) * tl.sqrt(1.0 + q)), 0.0)
    within = moving[:, None] & (axis < DIM)[None, :]
    to_node = f[:, None] * (s[:, None] * (u[None, :] - gap) - rim[:, None] * gap)
    tl.atomic_add(gradient + nodes[:, None] * DIM + axis[None, :], to_node, mask=within, sem="relaxed")
    return tl.sum(tl.where(within, f[:, None] * (s[:, None] * u[None, :] + a * gap), 0.0), axis=0)
