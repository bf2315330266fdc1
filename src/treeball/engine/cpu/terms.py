"""Numbers as unevaluated sums of float64, compiled: see `geometry.terms`, whose names these have.

A number of two terms is a pair of float64. Nothing here may be reordered or fused: no fast-math.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
from numba import types
from numba.extending import intrinsic

from .compiler import compiled

LOG_2_HIGH, LOG_2_LOW = 0.6931471805599453, 2.3190468138462996e-17
# An exponent is reduced by multiples of log 2 / STEPS, whose powers stand in a table, before its series.
STEPS, SERIES = 256, 9


def _in_two_terms(values: list[Decimal]) -> np.ndarray:
    """Decimal numbers (m,) as numbers of two terms, (2, m)."""
    high = [float(value) for value in values]
    return np.array([high, [float(value - Decimal(first)) for value, first in zip(values, high, strict=True)]])


with localcontext() as _digits:
    _digits.prec = 60
    INVERSE_FACTORIALS = _in_two_terms([1 / Decimal(math.factorial(n)) for n in range(SERIES + 1)])
    ROOTS_OF_2 = _in_two_terms([Decimal(2) ** (Decimal(j) / STEPS) for j in range(STEPS)])


@intrinsic
def fused(typingctx, a, b, c):
    """a * b + c, rounded once."""
    signature = types.float64(types.float64, types.float64, types.float64)

    def codegen(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return signature, codegen


@compiled
def two_sum(a, b):
    """Rounded sum and its error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@compiled
def quick_two_sum(a, b):
    """The same where |a| >= |b|, or a is 0."""
    total = a + b
    return total, b - (total - a)


@compiled
def two_product(a, b):
    """Rounded product and its error."""
    product = a * b
    return product, fused(a, b, -product)


@compiled
def add(a, a_low, b, b_low):
    """Sum of two numbers of two terms; its relative error is below 4e-32 however much cancels."""
    s, e = two_sum(a, b)
    t, f = two_sum(a_low, b_low)
    s, e = quick_two_sum(s, e + t)
    return quick_two_sum(s, e + f)


@compiled
def multiply(a, a_low, b, b_low):
    """Product of two numbers of two terms."""
    product, error = two_product(a, b)
    return quick_two_sum(product, fused(a, b_low, fused(a_low, b, error)))


@compiled
def divide(a, a_low, b, b_low):
    """Quotient of two numbers of two terms."""
    first = a / b
    product, error = multiply(first, 0.0, b, b_low)
    left, left_low = add(a, a_low, -product, -error)
    return quick_two_sum(first, (left + left_low) / b)


@compiled
def square_root(a, a_low):
    """Square root of a number of two terms that is not negative."""
    if not a > 0.0:
        return 0.0, 0.0
    first = math.sqrt(a)
    product, error = two_product(first, first)
    left, _ = add(a, a_low, -product, -error)
    return quick_two_sum(first, left / (2.0 * first))


@compiled
def add_smaller(a, a_low, b, b_low):
    """Sum of two numbers of two terms where |a| >= |b| and they do not cancel."""
    total, error = quick_two_sum(a, b)
    return quick_two_sum(total, error + (a_low + b_low))


@compiled
def add_positive(a, a_low, b, b_low):
    """Sum of two numbers of two terms that do not cancel, whichever is larger."""
    total, error = two_sum(a, b)
    return quick_two_sum(total, error + (a_low + b_low))


@compiled
def exp(x):
    """exp(x) of a float64, in two terms, as power * (root + rest): the power of 2, the root in the table, and the rest.

    x = k log 2 / STEPS + r with |r| < .0014; exp(r) - 1 is a series whose last terms need float64 alone.
    """
    steps = np.rint(x * (STEPS / LOG_2_HIGH))
    product, error = multiply(steps, 0.0, LOG_2_HIGH / STEPS, LOG_2_LOW / STEPS)
    left, left_low = add(x, 0.0, -product, -error)
    found, low = 0.0, 0.0
    for n in range(SERIES, 4, -1):
        found = found * left + INVERSE_FACTORIALS[0, n]
    for n in range(4, 0, -1):
        found, low = multiply(found, low, left, left_low)
        found, low = add_smaller(INVERSE_FACTORIALS[0, n], INVERSE_FACTORIALS[1, n], found, low)
    found, low = multiply(found, low, left, left_low)
    whole = math.floor(steps / STEPS)
    place = int(steps - whole * STEPS)
    found, low = multiply(ROOTS_OF_2[0, place], ROOTS_OF_2[1, place], found, low)
    return math.ldexp(1.0, int(whole)), place, found, low


