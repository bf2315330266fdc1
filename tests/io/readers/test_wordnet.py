"""WordNet folders: names, the rules of the trees, the known cycle."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.io.readers import helpers
from tests.io.readers.helpers import edges_of
from treeball.errors import InputError
from treeball.io.readers import read
from treeball.io.readers.formats.wordnet import is_folder

LICENCE = "  1 This software and database is being provided to you, the LICENSEE, by  \n"
INSTALLED = Path("/usr/share/wordnet")


def test_names_and_both_kinds_of_hypernym(tmp_path: Path) -> None:
    (tmp_path / "data.noun").write_text(
        LICENCE
        + "00000100 03 n 01 entity 0 000 | all  \n"
        + '00000200 03 n 02 Dog 0 domestic_dog 0 002 @ 00000100 n 0000 ~ 00000300 n 0000 | a dog; "a | b"  \n'
        + "00000300 03 n 01 dog 1 002 @i 00000100 n 0000 @ 00000200 n 0000 | a certain dog  \n"
        + "00000400 03 n 01 lonely 0 001 + 00000100 v 0101 | alone  \n"
    )
    (tmp_path / "index.noun").write_text(
        LICENCE
        + "dog n 2 2 @ ~ 2 1 00000300 00000200  \n"
        + "domestic_dog n 1 1 @ 1 0 00000200  \n"
        + "entity n 1 1 ~ 1 0 00000100  \n"
        + "lonely n 1 0 1 0 00000400  \n"
    )
    hierarchy = read(tmp_path, relation="dag", reduce="never")
    assert edges_of(hierarchy) == {
        ("dog.n.02", "entity.n.01"),
        ("dog.n.01", "entity.n.01"),
        ("dog.n.01", "dog.n.02"),
    }
    # Class hypernyms come before instance hypernyms: the first parent is the @ one.
    first = hierarchy.parent_idx[hierarchy.parent_ptr[hierarchy.names.index_of("dog.n.01")]]
    assert hierarchy.names[int(first)] == "dog.n.02"
    assert hierarchy.report is not None
    assert hierarchy.report.notes == (
        "1 synset without hypernym or hyponym left out",
        "1 node with several parents, such as dog.n.01 (below dog.n.02, entity.n.01)",
    )
    assert edges_of(read(tmp_path)) == {("dog.n.02", "entity.n.01"), ("dog.n.01", "dog.n.02")}


def test_nouns_keep_the_deepest_hypernym_and_verbs_the_last(tmp_path: Path) -> None:
    edges = {("b", "a"), ("c", "b"), ("z", "a"), ("x", "c"), ("x", "z")}  # hypernyms of x in this order: c, z
    helpers.wordnet(edges, tmp_path / "wn")
    helpers.wordnet(edges, tmp_path / "wn", "verb")
    nouns = edges_of(read(tmp_path / "wn"))
    verbs = edges_of(read(tmp_path / "wn", part="verbs"))
    assert {p for c, p in nouns if c == "x.n.01"} == {"c.n.01"}
    assert {p for c, p in verbs if c == "x.v.01"} == {"z.v.01"}
    closure = edges_of(read(tmp_path / "wn", relation="closure", reduce="never"))
    assert {p for c, p in closure if c == "x.n.01"} == {"a.n.01", "b.n.01", "c.n.01", "z.n.01"}
    assert len(closure) == 1 + 2 + 1 + 4


def test_the_known_cycle_of_verbs(tmp_path: Path) -> None:
    """As in version 3.0: restrain.v.01 and inhibit.v.04 are each other's hypernym."""
    (tmp_path / "data.verb").write_text(
        LICENCE
        + "00000100 41 v 01 restrain 0 001 @ 00000200 v 0000 01 + 08 00 | hold back  \n"
        + "00000200 41 v 01 inhibit 0 001 @ 00000100 v 0000 01 + 08 00 | bottle up  \n"
        + "00000300 41 v 01 suppress 0 000 01 + 08 00 | put out of mind  \n"
        + "00000400 41 v 01 chain 0 001 @ 00000100 v 0000 01 + 08 00 | tie  \n"
    )
    (tmp_path / "index.verb").write_text(
        LICENCE
        + "chain v 1 1 @ 1 0 00000400  \n"
        + "inhibit v 4 1 @ 4 0 00000901 00000902 00000903 00000200  \n"
        + "restrain v 1 1 @ 1 0 00000100  \n"
        + "suppress v 4 1 ~ 4 0 00000904 00000905 00000906 00000300  \n"
    )
    expected = {
        ("restrain.v.01", "inhibit.v.04"),
        ("inhibit.v.04", "suppress.v.04"),
        ("chain.v.01", "restrain.v.01"),
    }
    for relation in ("tree", "dag"):
        hierarchy = read(tmp_path, part="verbs", relation=relation, strict=True)
        assert edges_of(hierarchy) == expected
        assert hierarchy.report is not None
        assert "known cycle was broken" in hierarchy.report.notes[0]


def test_a_part_that_is_not_there(tmp_path: Path) -> None:
    helpers.wordnet({("a", "b"), ("c", "b")}, tmp_path / "wn")
    with pytest.raises(InputError, match=r"data\.verb cannot be opened"):
        read(tmp_path / "wn", part="verbs")


def test_an_installed_copy_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helpers.wordnet({("a", "b"), ("c", "b")}, tmp_path / "dict")
    helpers.wordnet({("d", "e"), ("f", "e")}, tmp_path / "dict", "verb")
    monkeypatch.setenv("WNHOME", str(tmp_path))
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    assert edges_of(read("wordnet:nouns")) == {("a.n.01", "b.n.01"), ("c.n.01", "b.n.01")}
    assert edges_of(read("wordnet:verbs")) == {("d.v.01", "e.v.01"), ("f.v.01", "e.v.01")}
    with pytest.raises(InputError, match="part='adverbs' is unknown"):
        read("wordnet:adverbs")
    monkeypatch.setenv("WNHOME", str(tmp_path / "nowhere"))
    monkeypatch.setattr("treeball.io.readers.formats.wordnet._USUAL_PLACES", ())
    with pytest.raises(InputError, match=r"no WordNet is installed.*wordnet-base"):
        read("wordnet:nouns")


@pytest.mark.skipif(not is_folder(INSTALLED), reason="WordNet is not installed")
def test_the_installed_wordnet() -> None:
    """Sizes as published for version 3.0."""
    nouns = read(INSTALLED)
    assert (nouns.n_nodes, nouns.n_edges, nouns.is_tree) == (82_115, 82_114, True)
    assert nouns.names[nouns.root] == "entity.n.01"
    verbs = read(INSTALLED, part="verbs")
    assert (verbs.n_nodes, verbs.n_edges) == (13_542, 13_541)
    mammals = edges_of(read("example:mammals"))
    assert mammals <= edges_of(nouns)


def test_a_number_of_pointers_that_the_line_has_not_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data.noun").write_text(LICENCE + "00000100 03 n 01 entity 0 999999999999 @ 00000100 n 0000 | all  \n")
    (tmp_path / "index.noun").write_text(LICENCE + "entity n 1 1 ~ 1 0 00000100  \n")
    with pytest.raises(InputError, match="line 2: not a WordNet synset"):
        read(tmp_path)
