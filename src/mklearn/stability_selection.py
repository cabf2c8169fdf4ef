"""How often each of many kernels is chosen from halves of the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.validation import aligned, checked_labels
from mklearn.checks import check_integer, invalid
from mklearn.errors import NotApplicable
from mklearn.graphs import class_structure
from mklearn.kernels.specs import StackTransform
from mklearn.kernels.views import as_views
from mklearn.optimize.kernel_lasso import KernelLasso, kernel_factor
from mklearn.optimize.leave_one_out_ridge import class_targets
from mklearn.optimize.left_out import group_codes


@dataclass(frozen=True, eq=False)
class SelectionFrequencies:
    """How often each of many kernels is chosen from halves of the samples.

    Attributes
    ----------
    kernels : tuple of str
    frequencies : array of shape (n_kernels,)
        Share of the halves in which the kernel is chosen.
    mean_chosen : float
        Mean number of kernels that are chosen from a half: q.
    n_halves : int
    """

    kernels: tuple[str, ...]
    frequencies: NDArray[np.float64]
    mean_chosen: float
    n_halves: int

    def stable(self, threshold: float = 0.75) -> tuple[str, ...]:
        """Return the kernels that are chosen from this share of the halves or more, the most frequent first."""
        return tuple(name for name, frequency in self.ranked() if frequency >= threshold)

    def false_selections(self, threshold: float = 0.75) -> float:
        """Return a bound on the expected number of false ones among `stable`: q^2 / ((2 threshold - 1) n_kernels).

        False are kernels that are chosen from a half with a probability below q / n_kernels, that of a kernel drawn at
        random. Nothing is assumed of the kernels or of the data. `ConfigError` unless 0.5 < threshold <= 1.

        References
        ----------
        Shah, Samworth, "Variable selection with error control: another look at stability selection", JRSS B 75, 2013,
        theorem 1 with theta = q/p; the bound of Meinshausen, Buehlmann, JRSS B 72, 2010, theorem 1, needs more.
        """
        if not 0.5 < threshold <= 1:
            raise invalid(threshold, "threshold", "a number above 0.5 and up to 1")
        return self.mean_chosen**2 / ((2 * threshold - 1) * len(self.kernels))

    def ranked(self) -> list[tuple[str, float]]:
        """Return the kernels and their frequencies, the most frequent first; of equal ones in the given order."""
        order = np.argsort(-self.frequencies, kind="stable")
        return [(self.kernels[number], float(self.frequencies[number])) for number in order]


@aligned
def stability_selection(
    kernels: Any,
    X: Any,
    y: ArrayLike,
    *,
    n_kernels: int,
    n_pairs: int = 50,
    groups: ArrayLike | None = None,
    max_rank: int = 50,
    random_state: int = 0,
) -> SelectionFrequencies:
    """Count how often each kernel is among the few that are chosen from half of the samples.

    The samples are cut into two halves ``n_pairs`` times, with equal class frequencies, and from each half the group
    lasso of `mklearn.optimize.kernel_lasso` chooses kernels, as `mklearn.MultiViewClassifier` with ``n_kernels`` does.

    Parameters
    ----------
    kernels : specs
        As for `mklearn.kernels.StackTransform`; see `mklearn.kernels.group_kernels` for groups of columns.
    X : table or views
    y : array of shape (n,)
        Class labels.
    n_kernels : int
        Largest number of kernels that are chosen from a half. Smaller numbers give smaller bounds.
    n_pairs : int
        Pairs of halves.
    groups : array of shape (n,), optional
        Samples of a group (a patient) are in the same half.
    max_rank : int
        Kernels of a larger rank are approximated, as long as they are chosen among.
    random_state : int
        Of the halves.

    Returns
    -------
    SelectionFrequencies

    Raises
    ------
    DataError
        Labels or groups that do not fit.
    ConfigError
        Numbers that are not positive integers.
    NotApplicable
        A single class, or a class that all of a half lacks for.

    Notes
    -----
    Kernels, with their scaling of features and bandwidth, are computed from all samples once, without labels. Memory is
    that of n x rank numbers for each kernel.

    References
    ----------
    Meinshausen, Buehlmann, "Stability selection", JRSS B 72, 2010. Complementary pairs: Shah, Samworth, JRSS B 75,
    2013.
    """
    check_integer(n_kernels, "n_kernels", 1)
    check_integer(n_pairs, "n_pairs", 1)
    check_integer(max_rank, "max_rank", 1)
    transform = StackTransform(kernels, drop_constant=True)
    views = as_views(X)
    factors = [kernel_factor(K, max_rank) for K in transform.training_kernels(X if views is None else views)]
    n = len(factors[0])
    codes = class_structure(checked_labels(transform, y, n)).codes
    counts, halves = np.zeros(len(factors)), _complementary_halves(codes, groups, n_pairs, random_state)
    for half in halves:
        targets = class_targets(class_structure(codes[half]))
        lasso = KernelLasso((_at_unit_trace(F[half]) for F in factors), targets - targets.mean(axis=0))
        counts[lasso.largest_choice(n_kernels).chosen] += 1
    frequencies = counts / len(halves)
    return SelectionFrequencies(transform.ids, frequencies, float(frequencies.sum()), len(halves))


def _at_unit_trace(F: NDArray[Any]) -> NDArray[Any]:
    """Return the features of some of the samples, centred and of unit variance; none if they are constant."""
    centred = F - F.mean(axis=0)
    variance = float(np.vdot(centred, centred)) / len(F)
    if not variance > 1e-12 * float(np.vdot(F, F)) / len(F):
        return F[:, :0]
    return np.asarray(centred / np.sqrt(variance))


def _complementary_halves(
    codes: NDArray[np.intp], groups: ArrayLike | None, n_pairs: int, seed: int
) -> list[NDArray[np.intp]]:
    """Return pairs of halves without a common sample, or group; classes are dealt out in turn."""
    names = np.arange(len(codes)) if groups is None else group_codes(groups, len(codes))
    _, first, unit = np.unique(names, return_index=True, return_inverse=True)
    if len(first) < 2:
        raise NotApplicable("all samples are in one group: there are no two halves without a common group")
    rng, halves = np.random.default_rng(seed), []
    for _ in range(n_pairs):
        order = rng.permutation(len(first))
        order = order[np.argsort(codes[first[order]], kind="stable")]
        side = np.zeros(len(first), dtype=bool)
        side[order[::2]] = True
        halves += [np.flatnonzero(side[unit]), np.flatnonzero(~side[unit])]
    return halves
