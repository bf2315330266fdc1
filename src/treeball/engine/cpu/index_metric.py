"""The distances that an approximate index compares by, as C functions which usearch calls.

A row is (x_1 .. x_d, f): coordinates and factor of a node as :meth:`treeball.Embedding.ranking_coordinates` has them,
f = 1/(1-|x|^2) in hyperbolic space and 1 in Euclidean space. With s = |u-v|^2, the true order is that of s f_u f_v =
sinh(d/2)^2, which orders like the distance d: an index is searched by it.

Its links are drawn by a flattened order, s (f_u f_v)^(1/2^k), between that of the hyperbolic distance (k = 0) and that
of the chord. By the true one, the children of a node are farther from each other than from their parent, so each would
be linked to the parent alone, and the parent to no more of them than it may have links: the others were never found.
In a flattened order, siblings in neighbouring directions are near each other.

All sums are in float64. usearch keeps the result in float32, whose range holds that of any two points of the ball.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numba
from numba import types

from .steps import FAST

_SIGNATURE = types.float32(types.CPointer(types.float64), types.CPointer(types.float64), types.uint64)


@cache
def c_function(flatness: int) -> Any:
    """The order with k = `flatness` as a C function (row, row, numbers in a row) -> float32, compiled on first use."""

    def order(a, b, width):
        gap2 = 0.0
        for i in range(width - 1):
            gap2 += (a[i] - b[i]) * (a[i] - b[i])
        factor = a[width - 1] * b[width - 1]
        for _ in range(flatness):
            factor = math.sqrt(factor)
        return gap2 * factor

    return numba.cfunc(_SIGNATURE, fastmath=FAST)(order)
