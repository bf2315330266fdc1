"""Triples: what RDF statements, in any order, say of a hierarchy of classes or concepts.

A class expression is a tree of unnamed nodes in RDF; what stands below and inside of them is kept until all statements
have been seen, and read then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set

from ...errors import InputError
from ...words import count
from .relation import Relation
from .settings import ReadSettings
from .terms import Terms, is_part_of, kinds_of, local_name, record_skipped

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
_SKOSXL = "http://www.w3.org/2008/05/skos-xl#"

_NODE_TYPES = frozenset([OWL + "Class", RDFS + "Class", SKOS + "Concept", OWL + "DeprecatedClass"])
_INDIVIDUAL = OWL + "NamedIndividual"
_EXPRESSION = frozenset(
    OWL + name for name in ("onProperty", "someValuesFrom", "intersectionOf", "unionOf", "complementOf", "oneOf")
) | {RDF + "first", RDF + "rest"}
_AXIOM = frozenset(OWL + name for name in ("annotatedSource", "annotatedProperty", "annotatedTarget"))
_LABELS = {SKOS + "prefLabel": 0, RDFS + "label": 1}
_OBO_IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
_OBO_NAMES = ("id", "hasAlternativeId", "hasExactSynonym", "hasRelatedSynonym", "hasNarrowSynonym", "hasBroadSynonym")
_OTHER_NAMES = frozenset(SKOS + name for name in ("altLabel", "hiddenLabel", "notation")) | frozenset(
    _OBO_IN_OWL + name for name in _OBO_NAMES
)
_BY_REFERENCE = frozenset(_OBO_IN_OWL + name for name in _OBO_NAMES if name.endswith("Synonym")) | frozenset(
    _SKOSXL + name for name in ("altLabel", "hiddenLabel")
)
"""Properties of a term and a resource of its own, whose label or literal form is a synonym of the term."""
_REPLACED_BY = "http://purl.obolibrary.org/obo/IAO_0100001"
_UP = {SKOS + "broader": False, SKOS + "narrower": True}
_UP_TRANSITIVE = {SKOS + "broaderTransitive": False, SKOS + "narrowerTransitive": True}


class Triples:
    """Collects statements; a resource is its IRI, an unnamed one ``_:`` and its id."""

    def __init__(self, settings: ReadSettings) -> None:
        self.terms = Terms(settings)
        self._above: dict[tuple[str, str], None] = {}
        self._transitive: dict[str, dict[str, None]] = {}
        self._superclass: list[tuple[str, str]] = []
        self._equivalent: list[tuple[str, str]] = []
        self._inside: dict[str, dict[str, str]] = {}
        self._types: dict[str, str] = {}
        self._label_of: dict[str, list[str]] = {}
        self._literal: dict[str, tuple[str, str]] = {}
        self._synonym_of: list[tuple[str, str, str]] = []
        self._links: Counter[str] = Counter()
        self.imports = 0

    def add_literal(self, subject: str, predicate: str, text: str, language: str = "") -> None:
        """Take in a statement about a resource and a text."""
        if predicate in _LABELS:
            if not subject.startswith("_:"):
                self.terms.label(subject, text, language, _LABELS[predicate])
            else:
                self.terms.synonym(subject, text)  # a term may refer to it for a synonym
        elif predicate in _OTHER_NAMES:
            if not subject.startswith("_:"):
                self.terms.synonym(subject, text)
        elif predicate == OWL + "deprecated":
            if text.strip().lower() in ("true", "1"):
                self.terms.obsolete.add(subject)
        elif predicate == _SKOSXL + "literalForm":
            self._literal[subject] = (text, language)

    def add(self, subject: str, predicate: str, value: str) -> None:
        """Take in a statement about two resources."""
        if predicate == RDF + "type":
            self._take_type(subject, value)
        elif predicate == RDFS + "subClassOf":
            self._superclass.append((subject, value))
        elif predicate in _UP:
            child, parent = (value, subject) if _UP[predicate] else (subject, value)
            if child != parent or not _UP[predicate]:
                self._superclass.append((child, parent))
        elif predicate in _UP_TRANSITIVE:
            child, parent = (value, subject) if _UP_TRANSITIVE[predicate] else (subject, value)
            self._transitive.setdefault(child, {})[parent] = None
        elif predicate == OWL + "equivalentClass":
            self._equivalent.append((subject, value))
        elif predicate in _EXPRESSION:
            self._inside.setdefault(subject, {})[predicate] = value
        elif predicate == _SKOSXL + "prefLabel":
            self._label_of.setdefault(subject, []).append(value)
        elif predicate == _REPLACED_BY and not subject.startswith("_:"):
            self.terms.replaced(subject, value)
        elif predicate in _BY_REFERENCE and not subject.startswith("_:"):
            self._synonym_of.append((subject, predicate, value))
        elif predicate == OWL + "imports":
            self.imports += 1
        elif subject.startswith("_:") or value.startswith("_:") or predicate in _AXIOM:
            return  # annotations of axioms, members of lists: nothing that has a name
        elif is_part_of(predicate):
            self.terms.part(subject, value)
        else:
            self._links[local_name(predicate)] += 1

    def _take_type(self, subject: str, kind: str) -> None:
        if subject.startswith("_:"):
            return
        if kind in _NODE_TYPES:
            self.terms.declared[subject] = None
            if kind == OWL + "DeprecatedClass":
                self.terms.obsolete.add(subject)
        elif self._types.get(subject, _INDIVIDUAL) == _INDIVIDUAL:
            self._types[subject] = kind

    def finish(self, label: str) -> Relation:
        """The relation; ``label`` is how messages call the input."""
        unnamed = self._resolve()
        terms = self.terms
        stated = {node for child, parent, _ in terms.parents for node in (child, parent)}
        if not stated and not terms.genera and not terms.declared:
            raise InputError(
                f"{label} has no rdfs:subClassOf, skos:broader or skos:narrower between named resources: nothing "
                "in it is above anything else"
            )
        for node, forms in self._label_of.items():
            for form in forms:
                if form in self._literal:
                    terms.label(node, *self._literal[form])
        referred = self._read_references(terms.declared.keys() | stated)
        # A deprecated property is no term; it is counted by its kind.
        terms.obsolete -= {node for node in self._types if node not in terms.declared and node not in stated}
        relation = terms.finish("RDF", label, is_table=False)
        if unnamed:
            relation.notes.append(f"{count(unnamed, 'relation')} to or from unnamed classes passed over")
            record_skipped(relation, Counter({"relation to or from an unnamed class": unnamed}))
        others = Counter(
            local_name(kind)
            for node, kind in self._types.items()
            if not (node in terms.declared or node in stated or node in self._literal or node in referred)
        )
        if others:
            relation.notes.append(
                f"{count(others.total(), 'typed resource')} besides classes and concepts passed over "
                f"({kinds_of(others)})"
            )
        record_skipped(relation, others)
        record_skipped(relation, self._links)
        if self._links:
            relation.notes.append(
                f"{count(self._links.total(), 'link')} of other kinds passed over ({kinds_of(self._links)})"
            )
        if self.imports:
            relation.notes.append(f"{count(self.imports, 'import')} not followed: only this file was read")
            record_skipped(relation, Counter({"import": self.imports}))
        return relation

    def _read_references(self, terms: Set[str]) -> set[str]:
        """Take the labels of the resources that ``terms`` refer to for synonyms; -> those resources.

        A reference to another term, or to a resource without a label, is a link like others.
        """
        referred = set()
        for term, predicate, resource in self._synonym_of:
            texts = [] if resource in terms else self.terms.texts(resource)
            if resource in self._literal:
                texts = [*texts, self._literal[resource][0]]
            for text in texts:
                self.terms.synonym(term, text)
            if texts:
                referred.add(resource)
            else:
                self._links[local_name(predicate)] += 1
        return referred

    # ---- class expressions ----

    def _resolve(self) -> int:
        """Hand on what is above what; -> number of relations that no named class takes part in."""
        unnamed = 0
        for child, parent in self._superclass:
            if child.startswith("_:"):
                unnamed += 1
            else:
                unnamed += self._above_class(child, parent)
        for first, second in self._equivalent:
            named, other = (second, first) if first.startswith("_:") else (first, second)
            if named.startswith("_:"):
                unnamed += 1
            else:
                self._define(named, other)
        for subject, inside in self._inside.items():
            if not subject.startswith("_:") and OWL + "intersectionOf" in inside:
                self._define(subject, subject)
        self._take_transitive()
        return unnamed

    def _edge(self, child: str, parent: str) -> None:
        # broader and narrower often state the same pair twice; that is no repair.
        if (child, parent) not in self._above:
            self._above[child, parent] = None
            self.terms.parent(child, parent)

    def _above_class(self, child: str, above: str) -> int:
        """``above``, a class or an expression, is above ``child``; -> how much of it says nothing of named classes."""
        lost = 0
        for one in self._conjuncts([above]):
            inside = self._inside.get(one, {})
            if not one.startswith("_:"):
                self._edge(child, one)
            elif OWL + "onProperty" in inside:
                self._restricted(child, inside[OWL + "onProperty"], inside.get(OWL + "someValuesFrom", "_:"))
            else:
                lost += 1
        return lost

    def _restricted(self, child: str, relation: str, filler: str) -> None:
        """``child`` has a relation to some ``filler``."""
        if is_part_of(relation) and not filler.startswith("_:"):
            self.terms.part(child, filler)
        else:
            self.terms.relations["inverse" if relation.startswith("_:") else local_name(relation)] += 1

    def _define(self, term: str, definition: str) -> None:
        """``term`` means the same as ``definition``."""
        self.terms.relations["equivalentClass"] += 1
        parts = self._members(self._inside.get(definition, {}).get(OWL + "intersectionOf", ""))
        for part in self._conjuncts(parts):
            if not part.startswith("_:"):
                self.terms.genus(term, part)

    def _conjuncts(self, expressions: Iterable[str]) -> Iterator[str]:
        """The expressions, with the members of unnamed intersections, nested ones too, in their place."""
        pending = list(dict.fromkeys(expressions))
        seen = set(pending)
        pending.reverse()
        while pending:
            one = pending.pop()
            members = self._inside.get(one, {}).get(OWL + "intersectionOf") if one.startswith("_:") else None
            if members is None:
                yield one
                continue
            parts = [part for part in dict.fromkeys(self._members(members)) if part not in seen]
            seen.update(parts)
            pending.extend(reversed(parts))

    def _members(self, head: str) -> Iterator[str]:
        """Members of an RDF list; one that bites its tail ends there."""
        seen = set()
        while head in self._inside and head not in seen:
            seen.add(head)
            cell = self._inside[head]
            if RDF + "first" in cell:
                yield cell[RDF + "first"]
            head = cell.get(RDF + "rest", "")

    def _take_transitive(self) -> None:
        """Of skos:broaderTransitive, what nothing else implies; the rest are ancestors further up."""
        above: dict[str, set[str]] = {child: set(parents) for child, parents in self._transitive.items()}
        for child, parent in self._above:
            above.setdefault(child, set()).add(parent)
        for child, parents in self._transitive.items():
            own = above[child]
            implied: set[str] = set()
            for one in own:
                if one != child:
                    implied.update(far for far in above.get(one, ()) if far in own and one not in above.get(far, ()))
            for parent in parents:
                if child == parent or parent.startswith("_:") or child.startswith("_:"):
                    continue
                if parent in implied and parent != child:
                    self.terms.relations["broaderTransitive"] += (child, parent) not in self._above
                else:
                    self._edge(child, parent)
