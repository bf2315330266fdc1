"""Draw the shipped mammals in the Poincare disk:  python docs/images/make_mammals.py

2-d, method poincare, objective ancestors, seed 0, 500 epochs, deterministic. Edges are geodesics, so arcs of circles;
colour is the branch below the placental mammals.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import treeball

SIZE, RADIUS = 760, 370
PALETTE = ["#0072b2", "#009e73", "#e69f00", "#56b4e9", "#cc79a7", "#8d6e63", "#7f7f7f"]
LABELLED = 14


def geodesic(a: np.ndarray, b: np.ndarray) -> str:
    """SVG path of the geodesic from a to b: an arc of the circle through both that is orthogonal to the rim."""
    start, end = place(a), place(b)
    cross = a[0] * b[1] - a[1] * b[0]
    if abs(cross) < 1e-4:
        return f"M{start}L{end}"
    # Centre c of that circle: 2<a,c> = 1+|a|^2 and 2<b,c> = 1+|b|^2.
    centre = np.linalg.solve(2 * np.array([a, b]), 1 + np.array([a @ a, b @ b]))
    radius = np.sqrt(centre @ centre - 1) * RADIUS
    return f"M{start}A{radius:.1f} {radius:.1f} 0 0 {int(cross < 0)} {end}"


def place(point: np.ndarray) -> str:
    x, y = SIZE / 2 + RADIUS * point
    return f"{x:.1f} {y:.1f}"


def main() -> None:
    embedding = treeball.fit(
        "example:mammals", method="poincare", dim=2, objective="ancestors", epochs=500, seed=0, deterministic=True
    )
    hierarchy, points = embedding.hierarchy, embedding.vectors
    result = embedding.evaluate()
    parent = hierarchy.primary_parent
    branch = branches(hierarchy)
    size = np.ones(hierarchy.n_nodes, int)
    for code in hierarchy.topological_order[::-1]:
        if parent[code] >= 0:
            size[parent[code]] += size[code]

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" font-family="sans-serif">',
        f'<rect width="{SIZE}" height="{SIZE}" fill="#ffffff"/>',
        f'<circle cx="{SIZE / 2}" cy="{SIZE / 2}" r="{RADIUS}" fill="#fafafa" stroke="#c8c8c8"/>',
    ]
    for code in np.flatnonzero(parent >= 0):
        colour = PALETTE[branch[code]]
        width = 0.5 + 0.35 * np.log(size[code])
        path = geodesic(points[code], points[parent[code]])
        lines.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width:.2f}" opacity=".8"/>')
    for code in range(hierarchy.n_nodes):
        left, top = place(points[code]).split()
        lines.append(f'<circle cx="{left}" cy="{top}" r="{0.9 + 0.45 * np.log(size[code]):.1f}" fill="#222"/>')
    taken: list[tuple[float, float]] = []
    for code in np.argsort(-size):
        x, y = (float(value) for value in place(points[code]).split())
        if len(taken) < LABELLED and all(abs(x - a) > 90 or abs(y - b) > 16 for a, b in taken):
            taken.append((x, y))
            label = str(hierarchy.names[int(code)]).split(".")[0].replace("_", " ")
            anchor, shift = ("end", -6) if x > 0.8 * SIZE else ("start", 6)
            for style in ('stroke="#fff" stroke-width="3"', 'fill="#111"'):
                at = f'x="{x + shift:.0f}" y="{y - 6:.0f}" text-anchor="{anchor}"'
                lines.append(f'<text {at} font-size="13" {style}>{label}</text>')
    lines.append("</svg>")
    target = Path(__file__).with_name("mammals.svg")
    target.write_text("\n".join(lines))
    print(f"{target}: MAP {result.map:.3f} for the objective {result.objective}")


def branches(hierarchy: treeball.Hierarchy) -> np.ndarray:
    """Number of the large branch each node belongs to, the last number for none."""
    root = hierarchy.names.index_of("placental.n.01")
    children = hierarchy.children_of(root)
    extent = hierarchy.interval_out - hierarchy.interval_in
    large = sorted(children, key=lambda code: -extent[code])[: len(PALETTE) - 1]
    branch = np.full(hierarchy.n_nodes, len(PALETTE) - 1)
    for number, top in enumerate(large):
        inside = (hierarchy.interval_in >= hierarchy.interval_in[top]) & (
            hierarchy.interval_in < hierarchy.interval_out[top]
        )
        branch[inside] = number
    return branch


if __name__ == "__main__":
    main()
