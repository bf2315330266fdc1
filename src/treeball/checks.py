"""Checks of what a user sets: each refuses in one sentence."""

from __future__ import annotations

import math
import numbers
from typing import Any

from .errors import InputError

__all__ = ["is_number", "is_positive", "require", "require_choice", "require_flag", "require_fraction", "require_whole"]


def require(condition: bool, sentence: str) -> None:
    """Raise InputError with the sentence unless the condition holds."""
    if not condition:
        raise InputError(sentence)


def require_whole(name: str, value: Any, least: int, why: str = "") -> None:
    """Refuse what is no whole number of at least `least`."""
    good = isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= least
    require(good, f"{name} must be a whole number of at least {least}, not {value!r}" + (f": {why}" if why else ""))


def require_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse what is none of the choices."""
    require(value in choices, f"{name} must be one of {', '.join(map(str, choices))}, not {value!r}")


def require_flag(name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    require(isinstance(value, bool), f"{name} must be True or False, not {value!r}")


def require_fraction(name: str, value: Any) -> None:
    """Refuse what is no number above 0 and up to 1."""
    require(is_positive(value) and value <= 1, f"{name} must be above 0 and at most 1, not {value}")


def is_number(value: Any) -> bool:
    """Whether it is a finite number, and no truth value."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def is_positive(value: Any) -> bool:
    """Whether it is a finite number above 0."""
    return is_number(value) and value > 0
