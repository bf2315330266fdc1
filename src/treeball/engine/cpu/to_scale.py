"""Trees drawn to scale in the half-space: a loop of `methods.distances`.

Points are float64 (terms, n, d), the height last: see `geometry.half_space`.
"""

from __future__ import annotations

import math

import numpy as np

from .compiler import compiled
from .half_space import direction_to, put
from .ratios import distance

# Beyond such a ratio of heights the way back is straight up to the last digit.
STEEP = 1e12
# Ways that are tried for a child: so many angles beside each axis.
ANGLES = 6
# Where so little is below a node that digits need not be saved, it may go any way.
NEARLY_FLAT = 15.0
# The way that the fan proposes is kept where others are hardly better.
BONUS = 0.003
# A coordinate may be so many times as large as a height and has digits left, in 1 to 4 terms.
ENOUGH = np.array([2.0**33, 2.0**86, 2.0**139, 2.0**192])


@compiled
def place(
    order,
    parent,
    child_ptr,
    child_idx,
    length,
    below,
    near,
    far,
    scale,
    fan_ptr,
    fan,
    straight,
    firm,
    thrifty,
    acceptable,
    noise,
    few,
    points,
):
    """Place all nodes of a rooted tree, the first of `order` at the origin.

    The children of a node go away from it, the first of them straight on or nearly so, the others to the sides, each
    along a coordinate of its own as long as there are some: those in which the node is nearest to 0, where float64 has
    the most digits left.

    Parameters
    ----------
    child_ptr, child_idx : CSR of children, the main one first
    length : float64 (n,), of the edge to the parent
    below : float64 (n,), longest way down
    near, far : int32 and float64 (n, k), nodes nearest by path and how far they should be, up to `scale`
    fan_ptr, fan : int64 (m+1,) and float64 (r, d), directions for many children; those for k of them begin at k + 1
    thrifty : whether to go on with a coordinate as long as it has digits, instead of taking the next
    straight : the first child bends by so much less than the others, 0 to 1
    firm : whether a main child with much below it keeps its direction, so that it uses up no digits
    acceptable : a child looks for another direction where the least of its distances over paths is below this
    noise : float64 (attempts, d), small changes to try
    few : of so many children or more, none looks for another way
    points : float64 (terms, n, d), changed in place
    """
    terms, _, dim = points.shape
    scratch = np.empty(2 * terms + 2)
    back, way, normal = np.empty(dim), np.empty(dim), np.empty(dim)
    tried = np.empty(dim)
    placed = np.zeros(order.size, np.bool_)
    placed[order[0]] = True
    points[:, order[0], :] = 0.0
    points[0, order[0], dim - 1] = 1.0
    for rank in range(order.size):
        node = order[rank]
        first, last = child_ptr[node], child_ptr[node + 1]
        if first == last:
            continue
        above = parent[node]
        if above >= 0:
            if not _toward(points, node, above, back):
                back[:] = 0.0
                back[dim - 1] = 1.0
        else:
            # The second branch of the root goes where a parent would be: straight up.
            back[:] = 0.0
            back[dim - 1] = 1.0
            if last - first > 1:
                put(points, node, back, length[child_idx[first + 1]], child_idx[first + 1], scratch)
                placed[child_idx[first + 1]] = True
        count = last - first if above >= 0 else max(1, last - first - 1)
        axes, sign, usable = _free_axes(points, node, back, thrifty)
        for j in range(count):
            child = child_idx[first + j] if above >= 0 or j == 0 else child_idx[first + j + 1]
            _way(j, count, back, axes, sign, straight, fan_ptr, fan, normal, way)
            flat = below[child] < NEARLY_FLAT
            # Of more children than are looked at, some would choose the same way.
            if acceptable > 0.0 and count < few and (j > 0 or flat or not firm):
                _improve(
                    points,
                    node,
                    child,
                    length,
                    child_idx[first:last],
                    near[child],
                    far[child],
                    scale,
                    placed,
                    back,
                    axes[:usable],
                    flat,
                    acceptable,
                    noise,
                    tried,
                    scratch,
                    way,
                )
            put(points, node, way, length[child], child, scratch)
            placed[child] = True


@compiled
def _improve(
    points,
    node,
    child,
    lengths,
    siblings,
    near,
    far,
    scale,
    placed,
    back,
    axes,
    freely,
    acceptable,
    noise,
    tried,
    scratch,
    way,
):
    """Change the `way` of a child to another one if its distances to the nodes nearest by paths are better there.

    Its siblings count as well: they may be farther than all that are near, and would go the same way.
    """
    dim, length = way.size, lengths[child]
    put(points, node, way, length, child, scratch)
    best = _least_ratio(points, child, near, far, scale, placed, lengths, siblings, -1.0) + BONUS
    if best >= acceptable:
        return
    steps = ANGLES if dim > 2 else 6 * ANGLES
    for row in range(len(axes)):
        for side in range(2):
            for step in range(1, steps):
                turn = step * math.pi / steps * (1.0 - 2.0 * side)
                for k in range(dim):
                    tried[k] = -math.cos(turn) * back[k] + math.sin(turn) * axes[row, k]
                put(points, node, tried, length, child, scratch)
                found = _least_ratio(points, child, near, far, scale, placed, lengths, siblings, best)
                if found > best:
                    best = found
                    way[:] = tried
    if not freely:
        return
    for attempt in range(len(noise)):
        size = 0.5 * 0.9**attempt
        norm = 0.0
        for k in range(dim):
            tried[k] = way[k] + size * noise[attempt, dim - 1] * back[k]
        for row in range(len(axes)):
            along = size * noise[attempt, row]
            for k in range(dim):
                tried[k] += along * axes[row, k]
        for k in range(dim):
            norm += tried[k] * tried[k]
        for k in range(dim):
            tried[k] /= math.sqrt(norm)
        put(points, node, tried, length, child, scratch)
        found = _least_ratio(points, child, near, far, scale, placed, lengths, siblings, best)
        if found > best:
            best = found
            way[:] = tried


