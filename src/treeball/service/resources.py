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
    limits: dict[str, int | float]

    @classmethod
    def of(cls, embedding: Embedding, settings: ServeSettings) -> Self:
        """The facts of a model and how it is served."""
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
