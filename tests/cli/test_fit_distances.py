"""``treeball fit --objective distances``: what a biologist is told."""

from __future__ import annotations

import json

from treeball.cli.main import run


def test_the_fit_tells_how_well_distances_keep_lengths(tmp_path, capsys):
    source, model = tmp_path / "tree.nwk", tmp_path / "tree.parquet"
    source.write_text("[of a [nested] kind] ((a:1,b:2)x:1.5,(c:0,d:1)y:2,e:3)r;\n")
    command = ["fit", str(source), "--objective", "distances", "--dim", "4", "-o", str(model)]
    assert run(command) == 0
    printed = capsys.readouterr()
    assert "1 node shares its place" in printed.err
    rows = [line.split()[0] for line in printed.out.splitlines()[1:]]
    assert rows[:3] == ["Spearman", "average", "worst"]
    assert run([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["distortion"]
    assert found["average"] < 0.02
    assert found["spearman"] > 0.98


def test_an_export_says_that_other_coordinates_do_not_reach_so_far(tmp_path, capsys):
    source, model = tmp_path / "tree.nwk", tmp_path / "tree.parquet"
    source.write_text("((a:1,b:2)x:1.5,(c:0.5,d:1)y:2,e:3)r;\n")
    assert run(["fit", str(source), "--objective", "distances", "--dim", "4", "-o", str(model)]) == 0
    for coordinates, told in (("half-space", False), ("ball", True), ("polar", True)):
        capsys.readouterr()
        assert run(["export", str(model), "--coordinates", coordinates, "-o", str(tmp_path / "v.csv")]) == 0
        assert ("their distances are not those of the model" in capsys.readouterr().err) == told


def test_info_tells_the_objective_and_nothing_of_room(tmp_path, capsys):
    source, model = tmp_path / "tree.nwk", tmp_path / "tree.parquet"
    source.write_text("((a:1,b:2)x:1.5,(c:0.5,d:1)y:2,e:3)r;\n")
    assert run(["fit", str(source), "--objective", "distances", "--dim", "4", "-o", str(model)]) == 0
    capsys.readouterr()
    assert run(["info", str(model)]) == 0
    shown = capsys.readouterr().out
    assert "distances (ranks are of parents)" in shown
    assert "local capacity" not in shown
