"""Terms: what an ontology says of its terms, gathered in any order; OBO and all ways to write OWL and SKOS share it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set

from ...errors import InputError
from ...hierarchy.read_report import listed
from ...hierarchy.repairs import RepairKind
from ...words import count
from .genera import Genera, parents_by_definition
from .hints import setting
from .relation import MISSING, Relation, RelationBuilder
from .settings import ReadSettings

_KINDS_SHOWN = 5
_OWL = "http://www.w3.org/2002/07/owl#"
_UNIVERSAL = frozenset(prefix + name for prefix in ("owl:", _OWL) for name in ("Thing", "Nothing"))
"""Classes of everything and of nothing: every term is below the first, and a hierarchy has neither as a node."""
_PART_OF = frozenset(["bfo_0000050", "bfo:0000050", "part_of", "partof", "is_part_of", "ispartof"])

_SCOPES = ("hasExactSynonym", "hasRelatedSynonym", "hasNarrowSynonym", "hasBroadSynonym")
SYNONYM_NAMES = frozenset(["id", *_SCOPES, "altLabel", "hiddenLabel", "notation"])
"""Properties, by the last step of their IRIs, whose texts find a term."""

_Edge = tuple[str, str, int | None]
"""Child, parent, and the line that states it, if known."""


def is_part_of(relation: str) -> bool:
    """Whether a relation, given by IRI, CURIE or name, says that one thing is a part of another."""
    name = local_name(relation).lower().removeprefix("undefined_")
    return name in _PART_OF or name.rpartition(":")[2] in _PART_OF


def local_name(iri: str) -> str:
    """Last step of an IRI: ``http://e.org/x#part_of`` -> ``part_of``."""
    return iri.rstrip("/#").replace("#", "/").rpartition("/")[2] or iri


