"""Connections that keep a server waiting end, whichever library reads them; those that do not are left alone."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
import time

import pytest

pytest.importorskip("httptools")

from treeball.web import BoundedServer, Bounds, bounded_config, connections, listen
from treeball.web.connections import Connections, H11Connection
from treeball.web.fast_connections import HttpToolsConnection

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
LARGE = 30_000_000  # bytes, more than all buffers on the way


async def app(scope, receive, send):
    """Answers at once, whatever is asked; /large with a lot, /body when all of the body is there."""
    if scope["path"] == "/body":
        while (await receive()).get("more_body", False):
            pass
    body = b"." * LARGE if scope["path"] == "/large" else b"well"
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(params=[HttpToolsConnection, H11Connection], ids=["httptools", "h11"])
def kind(request):
    return request.param


@contextlib.contextmanager
def running(kind, seconds=60.0, connections=100):
    """A server in a thread: its port, and what it knows of its connections."""
    config = bounded_config(app, log_config=None, log_level="critical", timeout_keep_alive=60)
    config.http = kind
    server = BoundedServer(config, Bounds(seconds, connections))
    listening = listen(0)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield listening.getsockname()[1], server.server_state
    finally:
        server.should_exit = server.force_exit = True
        thread.join()


def connect(port):
    return socket.create_connection(("127.0.0.1", port), 30)


def read_all(client):
    """What the server sends until it closes."""
    received = b""
    with contextlib.suppress(ConnectionError):
        while piece := client.recv(65_536):
            received += piece
    return received


def answered(client, request=REQUEST):
    """The next answer, all of it."""
    client.sendall(request)
    received = b""
    while not received.endswith(b"well") and (piece := client.recv(65_536)):
        received += piece
    return received


@pytest.mark.parametrize("sent", [b"", b"G", REQUEST[:-2], REQUEST, REQUEST + b"GET /"], ids=repr)
def test_a_client_that_does_not_finish_its_request_is_dropped(kind, sent):
    with running(kind, seconds=1.5) as (port, _), connect(port) as client:
        client.sendall(sent)
        received = read_all(client)  # the test is that it ends
        assert received.count(b"HTTP/1.1 200 OK") == (1 if sent.startswith(REQUEST) else 0)


def test_a_drop_now_and_then_does_not_help(kind):
    with running(kind, seconds=0.5) as (port, _), connect(port) as client:
        client.settimeout(0.1)
        deadline = time.monotonic() + 30
        with contextlib.suppress(ConnectionError):
            client.sendall(REQUEST[:-2])
            while time.monotonic() < deadline:
                client.sendall(b"a: b\r\n")
                with contextlib.suppress(TimeoutError):
                    if client.recv(1000) == b"":
                        return
        assert time.monotonic() < deadline


def test_a_body_that_goes_on_after_the_answer_does_not_help_either(kind):
    with running(kind, seconds=0.5) as (port, _), connect(port) as client:
        deadline = time.monotonic() + 30
        with contextlib.suppress(ConnectionError):
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            while time.monotonic() < deadline:
                client.sendall(b"4\r\nmore\r\n")
                time.sleep(0.01)
        assert time.monotonic() < deadline


def test_a_client_that_reads_nothing_is_dropped(kind):
    with running(kind, seconds=0.5) as (port, known), connect(port) as client:
        client.sendall(REQUEST.replace(b"/", b"/large", 1))
        deadline = time.monotonic() + 30
        while not known.connections and time.monotonic() < deadline:
            time.sleep(0.01)
        while known.connections and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not known.connections
        assert len(read_all(client)) < LARGE


class Outgoing:
    """A transport with bytes that were not taken."""

    left, is_aborted = 0, False

    def get_write_buffer_size(self):
        return self.left

    def abort(self):
        self.is_aborted = True


def test_a_client_that_takes_its_time_but_takes_its_answer_is_left_alone(kind):
    connection = object.__new__(kind)
    connection.transport, connection.cycle = Outgoing(), None
    connection.server_state = Connections(Bounds(seconds=10.0))
    connection.transport.left = LARGE
    for second in range(100):
        connection.look(float(second))
        connection.transport.left -= 7_000  # 70,000 in ten seconds
    assert not connection.transport.is_aborted
    for second in range(100, 120):
        connection.look(float(second))
        connection.transport.left -= 5_000
    assert connection.transport.is_aborted


def test_answers_that_nobody_takes_are_limited_together(kind, monkeypatch):
    monkeypatch.setattr("treeball.web.connections._MOST_UNREAD", 2 * LARGE)
    with running(kind) as (port, known), contextlib.ExitStack() as stack:
        for _ in range(4):
            client = stack.enter_context(connect(port))
            client.sendall(REQUEST.replace(b"/", b"/large", 1))
        deadline = time.monotonic() + 30
        while known.total_requests < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        while len(known.connections) > 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(known.connections) == 2


def test_for_a_new_connection_the_one_that_waits_longest_gives_way(kind):
    with running(kind, connections=3) as (port, _), contextlib.ExitStack() as stack:
        first, second, third = (stack.enter_context(connect(port)) for _ in range(3))
        for client in (second, third, first):  # the second is now the one that waits longest
            assert answered(client).startswith(b"HTTP/1.1 200 OK")
        fourth = stack.enter_context(connect(port))
        assert answered(fourth).startswith(b"HTTP/1.1 200 OK")
        assert read_all(second) == b""
        for client in (first, third, fourth):
            assert answered(client).startswith(b"HTTP/1.1 200 OK")


def test_one_that_sends_its_body_gives_way_too(kind):
    with running(kind, connections=1) as (port, _), connect(port) as slow:
        slow.sendall(b"POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n12345")
        time.sleep(0.2)
        with connect(port) as client:
            assert answered(client).startswith(b"HTTP/1.1 200 OK")
        assert read_all(slow) == b""


def test_a_head_has_a_largest_size(kind):
    with running(kind) as (port, _), connect(port) as client:
        sent = 0
        with contextlib.suppress(ConnectionError):
            client.sendall(REQUEST[:-2] + b"a: ")
            while sent < 80_000_000:
                client.sendall(b"b" * 10_000)
                sent += 10_000
        assert sent < 80_000_000


def test_a_head_that_comes_slowly_has_the_same_size_and_the_client_is_told(kind):
    with running(kind) as (port, _), connect(port) as client:
        client.sendall(REQUEST[:-2] + b"a: ")
        for _ in range(70):
            client.sendall(b"b" * 1_000)
            time.sleep(0.002)
            if socket_has_answer(client):
                break
        status = b"431" if kind is HttpToolsConnection else b"400"
        assert client.recv(1_000).startswith(b"HTTP/1.1 " + status)


def socket_has_answer(client):
    client.setblocking(False)
    try:
        return bool(client.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False
    finally:
        client.settimeout(30)


@pytest.mark.parametrize("endless", [b"1;a=%s", b"0\r\n%s", b"0\r\na: %s", b"0\r\n" + b"a: b\r\n" * 1_500], ids=repr)
@pytest.mark.parametrize("path", [b"/", b"/body"])
def test_what_is_around_a_body_has_an_end(kind, endless, path):
    with running(kind) as (port, _), connect(port) as client:
        head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" % path
        sent = 0
        with contextlib.suppress(ConnectionError):
            first, _, rest = endless.partition(b"%s")
            client.sendall(head + first)
            piece = (b"a" * 10_000) if b"%s" in endless else b"a: b\r\n" * 1_500
            while sent < 80_000_000:
                client.sendall(piece + rest)
                sent += len(piece)
        assert sent < 80_000_000


def test_bodies_in_small_chunks_are_read(kind):
    with running(kind) as (port, _), connect(port) as client:
        client.sendall(b"POST /body HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(200):
            client.sendall(b"1\r\na\r\n" * 100)
        assert answered(client, b"0\r\n\r\n").startswith(b"HTTP/1.1 200 OK")
        assert answered(client).startswith(b"HTTP/1.1 200 OK")


def test_requests_in_advance_are_answered_but_not_any_number(kind):
    with running(kind) as (port, _):
        with connect(port) as client:
            client.sendall(REQUEST * 10)
            received = b""
            while received.count(b"well") < 10:
                received += client.recv(65_536)
        with connect(port) as client:
            with contextlib.suppress(ConnectionError):
                client.sendall(REQUEST * 5_000)
            # One library reads no request before the one before is answered; with the other there would be 5,000 to do.
            assert (answers_until_silence(client) < 5_000) == (kind is HttpToolsConnection)
            with connect(port) as another:
                assert answered(another).startswith(b"HTTP/1.1 200 OK")


def answers_until_silence(client):
    client.settimeout(2)
    received = b""
    with contextlib.suppress(ConnectionError, TimeoutError):
        while piece := client.recv(65_536):
            received += piece
    return received.count(b"well")


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\n: a\r\n\r\n",
    ],
    ids=repr,
)
def test_nonsense_is_refused_and_the_connection_ends(kind, nonsense):
    with running(kind) as (port, _), connect(port) as client:
        client.sendall(nonsense)
        received = read_all(client)
        if b"chunked" not in nonsense:  # else the answer may already have begun
            assert b'{"error": "this is no request of HTTP/1.1"}' in received
        with connect(port) as another:
            assert answered(another).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("protocol", [b"websocket", b"h2c"])
def test_another_protocol_is_not_spoken_and_the_connection_goes_on(kind, protocol):
    upgrade = REQUEST[:-2] + b"Connection: Upgrade\r\nUpgrade: " + protocol + b"\r\n\r\n"
    with running(kind) as (port, _), connect(port) as client:
        assert answered(client, upgrade).startswith(b"HTTP/1.1 200 OK")
        assert answered(client).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("length", [65_536, 70_000, 200_000, 2_000_000])
def test_a_long_address_is_refused_in_words_and_the_client_gets_them(kind, length):
    """A client sends all of its request before it reads: a connection that is closed earlier would lose the answer."""
    rest = b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with running(kind) as (port, _), connect(port) as client:
        client.sendall(b"GET /?node=" + b"a" * length + rest)
        received = read_all(client)
    if kind is HttpToolsConnection or length > 100_000:  # h11 reads what came in one piece, however long
        assert received.startswith(b"HTTP/1.1 414 ")
        assert json.loads(received.partition(b"\r\n\r\n")[2])["error"].startswith(
            "the address is longer than 32,768 bytes"
        )


def test_long_headers_are_refused_in_words_and_the_client_gets_them(kind):
    with running(kind) as (port, _), connect(port) as client:
        client.sendall(REQUEST[:-2] + b"a: " + b"b" * 1_000_000 + b"\r\n\r\n")
        received = read_all(client)
        assert re.match(rb"HTTP/1\.1 (431|400) ", received)
        assert list(json.loads(received.partition(b"\r\n\r\n")[2])) == ["error"]


CHUNKS = b"\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
AMBIGUOUS = {
    "two hosts": b"Host: evil.example\r\n\r\n",
    "the same host twice": b"Host: localhost\r\n\r\n",
    "two lengths": b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nabc",
    "a length and chunks": b"Content-Length: 3\r\nTransfer-Encoding: chunked" + CHUNKS,
    "chunks and a length": b"Transfer-Encoding: chunked\r\nContent-Length: 3" + CHUNKS,
    "chunks twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked" + CHUNKS,
    "chunks of something": b"Transfer-Encoding: gzip, chunked" + CHUNKS,
    "an unknown encoding": b"Transfer-Encoding: xchunked" + CHUNKS,
    "no encoding": b"Transfer-Encoding: identity\r\n\r\nabc",
    "a length with a sign": b"Content-Length: +3\r\n\r\nabc",
    "a length in hexadecimal": b"Content-Length: 0x3\r\n\r\nabc",
    "a blank before the colon": b"Content-Length : 3\r\n\r\nabc",
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_a_request_of_two_meanings_is_refused_and_ends_the_connection(kind, name):
    """A proxy in front could read it otherwise, and what comes behind it would be a request of somebody else."""
    behind = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with running(kind) as (port, _), connect(port) as client:
        client.sendall(b"POST /body HTTP/1.1\r\nHost: localhost\r\n" + AMBIGUOUS[name] + behind)
        received = read_all(client)
    assert received.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert received.count(b"HTTP/1.1 400") == 1
    assert b"well" not in received
    assert b'{"error":' in received


def test_chunks_of_http_1_0_are_refused(kind):
    with running(kind) as (port, _), connect(port) as client:
        client.sendall(b"POST /body HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked" + CHUNKS)
        assert read_all(client).startswith(b"HTTP/1.1 400 Bad Request\r\n")


def test_a_client_that_was_refused_and_goes_on_sending_is_dropped(kind, monkeypatch):
    monkeypatch.setattr(connections, "_MOST_DISCARDED", 1_000_000)
    with running(kind) as (port, state), connect(port) as client:
        client.sendall(b"nonsense\r\n\r\n")
        with pytest.raises(ConnectionError):
            client.sendall(b"." * 100_000_000)
        assert wait_until(lambda: not state.connections)


def test_a_client_that_was_refused_and_stays_is_dropped(kind):
    with running(kind) as (port, state), connect(port) as client:
        client.sendall(b"nonsense\r\n\r\n")
        assert b"400 Bad Request" in read_all(client)
        assert wait_until(lambda: not state.connections)


def wait_until(condition, seconds=30.0):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()
