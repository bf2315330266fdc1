"""The command line end to end: what it prints, what it leaves behind, and how it refuses."""

from __future__ import annotations

import gzip
import json
import math
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import treeball
from treeball.cli.console import _that_fit
from treeball.cli.main import run
from treeball.errors import InputError

QUICK = ["--method", "ga-dl-rw", "--dim", "3", "--epochs", "20", "--burn-in", "2"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def catalog(tmp_path):
    rows = ["child,parent"]
    rows += [f"group {i},all" for i in range(5)]
    rows += [f"item {i}.{j},group {i}" for i in range(5) for j in range(8)]
    path = tmp_path / "catalog.csv"
    path.write_text("\n".join(rows))
    return path


@pytest.fixture
def model(catalog, capsys):
    assert run(["fit", str(catalog), "-o", "catalog.parquet", *QUICK]) == 0
    capsys.readouterr()
    return Path("catalog.parquet")


def refused(arguments, capsys, *words, code=2):
    """The command fails with `code`, says one sentence with all `words`, and leaves no new file."""
    before = sorted(Path().rglob("*"))
    assert run([str(argument) for argument in arguments]) == code
    said = capsys.readouterr()
    assert said.out == ""
    sentence = said.err.strip().splitlines()[-1]
    assert sentence.startswith("treeball: ")
    assert "Traceback" not in said.err
    for word in words:
        assert str(word) in sentence
    assert sorted(Path().rglob("*")) == before


# ---- what works ----


def test_fit_says_what_it_read_trains_saves_and_prints_the_score(catalog, capsys):
    assert run(["fit", str(catalog), *QUICK]) == 0
    said = capsys.readouterr()
    assert "46 nodes, 45 edges read as child -> parent, 1 root (all), 0 repairs" in said.err
    assert "MAP" in said.out
    assert "hits@1" in said.out
    assert "\x1b" not in said.out + said.err  # no control characters in a pipe
    assert [path.name for path in sorted(Path().iterdir())] == ["catalog.csv", "catalog.parquet"]
    provenance = treeball.load("catalog.parquet").provenance
    assert provenance.settings["dim"] == 3
    assert provenance.epochs_done == 20
    assert len(provenance.input["sha256"]) == 64
    assert provenance.scores["nodes"] == 46


def test_evaluate_prints_one_json_object(model, capsys):
    assert run(["evaluate", str(model), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert 0 < record.pop("map_neighbours") < 1
    assert record.pop("distortion")["exact"]
    assert record == treeball.load(model).provenance.scores
    assert run(["evaluate", str(model), "--no-distortion", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == record
    assert run(["evaluate", str(model), "--objective", "ancestors", "--sample", "10", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["objective"] == "ancestors"
    assert record["sampled"]["nodes"] == 10


def test_evaluate_lists_ill_pairs(model, capsys):
    assert run(["evaluate", str(model), "--ill-pairs", "ill.csv", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    lines = Path("ill.csv").read_text().splitlines()
    assert len(lines) - 1 == sum(record["illness"].values())


def test_info_of_a_hierarchy_and_of_a_model(catalog, model, capsys):
    assert run(["info", str(catalog)]) == 0
    text = capsys.readouterr().out
    assert "46 (6 inner, 40 leaves)" in text
    assert run(["info", str(model)]) == 0
    assert "poincare, dimension 3" in capsys.readouterr().out
    assert run(["info", str(model), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hierarchy"]["max_degree"] == 9


def test_neighbors(model, capsys):
    assert run(["neighbors", str(model), "item 0.0", "-k", "3", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert len(record["neighbors"]) == 3
    expected = treeball.load(model).neighbors("item 0.0", 3)
    assert [(one["node"], one["distance"]) for one in record["neighbors"]] == expected


def test_integer_ids_are_found_by_their_digits(capsys):
    treeball.fit([(2, 1), (3, 1), (4, 2)], dim=2).save("ints.parquet")
    assert run(["neighbors", "ints.parquet", "4", "-k", "1"]) == 0
    assert "nearest to 4" in capsys.readouterr().out


def test_capacity_table(catalog, capsys):
    assert run(["capacity", str(catalog), "--dim", "2", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)["capacity"]
    assert [(row["children"], row["nodes"]) for row in table] == [(5, 1), (8, 5)]
    # In the plane both bounds are pi e^(r/2).
    for row in table:
        assert math.pi * math.exp(row["enough"] / 2) == pytest.approx(row["children"])
        assert row["at_least"] == row["enough"]
    assert run(["capacity", str(catalog), "--dim", "5"]) == 0
    assert "enough (lower bound)" in capsys.readouterr().out
    refused(["capacity", catalog, "--dim", "1"], capsys, "dim")


def test_evaluate_measures_distortion(model, capsys):
    assert run(["evaluate", str(model), "--distortion", "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)["distortion"]
    assert measured["exact"]
    assert measured["worst"] >= 1
    assert run(["evaluate", str(model), "--distortion"]) == 0
    assert "average distortion" in capsys.readouterr().out


def test_info_tells_decisions_and_crowded_nodes(catalog, capsys):
    options = ["--method", "ga-dl-rw", "--dim", "2", "--epochs", "30", "--dilation-from", "10", "--n-tc", "5"]
    options += ["--trace-every", "10"]
    assert run(["fit", str(catalog), *options]) == 0
    assert "a sibling nearer than their parent; dilated by" in capsys.readouterr().err
    assert run(["info", "catalog.parquet"]) == 0
    shown = capsys.readouterr().out
    assert "dilated by" in shown
    assert "local capacity" in shown
    assert run(["plot", "catalog.parquet", "--trace", "-o", "trace.png"]) == 0
    assert run(["plot", "catalog.parquet", "-o", "disk.svg"]) == 0
    assert Path("trace.png").stat().st_size > 1000
    assert Path("disk.svg").read_text().lstrip().startswith("<?xml")


def test_doctor(capsys):
    assert run(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["treeball"] == treeball.__version__


def test_doctor_lists_every_extra_with_its_libraries(capsys, monkeypatch):
    import treeball.cli.doctor as module

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    for_developers = {"test", "lint", "docs", "bench", "dist", "lock", "audit"}
    declared = {
        extra: {re.split("[>=;]", library)[0].lower() for library in libraries}
        for extra, libraries in project["optional-dependencies"].items()
        if extra not in for_developers
    }
    installed = module._version
    monkeypatch.setattr(module, "_version", lambda name: None if name == "duckdb" else installed(name))
    assert run(["doctor", "--json"]) == 0
    extras = json.loads(capsys.readouterr().out)["extras"]
    assert {extra: {name.lower() for name in found} for extra, found in extras.items()} == declared
    assert extras["plot"] == {"matplotlib": installed("matplotlib")}
    assert extras["duckdb"] == {"duckdb": None}
    assert run(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert f"matplotlib {installed('matplotlib')}\n" in shown
    assert "duckdb missing   (pip install 'treeball[duckdb]')" in shown


def test_settings_from_toml_give_way_to_flags(catalog, capsys):
    Path("s.toml").write_text("[fit]\nmethod = 'poincare'\ndim = 4\nepochs = 3\nstrict = true\n")
    assert run(["fit", str(catalog), "--config", "s.toml", "--epochs", "2"]) == 0
    settings = treeball.load("catalog.parquet").provenance.settings
    assert (settings["dim"], settings["epochs"]) == (4, 2)


def test_resume_goes_on_and_says_when_there_is_nothing(catalog, capsys):
    assert run(["fit", str(catalog), *QUICK, "--resume"]) == 0
    assert "nothing to resume" in capsys.readouterr().err
    assert run(["fit", str(catalog), *QUICK[:4], "--burn-in", "2", "--epochs", "25", "--resume"]) == 0
    assert "resuming at epoch 20 of 25" in capsys.readouterr().err
    assert treeball.load("catalog.parquet").provenance.epochs_done == 25


# ---- what is refused ----


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["empty"]),
        (bytes(range(256)) * 20, []),
        (b"one\ntwo\nthree\n", []),
        (b"a,b\nc,d,e,f\ng,h\n", ["line 2"]),
        (gzip.compress(b"a,b\nb,c\n" * 1000)[:-20], []),
        ("größe,maß\nklein,größe\n".encode("latin-1"), []),
        (b"child,parent,weight\na,b,1\nc,b,nan\n", ["line 3"]),
    ],
    ids=["empty", "binary", "one column", "ragged", "truncated gzip", "wrong encoding", "NaN weight"],
)
def test_malformed_input_is_refused(content, words, capsys):
    Path("bad.csv").write_bytes(content)
    refused(["fit", "bad.csv", "-o", "m.parquet", *QUICK], capsys, "bad.csv", *words)


def test_a_cycle_is_refused_when_strict_and_repaired_otherwise(capsys):
    Path("cycle.csv").write_text("child,parent\na,b\nb,c\nc,a\nd,a\n")
    refused(["fit", "cycle.csv", "-o", "m.parquet", "--strict", *QUICK], capsys, "cycle.csv", "cycle")
    assert run(["fit", "cycle.csv", "-o", "m.parquet", *QUICK]) == 0
    assert "1 repair" in capsys.readouterr().err


def test_other_bad_arguments_are_refused(catalog, model, capsys):
    Path("folder").mkdir()
    refused(["fit", "missing.csv", *QUICK], capsys, "missing.csv")
    refused(["fit", "folder", *QUICK], capsys, "folder", "directory")
    refused(["fit", catalog, "--dim", "1"], capsys, "dim", "1")
    refused(["fit", catalog, "--lr", "-1"], capsys, "lr", "-1")
    refused(["fit", catalog, "--lr", "fast"], capsys, "lr", "fast")
    refused(["fit", catalog, "--dmi", "3"], capsys, "--dmi", "--dim")
    refused(["fit"], capsys, "source")
    refused(["fti", catalog], capsys, "fti", "fit")
    refused(["fit", catalog, "-o", "no/such/folder/m.parquet"], capsys, "no/such/folder")
    refused(["fit", catalog, "-o", "folder"], capsys, "folder")
    refused(["fit", catalog, "-o", "/proc/m.parquet"], capsys, "/proc/m.parquet")
    refused(["fit", catalog, "--config", "none.toml"], capsys, "none.toml")
    refused(["evaluate", catalog], capsys, "catalog.csv", "not a treeball model")
    refused(["evaluate", "missing.parquet"], capsys, "missing.parquet")
    refused(["evaluate", model, "--sample", "-3"], capsys, "sample")
    refused(["neighbors", model, "item 0.x"], capsys, "item 0.x", "did you mean", "item 0.")
    refused(["neighbors", model, "item 0.0", "-k", "0"], capsys, "k must be a whole number of at least 1")
    refused(["info", "missing"], capsys, "missing")


def test_bad_models_are_refused(model, capsys):
    pq.write_table(pa.table({"a": [1]}), "table.parquet")
    Path("cut.parquet").write_bytes(model.read_bytes()[:300])
    refused(["evaluate", "table.parquet"], capsys, "table.parquet", "not a treeball model")
    refused(["evaluate", "cut.parquet"], capsys, "cut.parquet", "damaged or cut short")
    refused(["fit", "cut.parquet", *QUICK], capsys, "cut.parquet")


def test_an_output_never_destroys_an_input(catalog, model, capsys):
    before = catalog.read_bytes(), model.read_bytes()
    refused(["fit", catalog, "-o", catalog, *QUICK], capsys, "it is the input")
    refused(["evaluate", model, "--ill-pairs", model], capsys, "it is the input")
    refused(["fit", catalog, "-o", ""], capsys, "cannot write")
    refused(["evaluate", model, "--ill-pairs", "."], capsys, "cannot write")
    refused(["fit", catalog, "-o", "/dev/null"], capsys, "/dev/null", "not an ordinary file")
    assert (catalog.read_bytes(), model.read_bytes()) == before
    Path("m.parquet.checkpoint").mkdir()
    refused(["fit", catalog, "-o", "m.parquet", *QUICK], capsys, "m.parquet.checkpoint")


def test_numbers_are_not_rounded(catalog, capsys):
    refused(["fit", catalog, "--dim", "2.5"], capsys, "--dim", "2.5")
    Path("half.toml").write_text("[fit]\ndim = 3.7\n")
    refused(["fit", catalog, "--config", "half.toml"], capsys, "dim", "3.7")
    refused(["fit", catalog, "--checkpoint-seconds", "nan"], capsys, "nan")


def test_names_are_shown_as_they_are_on_a_terminal(monkeypatch, capsys):
    treeball.fit([("dog [red]", "[/foo]"), ("b", "[/foo]")], dim=2).save("odd.parquet")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run(["neighbors", "odd.parquet", "b"]) == 0
    shown = capsys.readouterr().out
    assert "[/foo]" in shown
    assert "dog [red]" in shown


def test_bad_toml_is_refused(catalog, capsys):
    Path("bad.toml").write_text("[fit\n")
    refused(["fit", catalog, "--config", "bad.toml"], capsys, "bad.toml", "not valid TOML")
    Path("unknown.toml").write_text("[fit]\nepoch = 3\n")
    refused(["fit", catalog, "--config", "unknown.toml"], capsys, "epoch")
    Path("bare.toml").write_text("dim = 3\n")
    refused(["fit", catalog, "--config", "bare.toml"], capsys, "dim", "[fit]")
    Path("typo.toml").write_text("[fti]\ndim = 3\n")
    refused(["fit", catalog, "--config", "typo.toml"], capsys, "fti", "[fit]")
    Path("value.toml").write_text("[fit]\ndim = 1\n")
    refused(["fit", catalog, "--config", "value.toml"], capsys, "dim")


def test_an_old_model_survives_a_failed_run(catalog, model, capsys):
    before = model.read_bytes()
    refused(["fit", catalog, "-o", model, *QUICK, "--lr", "1e300"], capsys, "epoch", "learning rate", code=1)
    assert model.read_bytes() == before


# ---- processes: signals, pipes ----

BIG = ["--method", "ga-dl-rw", "--dim", "10", "--burn-in", "2", "--deterministic"]


def big_tree(path, nodes=4000):
    path.write_text("child\tparent\n" + "".join(f"n{i}\tn{(i - 1) // 4}\n" for i in range(1, nodes)))


def start(*arguments, **options):
    command = [sys.executable, "-m", "treeball", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def wait_for(path, process, seconds=120):
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.fixture
def uninterrupted(tmp_path):
    """Bytes of a run that nobody disturbed."""
    big_tree(tmp_path / "tree.tsv")
    process = start("fit", "tree.tsv", "-o", "whole.parquet", "--epochs", "150", *BIG)
    _, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    return Path("whole.parquet").read_bytes()


@pytest.mark.slow
def test_killed_at_any_moment_the_output_is_old_or_new_and_resume_ends_with_the_same_bytes(uninterrupted):
    output, checkpoint = Path("m.parquet"), Path("m.parquet.checkpoint")
    output.write_bytes(b"the old model")
    arguments = ["fit", "tree.tsv", "-o", "m.parquet", "--epochs", "150", *BIG, "--checkpoint-seconds", "0.05"]
    resume: list[str] = []
    for delay in (0.0, 0.11, 0.23):
        process = start(*arguments, *resume)
        wait_for(checkpoint, process)
        time.sleep(delay)
        process.kill()
        process.communicate()
        assert output.read_bytes() in (b"the old model", uninterrupted)
        if output.read_bytes() != uninterrupted:
            assert 0 < treeball.load(checkpoint).provenance.epochs_done <= 150
            resume = ["--resume"]
    process = start(*arguments, "--resume")
    _, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    assert output.read_bytes() == uninterrupted
    assert not checkpoint.exists()


def stopped_by_ctrl_c(arguments):
    """What a training says that is interrupted after its first checkpoint."""
    process = start(*arguments, "--epochs", "100000")
    wait_for(Path("m.parquet.checkpoint"), process)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=120)
    assert process.returncode == 130
    return said


def test_ctrl_c_leaves_a_finished_model_as_it_is(tmp_path):
    big_tree(tmp_path / "tree.tsv")
    output = Path("m.parquet")
    treeball.fit("tree.tsv", dim=3, method="construct").save(output)
    before = output.read_bytes()
    arguments = ["fit", "tree.tsv", "-o", "m.parquet", *BIG, "--checkpoint-seconds", "0.05"]
    _, error = stopped_by_ctrl_c(arguments)
    assert "saved m.partial.parquet; go on with --resume; m.parquet is as it was" in error
    assert output.read_bytes() == before
    done = treeball.load("m.partial.parquet").provenance.epochs_done
    process = start(*arguments, "--epochs", str(done + 5), "--resume")
    _, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    assert f"resuming at epoch {done} of {done + 5}" in error
    assert treeball.load(output).provenance.epochs_done == done + 5


def test_a_result_that_cannot_be_written_is_rescued(tmp_path, monkeypatch, capsys):
    written = treeball.Embedding.save

    def disk_is_full(self, path):
        if Path(path).name == "m.parquet" and Path(path).parent == Path():
            raise InputError("cannot write 'm.parquet': No space left on device; choose another path for the output")
        return written(self, path)

    monkeypatch.setattr(treeball.Embedding, "save", disk_is_full)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert run(["fit", "example:mammals", "-o", "m.parquet", "--method", "construct"]) == 2
    said = capsys.readouterr().err
    assert "No space left on device" in said
    rescued = re.search(r"the model is saved as '([^']*)'", said)
    assert rescued is not None
    assert len(treeball.load(rescued[1])) == 1182


def test_ctrl_c_saves_and_resume_continues(tmp_path):
    big_tree(tmp_path / "tree.tsv")
    arguments = ["fit", "tree.tsv", "-o", "m.parquet", *BIG, "--checkpoint-seconds", "0.05"]
    out, error = stopped_by_ctrl_c(arguments)
    assert "Traceback" not in error
    assert "saved m.parquet; go on with --resume" in error
    assert "MAP" in out
    assert Path("m.parquet.checkpoint").exists()
    done = treeball.load("m.parquet").provenance.epochs_done
    assert 0 < done < 100000
    process = start(*arguments, "--epochs", str(done + 5), "--resume")
    _, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    assert f"resuming at epoch {done} of {done + 5}" in error


def test_a_second_ctrl_c_quits_at_once(tmp_path):
    big_tree(tmp_path / "tree.tsv", 100_000)
    process = start("fit", "tree.tsv", "-o", "m.parquet", *BIG[2:], "--method", "poincare", "--negatives", "3000")
    said = process.stderr.readline()  # what was read; training is next
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    # Two signals in quick succession may reach a busy process as one: wait until the first was noticed.
    while "Ctrl-C again" not in said and "interrupted" not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "interrupted" in said + error
    assert "Traceback" not in said + error


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_closed_streams_are_no_crash(closed):
    command = f"{sys.executable} -m treeball info example:mammals {closed}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr + done.stdout


def test_a_closed_pipe_is_no_crash(catalog):
    command = f"{sys.executable} -m treeball info catalog.csv --json | head -c 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr


def test_standard_input(catalog):
    command = [sys.executable, "-m", "treeball", "fit", "-", *QUICK]
    done = subprocess.run(command, input=catalog.read_bytes(), capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert Path("model.parquet").exists()


# ---- start-up ----


def modules_after(statement):
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_treeball_loads_nothing_heavy():
    loaded = modules_after("import treeball")
    assert not loaded & {
        "numpy",
        "numba",
        "pyarrow",
        "rich",
        "cyclopts",
        "torch",
        "pandas",
        "networkx",
        "starlette",
        "rapidfuzz",
        "jinja2",
    }


def test_help_loads_nothing_heavy():
    loaded = modules_after("from treeball.cli.main import run; run(['fit', '--help'])")
    assert not loaded & {
        "numpy",
        "numba",
        "pyarrow",
        "torch",
        "pandas",
        "networkx",
        "starlette",
        "uvicorn",
        "pydantic",
        "rapidfuzz",
    }


def test_every_public_name_resolves():
    for name in treeball.__all__:
        assert getattr(treeball, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        treeball.nonsense  # noqa: B018


def test_auto_constructs_certifies_and_says_so(catalog, capsys):
    assert run(["fit", str(catalog), "-o", "auto.parquet"]) == 0
    captured = capsys.readouterr()
    assert "auto: construct, then heal" in captured.err
    assert "every parent is the nearest node: verified exactly over" in captured.out
    assert run(["evaluate", "auto.parquet", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["map"] == 1.0
    assert scores["certificate"]["margin"] > 1.0
    assert run(["info", "auto.parquet"]) == 0
    assert "auto: construct" in capsys.readouterr().out


def test_auto_finds_a_dimension(catalog, capsys):
    assert run(["fit", str(catalog), "--dim", "auto", "-o", "auto.parquet"]) == 0
    captured = capsys.readouterr()
    assert "dimension 2 is the smallest in which a construction leaves no ill node" in captured.err
    assert "construct, dimension 2" in captured.out


def test_a_dimension_of_0_is_not_auto(catalog, capsys):
    import pydantic  # noqa: F401 -- where it is loaded, types of options are checked by it

    for name, value in (("zero", "0"), ("auto", "'auto'")):
        Path(f"{name}.toml").write_text(f"[fit]\ndim = {value}\n")
    for options in (["--dim", "0"], ["--config", "zero.toml"]):
        assert run(["fit", str(catalog), "-o", "zero.parquet", *options]) == 2
        assert "dim must be a whole number of at least 2, not 0" in capsys.readouterr().err
    assert not Path("zero.parquet").exists()
    for dim in (0, "0"):
        with pytest.raises(treeball.InputError, match="dim must be a whole number of at least 2"):
            treeball.fit(catalog, dim=dim)
    assert treeball.fit(catalog, dim="auto").dim == 2
    assert run(["fit", str(catalog), "--config", "auto.toml", "-o", "auto.parquet"]) == 0
    assert treeball.load("auto.parquet").dim == 2
    assert run(["capacity", str(catalog), "--dim", "auto"]) == 2
    assert "'auto' is not a whole number" in capsys.readouterr().err


def test_auto_trains_for_all_ancestors(catalog, capsys):
    options = ["--objective", "ancestors", "--epochs", "1000", "--dim", "5"]
    assert run(["fit", str(catalog), "-o", "auto.parquet", "--json", *options]) == 0
    captured = capsys.readouterr()
    assert "auto: softmax training" in captured.err
    assert json.loads(captured.out)["map"] > 0.98


def test_heal_mends_a_model(catalog, capsys):
    assert run(["fit", str(catalog), "-o", "sick.parquet", *QUICK]) == 0
    assert run(["heal", "sick.parquet", "-o", "well.parquet", "--json"]) == 0
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert report["after"]["map"] >= report["before"]["map"]
    assert report["after"]["map"] == 1.0
    assert run(["evaluate", "well.parquet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["map"] == 1.0
    assert run(["heal", "sick.parquet"]) == 0
    assert "every parent is the nearest node" in capsys.readouterr().out
    refused(["heal", "none.parquet"], capsys, "none.parquet")


# ---- tables ----


@pytest.mark.parametrize("room", [20, 40, 80, 400])
def test_a_table_too_wide_for_the_terminal_becomes_several(room):
    widths = [3, 9, 12, 15, 7, 30, 1]
    parts = _that_fit(widths, 2, room)
    assert [column for part in parts for column in part[2:]] == [2, 3, 4, 5, 6]
    assert all(part[:2] == [0, 1] for part in parts)
    assert all(sum(widths[column] + 3 for column in part) <= room or len(part) == 3 for part in parts)
    assert len(parts) == 1 or room < 400
    assert _that_fit(widths, 0, room) == [list(range(7))]


def test_a_model_after_resume_is_not_read_as_edges(catalog, model, capsys):
    refused(["fit", catalog, "--resume", model, "-o", "more.parquet", *QUICK], capsys, "--resume takes no file", model)
