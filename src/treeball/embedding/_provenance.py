"""Provenance: the record of what made an embedding, in the model file and in Python alike.

It never changes: whoever adds to it makes a new one with `with_log`, `with_scores` or `without_scores`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol, Self

from .._version import __version__
from ..errors import InputError
from ..types import Objective
from . import _record_checks as checks
from ._dilations import Dilations

__all__ = ["Clamped", "LogEntry", "Provenance"]

RECORD_VERSION = 2
# What settings were called in records of version 1.
_RENAMED_SETTINGS = {"whole": "full_softmax", "contract": "init_scale"}


class _Scored(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class LogEntry:
    """A decision on the way.

    Attributes
    ----------
    epoch
        Epochs done when it was taken.
    text
        One sentence.
    facts
        The same for programs, such as ``{"dilated": 1.5}``.
    """

    epoch: int
    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON."""
        return {"epoch": self.epoch, "text": self.text, **self.facts}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The entry that `to_dict` described."""
        given = _LOG_ENTRY(record)
        return cls(given.pop("epoch"), given.pop("text"), given)


_LOG_ENTRY = checks.fields({"epoch": checks.count, "text": checks.text})


@dataclass(frozen=True)
class Clamped:
    """How often a training held a vector at the largest radius, and what that radius was."""

    times: int = 0
    at_radius: float | None = None


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What made an embedding.

    Attributes
    ----------
    method
        Name of the method; ``"imported"`` for vectors made elsewhere; None when nobody said.
    objective
        What a node was to be close to.
    settings
        All settings of the method that influence the result, by name.
    seed
        Of all random choices.
    version
        Of treeball.
    epochs_done, loss, clamped
        How far a training went, the mean loss of a pair in its last epoch, and what was held at the rim.
    dilations
        Which dilations a training has done and skipped; None of a method that does not dilate.
    log
        Decisions on the way, in order.
    trace
        Scores along the way, where the settings asked for them.
    input
        What the reader understood and repaired: :meth:`treeball.hierarchy.ReadReport.to_dict`.
    scores
        :meth:`treeball.Evaluation.to_dict` of these very vectors; None when they are not known.
    imported, exported, started_from
        Where vectors came from that were not made here, how they were rounded, and what a network was started from.
    other
        What a newer treeball or another tool wrote into the file; kept as it is.
    """

    method: str | None = None
    objective: Objective = "parents"
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    version: str = __version__
    epochs_done: int = 0
    loss: float | None = None
    clamped: Clamped = Clamped()
    dilations: Dilations | None = None
    log: tuple[LogEntry, ...] = ()
    trace: tuple[Mapping[str, Any], ...] = ()
    input: Mapping[str, Any] | None = None
    scores: Mapping[str, Any] | None = None
    imported: Mapping[str, Any] | None = None
    exported: Mapping[str, Any] | None = None
    started_from: Mapping[str, Any] | None = None
    other: Mapping[str, Any] = field(default_factory=dict)

    # ---- new ones ----

    @classmethod
    def of_run(
        cls,
        method: str,
        objective: Objective,
        settings: Mapping[str, Any],
        *,
        seed: int,
        epochs_done: int,
        loss: float | None,
        clamped: Clamped,
        dilations: Dilations | None,
        log: Iterable[LogEntry],
        trace: Iterable[Mapping[str, Any]],
        report: _Scored | None,
    ) -> Self:
        """The record of a run of a method, as far as it went; `report` is that of the reader."""
        return cls(
            method=method,
            objective=objective,
            settings=settings,
            seed=seed,
            epochs_done=epochs_done,
            loss=loss,
            clamped=clamped,
            dilations=dilations,
            log=tuple(log),
            trace=tuple(trace),
            input=None if report is None else report.to_dict(),
        )

    @classmethod
    def of_import(cls, objective: Objective, report: _Scored | None, imported: Mapping[str, Any]) -> Self:
        """The record of vectors made elsewhere; `imported` says where and how they were read."""
        made = None if report is None else report.to_dict()
        return cls(method="imported", objective=objective, input=made, imported=imported)

    def of_network(
        self,
        method: str,
        objective: Objective,
        report: _Scored | None,
        log: Iterable[LogEntry],
        dilations: Dilations | None = None,
    ) -> Self:
        """The record of points that a network learned, started from those that this record is of."""
        started = {name: getattr(self, name) for name in ("method", "seed", "settings")} if self.method else None
        return type(self)(
            method=method,
            objective=objective,
            input=self.input if report is None else report.to_dict(),
            dilations=dilations,
            log=tuple(log),
            started_from=started,
        )

    def with_log(self, text: str, **facts: Any) -> Self:
        """With one more decision at the end of the log."""
        return replace(self, log=(*self.log, LogEntry(self.epochs_done, text, facts)))

    def with_history(self, log: Iterable[LogEntry], trace: Iterable[Mapping[str, Any]]) -> Self:
        """With the decisions and the trace of what led to it put first."""
        return replace(self, log=(*log, *self.log), trace=(*trace, *self.trace))

    def with_scores(self, scores: _Scored) -> Self:
        """With the scores of an evaluation of these very vectors."""
        return replace(self, scores=scores.to_dict())

    def without_scores(self) -> Self:
        """Without scores: vectors or hierarchy are others now."""
        return replace(self, scores=None)

    def with_objective(self, objective: Objective) -> Self:
        """For another objective."""
        return replace(self, objective=objective)

    def with_export(self, coordinates: str, dtype: str) -> Self:
        """Of vectors written in other coordinates or rounded, whose scores are not known."""
        return replace(self, exported={"coordinates": coordinates, "dtype": dtype}, scores=None)

    # ---- files ----

    def to_dict(self) -> dict[str, Any]:
        """A record for JSON."""
        record = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "other"}
        record |= {
            "record": RECORD_VERSION,
            "settings": dict(self.settings),
            "clamped": {"times": self.clamped.times, "at_radius": self.clamped.at_radius},
            "dilations": None if self.dilations is None else self.dilations.to_dict(),
            "log": [entry.to_dict() for entry in self.log],
            "trace": [dict(point) for point in self.trace],
        }
        absent = {name for name in _ABSENT_IF_NONE if record[name] is None}
        return {**self.other, **{name: value for name, value in record.items() if name not in absent}}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The record that `to_dict` described, also one of an earlier version; InputError for anything else."""
        known = {one.name for one in fields(cls)} - {"other"}
        given = {name: value for name, value in record.items() if name in known and value is not None}
        other = {name: value for name, value in record.items() if name not in known and name != "record"}
        try:
            version = checks.count(record.get("record", 1))
            given = checks.fields({}, _CHECKS)(given)
            if "dilations" not in given:
                given["dilations"] = Dilations.of_log(entry.to_dict() for entry in given.get("log", ()))
            other = checks.plain_object(other)
        except checks.RecordError as error:
            raise InputError(f"its record of what made it is damaged: {error}") from None
        if version < RECORD_VERSION:
            given["settings"] = {
                _RENAMED_SETTINGS.get(name, name): value for name, value in given.get("settings", {}).items()
            }
        return cls(**given, other=other)


def _clamped(value: Any) -> Clamped:
    given = _CLAMPED(value)
    return Clamped(given["times"], given.get("at_radius"))


_ABSENT_IF_NONE = ("dilations", "imported", "exported", "started_from", "scores")
_CLAMPED = checks.fields({"times": checks.count}, {"at_radius": checks.or_none(checks.number)})
_TEXT = checks.or_none(checks.text)
_CHECKS: dict[str, checks.Check] = {
    "method": checks.text,
    "objective": checks.objective,
    "settings": checks.settings,
    "seed": checks.count,
    "version": checks.text,
    "epochs_done": checks.count,
    "loss": checks.number,
    "clamped": _clamped,
    "dilations": Dilations.from_dict,
    "log": lambda value: tuple(checks.listed(LogEntry.from_dict)(value)),
    "trace": lambda value: tuple(checks.listed(checks.trace_point)(value)),
    "input": checks.fields({}, {"source": _TEXT, "format": _TEXT, "sha256": _TEXT}),
    "scores": checks.scores,
    "imported": checks.plain_object,
    "exported": checks.plain_object,
    "started_from": checks.plain_object,
}
