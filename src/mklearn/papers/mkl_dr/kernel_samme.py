"""Multi-class boosting (SAMME) of nearest-neighbour classifiers, one per kernel."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import at_least
from mklearn.classifiers.class_scores import ClassScores
from mklearn.errors import NotApplicable
from mklearn.kernels.stack import KernelStack
from mklearn.nearest_neighbour import Rule
from mklearn.papers.mkl_dr.kernel_ensemble import Array, Codes, KernelEnsemble

BoostingStatus = Literal["exhausted", "chance", "max_iter", "fallback"]

_ROUNDING = 1e-10  # error rates with a smaller difference count as equal


class KernelSAMME(ClassScores, KernelEnsemble):
    """Multi-class boosting (SAMME) of the first-nearest-neighbour classifiers in the embeddings of M kernels.

    Parameters
    ----------
    estimator : {"fisher", "local"} or estimator with fit and transform
        What embeds by each kernel; see `mklearn.papers.mkl_dr.kernel_voting.KernelVoting`.
    kernels
        As for `mklearn.papers.mkl_dr.kernel_voting.KernelVoting`.
    ridge : float
        Of "fisher" and "local"; an estimator that is given has its own.
    neighbour : {"cosine", "euclidean"}
        The nearest-neighbour rule; "cosine" is about the mean of the training embedding.
    cv : int
        Number of stratified, shuffled folds; each training sample is classified by a model fitted without its fold. At
        most the size of the smallest class. Kernel specs are fitted to all training samples, without labels. The only
        sample of a class is never held out, and boosting leaves it out.
    max_iter : int
        Largest number of rounds; each kernel is picked at most once.
    random_state : int, RandomState or None
        Shuffles the folds. They are drawn by position: samples in another order are in other folds.

    Attributes
    ----------
    picks_ : int array of shape (n_rounds,)
        Kernel of each round.
    alphas_ : array of shape (n_rounds,)
        Its weight in the vote.
    errors_ : array of shape (n_rounds,)
        Its weighted error rate in that round, by cross-validation.
    estimators_ : list of n_rounds fitted estimators
        One per round, fitted to all training samples.
    embeddings_ : list of n_rounds arrays of shape (n_train, n_components)
    cv_errors_ : array of shape (n_kernels,)
        Unweighted error rate of each kernel, by cross-validation.
    n_splits_ : int
        Number of folds used.
    kernel_weights_ : array of shape (n_kernels,), sum 1
        Normalised alphas; 0 for kernels never picked.
    n_iter_ : int
        Number of rounds.
    status_ : {"exhausted", "chance", "max_iter", "fallback"}
        See `Boosting`.
    kernel_ids_, classes_, n_features_in_
        As for `mklearn.papers.mkl_dr.kernel_voting.KernelVoting`.

    Raises
    ------
    DataError, NotApplicable, ConfigError
        As `mklearn.subspace.KernelFDA`; the message names the kernel. NotApplicable also if every
        class has one sample only.

    Warns
    -----
    UserWarning
        No kernel is better than chance; only the one of smallest error is used ("fallback").

    References
    ----------
    Zhu, Zou, Rosset, Hastie, "Multi-class AdaBoost", Statistics and Its Interface 2009. Lin, Liu, Fuh, NIPS 2008,
    section 4.4 ("KFD-SAMME", "KLDE-SAMME").

    Notes
    -----
    A first-nearest-neighbour classifier makes no error on its own training samples, so boosting on training errors is
    undefined; the papers do not state their solution. Here the errors come from cross-validation and stay fixed:
    sample weights change which kernel is picked and the weight of its vote, not the embeddings. A kernel whose
    accuracy, averaged over classes and folds, is at most that of chance, 1 / (classes of two samples or more), is
    never picked: a kernel close to the identity predicts one class for all samples of a fold. A kernel without errors
    gets a finite weight (see `samme`).
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelEnsemble._parameter_constraints,
        "cv": [at_least(2)],
        "max_iter": [at_least(1)],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = "fisher",
        *,
        kernels: Any = "precomputed",
        ridge: float = 1e-3,
        neighbour: Rule = "cosine",
        cv: int = 3,
        max_iter: int = 50,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.kernels = kernels
        self.ridge = ridge
        self.neighbour = neighbour
        self.cv = cv
        self.max_iter = max_iter
        self.random_state = random_state

    def _fit_kernels(self, stack: KernelStack, codes: Codes) -> None:
        self._codes = codes
        folds = self._folds(codes)
        misses, eligible = self._cross_validate(stack, codes, folds)
        found = samme(misses, len(self.classes_), eligible=eligible, max_iter=self.max_iter)
        if found.status == "fallback":
            warnings.warn(
                f"no kernel is better than chance in {len(folds)}-fold cross-validation; only kernel "
                f"{stack.ids[found.picks[0]]!r}, of smallest error, is used",
                UserWarning,
                stacklevel=6,  # the caller of fit, outside the wrappers of fit
            )
        self.picks_ = found.picks
        self.alphas_ = found.alphas
        self.errors_ = found.errors
        self.status_ = found.status
        self.n_iter_ = len(found.picks)
        self.n_splits_ = len(folds)
        self.cv_errors_ = misses.mean(axis=1)
        self.estimators_, self.embeddings_ = self._fit_embeddings(stack, found.picks, codes)
        totals = np.bincount(found.picks, weights=found.alphas, minlength=len(stack))
        self.kernel_weights_ = totals / totals.sum()

    def class_scores(self, X: Any) -> NDArray[np.float64]:
        """Compute the share of the alphas that vote for each class, shape (m, n_classes).

        Parameters
        ----------
        X : array of shape (m, d), views, or array of shape (m, n_train, n_kernels) with ``kernels="precomputed"``
        """
        stack, _ = self._new_stack(X)
        scores = np.zeros((stack.n_rows, len(self.classes_)))
        rows = np.arange(stack.n_rows)
        for m in np.flatnonzero(self.kernel_weights_):
            t = int(np.flatnonzero(self.picks_ == m)[0])
            nearest = self._embed_and_match(self.embeddings_[t], self._codes, self.estimators_[t], stack[int(m)])[1]
            scores[rows, self._codes[nearest]] += self.kernel_weights_[m]
        return scores

    def _folds(self, codes: Codes) -> list[tuple[Codes, Codes]]:
        from sklearn.model_selection import StratifiedKFold
        from sklearn.utils import check_random_state

        counts = np.bincount(codes)
        held = np.flatnonzero(counts[codes] > 1)
        if not len(held):
            raise NotApplicable(
                "every class has one sample only: SAMME needs cross-validation errors, and so two samples of a class"
            )
        n_splits = min(self.cv, int(counts[counts > 1].min()))
        folds = StratifiedKFold(n_splits, shuffle=True, random_state=check_random_state(self.random_state))
        tests = [held[test] for _, test in folds.split(held, codes[held])]
        return [(np.setdiff1d(np.arange(len(codes)), test), test) for test in tests]

    def _cross_validate(
        self, stack: KernelStack, codes: Codes, folds: list[tuple[Codes, Codes]]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return each kernel's misses on the held-out samples, and which kernels are better than chance."""
        n_classes = len(self.classes_)
        misses = np.zeros((len(stack), stack.n_columns), dtype=bool)
        recalls = np.zeros(len(stack))
        for m, (name, kernel) in enumerate(zip(stack.ids, stack, strict=True)):
            for train, test in folds:
                inner = kernel[np.ix_(train, train)]
                model, embedding = self._fit_embedding(name, inner, codes[train])
                nearest = self._embed_and_match(embedding, codes[train], model, kernel[np.ix_(test, train)])[1]
                misses[m, test] = codes[train][nearest] != codes[test]
                sizes = np.bincount(codes[test], minlength=n_classes)
                hits = np.bincount(codes[test], weights=~misses[m, test], minlength=n_classes)
                recalls[m] += np.mean(hits[sizes > 0] / sizes[sizes > 0]) / len(folds)
        held = np.sort(np.concatenate([test for _, test in folds]))
        return misses[:, held], recalls > 1.0 / np.count_nonzero(np.bincount(codes[held])) + _ROUNDING


@dataclass(frozen=True, eq=False)
class Boosting:
    """Result of `samme`.

    Attributes
    ----------
    picks : int array of shape (t,)
        Learner of each round.
    alphas : array of shape (t,)
        Its weight in the vote.
    errors : array of shape (t,)
        Its weighted error rate in that round.
    status : {"exhausted", "chance", "max_iter", "fallback"}
        Why boosting ended: no learner left; none better than chance on the reweighted samples; ``max_iter`` rounds.
        "fallback": no learner was ever better than chance, and only the one of smallest error is used.
    """

    picks: Codes
    alphas: Array
    errors: Array
    status: BoostingStatus


def samme(
    misses: NDArray[np.bool_],
    n_classes: int,
    *,
    eligible: NDArray[np.bool_] | None = None,
    max_iter: int = 50,
) -> Boosting:
    """Boost a fixed set of weak learners by stagewise additive modelling with a multi-class exponential loss.

    Each round picks the learner of smallest weighted error err among those left (ties: the first), gives it
    alpha = log((1 - err)/err) + log(n_classes - 1), and multiplies the weight of every sample it misses by exp(alpha).
    Boosting ends when err >= (n_classes - 1)/n_classes.

    Parameters
    ----------
    misses : bool array of shape (M, n)
        Which samples each learner misclassifies.
    n_classes : int
    eligible : bool array of shape (M,), optional
        Learners that may be picked.
    max_iter : int
        Largest number of rounds.

    Notes
    -----
    In alpha, err is at least 1/(2n), half a sample under equal weights: a learner without errors gets the finite weight
    log(2n - 1) + log(n_classes - 1) and boosting continues.

    References
    ----------
    Zhu, Zou, Rosset, Hastie, "Multi-class AdaBoost", Statistics and Its Interface 2009, algorithm 2.
    """
    n_learners, n = misses.shape
    chance = (n_classes - 1) / n_classes
    allowed = np.ones(n_learners, dtype=bool) if eligible is None else np.array(eligible, dtype=bool)
    weights = np.full(n, 1.0 / n)
    picks: list[int] = []
    alphas: list[float] = []
    errors: list[float] = []
    status: BoostingStatus = "max_iter"
    while len(picks) < max_iter:
        if not allowed.any():
            status = "exhausted"
            break
        rates = np.where(allowed, misses @ weights, np.inf)
        pick = int(np.argmax(rates <= rates.min() + _ROUNDING))  # the first of those equal up to rounding
        error = float(rates[pick])
        if error >= chance - _ROUNDING:
            status = "chance"
            break
        clipped = max(error, 1.0 / (2 * n))
        alpha = float(np.log((1.0 - clipped) / clipped) + np.log(n_classes - 1.0))
        picks.append(pick)
        alphas.append(alpha)
        errors.append(error)
        weights = weights * np.where(misses[pick], np.exp(alpha), 1.0)
        weights /= weights.sum()
        allowed[pick] = False
    if not picks:
        rates = misses.mean(axis=1)
        best = int(np.argmin(rates))
        return Boosting(np.array([best]), np.array([1.0]), rates[[best]], "fallback")
    return Boosting(np.array(picks), np.array(alphas), np.array(errors), status)
