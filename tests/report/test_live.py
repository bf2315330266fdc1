"""The live page: what it serves, to whom, and how it ends."""

from __future__ import annotations

import http.client
import json
import math
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeball
from tests import trees
from tests.chromium import look
from treeball import Hierarchy, InputError
from treeball.cli.main import run
from treeball.methods.observe import Observers
from treeball.report.live import LiveView, largest_nodes
from treeball.report.watch import WatchSettings
from treeball.workers import Throttle

QUICK: dict[str, Any] = {"method": "poincare", "dim": 2, "epochs": 30, "burn_in": 2, "deterministic": True}


def ask(view, what):
    with urllib.request.urlopen(view.address + what, timeout=20) as reply:
        return json.load(reply)


@pytest.fixture
def view():
    view = LiveView(title="<i>tree</i>", seconds=0.0)
    yield view
    view.close()


def watch_training(view, source="example:mammals", **settings):
    observers = Observers([view])
    model = treeball.fit(source, watch=observers, **{**QUICK, **settings})
    return observers, model


def test_the_page_and_what_it_asks_for(view):
    with urllib.request.urlopen(view.address, timeout=20) as reply:
        page = reply.read().decode()
        assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "<h1>&lt;i&gt;tree&lt;/i&gt;</h1>" in page
    assert "{{" not in page
    assert "://" not in page
    assert ask(view, "state.json?have=-1") == {"version": 0, "phase": "waiting"}
    observers, model = watch_training(view)
    state = ask(view, "state.json?have=0")
    assert (state["phase"], state["epochs"], state["nodes"], state["dim"]) == ("training", 30, 1182, 2)
    assert ask(view, f"state.json?have={state['version']}") == {"version": state["version"]}
    observers.finish(model)
    state = ask(view, "state.json?have=1")
    scores = model.evaluate()
    assert (state["phase"], state["epoch"]) == ("finished", 30)
    assert state["map"] == scores.map
    assert state["ill"] == list(scores.illness.counts().values())
    assert state["rate"] > 0
    assert np.allclose(np.reshape(state["places"], (-1, 2)) / 10_000, model.vectors, atol=1e-4)
    ill = set(
        zip(scores.illness.node.tolist(), scores.illness.positive.tolist(), scores.illness.kind.tolist(), strict=True)
    )
    assert {tuple(triple) for triple in np.reshape(state["ill_pairs"], (-1, 3)).tolist()} == ill
    epochs = [point[0] for point in state["history"]]
    assert epochs == sorted(set(epochs))
    assert state["history"][-1][1:3] == [model.provenance.loss, scores.map]
    tree = ask(view, "tree.json")
    parent = [model.hierarchy.primary_parent[code] for code in range(len(model))]
    assert tree["parent"] == parent
    assert tree["name"] == [str(name) for name in model]
    assert max(tree["group"]) < len(tree["groups"])


def test_many_nodes_are_thinned_and_sampled(view, monkeypatch):
    monkeypatch.setattr("treeball.report.live._MOST_NODES", 50)
    monkeypatch.setattr("treeball.methods.observe.EXACT_NODES", 100)
    observers, model = watch_training(view, dim=5)
    observers.finish(model)
    state, tree = ask(view, "state.json?have=-1"), ask(view, "tree.json")
    assert len(tree["parent"]) == 50
    assert tree["parent"].count(-1) == 1  # every shown node has its parent shown
    assert len(state["places"]) == 100
    assert state["sampled"] == 1000
    assert all(0 <= place < 50 for triple in np.reshape(state["ill_pairs"], (-1, 3)) for place in triple[:2])


def test_the_largest_nodes_hold_all_above_them():
    for edges in (trees.random_tree(300, 1), trees.chain(40), trees.star(40), trees.random_dag(100, 60, 2)):
        hierarchy = Hierarchy.from_codes(range(edges.n), edges.child, edges.parent)
        for most in (1, 7, 30, 1000):
            shown = largest_nodes(hierarchy, most)
            assert shown.size == min(most, edges.n)
            above = hierarchy.primary_parent[shown]
            assert set(above[above >= 0].tolist()) <= set(shown.tolist())


def test_a_long_history_is_thinned(view, monkeypatch):
    monkeypatch.setattr("treeball.report.live._MOST_POINTS", 10)
    for epoch in range(1, 200):
        view._remember([epoch, 0.1])
        assert len(view.history) <= 11
        assert view.history[-1][0] == epoch
    epochs = [point[0] for point in view.history]
    assert epochs == sorted(set(epochs))
    assert epochs[0] == 1


def test_a_loss_that_is_no_number_is_left_out(view):
    observers, model = watch_training(view)
    observers._last.loss = math.inf
    observers.finish(model)
    state = ask(view, "state.json?have=-1")
    assert state["phase"] == "finished"
    assert state["loss"] is None
    assert state["history"][-1][1] is None


def test_only_this_machine_is_answered(view):
    assert view.address.startswith("http://127.0.0.1:")
    port = int(view.address.rsplit(":", 1)[1].strip("/"))
    for host, status in ((f"127.0.0.1:{port}", 200), (f"localhost:{port}", 200), ("evil.example", 403), ("", 403)):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", "/state.json", headers={"Host": host})
        assert connection.getresponse().status == status
        connection.close()
    for path in ("../etc/passwd", "state", "favicon.ico"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(view.address + path, timeout=20)


def test_a_taken_port_is_refused(view):
    port = int(view.address.rsplit(":", 1)[1].strip("/"))
    with pytest.raises(InputError, match=rf"cannot serve the training on port {port}: .*--live-port"):
        LiveView(port)


def test_close_waits_for_an_open_page_and_for_nobody_else():
    view = LiveView(seconds=0.0)
    observers, model = watch_training(view)
    began = time.monotonic()
    observers.finish(model)
    view.close()  # nobody ever asked
    assert time.monotonic() - began < 2.0
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(view.address.rsplit(":", 1)[1].strip("/"))), timeout=5)

    view = LiveView(seconds=0.0)
    observers, model = watch_training(view)
    ask(view, "state.json?have=-1")  # somebody is looking, and has not seen the end
    observers.finish(model)
    closing = threading.Thread(target=view.close)
    closing.start()
    time.sleep(0.1)
    assert closing.is_alive()
    assert ask(view, "state.json?have=1")["phase"] == "finished"
    closing.join(10)
    assert not closing.is_alive()


