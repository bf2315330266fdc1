"""The service: its answers against those of the model itself, what it refuses, its limits, and the command."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, unquote, urlencode

import numpy as np
import pytest

import treeball
from tests import trees
from tests.chromium import look
from tests.healthy import healthy, hierarchy_of
from treeball import Embedding, Hierarchy, InputError
from treeball.cli.main import run
from treeball.geometry.models import ball_to_hyperboloid
from treeball.service.guard import Guard
from treeball.service.settings import ServeSettings

pytest.importorskip("pydantic")

from treeball.engine.cpu.search_tree import SearchTree
from treeball.service.mapped import open_mapped, write_mapped
from treeball.service.run import mapped_app, prepare

ODD = ["a/b", "two words", "größe ☃", "x&y=z", "../../etc/passwd", "%2e", "", "'\"<b>", "nul\0", "tab\t", "😀", "+"]
PAIRS = ("distance", "common-ancestor", "path", "is-ancestor")


def random_model(edges, names, geometry="poincare"):
    hierarchy = Hierarchy.from_codes(names, edges.child, edges.parent)
    vectors = np.random.default_rng(0).uniform(-0.5, 0.5, (edges.n, 3))
    return Embedding(ball_to_hyperboloid(vectors) if geometry == "lorentz" else vectors, hierarchy, geometry)


def forest():
    hierarchy = Hierarchy.from_codes(
        ["a", "a1", "a2", "b", "b1", "<root>"], [0, 1, 2, 3, 4], [5, 0, 0, 5, 3], virtual_root=5
    )
    return Embedding(np.random.default_rng(1).uniform(-0.5, 0.5, (6, 2)), hierarchy)


MODELS = {
    "odd": lambda: random_model(trees.random_tree(len(ODD), 1), ODD),
    "dag": lambda: random_model(trees.random_dag(60, 40, 2), [f"n{i}" for i in range(60)]),
    "integers": lambda: random_model(trees.random_tree(30, 3), list(range(100, 130))),
    "forest": forest,
    "well": lambda: healthy(hierarchy_of(trees.random_dag(40, 30, 5)), "parents", "poincare"),
    "ancestors": lambda: healthy(hierarchy_of(trees.random_dag(40, 30, 6), virtual=True), "ancestors", "poincare"),
    "lorentz": lambda: random_model(trees.random_tree(60, 4), [f"n{i}" for i in range(60)], "lorentz"),
    "euclidean": lambda: random_model(trees.random_tree(60, 4), [f"n{i}" for i in range(60)], "euclidean"),
}


def application(embedding, folder, **settings):
    chosen = ServeSettings(**settings)
    prepare(embedding, chosen, folder)
    return mapped_app(folder, chosen, "a title")


@pytest.fixture(scope="module")
def mammals():
    return treeball.fit("example:mammals", method="sarkar", dim=4)


@pytest.fixture(scope="module")
def app(mammals, tmp_path_factory):
    return application(mammals, tmp_path_factory.mktemp("mapped"))


def run_async(coroutine):
    """Its result, from a thread of its own: in this one Playwright's loop may be running, for other tests."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


async def exchange(app, address, method="GET", body=b"", headers=None, pause=0.0, logged=()):
    """One request as a server would pass it on; `body` may be a list of pieces, which come `pause` seconds apart.

    Errors of the types `logged` are those that a server would write to its log.
    """
    path, _, query = address.partition("?")
    pieces = body if isinstance(body, list) else [body]
    usual = {"host": "localhost"} | ({"content-type": "application/json"} if method == "POST" else {})
    given = usual | (headers or {})
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode("utf-8", "surrogateescape"),
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }
    waiting = list(pieces)
    sent = []

    async def receive():
        await asyncio.sleep(pause)
        if not waiting:
            await asyncio.Event().wait()  # the client stays and listens
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    async def send(message):
        sent.append(message)

    with contextlib.suppress(*logged):
        await app(scope, receive, send)
    content = b"".join(message.get("body", b"") for message in sent[1:])
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, content


def ask(app, address, method="GET", body=b"", **options):
    """Status and JSON of an answer."""
    status, headers, content = run_async(exchange(app, address, method, body, **options))
    assert headers["content-type"] == "application/json"
    return status, json.loads(content)


def post(app, path, record, **options):
    return ask(app, path, "POST", json.dumps(record).encode(), **options)


def refused(answer, status, *words):
    assert answer[0] == status, answer
    assert list(answer[1]) == ["error"]
    sentence = answer[1]["error"]
    assert "\n" not in sentence
    for word in words:
        assert word in sentence


# ---- answers ----


def due(embedding, question, names, source, k=5):
    """What the model itself answers."""
    match question:
        case "neighbors":
            near = embedding.neighbors(names[0], k, source)
            return {"neighbors": [{"node": node, "distance": far} for node, far in near]}
        case "distance":
            far = embedding.distance(*names, source)
            return {"distance": far if np.isfinite(far) else None}
        case "is-ancestor":
            found = embedding.is_ancestor(*names, source)
            return {"is_ancestor": found.holds, "score": found.score}
        case "parent":
            return {"parent": embedding.parent_of(names[0], source), "parents": embedding.parents_of(names[0], source)}
        case "similarity":
            return embedding.similarity(*names).to_dict()
        case "parents" | "children" | "ancestors":
            return {question: getattr(embedding, f"{question}_of")(names[0], source)}
    key = question.replace("-", "_")
    return {key: getattr(embedding, key)(*names, source)}


