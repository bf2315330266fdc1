"""treeball update, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import treeball
from treeball.cli.main import run

FIRST = "id,parent_id,name\n1,,Home\n2,1,Kitchen\n3,1,Garden\n4,2,Pans\n5,2,Pots\n6,4,Iron pans\n"
SECOND = "id,parent_id,name\n1,,Home\n2,1,Kitchens\n3,1,Garden\n4,3,Pans\n7,2,Woks\n6,4,Iron pans\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "first.csv").write_text(FIRST)
    (tmp_path / "second.csv").write_text(SECOND)
    treeball.fit(tmp_path / "first.csv", dim=5).save(tmp_path / "model.parquet")
    return tmp_path


def test_a_dry_run_says_what_and_writes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(path.name for path in folder.iterdir())
    assert run(["update", str(folder / "model.parquet"), str(folder / "second.csv"), "--dry-run"]) == 0
    said = capsys.readouterr()
    for line in ("new             1 (Woks [7])", "removed         1 (Pots [5])", "hung elsewhere  1 (Pans [4])"):
        assert line in said.out
    assert "other label     1 (2: Kitchen -> Kitchens)" in said.out
    assert "nothing was written" in said.err
    assert sorted(path.name for path in folder.iterdir()) == before


def test_the_new_model_has_the_new_version(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["update", str(folder / "model.parquet"), str(folder / "second.csv"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["changes"]["moved"] == ["4"]
    assert facts["placed"] == facts["parent_nearest"] == 3
    made, old = treeball.load(folder / "model.updated.parquet"), treeball.load(folder / "model.parquet")
    assert made.hierarchy.names.labels_by_name(["2"]) == {"2": "Kitchens"}
    for name in ("1", "2", "3"):
        assert (made.vectors[made.names.index_of(name)] == old.vectors[old.names.index_of(name)]).all()


def test_what_cannot_be_is_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "part.csv").write_text("id,parent_id,name\n1,,Home\n2,1,Kitchen\n")
    assert run(["update", str(folder / "model.parquet"), str(folder / "part.csv")]) == 2
    assert "4 nodes of 6 would be removed" in capsys.readouterr().err
    (folder / "root.csv").write_text(SECOND.replace("1,,Home", "1,0,Home\n0,,All"))
    assert run(["update", str(folder / "model.parquet"), str(folder / "root.csv")]) == 2
    assert "fit the new version" in capsys.readouterr().err
    assert not (folder / "model.updated.parquet").exists()


def update(folder: Path, export: str, *options: str) -> int:
    """Update the model by an export, given as its text."""
    (folder / "export.csv").write_text(export)
    return run(["update", str(folder / "model.parquet"), str(folder / "export.csv"), *options])


def large(nodes: int = 200) -> list[str]:
    """Rows of a table of ids: four shelves below a shop, and items below these."""
    shelves = [f"s{i},shop,Shelf {i}" for i in range(4)]
    return ["id,parent_id,name", "shop,,Shop", *shelves, *(f"i{i},s{i % 4},Item {i}" for i in range(nodes - 5))]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "first.csv").write_text("\n".join(large()))
    treeball.fit(tmp_path / "first.csv", dim=5).save(tmp_path / "model.parquet")
    return tmp_path


def test_a_label_stays_where_the_new_cell_is_empty(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export = SECOND.replace("6,4,Iron pans", "6,4,").replace("3,1,Garden", "3,1,  ")
    assert update(folder, export) == 0
    assert "label kept, as the new one is empty  2 (" in capsys.readouterr().out
    made = treeball.load(folder / "model.updated.parquet").names
    assert made.labels_by_name(["2", "3", "6"]) == {"2": "Kitchens", "3": "Garden", "6": "Iron pans"}


FOREST = "id,parent_id,name\n1,,Home\n2,1,Kitchen\n3,,Garden\n4,2,Pans\n5,2,Pots\n6,4,Iron pans\n"


@pytest.fixture
def forest(tmp_path: Path) -> Path:
    (tmp_path / "first.csv").write_text(FOREST)
    treeball.fit(tmp_path / "first.csv", dim=5).save(tmp_path / "model.parquet")
    return tmp_path


@pytest.mark.parametrize("row", ["7,99,Woks", "7,,Sport", "5,99,Pots"])
def test_a_new_root_of_a_forest_is_refused_unless_it_is_allowed(
    forest: Path, capsys: pytest.CaptureFixture[str], row: str
) -> None:
    export = FOREST.replace("5,2,Pots\n", "" if row.startswith("5") else "5,2,Pots\n") + f"{row}\n"
    assert update(forest, export) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "1 node of the new version is without a parent and not in the model" in said
    assert "--allow-new-roots" in said
    if ",99," in row:
        assert "'99' (the parent of " in said
    assert not (forest / "model.updated.parquet").exists()
    assert update(forest, export, "--allow-new-roots") == 0
    made = treeball.load(forest / "model.updated.parquet").hierarchy
    name = "99" if ",99," in row else "7"
    assert made.parents_of(made.names.find(name)).tolist() == [made.virtual_root]


def test_a_second_root_is_refused_and_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in ((), ("--allow-new-roots",)):
        assert update(folder, SECOND + "8,99,Lost\n", *options) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert "1 node of the new version is without a parent: '99' (the parent of 'Lost [8]')" in said
        assert "this one has one root, 'Home [1]'" in said


def test_a_root_that_joins_several_may_have_any_name(tmp_path: Path) -> None:
    (tmp_path / "first.csv").write_text(FOREST)
    treeball.fit(treeball.read(tmp_path / "first.csv", root="All"), dim=5).save(tmp_path / "model.parquet")
    assert update(tmp_path, FOREST + "7,3,Roses\n") == 0
    made = treeball.load(tmp_path / "model.updated.parquet").hierarchy
    assert made.virtual_root == made.names.index_of("All")


def test_removing_more_than_allowed_stops_with_the_list_and_writes_nothing(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path.name for path in shop.iterdir())
    rows = large()[:-11]
    assert update(shop, "\n".join(rows)) == 2
    said = capsys.readouterr()
    assert "removed         11 (" in said.out
    last = said.err.splitlines()[-1]
    assert "11 nodes of 200 would be removed (5.5%; at most 10 without --max-removed 0.055): Item 184 [i184], " in last
    assert "--dry-run --json lists all" in last
    assert sorted(path.name for path in shop.iterdir()) == sorted([*before, "export.csv"])
    assert update(shop, "\n".join(rows), "--dry-run", "--json") == 2
    assert len(json.loads(capsys.readouterr().out)["changes"]["removed"]) == 11
    assert update(shop, "\n".join(large()[:-10])) == 0
    assert update(shop, "\n".join(rows), "--max-removed", "0.055") == 0
    assert update(shop, "\n".join(rows), "--force") == 0


def test_moving_more_than_allowed_stops_with_the_list(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row.replace(",s0,", ",s1,") for row in large()]
    assert update(shop, "\n".join(rows)) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert "49 nodes of 200 would be moved (24.5%; at most 10 without --max-moved 0.245): Item 0 [i0], " in last
    assert update(shop, "\n".join(rows), "--max-moved", "0.245") == 0


def test_both_faults_are_said_at_once(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert update(shop, "\n".join(row.replace(",s0,", ",s1,") for row in large()[:-20])) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert "would be removed" in last
    assert "would be moved" in last


def test_a_small_model_may_lose_a_few_nodes_and_a_given_share_is_exact(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    without_two = "id,parent_id,name\n1,,Home\n2,1,Kitchen\n3,1,Garden\n4,2,Pans\n"
    assert update(folder, without_two) == 0
    assert update(folder, without_two, "--max-removed", "0") == 2
    assert "2 nodes of 6 would be removed (33.3%; at most 0 " in capsys.readouterr().err
    for share in ("1.5", "-0.1", "nan"):
        assert update(folder, without_two, "--max-removed", share) == 2
        assert "give a number from 0 to 1" in capsys.readouterr().err


def test_ids_whose_rows_differ_are_refused_with_their_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert update(folder, FIRST + "4,3,Pans\n5,2,Kettles\n6,4,Iron pans\n") == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert "2 ids with several rows that differ" in last
    assert "4: line 5 'Pans' below Kitchen [2], line 8 'Pans' below Garden [3]" in last
    assert "5: line 6 'Pots' below Kitchen [2], line 9 'Kettles' below Kitchen [2]" in last
    assert "--on-duplicate first, last or all" in last


@pytest.mark.parametrize(
    ("choice", "parents", "label"), [("first", ["2"], "Pots"), ("last", ["3"], "Kettles"), ("all", ["2", "3"], "Pots")]
)
def test_of_ids_whose_rows_differ_one_may_be_chosen(
    folder: Path, capsys: pytest.CaptureFixture[str], choice: str, parents: list[str], label: str
) -> None:
    assert update(folder, FIRST + "4,3,Pans\n5,2,Kettles\n", "--on-duplicate", choice) == 0
    said = capsys.readouterr().err
    assert choice == "all" or f"; the {choice} row of each was taken" in said
    made = treeball.load(folder / "model.updated.parquet").hierarchy
    assert sorted(map(str, made.names.take(made.parents_of(made.names.index_of("4"))))) == parents
    assert made.names.labels_by_name(["5"]) == {"5": label}


def test_json_records_with_the_same_id_are_refused_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [dict(zip(("id", "parent_id", "name"), line.split(","), strict=True)) for line in FIRST.splitlines()[1:]]
    (folder / "export.json").write_text(json.dumps([*rows, {"id": "5", "parent_id": "2", "name": "Kettles"}]))
    assert run(["update", str(folder / "model.parquet"), str(folder / "export.json")]) == 2
    assert "1 id with several rows that differ: 5: " in capsys.readouterr().err


def test_several_parents_of_a_dag_are_no_duplicates(tmp_path: Path) -> None:
    table = FIRST + "4,3,Pans\n"
    (tmp_path / "first.csv").write_text(table)
    treeball.fit(tmp_path / "first.csv", dim=5).save(tmp_path / "model.parquet")
    assert update(tmp_path, table + "5,3,Pots\n") == 0


def test_rows_without_an_id_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert update(folder, FIRST + ",2,Woks\n ,3,Rakes\n") == 0
    said = capsys.readouterr().err
    assert "2 rows without an id left out: line 8 'Woks' below Kitchen [2]; line 9 'Rakes' below Garden [3]" in said


def test_a_model_may_be_updated_in_place(folder: Path) -> None:
    assert update(folder, SECOND, "-o", str(folder / "model.parquet")) == 0
    assert "7" in treeball.load(folder / "model.parquet").names
