"""Settings of the service: where it listens, and what it refuses."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..checks import require_whole
from ..errors import InputError


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """How a model is served.

    Parameters
    ----------
    host
        Address to listen at; by default only this machine is answered.
    port
        0 takes a free one.
    workers
        Processes that answer; they share one copy of the model.
    max_k
        Most neighbours of one node.
    max_nodes
        Most nodes, or pairs of nodes, in one request.
    max_answer
        Most names and numbers in the answer to one request.
    max_body
        Largest body of a request, in bytes.
    timeout
        Seconds after which a request is given up.
    max_concurrent
        Most requests that one process works on at a time; more are told to come back.
    max_connections
        Most connections of one process; for one more, the one gives way whose client has kept us waiting longest.
    cors
        Origins whose pages may ask, such as https://example.org, or * for all.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    max_k: int = 1_000
    max_nodes: int = 1_000
    max_answer: int = 100_000
    max_body: int = 4_000_000
    timeout: float = 10.0
    max_concurrent: int = 256
    max_connections: int = 1_000
    cors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise InputError(f"port must be between 0 and 65535, not {self.port}")
        for name in ("workers", "max_k", "max_nodes", "max_answer", "max_body", "max_concurrent", "max_connections"):
            require_whole(name, getattr(self, name), 1)
        if not (math.isfinite(self.timeout) and self.timeout > 0):
            raise InputError(f"timeout must be a positive number of seconds, not {self.timeout}")

    def limits(self) -> dict[str, int | float]:
        """What clients should know."""
        return {
            "k": self.max_k,
            "nodes": self.max_nodes,
            "answer": self.max_answer,
            "body": self.max_body,
            "seconds": int(self.timeout) if self.timeout == int(self.timeout) else self.timeout,
            "concurrent": self.max_concurrent,
            "connections": self.max_connections,
        }
