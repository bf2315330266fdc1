"""Numbers and names as short text: integers of few bytes, bytes of equal weight side by side, deflate, base64."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LEVEL = 6
_SHOWN_BITS = 11  # low bits of a float32 that nobody reads: what is left tells 1 part in 8,000


def packed(raw: bytes) -> str:
    """Deflated bytes in base64: letters, digits, + / and =, none of which means anything to HTML."""
    return base64.b64encode(zlib.compress(raw, _LEVEL)).decode("ascii")


def varints(values: ArrayLike) -> bytes:
    """Unsigned integers, seven bits to a byte, the lowest first; a set high bit says that more follow."""
    rest = np.asarray(values, np.uint64).ravel()
    size = np.ones(rest.size, np.int64)
    for bits in range(7, 64, 7):
        size += (rest >> np.uint64(bits)) > 0
    begin = np.cumsum(size) - size
    out = np.zeros(int(size.sum()), np.uint8)
    for step in range(int(size.max(initial=0))):
        there = size > step
        low = (rest[there] >> np.uint64(7 * step)).astype(np.uint8) & np.uint8(0x7F)
        out[begin[there] + step] = low | np.where(size[there] > step + 1, np.uint8(0x80), np.uint8(0))
    return out.tobytes()


def signed_varints(values: ArrayLike) -> bytes:
    """Integers of either sign, small ones short: 0, -1, 1, -2, ... become 0, 1, 2, 3, ..."""
    numbers = np.asarray(values, np.int64).ravel()
    return varints(((numbers << 1) ^ (numbers >> 63)).view(np.uint64))


def float_planes(values: ArrayLike, kind: type[np.float32] | type[np.float64]) -> bytes:
    """Floats with all first bytes together, then all second bytes, ...: alike bytes compress."""
    array = np.ascontiguousarray(values, np.dtype(kind).newbyteorder("<")).ravel()
    return np.ascontiguousarray(array.view(np.uint8).reshape(array.size, -1).T).tobytes()


def for_reading(values: ArrayLike) -> NDArray[np.float32]:
    """float32 numbers rounded to what is shown of them, four digits; the zeros left behind compress."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    half, mask = np.uint32(1 << (_SHOWN_BITS - 1)), np.uint32(~((1 << _SHOWN_BITS) - 1) & 0xFFFFFFFF)
    rounded = np.where(np.isfinite(bits.view(np.float32)), (bits + half) & mask, bits)
    return np.asarray(rounded.astype(np.uint32).view(np.float32))


def lines(names: Iterable[str]) -> bytes:
    """Names as UTF-8, one on a line; a line break inside a name is shown by its symbol."""
    text = "\n".join(name.replace("\r\n", "␊").replace("\n", "␊").replace("\r", "␊") for name in names)
    return text.encode("utf-8", "replace")
