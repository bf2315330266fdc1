"""The state of dilation of a training, as its record keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from . import _record_checks as checks

__all__ = ["Dilations"]


@dataclass(frozen=True, kw_only=True)
class Dilations:
    """Which dilations a training has done and skipped.

    Attributes
    ----------
    epochs, factors
        After which epochs it dilated, and by which factors.
    skipped
        How many dilations it skipped because the vectors were at `max_radius` already.
    last_skipped
        Epoch of the last of them; None if there is none.
    share
        Share of insufficient nodes, or of crowded children, at the last check; None before the first check.
    is_lacking
        Whether local capacity was insufficient at the last check.
    """

    epochs: tuple[int, ...] = ()
    factors: tuple[float, ...] = ()
    skipped: int = 0
    last_skipped: int | None = None
    share: float | None = None
    is_lacking: bool = False

    @property
    def done(self) -> int:
        """How many dilations were done."""
        return len(self.epochs)

    def checked(self, share: float, is_lacking: bool) -> Self:
        """After a check of local capacity."""
        return replace(self, share=share, is_lacking=is_lacking)

    def dilated(self, epoch: int, factor: float) -> Self:
        """After a dilation."""
        return replace(self, epochs=(*self.epochs, epoch), factors=(*self.factors, factor))

    def skipped_at(self, epoch: int) -> Self:
        """After a dilation that was skipped."""
        return replace(self, skipped=self.skipped + 1, last_skipped=epoch)

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON."""
        return asdict(self) | {"epochs": list(self.epochs), "factors": list(self.factors)}

    @classmethod
    def from_dict(cls, record: Any) -> Self:
        """The state that `to_dict` described."""
        given = _FIELDS(record)
        if len(given["epochs"]) != len(given["factors"]):
            raise checks.RecordError("there is not one factor for each epoch of a dilation")
        known = {name: given[name] for name in _KNOWN if name in given}
        return cls(**known | {"epochs": tuple(given["epochs"]), "factors": tuple(given["factors"])})

    @classmethod
    def of_log(cls, log: Iterable[Mapping[str, Any]]) -> Self | None:
        """The state that the log of an earlier version implies; None if it has no dilation."""
        entries = list(log)
        done = [entry for entry in entries if isinstance(entry.get("dilated"), (int, float))]
        if not done:
            return None
        return cls(
            epochs=tuple(entry["epoch"] for entry in done),
            factors=tuple(float(entry["dilated"]) for entry in done),
            is_lacking="dilated" in entries[-1],
        )


_KNOWN = ("skipped", "last_skipped", "share", "is_lacking")
_FIELDS = checks.fields(
    {"epochs": checks.listed(checks.count), "factors": checks.listed(checks.score)},
    {
        "skipped": checks.count,
        "last_skipped": checks.or_none(checks.count),
        "share": checks.or_none(checks.score),
        "is_lacking": checks.flag,
    },
)
