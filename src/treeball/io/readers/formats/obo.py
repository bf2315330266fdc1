"""OBO ontologies, by fastobo: terms and their is_a (and, when asked, part_of) relations."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from typing import Any

from ....errors import InputError, MissingExtraError
from ....hierarchy.read_report import listed
from ....words import count
from ..relation import MISSING, Relation, RelationBuilder
from ..sample import Sample
from ..settings import ReadSettings
from ..source import Source

_STANZA = re.compile(r"(?m)^\[(?:Term|Typedef|Instance)\]\s*$")
_COMMENT_LINE = re.compile(r"(?m)^[ \t]*!.*$")
_PART_OF = frozenset(["part_of", "BFO:0000050"])
_UNUSED = frozenset(["synonym", "intersection_of", "union_of", "equivalent_to", "disjoint_from"])


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """Certain by its version line or its stanzas."""
    if sample.text.startswith("format-version:"):
        return 1.0
    return 0.95 if _STANZA.search(sample.text) and re.search(r"(?m)^id: \S", sample.text) else 0.0


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of the terms by id; obsolete terms are left out and counted."""
    try:
        import fastobo
    except ImportError:
        raise MissingExtraError("fastobo", "formats", "reading OBO") from None
    # A line that is all comment is valid, and blank for us; the parser would stumble over it.
    text = _COMMENT_LINE.sub("", source.text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            document = fastobo.loads(text if text.endswith("\n") else text + "\n", threads=1)
    except SyntaxError as error:
        where = f"{source.label}, line {error.lineno}" if error.lineno else source.label
        reason = str(error.msg).splitlines()[0][:120] if error.msg else "syntax"
        raise InputError(f"{where}: not valid OBO ({reason}); correct it there") from None
    except (ValueError, TypeError, OSError, NotImplementedError) as error:
        raise InputError(f"{source.label} is not valid OBO ({error!s:.120}); correct it") from None
    except BaseException as error:
        # A panic of the parser is no Exception, and says nothing that helps.
        if type(error).__name__ != "PanicException":
            raise
        raise InputError(f"{source.label} is not valid OBO (the parser gave up); correct it") from None
    builder = RelationBuilder()
    labels: dict[int, str] = {}
    terms: list[tuple[int, list[str]]] = []
    obsolete: set[str] = set()
    unused: Counter[str] = Counter()
    for frame in document:
        if not isinstance(frame, fastobo.term.TermFrame):
            continue
        name, parents, dropped, passed_over = _clauses(frame, fastobo, settings.part_of)
        ident = str(frame.id)
        if dropped:
            obsolete.add(ident)
            continue
        unused.update(passed_over)
        code = builder.node(ident)
        if name is not None:
            labels.setdefault(code, name)
        terms.append((code, parents))
    if not terms:
        raise InputError(f"{source.label} has no [Term] that is not obsolete: a hierarchy needs terms with is_a")
    lost = 0
    for code, parents in terms:
        kept = [parent for parent in parents if parent not in obsolete]
        lost += len(parents) - len(kept)
        for parent in kept:
            builder.edge(code, builder.node(parent))
        if not kept:
            builder.edge(code, MISSING)
    relation = builder.finish("OBO", direction="child-parent", is_table=True)
    relation.labels = [labels.get(code) for code in range(len(builder.names))] if labels else None
    if obsolete:
        relation.notes.append(f"{count(len(obsolete), 'obsolete term')} left out")
    if lost:
        relation.notes.append(f"{count(lost, 'relation')} to obsolete terms left out")
    synonyms = unused.pop("synonym", 0)
    if synonyms:
        relation.notes.append(f"{count(synonyms, 'synonym')} passed over")
    if unused:
        kinds = listed((kind for kind, _ in unused.most_common()), len(unused), most=4)
        relation.notes.append(f"{count(unused.total(), 'other relation')} passed over ({kinds})")
    return relation


def _clauses(frame: Any, fastobo: Any, with_part_of: bool) -> tuple[str | None, list[str], bool, list[str]]:
    """Name, parents, whether the term is obsolete, and the kinds of what is not used."""
    name, parents, dropped, unused = None, [], False, []
    for clause in frame:
        if isinstance(clause, fastobo.term.IsAClause):
            parents.append(str(clause.term))
        elif isinstance(clause, fastobo.term.NameClause):
            name = clause.name
        elif isinstance(clause, fastobo.term.IsObsoleteClause):
            dropped = bool(clause.obsolete)
        elif isinstance(clause, fastobo.term.RelationshipClause):
            kind = str(clause.typedef)
            if with_part_of and kind in _PART_OF:
                parents.append(str(clause.term))
            else:
                unused.append(kind)
        elif clause.raw_tag() in _UNUSED:
            unused.append(clause.raw_tag())
    return name, parents, dropped, unused
