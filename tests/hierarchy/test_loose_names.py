"""Names that are not exactly those of a node: leaf names of paths, and names in another case."""

from __future__ import annotations

import logging

import pytest

import treeball
from tests.scale.hierarchies import write
from treeball import Hierarchy, InputError
from treeball.cli.main import run
from treeball.hierarchy.names import Names
from treeball.scale.fit import fit_folder
from treeball.scale.settings import ScaleSettings

PATHS = [
    "Pets", "Pets > Dogs", "Pets > Dogs > Food", "Pets > Dogs > Dog Food", "Pets > Cats", "Pets > Cats > Food",
    "Pets > Cats > Toys", "Pets > Cats > TOYS", "Pets > Bags/Cases", "dogs", "Garden > pets",
]  # fmt: skip


def paths() -> Names:
    return Names(PATHS)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Pets > Dogs", "Pets > Dogs"), ("pets > dogs", "Pets > Dogs"), ("Dog Food", "Pets > Dogs > Dog Food"),
        ("dog food", "Pets > Dogs > Dog Food"), (" DOG FOOD ", "Pets > Dogs > Dog Food"),
        ("Cats > Food", "Pets > Cats > Food"), ("cats > food", "Pets > Cats > Food"), ("cats", "Pets > Cats"),
        ("bags/cases", "Pets > Bags/Cases"), ("Cases", "Pets > Bags/Cases"),
        ("dogs", "dogs"), ("Dogs", "dogs"), ("pets", "Pets"), ("Pets", "Pets"),
        ("Toys", "Pets > Cats > Toys"), ("TOYS", "Pets > Cats > TOYS"),
    ],
)  # fmt: skip
def test_a_leaf_name_or_another_case_finds_the_one_node_it_leads_to(text, name):
    assert paths()[paths().find(text)] == name
    assert PATHS[int(paths().find_many([text])[0])] == name


@pytest.mark.parametrize(
    ("text", "candidates"),
    [("Food", ["Pets > Dogs > Food", "Pets > Cats > Food"]), ("food", ["Pets > Dogs > Food", "Pets > Cats > Food"]),
     ("toys", ["Pets > Cats > Toys", "Pets > Cats > TOYS"])],
)  # fmt: skip
def test_a_leaf_name_of_several_nodes_is_refused_with_the_candidates(text, candidates):
    for ask in (paths().find, lambda name: paths().find_many([name])):
        with pytest.raises(InputError, match="may be any of 2 nodes") as caught:
            ask(text)
        assert all(name in str(caught.value) for name in candidates)


@pytest.mark.parametrize("text", ["", " ", ">", "Foo", "ood", "Dog", "Pets >", "s > Food", "\udcff", "a" * 10_000])
def test_a_part_of_a_step_is_no_name(text):
    assert paths().meant(text).codes == []
    with pytest.raises(InputError, match="no node named"):
        paths().find(text)


def test_exact_labels_and_synonyms_go_before_loose_names():
    names = Names(["FOOD", "f", "x > Food"]).described(["one", "Food", None], [["Feed"], [], []])
    assert names.find("Food") == 1
    assert names.find("FOOD") == 0
    assert names.find("fOOd") == 0
    assert names.find("feed") == 0
    assert names.find("ONE") == 0


def test_labels_that_are_paths_are_found_by_their_last_step():
    names = Names(["1", "2"]).described(["Pets", "Pets > Dog Food"], None)
    assert names.find("dog food") == 1


def test_nodes_that_are_named_by_numbers_are_found_by_their_labels_alone():
    names = Names([10, 20]).described(["Pets", "Pets > Dog Food"], None)
    assert names.find("dog food") == 1
    assert names.find("10") == 0


def test_look_up_and_membership_stay_exact():
    assert paths().look_up("dog food") == []
    assert "dog food" not in paths()
    with pytest.raises(InputError, match="no node named 'dog food'; did you mean"):
        paths().index_of("dog food")


def test_a_loose_name_is_logged_and_an_exact_one_is_not():
    messages: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    handler = Kept()
    log = logging.getLogger("treeball.names")
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        paths().find("Pets > Dogs")
        assert messages == []
        paths().find("dog food")
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
    assert messages == ["'dog food' is read as 'Pets > Dogs > Dog Food' (by the end of its path, whatever the case)"]


EDGES = [("Pets > Dogs", "Pets"), ("Pets > Cats", "Pets"), ("Pets > Dogs > Dog Food", "Pets > Dogs")]


def test_commands_say_on_standard_error_which_node_is_meant(tmp_path, capsys):
    model = str(treeball.fit(EDGES, dim=3).save(tmp_path / "model.parquet"))
    for command in (["neighbors", model, "dog food", "-k", "1"], ["ask", model, "parent", "DOG FOOD"]):
        assert run(command) == 0
        said = capsys.readouterr()
        assert "is read as 'Pets > Dogs > Dog Food' (by the end of its path, whatever the case)" in said.err
        assert "Pets > Dogs" in said.out
    assert run(["neighbors", model, "Pets > Dogs"]) == 0
    assert "is read as" not in capsys.readouterr().err


def test_an_embedding_finds_loose_names_too():
    model = treeball.fit(EDGES, dim=3)
    assert model.parent_of("dog food") == model.parent_of("Pets > Dogs > Dog Food")
    assert model.neighbors("dog food", k=1)[0][0] == "Pets > Dogs"


def test_changes_in_python_need_exact_names():
    model = treeball.fit(EDGES, dim=3)
    with pytest.raises(InputError, match="no node named 'dog food'"):
        model.insert(remove=["dog food"])


def test_a_partitioned_model_finds_loose_names_too(tmp_path, capsys):
    edges = [*EDGES, ("Pets > Cats > food", "Pets > Cats"), ("Pets > Dogs > Food", "Pets > Dogs")]
    settings = ScaleSettings(method="construct", dim=4, branch_nodes=500, workers=1)
    fit_folder((write(edges, tmp_path / "edges"),), tmp_path / "model", settings, lambda _: None)
    model = str(tmp_path / "model")
    assert run(["ask", model, "parent", "dog food"]) == 0
    said = capsys.readouterr()
    assert said.out.split("\t")[-1].strip().endswith("Pets > Dogs")
    assert "'dog food' is read as 'Pets > Dogs > Dog Food'" in said.err
    assert run(["neighbors", model, "FOOD"]) == 2
    assert "may be any of 2 nodes" in capsys.readouterr().err
    assert run(["neighbors", model, "absent"]) == 2
    assert "there is no node 'absent'" in capsys.readouterr().err


def test_hierarchies_find_loose_names():
    hierarchy = Hierarchy.from_codes(["Pets", "Pets > Dog Food"], [1], [0])
    assert hierarchy.names.find("dog food") == 1
