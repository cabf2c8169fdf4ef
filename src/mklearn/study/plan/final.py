"""Final model of a study: its data set, protocol, candidate methods and job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mklearn.errors import ConfigError
from mklearn.extras import require
from mklearn.study.datasets import LABELS_KEY, FeatureFiles, TableFile
from mklearn.study.method import Method
from mklearn.study.mistakes import one_of
from mklearn.study.plan.datasets import PlannedDataset
from mklearn.study.plan.fits import PlannedFit
from mklearn.study.plan.kernels import PlannedDescriptor, kernels_on_features, unsuited_kernels
from mklearn.study.specs.final_spec import BEST, FinalSpec, ModelInputs, ModelView
from mklearn.study.specs.fit_spec import RULE, FitSpec
from mklearn.study.study import Final, Study

GIVEN = ("given", "released")
"""Protocols whose splits are read and not drawn."""


@dataclass(frozen=True)
class PlannedFinal:
    """Job of the final model."""

    dataset: PlannedDataset
    protocol: str
    """Key of the protocol whose splits estimate the performance of the model."""
    descriptors: list[str]
    """Keys of the descriptors that are the views of the model."""
    spec: FinalSpec
    rivals: list[str]
    """Names of the other methods that could be the model, if the study names its method."""


def _protocol(study: Study, final: Final, dataset: str) -> str:
    """Return the name of the protocol that estimates the performance of the model.

    The first protocol that holds out whole groups is preferred: a study that has one expects new samples from new
    groups. Otherwise it is the first suitable protocol. Raise ConfigError if no protocol is suitable.
    """
    suited, reasons = [], []
    for name in [final.protocol] if final.protocol else study.protocols:
        protocol = study.protocols[name]
        if not protocol.applies_to(dataset):
            reasons.append(f"{name} is not used on data set {dataset!r}")
        elif protocol.row.composes:
            reasons.append(f"{name} has samples that are composed of several")
        elif protocol.row.clusters:
            reasons.append(f"{name} clusters samples without labels")
        elif protocol.choose == "test_set":
            reasons.append(f"{name} chooses parameters on test samples")
        elif protocol.row.holds_groups or protocol.given.get("whole_groups"):
            return name
        else:
            suited.append(name)
    if not suited:
        listed = "; ".join(reasons)
        raise ConfigError(f"final.protocol: no protocol can estimate the performance for samples: {listed}.")
    return suited[0]


def unsuited(method: Method, neighbours: Sequence[str]) -> str:
    """Return the reason why a method can't be the final model; "" if it can."""
    if not method.row.implementation.startswith("mklearn."):
        return "is of another package, whose classes a model file can't hold"
    if not method.row.in_model_files:
        return "has trees or objects of another package, which a model file can't hold: they would be read unchecked"
    if len(method.inputs) > 1:
        return f"takes several inputs ({', '.join(method.inputs)}), and a model takes views only"
    if method.row.embeds and RULE not in neighbours:
        return "predicts by Euclidean distance, which the study does not evaluate: add it to `evaluation.neighbours`"
    return ""


