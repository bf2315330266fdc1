"""Terms: what an ontology says of its terms, gathered in any order; OBO and all ways to write OWL and SKOS share it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ...hierarchy.read_report import listed
from ...words import count
from .hints import setting
from .relation import MISSING, Relation, RelationBuilder
from .settings import ReadSettings

_KINDS_SHOWN = 5


class Terms:
    """Terms by id, their parents and labels, and a count of everything that is not used."""

    def __init__(self, settings: ReadSettings) -> None:
        self.settings = settings
        self.declared: dict[str, None] = {}
        self.obsolete: set[str] = set()
        self.parents: list[tuple[str, str, int | None]] = []
        self.genera: dict[str, list[str]] = {}
        self.relations: Counter[str] = Counter()
        """Relations between terms that make no edge, by kind."""
        self.parts: list[tuple[str, str, int | None]] = []
        self.tagged = False
        """Whether any label has a language."""
        self._labels: dict[str, tuple[int, str]] = {}
        self._synonyms: dict[str, dict[str, None]] = {}
        self._alternatives: dict[str, str] = {}

    def parent(self, child: str, parent: str, line: int | None = None) -> None:
        """``child`` is below ``parent``."""
        self.parents.append((child, parent, line))

    def part(self, child: str, whole: str, line: int | None = None) -> None:
        """``child`` is part of ``whole``: an edge where the user asked for it, else counted."""
        self.parts.append((child, whole, line))

    def genus(self, term: str, genus: str) -> None:
        """``term`` is defined as a ``genus`` with something more: a parent for want of any other."""
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

    def alternative(self, term: str, other: str) -> None:
        """Another id of a term: it is found by it, and others may refer to it by it."""
        self.synonym(term, other)
        self._alternatives.setdefault(other, term)

    def _meant(self, term: str) -> str:
        """The term that an id refers to: that of this id, else the one with this alternative id."""
        return term if term in self.declared else self._alternatives.get(term, term)

    def _distance(self, language: str) -> int:
        """How far a language is from what is wanted: that one, English, none, any other."""
        wanted, given = self.settings.language.lower(), language.lower()
        if wanted != "auto" and (given == wanted or given.startswith(wanted + "-")):
            return 0
        return 1 if given == "en" or given.startswith("en-") else 3 if given else 2

    def finish(self, format: str, is_table: bool) -> Relation:
        """The relation: obsolete terms and what hangs on them left out, everything left out counted in its notes."""
        by_other_id = self._resolve_alternatives()
        builder = RelationBuilder()
        for term in self.declared:
            if term not in self.obsolete:
                builder.node(term)
        stated = self.parents
        if self.settings.part_of:
            pairs = {edge[:2] for edge in stated}  # what is both below and part of another is so once
            stated = stated + [edge for edge in self.parts if edge[:2] not in pairs]
        kept = [edge for edge in stated if self.obsolete.isdisjoint(edge[:2])]
        for child, parent, line in kept:
            builder.edge(builder.node(child), builder.node(parent), line=line or 0)
        placed = {child for child, parent, _ in kept if child != parent}
        kinds = {child for child, parent, _ in self.parents if child != parent and parent not in self.obsolete}
        by_genus = self._hang_below_genera(builder, kinds)
        placed |= kinds
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
        relation.notes.extend(self._notes(len(stated) - len(kept), by_genus, known))
        if by_other_id:
            relation.notes.append(f"{count(by_other_id, 'reference')} by an alternative id taken for the term itself")
        return relation

    def _resolve_alternatives(self) -> int:
        """Let relations name terms by their own ids; -> how many named one by another."""
        if not self._alternatives:
            return 0
        before = [*self.parents, *self.parts]
        self.parents = [(child, self._meant(parent), line) for child, parent, line in self.parents]
        self.parts = [(child, self._meant(whole), line) for child, whole, line in self.parts]
        self.genera = {term: [self._meant(one) for one in genera] for term, genera in self.genera.items()}
        return sum(old != new for old, new in zip(before, [*self.parents, *self.parts], strict=True))

    def _hang_below_genera(self, builder: RelationBuilder, placed: set[str]) -> int:
        """Edges to their genera from terms stated to be kinds of nothing, which then are ``placed``; -> how many."""
        number = 0
        for term, genera in self.genera.items():
            usable = [one for one in dict.fromkeys(genera) if one not in self.obsolete and one != term]
            if usable and term not in placed and term not in self.obsolete:
                number += 1
                placed.add(term)
                for genus in usable:
                    builder.edge(builder.node(term), builder.node(genus), line=0)
        return number

    def _notes(self, lost: int, by_genus: int, known: Iterable[str]) -> Iterable[str]:
        if self.obsolete:
            with_them = f", and {count(lost, 'relation')} with them" if lost else ""
            yield f"{count(len(self.obsolete), 'obsolete term')} left out{with_them}"
        if by_genus:
            yield f"{count(by_genus, 'term')} without a stated parent hung below the genus of the definition"
        if self.parts and not self.settings.part_of:
            follow = setting("part_of", "true")
            yield f"{count(len(self.parts), 'part_of relation')} passed over; {follow} follows them"
        if self.relations:
            kinds = kinds_of(self.relations)
            yield f"{count(self.relations.total(), 'other relation')} passed over ({kinds})"
        language = self.settings.language
        if language != "auto":
            lacking = sum(1 for name in known if name not in self._labels or self._labels[name][0] >= 10)
            if lacking:
                yield f"{count(lacking, 'node')} without a label in {language!r}: English, plain or any other stands in"


def kinds_of(counted: Counter[str]) -> str:
    """The most frequent kinds with their numbers: ``has_part 12, develops_from 3, ...``."""
    shown = (f"{kind} {number:,}" for kind, number in counted.most_common())
    return listed(shown, len(counted), most=_KINDS_SHOWN)
