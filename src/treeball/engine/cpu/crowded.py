"""Which children have a sibling nearer than their parent: the condition of local capacity, child by child."""

from __future__ import annotations

from .compiler import compiled
from .negatives import among


@compiled
def crowded_children(vectors, rim, children, parents, child_ptr, child_idx, parent_ptr, parent_idx, crowded):
    """Say of each pair of child and parent whether a sibling is at least as near to the child as the parent is.

    Parameters
    ----------
    vectors : float64 (n, d), points of the ball
    rim : float64 (n,), their 1 - |x|^2
    children, parents : int64 (m,)
    child_ptr, child_idx, parent_ptr, parent_idx : CSR of the children and the parents of every node
    crowded : bool (m,), out
    """
    for i in range(children.size):
        child, parent = children[i], parents[i]
        own = vectors[child]
        reach = _key(own, vectors[parent], rim[parent])
        crowded[i] = False
        for j in range(child_ptr[parent], child_ptr[parent + 1]):
            sibling = child_idx[j]
            if sibling == child or _key(own, vectors[sibling], rim[sibling]) > reach:
                continue
            # In a DAG a sibling may be a parent as well, and has a right to be near.
            if not among(sibling, parent_idx, parent_ptr[child], parent_ptr[child + 1]):
                crowded[i] = True
                break


@compiled
def _key(u, v, rim):
    """|u-v|^2 / (1-|v|^2), which orders like the distance from u."""
    gap2 = 0.0
    for k in range(u.size):
        gap2 += (u[k] - v[k]) * (u[k] - v[k])
    return gap2 / rim
