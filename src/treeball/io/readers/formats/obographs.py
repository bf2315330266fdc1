"""obographs: ontologies as graphs of nodes and edges, in JSON or YAML, as OBO publishes them beside OBO and OWL.

A node is named as OBO names it: ``http://purl.obolibrary.org/obo/GO_0005634`` is ``GO:0005634``, so that the same
ontology is the same hierarchy in both formats. Look-ups take either spelling.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

from ....errors import InputError
from ....hierarchy.lookup_keys import obo_curie
from ....words import count
from ...memory import json_size, require_room, watched
from ..relation import Relation
from ..sample import Sample
from ..settings import ReadSettings
from ..source import Source
from ..terms import SYNONYM_NAMES, Terms, is_part_of, kinds_of, local_name, record_skipped
from .yaml_tree import load

_KEYS = re.compile(r'"(?:graphs|nodes|edges)"\s*+:')
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\],]', re.DOTALL)
_LIST = re.compile(r"\[\s*+\{")
_YAML = re.compile(r"(?:(?:%|---|#)[^\n]*+\n|\s++)*+(?:graphs:|nodes:|edges:|id:|meta:|- )")
_YAML_KEYS = re.compile(r"(?m)^[ -]*+(graphs|nodes|edges|sub|pred|obj|lbl):(?:[ ]|$)")
_DEEPEST_KEY = 6
_LISTS = ("nodes", "edges", "equivalentNodesSets", "logicalDefinitionAxioms")
_HEADER = frozenset(["id", "lbl", "meta", *_LISTS])
_REPLACED_BY = frozenset(["IAO_0100001", "replaced_by", "term_replaced_by"])


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """Certain if edges have ``sub`` and ``obj``, or nodes have what only nodes of obographs have."""
    text = sample.text.lstrip()
    if text.startswith("[") and not _opens_a_list_of_graphs(text, sample.whole):
        return 0.0
    if text.startswith(("{", "[")):
        return 1.0 if _KEYS.search(text) and _is_graph(_key_paths(text)) else 0.0
    if not _YAML.match(text):
        return 0.0
    keys = set(_YAML_KEYS.findall(text))
    return 1.0 if {"sub", "pred", "obj"} <= keys or {"graphs", "nodes", "lbl"} <= keys else 0.0


def _opens_a_list_of_graphs(text: str, is_whole: bool) -> bool:
    """Whether a text with a bracket at the top may be a JSON list of objects; Newick comments and OBO begin so, too."""
    if not _LIST.match(text):
        return False
    try:
        json.loads(text) if is_whole else None
    except (ValueError, RecursionError):
        return False
    return True


def _is_graph(paths: set[tuple[str, ...]]) -> bool:
    in_graphs = {path[1:] for path in paths if path[0] == "graphs"}
    for graph in (in_graphs, paths):
        if {("edges", "sub"), ("edges", "obj")} <= graph or {("nodes", "id"), ("nodes", "lbl")} <= graph:
            return True
    return {("nodes", "id"), ("nodes", "meta")} <= in_graphs or {("nodes", "id"), ("nodes", "type")} <= in_graphs


def _key_paths(text: str) -> set[tuple[str, ...]]:
    """Paths of the keys near the top of a JSON text, which may be cut off; steps into lists are left out."""
    paths: set[tuple[str, ...]] = set()
    keys: list[str | None] = []  # of the objects and lists that are open; a list has None
    is_key = False
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark[0] == '"':
            if is_key and len(keys) <= _DEEPEST_KEY:
                keys[-1] = mark[1:-1]
                paths.add(tuple(key for key in keys if key is not None))
            is_key = False
        elif mark in "{[":
            keys.append("" if mark == "{" else None)
            is_key = mark == "{"
        elif mark == ",":
            is_key = bool(keys) and keys[-1] is not None
        else:
            is_key = False
            if keys:
                keys.pop()
    return paths


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of the classes by id; deprecated classes, properties and individuals are left out and counted."""
    reader = _Reader(settings, source.label)
    graphs = _graphs(source)
    for number, graph in enumerate(graphs):
        reader.take_nodes(graph, f"graphs[{number}]" if len(graphs) > 1 else "the graph")
    for number, graph in enumerate(graphs):
        reader.take_axioms(graph, f"graphs[{number}]" if len(graphs) > 1 else "the graph")
    relation = reader.finish()
    if len(graphs) > 1:
        relation.notes.append(f"{count(len(graphs), 'graph')} of the file joined")
    return relation