@pytest.mark.parametrize("kind", MODELS)
def test_answers_are_those_of_the_model(kind, tmp_path):
    app = application(MODELS[kind](), tmp_path)
    embedding = MODELS[kind]()  # without a search tree, so that it compares all nodes
    names = list(embedding)
    rng = np.random.default_rng(0)
    for question in ("neighbors", "parent", "parents", "children", "ancestors", "similarity", *PAIRS):
        is_pair = question in (*PAIRS, "similarity")
        of = {"is-ancestor": ("ancestor", "node")}.get(question, ("a", "b")) if is_pair else ("node",)
        for source in ("geometry", "hierarchy"):
            extra = ({"k": 5} if question == "neighbors" else {}) | (
                {} if question == "similarity" else {"from": source}
            )
            rows = [[names[i] for i in rng.integers(0, len(names), len(of))] for _ in range(20)]
            expected = [dict(zip(of, row, strict=True)) | due(embedding, question, row, source) for row in rows]
            for row, answer in list(zip(rows, expected, strict=True))[:5]:
                query = urlencode({**dict(zip(of, row, strict=True)), **extra})
                assert ask(app, f"/{question}?{query}") == (200, answer)
            many = {"pairs": rows} if is_pair else {"nodes": [row[0] for row in rows]}
            status, found = post(app, f"/{question}", {**many, **extra})
            assert status == 200
            assert found["answers"] == expected


def test_a_subtree_says_every_parent_of_each_node(tmp_path):
    """Without ill pairs, from distances as from the hierarchy; with labels of all nodes that it names."""
    edges = [(1, 0), (2, 0), (3, 1), (3, 2), (4, 3), (4, 2), (5, 1)]
    labels = ["Root", None, "Two", None, None, None]
    hierarchy = treeball.Hierarchy.from_codes([f"n{i}" for i in range(6)], *zip(*edges, strict=True), labels=labels)
    app = application(healthy(hierarchy, "parents", "poincare"), tmp_path)
    for source in ("geometry", "hierarchy"):
        status, answer = ask(app, f"/subtree?node=n1&from={source}")
        assert status == 200
        assert answer["other_parents"] == {"n3": ["n2"], "n4": ["n2"]}
        assert answer["labels"] == {"n2": "Two"}
    assert ask(app, "/subtree?node=n0&depth=1")[1]["other_parents"] == {}
    assert ask(app, "/subtree?node=n5")[1]["other_parents"] == {}


def test_vectors_in_all_coordinates(mammals, app):
    assert ask(app, "/vector?node=dog.n.01") == (
        200,
        {
            "node": "dog.n.01",
            "coordinates": "ball",
            "vector": mammals["dog.n.01"].tolist(),
            "reach": mammals.reach[mammals.names.index_of("dog.n.01")],
        },
    )
    frame = {kind: mammals.to_pandas(kind) for kind in ("hyperboloid", "half-space", "tangent")}
    for kind, table in frame.items():
        status, found = post(app, "/vector", {"nodes": ["dog.n.01", "cat.n.01"], "coordinates": kind})
        assert status == 200
        for node, answer in zip(["dog.n.01", "cat.n.01"], found["answers"], strict=True):
            np.testing.assert_allclose(answer["vector"], table.loc[node].drop("parent").astype(float), rtol=1e-12)
            assert answer["coordinates"] == kind


@pytest.mark.parametrize("objective", ["parents", "ancestors"])
def test_without_illness_geometry_answers_what_the_hierarchy_knows(objective, tmp_path):
    hierarchy = hierarchy_of(trees.random_dag(30, 20, 7), virtual=True).transitive_reduction()
    app = application(healthy(hierarchy, objective), tmp_path)
    names = hierarchy.names.take(hierarchy.real_nodes())
    pairs = [[a, b] for a in names for b in names]
    for question in ("parents", "children", "ancestors", "is-ancestor", "common-ancestor"):
        many = {"pairs": pairs} if question in PAIRS else {"nodes": names}
        found, true = (post(app, f"/{question}", {**many, "from": source}) for source in ("geometry", "hierarchy"))
        assert found[0] == true[0] == 200
        assert list(found[1]) == ["answers"]  # without a doubt
        key = question.replace("-", "_")
        told, known = ([answer[key] for answer in one[1]["answers"]] for one in (found, true))
        if isinstance(told[0], list):
            told, known = [sorted(some) for some in told], [sorted(some) for some in known]
        assert told == known


def test_where_pairs_are_ill_the_answer_says_so(mammals, app):
    ill = len(mammals.evaluate().illness)
    assert ill
    doubt = f"this model has {ill} ill pairs, so relatives that geometry shows may be wrong"
    for question in ("parent", "parents", "children", "ancestors"):
        assert ask(app, f"/{question}?node=dog.n.01")[1]["doubt"] == doubt
        assert "doubt" not in ask(app, f"/{question}?node=dog.n.01&from=hierarchy")[1]
    assert ask(app, "/is-ancestor?ancestor=canine.n.02&node=dog.n.01")[1]["doubt"] == doubt
    assert post(app, "/path", {"pairs": [["dog.n.01", "cat.n.01"]]})[1]["doubt"] == doubt
    for address in ("/distance?a=dog.n.01&b=cat.n.01", "/neighbors?node=dog.n.01", "/vector?node=dog.n.01"):
        assert "doubt" not in ask(app, address)[1]


