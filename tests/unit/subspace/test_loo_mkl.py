"""Leave-one-out MKL: one kernel, the discriminant, identity-like kernels beside MKL-DR, real digits."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from tests.unit.subspace.problems import LABELS, gaussian_kernels, nearest_accuracy

from mklearn.subspace.kfd import KernelFDA
from mklearn.subspace.loo_mkl import LeaveOneOutMKL
from mklearn.subspace.mkldr import MKLDR


def test_the_projection_is_the_discriminant_of_the_learned_weights():
    K = gaussian_kernels(1)
    model = LeaveOneOutMKL(1, ridge=1e-2, scaling="within").fit(K, LABELS)
    plain = KernelFDA(1, kernel_weights=model.kernel_weights_, ridge=1e-2, scaling="within").fit(K, LABELS)
    np.testing.assert_allclose(model.embedding_, plain.embedding_)
    # neither of the discriminant's parameters touches the weights
    other = LeaveOneOutMKL(2, ridge=1.0).fit(K, LABELS)
    np.testing.assert_array_equal(other.kernel_weights_, model.kernel_weights_)


def test_equal_shares_are_the_discriminant_at_unit_centred_trace(monkeypatch):
    monkeypatch.setattr("mklearn.subspace.loo_mkl.leave_one_out_weights", None)  # a call would fail
    K = gaussian_kernels(1) * np.array([5.0, 1.0, 0.2]) + np.array([0.0, 3.0, 0.0])
    model = LeaveOneOutMKL(ridge=1e-2, scaling="within", kernel_weights="uniform").fit(K, LABELS)
    traces = np.array([np.trace(K[..., m]) / len(K) - K[..., m].mean() for m in range(3)])
    plain = KernelFDA(ridge=1e-2, scaling="within").fit(K / traces, LABELS)
    np.testing.assert_allclose(model.shares_, np.full(3, 1 / 3))
    np.testing.assert_allclose(model.kernel_weights_, (1 / traces) / (1 / traces).sum())
    ratio = pdist(model.embedding_) / pdist(plain.embedding_)  # the weights have sum 1: another scale of the kernel
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    assert model.objective_ == model.uniform_objective_
    assert (model.status_, model.n_iter_) == ("uniform", 1)


def test_better_kernels_weigh_more_and_nothing_is_worse_than_equal_shares():
    model = LeaveOneOutMKL().fit(gaussian_kernels(2), LABELS)
    assert np.argmax(model.shares_) == 2
    assert model.objective_ <= model.uniform_objective_ <= model.objective_history_[0]
    assert model.regularisation_ >= 1.0
    assert (np.diff(model.objective_history_) <= 0).all()
    assert len(model.objective_history_) == model.n_iter_ > 1
    assert model.status_ == "converged"
    assert model.kernel_weights_.sum() == pytest.approx(1)


def test_the_identity_gets_nothing_where_mkl_dr_gives_it_most(digits):
    """0.6 I + 0.4 11' says nothing of any sample; MKL-DR's objective falls as its weight grows."""
    K, y = digits[0][..., :5], digits[1]
    n = len(K)
    useless = 0.6 * np.eye(n) + 0.4
    useless /= np.trace(useless) / n - useless.mean()
    K = np.concatenate([K, useless[..., None]], axis=-1)
    of_mkldr = MKLDR(max_iter=10).fit(K, y).kernel_weights_
    assert np.argmax(of_mkldr) == 5
    assert of_mkldr[5] > 0.2
    for shrinkage in (0.0, 0.5):
        assert LeaveOneOutMKL(shrinkage=shrinkage).fit(K, y).kernel_weights_[5] < 1e-3


def test_kernels_of_noise_are_found_out(digits):
    model = LeaveOneOutMKL()
    learned, uniform = nearest_accuracy(model, digits), nearest_accuracy(KernelFDA(), digits)
    assert model.optimal_shares_[5:].max() < 0.01
    assert model.kernel_weights_[5:].sum() < 0.1
    assert np.argmax(model.kernel_weights_) == 0
    assert learned > uniform + 0.005
