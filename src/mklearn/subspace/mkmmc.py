"""Multiple kernel maximum margin criterion: kernel weights and projection by turns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context, clone
from sklearn.utils._param_validation import Interval, StrOptions

from mklearn.errors import ConfigError
from mklearn.graphs import GraphPair, LaplacianOperator, mmc_graph
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.margin import Constraint, check_columns, check_not_constant, margin_step, negligible
from mklearn.optimize.simplex_qp import SimplexQP, simplex_qp
from mklearn.subspace.inputs import checked_labels
from mklearn.subspace.kernel_embedding import KernelEmbedding, fixed_weights

Array = NDArray[np.floating[Any]]
ThetaStep = Literal["exact", "local"]
Keep = Literal["last", "best"]

# Weights above this are on; the theta-step itself returns exact zeros.
_ON = 1e-12
# A gain in the theta-step below this, relatively, is rounding: the weights stay.
_ROUNDING = 1e-12
# Objectives of A-steps this close, relatively, are equal (under "sample" they all are): the earliest of them is kept.
_EQUAL = 1e-9


@dataclass
class Margins:
    """What the alternation found.

    Attributes
    ----------
    weights : array of shape (M,)
    eigenvalues : array of shape (p,)
    coefficients : array of shape (n, p)
        The A-step's answer to ``weights``.
    thetas : array of shape (n_iter + 1, M)
        The weights that each A-step was given; the first are those of the start.
    history : list of dict
        One per half-step: "iteration", "step" ("a" or "theta"), "objective", "weights", and of a theta-step "status",
        "method" and "kkt_residual".
    n_iter : int
        Theta-steps taken.
    best_iter : int
        The A-step kept.
    status : {"converged", "max_iter", "cycle"}
    """

    weights: Array
    eigenvalues: Array
    coefficients: Array
    thetas: Array
    history: list[dict[str, Any]]
    n_iter: int
    best_iter: int
    status: Literal["converged", "max_iter", "cycle"]


class MKMMC(KernelEmbedding):
    """Multiple kernel maximum margin criterion.

    Maximises tr(A'K L K A) with K = sum_t theta_t K_t over the coefficients A, under a constraint, and the kernel
    weights theta >= 0 with sum 1, by turns: for given theta A is an eigenproblem, for given A theta maximises an
    indefinite quadratic form theta'Q theta, Q_st = tr(A'K_s L K_t A), over the simplex. L = L_b - lambda L_w.

    **It selects a kernel.** Q is positive semidefinite but for a small part, and then the maximum lies at a vertex: in
    11,520 runs of the printed method on three image data sets the weights ended on one kernel every time, normally
    after one step. Which one depends on how the kernels are scaled, not on accuracy. `selected_kernel_` says which;
    compare with the uniform average and with the best single kernel. (That is a fact about such data: a large lambda
    can make it mix.)

    Parameters
    ----------
    n_components : int, optional
        By default the number of classes less one. The weights depend on it: to search over dimensions as the paper
        does, fit once for each.
    constraint : {"rkhs", "coef", "sample"}
        As for `mklearn.subspace.kernel_mmc.KernelMMC`. "coef" (A'A = I) is the paper's (21), and the only one whose
        objective is monotone: with the others A is scaled to the old kernel, and the next A-step to the new one may
        lower the value. Under "sample" the value of an A-step does not depend on the weights of full-rank kernels.
    lam : float
        lambda; 1 in the paper.
    theta_step : {"exact", "local"}
        "exact": the global maximum up to 14 kernels (more where few pairs of kernels are concave), the best of many
        local ones above; "local": projected gradient from the current weights, in the place of the paper's quadprog.
    init : "uniform" or array of shape (n_kernels,)
        The weights that the first A-step is given.
    max_iter : int
        Theta-steps at most.
    tol : float
        Stop when the value changes by less than this, relatively, from one A-step to the next.
    keep : {"last", "best"}
        Which A-step's answer to keep: with "coef" they are the same.
    kernels
        As for `mklearn.subspace.kfd.KernelFDA`.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,), sum 1
    selected_kernel_ : int or None
        The position of the only kernel with a weight; None where several have one.
    kernel_ids_ : tuple of str
    theta_history_ : array of shape (n_iter_ + 1, n_kernels)
    objective_history_ : array of shape (2 n_iter_ + 1,)
        After every half-step.
    history_ : list of dict
        See `Margins`.
    objective_ : float
        Of the A-step kept: the sum of the eigenvalues.
    n_iter_, best_iter_ : int
    status_ : {"converged", "max_iter", "cycle"}
        "cycle": the weights have come back to earlier ones (not with "coef").
    classes_, coefficients_, eigenvalues_, lambda_, embedding_, n_features_in_
        As for `mklearn.subspace.kernel_mmc.KernelMMC`.

    Raises
    ------
    DataError
        X or y malformed: not finite, not square or not symmetric, of different lengths, not class labels.
    NotApplicable
        One class only, more components than there are, constant kernels.
    ConfigError
        Weights or specs that are not legal.

    References
    ----------
    Gu, Zhou, "Multiple kernel maximum margin criterion", equations (15)-(23).

    Notes
    -----
    What the paper leaves open or has otherwise: it names no start and no stopping rule; (22) and (23) lack a trace;
    (23) is no convex program. Its objective is twice ours (pair sums). Matrices come from products with L, not from
    sums over pairs: O(n^3 + M n^2 p) an iteration.

    As printed ("coef") the method is 17 to 20 points below the published accuracies on ORL, 7 to 16 on Yale; with
    "rkhs" 6 to 12 below. The published numbers are not reproduced by any reading of the text that was tried.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKMMC(kernels=["gaussian", "linear"]).fit(X, y)
    >>> model.kernel_weights_
    array([0., 1.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": KernelEmbedding._parameter_constraints["n_components"],
        "kernels": KernelEmbedding._parameter_constraints["kernels"],
        "constraint": [StrOptions(set(get_args(Constraint)))],
        "lam": [Interval(Real, 0, None, closed="left")],
        "theta_step": [StrOptions(set(get_args(ThetaStep)))],
        "init": [StrOptions({"uniform"}), "array-like"],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "keep": [StrOptions(set(get_args(Keep)))],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        constraint: Constraint = "rkhs",
        lam: float = 1.0,
        theta_step: ThetaStep = "exact",
        init: Any = "uniform",
        max_iter: int = 50,
        tol: float = 1e-6,
        keep: Keep = "best",
        kernels: Any = "precomputed",
    ) -> None:
        self.n_components = n_components
        self.constraint = constraint
        self.lam = lam
        self.theta_step = theta_step
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.keep = keep
        self.kernels = kernels

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> MKMMC:
        """Learn the kernel weights and the projection.

        Parameters
        ----------
        X : array of shape (n, d), or (n, n, n_kernels) with ``kernels="precomputed"``
        y : array of shape (n,)
            Class labels.
        """
        return self._fitted_with(_ASteps.of(self, X, y))

    def _fitted_with(self, steps: _ASteps) -> MKMMC:
        """Alternate, with A-steps that may be shared with fits of other sizes."""
        for name, value in steps.learned.items():
            setattr(self, name, value)
        p = self._wanted_components(steps.graph, steps.labels)
        found = alternate_margins(
            steps,
            p,
            theta_step=self.theta_step,
            start=fixed_weights(self.init, len(steps.stack)),
            max_iter=self.max_iter,
            tol=self.tol,
            keep=self.keep,
        )
        check_columns(found.coefficients, self.n_components)
        on = np.flatnonzero(found.weights > _ON)
        self.kernel_weights_ = found.weights
        self.selected_kernel_ = int(on[0]) if len(on) == 1 else None
        self.theta_history_ = found.thetas
        self.history_ = found.history
        self.objective_history_ = np.array([entry["objective"] for entry in found.history])
        self.objective_ = float(found.eigenvalues.sum())
        self.n_iter_ = found.n_iter
        self.best_iter_ = found.best_iter
        self.status_ = found.status
        self.eigenvalues_ = found.eigenvalues
        self.coefficients_ = found.coefficients
        self.embedding_ = np.asarray(steps.stack.combine(found.weights) @ found.coefficients, dtype=self._dtype_)
        return self


def fit_path(estimator: MKMMC, X: ArrayLike, y: ArrayLike, sizes: Iterable[int]) -> list[MKMMC]:
    """One fitted clone of the estimator for each number of dimensions: the paper's search, as weights depend on it.

    Parameters
    ----------
    estimator : MKMMC
        Its ``n_components`` is replaced, itself it stays as it is.
    X, y
        As for `MKMMC.fit`.
    sizes : iterable of int
        Values of ``n_components``.

    Returns
    -------
    list of MKMMC, in the order of ``sizes``
        As if fitted each by itself. The A-step's answers to the same weights are nested, and computed once.
    """
    models = [clone(estimator).set_params(n_components=size) for size in sizes]
    if not models:
        raise ConfigError("sizes is empty: give at least one n_components")
    for model in models:
        model._validate_params()
    steps = _ASteps.of(models[0], X, y, most=max(model.n_components for model in models))
    return [model._fitted_with(steps) for model in models]


class _ASteps:
    """A-steps on one kernel stack, each computed once for its weights, in all dimensions that are asked for."""

    def __init__(
        self, stack: KernelStack, labels: NDArray[Any], graph: GraphPair, constraint: Constraint, most: int
    ) -> None:
        self.stack = stack
        self.labels = labels
        self.graph = graph
        self.learned: dict[str, Any] = {}
        self._constraint = constraint
        self._most = most
        self._answers: dict[bytes, tuple[Array, Array]] = {}
        self._forms: dict[bytes, Array] = {}

    @classmethod
    def of(cls, estimator: MKMMC, X: ArrayLike, y: ArrayLike | None, most: int | None = None) -> _ASteps:
        """For an estimator's training samples; ``learned`` is what it has learned of them."""
        stack = estimator._training_stack(X)
        labels = checked_labels(estimator, y, stack.n_columns)
        estimator.lambda_ = float(estimator.lam)
        estimator.classes_ = np.unique(labels)
        graph = mmc_graph(labels, estimator.lambda_)
        steps = cls(stack, labels, graph, estimator.constraint, most or estimator._wanted_components(graph, labels))
        parameters = estimator.get_params()
        steps.learned = {name: value for name, value in vars(estimator).items() if name not in parameters}
        return steps

    def solve(self, theta: Array, n_components: int) -> tuple[Array, Array]:
        """Eigenvalues (p,) and coefficients (n, p) of the A-step for these weights."""
        name = theta.tobytes()
        if name not in self._answers:
            kernel = np.asarray(self.stack.combine(theta), dtype=np.float64)
            check_not_constant(kernel)
            cutoff = negligible(self.stack.dtype)
            self._answers[name] = margin_step(kernel, self.graph.L, self._most, self._constraint, cutoff)
        values, coefficients = self._answers[name]
        return values[:n_components], coefficients[:, :n_components]

    def form(self, theta: Array, n_components: int) -> Array:
        """The theta-step's Q for the A-step of these weights, a sum over its dimensions."""
        name = theta.tobytes()
        if name not in self._forms:
            _, coefficients = self.solve(theta, self._most)
            self._forms[name] = np.cumsum(margin_matrices(self.stack, self.graph.L, coefficients), axis=0)
        forms = self._forms[name]
        return np.asarray(forms[min(n_components, len(forms)) - 1])


def alternate_margins(
    steps: _ASteps,
    n_components: int,
    *,
    theta_step: ThetaStep,
    start: Array,
    max_iter: int,
    tol: float,
    keep: Keep,
) -> Margins:
    """A-steps and theta-steps by turns; parameters as for `MKMMC`."""
    theta = start
    thetas: list[Array] = []
    answers: list[tuple[Array, Array]] = []
    history: list[dict[str, Any]] = []
    status: Literal["converged", "max_iter", "cycle"] = "max_iter"
    for iteration in range(max_iter + 1):
        values, A = steps.solve(theta, n_components)
        thetas.append(theta)
        answers.append((values, A))
        objective = float(values.sum())
        history.append({"iteration": iteration, "step": "a", "objective": objective, "weights": theta})
        if iteration and abs(objective - float(answers[-2][0].sum())) <= tol * abs(objective):
            status = "converged"
            break
        if iteration == max_iter:
            break
        answer = _theta_step(steps.form(theta, n_components), theta, theta_step)
        history.append(
            {
                "iteration": iteration + 1,
                "step": "theta",
                "objective": answer.value,
                "weights": answer.theta,
                "status": answer.status,
                "method": answer.method,
                "kkt_residual": answer.kkt_residual,
            }
        )
        if np.array_equal(answer.theta, theta):
            # The A-step would give the same answer again.
            history.append({"iteration": iteration + 1, "step": "a", "objective": objective, "weights": theta})
            thetas.append(theta)
            answers.append(answers[-1])
            status = "converged"
            break
        if any(np.array_equal(answer.theta, earlier) for earlier in thetas):
            history.pop()
            status = "cycle"
            break
        theta = answer.theta
    objectives = np.array([float(values.sum()) for values, _ in answers])
    best = float(objectives.max())
    kept = len(answers) - 1 if keep == "last" else int(np.argmax(objectives >= best - _EQUAL * abs(best)))
    return Margins(
        weights=thetas[kept],
        eigenvalues=answers[kept][0],
        coefficients=answers[kept][1],
        thetas=np.array(thetas),
        history=history,
        n_iter=len(answers) - 1,
        best_iter=kept,
        status=status,
    )


def margin_matrices(stack: KernelStack, operator: LaplacianOperator, coefficients: Array) -> Array:
    """Q_st = a'K_s L K_t a for each column a of the coefficients, shape (p, M, M); the paper's L_A of (23) is twice
    their sum."""
    projected = np.stack([np.asarray(K, dtype=np.float64) @ coefficients for K in stack], axis=1)  # (n, M, p)
    applied = operator.apply(projected.reshape(len(projected), -1)).reshape(projected.shape)
    Q = projected.transpose(2, 1, 0) @ applied.transpose(2, 0, 1)
    return np.asarray((Q + Q.transpose(0, 2, 1)) / 2)


def _theta_step(Q: Array, theta: Array, method: ThetaStep) -> SimplexQP:
    """The maximiser, or the current weights where nothing is better but for rounding."""
    answer = simplex_qp(Q, method="auto") if method == "exact" else simplex_qp(Q, method="local", start=theta)
    current = float(theta @ Q @ theta)
    if answer.value - current <= _ROUNDING * float(np.abs(Q).max()):
        return SimplexQP(
            theta, current, answer.method, answer.status, answer.n_supports, answer.n_starts, answer.kkt_residual
        )
    return answer
