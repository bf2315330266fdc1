"""Axioms of OWL, in functional syntax or as XML, as the RDF statements that they stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .settings import ReadSettings
from .triples import OWL, RDF, RDFS, Triples

_RESTRICTIONS = ("SomeValuesFrom", "AllValuesFrom", "HasValue", "HasSelf", "Cardinality")
_AXIOM_ENDINGS = ("PropertyDomain", "PropertyRange", "PropertyAssertion", "Definition")
_TYPES = {
    "Class": OWL + "Class",
    "NamedIndividual": OWL + "NamedIndividual",
    "ObjectProperty": OWL + "ObjectProperty",
    "DataProperty": OWL + "DatatypeProperty",
    "AnnotationProperty": OWL + "AnnotationProperty",
    "Datatype": RDFS + "Datatype",
}


class Text(str):
    """A literal, with its language."""

    language = ""


class Axioms:
    """Takes expressions from the innermost outwards, each with the values of those inside of it."""

    def __init__(self, settings: ReadSettings) -> None:
        self.triples = Triples(settings)
        self.unused: Counter[str] = Counter()
        """Axioms that say nothing of a hierarchy, by kind."""
        self._unnamed = 0

    def close(self, name: str, inside: Sequence[str]) -> str:
        """Value of the expression ``name(inside...)``: the IRI or ``_:`` id of a class, or nothing for an axiom."""
        add = self.triples.add
        if name == "SubClassOf" and len(inside) >= 2:
            add(inside[-2], RDFS + "subClassOf", inside[-1])
        elif name == "EquivalentClasses" and len(inside) >= 2:
            named = [one for one in inside if not one.startswith("_:")]
            for other in inside:
                if other.startswith("_:") or (named and other != named[0]):
                    add(named[0] if named else inside[0], OWL + "equivalentClass", other)
        elif name == "AnnotationAssertion" and len(inside) >= 3:
            self._annotate(inside[-2], inside[-3], inside[-1])
        elif name in _TYPES and len(inside) == 1:
            return f"{name} {inside[0]}"
        elif name == "Declaration" and inside:
            kind, _, iri = inside[-1].partition(" ")
            add(iri, RDF + "type", _TYPES.get(kind, OWL + "Class"))
        elif name == "ClassAssertion" and len(inside) >= 2:
            add(inside[-1], RDF + "type", inside[-2])
        elif name.startswith(("Object", "Data")) and not name.endswith(_AXIOM_ENDINGS):
            return self._expression(name, inside)
        elif name == "Import":
            self.triples.imports += 1
        elif name not in ("Annotation", "Ontology", "Prefix"):
            self.unused[name] += 1
        return ""

    def _annotate(self, subject: str, predicate: str, value: str) -> None:
        if isinstance(value, Text):
            self.triples.add_literal(subject, predicate, value, value.language)
        elif value:
            self.triples.add(subject, predicate, value)

    def _expression(self, name: str, inside: Sequence[str]) -> str:
        self._unnamed += 1
        key = f"_: {self._unnamed}"  # a blank, which the name of an individual in the file cannot have
        add = self.triples.add
        if name == "ObjectIntersectionOf":
            add(key, OWL + "intersectionOf", f"{key}.0")
            for number, member in enumerate(inside):
                add(f"{key}.{number}", RDF + "first", member)
                add(f"{key}.{number}", RDF + "rest", f"{key}.{number + 1}")
        elif name.endswith(_RESTRICTIONS):
            about = inside[1:] if inside and inside[0].isdecimal() else inside
            if about:
                add(key, OWL + "onProperty", about[0])
            if name == "ObjectSomeValuesFrom" and len(about) > 1:
                add(key, OWL + "someValuesFrom", about[1])
        return key
