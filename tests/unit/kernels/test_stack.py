"""KernelStack."""

import numpy as np
import pytest

from mklearn.errors import DataError
from mklearn.kernels.stack import KernelStack


@pytest.fixture
def matrices() -> np.ndarray:
    A = np.random.default_rng(0).standard_normal((3, 6, 4))
    return A @ A.transpose(0, 2, 1)


def test_axes_round_trip_without_a_copy(matrices: np.ndarray) -> None:
    stack = KernelStack(matrices, ["a", "b", "c"])
    X = stack.as_last_axis()
    assert X.shape == (6, 6, 3)
    np.testing.assert_array_equal(X[1, 2], matrices[:, 1, 2])
    again = KernelStack.from_last_axis(X)
    assert np.shares_memory(again.matrices, matrices)
    assert all(matrix.flags.c_contiguous for matrix in again)
    # what scikit-learn's cross-validation does to a pairwise input
    index = np.array([0, 2, 5])
    sliced = KernelStack.from_last_axis(X[np.ix_(index, index)])
    np.testing.assert_array_equal(sliced.matrices, matrices[:, index][:, :, index])
    assert all(matrix.flags.c_contiguous for matrix in sliced)
    assert KernelStack.from_last_axis(matrices[0]).shape == (1, 6, 6)


def test_behaves_like_a_sequence(matrices: np.ndarray) -> None:
    stack = KernelStack(list(matrices), ["a", "b", "c"])
    assert len(stack) == 3
    assert len(list(stack)) == 3
    np.testing.assert_array_equal(stack["b"], stack[1])
    np.testing.assert_array_equal(stack[-1], matrices[2])
    assert (stack.n_rows, stack.n_columns, stack.dtype) == (6, 6, np.float64)
    assert repr(stack) == "KernelStack(3 kernels, 6 x 6, float64)"
    with pytest.raises(IndexError):
        stack[3]
    with pytest.raises(DataError, match="no kernel 'd'"):
        stack["d"]


def test_products(matrices: np.ndarray) -> None:
    stack = KernelStack(matrices)
    weights = np.array([0.2, -1.0, 3.0])
    np.testing.assert_allclose(stack.combine(weights), sum(w * K for w, K in zip(weights, matrices, strict=True)))
    H = np.eye(6) - 1 / 6
    np.testing.assert_allclose(stack.centred_traces(), [np.trace(H @ K @ H) / 6 for K in matrices])


def test_matrices_are_read_only_and_the_callers_array_is_not(matrices: np.ndarray) -> None:
    stack = KernelStack(matrices)
    with pytest.raises(ValueError, match="read-only"):
        stack.matrices[0, 0, 0] = 1
    matrices[0, 0, 0] = 1
    single = KernelStack(matrices.astype(np.float32))
    assert single.dtype == single.combine([1, 1, 1]).dtype == np.float32
    assert KernelStack(np.ones((1, 2, 2), dtype=int)).dtype == np.float64


def test_refusals(matrices: np.ndarray) -> None:
    with pytest.raises(DataError, match="at least one kernel"):
        KernelStack(np.empty((0, 3, 3)))
    with pytest.raises(DataError, match="2 ids were given for 3"):
        KernelStack(matrices, ["a", "b"])
    with pytest.raises(DataError, match="unique; given twice: 'a'"):
        KernelStack(matrices, ["a", "a", "b"])
    with pytest.raises(DataError, match=r"expected \(n_samples, n_train, n_kernels\)"):
        KernelStack.from_last_axis(np.ones(3))
    stack = KernelStack(matrices, ["a", "b", "c"])
    matrices = matrices.copy()
    matrices[1, 0, 1] += 1
    with pytest.raises(DataError, match="kernel 'b' is not symmetric"):
        KernelStack(matrices, ["a", "b", "c"]).require_training()
    with pytest.raises(DataError, match="2 kernel weights were given for 3"):
        stack.combine([1, 1])
