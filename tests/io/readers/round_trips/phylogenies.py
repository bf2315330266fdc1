"""Writers of phylogenies, and of models that treeball has saved."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

from treeball import Embedding, Hierarchy

from .graphs import Edge, Graph, random_graph
from .tables import one_line
from .written import SOURCE, Facts, Format, Written, facts_of

_BARE = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]*")


def _quoted(random: Random, name: str) -> str:
    if _BARE.fullmatch(name) and name.lower() != "nan" and random.random() < 0.7:
        return name
    return "'" + name.replace("'", "''") + "'"


def _newick(random: Random, graph: Graph, called: Callable[[str], str], lengths: dict[Edge, float] | None) -> list[str]:
    """Each tree of a forest as a text."""

    def comment() -> str:
        return random.choice(["", "", "", "", "[a comment: (x,y);]"])

    def build(node: str, parent: str | None) -> str:
        below = ",".join(build(child, node) for child in graph.children[node])
        length = "" if lengths is None or parent is None else f":{lengths[node, parent]!r}"
        gap = random.choice(["", "", "", "\n", " "])
        return (f"({below})" if below else "") + called(node) + comment() + length + gap

    return [build(root, None) for root in graph.roots]


def _lengths(random: Random, graph: Graph) -> dict[Edge, float] | None:
    if random.random() < 0.4:
        return None
    return {edge: random.choice([0.0, 1.0, round(random.uniform(0, 5), 4), 1e-6]) for edge in graph.edges}


def newick(random: Random) -> Written:
    """One tree, or several without a common leaf."""
    graph = random_graph(random, random.choice(["tree", "tree", "forest"]), one_line)
    lengths = _lengths(random, graph)
    text = ";\n".join(_newick(random, graph, lambda name: _quoted(random, name), lengths)) + ";\n"
    settings = {"format": "newick"} if random.random() < 0.4 else {}
    return Written({SOURCE: text.encode()}, facts_of(graph, weights=lengths), settings)


def nexus(random: Random) -> Written:
    """A TREES block, in which TRANSLATE may hold the names."""
    graph = random_graph(random, "tree", one_line)
    lengths = _lengths(random, graph)
    called: Callable[[str], str] = lambda name: _quoted(random, name)  # noqa: E731
    lines = ["#NEXUS", "[made by hand; (really)]", "BEGIN TREES;"]
    if random.random() < 0.7:
        key = {
            name: f"t{number}" if random.random() < 0.2 else str(number) for number, name in enumerate(graph.leaves, 1)
        }
        if not set(key.values()) & graph.parents.keys():
            entries = ", ".join(f"{key[name]} {_quoted(random, name)}" for name in graph.leaves)
            lines.append(f"  TRANSLATE {entries};")
            called = lambda name: key[name] if name in key else _quoted(random, name)  # noqa: E731
    text = _newick(random, graph, called, lengths)[0]
    lines += [f"  TREE {random.choice(['', '* '])}best = [&R] {text};", "END;"]
    if random.random() < 0.3:
        lines[2:2] = ["BEGIN NOTES;", "  TEXT 'it''s; a note';", "END;"]
    return Written({SOURCE: "\n".join(lines).encode()}, facts_of(graph, weights=lengths))


def saved_model(random: Random) -> Written:
    """A model that treeball saved."""
    graph = random_graph(random, random.choice(["tree", "forest", "dag"]), lonely=True)
    names = list(graph.parents)
    place = {name: code for code, name in enumerate(names)}
    child, parent = [place[c] for c, _ in graph.edges], [place[p] for _, p in graph.edges]
    labels: list[str | None] = [graph.labels.get(name) for name in names]
    virtual = None
    if len(graph.roots) > 1:
        virtual = len(names)
        names.append("<the root of all>")
        labels.append(None)
        child += [place[root] for root in graph.roots]
        parent += [virtual] * len(graph.roots)
    weights = {edge: random.uniform(0, 3) for edge in graph.edges} if random.random() < 0.4 else None
    given = None if weights is None else np.array([*weights.values(), *([1.0] * (len(child) - len(weights)))])
    hierarchy = Hierarchy.from_codes(names, child, parent, labels=labels, weights=given, virtual_root=virtual)
    vectors = np.random.default_rng(random.randrange(2**32)).uniform(-0.4, 0.4, (len(names), 3))
    with TemporaryDirectory() as folder:
        path = Embedding(vectors, hierarchy).save(f"{folder}/model.parquet")
        with open(path or f"{folder}/model.parquet", "rb") as file:
            content = file.read()
    facts = facts_of(graph, labels=True, weights=weights)
    return Written({SOURCE: content}, Facts(facts.nodes, facts.edges, facts.labels, weights), {"reduce": "never"})


FORMATS = [Format("Newick", newick), Format("NEXUS", nexus), Format("saved model", saved_model)]