def test_defaults_and_whole_numbers_that_json_writes_with_a_point(mammals, app):
    near = mammals.neighbors("dog.n.01", 10)
    assert [one["node"] for one in ask(app, "/neighbors?node=dog.n.01")[1]["neighbors"]] == [name for name, _ in near]
    status, found = ask(app, "/neighbors", "POST", b'{"nodes": ["dog.n.01"], "k": 2.0}')
    assert status == 200
    assert len(found["answers"][0]["neighbors"]) == 2
    assert len(ask(app, "/neighbors?node=dog.n.01&k=999")[1]["neighbors"]) == 999


def test_integer_names_are_found_by_number_and_by_digits(tmp_path):
    app = application(MODELS["integers"](), tmp_path)
    parents = post(app, "/parent", {"nodes": [105, "105", 105.0]})[1]["answers"]
    assert parents[0] == parents[1] == parents[2] == ask(app, "/parent?node=105")[1]
    assert parents[0]["node"] == 105
    unknown = post(app, "/parent", {"nodes": [7, 10**400]})[1]["answers"]
    assert unknown[0]["node"] == 7
    assert unknown[0]["error"].startswith("no node named 7")
    assert unknown[1]["error"].startswith("no node named 10")
    for wrong in (1.5, True, None):
        refused(post(app, "/parent", {"nodes": [wrong]}), 422, repr(wrong))
    refused(ask(app, "/parent?node=" + "1" * 1000), 404, "no node named")
    refused(post(app, "/parent", {"nodes": ["1" * 1025]}), 422, "at most 1,024 characters")
    refused(post(app, "/path", {"pairs": [[105, None]]}), 422, "not by None")


def test_coordinates_of_a_flat_model_are_flat(tmp_path):
    app = application(MODELS["euclidean"](), tmp_path)
    assert ask(app, "/vector?node=n1")[1]["coordinates"] == "euclidean"
    refused(ask(app, "/vector?node=n1&coordinates=ball"), 422, "coordinates must be euclidean, not 'ball'")


def test_info_and_health(mammals, app):
    assert ask(app, "/health") == (200, {"status": "ok"})
    info = ask(app, "/info")[1]
    assert (info["nodes"], info["edges"], info["dim"]) == (1182, 1181, 4)
    assert (info["geometry"], info["objective"], info["method"]) == ("poincare", "parents", "sarkar")
    assert info["limits"]["k"] == 1000
    assert {type(limit) for limit in info["limits"].values()} == {int}
    assert ServeSettings(timeout=2.5).limits()["seconds"] == 2.5
    assert info["scores"]["map"] == mammals.evaluate().map


def test_every_route_is_described(app):
    description = ask(app, "/openapi.json")[1]
    assert description["openapi"].startswith("3.1")
    for path, operations in description["paths"].items():
        for method in ("GET", "POST"):
            status, _, _ = run_async(exchange(app, path, method, b"{}"))
            assert (status == 405) == (method.lower() not in operations)
    assert {"/", "/health", "/info", "/neighbors", "/distance", "/ancestors", "/vector"} <= set(description["paths"])


# ---- the mapped model ----


