"""Discriminant analysis with learned kernel weights only where they are better than equal ones in validation."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mklearn.base.folds import inner_folds
from mklearn.base.kernels_mixin import fixed_weights
from mklearn.base.parameters import NONNEGATIVE, POSITIVE, Interval, at_least, one_of
from mklearn.cards import MethodCard
from mklearn.errors import DataError, NotApplicable
from mklearn.graphs import class_structure, lda_graph
from mklearn.kernels.stack import KernelStack
from mklearn.nearest_neighbour import Rule, nearest_neighbour_predictions
from mklearn.optimize.graph_embedding import Array, Scaling, max_components, ratio_trace_step, rescale_columns
from mklearn.optimize.leave_one_out_ridge import LeaveOneOutRidge, class_targets, leave_one_out_weights
from mklearn.subspace.kernel_embedding import RatioTraceEmbedding

CANDIDATES = ("uniform", "halfway", "learned")
"""Kernel weights to choose from, in the order of their distance from equal ones."""

# Differences of mean outcomes below this are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Step:
    """One comparison of `choose_by_paired_difference`.

    Attributes
    ----------
    candidate, against : str
        The candidate, and the one chosen before it.
    difference : float
        Mean over samples of the candidate's outcome less the other's.
    standard_error : float
        Of that mean.
    taken : bool
        Whether the candidate is chosen in place of the other.
    """

    candidate: str
    against: str
    difference: float
    standard_error: float
    taken: bool


def choose_by_paired_difference(
    outcomes: Mapping[str, NDArray[Any]], standard_errors: float = 1.0
) -> tuple[str, list[Step]]:
    """Choose the last candidate that is better than the one chosen before it by more than given standard errors.

    Parameters
    ----------
    outcomes : mapping from candidate to array of shape (n_repeats, n_samples)
        Whether each sample is classified correctly, in each repeat. The first candidate is chosen to begin with; the
        others follow in the order of preference if they are equally good.
    standard_errors : float
        A difference d of the mean outcomes has the standard error s / sqrt(n_samples), with s the standard deviation
        over samples of their differences, each averaged over the repeats.

    Returns
    -------
    choice : str
    steps : list of Step
        The comparisons, one for each candidate but the first.
    """
    names = list(outcomes)
    choice, steps = names[0], []
    for name in names[1:]:
        by_sample = np.mean(np.subtract(outcomes[name], outcomes[choice], dtype=np.float64), axis=0)
        difference = float(by_sample.mean())
        error = float(by_sample.std(ddof=1)) / np.sqrt(by_sample.size)
        taken = difference > standard_errors * error + _ROUNDING
        steps.append(Step(name, choice, difference, float(error), bool(taken)))
        choice = name if taken else choice
    return choice, steps


@MethodCard(
    kind="guarded_mkl",
    title="Guarded MKL",
    reference="this library's own; no paper",
    advice=(
        "Where learned weights must not lose: it takes equal ones unless validation says otherwise. In 20 "
        "published settings the differences to the average were -0.1 to +1.8 points, none of them certain."
    ),
    tuned=("regularisation", "shrinkage", "max_iter", "ridge"),
    learns_weights=True,
    library_only=("tol",),
    valid={"ridge": [POSITIVE], "max_iter": [at_least(1)]},
)
class GuardedMKL(RatioTraceEmbedding):
    """Kernel Fisher discriminant analysis with learned kernel weights only where they earn it.

    Candidates are equal weights, the weights of `LeaveOneOutMKL`, and those halfway between the two. Cross-validation
    inside the training samples compares them: in each fold the weights are learned from its training part, `KernelFDA`
    is fitted with them, and the nearest neighbour in all its components classifies the rest. Going from equal weights
    to the learned ones, a candidate is taken only if it classifies more samples correctly than the one taken before it
    by more than ``standard_errors`` standard errors of the paired difference. Else the estimator is `KernelFDA` on the
    uniform average, to the last bit.

    Parameters
    ----------
    n_components : int, optional
        At most, and by default, the number of classes less one (fewer by default if the kernel has a smaller rank).
        It does not change the weights.
    kernels
        As for `mklearn.subspace.kfd.KernelFDA`. Kernels of features are computed once, for all folds.
    standard_errors : float
        By how many standard errors a candidate has to be better; larger values keep equal weights more often.
    folds : int, at least 2
        Folds of the cross-validation, spread over the classes.
    repeats : int, at least 1
        Number of times that the folds are drawn. A sample's outcome is the share of repeats in which it is classified
        correctly, so that the choice depends less on the draw.
    neighbour : {"cosine", "euclidean"}
        Nearest-neighbour rule of the validation, see `mklearn.nearest_neighbour.accuracy_by_dimension`.
    regularisation : float
        Ridge of the regression that learns the weights, as for `LeaveOneOutMKL`.
    shrinkage : float
        How much the learned weights shrink towards equal shares, from 0 to 1, as for `LeaveOneOutMKL`.
    max_iter, tol
        Of the learned weights, as for `LeaveOneOutMKL`.
    ridge : float
        Of the discriminant analysis: added to both matrices, relative to their scale, as for `KernelFDA`.
    scaling : {"total", "within", "unit", "orthonormal"}
        Scale of A's columns: A'S'A = I, A'SA = I, unit length, or orthonormal. Nearest-neighbour rates depend on it.
    random_state : int, RandomState instance or None
        Draws the folds.

    Attributes
    ----------
    choice_ : {"uniform", "halfway", "learned"}
        The weights that were taken. "halfway": the mean of equal and learned shares of the combined centred trace.
    scores_ : dict from candidate to float
        Accuracy of each candidate in the cross-validation; empty if there was none.
    steps_ : list of `Step`
        For each candidate but "uniform": what it was compared with, the paired difference of their accuracies, its
        standard error and whether it was taken; empty if there was no cross-validation.
    message_ : str
        The choice and its reason in a sentence.
    n_iter_ : int
        Number of iterates of the weights learned from all samples, as for `LeaveOneOutMKL`; 1 if none were learned.
    kernel_weights_, kernel_ids_, classes_, coefficients_, eigenvalues_, ridge_amount_, embedding_, n_features_in_
        As for `mklearn.subspace.kfd.KernelFDA`.

    Raises
    ------
    DataError, NotApplicable, ConfigError
        As for `mklearn.subspace.kfd.KernelFDA`.

    Warns
    -----
    UserWarning
        Equal weights were taken without cross-validation: a class has one sample, or weights can't be learned from a
        fold. ``message_`` has the reason.

    References
    ----------
    This library's own; no paper. The weights: `LeaveOneOutMKL`. The rule follows the one of Breiman, Friedman, Olshen,
    Stone, "Classification and regression trees", 1984 (the simplest model within one standard error of the best), with
    the standard error of the paired difference in place of that of the best score.

    Notes
    -----
    The rule bounds the risk of learned weights, it does not remove it: where they are no better than equal ones, chance
    makes them look better by one standard error in up to one of six training sets. ``standard_errors=2`` is safer and
    finds smaller gains less often. The weights' cost is that of ``folds * repeats + 1`` fits of `LeaveOneOutMKL`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GuardedMKL(kernels=["gaussian", {"kind": "linear", "columns": [0, 1]}]).fit(X, y)
    >>> model.choice_, model.transform(X).shape
    ('uniform', (150, 2))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RatioTraceEmbedding._parameter_constraints,
        "standard_errors": [NONNEGATIVE],
        "folds": [at_least(2)],
        "repeats": [at_least(1)],
        "neighbour": [one_of(Rule)],
        "regularisation": [POSITIVE],
        "shrinkage": [Interval(Real, 0, 1, closed="both")],
        "max_iter": [at_least(0)],
        "tol": [NONNEGATIVE],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernels: Any = "precomputed",
        standard_errors: float = 1.0,
        folds: int = 5,
        repeats: int = 3,
        neighbour: Rule = "cosine",
        regularisation: float = 1.0,
        shrinkage: float = 0.5,
        max_iter: int = 100,
        tol: float = 1e-5,
        ridge: float = 1e-3,
        scaling: Scaling = "total",
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.kernels = kernels
        self.standard_errors = standard_errors
        self.folds = folds
        self.repeats = repeats
        self.neighbour = neighbour
        self.regularisation = regularisation
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.tol = tol
        self.ridge = ridge
        self.scaling = scaling
        self.random_state = random_state

    def _fit_kernels(self, stack: KernelStack, labels: NDArray[Any]) -> None:
        graph = lda_graph(labels)
        self._wanted_components(graph, labels)  # too many are an error before the search
        self._fit_ratio_trace(stack, self._chosen_weights(stack, labels), graph, labels)

    def _chosen_weights(self, stack: KernelStack, labels: NDArray[Any]) -> Array:
        """Return the weights of the choice; set the attributes that explain it."""
        self.choice_ = "uniform"
        self.scores_: dict[str, float] = {}
        self.steps_: list[Step] = []
        self.n_iter_ = 1
        uniform = fixed_weights("uniform", len(stack))
        if len(stack) == 1:
            self.message_ = "Uniform: there is one kernel."
            return uniform
        try:
            weights, self.n_iter_ = self._candidate_weights(stack, labels)
            outcomes = self._validated(stack, labels)
        except (NotApplicable, DataError) as reason:
            self.message_ = f"Uniform without cross-validation: {reason}"
            warnings.warn(
                f"equal kernel weights without cross-validation: {reason}",
                UserWarning,
                stacklevel=7,  # the caller of fit, outside the wrappers of fit
            )
            return uniform
        self.choice_, self.steps_ = choose_by_paired_difference(outcomes, self.standard_errors)
        self.scores_ = {name: float(right.mean()) for name, right in outcomes.items()}
        self.message_ = _sentence(self.choice_, self.steps_, self.standard_errors)
        return weights[self.choice_]

    def _candidate_weights(self, stack: KernelStack, labels: NDArray[Any]) -> tuple[dict[str, Array], int]:
        """Return the kernel weights of each candidate, learned from these samples, and the number of iterates."""
        targets = class_targets(class_structure(labels))
        objective = LeaveOneOutRidge(list(stack), targets, self.regularisation)
        found = leave_one_out_weights(objective, shrinkage=self.shrinkage, max_iter=self.max_iter, tol=self.tol)
        halfway = objective.weights((found.shares + objective.equal_shares) / 2.0)
        weights = (fixed_weights("uniform", len(stack)), halfway, found.weights)
        return dict(zip(CANDIDATES, weights, strict=True)), len(found.history)

    def _validated(self, stack: KernelStack, labels: NDArray[Any]) -> dict[str, NDArray[np.bool_]]:
        """Return whether each candidate classifies each sample correctly, shape (repeats, n), by cross-validation."""
        codes = _codes_by_appearance(labels)
        smallest = int(np.bincount(codes).min())
        if smallest < 2:
            single = labels[int(np.flatnonzero(codes == np.bincount(codes).argmin())[0])]
            raise NotApplicable(f"class {single!s} has one training sample, and a choice by validation needs two")
        outcomes = {name: np.zeros((self.repeats, codes.size), dtype=np.bool_) for name in CANDIDATES}
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.repeats)
        for repeat, seed in enumerate(seeds):
            for train, rest in inner_folds(codes, self.folds, int(seed)):
                among, between = (KernelStack(stack.matrices[:, rows][:, :, train]) for rows in (train, rest))
                for name, weights in self._candidate_weights(among, codes[train])[0].items():
                    predicted = self._classified(among.combine(weights), codes[train], between.combine(weights))
                    outcomes[name][repeat, rest] = predicted == codes[rest]
        return outcomes

    def _classified(self, kernel: Array, codes: NDArray[np.intp], rows: Array) -> NDArray[np.intp]:
        """Return the classes of the nearest neighbours in all components of the discriminant analysis."""
        graph = lda_graph(codes)
        projection = ratio_trace_step(kernel, graph, max_components(graph), ridge=self.ridge)
        A = rescale_columns(projection.coefficients, projection.eigenvalues, self.scaling)
        if not A.shape[1]:
            raise NotApplicable("a fold's training part has no discriminating direction")
        return nearest_neighbour_predictions(kernel @ A, codes, rows @ A, self.neighbour)


def _codes_by_appearance(labels: NDArray[Any]) -> NDArray[np.intp]:
    """Number the classes by their first sample: the folds depend on the order of samples, not on the classes' names."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[codes], dtype=np.intp)


def _sentence(choice: str, steps: Sequence[Step], standard_errors: float) -> str:
    tried = "; ".join(
        f"{step.candidate} against {step.against} {step.difference:+.4f}, standard error {step.standard_error:.4f}"
        for step in steps
    )
    return f"{choice.capitalize()}: {tried}; taken if above {standard_errors:g} standard errors."
