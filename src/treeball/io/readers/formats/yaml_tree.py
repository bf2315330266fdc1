"""YAML: nested nodes, mappings, lists and records, with every scalar taken as written (``no`` stays ``no``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ....errors import InputError, MissingExtraError
from ...memory import watched
from ..objects.nested import interpret
from ..objects.values import Number, mapping_of
from ..relation import Relation
from ..sample import Sample
from ..settings import ReadSettings
from ..source import Source
from ..tables.columns import is_number

# A colon inside of a key has no blank after it, and a # none before it.
_KEY = re.compile(
    r"""\s*+(?:- ++)*+(?:&\S++ ++)?"""
    r"""(?:"(?:[^"\\]|\\.)*+"\s*+|'(?:[^']|'')*+'\s*+|"""
    r"""(?:[^\s#:'"\-?,\[\]{}&*!|>%@`]|[:\-?](?=\S))(?:[^\s#:]|\s(?!\s*+#)|(?<!\s)#|:(?!\s|$))*+)"""
    r""":(?:\s++\S.*+|\s*+)$"""
)
_DEEPEST = 5_000  # each level costs the parser time at every further one
_MOST_TRIED = 1 << 16  # characters
_FLAT = 0.55  # more than columns that blanks separate, less than others
_MAP = 0.7  # more than paths between slashes
_ITEM = re.compile(r"\s*+-(?: ++\S|\s*+$)")
_BULLET_WITHIN = re.compile(r" (?:[-*+•◦▪‣]|\d++[.)]) ")
_FLOW = re.compile(r"[{\[](?![\s\[{]*+\")")  # with a quote at its first name, a text is JSON, if with a fault
_DIRECTIVE = re.compile(r"%YAML[ \t]++\d")


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """Certain by its directive; nearly so if the parser finds collections in collections; else by keys and items."""
    if _DIRECTIVE.match(sample.text):
        return 1.0
    lines = [line for line in sample.lines if not line.lstrip().startswith("#") and line.strip() not in ("---", "...")]
    first = lines[0].removeprefix("--- ") if lines else ""
    if not (_KEY.match(first) or _ITEM.match(first) or _FLOW.match(first) or first.startswith("? ")):
        return 0.0
    found = _parsed(sample)
    if found.depth > 1 or found.is_flow:
        return 0.99
    if _looks_like_yaml(sample, lines):
        return 0.9
    return _MAP if found.is_map else _FLAT * found.depth


@dataclass(slots=True)
class _Parsed:
    """What the parser finds: how deep collections nest, 0 if it is no YAML.

    ``is_flow`` is a mapping in braces, and ``is_map`` one in which values are keys as well.
    """

    depth: int = 0
    is_flow: bool = False
    is_map: bool = False


@dataclass(slots=True)
class _Open:
    """A collection that the parser is inside of."""

    is_mapping: bool
    is_flow: bool = False
    items: int = 0
    key_line: int = 0
    key_column: int = 0

    def joins(self, event: Any) -> bool:
        """Whether the next scalar is one text of lines that Markdown and outlines mean as a list.

        That is a text that begins on a line after its key, and an item of several lines with bullets. In brackets
        neither is.
        """
        start, end = event.start_mark.line, event.end_mark.line
        if self.is_flow or event.style not in (None, "") or not event.value:
            return False
        if self.is_mapping and self.items % 2:
            return bool(start > self.key_line and event.start_mark.column > self.key_column)
        return end > start and not self.is_mapping and _BULLET_WITHIN.search(event.value) is not None

    def take(self, event: Any) -> None:
        """Count a key, value or item that begins."""
        if self.items % 2 == 0:
            self.key_line, self.key_column = event.start_mark.line, event.start_mark.column
        self.items += 1


def _parsed(sample: Sample) -> _Parsed:
    """What the beginning of the text is to the parser."""
    try:
        import yaml
    except ImportError:
        return _Parsed()
    whole = sample.whole and len(sample.text) <= _MOST_TRIED
    text = sample.text if whole else sample.text[:_MOST_TRIED].rpartition("\n")[0]
    inside: list[_Open] = []
    top: _Open | None = None
    texts: list[str] = []  # at the top: items, or keys and values in turn
    deepest, mappings = 0, 0
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
            if isinstance(event, yaml.CollectionEndEvent):
                inside.pop()
                continue
            if not isinstance(event, yaml.NodeEvent):
                continue
            if isinstance(event, yaml.ScalarEvent) and (not inside or inside[-1].joins(event)):
                return _Parsed()
            if inside:
                inside[-1].take(event)
            if isinstance(event, yaml.ScalarEvent) and len(inside) == 1:
                texts.append(event.value)
            if isinstance(event, yaml.CollectionStartEvent):
                inside.append(_Open(isinstance(event, yaml.MappingStartEvent), bool(event.flow_style)))
                top = top or inside[0]
                mappings += inside[-1].is_mapping
                deepest = max(deepest, len(inside))
                if deepest > _DEEPEST:
                    break
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        if whole or mark is None or mark.line < text.count("\n"):
            return _Parsed()
    return _Parsed() if top is None else _judged(top, texts, deepest, mappings)