@pytest.mark.parametrize("kind", MODELS)
def test_a_mapped_model_is_the_same_and_holds_no_copy(kind, tmp_path):
    embedding = MODELS[kind]()
    prepare(embedding, ServeSettings(), tmp_path)
    mapped = open_mapped(tmp_path)
    assert np.array_equal(mapped.vectors, embedding.vectors)
    assert list(mapped) == list(embedding)
    assert [mapped.names.index_of(name) for name in embedding] == list(range(len(embedding)))
    assert mapped.names.index_of_many(list(embedding)).tolist() == list(range(len(embedding)))
    assert "no such" not in mapped
    assert (None in mapped, 3.5 in mapped) == (False, False)
    assert (mapped.geometry, mapped.dim, mapped.provenance) == (embedding.geometry, embedding.dim, embedding.provenance)
    assert mapped.hierarchy.virtual_root == embedding.hierarchy.virtual_root
    assert np.array_equal(mapped.reach, embedding.reach)
    arrays = [mapped.vectors, mapped.reach, mapped.hierarchy.parent_idx, mapped.read_back().child_ptr]
    assert isinstance(mapped.search_tree, SearchTree)
    arrays += mapped.search_tree._tree
    for array in arrays:
        assert type(array) is np.ndarray
        assert isinstance(array.base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        mapped.vectors[0, 0] = 0.5


def test_integer_names_are_mapped_where_64_bits_hold_them(tmp_path):
    narrow = [-(2**63), 2**63 - 1, 123_456_789, 0, -5]
    for kind, names in (("narrow", narrow), ("wide", [*narrow[1:], 10**30])):
        folder = tmp_path / kind
        folder.mkdir()
        write_mapped(random_model(trees.random_tree(5, 1), names), folder)
        assert ("123456789" in (folder / "index.json").read_text()) == (kind == "wide")
        mapped = open_mapped(folder).names
        assert (list(mapped), mapped[:], mapped.take([1, 2]), mapped.kind) == (names, names, names[1:3], "int")
        assert {type(name) for name in mapped} == {int}
        assert [mapped.index_of(name) for name in names] == list(range(5))
        assert mapped.index_of_many(names[::-1]).tolist() == [4, 3, 2, 1, 0]
        assert not any(other in mapped for other in (1, -6, 2**63, 10**400, "0", 0.5, None))
        assert mapped.from_text("123456789") == 123_456_789
        with pytest.raises(InputError, match="no node named 12345678; did you mean 123456789"):
            mapped.index_of(12_345_678)


def test_names_are_found_by_bisection(tmp_path):
    names = [f"{i * 7919 % 1000:03d}é" for i in range(1000)]
    write_mapped(random_model(trees.random_tree(1000, 1), names), tmp_path)
    mapped = open_mapped(tmp_path)
    for code, name in enumerate(names):
        assert mapped.names.index_of(name) == code
        assert name[:-1] not in mapped
        assert name + "\0" not in mapped
    with pytest.raises(InputError, match=r"no node named '1200é'; did you mean '120é'"):
        mapped.names.index_of("1200é")


# ---- refusals ----


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_large_body_where_none_is_read_is_nothing_to_the_answer(method):
    """A page that is streamed listens for the end of its client meanwhile, and must not meet a refusal there."""
    heard = []

    async def streamed(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        heard.append(await receive())
        await send({"type": "http.response.body", "body": b"page"})

    async def listening_first(scope, receive, send):
        heard.append(await receive())
        await streamed(scope, receive, send)

    for inner in (streamed, listening_first):
        guarded = Guard(inner, ServeSettings(max_body=1_000))
        status, _, content = run_async(exchange(guarded, "/", method, [b"x" * 5_000, b"y" * 5_000]))
        assert (status, content) == (200, b"page")
    assert {message["body"] for message in heard} == {b""}


def test_raw_bytes_in_an_address_are_refused(app):
    """Not percent-encoded, as nobody sends them but who means harm."""
    for place in ("/x", "/neighbors", "/info"):
        refused(ask(app, f"{place}?\udcff"), 400, "UTF-8", "%C3%A4")


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/neighbors", 422, ["'node' is missing"]),
        ("/distance?a=dog.n.01", 422, ["'b' is missing"]),
        ("/neighbors?node=dog.n.01&k=0", 422, ["between 1 and 1,000", "0"]),
        ("/neighbors?node=dog.n.01&k=-3", 422, ["between 1 and 1,000"]),
        ("/neighbors?node=dog.n.01&k=1001", 422, ["between 1 and 1,000"]),
        ("/neighbors?node=dog.n.01&k=" + "9" * 5000, 422, ["between 1 and 1,000"]),
        ("/neighbors?node=dog.n.01&k=1e1", 422, ["'1e1'"]),
        ("/neighbors?node=dog.n.01&k=٣", 422, ["whole number"]),
        ("/neighbors?node=dog.n.01&k=NaN", 422, ["whole number"]),
        ("/neighbors?node=dog.n.01&k=", 422, ["whole number"]),
        ("/neighbors?node=dog.n.01&K=3", 422, ["no parameter 'K'", "node, k, from"]),
        ("/neighbors?node=dog.n.01&node=cat.n.01", 422, ["'node' is given twice"]),
        ("/neighbors?node=dog.n.01&from=guess", 422, ["geometry, hierarchy", "'guess'"]),
        ("/vector?node=dog.n.01&coordinates=klein", 422, ["ball", "'klein'"]),
        ("/neighbors?node=%ff", 400, ["UTF-8"]),
        ("/neighbors?" + "&".join("abcdefghijklmnopqrstuvwxyz"), 400, ["query"]),
        ("/neighbors?node=dgo.n.01", 404, ["no node named 'dgo.n.01'", "'dog.n.01'"]),
        ("/distance?a=dog.n.01&b=", 404, ["no node named ''"]),
        ("/neighbors?node=%00", 404, ["no node named '\\x00'"]),
        ("/neighbors?node=" + "x" * 1025, 422, ["at most 1,024 characters"]),
        ("/neighbors?node=" + "x" * 40_000, 414, ["POST"]),
        ("/../../etc/passwd", 404, ["nothing at"]),
        ("/%2e%2e/%2e%2e/etc/passwd", 404, ["nothing at"]),
        ("/%252e%252e%252fetc%252fpasswd", 404, ["nothing at"]),
        ("/neighbors/../info", 404, ["nothing at"]),
        ("/info%00", 404, ["nothing at"]),
        ("//info", 404, ["nothing at"]),
        ("/info/", 404, ["nothing at"]),
        ("/index.html", 404, ["nothing at"]),
        ("/page.html", 404, ["nothing at"]),
    ],
)
def test_bad_addresses_are_refused_in_one_sentence(app, address, status, words):
    address = quote(address, safe="/%?&=*")
    refused(ask(app, address), status, *words)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, ["not valid JSON"]),
        (b"{", 400, ["not valid JSON"]),
        (b'{"nodes": [NaN]}', 400, ["not valid JSON"]),
        (b'{"nodes": ["dog.n.01"], "k": Infinity}', 400, ["not valid JSON"]),
        (b'{"nodes": ["\xff"]}', 400, ["UTF-8"]),
        ('{"nodes": ["dog.n.01"]}'.encode("utf-16"), 400, ["UTF-8"]),
        (b"[" * 100_000, 400, ["not valid JSON"]),
        (b'{"nodes": ["dog.n.01"], "k": ' + b"9" * 5000 + b"}", 400, ["not valid JSON"]),
        (b"null", 422, ["JSON object"]),
        (b'["dog.n.01"]', 422, ["JSON object"]),
        (b"{}", 422, ["'nodes'"]),
        (b'{"nodes": []}', 422, ["1 to 1,000"]),
        (b'{"nodes": "dog.n.01"}', 422, ["list"]),
        (json.dumps({"nodes": ["dog.n.01"] * 1001}).encode(), 422, ["1 to 1,000"]),
        (b'{"nodes": [3]}', 422, ["a text, not by 3"]),
        (b'{"nodes": [null]}', 422, ["not by None"]),
        (b'{"nodes": [["dog.n.01"]]}', 422, ["a text"]),
        (b'{"nodes": ["\\ud800"]}', 422, ["surrogate"]),
        (b'{"nodes": ["dog.n.01"], "k": "3"}', 422, ["whole number"]),
        (b'{"nodes": ["dog.n.01"], "k": 2.5}', 422, ["2.5"]),
        (b'{"nodes": ["dog.n.01"], "k": 1e999}', 422, ["inf"]),
        (b'{"nodes": ["dog.n.01"], "k": 1' + b"0" * 400 + b"}", 422, ["between 1 and 1,000"]),
        (b'{"nodes": ["dog.n.01"], "k": true}', 422, ["True"]),
        (b'{"nodes": ["dog.n.01"], "k": null}', 422, ["None"]),
        (b'{"nodes": ["dog.n.01"], "k": 1000000000000}', 422, ["between 1 and 1,000"]),
        (b'{"nodes": ["dog.n.01"], "from": ["geometry"]}', 422, ["must be one of"]),
        (b'{"nodes": ["dog.n.01"], "source": "geometry"}', 422, ["no parameter 'source'"]),
        (b'{"nodes": ["dog.n.01"], "\\ud800": 1}', 422, ["no parameter"]),
    ],
)
def test_bad_bodies_are_refused_in_one_sentence(app, body, status, words):
    refused(ask(app, "/neighbors", "POST", body), status, *words)


