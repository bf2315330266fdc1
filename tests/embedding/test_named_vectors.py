"""Vectors that come with names: their order is checked, mended by name, or refused."""

from __future__ import annotations

import numpy as np
import pytest

from treeball import Embedding, Hierarchy, InputError, read
from treeball.embedding import Provenance

NAMES = ["animal", "dog", "cat", "poodle"]
VECTORS = np.array([[0.0, 0.0], [0.5, 0.0], [-0.5, 0.1], [0.8, 0.05]])
SHUFFLED = [2, 0, 3, 1]


def tree() -> Hierarchy:
    return Hierarchy.from_codes(NAMES, [1, 2, 3], [0, 0, 1])


def shuffled_names() -> list[str]:
    return [NAMES[row] for row in SHUFFLED]


def test_rows_go_to_nodes_by_name():
    made = Provenance(method="elsewhere")
    embedding = Embedding.from_vectors(shuffled_names(), VECTORS[SHUFFLED], tree(), provenance=made)
    assert np.array_equal(embedding.vectors, VECTORS)
    assert (embedding.geometry, embedding.provenance) == ("poincare", made)
    lists = Embedding.from_vectors(iter(shuffled_names()), VECTORS[SHUFFLED].tolist(), tree(), "euclidean")
    assert np.array_equal(lists.vectors, VECTORS)
    assert lists.geometry == "euclidean"


def test_names_of_integers_go_to_nodes_by_their_number():
    numbered = Hierarchy.from_codes([7, 3, 5], [1, 2], [0, 0])
    embedding = Embedding.from_vectors(np.array([3, 5, 7]), VECTORS[:3], numbered)
    assert embedding[7].tolist() == VECTORS[2].tolist()
    assert embedding[3].tolist() == VECTORS[0].tolist()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["animal", "dog", "cat", "dog"], "hold 'dog' more than once"),
        (["animal", "dog", "cat", "wolf"], "hold 'wolf', and the hierarchy has no such node"),
        (["animal", "dog", "cat"], r"lack 'poodle'.*missing=\"drop\""),
        ("abcd", "names must be a list"),
        (4, "names must be a list"),
    ],
)
def test_names_that_do_not_fit_are_refused(names, message):
    with pytest.raises(InputError, match=message):
        Embedding.from_vectors(names, VECTORS, tree())


@pytest.mark.parametrize("vectors", [VECTORS[:3], VECTORS[0], [[0.1, 0.2], [0.3]] * 2, [["x", "y"]] * 4])
def test_vectors_that_are_not_one_row_a_name_are_refused(vectors):
    with pytest.raises(InputError, match=r"one row per name|rows of numbers"):
        Embedding.from_vectors(NAMES, vectors, tree())


def test_a_virtual_root_needs_no_vector():
    forest = read([("b", "a"), ("d", "c")])
    names = [name for name in forest.names if forest.names.index_of(name) != forest.virtual_root]
    embedding = Embedding.from_vectors(names, VECTORS, forest)
    assert embedding.vectors[forest.virtual_root].tolist() == [0.0, 0.0]
    assert embedding["a"].tolist() == VECTORS[names.index("a")].tolist()


def test_a_frame_in_another_order_is_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(VECTORS, index=NAMES)
    assert np.array_equal(Embedding(frame, tree()).vectors, VECTORS)
    with pytest.raises(InputError, match=r"'cat' in row 0, which is the row of 'animal': use Embedding\.from_vectors"):
        Embedding(frame.iloc[SHUFFLED], tree())
    with pytest.raises(InputError, match=r"'wolf' in row 3, which is the row of 'poodle'"):
        Embedding(frame.rename(index={"poodle": "wolf"}), tree())
    assert np.array_equal(Embedding(frame.reset_index(drop=True), tree()).vectors, VECTORS)
    numbered = Hierarchy.from_codes([2, 0, 1], [1, 2], [0, 0])
    with pytest.raises(InputError, match="'0' in row 0, which is the row of '2'"):
        Embedding(pandas.DataFrame(VECTORS[:3]), numbered)


def test_a_mapping_in_another_order_is_refused():
    assert np.array_equal(Embedding(dict(zip(NAMES, VECTORS, strict=True)), tree()).vectors, VECTORS)
    with pytest.raises(InputError, match=r"the dict has 'cat' in row 0.*from_vectors"):
        Embedding(dict(zip(shuffled_names(), VECTORS[SHUFFLED], strict=True)), tree())


def test_an_embedding_is_an_array_of_its_vectors():
    embedding = Embedding(VECTORS, tree())
    shared = np.asarray(embedding)
    assert np.array_equal(shared, VECTORS)
    assert shared.dtype == np.float64
    assert np.shares_memory(shared, embedding.vectors)
    assert not shared.flags.writeable
    copied = np.array(embedding, copy=True)
    assert copied.flags.writeable
    assert not np.shares_memory(copied, embedding.vectors)
    assert np.asarray(embedding, dtype=np.float32).dtype == np.float32
    assert np.array(embedding, dtype=np.float32).dtype == np.float32
    assert embedding.__array__(copy=False) is embedding.vectors
    with pytest.raises(ValueError, match="as float32 they must be copied"):
        embedding.__array__(np.float32, copy=False)
    assert np.mean(embedding, axis=0) == pytest.approx(VECTORS.mean(axis=0))
