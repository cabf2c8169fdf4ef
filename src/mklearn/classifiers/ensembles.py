"""Ensembles of nearest-neighbour classifiers, one per kernel: voting and SAMME, the rivals of learned kernel weights.

Each kernel has its own embedding (kernel Fisher discriminant analysis by default) and the first-nearest-neighbour rule
in it. Both are the baselines of Lin, Liu, Fuh, "Dimensionality reduction for data in multiple feature representations",
NIPS 2008, section 5: KFD-Voting and KFD-SAMME.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from mklearn.classifiers.kernel_classifier import KernelClassifier
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.kernels.stack import KernelStack
from mklearn.nearest_neighbour import RULES, Rule, nearest_neighbour_indices
from mklearn.subspace.kfd import KernelFDA

Array = NDArray[np.floating[Any]]
Codes = NDArray[np.intp]
BoostingStatus = Literal["exhausted", "chance", "max_iter", "fallback"]

_BLOCK_ENTRIES = 1 << 20  # distances that are ranked at a time
_ROUNDING = 1e-10  # error rates this close are the same


# -------------------------------------------------------------------------------------------------------------- rules


def neighbour_order(Z_train: Array, Z_test: Array, rule: Rule, first: Codes | None = None) -> Codes:
    """Training samples from the nearest to the farthest of each test sample; ties by position.

    Parameters
    ----------
    Z_train : array of shape (n, p)
    Z_test : array of shape (m, p)
    rule : {"euclidean", "cosine"}
        As in `mklearn.nearest_neighbour`.
    first : int array of shape (m,), optional
        Nearest neighbours that are known already: they come first.

    Returns
    -------
    int array of shape (m, n)
    """
    train, test = np.asarray(Z_train, dtype=np.float64), np.asarray(Z_test, dtype=np.float64)
    if rule == "euclidean":
        from scipy.spatial.distance import cdist

        distances = cdist(test, train, "sqeuclidean")
    else:
        from sklearn.preprocessing import normalize

        centre = train.mean(axis=0)
        # The length of a test sample scales its whole row: it does not change the order.
        distances = -((test - centre) @ normalize(train - centre).T)
    if first is not None:
        distances[np.arange(len(test)), first] = -np.inf
    order: Codes = np.argsort(distances, axis=1, kind="stable")
    return order


def resolve_votes(votes: NDArray[np.integer], n_classes: int) -> tuple[Codes, NDArray[np.integer]]:
    """Winners of an election that goes on to further neighbours while it is tied.

    Parameters
    ----------
    votes : int array of shape (m, r, M)
        Class of the first, second, ..., r-th nearest neighbour in each of M embeddings.
    n_classes : int

    Returns
    -------
    winners : int array of shape (m,)
        After q neighbours there are q M votes; the first q with a single leader decides. Where none does, the first in
        number of the leaders after one neighbour.
    depth : int array of shape (m,)
        q, or 0 where no depth decided.
    """
    m, deepest, _ = votes.shape
    counts = np.zeros((m, n_classes), dtype=np.intp)
    winners = np.zeros(m, dtype=np.intp)
    depth = np.zeros(m, dtype=np.intp)
    open_rows = np.arange(m)
    for q in range(deepest):
        np.add.at(counts, (open_rows[:, None], votes[open_rows, q]), 1)
        leading = counts[open_rows]
        best = leading.argmax(axis=1)
        if q == 0:
            winners[:] = best
        single = (leading == leading.max(axis=1, keepdims=True)).sum(axis=1) == 1
        decided = open_rows[single]
        winners[decided], depth[decided] = best[single], q + 1
        open_rows = open_rows[~single]
        if not len(open_rows):
            break
    return winners, depth


@dataclass(frozen=True, eq=False)
class Boosting:
    """What `samme` picked.

    Attributes
    ----------
    picks : int array of shape (t,)
        Learner of each round.
    alphas : array of shape (t,)
        Its weight in the vote.
    errors : array of shape (t,)
        Its weighted error rate in that round.
    status : {"exhausted", "chance", "max_iter", "fallback"}
        Why it ended: no learner left; none better than chance on the reweighted samples; so many rounds. "fallback": no
        learner was ever better than chance, and the one of least error stands alone.
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
    reuse: bool = False,
    max_iter: int = 50,
) -> Boosting:
    """Stagewise additive modelling with a multi-class exponential loss, over a fixed set of weak learners.

    Each round picks the learner of least weighted error err (ties: the first), gives it
    alpha = log((1 - err)/err) + log(n_classes - 1), and multiplies the weight of every sample it misses by exp(alpha).
    It ends when err >= (n_classes - 1)/n_classes.

    Parameters
    ----------
    misses : bool array of shape (M, n)
        Which samples each learner gets wrong.
    n_classes : int
    eligible : bool array of shape (M,), optional
        Learners that may be picked at all.
    reuse : bool
        Whether a learner may be picked again. One without any miss is picked once: it does not change the weights.
    max_iter : int
        Rounds at most.

    Notes
    -----
    For alpha, err is taken as at least 1/(2n), half a sample under equal weights: a learner without errors gets the
    finite weight log(2n - 1) + log(n_classes - 1) and boosting goes on.

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
        pick = int(np.argmax(rates <= rates.min() + _ROUNDING))  # the first of those that differ by rounding only
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
        if not reuse or not misses[pick].any():
            allowed[pick] = False
    if not picks:
        rates = misses.mean(axis=1)
        best = int(np.argmin(rates))
        return Boosting(np.array([best]), np.array([1.0]), rates[[best]], "fallback")
    return Boosting(np.array(picks), np.array(alphas), np.array(errors), status)


# --------------------------------------------------------------------------------------------------------- estimators


class _KernelEnsemble(KernelClassifier):
    """One embedding and the nearest-neighbour rule per kernel."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelClassifier._parameter_constraints,
        "estimator": [HasMethods(["fit", "transform"]), None],
        "neighbour": [StrOptions(set(RULES))],
    }

    estimator: Any
    neighbour: Rule

    def _fit_one(self, name: str, kernel: Array, codes: Codes) -> BaseEstimator:
        model = KernelFDA() if self.estimator is None else clone(self.estimator)
        kernels = getattr(model, "kernels", "precomputed")
        if not (isinstance(kernels, str) and kernels == "precomputed"):
            raise ConfigError(
                f"estimator has kernels={kernels!r}: it is given one computed kernel after the other, so it needs "
                f"kernels='precomputed'; name the kernels in {type(self).__name__}(kernels=...)"
            )
        try:
            return model.fit(kernel, codes)
        except (NotApplicable, DataError) as error:
            raise type(error)(f"kernel {name!r}: {error}") from error

    @staticmethod
    def _embedding(model: Any, kernel: Array) -> Array:
        """Of the samples that the model was fitted on."""
        own = getattr(model, "embedding_", None)
        return np.asarray(model.transform(kernel) if own is None else own)

    def _nearest(self, embedding: Array, model: Any, rows: Array) -> tuple[Array, Codes]:
        """New samples embedded, and the training sample nearest to each."""
        Z = np.asarray(model.transform(rows))
        return Z, nearest_neighbour_indices(embedding, Z, self.neighbour)


