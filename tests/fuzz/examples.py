"""Values that hypothesis makes, in batches that a seed fixes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from .dice import Dice

__all__ = ["TEXTS", "drawn", "json_values"]

T = TypeVar("T")
_BATCH = 40

TEXTS = st.text(
    st.sampled_from("ab ,;\t|>/\\\"'-:()[]{}<>@#\n\r1.0&*_é\x1b\0\u202e\ud800") | st.characters(), max_size=20
)
_NUMBERS = st.integers() | st.floats() | st.sampled_from([0, -1, 1, 2**31, 2**63, 2**64, 1e308, -1e308, 10**400])


def json_values() -> st.SearchStrategy[Any]:
    """Anything that JSON can say, and numbers that it cannot."""
    return st.recursive(
        st.none() | st.booleans() | _NUMBERS | TEXTS,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
        max_leaves=12,
    )


def drawn(strategy: Callable[[], st.SearchStrategy[T]], dice: Dice) -> T:
    """One value of a strategy, given by the function that makes it."""
    return dice.choice(_batch(strategy, dice.batch))


@lru_cache(maxsize=100)
def _batch(strategy: Callable[[], st.SearchStrategy[T]], number: int) -> list[T]:
    values: list[Any] = []

    @seed(number)
    @settings(
        max_examples=_BATCH,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy())
    def collect(value: Any) -> None:
        values.append(value)

    collect()
    return values
