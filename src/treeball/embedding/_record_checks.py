"""Checks of a record that was read from a file: what is not of its type is refused, in words for a sentence.

What is let through can be printed, compared, drawn and written as JSON without a further look: it has neither NaN nor
infinity, and is not nested deeply.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_args

from ..types import Objective
from ..words import json_value

__all__ = [
    "RecordError",
    "count",
    "counts",
    "fields",
    "flag",
    "listed",
    "number",
    "objective",
    "or_none",
    "plain",
    "plain_object",
    "score",
    "scores",
    "text",
    "trace_point",
]

Check = Callable[[Any], Any]

_DEEPEST = 20  # objects within objects; our own records have five
_LARGEST_COUNT, _LARGEST_NUMBER = 2**63, 1e300


class RecordError(ValueError):
    """What is wrong with a value, without saying whose it is."""


def text(value: Any) -> str:
    """Text."""
    if not isinstance(value, str):
        raise RecordError(f"{_brief(value)} is no text")
    return value


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise RecordError(f"{_brief(value)} is neither true nor false")
    return value


def objective(value: Any) -> Any:
    """One of the objectives there are."""
    if value not in get_args(Objective):
        raise RecordError(f"there is no objective {_brief(value)}")
    return value


def count(value: Any) -> int:
    """A whole number that counts something."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _LARGEST_COUNT:
        raise RecordError(f"{_brief(value)} is no count")
    return value


def number(value: Any) -> float | None:
    """A number as JSON holds it: None stands for NaN and infinity, which records of earlier versions have."""
    return score(value) if not isinstance(value, float) or math.isfinite(value) else None


def score(value: Any) -> float:
    """A number that can be reckoned with: no score that was ever written is NaN or larger than that."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < _LARGEST_NUMBER:
        raise RecordError(f"{_brief(value)} is no number")
    return value


def or_none(check: Check) -> Check:
    """What a check lets through, or None."""
    return lambda value: None if value is None else check(value)


def listed(check: Check) -> Check:
    """A list of what a check lets through."""

    def of_list(value: Any) -> list[Any]:
        if not isinstance(value, (list, tuple)):
            raise RecordError(f"{_brief(value)} is no list")
        return [check(one) for one in value]

    return of_list


def counts(value: Any) -> dict[str, int]:
    """Counts by name."""
    return {name: count(one) for name, one in _object(value).items()}


def fields(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object with these fields. Others are kept, as a newer version may have written them."""

    def of_object(value: Any) -> dict[str, Any]:
        given = _object(value)
        for name in required:
            if name not in given:
                raise RecordError(f"there is no {name}")
        checks = {**required, **(optional or {})}
        return {name: _named(name, checks.get(name, plain), one) for name, one in given.items()}

    return of_object


def plain(value: Any) -> Any:
    """Whatever JSON can hold, None for NaN and infinity; what is nested too deeply is refused."""
    inside = [value]
    for _ in range(_DEEPEST):
        inside = [one for some in inside for one in _parts(some)]
    if inside:
        raise RecordError(f"it is nested more than {_DEEPEST} levels deep")
    return json_value(value)


def plain_object(value: Any) -> dict[str, Any]:
    """Whatever an object of JSON can hold."""
    checked: dict[str, Any] = plain(_object(value))
    return checked


def settings(value: Any) -> dict[str, Any]:
    """Whatever a method has to set; but how many epochs there were to be is asked for by others."""
    checked = plain_object(value)
    fields({}, {"epochs": or_none(count)})(checked)
    return checked


_SCORES = {
    "nodes": count,
    "edges": count,
    "dim": count,
    "objective": objective,
    "map": or_none(score),
    "mean_rank": or_none(score),
    "hits_at_1": or_none(score),
    "illness": counts,
    "max_radius": score,
    "sampled": fields({"nodes": count, "of": count}),
    "device": text,
    "certificate": fields({"pairs": count, "margin": or_none(score)}),
}


def scores(value: Any) -> dict[str, Any]:
    """Some or all of what :meth:`treeball.Evaluation.to_dict` writes; a certificate is read with what it is of."""
    given: dict[str, Any] = fields({}, _SCORES)(value)
    if "certificate" in given:
        fields(dict.fromkeys(("nodes", "edges", "objective"), plain))(given)
    return given


_POINT_NUMBERS = ("loss", "map", "mean_rank", "capacity", "intra_subtree", "inter_subtree", "max_radius")
trace_point = fields({"epoch": count}, {"sampled": count} | {name: or_none(number) for name in _POINT_NUMBERS})
"""Scores along the way."""


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, (list, tuple)) else ()


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise RecordError(f"{_brief(value)} is no object")
    return value


def _named(name: str, check: Check, value: Any) -> Any:
    try:
        return check(value)
    except RecordError as error:
        raise RecordError(f"{name}: {error}") from None


def _brief(value: Any) -> str:
    """A value in a sentence; the inside of a list or an object may be endless."""
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, int) and abs(value) >= _LARGEST_COUNT:
        return "so large a number"
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
