"""Multiple kernel maximum margin criterion: monotone, its pair sums, fixed points, and what it selects."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import scale

from mklearn.graphs import margin_laplacian
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.simplex_qp import simplex_qp
from mklearn.papers.mkmmc.mkmmc import MKMMC, margin_matrix
from mklearn.subspace.kernel_mmc import KernelMMC


def stack_of(X):
    d2 = ((X[:, None] - X[None]) ** 2).sum(-1)
    return np.stack([np.exp(-d2 / (d2.mean() * 2.0**k)) for k in range(-3, 4)], axis=-1)


@pytest.fixture(scope="module")
def problems():
    X, y = load_wine(return_X_y=True)
    D, u = load_digits(n_class=6, return_X_y=True)
    rng = np.random.default_rng(0)
    N, v = rng.normal(size=(40, 5)), np.arange(40) % 4  # labels without meaning
    return {"wine": (stack_of(scale(X)[::2]), y[::2]), "digits": (stack_of(D[:90]), u[:90]), "noise": (stack_of(N), v)}


@pytest.mark.parametrize("trade_off", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("name", ["wine", "digits", "noise"])
def test_objective_of_the_printed_method_never_decreases(problems, name, trade_off):
    K, y = problems[name]
    for p in (1, 2, len(np.unique(y)) - 1):
        model = MKMMC(p, constraint="coef", trade_off=trade_off, tol=0.0).fit(K, y)
        history = model.objective_history_
        assert (np.diff(history) >= -1e-10 * np.abs(history).max()).all()
        assert model.status_ == "converged"
        assert len(history) == 2 * model.n_iter_ + 1
        weights = np.array([entry["weights"] for entry in model.history_])
        np.testing.assert_allclose(weights.sum(axis=1), 1)
        assert (weights >= 0).all()
        assert model.best_iter_ == model.n_iter_ or model.objective_ == pytest.approx(history[-1])


@pytest.mark.parametrize("constraint", ["rkhs", "coef", "sample"])
def test_theta_matrix_is_half_the_papers_pair_sum(problems, constraint):
    """(23), with G_i of (19) and W of (7)."""
    K, y = problems["noise"]
    n, counts = len(y), np.bincount(y)[y]
    W = np.where(y[:, None] == y, 1 / n - 2 / counts[:, None], 1 / n)
    A = KernelMMC(3, constraint=constraint).fit(K, y).coefficients_
    expected = np.zeros((7, 7))
    for i in range(n):
        for j in range(n):
            G = A.T @ (K[:, i] - K[:, j])
            expected += W[i, j] * G.T @ G
    Q = margin_matrix(KernelStack.from_last_axis(K), margin_laplacian(y), A)
    np.testing.assert_allclose(2 * Q, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["wine", "digits", "noise"])
def test_result_is_a_fixed_point_of_both_steps(problems, name):
    K, y = problems[name]
    model = MKMMC(constraint="coef", tol=0.0).fit(K, y)
    alone = KernelMMC(constraint="coef", kernel_weights=model.kernel_weights_).fit(K, y)
    np.testing.assert_allclose(model.coefficients_, alone.coefficients_, atol=1e-9)
    np.testing.assert_allclose(model.embedding_, alone.embedding_, atol=1e-9)
    assert model.objective_ == pytest.approx(alone.objective_)
    Q = margin_matrix(KernelStack.from_last_axis(K), margin_laplacian(y), model.coefficients_)
    weights = model.kernel_weights_
    assert weights @ Q @ weights == pytest.approx(simplex_qp(Q).value, rel=1e-10)
    assert weights @ Q @ weights == pytest.approx(model.objective_)


def test_selects_the_kernel_of_largest_single_objective(problems):
    K, y = problems["digits"]
    model = MKMMC(constraint="coef").fit(K, y)
    own = [KernelMMC(constraint="coef", kernel_weights=m).fit(K, y).objective_ for m in range(7)]
    assert model.selected_kernel_ == np.argmax(own)
    np.testing.assert_array_equal(model.kernel_weights_, np.eye(7)[np.argmax(own)])
    assert model.n_iter_ <= 3


def test_several_kernels_can_share_the_weight(problems):
    """That it ends at a vertex is a fact about data, not about the program: a large lambda makes it mix."""
    K, y = problems["digits"]
    for p, count in ((2, 2), (5, 3)):
        model = MKMMC(p, constraint="coef", trade_off=100.0).fit(K, y)
        assert np.count_nonzero(model.kernel_weights_) == count
        assert model.selected_kernel_ is None
        assert (np.diff(model.objective_history_) >= -1e-10 * model.objective_).all()


def test_one_kernel_and_no_iterations(problems):
    K, y = problems["wine"]
    np.testing.assert_allclose(MKMMC().fit(K[..., 2], y).embedding_, KernelMMC().fit(K[..., 2], y).embedding_)
    start = MKMMC(max_iter=0).fit(K, y)
    np.testing.assert_allclose(start.kernel_weights_, 1 / 7)
    np.testing.assert_allclose(start.embedding_, KernelMMC().fit(K, y).embedding_)
    assert start.selected_kernel_ is None


@pytest.mark.parametrize("name", ["wine", "digits", "noise"])
def test_best_is_never_below_last_with_the_other_constraints(problems, name):
    K, y = problems[name]
    best, last = (MKMMC(keep=keep).fit(K, y) for keep in ("best", "last"))
    assert best.objective_ >= last.objective_
    assert best.objective_ == pytest.approx(best.objective_history_[::2].max())
    assert best.status_ in ("converged", "cycle")
    np.testing.assert_array_equal(*([entry["weights"] for entry in model.history_] for model in (best, last)))
