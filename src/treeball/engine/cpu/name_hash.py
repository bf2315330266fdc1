"""Names as numbers: 64 bits that are the same on every machine, and 32 more to tell names apart that share them."""

from __future__ import annotations

import numpy as np

from .compiler import compiled

_OFFSET, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_OTHER, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFF51AFD7ED558CCD)


@compiled
def hash_names(data, ends, missing):
    """Hashes uint64 (n,) and check words uint32 (n,) of the texts `data[ends[i]:ends[i+1]]`; 0 where one is `missing`.

    FNV-1a over the bytes, spread over all 64 bits in the end; empty texts are missing too.
    """
    n = ends.size - 1
    hashes, checks = np.zeros(n, np.uint64), np.zeros(n, np.uint32)
    for i in range(n):
        if missing[i] or ends[i] == ends[i + 1]:
            continue
        h, g = _OFFSET, _OTHER
        for at in range(ends[i], ends[i + 1]):
            byte = np.uint64(data[at])
            h = (h ^ byte) * _PRIME
            g = (g + byte) * _MIX
            g ^= g >> np.uint64(29)
        h ^= h >> np.uint64(33)
        h *= _MIX
        h ^= h >> np.uint64(33)
        hashes[i] = max(h, np.uint64(1))
        checks[i] = np.uint32(g >> np.uint64(32))
    return hashes, checks
