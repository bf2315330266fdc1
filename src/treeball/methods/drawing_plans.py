"""Plans of drawings to scale: what fixes one, and which are tried."""

from __future__ import annotations

from dataclasses import dataclass

from .centred import CentredTree

__all__ = [
    "EVEN",
    "EVEN_RADII_WHEN_LARGE",
    "LARGEST_HALF",
    "ROOM",
    "Plan",
    "first_plans",
    "largest_radius",
    "plans_of_radius",
]

# All of a plan but its radius.
_Shape = tuple[float, bool, float, bool]

# Farther out than the second the squares of gaps leave float64, whose exponents more terms do not widen. The radius is
# smaller, for edges that are stretched.
LARGEST_RADIUS, ROOM = 330.0, 342.0
# Neighbours are ranked by finite keys where radius and longest edge together are below the first, and where each half
# of an edge on which the centre lies is below the second.
LARGEST_KEY, LARGEST_HALF = 690.0, 230.0
RADII = (LARGEST_RADIUS, 220.0, 120.0, 60.0, 30.0, 15.0)
RADII_WHEN_LARGE = (LARGEST_RADIUS, 120.0, 60.0, 30.0)
# Even directions are found fast, and in large trees the radius at which digits end is what matters.
EVEN: _Shape = (0.0, False, -1.0, False)
EVEN_RADII_WHEN_LARGE = tuple(LARGEST_RADIUS * 0.9**i for i in range(24))
# Spines of tall trees go straight on, and use up no digits.
FIRM: _Shape = (1.0, True, 0.9, True)
STRAIGHT, ACCEPTABLE = (0.2, 0.6, 1.0), (0.8, 0.9, 0.97)


@dataclass(frozen=True)
class Plan:
    """What fixes a drawing.

    Attributes
    ----------
    radius : how far out the node farthest from the centre is
    straight : how much less the main child bends than the others, 0 to 1
    thrifty : whether branches share a coordinate while it has digits
    acceptable : a child looks for a better direction where one of its distances is a smaller part of the path
    firm : whether main children never do while much is below them
    """

    radius: float
    straight: float
    thrifty: bool
    acceptable: float
    firm: bool = False


def largest_radius(tree: CentredTree) -> float:
    """How far out the farthest node of a tree may be."""
    share = tree.length / tree.depth.max()
    half = float(share[tree.parent == tree.order[0]].max()) if tree.nodes < tree.order.size else 0.0
    return min(LARGEST_RADIUS, LARGEST_KEY / (1.0 + float(share.max())), LARGEST_HALF / max(half, 1e-9))


def first_plans(large: bool, largest: float) -> list[Plan]:
    """Plans of every radius and shape."""
    shapes: list[_Shape] = [(0.2, True, 0.9, False), (1.0, True, 0.9, False)]
    found: list[tuple[float, _Shape]]
    if large:
        found = [(radius, shape) for radius in RADII_WHEN_LARGE for shape in shapes]
        found += [(radius, EVEN) for radius in EVEN_RADII_WHEN_LARGE]
    else:
        found = [(radius, shape) for radius in RADII for shape in ((0.0, False, 0.9, False), *shapes, FIRM, EVEN)]
    return [Plan(min(radius, largest), *shape) for radius, shape in found]


def plans_of_radius(radius: float) -> list[Plan]:
    """Plans of one radius, to look closer at it."""
    return [Plan(radius, straight, True, least) for straight in STRAIGHT for least in ACCEPTABLE]
