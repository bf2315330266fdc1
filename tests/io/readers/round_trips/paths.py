"""Writers of paths from the top down: breadcrumbs, levels, outlines, folders."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from .graphs import Graph, random_graph
from .tables import one_line, random_delimited, random_separator, with_noise
from .written import SOURCE, Facts, Format, Written

_LIKE_BULLETS = tuple("-*+•◦▪‣│├└─┬╰╭#")
_LEVEL_NULLS = ("null", "none", "nan", "n/a", "<na>")


def _stepped(
    random: Random, fits: Callable[[str], bool], shape: str = "", lonely: bool = True
) -> tuple[Graph, dict[str, str]]:
    """A forest, and the step of each node: its name, or at times that of a node elsewhere."""
    graph = random_graph(random, shape or random.choice(["tree", "forest"]), fits, lonely=lonely)  # type: ignore[arg-type]
    step = {name: name for name in graph.parents}
    plain = [name for name in step if name.replace(" ", "").isalnum()]
    if plain and random.random() < 0.3:
        for node in random.sample(list(step), len(step) // 3):
            siblings = graph.children[graph.parents[node][0]] if graph.parents[node] else graph.roots
            other = random.choice(plain)
            if other not in {step[one] for one in siblings} and other not in graph.paths[node]:
                step[node] = other
    return graph, step


def _path_facts(graph: Graph, step: Mapping[str, str], mark: str) -> Facts:
    """Every node is named by its path."""
    name = {node: mark.join(step[one] for one in path) for node, path in graph.paths.items()}
    return Facts(frozenset(name.values()), frozenset((name[low], name[high]) for low, high in graph.edges))


def label_facts(graph: Graph, step: Mapping[str, str]) -> Facts:
    """A node is named by its step, or by its path if another node has the same step."""
    uses = Counter(step.values())
    name = {
        node: step[node] if uses[step[node]] == 1 else " > ".join(step[one] for one in path)
        for node, path in graph.paths.items()
    }
    return Facts(frozenset(name.values()), frozenset((name[low], name[high]) for low, high in graph.edges))


def _chosen_paths(random: Random, graph: Graph) -> list[tuple[str, ...]]:
    """Paths of all nodes, or only of those without children, maybe in another order."""
    paths = [path for node, path in graph.paths.items() if random.random() < 0.3 or not graph.children[node]]
    if random.random() < 0.5:
        paths = list(graph.paths.values())
    if random.random() < 0.3:
        random.shuffle(paths)
    return paths


def _fits_path(mark: str) -> Callable[[str], bool]:
    return lambda name: one_line(name) and "\t" not in name and mark.strip() not in name


def breadcrumbs(random: Random) -> Written:
    """One path a line."""
    mark = random.choice([" > ", " > ", " > ", ">", " >> ", " -> ", " => ", " » ", " → ", " / ", "/", "::", " | ", "|"])
    graph, step = _stepped(random, _fits_path(mark))
    paths = _chosen_paths(random, graph)
    lines = [mark.join(step[one] for one in path) for path in paths]
    settings: dict[str, Any] = random.choice(
        [{}, {}, {"format": "breadcrumbs"}, {"format": "breadcrumbs", "separator": mark}]
    )
    if "format" not in settings and not any(mark in line for line in lines):
        settings = {"format": "breadcrumbs", "separator": mark}
    shown = " > " if mark == ">" else mark
    told = _facts_without_comments(graph, step, paths, lines, shown)
    if random.random() < 0.15:
        lines.insert(0, "# the catalogue of last week")
    return Written({SOURCE: "\n".join(lines).encode()}, _path_facts(graph, step, shown), settings, told=told)


def _facts_without_comments(
    graph: Graph, step: Mapping[str, str], paths: list[tuple[str, ...]], lines: list[str], mark: str
) -> dict[str, Facts]:
    """The note on lines that begin with #, and what the other lines say."""
    kept = [path for path, line in zip(paths, lines, strict=True) if not line.startswith("#")]
    if len(kept) == len(lines):
        return {}
    nodes = {node for path in kept for node in path}
    left = Graph({node: above for node, above in graph.parents.items() if node in nodes}, {})
    return {"comment line": _path_facts(left, step, mark)}


def quoted_breadcrumbs(random: Random) -> Written:
    """One column of paths, quoted as CSV is, below a header."""
    graph, step = _stepped(random, _fits_path(" > "), lonely=False)
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    words = ["category", "path", "Breadcrumb", "taxonomy"]
    writer.writerow([random.choice([word for word in words if word not in step.values()] or ["full path"])])
    writer.writerows([" > ".join(step[one] for one in path)] for path in _chosen_paths(random, graph))
    return Written({SOURCE: out.getvalue().encode()}, _path_facts(graph, step, " > "))


def google(random: Random) -> Written:
    """Google's way: an id in front of each path."""
    graph, step = _stepped(random, _fits_path(" > "), lonely=False)
    path = {node: " > ".join(step[one] for one in nodes) for node, nodes in graph.paths.items()}
    numbers = random.sample(range(1, 9999), len(path))
    ids = {node: str(number) for node, number in zip(path, numbers, strict=True)}
    lines = [f"{ids[node]} - {path[node]}" for node in path]
    if random.random() < 0.7:
        lines.insert(0, "# Google_Product_Taxonomy_Version: 2021-09-21")
    facts = Facts(
        frozenset(ids.values()),
        frozenset((ids[low], ids[high]) for low, high in graph.edges),
        {ids[node]: path[node] for node in path},
    )
    return Written({SOURCE: "\n".join(lines).encode()}, facts)


