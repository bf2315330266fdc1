"""Where a server listens, and by which names it may be called."""

from __future__ import annotations

import os
import socket

from ..errors import InputError

__all__ = ["LOOPBACK", "WAITING_ROOM", "address_of", "listen", "names_this_machine"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
WAITING_ROOM = 1024  # connections that the system keeps until they are accepted


def listen(port: int, host: str = LOOPBACK[0], *, what: str = "", option: str = "--port") -> socket.socket:
    """A socket that listens at a port, 0 for a free one.

    Parameters
    ----------
    what
        What is served, for the sentence that says it cannot be.
    option
        The option by which a person chooses the port.
    """
    serve = f"cannot serve {what}".rstrip()
    if not 0 <= port <= 65535:
        raise InputError(f"{serve} on port {port}: choose a {option} between 0 and 65535, 0 for a free one")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InputError(f"{serve} at {host!r}: {error.strerror}; choose another --host") from error
    try:
        if os.name == "posix":  # elsewhere it would let two servers share the port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(WAITING_ROOM)
    except OSError as error:
        listening.close()
        raise InputError(
            f"{serve} on port {port}: {error.strerror}; choose another {option}, or 0 for a free one"
        ) from error
    return listening


def address_of(listening: socket.socket, host: str = LOOPBACK[0]) -> str:
    """Where a browser finds what is served at a socket."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}/"


def names_this_machine(header: bytes) -> bool:
    """Whether a Host header names the loopback.

    Another site that gives this machine's address as its own must not read what is served here.
    """
    text = header.decode("latin-1").lower()
    return (text[1:].partition("]") if text.startswith("[") else text.partition(":"))[0] in LOOPBACK
