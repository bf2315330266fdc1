"""Small helpers shared by the formulas. Sums over the last axis stay columns (..., 1), ready to broadcast."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]

# With |x| <= 1, multiples of 2^-26 have squares that are multiples of 2^-52: their sum, at most 2, is exact.
_COARSE = 2.0**26


def as_float64(x: ArrayLike) -> FloatArray:
    """The array as float64: single precision would end at radius 16."""
    return np.asarray(x, dtype=np.float64)


def dot(x: FloatArray, y: FloatArray) -> FloatArray:
    """Euclidean inner product <x, y> over the last axis: (..., d), (..., d) -> (..., 1)."""
    product: FloatArray = np.sum(x * y, axis=-1, keepdims=True)
    return product


def norm(x: FloatArray) -> FloatArray:
    """Euclidean norm over the last axis, (..., d) -> (..., 1); its squares neither overflow nor underflow."""
    scaled, exponent = _scaled(x)
    length: FloatArray = np.ldexp(np.sqrt(dot(scaled, scaled)), exponent)
    return length


def _scaled(x: FloatArray) -> tuple[FloatArray, NDArray[np.int32]]:
    """x / 2^e (..., d) with largest coordinate in [1/2, 1), and the exponent e (..., 1); exact."""
    largest: FloatArray = np.max(np.abs(x), axis=-1, keepdims=True, initial=0.0)
    exponent: NDArray[np.int32] = np.frexp(largest)[1]
    return np.ldexp(x, -exponent), exponent


def unit(x: FloatArray) -> FloatArray:
    """x / |x|, and 0 for the zero vector: (..., d) -> (..., d)."""
    scaled = _scaled(x)[0]
    length = np.sqrt(dot(scaled, scaled))
    return scaled / np.where(length > 0.0, length, 1.0)


def square_and_gap(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """|x|² and its gap 1 - |x|² for ball points (..., d) -> two columns (..., 1).

    1 - |x|² computed naively has an absolute error of about 1e-16, so nothing is left of it at radius 36.
    (1 - |x|)(1 + |x|) is no better, because |x| itself comes from a rounded sum of squares. Here x = hi + lo
    with hi a multiple of 2^-26, so that

        |x|² = sum hi² + sum lo (hi + x)

    has a first sum without any rounding error and a second one of at most 2^-26 sqrt(d). What remains is an
    absolute error of about 2^-78: the gap 6.9e-15 of radius 34 keeps nine digits. What limits the result is
    then the rounding that the coordinates themselves suffered when they were stored.
    """
    hi = np.rint(x * _COARSE) / _COARSE
    coarse = dot(hi, hi)
    fine = dot(x - hi, hi + x)
    return coarse + fine, (1.0 - coarse) - fine


def gap(x: FloatArray) -> FloatArray:
    """1 - |x|² alone: (..., d) -> (..., 1)."""
    return square_and_gap(x)[1]
