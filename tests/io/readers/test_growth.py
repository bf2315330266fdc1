"""Inputs that nest, repeat or widen without end take time in proportion to their size, or are refused in a sentence.

Processor time at 16 times the size is compared with that at the size itself, never with a number of seconds. Work in
proportion to the square would take 256 times as long.
"""

from __future__ import annotations

import bz2
import json
import time
from collections.abc import Callable

import pytest

from tests.io.readers import helpers
from tests.io.readers.test_fuzz import attempt

XML = '<Ontology xmlns="http://www.w3.org/2002/07/owl#">'
SUB = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"


def _chain(n: int, line: str, opening: str = "", ending: str = "") -> bytes:
    return (opening + "".join(line.format(i, i + 1) for i in range(n)) + ending).encode()


GROWTH: dict[str, Callable[[int], bytes]] = {
    "edges, deep": lambda n: _chain(n, "n{0},n{1}\n"),
    "edges, wide": lambda n: _chain(n, "n{0},r\n"),
    "edges, repeated": lambda n: b"a,b\n" * n,
    "edges, columns": lambda n: (",".join(["a"] * n) + "\n").encode() * 3,
    "edges, quotes": lambda n: b'"a""b",r\n' * n,
    "edges, cycle": lambda n: _chain(n, "n{0},n{1}\n", ending=f"n{n},n0\n"),
    "table, deep": lambda n: _chain(n, "{0},{1},x\n", "id,parent_id,name\n"),
    "table, one name": lambda n: _chain(n, "{1},0,x\n", "id,parent_id,name\n"),
    "levels, wide": lambda n: _chain(n, "a,b{0},c\n", "L1,L2,L3\n"),
    "breadcrumbs, deep": lambda n: " > ".join(f"n{i}" for i in range(n // 8)).encode() + b"\nn0 > b\n",
    "breadcrumbs, empty steps": lambda n: b"a > b\na" + b" > " * n + b"\n",
    "outline, deep": lambda n: "".join(" " * i + f"n{i}\n" for i in range(n // 16)).encode(),
    "outline, wide": lambda n: _chain(n, "  n{0}\n", "r\n"),
    "outline, steps": lambda n: "".join(" " * (i % 50) + f"n{i}\n" for i in range(n)).encode(),
    "JSON, lists": lambda n: b"[" * n + b"]" * n,
    "JSON, names": lambda n: b'{"a":' * n + b"{}" + b"}" * n,
    "JSON, objects": lambda n: b'{"name":"a","children":[' * n + b'{"name":"b"}' + b"]}" * n,
    "JSON, deep but read": lambda n: b'{"a":' * min(n // 32, 900) + b"{}" + b"}" * min(n // 32, 900),
    "JSON, keys": lambda n: json.dumps({"r": {f"k{i}": {} for i in range(n)}}).encode(),
    "JSON, one key": lambda n: b'{"r":{' + b'"a":{},' * n + b'"b":{}}}',
    "JSON, kinds": lambda n: json.dumps({"r": [{f"k{i}": {}} for i in range(n)]}).encode(),
    "JSON, lines": lambda n: _chain(n, '{{"id": {0}, "parent": {1}}}\n'),
    "JSON, never closed": lambda n: b'{"a": "' + b"\\\\" * n,
    "JSON, graph": lambda n: json.dumps(
        {"nodes": [{"name": f"x{i}"} for i in range(n)], "links": [{"source": i, "target": 0} for i in range(1, n)]}
    ).encode(),
    "YAML, deep": lambda n: "".join(" " * i + f"n{i}:\n" for i in range(min(n // 8, 900))).encode(),
    "YAML, flow": lambda n: b"a:\n  b: " + b"[" * n + b"]" * n,
    "YAML, flow mappings": lambda n: b"a:\n  b: " + b"{a: " * n + b"}" * n,
    "YAML, items": lambda n: b"- " * n + b"a:\n",
    "YAML, wide": lambda n: _chain(n, "  n{0}:\n", "r:\n"),
    "YAML, anchors": lambda n: _chain(n, "a{0}: &b{0}\n  c: x\n"),
    "YAML, aliases": lambda n: b"a: &x\n  b:\n" + b"".join(b"c%d: *x\n" % i for i in range(n // 4)),
    "YAML, laughs": lambda n: (
        b"a: &x0\n  b:\n" + b"".join(b"a%d: &x%d [*x%d, *x%d]\n" % (i, i, i - 1, i - 1) for i in range(1, 1 + n // 64))
    ),
    "YAML, documents": lambda n: b"---\na:\n  b:\n" * n,
    "YAML, keys": lambda n: b"a" * n + b":\n  " + b"b:" * n + b":\n",
    "Newick, deep": lambda n: b"(" * n + b"a" + b")" * n + b";",
    "Newick, wide": lambda n: b"(" + b"a," * n + b"b);",
    "Newick, not closed": lambda n: b"(" * n + b"a,b;",
    "Newick, comments": lambda n: b"[" * n + b"]" * n + b"(a,b);",
    "Newick, quotes": lambda n: b"('" + b"''" * n + b"',b);",
    "Newick, trees": lambda n: b"(a,b);\n" * n,
    "Newick, chains": lambda n: b"(" * n + b"a" + b")x" * n + b";",
    "NEXUS, translate": lambda n: _chain(
        n, "{0} a{0},", "#NEXUS\nbegin trees;\ntranslate ", "-1 z;\ntree t = (0,1)r;\nend;\n"
    ),
    "NEXUS, trees": lambda n: b"#NEXUS\nbegin trees;\n" + b"tree t = (a,b)r;\n" * n + b"end;\n",
    "NEXUS, blocks": lambda n: b"#NEXUS\n" + b"begin x;\nend;\n" * n + b"begin trees;\ntree t = (a,b)r;\nend;\n",
    "OBO, deep": lambda n: _chain(n, "[Term]\nid: A:{0}\nis_a: A:{1}\n\n"),
    "OBO, joined lines": lambda n: b"[Term]\nid: a\nname: x" + b"\\\ny" * n + b"\n[Term]\nid: b\nis_a: a\n",
    "OBO, tags": lambda n: b"[Term]\nid: a\n" + b"synonym: x\n" * n + b"[Term]\nid: b\nis_a: a\n",
    "OWL, deep": lambda n: b"Ontology(<x>\nSubClassOf(<a> " + b"ObjectComplementOf(" * n + b"<b>" + b")" * n + b"))",
    "OWL, wide": lambda n: _chain(n, "SubClassOf(<a{0}> <a{1}>)\n", "Ontology(<x>\n", ")"),
    "OWL/XML, deep": lambda n: f"{XML}{'<ObjectComplementOf>' * n}{'</ObjectComplementOf>' * n}</Ontology>".encode(),
    "OWL/XML, wide": lambda n: _chain(
        n, '<SubClassOf><Class IRI="#a{0}"/><Class IRI="#b"/></SubClassOf>', XML, "</Ontology>"
    ),
    "Turtle, deep": lambda n: b"@prefix e: <e:> .\ne:a e:b " + b"[ e:b " * n + b"e:c" + b" ]" * n + b" .\n",
    "Turtle, lists": lambda n: b"@prefix e: <e:> .\ne:a e:b " + b"(" * n + b")" * n + b" .\n",
    "triples": lambda n: _chain(n, f"<e:a{{0}}> {SUB} <e:a{{1}}> .\n"),
    "JSON-LD, deep": lambda n: b'{"@context":{"b":"e:b"},"b":' + b'{"b":' * n + b'"c"' + b"}" * n + b"}",
    "taxdump": lambda n: _chain(n, "{1}\t|\t{0}\t|\tx\t|\n", "0\t|\t0\t|\tx\t|\n"),
    "taxdump, fields": lambda n: b"1\t|\t1\t|" + b"\tx\t|" * n + b"\n",
    "bzip2, nothing": lambda n: bz2.compress(b"") * n,
    "gzip, nothing": lambda n: helpers.compressed(b"", "gzip") * n,
    "zstd, nothing": lambda n: helpers.compressed(b"", "zstd") * n,
    "bzip2, streams": lambda n: bz2.compress(b"a,r\nb,r\n") * (n // 8),
    "workbook": lambda n: helpers.workbook({"a": [["child", "parent"], *([f"n{i}", "r"] for i in range(n // 8))]}),
    "workbook, notes": lambda n: helpers.workbook({"a": [["# note"]] * (n // 8) + [["a", "r"], ["b", "r"]]}),
    "comments": lambda n: b"# x\n" * n + b"a,r\nb,r\n",
    "blank lines": lambda n: b"a,r\n" + b" \n" * n + b"b,r\n",
}
"""What grows with a size."""

SIZE, TIMES = 1_000, 16
SLACK = 4  # for caches and collections of garbage
LEAST = 0.3  # seconds of processor time: below it, ratios are noise


def seconds(data: bytes) -> float:
    """Processor time to read ``data``, or to refuse it in a sentence of its reader."""
    began = time.process_time()
    attempt(data)
    return time.process_time() - began


@pytest.mark.parametrize("name", GROWTH)
def test_time_grows_with_the_size(name: str) -> None:
    small, large = GROWTH[name](SIZE), GROWTH[name](SIZE * TIMES)
    seconds(small)  # imports and caches
    bound = LEAST + SLACK * TIMES * max(seconds(small), 1e-4)
    assert min(seconds(large) for _ in range(2)) < bound