def products_with_paths(random: Random) -> Written:
    """A table of products with a column of paths."""
    mark = random.choice([" > ", " > ", " » ", " / ", " | "])
    graph, step = _stepped(random, _fits_path(mark), lonely=False)
    paths = [path for node, path in graph.paths.items() if not graph.children[node]]
    paths += [random.choice(paths) for _ in range(random.randint(0, 5))]
    rows = [[f"sku-{number}", mark.join(step[one] for one in path)] for number, path in enumerate(paths)]
    words = ["category_path", "product_type"]
    if mark in (" > ", " » ") or len({path[0] for path in paths}) < len(paths):
        words.append("category")  # which may also be the head of plain names such as "Coffee / Tea"
    header, rows = with_noise(random, ["sku", random.choice(words)], rows)
    content = random_delimited(random, [header, *rows], random_separator(random))
    settings = {"columns": (header[next(i for i, name in enumerate(header) if "cat" in name or "type" in name)],)}
    settings = settings if random.random() < 0.4 else {}
    return Written({SOURCE: content}, _path_facts(graph, step, mark), settings)


def levels(random: Random) -> Written:
    """A column for each level."""
    graph, step = _stepped(random, lambda name: one_line(name) and name.lower() not in _LEVEL_NULLS, lonely=False)
    depth = max(map(len, graph.paths.values()))
    paths = _chosen_paths(random, graph)
    rows = [[step[one] for one in path] + [""] * (depth - len(path)) for path in paths]
    pattern = random.choice(["L{}", "Level {}", "category_{}", "tier{}", "lvl{}"])
    first = random.choice([0, 1])
    header = [pattern.format(number) for number in range(first, first + depth)]
    if random.random() < 0.3:
        above: list[str] = []
        rows = []
        for node, path in graph.paths.items():
            if graph.children[node]:
                continue
            same = next((i for i, (a, b) in enumerate(zip(above, path, strict=False)) if a != b), 0)
            rows.append([""] * same + [step[one] for one in path[same:]] + [""] * (depth - len(path)))
            above = list(path)
    elif random.random() < 0.4:
        header, rows = with_noise(random, header, rows)
    return Written(
        {SOURCE: random_delimited(random, [header, *rows], random_separator(random))}, _path_facts(graph, step, " > ")
    )


def _outline_fits(name: str) -> bool:
    return one_line(name) and "\t" not in name and not name.startswith(_LIKE_BULLETS) and not name[0].isdigit()


def outline(random: Random) -> Written:
    """Indentation by blanks or tabs."""
    graph, step = _stepped(random, _outline_fits, lonely=False)
    indent = random.choice(["  ", "    ", "\t", " "])
    lines = [indent * (len(path) - 1) + step[path[-1]] for path in graph.paths.values()]
    settings = {"format": "outline"} if random.random() < 0.5 else {}
    return Written({SOURCE: "\n".join(lines).encode()}, label_facts(graph, step), settings)


def bullets(random: Random) -> Written:
    """A nested list of bullets, maybe below a heading."""
    graph, step = _stepped(random, lambda name: one_line(name) and "\t" not in name, lonely=False)
    bullet, indent = random.choice(["- ", "* ", "+ "]), random.choice(["  ", "    ", "\t"])
    lines = [indent * (len(path) - 1) + bullet + step[path[-1]] for path in graph.paths.values()]
    if random.random() < 0.3:
        lines = ["# Our catalogue", "", "All we have:", "", *lines]
    settings = {"format": "outline"} if random.random() < 0.4 else {}
    return Written({SOURCE: "\n".join(lines).encode()}, label_facts(graph, step), settings)


def drawn_tree(random: Random) -> Written:
    """The output of `tree`."""
    graph, step = _stepped(random, _outline_fits, "tree", lonely=False)
    lines = [step[graph.roots[0]]]

    def draw(node: str, prefix: str) -> None:
        below = graph.children[node]
        for number, child in enumerate(below):
            last = number == len(below) - 1
            lines.append(prefix + ("└── " if last else "├── ") + step[child])
            draw(child, prefix + ("    " if last else "│   "))

    draw(graph.roots[0], "")
    if random.random() < 0.5:
        lines += ["", f"{len(lines)} directories, 0 files"]
    return Written({SOURCE: "\n".join(lines).encode()}, label_facts(graph, step))


def directory(random: Random) -> Written:
    """Folders and files."""

    def fits(name: str) -> bool:
        return one_line(name) and "/" not in name and name not in (".", "..") and len(name.encode()) < 60

    graph, step = _stepped(random, fits, "tree", lonely=False)
    if max(map(len, graph.paths.values())) > 20:
        return directory(random)
    files = {
        "/".join(step[one] for one in path): b"x" for node, path in graph.paths.items() if not graph.children[node]
    }
    return Written(files, _path_facts(graph, step, "/"), {"format": "directory"}, whole_folder=True)


FORMATS = [
    Format("breadcrumbs", breadcrumbs),
    Format("breadcrumbs, quoted", quoted_breadcrumbs),
    Format("google ids and paths", google),
    Format("products with paths", products_with_paths),
    Format("levels", levels),
    Format("outline", outline),
    Format("bullets", bullets),
    Format("drawn tree", drawn_tree),
    Format("directory", directory),
]
