"""What inputs are tried on: a module each, with `prepare`, `make` and `attempt`.

`prepare()` does what takes time once: it compiles, trains, and tries what is valid. `make(dice)` makes an input.
`attempt(case, folder)` tries it, its files lying in `folder`; it returns, or raises one of treeball's own errors where
the input is refused. Anything else is a finding.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from ..case import Case
from ..dice import Dice

__all__ = ["TARGETS", "Target", "find"]

TARGETS = (
    "readers", "tables", "folders", "models", "sealed", "partitions", "writers", "vectors", "databases", "snapshots",
    "http",
)  # fmt: skip
"""All that is fuzzed, in the order in which their turns come."""


class Target(Protocol):
    """A module of this package."""

    def prepare(self) -> None:
        """Do once what takes time."""

    def make(self, dice: Dice) -> Case:
        """An input."""

    def attempt(self, case: Case, folder: Path) -> None:
        """Try an input."""


def find(name: str) -> Target:
    """The target of a name."""
    return cast(Target, import_module(f"{__name__}.{name}"))
