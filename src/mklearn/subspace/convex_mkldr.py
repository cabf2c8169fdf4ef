"""Convex multiple kernel learning for discriminant analysis: kernel weights that maximise the ratio trace."""

from __future__ import annotations

from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from mklearn.base.kernels_mixin import KernelWeighting
from mklearn.base.landmark_input import LandmarkEmbedding, LandmarkMoments
from mklearn.base.parameters import Interval, Nonnegative, NonnegativeInt, Positive, parameters
from mklearn.errors import NotApplicable
from mklearn.graphs import lda_graph
from mklearn.kernels.matrices import centred_trace
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.convex_ratio_trace import (
    ConvexRatioTrace,
    LandmarkRatioTrace,
    Objective,
    RatioTraceObjective,
    between_factor,
    convex_ratio_trace,
    leading_directions,
)
from mklearn.optimize.eigen import fix_signs
from mklearn.optimize.graph_embedding import Array, Projection
from mklearn.subspace.kernel_embedding import RatioTraceEmbedding

Denominator = Literal["total", "within"]


@parameters
class ConvexMKLDR(LandmarkEmbedding, RatioTraceEmbedding):
    """Discriminant analysis with kernel weights from a convex problem (ratio-trace multiple kernel learning).

    Maximises, over kernel weights theta >= 0 with ||theta||_p <= M^(1/p - 1),

        F(theta) = max over V of tr((V'(S_d + lambda I)V)^-1 V'S_b V)

    in the feature space of K = sum_m theta_m K_m, with S_b the between-class scatter and S_d the total or within-class
    scatter. F is concave, so the weights are the global optimum, and a duality gap proves it. MKL-DR minimises a ratio
    of traces by alternation. This method maximises the ratio trace over all directions (number of classes less one) and
    keeps the best ``n_components`` of them.

    Parameters
    ----------
    n_components : int, optional
        As for `KernelFDA`. It does not change the weights.
    kernels
        As for `KernelFDA`; positive semidefinite. The norm constraint depends on their scales: scale them, for instance
        to unit centred trace.
    p : float
        Norm of the weights, from 1 (sparse) to infinity (equal weights). The radius M^(1/p - 1) has equal weights 1/M
        on its boundary for every p.
    denominator : {"total", "within"}
        S_d. With "total" each direction adds at most 1 to F; with "within" one direction may outweigh all others.
    ridge : float
        lambda relative to the mean over kernels of the centred trace tr(K_m)/n - 1'K_m 1/n^2; positive. lambda
        penalises the norm in feature space, A'KA, instead of A'A as in `KernelFDA`, and does not depend on the weights.
        Small ridges reward kernels close to the identity.
    max_iter : int
        Largest number of Newton steps.
    tol : float
        Relative duality gap at which the optimiser stops.
    scaling : {"total", "within", "unit", "orthonormal"}
        Scale of A's columns, with S' = 2(K L_t K + lambda K) and S = 2(K L_w K + lambda K): A'S'A = I, A'SA = I, unit
        length, or orthonormal.
    kernel_weights : {"learned", "uniform"}
        "uniform": the solution for theta = 1/M without optimisation, with the same lambda, denominator and scale. The
        difference to "learned" isolates the effect of the learned weights. ``p``, ``max_iter`` and ``tol`` are ignored
        except in ``certificate_``.
    landmarks
        As for `KernelFDA`.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,), sum 1
        theta / sum(theta).
    theta_ : array of shape (n_kernels,)
        The weights with ||theta||_p = M^(1/p - 1); their sum is at most 1.
    coefficients_ : array of shape (n_train, n_components)
        Coefficients A for the kernel combined with ``kernel_weights_``.
    eigenvalues_ : array of shape (n_components,)
        Within- over total scatter of each column, ascending, ridge included.
    ridge_amount_ : float
        lambda for the kernel combined with ``kernel_weights_``: lambda / sum(theta).
    objective_ : float
        ``F(theta_)``.
    objective_history_ : array of shape ``(n_iter_,)``
        F at equal weights and after every step: it never decreases.
    certificate_ : dict
        "value" (F), "bound" (upper bound of F for all feasible weights) and "gap" (their relative difference).
    n_iter_ : int
        Number of iterates, equal weights included: one more than the steps taken.
    status_ : {"optimal", "max_iter", "stalled", "uniform"}
        "optimal": the gap is at most ``tol``. "stalled": no step increases F beyond rounding; see the gap. "uniform":
        not learned; the gap bounds the possible increase of F by other weights.
    kernel_ids_, classes_, embedding_, n_features_in_
        As for `mklearn.subspace.kfd.KernelFDA`, as are the errors, and `DataError` also for kernels far from positive
        semidefinite.

    References
    ----------
    Vemulapalli, Boda, Chellappa, "MKL-RT: multiple kernel learning for ratio-trace problems via convex optimization",
    arXiv 1410.4470, 2014. Ye, Ji, Chen, "Multi-class discriminant kernel learning via convex programming", JMLR 2008
    (S_d the total scatter, p = 1). Yan, Kittler, Mikolajczyk, Tahir, "Non-sparse multiple kernel Fisher discriminant
    analysis", JMLR 2012 (p > 1).

    Notes
    -----
    The formulas are derived independently (see `mklearn.optimize.convex_ratio_trace`). The papers solve semidefinite or
    semi-infinite programs; here a smooth concave problem in M variables is solved by Newton's method. lambda is given,
    whereas Ye, Ji, Chen learn it. The global optimum of F need not have the best accuracy: F grows as the training
    samples of each class collapse. Always compare with ``kernel_weights="uniform"``.
    """

    p: Annotated[float, Interval(Real, 1, np.inf, closed="both")] = 2.0
    denominator: Denominator = "total"
    ridge: Positive = 1e-2
    max_iter: NonnegativeInt = 50
    tol: Nonnegative = 1e-6
    kernel_weights: KernelWeighting = "learned"

    def _fit_kernels(self, stack: KernelStack, labels: NDArray[Any]) -> None:
        graph = lda_graph(labels)
        wanted = self._wanted_components(graph.n, labels, graph)
        assert graph.lda_classes is not None
        variance = float(np.mean([centred_trace(K) for K in stack]))
        largest = max(float(np.abs(np.diagonal(K)).max()) for K in stack)
        if not variance > 10 * stack.n_columns * np.finfo(np.float64).eps * largest:
            raise NotApplicable("the kernels are constant over the samples, or are no kernels (distances?)")
        side = graph.L_prime if self.denominator == "total" else graph.L
        objective = RatioTraceObjective(list(stack), between_factor(graph.lda_classes), side, self.ridge * variance)
        solution = self._solved(objective)
        omega, A = leading_directions(solution.evaluation, wanted, solution.ridge_amount)
        self._set_projection(stack.combine(solution.weights), solution.weights, self._projection(solution, omega, A))

    def _fit_moments(self, data: LandmarkMoments) -> None:
        wanted = self._wanted_of_classes(data)
        problem = data.problem()
        variance = float(np.trace(problem.total)) / problem.n / problem.n_kernels
        between = problem.between
        assert between is not None
        side = problem.total if self.denominator == "total" else problem.within
        objective = LandmarkRatioTrace(problem.blocks, side, between, self.ridge * variance)
        solution = self._solved(objective)
        omega, V = leading_directions(solution.evaluation, wanted, solution.ridge_amount)
        projection = self._projection(solution, omega, problem.sample_coefficients(V))
        coefficients = self._rescaled(solution.weights, projection)
        self._set_coefficients(data, problem.feature_coefficients(solution.weights, coefficients))

    def _solved(self, objective: Objective) -> ConvexRatioTrace:
        """Return the optimum, or the start for equal weights, and set the attributes that describe it."""
        learned = self.kernel_weights == "learned"
        solution = convex_ratio_trace(objective, p=self.p, max_iter=self.max_iter if learned else 0, tol=self.tol)
        self.theta_ = solution.theta
        self.objective_ = solution.value
        self.objective_history_ = solution.history
        self.certificate_ = {"value": solution.value, "bound": solution.bound, "gap": solution.gap}
        self.n_iter_ = len(solution.history)
        self.status_ = solution.status if learned else "uniform"
        return solution

    def _projection(self, solution: ConvexRatioTrace, omega: Array, A: Array) -> Projection:
        """Rescale directions with A'(K L_d K + lambda K)A = I, K = K(theta), to the scale of the other embeddings.

        For the kernel with weights theta/s, s = sum(theta), the result has A'S'A = I with S' = 2(K L_t K + lambda/s K),
        and A'SA = diag(within / total).
        """
        s = float(solution.theta.sum())
        if self.denominator == "total":
            eigenvalues, total = np.maximum(1.0 - omega, 0.0), np.ones_like(omega)
        else:
            eigenvalues, total = 1.0 / (1.0 + omega), 1.0 + omega
        return Projection(fix_signs(s * A / np.sqrt(2.0 * total)), eigenvalues, solution.ridge_amount / s)
