"""The command against clients that hold what they have: connections, heads without an end, answers not taken."""

from __future__ import annotations

import contextlib
import json
import os
import socket

import pytest

import treeball
from treeball import InputError
from treeball.service.settings import ServeSettings

pytest.importorskip("pydantic")

from treeball.service.descriptors import within_descriptors
from treeball.service.guard import Guard

from .test_serve import ask, exchange, fetch, refused, run_async, serving

POSIX = pytest.mark.skipif(os.name != "posix", reason="limits on descriptors are set here")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    tree = [(i, i // 3) for i in range(1, 60)]
    return treeball.fit(tree, method="sarkar", dim=3).save(tmp_path_factory.mktemp("model") / "small.parquet")


def to_256_descriptors():
    """For the service alone: what runs the tests may have more files open than that."""
    import resource

    resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


@POSIX
def test_300_slow_clients_at_256_descriptors_silence_nobody(model):
    with contextlib.ExitStack() as stack:
        port, said, _ = stack.enter_context(serving(model, limited=to_256_descriptors))
        for i in range(300):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port), 30))
            client.sendall((b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n")[i % 2])
        for _ in range(5):
            assert fetch(port, "/health")[0] == 200
            assert fetch(port, "/parent?node=7")[0] == 200
        assert json.loads(fetch(port, "/info")[1])["limits"]["connections"] < 256
    assert len(said) < 20
    assert "Traceback" not in "".join(said)


def test_a_connection_without_a_request_ends(model):
    with serving(model, "--timeout", "1") as (port, _, _):
        for sent in (b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: "):
            with socket.create_connection(("127.0.0.1", port), 30) as client:
                client.sendall(sent)
                assert client.recv(1) == b""


def test_headers_have_a_largest_size(model):
    with serving(model) as (port, _, _):
        with socket.create_connection(("127.0.0.1", port), 30) as client:
            sent = 0
            with contextlib.suppress(ConnectionError):
                client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
                while sent < 80_000_000:
                    client.sendall(b"a: %s\r\n" % (b"b" * 8_000))
                    sent += 8_000
            assert sent < 80_000_000
        status, body = fetch(port, "/health", headers={"Long": "a" * 33_000})
        refused((status, json.loads(body)), 431, "32,768 bytes")
        assert fetch(port, "/health", headers={"Long": "a" * 30_000})[0] == 200


def test_nonsense_does_not_fill_the_log(model):
    with serving(model) as (port, said, _):
        for _ in range(100):
            with socket.create_connection(("127.0.0.1", port), 30) as client:
                client.sendall(b"this is not HTTP\r\n\r\n")
                assert client.recv(1_000).startswith(b"HTTP/1.1 400 ")
        assert fetch(port, "/health")[0] == 200
    assert len(said) < 20


# ---- one request, without a server ----


async def _echo(scope, receive, send):
    """Reads a body to its end, then answers."""
    while (await receive()).get("more_body", False):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": b"{}"})


def test_bodies_that_are_awaited_hold_a_limited_part_of_memory_together():
    guard = Guard(_echo, ServeSettings(max_body=1_000))
    guard.held = 15_500  # of other requests
    with pytest.raises(Exception, match="too many large bodies"):
        ask(guard, "/x", "POST", [b" " * 400, b" " * 400])
    assert (guard.held, guard.running) == (15_500, 0)
    assert ask(guard, "/x", "POST", [b" " * 400])[0] == 200
    assert (guard.held, guard.running) == (15_500, 0)


def test_a_request_counts_until_its_answer_begins():
    seen = []

    async def app(scope, receive, send):
        seen.append(guard.running)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        seen.append(guard.running)

    guard = Guard(app, ServeSettings())
    run_async(exchange(guard, "/x"))
    assert seen == [1, 0]
    assert guard.running == 0


@POSIX
def test_limits_fit_the_descriptors_that_there_are(monkeypatch):
    for left, connections, concurrent in ((None, 1_000, 256), (10_000, 1_000, 256), (246, 150, 112), (112, 16, 12)):
        monkeypatch.setattr("treeball.service.descriptors.descriptors_left", lambda left=left: left)
        fit = within_descriptors(ServeSettings())
        assert (fit.max_connections, fit.max_concurrent) == (connections, concurrent)
    monkeypatch.setattr("treeball.service.descriptors.descriptors_left", lambda: 100)
    with pytest.raises(InputError, match="ulimit -n"):
        within_descriptors(ServeSettings())
