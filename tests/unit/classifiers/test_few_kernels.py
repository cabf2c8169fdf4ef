"""`MultiViewClassifier(n_kernels=...)`: few of many kernels."""

import numpy as np
import pytest
from sklearn.base import clone

from mklearn import MultiViewClassifier
from mklearn.kernels import StackTransform


def planted(n: int = 300, n_groups: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray, list]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5 * n_groups))
    score = X[:, :15] @ rng.choice([-1.0, 1.0], 15) + rng.standard_normal(n)
    linear = {"kind": "linear", "feature_scaling": "standard"}
    specs = [{"id": f"g{k}", "columns": list(range(5 * k, 5 * k + 5)), **linear} for k in range(n_groups)]
    return X, np.where(score > np.median(score), "high", "low"), specs


@pytest.mark.parametrize("memory", [2**30, 1000])
def test_chosen_kernels_alone_give_the_same_classifier(monkeypatch: pytest.MonkeyPatch, memory: int) -> None:
    monkeypatch.setattr("mklearn.base.kernel_source.MEMORY", memory)
    X, y, specs = planted(n=120, n_groups=20)
    specs.reverse()  # the informative kernels are the last
    few = MultiViewClassifier(kernels=specs, n_kernels=3).fit(X, y)
    chosen = np.flatnonzero(few.shares_)
    alone = MultiViewClassifier(kernels=[specs[number] for number in chosen], least_agreement=0).fit(X, y)
    np.testing.assert_allclose(few.decision_function(X[:9]), alone.decision_function(X[:9]), atol=1e-8)
    np.testing.assert_allclose(few.shares_[chosen], alone.shares_, atol=1e-8)


def test_kernels_that_are_given_are_chosen_alike() -> None:
    X, y, specs = planted(n=120, n_groups=20)
    transform = StackTransform(specs).fit(X[:100])
    precomputed = MultiViewClassifier(kernels="precomputed", n_kernels=3)
    precomputed.fit(transform.stack_train_.as_last_axis(), y[:100])
    computed = MultiViewClassifier(kernels=specs, n_kernels=3).fit(X[:100], y[:100])
    np.testing.assert_allclose(precomputed.shares_, computed.shares_, atol=1e-8)
    new = transform.transform(X[100:]).as_last_axis()
    np.testing.assert_allclose(precomputed.decision_function(new), computed.decision_function(X[100:]), atol=1e-8)


def test_few_kernels_with_landmarks_weights_of_samples_and_constant_columns() -> None:
    X, y, specs = planted(n=200, n_groups=12)
    X[:, 20:25] = 1.0  # the group g4
    weights = np.random.default_rng(0).integers(0, 3, 200)
    model = MultiViewClassifier(kernels=specs, n_kernels=3, landmarks=80)
    model.fit(X, y, sample_weight=weights)
    assert model.shares_[4] == 0
    assert len(np.flatnonzero(model.shares_)) <= 3
    assert clone(model).n_kernels == 3
    repeated = np.repeat(np.arange(200), weights)
    one = MultiViewClassifier(kernels=specs, n_kernels=3).fit(X, y, sample_weight=weights)
    two = MultiViewClassifier(kernels=specs, n_kernels=3).fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(np.flatnonzero(one.shares_), np.flatnonzero(two.shares_))
