"""Numbers as unevaluated sums of float64: the terms of a number, the largest first, add up to it exactly.

Two terms carry 106 bits, four 212. An array of such numbers has the terms along its first axis: (terms, ...). Each
term is at most about half a last digit of the one before it. The building blocks are exact transformations of sums and
products of two float64 (Knuth, Dekker); what is dropped in the end is below the last term.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..types import Floats

__all__ = [
    "add",
    "asinh",
    "bits",
    "carried_radius",
    "difference",
    "divide",
    "from_float",
    "multiply",
    "rounded",
    "square_root",
    "total",
    "two_product",
    "two_sum",
]

_SPLITTER = 2.0**27 + 1.0
# log 2 in two terms, and the powers of two that an exponent is reduced by before its series.
_LOG_2 = (0.6931471805599453, 2.3190468138462996e-17)
_HALVINGS = 6
_SERIES = 12


def two_sum(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """The rounded sum of two float64, and what rounding took from it: a + b = sum + error, exactly."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """The rounded product of two float64, and what rounding took from it; exact while nothing under- or overflows."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    product = a * b
    a_high, b_high = (_SPLITTER * x - (_SPLITTER * x - x) for x in (a, b))
    a_low, b_low = a - a_high, b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def total(parts: Sequence[ArrayLike], terms: int) -> Floats:
    """The sum of some float64 arrays as a number of `terms` terms, (terms, ...).

    Every pass moves, without an error, what fits from each part to the one before it; after as many passes as there
    are parts the first ones hold all that the terms can, however much cancels.
    """
    left = [np.array(part) for part in np.broadcast_arrays(*(np.asarray(part, np.float64) for part in parts))]
    left += [np.zeros_like(left[0]) for _ in range(terms - len(left))]
    for _ in range(len(left)):
        for i in range(len(left) - 1, 0, -1):
            left[i - 1], left[i] = two_sum(left[i - 1], left[i])
    return np.stack(left[:terms])


def from_float(values: ArrayLike, terms: int) -> Floats:
    """Float64 numbers (...) as numbers of `terms` terms, (terms, ...): all but the first are 0."""
    values = np.asarray(values, np.float64)
    return np.concatenate([values[None], np.zeros((terms - 1, *values.shape))])


def rounded(x: Floats) -> Floats:
    """Numbers (terms, ...) rounded to float64, (...)."""
    return np.asarray(x[::-1].sum(axis=0))


def add(x: Floats, y: Floats) -> Floats:
    """Sums of numbers (terms, ...), which broadcast; as many terms as the longer has."""
    return total([*x, *y], max(len(x), len(y)))


def difference(x: Floats, y: Floats, terms: int | None = None) -> Floats:
    """x - y, exact to `terms` terms of the *difference* itself, however near the two are."""
    return total([*x, *(-y)], max(len(x), len(y)) if terms is None else terms)


def multiply(x: Floats, y: Floats) -> Floats:
    """Products of numbers (2, ...) of two terms."""
    product, error = two_product(x[0], y[0])
    return np.stack(two_sum(product, error + (x[0] * y[1] + x[1] * y[0])))


def divide(x: Floats, y: Floats) -> Floats:
    """Quotients of numbers (2, ...) of two terms."""
    first = x[0] / y[0]
    left = difference(x, multiply(from_float(first, 2), y))
    second = left[0] / y[0]
    left = difference(left, multiply(from_float(second, 2), y))
    return total([first, second, left[0] / y[0]], 2)


def square_root(x: Floats) -> Floats:
    """Square roots of numbers (2, ...) of two terms that are not negative."""
    first = np.sqrt(x[0])
    left = difference(x, np.stack(two_product(first, first)))
    step = left[0] / np.where(first > 0.0, 2.0 * first, 1.0)
    return total([first, step], 2)


def asinh(x: Floats) -> Floats:
    """Inverse hyperbolic sines of numbers (2, ...) of two terms, with their relative accuracy near 0 as well.

    One step of Newton from the float64 value y doubles its digits:  y + (x - sinh y) / cosh y.
    """
    first = np.arcsinh(x[0])
    less_one = _expm1(first)
    whole = add(less_one, from_float(np.ones_like(first), 2))
    sinh = 0.5 * add(less_one, divide(less_one, whole))
    return total([first, difference(x, sinh)[0] / np.cosh(first)], 2)


def _expm1(x: Floats) -> Floats:
    """exp(x) - 1 of float64 numbers (...), in two terms.

    x = k log 2 + 64 r with |r| < .006: a series gives exp(r) - 1, six doublings E -> E² + 2 E the rest.
    """
    whole = np.rint(x / _LOG_2[0])
    constant = np.array(_LOG_2).reshape(2, *(1,) * np.ndim(x))
    left = difference(from_float(x, 2), multiply(from_float(whole, 2), np.broadcast_to(constant, (2, *np.shape(x)))))
    left = left / 2.0**_HALVINGS
    one = from_float(np.ones_like(x), 2)
    series = one
    for n in range(_SERIES, 1, -1):
        series = add(one, divide(multiply(left, series), float(n) * one))
    found = multiply(left, series)
    for _ in range(_HALVINGS):
        found = add(multiply(found, found), 2.0 * found)
    power = np.exp2(whole)
    # The 1 may be lost beside a large power, but not beside its second term.
    return total([*(power * found), *two_sum(power, -1.0)], 2)


def bits(terms: int) -> int:
    """Bits of a number of so many terms."""
    return 53 * terms


def carried_radius(terms: int) -> float:
    """Largest radius at which coordinates of `terms` terms tell places 6e-4 apart: 30, 66.7 and 140.2."""
    return 30.0 + (bits(terms) - 53) * math.log(2.0)
