"""Counts how the house is built, for the table in CONTRIBUTING: python tools/architecture.py [FOLDER ...]

Each FOLDER is a checkout, by default this one; several are printed side by side, the earlier first.

- loose modules: files beside the rooms, less ``__init__``, ``__main__`` and ``_version``;
- largest knot: modules that import each other in a circle, counting imports inside functions but not those for types
  alone; names that a package resolves on first use count as imports of the module they live in. The methods of
  Embedding look upwards when they are called, the one place where that is the design: counted with and without them;
- geometry or method compared: files outside ``geometry/`` and settings that compare a string with the name of one;
- provenance assembled: functions that put a record of a run together, key by key, instead of asking it for a new one.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "treeball"
NAMES = {
    *("poincare", "lorentz", "euclidean", "sarkar", "construct", "sharpened", "softmax"),
    *("ga-dl", "ga-dl-rw", "ga-rw", "imported"),
}
RECORD = {"method", "objective", "settings", "version", "epochs_done", "log", "scores", "trace", "healing", "imported"}
CONVENIENCES = ("treeball.embedding", "treeball.embedding._embedding")


class Module:
    """One source file: its name, its tree, and the names that its package resolves on first use."""

    def __init__(self, path: Path, source: Path) -> None:
        parts = path.relative_to(source).with_suffix("").parts
        self.is_package = parts[-1] == "__init__"
        self.name = ".".join(parts[:-1] if self.is_package else parts)
        self.path = path
        self.text = path.read_text("utf-8")
        self.tree = ast.parse(self.text)
        self.homes = dict(self._homes())

    def _homes(self) -> Iterator[tuple[str, str]]:
        """Names in the table of a lazy door, with the full names of the modules they live in."""
        if not self.is_package:
            return
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Dict) and node.keys and all(isinstance(key, ast.Constant) for key in node.keys):
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                        yield str(key.value), f"{self.name}.{value.value!s}"

    def imports(self) -> Iterator[tuple[str, str | None, bool]]:
        """(module, name or None, whether inside a function) of all imports but those for types alone."""
        for node, is_lazy in _walk(self.tree, False):
            if isinstance(node, ast.Import):
                yield from ((alias.name, None, is_lazy) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self.name.split(".")
                up = node.level - self.is_package
                start = base[: len(base) - up] if node.level else []
                module = ".".join([*start, *([node.module] if node.module else [])])
                yield from ((module, alias.name, is_lazy) for alias in node.names)


def _walk(node: ast.AST, in_function: bool) -> Iterator[tuple[ast.AST, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        inside = in_function or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        yield child, in_function
        yield from _walk(child, inside)


def import_graph(modules: dict[str, Module], conveniences: bool) -> dict[str, set[str]]:
    """Who imports whom, with or without what Embedding's conveniences look up."""
    graph: dict[str, set[str]] = defaultdict(set)
    for module in modules.values():
        for target, name, is_lazy in module.imports():
            if is_lazy and module.name in CONVENIENCES and not conveniences:
                continue
            graph[module.name].update(_resolved(target, name, modules) - {module.name})
    return graph


def _resolved(target: str, name: str | None, modules: dict[str, Module]) -> set[str]:
    if target not in modules:
        return set()
    if name is None:
        return {target}
    if f"{target}.{name}" in modules:
        return {f"{target}.{name}"}
    home = modules[target].homes.get(name)
    while home in modules and name in modules[home].homes:
        home = modules[home].homes[name]
    return {home} if home in modules else {target}


def largest_knot(graph: dict[str, set[str]]) -> list[str]:
    """The largest set of modules that all reach each other (Tarjan's algorithm, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on_stack: set[str] = set()
    stack: list[str] = []
    best: list[str] = []
    for start in list(graph):
        if start in index:
            continue
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, successors = work[-1]
            following = next(successors, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    knot = [stack.pop()]
                    while knot[-1] != node:
                        knot.append(stack.pop())
                    on_stack -= set(knot)
                    best = max(best, knot, key=len)
            elif following not in index:
                index[following] = low[following] = len(index)
                stack.append(following)
                on_stack.add(following)
                work.append((following, iter(sorted(graph.get(following, ())))))
            elif following in on_stack:
                low[node] = min(low[node], index[following])
    return best if len(best) > 1 else []


def compares_names(module: Module) -> bool:
    """Whether a string is compared with the name of a geometry or a method."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Compare):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and part.value in NAMES:
                    return True
    return False


def assembles_provenance(module: Module) -> list[str]:
    """Functions that put a record together: a dict of its keys, one spread into another, or a bare Provenance(...)."""
    found = []
    for function in ast.walk(module.tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Dict):
                keys = {str(key.value) for key in node.keys if isinstance(key, ast.Constant)}
                spreads = [ast.unparse(v) for k, v in zip(node.keys, node.values, strict=True) if k is None]
                if any(one.endswith("provenance") for one in spreads) or ("method" in keys and len(keys & RECORD) >= 4):
                    found.append(f"{module.name}:{function.name}")
                    break
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Provenance" and node.keywords:
                found.append(f"{module.name}:{function.name}")
                break
    return found


def measure(checkout: Path, verbose: bool) -> dict[str, int]:
    """All counts of one checkout."""
    source = checkout / "src"
    modules = {module.name: module for module in (Module(p, source) for p in sorted(source.rglob("*.py")))}
    loose = [
        path.stem for path in (source / PACKAGE).glob("*.py") if path.stem not in ("__init__", "__main__", "_version")
    ]
    knot = largest_knot(import_graph(modules, conveniences=False))
    whole_knot = largest_knot(import_graph(modules, conveniences=True))
    comparing = [
        module.name
        for module in modules.values()
        if compares_names(module) and ".geometry" not in module.name and not module.name.endswith("settings")
    ]
    assembling = [place for module in modules.values() for place in assembles_provenance(module)]
    if verbose:
        for title, names in (("knot", whole_knot), ("compare", comparing), ("assemble", assembling), ("loose", loose)):
            print(f"{title}: {', '.join(sorted(names))}", file=sys.stderr)
    return {
        "loose modules beside the rooms": len(loose),
        "largest knot, lazy imports counted": len(whole_knot),
        "the same without the conveniences of Embedding": len(knot),
        "files that compare names of geometries or methods": len(comparing),
        "functions that assemble a run's record": len(assembling),
        "modules": len(modules),
        "lines of Python": sum(module.text.count("\n") for module in modules.values()),
        "longest module, lines": max(module.text.count("\n") for module in modules.values()),
    }


def main() -> None:
    """Print the table."""
    arguments = [one for one in sys.argv[1:] if one != "-v"]
    folders = [Path(one) for one in arguments] or [Path(__file__).parents[1]]
    counts = [measure(folder, "-v" in sys.argv) for folder in folders]
    heads = ["before", "after"] if len(folders) == 2 else [str(folder) for folder in arguments] or ["now"]
    print(f"| | {' | '.join(heads)} |")
    print("|---" * (len(folders) + 1) + "|")
    for name in counts[0]:
        print(f"| {name} | {' | '.join(f'{one[name]:,}' for one in counts)} |")


if __name__ == "__main__":
    main()
