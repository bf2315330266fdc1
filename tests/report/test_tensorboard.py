"""TensorBoard event files: decoded by an independent reading of their format, and by the published schema."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import pytest

import treeball
from treeball import InputError
from treeball.cli.main import run
from treeball.report import tensorboard
from treeball.report.tensorboard import EventWriter
from treeball.report.watch import WatchSettings

TAGS = {
    "loss", "radius/largest", "speed/pairs_per_second", "scores/map", "scores/mean_rank", "scores/hits_at_1",
    "illness/all", "illness/capacity", "illness/intra_subtree", "illness/inter_subtree",
}  # fmt: skip


def crc32c(data):
    """Bit by bit, as the polynomial is defined."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) % 2**32


def records(raw):
    """Payloads of the TFRecord framing, every checksum checked."""
    place = 0
    while place < len(raw):
        (length,) = struct.unpack_from("<Q", raw, place)
        (check,) = struct.unpack_from("<I", raw, place + 8)
        assert check == masked(raw[place : place + 8])
        data = raw[place + 12 : place + 12 + length]
        (check,) = struct.unpack_from("<I", raw, place + 12 + length)
        assert check == masked(data)
        yield data
        place += 16 + length


def fields(message):
    """Field numbers and values of a protocol buffer."""
    place = 0

    def varint():
        nonlocal place
        value = shift = 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while place < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        size = {1: 8, 5: 4}.get(kind)
        size = varint() if size is None else size
        data = message[place : place + size]
        assert len(data) == size
        place += size
        yield key >> 3, struct.unpack("<d" if kind == 1 else "<f", data)[0] if kind != 2 else data


def events(folder):
    """Version and scalars (step, tag, value) of the one event file of a folder."""
    (path,) = Path(folder).iterdir()
    assert "tfevents" in path.name
    first, *rest = (dict(fields(data)) for data in records(path.read_bytes()))
    scalars = []
    for event in rest:
        assert event[1] > 1.6e9  # the wall clock
        for number, value in fields(event[5]):
            assert number == 1
            content = dict(fields(value))
            scalars.append((event.get(2, 0), content[1].decode(), content[2]))
    return first[3], scalars


def train(folder, **settings):
    with WatchSettings(tensorboard=folder).observers(Path("unused.parquet"), lambda words: None) as observers:
        model = treeball.fit(
            "example:mammals",
            watch=observers,
            **{"method": "poincare", "dim": 3, "epochs": 40, "deterministic": True, **settings},
        )
        observers.finish(model)
    return model


def test_the_checksum_is_crc32c():
    assert crc32c(b"123456789") == 0xE3069283  # the published check value
    for data in (b"", b"\0", b"123456789", bytes(range(256)) * 3):
        assert tensorboard._masked_crc(data) == struct.pack("<I", masked(data))


def test_what_is_written_can_be_read(tmp_path):
    writer = EventWriter(tmp_path / "a" / "b")
    writer.add(0, {"zero": 0.0})
    writer.add(300, {"x": 1.5, "nothing": math.nan, "näme/β": -2.25})
    writer.add(2**40, {"far": 1e30})
    writer.add(7, {"nothing": math.inf})
    writer.close()
    version, scalars = events(tmp_path / "a" / "b")
    assert version == b"brain.Event:2"
    assert [(step, tag) for step, tag, _ in scalars] == [(0, "zero"), (300, "x"), (300, "näme/β"), (2**40, "far")]
    assert [value for *_, value in scalars[:3]] == [0.0, 1.5, -2.25]
    assert scalars[3][2] == pytest.approx(1e30)


def test_a_training_leaves_all_its_curves(tmp_path):
    model = train(tmp_path / "log")
    _, scalars = events(tmp_path / "log")
    assert {tag for _, tag, _ in scalars} == TAGS
    last = {tag: value for step, tag, value in scalars if step == 40}
    scores = model.evaluate()
    assert last["scores/map"] == pytest.approx(scores.map)
    assert last["scores/mean_rank"] == pytest.approx(scores.mean_rank)
    assert last["radius/largest"] == pytest.approx(scores.max_radius)
    assert last["loss"] == pytest.approx(model.provenance.loss)
    assert last["illness/all"] == pytest.approx(len(scores.illness) / scores.ranking.ranks.size)
    assert last["illness/all"] == pytest.approx(sum(last[f"illness/{kind}"] for kind in scores.illness.counts()))
    steps = [step for step, tag, _ in scalars if tag == "loss"]
    assert steps == sorted(set(steps))
    assert all(value > 0 for _, tag, value in scalars if tag == "speed/pairs_per_second")


def test_watching_changes_nothing(tmp_path):
    alone = treeball.fit("example:mammals", method="poincare", dim=3, epochs=40, deterministic=True)
    assert (train(tmp_path / "log").vectors == alone.vectors).all()


def test_the_published_schema_reads_it(tmp_path):
    schema = pytest.importorskip("tensorboardX.proto.event_pb2", reason="tensorboardX is not installed")
    train(tmp_path / "log")
    (path,) = (tmp_path / "log").iterdir()
    first, *rest = (schema.Event.FromString(data) for data in records(path.read_bytes()))
    assert first.file_version == "brain.Event:2"
    assert {value.tag for event in rest for value in event.summary.value} == TAGS
    assert rest[-1].step == 40
    read = [(event.step, value.tag, value.simple_value) for event in rest for value in event.summary.value]
    assert read == events(tmp_path / "log")[1]


def test_a_folder_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot write TensorBoard files to .*another folder"):
        EventWriter(tmp_path / "file" / "log")


def test_fit_with_tensorboard(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    quick = ["fit", "example:mammals", "-o", "m.parquet", "--method", "poincare", "--dim", "3", "--epochs", "20"]
    assert run([*quick, "--tensorboard", "runs/first"]) == 0
    assert "tensorboard --logdir runs/first" in capsys.readouterr().err
    _, scalars = events("runs/first")
    assert {tag for _, tag, _ in scalars} == TAGS
    Path("m.parquet").unlink()
    assert run([*quick, "--tensorboard", "/dev/null/log"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-1].startswith("treeball: cannot write TensorBoard files to '/dev/null/log'")
    assert not Path("m.parquet").exists()
