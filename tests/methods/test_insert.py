"""insert: new nodes are well, old ones keep their bytes and their health, and what cannot be done is said."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import treeball
from treeball import Embedding, Hierarchy, InputError
from treeball.cli.main import run
from treeball.embedding import Provenance
from treeball.geometry import poincare
from treeball.hierarchy._edit import Edit, remove_nodes
from treeball.methods.construct import construct

from .test_construct import shapes, tree


def held_out(hierarchy, share, seed):
    """The hierarchy without some random subtrees, and their edges (child, parent) in any order."""
    rng = np.random.default_rng(seed)
    tops = [name for code, name in enumerate(hierarchy.names) if code != hierarchy.root and rng.random() < share]
    rest = remove_nodes(Edit.of(hierarchy), tops).hierarchy if tops else hierarchy
    kept = set(rest.names)
    child, parent = hierarchy.edges()
    names = list(hierarchy.names)
    pairs = [(names[c], names[p]) for c, p in zip(child, parent, strict=True) if names[c] not in kept]
    return rest, [pairs[i] for i in rng.permutation(len(pairs))]


def nearest_is_parent(embedding, names):
    ranking = embedding.evaluate("parents", sample=0).ranking
    best = dict(
        zip(ranking.sources.tolist(), np.minimum.reduceat(ranking.ranks, ranking.positive_ptr[:-1]), strict=True)
    )
    return [best[embedding.names.index_of(name)] == 1 for name in names]


def ill(embedding):
    return set(embedding.names.take(embedding.evaluate("parents", sample=0).illness.node))


@pytest.fixture(scope="module")
def mammals():
    hierarchy = treeball.read("example:mammals")
    return Embedding(construct(hierarchy, 5).vectors, hierarchy, provenance=Provenance(method="construct"))


@pytest.fixture
def model(mammals, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mammals.save("model.parquet")
    return Path("model.parquet")


# ---- places ----


@settings(max_examples=25, deadline=None, derandomize=True)
@given(n=st.integers(5, 200), dim=st.integers(5, 10), seed=st.integers(0, 10**6), share=st.floats(0.02, 0.3))
def test_leaves_chains_and_subtrees_find_their_places(n, dim, seed, share):
    hierarchy = tree(shapes("random", n, np.random.default_rng(seed)))
    rest, pairs = held_out(hierarchy, share, seed)
    if not pairs or len(rest) < 2:
        return
    old = Embedding(construct(rest, dim).vectors, rest)
    insertion = old.insert(pairs)
    new = insertion.embedding
    assert new.vectors[: len(old)].tobytes() == old.vectors.tobytes()
    assert list(new.names)[: len(old)] == list(old.names)
    assert sorted(map(str, insertion.placed)) == sorted(child for child, _ in pairs)
    assert insertion.without_place == []
    assert insertion.parent_nearest == len(pairs)
    assert all(nearest_is_parent(new, insertion.placed))
    assert insertion.fell_ill == []
    assert ill(new) <= ill(old)
    child, parent = new.hierarchy.edges()
    edges = set(zip(new.names.take(child), new.names.take(parent), strict=True))
    assert edges >= set(pairs)


@settings(max_examples=15, deadline=None)
@given(
    kind=st.sampled_from(["random", "preferential", "caterpillar", "star"]),
    n=st.integers(8, 150),
    dim=st.integers(2, 4),
    seed=st.integers(0, 10**6),
    spread=st.floats(0.5, 20.0),
)
def test_whoever_falls_ill_is_named_even_where_all_is_crowded(kind, n, dim, seed, spread):
    rng = np.random.default_rng(seed)
    rest, pairs = held_out(tree(shapes(kind, n, rng)), 0.2, seed)
    if not pairs or len(rest) < 2:
        return
    at = spread * rng.normal(size=(len(rest), dim)) / np.sqrt(dim)
    points = treeball.geometry.poincare.from_normal(at)
    old = Embedding(treeball.geometry.poincare.project(points, 30.0)[0], rest)
    insertion = treeball.insert(old, pairs, make_room=False)
    new = insertion.embedding
    assert new.vectors[: len(old)].tobytes() == old.vectors.tobytes()
    assert set(insertion.fell_ill) == {name for name in ill(new) - ill(old) if name in old}
    well = nearest_is_parent(new, insertion.placed)
    assert insertion.parent_nearest == sum(well)
    assert insertion.ill == [name for name, is_well in zip(insertion.placed, well, strict=True) if not is_well]
    assert insertion.without_place or not insertion.ill


def test_those_placed_last_are_known_whether_few_or_many(monkeypatch):
    monkeypatch.setattr("treeball.methods.settled.FEW", 4)
    monkeypatch.setattr("treeball.methods.settled.FEW_SHARE", 0.0)
    monkeypatch.setattr("treeball.methods.places.SHARE", 3)
    rest, pairs = held_out(tree(shapes("random", 400, np.random.default_rng(1))), 0.2, 1)
    insertion = Embedding(construct(rest, 8).vectors, rest).insert(pairs)
    assert len(pairs) > 64
    assert insertion.parent_nearest == len(pairs)
    assert not insertion.fell_ill


def test_a_chain_beyond_float64_is_named_and_does_no_harm(mammals):
    leaf = next(name for name in mammals.names if not mammals.children_of(name))
    chain = [(f"deep {i + 1}", f"deep {i}" if i else leaf) for i in range(400)]
    insertion = mammals.insert(chain, make_room=False)
    assert insertion.without_place
    assert {name.split()[0] for name in insertion.without_place} == {"deep"}
    assert insertion.embedding.vectors[: len(mammals)].tobytes() == mammals.vectors.tobytes()
    assert {name for name in ill(insertion.embedding) if name in mammals} == set(insertion.fell_ill)
    assert set(insertion.ill) == {name for name in ill(insertion.embedding) if name not in mammals}


def test_where_no_part_has_room_the_whole_is_constructed_anew():
    # Inner nodes all around the root at the shortest distance at which they have room.
    inner = tree([0] * 150 + [1 + i // 2 for i in range(300)])
    full = Embedding(construct(inner, 5).vectors, inner)
    pairs = [(f"new {i}", "n0") for i in range(200)]
    assert full.insert(pairs, make_room=False).without_place
    made = full.insert(pairs)
    assert made.ill == made.without_place == made.fell_ill == []
    assert len(made.moved_for_room) > len(full) / 2
    assert ill(made.embedding) == set()


def test_around_a_full_node_only_its_leaves_move_to_make_room():
    # A star of 150 leaves, one of which carries a smaller one: 150 at the least distance leave few angles free.
    star = tree([0] * 150 + [1] * 10)
    full = Embedding(construct(star, 5).vectors, star)
    pairs = [(f"new {i}", "n0") for i in range(40)]
    refused = full.insert(pairs, make_room=False)
    assert refused.without_place
    assert refused.fell_ill == refused.moved_for_room == refused.full == []
    made = full.insert(pairs)
    assert made.ill == made.without_place == made.fell_ill == []
    assert made.full == ["n0"]
    assert 0 < len(made.moved_for_room) < 100
    assert set(made.moved_for_room) <= {f"n{i}" for i in range(2, 151)}
    changed = (made.embedding.vectors[: len(full)] != full.vectors).any(axis=1)
    assert full.names.take(np.flatnonzero(changed)) == made.moved_for_room
    assert f"moved {len(made.moved_for_room)} other nodes to make room below 'n0'" in made.note
    assert ill(made.embedding) == set()


def test_healing_says_which_old_nodes_moved(mammals):
    trained = treeball.fit(mammals.hierarchy, method="lorentz", dim=5, epochs=20, deterministic=True)
    pairs = [(f"new {i}", name) for i, name in enumerate(list(mammals.names)[:60])]
    plain = trained.insert(pairs)
    assert plain.embedding.geometry == "lorentz"
    assert plain.embedding.vectors[: len(trained)].tobytes() == trained.vectors.tobytes()
    assert plain.parent_nearest < len(pairs)
    healed = trained.insert(pairs, heal_ill=True)
    assert healed.parent_nearest >= plain.parent_nearest
    assert healed.healed_by_moving
    assert set(healed.healed_by_moving) <= set(trained.names)


def test_new_nodes_may_have_several_parents(mammals):
    first, second = list(mammals.names)[5:7]
    insertion = mammals.insert([("both", first), ("both", second)])
    hierarchy = insertion.embedding.hierarchy
    assert hierarchy.names.take(hierarchy.parents_of(hierarchy.names.index_of("both"))) == [first, second]
    # It stands next to one of them; that it is ill with the other is said.
    assert insertion.parent_nearest == 0
    assert insertion.ill == ["both"]


def test_one_node_alone_can_get_children():
    alone = Embedding(np.zeros((1, 3)), Hierarchy.from_codes(["root"], [], []))
    insertion = alone.insert([("a", "root"), ("b", "root"), ("c", "a")])
    assert insertion.parent_nearest == 3


def test_integers_stay_integers():
    embedding = treeball.fit([(2, 1), (3, 1), (4, 2)], method="construct", dim=3)
    assert list(embedding.insert([("5", "2"), (6, 5)]).embedding.names)[-2:] == [5, 6]


@settings(max_examples=25, deadline=None)
@given(
    kind=st.sampled_from(["random", "preferential", "caterpillar", "star"]),
    n=st.integers(2, 120),
    new=st.integers(1, 400),
    dim=st.integers(3, 10),
    hubs=st.integers(1, 5),
    seed=st.integers(0, 10**6),
)
@example(kind="star", n=19, new=39, dim=4, hubs=1, seed=212)  # a full node whose lost child has children itself
def test_whatever_grows_where_all_are_well_if_fit_makes_them_well(kind, n, new, dim, hubs, seed):
    rng = np.random.default_rng(seed)
    rest = tree(shapes(kind, n, rng))
    # Most below a few nodes, some below each other.
    below = [f"n{i}" for i in rng.integers(0, len(rest), hubs)]
    pairs: list[tuple[str, str]] = []
    for i in range(new):
        above = f"new {rng.integers(0, i)}" if i and rng.random() < 0.1 else below[rng.integers(0, hubs)]
        pairs.append((f"new {i}", above))
    old = Embedding(construct(rest, dim).vectors, rest)
    insertion = old.insert(pairs)
    made = insertion.embedding
    assert {name for name in ill(made) if name in old} <= ill(old)
    fitted = treeball.fit(made.hierarchy, method="construct", dim=dim)
    if not ill(fitted):
        assert ill(made) <= ill(old)
    assert insertion.fell_ill == []
    changed = (made.vectors[: len(old)] != old.vectors).any(axis=1)
    assert old.names.take(np.flatnonzero(changed)) == insertion.moved_for_room
    assert bool(insertion.full) == bool(insertion.moved_for_room)


def test_thousands_below_one_node_and_again(mammals):
    grown = mammals
    for part in range(4):
        insertion = grown.insert([(f"{part} {i}", "dog.n.01") for i in range(1500)])
        assert insertion.embedding.vectors[: len(grown)].tobytes() == grown.vectors.tobytes()
        grown = insertion.embedding
        assert grown.evaluate("parents", sample=0).map == 1.0
        assert len(grown.evaluate("parents", sample=0).illness) == 0


def test_in_a_model_that_is_not_well_nobody_moves():
    star = tree([0] * 60)
    drawn = poincare.from_radius(np.random.default_rng(0).normal(size=(61, 3)), 0.8)
    old = Embedding(np.where(np.arange(61)[:, None] == 0, 0.0, drawn), star)
    assert len(old.evaluate("parents", sample=0).illness) > 1
    insertion = old.insert([(f"new {i}", "n0") for i in range(40)])
    assert insertion.without_place
    assert insertion.moved_for_room == insertion.full == []
    assert insertion.embedding.vectors[: len(old)].tobytes() == old.vectors.tobytes()


def test_the_command_says_who_moved_and_why(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    star = tree([0] * 150)
    Embedding(construct(star, 5).vectors, star).save("star.parquet")
    Path("new.csv").write_text("child,parent\n" + "".join(f"new {i},n0\n" for i in range(40)))
    assert run(["insert", "star.parquet", "new.csv", "-o", "out.parquet"]) == 0
    said = capsys.readouterr().out
    assert "1 node had no room left for its new children: n0" in said
    assert "moved to make room: n" in said
    assert "to make room below 'n0'" in treeball.load("out.parquet").provenance.log[-1].text
    assert run(["insert", "star.parquet", "new.csv", "-o", "out.parquet", "--no-make-room", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["without_place"]
    assert facts["moved_for_room"] == []
    made = treeball.load("out.parquet")
    assert made.vectors[:151].tobytes() == treeball.load("star.parquet").vectors.tobytes()


def test_work_that_takes_its_time_is_told(mammals, monkeypatch, capsys):
    pairs = [("fresh", mammals.names[10])]
    mammals.insert(pairs, progress=True)
    assert capsys.readouterr().err == ""  # over in a moment
    monkeypatch.setattr("treeball.methods.progress._WORK_SECONDS", 0.0)
    mammals.insert(pairs, progress=True)
    said = capsys.readouterr().err.splitlines()
    assert said[:2] == ["placing nodes: 0 of 1", "placing nodes: 1 of 1"]
    assert said[-1] == "evaluating"


def test_an_interruption_reaches_whoever_called(mammals, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("treeball.methods.places.settle_groups", interrupted)
    with pytest.raises(KeyboardInterrupt):
        mammals.insert([("fresh", mammals.names[10])])


# ---- other changes ----


def test_a_subtree_is_removed_and_the_others_stay(mammals):
    hierarchy = mammals.hierarchy
    inner = next(name for name in mammals.names if len(mammals.subtree(name)) > 5 and name != mammals.names[0])
    code = hierarchy.names.index_of(inner)
    gone = {code, *np.flatnonzero(hierarchy.is_ancestor(code, np.arange(len(hierarchy)))).tolist()}
    insertion = mammals.insert(remove=[inner])
    assert insertion.removed == len(gone)
    kept = [code for code in range(len(hierarchy)) if code not in gone]
    assert list(insertion.embedding.names) == hierarchy.names.take(kept)
    assert insertion.embedding.vectors.tobytes() == mammals.vectors[kept].tobytes()


def test_in_a_dag_only_what_hangs_nowhere_else_is_removed():
    hierarchy = Hierarchy.from_codes(list("rabcd"), [1, 2, 3, 3, 4], [0, 0, 1, 2, 1])
    left = remove_nodes(Edit.of(hierarchy), ["a"]).hierarchy
    assert list(left.names) == ["r", "b", "c"]
    assert left.names.take(left.parents_of(2)) == ["b"]


def test_names_change_and_may_be_swapped(mammals):
    first, second, third = list(mammals.names)[:3]
    insertion = mammals.insert(rename={first: second, second: first, third: "other"})
    assert list(insertion.embedding.names)[:3] == [second, first, "other"]
    assert insertion.embedding.vectors.tobytes() == mammals.vectors.tobytes()


def test_a_subtree_that_hangs_elsewhere_settles_anew(mammals):
    hierarchy = mammals.hierarchy
    size = hierarchy.interval_out - hierarchy.interval_in
    node = int(np.flatnonzero((size > 3) & (size < 30))[0])
    target = int(np.flatnonzero((hierarchy.depth == 2) & ~hierarchy.is_ancestor(np.arange(len(hierarchy)), node))[-1])
    name, above = hierarchy.names.take([node, target])
    insertion = mammals.insert(reparent={name: above})
    new = insertion.embedding
    assert len(insertion.placed) == size[node]
    assert insertion.parent_nearest == size[node]
    assert not insertion.fell_ill
    assert new.parent_of(name) == above
    stays = ~np.isin(np.arange(len(new)), [new.names.index_of(one) for one in insertion.placed])
    assert new.vectors[stays].tobytes() == mammals.vectors[stays].tobytes()


# ---- the command ----


def test_the_command_inserts_a_file(model, mammals, capsys):
    leaf, other = list(mammals.names)[10:12]
    Path("new.csv").write_text(f"child,parent\nlower,upper\nupper,{leaf}\nalone,{other}\n")
    assert run(["insert", "model.parquet", "new.csv", "-o", "model2.parquet", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["placed"], record["parent_nearest"]) == (3, 3)
    assert record["fell_ill"] == record["without_place"] == record["healed_by_moving"] == []
    made = treeball.load("model2.parquet")
    assert made.vectors[: len(mammals)].tobytes() == mammals.vectors.tobytes()
    assert made.parent_of("lower") == "upper"
    assert "placed 3 nodes" in made.provenance.log[-1].text
    assert run(["insert", "model2.parquet", "--remove", "upper", "--rename", "alone=a=b", "-o", "model3.parquet"]) == 0
    assert "removed" in capsys.readouterr().out
    assert len(treeball.load("model3.parquet")) == len(mammals) + 1
    assert "a=b" in treeball.load("model3.parquet")
    assert run(["insert", "model3.parquet", "--reparent", f"a=b={leaf}", "-o", "model4.parquet", "--heal"]) == 0
    assert treeball.load("model4.parquet").parent_of("a=b") == leaf


def test_a_line_without_header_is_child_and_parent(model, mammals, capsys):
    Path("one.tsv").write_text(f"fresh\t{mammals.names[10]}\n")
    assert run(["insert", "model.parquet", "one.tsv"]) == 0
    assert treeball.load("model.inserted.parquet").parent_of("fresh") == mammals.names[10]
    Path("turned.tsv").write_text(f"{mammals.names[10]}\tfresh\n{mammals.names[10]}\tfresher\n")
    assert run(["insert", "model.parquet", "turned.tsv", "--direction", "parent-child"]) == 0
    assert "fresher" in treeball.load("model.inserted.parquet")


def test_paths_from_the_top_may_be_given_whole(model, capsys):
    Path("paths.txt").write_text("all > food > bread\nall > food > milk\nall > toys\n")
    treeball.fit(treeball.read("paths.txt", format="breadcrumbs"), method="construct", dim=3).save("shop.parquet")
    Path("more.txt").write_text("all > food > fruit > apples\n")
    assert run(["insert", "shop.parquet", "more.txt", "--format", "breadcrumbs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["placed"] == 2


def test_a_node_with_unknown_parent_goes_where_its_neighbours_are(model, mammals, capsys):
    hierarchy = mammals.hierarchy
    parent = int(np.argmax(np.diff(hierarchy.child_ptr)))
    siblings = hierarchy.names.take(hierarchy.children_of(parent)[:3])
    assert run(["insert", "model.parquet", "--near", ",".join(siblings), "--name", "stray", "-o", "out.parquet"]) == 0
    assert f"'stray' goes below {hierarchy.names[parent]!r}" in capsys.readouterr().err
    assert treeball.load("out.parquet").parent_of("stray") == hierarchy.names[parent]


def test_among_ancestors_the_unknown_parent_is_that_of_the_neighbours(model, mammals, capsys):
    hierarchy = mammals.hierarchy
    parent = int(hierarchy.primary_parent[int(np.argmax(hierarchy.depth))])
    vectors = poincare.from_radius(
        np.random.default_rng(0).normal(size=(len(mammals), 5)), np.where(hierarchy.depth == 0, 0.0, 9.0)
    )
    Embedding(vectors, hierarchy, provenance=Provenance(objective="ancestors")).save("model.parquet")
    near = ",".join(hierarchy.names.take(hierarchy.children_of(parent)))
    assert run(["insert", "model.parquet", "--near", near, "--name", "stray", "-o", "out.parquet"]) == 0
    assert f"'stray' goes below {hierarchy.names[parent]!r}" in capsys.readouterr().err


def test_edges_that_the_model_has_change_nothing(model, mammals, capsys):
    scored = Embedding(mammals.vectors, mammals.hierarchy, provenance=Provenance(scores={"map": 1.0}))
    scored.save("model.parquet")
    child = mammals.names[10]
    Path("same.csv").write_text(f"child,parent\n{child},{mammals.parent_of(child)}\n")
    assert run(["insert", "model.parquet", "same.csv", "-o", "out.parquet"]) == 0
    assert capsys.readouterr().err.count("nothing is new") == 1
    made = treeball.load("out.parquet")
    assert made.vectors.tobytes() == mammals.vectors.tobytes()
    assert list(made.names) == list(mammals.names)
    assert made.provenance == treeball.load("model.parquet").provenance
    assert made.provenance.scores == {"map": 1.0}


def test_among_ancestors_the_command_warns_and_does_not_heal(model, mammals, capsys):
    Embedding(mammals.vectors, mammals.hierarchy, provenance=Provenance(objective="ancestors")).save("model.parquet")
    Path("new.csv").write_text(f"child,parent\nfresh,{mammals.names[10]}\n")
    assert run(["insert", "model.parquet", "new.csv", "--heal", "-o", "out.parquet"]) == 2
    error = capsys.readouterr().err
    assert "objective ancestors: insert without it" in error.splitlines()[-1]
    assert not Path("out.parquet").exists()
    assert run(["insert", "model.parquet", "new.csv", "-o", "out.parquet"]) == 0
    assert "warning: this model is made for the objective ancestors" in capsys.readouterr().err
    assert run(["insert", "model.parquet", "--rename", f"{mammals.names[10]}=other", "-o", "out.parquet"]) == 0
    assert "warning" not in capsys.readouterr().err


def test_a_new_top_hangs_below_the_added_root(model, capsys):
    Path("tops.csv").write_text("child,parent\na1,a\na2,a\nb1,b\n")
    treeball.fit("tops.csv", method="construct", dim=3).save("tops.parquet")
    Path("new.csv").write_text("child,parent\nfresh,\nkid,fresh\n")
    assert run(["insert", "tops.parquet", "new.csv", "-o", "out.parquet"]) == 2
    assert "(a new root is a child of '<root>')" in capsys.readouterr().err
    Path("new.csv").write_text("child,parent\nfresh,<root>\nkid,fresh\n")
    assert run(["insert", "tops.parquet", "new.csv", "-o", "out.parquet"]) == 0
    assert treeball.load("out.parquet").parent_of("kid") == "fresh"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("child,parent\nx,nowhere at all\n", "'nowhere at all' of 'x' is neither in the model nor"),
        ("child,parent\n{2},{1}\nx,{1}\n", "is in the model already"),
        ("child,parent\nx,y\ny,x\n", "bad.csv, line 3: y -> x closes a cycle, and"),
        (
            "child,parent\nx,y\ny,x\nz,w\nw,z\n",
            "bad.csv has 2 faults (2 cycle edges), and no node can",
        ),
        ("child,parent\nx,x\ny,{1}\n", "bad.csv, line 2: x is its own parent, and"),
        ("", "empty"),
    ],
)
def test_bad_edges_are_refused_in_one_sentence(model, mammals, capsys, content, said):
    names = list(mammals.names)
    roots_child = next(n for n in names[2:] if mammals.parent_of(n) != names[1] and n != mammals.hierarchy.root)
    Path("bad.csv").write_text(content.replace("{1}", names[1]).replace("{2}", roots_child))
    assert run(["insert", "model.parquet", "bad.csv", "-o", "out.parquet"]) == 2
    lines = capsys.readouterr().err.splitlines()
    *before, error = [line for line in lines if not line.startswith("  ")]  # the faults are listed below the sentence
    assert said in error
    assert all(" read as " in line for line in before)  # what was read, if that was possible
    assert len(before) <= 1
    assert sorted(path.name for path in Path().iterdir()) == ["bad.csv", "model.parquet"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "nothing to do"),
        (["--remove", "no such node"], "no node named"),
        (["--rename", "nothing"], "OLD=NEW"),
        (["--rename", "mammal.n.01=dog.n.01"], "already"),
        (["--reparent", "mammal.n.01=dog.n.01"], "root"),
        (["--reparent", "carnivore.n.01=dog.n.01"], "cycle"),
        (["--remove", "mammal.n.01"], "root"),
        (["--name", "x"], "--near"),
        (["--near", "dog.n.01", "--name", "cat.n.01"], "already"),
    ],
)
def test_bad_options_are_refused_in_one_sentence(model, capsys, options, said):
    assert run(["insert", "model.parquet", *options, "-o", "out.parquet"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert said in error
    assert not Path("out.parquet").exists()


def test_bad_arguments_in_python(mammals):
    with pytest.raises(InputError, match="no new node"):
        mammals.insert([])
    with pytest.raises(InputError, match="can be named"):
        mammals.insert([(None, "dog.n.01")])
    with pytest.raises(InputError, match="cycle"):
        mammals.insert([("x", "y"), ("y", "x")])
    with pytest.raises(InputError, match="hyperbolic"):
        Embedding(np.zeros((3, 2)), tree([0, 0]), "euclidean").insert([("x", "n1")])