@compiled
def expm1(x):
    """exp(x) - 1 of a float64, in two terms."""
    power, place, found, low = exp(x)
    if power == 1.0 and place == 0:
        return found, low
    found, low = add_smaller(ROOTS_OF_2[0, place], ROOTS_OF_2[1, place], found, low)
    return add(power * found, power * low, -1.0, 0.0)


@compiled
def asinh(x, x_low):
    """Inverse hyperbolic sine of a number of two terms: one step of Newton from the float64 value."""
    first = math.asinh(x)
    less_one, low = expm1(first)
    whole, whole_low = add(less_one, low, 1.0, 0.0)
    share, share_low = divide(less_one, low, whole, whole_low)
    sinh, sinh_low = add(less_one, low, share, share_low)
    left, _ = add(x, x_low, -0.5 * sinh, -0.5 * sinh_low)
    return two_sum(first, left / math.cosh(first))


_TINY, _LIFT, _ROOT_OF_LIFT = 1e-200, 2.0**400, 2.0**200


@compiled
def distance_of(square, square_low, below, below_low):
    """2 asinh(sqrt(s / b)) of two positive numbers of two terms, in two terms.

    Of what is not near, as the logarithm of w / b with w = b + 2 s + 2 sqrt(s (s + b)), which needs no quotient.
    """
    if square < _TINY * below:
        # The second term of their ratio would be below what float64 holds; such a root is its own inverse sine.
        found, low = square_root(*divide(square * _LIFT, square_low * _LIFT, below, below_low))
        return 2.0 / _ROOT_OF_LIFT * found, 2.0 / _ROOT_OF_LIFT * low
    if square < below:
        ratio, ratio_low = divide(square, square_low, below, below_low)
        found, low = asinh(*square_root(ratio, ratio_low))
        return 2.0 * found, 2.0 * low
    # Far out their product would leave float64; a power of two changes no digit.
    power = math.ldexp(1.0, -math.frexp(square)[1])
    square, square_low, below, below_low = square * power, square_low * power, below * power, below_low * power
    both, both_low = add_smaller(square, square_low, below, below_low)
    root, root_low = square_root(*multiply(square, square_low, both, both_low))
    whole, whole_low = add_smaller(both, both_low, square, square_low)
    whole, whole_low = add_smaller(whole, whole_low, 2.0 * root, 2.0 * root_low)
    first = math.log(whole / below)
    power, place, found, low = exp(first)
    found, low = add_smaller(ROOTS_OF_2[0, place], ROOTS_OF_2[1, place], found, low)
    back, back_low = multiply(power * found, power * low, below, below_low)
    left, left_low = add(whole, whole_low, -back, -back_low)
    return quick_two_sum(first, (left + left_low) / back)


@compiled
def distil(parts, count):
    """Move what fits from each of the first `count` parts to the one before it, in place and without an error.

    After as many passes as there are parts nothing moves any more, mostly after two.
    """
    for _ in range(count):
        moves = False
        for i in range(count - 1, 0, -1):
            total, rest = two_sum(parts[i - 1], parts[i])
            moves |= total != parts[i - 1]
            parts[i - 1], parts[i] = total, rest
        if not moves:
            return


@compiled
def add_product(number, factor, other, scratch, out):
    """out = number + factor * other, for a `number` (terms,) and two float64; `scratch` has room for terms + 2."""
    terms = number.size
    for t in range(terms):
        scratch[t] = number[t]
    scratch[terms], scratch[terms + 1] = two_product(factor, other)
    distil(scratch, terms + 2)
    for t in range(terms):
        out[t] = scratch[t]


@compiled
def difference(a, b, scratch):
    """a - b of two numbers (terms,) in two terms, exact to them; `scratch` has room for twice the terms."""
    terms = a.size
    if terms == 2:
        return add(a[0], a[1], -b[0], -b[1])
    for t in range(terms):
        scratch[2 * t], scratch[2 * t + 1] = two_sum(a[t], -b[t])
    distil(scratch, 2 * terms)
    return scratch[0], scratch[1]
