"""Ctrl-C ends what a command serves, however early it comes."""

from __future__ import annotations

import pytest

from treeball.cli.serving import serve_until_ctrl_c
from treeball.web.local import LocalServer


async def _nothing(scope: object, receive: object, send: object) -> None: ...


def test_ctrl_c_before_it_waits_ends_it_as_later(capsys: pytest.CaptureFixture[str]) -> None:
    """A browser, or a person, can be faster than the step from saying the address to waiting."""

    def opening(address: str) -> None:
        raise KeyboardInterrupt

    with LocalServer(_nothing) as server:
        assert serve_until_ctrl_c(server, opening) == 130
        assert capsys.readouterr().err == f"serving {server.address}  (Ctrl-C ends)\nstopped\n"
