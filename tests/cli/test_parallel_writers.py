"""Commands that change a model at the same time keep all changes, or refuse in a sentence."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import treeball
from tests.io.test_locking import another_writer
from tests.scale.hierarchies import random_edges, write
from treeball import InputError
from treeball.cli.main import run
from treeball.io import locking
from treeball.scale.fit import fit_folder
from treeball.scale.folder import ModelFolder
from treeball.scale.settings import ScaleSettings

EDGES = [(f"n{i}", f"n{(i - 1) // 3}") for i in range(1, 40)]
COMMAND = [sys.executable, "-c", "import sys; from treeball.cli.main import main; main(sys.argv[1:])"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return treeball.fit(EDGES, dim=5).save(tmp_path / "model.parquet")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pattern = write(random_edges(200), tmp_path / "edges")
    settings = ScaleSettings(method="construct", dim=6, branch_nodes=500, workers=1)
    fit_folder((pattern,), tmp_path / "model", settings, lambda _: None)
    return tmp_path / "model"


def new_nodes(folder: Path, number: int) -> Path:
    """A file of five new leaves, whose names begin with the number."""
    path = folder / f"new-{number}.csv"
    path.write_text("child,parent\n" + "".join(f"{number}-{i},n{i}\n" for i in range(1, 6)))
    return path


def start(*arguments: object) -> subprocess.Popen[str]:
    """Start a command of treeball as another process."""
    return subprocess.Popen([*COMMAND, *map(str, arguments)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ended(processes: list[subprocess.Popen[str]]) -> list[tuple[int, str]]:
    """Exit codes of the processes, and what they wrote to standard error."""
    said = [process.communicate(timeout=200)[1] for process in processes]
    return list(zip((process.returncode for process in processes), said, strict=True))


def test_three_inserts_in_place_at_once_keep_three_sets(tmp_path, model):
    started = [start("insert", model, new_nodes(tmp_path, number), "-o", model) for number in range(3)]
    assert [code for code, _ in ended(started)] == [0, 0, 0]
    made = treeball.load(model)
    assert len(made) == 40 + 15
    assert made.evaluate().map == 1.0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.parquet", *(f"new-{i}.csv" for i in range(3))]


def test_three_inserts_with_one_output_keep_what_they_say_was_saved(tmp_path, model):
    output = tmp_path / "out.parquet"
    results = ended([start("insert", model, new_nodes(tmp_path, number), "-o", output) for number in range(3)])
    saved = [number for number, (code, _) in enumerate(results) if code == 0]
    names = treeball.load(output).names
    assert [number for number in range(3) if f"{number}-1" in names] == saved
    assert len(saved) == 1
    for code, said in results:
        assert code == 0 or "another program has written it since this command started" in said


def test_three_inserts_into_one_folder_at_once_keep_three_sets(tmp_path, folder):
    started = [start("insert", folder, new_nodes(tmp_path, number)) for number in range(3)]
    assert [code for code, _ in ended(started)] == [0, 0, 0]
    there = ModelFolder(folder)
    assert len(there) == 200 + 15
    assert all(there.has(f"{number}-{i}") for number in range(3) for i in range(1, 6))
    assert run(["verify", str(folder)]) == 0
    assert not (folder / ".lock").exists()


@pytest.mark.parametrize("command", ["insert", "update", "heal"])
def test_a_command_is_refused_while_another_process_changes_the_file(tmp_path, model, capsys, monkeypatch, command):
    monkeypatch.setattr(locking, "WAIT_SECONDS", 0.1)
    before = model.read_bytes()
    rest = [] if command == "heal" else [str(new_nodes(tmp_path, 1))]
    with another_writer(model) as other:
        assert run([command, str(model), *rest, "-o", str(model)]) == 2
        assert f"process {other.pid} on " in capsys.readouterr().err
        assert treeball.load(model).names == treeball.load(model).names  # readers are not kept out
    assert model.read_bytes() == before


@pytest.mark.parametrize("command", ["insert", "update"])
def test_a_command_is_refused_while_another_process_changes_the_folder(tmp_path, folder, capsys, monkeypatch, command):
    monkeypatch.setattr(locking, "WAIT_SECONDS", 0.1)
    before = (folder / "manifest.json").read_bytes()
    with another_writer(folder) as other:
        assert run([command, str(folder), str(new_nodes(tmp_path, 1))]) == 2
        assert f"process {other.pid} on " in capsys.readouterr().err
        assert run(["neighbors", str(folder), "n1"]) == 0
    assert (folder / "manifest.json").read_bytes() == before


def test_a_second_fit_into_one_folder_is_refused_at_once(tmp_path):
    pattern = write(random_edges(200), tmp_path / "edges")
    settings = ScaleSettings(method="construct", dim=6, branch_nodes=500, workers=1)
    target = tmp_path / "model"
    target.mkdir()
    with another_writer(target) as other:
        began = time.monotonic()
        with pytest.raises(InputError, match=f"process {other.pid} on "):
            fit_folder((pattern,), target, settings, lambda _: None)
        assert time.monotonic() - began < 10
        assert [path.name for path in target.iterdir()] == [".lock"]
    fit_folder((pattern,), target, settings, lambda _: None)
    assert len(ModelFolder(target)) == 200


def test_a_folder_that_was_opened_before_another_insert_keeps_both(tmp_path, folder):
    from treeball.scale.insert import insert_leaves

    early = ModelFolder(folder)
    insert_leaves(ModelFolder(folder), str(new_nodes(tmp_path, 0)))
    insert_leaves(early, str(new_nodes(tmp_path, 1)))
    there = ModelFolder(folder)
    assert there.has("0-1")
    assert there.has("1-1")


def test_a_killed_insert_leaves_the_old_model_or_the_new_one(tmp_path, model):
    pause = random.Random(3)
    for number in range(3):
        process = start("insert", model, new_nodes(tmp_path, number), "-o", model)
        time.sleep(0.5 + pause.random())
        process.send_signal(signal.SIGKILL)
        process.communicate()
        names = treeball.load(model).names
        assert len({f"{number}-{i}" in names for i in range(1, 6)}) == 1
    assert run(["insert", str(model), str(new_nodes(tmp_path, 9)), "-o", str(model)]) == 0
    assert "9-1" in treeball.load(model).names
    assert not list(tmp_path.glob(".*"))


def test_saving_over_a_file_that_another_program_changed_is_refused(tmp_path, model):
    mine = treeball.load(model).insert([("mine", "n1")]).embedding
    code = f"import treeball; treeball.load({str(model)!r}).insert([('theirs', 'n1')]).embedding.save({str(model)!r})"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(InputError, match="another program has changed it since it was loaded; load it again"):
        mine.save(model)
    assert "theirs" in treeball.load(model).names
    mine.save(tmp_path / "other.parquet")
    again = treeball.load(model).insert([("mine", "n1")]).embedding
    again.save(model)
    again.save(model)
    assert {"mine", "theirs"} <= set(treeball.load(model).names)


def test_a_changed_file_may_be_overwritten_if_asked_for(model):
    mine = treeball.load(model)
    model.write_bytes(b"something else")
    with pytest.raises(InputError, match="overwrite=True"):
        mine.save(model)
    mine.save(model, overwrite=True)
    assert len(treeball.load(model)) == 40
