"""Whatever the bytes, read() gives a hierarchy or one sentence, never another exception."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.io.readers import helpers
from tests.io.readers.helpers import ANIMALS, DIAMOND
from treeball.errors import FaultsError, InputError
from treeball.io.readers import read
from treeball.io.readers.settings import Format

FORMATS = [name for name in get_args(Format) if name not in ("directory", "wordnet")]
VALID = {
    "csv": helpers.delimited(DIAMOND),
    "tsv": helpers.raw_tsv(DIAMOND),
    "quoted": b'child,parent,weight\n"a, b",r,1\n"c ""d""",r,2.5\n"e\nf",r,0\n',
    "table": b"id;parent_id;name\n1;;top\n2;1;left\n3;1;right\n4;9;lost\n",
    "parquet": helpers.parquet(ANIMALS),
    "json objects": helpers.json_objects(ANIMALS),
    "json mappings": helpers.json_mappings(ANIMALS),
    "json records": helpers.json_records(DIAMOND),
    "json lines": helpers.json_lines(ANIMALS),
    "yaml": b"animal: &a\n  mammal:\n    - dog\n    - cat\n  bird: {owl: ~}\nother: *a\n",
    "yaml records": b"- id: 1\n  parent:\n- id: 2\n  parent: 1\n- id: 3\n  parent: [1, 2]\n",
    "newick": b"((dog:1,'cat':2)mammal:1,[note](owl:1.5e-1):1)animal;",
    "breadcrumbs": helpers.breadcrumbs(ANIMALS),
    "outline": helpers.outline(ANIMALS),
    "markdown": b"# Zoo\n\nWhat we have:\n\n- animal\n  - mammal\n    - dog\n  - bird\n\nBye.\n",
    "a column of paths": b'id,category\n1,A > B\n2,"A > C, D"\n3,A > B > E\n',
    "quoted paths": b'category\n"A > B, C > D"\n"A > B, C > E"\nA > F\n',
    "comments": b"sep=;\n# made; by hand\nchild;parent;;\na;r;;\n# a section\nb;r;;\n",
    "floats": b"id,parent,name\n1,,x\n2,1.0,y\n3,1.0,z\n3,2.0,w\n",
    "support": b"((a:1,b:1)95:2,(c:1,d:1)95:1)",
    "json-ld": b'{"@context":{"b":{"@id":"http://www.w3.org/2004/02/skos/core#broader","@type":"@id"}},"@id":"urn:a","b":"urn:c"}',
    "obo": helpers.obo(ANIMALS),
    "obographs": b'{"graphs":[{"nodes":[{"id":"X:1","lbl":"a","type":"CLASS","meta":{"synonyms":[{"val":"b"}]}},{"id":'
    b'"X:2","type":"CLASS"}],"edges":[{"sub":"X:2","pred":"is_a","obj":"X:1"}]}]}',
    "turtle": helpers.rdf(ANIMALS, "turtle"),
    "rdf/xml": helpers.rdf(ANIMALS, "xml"),
    "n-triples": helpers.rdf(ANIMALS, "nt"),
    "owl": b"Prefix(:=<e:>)\nOntology(<x> SubClassOf(:a :b) EquivalentClasses(:c ObjectIntersectionOf(:b :d)))",
    "owl/xml": b'<Ontology xmlns="http://www.w3.org/2002/07/owl#"><SubClassOf>'
    b'<Class IRI="#a"/><Class IRI="#b"/></SubClassOf></Ontology>',
    "nexus": b"#NEXUS\nbegin trees;\ntranslate 1 a, 2 'b;c';\ntree * t [x=1] = [&R] (1:1,2:2);\ntree u = (1,2);\nend;",
    "taxdump": b"1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tclass\t|\n3\t|\t1\t|\tclass\t|\n",
    "gzip": helpers.compressed(helpers.delimited(ANIMALS), "gzip"),
    "zstd": helpers.compressed(helpers.delimited(ANIMALS), "zstd"),
    "utf-16": helpers.delimited(ANIMALS).decode().encode("utf-16"),
}
FUZZ = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def attempt(data: Any, **overrides: Any) -> None:
    """Read ``data``; a refusal must be one sentence that a reader meant, not the net under all of them."""
    try:
        hierarchy = read(data, **overrides)
    except InputError as error:
        sentence = str(error)
        assert sentence
        most = 22 if isinstance(error, FaultsError) else 1
        assert len(sentence.splitlines()) <= most
        if error.__cause__ is not None:
            raise error.__cause__ from None
    else:
        assert hierarchy.n_nodes >= 2
        assert hierarchy.report is not None
        assert hierarchy.report.n_edges == hierarchy.n_edges


@settings(FUZZ, max_examples=300)
@given(st.binary(max_size=200))
def test_random_bytes(data: bytes) -> None:
    attempt(data)


@settings(FUZZ, max_examples=300)
@given(st.text(st.sampled_from("ab ,;\t|>/\\\"'-:()[]{}<>@#\n\r1.0&*_é") | st.characters(), max_size=60))
def test_random_text(text: str) -> None:
    attempt(text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("format", FORMATS)
@FUZZ
@given(
    st.binary(max_size=100)
    | st.text(st.sampled_from("ab ,;\t|>/\\\"'-:()[]{}<>@#\n\r1.0&*_é"), max_size=60).map(str.encode)
)
def test_random_content_in_a_forced_format(format: str, data: bytes) -> None:
    attempt(data, format=format)


@st.composite
def mutations(draw: st.DrawFn, data: bytes) -> bytes:
    """``data`` cut, spliced, flipped or repeated in a few places."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 12)))
        kind = draw(st.sampled_from(["drop", "put", "repeat", "cut", "lines"]))
        if kind == "drop":
            data = data[:start] + data[end:]
        elif kind == "put":
            data = data[:start] + draw(st.binary(min_size=1, max_size=4)) + data[end:]
        elif kind == "repeat":
            data = data[:end] + data[start:]
        elif kind == "cut":
            data = data[:start]
        else:
            lines = data.split(b"\n")
            draw(st.randoms(use_true_random=False)).shuffle(lines)
            data = b"\n".join(lines)
    return data


@pytest.mark.parametrize("kind", VALID)
@FUZZ
@given(st.data())
def test_mutated_files(kind: str, data: st.DataObject) -> None:
    content = data.draw(mutations(VALID[kind]))
    attempt(content)
    attempt(content, strict=True)


@FUZZ
@given(st.data())
def test_mutated_wordnet_folders(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder: Path = helpers.wordnet(DIAMOND, tmp_path_factory.mktemp("wn") / "x")
    file = folder / data.draw(st.sampled_from(["data.noun", "index.noun"]))
    file.write_bytes(data.draw(mutations(file.read_bytes())))
    for relation in ("tree", "dag", "closure"):
        attempt(folder, relation=relation)


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.sampled_from(["a", "b", "", " ", "id", "parent"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["a", "b", "name", "id", "parent", "parents", "children", "nodes", "links", "weight", ""]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(FUZZ, max_examples=300)
@given(JSONISH)
def test_any_json(value: Any) -> None:
    import json

    attempt(json.dumps(value).encode(), format="json")


@settings(FUZZ, max_examples=300)
@given(JSONISH.filter(lambda value: isinstance(value, (list, dict))))
def test_any_nested_object(value: Any) -> None:
    attempt(value)
