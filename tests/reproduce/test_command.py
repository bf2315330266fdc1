"""``treeball reproduce`` from the command line: its files, how it is stopped, what it refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from cyclopts import App

from treeball.cli.reproduce import reproduce
from treeball.errors import InputError
from treeball.limits import PUBLISHED_RADIUS
from treeball.reproduce import ablations, datasets, one_run, runner


def command(*arguments):
    app = App()
    app.default(reproduce)
    return app([str(one) for one in arguments], exit_on_error=False, print_error=False, result_action="return_value")


def test_the_command_writes_tables_and_figures_and_goes_on_where_it_stopped(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(ablations, "ETAS", (0.2, 1.0))
    monkeypatch.setattr(ablations, "TC_EPOCHS", (300,))
    monkeypatch.delitem(datasets.TREES, "synthetic-781")
    page = tmp_path / "page.md"
    page.write_text("<!-- table: synthetic-156 -->\n<!-- end -->\n<!-- table: ablations -->\n<!-- end -->\n")
    arguments = ["synthetic", "--budget", "quick", "--methods", "poincare", "ga-dl,ga-dl-rw", "--epochs", "4"]
    arguments += ["--threads", "1", "--max-radius", "12.2", "--out", tmp_path / "out"]
    assert command(*arguments, "--docs", page) == 0
    said = capsys.readouterr()
    printed = {line.rsplit("/", 1)[-1] for line in said.out.splitlines()}
    pictures = {f"figure-{number}.{form}" for form in ("png", "svg") for number in (1, 2, 3)}
    pictures |= {f"figure-{number}-synthetic-156.{form}" for form in ("png", "svg") for number in (4, 5)}
    blocks = {"synthetic-156.md", "statistics.md", "gains.md", "below-print.md", "ablations.md"}
    assert printed == blocks | pictures
    assert all((tmp_path / "out" / "figures" / name).stat().st_size > 1000 for name in pictures)
    table = json.loads((tmp_path / "out" / "tables" / "synthetic-156.json").read_text())
    assert {line["method"] for line in table["lines"]} == {"poincare", "ga-dl", "ga-rw", "ga-dl-rw"}
    assert {line["radius"] for line in table["lines"]} == {PUBLISHED_RADIUS}
    assert "0.998" in page.read_text()
    assert "*The whole algorithm has the highest MAP.* 156 nodes:" in page.read_text()
    assert "]: done before" not in said.err
    assert command(*arguments, "--no-figures") == 0
    assert capsys.readouterr().err.count(": done before") == 5  # two of them on equal updates


def test_a_dry_run_says_what_there_is_and_does_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.delitem(datasets.TREES, "synthetic-781")
    arguments = ["synthetic", "--no-figures", "--epochs", "3", "--seeds", "0", "--max-radius", "30", "--out", tmp_path]
    assert command(*arguments, "--methods", "lorentz", "--threads", "1") == 0
    capsys.readouterr()
    before = sorted(tmp_path.rglob("*"))
    assert command(*arguments, "--methods", "lorentz,euclidean", "--threads", "1", "--dry-run") == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == ["synthetic-156-euclidean-d2-s0  missing", "synthetic-156-lorentz-d2-r30-s0  done"]
    assert said.err.strip().endswith("for 1 run, 1 done before")
    assert sorted(tmp_path.rglob("*")) == before


def test_the_command_stopped_by_the_user_still_writes_tables(tmp_path, monkeypatch, capsys):
    whole = one_run.run_job

    def interrupted(job, *arguments, **options):
        if job.settings.method == "lorentz":
            raise KeyboardInterrupt
        return whole(job, *arguments, **options)

    monkeypatch.setattr(runner, "run_job", interrupted)
    arguments = ["synthetic", "--no-figures", "--methods", "poincare", "lorentz", "--seeds", "5", "--epochs", "3"]
    assert command(*arguments, "--out", tmp_path) == 130
    said = capsys.readouterr()
    assert "the same command goes on" in said.err
    assert "synthetic-156.md" in said.out
    assert (tmp_path / "runs" / "synthetic-156-poincare-d2-r12.2-s5.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("deaf", [False, True])
def test_sigterm_leaves_tables_and_a_checkpoint(tmp_path, deaf):
    arguments = ["synthetic", "--no-figures", "--methods", "euclidean,poincare", "--seeds", "0", "--epochs", "2000000"]
    # As a shell starts what it puts into the background: deaf to Ctrl-C.
    ignore = (lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if deaf else None
    process = subprocess.Popen(
        [sys.executable, "-m", "treeball", "reproduce", *arguments, "--threads", "1", "--out", tmp_path],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=ignore,
        env=dict(os.environ),
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("epoch"):
            break
    time.sleep(0.2)
    process.terminate()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "the same command goes on from there" in err
    assert "statistics.md" in out
    assert len(list((tmp_path / "runs").glob("*.checkpoint.parquet"))) == 1


def test_the_command_refuses_before_it_works(tmp_path):
    with pytest.raises(InputError, match="yelp needs the file"):
        command("synthetic", "yelp", "--no-figures", "--out", tmp_path / "out")
    with pytest.raises(InputError, match="there is no page"):
        command("synthetic", "--no-figures", "--docs", tmp_path / "none.md", "--out", tmp_path / "out")
    with pytest.raises(InputError, match=r"--max-radius takes numbers.*'far'"):
        command("synthetic", "--max-radius", "far", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match=r"--dims takes whole numbers.*'two'"):
        command("synthetic", "--dims", "two", "--out", tmp_path / "out")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot make the folder.*--out"):
        command("synthetic", "--no-figures", "--out", tmp_path / "file")
