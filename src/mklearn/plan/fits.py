"""The fits of the plan: one job for each method, data set and protocol, all training sizes and repeats inside.

A job spends two seconds on starting Python with its libraries: as much as many methods take for all repeats of a size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from mklearn.config.method_base import Method
from mklearn.contract.fit_spec import EvaluationSpec, FitSpec, Implementation, InputSpec, MethodSpec, Setting
from mklearn.descriptors.models import Descriptor
from mklearn.plan.sources import Source, sources_of
from mklearn.provenance import key
from mklearn.study.expansion.datasets import PlannedDataset
from mklearn.study.expansion.protocols import PlannedProtocol
from mklearn.study.model import Evaluation

Spec = dict[str, Any]
CHOICES = ("best_single", "oracle_single", "cv_accuracy")


class PresentFitSpec(FitSpec):
    """The specification of a fit, and the dictionary that the present step takes. Until the step takes the first."""

    present: Spec = Field(exclude=True)

    def as_dict(self) -> Spec:
        """Return the dictionary that the present step takes."""
        return self.present


@dataclass(frozen=True)
class PlannedFit:
    """One job of the study: a method on all training sizes and repeats of one protocol of one data set."""

    dataset: PlannedDataset
    protocol: str
    """Key of the protocol."""
    protocol_id: str
    method: str
    """Key of the method."""
    method_id: str
    label: str
    spec: PresentFitSpec
    kernel_set: str | None
    """Key of the kernel set; None without kernels."""
    kernel_set_spec: Spec | None
    descriptors: tuple[str, ...]
    """Keys of the descriptors of its feature inputs."""
    settings: list[Setting]


def planned_fits(
    dataset: PlannedDataset,
    method_id: str,
    method: Method,
    kernels: list[Spec],
    descriptors: Mapping[str, tuple[str, Descriptor]],
    protocols: Sequence[PlannedProtocol],
    evaluation: Evaluation,
    seed: int,
) -> list[PlannedFit]:
    """Return the fits of a method on one data set."""
    return [
        fit
        for fit_id, source in sources_of(dataset, method_id, method, kernels, descriptors)
        for fit in _fits(dataset, protocols, method, fit_id, source, evaluation, seed)
    ]


def _fits(
    dataset: PlannedDataset, protocols: Sequence[PlannedProtocol], method: Method, fit_id: str, source: Source,
    evaluation: Evaluation, seed: int,
) -> list[PlannedFit]:  # fmt: skip
    parameters = method.parameters()
    if source.weights is not None:
        parameters["kernel_weights"] = source.weights
    iterations = {"iterations": method.iterations()} if method.iterations() else {}
    folds = method.inner_folds or evaluation.inner_folds
    minutes = method.time_limit or evaluation.time_limit
    limit = {"time_limit": minutes} if isinstance(minutes, float) else {}  # without one, keys are what they always were
    base: Spec = {
        "method": {"id": fit_id, "implementation": method.implementation, "parameters": parameters,
                   "sweep": method.sweep(), **iterations, **source.takes},
        "kernels": source.kernels,
        "evaluation": {"neighbours": list(evaluation.neighbours), "inner_folds": folds, **limit},
        "seed": seed,
    }  # fmt: skip
    method_key = key(fit_id, base)
    label = source.label or method.label or fit_id
    typed = _typed(base, source)
    typed |= {"evaluation": EvaluationSpec(**base["evaluation"], metrics=evaluation.metrics,
                                           choose_by=evaluation.choose_by)}  # fmt: skip
    fits = []
    for protocol in protocols:
        settings = [setting.model_dump() for setting in protocol.settings]
        present = base | {"dataset": dataset.id, "settings": settings}
        spec = PresentFitSpec(**typed, dataset=dataset.id, settings=protocol.settings, present=present)
        fits.append(
            PlannedFit(
                dataset,
                protocol.key,
                protocol.id,
                method_key,
                fit_id,
                label,
                spec,
                source.kernel_set,
                source.kernel_set_spec,
                source.descriptors,
                protocol.settings,
            )
        )
    return fits


def _typed(base: Spec, source: Source) -> Spec:
    method = base["method"]
    choice = method["parameters"].get("kernel_weights")
    grid = {
        name: value
        for name, value in method["parameters"].items()
        if isinstance(value, list) and name != "kernel_weights"
    }
    kind = source.takes["input"]
    spec = MethodSpec(
        id=method["id"], implementation=method["implementation"], grid=grid,
        parameters={name: value for name, value in method["parameters"].items() if name not in grid},
        kernel_choice=choice if choice in CHOICES else None,
        inputs={kind: InputSpec(kind=kind, descriptor=next(iter(source.descriptors), None))},
        sweep=Implementation(
            implementation=method["sweep"].get("implementation", "mklearn.evaluation.sweep:sweep"),
            parameters={"sizes": method["sweep"].get("sizes", [])},
        ),
    )  # fmt: skip
    return {"method": spec, "kernels": base["kernels"], "seed": base["seed"]}
