"""The hash of the code that computes a record: what changes it, and what does not."""

from __future__ import annotations

from treeball.reproduce import code_hash
from treeball.reproduce.code_hash import code_of, stripped


def test_comments_docstrings_and_layout_do_not_count():
    a = 'def f(x):\n    """Add."""\n    # why\n    return g(x, 1)\n\n\nclass C:\n    """Of things."""\n\n    a = 1\n'
    b = "def f( x ):\n    return g(x,\n        1)\nclass C:\n    a = 1\n"
    assert stripped(a) == stripped(b)
    assert stripped(a) != stripped(b.replace("1)", "2)"))
    assert stripped("x = 'words'") != stripped("x = 'other words'")


def test_every_version_of_python_gives_the_same_text():
    source = 'def f(x, y):\n    """Say."""\n    return f"{x:.{y}f} {{}} {x!r}" + rf\'{y}\'  # so\n'
    assert stripped(source).split("\n") == [
        *("def", "f", "(", "x", ",", "y", ")", ":", "NEWLINE", "INDENT", "return"),
        *('f"{x:.{y}f} {{}} {x!r}"', "+", "rf'{y}'", "NEWLINE", "DEDENT", ""),
    ]


def test_what_trains_and_scores_counts_and_the_rest_does_not():
    ours, published = code_of("treeball.methods.geometry_aware"), code_of("treeball.methods.baselines")
    for name in (
        "engine.cpu.steps",
        "engine.cpu.sampled_softmax",
        "engine.cpu.rank",
        "geometry.poincare",
        "methods.descent",
        "methods.sampled_descent",
        "methods.pairs",
        "methods.run",
        "evaluation.ranking",
        "evaluation.illness",
    ):
        assert f"treeball.{name}" in ours
        assert f"treeball.{name}" in published
    assert set(ours) - set(published) >= {"treeball.methods.geometry_aware", "treeball.methods.sufficiency"}
    assert "treeball.methods.sufficiency" not in published
    for name in ("methods.settings", "methods.softmax", "methods.sarkar", "evaluation._held_out", "report.figures"):
        assert f"treeball.{name}" not in ours


def test_the_hash_follows_the_code(tmp_path, monkeypatch):
    before = code_hash.code_hash("ga-dl")
    assert before == code_hash.code_hash("ga-dl-rw")
    assert before != code_hash.code_hash("poincare")
    changed = tmp_path / "steps.py"
    real = code_of("treeball.methods.geometry_aware")["treeball.engine.cpu.steps"]

    def with_changed(name, source=code_hash._source):
        return changed if name == "treeball.engine.cpu.steps" else source(name)

    monkeypatch.setattr(code_hash, "_source", with_changed)
    for text, same in ((real.read_text() + "\n# a remark\n", True), (real.read_text() + "\nMORE = 1\n", False)):
        changed.write_text(text)
        code_hash._hash.cache_clear()
        assert (code_hash.code_hash("ga-dl") == before) is same
    code_hash._hash.cache_clear()
