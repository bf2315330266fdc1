"""Model folders: the same as the single-machine path says, whatever the workers; messy input is mended."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from threading import Thread

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import treeball
from tests.scale.hierarchies import random_edges, write
from treeball import Embedding, InputError
from treeball.cli.main import run
from treeball.engine.cpu import counting
from treeball.geometry import poincare
from treeball.scale.evaluate import evaluate_folder
from treeball.scale.fit import fit_folder
from treeball.scale.folder import ModelFolder
from treeball.scale.layout import read_json
from treeball.scale.names import hash_of, hashes_of
from treeball.scale.nearest import nearest
from treeball.scale.pages import Pages
from treeball.scale.serve import application
from treeball.scale.settings import ScaleSettings
from treeball.web.local import LocalServer


def quiet(_):
    pass


@pytest.fixture(scope="module")
def edges():
    return random_edges(3000)


@pytest.fixture(scope="module")
def made(edges, tmp_path_factory):
    home = tmp_path_factory.mktemp("scale")
    pattern = write(edges, home / "edges")
    fit_folder((pattern,), home / "model", ScaleSettings(method="construct", dim=5, branch_nodes=400, workers=1), quiet)
    return home


@pytest.fixture(scope="module")
def folder(made):
    return ModelFolder(made / "model")


@pytest.fixture(scope="module")
def embedding(edges, folder):
    """The same vectors and edges as one Embedding."""
    hierarchy = treeball.read(edges)
    vectors = folder.vectors([folder.find(str(name)) for name in hierarchy.names])
    return Embedding(vectors, hierarchy, "poincare")


def test_threads_that_read_the_same_shard_do_not_wait_for_each_other_for_ever(folder):
    """pyarrow's readers lose a reply now and then where two threads share one; this hung in two of three runs."""
    threads = [
        Thread(target=lambda: [folder.group(i % folder.group_first.size) for i in range(3000)], daemon=True)
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert not any(thread.is_alive() for thread in threads)


def test_scores_are_those_of_the_same_vectors_in_one_process(folder, embedding):
    for objective in ("parents", "ancestors"):
        ours = evaluate_folder(folder, objective, sample=0).to_dict()
        theirs = embedding.evaluate(objective, sample=0).to_dict()
        for name in ("map", "mean_rank", "hits_at_1"):
            assert ours[name] == pytest.approx(theirs[name], abs=2e-6), (objective, name)
    parents = evaluate_folder(folder, "parents", sample=0)
    assert parents.precision[~parents.several].mean() > 0.999


def test_neighbors_are_those_of_a_plain_comparison(folder):
    everyone = folder.vectors(np.arange(len(folder)))
    for place in (0, 1, 399, 400, 2500, len(folder) - 1):
        places, distances, _ = nearest(folder, everyone[place], 5, (place,))
        plain = poincare.distance(everyone, np.broadcast_to(everyone[place], everyone.shape))
        plain[place] = np.inf
        np.testing.assert_allclose(distances, np.sort(plain)[:5], rtol=1e-6)
        np.testing.assert_allclose(plain[places], distances, rtol=1e-6)


def test_boxes_never_exclude_a_point(folder):
    points = folder.vectors(np.arange(500))
    boxes = counting.boxes(points, 64)
    for query in points[::50]:
        keys = counting.keys_to(points, query)
        least = counting.least_keys(boxes, query)
        assert all(least[i // 64] <= keys[i] for i in range(500))


def test_names_are_found_and_others_are_not(folder):
    assert folder.names([folder.find("n1234")]) == ["n1234"]
    with pytest.raises(InputError, match="no node 'nobody'"):
        folder.find("nobody")
    texts = pa.array(["a", None, "", "ä", "n1"])
    hashes, _ = hashes_of(texts)
    assert hashes[1] == hashes[2] == 0
    assert hashes[4] == hash_of("n1") == hashes_of(texts.slice(3))[0][1]


def test_relatives_are_those_of_the_hierarchy(folder, edges):
    hierarchy = treeball.read(edges)
    for name in ("n0", "n7", "n200", "n2999"):
        place, code = folder.find(name), hierarchy.names.index_of(name)
        assert set(folder.names(folder.parents(place))) == set(hierarchy.parents_of(name))
        assert set(folder.names(folder.children(place))) == set(hierarchy.children_of(name))
        above = {str(hierarchy.names[c]) for c in range(hierarchy.n_nodes) if hierarchy.is_ancestor(c, code)}
        assert set(folder.names(folder.ancestors(place))) == above


def test_the_bytes_do_not_depend_on_the_workers_nor_on_the_files(made, edges, tmp_path):
    pattern = write(edges, tmp_path / "edges", files=3)
    other = fit_folder(
        (pattern,), tmp_path / "model", ScaleSettings(method="construct", dim=5, branch_nodes=400, workers=2), quiet
    )
    first = json.loads((made / "model" / "manifest.json").read_text())
    assert [one["sha256"] for one in other["shards"]] == [one["sha256"] for one in first["shards"]]


def test_what_is_done_is_not_done_again_and_what_is_damaged_is(made):
    shards = sorted((made / "model" / "shards").iterdir())
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in shards}
    told: list[str] = []
    pattern, settings = f"{made}/edges/*.parquet", ScaleSettings(method="construct", dim=5, branch_nodes=400, workers=1)
    fit_folder((pattern,), made / "model", settings, told.append)
    assert "done already" in told[-1]
    shards[2].write_bytes(b"PAR1 and then nothing")
    assert run(["verify", str(made / "model")]) == 2
    fit_folder((pattern,), made / "model", settings, told.append)
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in shards}
    assert {path for path in shards if before[path][0] != after[path][0]} == {shards[2]}
    assert all(before[path][1] == after[path][1] for path in shards)
    assert run(["verify", str(made / "model")]) == 0


def test_messy_input_is_mended_counted_and_named(tmp_path):
    edges = random_edges(300, several=0.0)
    messy = [*edges, ("n5", "n5"), edges[7], ("n0", "n250"), (None, "n3"), ("", "n3"), ("alone", None), ("x", "gone")]
    pattern = write(messy, tmp_path / "edges", files=4)  # the cycle spans files
    manifest = fit_folder(
        (pattern,), tmp_path / "m", ScaleSettings(method="construct", dim=4, branch_nodes=64, workers=1), quiet
    )
    assert manifest["repairs"] == {
        "self-loops": 1, "duplicate edges": 1, "cycle edges": 1, "empty names": 2, "roots joined": 3,
    }  # fmt: skip
    repairs = pq.read_table(tmp_path / "m" / "repairs.parquet").to_pylist()
    assert {(one["kind"], one["child"], one["parent"]) for one in repairs} >= {
        ("self-loops", "n5", "n5"), ("duplicate edges", *edges[7]), ("cycle edges", "n0", "n250"),
    }  # fmt: skip
    assert [one["row"] for one in repairs if one["kind"] == "self-loops"] == [300]
    folder = ModelFolder(tmp_path / "m")
    assert folder.names(folder.parents(folder.find("x"))) == ["gone"]
    assert folder.parents(folder.find("gone")) == folder.parents(folder.find("alone")) == []
    assert folder.find("<root>") == 0


def test_shards_are_read_by_others_as_they_are(made):
    import duckdb

    rows = duckdb.sql(
        f"SELECT count(*), count(DISTINCT node), count(parent) FROM '{made}/model/shards/*.parquet'"
    ).fetchall()[0]
    assert rows == (3000, 3000, 2999)


def test_commands_answer_from_a_folder(made, tmp_path, capsys):
    model = str(made / "model")
    pattern = f"{made}/edges/*.parquet"
    assert run(["plan", pattern, "--branch-nodes", "400", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tasks"] == 8
    assert run(["info", model]) == 0
    assert "3,000" in capsys.readouterr().out
    assert run(["evaluate", model, "--sample", "100", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["map"] > 0.95
    assert run(["neighbors", model, "n17", "-k", "3", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["neighbors"]) == 3
    assert run(["ask", model, "parent", "n2999"]) == 0
    parent = capsys.readouterr().out.split()[-1]
    assert run(["ask", model, "is-ancestor", parent, "n2999", "--from", "hierarchy", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["is_ancestor"] is True
    out = tmp_path / "all.csv"
    assert run(["export", model, "-o", str(out)]) == 0
    assert len(out.read_text().splitlines()) == 3001


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["fit", "nothing/*.parquet", "-o", "m"], "there is no file"),
        (["fit", "{edges}", "-o", "m", "--epochs", "5"], "epochs"),
        (["fit", "{edges}", "-o", "m", "--dim", "2"], "at least 3"),
        (["fit", "{edges}"], "-o"),
        (["fit", "{edges}", "-o", "m", "--address", "here"], "--engine ray"),
        (["fit", "example:mammals", "--memory", "4GB"], "--memory"),
        (["plan", "{edges}", "--memory", "20MB"], "GB"),
        (["diagnose", "{model}"], "model folder"),
        (["heal", "{model}"], "model folder"),
        (["ask", "{model}", "children", "n1"], "--from hierarchy"),
        (["neighbors", "{model}", "n1", "--leaves"], "--leaves"),
        (["export", "{model}", "-o", "x.npy"], ".parquet"),
    ],
)
def test_what_a_folder_cannot_do_is_refused_in_a_sentence(made, tmp_path, monkeypatch, capsys, arguments, named):
    monkeypatch.chdir(tmp_path)
    filled = [one.format(edges=f"{made}/edges/*.parquet", model=made / "model") for one in arguments]
    assert run(filled) == 2
    sentence = capsys.readouterr().err.splitlines()[-1]
    assert sentence.startswith("treeball: ")
    assert named in sentence
    assert not Path("m").exists()


@pytest.mark.parametrize("begun", [False, True])
def test_edges_that_are_refused_leave_no_half_made_folder(made, tmp_path, begun):
    (tmp_path / "bad.csv").write_text("only\none\ncolumn\n")
    model = tmp_path / "model"
    if begun:  # a model of other edges that was stopped is ours to replace
        model.mkdir()
        (model / "work").mkdir()
        (model / "work" / "input.json").write_text('{"key": "another"}')
    with pytest.raises(InputError, match="one column"):
        fit_folder((str(tmp_path / "bad.csv"),), model, ScaleSettings(workers=1), quiet)
    assert not model.exists()


def test_new_leaves_get_places_where_their_parent_is_nearest(edges, tmp_path, capsys):
    pattern = write(edges, tmp_path / "edges")
    model = tmp_path / "model"
    fit_folder((pattern,), model, ScaleSettings(method="construct", dim=6, branch_nodes=1000, workers=1), quiet)
    before = [path.read_bytes() for path in sorted((model / "shards").iterdir())]
    new = tmp_path / "new.csv"
    rng = np.random.default_rng(5)
    new.write_text("child,parent\n" + "".join(f"new {i},n{rng.integers(0, 300)}\n" for i in range(200)))
    assert run(["insert", str(model), str(new), "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert done["added"] == 200
    folder = ModelFolder(model)
    assert len(folder) == 3200
    lost = 0
    for i in range(200):
        place = folder.find(f"new {i}")
        nearest_one = nearest(folder, folder.vectors([place])[0], 1, (place,))[0].tolist()
        lost += nearest_one != folder.parents(place)
    assert lost <= done["without_place"]
    assert done["without_place"] < 20
    assert [path.read_bytes() for path in sorted((model / "shards").glob("branch*"))] == before
    assert run(["verify", str(model)]) == 0
    assert run(["insert", str(model), str(new)]) == 2
    assert "already" in capsys.readouterr().err
    # A branch that is damaged is made again; what was added stays.
    next((model / "shards").glob("branch*")).write_bytes(b"PAR1 and then nothing")
    fit_folder((pattern,), model, ScaleSettings(method="construct", dim=6, branch_nodes=1000, workers=1), quiet)
    assert len(ModelFolder(model)) == 3200
    assert run(["verify", str(model)]) == 0
    with pytest.raises(InputError, match="holds a model of other edges or settings"):
        fit_folder((pattern,), model, ScaleSettings(method="construct", dim=7, branch_nodes=1000, workers=1), quiet)
    assert len(ModelFolder(model)) == 3200


def test_a_folder_answers_over_http(made):
    folder = ModelFolder(made / "model")
    with LocalServer(application(Pages(folder))) as server:

        def get(question):
            try:
                with urllib.request.urlopen(f"{server.address.rstrip('/')}{question}") as answer:
                    return answer.status, answer.read().decode()
            except urllib.error.HTTPError as error:
                with error:
                    return error.code, error.read().decode()

        assert json.loads(get("/info")[1])["nodes"] == 3000
        place = folder.find("n17")
        found = json.loads(get("/neighbors?node=n17&k=3")[1])["neighbors"]
        expected = nearest(folder, folder.vectors([place])[0], 3, (place,))[0]
        assert [one["node"] for one in found] == folder.names(expected)
        assert json.loads(get("/parents?node=n17")[1])["parents"] == folder.names(folder.parents(place))
        apart = json.loads(get("/distance?a=n17&b=n2999")[1])["distance"]
        ends = folder.vectors([place, folder.find("n2999")])
        assert apart == pytest.approx(float(poincare.distance(*ends)))
        assert json.loads(get("/health")[1]) == {"status": "ok"}
        assert "<html" in get("/")[1]
        for question in ("/neighbors", "/neighbors?node=nobody", "/neighbors?node=n1&k=many", "/distance?a=n1"):
            assert get(question)[0] == 400
        status, answer = get("/subtree?node=n1")
        assert status == 404
        assert "there is nothing at /subtree: ask /info, /health, /neighbors" in json.loads(answer)["error"]


def made_of(tmp_path, capsys, *files):
    """The manifest of a folder made of some files, with their text, and what was said of them."""
    for name, text in files:
        (tmp_path / name).write_text(text)
    pattern = str(tmp_path / ("*" + Path(files[0][0]).suffix))
    assert run(["fit", pattern, "-o", str(tmp_path / "model"), "--dim", "3"]) == 0
    return read_json(tmp_path / "model" / "manifest.json"), capsys.readouterr().err


def test_the_first_edge_of_a_file_without_a_header_is_no_header(tmp_path, capsys):
    edges = [f"b{child},b{child // 2}\n" for child in range(1, 30)]
    found, said = made_of(tmp_path, capsys, ("a.csv", "".join(edges[:9])), ("b.csv", "".join(edges[9:])))
    assert (found["nodes"], found["edges"], found["roots"]) == (30, 29, 1)
    assert "reading 2 files\n" in said
    assert "column 1 is child, column 2 is parent; no header" in said


def test_it_is_said_which_columns_are_read_and_which_are_not(tmp_path, capsys):
    _, said = made_of(tmp_path, capsys, ("a.csv", "child,parent,age,size\na,b,1,2\nc,b,3,4\n"))
    assert "reading 1 file: child is child, parent is parent; not used: age, size" in said


def test_ids_with_gaps_are_the_same_as_without(tmp_path, capsys):
    # pandas saves a column of integers that has a gap, for the root, as floats.
    text = "child,parent\n0,\n" + "".join(f"{child},{child // 2}.0\n" for child in range(1, 40))
    found, _ = made_of(tmp_path, capsys, ("a.csv", text))
    assert (found["nodes"], found["roots"], found["repairs"]) == (40, 1, {})
    parents = [float("nan")] + [child // 2 for child in range(1, 40)]
    pq.write_table(pa.table({"child": range(40), "parent": parents}), tmp_path / "b.parquet")
    assert run(["fit", str(tmp_path / "*.parquet"), "-o", str(tmp_path / "same"), "--dim", "3"]) == 0
    same = read_json(tmp_path / "same" / "manifest.json")
    assert (same["nodes"], same["roots"], same["repairs"]) == (40, 1, {})


def test_decimals_that_are_no_integers_stay_names(tmp_path, capsys):
    found, _ = made_of(tmp_path, capsys, ("a.csv", "child,parent\n1.0,v1\n1,v1\n2.5,v1\n"))
    assert found["nodes"] == 4


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"child,parent\na,b\nc\nd,e,f\ng,b\n", "line 3 of "),
        ("child,parent\nK\u00f6ln,Welt\nBonn,Welt\n".encode("latin-1"), "is no UTF-8 text"),
    ],
)
def test_files_that_hold_no_edges_are_refused_for_what_they_are(tmp_path, capsys, content, said):
    (tmp_path / "a.csv").write_bytes(content)
    assert run(["fit", str(tmp_path / "*.csv"), "-o", str(tmp_path / "model")]) == 2
    assert said in capsys.readouterr().err


def test_columns_of_lists_name_no_nodes(tmp_path, capsys):
    pq.write_table(pa.table({"child": [["a"], ["b"]], "parent": [["r"], ["r"]]}), tmp_path / "a.parquet")
    assert run(["fit", str(tmp_path / "*.parquet"), "-o", str(tmp_path / "model")]) == 2
    assert "cannot name nodes" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--live"], ["--snapshots", "5"], ["--tensorboard", "events"]])
def test_nobody_watches_how_a_folder_is_made(tmp_path, capsys, option):
    (tmp_path / "a.csv").write_text("child,parent\na,b\nc,b\n")
    assert run(["fit", str(tmp_path / "*.csv"), "-o", str(tmp_path / "model"), *option]) == 2
    assert f"{option[0]} has no use in a model folder" in capsys.readouterr().err


def test_compare_refuses_a_folder_as_what_it_is(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("child,parent\na,b\nc,b\n")
    assert run(["fit", str(tmp_path / "*.csv"), "-o", str(tmp_path / "model")]) == 0
    assert run(["compare", str(tmp_path / "model"), str(tmp_path / "model")]) == 2
    assert "is a model folder, which this command does not take" in capsys.readouterr().err
