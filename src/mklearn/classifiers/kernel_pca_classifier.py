"""Kernel versions of linear classifiers, fitted to leading kernel principal components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mklearn.base.kernels_mixin import fixed_weights
from mklearn.base.parameters import PositiveInt, parameters
from mklearn.classifiers.class_scores import ClassScores
from mklearn.classifiers.kernel_classifier import KernelClassifier
from mklearn.classifiers.one_vs_one import OneVsOneLinear
from mklearn.errors import ConfigError
from mklearn.kernels.stack import KernelStack
from mklearn.rows import load
from mklearn.subspace.kernel_pca import KernelPCA

Floats = NDArray[np.floating[Any]]
_DEFAULT_MACHINE = "mklearn.classifiers.fsvc:FSVC"  # by name, so that it is imported only if it is used


@parameters
class KernelPCAClassifier(ClassScores, KernelClassifier):
    """Linear classifier on the leading principal components of a fixed combination of kernels.

    Parameters
    ----------
    n_components : int or "all"
        Number of components, limited to the rank of the centred kernel. With all components of a Gaussian kernel the
        whitened samples form a regular simplex, and the direction of F-SVM does not depend on C. In a study a list of
        numbers is swept: the report shows the accuracy at each, and inner cross-validation chooses the best.
    machine : OneVsOneLinear or mapping, optional
        The linear classifier, such as `FSVC`; its ``feature_scaling`` is set to "none". A mapping has its class as
        "implementation" ("module:name"; in a study its ``kind``) and its parameters. The default is `FSVC()`; with
        ``power=0`` and all components it is a support vector machine.
    kernels, kernel_weights
        As for `mklearn.subspace.KernelFDA`.

    Attributes
    ----------
    n_components_ : int
        Components taken: ``n_components``, or the rank of the centred kernel, if less.
    kernel_pca_ : KernelPCA
        Kernel PCA with these components only.
    machine_ : OneVsOneLinear
        The linear classifier, fitted to the components. An `FSVC` also has C0, the optimum and the path of the
        alternation.
    gap_, objective_, certificate_, history_, diagnostics_, status_, message_
        Copied from the linear classifier. ``history_`` is empty unless it is an alternating F-SVM, ``diagnostics_``
        unless it is an F-SVM.
    kernel_weights_, kernel_ids_, classes_, n_features_in_
        As for `mklearn.subspace.KernelFDA`, as are the errors, with those of the linear classifier, and `ConfigError`
        also for a ``machine`` that is no `OneVsOneLinear`.

    References
    ----------
    Wu, Zuo, Zhu, Lin, "F-SVM", arXiv 1504.05035 (2015), section IV and equation (27).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelPCAClassifier(5, kernels=["gaussian"]).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    n_components: PositiveInt | Literal["all"] = field(default=20, kw_only=False)
    machine: Any = None
    kernel_weights: Any = None

    def _machine(self) -> OneVsOneLinear:
        """Return the unfitted linear classifier."""
        machine: Any = {"implementation": _DEFAULT_MACHINE} if self.machine is None else self.machine
        if isinstance(machine, Mapping):
            parameters = dict(machine)
            implementation = str(parameters.pop("implementation", ""))
            try:
                machine = load(implementation)(**parameters)
            except TypeError as error:
                raise ConfigError(f"machine: {implementation} can't be made from {parameters}: {error}") from error
        if not isinstance(machine, OneVsOneLinear):
            raise ConfigError(
                f"machine={machine!r}: expected a linear one-vs-one classifier (FSVC, ...), "
                "or a mapping with its `implementation`"
            )
        return clone(machine).set_params(feature_scaling="none")

    def _fit_kernels(self, stack: KernelStack, codes: NDArray[np.intp]) -> None:
        self.kernel_weights_ = fixed_weights(self.kernel_weights, len(stack))
        kernel = np.asarray(stack.combine(self.kernel_weights_), dtype=np.float64)
        components = KernelPCA().fit(kernel)
        rank = components.eigenvalues_.size
        self.n_components_ = rank if self.n_components == "all" else min(rank, int(self.n_components))
        self.kernel_pca_ = components.leading(self.n_components_)
        # Labels instead of codes, so that messages name them.
        machine = self._machine().fit(self.kernel_pca_.embedding_, self.classes_[codes])
        self.machine_ = machine
        self.gap_, self.objective_, self.certificate_ = machine.gap_, machine.objective_, machine.certificate_
        self.status_, self.message_, self.history_ = machine.status_, machine.message_, getattr(machine, "history_", [])

    @property
    def diagnostics_(self) -> list[dict[str, Any]]:
        """Diagnostics of each pair of classes, see `mklearn.classifiers.fsvc.FSVC`; empty for other classifiers."""
        return list(getattr(self.machine_, "diagnostics_", []))

    def class_scores(self, X: Any) -> Floats:
        """Compute the linear classifier's score of each class, shape (m, n_classes).

        X is as for ``fit``; precomputed kernels have shape (m, n_train, n_kernels).
        """
        stack, _ = self._new_stack(X)
        components = self.kernel_pca_.transform(np.asarray(stack.combine(self.kernel_weights_), dtype=np.float64))
        return self.machine_.class_scores(components)