class Terms:
    """Terms by id, their parents and labels, and a count of everything that is not used."""

    def __init__(self, settings: ReadSettings) -> None:
        self.settings = settings
        self.declared: dict[str, None] = {}
        self.obsolete: set[str] = set()
        self.parents: list[_Edge] = []
        self.genera: dict[str, list[str]] = {}
        self.relations: Counter[str] = Counter()
        """Relations between terms that make no edge, by kind."""
        self.parts: list[_Edge] = []
        self.tagged = False
        """Whether any label has a language."""
        self._labels: dict[str, tuple[int, str]] = {}
        self._synonyms: dict[str, dict[str, None]] = {}
        self._alternatives: dict[str, str] = {}
        self._replacements: dict[str, dict[str, None]] = {}

    def parent(self, child: str, parent: str, line: int | None = None) -> None:
        """``child`` is below ``parent``."""
        self.parents.append((child, parent, line))

    def part(self, child: str, whole: str, line: int | None = None) -> None:
        """``child`` is part of ``whole``: an edge where the user asked for it, else counted."""
        self.parts.append((child, whole, line))

    def genus(self, term: str, genus: str) -> None:
        """``term`` is defined as a ``genus`` with something more, so the genus is a parent."""
        self.genera.setdefault(term, []).append(genus)

    def label(self, term: str, text: str, language: str = "", rank: int = 0) -> None:
        """A label; of several the one in the wanted language stays, then that of lower ``rank``, then the first."""
        self.tagged = self.tagged or bool(language)
        weight = 10 * self._distance(language) + rank
        if not text.strip():
            return
        self.synonym(term, text)
        if term not in self._labels or weight < self._labels[term][0]:
            self._labels[term] = (weight, text)

    def synonym(self, term: str, text: str) -> None:
        """What a term is found by besides its id and its label: synonyms, alternative ids, labels that did not stay."""
        self._synonyms.setdefault(term, {})[text] = None

    def texts(self, term: str) -> list[str]:
        """Labels and synonyms of a term, or of a resource that is none."""
        return list(self._synonyms.get(term, ()))

    def alternative(self, term: str, other: str) -> None:
        """Another id of a term: it is found by it, and others may refer to it by it."""
        self.synonym(term, other)
        self._alternatives.setdefault(other, term)

    def replaced(self, term: str, by: str) -> None:
        """``term``, if it is obsolete, has a successor: it is found by the old id, and references to that mean it."""
        self._replacements.setdefault(term, {})[by] = None

    def take_mergers(self, described: Set[str]) -> int:
        """Tell terms from what is left of merged ones; -> how many terms only list alternative ids, and are none.

        ``described`` are the terms that have more than ids. A term without a label whose id is an alternative
        one of another term is obsolete: it was merged with that term.
        """
        for other in self._alternatives:
            if other in self.declared and other not in self._labels:
                self.obsolete.add(other)
        bare = {term for term in self._alternatives.values() if term in self.declared and term not in described}
        for term in bare:
            del self.declared[term]
        return len(bare)

    def _meant(self, term: str) -> str:
        """The term that an id refers to: that of this id, else the one with this alternative id; a live one, if any."""
        meant, seen = term, {term}
        while meant not in self.declared or meant in self.obsolete:
            meant = self._alternatives.get(meant, "")
            if not meant or meant in seen:
                return term
            seen.add(meant)
        return meant

    def _above(self, child: str, parent: str) -> str:
        """The term that ``child`` names as its parent; an obsolete one that ``child`` itself replaces stays."""
        meant = self._meant(parent)
        return parent if meant == child and parent in self.obsolete else meant

    def _take_replacements(self) -> None:
        """Make the ids of obsolete terms alternative ids of their successors; of several, none is meant."""
        for term, successors in self._replacements.items():
            if term in self.obsolete and len(successors) == 1:
                self.alternative(next(iter(successors)), term)
            else:
                self.relations["replaced_by"] += len(successors)

    def _distance(self, language: str) -> int:
        """How far a language is from what is wanted: that one, English, none, any other."""
        wanted, given = self.settings.language.lower(), language.lower()
        if wanted != "auto" and (given == wanted or given.startswith(wanted + "-")):
            return 0
        return 1 if given == "en" or given.startswith("en-") else 3 if given else 2

    def finish(self, format: str, label: str, is_table: bool) -> Relation:
        """The relation: obsolete terms and what hangs on them left out, everything left out counted in its notes.

        A flat list is refused; ``label`` is what the message calls the input.
        """
        other_ids = self._resolve_alternatives()
        universal = self._leave_out_universal()
        builder = RelationBuilder()
        for term in self.declared:
            if term not in self.obsolete:
                builder.node(term)
        stated = self.parents
        if self.settings.part_of:
            pairs = {edge[:2] for edge in stated}  # what is both below and part of another is so once
            stated = stated + [edge for edge in self.parts if edge[:2] not in pairs]
        kept = [edge for edge in stated if self.obsolete.isdisjoint(edge[:2])]
        lost = [edge for edge in stated if not self.obsolete.isdisjoint(edge[:2])]
        genera = self._genera()
        kept = [edge for edge in kept if edge[:2] not in genera.redundant]
        for child, parent, line in [*kept, *((*pair, None) for pair in genera.added)]:
            builder.edge(builder.node(child), builder.node(parent), line=line or 0)
        placed = {child for child, parent, _ in kept if child != parent} | {child for child, _ in genera.added}
        if not placed:
            self._refuse_flat_list(label)
        for term in self.declared:
            if term not in placed and term not in self.obsolete:
                builder.edge(builder.node(term), MISSING, line=0)
        lines, known = builder.lines, [str(name) for name in builder.names]
        relation = builder.finish(format, direction="child-parent", is_table=is_table)
        relation.line_of = lambda pair: lines[pair] or None
        found = [self._labels[name][1] if name in self._labels else None for name in known]
        relation.labels = found if any(found) else None
        relation.synonyms = [
            [text for text in self._synonyms.get(name, ()) if text != label]
            for name, label in zip(known, found, strict=True)
        ]
        relation.notes.extend(self._notes(len(lost), genera, known))
        if universal:
            passed_over = f"{count(universal, 'relation')} to owl:Thing or owl:Nothing passed over"
            relation.notes.append(f"{passed_over}: neither is a node")
            record_skipped(relation, Counter({"relation to owl:Thing or owl:Nothing": universal}))
        if other_ids:
            number = count(len(other_ids), "reference")
            relation.notes.append(f"{number} by an alternative id taken for the term itself")
        _record_edges(relation, RepairKind.ALTERNATIVE_IDS, other_ids)
        relation.record_nodes(RepairKind.OBSOLETE_TERMS, sorted(self.obsolete))
        _record_edges(relation, RepairKind.OBSOLETE_RELATIONS, lost)
        _record_edges(relation, RepairKind.GENUS_PARENTS, [(*pair, None) for pair in genera.added])
        _record_edges(relation, RepairKind.IMPLIED_EDGES, [(*pair, None) for pair in sorted(genera.redundant)])
        if genera.closing:
            record_skipped(relation, Counter({"definition with a genus below the defined term": genera.closing}))
        if not self.settings.part_of:
            _record_edges(relation, RepairKind.PART_OF_SKIPPED, self.parts)
        record_skipped(relation, self.relations)
        relation.record_nodes(RepairKind.OTHER_LANGUAGES, self._without_language(known))
        return relation

    def _leave_out_universal(self) -> int:
        """Drop owl:Thing and owl:Nothing, and all that relates to them; -> how many relations to them were stated."""
        for name in _UNIVERSAL:
            self.declared.pop(name, None)
        before = len(self.parents) + len(self.parts)
        self.parents = [edge for edge in self.parents if _UNIVERSAL.isdisjoint(edge[:2])]
        self.parts = [edge for edge in self.parts if _UNIVERSAL.isdisjoint(edge[:2])]
        self.genera = {
            term: [one for one in genera if one not in _UNIVERSAL]
            for term, genera in self.genera.items()
            if term not in _UNIVERSAL
        }
        return before - len(self.parents) - len(self.parts)

    def _refuse_flat_list(self, label: str) -> None:
        """Raise InputError: joined under one root, the terms would be a star that nobody stated."""
        number = len(self.declared.keys() - self.obsolete)
        what = f"is a flat list of {count(number, 'term')}" if number else "states no hierarchy"
        remedy = "give the file that states what is below what"
        if self.parts and not self.settings.part_of:
            remedy = f"{setting('part_of', 'true')} follows its {count(len(self.parts), 'part_of relation')}"
        raise InputError(
            f"{label} {what}: no term is below another, by is_a, rdfs:subClassOf or skos:broader; {remedy}"
        )

    def _resolve_alternatives(self) -> list[_Edge]:
        """Let relations name terms by their own ids; -> those that named one by another."""
        self._take_replacements()
        if not self._alternatives:
            return []
        before = [*self.parents, *self.parts]
        self.parents = [(child, self._above(child, parent), line) for child, parent, line in self.parents]
        self.parts = [(child, self._above(child, whole), line) for child, whole, line in self.parts]
        self.genera = {term: [self._meant(one) for one in genera] for term, genera in self.genera.items()}
        return [old for old, new in zip(before, [*self.parents, *self.parts], strict=True) if old != new]

    def _genera(self) -> Genera:
        """What the definitions add, of terms that are not obsolete; part_of edges take no part in it."""
        stated = [edge[:2] for edge in self.parents if self.obsolete.isdisjoint(edge[:2])]
        defined = ((term, genus) for term, genera in self.genera.items() for genus in genera)
        usable = (pair for pair in defined if self.obsolete.isdisjoint(pair))
        return parents_by_definition(stated, usable, keep_all=self.settings.reduce == "never")

    def _without_language(self, known: Iterable[str]) -> list[str]:
        """Nodes without a label in the language that the settings name."""
        if self.settings.language == "auto":
            return []
        return [name for name in known if name not in self._labels or self._labels[name][0] >= 10]

    def _notes(self, lost: int, genera: Genera, known: Iterable[str]) -> Iterable[str]:
        if self.obsolete:
            with_them = f", and {count(lost, 'relation')} with them" if lost else ""
            yield f"{count(len(self.obsolete), 'obsolete term')} left out{with_them}"
        yield from genera.notes()
        if self.parts and not self.settings.part_of:
            follow = setting("part_of", "true")
            yield f"{count(len(self.parts), 'part_of relation')} passed over; {follow} follows them"
        if self.relations:
            kinds = kinds_of(self.relations)
            yield f"{count(self.relations.total(), 'other relation')} passed over ({kinds})"
        language = self.settings.language
        if language != "auto":
            lacking = self._without_language(known)
            if lacking:
                nodes = count(len(lacking), "node")
                yield f"{nodes} without a label in {language!r}: English, plain or any other stands in"


def _record_edges(relation: Relation, kind: RepairKind, edges: Sequence[_Edge]) -> None:
    """List edges by their child."""
    details = [f"{child} -> {parent}" for child, parent, _ in edges]
    relation.record_nodes(kind, [child for child, _, _ in edges], details, [line for _, _, line in edges])


def record_skipped(relation: Relation, counted: Counter[str]) -> None:
    """List what makes no edge, by its kind."""
    details = [f"{kind} {number:,}" for kind, number in counted.most_common()]
    relation.record_lines(RepairKind.STATEMENTS_SKIPPED, [None] * len(details), details)


def kinds_of(counted: Counter[str]) -> str:
    """The most frequent kinds with their numbers: ``has_part 12, develops_from 3, ...``."""
    shown = (f"{kind} {number:,}" for kind, number in counted.most_common())
    return listed(shown, len(counted), most=_KINDS_SHOWN)
