"""A header is obeyed by every command, and several files make one model, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from treeball import load, read
from treeball.cli.main import run as main

TREE = [(f"n{i}", f"n{(i - 1) // 3}") for i in range(1, 40)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    (folder / "tree.csv").write_text("child,parent\n" + "".join(f"{child},{parent}\n" for child, parent in TREE))
    assert main(["fit", str(folder / "tree.csv"), "-o", str(folder / "m.parquet"), "--dim", "5"]) == 0
    return folder / "m.parquet"


def test_held_out_pairs_with_the_parent_first(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [(child, parent) for child, parent in TREE if int(child[1:]) % 4 == 0]
    (tmp_path / "down.csv").write_text("parent,child\n" + "".join(f"{parent},{child}\n" for child, parent in pairs))
    (tmp_path / "up.csv").write_text("child,parent\n" + "".join(f"{child},{parent}\n" for child, parent in pairs))
    (tmp_path / "bare.csv").write_text("".join(f"{child},{parent}\n" for child, parent in pairs))
    scores = []
    for name in ("down.csv", "up.csv", "bare.csv"):
        capsys.readouterr()
        assert main(["evaluate", str(model), "--held-out", str(tmp_path / name), "--json"]) == 0
        scores.append(json.loads(capsys.readouterr().out))
    assert scores[0] == scores[1] == scores[2]
    assert scores[0]["map"] > 0.9


def test_new_nodes_with_the_parent_first(model: Path, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("parent,child\nn5,new1\nn6,new2\nnew1,new3\n")
    output = tmp_path / "more.parquet"
    assert main(["insert", str(model), str(tmp_path / "new.csv"), "-o", str(output)]) == 0
    hierarchy = load(output).hierarchy
    child, parent = hierarchy.real_edges()
    edges = set(zip(hierarchy.names.take(child), hierarchy.names.take(parent), strict=True))
    assert edges == {*TREE, ("new1", "n5"), ("new2", "n6"), ("new3", "new1")}


def test_insert_and_held_out_pairs_say_what_was_read(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new.csv").write_text("parent,child\nn5,new1\nn6,new2\nnew1,new3\nn6,new2\n")
    assert main(["insert", str(model), str(tmp_path / "new.csv"), "-o", str(tmp_path / "more.parquet"), "--json"]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("3 edges between 5 nodes read as parent -> child, 1 repair (1 duplicate edge)\n")
    json.loads(said.out)  # what was read is no part of the answer
    (tmp_path / "held.tsv").write_text("n4\tn1\nn8\tn2\n")
    (tmp_path / "chosen.csv").write_text("parent,child\nn3,n11\n")
    files = ["--held-out", str(tmp_path / "held.tsv"), "--validation", str(tmp_path / "chosen.csv")]
    assert main(["evaluate", str(model), *files]) == 0
    said = capsys.readouterr()
    assert said.err.splitlines()[:2] == [
        "held-out pairs: 2 edges between 4 nodes read as child -> parent, 0 repairs",
        "validation pairs: 1 edge between 2 nodes read as parent -> child, 0 repairs",
    ]
    (tmp_path / "next.csv").write_text("child,parent\n" + "".join(f"{child},{above}\n" for child, above in TREE[:-1]))
    assert main(["update", str(model), str(tmp_path / "next.csv"), "--dry-run"]) == 0
    assert "39 nodes, 38 edges read as child -> parent, 1 root (n0), 0 repairs" in capsys.readouterr().err


def test_several_files_make_one_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "categories.csv").write_text("id,parent_id,name\n1,,Home\n2,1,Kitchen\n3,1,Garden\n")
    (tmp_path / "products.csv").write_text("sku,category_id\nx1,2\nx2,2\nx3,3\nx3,2\n")
    files = [str(tmp_path / "categories.csv"), str(tmp_path / "products.csv")]
    assert main(["fit", *files, "-o", str(tmp_path / "shop.parquet"), "--dim", "4"]) == 0
    said = capsys.readouterr()
    assert "read from 2 files (categories.csv: an id/parent table" in said.err + said.out
    assert "1 node with several parents, such as x3 (below Garden [3], Kitchen [2])" in said.err + said.out
    assert len(load(tmp_path / "shop.parquet")) == 6
    assert main(["capacity", *files, "--dim", "5"]) == 0
    assert main(["split", *files, "-o", str(tmp_path / "parts"), "--leaves", "0.3"]) == 0
    assert read(tmp_path / "parts" / "train.tsv").n_nodes < 6
    assert main(["fit", files[0], str(tmp_path / "lost.csv")]) == 2
