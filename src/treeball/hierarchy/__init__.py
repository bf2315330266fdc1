"""What a hierarchy is, and what can be done to one: edit, compare, count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazy

if TYPE_CHECKING:
    from ._diff import Changes, diff
    from ._edit import Edit
    from ._hierarchy import Hierarchy
    from ._statistics import Statistics
    from .names import Names
    from .read_report import ReadReport
    from .repairs import Repair, RepairKind, Repairs

__all__ = [
    "Changes",
    "Edit",
    "Hierarchy",
    "Names",
    "ReadReport",
    "Repair",
    "RepairKind",
    "Repairs",
    "Statistics",
    "diff",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Changes": "_diff",
        "Edit": "_edit",
        "Hierarchy": "_hierarchy",
        "Names": "names",
        "ReadReport": "read_report",
        "Repair": "repairs",
        "RepairKind": "repairs",
        "Repairs": "repairs",
        "Statistics": "_statistics",
        "diff": "_diff",
    },
)
