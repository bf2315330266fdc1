"""Ontologies as they are published: OBO with faults that the hierarchy does not hang on, OWL in its syntaxes, SKOS."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.io.readers import helpers
from tests.io.readers.helpers import ANIMALS, Edges, edges_of
from tests.io.readers.test_fuzz import attempt
from treeball.errors import InputError
from treeball.io.readers import read


def _read(source: str | bytes, **overrides: Any) -> tuple[Edges, str]:
    """Edges, and the notes as one text."""
    hierarchy = read(source.encode() if isinstance(source, str) else source, **overrides)
    assert hierarchy.report is not None
    return edges_of(hierarchy), "\n".join(hierarchy.report.notes)


# OBO

TERMS = "[Term]\nid: T:1\nname: top\n\n[Term]\nid: T:2\nname: two\nis_a: T:1 ! top\n"


@pytest.mark.parametrize(
    "line",
    [
        'synonym: "never closed EXACT []',
        "synonym: no quotes at all",
        'def: "text" [Pathbase: Curation, by, hand]',
        r"xref: http://wiki.net/index.php/Category\:Prophage.w",
        'xref: http://e.org/a,b "x',
        "name: ",
        "comment: ends with a backslash \\",
        "no tag here",
        "property_value: x {",
        "created_by:",
    ],
)
def test_obo_with_a_fault_in_a_line_that_the_hierarchy_does_not_need(line: str) -> None:
    edges, notes = _read(TERMS + line + "\nis_a: T:3\n\n[Term]\nid: T:3\n")
    assert edges == {("T:2", "T:1"), ("T:2", "T:3")}
    assert "passed over" in notes or line.startswith("name")


def test_obo_in_two_encodings() -> None:
    edges, notes = _read(
        TERMS.encode() + b"comment: caf\xe9 \xae\n\n[Term]\nid: T:3\nname: \xc3\xa9t\xc3\xa9\nis_a: T:1\n"
    )
    assert edges == {("T:2", "T:1"), ("T:3", "T:1")}
    assert "1 line not in UTF-8 read as Latin-1" in notes


@pytest.mark.parametrize(
    "written",
    [
        "is_a: T:1",
        "is_a:T:1",
        "is_a: T:1 ! top ! really",
        'is_a: T:1 {source="a, b", x="c"} ! top',
        'is_a: T:1 {is_inferred="true"}',
        r"is_a: T\:1",
        "is_a:   T:1   ",
        "is_a: \\\n  T:1",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_obo_qualifiers_comments_and_line_ends(written: str, end: str) -> None:
    text = f"\ufeffformat-version: 1.2\n\n[Term]\nid: T:1\n\n[Term] ! a comment\nid: T:2 ! two\n{written}\n"
    assert _read(text.replace("\n", end))[0] == {("T:2", "T:1")}


def test_obo_names_are_unescaped_and_keep_their_braces() -> None:
    names = r"name: a \"b\" \{c\} {d} ! no name" + "\n"
    hierarchy = read(TERMS.replace("name: two\n", names).encode(), names="label")
    assert list(hierarchy.names) == ["top", 'a "b" {c} {d}']
    qualified = TERMS.replace("name: two", 'name: two {x="y"}')
    assert list(read(qualified.encode(), names="label").names) == ["top", "two"]


def test_obo_counts_all_that_it_passes_over() -> None:
    text = TERMS + 'synonym: "x" EXACT []\nsynonym: "y EXACT []\nalt_id: T:7\nxref: A:1\nxref: A:2\n'
    text += "relationship: part_of T:1\nrelationship: eats T:1\n"
    text += "disjoint_from: T:9\n\n[Typedef]\nid: part_of\nis_a: other\n\n[Instance]\nid: I:1\n"
    edges, notes = _read(text)
    assert edges == {("T:2", "T:1")}
    names = read(text.encode()).names
    assert {names.find(key) for key in ("x", "T:7", "two", "T:2")} == {names.find("T:2")}
    for said in (
        "1 part_of relation passed over; part_of=True",
        "2 other relations passed over (eats 1, disjoint_from 1)",
        "1 synonym that cannot be read passed over",
        "2 lines of other kinds passed over (xref 2)",
        "2 stanzas that are no terms passed over (Typedef 1, Instance 1)",
    ):
        assert said in notes


def test_a_term_without_a_parent_hangs_below_its_genus() -> None:
    defined = "\n[Term]\nid: T:4\nintersection_of: T:2 ! two\nintersection_of: has_part T:1\n"
    edges, notes = _read(TERMS + defined)
    assert ("T:4", "T:2") in edges
    said = "1 parent added by definition, the genus of an equivalence (1 term without a stated parent)"
    assert said in notes


def test_a_part_of_something_is_still_a_kind_of_its_genus() -> None:
    defined = "\n[Term]\nid: T:4\nintersection_of: T:2\nintersection_of: part_of T:1\nrelationship: part_of T:1\n"
    assert _read(TERMS + defined, part_of=True, reduce="never")[0] == {("T:2", "T:1"), ("T:4", "T:2"), ("T:4", "T:1")}


def test_two_stanzas_of_one_term_are_joined() -> None:
    edges, notes = _read(TERMS + "\n[Term]\nid: T:2\nis_a: T:3\n\n[Term]\nid: T:3\n")
    assert edges == {("T:2", "T:1"), ("T:2", "T:3")}
    assert "1 stanza of a term that was there before joined with the first" in notes


FLAT = {
    "OBO": "[Term]\nid: D:1\nname: a\n\n[Term]\nid: D:2\nname: \n",
    "OBO with an obsolete parent": "[Term]\nid: D:1\nis_obsolete: true\n\n[Term]\nid: D:2\nis_a: D:1\n\n"
    "[Term]\nid: D:3\n",
    "OBO with a parent of itself": "[Term]\nid: D:1\nis_a: D:1\n\n[Term]\nid: D:2\n",
    "OBO below owl:Thing": "[Term]\nid: D:1\nis_a: owl:Thing\n\n[Term]\nid: D:2\nis_a: owl:Thing\n",
    "functional syntax": "Prefix(:=<http://e/>)\nOntology(<http://e/o>\nDeclaration(Class(:a)) Declaration(Class(:b)))",
    "functional syntax below owl:Thing": "Prefix(:=<http://e/>)\nPrefix(owl:=<http://www.w3.org/2002/07/owl#>)\n"
    "Ontology(<http://e/o>\nSubClassOf(:a owl:Thing) SubClassOf(:b owl:Thing) Declaration(Class(:a)))",
    "Turtle": "@prefix : <http://e/> .\n@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
    ":a a owl:Class . :b a owl:Class .",
    "SKOS": "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n<urn:a> a skos:Concept . <urn:b> a skos:Concept .",
}


@pytest.mark.parametrize("kind", FLAT)
def test_a_flat_list_of_terms_is_refused_as_one(kind: str) -> None:
    with pytest.raises(InputError, match=r"^bytes is a flat list of [12] terms?: no term is below another") as caught:
        read(FLAT[kind].encode())
    assert caught.value.__cause__ is None


def test_a_flat_list_names_part_of_as_the_remedy() -> None:
    text = "[Term]\nid: D:1\n\n[Term]\nid: D:2\nrelationship: UNDEFINED_part_of D:1\n"
    with pytest.raises(
        InputError, match=r"part_of=True \(on the command line: --part-of\) follows its 1 part_of relation"
    ):
        read(text.encode())
    assert _read(text, part_of=True)[0] == {("D:2", "D:1")}


def test_what_is_part_and_kind_of_the_same_is_one_edge() -> None:
    text = TERMS + "relationship: part_of T:1\n"
    report = read(text.encode(), part_of=True, strict=True).report
    assert report is not None
    assert report.n_edges == 1


# OWL: the same ontology in four syntaxes

FUNCTIONAL = """Prefix(:=<http://e/>)
Prefix(obo:=<http://purl.obolibrary.org/obo/>)
Prefix(owl:=<http://www.w3.org/2002/07/owl#>)
Ontology(<http://e/o>
Import(<http://e/other>)
# a comment with ( and "
Declaration(Class(:animal)) Declaration(Class(:alone)) Declaration(Class(:old))
Declaration(ObjectProperty(obo:BFO_0000050))
Declaration(NamedIndividual(:rex))
SubClassOf(Annotation(rdfs:comment "why (not)") :dog :animal)
SubClassOf(:tail ObjectSomeValuesFrom(obo:BFO_0000050 :dog))
SubClassOf(:tail ObjectIntersectionOf(:organ ObjectAllValuesFrom(:eats ObjectUnionOf(:dog :animal))))
SubClassOf(ObjectUnionOf(:dog :cat) :animal)
SubClassOf(:old :animal)
EquivalentClasses(:puppy ObjectIntersectionOf(:dog ObjectMinCardinality(1 :has :youth)))
DisjointClasses(:dog :tail)
ClassAssertion(:dog :rex)
AnnotationAssertion(owl:deprecated :old "true"^^xsd:boolean)
AnnotationAssertion(rdfs:label :dog "say \\"dog\\""@en)
AnnotationAssertion(rdfs:label :dog "Hund"@de)
AnnotationAssertion(rdfs:label :animal "Tier"@de-AT)
)
"""
TURTLE = """@prefix : <http://e/> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://e/o> a owl:Ontology ; owl:imports <http://e/other> .
:animal a owl:Class ; rdfs:label "Tier"@de-AT .
:alone a owl:Class .
obo:BFO_0000050 a owl:ObjectProperty .
:rex a owl:NamedIndividual, :dog .
:dog rdfs:subClassOf :animal ; owl:disjointWith :tail ; rdfs:label "say \\"dog\\""@en, "Hund"@de .
:tail rdfs:subClassOf [ a owl:Restriction ; owl:onProperty obo:BFO_0000050 ; owl:someValuesFrom :dog ] ,
  [ owl:intersectionOf ( :organ [ owl:onProperty :eats ; owl:allValuesFrom [ owl:unionOf ( :dog :animal ) ] ] ) ] .
[] owl:unionOf ( :dog :cat ) ; rdfs:subClassOf :animal .
:old a owl:Class ; rdfs:subClassOf :animal ; owl:deprecated true .
:puppy owl:equivalentClass [ owl:intersectionOf ( :dog [ owl:onProperty :has ; owl:minQualifiedCardinality 1 ] ) ] .
"""


def _owl_xml() -> str:
    return """<?xml version="1.0"?>
<!DOCTYPE Ontology [ <!ENTITY e 'http://e/'> ]>
<Ontology xmlns="http://www.w3.org/2002/07/owl#" xml:base="http://e/" ontologyIRI="http://e/o">
<Prefix name="obo" IRI="http://purl.obolibrary.org/obo/"/><Prefix name="" IRI="&e;"/>
<Import>http://e/other</Import>
<Declaration><Class IRI="animal"/></Declaration><Declaration><Class abbreviatedIRI=":alone"/></Declaration>
<Declaration><ObjectProperty abbreviatedIRI="obo:BFO_0000050"/></Declaration>
<Declaration><NamedIndividual IRI="rex"/></Declaration>
<SubClassOf><Class IRI="dog"/><Class IRI="&e;animal"/></SubClassOf>
<SubClassOf><Class IRI="tail"/><ObjectSomeValuesFrom><ObjectProperty abbreviatedIRI="obo:BFO_0000050"/>
 <Class IRI="dog"/></ObjectSomeValuesFrom></SubClassOf>
<SubClassOf><Class IRI="tail"/><ObjectIntersectionOf><Class IRI="organ"/><ObjectAllValuesFrom>
 <ObjectProperty IRI="eats"/><ObjectUnionOf><Class IRI="dog"/><Class IRI="animal"/></ObjectUnionOf>
</ObjectAllValuesFrom></ObjectIntersectionOf></SubClassOf>
<SubClassOf><ObjectUnionOf><Class IRI="dog"/><Class IRI="cat"/></ObjectUnionOf><Class IRI="animal"/></SubClassOf>
<SubClassOf><Class IRI="old"/><Class IRI="animal"/></SubClassOf>
<EquivalentClasses><Class IRI="puppy"/><ObjectIntersectionOf><Class IRI="dog"/><ObjectMinCardinality cardinality="1">
 <ObjectProperty IRI="has"/></ObjectMinCardinality></ObjectIntersectionOf></EquivalentClasses>
<ClassAssertion><Class IRI="dog"/><NamedIndividual IRI="rex"/></ClassAssertion>
<AnnotationAssertion><AnnotationProperty abbreviatedIRI="owl:deprecated"/><IRI>old</IRI><Literal>true</Literal>
</AnnotationAssertion>
<AnnotationAssertion><AnnotationProperty abbreviatedIRI="rdfs:label"/><AbbreviatedIRI>:dog</AbbreviatedIRI>
 <Literal xml:lang="de">Hund</Literal></AnnotationAssertion>
</Ontology>"""


def _rdf_xml() -> str:
    import rdflib

    return rdflib.Graph().parse(data=TURTLE, format="turtle").serialize(format="xml")


OWL = {"functional": FUNCTIONAL, "turtle": TURTLE, "xml": _owl_xml(), "rdf/xml": _rdf_xml()}


def _e(*pairs: tuple[str, str]) -> Edges:
    return {(f"http://e/{child}", f"http://e/{parent}") for child, parent in pairs}


@pytest.mark.parametrize("syntax", OWL)
def test_owl_in_every_syntax(syntax: str) -> None:
    expected = _e(("dog", "animal"), ("tail", "organ"), ("puppy", "dog"))
    hierarchy = read(OWL[syntax].encode())
    assert edges_of(hierarchy) == expected
    assert "http://e/alone" in hierarchy.names
    assert {"http://e/old", "http://e/rex"}.isdisjoint(hierarchy.names)
    report = hierarchy.report
    assert report is not None
    notes = "\n".join(report.notes)
    for said in (
        "1 obsolete term left out, and 1 relation with them",
        "1 parent added by definition, the genus of an equivalence (1 term without a stated parent)",
        "1 part_of relation passed over",
        "2 other relations passed over (",
        "eats 1",
        "1 relation to or from unnamed classes passed over",
        " besides classes and concepts passed over (",
        "dog 1",
        "1 import not followed",
    ):
        assert said in notes, said
    assert edges_of(read(OWL[syntax].encode(), part_of=True)) == expected | _e(("tail", "dog"))


def test_labels_in_a_language() -> None:
    def names(**overrides: Any) -> set[Any]:
        return set(read(TURTLE.encode(), names="label", **overrides).names)

    assert {'say "dog"', "Tier"} <= names()
    assert {"Hund", "Tier"} <= names(language="de")
    assert {'say "dog"', "Tier"} <= names(language="de-AT")
    _, notes = _read(TURTLE, names="label", language="fr")
    assert "nodes without a label in 'fr'" in notes
    assert {"Hund"} <= set(read(FUNCTIONAL.encode(), names="label", language="de").names)


def test_entities_are_written_out_within_bounds(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("http://e/secret")
    head = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<!-- a -> b [ -->\n<!DOCTYPE rdf:RDF [\n'
    head += "<!ENTITY owl 'http://www.w3.org/2002/07/owl#'> <!-- ] -->\n<!ENTITY cls \"&owl;Class\">\n"
    body = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="&owl;" xml:base="http://e/"\n'
        ' xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">\n'
        '<owl:Class rdf:about="dog"><rdf:type rdf:resource="&cls;"/>'
        '<rdfs:subClassOf rdf:resource="animal"/><rdfs:label>h\u00e9</rdfs:label></owl:Class>{}</rdf:RDF>'
    )
    plain = (head + "]>\n" + body.format("")).encode("latin-1")
    assert _read(plain)[0] == _e(("dog", "animal"))
    assert "h\u00e9" in read(plain, names="label").names
    outside = head + f'<!ENTITY x SYSTEM "{secret}">]>\n' + body.format('<owl:Class rdf:about="&x;"/>')
    with pytest.raises(InputError, match="not valid RDF/XML"):
        read(outside.encode("latin-1"))
    levels = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "x" * 10}">' for i in range(12))
    bomb = head + levels + "]>\n" + body.format("<rdfs:label>&l11;</rdfs:label>")
    with pytest.raises(InputError, match="many times larger"):
        read(bomb.encode("latin-1"))


@pytest.mark.parametrize(
    "text",
    [
        "/* x */ " * 9_000,
        "<!-- x -->" * 9_000,
        '<x:y "' * 9_000,
        "\n" * 90_000 + "@prefi",
        '<a> <b> "' + " " * 90_000,
        "<Ontology " * 9_000,
        'Ontology(a "' + '\\"' * 30_000,
        "#NEXUS begin trees; tree x = " + "['" * 20_000,
        "[Term]\nid: a\nname: " + "{=" * 30_000 + "}",
        "(" * 30_000,
    ],
)
def test_no_text_takes_more_than_linear_time_to_recognise(text: str) -> None:
    # Were it quadratic, this would take minutes; exponential, for ever.
    for format in ("auto", "rdf", "owl", "nexus", "newick"):
        attempt(text.encode(), format=format)


# SKOS

SKOS = "@prefix : <http://e/> .\n@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"


def test_broader_transitive_alone_and_beside_broader() -> None:
    chain = _e(("a", "b"), ("b", "c"))
    closure = SKOS + ":a skos:broaderTransitive :b, :c . :c skos:narrowerTransitive :b .\n"
    assert _read(closure)[0] == chain
    edges, notes = _read(closure + ":a skos:broader :b .\n:d skos:broaderTransitive :c .\n")
    assert edges == chain | _e(("d", "c"))
    assert "(broaderTransitive 1)" in notes
    both = SKOS + ":a skos:broaderTransitive :b . :b skos:broaderTransitive :a . :c skos:broaderTransitive :a, :b ."
    report = read(both.encode()).report
    assert report is not None
    assert report.repair_counts["cycle edges"] == 1


def test_nothing_typed_vanishes_uncounted() -> None:
    text = SKOS + (
        ":s a skos:ConceptScheme ; skos:hasTopConcept :a .\n:a a skos:Concept ; skos:inScheme :s .\n"
        ":b a skos:Concept ; skos:broader :a ; skos:related :c ; skos:exactMatch <http://x/b> .\n"
        ":c a skos:Concept .\n:k a skos:Collection ; skos:member :b .\n:t a :Thing .\n"
    )
    hierarchy = read(text.encode())
    assert {"http://e/a", "http://e/b", "http://e/c"} <= set(hierarchy.names)
    assert hierarchy.report is not None
    notes = "\n".join(hierarchy.report.notes)
    assert "3 typed resources besides classes and concepts passed over" in notes
    for kind in ("ConceptScheme 1", "Collection 1", "Thing 1", "related 1", "exactMatch 1", "member 1"):
        assert kind in notes


def test_labels_of_skos_xl() -> None:
    xl = "@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .\n"
    text = (
        SKOS
        + xl
        + ':a skos:broader :b ; xl:prefLabel [ xl:literalForm "Hund"@de ] , :l .\n:l xl:literalForm "dog"@en .'
    )
    assert {"dog", "http://e/b"} == set(read(text.encode(), names="label").names)
    assert "Hund" in read(text.encode(), names="label", language="de").names


def test_graphs_and_quads() -> None:
    up = "http://www.w3.org/2004/02/skos/core#broader"
    assert _read(f"<http://e/a> <{up}> <http://e/b> <http://e/g> .\n# end\n")[0] == _e(("a", "b"))
    assert _read(SKOS + ":g { :a skos:broader :b }\n")[0] == _e(("a", "b"))
    assert _read(helpers.rdf(ANIMALS, "json-ld", "broader"))[0] == {
        (helpers.iri(child), helpers.iri(parent)) for child, parent in ANIMALS
    }


def test_terms_may_refer_to_each_other_by_alternative_ids(tmp_path):
    stanzas = [
        "id: T:1\nname: organ",
        "id: T:4\nname: heart\nalt_id: OLD:44\nis_a: T:1",
        "id: T:5\nname: fish heart\nis_a: OLD:44",
        "id: T:6\nname: T:1 again\nalt_id: T:1\nis_a: T:1",
    ]
    path = tmp_path / "alt.obo"
    path.write_text("format-version: 1.2\n" + "".join(f"\n[Term]\n{one}\n" for one in stanzas))
    hierarchy = read(path)
    assert sorted(map(str, hierarchy.names)) == ["T:1", "T:4", "T:5", "T:6"]
    edges = set(zip(*map(hierarchy.names.take, hierarchy.edges()), strict=True))
    assert edges == {("T:4", "T:1"), ("T:5", "T:4"), ("T:6", "T:1")}  # an id goes before an alternative one
    assert "1 reference by an alternative id taken for the term itself" in hierarchy.report.summary()
    assert hierarchy.names.look_up("OLD:44") == [hierarchy.names.index_of("T:4")]


def test_a_prefix_that_is_not_declared_is_told(tmp_path):
    path = tmp_path / "prefix.ofn"
    axioms = "SubClassOf(foo:mammal :animal)\nSubClassOf(:bird :animal)\n"
    path.write_text(f"Prefix(:=<https://example.org/>)\nOntology(<https://example.org/a>\n{axioms})\n")
    told = "1 name with a prefix that is not declared taken as written (foo: 1)"
    assert told in read(path).report.summary()
    path.write_text(path.read_text().replace("foo:mammal", ":mammal"))
    assert "declared" not in read(path).report.summary()


def test_a_deprecated_property_is_no_obsolete_term(tmp_path):
    pytest.importorskip("pyoxigraph")
    path = tmp_path / "deprecated.ttl"
    path.write_text(
        "@prefix : <https://example.org/> .\n@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ":a a owl:Class ; rdfs:subClassOf :b . :b a owl:Class . :c a owl:Class ; owl:deprecated true .\n"
        ":p a owl:ObjectProperty ; owl:deprecated true .\n"
    )
    summary = read(path).report.summary()
    assert "1 obsolete term left out" in summary
    assert "ObjectProperty 1" in summary


# Classes that are no nodes, and relations by many names

_THING = "http://www.w3.org/2002/07/owl#"
_SUBCLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
_WITH_THING = f"""@prefix : <http://e/> .
@prefix owl: <{_THING}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
owl:Thing a owl:Class ; rdfs:label "thing" .
:a a owl:Class ; rdfs:subClassOf owl:Thing . :b a owl:Class ; rdfs:subClassOf :a, owl:Thing .
owl:Nothing rdfs:subClassOf :b . :c a owl:Class ; owl:equivalentClass [ owl:intersectionOf ( owl:Thing :b ) ] .
"""


def _serialized(turtle: str, syntax: str) -> str:
    import rdflib

    return rdflib.Graph().parse(data=turtle, format="turtle").serialize(format=syntax)


WITH_THING = {
    "turtle": _WITH_THING,
    "rdf/xml": _serialized(_WITH_THING, "xml"),
    "n-triples": _serialized(_WITH_THING, "nt"),
    "json-ld": _serialized(_WITH_THING, "json-ld"),
    "functional": f"""Prefix(:=<http://e/>)
Prefix(owl:=<{_THING}>)
Ontology(<http://e/o> Declaration(Class(owl:Thing)) SubClassOf(:a owl:Thing) SubClassOf(:b :a)
SubClassOf(:b <{_THING}Thing>) SubClassOf(owl:Nothing :b) EquivalentClasses(:c ObjectIntersectionOf(owl:Thing :b)))""",
    "xml": f"""<Ontology xmlns="{_THING}" xml:base="http://e/"><Prefix name="owl" IRI="{_THING}"/>
<SubClassOf><Class IRI="http://e/a"/><Class abbreviatedIRI="owl:Thing"/></SubClassOf>
<SubClassOf><Class IRI="http://e/b"/><Class IRI="http://e/a"/></SubClassOf>
<SubClassOf><Class IRI="http://e/b"/><Class IRI="{_THING}Thing"/></SubClassOf>
<SubClassOf><Class abbreviatedIRI="owl:Nothing"/><Class IRI="http://e/b"/></SubClassOf>
<EquivalentClasses><Class IRI="http://e/c"/><ObjectIntersectionOf><Class abbreviatedIRI="owl:Thing"/>
<Class IRI="http://e/b"/></ObjectIntersectionOf></EquivalentClasses></Ontology>""",
    "obo": f"""[Term]
id: http://e/a
is_a: owl:Thing

[Term]
id: owl:Thing
name: thing

[Term]
id: http://e/b
is_a: http://e/a
is_a: {_THING}Thing

[Term]
id: owl:Nothing
is_a: http://e/b

[Term]
id: http://e/c
intersection_of: owl:Thing
intersection_of: http://e/b
""",
}


@pytest.mark.parametrize("syntax", WITH_THING)
def test_thing_and_nothing_are_no_nodes(syntax: str) -> None:
    hierarchy = read(WITH_THING[syntax].encode(), strict=True)
    assert sorted(map(str, hierarchy.names)) == ["http://e/a", "http://e/b", "http://e/c"]
    assert edges_of(hierarchy) == _e(("b", "a"), ("c", "b"))
    assert hierarchy.virtual_root is None
    assert hierarchy.report is not None
    assert "3 relations to owl:Thing or owl:Nothing passed over" in hierarchy.report.summary()


@pytest.mark.parametrize(
    "relation", ["part_of", "BFO:0000050", "OBO_REL:part_of", "so:part_of", "UNDEFINED_part_of", "http://e/x#part_of"]
)
def test_part_of_has_many_names_in_obo(relation: str) -> None:
    text = TERMS + f"\n[Term]\nid: T:3\nrelationship: {relation} T:2\n"
    assert _read(text, part_of=True)[0] == {("T:2", "T:1"), ("T:3", "T:2")}


@pytest.mark.parametrize("relation", ["has_part", "part_of_something", "BFO:0000051", "develops_from_part_of"])
def test_other_relations_are_no_part_of(relation: str) -> None:
    text = TERMS + f"\n[Term]\nid: T:3\nrelationship: {relation} T:2\n"
    assert _read(text, part_of=True)[0] == {("T:2", "T:1")}


@pytest.mark.parametrize("name", ["UNDEFINED_part_of", "part_of", "BFO_0000050", "isPartOf"])
@pytest.mark.parametrize("syntax", ["functional", "turtle", "xml", "rdf/xml"])
def test_part_of_has_many_names_in_owl(syntax: str, name: str) -> None:
    texts = {
        "functional": f"Prefix(:=<http://e/>)\nOntology(<http://e/o> SubClassOf(:b :a)\n"
        f"SubClassOf(:c ObjectSomeValuesFrom(<http://mouse.owl#{name}> :b)))",
        "turtle": "@prefix : <http://e/> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n:b rdfs:subClassOf :a .\n"
        ":c rdfs:subClassOf [ a owl:Restriction ;"
        f" owl:onProperty <http://mouse.owl#{name}> ; owl:someValuesFrom :b ] .",
        "xml": f'<Ontology xmlns="{_THING}" xml:base="http://e/"><SubClassOf><Class IRI="http://e/b"/>'
        '<Class IRI="http://e/a"/></SubClassOf><SubClassOf><Class IRI="http://e/c"/><ObjectSomeValuesFrom>'
        f'<ObjectProperty IRI="http://mouse.owl#{name}"/><Class IRI="http://e/b"/></ObjectSomeValuesFrom></SubClassOf>'
        "</Ontology>",
    }
    texts["rdf/xml"] = _serialized(texts["turtle"], "xml")
    assert _read(texts[syntax], part_of=True)[0] == _e(("b", "a"), ("c", "b"))


# The genus of a definition

# Microglial cell is a macrophage, and by definition a glial cell; both are cells.
_CELLS = """@prefix : <http://e/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:glial rdfs:subClassOf :cell . :macrophage rdfs:subClassOf :cell . :round rdfs:subClassOf :cell .
:microglial rdfs:subClassOf :macrophage, :cell ; owl:equivalentClass
  [ owl:intersectionOf ( [ owl:intersectionOf ( :glial [ owl:intersectionOf ( :round ) ] ) ]
    [ a owl:Restriction ; owl:onProperty :in ; owl:someValuesFrom :brain ] ) ] .
:ameboid rdfs:subClassOf :cell ; owl:equivalentClass [ owl:intersectionOf ( :microglial :cell ) ] .
"""
CELLS = {
    "turtle": _CELLS,
    "rdf/xml": _serialized(_CELLS, "xml"),
    "functional": """Prefix(:=<http://e/>)
Ontology(<http://e/o> SubClassOf(:glial :cell) SubClassOf(:macrophage :cell) SubClassOf(:round :cell)
SubClassOf(:microglial :macrophage) SubClassOf(:microglial :cell) SubClassOf(:ameboid :cell)
EquivalentClasses(:microglial ObjectIntersectionOf(ObjectIntersectionOf(:glial ObjectIntersectionOf(:round))
 ObjectSomeValuesFrom(:in :brain)))
EquivalentClasses(ObjectIntersectionOf(:microglial :cell) :ameboid))""",
    "obo": "".join(
        f"[Term]\nid: http://e/{stanza}\n\n"
        for stanza in (
            "cell",
            "glial\nis_a: http://e/cell",
            "macrophage\nis_a: http://e/cell",
            "round\nis_a: http://e/cell",
            "microglial\nis_a: http://e/macrophage\nis_a: http://e/cell\nintersection_of: http://e/glial\n"
            "intersection_of: http://e/round\nintersection_of: in brain",
            "ameboid\nis_a: http://e/cell\nintersection_of: http://e/microglial\nintersection_of: http://e/cell",
        )
    ),
}
_BY_DEFINITION = (
    ("glial", "cell"),
    ("macrophage", "cell"),
    ("round", "cell"),
    ("microglial", "macrophage"),
    ("microglial", "glial"),
    ("microglial", "round"),
    ("ameboid", "microglial"),
)


@pytest.mark.parametrize("syntax", CELLS)
def test_a_genus_is_a_parent_beside_stated_parents(syntax: str) -> None:
    edges, notes = _read(CELLS[syntax], strict=True)
    # That a microglial cell is a cell, its stated parents imply already: what is stated twice stays.
    assert edges == _e(*_BY_DEFINITION, ("microglial", "cell"))
    assert "3 parents added by definition, the genus of an equivalence (0 terms without a stated parent)" in notes
    assert "1 stated edge that the added ones imply left out; reduce=never" in notes


@pytest.mark.parametrize("syntax", CELLS)
def test_edges_that_a_genus_implies_stay_if_asked_for(syntax: str) -> None:
    edges, notes = _read(CELLS[syntax], reduce="never")
    assert edges == _e(*_BY_DEFINITION, ("microglial", "cell"), ("ameboid", "cell"))
    assert "left out" not in notes
    assert _read(CELLS[syntax], reduce="always")[0] == _e(*_BY_DEFINITION)


def test_a_genus_that_is_further_up_already_adds_nothing() -> None:
    text = TERMS + "\n[Term]\nid: T:3\nis_a: T:2\nintersection_of: T:1\nintersection_of: has T:2\n"
    edges, notes = _read(text, strict=True)
    assert edges == {("T:2", "T:1"), ("T:3", "T:2")}
    assert "definition" not in notes


def test_a_genus_below_its_own_term_is_passed_over() -> None:
    text = TERMS.replace("name: top", "name: top\nintersection_of: T:2\nintersection_of: has T:2")
    edges, notes = _read(text, strict=True)
    assert edges == {("T:2", "T:1")}
    assert "1 definition with a genus below the defined term passed over" in notes
    alone = "[Term]\nid: {}\nintersection_of: {}\nintersection_of: has x\n\n"
    edges, notes = _read("".join(alone.format(*pair) for pair in ("ab", "bc", "ca")))
    assert len(edges) == 2
    assert "1 definition with a genus below" in notes


def test_genera_of_random_ontologies_keep_the_closure_and_all_that_was_stated_twice() -> None:
    random = Random(5)
    for _ in range(60):
        names = [f"n{number}" for number in range(random.randint(3, 12))]
        pairs = [(low, high) for at, low in enumerate(names) for high in names[:at]]
        stated = set(random.sample(pairs, random.randint(1, len(pairs))))
        defined = set(random.sample(pairs, random.randint(0, len(pairs))))
        text = "".join(
            f"[Term]\nid: {name}\n"
            + "".join(f"is_a: {high}\n" for low, high in sorted(stated) if low == name)
            + "".join(f"intersection_of: {high}\n" for low, high in sorted(defined) if low == name)
            + "\n"
            for name in names
        )
        edges, _ = _read(text)
        if "transitive closure" in _:
            continue
        assert _closed(edges) == _closed(stated | defined)
        implied = {pair for pair in stated if pair in _closed(stated - {pair})}
        assert implied & edges == implied
        for pair in edges - implied:
            assert pair not in _closed(edges - {pair})


def _closed(edges: Edges) -> Edges:
    closed = set(edges)
    while more := {(a, d) for a, b in closed for c, d in closed if b == c} - closed:
        closed |= more
    return closed


# Recognition by the first statement

_TURTLE_LINES = "PREFIX owl: <http://www.w3.org/2002/07/owl#>\n@prefix x: <http://x/> .\nBASE <http://x/>"
_OWL_LINES = "Ontology(<http://x/o>\nPrefix(x:=<http://x/>)\nSubClassOf(x:a x:b))"
_STANZA_LINES = "[Term]\nid: X:1\nis_a: X:2"


@pytest.mark.parametrize(
    "said", [_TURTLE_LINES, _OWL_LINES, _STANZA_LINES, '{"@context": {}}', "<rdf:RDF >\n<Ontology >"]
)
@pytest.mark.parametrize("syntax", ["functional", "functional without prefixes", "turtle", "xml", "rdf/xml", "obo"])
def test_text_in_an_annotation_does_not_decide_the_format(syntax: str, said: str) -> None:
    from xml.sax.saxutils import escape

    quoted = '"' + said.replace("\\", "\\\\").replace('"', '\\"') + '"'
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    entities = "<!DOCTYPE x [ <!ENTITY e 'http://e/'> <!-- ]> -->\n ]>"
    texts = {
        "functional": "# a module\nPrefix(:=<http://e/>)\nPrefix(rdfs:=<http://www.w3.org/2000/01/rdf-schema#>)\n"
        f"Ontology(<http://e/o>\nAnnotation(rdfs:comment {quoted})\nSubClassOf(:a :b))",
        "functional without prefixes": f"Ontology(<http://e/o>\nAnnotation(<http://e/comment> {quoted})\n"
        "SubClassOf(<http://e/a> <http://e/b>))",
        "turtle": "# a module\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        f'<http://e/o> rdfs:comment "{quoted[1:-1].replace(chr(10), chr(92) + "n")}", ""{quoted}"" .\n'
        "<http://e/a> rdfs:subClassOf <http://e/b> .",
        "xml": f'<?xml version="1.0"?>\n{entities}\n<Ontology xmlns="{_THING}" xml:base="http://e/"><Annotation>'
        f"<AnnotationProperty IRI='http://e/c'/><Literal>{escape(said)} <![CDATA[{said}]]></Literal></Annotation>"
        '<SubClassOf><Class IRI="http://e/a"/><Class IRI="http://e/b"/></SubClassOf></Ontology>',
        "rdf/xml": f'<?xml version="1.0"?>\n{entities}\n<rdf:RDF xmlns:rdf="{rdf}" xmlns:s="{_SUBCLASS[:-10]}">'
        f'<rdf:Description rdf:about="http://e/a"><s:comment>{escape(said)}</s:comment><!-- {said} -->'
        '<s:subClassOf rdf:resource="http://e/b"/></rdf:Description></rdf:RDF>',
        "obo": f"ontology: e\nremark: {said}\n\n[Term]\nid: http://e/b\n\n[Term]\nid: http://e/a\nis_a: http://e/b\n",
    }
    if syntax == "obo" and said == _STANZA_LINES:
        pytest.skip("a stanza at the head of a line is a stanza")
    assert _read(texts[syntax])[0] == _e(("a", "b"))


@pytest.mark.parametrize(
    "top",
    ["", "# made by hand\n", "@base <http://e/> .\n", "PREFIX x: <http://x/>\n", "<http://e/o> a <http://e/O> .\n"],
)
def test_turtle_is_known_by_its_first_statement(top: str) -> None:
    turtle = f"{top}<http://e/a> <{_SUBCLASS}>\n  <http://e/b> .\n@prefix y: <http://y/> .\n"
    assert _read(turtle)[0] == _e(("a", "b"))


def test_a_line_that_begins_as_an_ontology_does_is_no_ontology() -> None:
    outline = "Philosophy\n  Ontology (being)\n  Ethics\n    Ontology(of values)\n"
    assert _read(outline)[0] >= {("Ethics", "Philosophy"), ("Ontology (being)", "Philosophy")}
    table = 'child,parent\na,b\n"c\nPREFIX x: <http://x/>\nOntology(<x>",b\n'
    assert ("a", "b") in _read(table)[0]


# Depth

_RDF_XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/"\n'
    ' xmlns:s="http://www.w3.org/2000/01/rdf-schema#">\n'
    '<e:C rdf:about="http://e/a"><s:subClassOf rdf:resource="http://e/b"/></e:C>\n{}</rdf:RDF>'
)


@pytest.mark.parametrize("depth", [1_000, 100_000])
@pytest.mark.parametrize("end", ["</e:x>", ""])
def test_rdf_xml_that_nests_deeply_is_refused_at_once(depth: int, end: str) -> None:
    began = time.perf_counter()
    with pytest.raises(InputError, match="line 4 is nested more than 1,000 elements deep: convert it to Turtle"):
        read(_RDF_XML.format("<e:x>" * depth + end * depth).encode())
    assert time.perf_counter() - began < 5  # at 100,000 the parser alone takes 74 s
    assert _read(_RDF_XML.format("<e:x>" * 998 + "</e:x>" * 998))[0] == _e(("a", "b"))


def test_rdf_xml_that_is_cut_off_is_refused() -> None:
    whole = _RDF_XML.format('<e:C rdf:about="http://e/c"><s:subClassOf rdf:resource="http://e/b"/></e:C>')
    for end in (whole.index("</rdf"), whole.rindex("</e:C"), whole.rindex("<e:C"), len(whole) - 3):
        with pytest.raises(
            InputError, match=r"line 4: not valid RDF/XML \(.*\); correct it there, or download it again"
        ):
            read(whole[:end].encode())


def test_nesting_in_the_other_syntaxes_takes_linear_time() -> None:
    n = 50_000
    turtle = "@prefix : <http://e/> .\n@prefix s: <http://www.w3.org/2000/01/rdf-schema#> .\n:a s:subClassOf :b .\n"
    functional = "Prefix(:=<http://e/>)\nOntology(<http://e/o>\nSubClassOf(:a :b) SubClassOf(:a "
    element = "ObjectIntersectionOf"
    began = time.perf_counter()
    assert _read(f"{turtle}:x :p {'[ :p ' * n}:z{']' * n} .")[0] == _e(("a", "b"))
    assert _read(f"{turtle}:x :p {'(' * n}{')' * n} .")[0] == _e(("a", "b"))
    assert _read(f"{functional}{f'{element}(' * n}:b{')' * n}))", strict=False)[0] == _e(("a", "b"))
    assert _read(f"{functional}:b) EquivalentClasses(:c {f'{element}(' * n}:a{')' * n}))")[0] == _e(
        ("a", "b"), ("c", "a")
    )
    xml = f'<Ontology xmlns="{_THING}"><SubClassOf><Class IRI="http://e/a"/>{f"<{element}>" * n}'
    xml += f'<Class IRI="http://e/b"/>{f"</{element}>" * n}</SubClassOf></Ontology>'
    assert _read(xml)[0] == _e(("a", "b"))
    with pytest.raises(InputError, match="nested too deeply"):
        read(('{"@context":{"p":"http://e/p"},"p":' + '{"p":' * n + "1" + "}" * (n + 1)).encode())
    assert time.perf_counter() - began < 30  # a few seconds; were one quadratic, it would take minutes


# Synonyms that are resources of their own

_SYNONYMS = """@prefix : <http://e/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix oio: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
:lip a owl:Class ; rdfs:subClassOf :part ; rdfs:label "Lip" .
:lip oio:hasRelatedSynonym :genid1, :genid7, :part ; oio:hasExactSynonym [ a oio:Synonym ; rdfs:label "labium" ] ;
  oio:hasNarrowSynonym :genid2 ; oio:hasBroadSynonym "edge" ; xl:altLabel [ xl:literalForm "rim" ] .
:genid1 rdfs:label "Labium Oris" . :genid2 a oio:Synonym, owl:NamedIndividual ; rdfs:label "Lips", "Lippen"@de .
:part a owl:Class ; rdfs:label "Mouth Part" .
"""
SYNONYMS = {
    "turtle": _SYNONYMS,
    "rdf/xml": _serialized(_SYNONYMS, "xml"),
    "n-triples": _serialized(_SYNONYMS, "nt"),
    "json-ld": _serialized(_SYNONYMS, "json-ld"),
    "functional": """Prefix(:=<http://e/>)
Prefix(oio:=<http://www.geneontology.org/formats/oboInOwl#>)
Prefix(xl:=<http://www.w3.org/2008/05/skos-xl#>)
Ontology(<http://e/o> Declaration(Class(:lip)) Declaration(Class(:part)) SubClassOf(:lip :part)
SubClassOf(:lip ObjectSomeValuesFrom(:in :mouth))
AnnotationAssertion(rdfs:label :lip "Lip") AnnotationAssertion(rdfs:label :part "Mouth Part")
AnnotationAssertion(oio:hasRelatedSynonym :lip :genid1) AnnotationAssertion(oio:hasRelatedSynonym :lip :genid7)
AnnotationAssertion(oio:hasRelatedSynonym :lip :part) AnnotationAssertion(oio:hasExactSynonym :lip _:1)
AnnotationAssertion(rdfs:label _:1 "labium") AnnotationAssertion(oio:hasNarrowSynonym :lip :genid2)
AnnotationAssertion(oio:hasBroadSynonym :lip "edge") AnnotationAssertion(xl:altLabel :lip _:2)
AnnotationAssertion(xl:literalForm _:2 "rim") AnnotationAssertion(rdfs:label :genid1 "Labium Oris")
ClassAssertion(oio:Synonym :genid2) AnnotationAssertion(rdfs:label :genid2 "Lips")
AnnotationAssertion(rdfs:label :genid2 "Lippen"@de))""",
    "xml": f"""<Ontology xmlns="{_THING}" xml:base="http://e/"><Prefix name="" IRI="http://e/"/>
<Prefix name="oio" IRI="http://www.geneontology.org/formats/oboInOwl#"/>
<Prefix name="xl" IRI="http://www.w3.org/2008/05/skos-xl#"/>
<Declaration><Class abbreviatedIRI=":part"/></Declaration>
<SubClassOf><Class abbreviatedIRI=":lip"/><Class abbreviatedIRI=":part"/></SubClassOf>"""
    + "".join(
        f'<AnnotationAssertion><AnnotationProperty abbreviatedIRI="{predicate}"/>{subject}{value}</AnnotationAssertion>'
        for subject, predicate, value in (
            ("<AbbreviatedIRI>:lip</AbbreviatedIRI>", "rdfs:label", "<Literal>Lip</Literal>"),
            ("<AbbreviatedIRI>:part</AbbreviatedIRI>", "rdfs:label", "<Literal>Mouth Part</Literal>"),
            ("<AbbreviatedIRI>:lip</AbbreviatedIRI>", "oio:hasRelatedSynonym", "<IRI>http://e/genid1</IRI>"),
            ("<AbbreviatedIRI>:lip</AbbreviatedIRI>", "oio:hasRelatedSynonym", "<IRI>http://e/genid7</IRI>"),
            ("<AbbreviatedIRI>:lip</AbbreviatedIRI>", "oio:hasRelatedSynonym", "<IRI>http://e/part</IRI>"),
            ("<IRI>http://e/genid1</IRI>", "rdfs:label", "<Literal>Labium Oris</Literal>"),
            ("<IRI>http://e/genid2</IRI>", "rdfs:label", "<Literal>Lips</Literal>"),
            ("<IRI>http://e/genid2</IRI>", "rdfs:label", '<Literal xml:lang="de">Lippen</Literal>'),
            ("<AbbreviatedIRI>:lip</AbbreviatedIRI>", "oio:hasNarrowSynonym", "<IRI>http://e/genid2</IRI>"),
            ("<AbbreviatedIRI>:lip</AbbreviatedIRI>", "oio:hasBroadSynonym", "<Literal>edge</Literal>"),
            ("<AbbreviatedIRI>:lip</AbbreviatedIRI>", "oio:hasExactSynonym", '<AnonymousIndividual nodeID="_:1"/>'),
            ('<AnonymousIndividual nodeID="_:1"/>', "rdfs:label", "<Literal>labium</Literal>"),
            ("<AbbreviatedIRI>:lip</AbbreviatedIRI>", "xl:altLabel", '<AnonymousIndividual nodeID="_:2"/>'),
            ('<AnonymousIndividual nodeID="_:2"/>', "xl:literalForm", "<Literal>rim</Literal>"),
        )
    )
    + "</Ontology>",
}


@pytest.mark.parametrize("syntax", SYNONYMS)
def test_synonyms_by_reference_are_read(syntax: str) -> None:
    hierarchy = read(SYNONYMS[syntax].encode(), strict=True)
    assert edges_of(hierarchy) == _e(("lip", "part"))
    assert sorted(map(str, hierarchy.names)) == ["http://e/lip", "http://e/part"]
    lip = hierarchy.names.index_of("http://e/lip")
    for text in ("Lip", "Labium Oris", "labium", "Lips", "Lippen", "edge", "rim"):
        assert hierarchy.names.look_up(text) == [lip], text
    assert hierarchy.names.look_up("Mouth Part") == [hierarchy.names.index_of("http://e/part")]
    assert hierarchy.report is not None
    notes = hierarchy.report.summary()
    assert "2 links of other kinds passed over (hasRelatedSynonym 2)" in notes  # to a term, and to nothing
    assert "Synonym 1" not in notes.replace("hasRelatedSynonym", "")
