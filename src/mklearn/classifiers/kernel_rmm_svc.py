"""Kernel version of the relative margin machine."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from mklearn.cards import MethodCard, Refit
from mklearn.classifiers.kernel_pca_classifier import ComponentCount, KernelPCAClassifier
from mklearn.classifiers.one_vs_one import OneVsOneLinear
from mklearn.classifiers.rmm_svc import RMMSVC


@MethodCard(
    kind="kernel_rmm_svc",
    title="Kernel RMM",
    reference="Shivaswamy, Jebara 2010",
    advice="To compare with kernel_fsvc.",
    tuned=("n_components", "C", "B"),
    refit=Refit("mklearn.classifiers.kernel_pca_classifier:fit_path"),
)
class KernelRMMSVC(KernelPCAClassifier):
    """Relative margin machine on leading kernel principal components; with all of them its kernel version.

    Parameters
    ----------
    n_components : int or "all"
        Components, at most as many as there are.
    C, B
        As for `mklearn.classifiers.rmm_svc.RMMSVC`.
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
    Shivaswamy, Jebara, "Maximum relative margin and data-dependent regularization", JMLR 11, 2010.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelPCAClassifier._parameter_constraints,
        **{name: RMMSVC._parameter_constraints[name] for name in ("C", "B")},
    }

    def __init__(
        self,
        n_components: ComponentCount = 20,
        *,
        kernels: Any = "precomputed",
        kernel_weights: Any = None,
        C: float = 1.0,
        B: float | Literal["inf"] = 2.0,
    ) -> None:
        self.n_components = n_components
        self.kernels = kernels
        self.kernel_weights = kernel_weights
        self.C = C
        self.B = B

    def _machine(self) -> OneVsOneLinear:
        return RMMSVC(self.C, B=self.B, feature_scaling="none")
