"""New rows in the very format that made a model."""

from __future__ import annotations

from pathlib import Path

import pytest

import treeball
from treeball.cli.main import run

IDS = "id,parent_id,name\n1,,Home\n2,1,Kitchen\n3,2,Pans\n4,2,Pots\n"
BY_LABEL = "id,parent,name\n1,,Home\n2,Home,Kitchen\n3,Kitchen,Pans\n4,Kitchen,Pots\n"
GOOGLE = (
    "# Google_Product_Taxonomy_Version: 2021-09-21\n1 - Animals\n2 - Animals > Pets\n3 - Animals > Pets > Dog Food\n"
    "4 - Food\n5 - Food > Bread\n"
)
RECORDS = (
    '[{"id":1,"PARENT":null,"name":"Home"},{"id":2,"PARENT":%s,"name":"Kitchen"},{"id":3,"PARENT":%s,"name":"Pans"}]'
)
TERM = "\n[Term]\nid: X:%d\nname: %s\nis_a: X:%d ! %s\n"
OBO = "format-version: 1.2\n\n[Term]\nid: X:1\nname: root\n"

CASES = {
    "ids": (IDS, "id,parent_id,name\n9,2,Woks\n10,9,Steel\n", "csv", {"9": ("Woks", "2"), "10": ("Steel", "9")}),
    "ids, parents by label": (
        IDS, "id,parent_id,name\n9,Kitchen,Woks\n10,Pans,Iron\n", "csv", {"9": ("Woks", "2"), "10": ("Iron", "3")}
    ),
    "ids, parents by label of new rows": (
        IDS, "id,parent,name\n9,Kitchen,Woks\n10,Woks,Steel\n", "csv", {"9": ("Woks", "2"), "10": ("Steel", "9")}
    ),
    "ids, edges of labels": (IDS, "child,parent\nWoks,Kitchen\n", "csv", {"Woks": (None, "2")}),
    "ids, parent in another case": (IDS, "id,parent_id,name\n9,kitchen,Woks\n", "csv", {"9": ("Woks", "2")}),
    "labels": (BY_LABEL, "id,parent,name\n9,Kitchen,Woks\n", "csv", {"Woks": (None, "Kitchen")}),
    "labels, a chain": (
        BY_LABEL, "id,parent,name\n9,Kitchen,Woks\n10,Woks,Steel\n", "csv",
        {"Woks": (None, "Kitchen"), "Steel": (None, "Woks")},
    ),
    "labels, the whole table": (BY_LABEL, BY_LABEL + "9,Kitchen,Woks\n", "csv", {"Woks": (None, "Kitchen")}),
    "edges": ("child,parent\nKitchen,Home\nPans,Kitchen\n", "child,parent\nWoks,Kitchen\n", "csv",
              {"Woks": (None, "Kitchen")}),
    "edges without labels, then a table of ids": (
        "child,parent\n2,1\n3,2\n", "id,parent_id,name\n9,2,Woks\n", "csv", {"9": ("Woks", "2")}
    ),
    "paths": ("Home\nHome > Kitchen\nHome > Kitchen > Pans\n", "Home > Kitchen > Woks\n", "txt",
              {"Home > Kitchen > Woks": (None, "Home > Kitchen")}),
    "levels": ("level1,level2,level3\nHome,Kitchen,Pans\nHome,Garden,Rakes\n",
               "level1,level2,level3\nHome,Kitchen,Woks\n", "csv", {"Home > Kitchen > Woks": (None, "Home > Kitchen")}),
    "Google": (GOOGLE, "9 - Animals > Pets > Cat Food\n", "txt", {"9": ("Animals > Pets > Cat Food", "2")}),
    "Google, a chain": (
        GOOGLE, "9 - Food > Rolls\n10 - Food > Rolls > Small\n", "txt",
        {"9": ("Food > Rolls", "4"), "10": ("Food > Rolls > Small", "9")},
    ),
    "OBO": (
        OBO + TERM % (2, "cell", 1, "root"), "format-version: 1.2\n" + TERM % (9, "glia", 2, "cell"), "obo",
        {"X:9": ("glia", "X:2")},
    ),
    "records": (
        (RECORDS % ("1", "2")).replace("PARENT", "parent_id"), '[{"id":9,"parent_id":2,"name":"Woks"}]', "json",
        {"9": ("Woks", "2")},
    ),
    "records, parents by label": (
        (RECORDS % ('"Home"', '"Kitchen"')).replace("PARENT", "parent"), '[{"id":9,"parent":"Kitchen","name":"Woks"}]',
        "json", {"Woks": (None, "Kitchen")},
    ),
    "outline": ("Home\n  Kitchen\n    Pans\n", "Home\n  Kitchen\n    Woks\n", "txt", {"Woks": (None, "Kitchen")}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_new_rows_in_the_format_of_the_model_are_inserted(tmp_path: Path, case: str) -> None:
    whole, rows, ending, expected = CASES[case]
    first, new = tmp_path / f"first.{ending}", tmp_path / f"new.{ending}"
    first.write_text(whole)
    new.write_text(rows)
    model = treeball.fit(first, dim=3).save(tmp_path / "model.parquet")
    before = set(treeball.load(model).names)
    assert run(["insert", str(model), str(new), "-o", str(tmp_path / "out.parquet")]) == 0
    made = treeball.load(tmp_path / "out.parquet").hierarchy
    names = made.names
    found = {
        name: (names.labels.take([code])[0], *names.take(made.parents_of(code)))
        for name in names
        if name not in before
        for code in [names.index_of(name)]
    }
    assert found == expected


def test_a_label_of_several_nodes_is_no_parent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "first.csv").write_text(IDS + "5,1,Pans\n")
    (tmp_path / "new.csv").write_text("id,parent_id,name\n9,Pans,Iron\n")
    model = treeball.fit(tmp_path / "first.csv", dim=3).save(tmp_path / "model.parquet")
    assert run(["insert", str(model), str(tmp_path / "new.csv"), "-o", str(tmp_path / "out.parquet")]) == 2
    said = capsys.readouterr().err
    assert "'Pans' may be any of 2 nodes: Pans [3], Pans [5]" in said
    assert not (tmp_path / "out.parquet").exists()


def test_a_parent_may_be_the_last_step_of_a_path_and_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "first.txt").write_text("Home\nHome > Kitchen\nHome > Kitchen > Pans\n")
    (tmp_path / "new.csv").write_text("child,parent\nWoks,kitchen\n")
    model = treeball.fit(tmp_path / "first.txt", dim=3).save(tmp_path / "model.parquet")
    assert run(["insert", str(model), str(tmp_path / "new.csv"), "-o", str(tmp_path / "out.parquet")]) == 0
    assert "'kitchen' is read as 'Home > Kitchen'" in capsys.readouterr().err
    assert treeball.load(tmp_path / "out.parquet").hierarchy.names.find("Woks") >= 0


