"""Snapshots of a training and the moving pictures made of them."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import shutil
import stat
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeball
from tests import trees
from treeball import Embedding, Hierarchy, InputError
from treeball.cli.main import run
from treeball.geometry import poincare
from treeball.geometry.models import ball_to_hyperboloid
from treeball.geometry.spaces import SPACES
from treeball.io import memory
from treeball.methods.descent import Epochs
from treeball.methods.observe import Observers
from treeball.methods.run import Run
from treeball.methods.training_settings import BaselineSettings
from treeball.report.plane import Plane
from treeball.report.snapshots import SnapshotRecorder, frames_path, load_frames
from treeball.report.watch import WatchSettings

pytest.importorskip("matplotlib")

from matplotlib.collections import LineCollection
from PIL import Image

from treeball.report import animation

QUICK: dict[str, Any] = {"method": "poincare", "epochs": 60, "burn_in": 5, "deterministic": True}


@pytest.fixture(scope="module")
def pairs():
    edges = [(f"b{i}", "top") for i in range(4)]
    return edges + [(f"b{i}.{j}", f"b{i}") for i in range(4) for j in range(6)]


def record(source, path, count=6, **settings):
    """Train with snapshots; -> the model and its frames."""
    with WatchSettings(snapshots=count).observers(path, lambda words: None) as observers:
        model = treeball.fit(source, watch=observers, **{**QUICK, **settings})
        observers.finish(model)
    model.save(path)
    return model, load_frames(frames_path(path), treeball.load(path).hierarchy)


@pytest.fixture(scope="module")
def recorded(pairs, tmp_path_factory):
    return record(pairs, tmp_path_factory.mktemp("recorded") / "tree.parquet", dim=2)


# ---- the plane ----


def test_two_dimensions_are_shown_as_they_are():
    rng = np.random.default_rng(0)
    ball = poincare.from_radius(rng.normal(size=(50, 2)), rng.uniform(0, 25, 50))
    assert np.array_equal(Plane().places(ball, SPACES["poincare"]), ball)
    assert np.allclose(Plane().places(ball_to_hyperboloid(ball), SPACES["lorentz"]), ball, atol=1e-9)


def test_of_more_dimensions_the_principal_plane_is_shown():
    rng = np.random.default_rng(1)
    flat = np.zeros((200, 5))
    flat[:, [1, 3]] = rng.normal(size=(200, 2)) * [3.0, 2.0]
    ball = poincare.from_normal(flat + 0.05 * rng.normal(size=flat.shape))
    plane = Plane()
    places = plane.places(ball, SPACES["poincare"])
    assert np.allclose(np.abs(plane.basis[[1, 3]]).max(axis=0), 1, atol=0.02)
    # On the hyperboloid the coordinates within the plane are what they were.
    assert np.allclose(ball_to_hyperboloid(places)[:, 1:], ball_to_hyperboloid(ball)[:, 1:] @ plane.basis)
    assert (poincare.radius(places) <= poincare.radius(ball) + 1e-9).all()
    flat_ball = poincare.from_normal(flat)
    assert np.allclose(poincare.radius(Plane().places(flat_ball, SPACES["poincare"])), poincare.radius(flat_ball))


def test_the_plane_turns_smoothly_and_never_flips():
    rng = np.random.default_rng(2)
    tangent = rng.normal(size=(300, 6)) * [3, 2.9, 1, 1, 1, 1]
    plane = Plane()
    before = plane.places(poincare.from_normal(tangent), SPACES["poincare"])
    for _ in range(30):
        tangent = tangent + 0.02 * rng.normal(
            size=tangent.shape
        )  # the two main axes may change their order at any time
        now = plane.places(poincare.from_normal(tangent), SPACES["poincare"])
        assert np.median(np.linalg.norm(now - before, axis=1)) < 0.1
        before = now
    assert np.allclose(plane.basis.T @ plane.basis, np.eye(2))


def test_euclidean_vectors_are_shrunk_into_the_disk_and_nothing_breaks_at_the_origin():
    rng = np.random.default_rng(3)
    plane = Plane()
    for scale in (1.0, 5.0, 2.0):
        places = plane.places(scale * rng.normal(size=(40, 3)), SPACES["euclidean"])
        assert (np.linalg.norm(places, axis=1) < 1).all()
    for width, geometry in (
        (2, SPACES["poincare"]),
        (4, SPACES["poincare"]),
        (2, SPACES["euclidean"]),
        (3, SPACES["euclidean"]),
    ):
        plane = Plane()
        for _ in range(2):
            assert np.array_equal(plane.places(np.zeros((5, width)), geometry), np.zeros((5, 2)))


# ---- recording ----


def test_snapshots_are_evenly_spaced_and_end_with_the_model(recorded):
    model, frames = recorded
    assert frames.epoch[-1] == 60
    assert (np.diff(frames.epoch) > 0).all()
    assert np.array_equal(frames.places[-1], model.vectors)
    illness = model.evaluate().illness
    node, positive, kind = frames.ill(len(frames) - 1)
    assert np.array_equal(node, illness.node)
    assert np.array_equal(positive, illness.positive)
    assert np.array_equal(kind, illness.kind)
    assert frames.loss[-1] == model.provenance.loss
    assert frames.map[-1] == model.evaluate().map
    assert (int(frames.dim), bool(frames.flat), int(frames.sampled)) == (2, False, 0)


def test_the_run_stops_where_a_snapshot_is_due(recorded):
    """Epochs of a small tree are run many at a time; the recorder makes the run stop for its pictures."""
    _, frames = recorded
    assert set(range(10, 61, 10)) <= set(frames.epoch.tolist())


def stepping(pairs, recorder, epochs, dim=4, method="poincare"):
    """A run without training that moves its vectors a little every epoch and lets `recorder` look."""
    hierarchy = treeball.read(pairs)
    settings = BaselineSettings(method=method, dim=dim, epochs=epochs)
    rng = np.random.default_rng(0)
    run_ = Run(hierarchy, settings, poincare.from_normal(rng.normal(size=(hierarchy.n_nodes, dim))))
    observers = Observers([recorder])
    for epoch in range(1, epochs + 1):
        run_.vectors[:] = poincare.from_normal(1.01 * poincare.to_normal(run_.vectors))
        run_.epoch, run_.loss = epoch, 1.0 / epoch
        observers(run_, Epochs(1, run_.loss, 0, 28, 0.01))
    observers.finish(run_.embedding())
    return load_frames(recorder.path, hierarchy)


def test_as_many_snapshots_as_asked_for(pairs, tmp_path):
    for count, epochs in ((5, 100), (10, 100), (60, 100), (100, 30)):
        frames = stepping(pairs, SnapshotRecorder(tmp_path / "m.frames.npz", count), epochs)
        assert abs(len(frames) - min(count, epochs)) <= max(2, 0.7 * count if count == 60 else 0)
        assert frames.places.dtype == np.float32
        assert (np.linalg.norm(frames.places.astype(float), axis=2) < 1).all()


def test_a_resumed_training_keeps_its_first_snapshots(pairs, tmp_path):
    path = tmp_path / "tree.parquet"
    first, before = record(pairs, path, dim=3, epochs=40)
    observers = WatchSettings(snapshots=6).observers(path, lambda words: None)
    settings = treeball.FitSettings(**{**QUICK, "dim": 3, "epochs": 80})
    model = treeball.fit(first.hierarchy, settings, resume=first, watch=observers)
    observers.finish(model)
    after = load_frames(frames_path(path), model.hierarchy)
    assert after.epoch[-1] == 80
    assert set(before.epoch) <= set(after.epoch)
    assert np.array_equal(after.places[: len(before)], before.places)


def test_a_method_without_epochs_is_not_watched(pairs):
    for options in ({"snapshots": 5}, {"live": True}, {"tensorboard": Path("log")}):
        with pytest.raises(
            InputError, match=f"no training to watch with --{next(iter(options))}, for sarkar has no epochs"
        ):
            WatchSettings(**options).require_training(0, "sarkar")
    WatchSettings().require_training(0, "sarkar")


def test_snapshots_are_held_to_a_share_of_the_memory(recorded, tmp_path, monkeypatch):
    model, frames = recorded
    path = dataclasses.replace(frames, places=np.zeros((20, 100_000, 2))).save(tmp_path / "x.frames.npz")
    assert path.stat().st_size < 1_000_000
    read: list[str] = []
    monkeypatch.setattr(memory, "_memory_of_machine", lambda: 60_000_000)
    monkeypatch.setattr(np.lib.npyio.NpzFile, "__getitem__", _noting(np.lib.npyio.NpzFile.__getitem__, read))
    with pytest.raises(InputError) as caught:
        load_frames(path, model.hierarchy)
    assert str(caught.value) == (
        f"reading {path} takes more than 30 MB of memory, half of what there is: it is damaged, or needs a larger "
        "machine"
    )
    assert "epoch" in read
    assert "places" not in read  # it is refused before it is unpacked
    monkeypatch.setattr(memory, "_memory_of_machine", lambda: 2_000_000_000)
    with pytest.raises(InputError, match="its arrays do not fit each other"):
        load_frames(path, model.hierarchy)
    assert "places" in read


def test_an_array_that_says_it_is_larger_than_any_memory_is_refused(recorded, tmp_path):
    model, frames = recorded
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**50, 2)})
    with zipfile.ZipFile(frames.save(tmp_path / "x.frames.npz")) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "x.frames.npz", "w") as archive:
        for part, content in parts.items():
            archive.writestr(part, header.getvalue() if part == "places.npy" else content)
    with pytest.raises(InputError, match="of memory, half of what there is"):
        load_frames(tmp_path / "x.frames.npz", model.hierarchy)


def _noting(get, read):
    return lambda self, name: (read.append(name), get(self, name))[1]


def test_broken_and_foreign_snapshots_are_refused(recorded, tmp_path):
    model, frames = recorded
    path = tmp_path / "x.frames.npz"
    for content in (b"", b"hello", b"PK\x03\x04 not a zip"):
        path.write_bytes(content)
        with pytest.raises(InputError, match="no snapshots that can be read"):
            load_frames(path, model.hierarchy)
    np.savez(path, version=np.array(99))
    with pytest.raises(InputError, match="another version"):
        load_frames(path, model.hierarchy)
    np.savez(path, version=np.array(1), epoch=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match="no snapshots that can be read"):
        load_frames(path, model.hierarchy)
    for changed in (
        {"places": frames.places[:, 1:]},
        {"places": frames.places * np.nan},
        {"loss": frames.loss[1:]},
        {"ill_ptr": frames.ill_ptr + 10**9},
        {"ill_node": np.full_like(frames.ill_node, 10**6)} if frames.ill_node.size else {"map": frames.map[:-1]},
        {"epoch": frames.epoch.astype(str)},
    ):
        dataclasses.replace(frames, **changed).save(path)
        with pytest.raises(InputError, match="its arrays do not fit each other"):
            load_frames(path, model.hierarchy)
    whole = frames.save(path).read_bytes()
    for place in range(0, len(whole), max(len(whole) // 200, 1)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        with contextlib.suppress(InputError):
            load_frames(path, model.hierarchy)
    with zipfile.ZipFile(frames.save(path)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name in ("epoch.npy", "ill_node.npy"):  # an entry that is no array
        with zipfile.ZipFile(path, "w") as archive:
            for part, content in parts.items():
                archive.writestr(part, b"no array" if part == name else content)
        with pytest.raises(InputError, match="its arrays do not fit each other"):
            load_frames(path, model.hierarchy)
    frames.save(path)
    other = treeball.read([("a", "b")])
    with pytest.raises(InputError, match="of another hierarchy"):
        load_frames(path, other)
    with pytest.raises(InputError, match=r"no snapshots of the training.*--snapshots"):
        load_frames(tmp_path / "none.npz", model.hierarchy)


def test_names_that_are_numbers_keep_their_snapshots(tmp_path):
    record([(i, i // 3) for i in range(1, 30)], tmp_path / "ints.parquet", dim=2)


@pytest.mark.parametrize("wrong", [{"snapshots": -1}, {"snapshots": 1}, {"live_port": -1}, {"live_port": 80}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        WatchSettings(**wrong)


# ---- moving pictures ----


def frames_in(picture: Any) -> int:
    return int(picture.n_frames)


def test_a_gif_has_a_picture_for_each_snapshot(recorded, tmp_path):
    model, frames = recorded
    path = animation.animate(frames, model.hierarchy, tmp_path / "tree.gif", title="a < b & $c", fps=5)
    assert list(tmp_path.iterdir()) == [path]
    with Image.open(path) as picture:
        assert frames_in(picture) == len(frames)
        assert picture.info["loop"] == 0
        first = np.asarray(picture.convert("RGB"), int)
        assert picture.info["duration"] == 200
        picture.seek(len(frames) - 1)
        last = np.asarray(picture.convert("RGB"), int)
        assert picture.info["duration"] == 2000
    assert first.shape == last.shape
    assert (first != last).any(axis=2).mean() > 0.01
    assert (first[0, 0] == 255).all()
    reddish = (last[..., 0] > 200) & (last[..., 1] < 110) & (last[..., 2] < 110)
    assert bool(reddish.any()) == bool(len(model.evaluate().illness))


def test_a_frame_shows_its_ill_pairs_and_curves(recorded):
    model, frames = recorded
    figure = animation.draw_frame(frames, 1, model.hierarchy, title="tree")
    lines = [c for c in figure.axes[0].collections if isinstance(c, LineCollection)]
    drawn = sum(len(c.get_segments()) for c in lines if (c.get_gid() or "").startswith("ill"))
    assert drawn == frames.ill(1)[0].size > 0
    words = [text.get_text() for text in figure.texts] + [axes.get_title(loc="left") for axes in figure.axes]
    assert f"epoch {frames.epoch[1]} of 60" in words
    assert f"loss: {frames.loss[1]:.3f}" in words


def test_focus_and_depth_hold_in_every_frame(recorded):
    model, frames = recorded
    for number in (0, len(frames) - 1):
        figure: Any = animation.draw_frame(frames, number, model.hierarchy, focus="b1", depth=1)
        edges = [c for c in figure.axes[0].collections if c.get_gid() == "edges"]
        segments = [line for c in edges for line in c.get_segments()]
        assert len(segments) == 6
        assert all(np.allclose(line[-1], 0, atol=1e-12) for line in segments)
    with pytest.raises(InputError, match="nobody"):
        animation.draw_frame(frames, 0, model.hierarchy, focus="nobody")


def test_any_dimension_and_geometry_can_move(pairs, tmp_path):
    for name, settings in (
        ("solid", {"dim": 5}),
        ("lorentz", {"dim": 3, "method": "lorentz"}),
        ("flat", {"dim": 3, "method": "euclidean"}),
    ):
        model, frames = record(pairs, tmp_path / f"{name}.parquet", **settings)
        figure: Any = animation.draw_frame(frames, len(frames) - 1, model.hierarchy)
        assert any("principal plane" in text.get_text() for text in figure.texts)
        edges = next(c for c in figure.axes[0].collections if c.get_gid() == "edges").get_segments()
        if name == "flat":
            assert all(len(line) == 2 for line in edges)


def test_a_chain_and_a_pair_can_move(tmp_path):
    for edges in (trees.chain(2), trees.chain(9)):
        hierarchy = Hierarchy.from_codes(range(edges.n), edges.child, edges.parent)
        _, frames = record(hierarchy, tmp_path / f"{edges.n}.parquet", dim=2, epochs=10)
        animation.animate(frames, hierarchy, tmp_path / f"{edges.n}.gif")


@pytest.fixture
def only_on_path(tmp_path, monkeypatch):
    """A PATH with nothing on it but what a test puts there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_mp4_without_ffmpeg_names_the_way_out(recorded, tmp_path, only_on_path):
    model, frames = recorded
    with pytest.raises(InputError, match=r"needs the program ffmpeg: install it, or .* ends in \.gif"):
        animation.animate(frames, model.hierarchy, tmp_path / "x.mp4")
    with pytest.raises(InputError, match=r"\.gif or an \.mp4"):
        animation.animate(frames, model.hierarchy, tmp_path / "x.webm")
    for fps in (0, -1, 1000, float("nan")):
        with pytest.raises(InputError, match="fps must be"):
            animation.animate(frames, model.hierarchy, tmp_path / "x.gif", fps=fps)
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


