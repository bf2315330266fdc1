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

_MOST_TRIED = 1 << 18  # characters
_LONGEST_WORD = 30  # characters of a number or a constant that may be cut
_DECODER = json.JSONDecoder(object_pairs_hook=mapping_of, parse_int=Number, parse_float=Number, parse_constant=Number)


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """Certain when the parser accepts the beginning of the text."""
    if not _OPENING.match(sample.text):
        return 0.0
    whole = sample.whole and len(sample.text) <= _MOST_TRIED
    text = sample.text[:_MOST_TRIED]
    try:
        _loads(text)
    except RecursionError:
        return 0.95  # so may the comments at the top of a tree be
    except json.JSONDecodeError as error:
        if not whole and _is_cut_off(error, len(text)):
            return 1.0
        if _is_lines(sample.lines):
            return 1.0 if error.msg == "Extra data" else 0.95
        # Broken, but what else begins like an object, or like a list of objects?
        opening = "".join(text.lstrip()[:100].split())
        return 0.95 if opening.startswith('[{"') else 0.85 if opening.startswith("{") else 0.5
    return 1.0


def _is_cut_off(error: json.JSONDecodeError, length: int) -> bool:
    """Whether the parser only misses what comes after the first ``length`` characters."""
    return error.msg.startswith("Unterminated string") or error.pos >= length - _LONGEST_WORD


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
