"""What a file begins with is looked at once, however long it is: no pattern can match the same text in many ways."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import treeball.io
from tests.io.readers.test_fuzz import VALID, attempt

N = 20_000
RDF_XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="http://www.w3.org/2000/01/rdf-schema#">'
    '<rdf:Description rdf:about="urn:a"><s:subClassOf rdf:resource="urn:b"/></rdf:Description></rdf:RDF>'
)
BANNERS = {
    "a line of #": "#" * N + "\na,r\nb,r\n",
    "comments": "# a // b\n" * N + "a,r\nb,r\n",
    "a line of //": "//" * N + "\na,r\nb,r\n",
    "comments of code": "/* a */ // b\n" * N + "a,r\n",
    "comments of XML": '<?xml version="1.0"?>' + "<!-- a > b -->\n" * N + RDF_XML,
    "instructions": "<?a b?>" * N + RDF_XML,
    "comments never closed": "<!-- a " * N,
    "blanks": " " * 10 * N + "a,r\nb,r\n",
    "blank lines": "# c\n" + (" " * 1000 + "\n") * (N // 100) + "a,r\nb,r\n",
    "one blank line": "# c\n" + " " * 10 * N + "\na,r\nb,r\n",
    "arrows": ">" * 10 * N + "a > b\n" + "a > c" + " > " * N + "\n",
    "quotes": '"' * (2 * N + 1) + ",r\na,r\n",
    "quotes of names": "'" * N + ",r\na,r\n",
    "escaped quotes": 'Ontology(<x> SubClassOf(:a "' + '\\"' * N + "\\",
    "escaped quotes in keys": '"' + '\\"' * N + ":\n  - a\n",
    "support values": "((a,b)" + "11/" * N + "x,c);",
    "digits": "((a,b)" + "1" * N + "x,c);",
    "brackets": "[]" * N + "(a,b);",
    "brackets never closed": "[" * N + "(a,b);",
    "parentheses": "(" * N + "a,b;",
    "colons": "- " + ":&a" * N + " b\n",
    "items": "- " * N + "a:\n",
    "GML": "graph [\n" + "a b " * N + "nod [",
    "DOT": "strict " + " " * 10 * N + "digraph " + "a" * N,
    "prefixes": "@prefix a:\n" * N,
    "elements": "<a:" * N,
    "entities": "<!DOCTYPE a [" + '<!ENTITY a "' * N + "]>" + RDF_XML,
    "references": "<!DOCTYPE a [<!ENTITY a 'b'>]>" + "&a" * N + RDF_XML,
    "words of NEXUS": "#NEXUS begin x; " + "end " * N,
    "OBO": "[Term]\n" + "id " * N + "\n[Term]" + " " * N + "x",
    "backslashes": "[Term]\nid: a\nname: " + "\\" * N + '\nsynonym: "' + "\\" * N,
    "commas": "," * 9_000,
    "equals": "sep=" + " " * N + "\na,b\n",
    "ids of paths": ("1" * N + "x > b\n") + "1 - a > b\n",
}


def test_a_banner_of_any_length_is_read_or_refused(tmp_path: Any) -> None:
    """All banners take seconds; a pattern that looks twice at each character of one would take hours."""
    program = """
        import sys
        from tests.io.readers import test_linear_recognition as this
        for name, text in this.BANNERS.items():
            print(name, flush=True)
            this.attempt(text.encode())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, (done.stdout.splitlines()[-1:], done.stderr[-2000:])


@pytest.mark.parametrize("name", ["a line of #", "comments", "comments of XML"])
def test_what_follows_a_long_banner_is_read(name: str) -> None:
    hierarchy = treeball.read(BANNERS[name].encode())
    assert hierarchy.report is not None
    assert {str(one) for one in hierarchy.names} <= {"a", "b", "r", "urn:a", "urn:b"}


def test_no_pattern_is_ambiguous() -> None:
    """A repeat is never inside of another, nor beside one that takes the same characters, unless it gives none back."""
    found = {pattern.pattern: pattern.flags for pattern in used_patterns()}
    assert len(found) > 60
    wrong = {text: fault for text, flags in found.items() if (fault := ambiguity(parser.parse(text, flags)))}
    assert not wrong