def _judged(top: _Open, texts: Sequence[str], deepest: int, mappings: int) -> _Parsed:
    """A list with a text among its items is no YAML unless some item is a mapping: Markdown looks the same."""
    if not mappings:
        return _Parsed(0 if texts else deepest)
    if deepest > 1 or not top.is_mapping:
        return _Parsed(deepest)
    keys, values = texts[0::2], texts[1::2]
    is_map = len(set(keys)) == len(keys) and not set(keys).isdisjoint(values)
    return _Parsed(0 if top.is_flow and not all(values) else 1, top.is_flow and all(values), is_map)


def _looks_like_yaml(sample: Sample, lines: Sequence[str]) -> bool:
    """Whether every line is ``key:``, ``key: value`` or ``- item``, and some key has lines below it."""
    keys = [_KEY.match(line) is not None for line in lines]
    if not any(keys) or not all(key or _ITEM.match(line) for key, line in zip(keys, lines, strict=True)):
        return False
    if _joins_items(lines):
        return False
    return sample.text.startswith("---") or any(map(_is_opened, lines))


def _is_opened(line: str) -> bool:
    """Whether the line ends with a colon, or with the anchor of what stands below it."""
    before, _, last = line.rstrip().rpartition(":")
    return bool(before or line.lstrip().startswith(":")) and (not last.strip() or last.strip().startswith("&"))


def _joins_items(lines: Sequence[str]) -> bool:
    """Whether an item stands deeper than a plain item above it: YAML joins both to one text, Markdown means a list."""
    for upper, lower in pairwise(lines):
        plain_item = _ITEM.match(upper) and not _KEY.match(upper) and not re.match(r"\s*- +[-\[{&*!|>\"']", upper)
        deeper = len(lower) - len(lower.lstrip()) > len(upper) - len(upper.lstrip())
        if plain_item and deeper and _ITEM.match(lower) and upper.strip() != "-":
            return True
    return False


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of whatever shape the YAML has."""
    return interpret(load(source), "YAML", source.label, settings)


def load(source: Source) -> Any:
    """Value of the first document of a YAML text."""
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("pyyaml", "formats", "reading YAML") from None
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        return _build(yaml.parse(source.text, Loader=loader), yaml)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{source.label}, line {mark.line + 1}" if mark is not None else source.label
        problem = getattr(error, "problem", None) or "not valid"
        raise InputError(f"{where}: not valid YAML ({problem}); correct it there") from None
    except RecursionError:
        raise InputError(f"{source.label} is nested too deeply for YAML: give an edge list instead") from None
    except ValueError as error:
        raise InputError(f"{source.label} is not valid YAML ({error}); correct it") from None


def _build(events: Any, yaml: Any) -> Any:
    """Value of the document, or a list of those of several, built from parser events.

    This is iterative, keeps repeated keys and shares aliases.
    """
    done: list[Any] = []
    open_items: list[tuple[list[Any], bool, str | None]] = [(done, False, None)]
    anchors: dict[str, Any] = {}
    for event in watched(events):
        if isinstance(event, yaml.DocumentStartEvent):
            anchors = {}
        elif isinstance(event, yaml.ScalarEvent):
            value = _scalar(event)
            if event.anchor:
                anchors[event.anchor] = value
            open_items[-1][0].append(value)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in anchors:
                line = event.start_mark.line + 1
                raise ValueError(f"line {line} refers to an unfinished or unknown anchor {event.anchor!r}")
            open_items[-1][0].append(anchors[event.anchor])
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            open_items.append(([], isinstance(event, yaml.MappingStartEvent), event.anchor))
            if len(open_items) > _DEEPEST:
                raise RecursionError
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            items, is_mapping, anchor = open_items.pop()
            value = _mapping(items) if is_mapping else items
            if anchor:
                anchors[anchor] = value
            open_items[-1][0].append(value)
    values = [value for value in done if value is not None]
    return values if len(values) > 1 else next(iter(values), None)


def _scalar(event: Any) -> Any:
    text = event.value
    if event.style not in (None, ""):
        return text
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    return Number(text) if is_number(text) else text


def _mapping(items: list[Any]) -> Any:
    pairs = []
    for key, value in zip(items[0::2], items[1::2], strict=True):
        if isinstance(key, (list, dict)):
            raise ValueError("a key is itself a list or a mapping")
        pairs.append((key, value))
    return mapping_of(pairs)