@compiled
def _least_ratio(points, node, near, far, scale, placed, lengths, siblings, enough):
    """Smallest distance over path from a node to those placed of `near` and of its siblings, or one not `enough`."""
    least = 1.0
    for i in range(near.size):
        other = near[i]
        if other < 0:
            break
        if not placed[other] or other == node:
            continue
        least = min(least, distance(points, node, other) / (scale * far[i]))
        if least <= enough:
            return least
    for other in siblings:
        if not placed[other] or other == node:
            continue
        least = min(least, distance(points, node, other) / (lengths[node] + lengths[other]))
        if least <= enough:
            break
    return least


@compiled
def _toward(points, node, other, out):
    """`direction_to`, straight up to what is so far that float64 would not hold the square of it."""
    last = out.size - 1
    own, far = points[0, node, last], points[0, other, last]
    for k in range(last):
        far = max(far, abs(points[0, other, k] - points[0, node, k]))
    if far < STEEP * own:
        return direction_to(points, node, other, out)
    out[:] = 0.0
    out[last] = 1.0
    return True


@compiled
def _free_axes(points, node, back, thrifty):
    """Axes in the order in which to take them, as rows (d - 1, d) orthogonal to `back`, and signs."""
    dim = back.size
    used = np.empty(dim)
    for k in range(dim - 1):
        used[k] = abs(points[0, node, k])
    enough = ENOUGH[points.shape[0] - 1] * points[0, node, dim - 1]
    if thrifty:
        # What has been used goes on being used while it has digits, so that the others keep theirs.
        for k in range(dim - 1):
            used[k] = -used[k] if used[k] < enough else used[k]
    # The axis nearest to the way back is the one that is left out.
    out = np.argmax(np.abs(back))
    for k in range(dim):
        if k == out:
            used[k] = np.inf
        elif k == dim - 1:
            used[k] = points[0, node, dim - 1]
    order = np.argsort(used)
    usable = 0
    for k in range(dim - 1):
        usable += used[order[k]] < enough
    axes = np.zeros((dim - 1, dim))
    sign = np.ones(dim - 1)
    for row in range(dim - 1):
        axes[row, order[row]] = 1.0
        for k in range(dim):
            axes[row, k] -= back[order[row]] * back[k]
        for other in range(row):
            along = 0.0
            for k in range(dim):
                along += axes[row, k] * axes[other, k]
            for k in range(dim):
                axes[row, k] -= along * axes[other, k]
        size = math.sqrt((axes[row] * axes[row]).sum())
        axes[row] /= size
        if order[row] < dim - 1 and points[0, node, order[row]] > 0.0:
            sign[row] = -1.0
    return axes, sign, max(1, usable)


@compiled
def _way(j, count, back, axes, sign, straight, fan_ptr, fan, normal, way):
    """Direction of child j of `count`."""
    dim = back.size
    if count == 1:
        for k in range(dim):
            way[k] = -back[k]
        return
    sides = count - 1
    if count == 2 or (dim == 2 and count <= 2):
        # Back, main and side in one plane: the main child bends by up to 60 degrees.
        bend = (1.0 - straight) * math.pi / 3.0
        turn = -bend if j == 0 else 0.5 * (math.pi - bend)
        for k in range(dim):
            way[k] = -math.cos(turn) * back[k] + math.sin(turn) * sign[0] * axes[0, k]
        return
    if dim > 2 and count <= dim and straight < 1.0:
        # The corners of a simplex, with the way back; drawn towards the axes as `straight` says.
        cosine = 1.0 / count
        sine = math.sqrt(1.0 - cosine * cosine)
        way[:] = 0.0
        # Corner j of the simplex of `count` corners in count - 1 dimensions.
        left = 1.0
        for i in range(min(j + 1, count - 1)):
            value = left if i == j else -left / (count - 1 - i)
            for k in range(dim):
                way[k] += sine * value * axes[i, k]
            left = math.sqrt(max(0.0, left * left - value * value))
        for k in range(dim):
            way[k] -= cosine * back[k]
        return
    if dim > 2 and sides <= 2 * (dim - 1):
        if j == 0:
            for k in range(dim):
                way[k] = -back[k]
            return
        row, flip = (j - 1) // 2, 1.0 - 2.0 * ((j - 1) % 2)
        for k in range(dim):
            way[k] = flip * sign[row] * axes[row, k]
        return
    # Too many for the axes: a fan whose first direction is the way back.
    begin = fan_ptr[count + 1]
    square, across = 0.0, 0.0
    for k in range(dim):
        normal[k] = fan[begin, k] - back[k]
        square += normal[k] * normal[k]
        across += normal[k] * fan[begin + 1 + j, k]
    factor = 2.0 * across / square if square > 0.0 else 0.0
    for k in range(dim):
        way[k] = fan[begin + 1 + j, k] - factor * normal[k]
