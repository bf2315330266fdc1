"""Writers of tables: edge lists, tables of ids and parents, levels, and the same in workbooks, Parquet and Arrow."""

from __future__ import annotations

import io
from collections.abc import Sequence
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.io.readers import helpers

from .graphs import Edge, Graph, random_graph
from .written import SOURCE, Facts, Format, Written, facts_of, is_null

Row = list[str]

_EDGE_HEADERS = [
    ("child", "parent"),
    ("Child", "Parent"),
    ("child_id", "parent_id"),
    ("hyponym", "hypernym"),
    ("narrower", "broader"),
    ("subclass", "superclass"),
    ("employee", "manager"),
]
_WEAK_HEADERS = [("source", "target"), ("from", "to")]
_ID_HEADERS = [
    ("id", "parent_id"),
    ("ID", "Parent ID"),
    ("node", "parent"),
    ("code", "parent_code"),
    ("category_id", "parent_category_id"),
    ("id", "broader"),
    ("tax_id", "parent_tax_id"),
]
_LABEL_HEADERS = ["name", "label", "title", "Name", "display_name"]
_NOISE = {
    "price": lambda random: f"{random.uniform(0, 99):.2f}",
    "created_at": lambda random: f"2024-{random.randint(1, 12):02}-{random.randint(1, 28):02}",
    "notes": lambda random: random.choice(["", "new", "see below", "on sale, today", "50 %", "#1"]),
    "active": lambda random: random.choice(["true", "false"]),
    "url": lambda random: f"https://shop.example/p/{random.randint(1, 999)}",
    "rank_no": lambda random: str(random.randint(1, 9)),
    "sort": lambda random: random.choice(["", "1", "2"]),
}
_ROOT_MARKERS = ["", "", "", "0", "-1", "NULL", "null", "None", "nan", "N/A", "\\N", "-", "self"]


def one_line(name: str) -> bool:
    return "\n" not in name and "\r" not in name


def _weights(random: Random, edges: Sequence[Edge]) -> dict[Edge, float]:
    kind = random.choice(["integers", "decimals", "small"])
    draw = {
        "integers": lambda: float(random.randint(0, 9)),
        "decimals": lambda: round(random.uniform(0, 10), 3),
        "small": lambda: random.uniform(0, 1e-3),
    }
    return {edge: draw[kind]() for edge in edges}


def random_delimited(random: Random, rows: list[Row], separator: str) -> bytes:
    """Rows as CSV and the like, quoted as much as it takes or throughout."""
    # With tabs and bars, quotes that hide nothing belong to the names, unless all of the first line has them.
    hidden = separator in "\t|" and any(cell.startswith("# ") for row in rows for cell in row)
    everything = random.random() < 0.2 or hidden
    end = "\r\n" if random.random() < 0.15 else "\n"
    text = "".join(separator.join(_cell(cell, separator, everything) for cell in row) + end for row in rows)
    if random.random() < 0.1:
        text = text.rstrip("\r\n")
    return _encoded(random, text)


