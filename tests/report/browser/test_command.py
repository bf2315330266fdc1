"""``treeball view`` on the command line."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import treeball
from treeball.cli.main import run
from treeball.report.browser.serve import page_server
from treeball.web import LocalServer


@pytest.fixture(autouse=True)
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An empty folder, a screen, and a browser that only remembers what it was to open."""
    seen: list[str] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISPLAY", ":0")

    def remember(address: str) -> bool:
        seen.append(address)
        return True

    monkeypatch.setattr("webbrowser.open", remember)
    return seen


@pytest.fixture
def model() -> Path:
    edges = [("dog", "mammal"), ("cat", "mammal"), ("owl", "bird"), ("mammal", "animal"), ("bird", "animal")]
    return treeball.fit(edges, method="poincare", dim=2, epochs=2, seed=0).save("animals.parquet")


def test_writes_a_page_and_opens_it(model: Path, opened: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["view", str(model)]) == 0
    assert Path("animals.html").read_text("utf-8").startswith("<!doctype html>")
    assert opened == [Path("animals.html").resolve().as_uri()]
    assert "wrote animals.html" in capsys.readouterr().err


def test_a_page_that_was_asked_for_by_name_is_only_written(model: Path, opened: list[str]) -> None:
    assert run(["view", str(model), "--html", "page.html"]) == 0
    assert opened == []
    assert run(["view", str(model), "--html", "page.html", "--open"]) == 0
    assert len(opened) == 1
    assert run(["view", str(model), "--no-open"]) == 0
    assert len(opened) == 1


def test_without_a_screen_it_says_where_the_page_is(
    model: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert run(["view", str(model)]) == 0
    assert opened == []
    assert "animals.html in a browser" in capsys.readouterr().err


def test_a_table_gives_the_colours(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("sizes.csv").write_text("name,size\ndog,3\ncat,2\n")
    assert run(["view", str(model), "--html", "page.html", "--table", "sizes.csv", "--column", "size"]) == 0
    assert "2 of 6 nodes have a row" in capsys.readouterr().err


def test_a_still_picture_needs_no_browser(model: Path, opened: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    Path("sizes.csv").write_text("name,size\ndog,3\ncat,2\n")
    assert run(["view", str(model), "--png", "animals.png", "--table", "sizes.csv", "--title", "Animals"]) == 0
    assert Path("animals.png").read_bytes().startswith(b"\x89PNG")
    assert not Path("animals.html").exists()
    assert opened == []
    assert capsys.readouterr().err.splitlines() == [
        "column 'size': 2 of 6 nodes have a row",
        "wrote animals.png",
    ]
    assert run(["view", str(model), "--png", "animals.png", "--html", "page.html"]) == 0
    assert Path("page.html").exists()
    assert opened == []
    assert run(["view", str(model), "--png", "animals.png", "--open"]) == 0
    assert opened == [Path("animals.html").resolve().as_uri()]


@pytest.mark.parametrize("layout", ["disk", "rectangular", "radial"])
def test_the_page_opens_with_the_layout_that_was_asked_for(model: Path, layout: str) -> None:
    assert run(["view", str(model), "--html", "page.html", "--layout", layout]) == 0
    assert f'"layout":"{layout}"' in Path("page.html").read_text("utf-8").replace('": ', '":')


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--png", "picture.svg"], "does not end in .png"),
        (["--png", "nowhere/picture.png"], "nowhere"),
        (["--column", "size"], "--table"),
        (["--table", "absent.csv"], "no file 'absent.csv'"),
        (["--html", "nowhere/page.html"], "nowhere"),
        (["--html", "animals.parquet"], "it is the input"),
        (["--png", "picture.png", "--layout", "radial"], "--html"),
        (["--png", "picture.png", "--layout", "disk"], "--html"),
        (["--layout", "circular"], "rectangular"),
    ],
)
def test_refuses_in_one_sentence(
    model: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["view", str(model), *options]) == 2
    said = capsys.readouterr().err.strip()
    assert words in said.splitlines()[-1]
    assert not Path("animals.html").exists()


def port_of(server: LocalServer) -> int:
    return int(server.address.rsplit(":", 1)[1].strip("/"))


def test_serves_this_machine_only() -> None:
    with page_server("<!doctype html>héllo") as server:
        port = port_of(server)
        assert server.address == f"http://127.0.0.1:{port}/"
        answers = {}
        for host, path in [
            ("127.0.0.1", "/"),
            ("localhost", "/?a=1"),
            ("evil.example", "/"),
            ("127.0.0.1", "/etc"),
        ]:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", path, headers={"Host": f"{host}:{port}"})
            response = connection.getresponse()
            answers[host, path] = response.status, response.read()
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
            connection.close()
    assert answers["127.0.0.1", "/"] == (200, "<!doctype html>héllo".encode())
    assert answers["localhost", "/?a=1"][0] == 200
    assert answers["evil.example", "/"][0] == 403
    assert answers["127.0.0.1", "/etc"][0] == 404


def test_a_port_that_is_taken_is_refused(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with page_server("") as server:
        assert run(["view", str(model), "--serve", "--no-open", "--port", str(port_of(server))]) == 2
    assert "choose another --port" in capsys.readouterr().err
    assert not Path("animals.html").exists()


def test_a_port_that_does_not_exist_is_refused(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["view", str(model), "--serve", "--no-open", "--port", "70000"]) == 2
    assert "choose a --port between 0 and 65535" in capsys.readouterr().err


def test_serves_until_ctrl_c(model: Path) -> None:
    command = [sys.executable, "-m", "treeball", "view", str(model), "--serve", "--no-open"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            (address,) = re.findall(r"http://127\.0\.0\.1:\d+/", process.stderr.readline())
            with urllib.request.urlopen(address, timeout=20) as reply:
                assert reply.read().startswith(b"<!doctype html>")
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=20)[1] == "stopped\n"
        finally:
            process.kill()
    assert process.returncode == 130
