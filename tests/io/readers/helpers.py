"""Edge sets, and writers of the same hierarchy in every format."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pyarrow as pa

from treeball.hierarchy import Hierarchy
from treeball.io.readers.settings import ReadSettings

Edge = tuple[Any, Any]
Edges = set[Edge]

ANIMALS: Edges = {
    ("dog", "mammal"),
    ("cat", "mammal"),
    ("owl", "bird"),
    ("mammal", "animal"),
    ("bird", "animal"),
}
DIAMOND: Edges = ANIMALS | {("bat", "mammal"), ("bat", "flier"), ("flier", "animal"), ("bird", "flier")}


def edges_of(hierarchy: Hierarchy) -> Edges:
    """All edges by name, checked for repeats; those to a virtual root are left out."""
    child, parent = hierarchy.edges()
    pairs = [(hierarchy.names[int(c)], hierarchy.names[int(p)]) for c, p in zip(child, parent, strict=True)]
    assert len(pairs) == len(set(pairs))
    added = None if hierarchy.virtual_root is None else hierarchy.names[hierarchy.virtual_root]
    return {(c, p) for c, p in pairs if p != added}


def nodes_of(edges: Iterable[Edge]) -> list[Any]:
    """Names in a fixed order."""
    return sorted({name for edge in edges for name in edge})


def roots_of(edges: Iterable[Edge]) -> list[Any]:
    edges = set(edges)
    return sorted({p for _, p in edges} - {c for c, _ in edges})


def children_of(edges: Iterable[Edge]) -> dict[Any, list[Any]]:
    below: dict[Any, list[Any]] = {}
    for child, parent in sorted(edges):
        below.setdefault(parent, []).append(child)
    return below


def delimited(
    edges: Iterable[Edge],
    separator: str = ",",
    header: Sequence[str] = (),
    quoting: Literal[0, 1, 2, 3] = csv.QUOTE_MINIMAL,
) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, quoting=quoting, lineterminator="\n")
    if header:
        writer.writerow(header)
    writer.writerows(sorted(edges))
    return out.getvalue().encode()


def raw_tsv(edges: Iterable[Edge]) -> bytes:
    """Tab-separated without any quoting."""
    return "".join(f"{child}\t{parent}\n" for child, parent in sorted(edges)).encode()


def id_table(edges: Edges) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["id", "parent_id"])
    writer.writerows([root, ""] for root in roots_of(edges))
    writer.writerows(sorted(edges))
    return out.getvalue().encode()


def parquet(edges: Edges) -> bytes:
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    ordered = sorted(edges)
    pq.write_table(pa.table({"child": [c for c, _ in ordered], "parent": [p for _, p in ordered]}), sink)
    return sink.getvalue()


def _paths(edges: Edges) -> list[list[str]]:
    below = children_of(edges)
    paths, pending = [], [[root] for root in reversed(roots_of(edges))]
    while pending:
        path = pending.pop()
        paths.append(path)
        pending.extend([*path, child] for child in reversed(below.get(path[-1], [])))
    return paths


def breadcrumbs(edges: Edges) -> bytes:
    return "\n".join(" > ".join(path) for path in _paths(edges)).encode()


def outline(edges: Edges, indent: str = "  ", bullet: str = "") -> bytes:
    return "\n".join(indent * (len(path) - 1) + bullet + path[-1] for path in _paths(edges)).encode()


def _nested(edges: Edges, make: Callable[[str, list[Any]], Any]) -> list[Any]:
    below = children_of(edges)

    def build(name: str) -> Any:
        return make(name, [build(child) for child in below.get(name, [])])

    return [build(root) for root in roots_of(edges)]


def json_objects(edges: Edges) -> bytes:
    """With ids, so that a node may stand in several places."""
    tree = _nested(edges, lambda name, below: {"id": name, "children": below})
    return json.dumps(tree[0] if len(tree) == 1 else tree).encode()


def json_mappings(edges: Edges) -> bytes:
    tree = _nested(edges, lambda name, below: {name: {k: v for one in below for k, v in one.items()}})
    return json.dumps({k: v for one in tree for k, v in one.items()}, ensure_ascii=False).encode()


def json_records(edges: Edges) -> bytes:
    parents: dict[str, list[str]] = {name: [] for name in nodes_of(edges)}
    for child, parent in sorted(edges):
        parents[child].append(parent)
    return json.dumps([{"id": name, "parents": above} for name, above in parents.items()]).encode()


def json_lines(edges: Edges) -> bytes:
    return "".join(json.dumps({"child": c, "parent": p}) + "\n" for c, p in sorted(edges)).encode()


def yaml_mappings(edges: Edges) -> bytes:
    import yaml

    tree = _nested(edges, lambda name, below: {name: {k: v for one in below for k, v in one.items()}})
    content = {k: v for one in tree for k, v in one.items()}
    return yaml.safe_dump(content, allow_unicode=True, default_flow_style=False, sort_keys=False).encode()


def newick(edges: Edges) -> bytes:
    def make(name: str, below: list[str]) -> str:
        quoted = "'" + name.replace("'", "''") + "'"
        return (f"({','.join(below)})" if below else "") + quoted

    return ("\n".join(tree + ";" for tree in _nested(edges, make))).encode()


def obo(edges: Edges) -> bytes:
    lines = ["format-version: 1.4", ""]
    for name in nodes_of(edges):
        lines += ["[Term]", f"id: T:{name}", f"name: {name}"]
        lines += [f"is_a: T:{parent} ! {parent}" for child, parent in sorted(edges) if child == name]
        lines.append("")
    return "\n".join(lines).encode()


def iri(name: str) -> str:
    return "https://example.org/" + quote(name, safe="")


def rdf(edges: Edges, syntax: str, predicate: str = "subClassOf") -> bytes:
    import rdflib

    graph = rdflib.Graph()
    for child, parent in sorted(edges):
        low, high = rdflib.URIRef(iri(child)), rdflib.URIRef(iri(parent))
        if predicate == "narrower":
            graph.add((high, rdflib.SKOS.narrower, low))
        elif predicate == "broader":
            graph.add((low, rdflib.SKOS.broader, high))
        else:
            graph.add((low, rdflib.RDFS.subClassOf, high))
        for node, name in ((low, child), (high, parent)):
            graph.add((node, rdflib.RDFS.label, rdflib.Literal(name)))
    return graph.serialize(format=syntax).encode()


def taxdump(edges: Edges, folder: Path) -> Path:
    folder.mkdir()
    number = {name: i + 1 for i, name in enumerate([*roots_of(edges), *sorted({c for c, _ in edges})])}
    above = dict(edges)
    rows = [(i, number[above.get(name, name)]) for name, i in number.items()]
    (folder / "nodes.dmp").write_text("".join(f"{i}\t|\t{p}\t|\tno rank\t|\t\t|\n" for i, p in rows))
    (folder / "names.dmp").write_text(
        "".join(f"{i}\t|\t{name}\t|\t\t|\tscientific name\t|\n" for name, i in number.items())
    )
    return folder


def wordnet(edges: Edges, folder: Path, kind: str = "noun") -> Path:
    """A database of one-lemma synsets; names are lemmas."""
    folder.mkdir(exist_ok=True)
    letter = kind[0]
    licence = "  1 This software and database is being provided to you, the LICENSEE, by  \n"
    offset = {name: 1000 + 100 * i for i, name in enumerate(nodes_of(edges))}
    data, index = [licence], [licence]
    for name, place in offset.items():
        up = [parent for child, parent in sorted(edges) if child == name]
        pointers = "".join(f" @ {offset[parent]:08d} {letter} 0000" for parent in up)
        data.append(f"{place:08d} 03 {letter} 01 {name.title()} 0 {len(up):03d}{pointers} | gloss of {name}  \n")
        index.append(f"{name} {letter} 1 {int(bool(up))}{' @' if up else ''} 1 0 {place:08d}  \n")
    (folder / f"data.{kind}").write_text("".join(data))
    (folder / f"index.{kind}").write_text("".join(index))
    return folder


def compressed(data: bytes, codec: str) -> bytes:
    if codec == "gzip":
        return gzip.compress(data)
    if codec == "bz2":
        return bz2.compress(data)
    return bytes(pa.Codec(codec).compress(data, asbytes=True))


def setting_help() -> dict[str, str]:
    """Name -> explanation of every reading setting, from the docstring that the command line's help is made of."""
    parameters = str(ReadSettings.__doc__).split("----------\n")[1]
    return dict(re.findall(r"^    (\w+)\n        (.+)$", parameters, re.MULTILINE))


