"""Kernel version of R-SVM+."""

from __future__ import annotations

from typing import Any, ClassVar

from mklearn.cards import MethodCard, Refit
from mklearn.classifiers.kernel_pca_classifier import ComponentCount, KernelPCAClassifier
from mklearn.classifiers.one_vs_one import OneVsOneLinear
from mklearn.classifiers.r_svm_plus import RSVMPlus


@MethodCard(
    kind="kernel_r_svm_plus",
    title="Kernel R-SVM+ (reconstruction)",
    reference="Do, Kalousis 2013",
    advice="To compare with kernel_fsvc.",
    tuned=("n_components", "C", "lam"),
    refit=Refit("mklearn.classifiers.kernel_pca_classifier:fit_path"),
)
class KernelRSVMPlus(KernelPCAClassifier):
    """R-SVM+, our reconstruction, on leading kernel principal components: their axes are the features it weights.

    Parameters
    ----------
    n_components : int or "all"
        Components, at most as many as there are.
    C, lam
        As for `mklearn.classifiers.r_svm_plus.RSVMPlus`.
    kernels, kernel_weights
        As for `mklearn.classifiers.kernel_svc.KernelSVC`.

    Attributes
    ----------
    kernel_weights_, kernel_ids_, classes_, n_components_, kernel_pca_, machine_, gap_, status_, n_features_in_
        As for `mklearn.classifiers.kernel_pca_classifier.KernelPCAClassifier`.

    Raises
    ------
    DataError, NotApplicable, ConfigError, SolverFailed
        As for `mklearn.classifiers.kernel_pca_classifier.KernelPCAClassifier`.

    References
    ----------
    Do, Kalousis, "Convex formulations of radius-margin based support vector machines", ICML 2013. Its equations were
    not available: this is a reconstruction from descriptions, see `mklearn.optimize.radius_margin`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelPCAClassifier._parameter_constraints,
        **{name: RSVMPlus._parameter_constraints[name] for name in ("C", "lam")},
    }

    def __init__(
        self,
        n_components: ComponentCount = 20,
        *,
        kernels: Any = "precomputed",
        kernel_weights: Any = None,
        C: float = 1.0,
        lam: float = 1.0,
    ) -> None:
        self.n_components = n_components
        self.kernels = kernels
        self.kernel_weights = kernel_weights
        self.C = C
        self.lam = lam

    def _machine(self) -> OneVsOneLinear:
        return RSVMPlus(self.C, lam=self.lam, feature_scaling="none")