class KernelVoting(_KernelEnsemble):
    """Majority vote of the first-nearest-neighbour classifiers in the embeddings of M kernels.

    Where classes tie, the second nearest neighbour in every embedding votes too, then the third, and so on (r M votes
    after r neighbours), until one class leads alone.

    Parameters
    ----------
    estimator : estimator with fit and transform, optional
        Cloned for, and fitted on, each (n, n) kernel. Default: `mklearn.subspace.KernelFDA` with its defaults.
    kernels : "precomputed" or list of kernel specs
        "precomputed": X is (n_samples, n_train, n_kernels). Specs: X is (n_samples, n_features); see
        `mklearn.kernels.specs.StackTransform`.
    neighbour : {"cosine", "euclidean"}
        The nearest-neighbour rule; "cosine" is about the mean of the training embedding.

    Attributes
    ----------
    estimators_ : list of M fitted estimators
    embeddings_ : list of M arrays of shape (n_train, n_components)
    kernel_weights_ : array of shape (n_kernels,)
        Share of each kernel in the votes: 1/M.
    kernel_ids_ : tuple of str
    classes_ : array of shape (n_classes,)
    n_features_in_ : int

    Raises
    ------
    DataError, NotApplicable, ConfigError
        As `mklearn.subspace.KernelFDA`; the message names the kernel.

    References
    ----------
    Lin, Liu, Fuh, NIPS 2008, section 5 ("KFD-Voting").

    Notes
    -----
    Where no number of neighbours decides (at last all training samples have voted), the first in ``classes_`` of those
    that led after one neighbour wins; the paper says nothing of it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelVoting(kernels=["gaussian", {"kind": "gaussian", "bandwidth": 4.0}]).fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        kernels: Any = "precomputed",
        neighbour: Rule = "cosine",
    ) -> None:
        self.estimator = estimator
        self.kernels = kernels
        self.neighbour = neighbour

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> KernelVoting:
        """Fit one embedding per kernel.

        Parameters
        ----------
        X : array of shape (n, d), or (n, n, n_kernels) with ``kernels="precomputed"``
        y : array of shape (n,)
            Class labels.
        """
        stack = self._training_stack(X)
        self._codes = self._encoded(y, stack.n_columns)
        self.estimators_ = [self._fit_one(name, K, self._codes) for name, K in zip(stack.ids, stack, strict=True)]
        self.embeddings_ = [self._embedding(model, K) for model, K in zip(self.estimators_, stack, strict=True)]
        self.kernel_weights_ = np.full(len(stack), 1.0 / len(stack))
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class labels, shape (m,).

        Parameters
        ----------
        X : array of shape (m, d), or (m, n_train, n_kernels) with ``kernels="precomputed"``
        """
        codes = self._vote(self._new_stack(X))[0]
        return self.classes_[codes]

    def voting_depth(self, X: ArrayLike) -> NDArray[np.integer]:
        """How many neighbours in each embedding it took to decide, shape (m,); 0 where no number did."""
        return self._vote(self._new_stack(X))[1]

    def _vote(self, stack: KernelStack) -> tuple[Codes, NDArray[np.integer]]:
        found = [
            self._nearest(embedding, model, rows)
            for embedding, model, rows in zip(self.embeddings_, self.estimators_, stack, strict=True)
        ]
        nearest = np.stack([indices for _, indices in found], axis=1)
        winners, depth = resolve_votes(self._codes[nearest][:, None, :], len(self.classes_))
        # Only those that tie need more than the nearest neighbour.
        for rows in self._blocks(np.flatnonzero(depth == 0)):
            orders = [
                neighbour_order(embedding, Z[rows], self.neighbour, first=indices[rows])
                for embedding, (Z, indices) in zip(self.embeddings_, found, strict=True)
            ]
            winners[rows], depth[rows] = resolve_votes(self._codes[np.stack(orders, axis=-1)], len(self.classes_))
        return winners, depth

    def _blocks(self, rows: Codes) -> Iterator[Codes]:
        size = max(1, _BLOCK_ENTRIES // len(self._codes))
        for start in range(0, len(rows), size):
            yield rows[start : start + size]


class KernelSAMME(_KernelEnsemble):
    """Multi-class boosting (SAMME) of the first-nearest-neighbour classifiers in the embeddings of M kernels.

    Parameters
    ----------
    estimator : estimator with fit and transform, optional
        Cloned for, and fitted on, each (n, n) kernel. Default: `mklearn.subspace.KernelFDA` with its defaults.
    kernels : "precomputed" or list of kernel specs
        "precomputed": X is (n_samples, n_train, n_kernels). Specs: X is (n_samples, n_features); see
        `mklearn.kernels.specs.StackTransform`.
    neighbour : {"cosine", "euclidean"}
        The nearest-neighbour rule; "cosine" is about the mean of the training embedding.
    cv : int
        Folds (stratified, shuffled) in which each training sample is classified by a model that has not seen it; at
        most the size of the smallest class. Kernel specs are fitted to all training samples, labels aside. A sample
        that is alone in its class is never held out, and boosting does without it.
    reuse : bool
        Whether a kernel may be picked again in a later round. Default: each at most once.
    max_iter : int
        Rounds at most.
    random_state : int, RandomState or None
        Shuffles the folds.

    Attributes
    ----------
    picks_ : int array of shape (n_rounds,)
        Kernel of each round.
    alphas_ : array of shape (n_rounds,)
        Its weight in the vote.
    errors_ : array of shape (n_rounds,)
        Its weighted error rate in that round, by cross-validation.
    estimators_ : list of n_rounds fitted estimators
        Of each round, fitted on all training samples; the same object where a kernel is picked again.
    embeddings_ : list of n_rounds arrays of shape (n_train, n_components)
    cv_errors_ : array of shape (n_kernels,)
        Unweighted error rate of each kernel, by cross-validation.
    n_splits_ : int
        Folds used.
    kernel_weights_ : array of shape (n_kernels,), sum 1
        Normalised sum of alphas; 0 for kernels that were not picked.
    kernel_ids_ : tuple of str
    classes_ : array of shape (n_classes,)
    n_iter_ : int
        Rounds.
    status_ : {"exhausted", "chance", "max_iter", "fallback"}
        See `Boosting`.
    n_features_in_ : int

    Raises
    ------
    DataError, NotApplicable, ConfigError
        As `mklearn.subspace.KernelFDA`; the message names the kernel. NotApplicable also where every sample is alone in
        its class.

    Warns
    -----
    UserWarning
        No kernel is better than chance; the one of least error then stands alone ("fallback").

    References
    ----------
    Zhu, Zou, Rosset, Hastie, "Multi-class AdaBoost", Statistics and Its Interface 2009. Lin, Liu, Fuh, NIPS 2008,
    section 5 ("KFD-SAMME").

    Notes
    -----
    A first-nearest-neighbour classifier makes no error on its own training samples, so that boosting on training
    errors is undefined; the papers do not say what was done. Here the misses come from cross-validation and stay fixed;
    weights change which kernel is picked and what its vote counts, not the embeddings. A kernel whose accuracy,
    averaged over classes and folds, is no better than 1/n_classes is never picked, whatever the class sizes: one close
    to the identity names one class for all samples of a fold. A kernel without errors gets a finite weight (see
    `samme`).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelSAMME(kernels=["gaussian", {"kind": "gaussian", "bandwidth": 4.0}]).fit(X, y)
    >>> len(model.alphas_)
    2
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_KernelEnsemble._parameter_constraints,
        "cv": [Interval(Integral, 2, None, closed="left")],
        "reuse": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        kernels: Any = "precomputed",
        neighbour: Rule = "cosine",
        cv: int = 3,
        reuse: bool = False,
        max_iter: int = 50,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.kernels = kernels
        self.neighbour = neighbour
        self.cv = cv
        self.reuse = reuse
        self.max_iter = max_iter
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> KernelSAMME:
        """Find each kernel's misses by cross-validation, boost, and fit the kernels that were picked.

        Parameters
        ----------
        X : array of shape (n, d), or (n, n, n_kernels) with ``kernels="precomputed"``
        y : array of shape (n,)
            Class labels.
        """
        stack = self._training_stack(X)
        self._codes = codes = self._encoded(y, stack.n_columns)
        folds = self._folds(codes)
        misses, eligible = self._cross_validated(stack, codes, folds)
        found = samme(misses, len(self.classes_), eligible=eligible, reuse=self.reuse, max_iter=self.max_iter)
        if found.status == "fallback":
            warnings.warn(
                f"no kernel is better than chance in {len(folds)}-fold cross-validation; kernel "
                f"{stack.ids[found.picks[0]]!r}, of least error, stands alone",
                UserWarning,
                stacklevel=3,  # the caller of fit, beyond scikit-learn's wrapper of it
            )
        fitted = {int(m): self._fit_one(stack.ids[m], stack[int(m)], codes) for m in np.unique(found.picks)}
        embeddings = {m: self._embedding(model, stack[m]) for m, model in fitted.items()}
        self.picks_ = found.picks
        self.alphas_ = found.alphas
        self.errors_ = found.errors
        self.status_ = found.status
        self.n_iter_ = len(found.picks)
        self.n_splits_ = len(folds)
        self.cv_errors_ = misses.mean(axis=1)
        self.estimators_ = [fitted[int(m)] for m in found.picks]
        self.embeddings_ = [embeddings[int(m)] for m in found.picks]
        totals = np.bincount(found.picks, weights=found.alphas, minlength=len(stack))
        self.kernel_weights_ = totals / totals.sum()
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.floating]:
        """Share of the alphas that voted for each class, shape (m, n_classes); of two classes the difference, (m,).

        Parameters
        ----------
        X : array of shape (m, d), or (m, n_train, n_kernels) with ``kernels="precomputed"``
        """
        return self._decision(self._scores(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class with the largest sum of alphas, shape (m,); of several the first in ``classes_``."""
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        stack = self._new_stack(X)
        scores = np.zeros((stack.n_rows, len(self.classes_)))
        rows = np.arange(stack.n_rows)
        for m in np.flatnonzero(self.kernel_weights_):
            t = int(np.flatnonzero(self.picks_ == m)[0])
            nearest = self._nearest(self.embeddings_[t], self.estimators_[t], stack[int(m)])[1]
            scores[rows, self._codes[nearest]] += self.kernel_weights_[m]
        return scores

    def _folds(self, codes: Codes) -> list[tuple[Codes, Codes]]:
        from sklearn.model_selection import StratifiedKFold
        from sklearn.utils import check_random_state

        counts = np.bincount(codes)
        held = np.flatnonzero(counts[codes] > 1)
        if not len(held):
            raise NotApplicable(
                "every sample is alone in its class: the errors that SAMME boosts on come from cross-validation, which "
                "needs two samples of a class"
            )
        n_splits = min(self.cv, int(counts[counts > 1].min()))
        folds = StratifiedKFold(n_splits, shuffle=True, random_state=check_random_state(self.random_state))
        tests = [held[test] for _, test in folds.split(held, codes[held])]
        return [(np.setdiff1d(np.arange(len(codes)), test), test) for test in tests]

    def _cross_validated(
        self, stack: KernelStack, codes: Codes, folds: list[tuple[Codes, Codes]]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Misses of each kernel among the samples held out, and which are better than chance over classes and folds."""
        n_classes = len(self.classes_)
        misses = np.zeros((len(stack), stack.n_columns), dtype=bool)
        recalls = np.zeros(len(stack))
        for m, (name, kernel) in enumerate(zip(stack.ids, stack, strict=True)):
            for train, test in folds:
                inner = kernel[np.ix_(train, train)]
                model = self._fit_one(name, inner, codes[train])
                nearest = self._nearest(self._embedding(model, inner), model, kernel[np.ix_(test, train)])[1]
                misses[m, test] = codes[train][nearest] != codes[test]
                sizes = np.bincount(codes[test], minlength=n_classes)
                hits = np.bincount(codes[test], weights=~misses[m, test], minlength=n_classes)
                recalls[m] += np.mean(hits[sizes > 0] / sizes[sizes > 0]) / len(folds)
        held = np.sort(np.concatenate([test for _, test in folds]))
        return misses[:, held], recalls > 1.0 / np.count_nonzero(np.bincount(codes[held])) + _ROUNDING
