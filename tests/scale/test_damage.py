"""A damaged model folder ends every command with one sentence, 2, and soon; links and paths stay inside of it."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.scale.damage import commands, damages, fit_again
from tests.scale.hierarchies import random_edges, write
from treeball import InputError
from treeball.cli.main import run
from treeball.scale.folder import ModelFolder
from treeball.scale.layout import read_json, write_json

EDGES = random_edges(300)
DRAWN = 60


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with leaves that were added and nodes that were removed, and files to change it again."""
    home = tmp_path_factory.mktemp("damage")
    write([*EDGES, ("alone", None)], home / "edges")
    assert run(fit_again(home / "model", home)) == 0
    for name in ("a", "b"):
        (home / "new.csv").write_text(f"child,parent\nx{name},n1\ny{name},n2\n")
        assert run(["insert", str(home / "model"), str(home / "new.csv")]) == 0
    rows = [f"{child},{parent}" for child, parent in [*EDGES[:280], ("xa", "n1"), ("z", "n4")]]
    (home / "all.csv").write_text("\n".join(["child,parent", *rows]) + "\n")
    assert run(["update", str(home / "model"), str(home / "all.csv"), "--force"]) == 0
    (home / "new.csv").write_text("child,parent\nfresh,n1\n")
    return home


@pytest.fixture
def model(home, tmp_path):
    shutil.copytree(home / "model", tmp_path / "model")
    return tmp_path / "model"


def edited(model, *way, to):
    manifest = read_json(model / "manifest.json")
    at = manifest
    for step in way[:-1]:
        at = at[step]
    at[way[-1]] = to
    write_json(model / "manifest.json", manifest)


def said_by(capsys, arguments):
    """The sentence by which a command refuses."""
    capsys.readouterr()
    assert run(arguments) == 2, arguments
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("treeball: ")
    return said


def asks(model):
    return ["ask", str(model), "ancestors", "n7", "--from", "hierarchy"]


@pytest.mark.parametrize("number", range(DRAWN))
def test_no_damage_ends_with_a_traceback(home, tmp_path, number):
    rng = random.Random(number)
    _, damage = rng.choice(list(damages(home / "model")))
    copy = tmp_path / "model"
    for command in rng.sample([*commands(copy, home), fit_again(copy, home)], 2):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(home / "model", copy)
        damage(copy)
        assert run(command) in (0, 2)


@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("added", 1, "parents"), None), (("shards",), []), (("shards", 0, "rows"), -1),
        (("dim",), "4"), (("nodes",), 10**12), (("plan",), {}), (("objective",), None), (("cuts",), [0, 1]),
        (("removed",), {"file": 3}), (("arrays",), None), (("method",), "magic"), (("virtual_root",), 5),
    ],
)  # fmt: skip
def test_an_entry_of_the_manifest_that_cannot_be_is_named(model, capsys, way, value):
    edited(model, *way, to=value)
    for command in (["info", str(model)], asks(model), ["neighbors", str(model), "n7"]):
        assert "manifest.json' is damaged" in said_by(capsys, command)


@pytest.mark.parametrize(
    "place", [("shards", 0, "file"), ("added", 0, "parents"), ("added", 1, "file"), ("removed", "file")]
)
@pytest.mark.parametrize(
    "name", ["/etc/hostname", "../model/shards/branch-000000.parquet", "shards/../../x", "a\0b", ""]
)
def test_paths_of_the_manifest_stay_inside(model, capsys, place, name):
    edited(model, *place, to=name)
    assert "not inside of the folder" in said_by(capsys, asks(model))


@pytest.mark.parametrize(
    "name", ["topology/parent.npy", "shards/branch-000000.parquet", "manifest.json", "index", "work"]
)
def test_links_stay_inside(model, home, tmp_path, capsys, name):
    shutil.move(model / name, tmp_path / "elsewhere")
    (model / name).symlink_to(tmp_path / "elsewhere")
    for command in (asks(model), fit_again(model, home), ["insert", str(model), str(home / "new.csv")]):
        assert "is a link that leaves the model folder" in said_by(capsys, command)


