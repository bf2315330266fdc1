"""HierarchyEmbedder under scikit-learn's own rules. The library is not installed everywhere."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

import treeball
from treeball import InputError
from treeball.geometry import poincare

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from treeball.sklearn import HierarchyEmbedder

EDGES = [(f"g{i}", "all") for i in range(4)] + [(f"g{i}.{j}", f"g{i}") for i in range(4) for j in range(6)]
LEAVES = [f"g{i}.{j}" for i in range(4) for j in range(6)]
GROUPS = [i for i in range(4) for _ in range(6)]


def embedder(**options):
    return HierarchyEmbedder(**{"dim": 3, "epochs": 300, "random_state": 0, "method": "poincare", **options})


@pytest.fixture(scope="module")
def fitted():
    return embedder().fit(EDGES)


def test_fit_on_edges_and_transform_names_to_tangent_vectors(fitted):
    features = fitted.transform(LEAVES)
    assert features.shape == (24, 3)
    expected = poincare.to_normal(np.array([fitted.embedding_[name] for name in LEAVES]))
    assert np.array_equal(features, expected)
    assert list(fitted.get_feature_names_out()) == ["v1", "v2", "v3"]
    for same in (np.array(EDGES), treeball.read(EDGES)):
        assert np.array_equal(embedder().fit(same).transform(LEAVES), features)
    # A table numbers the nodes column by column: another order, and with it other random numbers.
    frame = embedder().fit(pd.DataFrame(EDGES, columns=["child", "parent"]))
    assert frame.transform(LEAVES).shape == features.shape
    assert set(frame.embedding_.names) == set(fitted.embedding_.names)


def test_columns_of_names(fitted):
    single = fitted.transform(LEAVES)
    for same in (
        np.array(LEAVES),
        np.array(LEAVES)[:, None],
        pd.Series(LEAVES),
        pd.DataFrame({"category": LEAVES}),
        [[name] for name in LEAVES],
    ):
        assert np.array_equal(fitted.transform(same), single)
    both = fitted.transform(pd.DataFrame({"a": LEAVES, "b": ["all"] * 24}))
    assert both.shape == (24, 6)
    assert np.array_equal(both[:, :3], single)
    assert list(fitted.get_feature_names_out(["a", "b"])) == ["a_v1", "a_v2", "a_v3", "b_v1", "b_v2", "b_v3"]


def test_several_columns_have_names_for_all_features(fitted):
    frame = pd.DataFrame({"a": LEAVES, "b": ["all"] * 24})
    by_name = ["a_v1", "a_v2", "a_v3", "b_v1", "b_v2", "b_v3"]
    by_place = ["x0_v1", "x0_v2", "x0_v3", "x1_v1", "x1_v2", "x1_v3"]
    on_samples: Any = HierarchyEmbedder(fitted.embedding_).fit(frame)
    assert list(on_samples.get_feature_names_out()) == by_name
    assert list(on_samples.fit(frame.to_numpy()).get_feature_names_out()) == by_place
    assert list(on_samples.fit(frame[["a"]]).get_feature_names_out()) == ["v1", "v2", "v3"]
    on_edges: Any = embedder(epochs=5).fit(EDGES)
    for one in (on_samples, on_edges):
        one.set_output(transform="pandas")
        assert list(one.transform(frame).columns) == by_name
        made = one.transform(frame.to_numpy()) if one is on_edges else one.fit_transform(frame.to_numpy())
        assert list(made.columns) == by_place
        assert list(one.transform(LEAVES).columns) == ["v1", "v2", "v3"]


def test_other_coordinates_and_methods():
    model = treeball.fit(EDGES, dim=3, epochs=5, method="lorentz")
    assert HierarchyEmbedder(model, coordinates="hyperboloid").fit(LEAVES).transform(LEAVES).shape == (24, 4)
    flat = embedder(method="euclidean", epochs=5).fit(EDGES)
    assert np.array_equal(flat.transform(["g1"])[0], flat.embedding_["g1"])
    assert list(flat.get_feature_names_out()) == ["e1", "e2", "e3"]


def test_a_model_is_used_as_it_is(tmp_path, fitted):
    path = fitted.embedding_.save(tmp_path / "m.parquet")
    for source in (fitted.embedding_, path, str(path)):
        assert np.array_equal(HierarchyEmbedder(source).fit(LEAVES).transform(LEAVES), fitted.transform(LEAVES))


def test_unknown_names(fitted):
    with pytest.raises(InputError, match=r"no node named 'g1\.9'; did you mean"):
        fitted.transform(["g1.1", "g1.9"])
    lenient = embedder(unknown="zero", hierarchy=fitted.embedding_).fit(None)
    features = lenient.transform(["g1.1", "g1.9"])
    assert features[1].tolist() == [0, 0, 0]
    assert np.array_equal(features[0], fitted.transform(["g1.1"])[0])
    with pytest.raises(InputError, match="unknown must be error or zero"):
        embedder(unknown="ignore").fit(EDGES)
    with pytest.raises(InputError, match="single name"):
        fitted.transform("g1.1")
    with pytest.raises(NotFittedError):
        embedder().transform(LEAVES)


def test_parameters_follow_the_rules(fitted):
    one = embedder(settings={"negatives": 5})
    assert clone(one).get_params() == one.get_params()
    assert one.set_params(dim=5, coordinates="ball").dim == 5
    assert "HierarchyEmbedder(" in repr(one)
    assert clone(fitted).fit(EDGES).transform(LEAVES).tolist() == fitted.transform(LEAVES).tolist()
    with pytest.raises(InputError, match="there is no setting 'negative'"):
        embedder(settings={"negative": 5}).fit(EDGES)


def test_in_a_pipeline_and_a_grid(fitted):
    pipeline = make_pipeline(HierarchyEmbedder(fitted.embedding_), LogisticRegression(C=100))
    assert pipeline.fit(LEAVES, GROUPS).score(LEAVES, GROUPS) > 0.9
    frame = pd.DataFrame({"category": LEAVES, "price": np.arange(24.0)})
    both = ColumnTransformer([("tree", embedder(hierarchy=EDGES, epochs=20), ["category"])], remainder="passthrough")
    assert both.fit_transform(frame, GROUPS).shape == (24, 4)
    assert both.get_feature_names_out()[0] == "tree__category_v1"
    assert both.set_output(transform="pandas").fit_transform(frame).shape == (24, 4)
    search = GridSearchCV(
        make_pipeline(embedder(hierarchy=EDGES, epochs=20), LogisticRegression()),
        {"hierarchyembedder__dim": [2, 3]},
        cv=2,
    )
    assert search.fit(np.array(LEAVES), GROUPS).best_params_["hierarchyembedder__dim"] in (2, 3)


def test_the_core_never_imports_scikit_learn():
    code = "import sys, treeball; treeball.fit([('b', 'a')], dim=2); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    # pyarrow itself imports pandas where it is installed.
    assert not {"sklearn", "networkx", "duckdb", "gensim"} & set(loaded)
