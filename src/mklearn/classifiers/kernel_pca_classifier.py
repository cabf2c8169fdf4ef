"""Base of the kernel versions of linear classifiers: leading kernel principal components, then the linear one."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from mklearn.base.kernel_input import KernelInput, fixed_weights
from mklearn.base.parameters import StrOptions, at_least
from mklearn.classifiers.class_scores import ClassScores
from mklearn.classifiers.kernel_classifier import KernelClassifier
from mklearn.classifiers.one_vs_one import OneVsOneLinear
from mklearn.errors import ConfigError
from mklearn.kernels.stack import KernelStack
from mklearn.subspace.kernel_pca import KernelPCA

Floats = NDArray[np.floating[Any]]
ComponentCount = int | Literal["all"]


class KernelPCAClassifier(ClassScores, KernelClassifier):
    """Base of linear classifiers on the leading components of a fixed combination of kernels.

    A subclass implements `_machine` and has at least the parameters ``n_components``, ``kernels`` and
    ``kernel_weights``.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,), sum 1
    kernel_ids_ : tuple of str
    classes_ : array of shape (n_classes,)
    n_components_ : int
        Components taken: as asked for, or the rank of the centred kernel, if less.
    kernel_pca_ : KernelPCA
        With these components only.
    machine_ : OneVsOneLinear
        The linear classifier on the components.
    gap_, objective_, certificate_, history_, diagnostics_, status_, message_
        Those of the linear classifier; the history is empty of all but the alternating F-SVM, the diagnostics of all
        but F-SVM.
    n_features_in_ : int

    Raises
    ------
    DataError
        X or y malformed.
    NotApplicable
        One class only, or a constant kernel.
    ConfigError
        Invalid kernel weights or specs.
    SolverFailed
        As for the linear classifier.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelInput._parameter_constraints,
        "kernel_weights": "no_validation",
        "n_components": [at_least(1), StrOptions({"all"})],
    }

    kernel_weights: Any
    n_components: ComponentCount

    def _machine(self) -> OneVsOneLinear:
        """Return the unfitted linear classifier."""
        raise NotImplementedError

    def _fit_kernels(self, stack: KernelStack, codes: NDArray[np.intp]) -> None:
        self.kernel_weights_ = fixed_weights(self.kernel_weights, len(stack))
        kernel = np.asarray(stack.combine(self.kernel_weights_), dtype=np.float64)
        self.kernel_pca_ = KernelPCA().fit(kernel)
        self._rank = self.kernel_pca_.eigenvalues_.size
        # Labels themselves, in the order of ``classes_``, so that messages name them.
        self._fit_machine(self.classes_[codes])

    def _fit_machine(self, y: NDArray[Any]) -> None:
        """Fit the linear classifier to the leading components."""
        self.n_components_ = _taken(self.n_components, self._rank)
        self.kernel_pca_ = self.kernel_pca_.leading(self.n_components_)
        machine = self._machine().fit(self.kernel_pca_.embedding_, y)
        self.machine_ = machine
        self.gap_, self.objective_, self.certificate_ = machine.gap_, machine.objective_, machine.certificate_
        self.status_, self.message_, self.history_ = machine.status_, machine.message_, getattr(machine, "history_", [])

    @property
    def diagnostics_(self) -> list[dict[str, Any]]:
        """Diagnostics of each pair of classes, see `mklearn.classifiers.fsvc.FSVC`; none of other classifiers."""
        return list(getattr(self.machine_, "diagnostics_", []))

    def with_components(self, n_components: ComponentCount, y: ArrayLike) -> Self:
        """Fit a smaller number of components of the same kernel principal components.

        Parameters
        ----------
        n_components : int or "all"
            At most as many as this classifier has.
        y : array of shape (n,)
            The labels that this classifier was fitted to.

        Returns
        -------
        KernelPCAClassifier
            A copy, fitted.

        Raises
        ------
        ConfigError
            More components than this classifier has.
        """
        if _taken(n_components, self._rank) > self.n_components_:
            raise ConfigError(
                f"n_components={n_components!r}: this classifier was fitted with {self.n_components_} components and "
                "keeps no others; fit it anew"
            )
        other = copy(self)
        other.n_components = n_components
        other._fit_machine(np.asarray(y))
        return other

    def class_scores(self, X: Any) -> Floats:
        """Compute the linear classifier's score of each class, shape (m, n_classes).

        Parameters
        ----------
        X : array of shape (m, d), views, or array of shape (m, n_train, n_kernels) with ``kernels="precomputed"``
        """
        stack, _ = self._new_stack(X)
        components = self.kernel_pca_.transform(np.asarray(stack.combine(self.kernel_weights_), dtype=np.float64))
        return self.machine_.class_scores(components)


def fit_path(
    estimator: KernelPCAClassifier, X: Any, y: ArrayLike, *, sizes: Sequence[ComponentCount]
) -> list[KernelPCAClassifier]:
    """Fit a classifier with each of several numbers of components; kernel principal components are computed once.

    Parameters
    ----------
    estimator : KernelPCAClassifier
        Not modified.
    X, y : training samples, as for its ``fit``
    sizes : sequence of int
        Values of ``n_components``, at least one.

    Returns
    -------
    list of KernelPCAClassifier
        Fitted, one for each size.
    """
    most: ComponentCount = "all" if "all" in sizes else max(sizes, key=int)
    largest = clone(estimator).set_params(n_components=most).fit(X, y)
    return [largest if size == most else largest.with_components(size, y) for size in sizes]


def _taken(n_components: ComponentCount, rank: int) -> int:
    """Return the number of components that are taken of those that there are."""
    return rank if n_components == "all" else min(rank, int(n_components))
