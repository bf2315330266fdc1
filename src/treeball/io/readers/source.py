"""Where bytes come from: a path, standard input, an open file or bytes; decompressed, hashed, decoded."""

from __future__ import annotations

import bz2
import hashlib
import io
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...errors import InputError
from ...hierarchy.repairs import RepairGroup, RepairKind
from ...words import count
from ..memory import all_of, require_room, text_size
from .hints import setting
from .workbook import is_workbook, sheet_as_csv

_CODECS = {
    "gzip": re.compile(rb"\x1f\x8b\x08"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
    "bz2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)"),
}
_FIRST_FED = 256  # bytes that a bzip2 stream gets at first; then twice as many each time
_UNPACKED_AT_ONCE = 1 << 22  # bytes
_FOREIGN = {
    b"PK\x03\x04": "a zip archive: unpack it and give the file inside",
    b"\xfd7zXZ": "an xz archive: unpack it, or compress with gzip or zstd",
    b"%PDF": "a PDF document: export its table as CSV",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"SQLite format 3": "an SQLite database: export the table as CSV",
    b"\x80\x04\x95": "a Python pickle, which is never loaded: save the data as CSV or Parquet",
    b"\x80\x05\x95": "a Python pickle, which is never loaded: save the data as CSV or Parquet",
    b"\x89HDF": "an HDF5 file: export the table as CSV or Parquet",
}
_BYTE_ORDER_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_BINARY_CONTAINERS = (b"PAR1", b"ARROW1")
_XML_ENCODING = re.compile(rb"""(<\?xml\s[^>]{0,100}?encoding\s*=\s*["'])([A-Za-z0-9._\-]+)""")
_OBO_STANZA = re.compile(rb"(?m)^\[Term\]\s*$")
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?+\s*+(?:\{\s*+\"|\[\s*+[\[{\"])")
_BANNER = re.compile(
    rb"(?:[ \t]*+[\r\n]++|#[^\r\n]*+(?:[\r\n]++|\Z)|<!--(?:[^\-]|-(?!->))*+-->|<\?(?:[^?]|\?(?!>))*+\?>)*+"
)
_TEXT_CONTROLS = frozenset(b"\t\n\r\x0b\x0c\x1b\x1c\x1d\x1e\x1f\x85")


@dataclass(frozen=True)
class Source:
    """Bytes of one input.

    Attributes
    ----------
    label
        How messages call the input: its path, ``standard input`` or ``bytes``.
    path
        Its path, where it has one.
    data
        Its content, decompressed.
    sha256
        Hash of the raw bytes as they were stored.
    notes, repairs
        What was done to get at the text, for the report.
    """

    label: str
    path: Path | None
    data: bytes
    sha256: str
    notes: tuple[str, ...] = ()
    repairs: tuple[RepairGroup, ...] = ()

    @property
    def is_container(self) -> bool:
        """Whether the content is Parquet or an Arrow file rather than text."""
        return _is_container(self.data)

    @cached_property
    def sample_text(self) -> str:
        """First 256 kB after the comments at the top, decoded leniently, for sniffing.

        It is more where lines are longer, since tables are told by their lines; JSON, often one line, by how it opens.
        """
        banner = _BANNER.match(self.data)
        start = banner.end() if banner and banner.end() < len(self.data) else 0
        size = 1 << 18
        longest = size if _JSON.match(self.data, start) else 1 << 24
        while size < min(len(self.data), longest) and self.data.count(b"\n", start, start + size) < 5:
            size *= 8
        return self.data[: start + size].decode("utf-8", "replace")

    @property
    def text(self) -> str:
        """The content as text."""
        require_room(text_size(self.data))
        return self.data.decode("utf-8")


def open_source(given: Any, encoding: str = "auto", sheet: str = "auto") -> Source:
    """Read ``given`` (path, ``"-"``, bytes or an open file), decompress it and decode text to UTF-8.

    A ``sheet`` of a workbook becomes CSV.
    """
    label, path, raw = _raw_bytes(given)
    if not raw:
        raise InputError(f"{label} is empty: a hierarchy needs at least one line with a child and its parent")
    digest = hashlib.sha256(raw).hexdigest()
    if is_workbook(raw):
        data, said = sheet_as_csv(raw, label, sheet)
        chosen = RepairGroup.of_lines(RepairKind.SHEETS_CHOSEN, [None] * len(said), said)
        return Source(label, path, data, digest, tuple(said), (chosen,))
    if sheet != "auto":
        raise InputError(f"{label} is no workbook, so it has no sheet {sheet!r}: leave the sheet out")
    data = _decompress(raw, label)
    del raw
    if _is_container(data):
        return Source(label, path, data, digest)
    notes: list[str] = []
    repairs: list[RepairGroup] = []
    data = _as_utf8(data, label, encoding, notes, repairs)
    if not data.strip():
        raise InputError(f"{label} is empty: a hierarchy needs at least one line with a child and its parent")
    return Source(label, path, data, digest, tuple(notes), tuple(repairs))


def _is_container(data: bytes) -> bool:
    # A name such as PAR1 may begin a text file; in Parquet and Arrow files the byte after the mark is no text.
    mark = next((mark for mark in _BINARY_CONTAINERS if data.startswith(mark)), None)
    if mark is None:
        return False
    after = data[len(mark) : len(mark) + 1]
    return not after or (after[0] < 32 and after not in (b"\t", b"\n", b"\r"))


def _raw_bytes(given: Any) -> tuple[str, Path | None, bytes]:
    if isinstance(given, (bytes, bytearray, memoryview)):
        return "bytes", None, bytes(given)
    if hasattr(given, "read"):
        label = str(getattr(given, "name", type(given).__name__))
        content = given.read()
        return label, None, content.encode("utf-8", "surrogatepass") if isinstance(content, str) else bytes(content)
    if given == "-":
        return "standard input", None, all_of(sys.stdin.buffer)
    path = Path(given)
    try:
        with open(path, "rb", buffering=0) as file:
            return str(given), path, all_of(file)
    except FileNotFoundError:
        raise InputError(f"{given} does not exist: check the path{_similar(path)}") from None
    except IsADirectoryError:
        raise InputError(
            f"{given} is a directory where a file belongs: give a file, a WordNet or taxdump folder, or say "
            f"{setting('format', 'directory')} to read the folders themselves as a hierarchy"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{given!s:.200} cannot be opened: {reason}; check the path and its permissions") from None


def _similar(path: Path) -> str:
    if str(path).startswith(("http:", "https:", "ftp:")):
        return "; addresses are not fetched, download the file first"
    try:
        nearby = os.listdir(path.parent)
    except (OSError, ValueError):
        return ""
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import extractOne

    close = extractOne(path.name, nearby[:10_000], scorer=Indel.normalized_similarity, score_cutoff=0.6)
    return f", or did you mean {path.parent / close[0]}?" if close else ""


def _decompress(raw: bytes, label: str) -> bytes:
    for magic, meaning in _FOREIGN.items():
        if raw.startswith(magic):
            raise InputError(f"{label} is {meaning}")
    codec = next((name for name, magic in _CODECS.items() if magic.match(raw)), None)
    if codec is None:
        return _refuse_archive(raw, label)
    try:
        data = _bunzip2(raw) if codec == "bz2" else _unpacked(raw, codec)
    except (OSError, ValueError, EOFError) as error:
        if "truncated" in str(error).lower():
            raise InputError(f"{label} is a truncated {codec} file: copy or download it again") from None
        raise InputError(f"{label} is a damaged {codec} file: copy or download it again") from None
    return _refuse_archive(data, label)


def _unpacked(raw: bytes, codec: str) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(raw), codec) as stream:
        return all_of(stream)


def _bunzip2(raw: bytes) -> bytes:
    """Content of bzip2 streams that follow one another. Arrow fails when one of them is empty."""
    whole = io.BytesIO()
    for piece in _bunzip2_pieces(memoryview(raw)):
        whole.write(piece)
        require_room()
    return whole.getvalue()


def _bunzip2_pieces(raw: memoryview) -> Iterator[bytes]:
    """Pieces of the content. A stream is fed little at first: a decompressor copies all bytes behind its stream."""
    position = 0
    while position < len(raw):
        stream, size = bz2.BZ2Decompressor(), _FIRST_FED
        while not stream.eof:
            fed = raw[position : position + size] if stream.needs_input else raw[:0]
            if stream.needs_input and not fed:
                raise EOFError("truncated")
            position, size = position + len(fed), 2 * size
            yield stream.decompress(fed, _UNPACKED_AT_ONCE)
        position -= len(stream.unused_data)


def _refuse_archive(data: bytes, label: str) -> bytes:
    if data[257:262] == b"ustar":
        raise InputError(f"{label} is a tar archive: unpack it and give the file or folder inside")
    return data


def _as_utf8(data: bytes, label: str, encoding: str, notes: list[str], repairs: list[RepairGroup]) -> bytes:
    """The text as UTF-8 without a byte order mark; refuses binary content and encodings that nothing names."""
    if encoding != "auto":
        return _transcode(data, label, encoding)
    for mark, name in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            if name != "utf-8-sig":
                chosen = f"its byte order mark says {name}"
                repairs.append(RepairGroup.of_lines(RepairKind.ENCODINGS_CHOSEN, [None], chosen))
            return _transcode(data, label, name)
    if b"\0" in data:
        offset = data.index(b"\0")
        if _looks_like_utf16(data):
            raise InputError(
                f"{label} seems to be UTF-16 without a byte order mark (byte {offset} is zero): say "
                f"{setting('encoding', 'utf-16-le')}"
            )
        raise InputError(f"{label} is a binary file (byte {offset} is zero): give text, Parquet or an Arrow file")
    if data.isascii():
        if _share_of_controls(data[:65_536]) > 0.1:
            raise InputError(f"{label} is a binary file: give text, Parquet or an Arrow file")
        return data
    declared = _XML_ENCODING.match(data)
    if declared is not None and declared.group(2).lower() not in (b"utf-8", b"utf8", b"us-ascii", b"ascii"):
        name = declared.group(2).decode("ascii")
        text = _transcode(data, label, name)
        notes.append(f"read as {name}, the encoding that its first line names")
        repairs.append(RepairGroup.of_lines(RepairKind.ENCODINGS_CHOSEN, [1], f"the first line says {name}"))
        return declared.group(1) + b"UTF-8" + text[declared.end(2) :]
    require_room(text_size(data))
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if _OBO_STANZA.search(data):
            return _mixed_lines(data, notes, repairs)
        if _share_of_controls(data[:65_536]) > 0.02:
            raise InputError(
                f"{label} is a binary file (byte {error.start} is not text): give text, Parquet or an Arrow file"
            ) from None
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{label}, line {line}: byte {error.start} (0x{data[error.start]:02x}) is not UTF-8; save the file as "
            f"UTF-8 or name its encoding, for instance {setting('encoding', 'cp1252')}"
        ) from None
    return data


