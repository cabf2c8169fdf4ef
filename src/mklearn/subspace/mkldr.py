"""MKL-DR: multiple kernel learning for dimensionality reduction, by alternating optimisation."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mklearn.base.kernels_mixin import KernelWeighting
from mklearn.base.landmark_input import LandmarkEmbedding, LandmarkMoments
from mklearn.base.parameters import Nonnegative, NonnegativeInt, PositiveInt, parameters
from mklearn.errors import ConfigError, DataError, NotApplicable, warn
from mklearn.graphs import (
    UNLABELLED,
    GraphPair,
    kernel_squared_distances,
    lda_graph,
    lde_graph,
    lpp_graph,
    mfa_graph,
    pca_graph,
    sda_graph,
)
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.graph_embedding import (
    Array,
    EmbeddingProblem,
    KernelProblem,
    Projection,
    diagonalised,
)
from mklearn.optimize.kernel_weights import KernelWeights, Method
from mklearn.optimize.kernel_weights import kernel_weights as minimising_weights
from mklearn.subspace.kernel_embedding import RatioTraceEmbedding

AStep = Literal["ratio_trace", "trace_ratio"]
Init = Literal["uniform", "orthonormal"]

# Ratios below this count as zero: without a ridge each class collapses to a point.
_ZERO = 1e-13
NamedGraph = Literal["lda", "lde", "mfa", "sda", "pca", "lpp"]


class MixedSignWarning(UserWarning):
    """Warning that the optimal kernel weights of the SDP are 0, and the solver's last iterate is used instead."""


class StartWeightsWarning(ConvergenceWarning):
    """Warning that no iterate was better than the start, so the kernel weights are not learned."""


@dataclass(eq=False)
class _Iterate:
    """Iterate of Algorithm 1: weights, the A-step for them, and the matrices and solution of the next beta-step."""

    weights: Array
    projection: Projection
    S: Array
    S_prime: Array
    objective: float
    beta_solution: KernelWeights | None = None

    @property
    def n_columns(self) -> int:
        return self.projection.coefficients.shape[1]


