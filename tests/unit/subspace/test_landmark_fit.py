"""Learning from landmarks: with all samples the dense method, with fewer close to it, and from batches the same."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.moments import Moments
from mklearn.classifiers import KernelRidgeClassifier
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.subspace.convex_mkldr import ConvexMKLDR
from mklearn.subspace.kernel_pca import KernelPCA
from mklearn.subspace.kfd import KernelFDA
from mklearn.subspace.mkldr import MKLDR

KERNELS = {
    "narrow": {"kind": "gaussian", "bandwidth": 2.0},
    "wide": {"kind": "gaussian", "bandwidth": 6.0, "centre": False},
    "linear": {"kind": "linear", "normalise": "none"},
}
DATA = {"digits": load_digits, "wine": load_wine, "breast cancer": load_breast_cancer}
Samples = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module", params=list(DATA))
def samples(request: pytest.FixtureRequest) -> Samples:
    X, y = DATA[request.param](return_X_y=True)
    X = StandardScaler().fit_transform(X)
    order = np.random.default_rng(0).permutation(len(X))
    train, new = order[:130], order[130:170]
    return X[train], y[train], X[new], y[new]


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        (KernelFDA, {}),
        (KernelFDA, {"scaling": "within", "kernel_weights": [0.2, 0.8, 0.0]}),
        (KernelFDA, {"scaling": "unit", "kernel_weights": [0.0, 0.6, 0.4]}),
        (MKLDR, {"max_iter": 5, "tol": 0.0}),
        (MKLDR, {"init": "orthonormal", "scaling": "orthonormal"}),
        (MKLDR, {"a_step": "trace_ratio"}),
        (MKLDR, {"graph": "pca", "n_components": 3, "ridge": 1e-2}),
        (KernelPCA, {"n_components": 6, "kernel_weights": [0.5, 0.2, 0.3]}),
        (ConvexMKLDR, {}),
        (ConvexMKLDR, {"p": 2.0}),
        (ConvexMKLDR, {"denominator": "within", "p": 1.0}),
    ],
)
def test_all_samples_as_landmarks_are_the_dense_method(samples: Samples, method: Any, parameters: dict[str, Any]):
    X, y, new, _ = samples
    dense = method(kernels=KERNELS, **parameters).fit(X, y)
    found = method(kernels=KERNELS, landmarks=len(X), **parameters).fit(X, y)
    np.testing.assert_allclose(found.kernel_weights_, dense.kernel_weights_, atol=1e-6)
    size = np.abs(dense.eigenvalues_).max()
    np.testing.assert_allclose(found.eigenvalues_, dense.eigenvalues_, rtol=1e-7, atol=1e-12 * size)
    if hasattr(dense, "objective_"):
        iterative = parameters.get("a_step") == "trace_ratio"  # with a tolerance of its own
        assert found.objective_ == pytest.approx(dense.objective_, rel=1e-8 if iterative else 1e-10)
    for samples_, expected in ((X, dense.embedding_), (new, dense.transform(new))):
        scale = np.abs(expected).max()
        np.testing.assert_allclose(np.abs(found.transform(samples_)), np.abs(expected), atol=1e-5 * scale)
    np.testing.assert_allclose(found.embedding_, found.transform(X))
    np.testing.assert_array_equal(found.predict(new), dense.predict(new))


def test_kernel_pca_with_few_landmarks_is_pca_of_their_features():
    X, _ = load_digits(return_X_y=True)
    kernels = [{"bandwidth": b, "normalise": "none"} for b in (0.5, 2.0)]
    model = KernelPCA(kernels=kernels, landmarks=40).fit(X[:500])
    features = np.sqrt(0.5) * model.landmark_features_.transform(X[:500])
    reference = PCA(svd_solver="full").fit(features)
    assert len(model.eigenvalues_) == 80
    np.testing.assert_allclose(model.eigenvalues_, reference.singular_values_**2, rtol=1e-9)
    new = np.sqrt(0.5) * model.landmark_features_.transform(X[500:700])
    expected = reference.transform(new)[:, :20]
    np.testing.assert_allclose(np.abs(model.leading(20).transform(X[500:700])), np.abs(expected), atol=1e-9)
    with pytest.raises(NotApplicable, match="was fitted without labels"):
        model.predict(X)


@pytest.mark.parametrize("method", [KernelFDA, MKLDR, ConvexMKLDR, KernelPCA])
def test_batches_in_any_form_are_one_fit(method: Any):
    X, y = load_digits(return_X_y=True)
    features = LandmarkFeatures(KERNELS, n=60).fit(X[:500], y[:500])
    parts = [Moments().partial_fit(features.transform(X[i:600:3]), y[i:600:3]) for i in range(3)]
    found = method().fit_moments(features, parts[2].merge(parts[0]).merge(parts[1]))
    whole = method().fit_moments(features, Moments().partial_fit(features.transform(X[:600]), y[:600]))
    np.testing.assert_allclose(found.kernel_weights_, whole.kernel_weights_, atol=1e-8)
    new, expected = found.transform(X[600:700]), whole.transform(X[600:700])
    np.testing.assert_allclose(np.abs(new), np.abs(expected), atol=1e-6 * np.abs(expected).max())
    embedded = found.transform(X[:600])
    means = np.stack([embedded[y[:600] == c].mean(axis=0) for c in range(10)])
    np.testing.assert_allclose(found.embedding_, means, atol=1e-9)
    nearest = ((found.transform(X[600:700])[:, None] - means) ** 2).sum(axis=-1).argmin(axis=1)
    np.testing.assert_array_equal(found.predict(X[600:700]), nearest)


X, Y = load_wine(return_X_y=True)


@pytest.mark.parametrize(
    ("model", "kind", "sentence"),
    [
        (MKLDR(kernels=KERNELS, landmarks={"number": 5}), ConfigError, "`landmarks` has the unknown key 'number'"),
        (MKLDR(kernels=KERNELS, landmarks=9, graph="lpp"), ConfigError, "graph should be 'lda' or 'pca'"),
        (MKLDR(kernels=KERNELS, landmarks=9, graph="pca", ridge=0.0), ConfigError, "needs ridge > 0"),
        (KernelFDA(3, kernels=KERNELS, landmarks=9), NotApplicable, "the number of classes less one is 2"),
        (KernelPCA(90, kernels=KERNELS, landmarks=9), NotApplicable, "the landmarks have 31 features"),
    ],
)
def test_mistakes_are_one_sentence(model: Any, kind: type[Exception], sentence: str):
    with pytest.raises(kind, match=sentence):
        model.fit(X, Y)


def test_mistakes_in_moments_and_in_what_needs_kernel_matrices():
    features = LandmarkFeatures(KERNELS, n=9).fit(X, Y)
    unlabelled = Moments().partial_fit(features.transform(X))
    with pytest.raises(DataError, match="MKLDR needs class labels: give y to"):
        MKLDR().fit_moments(features, unlabelled)
    unsupervised = MKLDR(graph="pca").fit_moments(features, unlabelled)
    assert unsupervised.transform(X).shape == (178, 2)
    with pytest.raises(NotApplicable, match="was fitted without labels"):
        unsupervised.predict(X)
    with pytest.raises(DataError, match="the moments are of 2 features, but the landmarks have 31"):
        MKLDR().fit_moments(features, Moments().partial_fit(X[:, :2], Y))
    with pytest.raises(NotApplicable, match="all samples have the label 0: at least two classes"):
        KernelFDA().fit_moments(features, Moments().partial_fit(features.transform(X[Y == 0]), Y[Y == 0]))
    twice = X[:, [0, 1, 1]]
    with pytest.raises(NotApplicable, match="n_components=3: the centred kernel has rank 2, give at most 2"):
        KernelPCA(3, kernels="linear", landmarks=9).fit(twice)
    constant = LandmarkFeatures("linear").fit(np.ones((20, 2)), np.arange(20) % 2)
    with pytest.raises(DataError, match="all training samples coincide"):
        KernelFDA().fit_moments(constant, Moments().partial_fit(np.ones((20, 2)), np.arange(20) % 2))
    with pytest.raises(NotApplicable, match="constant over the samples"):
        KernelRidgeClassifier(kernels=KERNELS["linear"], landmarks=9).fit(np.ones((20, 2)), np.arange(20) % 2)


def test_unsupervised_methods_take_any_target_and_views_with_gaps_are_scaled_by_what_is_there() -> None:
    rng = np.random.default_rng(0)
    views = {"a": rng.normal(size=(40, 3)), "b": rng.normal(size=(40, 3))}
    KernelPCA(2, kernels="gaussian", landmarks=10).fit(views["a"], rng.normal(size=40))
    views["b"][:20] = np.nan
    specs = {name: {"kind": "gaussian", "view": name, "missing_views": "mean"} for name in views}
    dense, exact = (KernelPCA(2, kernels=specs, landmarks=each).fit(views) for each in (None, 40))
    np.testing.assert_allclose(exact.eigenvalues_, dense.eigenvalues_, rtol=1e-9)


def test_labels_that_change_after_the_fit_change_no_prediction() -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    model = KernelFDA(kernels="gaussian").fit(X, y)
    before = model.predict(X)
    y[:] = 0
    np.testing.assert_array_equal(model.predict(X), before)
