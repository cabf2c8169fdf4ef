"""Kernel F-SVM: F-SVM on leading kernel principal components."""

from __future__ import annotations

from typing import Any, ClassVar

from mklearn.cards import MethodCard, Refit
from mklearn.classifiers.fsvc import FSVC, FSVMSolver
from mklearn.classifiers.kernel_pca_classifier import ComponentCount, KernelPCAClassifier
from mklearn.classifiers.one_vs_one import OneVsOneLinear
from mklearn.optimize.fsvm import StepRule


@MethodCard(
    kind="kernel_fsvc",
    title="Kernel F-SVM",
    reference="Wu, Zuo, Lin, Jia, Zhang 2018",
    advice=(
        "To study F-SVM with kernels. With 80 components it is below the plain machine on eight of ten sets; with "
        "all of them C has no say."
    ),
    tuned=("n_components", "C", "power", "rho", "step_size"),
    refit=Refit("mklearn.classifiers.kernel_pca_classifier:fit_path"),
)
class KernelFSVC(KernelPCAClassifier):
    """F-SVM on leading kernel principal components; with ``power=0`` and all components a support vector machine.

    Parameters
    ----------
    n_components : int or "all"
        Components, at most as many as there are. All components of a Gaussian kernel, whitened, are a regular simplex:
        the direction then does not depend on C.
    C, power, solver, rho, step, step_size, n_iter
        As for `mklearn.classifiers.fsvc.FSVC`.
    kernels, kernel_weights
        As for `mklearn.classifiers.kernel_svc.KernelSVC`.

    Attributes
    ----------
    machine_ : FSVC
        F-SVM on the components: it has C0, the optimum and the path of the alternation.
    kernel_weights_, kernel_ids_, classes_, n_components_, kernel_pca_, gap_, status_, message_, n_features_in_
        As for `mklearn.classifiers.kernel_pca_classifier.KernelPCAClassifier`.

    Raises
    ------
    DataError, NotApplicable, ConfigError, SolverFailed
        As for `mklearn.classifiers.kernel_pca_classifier.KernelPCAClassifier`.

    Warns
    -----
    RegularSimplexWarning
        As for `mklearn.classifiers.fsvc.FSVC`.

    References
    ----------
    Wu, Zuo, Lin, Jia, Zhang, "F-SVM", arXiv 1504.05035 (2015), section IV and equation (27).
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelPCAClassifier._parameter_constraints,
        **{
            name: FSVC._parameter_constraints[name]
            for name in ("C", "power", "solver", "rho", "step", "step_size", "n_iter")
        },
    }

    def __init__(
        self,
        n_components: ComponentCount = 20,
        *,
        kernels: Any = "precomputed",
        kernel_weights: Any = None,
        C: float = 1.0,
        power: float = 0.5,
        solver: FSVMSolver = "exact",
        rho: float = 1.0,
        step: StepRule = "decaying",
        step_size: float = 0.5,
        n_iter: int = 15,
    ) -> None:
        self.n_components = n_components
        self.kernels = kernels
        self.kernel_weights = kernel_weights
        self.C = C
        self.power = power
        self.solver = solver
        self.rho = rho
        self.step = step
        self.step_size = step_size
        self.n_iter = n_iter

    def _machine(self) -> OneVsOneLinear:
        return FSVC(
            self.C, power=self.power, solver=self.solver, feature_scaling="none", rho=self.rho, step=self.step,
            step_size=self.step_size, n_iter=self.n_iter,
        )  # fmt: skip
