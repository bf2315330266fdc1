"""Random hierarchies with awkward names, for the writers of every format."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Literal

Shape = Literal["tree", "forest", "dag"]
Edge = tuple[str, str]

_WORDS = [
    *(
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
    ),
    *("omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "dog", "cat", "owl", "bird"),
    *(
        "mammal",
        "animal",
        "fish",
        "plant",
        "rose",
        "oak",
        "stone",
        "iron",
        "gold",
        "silver",
        "water",
        "fire",
        "earth",
        "wind",
    ),
]
_PHRASES = [
    "Dog food",
    "Food, Beverages & Tobacco",
    "Coffee / Tea",
    "Health & Beauty",
    "Socks - long",
    "T-shirts",
    "Men's shoes",
    "Größe Ω; weiß",
    "naïve café",
    "日本語",
    "生物 の 分類",
    "עברית",
    "emoji 🐶",
    "ﬁne ligature",
    "e\u0301 decomposed",
    "soft\u00adhyphen",
    "zero\u200bwidth",
    "non\u00a0breaking",
    "double  blank",
]
_NASTY = [
    *("NULL", "null", "None", "nan", "NaN", "N/A", "n/a", "-", "--", "0", "-1", "1.0", "0.0", "007", "+5", ".5", "1e5"),
    *("#tag", "tag#", "# note", "a # b", "//", "// b", "a // b", "/", "a/b", "/usr/lib", "a > b", ">", "> quoted"),
    *("a->b", "a -> b", "a >> b", "a => b", "a :: b", "a::b", "a » b", "a | b", "a|b", "x: y", "x:y", "key:", ": x"),
    *("GO:0008150", "GO:0008150:", "http://example.org/a#b", "urn:x", "C:\\path", "back\\slash", "end\\", "\\N", "\\n"),
    *(
        "100%",
        "%20",
        "%YAML",
        "% comment",
        '"quoted"',
        'in"ch',
        '3" nail',
        "it's",
        "'single'",
        "a''b",
        'a""b',
        '"',
        "'",
    ),
    *(
        "a,b",
        "a, b",
        ",",
        "a;b",
        ";",
        "(paren)",
        "a (b)",
        "(",
        ")",
        "[bracket]",
        "[",
        "{brace}",
        "{}",
        "<tag>",
        "<",
        "]",
    ),
    *("&amp;", "a & b", "&anchor", "*star", "* bullet", "- dash", "+ plus", "1. first", "1) first", "!bang", "! bang"),
    *("@at", "@prefix", "`tick`", "~", "true", "no", "Yes", "on", "=SUM(A1)", "a=b", "=", "sep=;", "_", "_:b0", "a_b"),
    *("name", "id", "parent", "child", "label", "source", "target", "children", "nodes", "edges", "links", "weight"),
    *("parent_id", "L1", "level", "category", "path", "sku", "<root>", "root", "[Term]", "is_a", "---", "...", "--- x"),
    *("format-version: 1.4", "__proto__", "a  {x=1}", "a ! b", "a {b}", "?", "? x", "|", "| x", "├── x", "│", "#NEXUS"),
    *(
        "Prefix(:=<e:>)",
        "<rdf:RDF>",
        "PREFIX p: <e:>",
        "end;",
        "a\u2028b",
        "x" * 300,
        "PAR1",
        "ARROW1",
        "1 - a",
        "a.",
        "..a",
    ),
]
_HEADER_WORDS = ["id", "name", "parent", "child", "label", "category", "weight", "type", "level", "path", "title"]


@dataclass(frozen=True)
class Graph:
    """A hierarchy: the parents of every node, and its label or None.

    Attributes
    ----------
    parents
        Node -> its parents, in an order that holds no parent before its children or after them.
    labels
        Node -> what people call it; a node may be missing.
    """

    parents: dict[str, tuple[str, ...]]
    labels: dict[str, str]

    @cached_property
    def edges(self) -> list[Edge]:
        """All edges, child first."""
        return [(child, parent) for child, above in self.parents.items() for parent in above]

    @cached_property
    def roots(self) -> list[str]:
        return [name for name, above in self.parents.items() if not above]

    @cached_property
    def children(self) -> dict[str, list[str]]:
        below: dict[str, list[str]] = {name: [] for name in self.parents}
        for child, parent in self.edges:
            below[parent].append(child)
        return below

    @cached_property
    def leaves(self) -> list[str]:
        return [name for name, below in self.children.items() if not below]

    @property
    def is_forest(self) -> bool:
        return all(len(above) <= 1 for above in self.parents.values())

    @cached_property
    def paths(self) -> dict[str, tuple[str, ...]]:
        """Of a forest, the nodes from the root down to each node; parents come before their children."""
        found: dict[str, tuple[str, ...]] = {}
        pending: list[tuple[str, tuple[str, ...]]] = [(root, (root,)) for root in reversed(self.roots)]
        while pending:
            node, path = pending.pop()
            found[node] = path
            pending += [(child, (*path, child)) for child in reversed(self.children[node])]
        return found

    @cached_property
    def closure_edges(self) -> set[Edge]:
        """Edges to all ancestors."""
        above: dict[str, set[str]] = {}

        def ancestors(node: str) -> set[str]:
            if node not in above:
                above[node] = set(self.parents[node]).union(*map(ancestors, self.parents[node]))
            return above[node]

        return {(node, one) for node in self.parents for one in ancestors(node)}

    @property
    def generating_edges(self) -> set[Edge]:
        """Edges that no others imply."""
        closure = self.closure_edges
        implied = {(child, far) for child, near in self.edges for other, far in closure if other == near}
        return set(self.edges) - implied

    def renamed(self, name_of: dict[str, str]) -> Graph:
        """The same hierarchy with other names."""
        return replace(
            self,
            parents={name_of[name]: tuple(name_of[one] for one in above) for name, above in self.parents.items()},
            labels={name_of[name]: label for name, label in self.labels.items()},
        )


def random_graph(
    random: Random, shape: Shape, fits: Callable[[str], bool] = lambda name: True, lonely: bool = False
) -> Graph:
    """A hierarchy of 2 to 60 nodes.

    Parameters
    ----------
    random
        Decides everything.
    shape
        "tree" has one root, "forest" may have several, and in a "dag" a node may have several parents.
    fits
        Whether a format can write a name.
    lonely
        Whether a root may have no children.
    """
    size = random.choice([2, 3, 4, 5, 6, 8, 12, 20, 40, 60]) if random.random() < 0.6 else random.randint(2, 20)
    parents = _parents(random, size, shape, lonely)
    names = random_names(random, size, fits)
    labels = {name: _label(random) for name in names if random.random() < 0.9}
    order = list(range(size))
    if random.random() < 0.5:
        random.shuffle(order)
    return Graph({names[i]: tuple(names[p] for p in parents[i]) for i in order}, labels)


def _parents(random: Random, size: int, shape: Shape, lonely: bool) -> list[list[int]]:
    """Parents of each node; a parent has a smaller number."""
    kind = random.choice(["random", "random", "chain", "star", "narrow", "caterpillar"])
    pick: dict[str, Callable[[int], int]] = {
        "random": lambda node: random.randrange(node),
        "chain": lambda node: node - 1,
        "star": lambda node: 0,
        "narrow": lambda node: random.randrange(max(0, node - 3), node),
        "caterpillar": lambda node: node - 1 if node % 2 else max(node - 2, 0),
    }
    parents: list[list[int]] = [[]] + [[pick[kind](node)] for node in range(1, size)]
    if shape == "tree":
        return parents
    roots = random.choice([0, 0, 1, 1, 2, 5])
    for node in random.sample(range(1, size), min(roots, size - 2)):
        parents[node] = []
    if shape == "dag":
        for _ in range(random.choice([0, 1, 2, size // 2, size])):
            node = random.randrange(1, size)
            parent = random.randrange(node)
            if parents[node] and parent not in parents[node]:
                parents[node].append(parent)
    if not lonely:
        # A root without children is not in any edge: hang it below another node.
        for node in range(1, size):
            if not parents[node] and not any(node in above for above in parents):
                parents[node] = [random.randrange(node)]
        if not any(0 in above for above in parents):
            parents[1] = [0]
    elif not any(parents):
        parents[1] = [0]
    return parents


def random_names(random: Random, size: int, fits: Callable[[str], bool]) -> list[str]:
    """Distinct names without blanks around them."""
    style = random.choice(["plain", "plain", "phrases", "numbers", "codes", "some", "some", "nasty", "case", "header"])
    found: dict[str, None] = {}
    number = random.choice([0, 1, 1, 1000, 131567])
    first = number
    while len(found) < size:
        number += 1
        name = _name(random, style, number)
        if number - first > 20 * size:  # the format can write hardly any of these names
            name = next(one for one in (str(number), f"n{number}", _in_letters(number)) if fits(one))
        if len(found) > 3 * size or random.random() < 0.05 or style in ("plain", "phrases"):
            name = name if name not in found else f"{name} {number}"
        if name not in found and name == name.strip() and name and fits(name):
            found[name] = None
    names = list(found)
    random.shuffle(names)
    return names


def _in_letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def _name(random: Random, style: str, number: int) -> str:
    if style == "phrases":
        return random.choice([*_PHRASES, f"{random.choice(_WORDS)} {random.choice(_WORDS)}"])
    if style == "numbers":
        return str(number)
    if style == "codes":
        return f"{random.choice(['GO:', 'A', 'cat-', 'x_', 'B.', 'ncbi/', 'gid://shop/'])}{number:04}"
    if style == "nasty" or (style == "some" and random.random() < 0.15):
        nasty = random.choice(_NASTY)
        return nasty if random.random() < 0.7 else f"{nasty} {random.choice(_WORDS)}"
    if style == "case":
        word = random.choice(_WORDS)
        return random.choice([word, word.upper(), word.title(), unicodedata.normalize("NFD", word + "é"), word + "é"])
    if style == "header" and random.random() < 0.4:
        return random.choice(_HEADER_WORDS)
    return random.choice(_WORDS) if random.random() < 0.7 else f"n{number}"


def _label(random: Random) -> str:
    if random.random() < 0.1:
        return random.choice(_NASTY)
    return random.choice(
        [random.choice(_WORDS), random.choice(_PHRASES), f"{random.choice(_WORDS)} {random.random():.2f}"]
    )