def test_a_stopped_training_is_called_stopped(view):
    observers = Observers([view])

    def stop_early(run, done):
        observers(run, done)
        return run.epoch >= 10

    model = treeball.fit("example:mammals", watch=stop_early, **QUICK)
    observers.finish(model)
    assert ask(view, "state.json?have=-1")["phase"] == "stopped"


def test_watching_takes_a_tenth_of_the_time_at_most(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    throttle = Throttle(0.5)
    assert throttle.is_due()
    now[0] += 2.0
    throttle.worked(100.0)  # two seconds of work: not before eighteen more
    now[0] += 17.9
    assert not throttle.is_due()
    now[0] += 0.2
    assert throttle.is_due()
    throttle.worked(now[0])
    now[0] += 0.6
    assert throttle.is_due()


def test_observers_are_closed_after_an_error():
    class Fussy:
        closed = False

        def pause_every(self, epochs):
            return 0

        def see(self, moment):
            raise RuntimeError("no")

        def finish(self, moment):
            raise AssertionError

        def close(self):
            self.closed = True

    fussy = Fussy()

    def train():
        with Observers([fussy]) as observers:
            treeball.fit("example:mammals", watch=observers, **QUICK)

    with pytest.raises(RuntimeError, match="no"):
        train()
    assert fussy.closed
    with WatchSettings().observers(Path("m.parquet"), print) as nobody:
        assert nobody.watching == []


# ---- in the browser ----


def test_the_page_in_chromium_follows_the_training_to_its_end(tmp_path):
    pairs = [(f"</script><img src=x onerror=alert(1)> {i}.{j}", f"b{i}") for i in range(3) for j in range(5)]
    pairs += [(f"b{i}", "top") for i in range(3)]
    view = LiveView(title="tree", seconds=0.0)
    observers, model = watch_training(view, pairs, dim=3)
    picture = tmp_path / "live.png"
    timer = threading.Timer(2.0, observers.finish, [model])
    timer.start()
    try:
        seen = look(view.address, wait_for="#phase[data-phase=finished]", picture=str(picture))
    finally:
        timer.join()
        view.close()
    assert seen["problems"] == []
    assert all(address.startswith((view.address, "data:")) for address in seen["requests"])
    assert "The training is over" in seen["text"]
    assert "principal plane of 3 dimensions" in seen["text"]
    image = pytest.importorskip("PIL.Image")
    pixels = np.asarray(image.open(picture).convert("RGB"), int)[60:, :850]
    spread = pixels.max(axis=2) - pixels.min(axis=2)
    assert (spread > 60).sum() > 200  # coloured nodes and edges


# ---- the command ----


def test_fit_live_serves_while_it_trains_and_ctrl_c_still_works(tmp_path):
    (tmp_path / "tree.tsv").write_text("child\tparent\n" + "".join(f"n{i}\tn{(i - 1) // 4}\n" for i in range(1, 2000)))
    command = [sys.executable, "-m", "treeball", "fit", "tree.tsv", "-o", "m.parquet", "--live", "--dim", "3"]
    command += ["--method", "poincare", "--epochs", "1000000"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        said = ""
        while "http://127.0.0.1:" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        (address,) = re.findall(r"http://127\.0\.0\.1:\d+/", said)
        deadline = time.monotonic() + 120
        state: dict[str, Any] = {}
        while state.get("phase") != "training":
            assert time.monotonic() < deadline
            time.sleep(0.1)
            with urllib.request.urlopen(address + "state.json?have=-1", timeout=20) as reply:
                state = json.load(reply)
        assert state["epoch"] > 0
        process.send_signal(signal.SIGINT)
        last: dict[str, Any] = {}
        while last.get("phase") != "stopped":
            try:
                with urllib.request.urlopen(address + "state.json?have=-1", timeout=20) as reply:
                    last = json.load(reply)
            except urllib.error.URLError:
                break  # it may be gone before we ask again
            time.sleep(0.05)
        _, error = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in error
    assert "saved m.parquet; go on with --resume" in error
    assert last["phase"] == "stopped"
    assert treeball.load(tmp_path / "m.parquet").provenance.epochs_done == last["epoch"]


def test_fit_live_refuses_with_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    quick = ["fit", "example:mammals", "-o", "m.parquet", "--method", "poincare", "--dim", "2", "--epochs", "3"]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for arguments, word in (
            (["--live", "--live-port", port], "--live-port"),
            (["--live", "--live-port", "70000"], "65535"),
            (["--live-port", "8000"], "give --live too"),
        ):
            assert run([*quick, *arguments]) == 2
            sentence = capsys.readouterr().err.strip().splitlines()[-1]
            assert sentence.startswith("treeball: ")
            assert word in sentence
            assert not Path("m.parquet").exists()
    assert run([*quick, "--live"]) == 0
    assert "watch the training at http://127.0.0.1:" in capsys.readouterr().err
