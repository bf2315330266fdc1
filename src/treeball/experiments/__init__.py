"""Experiments of many runs, each kept as soon as it is finished: a bench, and what it shares with the reproduction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazy

if TYPE_CHECKING:
    from ._bench import Bench, bench

__all__ = ["Bench", "bench"]

__getattr__, __dir__ = lazy(__name__, {"Bench": "_bench", "bench": "_bench"})
