"""Arithmetic of several terms: its building blocks are exact, and the rest is as good as 50 digits say."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from treeball.engine.cpu import terms as kernels
from treeball.geometry import terms
from treeball.limits import TERMS

mpmath.mp.dps = 120

NUMBERS = st.floats(-1e60, 1e60).filter(lambda x: x == 0.0 or abs(x) > 1e-60)
POSITIVE = st.floats(1e-60, 1e60)


def fraction(x) -> Fraction:
    return sum((Fraction(float(term)) for term in x), Fraction(0))


def relative(found, exact) -> float:
    """How far two terms are from what they should be."""
    wrong = mpmath.mpf(float(found[0])) + mpmath.mpf(float(found[1])) - exact
    return float(abs(wrong / exact)) if exact else float(abs(wrong))


@given(NUMBERS, NUMBERS)
def test_a_sum_and_its_error_are_exact(a, b):
    for total, error in (terms.two_sum(a, b), kernels.two_sum(a, b)):
        assert float(total) == a + b
        assert Fraction(float(total)) + Fraction(float(error)) == Fraction(a) + Fraction(b)


@given(NUMBERS, NUMBERS)
def test_a_product_and_its_error_are_exact(a, b):
    for product, error in (terms.two_product(a, b), kernels.two_product(a, b)):
        assert float(product) == a * b
        assert Fraction(float(product)) + Fraction(float(error)) == Fraction(a) * Fraction(b)


@pytest.mark.parametrize("count", [2, 4])
@given(parts=st.lists(NUMBERS, min_size=1, max_size=6))
def test_a_total_keeps_all_that_its_terms_can_hold(count, parts):
    found = terms.total(parts, count)
    exact = sum((Fraction(part) for part in parts), Fraction(0))
    assert abs(fraction(found) - exact) <= abs(exact) * Fraction(2) ** -(53 * count - 4)
    assert (np.abs(found[1:]) <= np.abs(found[:-1]) * 2.0**-52).all()


@pytest.mark.parametrize("count", [2, 4])
@given(x=NUMBERS, step=POSITIVE, factor=st.floats(1e-60, 1.0))
def test_the_difference_of_near_numbers_is_exact(count, x, step, factor):
    near = terms.total([x, factor * step], count)
    here = terms.from_float(x, count)
    exact = fraction(near) - Fraction(x)
    scratch = np.empty(2 * count)
    for found in (terms.difference(near, here, 2), kernels.difference(near, here, scratch)):
        assert abs(fraction(found) - exact) <= abs(exact) * Fraction(2) ** -100


@pytest.mark.parametrize("count", [2, 4])
@given(x=st.lists(NUMBERS, min_size=4, max_size=4), factor=POSITIVE, other=NUMBERS)
def test_a_product_is_added_alike_by_both(count, x, factor, other):
    number = terms.total(x, count)
    out = np.empty(count)
    kernels.add_product(number, factor, other, np.empty(count + 2), out)
    expected = fraction(number) + Fraction(factor) * Fraction(other)
    assert abs(fraction(out) - expected) <= abs(expected) * Fraction(2) ** -(53 * count - 4)


@given(st.lists(NUMBERS, min_size=2, max_size=2), POSITIVE, POSITIVE)
def test_products_quotients_and_roots_have_thirty_digits(parts, divisor, low):
    x, y = terms.total(parts, 2), terms.total([divisor, divisor * min(low, 1.0) * 2.0**-60], 2)
    exact_x, exact_y = (mpmath.mpf(float(number[0])) + mpmath.mpf(float(number[1])) for number in (x, y))
    for module, given_x, given_y in ((terms, (x,), (y,)), (kernels, tuple(x), tuple(y))):
        assert relative(module.multiply(*given_x, *given_y), exact_x * exact_y) < 1e-30
        assert relative(module.divide(*given_x, *given_y), exact_x / exact_y) < 1e-30
        assert relative(module.square_root(*given_y), mpmath.sqrt(exact_y)) < 1e-30


@given(st.floats(1e-30, 1e60), st.floats(-1.0, 1.0))
def test_inverse_hyperbolic_sines_have_thirty_digits(first, low):
    x = terms.total([first, first * low * 2.0**-54], 2)
    exact = mpmath.asinh(mpmath.mpf(float(x[0])) + mpmath.mpf(float(x[1])))
    assert relative(terms.asinh(x), exact) < 1e-29
    assert relative(kernels.asinh(*x), exact) < 1e-29


def test_the_radius_carried_grows_with_the_terms():
    assert [round(terms.carried_radius(count), 1) for count in TERMS] == [30.0, 66.7, 140.2]


@given(st.floats(1e-100, 1e200), st.floats(1e-100, 1e200))
@example(1e-100, 7e199)
def test_distances_from_squares_have_twenty_five_digits(square, below):
    found = kernels.distance_of(square, 0.0, below, 0.0)
    exact = 2 * mpmath.asinh(mpmath.sqrt(mpmath.mpf(square) / mpmath.mpf(below)))
    assert relative(found, exact) < 1e-25