def test_pairs_are_pairs(app):
    for pairs in ([["dog.n.01"]], [["dog.n.01"] * 3], ["dog.n.01"], [{"a": "dog.n.01"}], [None]):
        refused(post(app, "/distance", {"pairs": pairs}), 422, "list of two names")
    refused(post(app, "/distance", {"nodes": ["dog.n.01"]}), 422, "no parameter 'nodes'")


def test_other_types_and_methods_are_refused(app):
    body = b'{"nodes": ["dog.n.01"]}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"):
        refused(ask(app, "/neighbors", "POST", body, headers={"content-type": kind}), 415, "application/json")
    kind = "Application/JSON; charset=utf-8"
    assert ask(app, "/neighbors", "POST", body, headers={"content-type": kind})[0] == 200
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"):
        status, headers, content = run_async(exchange(app, "/neighbors", method))
        refused((status, json.loads(content)), 405, method, "not allowed")
        assert set(headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}
    refused(ask(app, "/health", "POST", b"{}"), 405)
    assert run_async(exchange(app, "/health", "HEAD"))[0] == 200


def test_a_failure_inside_is_told_without_its_reason(app, monkeypatch):
    monkeypatch.setattr(Embedding, "distance", lambda *_: 1 / 0)
    answer = ask(app, "/distance?a=dog.n.01&b=cat.n.01", logged=(ZeroDivisionError,))
    refused(answer, 500, "the service failed")
    assert "division" not in answer[1]["error"]


# ---- batches ----


def test_one_unknown_name_of_a_hundred_leaves_99_answers(mammals, app):
    names = list(mammals)[:100]
    asked = [*names[:41], "dgo.n.01", *names[42:]]
    status, found = post(app, "/neighbors", {"nodes": asked, "k": 2})
    assert status == 200
    answers = found["answers"]
    assert [one["node"] for one in answers] == asked
    assert answers[41].keys() == {"node", "error"}
    assert "no node named 'dgo.n.01'" in answers[41]["error"]
    whole = post(app, "/neighbors", {"nodes": names, "k": 2})[1]["answers"]
    assert [one for place, one in enumerate(answers) if place != 41] == [*whole[:41], *whole[42:]]


def test_a_pair_is_unanswered_as_a_pair_and_all_may_be(app):
    pairs = [["dog.n.01", "unicorn"], ["dog.n.01", "cat.n.01"], ["pegasus", "unicorn"]]
    status, found = post(app, "/distance", {"pairs": pairs})
    assert status == 200
    assert [sorted(one) for one in found["answers"]] == [
        ["a", "b", "error"],
        ["a", "b", "distance"],
        ["a", "b", "error"],
    ]
    assert (found["answers"][0]["a"], found["answers"][0]["b"]) == ("dog.n.01", "unicorn")
    assert "'pegasus'" in found["answers"][2]["error"]  # the first of the two that is wrong
    status, found = post(app, "/parent", {"nodes": ["pegasus", "unicorn"], "from": "hierarchy"})
    assert (status, [list(one) for one in found["answers"]]) == (200, [["node", "error"]] * 2)


