"""Files that are opened by something that can do more than read: it does nothing but read that one file."""

from __future__ import annotations

import io
import pickle
import socket
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from treeball.errors import InputError
from treeball.io.readers import read
from treeball.io.vectors._read import read_vectors
from treeball.scale.source import Edges, connect

SECRET = "the content of another file"


class Bait:
    """Where files lead that fetch or open something: an address, a file with a secret, a file that code would make."""

    def __init__(self, folder: Path, server: socket.socket) -> None:
        self.folder = folder
        self.secret = folder / "secret.txt"
        self.secret.write_text(SECRET)
        self.made = folder / "made"
        self.server = server
        self.address = f"http://127.0.0.1:{server.getsockname()[1]}"

    def was_not_taken(self) -> bool:
        assert not self.made.exists()
        with pytest.raises(BlockingIOError):
            self.server.accept()
        return True


@pytest.fixture
def bait(tmp_path: Path) -> Iterator[Bait]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield Bait(tmp_path, server)


class Touches:
    """An object whose pickle makes a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.path,)


def names_or_refusal(path: Path, **options: Any) -> str:
    """All that a user gets to see of a file."""
    try:
        hierarchy = read(path, **options)
    except InputError as error:
        return str(error)
    return f"{list(hierarchy.names)} {hierarchy.report}"


def zipped(parts: dict[str, str]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return sink.getvalue()


# ---- workbooks ----

_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def xlsx(bait: Bait, cells: str, doctype: str = "") -> bytes:
    """A workbook with a link to another one, and the cells of its only sheet."""
    sheet = f"{_REL}/worksheet"
    link = f'<Relationship Id="r1" Type="{_REL}/externalLinkPath" TargetMode="External" Target="{{}}"/>'
    return zipped({
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_REL}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'{doctype}<workbook xmlns="{_MAIN}" xmlns:r="{_REL}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="r1"/></sheets><externalReferences>'
        '<externalReference r:id="r2"/></externalReferences></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{sheet}" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="{_REL}/externalLink" '
        'Target="externalLinks/externalLink1.xml"/></Relationships>',
        "xl/externalLinks/externalLink1.xml": f'<externalLink xmlns="{_MAIN}" xmlns:r="{_REL}">'
        '<externalBook r:id="r1"/></externalLink>',
        "xl/externalLinks/_rels/externalLink1.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f"{link.format(bait.address)}{link.format(bait.secret.as_uri()).replace('r1', 'r3')}</Relationships>",
        "xl/worksheets/sheet1.xml": f'{doctype}<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData></worksheet>',
    })  # fmt: skip


def row(number: int, *texts: str) -> str:
    cells = (f'<c r="{"AB"[i]}{number}" t="str">{text}</c>' for i, text in enumerate(texts))
    return f'<row r="{number}">{"".join(cells)}</row>'


def test_links_and_formulas_of_a_workbook_are_not_followed(bait: Bait, tmp_path: Path) -> None:
    formula = f'<f>WEBSERVICE("{bait.address}")</f><v>b</v>'
    cells = row(1, "<v>child</v>", "<v>parent</v>") + row(2, formula, "<f>[1]S!A1</f><v>a</v>")
    (tmp_path / "x.xlsx").write_bytes(xlsx(bait, cells))
    assert "['b', 'a']" in names_or_refusal(tmp_path / "x.xlsx")
    assert bait.was_not_taken()


ENTITIES = {
    "external": '<!DOCTYPE d [<!ENTITY e SYSTEM "{secret}">]>',
    "fetched": '<!DOCTYPE d [<!ENTITY e SYSTEM "{address}/e">]>',
    "parameter": '<!DOCTYPE d [<!ENTITY % p SYSTEM "{address}/p"> %p; <!ENTITY e "x">]>',
    "definition": '<!DOCTYPE d SYSTEM "{address}/d.dtd">',
    "growing": "<!DOCTYPE d [<!ENTITY a0 'lol'>"
    + "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 12))
    + "<!ENTITY e '&a11;'>]>",
}


def doctype(bait: Bait, name: str) -> str:
    text = ENTITIES[name].replace("{secret}", bait.secret.as_uri()).replace("{address}", bait.address)
    return '<?xml version="1.0"?>' + text


@pytest.mark.parametrize("name", ENTITIES)
def test_entities_of_a_workbook_are_not_followed(name: str, bait: Bait, tmp_path: Path) -> None:
    cells = row(1, "<v>child</v>", "<v>parent</v>") + row(2, "<v>b&e;</v>", "<v>a</v>")
    (tmp_path / "x.xlsx").write_bytes(xlsx(bait, cells, doctype(bait, name)))
    office = "urn:oasis:names:tc:opendocument:xmlns"
    table = "".join(
        f"<table:table-row>{''.join(f'<table:table-cell><text:p>{text}</text:p></table:table-cell>' for text in some)}"
        "</table:table-row>"
        for some in (("child", "parent"), ("b&e;", "a"))
    )
    content = (
        f'{doctype(bait, name)}<office:document-content xmlns:office="{office}:office:1.0" '
        f'xmlns:table="{office}:table:1.0" xmlns:text="{office}:text:1.0" xmlns:xlink="http://www.w3.org/1999/xlink">'
        '<office:body><office:spreadsheet><table:table table:name="S">'
        f'<table:table-source xlink:href="{bait.address}"/>'
        f"{table}</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    (tmp_path / "x.ods").write_bytes(zipped({"mimetype": kind, "content.xml": content}))
    for file in ("x.xlsx", "x.ods"):
        shown = names_or_refusal(tmp_path / file)
        assert SECRET not in shown
        assert len(shown) < 10_000
    assert bait.was_not_taken()


# ---- ontologies ----

IMPORTS = {
    "rdf": """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#"
        xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"><owl:Ontology rdf:about="urn:o">
        <owl:imports rdf:resource="{target}"/></owl:Ontology>
        <owl:Class rdf:about="urn:b"><rdfs:subClassOf rdf:resource="urn:a"/></owl:Class></rdf:RDF>""",
    "ttl": """@prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        <urn:o> a owl:Ontology ; owl:imports <{target}> . <urn:b> rdfs:subClassOf <urn:a> .""",
    "ofn": """Prefix(:=<urn:>)
