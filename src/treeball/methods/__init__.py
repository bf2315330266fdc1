"""The methods that make embeddings, and what mends and extends them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazy

if TYPE_CHECKING:
    from ._fit import Checkpoints, fit
    from ._heal import Healing, heal
    from ._insert import Insertion, insert
    from ._update import Update, update
    from .fit_settings import FitSettings
    from .registry import Method, register

__all__ = [
    "Checkpoints",
    "FitSettings",
    "Healing",
    "Insertion",
    "Method",
    "Update",
    "fit",
    "heal",
    "insert",
    "register",
    "update",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Method": "registry",
        "register": "registry",
        "Checkpoints": "_fit",
        "FitSettings": "fit_settings",
        "Healing": "_heal",
        "Insertion": "_insert",
        "fit": "_fit",
        "heal": "_heal",
        "insert": "_insert",
        "Update": "_update",
        "update": "_update",
    },
)
