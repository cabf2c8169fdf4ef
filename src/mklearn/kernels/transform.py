"""KernelTransform: from a pairwise matrix to a kernel; what depends on data is fitted on training samples only."""

from __future__ import annotations

import warnings
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from mklearn.errors import ConfigError, DataError
from mklearn.kernels.bandwidth import BandwidthRule, resolve_bandwidth
from mklearn.kernels.centre import KernelCentring
from mklearn.kernels.checks import (
    Array,
    as_float_array,
    as_float_matrix,
    as_square_symmetric,
    check_nonnegative,
    check_zero_diagonal,
)
from mklearn.kernels.functions import (
    gaussian_kernel,
    nonnegative_number,
    polynomial_kernel,
    positive_integer,
    positive_number,
)
from mklearn.kernels.identity_like import (
    IDENTITY_LIKE_BELOW,
    IDENTITY_LIKE_SHIFT,
    IdentityLikeKernelWarning,
    off_diagonal_mass,
)
from mklearn.kernels.normalise import scale_to_centred_trace, unit_diagonal
from mklearn.kernels.psd import PSDPolicy, PSDRepair, psd_repair
from mklearn.kernels.spectrum import spectrum_curve

Kind = Literal["gaussian", "linear", "polynomial", "precomputed"]
Measure = Literal["squared_euclidean", "chi2", "point_set", "distance", "inner_product", "kernel"]
Normalise = Literal["none", "unit_diagonal", "centred_trace"]

LEGAL_MEASURES: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {
        "gaussian": ("squared_euclidean", "chi2", "point_set", "distance"),
        "linear": ("inner_product",),
        "polynomial": ("inner_product",),
        "precomputed": ("kernel",),
    }
)
"""What each kind of kernel can be computed from; the first one is the default."""