Ontology(<urn:o>
Import(<{target}>)
SubClassOf(<urn:b> <urn:a>)
)""",
    "owx": """<?xml version="1.0"?><Ontology xmlns="http://www.w3.org/2002/07/owl#" ontologyIRI="urn:o">
        <Import>{target}</Import><SubClassOf><Class IRI="urn:b"/><Class IRI="urn:a"/></SubClassOf></Ontology>""",
    "obo": "format-version: 1.2\nimport: {target}\n\n[Term]\nid: urn:a\n\n[Term]\nid: urn:b\nis_a: urn:a\n",
}


@pytest.mark.parametrize("ending", IMPORTS)
def test_imports_of_an_ontology_are_not_followed(ending: str, bait: Bait, tmp_path: Path) -> None:
    other = tmp_path / "other.ttl"
    other.write_text("<urn:stolen> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:a> .")
    for target in (f"{bait.address}/o.owl", other.as_uri(), str(other)):
        (tmp_path / f"o.{ending}").write_text(IMPORTS[ending].replace("{target}", target))
        shown = names_or_refusal(tmp_path / f"o.{ending}")
        assert "urn:b" in shown
        assert "urn:stolen" not in shown
    assert bait.was_not_taken()


@pytest.mark.parametrize("name", ENTITIES)
@pytest.mark.parametrize("ending", ["rdf", "owx"])
def test_entities_of_an_ontology_lead_nowhere(ending: str, name: str, bait: Bait, tmp_path: Path) -> None:
    text = (
        IMPORTS[ending]
        .replace('<?xml version="1.0"?>', "")
        .replace("{target}", "urn:none")
        .replace("urn:b", "urn:b&e;")
    )
    (tmp_path / f"o.{ending}").write_text(doctype(bait, name) + text)
    shown = names_or_refusal(tmp_path / f"o.{ending}")
    assert SECRET not in shown
    assert len(shown) < 10_000
    assert bait.was_not_taken()


# ---- code in data ----


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ['{made}']]",
        "a: !!python/object/new:pathlib.Path ['{made}']\nb: c",
        "a: !!python/name:os.system\nb: [c, d]",
        "a: !include {secret}\nb: c",
    ],
)
def test_tags_of_yaml_make_no_objects(text: str, bait: Bait, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(text.replace("{made}", str(bait.made)).replace("{secret}", str(bait.secret)))
    assert SECRET not in names_or_refusal(tmp_path / "x.yaml")
    assert bait.was_not_taken()


def test_extension_types_of_arrow_run_no_code(bait: Bait, tmp_path: Path) -> None:
    """Old versions of Arrow loaded such a type by its pickle."""
    marks = {"ARROW:extension:name": "arrow.py_extension_type"}
    payload = {key.encode(): value.encode() for key, value in marks.items()}
    payload[b"ARROW:extension:metadata"] = pickle.dumps(Touches(bait.made))
    schema = pa.schema([pa.field("child", pa.string(), metadata=payload), pa.field("parent", pa.string())])
    table = pa.table([["b"], ["a"]], schema=schema)
    pq.write_table(table, tmp_path / "x.parquet")
    with pa.ipc.new_file(str(tmp_path / "x.arrow"), schema) as writer:
        writer.write_table(table)
    for file in ("x.parquet", "x.arrow"):
        assert names_or_refusal(tmp_path / file)
    base = connect(1 << 28, tmp_path / "spill", 1)
    edges = Edges.of((str(tmp_path / "x.parquet"),))
    assert base.execute(edges.columns(base).select).fetchall() == [("b", "a")]
    assert bait.was_not_taken()


def pickled(bait: Bait) -> bytes:
    return pickle.dumps(Touches(bait.made))


def npy(bait: Bait) -> bytes:
    sink = io.BytesIO()
    np.save(sink, np.array([[Touches(bait.made), 1]], object), allow_pickle=True)
    return sink.getvalue()


VECTORS: dict[str, Callable[[Bait], bytes]] = {
    "x.npy": npy,
    "x.pkl": pickled,
    "x.pt": lambda bait: zipped({"archive/version": "3"}) + pickled(bait),
    "x.bin": lambda bait: b"1 2\n" + pickled(bait),
    "x.safetensors": lambda bait: (len(pickled(bait)) + 2).to_bytes(8, "little") + b"{" + pickled(bait) + b"}",
}


@pytest.mark.parametrize("name", VECTORS)
def test_pickles_among_vectors_are_not_loaded(name: str, bait: Bait, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(VECTORS[name](bait))
    (tmp_path / "x.names.txt").write_text("a\n")
    with pytest.raises(InputError):
        read_vectors(tmp_path / name)
    assert names_or_refusal(tmp_path / name)  # nor as a hierarchy
    assert bait.was_not_taken()


def test_sqlite_is_not_opened(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("create view embedding as select load_extension('/tmp/x')")
    connection.close()
    with pytest.raises(InputError, match="binary file of no known format"):
        read_vectors(tmp_path / "x.db")
    with pytest.raises(InputError):
        read_vectors(tmp_path / "x.db", "duckdb")


@pytest.mark.parametrize(
    "chain", ["simplecache::{address}/*.csv", "zip://*.csv::{address}/x.zip", "filecache::file://{secret}"]
)
def test_chains_of_file_systems_are_refused(chain: str, bait: Bait) -> None:
    address = chain.replace("{address}", bait.address).replace("{secret}", str(bait.secret))
    with pytest.raises(InputError):
        Edges.of((address,))
    assert bait.was_not_taken()