@pytest.mark.parametrize("pattern", [r"(?:a*b?)*c", r"(?:#[^\n]*)*x", r"\d+\.?\d*x", r"[^\n]*\S[^\n]*\n", r"(a+)+"])
def test_ambiguous_patterns_are_told(pattern: str) -> None:
    assert ambiguity(parser.parse(pattern))


def used_patterns() -> Iterator[re.Pattern[Any]]:
    """Patterns of all modules of ``treeball.io``, and those that are made while all formats are read."""
    for module in pkgutil.walk_packages(treeball.io.__path__, "treeball.io."):
        for value in vars(importlib.import_module(module.name)).values():
            yield from patterns_in(value)
    made: list[re.Pattern[Any]] = []
    compiled = re._compile  # type: ignore[attr-defined]

    def recorded(pattern: Any, flags: int) -> Any:
        result = compiled(pattern, flags)
        caller = sys._getframe(2)
        if "treeball/io" in caller.f_code.co_filename.replace("\\", "/"):
            made.append(result)
        return result

    re._compile = recorded  # type: ignore[attr-defined]
    try:
        for content in VALID.values():
            attempt(content)
    finally:
        re._compile = compiled  # type: ignore[attr-defined]
    assert made
    yield from made


def patterns_in(value: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from patterns_in(one)
    elif isinstance(value, dict):
        yield from patterns_in(tuple(value.values()))


def ambiguity(items: Any, inside: bool = False) -> str:
    """What in a parsed pattern could match the same text in several ways; empty where nothing can."""
    taken: list[set[int]] = []  # what the repeats take that can give back up to here, each from its start on
    for code, value in items:
        endless = code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and value[1] == codes.MAXREPEAT
        if endless and inside:
            return "a repeat inside of a repeat"
        characters = one_character(value[2]) if endless else set()
        if endless and any(one & characters for one in taken):
            return "two repeats of the same characters side by side"
        for part in parts_of(code, value):
            fault = ambiguity(part, inside or endless) if code != codes.POSSESSIVE_REPEAT else ambiguity(part)
            if fault:
                return fault
        if endless:
            taken = [one for one in taken if value[0] == 0 or one & characters] + [characters]
        elif code in (codes.LITERAL, codes.IN, codes.ANY, codes.NOT_LITERAL, codes.CATEGORY):
            # What a repeat takes as well does not separate it from the next one.
            taken = [one for one in taken if one & one_character([(code, value)])]
        elif not is_optional(code, value):
            taken = []
    return ""


def parts_of(code: Any, value: Any) -> list[Any]:
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return [value[2]]
    if code == codes.SUBPATTERN:
        return [value[3]]
    if code == codes.BRANCH:
        return list(value[1])
    return [value[1]] if code in (codes.ASSERT, codes.ASSERT_NOT) else []


def is_optional(code: Any, value: Any) -> bool:
    repeats = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
    return code in (codes.AT, codes.ASSERT, codes.ASSERT_NOT) or (code in repeats and value[0] == 0)


def one_character(items: Any) -> set[int]:
    """Which of the first characters a part of a pattern can begin with, where it is one character; else none."""
    if len(items) != 1 or items[0][0] not in (codes.LITERAL, codes.IN, codes.ANY, codes.NOT_LITERAL, codes.CATEGORY):
        return set()
    return {code for code in range(256) if takes(items[0], code)}


def takes(item: Any, character: int) -> bool:
    code, value = item
    if code == codes.ANY:
        return character != 10
    if code == codes.LITERAL:
        return bool(value == character)
    if code == codes.NOT_LITERAL:
        return bool(value != character)
    if code == codes.RANGE:
        return bool(value[0] <= character <= value[1])
    if code == codes.CATEGORY:
        kind = str(value).rpartition("_")[2].lower()
        pattern = {"space": r"\s", "digit": r"\d", "word": r"\w"}[kind]
        return (re.match(pattern, chr(character)) is not None) != ("_NOT_" in str(value))
    negated = bool(value) and value[0][0] == codes.NEGATE
    return any(takes(one, character) for one in value[int(negated) :]) != negated
