"""JSON: nested nodes, mappings, records, pairs, links; and JSON lines."""

from __future__ import annotations

import json
import re
from typing import Any

from ....errors import InputError
from ...memory import json_size, require_room
from ..objects.nested import interpret, relation_of_pairs
from ..objects.values import Number, mapping_of
from ..relation import Relation
from ..sample import Sample, split_lines
from ..settings import ReadSettings
from ..source import Source
from ..tables.records import are_records, relation_of_records

_OPENING = re.compile(r"^\s*(?:\{\s*(?:\"|\}|$)|\[\s*(?:[\"\[{\]]|-?\d|true|false|null|$))")

_MOST_TRIED = 1 << 18
_DECODER = json.JSONDecoder(object_pairs_hook=mapping_of, parse_int=Number, parse_float=Number, parse_constant=Number)


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """Certain when the text opens as JSON does."""
    if not _OPENING.match(sample.text):
        return 0.0
    if sample.whole and len(sample.text) <= _MOST_TRIED:
        try:
            _loads(sample.text)
        except (ValueError, RecursionError):
            # Broken, but what else begins like an object?
            return 0.95 if _is_lines(sample.lines) else (0.85 if sample.text.lstrip().startswith("{") else 0.5)
    return 1.0


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of whatever shape the JSON has."""
    text = source.text
    try:
        value = _loads(text)
    except RecursionError:
        raise InputError(f"{source.label} is nested too deeply for JSON: give an edge list instead") from None
    except json.JSONDecodeError as error:
        lines = [line for line in split_lines(text) if line.strip()]
        if _is_lines(lines):
            return _read_lines(source, settings)
        raise InputError(
            f"{source.label}, line {error.lineno}: not valid JSON at column {error.colno} ({error.msg}); correct it"
        ) from None
    return interpret(value, "JSON", source.label, settings)


def _read_lines(source: Source, settings: ReadSettings) -> Relation:
    values, numbers = [], []
    for number, line in enumerate(split_lines(source.text), start=1):
        if not line.strip():
            continue
        try:
            values.append(_loads(line))
        except (ValueError, RecursionError):
            raise InputError(f"{source.label}, line {number}: not valid JSON; correct or remove the line") from None
        numbers.append(number)
    if all(isinstance(value, dict) for value in values) and (are_records(values) or settings.columns):
        return relation_of_records(values, "records in JSON lines", source.label, settings, numbers)
    if all(isinstance(value, list) and len(value) in (2, 3) for value in values):
        return relation_of_pairs(values, "pairs in JSON lines", source.label, numbers)
    return interpret(values, "JSON lines", source.label, settings)


def _loads(text: str) -> Any:
    require_room(json_size(text))
    return _DECODER.decode(text)


def _is_lines(lines: Any) -> bool:
    """Whether the first lines are a JSON value each."""
    try:
        values = [_loads(line) for line in lines[:2]]
    except (ValueError, RecursionError):
        return False
    return len(values) == 2 and all(isinstance(value, (dict, list)) for value in values)