def planned_final(
    study: Study, datasets: Iterable[PlannedDataset], descriptors: Mapping[tuple[str, str], PlannedDescriptor],
    fits: Iterable[PlannedFit],
) -> PlannedFinal:  # fmt: skip
    """Plan the final model of a study; `descriptors` are by keys of data set and descriptor.

    Raise ConfigError if the study can't evaluate a model, or no candidate method remains, for example because kernels
    can't be computed from the features of a new sample.
    """
    final = study.final
    assert final is not None
    if final.dataset is None and len(study.datasets) > 1:
        raise ConfigError(f"final.dataset: is needed, as there are several: {one_of(study.datasets)}.")
    dataset = next(each for each in datasets if final.dataset in (None, each.id))
    require("skops")  # checked before the fits, not after them
    if dataset.config.family == "matrices":
        text = "has matrices among its samples only; a model needs images or tables of features"
        raise ConfigError(f"final.dataset: {dataset.id!r} {text}.")
    if study.metric not in study.evaluation.metrics:
        valid = one_of(study.evaluation.metrics)
        raise ConfigError(f"final.metric: {final.metric!r} is not among evaluation.metrics: {valid}.")
    named = _protocol(study, final, dataset.id)
    protocol = study.protocols[named]
    if final.method == BEST and protocol.kind in GIVEN:
        raise ConfigError("final.method: name a method; with given splits, best would be chosen on their test samples.")
    of_dataset = {key: planned for (of, key), planned in descriptors.items() if of == dataset.key}
    names = {key: planned.id for key, planned in of_dataset.items()}
    candidates, reasons, rivals = [], [], []
    tables = dataset.config.tables if isinstance(dataset.config, FeatureFiles) else {}
    fits = [fit for fit in fits if fit.dataset is dataset and fit.protocol.id == named]
    for fit in fits:
        name, method = fit.spec.method.id, study.methods[fit.entry]
        reason = unsuited(method, study.evaluation.neighbours) or unsuited_kernels(fit.spec.kernels)
        foreign = [names[key] for key in fit.spec.descriptors if ":" in of_dataset[key].config.kind]
        if foreign and not reason:
            reason = f"takes descriptor {foreign[0]!r} of another package, whose code a model file does not name"
        if final.method not in (BEST, name):
            rivals += [] if reason else [name]
        elif reason:
            reasons.append(f"{name} {reason}")
        else:
            candidates.append(_on_named_features(fit.spec, names, completes=bool(tables)))
    if not candidates:
        what = "no method can be a model" if final.method == BEST else "this method can't be a model"
        listed = "; ".join(reasons) or f"{final.method!r} is not evaluated by protocol {named!r}"
        raise ConfigError(
            f"final.method: {what} of data set {dataset.id!r}: {listed}. A model needs kernels of one descriptor each "
            "that is a vector, or features."
        )
    used = {name for fit_spec in candidates for name in fit_spec.descriptors}
    views = sorted((planned for planned in of_dataset.values() if planned.id in used), key=lambda view: view.id)
    labels = dataset.read.get("paths", {}).get(LABELS_KEY)
    inputs = ModelInputs(
        family=dataset.config.family, options=dataset.read["options"], resize=dataset.read.get("resize"),
        views=[_view(planned, tables) for planned in views], **({"labels": Path(labels).name} if labels else {}),
    )  # fmt: skip
    spec = FinalSpec(
        study=study.study, dataset=dataset.id, title=dataset.title, method=final.method, metric=study.metric,
        candidates=candidates, inputs=inputs, given_splits=protocol.kind in GIVEN,
        exclude_classes=protocol.exclude_classes or [], include_test=final.include_test,
        permutations=final.importances or 0,
    )  # fmt: skip
    return PlannedFinal(dataset, fits[0].protocol.key, [planned.key for planned in views], spec, rivals)


def _on_named_features(spec: FitSpec, names: Mapping[str, str], *, completes: bool) -> FitSpec:
    """Return the fit with views by name; with `completes`, views may be missing."""
    completion = {"missing_views": "mean"} if completes else {}
    kernels = [kernel | {"view": names[kernel["view"]]} | completion for kernel in kernels_on_features(spec.kernels)]
    return spec.on(kernels, names)


def _view(descriptor: PlannedDescriptor, tables: Mapping[str, str | TableFile]) -> ModelView:
    spec = {name: value for name, value in descriptor.spec.items() if name != "implementation"}
    table = tables.get(str(spec["parameters"].get("table")))
    path = table.path if isinstance(table, TableFile) else table
    return ModelView(
        name=descriptor.id, **spec, learns=bool(descriptor.learning),
        file=path and Path(path).name, array=table.array if isinstance(table, TableFile) else None,
    )  # fmt: skip