@parameters
class MKLDR(LandmarkEmbedding, RatioTraceEmbedding):
    """Multiple kernel learning for dimensionality reduction (MKL-DR).

    Learns kernel weights beta >= 0 and coefficients A of an embedding z = A' sum_m beta_m k_m(., x) by minimising

        f(A, beta) = tr(A'SA) / tr(A'S'A),    S = 2 K L K + rho I,   S' = 2 K L' K + rho I,   K = sum_m beta_m K_m,

    in alternation: the A-step solves an eigenproblem for given beta, and the beta-step minimises a ratio of quadratic
    forms in M variables for given A. (L, L') is any pair of graph Laplacians, for instance of discriminant analysis.

    Parameters
    ----------
    n_components : int, optional
        By default the number of classes less one for class graphs (the largest valid number for "lda"), else 2.
    graph : {"lda", "lde", "mfa", "sda", "pca", "lpp"} or GraphPair
        The first four need labels. "lde" joins the neighbours of each sample; "mfa", marginal Fisher analysis, joins
        the nearest pairs on both sides of the margin of each class. "sda", semi-supervised discriminant analysis, is
        "lda" on the labelled samples plus the neighbour graph of all samples. Unlabelled samples have label -1 (see
        `mklearn.graphs.sda_graph`), which `predict` never returns. "pca" has L = 0 and L' = I - J, so that f compares
        the ridge with the variance: A holds the leading eigenvectors of K (I - J) K (as in kernel PCA for centred
        K), and the weights favour kernels with most of their variance in few directions. Neighbour graphs are built for
        each kernel and averaged. "lpp" is not suited to learning weights: its f hardly depends on them, and mostly the
        start is returned (see Notes).
    kernels
        As for `mklearn.subspace.kfd.KernelFDA`.
    k, k_prime : int
        ``k``: number of neighbours of the same class; "lpp" and "sda" use only this. ``k_prime``: number of neighbours
        of other classes ("lde"), or of pairs at the margin of a class ("mfa"). Neighbours are found with the squared
        distances K_ii + K_jj - 2 K_ij of each kernel.
    beta_step : {"exact", "dnn", "sdp", "central_path"}
        See `mklearn.optimize.kernel_weights`. "sdp" is the paper's relaxation as printed.
    a_step : {"ratio_trace", "trace_ratio"}
        "ratio_trace": the paper's eigenproblem. "trace_ratio": the exact minimum of f under A'A = I, which never
        increases f if ``beta_step`` is "exact".
    init : {"uniform", "orthonormal"}
        "uniform": start with an A-step for equal weights. "orthonormal": start with a beta-step for AA' = I.
    ridge : float
        Relative ridge: rho = ridge * tr(2 K L' K) / n is added to both matrices. f then depends neither on the scale of
        beta nor on a common scale of the kernels. The ridge controls how far the weights move; choose it by
        cross-validation. With 0 and nonsingular kernels every beta is optimal, and the weights stay at the start.
    max_iter : int
        Largest number of beta-steps. Few steps act as early stopping: a smaller f need not give a better accuracy.
    tol : float
        The alternation stops when f changes by less than this, relatively, between two A-steps.
    scaling
        As for `mklearn.subspace.kfd.KernelFDA`. It does not affect the alternation, which uses A'S'A = I (A'A = I for
        "trace_ratio").
    solver : str
        Convex solver of "sdp" and "dnn", and of "exact" above 14 kernels. "auto" is MOSEK with a valid licence, else
        CLARABEL.
    kernel_weights : {"learned", "uniform"}
        "uniform": equal weights 1/M and one A-step for them, with the same ridge, graph and scale. The difference to
        "learned" isolates the effect of the learned weights. ``init``, ``max_iter`` and ``beta_step`` are ignored.
    landmarks
        As for `mklearn.subspace.kfd.KernelFDA`; only for the graphs "lda" and "pca".
    graph_weight : float
        Weight of the neighbour graph in "sda" (see `mklearn.graphs.sda_graph`); others ignore it. With few labelled
        samples, small weights such as 1e-3 are better.

    Attributes
    ----------
    eigenvalues_ : array of shape (n_components,)
        a'Sa / a'S'a of each column, ascending.
    ridge_amount_ : float
        The ridge rho for the returned weights.
    objective_ : float
        f at the returned iterate.
    objective_history_ : array
        f after every half-step.
    history_ : list of dict
        One per half-step: "iteration", "step" ("init", "a" or "beta"), "objective" f(A, beta), "ratio_trace" (mean
        eigenvalue of (A'SA, A'S'A), the objective of the ratio-trace A-step), "seconds" (wall time of the eigenproblem
        or of the solver), "weights". Beta-steps also have the other fields of `mklearn.optimize.KernelWeights`.
    diagnostics_ : list of dict
        One per beta-step: "value" (f at its weights), "bound" (the smallest generalised eigenvalue: the value of the
        paper's relaxation), "mixed_sign", "seconds" and "a_step_seconds" (of the A-step before; None at the start).
    certificate_ : dict
        Fields of a beta-step for the returned A. "value" is f(A, weights), "bound" is a lower bound of f over all
        nonnegative weights for this A, and "gap" is their relative difference. A positive gap means that the
        alternation stopped early.
    n_iter_ : int
        Number of beta-steps.
    best_iter_ : int
        Index of the returned iterate; 0 is the start.
    status_ : {"converged", "max_iter", "start", "uniform"}
        "converged": f no longer changes, or the weights are optimal for their own A. "start": no iterate has a smaller
        f than the start, so its weights are returned (equal ones for ``init="uniform"``). "uniform": not learned.
    graph_ : GraphPair
        The graphs used; absent with landmarks.
    kernel_weights_, kernel_ids_, coefficients_, embedding_, classes_, n_features_in_
        As for `mklearn.subspace.kfd.KernelFDA`; ``classes_`` only with labels.

    Raises
    ------
    DataError, NotApplicable, ConfigError
        As for `mklearn.subspace.kfd.KernelFDA`; `ConfigError` also for an invalid graph.
    SolverUnavailable, SolverFailed
        Raised by the beta-step.

    Warns
    -----
    MixedSignWarning
        ``beta_step`` is "sdp" or "central_path", and the only optimal beta of a step is 0.
    StartWeightsWarning
        ``status_`` is "start".

    References
    ----------
    Lin, Liu, Fuh, "Dimensionality reduction for data in multiple feature representations", NIPS 2008, Algorithm 1.

    Notes
    -----
    Deviations from the paper: (a) Both matrices have a ridge; without one the alternation stalls. (b) The beta-step is
    solved exactly by default. (c) beta has sum 1 after every step. (d) With ratio-trace A-steps f can increase and the
    alternation can cycle, so the iterate with the smallest f is returned. Only iterates with the most columns compete,
    because weights on kernels of small rank leave fewer than ``n_components``. (e) Neighbour graphs have mean degree 1.
    (f) The default start is equal weights instead of AA' = I.

    Learned weights often stay near the equal ones of the start; with "sda" and "lpp" mostly no iterate has a smaller f
    than the start (``reports/README.md``). For "lpp" with three descriptors of digits (ten draws of 200 samples) the
    best weights lower f by at most 0.3 % for a given A, and the next ratio-trace A-step, which minimises another
    function, mostly raises it by more.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLDR(kernels=["linear", "gaussian"], ridge=1e-2).fit(X, y)
    >>> model.transform(X).shape
    (150, 2)
    """

    graph: NamedGraph | GraphPair = "lda"
    k: PositiveInt = 5
    k_prime: PositiveInt = 20
    beta_step: Method = "exact"
    a_step: AStep = "ratio_trace"
    init: Init = "uniform"
    max_iter: NonnegativeInt = 5
    tol: Nonnegative = 1e-4
    solver: str = "auto"
    kernel_weights: KernelWeighting = "learned"
    graph_weight: Nonnegative = 1.0

    @property
    def diagnostics_(self) -> list[dict[str, Any]]:
        """Value, bound of the paper's relaxation, mixed signs and wall time of each beta-step."""
        return [
            {
                "value": entry["objective"], "bound": entry["lambda_min"], "mixed_sign": entry["mixed_sign"],
                "seconds": entry["seconds"], "a_step_seconds": before.get("seconds"),
            }
            for before, entry in zip([{}, *self.history_], self.history_, strict=False)
            if "mixed_sign" in entry
        ]  # fmt: skip

    def _fit_kernels(self, stack: KernelStack, labels: NDArray[Any] | None) -> None:
        graph = self._graph(stack, labels)
        if labels is not None and self.graph == "sda":
            labels = labels[self._labelled(labels)]
            self.classes_ = np.unique(labels)
        problem = KernelProblem(stack, graph)
        weights, projection = self._alternated(problem, self._wanted_components(graph.n, labels, graph))
        self._set_projection(problem.combined(weights), weights, projection)
        self.graph_ = graph

    def _fit_moments(self, data: LandmarkMoments) -> None:
        if self.graph == "lda":
            problem, p = data.problem(), self._wanted_of_classes(data)
        elif self.graph == "pca":
            self._check_pca_ridge()
            problem, p = data.problem(supervised=False), self._wanted_of_features(data, 2)
        else:
            raise ConfigError("with `landmarks`, graph should be 'lda' or 'pca': other graphs connect single samples")
        weights, projection = self._alternated(problem, p)
        self._set_coefficients(data, problem.feature_coefficients(weights, self._rescaled(weights, projection)))

    def _alternated(self, problem: EmbeddingProblem, n_components: int) -> tuple[Array, Projection]:
        """Return the kernel weights and the projection of the best iterate; set the attributes that describe them."""
        iterates = self._alternate(problem, n_components)
        # Weights on kernels of small rank leave fewer columns, for which f is not comparable: most columns come first.
        self.best_iter_ = min(range(len(iterates)), key=lambda t: (-iterates[t].n_columns, iterates[t].objective))
        best = iterates[self.best_iter_]
        projection = best.projection
        if self.a_step == "trace_ratio" and self.scaling != "orthonormal":
            A, rho = projection.coefficients, projection.ridge_amount
            projection = diagonalised(projection, *problem.projected_scatters(best.weights, A, rho))

        self.certificate_: dict[str, Any] = {"value": best.objective}
        if self.kernel_weights == "learned":
            solution = best.beta_solution or self._solve_beta(best.S, best.S_prime)
            gap = (best.objective - solution.bound) / max(abs(best.objective), np.finfo(float).tiny)
            self.certificate_ |= _beta_record(solution)
            self.certificate_["gap"] = max(gap, 0.0)  # an "exact" bound equals the value up to rounding
        self.objective_ = best.objective
        self.objective_history_ = np.array([entry["objective"] for entry in self.history_])
        self.n_iter_ = sum(entry["step"] == "beta" for entry in self.history_)
        if self.best_iter_ == 0 and any(not np.allclose(other.weights, best.weights) for other in iterates):
            self.status_ = "start"
            equal = " equal" if self.init == "uniform" else ""
            warn(
                f"no iterate has a smaller objective than the start: the kernel weights are the{equal} ones of the "
                "start, not learned. Try another ridge or a_step='trace_ratio', or use kernel_weights='uniform'",
                StartWeightsWarning,
            )
        mixed = [entry["mixed_sign"] for entry in self.history_ if entry["step"] != "a"]
        if self.beta_step in ("sdp", "central_path") and any(mixed):
            warn(
                f"beta_step={self.beta_step!r}: in {sum(mixed)} of {len(mixed)} steps the only optimal weights of the "
                "relaxation were 0 (mixed signs); the weights used are its last iterate, not an optimum. "
                "Use beta_step='exact'",
                MixedSignWarning,
            )
        return best.weights, projection

    def _alternate(self, problem: EmbeddingProblem, n_components: int) -> list[_Iterate]:
        """Return the iterates of Algorithm 1; set ``history_`` and ``status_``."""
        take_a_step = problem.trace_ratio_step if self.a_step == "trace_ratio" else problem.ratio_trace_step
        self.history_: list[dict[str, Any]] = []
        learned = self.kernel_weights == "learned"
        max_iter = self.max_iter if learned else 0
        self.status_ = "max_iter" if learned else "uniform"
        beta = np.full(problem.n_kernels, 1.0 / problem.n_kernels)
        if learned and self.init == "orthonormal":
            S, S_prime = problem.initial_weight_matrices(self.ridge)
            first = self._solve_beta(S, S_prime)
            beta = first.weights
            self._record(0, "init", beta, _ratio(beta, S, S_prime), **_beta_record(first))

        iterates: list[_Iterate] = []
        for iteration in range(max_iter + 1):
            started = perf_counter()
            projection = take_a_step(beta, n_components, ridge=self.ridge)
            a_step_seconds = perf_counter() - started
            A = projection.coefficients
            if A.shape[1] == 0:
                raise NotApplicable("the kernels have no discriminating direction: all classes have the same mean")
            S, S_prime = problem.weight_matrices(A, self.ridge)
            current = _Iterate(beta, projection, S, S_prime, _ratio(beta, S, S_prime))
            iterates.append(current)
            ratio_trace = _mean_ratio(*problem.projected_scatters(beta, A, projection.ridge_amount))
            self._record(iteration, "a", beta, current.objective, ratio_trace=ratio_trace, seconds=a_step_seconds)
            change = abs(iterates[-2].objective - current.objective) if iteration else np.inf
            if change <= self.tol * abs(current.objective) + _ZERO:
                self.status_ = "converged"
                break
            if iteration == max_iter:
                break

            current.beta_solution = solution = self._solve_beta(S, S_prime)
            fixed_point = np.allclose(solution.weights, beta, rtol=0.0, atol=1e-12)
            beta = solution.weights
            rho = problem.ridge_amount(beta, self.ridge)
            ratio_trace = _mean_ratio(*problem.projected_scatters(beta, A, rho))
            objective = _ratio(beta, S, S_prime)
            self._record(iteration + 1, "beta", beta, objective, ratio_trace=ratio_trace, **_beta_record(solution))
            if fixed_point:
                self.status_ = "converged"
                break
        return iterates

    def _solve_beta(self, S: Array, S_prime: Array) -> KernelWeights:
        return minimising_weights(S, S_prime, method=self.beta_step, solver=self.solver)

    def _record(self, iteration: int, step: str, weights: Array, objective: float, **more: Any) -> None:
        entry = {"iteration": iteration, "step": step, "objective": objective, "weights": weights.copy()}
        self.history_.append({**entry, **more})

    def _check_pca_ridge(self) -> None:
        if self.ridge == 0:
            raise ConfigError("graph='pca' needs ridge > 0: it compares the variance with the ridge")

    @property
    def semi_supervised(self) -> bool:
        """Whether some samples may have no label."""
        return isinstance(self.graph, str) and self.graph == "sda"

    @property
    def _needs_labels(self) -> bool:
        return isinstance(self.graph, str) and self.graph in ("lda", "lde", "mfa", "sda")

    def _labelled(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        if self.graph == "sda":
            if labels.dtype.kind == "U" and (labels == str(UNLABELLED)).any():
                raise DataError(
                    f"y has the text {str(UNLABELLED)!r}: samples without a label are {UNLABELLED} among numbers"
                )
            return np.asarray(labels != UNLABELLED)
        return super()._labelled(labels)

    def _graph(self, stack: KernelStack, labels: Any) -> GraphPair:
        if isinstance(self.graph, GraphPair):
            if self.graph.n != stack.n_columns:
                raise DataError(f"graph is over {self.graph.n} samples, but there are {stack.n_columns} in X")
            return self.graph
        if self.graph == "lda":
            return lda_graph(labels)
        if self.graph == "pca":
            self._check_pca_ridge()
            return pca_graph(stack.n_columns)
        distances = [kernel_squared_distances(K.astype(np.float64)) for K in stack]
        if self.graph == "lde":
            return lde_graph(distances, labels, self.k, self.k_prime)
        if self.graph == "mfa":
            return mfa_graph(distances, labels, self.k, self.k_prime)
        if self.graph == "sda":
            return sda_graph(distances, labels, self.k, self.graph_weight)
        return lpp_graph(distances, self.k)


def _ratio(weights: Array, S: Array, S_prime: Array) -> float:
    return float(weights @ S @ weights) / float(weights @ S_prime @ weights)


def _mean_ratio(above: Array, below: Array) -> float:
    """Compute tr((A'S'A)^-1 A'SA) / p from A'SA and A'S'A: the objective of the ratio-trace A-step."""
    return float(np.trace(np.linalg.lstsq(below, above, rcond=None)[0])) / len(above)


def _beta_record(solution: KernelWeights) -> dict[str, Any]:
    return {name: value for name, value in vars(solution).items() if name not in ("weights", "value")}
