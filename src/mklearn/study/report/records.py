"""What a report is made from, beside its specification and the score tables: data sets, run, fitted methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


@dataclass(frozen=True)
class DataFile:
    """A file of a data set: name, sha256, where it came from, and its size in bytes; None if it was not kept."""

    name: str
    sha256: str
    source: str
    bytes: int | None


@dataclass(frozen=True)
class DataSetRecord:
    """A data set: size, licence and source, and ``thumbnails``, uint8 of shape (k, height, width).

    ``warnings`` stand at the top of the page: samples that are left out, and groups that the splits part.
    """

    id: str
    title: str = ""
    n_samples: int | None = None
    n_classes: int | None = None
    licence: str = ""
    citation: str = ""
    homepage: str = ""
    note: str = ""
    warnings: tuple[str, ...] = ()
    files: tuple[DataFile, ...] = ()
    thumbnails: NDArray[np.uint8] | None = None


@dataclass(frozen=True)
class RuleCost:
    """What the jobs of a rule cost, see :func:`mklearn.study.run_record.rule_cost`."""

    rule: str
    title: str
    jobs: int
    seconds: float
    longest: float
    longest_job: str


@dataclass(frozen=True)
class RunRecord:
    """How the results were made: machine, versions, command, configuration as YAML, and the stamp of the page."""

    machine: str = ""
    command: str = ""
    seed: int | None = None
    utc: str = ""
    commit: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    config_text: str = ""
    rules: tuple[RuleCost, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FitRecord:
    """All repeats of one method on one data set and training size; ``method_title`` is the name to print."""

    dataset: str
    protocol: str
    train_size: int | None
    method: str
    method_title: str
    kernel_ids: list[str] = field(default_factory=list)
    """The M kernels, in the order of the weights."""
    weights: NDArray[np.float64] | None = None
    """Kernel weights of each repeat, of shape (R, M); a row of NaN for a repeat that failed."""
    history: pd.DataFrame | None = None
    """``repeat, fold, half_step, step, value, bound, optimum``: the objective after each step of an alternation, a
    lower bound of it where the step has one, and the optimum where that is known."""
    diagnostics: pd.DataFrame | None = None
    """What a method says of its own solutions, with ``repeat`` and ``fold``: ``diagnostics_`` of
    `mklearn.classifiers.fsvc.FSVC`."""
    embedding: pd.DataFrame | None = None
    """``x, y, label, role ("train" or "test")``: the first two dimensions in one repeat."""
    kernel_info: pd.DataFrame | None = None
    """``kernel, min_eigenvalue, off_diagonal_mass`` and, where known, ``bandwidth, identity_like, n_negative, shift``;
    one row for each kernel (and repeat)."""
    confusion: NDArray[np.integer] | None = None
    """Test samples of all repeats by true class (row) and predicted class (column), by the chosen parameters."""
    classes: NDArray[np.str_] | None = None
    """Names of the c classes."""
    predicted: pd.DataFrame | None = None
    """``repeat, sample, true, predicted`` of each test sample, where numbers are predicted."""