PATHS = "Home\nHome > Kitchen\nHome > Kitchen > Pans\nHome > Garden\n"
EDGES = "child,parent\nKitchen,Home\nPans,Kitchen\n"
WITH_IDS = "1 - Home\n2 - Home > Kitchen\n3 - Home > Kitchen > Pans\n"


@pytest.mark.parametrize(
    ("first", "new", "kind", "node", "parent"),
    [
        (PATHS, "Home > kitchen > PANS > Woks\n", "txt", "Home > kitchen > PANS > Woks", "Home > Kitchen > Pans"),
        (PATHS, "Kitchen > Pans > Woks\n", "txt", "Kitchen > Pans > Woks", "Home > Kitchen > Pans"),
        (PATHS, "Home > Kitchen\nHome > kitchen > Woks\n", "txt", "Home > kitchen > Woks", "Home > Kitchen"),
        (EDGES, "child,parent\nkitchen,Home\nWoks,kitchen\n", "csv", "Woks", "Kitchen"),
        (EDGES, "child,parent\nWoks,pans\npans,kitchen\nkitchen,home\n", "csv", "Woks", "Pans"),
        (WITH_IDS, "9 - home > KITCHEN > Woks\n", "txt", "9", "2"),
    ],
)  # fmt: skip
def test_steps_of_new_paths_in_another_case_make_no_second_branch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], first: str, new: str, kind: str, node: str, parent: str
) -> None:
    (tmp_path / f"first.{kind}").write_text(first)
    (tmp_path / f"new.{kind}").write_text(new)
    model = treeball.fit(tmp_path / f"first.{kind}", dim=3).save(tmp_path / "model.parquet")
    before = treeball.load(model).hierarchy
    assert run(["insert", str(model), str(tmp_path / f"new.{kind}"), "-o", str(tmp_path / "out.parquet")]) == 0
    assert " is read as " in capsys.readouterr().err
    after = treeball.load(tmp_path / "out.parquet").hierarchy
    assert set(map(str, after.names)) - set(map(str, before.names)) == {node}
    assert [str(after.names[code]) for code in after.parents_of(after.names.find(node))] == [parent]


def test_a_step_below_another_parent_is_a_new_node(tmp_path: Path) -> None:
    (tmp_path / "first.txt").write_text(PATHS)
    (tmp_path / "new.txt").write_text("Home > Garden > Pans > Woks\n")
    model = treeball.fit(tmp_path / "first.txt", dim=3).save(tmp_path / "model.parquet")
    assert run(["insert", str(model), str(tmp_path / "new.txt"), "-o", str(tmp_path / "out.parquet")]) == 0
    names = treeball.load(tmp_path / "out.parquet").hierarchy.names
    assert {"Home > Garden > Pans", "Home > Garden > Pans > Woks"} <= set(names)


@pytest.mark.parametrize("mark", [" > ", "/", " :: "])
def test_paths_of_labels_are_the_nodes_that_a_model_names_by_ids(
    mark: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cats.csv").write_text("id,parent_id,name\n1,,Home\n2,1,Kitchen\n3,2,Pans\n4,1,Garden\n")
    paths = [("Home", "Kitchen", "Woks"), ("Home", "garden", "Rakes"), ("Home", "Kitchen", "Pans")]
    (tmp_path / "new.txt").write_text("".join(mark.join(path) + "\n" for path in paths))
    model, made = tmp_path / "m.parquet", tmp_path / "made.parquet"
    assert run(["fit", str(tmp_path / "cats.csv"), "-o", str(model), "--dim", "3"]) == 0
    assert run(["insert", str(model), str(tmp_path / "new.txt"), "-o", str(made)]) == 0
    assert "by the labels of its path" in capsys.readouterr().err
    hierarchy = treeball.load(made).hierarchy
    assert hierarchy.n_nodes == 6
    above = {
        str(name).rpartition(mark.strip())[2].strip(): hierarchy.names.take(hierarchy.parents_of(code))
        for code, name in enumerate(hierarchy.names)
    }
    assert (above["Woks"], above["Rakes"]) == (["2"], ["4"])
