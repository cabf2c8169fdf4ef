"""Support vector classification with kernel weights that depend on the sample (localized multiple kernel learning)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.fit_context import fit_context
from mklearn.base.parameters import Nonnegative, NonnegativeInt, Positive, parameters
from mklearn.checks import as_float_matrix, check_keys
from mklearn.classifiers.class_scores import DecisionLabels, decision_values, one_vs_rest_signs
from mklearn.classifiers.kernel_classifier import KernelClassifier, variance_of
from mklearn.errors import ConfigError, DataError
from mklearn.kernels.feature_scaling import constant_features
from mklearn.kernels.source import Source
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.views import Pairwise, as_views
from mklearn.optimize.gating import Gate, GateScale, gate_factor, gated_cross_kernel, gates
from mklearn.optimize.localized_mkl import GatedPoint, GatedSVM, Solver, localized_mkl
from mklearn.optimize.svm import solve_svm

Array = NDArray[np.floating[Any]]

_TOL: dict[Solver, float] = {"line_search": 1e-3, "lbfgs": 1e-5}
_START = 0.01


class GatedMachines(NamedTuple):
    """Fitted machines with their gates: one for two classes, else one per class."""

    V: Array
    """Gating parameters, shape (n_machines, n_kernels, n_gating_features + 1)."""
    eta: Array
    """Gates of the training samples, shape (n_machines, n_train, n_kernels)."""
    dual: Array
    """Dual variables alpha y, shape (n_machines, n_train)."""
    intercept: Array
    objective: Array


@parameters
class LMKLSVC(DecisionLabels, KernelClassifier):
    """Localized multiple kernel learning: a gate weights the kernels of each sample.

    A support vector machine on k(x, z) = sum_m eta_m(x) k_m(x, z) eta_m(z), where the gates eta_m are softmax or
    sigmoid functions of linear functions of gating features, learned by descent in the machine's objective; see
    `mklearn.optimize.localized_mkl`. With more than two classes, each has its own machine and gates, one-vs-rest.

    Parameters
    ----------
    kernels
        As for `mklearn.subspace.KernelFDA`; positive semidefinite. Their scales matter: the paper has unit diagonals.
    gating : str or mapping, optional
        Name of the view whose features gate the kernels, or a mapping with "view" and, optionally, "columns",
        "preprocessing", "impute" and "feature_scaling" as in the spec of a kernel; they are standardised here. By
        default X itself gates; with precomputed kernels or several views, the rows of the average kernel gate.
    gate : {"softmax", "sigmoid"}
        Function of the gates. Softmax gates of a sample compete, sigmoid gates do not.
    gate_scale : {"published", "average"}
        "average": gates are multiplied by sqrt(P) (softmax) or 2/sqrt(P) (sigmoid) for P kernels. The kernel at V = 0
        is then their uniform average, so that C means the same for both gates and any P.
    solver : {"line_search", "lbfgs"}
        The published line search along the normalised gradient, or L-BFGS.
    ridge : float or "uniform"
        Weight of the penalty ||V||^2 / 2 added to the machine's objective. 0 is the published method, which has no
        minimiser where V diverges. "uniform" is the limit of a large ridge, V = 0: the machine on the uniform average
        (with ``gate_scale="average"``), and no gate is learned. A grid ["uniform", 0.1, 0.01] in inner
        cross-validation, with ties to the first, is ridge-gated LMKL (with ``gate="sigmoid"``,
        ``gate_scale="average"``, ``solver="lbfgs"``).
    C : float
        Bound of the dual variables for the gated kernel as it is, as in :class:`sklearn.svm.SVC` and in the paper.
    random_state : int, Generator, RandomState or None
        Seed of the start, ``default_rng(random_state).uniform(-.01, .01)``, which is the same for every machine.
    tol : float, optional
        Relative decrease of the objective at which the solver stops, and the tolerance of each support vector machine:
        by default 1e-3 (as published) for the line search and for ``ridge="uniform"``, and 1e-5 for L-BFGS, which needs
        accurate gradients.
    max_iter : int
        Largest number of line searches or L-BFGS iterations.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,), sum 1
        Mean of the gates over training samples and machines, scaled to sum 1. A summary: decisions use the gates of
        each sample.
    machines_ : GatedMachines
        V, gates, dual variables, intercepts and objectives.
    gating_mean_, gating_scale_ : arrays of shape (n_gating_features,)
        Mean and sample standard deviation over the training samples; infinite for constant features, which are ignored.
    objective_ : float
        Sum of the machines' objectives, ridge penalties included.
    objective_history_ : tuple of arrays
        Objective at the start and after every accepted step, one array per machine.
    n_iter_ : int
        Number of iterates, the start included; the maximum over the machines.
    status_ : {"converged", "max_iter", "stalled", "uniform"}
        "converged" if all machines converged, else the status of the first that did not. "uniform": no gate was
        learned.
    support_ : array of int
        Positions of the training samples that are support vectors of any machine.
    classes_, kernel_ids_, n_features_in_
        As for `mklearn.subspace.KernelFDA`, as are the errors, and `DataError` also for invalid gating features.

    References
    ----------
    Gonen, Alpaydin, "Localized multiple kernel learning", ICML 2008: the method. Gonen, Alpaydin, "Localized Multiple
    Kernel Machines for Image Recognition" (its text names no year; 2009 or later): sigmoid gates, gating by the rows of
    a kernel, and the tables for images. Equations are numbered as there.

    Notes
    -----
    Deviations from the authors' code: see `mklearn.optimize.localized_mkl`. Deviations from the paper: the gate scale
    "average", the ridge and L-BFGS are this library's own. Gating by the rows of a kernel is an option of the paper.

    The objective has many minima. With softmax gates, maps of the gates differ between starts: do not read the maps of
    one start.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> LMKLSVC(kernels=["gaussian", "linear"]).fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.9
    True
    """

    gating: Annotated[Any, None, str, Mapping] = None
    gate: Gate = "softmax"
    gate_scale: GateScale = "published"
    solver: Solver = "line_search"
    ridge: Literal["uniform"] | Nonnegative = 0.0
    C: Positive = 10.0
    random_state: Annotated[Any, "random_state", np.random.Generator] = 0
    tol: Positive | None = None
    max_iter: NonnegativeInt = 200

    @fit_context
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Fit the gates and the machines; X and y are as for `MKLSVC.fit`."""
        stack = self._training_stack(X)
        self._gating_view = self._fitted_gating_view(X)
        codes = self._class_codes(stack, y)
        uniform = _average(stack)
        variance_of(uniform)
        raw = self._raw_gating(X, uniform)
        if self._gating_view is not None:
            self._gating_view.drop_training_values()
        self.gating_mean_ = raw.mean(axis=0)
        self.gating_scale_ = np.where(constant_features(raw), np.inf, raw.std(axis=0, ddof=1))
        features = self._standardised(raw)
        signs = one_vs_rest_signs(codes, len(self.classes_))
        if self.ridge == "uniform":
            self._fit_uniform(stack, uniform, features, signs)
        else:
            self._fit_gates(stack, features, signs)
        self.objective_ = float(self.machines_.objective.sum())
        mean = self.machines_.eta.mean(axis=1).mean(axis=0)
        self.kernel_weights_ = mean / mean.sum()
        self.support_ = np.flatnonzero(self.machines_.dual.any(axis=0))
        return self

    def _fit_uniform(self, stack: KernelStack, kernel: Array, features: Array, signs: Array) -> None:
        V, tol = np.zeros((len(stack), features.shape[1])), self.tol or _TOL["line_search"]
        scaled = self._uniform_scale(stack) * kernel
        solutions = [solve_svm(scaled, each, self.C, tol) for each in signs]
        eta = self._gates(features, V)
        self.machines_ = _machines([GatedPoint(V, each.value, eta, each) for each in solutions])
        self.objective_history_ = tuple(np.array([each.value]) for each in solutions)
        self.n_iter_, self.status_ = 1, "uniform"

    def _fit_gates(self, stack: KernelStack, features: Array, signs: Array) -> None:
        state = self.random_state
        seed = state.randint(2**31) if isinstance(state, np.random.RandomState) else state
        V0 = np.random.default_rng(seed).uniform(-_START, _START, (len(stack), features.shape[1]))
        tol = self.tol or _TOL[self.solver]
        problems = [
            GatedSVM(
                stack.matrices, each, features, self.C, gate=self.gate, gate_scale=self.gate_scale,
                ridge=float(self.ridge), svm_tol=tol,
            )
            for each in signs
        ]  # fmt: skip
        solutions = [localized_mkl(each, V0, solver=self.solver, tol=tol, max_iter=self.max_iter) for each in problems]
        self.machines_ = _machines([each.point for each in solutions])
        self.objective_history_ = tuple(each.history for each in solutions)
        self.n_iter_ = max(len(each.history) for each in solutions)
        self.status_ = next((each.status for each in solutions if each.status != "converged"), "converged")

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Compute decision values, shape (m, n_classes); for two classes shape (m,), positive for the second.

        X is as for ``fit``; precomputed kernels have shape (m, n_train, n_kernels).
        """
        stack, _ = self._new_stack(X)
        machines = self.machines_
        if self.status_ == "uniform":
            kernel = self._uniform_scale(stack) * _average(stack)
            return decision_values(machines.dual @ kernel.T + machines.intercept[:, None])
        features, values = self._standardised(self._raw_gating(X, _average(stack))), []
        for V, eta, dual, intercept in zip(machines.V, machines.eta, machines.dual, machines.intercept, strict=True):
            kernel = gated_cross_kernel(stack.matrices, self._gates(features, V), eta)
            values.append(kernel @ dual + intercept)
        return decision_values(np.array(values))

    def localized_weights(self, X: Any) -> NDArray[np.floating]:
        """Compute the gates eta of samples, shape (m, n_kernels), or (n_machines, m, n_kernels) for several machines.

        X is as for `decision_function`.
        """
        stack, _ = self._new_stack(X)
        features = self._standardised(self._raw_gating(X, _average(stack)))
        eta = np.array([self._gates(features, V) for V in self.machines_.V])
        return eta[0] if len(eta) == 1 else eta

    def _gates(self, features: Array, V: Array) -> Array:
        return gates(features, V, self.gate, gate_factor(self.gate, self.gate_scale, len(V)))

    def _uniform_scale(self, stack: KernelStack) -> float:
        """Return the ratio of the gated kernel at V = 0 to the uniform average."""
        if self.gate_scale == "average":
            return 1.0
        return 1.0 / len(stack) if self.gate == "softmax" else len(stack) / 4.0

    def _raw_gating(self, X: Any, average: Array) -> Array:
        """Return the gating features before they are standardised, shape (m, n_gating_features)."""
        views = as_views(X)
        if self._gating_view is not None:
            values: Any = self._gating_view.transform(views)[0]
        elif self._is_precomputed or views is not None:
            values = average
        else:
            try:
                values = X if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
            except (TypeError, ValueError):
                raise DataError(
                    "X has columns that are no numbers: pass them as a view of their own, see `gating`"
                ) from None
        return as_float_matrix(values, "the gating features").astype(np.float64)

    def _fitted_gating_view(self, X: Any) -> Source | None:
        """Return the fitted source of the gating features, or None if no view gates."""
        if self.gating is None:
            return None
        spec = {"view": self.gating} if isinstance(self.gating, str) else dict(self.gating)
        check_keys(spec, ["view", "columns", "preprocessing", "impute", "feature_scaling"], "`gating`")
        if "view" not in spec:
            raise ConfigError("`gating` names no view; expected a mapping with the key 'view'")
        views = as_views(X)
        if views is None:
            raise DataError(f"`gating` names the view {spec['view']!r}, but X is one table")
        if isinstance(view := views[spec["view"]], Pairwise):
            raise DataError(f"view {spec['view']!r} is {view!r} and has no features")
        return Source(spec, spec["view"]).fit(views)

    def _standardised(self, raw: Array) -> Array:
        """Return a column of ones and the standardised gating features, shape (m, n_gating_features + 1)."""
        return np.column_stack([np.ones(len(raw)), (raw - self.gating_mean_) / self.gating_scale_])


def _machines(points: Sequence[GatedPoint]) -> GatedMachines:
    V, eta, objective = (np.array([getattr(each, name) for each in points]) for name in ("V", "eta", "value"))
    dual, intercept = (np.array([getattr(each.solution, name) for each in points]) for name in ("dual", "intercept"))
    return GatedMachines(V, eta, dual, intercept, objective)


def _average(stack: KernelStack) -> NDArray[np.float64]:
    return np.asarray(stack.combine(np.full(len(stack), 1.0 / len(stack))), dtype=np.float64)