def _cell(text: str, separator: str, always: bool) -> str:
    """A cell in quotes if it needs them; a name that begins with ``#`` and a blank would be a comment."""
    if always or text.startswith("# ") or any(mark in text for mark in (separator, '"', "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text


def _encoded(random: Random, text: str) -> bytes:
    how = random.random()
    if how < 0.05:
        return b"\xef\xbb\xbf" + text.encode()
    if how < 0.08:
        return text.encode("utf-16")
    if how < 0.12:
        return helpers.compressed(text.encode(), random.choice(["gzip", "zstd", "bz2"]))
    return text.encode()


def with_noise(random: Random, header: Row, rows: list[Row], most: int = 3) -> tuple[Row, list[Row]]:
    """Columns without a role, anywhere in the table."""
    header, rows = list(header), [list(row) for row in rows]
    for name in random.sample(sorted(_NOISE), random.randint(0, most)):
        place = random.randint(0, len(header))
        header.insert(place, name)
        for row in rows:
            row.insert(place, _NOISE[name](random))
    return header, rows


def random_separator(random: Random) -> str:
    return random.choice([",", ",", "\t", "\t", ";", "|"])


# ---- edge lists ----


def _edge_rows(random: Random, graph: Graph, child_first: bool) -> list[Edge]:
    edges = list(graph.edges)
    if random.random() < 0.5:
        random.shuffle(edges)
    return edges if child_first else [(parent, child) for child, parent in edges]


def edges_with_header(random: Random) -> Written:
    """Two columns whose header names child and parent, in either order, maybe with weights and further columns."""
    graph = random_graph(random, random.choice(["tree", "forest", "dag"]), one_line)
    header = list(random.choice(_EDGE_HEADERS))
    child_first = random.random() < 0.6
    edges = _edge_rows(random, graph, True)
    rows = [list(edge) for edge in edges]
    weights = _weights(random, edges) if random.random() < 0.25 else None
    if weights is not None:
        header.append("weight")
        rows = [[*row, repr(weights[edge])] for row, edge in zip(rows, edges, strict=True)]
    if not child_first:
        header[:2] = header[1::-1]
        rows = [[row[1], row[0], *row[2:]] for row in rows]
    if random.random() < 0.4:
        header, rows = with_noise(random, header, rows)
    return Written(
        {SOURCE: random_delimited(random, [header, *rows], random_separator(random))}, facts_of(graph, weights=weights)
    )


def _looks_upright(graph: Graph) -> bool:
    """Whether the structure tells which column is the child: a tree, or many more leaves than roots."""
    return graph.is_forest or len(graph.leaves) >= 2 * len(graph.roots)


def upright_graph(random: Random, **options: Any) -> Graph:
    while not _looks_upright(graph := random_graph(random, random.choice(["tree", "forest", "dag"]), **options)):
        pass
    return graph


def edges_without_header(random: Random) -> Written:
    """Two bare columns; only the structure tells which is the child."""
    graph = upright_graph(random, fits=one_line)
    child_first = random.random() < 0.5
    rows = [list(edge) for edge in _edge_rows(random, graph, child_first)]
    settings: dict[str, Any] = {"header": "no"} if random.random() < 0.3 else {}
    weights = None
    if random.random() < 0.2:
        weights = _weights(random, graph.edges)
        rows = [[*row, repr(weights[(row[0], row[1]) if child_first else (row[1], row[0])])] for row in rows]
    if random.random() < 0.3:
        settings |= {"direction": "child-parent" if child_first else "parent-child"}
    separator = random_separator(random)
    if len(rows) == 1 and random.random() < 0.5:
        settings["separator"] = separator
    content = random_delimited(random, rows, separator)
    undirected = "direction" not in settings
    told = {"comment line": _without_first_row(graph, rows, child_first, weights)} if rows[0][0][0] == "#" else {}
    return Written({SOURCE: content}, facts_of(graph, weights=weights), settings, undirected, told)


def _without_first_row(graph: Graph, rows: list[Row], child_first: bool, weights: dict[Edge, float] | None) -> Facts:
    """What the rows below the first say."""
    pairs = [(row[0], row[1]) if child_first else (row[1], row[0]) for row in rows[1:]]
    kept = None if weights is None else {pair: weights[pair] for pair in pairs}
    return Facts(frozenset(name for pair in pairs for name in pair), frozenset(pairs), {}, kept)


def edges_with_weak_header(random: Random) -> Written:
    """``source`` and ``target``, which say little of which is above."""
    graph = upright_graph(random, fits=one_line)
    rows = [list(edge) for edge in _edge_rows(random, graph, random.random() < 0.5)]
    header = list(random.choice(_WEAK_HEADERS))
    content = random_delimited(random, [header, *rows], random_separator(random))
    return Written({SOURCE: content}, facts_of(graph), undirected=True)


def raw_tabs(random: Random) -> Written:
    """Tabs without any quoting: quotes belong to the names."""
    graph = random_graph(
        random,
        random.choice(["tree", "dag"]),
        lambda name: one_line(name) and "\t" not in name and not name.startswith("# "),
    )
    rows = [["child", "parent"], *map(list, _edge_rows(random, graph, True))]
    settings = {"quoting": "off"} if any('"' in name for name in graph.parents) else {}
    return Written({SOURCE: "".join("\t".join(row) + "\n" for row in rows).encode()}, facts_of(graph), settings)


def blanks(random: Random) -> Written:
    """Numbers separated by blanks."""
    graph = upright_graph(random, fits=lambda name: name.isascii() and name.isdigit() and name[0] != "0")
    gap = random.choice([" ", "  ", "    "])
    lines = [gap.join(edge) for edge in _edge_rows(random, graph, random.random() < 0.5)]
    return Written({SOURCE: "\n".join(lines).encode()}, facts_of(graph), undirected=True)


def comments(random: Random) -> Written:
    """Comments at the top and among the rows."""
    graph = random_graph(random, "tree", lambda name: one_line(name) and "#" not in name)
    rows = [["child", "parent"], *map(list, _edge_rows(random, graph, True))]
    lines = random_delimited(Random(0), rows, ",").decode().strip("\r\n").replace("\r", "").split("\n")
    top = [f"# {word}" for word in random.sample(["made by hand", "version 3", "a, b, c, d", "do not edit"], 2)]
    place = random.randint(1, len(lines))
    lines = [*top, *lines[:place], "# a section", *lines[place:]]
    return Written({SOURCE: "\n".join(lines).encode()}, facts_of(graph))


# ---- tables of ids and parents ----


def _table_rows(random: Random, graph: Graph, labels: bool) -> tuple[list[Row], Facts]:
    """A row for each node and parent: id, parent, and maybe label."""
    markers = [marker for marker in _ROOT_MARKERS if marker not in graph.parents]
    marker = random.choice(markers)
    rows = []
    for node, above in graph.parents.items():
        for parent in above or [node if marker == "self" else marker]:
            rows.append([node, parent, graph.labels.get(node, "")] if labels else [node, parent])
    return rows, facts_of(graph, labels=labels)


def id_table(random: Random) -> Written:
    """A row for each node, with a marker for the roots, labels and further columns."""
    graph = random_graph(random, random.choice(["tree", "forest", "dag"]), one_line, lonely=True)
    labels = random.random() < 0.6
    rows, facts = _table_rows(random, graph, labels)
    header = list(random.choice(_ID_HEADERS)) + ([random.choice(_LABEL_HEADERS)] if labels else [])
    order = list(range(len(header)))
    if random.random() < 0.5:
        random.shuffle(order)
    header, rows = [header[i] for i in order], [[row[i] for i in order] for row in rows]
    header, rows = with_noise(random, header, rows)
    return Written({SOURCE: random_delimited(random, [header, *rows], random_separator(random))}, facts)


def id_table_without_header(random: Random) -> Written:
    """Ids, parents and labels without a header."""
    graph = random_graph(random, random.choice(["tree", "dag"]), lambda name: name.isascii() and name.isdigit())
    rows = [
        [node, parent, graph.labels.get(node, "")] for node, above in graph.parents.items() for parent in above or [""]
    ]
    settings = {"header": "no"} if random.random() < 0.5 else {}
    return Written(
        {SOURCE: random_delimited(random, rows, random_separator(random))}, facts_of(graph, labels=True), settings
    )


def chosen_columns(random: Random) -> Written:
    """A table whose header says nothing, read by the names or numbers of its columns."""
    graph = random_graph(random, random.choice(["tree", "forest", "dag"]), one_line)
    header, rows = with_noise(random, ["thing", "inside"], [list(edge) for edge in _edge_rows(random, graph, True)])
    columns = ("thing", "inside")
    if random.random() < 0.5:
        columns = (str(header.index("thing") + 1), str(header.index("inside") + 1))
    settings = {"columns": columns, "header": "yes"}
    return Written(
        {SOURCE: random_delimited(random, [header, *rows], random_separator(random))}, facts_of(graph), settings
    )


# ---- containers of tables ----


def workbook(random: Random) -> Written:
    """A sheet with a table of ids or an edge list."""

    def fits(name: str) -> bool:
        return one_line(name) and not any(ord(letter) < 32 for letter in name)

    graph = random_graph(random, random.choice(["tree", "forest", "dag"]), fits, lonely=False)
    if random.random() < 0.5:
        rows, facts = _table_rows(random, graph, True)
        sheet: list[list[Any]] = [["id", "parent_id", "name"], *rows]
        if all(name.isascii() and name.isdigit() and name[0] != "0" for name in graph.parents):
            sheet = [sheet[0], *([int(i), int(p) if p.isdigit() else p, label] for i, p, label in rows)]
    else:
        facts = facts_of(graph)
        sheet = [["child", "parent"], *map(list, _edge_rows(random, graph, True))]
    sheet = [[None if cell == "" else cell for cell in row] for row in sheet]
    sheets: dict[str, Sequence[Sequence[Any]]] = (
        {"Empty": [], "Data": sheet} if random.random() < 0.3 else {"Data": sheet}
    )
    return Written({SOURCE: helpers.workbook(sheets)}, facts)


def _arrow_table(random: Random) -> tuple[pa.Table, Facts]:
    graph = random_graph(random, random.choice(["tree", "forest", "dag"]), lonely=True)
    how = random.choice(["edges", "table", "lists"])
    if how == "edges":
        while any(map(is_null, graph.parents)) or set(graph.parents) != {name for edge in graph.edges for name in edge}:
            graph = random_graph(random, "dag")
        weights = _weights(random, graph.edges) if random.random() < 0.3 else None
        columns: dict[str, Any] = {"child": [c for c, _ in graph.edges], "parent": [p for _, p in graph.edges]}
        if weights is not None:
            columns["weight"] = [weights[edge] for edge in graph.edges]
        return pa.table(columns), facts_of(graph, weights=weights)
    labels = [graph.labels.get(name) for name in graph.parents]
    if how == "lists":
        columns = {
            "id": list(graph.parents),
            "parents": [list(above) for above in graph.parents.values()],
            "name": labels,
        }
        return pa.table(columns), facts_of(graph, labels=True)
    rows = [
        (node, parent, graph.labels.get(node)) for node, above in graph.parents.items() for parent in above or [None]
    ]
    ids, parents, labels = map(list, zip(*rows, strict=True))
    columns = {"name": labels, "parent_id": parents, "price": list(range(len(rows))), "id": ids}
    if random.random() < 0.3 and all(name.isascii() and name.isdigit() and name[0] != "0" for name in graph.parents):
        columns["id"] = pa.array(ids).dictionary_encode()
    return pa.table(columns), facts_of(graph, labels=True)


def parquet(random: Random) -> Written:
    """A Parquet file: an edge list, a table of ids, or lists of parents."""
    table, facts = _arrow_table(random)
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=random.choice([1000, 7]))
    return Written({SOURCE: sink.getvalue()}, facts)


def arrow(random: Random) -> Written:
    """An Arrow file with the same columns."""
    table, facts = _arrow_table(random)
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table, max_chunksize=random.choice([1000, 7]))
    return Written({SOURCE: sink.getvalue()}, facts)


