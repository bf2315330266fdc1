"""The OpenAPI description of the service, made from the tables that make its routes."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from .._version import __version__
from ..embedding import Embedding
from .errors import REFUSALS
from .settings import ServeSettings
from .table import RESOURCES, Question, Schema, closed_object, name_schema

__all__ = ["describe"]

_JSON = "application/json"
_ANY = (403, 405, 414, 503)
_QUERY = (400, 404, 422)
_BODY = (408, 413, 415)


def describe(table: tuple[Question, ...], embedding: Embedding, settings: ServeSettings) -> Schema:
    """An OpenAPI 3.1 document; names of the model serve as examples."""
    paths: Schema = {}
    for resource in RESOURCES:
        paths[resource.path] = {
            "get": _operation(resource.name, resource.summary, resource.media_type, resource.schema, _ANY)
        }
    names = embedding.names.take([embedding.hierarchy.root, len(embedding) - 1])
    for question in table:
        paths[f"/{question.name}"] = {
            "get": _single(question, name_schema(embedding), names),
            "post": _bulk(question, name_schema(embedding), names, settings),
        }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "treeball",
            "version": __version__,
            "description": f"Questions to a model of {len(embedding):,} nodes in {embedding.dim} dimensions.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Error": closed_object({"error": {"type": "string", "description": "One sentence."}})},
            "responses": {_key(status): _refusal(why) for status, why in REFUSALS.items()},
        },
    }


def _single(question: Question, name: Schema, examples: list[Any]) -> Schema:
    """GET: one question, in the query."""
    parameters = [
        {
            "name": parameter,
            "in": "query",
            "required": True,
            "description": "Name of a node.",
            "schema": {**name, "type": "string"},
            "examples": {"node": {"value": str(example)}},
        }
        for parameter, example in zip(question.of, examples[: len(question.of)], strict=True)
    ]
    for option in question.options:
        parameters.append(
            {"name": option.name, "in": "query", "description": option.description, "schema": option.schema}
        )
    operation = _operation(question.name, question.summary, _JSON, _record(question, name), (*_ANY, *_QUERY))
    return {**operation, "parameters": parameters}


def _bulk(question: Question, name: Schema, examples: list[Any], settings: ServeSettings) -> Schema:
    """POST: many questions, in the body."""
    one = len(question.of) == 1
    row = name if one else {"type": "array", "items": name, "minItems": 2, "maxItems": 2}
    properties = {question.many: {"type": "array", "items": row, "minItems": 1, "maxItems": settings.max_nodes}}
    for option in question.options:
        properties[option.name] = {**option.schema, "description": option.description}
    body = {**closed_object(properties), "required": [question.many]}
    answers = closed_object({"answers": {"type": "array", "items": _record(question, name)}})
    operation = _operation(
        f"{question.name}-bulk", f"{question.summary}: many at once", _JSON, answers, (*_ANY, *_QUERY, *_BODY)
    )
    example = {question.many: examples if one else [examples]}
    return {**operation, "requestBody": {"required": True, "content": {_JSON: {"schema": body, "example": example}}}}


def _record(question: Question, name: Schema) -> Schema:
    return closed_object(dict.fromkeys(question.of, name) | question.answer)


def _operation(name: str, summary: str, media_type: str, answer: Schema, refusals: tuple[int, ...]) -> Schema:
    responses: Schema = {"200": {"description": summary, "content": {media_type: {"schema": answer}}}}
    for status in sorted(refusals):
        responses[str(status)] = {"$ref": f"#/components/responses/{_key(status)}"}
    return {"operationId": name, "summary": summary, "responses": responses}


def _key(status: int) -> str:
    return HTTPStatus(status).name.title().replace("_", "")


def _refusal(why: str) -> Schema:
    return {"description": why, "content": {_JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}}
