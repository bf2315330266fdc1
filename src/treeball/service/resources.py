"""What the service tells of itself and the model, whoever asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from .._version import __version__
from ..embedding import Embedding
from ..types import Objective
from .question import Closed
from .settings import ServeSettings

__all__ = ["RESOURCES", "Info"]

_Count = Annotated[int, Field(ge=1)]


class _Health(Closed):
    """Whether the service is up."""

    status: Literal["ok"]


class _Loaded(Closed):
    """What a model was loaded from, and when."""

    file: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    loaded: Annotated[str, Field(description="In UTC, as 2026-01-31T12:00:00+00:00.")]


class Info(Closed):
    """What is served: the size of the model, its scores, and the limits on requests."""

    nodes: _Count
    edges: Annotated[int, Field(ge=0)]
    dim: _Count
    geometry: str
    objective: Objective
    method: str | None
    scores: dict[str, Any] | None
    version: str
    model: _Loaded | None
    limits: dict[str, int | float]

    @classmethod
    def of(cls, embedding: Embedding, settings: ServeSettings, loaded: dict[str, str] | None) -> Self:
        """The facts of a model, how it is served, and what it was loaded from, if that is known."""
        made = embedding.provenance
        return cls(
            nodes=len(embedding),
            edges=embedding.hierarchy.n_edges,
            dim=embedding.dim,
            geometry=embedding.geometry,
            objective=embedding.objective,
            method=made.method,
            scores=None if made.scores is None else dict(made.scores),
            version=__version__,
            model=None if loaded is None else _Loaded(**loaded),
            limits=settings.limits(),
        )


@dataclass(frozen=True)
class Resource:
    """Something that takes no parameters; the service has a method of the same name. Without a type it is a page."""

    name: str
    path: str
    summary: str
    answer: type[Closed] | None = None


RESOURCES = (
    Resource("page", "/", "A page to browse the model"),
    Resource("health", "/health", "Whether the service is up", _Health),
    Resource("info", "/info", "What is served: the size of the model, its scores, and the limits on requests", Info),
)