def workbook(sheets: dict[str, Sequence[Sequence[Any]]], first_row: int = 1) -> bytes:
    """An xlsx file as small as it can be: texts inline, numbers as numbers, None as no cell."""
    import zipfile
    from xml.sax.saxutils import escape, quoteattr

    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"

    def cell(value: Any, row: int, column: int) -> str:
        place = f"{chr(65 + column)}{row}"
        if value is None:
            return ""
        if isinstance(value, (int, float)):
            return f'<c r="{place}"><v>{value}</v></c>'
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="{kind}.worksheet+xml"/>'
            for i in range(1, len(sheets) + 1)
        )
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType='
            f'"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
            f'ContentType="{kind}.sheet.main+xml"/>{parts}</Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{office}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        listed = "".join(
            f'<sheet name={quoteattr(name)} sheetId="{i}" r:id="r{i}"/>' for i, name in enumerate(sheets, 1)
        )
        archive.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{listed}</sheets></workbook>'
        )
        linked = "".join(
            f'<Relationship Id="r{i}" Type="{office}/worksheet" Target="worksheets/sheet{i}.xml"/>'
            for i in range(1, len(sheets) + 1)
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{package}/relationships">{linked}</Relationships>'
        )
        for i, rows in enumerate(sheets.values(), 1):
            lines = "".join(
                f'<row r="{row}">{"".join(cell(value, row, column) for column, value in enumerate(values))}</row>'
                for row, values in enumerate(rows, first_row)
            )
            archive.writestr(
                f"xl/worksheets/sheet{i}.xml", f'<worksheet xmlns="{main}"><sheetData>{lines}</sheetData></worksheet>'
            )
    return out.getvalue()


def output_of(program: str, *arguments: str) -> str:
    """What a program prints, in a process of its own, which must end by itself."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-1000:], done.stderr[-3000:])
    return done.stdout


def said_by(program: str, *arguments: str) -> Any:
    """What a program prints as JSON, in a process of its own."""
    return json.loads(output_of(program, *arguments))
