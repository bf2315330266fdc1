"""Options that take several values, one by one or joined by commas: ``--dims 2 5`` and ``--dims 2,5``."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from ..errors import InputError

Listed = Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())]


def items(given: list[str] | None) -> list[str]:
    """Words as given one by one or joined by commas."""
    return [item.strip() for text in given or [] for item in text.split(",") if item.strip()]


def whole_numbers(option: str, given: list[str] | None) -> tuple[int, ...]:
    """Whole numbers, each once."""
    words = items(given)
    if not all(word.isdecimal() for word in words):
        raise InputError(f"--{option} takes whole numbers, as in --{option} 2 5, not {' '.join(words)!r}")
    return tuple(dict.fromkeys(int(word) for word in words))
