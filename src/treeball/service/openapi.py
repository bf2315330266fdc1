"""The OpenAPI description of the service, made from the types that check its requests."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from pydantic import create_model
from pydantic.json_schema import models_json_schema

from .._version import __version__
from ..embedding import Embedding
from .errors import REFUSALS, Error
from .question import DOUBT_FIELD, Closed, Question, list_of
from .resources import RESOURCES

__all__ = ["describe"]

Schema = dict[str, Any]

_ANY = (403, 405, 414, 503)
_QUERY = (400, 404, 422)
_BODY = (408, 413, 415)


def describe(table: tuple[Question, ...], embedding: Embedding) -> Schema:
    """An OpenAPI 3.1 document; names of the model serve as examples."""
    kinds: list[type[Closed]] = [Error]
    paths: Schema = {}
    for resource in RESOURCES:
        kinds += [resource.answer] if resource.answer else []
        paths[resource.path] = {"get": _operation(resource.name, resource.summary, resource.answer, _ANY)}
    for one in table:
        doubt = DOUBT_FIELD if one.is_of_relatives else {}
        each: Any = one.answer | one.unanswered
        answers = create_model(f"{one.answer.__name__}s", __base__=Closed, answers=list_of(each), **doubt)
        kinds += [one.in_body, one.answer, one.unanswered, answers]
        get = _operation(one.name, one.summary, one.answer, (*_ANY, *_QUERY))
        post = _operation(f"{one.name}-bulk", f"{one.summary}: many at once", answers, (*_ANY, *_QUERY, *_BODY))
        paths[f"/{one.name}"] = {
            "get": get | {"parameters": _parameters(one.in_query)},
            "post": post | {"requestBody": {"required": True, "content": _content(one.in_body)}},
        }
    _, definitions = models_json_schema(
        [(kind, "validation") for kind in kinds], ref_template="#/components/schemas/{model}"
    )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "treeball",
            "version": __version__,
            "description": f"Questions to a model of {len(embedding):,} nodes in {embedding.dim} dimensions.",
        },
        "paths": paths,
        "components": {
            "schemas": definitions["$defs"],
            "responses": {
                _key(status): {"description": why, "content": _content(Error)} for status, why in REFUSALS.items()
            },
        },
    }


def _parameters(kind: type[Closed]) -> list[Schema]:
    schema = kind.model_json_schema()
    required = schema["required"]
    return [
        {"name": name, "in": "query", "required": name in required, "schema": one}
        for name, one in schema["properties"].items()
    ]


def _operation(name: str, summary: str, answer: type[Closed] | None, refusals: tuple[int, ...]) -> Schema:
    responses: Schema = {"200": {"description": summary, "content": _content(answer)}}
    for status in sorted(refusals):
        responses[str(status)] = {"$ref": f"#/components/responses/{_key(status)}"}
    return {"operationId": name, "summary": summary, "responses": responses}


def _content(kind: type[Closed] | None) -> Schema:
    if kind is None:
        return {"text/html": {"schema": {"type": "string"}}}
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{kind.__name__}"}}}


def _key(status: int) -> str:
    return HTTPStatus(status).name.title().replace("_", "")
