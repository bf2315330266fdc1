"""Logarithm, power and reciprocal in float64, for numbers that are neither special nor tiny.

The ones of a library look out for infinities, denormals and the last bit, and fill half of a pass over all pairs. These
are right to 3e-14, a power and a reciprocal relative to itself, and a logarithm absolutely.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton
import triton.language as tl

__all__ = ["inverse_root", "log2", "power_of_2", "reciprocal", "whole_power"]

# The bits of sqrt(1/2), its low half zero: what is taken from a number leaves its exponent, and what is left a number
# between sqrt(1/2) and sqrt(2).
_MIDDLE = tl.constexpr(0x3FE6A09E << 32)
_MANTISSA = tl.constexpr((1 << 52) - 1)
# Between the exponents of float32 and float64.
_BIAS = tl.constexpr((1023 - 127) << 52)
# Added to a number it leaves its whole part in the low bits.
_WHOLE = tl.constexpr(1.5 * 2.0**52)
_WHOLE_BITS = tl.constexpr(0x4338 << 48)


def _series(function: Callable[[Any], Any], low: float, high: float, degree: int) -> tl.constexpr:
    """Coefficients of the polynomial in x that meets a function best, between two numbers."""
    fitted = np.polynomial.Chebyshev.interpolate(function, degree, (low, high))
    return tl.constexpr(tuple(fitted.convert(kind=np.polynomial.Polynomial).coef.tolist()))


# 2 / ln 2 artanh(t) / t in t², and 2^x.
_ARTANH = _series(lambda w: 2.0 / np.log(2.0) * np.arctanh(np.sqrt(w)) / np.sqrt(w), 0.0, 0.0295, 5)
_POWER = _series(np.exp2, -0.5, 0.5, 9)
_LEAST = tl.constexpr(-1000.0)


@triton.jit
def log2(z):
    """The logarithm of z > 0: its exponent, and that of the rest m by artanh((m - 1) / (m + 1))."""
    bits = z.to(tl.int64, bitcast=True) - _MIDDLE
    exponent = ((bits >> 52) + _WHOLE_BITS).to(tl.float64, bitcast=True) - _WHOLE
    m = ((bits & _MANTISSA) + _MIDDLE).to(tl.float64, bitcast=True)
    t = (m - 1.0) * reciprocal(m + 1.0)
    t2 = t * t
    series = t2 * _ARTANH[5] + _ARTANH[4]
    for i in tl.static_range(4):
        series = series * t2 + _ARTANH[3 - i]
    return exponent + t * series


@triton.jit
def _short(z):
    """z in float32, cut off: its exponent must be one of float32."""
    return ((z.to(tl.int64, bitcast=True) - _BIAS) >> 29).to(tl.int32).to(tl.float32, bitcast=True)


@triton.jit
def _long(z):
    """A number of float32 in float64."""
    return ((z.to(tl.int32, bitcast=True).to(tl.int64) << 29) + _BIAS).to(tl.float64, bitcast=True)


@triton.jit
def reciprocal(z):
    """1 / z for z between 1e-37 and 1e37: in float32, and a step in float64 that leaves the cube of what is amiss."""
    root = tl.rsqrt(_short(z))
    inverse = _long(root * root)
    amiss = 1.0 - z * inverse
    return inverse + inverse * (amiss * amiss + amiss)


@triton.jit
def inverse_root(z):
    """1 / sqrt(z) for z between 1e-37 and 1e37, right to 1e-13: in float32, and a step of Newton's in float64."""
    root = tl.rsqrt(_short(z))
    inverse, half = _long(root), _long(0.5 * root)
    return inverse + half * (1.0 - z * inverse * inverse)


@triton.jit
def whole_power(base, k, BITS: tl.constexpr):
    """base^k for a whole number k > 0 of so many bits, by products: a third of what a logarithm and a power take."""
    found = base
    for i in tl.static_range(1, BITS):
        found = found * found
        found *= tl.where((k >> (BITS - 1 - i)) & 1 != 0, base, 1.0)
    return found


@triton.jit
def power_of_2(y):
    """2^y for y below 1000; what is below -1000 counts as that."""
    y = tl.maximum(y, _LEAST)
    shifted = y + _WHOLE
    rest = y - (shifted - _WHOLE)
    series = rest * _POWER[9] + _POWER[8]
    for i in tl.static_range(8):
        series = series * rest + _POWER[7 - i]
    return (series.to(tl.int64, bitcast=True) + (shifted.to(tl.int64, bitcast=True) << 52)).to(tl.float64, bitcast=True)
