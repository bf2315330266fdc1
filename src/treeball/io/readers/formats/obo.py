"""OBO ontologies: terms and their is_a (and, when asked, part_of) relations.

Only the lines that the hierarchy hangs on are held to the rules. A synonym that cannot be read is passed over and
counted; definitions and cross-references, which published files often get wrong, are passed over unread.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ....errors import InputError
from ....hierarchy.repairs import RepairKind
from ....words import count
from ...memory import watched
from ..opening import after_obo_comments
from ..relation import Relation
from ..sample import Sample, split_lines
from ..settings import ReadSettings
from ..source import Source
from ..terms import Terms, is_part_of, kinds_of, record_skipped

_FIRST = re.compile(r"\[[A-Za-z]\w*\]|[A-Za-z][\w\-]*[ \t]*:")
_STANZA = re.compile(r"(?m)^\[(?:Term|Typedef|Instance)\]\s*$")
_ID_LINE = re.compile(r"(?m)^id:[ \t]*\S")
_HEADING = re.compile(r"\[([A-Za-z]\w*)\]\s*(?:!.*)?")
_TAG = re.compile(r"([A-Za-z][\w\-]*)[ \t]*:(.*)", re.DOTALL)
_KNOWN_TAG = re.compile(r"[a-z_\-]+:(?:\s|$)")
_COMMENT = re.compile(r"(?<!\\)(?:[ \t]!|[ \t]\{|![ \t])")
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*+)\"")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}
_NEEDED = ("id", "is_a", "is_obsolete")
_RELATIONS = frozenset(["union_of", "equivalent_to", "disjoint_from"])


def sniff(sample: Sample, settings: ReadSettings) -> float:
    """Certain by its version line; nearly so if it opens with a tag or a stanza, and has stanzas further down."""
    start = after_obo_comments(sample.text)
    if sample.text.startswith("format-version:", start):
        return 1.0
    if not _FIRST.match(sample.text, start):
        return 0.0
    return 0.95 if _STANZA.search(sample.text) and _ID_LINE.search(sample.text) else 0.0


def read(source: Source, settings: ReadSettings) -> Relation:
    """Relation of the terms by id; obsolete terms are left out and counted."""
    terms, other, stanzas = Terms(settings), Counter[str](), Counter[str]()
    repeated: list[str] = []
    stanza, opened, term = "", 0, ""
    described: set[str] = set()  # terms that have more than ids
    for number, line in watched(_logical_lines(source.text)):
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            _require_id(stanza, term, source.label, opened)
            stanza, opened, term = heading.group(1), number, ""
            stanzas[stanza] += 1
            continue
        if stanza != "Term":
            continue
        where = f"{source.label}, line {number}"
        found = _TAG.fullmatch(line)
        if found is None:
            if line.split()[0] in (*_NEEDED, "relationship"):
                raise InputError(f"{where}: not valid OBO ({line:.60} has no colon after the tag); correct it there")
            other["lines without a tag"] += 1
            continue
        tag, value = found.group(1), found.group(2).strip()
        if tag == "id":
            if term:
                raise InputError(f"{where}: not valid OBO (a second id in one [Term]); begin another [Term] above it")
            term = _identifier(value, where, tag)
            if term in terms.declared:
                repeated.append(term)
            terms.declared[term] = None
            continue
        if not term and tag in (*_NEEDED, "relationship", "intersection_of", "name"):
            raise InputError(f"{where}: not valid OBO ({tag} comes before the id of its [Term]); put the id first")
        if tag != "alt_id":
            described.add(term)
        if not _take(terms, term, tag, value, number, where):
            other[tag] += 1
    _require_id(stanza, term, source.label, opened)
    stanzas["without a term"] = terms.take_mergers(described)
    if not terms.declared.keys() - terms.obsolete:
        raise InputError(f"{source.label} has no [Term] that is not obsolete: a hierarchy needs terms with is_a")
    relation = terms.finish("OBO", source.label, is_table=True)
    del stanzas["Term"]
    relation.record_nodes(RepairKind.TERMS_JOINED, repeated)
    record_skipped(relation, other + stanzas)
    relation.notes.extend(_notes(terms, other, stanzas, len(repeated)))
    return relation


def _take(terms: Terms, term: str, tag: str, value: str, number: int, where: str) -> bool:
    """Use or count the line of a term; False for a tag that has nothing to do with relations."""
    if tag == "is_a":
        terms.parent(term, _identifier(value, where, tag), number)
    elif tag == "name":
        terms.label(term, _name(value))
    elif tag == "alt_id":
        terms.alternative(term, _unescaped(_bare(value)))
    elif tag == "replaced_by":
        terms.replaced(term, _unescaped(_bare(value)))
    elif tag.endswith("synonym"):
        found = _QUOTED.match(value)
        if found is None:
            return False
        terms.synonym(term, _unescaped(found.group(1)))
    elif tag == "is_obsolete":
        if _bare(value).lower() in ("true", "1"):
            terms.obsolete.add(term)
    elif tag == "relationship":
        kind, _, target = _bare(value).partition(" ")
        if is_part_of(kind):
            terms.part(term, _identifier(target, where, f"{tag} {kind}"), number)
        else:
            terms.relations[kind] += 1
    elif tag == "intersection_of":
        parts = _bare(value).split()
        if len(parts) == 1:
            terms.genus(term, _unescaped(parts[0]))
        terms.relations[tag] += 1
    elif tag in _RELATIONS:
        terms.relations[tag] += 1
    else:
        return False
    return True


def _notes(terms: Terms, other: Counter[str], stanzas: Counter[str], repeated: int) -> Iterator[str]:
    synonyms = sum(other.pop(tag) for tag in list(other) if tag.endswith("synonym"))
    if synonyms:
        yield f"{count(synonyms, 'synonym')} that cannot be read passed over"
    if other:
        yield f"{count(other.total(), 'line')} of other kinds passed over ({kinds_of(other)})"
    bare = stanzas.pop("without a term", 0)
    if bare:
        yield f"{count(bare, 'stanza')} with nothing but ids passed over"
    if repeated:
        yield f"{count(repeated, 'stanza')} of a term that was there before joined with the first"
    if stanzas:
        yield f"{count(stanzas.total(), 'stanza')} that are no terms passed over ({kinds_of(stanzas)})"


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without blank lines and comments; a backslash at the end joins the next line."""
    lines = split_lines(text)
    number = 0
    while number < len(lines):
        first, line = number + 1, lines[number].strip()
        number += 1
        # A stray backslash at the end must not swallow the line of a tag of its own.
        while line.endswith("\\") and not line.endswith("\\\\") and number < len(lines):
            following = lines[number].strip()
            if not following or _KNOWN_TAG.match(following) or _HEADING.fullmatch(following):
                break
            line, number = line[:-1] + following, number + 1
        if line and not line.startswith("!"):
            yield first, line


def _require_id(stanza: str, term: str, label: str, line: int) -> None:
    if stanza == "Term" and not term:
        raise InputError(f"{label}, line {line}: not valid OBO (this [Term] has no id); add one or remove the stanza")


def _bare(value: str) -> str:
    """``value`` without the qualifiers in braces and the comment that may follow it."""
    found = _COMMENT.search(value)
    return (value if found is None else value[: found.start()]).strip()


def _identifier(value: str, where: str, tag: str) -> str:
    bare = _unescaped(_bare(value).strip())
    if not bare or bare.startswith(("!", "{")):
        raise InputError(f"{where}: not valid OBO ({tag} names no term); complete or remove the line")
    return bare


def _name(value: str) -> str:
    """A name: braces may belong to it, so only qualifiers, which have an equals sign, and a comment are removed."""
    found = re.search(r"(?<!\\)[ \t]![ \t]", value)
    bare = (value if found is None else value[: found.start()]).strip()
    brace = bare.rfind(" {")
    if brace >= 0 and bare.endswith("}") and "=" in bare[brace:]:
        bare = bare[:brace].rstrip()
    return _unescaped(bare)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found.group(1), found.group(1)), text) if "\\" in text else text