def _mixed_lines(data: bytes, notes: list[str], repairs: list[RepairGroup]) -> bytes:
    """OBO, where a comment in another encoding is no reason to refuse: lines that are not UTF-8 are read as Latin-1."""
    lines, other = data.split(b"\n"), []
    for number, line in enumerate(lines):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            lines[number] = line.decode("latin-1").encode("utf-8")
            other.append(number + 1)
    notes.append(f"{count(len(other), 'line')} not in UTF-8 read as Latin-1")
    repairs.append(RepairGroup.of_lines(RepairKind.LATIN_1_LINES, other, "the line is not UTF-8"))
    return b"\n".join(lines)


def _transcode(data: bytes, label: str, encoding: str) -> bytes:
    require_room(4 * len(data))
    try:
        text = data.decode(encoding)
    except LookupError:
        raise InputError(f"encoding={encoding!r} is unknown: try utf-8, utf-16, latin-1 or cp1252") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{label}: byte {error.start} is not {encoding.removesuffix('-sig')}; save the file as UTF-8 or name its "
            f"encoding, for instance {setting('encoding', 'cp1252')}"
        ) from None
    except (ValueError, TypeError, AssertionError):
        raise InputError(f"encoding={encoding!r} is not a text encoding: try utf-8, latin-1 or cp1252") from None
    if not isinstance(text, str):
        raise InputError(f"encoding={encoding!r} is not a text encoding: try utf-8, latin-1 or cp1252")
    if "\0" in text:
        raise InputError(f"{label} is a binary file: give text, Parquet or an Arrow file")
    return text.encode("utf-8", "backslashreplace").removeprefix(b"\xef\xbb\xbf")


def _looks_like_utf16(data: bytes) -> bool:
    head = data[:2000]
    half = max(len(head) // 2, 1)
    return (
        max(head[0::2].count(0), head[1::2].count(0)) > 0.7 * half
        and min(head[0::2].count(0), head[1::2].count(0)) < 0.1 * half
    )


def _share_of_controls(head: bytes) -> float:
    controls = sum(head.count(code) for code in range(32) if code not in _TEXT_CONTROLS)
    return controls / max(len(head), 1)
