"""Discriminant analysis with kernel weights that foretell samples left out, instead of fitting the training samples."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from mklearn.graphs import lda_graph
from mklearn.optimize.graph_embedding import Scaling, ratio_trace_step
from mklearn.optimize.leave_one_out_ridge import LeaveOneOutRidge, class_targets, leave_one_out_weights
from mklearn.subspace.inputs import checked_labels
from mklearn.subspace.kernel_embedding import KernelEmbedding


class LeaveOneOutMKL(KernelEmbedding):
    """Kernel Fisher discriminant with kernel weights of the least leave-one-out prediction error.

    MKL-DR's objective, and the ratio trace that `ConvexMKLDR` maximises, are of the training samples: they reward
    kernels close to the identity. Here each sample's class indicator is foretold by kernel ridge regression - the
    regression form of the discriminant - without that sample, in closed form, and the weights minimise

        L = min over a >= 0 of sum_i ||t_i - a f_i||^2 / sum_i ||t_i||^2,

    f_i the output for sample i of the fit on the others, t_i its indicator, both about the others' mean
    (`mklearn.optimize.leave_one_out_ridge`). They are then drawn towards equal shares, and `KernelFDA` is fitted with
    them.

    Parameters
    ----------
    n_components : int, optional
        At most, and by default, the number of classes less one (fewer by default where the kernel has a smaller rank).
        It does not touch the weights.
    kernels : "precomputed" or list of kernel specs
        "precomputed": X is (n_samples, n_train, n_kernels). Specs: X is (n_samples, n_features); see
        `mklearn.kernels.specs.StackTransform`. Their scales do not matter: kernels are compared at unit centred trace.
    regularisation : float
        Least ridge of the regression, in units of the samples' variance in the combined feature space (the centred
        trace); positive. More ridge is learned with the weights where it foretells better. It shapes the weights only.
        Large values compare kernels by what the other samples' similarities alone
        foretell, small ones by interpolation.
    shrinkage : float
        From 0 to 1: log ratios of the shares shrink by this factor; kernels whose optimal share is 0 stay without. 0 is
        the optimum of L, 1 the average of the kernels that it uses. Equal shares of all kernels are returned where the
        shrunk weights have no smaller L.
    max_iter : int
        L-BFGS-B iterations at most.
    tol : float
        On the relative fall of L in an iteration.
    ridge, scaling
        Of the discriminant, as for `KernelFDA`.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,), sum 1
    shares_ : array of shape (n_kernels,), sum 1
        Share of each kernel in the combined centred trace: the weights of the kernels brought to one scale. Constant
        kernels have none.
    optimal_shares_ : array of shape (n_kernels,), sum 1
        Before shrinkage; kernels that a ridge does as well as have none.
    kernel_ids_ : tuple of str
    classes_ : array of shape (n_classes,)
    coefficients_ : array of shape (n_train, n_components)
    eigenvalues_ : array of shape (n_components,)
        Within- over total scatter of each column, ascending, ridge included.
    ridge_amount_ : float
    objective_ : float
        L of ``shares_``: 1 is chance, 0 every left-out sample foretold. Not above ``uniform_objective_``.
    uniform_objective_ : float
        L of equal shares.
    regularisation_ : float
        The ridge of the regression that was learned, not below ``regularisation``.
    objective_history_ : array of shape (n_iter_,)
        L at equal shares and after every step: it never rises.
    gradient_ : array of shape (n_kernels,)
        dL/dshares at the end of the history, along shares that add up to 1. At an optimum: 0 where there is a share,
        else not negative.
    n_iter_ : int
        Iterates, equal shares included: one more than the steps taken.
    status_ : {"converged", "max_iter", "uniform"}
        "uniform": equal shares, because nothing better was found.
    embedding_ : array of shape (n_train, n_components)
    n_features_in_ : int

    Raises
    ------
    DataError
        X or y malformed: not finite, not square or not symmetric, of different lengths, not class labels; kernels far
        from positive semidefinite.
    NotApplicable
        One class only, more components than there are, constant kernels.
    ConfigError
        Kernel specs that are not legal.

    References
    ----------
    Allen, "The relationship between variable selection and data augmentation and a method for prediction",
    Technometrics 1974 (PRESS). Ye, "Least squares linear discriminant analysis", ICML 2007 (the regression form).
    The criterion and its use for kernel weights are this library's own.

    Notes
    -----
    **Class sizes.** Indicators are divided by the root of the class size, so that every class weighs the same.

    **Two ridges.** The regression's `regularisation` stands on the norm in feature space, the discriminant's `ridge` on
    the coefficients. They do different work - one ranks kernels, one embeds. On handwritten digits a discriminant with
    the regression's ridge was 0.4 points worse than with ``ridge=1e-3``. So they are two parameters, and one kernel
    gives `KernelFDA`.

    **What was measured** on handwritten digits, six kernels of five descriptors, cosine 1-nearest neighbour, in points
    of accuracy over equal weights (mean and standard deviation of paired differences over draws that the defaults were
    not chosen on): 0.0 +- 0.4 with 8 training samples of each class, 0.15 +- 0.24 with 20, 0.25 +- 0.23 with 60, and
    1.0 +- 0.4 with 20 where four kernels of noise are added. Without shrinkage -0.4, 0.1, 0.3 and 1.0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LeaveOneOutMKL(kernels=["gaussian", {"kind": "linear", "columns": [0, 1]}]).fit(X, y)
    >>> model.transform(X).shape, bool(model.objective_ <= model.uniform_objective_)
    ((150, 2), True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelEmbedding._parameter_constraints,
        "regularisation": [Interval(Real, 0, None, closed="neither")],
        "shrinkage": [Interval(Real, 0, 1, closed="both")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernels: Any = "precomputed",
        regularisation: float = 1.0,
        shrinkage: float = 0.5,
        max_iter: int = 100,
        tol: float = 1e-5,
        ridge: float = 1e-3,
        scaling: Scaling = "total",
    ) -> None:
        self.n_components = n_components
        self.kernels = kernels
        self.regularisation = regularisation
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.tol = tol
        self.ridge = ridge
        self.scaling = scaling

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> LeaveOneOutMKL:
        """Learn the kernel weights and the projection.

        Parameters
        ----------
        X : array of shape (n, d), or (n, n, n_kernels) with ``kernels="precomputed"``
        y : array of shape (n,)
            Class labels.
        """
        stack = self._training_stack(X)
        labels = checked_labels(self, y, stack.n_columns)
        graph = lda_graph(labels)
        wanted = self._wanted_components(graph, labels)
        classes = graph.lda_classes
        assert classes is not None
        objective = LeaveOneOutRidge(list(stack), class_targets(classes), self.regularisation)
        found = leave_one_out_weights(objective, shrinkage=self.shrinkage, max_iter=self.max_iter, tol=self.tol)
        kernel = stack.combine(found.weights)
        projection = ratio_trace_step(kernel, graph, wanted, ridge=self.ridge)
        self._check_found(projection)

        self.classes_ = np.unique(labels)
        self.shares_ = found.shares
        self.optimal_shares_ = found.optimal_shares
        self.objective_ = found.value
        self.regularisation_ = found.ridge
        self.uniform_objective_ = found.uniform_value
        self.objective_history_ = found.history
        self.gradient_ = found.gradient
        self.n_iter_ = len(found.history)
        self.status_ = found.status
        self._finish(kernel, found.weights, projection)
        return self
