"""Workbooks (xlsx, xlsm, xlsb, xls, ods): one sheet of them as CSV, which then is read like any other."""

from __future__ import annotations

import csv
import datetime
import io
import re
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

from ...errors import InputError, MissingExtraError
from ...hierarchy.read_report import listed
from ..memory import require_room
from .hints import setting

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = b"PK\x03\x04"
_PIECE = 1 << 20
_COPIES = 2
_BYTES_PER_CELL = 64
_CELL = re.compile(rb"""\br=["']([A-Z]{1,3})([0-9]{1,7})["']""")
_REPEATED = re.compile(rb"""number-(rows|columns)-repeated=["']([0-9]{1,9})["']""")


def is_workbook(raw: bytes) -> bool:
    """Whether the bytes are a workbook, rather than any other zip archive."""
    if raw.startswith(_OLE):
        return True
    if not raw.startswith(_ZIP):
        return False
    try:
        names = zipfile.ZipFile(io.BytesIO(raw)).namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False
    return any(name.startswith("xl/workbook") for name in names) or ("content.xml" in names and "mimetype" in names)


def sheet_as_csv(raw: bytes, label: str, wanted: str) -> tuple[bytes, list[str]]:
    """The sheet as CSV in UTF-8, rows on the lines that they have in the sheet, and what to say of it."""
    try:
        import python_calamine
    except ImportError:
        raise MissingExtraError("python-calamine", "formats", "reading a workbook") from None
    _require_room_for_sheets(raw, label)
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(raw))
        names = list(book.sheet_names)
        sheets = [book.get_sheet_by_index(place) for place in range(len(names))]
        filled = [place for place, sheet in enumerate(sheets) if sheet.start is not None]
        chosen = _choose(names, filled, label, wanted)
        rows = sheets[chosen].to_python(skip_empty_area=True)
        start = sheets[chosen].start
    except InputError:
        raise
    except Exception as error:  # damaged workbooks raise many kinds
        reason = " ".join(str(error).split())[:100]
        raise InputError(f"{label} is a damaged workbook ({reason}): save it again, or save the sheet as CSV") from None
    except BaseException as error:
        # A panic of the parser is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise InputError(f"{label} is a damaged workbook: save it again, or save the sheet as CSV") from None
    data = _csv([[_text(cell) for cell in row] for row in rows], start[0] if start else 0)
    notes = []
    if len(filled) > 1:
        others = [names[place] for place in filled if place != chosen]
        more = f"{setting('sheet', repr(others[0]))} reads another ({listed(others, len(others), 4)})"
        notes.append(f"sheet {names[chosen]!r} was read, one of {len(filled)}; {more}")
    return data, notes


def _csv(rows: list[list[str]], blank: int) -> bytes:
    """Rows as CSV below ``blank`` blank lines.

    A cell that begins with ``#`` gets quotes, since it is no comment. Only a remark above the table is one: a row at
    the top with nothing besides.
    """
    out = io.StringIO()
    out.write("\n" * blank)
    is_remark = [any(row) and row[0].startswith("#") and not any(row[1:]) for row in rows]
    top = next((place for place, row in enumerate(rows) if any(row) and not is_remark[place]), 0)
    for place, row in enumerate(rows):
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(row if any(row) else ())
        text = line.getvalue()
        if text.startswith("#") and place >= top:
            text = f'"{row[0]}"{text[len(row[0]) :]}'
        out.write(text)
    return out.getvalue().encode("utf-8", "backslashreplace")


def _choose(names: Sequence[str], filled: Sequence[int], label: str, wanted: str) -> int:
    if not filled:
        raise InputError(
            f"{label} is an empty workbook: a hierarchy needs at least one row with a child and its parent"
        )
    if wanted == "auto":
        return filled[0]
    if wanted in names:
        return names.index(wanted)
    if wanted.isascii() and wanted.isdigit() and 1 <= int(wanted) <= len(names):
        return int(wanted) - 1
    raise InputError(f"{label} has no sheet {wanted!r}: choose from {listed(names, len(names))}, or a number from 1")


def _text(cell: Any) -> str:
    """A cell as one would type it: whole numbers without a decimal point, dates as 2024-12-31."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    if isinstance(cell, (datetime.date, datetime.time)):
        return cell.isoformat()
    return str(cell)


def _require_room_for_sheets(raw: bytes, label: str) -> None:
    """Refuse a workbook whose parts, or whose sheets as rectangles of cells, are larger than the budget of memory.

    What an archive says of its own size is not believed. A sheet is held with all cells between its corners, so two
    cells are enough to make one of billions.
    """
    if not raw.startswith(_ZIP):
        return
    unpacked, largest = 0, 0
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            for entry in archive.infolist():
                extent = _Extent()
                with archive.open(entry) as part:
                    while piece := part.read(_PIECE):
                        unpacked += len(piece)
                        require_room(_COPIES * unpacked)
                        extent.take(piece)
                largest = max(largest, extent.cells())
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:100]
        raise InputError(f"{label} is a damaged workbook ({reason}): save it again, or save the sheet as CSV") from None
    require_room(_BYTES_PER_CELL * largest)


class _Extent:
    """How far the cells of a sheet reach, as its text is seen piece by piece."""

    def __init__(self) -> None:
        self._columns: set[bytes] = set()
        self._rows: set[int] = set()
        self._repeated = {b"rows": 1, b"columns": 1}
        self._rest = b""

    def take(self, piece: bytes) -> None:
        """Look at the next piece of the text, and at the end of the one before."""
        text = self._rest + piece
        found = _CELL.findall(text)
        self._columns.update(column for column, _ in found)
        rows = [int(row) for _, row in found]
        self._rows.update((min(rows), max(rows)) if rows else ())
        for kind, number in _REPEATED.findall(text):
            self._repeated[kind] = max(self._repeated[kind], int(number))
        self._rest = text[-100:]

    def cells(self) -> int:
        """Cells of the rectangle that holds them all."""
        columns = [_number_of(column) for column in self._columns]
        across = max(columns) - min(columns) + 1 if columns else self._repeated[b"columns"]
        down = max(self._rows) - min(self._rows) + 1 if self._rows else self._repeated[b"rows"]
        return across * down


def _number_of(column: bytes) -> int:
    """``A`` -> 1, ``AA`` -> 27."""
    number = 0
    for letter in column:
        number = 26 * number + letter - 64
    return number
