"""A fit on equal terms: what is measured, and that Ctrl-C leaves no half of a run behind."""

from __future__ import annotations

import os
import signal

import pytest

import treeball
from treeball.experiments.timed_fit import timed_fit, warm_up
from treeball.methods import Checkpoints
from treeball.methods.auto import resolve
from treeball.methods.registry import find, method_names
from treeball.methods.training_settings import BaselineSettings

TREE = treeball.read([(f"{i}", f"{(i - 1) // 3}") for i in range(1, 40)], direction="child-parent")


@pytest.fixture
def interruptible():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever an earlier test has left there
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def interrupt(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_the_pairs_of_a_training_are_counted_and_the_result_is_that_of_fit():
    settings = BaselineSettings(method="poincare", dim=2, epochs=7, deterministic=True)
    fitted = timed_fit(TREE, settings)
    assert fitted.pairs == 7 * 39
    assert fitted.seconds > 0
    assert fitted.embedding.provenance.scores is None
    assert (fitted.embedding.vectors == treeball.fit(TREE, settings).vectors).all()
    assert timed_fit(TREE, resolve(TREE, {"method": "construct"})).pairs == 0


@pytest.mark.parametrize("at", [1, 400])
def test_a_training_that_ctrl_c_ends_is_no_run(interruptible, capsys, at):
    def stop(run):
        if run.epoch >= at:
            interrupt()

    with pytest.raises(KeyboardInterrupt):
        timed_fit(TREE, BaselineSettings(method="poincare", dim=2, epochs=400), watch=stop)
    assert "stopping at the end of this epoch" in capsys.readouterr().err


def test_a_training_that_was_stopped_can_be_resumed(interruptible, tmp_path):
    settings = BaselineSettings(method="poincare", dim=2, epochs=400, deterministic=True)
    shown = []

    class Display:
        def __init__(self, *epochs: int) -> None:
            shown.append(epochs)

        def __enter__(self) -> Display:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def show(self, epoch: int, *_: object) -> None:
            if epoch == 200:
                interrupt()

    checkpoints = Checkpoints(tmp_path / "half.parquet")
    with pytest.raises(KeyboardInterrupt):
        timed_fit(TREE, settings, progress=Display, checkpoints=checkpoints)
    half = treeball.load(checkpoints.path)
    rest = timed_fit(TREE, settings, progress=lambda *epochs: Display(*epochs), resume=half)
    assert shown == [(400,), (400, 200)]
    assert rest.pairs == 200 * 39
    assert (rest.embedding.vectors == timed_fit(TREE, settings).embedding.vectors).all()


@pytest.mark.parametrize("method", method_names())
def test_every_method_can_be_warmed_up(method):
    warm_up(find(method).settings(method=method, dim=2))
