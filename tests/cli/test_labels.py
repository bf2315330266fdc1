"""Commands and labels: nodes are asked for by id, label or synonym, people read ``label [id]``, JSON carries both."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.csv as pacsv
import pytest

import treeball
from treeball import Hierarchy
from treeball.cli.main import run

TABLE = """id,parent_id,name
cat01,,Shop
cat02,cat01,Music
cat02010,cat02,Rock
cat02011,cat02,Pop
cat03,cat01,Bikes
cat03010,cat03,Accessories
cat04,cat01,Phones
cat04010,cat04,Accessories
"""


@pytest.fixture
def model(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("shop.csv").write_text(TABLE)
    assert run(["fit", "shop.csv", "-o", "shop.parquet"]) == 0
    capsys.readouterr()
    return "shop.parquet"


@pytest.fixture
def printed(capsys):
    def of(*arguments: str) -> str:
        assert run(list(arguments)) == 0
        return capsys.readouterr().out

    return of


@pytest.fixture
def refusal(capsys):
    def of(*arguments: str) -> str:
        assert run(list(arguments)) == 2
        return capsys.readouterr().err

    return of


def test_fit_says_that_ids_name_the_nodes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("shop.csv").write_text(TABLE)
    assert run(["fit", "shop.csv", "-o", "m.parquet"]) == 0
    said = capsys.readouterr().err
    assert "1 root (Shop [cat01])" in said
    assert "nodes are named by their ids, and 8 have labels to show" in said


def test_neighbors_by_label(model, printed):
    table = printed("neighbors", model, "Rock", "-k", "2").splitlines()
    assert table[0] == "nearest to Rock [cat02010]"
    assert [line.split("  ")[0] for line in table[1:]] == ["Music [cat02]", "Pop [cat02011]"]
    record = json.loads(printed("neighbors", model, "Rock", "-k", "2", "--json"))
    assert (record["node"], record["labels"]) == ("cat02010", {"cat02010": "Rock"})
    assert [(row["node"], row["label"]) for row in record["neighbors"]] == [("cat02", "Music"), ("cat02011", "Pop")]
    assert printed("neighbors", model, "cat02010") == printed("neighbors", model, "Rock [cat02010]")


def test_a_label_of_several_nodes_is_refused_with_them(model, refusal):
    said = refusal("neighbors", model, "Accessories")
    assert "'Accessories' may be any of 2 nodes: Accessories [cat03010], Accessories [cat04010]; give the id" in said
    assert "did you mean 'Rock [cat02010]'" in refusal("distance", model, "Rok", "Pop")


def test_relatives(model, printed):
    assert printed("ask", model, "parent", "Rock") == "Music [cat02]\n"
    assert printed("ask", model, "ancestors", "Rock").splitlines() == ["Music [cat02]", "Shop [cat01]"]
    assert printed("ask", model, "subtree", "Music").splitlines() == [
        "Music [cat02]",
        "  Rock [cat02010]",
        "  Pop [cat02011]",
    ]
    assert printed("ask", model, "is-ancestor", "Shop", "Rock").startswith("Shop [cat01] is an ancestor of Rock [cat02")
    record = json.loads(printed("ask", model, "path", "Rock", "Pop", "--json"))
    assert record == {
        "a": "cat02010",
        "b": "cat02011",
        "path": ["cat02010", "cat02", "cat02011"],
        "labels": {"cat02010": "Rock", "cat02": "Music", "cat02011": "Pop"},
    }
    record = json.loads(printed("ask", model, "parent", "Rock", "--json"))
    assert record == {
        "node": "cat02010",
        "parent": "cat02",
        "parents": ["cat02"],
        "labels": {"cat02010": "Rock", "cat02": "Music"},
    }
    record = json.loads(printed("ask", model, "is-ancestor", "Shop", "Rock", "--json"))
    assert (record["is_ancestor"], record["labels"]) == (True, {"cat01": "Shop", "cat02010": "Rock"})


def test_distances_and_suggestions(model, printed):
    assert printed("distance", model, "Rock", "Pop") == printed("distance", model, "cat02010", "cat02011")
    rows = printed("distance", model, "Rock", "Pop", "Shop", "Music").splitlines()
    assert rows[0].startswith("Rock [cat02010]  Pop [cat02011]")
    record = json.loads(printed("distance", model, "Rock", "Pop", "--json"))
    assert record["labels"] == {"cat02010": "Rock", "cat02011": "Pop"}
    assert printed("suggest-parent", model, "--near", "Rock,Pop").splitlines()[1].startswith("Music [cat02]")
    record = json.loads(printed("suggest-parent", model, "--near", "Rock,Pop", "--json"))
    assert (record["suggestions"][0]["node"], record["suggestions"][0]["label"]) == ("cat02", "Music")


def test_questions_from_a_file_are_by_label_too(model, printed):
    Path("asked.txt").write_text("Rock\ncat02011\n")
    assert printed("ask", model, "parent", "--from-file", "asked.txt").splitlines() == [
        "Rock [cat02010]  Music [cat02]",
        "Pop [cat02011]   Music [cat02]",
    ]


def test_insert_takes_labels_and_tells_them(model, printed, capsys):
    printed("insert", model, "--name", "cat02012", "--near", "Rock,Pop", "-o", "a.parquet")
    assert treeball.load("a.parquet").parent_of("cat02012") == "cat02"
    assert run(["insert", model, "--remove", "Rock", "--reparent", "Pop=Bikes", "-o", "b.parquet"]) == 0
    changed = treeball.load("b.parquet")
    assert "cat02010" not in changed
    assert changed.hierarchy.parents_of("Pop") == ["cat03"]
    assert run(["insert", model, "--rename", "Rock=Rock & Roll", "--rename", "cat03=bikes", "-o", "c.parquet"]) == 0
    renamed = treeball.load("c.parquet")
    assert renamed.find("Rock & Roll") == "cat02010"
    assert renamed.label_of("bikes") == "Bikes"


def test_compare_shows_labels_and_guesses_no_ids(model, printed):
    Path("new.csv").write_text(TABLE.replace("cat02011", "cat02099").replace(",Bikes", ",Bicycles"))
    lines = printed("compare", model, "new.csv").splitlines()
    assert lines == [
        "nodes in both: 7",
        "added: 1  (Pop [cat02099])",
        "removed: 1  (Pop [cat02011])",
        "probably renamed: 0",
        "have another label: 1  (cat03: Bikes -> Bicycles)",
        "hang elsewhere: 0",
    ]


def test_compare_shows_the_label_of_an_id_that_was_merged_into_another(tmp_path, monkeypatch, printed):
    monkeypatch.chdir(tmp_path)
    root = "format-version: 1.2\n\n[Term]\nid: T:1\nname: animal\n\n"
    dog, hound = (f"[Term]\nid: {id}\nname: {name}\nis_a: T:1\n\n" for id, name in (("T:2", "dog"), ("T:10", "hound")))
    Path("old.obo").write_text(root + dog + hound)
    Path("new.obo").write_text(root + dog.replace("is_a", "alt_id: T:10\nis_a"))
    assert "removed: 1  (hound [T:10])" in printed("compare", "old.obo", "new.obo").splitlines()


def test_ill_pairs_and_diagnosis_carry_labels(tmp_path, monkeypatch, printed):
    monkeypatch.chdir(tmp_path)
    rng_model = treeball.fit(
        Hierarchy.from_codes(
            [f"i{n}" for n in range(60)],
            list(range(1, 60)),
            [(n - 1) // 3 for n in range(1, 60)],
            labels=[f"Label {n}" for n in range(60)],
        ),
        method="poincare",
        dim=2,
        epochs=2,
        seed=0,
    )
    rng_model.save("ill.parquet")
    printed("evaluate", "ill.parquet", "--ill-pairs", "ill.csv")
    table = pacsv.read_csv("ill.csv")
    assert table.column_names == [
        "node",
        "positive",
        "offender",
        "kind",
        "node_label",
        "positive_label",
        "offender_label",
    ]
    for row in table.to_pylist():
        assert row["node_label"] == f"Label {row['node'][1:]}"
    text = printed("diagnose", "ill.parquet", "--html", "ill.html")
    found = rng_model.diagnose()
    worst = found.worst_nodes[0]
    shown = f"{worst.labels[worst.node]} [{worst.node}]"
    assert f" 1. {shown}  " in text
    assert f"</span>{shown}</h3>" in Path("ill.html").read_text()
    record = found.to_dict()["worst_pairs"][0]
    assert record["labels"][record["node"]] == f"Label {record['node'][1:]}"


def test_plot_labels_are_the_labels():
    from treeball.report import figures

    hierarchy = Hierarchy.from_codes(
        ["i0", "i1", "i2"], [1, 2], [0, 0], labels=["Shop", "Music", None], synonyms=[[], ["songs"], []]
    )
    embedding = treeball.fit(hierarchy, dim=2)
    disk = figures.disk(embedding, focus="songs")
    assert {"Shop", "Music", "i2"} <= {text.get_text() for text in disk.axes[0].texts}
    for focus in ("songs", "i1"):
        titles = [text.get_text() for text in figures.disk(embedding, focus=focus).texts]
        assert any(title.endswith("; seen from Music") for title in titles)
