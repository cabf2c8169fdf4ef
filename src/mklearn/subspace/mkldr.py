"""MKL-DR: multiple kernel learning for dimensionality reduction, by alternating optimisation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.kernel_input import KernelWeighting
from mklearn.base.parameters import NONNEGATIVE, StrOptions, at_least, fit_context, one_of
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.graphs import Counting, GraphPair, lda_graph, lde_graph, lpp_graph, pca_graph
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.graph_embedding import (
    Array,
    Projection,
    Scaling,
    diagonalised,
    initial_weight_matrices,
    projected_scatters,
    ratio_trace_step,
    ridge_traces,
    trace_ratio_step,
    weight_matrices,
)
from mklearn.optimize.kernel_weights import KernelWeights
from mklearn.optimize.kernel_weights import kernel_weights as minimising_weights
from mklearn.optimize.pencil import make_pencil, prepare
from mklearn.subspace.kernel_embedding import RatioTraceEmbedding, neighbour_distances

BetaStep = Literal["exact", "dnn", "sdp", "central_path"]
AStep = Literal["ratio_trace", "trace_ratio"]
Init = Literal["uniform", "orthonormal"]
Status = Literal["converged", "max_iter", "uniform"]

# A ratio this small counts as zero: without a ridge the classes collapse to points.
_ZERO = 1e-13
_NAMED_GRAPHS = ("lda", "lde", "pca", "lpp")


class MixedSignWarning(UserWarning):
    """Warn that the SDP's optimal kernel weights were 0: the weights used are its solver's last iterate."""


@dataclass(frozen=True, eq=False)
class Alternation:
    """Result of `alternate`.

    Attributes
    ----------
    weights : array of shape (M,), sum 1
    projection : Projection
        Solution of the A-step for these weights.
    history : list of dict
        One per half-step: "iteration", "step" ("init", "a" or "beta"), "objective" f(A, beta), "ratio_trace" (mean
        eigenvalue of (A'SA, A'S'A), the objective of the ratio-trace A-step), "weights". Beta-steps also have the
        fields of `mklearn.optimize.KernelWeights` and "lambda_min", the smallest generalised eigenvalue: a lower
        bound of f(A, .) over weights of any sign.
    certificate : dict
        The same fields for the returned A, with "value" f(A, weights) and "gap", the relative distance from "value" to
        "bound", the smallest f of any nonnegative weights with this A. A positive gap means that the alternation was
        stopped early. Equal weights that are not learned have "value" only: the bound is a beta-step's.
    n_iter : int
        Number of beta-steps after the start.
    best_iter : int
        The iterate returned: 0 is the start.
    status : {"converged", "max_iter", "uniform"}
        "converged": f no longer changes, or the weights are optimal for their own A. "uniform": not learned.
    """

    weights: Array
    projection: Projection
    history: list[dict[str, Any]]
    certificate: dict[str, Any]
    n_iter: int
    best_iter: int
    status: Status


@dataclass(eq=False)
class _Iterate:
    """Weights, the A-step's solution for them, the beta-step's matrices for that and, once solved, its solution."""

    weights: Array
    projection: Projection
    S: Array
    S_prime: Array
    objective: float
    beta_solution: KernelWeights | None = None

    @property
    def n_columns(self) -> int:
        return self.projection.coefficients.shape[1]


def alternate(
    kernels: KernelStack | Sequence[NDArray[Any]],
    graph: GraphPair,
    n_components: int,
    *,
    ridge: float,
    a_step: AStep = "ratio_trace",
    beta_step: BetaStep = "exact",
    init: Init = "uniform",
    max_iter: int = 5,
    tol: float = 1e-4,
    solver: str = "auto",
    kernel_weights: KernelWeighting = "learned",
) -> Alternation:
    """Minimise f(A, beta) = tr(A'SA)/tr(A'S'A) over A and beta >= 0 in turn: Algorithm 1 of MKL-DR.

    Iterate t is a pair (beta_t, A_t) with A_t the A-step's solution for beta_t. A ratio-trace A-step may increase f, so
    the pair of smallest f is returned. Weights on kernels of small rank leave fewer than ``n_components`` columns; then
    the pair is chosen among those with the most columns. With ``a_step="trace_ratio"`` and ``beta_step="exact"`` f
    never increases.

    Parameters
    ----------
    kernels : KernelStack or M arrays of shape (n, n)
    graph : GraphPair
    n_components : int
    ridge : float
        See `mklearn.optimize.graph_embedding`.
    a_step, beta_step, init, max_iter, tol, solver, kernel_weights
        As for `MKLDR`.
    """
    learned = kernel_weights == "learned"
    max_iter = max_iter if learned else 0
    stack = kernels if isinstance(kernels, KernelStack) else KernelStack(list(kernels))
    matrices = list(stack)
    traces = ridge_traces(matrices, graph)
    take_a_step = trace_ratio_step if a_step == "trace_ratio" else ratio_trace_step
    history: list[dict[str, Any]] = []

    def solve_beta(S: Array, S_prime: Array) -> KernelWeights:
        return minimising_weights(S, S_prime, method=beta_step, solver=solver)

    def record(iteration: int, step: str, weights: Array, objective: float, **more: Any) -> None:
        entry = {"iteration": iteration, "step": step, "objective": objective, "weights": weights.copy()}
        history.append({**entry, **more})

    beta = np.full(len(stack), 1.0 / len(stack))
    if learned and init == "orthonormal":
        S, S_prime = initial_weight_matrices(matrices, graph, ridge, traces)
        first = solve_beta(S, S_prime)
        beta = first.weights
        record(0, "init", beta, _ratio(beta, S, S_prime), **_beta_record(first, S, S_prime))

    iterates: list[_Iterate] = []
    status: Status = "max_iter" if learned else "uniform"
    for iteration in range(max_iter + 1):
        kernel = stack.combine(beta)
        projection = take_a_step(kernel, graph, n_components, ridge=ridge)
        A = projection.coefficients
        if A.shape[1] == 0:
            raise NotApplicable("the kernels have no discriminating direction: all classes have the same mean")
        S, S_prime = weight_matrices(matrices, A, graph, ridge, traces)
        current = _Iterate(beta, projection, S, S_prime, _ratio(beta, S, S_prime))
        record(
            iteration, "a", beta, current.objective, ratio_trace=_mean_ratio(kernel, A, graph, projection.ridge_amount)
        )
        iterates.append(current)
        change = abs(iterates[-2].objective - current.objective) if iteration else np.inf
        if change <= tol * abs(current.objective) + _ZERO:
            status = "converged"
            break
        if iteration == max_iter:
            break

        current.beta_solution = solution = solve_beta(S, S_prime)
        fixed_point = np.allclose(solution.weights, beta, rtol=0.0, atol=1e-12)
        beta = solution.weights
        rho = 2.0 * ridge / graph.n * float(beta @ traces @ beta)
        ratio_trace = _mean_ratio(stack.combine(beta), A, graph, rho)
        record(
            iteration + 1,
            "beta",
            beta,
            _ratio(beta, S, S_prime),
            ratio_trace=ratio_trace,
            **_beta_record(solution, S, S_prime),
        )
        if fixed_point:
            status = "converged"
            break

    # Weights on kernels of small rank leave fewer columns, and f over fewer columns is not comparable: width first.
    best_iter = min(range(len(iterates)), key=lambda t: (-iterates[t].n_columns, iterates[t].objective))
    best = iterates[best_iter]
    certificate: dict[str, Any] = {"value": best.objective}
    if learned:
        solution = best.beta_solution or solve_beta(best.S, best.S_prime)
        gap = (best.objective - solution.bound) / max(abs(best.objective), np.finfo(float).tiny)
        # an "exact" bound equals the value up to rounding
        certificate |= {**_beta_record(solution, best.S, best.S_prime), "gap": max(gap, 0.0)}
    n_iter = sum(entry["step"] == "beta" for entry in history)
    return Alternation(best.weights, best.projection, history, certificate, n_iter, best_iter, status)


class MKLDR(RatioTraceEmbedding):
    """Multiple kernel learning for dimensionality reduction (MKL-DR).

    Learns kernel weights beta >= 0 and coefficients A of an embedding z = A' sum_m beta_m k_m(., x) that make

        f(A, beta) = tr(A'SA) / tr(A'S'A),    S = 2 K L K + rho I,   S' = 2 K L' K + rho I,   K = sum_m beta_m K_m,

    small, by alternation: A for given beta is an eigenproblem (A-step), beta for given A a ratio of quadratic forms in
    M variables (beta-step). (L, L') is a pair of graph Laplacians: discriminant analysis, its local form, or any other.

    Parameters
    ----------
    n_components : int, optional
        By default the number of classes less one for class graphs (the largest valid number for "lda"), else 2.
    graph : {"lda", "lde", "pca", "lpp"} or GraphPair
        "lda" and "lde" need labels. "pca": L = 0 and L' = I - J, so that the ridge is compared with the variance: A are
        the leading eigenvectors of K (I - J) K (those of kernel PCA for centred K), and the weights favour kernels with
        most of their variance in few directions. The neighbour graphs "lde" and "lpp" are built for each kernel and
        averaged.
    kernels
        As for `mklearn.subspace.kfd.KernelFDA`.
    k, k_prime : int
        Number of neighbours of the same class, and of other classes ("lde"); "lpp" uses ``k``.
    counting : {"class", "global"}
        Among which samples the neighbours of "lde" are counted: see `mklearn.graphs.lde_graph`.
    beta_step : {"exact", "dnn", "sdp", "central_path"}
        See `mklearn.optimize.kernel_weights`. "sdp" is the paper's relaxation, literally.
    a_step : {"ratio_trace", "trace_ratio"}
        The paper's eigenproblem, or the exact minimum of f under A'A = I; with "exact" weights the latter never
        increases f.
    init : {"uniform", "orthonormal"}
        Start with an A-step for equal weights, or with a beta-step for AA' = I.
    ridge : float
        rho = ridge * tr(2 K L' K) / n, added to both matrices: f then depends neither on the scale of beta nor on a
        common scale of the kernels. It decides how far the weights move; choose it by cross-validation. With 0 and
        nonsingular kernels every beta is optimal and the weights stay at the start.
    max_iter : int
        Largest number of beta-steps. Few steps are early stopping: a smaller f need not give a better accuracy.
    tol : float
        Stop when f changes by less than this, relatively, from one A-step to the next.
    scaling : {"total", "within", "unit", "orthonormal"}
        Final scale of A's columns: A'S'A = I, A'SA = I, unit length, or orthonormal. Nearest-neighbour rates depend on
        it. It does not affect the alternation, which has A'S'A = I (A'A = I for "trace_ratio").
    solver : str
        For "sdp" and "dnn": "auto" is MOSEK with a valid licence, else CLARABEL.
    kernel_weights : {"learned", "uniform"}
        "uniform": equal weights 1/M and one A-step for them, with the same ridge, graph and scale. The difference to
        "learned" is what the learned weights alone change; ``init``, ``max_iter`` and ``beta_step`` are ignored.

    Attributes
    ----------
    eigenvalues_ : array of shape (n_components,)
        a'Sa / a'S'a of each column, ascending.
    ridge_amount_ : float
        rho for the returned weights.
    objective_ : float
        f of the returned iterate.
    objective_history_ : array
        f after every half-step.
    bound_history_ : array of shape (n_iter_,)
        Smallest generalised eigenvalue of every beta-step: a lower bound of f for its A over weights of any sign.
    history_ : list of dict
        One per half-step; see `Alternation`.
    certificate_ : dict
        How far other weights could still decrease f for the returned A; see `Alternation`.
    n_iter_ : int
        Number of beta-steps.
    best_iter_ : int
        The returned iterate; 0 is the start.
    status_ : {"converged", "max_iter", "uniform"}
        "converged": f no longer changes, or the weights are optimal for their own A. "uniform": not learned.
    graph_ : GraphPair
    kernel_weights_, kernel_ids_, coefficients_, embedding_, classes_, n_features_in_
        As for `mklearn.subspace.kfd.KernelFDA`; ``classes_`` with labels only.

    Raises
    ------
    DataError, NotApplicable, ConfigError
        As for `mklearn.subspace.kfd.KernelFDA`; `ConfigError` also for an invalid graph.
    SolverUnavailable, SolverFailed
        From the beta-step.

    Warns
    -----
    MixedSignWarning
        ``beta_step`` is "sdp" or "central_path", and the only optimal beta of a step is 0.

    References
    ----------
    Lin, Liu, Fuh, "Dimensionality reduction for data in multiple feature representations", NIPS 2008, Algorithm 1.

    Notes
    -----
    Deviations from the paper: a ridge (the paper has none, and the alternation stalls); the beta-step is solved exactly
    by default; beta has sum 1 after every step; with ratio-trace A-steps the alternation can cycle, so the best iterate
    is returned; neighbour graphs have mean degree 1; the default start is equal weights, not AA' = I.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLDR(kernels=["linear", "gaussian"]).fit(X, y)
    >>> model.transform(X).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RatioTraceEmbedding._parameter_constraints,
        "graph": [StrOptions(set(_NAMED_GRAPHS)), GraphPair],
        "k": [at_least(1)],
        "k_prime": [at_least(1)],
        "counting": [one_of(Counting)],
        "beta_step": [one_of(BetaStep)],
        "a_step": [one_of(AStep)],
        "init": [one_of(Init)],
        "max_iter": [at_least(0)],
        "tol": [NONNEGATIVE],
        "solver": [str],
        "kernel_weights": [one_of(KernelWeighting)],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        graph: str | GraphPair = "lda",
        kernels: Any = "precomputed",
        k: int = 5,
        k_prime: int = 20,
        counting: Counting = "class",
        beta_step: BetaStep = "exact",
        a_step: AStep = "ratio_trace",
        init: Init = "uniform",
        ridge: float = 1e-3,
        max_iter: int = 5,
        tol: float = 1e-4,
        scaling: Scaling = "total",
        solver: str = "auto",
        kernel_weights: KernelWeighting = "learned",
    ) -> None:
        self.n_components = n_components
        self.graph = graph
        self.kernels = kernels
        self.k = k
        self.k_prime = k_prime
        self.counting = counting
        self.beta_step = beta_step
        self.a_step = a_step
        self.init = init
        self.ridge = ridge
        self.max_iter = max_iter
        self.tol = tol
        self.scaling = scaling
        self.solver = solver
        self.kernel_weights = kernel_weights

    @fit_context
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        graph_distances: ArrayLike | Sequence[ArrayLike] | None = None,
    ) -> MKLDR:
        """Learn the kernel weights and the projection.

        Parameters
        ----------
        X : array of shape (n, d), or (n, n, n_kernels) with ``kernels="precomputed"``
        y : array of shape (n,), optional
            Class labels, for "lda" and "lde".
        graph_distances : array of shape (n, n), or list of such arrays, optional
            Distances among the training samples (squared ones for "lpp") that define the neighbours of "lde" and "lpp";
            their graphs are averaged. By default K_ii + K_jj - 2 K_ij of every kernel.
        """
        stack, labels = self._training_data(X, y)
        graph = self._graph(stack, labels, graph_distances)
        p = self._wanted_components(graph, labels)
        found = alternate(
            stack,
            graph,
            p,
            ridge=self.ridge,
            a_step=self.a_step,
            beta_step=self.beta_step,
            init=self.init,
            max_iter=self.max_iter,
            tol=self.tol,
            solver=self.solver,
            kernel_weights=self.kernel_weights,
        )
        self._check_projection(found.projection)
        kernel = stack.combine(found.weights)
        projection = found.projection
        if self.a_step == "trace_ratio" and self.scaling != "orthonormal":
            projection = diagonalised(projection, kernel, graph)

        self.graph_ = graph
        self.history_ = found.history
        self.objective_history_ = np.array([entry["objective"] for entry in found.history])
        self.bound_history_ = np.array([entry["lambda_min"] for entry in found.history if entry["step"] == "beta"])
        self.objective_ = found.certificate["value"]
        self.certificate_ = found.certificate
        self.n_iter_ = found.n_iter
        self.best_iter_ = found.best_iter
        self.status_ = found.status
        self._set_projection(kernel, found.weights, projection)
        self._warn_of_mixed_signs()
        return self

    @property
    def _needs_labels(self) -> bool:
        return isinstance(self.graph, str) and self.graph in ("lda", "lde")

    def _graph(self, stack: KernelStack, labels: NDArray[Any] | None, given: Any) -> GraphPair:
        if isinstance(self.graph, GraphPair):
            if self.graph.n != stack.n_columns:
                raise DataError(f"graph is over {self.graph.n} samples, but there are {stack.n_columns} in X")
            if self.graph.sense != "minimise":
                raise ConfigError(
                    "the graph is to be maximised, but MKLDR minimises: give a pair whose L is to be small relative to "
                    "L_prime"
                )
            return self.graph
        if self.graph == "lda":
            assert labels is not None
            return lda_graph(labels)
        if self.graph == "pca":
            if self.ridge == 0:
                raise ConfigError("graph='pca' needs ridge > 0: it compares the variance with the ridge")
            return pca_graph(stack.n_columns)
        distances = neighbour_distances(stack, given)
        if self.graph == "lde":
            assert labels is not None
            return lde_graph(distances, labels, self.k, self.k_prime, self.counting)
        graphs = [lpp_graph(d2, self.k) for d2 in distances]
        L, L_prime = (sum(getattr(graph, side).matrix for graph in graphs) / len(graphs) for side in ("L", "L_prime"))
        return GraphPair(L, L_prime)

    def _warn_of_mixed_signs(self) -> None:
        if self.beta_step not in ("sdp", "central_path"):
            return
        steps = [entry for entry in self.history_ if entry["step"] != "a"]
        mixed = sum(entry["mixed_sign"] for entry in steps)
        if mixed:
            warnings.warn(
                f"beta_step={self.beta_step!r}: in {mixed} of {len(steps)} steps the only optimal weights of the "
                "relaxation were 0 (mixed signs); the weights used are its last iterate, not an optimum. "
                "Use beta_step='exact'",
                MixedSignWarning,
                stacklevel=4,  # the caller of fit, outside scikit-learn's wrapper
            )


def _ratio(weights: Array, S: Array, S_prime: Array) -> float:
    return float(weights @ S @ weights) / float(weights @ S_prime @ weights)


def _mean_ratio(kernel: NDArray[Any], coefficients: Array, graph: GraphPair, rho: float) -> float:
    """Compute tr((A'S'A)^-1 A'SA) / p, the objective of the ratio-trace A-step."""
    above, below = projected_scatters(kernel, coefficients, graph, rho)
    return float(np.trace(np.linalg.lstsq(below, above, rcond=None)[0])) / len(above)


def _beta_record(solution: KernelWeights, S: Array, S_prime: Array) -> dict[str, Any]:
    """Return the fields of a beta-step's solution, and the smallest generalised eigenvalue: the bound without signs."""
    scaled, scaled_prime, _, indefinite = prepare(S, S_prime)
    return {
        "bound": solution.bound,
        "lambda_min": min(make_pencil(scaled, scaled_prime, indefinite).lowest, solution.value),
        "gap": solution.gap,
        "status": solution.status,
        "mixed_sign": solution.mixed_sign,
        "norm": solution.norm,
        "solver": solution.solver,
        "seconds": solution.seconds,
        "message": solution.message,
    }
