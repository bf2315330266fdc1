"""What is read of published ontologies, compared with independent parsers, and how long reading takes.

    python benchmarks/read_published.py ../shared/data/wild [--generated 200] [--reports] [--part-of]

For every file: nodes and is_a edges of `treeball.read` must equal those of `ontology_parsers.py` under the rules of
docs/formats.md. A difference counts as told if the report says it with its number (a cycle that was cut), and a file
without edges must be refused as a flat list. Files of the same name in two formats must come out equal. Then as many
obographs as `--generated` says are written with all features, each beside the same ontology as OBO. The last line is
the number of silent differences; the exit code is 1 if there are any.

`--reports` prints the report of every file instead of the table.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
import time
from pathlib import Path
from typing import Any

import ontology_parsers
import treeball
from ontology_parsers import Expected, Pair, expected

_OBO = "http://purl.obolibrary.org/obo/"
_WIDTHS = (26, 10, 7, 7, 9, 9, 7)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--generated", type=int, default=200, metavar="N", help="obographs to generate")
    parser.add_argument("--reports", action="store_true", help="print the report of every file")
    parser.add_argument("--part-of", action="store_true", help="follow part_of in the reports")
    given = parser.parse_args()
    files = [file for path in given.paths for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    if given.reports:
        for file in files:
            report_on(file, given.part_of)
        return 0
    silent = compare_files(files) + compare_generated(given.generated)
    print(f"\n{silent} silent differences")
    return int(silent > 0)


def report_on(file: Path, part_of: bool) -> None:
    """Print what is read of a file; it is read twice, since the first time may compile kernels."""
    try:
        treeball.read(file, part_of=part_of)
        started = time.perf_counter()
        hierarchy = treeball.read(file, part_of=part_of)
    except treeball.TreeballError as error:
        print(f"{file.name}: refused: {error}")
        return
    print(f"{file.name}: {time.perf_counter() - started:.2f} s")
    for line in str(hierarchy.report).splitlines():
        print(f"  {line}")


def compare_files(files: list[Path]) -> int:
    """Print a row for each file and each pair of files; -> how many differ without a word."""
    row("file", "format", "nodes", "edges", "stated", "by def.", "s", "result")
    silent, content_of = 0, {}
    for file in files:
        data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        format, stated = ontology_parsers.parse(data)
        wanted = expected(stated)
        started = time.perf_counter()
        verdict, content, format_read = outcome(file, wanted)
        seconds = f"{time.perf_counter() - started:.2f}"
        if format_read not in ("", format):
            verdict = f"DIFFERENT: read as {format_read}"
        silent += verdict.startswith("DIFFERENT")
        nodes, edges = (len(one) for one in content)
        row(file.name, format, nodes, edges, len(stated.is_a), wanted.by_definition, seconds, verdict)
        content_of[file.name] = content
    for name, content in content_of.items():
        twin = name.replace(".json", ".obo")
        if twin != name and twin in content_of:
            is_equal = content == content_of[twin]
            silent += not is_equal
            print(f"{name} and {twin}: {'equal' if is_equal else 'DIFFERENT'} in nodes and is_a edges")
    return silent


def outcome(source: Path | bytes, wanted: Expected) -> tuple[str, tuple[set[Any], set[Pair]], str]:
    """The verdict on a file, its nodes and edges, and the format it was read in."""
    try:
        hierarchy = treeball.read(source)
    except treeball.TreeballError as error:
        is_told = "is a flat list" in str(error) and not wanted.edges
        return ("refused as a flat list" if is_told else f"DIFFERENT: refused: {error}"), (set(), set()), ""
    report = hierarchy.report
    assert report is not None
    nodes, edges = content_of_hierarchy(hierarchy)
    cut, implied = report.repair_counts.get("cycle edges", 0), told_as_implied(report.summary())
    missing, more = wanted.edges - edges, edges - wanted.edges
    if not wanted.edges:
        verdict = "DIFFERENT: a flat list was not refused"
    elif nodes != wanted.nodes:
        verdict = f"DIFFERENT: nodes {sorted(nodes ^ wanted.nodes)[:3]}"
    elif more or len(missing) != cut + implied:
        verdict = f"DIFFERENT: edges missing {sorted(missing)[:3]}, too many {sorted(more)[:3]}"
    else:
        verdict = "equal"
        verdict += f", but for {cut} edge told to close a cycle" if cut else ""
        verdict += f", but for {implied} edge told to be implied" if implied else ""
    return verdict, (nodes, edges), report.format


def told_as_implied(summary: str) -> int:
    """How many edges the report says it left out of a transitive closure."""
    found = re.search(r"([\d,]+) edges are a transitive closure: kept the ([\d,]+)", summary)
    before, kept = (int(number.replace(",", "")) for number in found.groups()) if found else (0, 0)
    return before - kept


def content_of_hierarchy(hierarchy: treeball.Hierarchy) -> tuple[set[Any], set[Pair]]:
    """Nodes and edges, without an added root."""
    names: list[Any] = list(hierarchy.names)
    child, parent = hierarchy.edges()
    top = None if hierarchy.virtual_root is None else names[hierarchy.virtual_root]
    pairs = {(names[low], names[high]) for low, high in zip(child.tolist(), parent.tolist(), strict=True)}
    return set(names) - {top}, {pair for pair in pairs if pair[1] != top}


def row(*cells: Any) -> None:
    """Print a row of the table; the last cell is as long as it is."""
    *most, last = (f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells)
    fixed = [
        f"{cell:<{width}}" if place < 2 else f"{cell:>{width}}"
        for place, (cell, width) in enumerate(zip(most, _WIDTHS, strict=True))
    ]
    print(" ".join(fixed) + f"  {last}")


# Generated obographs


def compare_generated(number: int) -> int:
    """Compare generated obographs with the independent parser and with the same ontology as OBO."""
    silent, edges, flat = 0, 0, 0
    for seed in range(number):
        document, stanzas = generated(random.Random(seed))
        text = json.dumps(document, indent=random.Random(seed).choice([None, 2])).encode()
        wanted = expected(ontology_parsers.parse_obographs(document))
        verdict, content, format = outcome(text, wanted)
        twin = outcome(stanzas.encode(), wanted)
        if verdict.startswith("DIFFERENT") or twin[:2] != (verdict, content) or format not in ("", "obographs"):
            silent += 1
            print(f"generated, seed {seed}: {verdict}; as OBO: {twin[0]}")
        edges += len(content[1])
        flat += verdict.startswith("refused")
    print(f"generated obographs: {number} with {edges:,} edges, {flat} refused as flat lists, {silent} different")
    return silent


def generated(choose: random.Random) -> tuple[dict[str, Any], str]:
    """A document with all features of obographs, and the same terms as OBO."""
    n = choose.randint(2, 40)
    terms = [f"{choose.choice(['X', 'NCBITaxon_Union', 'Y2'])}_{number:07d}" for number in range(n)]
    nodes, stanzas = [], []
    edges: list[dict[str, Any]] = []
    definitions: list[dict[str, Any]] = []
    for at, term in enumerate(terms):
        curie = ":".join(term.rsplit("_", 1))
        meta: dict[str, Any] = {
            "definition": {"val": f'"graphs": [ what {term} is', "xrefs": ["A:1"]},
            "comments": ["a comment", "[Term]\nid: Z:1"],
            "subsets": [f"{_OBO}x#slim"],
            "xrefs": [{"val": "MESH:1"}],
            "synonyms": [{"pred": "hasExactSynonym", "val": f"synonym of {term}", "xrefs": []}],
            "basicPropertyValues": [
                {"pred": "http://www.geneontology.org/formats/oboInOwl#hasOBONamespace", "val": "x"}
            ],
        }
        meta = {key: value for key, value in meta.items() if choose.random() < 0.6}
        lines = ["[Term]", f"id: {curie}", f"name: name of {term}"]
        values = meta.setdefault("basicPropertyValues", [])
        if choose.random() < 0.2:
            values.append({"pred": "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId", "val": f"ALT:{at}"})
            lines.append(f"alt_id: ALT:{at}")
        if at and choose.random() < 0.15:
            meta["deprecated"] = True
            lines.append("is_obsolete: true")
            for successor in choose.sample(terms[:at], choose.choice([0, 1, 1, min(2, at)])):
                values.append({"pred": f"{_OBO}IAO_0100001", "val": _OBO + successor})
                lines.append("replaced_by: " + ":".join(successor.rsplit("_", 1)))
        for _ in range(choose.choice([0, 1, 1, 1, 2, 3]) if at else 0):
            above = choose.choice(terms[:at])
            predicate = choose.choice(["is_a"] * 4 + [f"{_OBO}BFO_0000050", f"{_OBO}RO_0002202"])
            edge = {"sub": _OBO + term, "pred": predicate, "obj": _OBO + above}
            if edge not in edges:
                edges.append(edge | ({"meta": {"xrefs": []}} if choose.random() < 0.1 else {}))
                tag = {"is_a": "is_a:", f"{_OBO}BFO_0000050": "relationship: part_of"}
                lines.append(f"{tag.get(predicate, 'relationship: develops_from')} {':'.join(above.rsplit('_', 1))}")
        if choose.random() < 0.1:
            edges.append({"sub": _OBO + term, "pred": "is_a", "obj": "http://www.w3.org/2002/07/owl#Thing"})
            lines.append("is_a: owl:Thing")
        if at and choose.random() < 0.25:
            genera = choose.sample(terms[:at], choose.randint(1, min(2, at)))
            restrictions = [{"propertyId": f"{_OBO}BFO_0000050", "fillerId": _OBO + terms[0]}]
            ids = [_OBO + genus for genus in genera]
            definitions.append({"definedClassId": _OBO + term, "genusIds": ids, "restrictions": restrictions})
            lines += [f"intersection_of: {':'.join(genus.rsplit('_', 1))}" for genus in genera]
            lines.append("intersection_of: part_of X:0")
        nodes.append(_shuffled({"id": _OBO + term, "lbl": f"name of {term}", "type": "CLASS", "meta": meta}, choose))
        stanzas.append("\n".join(lines))
    nodes += [
        {"id": f"{_OBO}BFO_0000050", "lbl": "part of", "type": "PROPERTY", "propertyType": "OBJECT"},
        {"id": f"{_OBO}I_1", "lbl": "an individual", "type": "INDIVIDUAL"},
        {"id": f"{_OBO}IAO_0000115", "lbl": "definition"},
    ]
    edges.append({"sub": f"{_OBO}I_1", "pred": "type", "obj": _OBO + terms[0]})
    choose.shuffle(nodes)
    choose.shuffle(edges)
    graph = {
        "id": f"{_OBO}x.owl",
        "meta": {"version": "1", "subsets": [], "basicPropertyValues": [], "xrefs": []},
        "nodes": nodes,
        "edges": edges,
        "equivalentNodesSets": [{"nodeIds": [_OBO + terms[0], "http://e/x"]}],
        "logicalDefinitionAxioms": definitions,
        "domainRangeAxioms": [{"predicateId": f"{_OBO}RO_1", "domainClassIds": [_OBO + terms[0]]}],
        "propertyChainAxioms": [{"predicateId": f"{_OBO}RO_1", "chainPredicateIds": [f"{_OBO}RO_1"]}],
    }
    graphs = [_shuffled(graph, choose)]
    if choose.random() < 0.3:
        cut = choose.randint(0, len(edges))
        first, second = graph | {"edges": edges[:cut]}, {"id": "second", "nodes": nodes[:1], "edges": edges[cut:]}
        graphs = [_shuffled(first, choose), _shuffled(second, choose)]
    return {"graphs": graphs}, "format-version: 1.2\n\n" + "\n\n".join(stanzas) + "\n"


def _shuffled(value: dict[str, Any], choose: random.Random) -> dict[str, Any]:
    keys = list(value)
    choose.shuffle(keys)
    return {key: value[key] for key in keys}


if __name__ == "__main__":
    sys.exit(main())