def test_what_may_come_instead_of_an_answer_is_described(app):
    schemas = ask(app, "/openapi.json")[1]["components"]["schemas"]
    either = schemas["PathAnswers"]["properties"]["answers"]["items"]["anyOf"]
    assert [one["$ref"].rpartition("/")[2] for one in either] == ["PathAnswer", "PathUnanswered"]
    assert schemas["PathUnanswered"]["required"] == ["a", "b", "error"]


# ---- limits ----


def test_large_bodies_are_refused_announced_or_not(mammals, tmp_path):
    app = application(mammals, tmp_path, max_body=1000)
    piece = b" " * 100
    for headers in ({"content-length": "1001"}, {"content-length": "9" * 30}, {}):
        status, found, content = run_async(exchange(app, "/neighbors", "POST", [piece] * 11, headers=headers))
        refused((status, json.loads(content)), 413, "1,000 bytes")
        assert found["connection"] == "close"
    refused(ask(app, "/neighbors", "POST", [piece] * 10), 400, "not valid JSON")  # all of it was read


def test_slow_bodies_run_out_of_time(mammals, tmp_path):
    app = application(mammals, tmp_path, timeout=0.2)
    began = time.monotonic()
    answer = ask(app, "/neighbors", "POST", [b" "] * 1000, pause=0.05)
    refused(answer, 408, "0.2 seconds")
    assert time.monotonic() - began < 20


def test_slow_answers_run_out_of_time_and_are_not_worked_on_any_longer(mammals, tmp_path, monkeypatch):
    app = application(mammals, tmp_path, timeout=0.2)
    parts = []

    def slow(self, names, *_):
        parts.append(len(names))
        time.sleep(0.15)
        return [[]] * len(names)

    monkeypatch.setattr("treeball.embedding._answers.parents_of", slow)
    refused(post(app, "/parent", {"nodes": list(mammals)[:1000]}), 503, "0.2 seconds")
    time.sleep(0.5)
    assert 1 <= len(parts) <= 3  # of 16


def test_answers_have_a_largest_size(mammals, tmp_path):
    app = application(mammals, tmp_path, max_answer=100)
    assert ask(app, "/neighbors?node=dog.n.01&k=100")[0] == 200
    refused(ask(app, "/neighbors?node=dog.n.01&k=101"), 422, "more than 100 entries")
    refused(post(app, "/neighbors", {"nodes": ["dog.n.01"] * 20, "k": 10}), 422, "more than 100 entries")


def test_more_requests_than_allowed_are_told_to_come_back(mammals, tmp_path):
    app = application(mammals, tmp_path, max_concurrent=1)
    body = [b'{"nodes": ', b'["dog.n.01"]}']

    async def three():
        return await asyncio.gather(
            exchange(app, "/parent", "POST", body, pause=0.2), exchange(app, "/info"), exchange(app, "/health")
        )

    first, second, health = run_async(three())
    assert (first[0], health[0]) == (200, 200)
    refused((second[0], json.loads(second[2])), 503, "try again")
    assert second[1]["retry-after"] == "1"
    assert ask(app, "/info")[0] == 200  # it is over


def test_close_names_take_a_tenth_of_the_time_at_most(mammals, tmp_path, monkeypatch):
    app = application(mammals, tmp_path)
    close_matches = treeball.hierarchy.names.Names.close_matches
    searches = []

    def slow(self, text, most=3):
        searches.append(text)
        time.sleep(0.3)
        return close_matches(self, text, most)

    monkeypatch.setattr(treeball.hierarchy.names.Names, "close_matches", slow)

    async def both():
        return await asyncio.gather(exchange(app, "/parent?node=dgo.n.01"), exchange(app, "/parent?node=cta.n.01"))

    first, second = run_async(both())
    assert "did you mean 'dog.n.01'" in json.loads(first[2])["error"]
    assert json.loads(second[2]) == {"error": "no node named 'cta.n.01'"}
    assert "did you mean 'dog.n.01'" in ask(app, "/parent?node=dgo.n.01")[1]["error"]  # remembered
    assert searches == ["dgo.n.01"]


def test_an_unknown_node_is_told_of_in_time_whether_close_names_are_found_or_not(mammals, tmp_path, monkeypatch):
    app = application(mammals, tmp_path, timeout=5)
    monkeypatch.setattr("treeball.service.app._SEARCH_SECONDS", 0.05)

    def take_long(*_):
        time.sleep(0.5)
        return []

    monkeypatch.setattr(treeball.hierarchy.names.Names, "close_matches", take_long)
    assert ask(app, "/parent?node=dgo.n.01") == (404, {"error": "no node named 'dgo.n.01'"})


def test_questions_that_took_long_do_not_hold_up_others(mammals, tmp_path, monkeypatch):
    app = application(mammals, tmp_path)
    in_loop = []  # whether each question was answered in the event loop, not in a thread of the pool

    def note():
        in_loop.append(asyncio._get_running_loop() is not None)

    def busy(self, names, *_):
        note()
        until = time.thread_time() + 0.01
        while time.thread_time() < until:
            pass
        return [[]] * len(names)

    def quick(self, names, *_):
        note()
        return [[]] * len(names)

    monkeypatch.setattr("treeball.embedding._answers.parents_of", busy)
    monkeypatch.setattr("treeball.embedding._answers.children_of", quick)
    for _ in range(3):
        assert ask(app, "/parent?node=dog.n.01")[0] == 200
    assert in_loop == [True, False, False]
    for _ in range(3):
        assert ask(app, "/children?node=dog.n.01")[0] == 200
    assert in_loop[3:] == [True] * 3
    post(app, "/children", {"nodes": ["dog.n.01"] * 1000})
    assert len(in_loop) == 6 + 16