def two_tables(random: Random) -> Written:
    """Categories in one file and products that hang below them in another."""
    graph = random_graph(random, random.choice(["tree", "forest"]), one_line, lonely=True)
    rows, facts = _table_rows(random, graph, True)
    products = {f"sku-{number}": random.choice(list(graph.parents)) for number in range(random.randint(1, 12))}
    header, items = with_noise(random, ["sku", "category_id"], [list(row) for row in products.items()])
    both = Facts(facts.nodes | products.keys(), facts.edges | frozenset(products.items()), facts.labels)
    categories = random_delimited(random, [["id", "parent_id", "name"], *rows], random_separator(random))
    return Written(
        {"categories.csv": categories, "products.csv": random_delimited(random, [header, *items], ",")}, both
    )


FORMATS = [
    Format("edge list with header", edges_with_header),
    Format("edge list without header", edges_without_header),
    Format("edge list source,target", edges_with_weak_header),
    Format("edge list, raw tabs", raw_tabs),
    Format("edge list, blanks", blanks),
    Format("edge list, comments", comments),
    Format("edge list, named columns", chosen_columns),
    Format("id table", id_table),
    Format("id table without header", id_table_without_header),
    Format("workbook", workbook),
    Format("parquet", parquet),
    Format("arrow", arrow),
    Format("two tables", two_tables),
]
