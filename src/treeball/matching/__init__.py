"""Which node of one hierarchy is which of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazy

if TYPE_CHECKING:
    from ._align import Alignment, Answer, Candidate, align

__all__ = ["Alignment", "Answer", "Candidate", "align"]

__getattr__, __dir__ = lazy(
    __name__, {"Alignment": "_align", "Answer": "_align", "Candidate": "_align", "align": "_align"}
)