def test_settings_are_checked():
    for name, wrong in (("port", 70000), ("workers", 0), ("max_k", 0), ("timeout", 0.0), ("timeout", float("inf"))):
        with pytest.raises(InputError, match=name):
            ServeSettings(**{name: wrong})  # type: ignore[arg-type]


# ---- headers and the page ----


def test_headers_are_safe_and_only_this_machine_is_answered(app):
    for address in ("/health", "/neighbors", "/nothing"):
        headers = run_async(exchange(app, address))[1]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers
    for host in ("127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:8000"):
        assert ask(app, "/health", headers={"host": host})[0] == 200
    for host in ("evil.example", "", "127.0.0.1.evil.example", "evil.example:80"):
        refused(ask(app, "/health", headers={"host": host}), 403, "only this machine")


def test_other_origins_may_ask_only_where_allowed(mammals, tmp_path):
    app = application(mammals, tmp_path, cors=("https://shop.example",))
    for origin, allowed in (("https://shop.example", True), ("https://evil.example", False)):
        status, headers, _ = run_async(exchange(app, "/health", headers={"origin": origin}))
        assert status == 200
        assert (headers.get("access-control-allow-origin") == origin) == allowed
        asking = {"origin": origin, "access-control-request-method": "POST"}
        assert (run_async(exchange(app, "/neighbors", "OPTIONS", headers=asking))[0] == 200) == allowed


def test_the_page_is_made_once_when_it_is_asked_for(mammals, tmp_path, monkeypatch):
    made = []

    def make_page(embedding, *, title):
        made.append(title)
        time.sleep(0.3)
        return f"<html>{title}"

    monkeypatch.setattr("treeball.report.browser.make_page", make_page)
    app = application(mammals, tmp_path, timeout=0.1)

    async def two_at_once():
        first = await asyncio.gather(exchange(app, "/"), exchange(app, "/"))
        await asyncio.sleep(0.5)
        return first, await exchange(app, "/")

    early, later = run_async(two_at_once())
    for answer in early:
        refused((answer[0], json.loads(answer[2])), 503, "try again")
    assert made == ["a title"]
    status, headers, content = later
    assert (status, content.decode()) == (200, "<html>a title")
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert headers["content-security-policy"] == "frame-ancestors 'none'"


def test_the_page_in_chromium(model):
    with serving(model) as (port, _, _):
        address = f"http://127.0.0.1:{port}/"
        seen = look(address, wait_for="#stage")
    assert seen["problems"] == []
    assert all(asked.startswith((address, "data:", "blob:")) for asked in seen["requests"])
    assert "mammal.n.01" in seen["text"]


# ---- the command ----


