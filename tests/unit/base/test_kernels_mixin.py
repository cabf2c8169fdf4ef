"""Named kernels on several views: as on concatenated columns, in pipelines and searches, dense and sparse."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mklearn.classifiers.kernel_svc import KernelSVC
from mklearn.classifiers.multi_view import MultiViewClassifier
from mklearn.descriptors.hog import hog
from mklearn.descriptors.lbp import lbp
from mklearn.errors import ConfigError, DataError
from mklearn.kernels.transform import StackTransform
from mklearn.kernels.views import Views
from mklearn.subspace import MKLDR, KernelFDA, KernelPCA

pytestmark = pytest.mark.filterwarnings("ignore::mklearn.kernels.matrices.IdentityLikeKernelWarning")

NAMED: dict[str, Any] = {
    "pixels": {"kind": "gaussian", "preprocessing": make_pipeline(StandardScaler(), PCA(10, random_state=0))},
    "hog": {"kind": "gaussian", "preprocessing": StandardScaler()},
    "lbp": {"kind": "gaussian", "measure": "chi2"},
}


@pytest.fixture(scope="module")
def digits() -> tuple[dict[str, pd.DataFrame], np.ndarray]:
    X, y = load_digits(return_X_y=True)
    X, y = X[:240], y[:240]
    images = X.reshape(-1, 8, 8) / 16
    found = {"pixels": X, "hog": hog(images, cell=4), "lbp": lbp(images, grid=2)}
    rows = [f"digit-{number}" for number in range(len(y))]
    return {
        name: pd.DataFrame(values, index=rows, columns=[f"{name}{number}" for number in range(values.shape[1])])
        for name, values in found.items()
    }, y


def test_every_form_of_views_gives_the_same(digits) -> None:
    tables, y = digits
    forms = [
        tables,
        Views(tables),
        {name: table.to_numpy() for name, table in tables.items()},
        pd.concat(tables, axis=1),
    ]
    expected = KernelFDA(kernels=NAMED).fit(tables, y)
    for form in forms[1:]:
        model = KernelFDA(kernels=NAMED).fit(form, y)
        np.testing.assert_array_equal(model.embedding_, expected.embedding_)
        np.testing.assert_array_equal(model.transform(form), expected.transform(tables))
        assert model.n_features_in_ == sum(table.shape[1] for table in tables.values())
    with_id = [{**spec, "id": name, "view": name} for name, spec in NAMED.items()]
    np.testing.assert_array_equal(KernelFDA(kernels=with_id).fit(tables, y).embedding_, expected.embedding_)
    new = {name: table.iloc[:5] for name, table in tables.items()} | {"unread": np.ones((5, 2))}
    np.testing.assert_allclose(expected.transform(new), expected.embedding_[:5], atol=1e-8)

    each = KernelFDA(kernels="gaussian").fit(tables, y)
    listed = KernelFDA(kernels=["gaussian"] * 3).fit(list(tables.values()), y)
    assert (each.kernel_ids_, listed.kernel_ids_) == (tuple(tables), ("0", "1", "2"))
    np.testing.assert_array_equal(listed.embedding_, each.embedding_)


@pytest.mark.parametrize(
    "spec",
    [
        {"view": "hog", "bandwidth": 0.5},
        {"kind": "product", "factors": [{"view": "pixels"}, {"view": "hog"}]},
        {"kind": "product", "view": "lbp", "factors": [{}, {"view": "hog"}]},
    ],
)
def test_one_spec_that_names_a_view_is_one_kernel(digits, spec: dict[str, Any]) -> None:
    tables, y = digits
    one, listed = (KernelFDA(kernels=kernels).fit(tables, y) for kernels in (spec, [spec]))
    assert one.kernel_ids_ == listed.kernel_ids_ == ("0",)
    np.testing.assert_array_equal(one.embedding_, listed.embedding_)
    assert KernelFDA(kernels={"view": None, "bandwidth": 0.5}).fit(tables, y).kernel_ids_ == tuple(tables)


@pytest.mark.parametrize("method", [KernelFDA, KernelPCA])
def test_pandas_output_has_the_row_labels(digits, method) -> None:
    tables, y = digits
    model = method(2, kernels=NAMED).set_output(transform="pandas")
    for X in (tables, pd.concat(tables, axis=1)):
        Z = model.fit_transform(X, y)
        assert list(Z.index) == list(tables["hog"].index)
        assert list(Z.columns) == [f"{method.__name__.lower()}{number}" for number in range(2)]
        np.testing.assert_allclose(model.transform(X).to_numpy(), Z.to_numpy(), atol=1e-8)
    Z = method(2, kernels="gaussian").set_output(transform="pandas").fit_transform(tables["hog"], y)
    assert list(Z.index) == list(tables["hog"].index)


@pytest.mark.parametrize("kind", ["gaussian", "linear", "polynomial"])
def test_sparse_views_equal_dense_ones(digits, kind) -> None:
    tables, y = digits
    pixels = tables["pixels"].to_numpy()
    pixels = np.where(pixels < 8, 0, pixels)
    dense, sparse = (KernelSVC(kernels={"pixels": kind}).fit({"pixels": Z}, y) for Z in (pixels, sp.csr_matrix(pixels)))
    assert sp.issparse(sparse._transform_.entries[0].sources[0].training_values())
    expected = dense.decision_function({"pixels": pixels})
    for new in (pixels, sp.coo_array(pixels)):
        for model in (dense, sparse):
            np.testing.assert_allclose(model.decision_function({"pixels": new}), expected, atol=1e-8)
    single = StackTransform({"pixels": kind}).fit_transform({"pixels": sp.csr_array(pixels.astype(np.float32))})
    assert single.dtype == np.float32


def test_preprocessing_takes_what_is_no_number() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    words = np.array(["red apple round", "green pear long"], dtype=object)[y]
    words[rng.random(60) < 0.2] = "a fruit"
    frame = pd.DataFrame({"size": y + rng.normal(size=60), "shop": np.array(["a", "b", "c"])[rng.integers(3, size=60)]})
    frame.loc[rng.random(60) < 0.2, "size"] = np.nan
    kernels = {
        "words": {"kind": "linear", "preprocessing": TfidfVectorizer()},
        "size": {"view": "table", "columns": ["size"], "preprocessing": SimpleImputer()},
        "shop": {"view": "table", "columns": "shop", "kind": "linear", "preprocessing": OneHotEncoder()},
    }
    views = Views({"words": words, "table": frame})
    assert cross_val_score(KernelSVC(kernels=kernels), views, y, cv=3, error_score="raise").mean() > 0.7
    of_table = {name: {**spec, "view": None} for name, spec in kernels.items() if name != "words"}
    model = KernelSVC(kernels=of_table).fit(frame, y)
    assert list(model.feature_names_in_) == ["size", "shop"]
    assert model.predict(frame).shape == (60,)
    with pytest.raises(DataError, match="kernel 'shop': `preprocessing` failed: Found unknown categories"):
        model.predict(frame.assign(shop="d"))
    with pytest.raises(DataError, match="returns 1 rows for the 60 samples of X"):
        KernelSVC(kernels={"words": {"columns": ["shop"], "preprocessing": TfidfVectorizer()}}).fit(frame, y)
    with pytest.raises(ConfigError, match="an object with `fit` and `transform`"):
        KernelSVC(kernels={"words": {"preprocessing": OneHotEncoder}}).fit(frame, y)
    vectoriser = kernels["words"]["preprocessing"]
    assert not hasattr(vectoriser, "vocabulary_")


def test_parameters_of_kernels_are_parameters() -> None:
    model = MKLDR(kernels=NAMED)
    parameters = model.get_params()
    assert parameters["kernels__hog"] == NAMED["hog"]
    assert parameters["kernels__hog__bandwidth"] == 1.0
    assert parameters["kernels__pixels__preprocessing__pca__n_components"] == 10
    assert "kernels__hog__bandwidth" not in model.get_params(deep=False)
    model.set_params(kernels__hog__bandwidth=2.0, kernels__pixels__preprocessing__pca__n_components=3, ridge=0.5)
    assert model.kernels["hog"]["bandwidth"] == 2.0
    assert (model.kernels["pixels"]["preprocessing"]["pca"].n_components, model.ridge) == (3, 0.5)
    assert "bandwidth" not in NAMED["hog"]
    assert NAMED["pixels"]["preprocessing"]["pca"].n_components == 10
    copied = clone(model)
    assert copied.get_params()["kernels__hog__bandwidth"] == 2.0
    assert copied.kernels["pixels"]["preprocessing"] is not model.kernels["pixels"]["preprocessing"]

    assert MKLDR(kernels=["linear", "gaussian"]).set_params(kernels__1__bandwidth=3.0).kernels == {
        "0": {"kind": "linear"},
        "1": {"kind": "gaussian", "bandwidth": 3.0},
    }
    assert MKLDR(kernels="gaussian").set_params(kernels__bandwidth=3.0).kernels == {
        "kind": "gaussian",
        "bandwidth": 3.0,
    }
    swapped = MKLDR(kernels={"a": "linear", "a__b": "linear"}).set_params(
        kernels__a="gaussian", kernels__a__b__centre=False, kernels__a__bandwidth=0.5
    )
    assert swapped.kernels == {"a": {"kind": "gaussian", "bandwidth": 0.5}, "a__b": {"kind": "linear", "centre": False}}
    for invalid in (-np.inf, None, [3], "precomputed", {"a": 3}, {"a": "gausian"}):
        assert all(name.count("__") == 1 for name in MKLDR(kernels=invalid).get_params() if "kernels__" in name)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kernels__hog__bandwith": 1}, r"kernel 'hog' has the unknown key 'bandwith'\. Did you mean 'bandwidth'\?"),
        ({"kernels__hogg__bandwidth": 1}, r"unknown key 'hogg'\. Did you mean 'hog'\? Valid keys: pixels, hog, lbp"),
        ({"kernels__lbp__preprocessing__pca": 1}, "kernel 'lbp' has no `preprocessing` with parameters"),
    ],
)
def test_refuses_parameters(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        MKLDR(kernels=NAMED).set_params(**changes)
    with pytest.raises(ConfigError, match="precomputed kernels have no parameters"):
        MKLDR().set_params(**changes)
    with pytest.raises(ConfigError, match=r"is one spec, so that there is no kernel '\w+' to change; name them"):
        MKLDR(kernels="gaussian").set_params(**changes)


def test_refuses_other_data(digits) -> None:
    tables, y = digits
    hog_alone, stack = tables["hog"], np.stack([np.eye(len(y))] * 2, axis=-1)
    model = KernelFDA(kernels={"hog": "gaussian", "lbp": "gaussian"}).fit(tables, y)
    other_names = "view 'hog' has other column names than in fit, or .* hog0, hog1, "
    of_one, precomputed = KernelFDA(kernels="gaussian").fit(hog_alone, y), KernelFDA().fit(stack, y)
    for fitted, X, message in (
        (model, hog_alone, "X must be the views 'hog', 'lbp', as in fit"),
        (model, {"hog": hog_alone}, "there is no view 'lbp'; available: 'hog'"),
        (model, tables | {"hog": hog_alone.iloc[:, :5]}, "view 'hog' has 5 features, but the training samples had 36"),
        (model, tables | {"hog": hog_alone.iloc[:, ::-1]}, other_names),
        (model, tables | {"hog": hog_alone.where(hog_alone > 0.01)}, "kernel 'hog': view 'hog' has NaN.* `impute`"),
        (model, tables | {"hog": hog_alone.astype(str)}, "dtype (object|str); expected real numbers.* `preprocessing`"),
        (of_one, tables, "X must be one table of features"),
        (precomputed, stack[..., :1], "X holds 1 kernels, but KernelFDA was fitted with 2"),
    ):
        with pytest.raises(DataError, match=message):
            fitted.transform(X)
    with pytest.raises(DataError, match="X must be the views 'pixels', 'hog', 'lbp', as in fit"):
        MultiViewClassifier().fit(tables, y).predict([hog_alone.to_numpy()[..., None]])
    for kernels, message in (
        ({"hog": {"view": "hog"}}, "needs view 'hog', but X is one table"),
        ("precomputed", "kernels='precomputed': expected a square"),
    ):
        with pytest.raises(DataError, match=message):
            KernelFDA(kernels=kernels).fit(hog_alone, y)
