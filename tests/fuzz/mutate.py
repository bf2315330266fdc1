"""A byte mutator: changes a valid input in a few places, in ways that parsers are known to stumble over."""

from __future__ import annotations

import bz2
import gzip
import re
from collections.abc import Callable, Sequence
from random import Random

import pyarrow as pa

__all__ = ["compressed", "mutated"]

# Texts that mean something to one of the formats.
_TOKENS = (
    b"\0", b"\n", b"\r", b"\r\n", b"\t", b",", b";", b"|", b" > ", b"/", b'"', b'""', b"'", b"\\", b'\\"', b"#", b"# ",
    b"<!--", b"-->", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"<", b">", b"&", b"*", b"&a ", b"*a", b"- ", b": ",
    b"[", b"]", b"{", b"}", b"(", b")", b"[&R]", b"@", b"@context", b'"@context":[[{}]]', b"null", b"NaN", b"-Infinity",
    b"1e999", b"true", b"id", b"parent", b"children", b"is_a: ", b"[Term]\n", b"%", b"%2e", b"\xef\xbb\xbf",
    b"\x1b[31m", b"\xff\xfe", "é".encode(), "\u202e".encode(), b"\xed\xa0\x80", b"PAR1", b"ARROW1", b"PK\x03\x04",
    b"file:///etc/hostname",
)  # fmt: skip
_NUMBERS = (b"0", b"-1", b"1", b"2147483648", b"-9223372036854775809", b"1e308", b"1e-320", b"1e400", b"nan", b"0x10")
_WORDS = tuple(
    value.to_bytes(size, "little", signed=True)
    for size in (1, 2, 4, 8)
    for value in (0, 1, -1, 1 << (8 * size - 2), -(1 << (8 * size - 1)), (1 << (8 * size - 1)) - 1)
)
# How long a repetition may become: mostly short, sometimes as long as a large file.
_LENGTHS = (64, 64, 512, 512, 4_096, 65_536)
_LONGEST = 2_000_000


def mutated(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """`data` after some changes; parts of `others`, valid inputs of any format, may get into it."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        data = rng.choice(_CHANGES)(data, others, rng)[:_LONGEST]
    return data


def compressed(data: bytes, rng: Random) -> bytes:
    """`data` in one of the codecs; now and then many times over, which the codecs allow and which is still small."""
    codec = rng.choice(("gzip", "bz2", "zstd"))
    if codec == "gzip":
        data = gzip.compress(data, mtime=0)
    elif codec == "bz2":
        data = bz2.compress(data)
    else:
        data = bytes(pa.Codec("zstd").compress(data, asbytes=True))
    return data * (_LONGEST // len(data)) if rng.random() < 0.01 else data


def _span(data: bytes, rng: Random, most: int = 64) -> tuple[int, int]:
    start = rng.randint(0, len(data))
    return start, min(len(data), start + rng.randint(0, most))


def _flip(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    if not data:
        return data
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]


def _put_byte(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    place, _end = _span(data, rng)
    return data[:place] + bytes([rng.randrange(256)]) + data[place + rng.randrange(2) :]


def _put_token(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    start, end = _span(data, rng, 4)
    return data[:start] + rng.choice(_TOKENS) + data[rng.choice((start, end)) :]


def _put_word(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    word, place = rng.choice(_WORDS), rng.randint(0, len(data))
    return data[:place] + word + data[place + len(word) :]


def _put_number(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    found = list(re.finditer(rb"\d+(?:\.\d+)?", data[:100_000]))
    if not found:
        return data
    one = rng.choice(found)
    return data[: one.start()] + rng.choice(_NUMBERS) + data[one.end() :]


def _drop(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _cut(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def _repeat(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    start, end = _span(data, rng, rng.choice((1, 2, 8, 64)))
    if start == end:
        return data
    length = _LONGEST if rng.random() < 0.002 else rng.choice(_LENGTHS)
    return data[:start] + data[start:end] * max(2, rng.randint(1, length) // (end - start)) + data[end:]


def _repeat_token(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    token, place = rng.choice(_TOKENS), rng.choice((0, rng.randint(0, len(data))))
    return data[:place] + token * max(1, rng.randint(1, rng.choice(_LENGTHS)) // len(token)) + data[place:]


def _splice(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    other = rng.choice(others)
    start, end = _span(other, rng, 400)
    place = rng.randint(0, len(data))
    return data[:place] + other[start:end] + data[place:]


def _shuffle_lines(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    lines = data.split(b"\n")
    rng.shuffle(lines)
    return b"\n".join(lines)


def _number_lines(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    """A line many times over, each time with another number in it: many names instead of one."""
    lines = data.split(b"\n")
    line = rng.choice(lines)
    times = min(rng.randint(1, rng.choice((10, 100, 2_000))), 1 + _LONGEST // (1 + len(line)))
    some = (b"%s%d" % (line, number) for number in range(times))
    return b"\n".join([*lines, *some])


_CHANGES: tuple[Callable[[bytes, Sequence[bytes], Random], bytes], ...] = (
    _flip, _flip, _put_byte, _put_token, _put_token, _put_word, _put_number, _drop, _drop, _cut, _repeat, _repeat,
    _repeat_token, _splice, _shuffle_lines, _number_lines,
)  # fmt: skip