@contextlib.contextmanager
def serving(model, *options, ending=signal.SIGINT, limited=None):
    """The command in a process of its own: its port, what it has said so far and at its end, and the process.

    `limited` is called in that process before the command begins.
    """
    command = [sys.executable, "-m", "treeball", "serve", str(model), "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=limited) as process:
        try:
            said = [process.stderr.readline(), process.stderr.readline()]
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", said[0])
            assert found, (said, process.stderr.read())
            yield int(found[1]), said, process
            process.send_signal(ending)
            said += process.communicate(timeout=60)[1].splitlines()
            assert process.returncode == (130 if ending == signal.SIGINT else 0), said
        finally:
            process.kill()


def fetch(port, address, method="GET", body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, address, body, headers or {})
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def model(mammals, tmp_path_factory):
    return mammals.save(tmp_path_factory.mktemp("model") / "mammals.parquet")


@pytest.mark.parametrize(
    ("workers", "ending"), [(1, signal.SIGINT), (1, signal.SIGTERM), (2, signal.SIGTERM), (2, signal.SIGINT)]
)
def test_the_command_serves_until_its_end(mammals, model, workers, ending, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with serving(model, "--workers", str(workers), "--max-k", "7", ending=ending) as (port, said, _):
        assert "1,182 nodes" in said[0]
        assert "k 7" in said[1]
        assert len(list(tmp_path.iterdir())) == 1
        names = list(mammals)
        wrong = []

        def client(first):
            for name in names[first : first + 200 : 10]:
                status, body = fetch(port, f"/distance?a=dog.n.01&b={quote(name)}")
                if status != 200 or json.loads(body)["distance"] != pytest.approx(mammals.distance("dog.n.01", name)):
                    wrong.append((name, status, body))

        clients = [threading.Thread(target=client, args=(first,)) for first in range(8)]
        for thread in clients:
            thread.start()
        for thread in clients:
            thread.join()
        assert wrong == []
        status, body = fetch(port, "/neighbors?node=dog.n.01&k=8")
        assert (status, json.loads(body)) == (422, {"error": "k must be a whole number between 1 and 7, not 8"})
        assert fetch(port, "/neighbors", "POST", iter([b'{"nodes": ', b'["dog.n.01"]}']))[0] == 415
        kind = {"Content-Type": "application/json"}
        assert fetch(port, "/neighbors", "POST", iter([b'{"nodes": ', b'["dog.n.01"]}']), kind)[0] == 200
        status, page = fetch(port, "/")
        assert status == 200
        assert b"<title>mammals" in page
        assert fetch(port, "/%2e%2e/%2e%2e/etc/passwd")[0] == 404
    assert said[-1] == "stopped"
    assert "Traceback" not in "".join(said)
    assert list(tmp_path.iterdir()) == []


def test_a_body_without_an_end_is_cut_off(model):
    with serving(model, "--max-body", "100000") as (port, _, _):
        with socket.create_connection(("127.0.0.1", port), 60) as client:
            head = "POST /neighbors HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            client.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
            for _ in range(25):
                client.sendall(b"1000\r\n" + b" " * 4096 + b"\r\n")
            reply = b""
            while piece := client.recv(4096):  # until the server closes
                reply += piece
        assert reply.startswith(b"HTTP/1.1 413 ")
        assert reply.endswith(b'{"error":"a body has at most 100,000 bytes: ask in several requests"}')
        assert fetch(port, "/health")[0] == 200


def test_a_client_that_hangs_up_is_not_worth_a_word(model):
    with serving(model) as (port, said, _):
        with socket.create_connection(("127.0.0.1", port), 60) as client:
            head = "POST /neighbors HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            client.sendall(f'{head}Content-Length: 100\r\n\r\n{{"nodes": ['.encode())
            assert fetch(port, "/health")[0] == 200  # by now the first request waits for its body
        assert fetch(port, "/health")[0] == 200
    assert said[2:] == ["stopped"]


WAITS = """
import multiprocessing, os, pathlib, time
def wait():
    pathlib.Path(__file__).with_name(f"{os.getpid()}.here").touch()
    time.sleep(600)
"""
WAITS_TO_SERVE = WAITS + "def app(*_): wait()"
WAITS_TO_IMPORT = WAITS + "def app(*_): ...\nif multiprocessing.current_process().name != 'MainProcess': wait()"


def starting(model, folder, module, patience=120):
    """The command with two processes that make the `app` of another module; its temporary files are in `folder`."""
    (folder / "odd.py").write_text(module)
    code = (
        "import sys, odd, treeball.service.run as run; from treeball.cli.main import main; "
        f"run.mapped_app, run._PATIENCE = odd.app, {patience}; main(sys.argv[1:])"
    )
    (folder / "temporary").mkdir()
    return subprocess.Popen(
        [sys.executable, "-c", code, "serve", str(model), "--port", "0", "--workers", "2"],
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder / "temporary")},
        start_new_session=True,
    )


def ended(process, folder):
    """Exit code and words of a command that must come to its end by itself, and leave nothing behind."""
    try:
        said = process.communicate(timeout=60)[1]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert list((folder / "temporary").iterdir()) == []
    return process.returncode, said


@pytest.mark.skipif(os.name != "posix", reason="ends a group of processes")
@pytest.mark.parametrize(
    ("module", "patience"), [("import os\ndef app(*_): os._exit(7)", 120), (WAITS_TO_SERVE, 1)], ids=["end", "wait"]
)
def test_processes_that_do_not_become_ready_end_the_command(model, tmp_path, module, patience):
    code, said = ended(starting(model, tmp_path, module, patience), tmp_path)
    assert code == 1
    assert said == "treeball: not all of the 2 processes could start: see what they said, or try fewer --workers\n"


@pytest.mark.skipif(os.name != "posix", reason="ends a group of processes")
@pytest.mark.parametrize("module", [WAITS_TO_IMPORT, WAITS_TO_SERVE], ids=["import", "serve"])
def test_an_interruption_while_processes_start_ends_the_command(model, tmp_path, module):
    process = starting(model, tmp_path, module)
    until = time.monotonic() + 60
    while len(list(tmp_path.glob("*.here"))) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    assert ended(process, tmp_path) == (130, "stopped\n")


def test_what_cannot_be_served_is_refused_in_one_sentence(model, tmp_path, capsys):
    def sentence(*arguments):
        assert run(["serve", *map(str, arguments)]) == 2
        lines = capsys.readouterr().err.strip().splitlines()
        assert len(lines) == 1
        return lines[0]

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"cannot serve on port {port}" in sentence(model, "--port", port)
    assert "between 0 and 65535" in sentence(model, "--port", 70000)
    assert "cannot serve at 'no.such.host.invalid'" in sentence(model, "--host", "no.such.host.invalid")
    assert "there is no file" in sentence(tmp_path / "none.parquet")


WITHOUT_PYDANTIC = """
import sys
class Without:
    def find_spec(self, name, *_):
        if name == "pydantic":
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Without())
from treeball.cli.main import main
main(sys.argv[1:])
"""


def test_without_the_extra_one_sentence_names_it(model):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PYDANTIC, "serve", model], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.strip() == (
        "treeball: treeball serve needs the library 'pydantic' (extra 'serve'): install it with pip install pydantic"
    )


def test_the_rest_of_treeball_does_not_know_of_it():
    code = "import sys, treeball, treeball.cli.main; treeball.load; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"starlette", "uvicorn", "treeball.web", "treeball.service.app"} & set(done.stdout.split())
    assert Path(treeball.__file__).parent.joinpath("service").is_dir()
