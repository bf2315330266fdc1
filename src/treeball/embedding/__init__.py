"""Embedding: vectors of a hierarchy's nodes, the record of what made them, and the questions they answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazy

if TYPE_CHECKING:
    from ._answers import Ancestry
    from ._dilations import Dilations
    from ._embedding import Embedding
    from ._provenance import Clamped, LogEntry, Provenance
    from ._similarity import Similarity
    from ._suggest_parent import Suggestion, suggest_parent

__all__ = [
    "Ancestry",
    "Clamped",
    "Dilations",
    "Embedding",
    "LogEntry",
    "Provenance",
    "Similarity",
    "Suggestion",
    "suggest_parent",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Ancestry": "_answers",
        "Clamped": "_provenance",
        "Dilations": "_dilations",
        "Embedding": "_embedding",
        "LogEntry": "_provenance",
        "Provenance": "_provenance",
        "Similarity": "_similarity",
        "Suggestion": "_suggest_parent",
        "suggest_parent": "_suggest_parent",
    },
)