def _graphs(source: Source) -> list[dict[str, Any]]:
    """The graphs of a document, or of a list of graphs, or the one graph that the file is."""
    is_json = source.sample_text.lstrip().startswith(("{", "["))
    document = _parsed(source) if is_json else load(source)
    graphs = document
    if isinstance(document, dict):
        graphs = document.get("graphs", [document])
    if not isinstance(graphs, list) or not graphs:
        raise InputError(f"{source.label} is not valid obographs: it has no list of graphs; give nodes and edges")
    for number, graph in enumerate(graphs):
        if not isinstance(graph, dict) or not ("nodes" in graph or "edges" in graph):
            raise InputError(f"{source.label} is not valid obographs: graph {number + 1} has neither nodes nor edges")
    return graphs


def _parsed(source: Source) -> Any:
    text = source.text
    require_room(json_size(text))
    try:
        return json.loads(text, object_pairs_hook=partial(_object, label=source.label))
    except RecursionError:
        raise InputError(f"{source.label} is nested too deeply for JSON: convert it to OBO") from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"{source.label}, line {error.lineno}: not valid JSON at column {error.colno} ({error.msg}); correct it, "
            "or download it again"
        ) from None


def _object(pairs: list[tuple[str, Any]], label: str) -> dict[str, Any]:
    """An object; one that repeats a key is refused, since only the last of the two would stay."""
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = next(key for key, number in Counter(key for key, _ in pairs).items() if number > 1)
        raise InputError(f"{label} is not valid obographs: an object has the key {twice!r} twice; join the two")
    return made


