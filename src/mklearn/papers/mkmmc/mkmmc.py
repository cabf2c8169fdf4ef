"""Multiple kernel maximum margin criterion: kernel weights and projection by alternating optimisation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import Nonnegative, NonnegativeInt, parameters
from mklearn.checks import symmetrized
from mklearn.graphs import LaplacianOperator, margin_laplacian
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.margin import Constraint, check_columns, check_not_constant, margin_step, negligible
from mklearn.optimize.simplex_qp import SimplexQP, simplex_qp
from mklearn.subspace.kernel_embedding import KernelEmbedding

Array = NDArray[np.floating[Any]]
Keep = Literal["last", "best"]

# Smallest weight of a selected kernel; the theta-step itself returns exact zeros.
_SELECTED = 1e-12
# Relative gains of the theta-step below this are rounding: the weights stay.
_ROUNDING = 1e-12
# Objectives of A-steps with a smaller relative difference count as equal (with constraint "sample" all do): the first
# is kept.
_EQUAL = 1e-9


@parameters
class MKMMC(KernelEmbedding):
    """Multiple kernel maximum margin criterion.

    Maximises tr(A'K L K A) with K = sum_t theta_t K_t over the coefficients A, under a constraint, and the kernel
    weights theta >= 0 with sum 1, by alternation: for fixed theta, A solves an eigenproblem; for fixed A, theta
    maximises an indefinite quadratic form theta'Q theta, Q_st = tr(A'K_s L K_t A), over the simplex, with
    L = L_b - lambda L_w.

    **It usually selects one kernel.** Q is nearly positive semidefinite, and the maximum over the simplex then lies at
    a vertex. Which kernel depends on the scales of the kernels, not on accuracy: see `selected_kernel_`, and compare
    with the uniform average and with the best single kernel. A large lambda can make it combine kernels.

    Parameters
    ----------
    n_components : int, optional
        Number of components; by default the number of classes less one. The weights depend on it.
    constraint : {"rkhs", "coef", "sample"}
        A'KA = I, A'A = I or A'K^2A = I, as for `mklearn.subspace.kernel_mmc.KernelMMC`. "coef" is the paper's (21), and
        the only one with a monotone objective: with the others A is scaled to the old kernel, and the next A-step,
        scaled to the new kernel, may decrease it. Under "sample" the value of an A-step does not depend on the weights
        of full-rank kernels.
    trade_off : float
        lambda, the weight of the within-class scatter; 1 in the paper.
    max_iter : int
        Largest number of theta-steps. Each finds the global maximum for up to 14 kernels (more if few pairs of kernels
        are concave), else the best of many local maxima.
    tol : float
        Relative change of the objective between A-steps below which the alternation stops.
    keep : {"last", "best"}
        A-step that is returned; with "coef" both are the same.
    kernels
        As for `mklearn.subspace.kfd.KernelFDA`.

    Attributes
    ----------
    selected_kernel_ : int or None
        The position of the only kernel with a positive weight; None if there are several.
    objective_history_ : array of shape ``(2 n_iter_ + 1,)``
        Objective after every half-step.
    history_ : list of dict
        One per half-step: "iteration", "step" ("a" or "theta"), "objective", "weights", and for theta-steps "status"
        of `mklearn.optimize.simplex_qp`.
    objective_ : float
        Sum of the eigenvalues of the returned A-step.
    n_iter_ : int
        Number of theta-steps.
    best_iter_ : int
        Number of the returned A-step.
    status_ : {"converged", "max_iter", "cycle"}
        "cycle": the weights have returned to earlier ones (not with "coef").
    kernel_weights_, kernel_ids_, classes_, coefficients_, eigenvalues_, embedding_, n_features_in_
        As for `mklearn.subspace.KernelMMC`; the errors are those of `mklearn.subspace.KernelFDA`.

    References
    ----------
    Gu, Zhou, "Multiple kernel maximum margin criterion", equations (15)-(23).

    Notes
    -----
    The paper gives neither a start (here equal weights) nor a stopping rule; its (22) and (23) lack a trace; (23) is
    not a convex program. Its objective is twice the one here (pair sums). Matrices come from products with L, not from
    sums over pairs: an iteration costs O(n^3 + M n^2 p).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKMMC(kernels=["gaussian", "linear"]).fit(X, y)
    >>> model.kernel_weights_
    array([0., 1.])
    """

    constraint: Constraint = "rkhs"
    trade_off: Nonnegative = 1.0
    max_iter: NonnegativeInt = 50
    tol: Nonnegative = 1e-6
    keep: Keep = "best"

    def _fit_kernels(self, stack: KernelStack, labels: NDArray[Any]) -> None:
        wanted = self._wanted_components(stack.n_columns, labels)
        thetas, solutions = self._alternate(stack, margin_laplacian(labels, self.trade_off), wanted)
        objectives = np.array([float(values.sum()) for values, _ in solutions])
        best = float(objectives.max())
        last = len(solutions) - 1
        kept = last if self.keep == "last" else int(np.argmax(objectives >= best - _EQUAL * abs(best)))
        self.kernel_weights_ = thetas[kept]
        self.eigenvalues_, self.coefficients_ = solutions[kept]
        check_columns(self.coefficients_, self.n_components)
        self.embedding_ = self._embed_training(stack.combine(self.kernel_weights_))
        selected = np.flatnonzero(self.kernel_weights_ > _SELECTED)
        self.selected_kernel_ = int(selected[0]) if len(selected) == 1 else None
        self.objective_history_ = np.array([entry["objective"] for entry in self.history_])
        self.objective_ = float(self.eigenvalues_.sum())
        self.n_iter_ = last
        self.best_iter_ = kept

    def _alternate(
        self, stack: KernelStack, margin: LaplacianOperator, n_components: int
    ) -> tuple[list[Array], list[tuple[Array, Array]]]:
        """Return the weights and the solution of each A-step; set ``history_`` and ``status_``."""
        theta = np.full(len(stack), 1.0 / len(stack))
        thetas: list[Array] = []
        solutions: list[tuple[Array, Array]] = []
        history: list[dict[str, Any]] = []
        self.history_ = history
        self.status_ = "max_iter"
        for iteration in range(self.max_iter + 1):
            kernel = np.asarray(stack.combine(theta), dtype=np.float64)
            check_not_constant(kernel)
            values, A = margin_step(kernel, margin, n_components, self.constraint, negligible(stack.dtype))
            thetas.append(theta)
            solutions.append((values, A))
            objective = float(values.sum())
            history.append({"iteration": iteration, "step": "a", "objective": objective, "weights": theta})
            if iteration and abs(objective - float(solutions[-2][0].sum())) <= self.tol * abs(objective):
                self.status_ = "converged"
                break
            if iteration == self.max_iter:
                break
            maximum = _theta_step(margin_matrix(stack, margin, A), theta)
            theta_entry = {
                "iteration": iteration + 1, "step": "theta", "objective": maximum.value, "weights": maximum.theta,
                "status": maximum.status,
            }  # fmt: skip
            if np.array_equal(maximum.theta, theta):
                # The A-step would give the same solution again.
                history += [theta_entry, history[-1] | {"iteration": iteration + 1}]
                thetas.append(theta)
                solutions.append(solutions[-1])
                self.status_ = "converged"
                break
            if any(np.array_equal(maximum.theta, earlier) for earlier in thetas):
                self.status_ = "cycle"
                break
            history.append(theta_entry)
            theta = maximum.theta
        return thetas, solutions


def margin_matrix(stack: KernelStack, operator: LaplacianOperator, coefficients: Array) -> Array:
    """Compute Q_st = tr(A'K_s L K_t A), shape (M, M). The paper's L_A of (23) is twice this matrix."""
    projected = np.stack([np.asarray(K, dtype=np.float64) @ coefficients for K in stack], axis=1)  # (n, M, p)
    applied = operator.apply(projected.reshape(len(projected), -1)).reshape(projected.shape)
    return symmetrized(np.tensordot(projected, applied, axes=([0, 2], [0, 2])))


def _theta_step(Q: Array, theta: Array) -> SimplexQP:
    """Return the maximiser, or the current weights if it is better only by rounding."""
    maximum = simplex_qp(Q)
    current = float(theta @ Q @ theta)
    unchanged = maximum.value - current <= _ROUNDING * float(np.abs(Q).max())
    return replace(maximum, theta=theta, value=current) if unchanged else maximum