class KernelTransform:
    """A kernel as a function of a pairwise matrix, fitted on the training samples.

    Order of operations: kernel function, unit diagonal (if chosen), centring (if chosen), repair of negative
    eigenvalues, scaling to unit centred trace (if chosen). Bandwidth, means, eigenvectors and the trace come from the
    training samples alone; rows of new samples go through the same fitted maps.

    Parameters
    ----------
    kind : {"gaussian", "linear", "polynomial", "precomputed"}
        ``exp(-d2/gamma)``, ``x'y``, ``(scale x'y + offset)^degree``, or the matrix itself.
    measure : {"squared_euclidean", "chi2", "point_set", "distance", "inner_product", "kernel"}, optional
        What the pairwise matrix holds. "distance" is a plain distance d and is squared, ``exp(-d^2/gamma)``; "chi2"
        goes into the exponent as it is (the chi-squared exponential kernel). Default: "squared_euclidean",
        "inner_product" or "kernel", as the kind needs.
    bandwidth : float
        Gaussian only: the multiple of what `bandwidth_rule` gives.
    bandwidth_rule : {"mean_squared_distance", "squared_mean_distance", "absolute"}
        Gaussian only: see `mklearn.kernels.bandwidth.resolve_bandwidth`.
    degree, scale, offset : int, float or None, float
        Polynomial only. ``scale=None``: one over the mean self-similarity of the training samples.
    centre : bool
        Centre in feature space at the mean of the training samples.
    normalise : {"none", "unit_diagonal", "centred_trace"}
    psd : {"clip", "shift", "flip", "none"}
        See `mklearn.kernels.psd.psd_repair`.
    identity_like_below : float
        Off-diagonal mass below which the kernel is flagged, and warned about.
    name : str
        How to call the kernel in warnings.

    Attributes
    ----------
    kernel_train_ : ndarray, shape (n, n)
    n_train_ : int
    bandwidth_ : float or None
        gamma of a Gaussian kernel, in the units of the exponent.
    scale_ : float or None
        Scale of a polynomial kernel.
    divisor_ : float
        Centred trace that the kernel was divided by; 1 unless ``normalise="centred_trace"``.
    min_eigenvalue_ : float
        Of the training kernel just before the repair.
    off_diagonal_mass_ : float
        Of `kernel_train_`: see `mklearn.kernels.identity_like.off_diagonal_mass`.
    identity_like_ : bool
        Little off-diagonal mass, or a diagonal shift above a tenth of the mean diagonal.
    repair_ : PSDRepair
    info_ : dict
        All of the above that are plain numbers, strings or booleans, and ``spectrum``: the eigenvalues before repair
        as in `mklearn.kernels.spectrum.spectrum_curve`.

    Raises
    ------
    ConfigError
        An unknown or illegal parameter, or a measure that does not fit the kind.

    Notes
    -----
    ``transform`` of the training rows gives `kernel_train_`, except after a diagonal shift: the rows given to
    ``transform`` are those of new samples, and the shift belongs to the training diagonal only. A shift also
    undoes exact centring.
    """

    def __init__(
        self,
        kind: Kind = "gaussian",
        *,
        measure: Measure | None = None,
        bandwidth: float = 1.0,
        bandwidth_rule: BandwidthRule = "mean_squared_distance",
        degree: int = 2,
        scale: float | None = None,
        offset: float = 1.0,
        centre: bool = False,
        normalise: Normalise = "none",
        psd: PSDPolicy = "clip",
        identity_like_below: float = IDENTITY_LIKE_BELOW,
        name: str = "",
    ) -> None:
        _choice(kind, "kind", get_args(Kind))
        if measure is None:
            measure = LEGAL_MEASURES[kind][0]  # type: ignore[assignment]
        _choice(measure, "measure", get_args(Measure))
        if measure not in LEGAL_MEASURES[kind]:
            kinds = [other for other, measures in LEGAL_MEASURES.items() if measure in measures]
            raise ConfigError(
                f"a {kind} kernel can't be computed from measure {measure!r}; it needs "
                f"{' or '.join(map(repr, LEGAL_MEASURES[kind]))}; {measure!r} fits kind {' or '.join(map(repr, kinds))}"
            )
        _choice(bandwidth_rule, "bandwidth_rule", get_args(BandwidthRule))
        _choice(normalise, "normalise", get_args(Normalise))
        _choice(psd, "psd", get_args(PSDPolicy))
        if not isinstance(centre, bool | np.bool_):
            raise ConfigError(f"centre = {centre!r} is not legal: it must be true or false")
        self.kind = kind
        self.measure = measure
        self.bandwidth = positive_number(bandwidth, "bandwidth")
        self.bandwidth_rule: BandwidthRule = bandwidth_rule
        self.degree = positive_integer(degree, "degree")
        self.scale = None if scale is None else positive_number(scale, "scale")
        self.offset = nonnegative_number(offset, "offset")
        self.centre = bool(centre)
        self.normalise = normalise
        self.psd: PSDPolicy = psd
        self.identity_like_below = nonnegative_number(identity_like_below, "identity_like_below")
        self.name = name

    def fit(self, P_train: ArrayLike) -> KernelTransform:
        """Fit on the pairwise matrix among the training samples.

        Parameters
        ----------
        P_train : array_like, shape (n, n)
            Distances, inner products or kernel values, as `measure` says. Not changed.

        Returns
        -------
        KernelTransform
            Itself.

        Raises
        ------
        DataError
            Not finite, not square, not symmetric, negative distances, a distance diagonal that is not zero, or data
            that the kernel can't be fitted to (all samples equal).

        Warns
        -----
        IdentityLikeKernelWarning
            The off-diagonal part of the kernel carries little.
        """
        label = f"the pairwise matrix ({self.measure})"
        pairwise = as_square_symmetric(P_train, label)
        self.n_train_ = pairwise.shape[0]
        self.bandwidth_: float | None = None
        self.scale_: float | None = None
        if self.kind == "gaussian":
            pairwise = check_nonnegative(pairwise, label)
            check_zero_diagonal(pairwise, label)
            exponent = np.square(pairwise) if self.measure == "distance" else pairwise
            self.bandwidth_ = resolve_bandwidth(exponent, self.bandwidth, self.bandwidth_rule)
        elif self.kind == "polynomial":
            self.scale_ = self._polynomial_scale(pairwise)

        kernel = self._kernel_function(pairwise)
        self._diagonal = np.diagonal(kernel).copy()
        if self.normalise == "unit_diagonal":
            kernel = unit_diagonal(kernel)
        self._centring = KernelCentring().fit(kernel) if self.centre else None
        if self._centring is not None:
            kernel = self._centring.transform(kernel)
        self.repair_: PSDRepair = psd_repair(kernel, self.psd, warn=False)
        kernel = self.repair_.kernel
        self.divisor_ = 1.0
        if self.normalise == "centred_trace":
            kernel, self.divisor_ = scale_to_centred_trace(kernel)

        self.kernel_train_: Array = kernel
        self.min_eigenvalue_ = self.repair_.min_eigenvalue
        self.off_diagonal_mass_ = off_diagonal_mass(kernel)
        self._flag_identity_like()
        self.info_ = self._collect_info()
        return self

    def transform(self, P_rows: ArrayLike, self_similarity: ArrayLike | None = None) -> Array:
        """Kernel between new samples and the training samples.

        Parameters
        ----------
        P_rows : array_like, shape (m, n)
            The pairwise matrix with new samples in its rows and the training samples in its columns.
        self_similarity : array_like, shape (m,), optional
            The pairwise measure of each new sample with itself. Needed with ``normalise="unit_diagonal"``, except for
            Gaussian kernels, where it is known; otherwise ignored.

        Returns
        -------
        ndarray, shape (m, n)

        Raises
        ------
        DataError
            Not fitted, wrong shape, not finite, negative distances, or a missing self-similarity.
        """
        if not hasattr(self, "kernel_train_"):
            raise DataError(
                "this KernelTransform is not fitted; call fit with the matrix of the training samples first"
            )
        label = f"the rows of the pairwise matrix ({self.measure})"
        pairwise = as_float_matrix(P_rows, label)
        if pairwise.shape[1] != self.n_train_:
            raise DataError(
                f"{label} have {pairwise.shape[1]} columns, but there were {self.n_train_} training samples"
            )
        if self.kind == "gaussian":
            pairwise = check_nonnegative(pairwise, label)
        kernel = self._kernel_function(pairwise)
        if self.normalise == "unit_diagonal":
            kernel = unit_diagonal(kernel, self._self_similarity(self_similarity, len(kernel)), self._diagonal)
        if self._centring is not None:
            kernel = self._centring.transform(kernel)
        kernel = self.repair_.transform(kernel)
        if self.normalise == "centred_trace":
            kernel /= kernel.dtype.type(self.divisor_)
        return kernel

    def _kernel_function(self, pairwise: Array) -> Array:
        if self.kind == "gaussian":
            assert self.bandwidth_ is not None
            return gaussian_kernel(np.square(pairwise) if self.measure == "distance" else pairwise, self.bandwidth_)
        if self.kind == "polynomial":
            assert self.scale_ is not None
            return polynomial_kernel(pairwise, self.degree, self.scale_, self.offset)
        return pairwise.copy()

    def _polynomial_scale(self, gram: Array) -> float:
        if self.scale is not None:
            return self.scale
        mean = float(np.trace(gram, dtype=np.float64)) / len(gram)
        if mean <= 0:
            raise DataError(
                f"the mean self-similarity of the training samples is {mean:.3g}, so no scale of the polynomial kernel "
                "can be derived from it; give scale a number"
            )
        return 1 / mean

    def _self_similarity(self, given: ArrayLike | None, n_rows: int) -> Array:
        """k(x, x) of the new samples, before any normalisation."""
        if self.kind == "gaussian":
            return np.ones(n_rows)
        if given is None:
            raise DataError(
                "unit-diagonal normalisation of new samples needs their similarity to themselves: pass "
                "self_similarity, one value of the pairwise measure per row"
            )
        values = as_float_array(given, "self_similarity", ndim=1)
        if values.size != n_rows:
            raise DataError(f"self_similarity has {values.size} entries for {n_rows} rows")
        return self._kernel_function(values[:, None])[:, 0]

    def _flag_identity_like(self) -> None:
        repair = self.repair_
        mean_diagonal = float(np.trace(repair.kernel, dtype=np.float64)) / self.n_train_ - repair.shift
        little = self.n_train_ > 2 and self.off_diagonal_mass_ < self.identity_like_below
        shifted = repair.shift > IDENTITY_LIKE_SHIFT * mean_diagonal
        self.identity_like_ = bool(little or shifted)
        if not self.identity_like_:
            return
        reason = (
            f"only {self.off_diagonal_mass_:.2%} of its centred squared norm lies off the diagonal"
            if little
            else f"the diagonal shift added {repair.shift:.3g} to a mean diagonal of {mean_diagonal:.3g}"
        )
        warnings.warn(
            f"kernel {self.name!r} is close to the identity: {reason}. It says little about which samples are alike, "
            "and weight learning may prefer it for that; consider "
            + ("a wider bandwidth" if little else "psd='clip'")
            + " or leave it out",
            IdentityLikeKernelWarning,
            stacklevel=3,
        )

    def _collect_info(self) -> dict[str, Any]:
        repair = self.repair_
        return {
            "kind": self.kind,
            "measure": self.measure,
            "bandwidth": self.bandwidth_,
            "bandwidth_multiple": self.bandwidth if self.kind == "gaussian" else None,
            "bandwidth_rule": self.bandwidth_rule if self.kind == "gaussian" else None,
            "degree": self.degree if self.kind == "polynomial" else None,
            "scale": self.scale_,
            "offset": self.offset if self.kind == "polynomial" else None,
            "centre": self.centre,
            "normalise": self.normalise,
            "divisor": self.divisor_,
            "psd": self.psd,
            "min_eigenvalue": repair.min_eigenvalue,
            "relative_min_eigenvalue": repair.relative_min_eigenvalue,
            "n_negative": repair.n_negative,
            "negative_mass": repair.negative_mass,
            "shift": repair.shift,
            "spectrum": spectrum_curve(repair.eigenvalues),
            "off_diagonal_mass": self.off_diagonal_mass_,
            "identity_like": self.identity_like_,
            "n_train": self.n_train_,
            "dtype": str(self.kernel_train_.dtype),
        }


def _choice(value: object, name: str, legal: tuple[str, ...]) -> None:
    if value not in legal:
        raise ConfigError(f"{name} = {value!r} is not legal; legal: {', '.join(legal)}")