class _Reader:
    """Takes in the graphs of one file."""

    def __init__(self, settings: ReadSettings, label: str) -> None:
        self.terms = Terms(settings)
        self._label = label
        self._kinds: dict[str, str] = {}
        """Kind of each node: CLASS, PROPERTY, INDIVIDUAL, or empty if the file does not say."""
        self._stated_before: set[tuple[str, str]] = set()
        """Pairs of earlier graphs: graphs of one file often state the same, which is no repair."""
        self._meta: Counter[str] = Counter()
        self._axioms: Counter[str] = Counter()

    def take_nodes(self, graph: dict[str, Any], where: str) -> None:
        """Declare the classes of a graph, with all that describes them."""
        for node, place in self._objects(graph, "nodes", where):
            name = obo_curie(self._text(node, "id", place))
            kind = str(node.get("type") or "").upper()
            known = self._kinds.get(name, "")
            if kind and known and kind != known:
                self._wrong(place, f"is {name} of type {kind}, and another node of this id has type {known}")
            self._kinds[name] = kind or known
            if kind in ("", "CLASS"):
                self._describe(name, node, place)

    def _describe(self, name: str, node: dict[str, Any], place: str) -> None:
        label = node.get("lbl")
        if isinstance(label, (dict, list)):
            self._wrong(place, "has a lbl that is no text")
        if label is not None:
            self.terms.label(name, str(label))
        meta = node.get("meta") or {}
        if not isinstance(meta, dict):
            self._wrong(place, "has a meta that is no object")
        for key, value in meta.items():
            if key == "deprecated":
                if _is_true(value):
                    self.terms.obsolete.add(name)
            elif key == "synonyms":
                for synonym in value if isinstance(value, list) else [value]:
                    self._take_synonym(name, synonym)
            elif key == "basicPropertyValues":
                for pair in value if isinstance(value, list) else [value]:
                    self._take_value(name, pair)
            else:
                self._meta[key] += len(value) if isinstance(value, list) else 1

    def _take_synonym(self, name: str, synonym: Any) -> None:
        text = synonym.get("val") if isinstance(synonym, dict) else None
        if isinstance(text, str):
            self.terms.synonym(name, text)
        else:
            self._meta["synonyms without a val"] += 1

    def _take_value(self, name: str, pair: Any) -> None:
        """A property of a node, by the full name of the property."""
        predicate, text = (pair.get("pred"), pair.get("val")) if isinstance(pair, dict) else (None, None)
        if not isinstance(predicate, str) or not isinstance(text, str):
            self._meta["basicPropertyValues without a val"] += 1
            return
        property_name = local_name(predicate).rpartition(":")[2]
        if property_name == "hasAlternativeId":
            self.terms.alternative(name, obo_curie(text))
        elif property_name in _REPLACED_BY:
            self.terms.replaced(name, obo_curie(text))
        elif property_name == "deprecated":
            if _is_true(text):
                self.terms.obsolete.add(name)
        elif property_name in SYNONYM_NAMES:
            if obo_curie(text) != name:
                self.terms.synonym(name, text)
        else:
            self._meta[property_name] += 1

    def take_axioms(self, graph: dict[str, Any], where: str) -> None:
        """Take in the edges of a graph and its definitions, once all nodes of the file are known."""
        self._stated_before = {edge[:2] for edge in self.terms.parents}
        for edge, place in self._objects(graph, "edges", where):
            low, high = (obo_curie(self._text(edge, key, place)) for key in ("sub", "obj"))
            self._take_edge(low, self._text(edge, "pred", place), high)
        for axiom, place in self._objects(graph, "logicalDefinitionAxioms", where):
            term = obo_curie(self._text(axiom, "definedClassId", place))
            genera, restrictions = axiom.get("genusIds") or [], axiom.get("restrictions") or []
            if not isinstance(genera, list) or not all(isinstance(genus, str) for genus in genera):
                self._wrong(place, "has genusIds that are no list of ids")
            for genus in genera:
                self.terms.genus(term, obo_curie(genus))
            self.terms.relations["restrictions of definitions"] += (
                len(restrictions) if isinstance(restrictions, list) else 1
            )
        for _ in self._objects(graph, "equivalentNodesSets", where):
            self.terms.relations["equivalentNodesSets"] += 1
        for key, value in graph.items():
            if key not in _HEADER and value:
                self._axioms[key] += len(value) if isinstance(value, list) else 1

    def _take_edge(self, low: str, predicate: str, high: str) -> None:
        name = local_name(predicate).rpartition(":")[2]
        between = {self._kinds.get(low, ""), self._kinds.get(high, "")} - {"", "CLASS"}
        if between:
            self.terms.relations[f"{name} of {min(between)}"] += 1
        elif name in ("is_a", "subClassOf"):
            if (low, high) not in self._stated_before:
                self.terms.parent(low, high)
        elif is_part_of(predicate):
            self.terms.part(low, high)
        else:
            self.terms.relations[name] += 1

    def finish(self) -> Relation:
        """The relation of all graphs."""
        terms = self.terms
        # If some nodes have a type, one without it is no class unless an edge of classes has it.
        is_typed = any(self._kinds.values())
        terms.declared = {name: None for name, kind in self._kinds.items() if kind == "CLASS" or not (kind or is_typed)}
        terms.obsolete &= {name for name, kind in self._kinds.items() if kind in ("", "CLASS")}
        if not terms.declared.keys() - terms.obsolete and not terms.parents:
            raise InputError(
                f"{self._label} has no node of type CLASS that is not deprecated: give one with is_a edges"
            )
        placed = {name for edge in (*terms.parents, *terms.parts) for name in edge[:2]}
        others = Counter(
            kind or "without a type"
            for name, kind in self._kinds.items()
            if name not in terms.declared and (kind or name not in placed)
        )
        relation = terms.finish("obographs", self._label, is_table=True)
        if others:
            number = count(others.total(), "node")
            relation.notes.append(f"{number} that are no classes passed over ({kinds_of(others)})")
        if self._meta:
            number = count(self._meta.total(), "annotation")
            relation.notes.append(f"{number} of other kinds passed over ({kinds_of(self._meta)})")
        if self._axioms:
            number = count(self._axioms.total(), "axiom")
            relation.notes.append(f"{number} of other kinds passed over ({kinds_of(self._axioms)})")
        record_skipped(relation, others + self._meta + self._axioms)
        return relation

    def _objects(self, graph: dict[str, Any], key: str, where: str) -> Iterator[tuple[dict[str, Any], str]]:
        """The objects of a list in a graph, each with the words for where it is."""
        values = graph.get(key) or []
        if not isinstance(values, list):
            self._wrong(where, f"has {key} that are no list")
        for number, value in watched(enumerate(values)):
            place = f"{where}, {key}[{number}]"
            if not isinstance(value, dict):
                self._wrong(place, "is no object")
            yield value, place

    def _text(self, value: dict[str, Any], key: str, place: str) -> str:
        text = value.get(key)
        if not isinstance(text, str) or not text.strip():
            self._wrong(place, f"has no {key}")
        return str(text).strip()

    def _wrong(self, place: str, fault: str) -> None:
        raise InputError(f"{self._label} is not valid obographs: {place}, {fault}; correct it there")


def _is_true(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value.strip().lower() in ("true", "1"))
