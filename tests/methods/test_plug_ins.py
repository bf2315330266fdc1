"""Methods from outside: their own settings check what is given, in Python, on the command line and in TOML."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import treeball
from treeball import FitSettings, InputError, Method
from treeball.cli.main import run
from treeball.methods import registry
from treeball.methods.descent import Epochs
from treeball.methods.settings import Settings

EDGES = [(f"{i}", f"{(i - 1) // 3}") for i in range(1, 30)]


@dataclass(frozen=True, kw_only=True)
class DriftSettings(Settings):
    """Of a toy training.

    Parameters
    ----------
    epochs
        How often all nodes move.
    negatives
        Share of nodes that
        stay where they are.
    init
        Where nodes start.
    """

    epochs: int = 6
    negatives: float = 0.25
    init: Literal["xavier", "he"] = "he"
    sharpness: float = 1.0
    my_option: int = 2
    layers: tuple[int, ...] = (4, 2)
    loud: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.my_option <= 5:
            raise InputError(f"my_option must be between 0 and 5, not {self.my_option}")

    @property
    def epochs_to_train(self) -> int:
        return self.epochs


def drift(made: Any) -> Iterator[Epochs]:
    rng = np.random.default_rng(made.settings.seed)
    if made.epoch == 0:
        made.vectors[:] = rng.uniform(-0.3, 0.3, made.vectors.shape)
    while made.epoch < made.settings.epochs:
        count = min(made.settings.my_option, made.settings.epochs - made.epoch) or 1
        made.vectors *= 0.9
        made.epoch += count
        made.loss = 1.0 / made.epoch
        yield Epochs(count, made.loss, 0, len(made.vectors), 0.01)


def still(made: Any) -> Iterator[Epochs]:
    made.vectors[:] = 0.1
    return iter(())


@pytest.fixture(autouse=True)
def _registered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("child,parent\n" + "".join(f"{a},{b}\n" for a, b in EDGES))
    treeball.register(Method("drift", drift, settings=DriftSettings))
    treeball.register(Method("still", still))
    yield
    del registry._registered["drift"], registry._registered["still"]


OWN: dict[str, Any] = {"negatives": 0, "sharpness": 0.5, "init": "xavier"}


def test_options_that_a_shipped_rule_refuses_are_the_methods_own():
    for given in (OWN, {"settings": FitSettings(method="drift", dim=2, **OWN)}):
        more = given if "settings" in given else {"method": "drift", "dim": 2, **given}
        recorded = treeball.fit(EDGES, **more).provenance.settings
        assert {name: recorded[name] for name in OWN} == OWN
    for name, value in {"negatives": 0, "sharpness": 0.5, "init": "xavier"}.items():
        with pytest.raises(InputError, match=name):
            FitSettings(method="softmax", **{name: value})  # type: ignore[arg-type]


def test_the_method_refuses_what_it_does_not_take():
    with pytest.raises(InputError, match="my_option must be between 0 and 5, not 9"):
        treeball.fit(EDGES, method="drift", my_option=9)
    with pytest.raises(InputError, match="the method drift does not use burn_in: leave it out"):
        treeball.fit(EDGES, method="drift", burn_in=3)
    with pytest.raises(InputError, match="there is no setting 'my_opinion'"):
        treeball.fit(EDGES, method="drift", my_opinion=3)
    with pytest.raises(InputError, match="dim must be a whole number"):
        treeball.fit(EDGES, method="drift", dim=0)


def test_a_method_may_refuse_its_settings_with_any_error(capsys):
    @dataclass(frozen=True, kw_only=True)
    class Strict(Settings):
        needed: int

        def __post_init__(self) -> None:
            if self.needed > 3:
                raise ValueError("needed is too large")

    treeball.register(Method("still", still, settings=Strict))
    assert treeball.fit(EDGES, method="still", needed=3).provenance.settings["needed"] == 3
    assert run(["fit", "x.csv", "--method", "still", "--needed", "4"]) == 2
    assert "the method still refuses its settings: needed is too large" in capsys.readouterr().err
    assert run(["fit", "x.csv", "--method", "still"]) == 2
    assert "needed" in capsys.readouterr().err
    assert run(["fit", "--method", "still", "--help"]) == 0
    assert "Required." in capsys.readouterr().out


def test_settings_are_recorded_as_they_are_and_a_run_resumes(tmp_path):
    options: dict[str, Any] = {"method": "drift", "dim": 2, "negatives": np.float32(0.5), "layers": (3, 1)}
    model = treeball.fit(EDGES, **options, watch=lambda state, done: state.epoch >= 2)
    assert model.provenance.settings["negatives"] == 0.5
    assert model.provenance.settings["layers"] == [3, 1]
    model.save(tmp_path / "m.parquet")
    resumed = treeball.fit(EDGES, **options, resume=treeball.load(tmp_path / "m.parquet"))
    assert resumed.provenance.epochs_done == 6


@pytest.mark.parametrize(("step", "every", "epochs"), [(1, 2, [2, 4, 6]), (2, 3, [4, 6]), (4, 1, [4, 6]), (1, 0, [])])
def test_a_training_from_outside_is_traced(step, every, epochs):
    model = treeball.fit(EDGES, method="drift", dim=2, my_option=step, trace_every=every)
    assert [point["epoch"] for point in model.provenance.trace] == epochs
    assert all(0 <= point["map"] <= 1 and point["loss"] > 0 for point in model.provenance.trace)
    if epochs:
        assert model.provenance.trace[-1]["map"] == model.evaluate().map


def test_a_trace_of_what_has_no_epochs_is_refused():
    with pytest.raises(InputError, match=r"the method still has no epochs to trace: .*epochs_to_train"):
        treeball.fit(EDGES, method="still", trace_every=2)
    with pytest.raises(InputError, match="trace_every must be a whole number of at least 0"):
        treeball.fit(EDGES, method="drift", trace_every=-1)


def test_the_command_line_takes_the_options(capsys):
    command = ["fit", "x.csv", "--method", "drift", "--dim", "2", "-o", "m.parquet"]
    own = ["--my-option", "3", "--negatives", "0", "--init", "xavier", "--sharpness", ".5", "--loud", "--layers", "7"]
    assert run([*command, *own, "--trace-every", "3"]) == 0
    made = treeball.load("m.parquet").provenance
    expected = {"my_option": 3, "negatives": 0.0, "init": "xavier", "sharpness": 0.5, "loud": True, "layers": [7]}
    assert {name: made.settings[name] for name in expected} == expected
    assert [point["epoch"] for point in made.trace] == [3, 6]
    assert run([*command, "--my-option", "9"]) == 2
    assert "my_option must be between 0 and 5, not 9" in capsys.readouterr().err
    assert run([*command, "--my-option", "2.5"]) == 2
    assert "'2.5' is not a whole number" in capsys.readouterr().err
    assert run([*command, "--init", "random"]) == 2
    assert "xavier" in capsys.readouterr().err


def test_toml_gives_the_options():
    Path("s.toml").write_text('[fit]\nmethod = "drift"\ndim = 2\nmy-option = 3\nnegatives = 0\ninit = "xavier"\n')
    assert run(["fit", "x.csv", "--config", "s.toml", "-o", "m.parquet"]) == 0
    recorded = treeball.load("m.parquet").provenance.settings
    assert (recorded["my_option"], recorded["negatives"], recorded["init"]) == (3, 0.0, "xavier")
    assert run(["fit", "x.csv", "--config", "s.toml", "--my-option", "4", "-o", "m.parquet"]) == 0
    assert treeball.load("m.parquet").provenance.settings["my_option"] == 4


def test_help_lists_the_options_and_other_methods_keep_theirs(capsys):
    assert run(["fit", "--method", "drift", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "--my-option" in shown
    assert "Share of nodes that stay where they are. Default: 0.25." in shown
    assert "Options of drift" in shown
    assert run(["fit", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "--my-option" not in shown
    assert "Methods of other packages: drift, still. treeball fit --method drift --help lists its options." in shown
    assert run(["fit", "x.csv", "--method", "poincare", "--my-option", "3"]) == 2
    assert run(["fit", "x.csv", "--method", "poincare", "--negatives", "0"]) == 2
    assert "negatives must be a whole number of at least 1" in capsys.readouterr().err


def test_an_option_with_the_name_of_another_one_of_fit_is_refused(capsys):
    @dataclass(frozen=True, kw_only=True)
    class Loud(Settings):
        json: bool = False

    treeball.register(Method("still", still, settings=Loud))
    assert run(["fit", "x.csv", "--method", "still"]) == 2
    assert "the method 'still' has an option --json, which fit has already" in capsys.readouterr().err


def test_a_bench_leaves_the_options_of_a_method_to_it():
    rows = treeball.bench(EDGES, methods=["drift", "construct"], dims=[2], seeds=[0], **OWN).rows
    assert [row["failure"] for row in rows] == [None, None]
    with pytest.raises(InputError, match="negatives must be a whole number of at least 1"):
        treeball.bench(EDGES, methods=["drift", "poincare"], dims=[2], seeds=[0], negatives=0)


@pytest.mark.slow
def test_an_installed_package_brings_its_options(tmp_path):
    (tmp_path / "drifting.py").write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "import treeball\n"
        "from treeball.methods.settings import Settings\n\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class Mine(Settings):\n"
        "    my_option: int = 1\n\n"
        "def run(made):\n"
        "    made.vectors[:] = 0.01 * made.settings.my_option\n"
        "    return iter(())\n\n"
        "MINE = treeball.Method('mine', run, settings=Mine)\n"
    )
    information = tmp_path / "drifting-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: drifting\nVersion: 1.0\n")
    points = "[treeball.methods]\nmine = drifting:MINE\nlost = drifting:NOTHING\nother = drifting:Mine\n"
    (information / "entry_points.txt").write_text(points)
    path = os.pathsep.join([str(tmp_path), *sys.path])

    def fit(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "treeball", "fit", "x.csv", *options]
        return subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)

    done = fit("--method", "mine", "--my-option", "3", "-o", "m.parquet")
    assert done.returncode == 0, done.stderr
    assert treeball.load("m.parquet").vectors[0, 0] == 0.03
    assert "mine" in fit("--help").stdout
    lost, other = fit("--method", "lost"), fit("--method", "other")
    assert (lost.returncode, other.returncode) == (2, 2)
    assert "the method 'lost' cannot be loaded from drifting:NOTHING" in lost.stderr
    assert "which is not a treeball.Method of this name" in other.stderr
