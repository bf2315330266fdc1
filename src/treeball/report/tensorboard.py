"""TensorBoard event files without TensorFlow: a few lines of its record format and of protocol buffers.

A file is a sequence of records: the length (uint64), its masked CRC-32C, the payload, its masked CRC-32C, all
little-endian. The payload is an ``Event`` message: wall_time = 1 (double), step = 2 (int64), file_version = 3 (string,
the first record only), summary = 5 (message). A ``Summary`` repeats value = 1 (message) with tag = 1 (string) and
simple_value = 2 (float).

The 60 lines that write this are kept because tensorboardX 2.6.5, measured in their place, costs more than it saves:
4.5 MB with protobuf; 1.8 s to import where torch is installed, which it loads (ours: 11 ms); 1.0 ms for a step of ten
scalars (ours: 0.06 ms); a training that waits for ever once the disk is full, since its writing thread has ended; and
one file for two runs that begin in the same second, of which the first is lost. The tests read our files by its schema.
"""

from __future__ import annotations

import math
import os
import socket
import struct
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ..errors import InputError
from ..workers import Throttle

if TYPE_CHECKING:
    from ..methods.observe import Moment

_SCORE_SECONDS = 2.0
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class EventWriter:
    """Appends scalars to a new event file in a folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        name = f"events.out.tfevents.{time.time():.6f}.{socket.gethostname() or 'localhost'}.{os.getpid()}"
        self.path = self.folder / name
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = open(self.path, "xb")  # noqa: SIM115
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise InputError(
                f"cannot write TensorBoard files to {str(folder)!r}: {reason}; give --tensorboard another folder"
            ) from error
        self._write(_field(3, _BYTES, b"brain.Event:2"))

    def add(self, step: int, values: Mapping[str, float]) -> None:
        """Write scalars by tag for a step; what is not a number is left out."""
        summary = b""
        for tag, value in values.items():
            if math.isfinite(value):
                number = _field(2, _FIXED32, struct.pack("<f", value))
                summary += _field(1, _BYTES, _field(1, _BYTES, tag.encode()) + number)
        if summary:
            self._write(_field(2, _VARINT, _varint(step)) + _field(5, _BYTES, summary))

    def _write(self, event: bytes) -> None:
        data = _field(1, _FIXED64, struct.pack("<d", time.time())) + event
        length = struct.pack("<Q", len(data))
        self._file.write(length + _masked_crc(length) + data + _masked_crc(data))
        self._file.flush()  # TensorBoard reads while we write

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class EventLog:
    """Watches a training and writes loss, speed and radius after every few epochs, and scores every few seconds.

    Illness is the share of ranked pairs, so that runs of different size, sampled or not, can be compared.
    """

    def __init__(self, folder: str | os.PathLike[str], seconds: float = _SCORE_SECONDS) -> None:
        self.writer = EventWriter(folder)
        self.throttle = Throttle(seconds)

    def pause_every(self, epochs: int) -> int:
        """A curve of a hundred points at least."""
        return max(1, epochs // 100)

    def see(self, moment: Moment) -> None:
        """Write what the last epochs did."""
        values = {"radius/largest": moment.max_radius}
        if moment.run.loss is not None:
            values["loss"] = moment.run.loss
        if moment.pairs_per_second is not None:
            values["speed/pairs_per_second"] = moment.pairs_per_second
        if self.throttle.is_due():
            began = time.monotonic()
            values |= _scores(moment)
            self.throttle.worked(began)
        self.writer.add(moment.run.epoch, values)

    def finish(self, moment: Moment) -> None:
        """Write the scores of the last epoch."""
        self.writer.add(moment.run.epoch, {"radius/largest": moment.max_radius} | _scores(moment))

    def close(self) -> None:
        """Close the file."""
        self.writer.close()


def _scores(moment: Moment) -> dict[str, float]:
    scores = moment.scores
    pairs = max(scores.ranking.ranks.size, 1)
    shares = {f"illness/{kind}": count / pairs for kind, count in scores.illness.counts().items()}
    return {
        "scores/map": scores.map,
        "scores/mean_rank": scores.mean_rank,
        "scores/hits_at_1": scores.hits_at_1,
        "illness/all": sum(shares.values()),
        **shares,
    }


def _field(number: int, kind: int, content: bytes) -> bytes:
    """One field of a protocol buffer: its key, its length if it has a variable one, its content."""
    length = _varint(len(content)) if kind == _BYTES else b""
    return _varint(number << 3 | kind) + length + content


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; the high bit says that more follow."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _crc_table() -> list[int]:
    """CRC-32C (Castagnoli) of every byte, bits reversed."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def _masked_crc(data: bytes) -> bytes:
    """CRC-32C, rotated and shifted: a CRC of data that holds CRCs would be weak."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
