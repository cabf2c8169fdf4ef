"""The fits of the plan: one job for each method, data set and protocol, all training sizes and repeats inside.

A job spends two seconds on starting Python with its libraries: as much as many methods take for all repeats of a size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mklearn.config.methods import MethodConfig
from mklearn.plan.sources import Source
from mklearn.provenance import key
from mklearn.study.expansion.datasets import PlannedDataset
from mklearn.study.expansion.protocols import PlannedProtocol

if TYPE_CHECKING:
    from mklearn.study.expansion.plan import Plan

Spec = dict[str, Any]


@dataclass(frozen=True)
class PlannedFit:
    """One job of the study: a method on all training sizes and repeats of one protocol of one data set."""

    dataset: PlannedDataset
    protocol: str
    protocol_id: str
    method: str
    method_id: str
    label: str
    kernel_set: str | None
    """Of a method on kernels."""
    descriptor: str | None
    """Of a method on features; methods on images have neither."""
    spec: Spec


def add_fits(
    plan: Plan,
    dataset: PlannedDataset,
    protocols: list[PlannedProtocol],
    method: MethodConfig,
    fit_id: str,
    source: Source,
) -> None:
    """Register one fit for each protocol."""
    parameters = method.parameters()
    if source.weights is not None:
        parameters["kernel_weights"] = source.weights
    evaluation = plan.study.evaluation
    iterations = {"iterations": method.iterations()} if method.iterations() else {}
    folds = method.inner_folds or evaluation.inner_folds
    minutes = method.time_limit or evaluation.time_limit
    limit = {"time_limit": minutes} if isinstance(minutes, float) else {}  # without one, keys are what they always were
    base: Spec = {
        "method": {"id": fit_id, "implementation": method.implementation, "parameters": parameters,
                   "sweep": method.sweep(), **iterations, **source.takes},
        "kernels": source.kernels,
        "evaluation": {"neighbours": list(evaluation.neighbours), "inner_folds": folds, **limit},
        "seed": plan.study.seed,
    }  # fmt: skip
    method_key = key(fit_id, base)
    label = source.label or method.label or fit_id
    for protocol in protocols:
        spec = base | {"dataset": dataset.id, "settings": protocol.settings}
        plan.fits[dataset.key, protocol.key, method_key] = PlannedFit(
            dataset, protocol.key, protocol.id, method_key, fit_id, label, source.kernel_set, source.descriptor, spec
        )
