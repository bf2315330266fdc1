"""Distance to the k-th nearest node, for a k of each node's own: what local capacity asks for."""

from __future__ import annotations

import numpy as np

from .compiler import compiled
from .rank import WIDTH, block_keys


@compiled
def kth_nearest(vectors, blocks, factors, sources, k, found):
    """Find, for every source, the key of its k-th nearest other node.

    Parameters
    ----------
    vectors : float64 (n, d); blocks, factors : see `rank.to_blocks`
    sources : int64 (m,)
    k : int64 (m,), each from 1 to n-1
    found : float64 (m,), out: keys, which order like distances (see `rank`)
    """
    n = vectors.shape[0]
    keys = np.empty(blocks.shape[0] * WIDTH)
    for i in range(sources.size):
        for b in range(blocks.shape[0]):
            block_keys(blocks[b], factors[b], vectors[sources[i]], keys[b * WIDTH : (b + 1) * WIDTH])
        keys[sources[i]] = -1.0
        found[i] = np.partition(keys[:n], k[i])[k[i]]
