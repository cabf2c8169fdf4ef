"""Kernel version of R-SVM+_mu."""

from __future__ import annotations

from mklearn.cards import MethodCard, Refit
from mklearn.classifiers.kernel_r_svm_plus import KernelRSVMPlus
from mklearn.classifiers.one_vs_one import OneVsOneLinear
from mklearn.classifiers.r_svm_plus_mu import RSVMPlusMu


@MethodCard(
    kind="kernel_r_svm_plus_mu",
    title="Kernel R-SVM+_mu (reconstruction)",
    reference="Do, Kalousis 2013",
    advice="To compare with kernel_fsvc.",
    tuned=("n_components", "C", "lam"),
    refit=Refit("mklearn.classifiers.kernel_pca_classifier:fit_path"),
)
class KernelRSVMPlusMu(KernelRSVMPlus):
    """R-SVM+_mu, our reconstruction, on leading kernel principal components: their axes are the features it weights.

    Parameters, attributes and errors are those of `KernelRSVMPlus`. Only C^2 / lam matters: keep lam at 1.

    References
    ----------
    Do, Kalousis, "Convex formulations of radius-margin based support vector machines", ICML 2013. Its equations were
    not available: this is a reconstruction from descriptions, see `mklearn.optimize.radius_margin`.
    """

    def _machine(self) -> OneVsOneLinear:
        return RSVMPlusMu(self.C, lam=self.lam, feature_scaling="none")