def test_a_link_inside_is_followed_and_the_folder_may_be_one(model, tmp_path):
    shutil.move(model / "topology" / "size.npy", model / "index" / "sizes.npy")
    (model / "topology" / "size.npy").symlink_to(model / "index" / "sizes.npy")
    (tmp_path / "linked").symlink_to(model)
    assert run(asks(tmp_path / "linked")) == 0


@pytest.mark.parametrize("has_hashes", [True, False])
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("topology/parent.npy", lambda found: np.roll(np.arange(found.size, dtype=np.int32), 1)),
        ("topology/parent.npy", lambda found: np.where(found == found.max(), 10**6, found).astype(np.int32)),
        ("topology/parent.npy", lambda found: found.astype(np.int64)),
        ("topology/parent.npy", lambda found: found[:50]),
        ("topology/parent.npy", lambda found: np.array([{}] * found.size, object)),
        ("topology/size.npy", np.zeros_like),
        ("topology/size.npy", lambda found: -found),
        ("topology/other_parent.npy", lambda found: found + 10**6),
        ("index/added-000000-parents.npy", lambda found: found + 10**6),
        ("index/place.npy", lambda found: found - 10**6),
        ("index/removed.npy", lambda found: found[::-1].copy()),
    ],
)
def test_arrays_are_checked_when_they_are_used(model, capsys, name, change, has_hashes):
    if not has_hashes:  # as in folders of earlier versions, and for what is large
        edited(model, "arrays", to={})
    found = change(np.load(model / name))
    with open(model / name, "wb") as file:
        np.save(file, found)
    assert Path(name).name in said_by(capsys, ["ask", str(model), "children", "n1", "--from", "hierarchy"])
    assert Path(name).name in said_by(capsys, ["verify", str(model)])


def test_vectors_that_are_no_numbers_are_damage(model, capsys):
    path = model / read_json(model / "manifest.json")["shards"][0]["file"]
    table = pq.read_table(path)
    vectors = np.asarray(table["vector"].combine_chunks().flatten()).copy()
    vectors[9] = np.nan
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors), 4)
    pq.write_table(table.set_column(table.schema.get_field_index("vector"), "vector", column), path)
    output = str(model.parent / "x.csv")
    for command in (["evaluate", str(model)], ["neighbors", str(model), "n0"], ["export", str(model), "-o", output]):
        assert path.name in said_by(capsys, command)


def test_a_fault_that_is_no_damage_is_not_called_one(model, monkeypatch):
    monkeypatch.setattr(ModelFolder, "ancestors", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(asks(model))


def test_a_run_that_is_resumed_does_again_what_was_damaged(home, tmp_path):
    assert run(fit_again(tmp_path / "m", home)) == 0
    whole = read_json(tmp_path / "m" / "manifest.json")
    for name in (
        "work/layout.json",
        "topology/size.npy",
        "work/fans.npy",
        "work/trunk.npy",
        "work/records/branch-000001.npy",
    ):
        (tmp_path / "m" / "manifest.json").unlink()
        path = tmp_path / "m" / name
        path.write_bytes(path.read_bytes()[:-9])
        assert run(fit_again(tmp_path / "m", home)) == 0
        assert read_json(tmp_path / "m" / "manifest.json")["shards"] == whole["shards"]


def test_a_run_that_cannot_be_resumed_says_so(home, tmp_path, capsys):
    assert run(fit_again(tmp_path / "m", home)) == 0
    (tmp_path / "m" / "manifest.json").unlink()
    kept = json.loads((tmp_path / "m" / "work" / "plan.json").read_text())
    (tmp_path / "m" / "work" / "plan.json").write_text(json.dumps(kept | {"plan": {"x": 1}}))
    assert "cannot be resumed" in said_by(capsys, fit_again(tmp_path / "m", home))


def test_a_folder_without_damage_is_sound(model):
    assert run(["verify", str(model)]) == 0
    with pytest.raises(InputError):
        ModelFolder(model / "index")
