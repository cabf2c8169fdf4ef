"""Plan of a study: data sets, everything computed from them, fits and final model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from mklearn.errors import ConfigError
from mklearn.study.entries import Entry
from mklearn.study.mistakes import listed
from mklearn.study.plan.datasets import (
    PlannedDataset,
    PlannedProtocol,
    number_of_blocks,
    planned_dataset,
    planned_protocol,
)
from mklearn.study.plan.final import PlannedFinal, planned_final
from mklearn.study.plan.fits import PlannedFit, planned_fits
from mklearn.study.plan.kernels import PlannedDescriptor, planned_descriptors, planned_kernels
from mklearn.study.specs.data_specs import SplitSpec
from mklearn.study.study import Study

MEAN = "mean_regressor"
Model = TypeVar("Model", bound=Entry)


@dataclass(frozen=True)
class Plan:
    """Everything that a study computes, by key; made by :func:`plan_study`."""

    study: Study
    protocols: dict[str, SplitSpec]
    datasets: dict[str, PlannedDataset] = field(default_factory=dict)
    descriptors: dict[tuple[str, str], PlannedDescriptor] = field(default_factory=dict)
    """Descriptors by data set and descriptor key."""
    kernels: list[str] = field(default_factory=list)
    """Names of the kernels in the order of the study, for tables and figures."""
    fits: dict[tuple[str, str, str], PlannedFit] = field(default_factory=dict)
    """Fits by data set, protocol and method."""
    final: PlannedFinal | None = None
    """Final model; None if the study has no section ``final``."""

    @property
    def reference(self) -> str:
        """Reference method, with which all others are compared; empty if there is none.

        By default the first method with equal kernel weights, otherwise the mean regressor.
        """
        means = (name for name, method in self.study.methods.items() if method.kind == MEAN)
        return self.study.evaluation.reference or self.study.average or next(means, "")


def plan_study(study: Study) -> Plan:
    """Expand a study into a plan.

    Raise ConfigError with all mistakes, such as kernels that a data set lacks, equal names or missing files; mistakes
    in the final model, which is planned last, have a ConfigError of their own.
    """
    mistakes = _Mistakes()
    with mistakes.kept():
        _check_folder(study.results)
    protocols = []
    for protocol_id, protocol in study.protocols.items():
        with mistakes.kept():
            protocols.append(planned_protocol(protocol_id, protocol, study.seed))
    plan = Plan(study, {protocol.key: protocol.spec for protocol in protocols})
    for dataset_id in study.datasets:
        chosen = [protocol for protocol in protocols if protocol.entry.applies_to(dataset_id)]
        with mistakes.kept():
            _add_dataset(plan, dataset_id, chosen, mistakes)
    if mistakes:
        raise ConfigError(mistakes[0] if len(mistakes) == 1 else listed("the study has", mistakes))
    if study.final is None:
        return plan
    return replace(plan, final=planned_final(study, plan.datasets.values(), plan.descriptors, plan.fits.values()))


class _Mistakes(list[str]):
    """Messages of all mistakes, without repetition."""

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Collect the message of a ConfigError instead of raising it."""
        try:
            yield
        except ConfigError as error:
            if str(error) not in self:
                self.append(str(error))


def _check_folder(results: str) -> None:
    folder = Path(results)
    try:
        there = next((path for path in (folder, *folder.parents) if path.exists() or path.is_symlink()), None)
    except OSError as error:
        raise ConfigError(f"results: {results!r} can't be made: {error.strerror}.") from None
    if there is not None and not there.is_dir():
        what = "a link that leads nowhere" if there.is_symlink() else "a file"
        raise ConfigError(f"results: {results!r} can't be made: {str(there)!r} is {what}; expected a folder.")


def _add_dataset(plan: Plan, dataset_id: str, protocols: Sequence[PlannedProtocol], mistakes: _Mistakes) -> None:
    study = plan.study
    dataset = planned_dataset(dataset_id, study.datasets, study.results)
    methods = _applying(study.methods, dataset_id) or {}
    if any(method.landmarks is not None for method in methods.values()):
        dataset = replace(dataset, n_blocks=number_of_blocks(dataset.n_samples or 1, study.blocks))
    for protocol in protocols:
        if protocol.spec.kind == "released" and not (dataset.registered and dataset.registered.released_splits):
            mistakes.append(
                f"protocols.{protocol.id}: no splits were released with data set {dataset_id!r}. "
                "Name the data sets that have them, as `datasets: [...]`."
            )
    descriptors = planned_descriptors(dataset, _applying(study.descriptors, dataset_id), study.seed)
    kernels = planned_kernels(dataset, _applying(study.kernels or None, dataset_id), descriptors)
    _check_unique(f"datasets.{dataset_id}: kernels", [kernel["id"] for kernel in kernels])
    fits: list[PlannedFit] = []
    for method_id in methods:
        with mistakes.kept():
            fits += planned_fits(study, dataset, method_id, kernels, descriptors, protocols)
    for used_by in {fit.key[1] for fit in fits}:
        _check_unique(f"datasets.{dataset_id}: methods", [fit.spec.method.id for fit in fits if fit.key[1] == used_by])
    used = {name.split("/")[0] for fit in fits for name in [*fit.spec.pairwise, *fit.spec.descriptors]}
    plan.datasets[dataset.key] = dataset
    plan.kernels.extend(kernel["id"] for kernel in kernels if kernel["id"] not in plan.kernels)
    plan.descriptors.update({(dataset.key, each.key): each for each in descriptors.values() if each.key in used})
    plan.fits.update({fit.key: fit for fit in fits})


def _applying(entries: Mapping[str, Model] | None, dataset: str) -> dict[str, Model] | None:
    return None if entries is None else {name: entry for name, entry in entries.items() if entry.applies_to(dataset)}


def _check_unique(what: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"{what}: more than one would have the name {', '.join(twice)}; rename one of them.")
