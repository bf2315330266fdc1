"""The DOCTYPE of an XML text: its abbreviations written out, within bounds, and nothing else of it followed.

Published ontologies abbreviate namespaces by entities (``&owl;Class``). Entities may also be made to explode, or to
name other files; so they are replaced here, where both can be refused, and the parsers never see a DOCTYPE.
"""

from __future__ import annotations

import re

from ...errors import InputError
from ..memory import require_room, text_size
from .opening import after_xml_comments, doctype_span

_ENTITY = re.compile(r"""<!ENTITY\s++([A-Za-z_][\w.\-]*+)\s++(?:"([^"]*+)"|'([^']*+)')\s*+>""")
_REFERENCE = re.compile(r"&([A-Za-z_][\w.\-]*+);")
_MOST_GROWTH = 20
_SPARE = 1_000_000


def without_doctype(data: bytes, label: str) -> bytes:
    """``data`` with its own entities written out and its DOCTYPE blanked; lines keep their numbers."""
    require_room(text_size(data))
    text = data.decode("utf-8")
    start = after_xml_comments(text)
    if not text.startswith("<!DOCTYPE", start):
        return data
    span = doctype_span(text, start)
    if span is None:
        raise InputError(f"{label} is not valid XML (its DOCTYPE never ends); correct it")
    subset, end = text[span[0] : span[1]], span[2]
    room = _MOST_GROWTH * len(text) + _SPARE
    entities: dict[str, str] = {}
    for name, double, single in _ENTITY.findall(subset):
        if name not in entities:
            entities[name] = _written_out(double or single, entities, room, label)
            room -= len(entities[name])
    body = _written_out(text[end:], entities, room, label)
    return (text[:start] + "\n" * text.count("\n", start, end) + body).encode("utf-8")


def _written_out(text: str, entities: dict[str, str], room: int, label: str) -> str:
    """``text`` with the ``entities`` in place of their names; refused where that makes it many times larger."""
    grown = sum(len(entities.get(name, "")) for name in _REFERENCE.findall(text)) if entities else 0
    if len(text) + grown > room:
        raise InputError(f"{label} has XML entities that make it many times larger: write them out, or drop them")
    return _REFERENCE.sub(lambda found: entities.get(found[1], found[0]), text) if entities else text