def test_mp4_is_handed_to_ffmpeg_picture_by_picture(recorded, tmp_path, only_on_path):
    model, frames = recorded
    program = only_on_path / "ffmpeg"
    program.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        "size = sys.argv[sys.argv.index('-s') + 1]\n"
        "raw = sys.stdin.buffer.read()\n"
        "open(sys.argv[-1], 'w').write(f'{size} {len(raw)}')\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    path = animation.animate(frames, model.hierarchy, tmp_path / "x.mp4", fps=10)
    size, length = path.read_text().split()
    width, height = (int(side) for side in size.split("x"))
    assert width % 2 == height % 2 == 0
    assert int(length) == width * height * 3 * (len(frames) + 20)
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no such codec')\n")
    with pytest.raises(InputError, match=r"ffmpeg could not write the animation \(no such codec\)"):
        animation.animate(frames, model.hierarchy, tmp_path / "y.mp4")
    assert not (tmp_path / "y.mp4").exists()


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_mp4_by_ffmpeg_itself(recorded, tmp_path):
    model, frames = recorded
    path = animation.animate(frames, model.hierarchy, tmp_path / "x.mp4")
    assert path.read_bytes()[4:8] == b"ftyp"


# ---- the commands ----


@pytest.fixture
def folder(tmp_path, monkeypatch, recorded):
    monkeypatch.chdir(tmp_path)
    model, frames = recorded
    model.save("tree.parquet")
    frames.save(Path("tree.frames.npz"))
    Embedding(model.vectors, model.hierarchy, "poincare", model.provenance).save("still.parquet")
    return tmp_path


def test_plot_animate(folder, capsys):
    assert run(["plot", "tree.parquet", "--animate", "tree.gif", "--focus", "b1", "--depth", "2", "--fps", "6"]) == 0
    assert capsys.readouterr().err == "wrote tree.gif\n"
    with Image.open("tree.gif") as picture:
        assert frames_in(picture) > 3


def test_plot_animate_refuses_with_one_sentence(folder, capsys, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    before = sorted(os.listdir())
    for arguments, word in (
        (["still.parquet", "--animate", "x.gif"], "--snapshots"),
        (["tree.parquet", "--animate", "x.mp4"], "ffmpeg"),
        (["tree.parquet", "--animate", "x.avi"], ".gif or an .mp4"),
        (["tree.parquet", "--animate", "nowhere/x.gif"], "no folder"),
        (["tree.parquet", "--animate", "x.gif", "--trace"], "--trace cannot go with --animate"),
        (["tree.parquet", "--animate", "x.gif", "-o", "y.png", "--inset"], "--inset and -o cannot go with --animate"),
        (["tree.parquet", "--animate", "x.gif", "--focus", "nobody"], "nobody"),
        (["tree.parquet", "--animate", "x.gif", "--depth", "0"], "depth must be at least 1"),
        (["tree.parquet", "--animate", "x.gif", "--fps", "0"], "fps must be"),
    ):
        assert run(["plot", *arguments]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert len(said.err.strip().splitlines()) == 1
        assert said.err.startswith("treeball: ")
        assert word in said.err
    assert sorted(os.listdir()) == before


def test_fit_with_snapshots_and_plot(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arguments = ["fit", "example:mammals", "-o", "m.parquet", "--method", "poincare", "--dim", "2", "--epochs", "40"]
    assert run([*arguments, "--snapshots", "4"]) == 0
    assert "snapshots to m.frames.npz" in capsys.readouterr().err
    frames = load_frames(Path("m.frames.npz"), treeball.load("m.parquet").hierarchy)
    assert {10, 20, 30, 40} <= set(frames.epoch.tolist())
    assert run(["plot", "m.parquet", "--animate", "m.gif"]) == 0
    assert run([*arguments, "--snapshots", "1"]) == 2
    assert "at least 2" in capsys.readouterr().err.splitlines()[-1]
