"""Planning of the fits: one job per method, data set and protocol, with all training sizes and repeats.

Finer jobs would not pay: starting Python with its libraries takes two seconds, as long as many methods take for all
repeats of a training size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mklearn.errors import ConfigError
from mklearn.study.evaluation.metrics.metric import metric_mistakes
from mklearn.study.method import Method
from mklearn.study.naming import matching, variants
from mklearn.study.plan.datasets import PlannedDataset, PlannedProtocol
from mklearn.study.plan.kernels import PlannedDescriptor, Spec, by_name, on_landmarks
from mklearn.study.provenance import key
from mklearn.study.specs.fit_spec import (
    EvaluationSpec,
    FitSpec,
    Impute,
    InputSpec,
    MethodSpec,
    MomentsSpec,
    NullSpec,
    Setting,
    is_pairwise,
    kernel_parts,
)
from mklearn.study.specs.model import as_list
from mklearn.study.study import Evaluation, Study

Descriptors = Mapping[str, PlannedDescriptor]
"""Descriptors of a data set, by id."""


@dataclass(frozen=True)
class PlannedFit:
    """One job: a method on all training sizes and repeats of one protocol of one data set."""

    dataset: PlannedDataset
    protocol: PlannedProtocol
    entry: str
    """Name of the method in the study. With ``kernels: each`` it has several fits, one per kernel."""
    label: str
    spec: FitSpec

    @cached_property
    def key(self) -> tuple[str, str, str]:
        """Keys of the data set, the protocol and the method; the last is derived from the whole specification."""
        shared = {name: value for name, value in self.spec.as_dict().items() if name not in ("dataset", "settings")}
        return self.dataset.key, self.protocol.key, key(self.spec.method.id, shared)

    @cached_property
    def moments(self) -> MomentsSpec | None:
        """Moments of a method with landmarks on samples in blocks, shared by fits on the same kernels and landmarks."""
        fit = self.spec
        if self.dataset.n_blocks == 1 or not fit.method.landmarks:
            return None
        (landmarks,), folds = fit.method.landmarks, fit.evaluation.inner_folds
        assert isinstance(folds, int)
        return MomentsSpec(kernels=fit.kernels, landmarks=landmarks, seed=fit.seed, inner_folds=folds)


def planned_fits(
    study: Study, dataset: PlannedDataset, method_id: str, kernels: Sequence[Spec], descriptors: Descriptors,
    protocols: Sequence[PlannedProtocol],
) -> list[PlannedFit]:  # fmt: skip
    """Plan the fits of one method on one data set: one per protocol.

    With ``kernels: each`` there is one per protocol and kernel. `kernels`, `descriptors` and `protocols` apply to the
    data set. Raise ConfigError if the data set lacks an input of the method, or a metric can't be computed or can't
    choose parameters.
    """
    method = study.methods[method_id]
    inputs = _inputs(dataset, method_id, method, descriptors)
    evaluated = _evaluation(method_id, method, study.evaluation)
    fits = []
    protocols = [each for each in protocols if method.protocols is None or each.id in method.protocols]
    has_dictionary = any(entry.kind == "kernels" and entry.descriptors for entry in inputs.values())
    imputes = {"impute": dataset.impute} if has_dictionary and dataset.impute != "none" else {}
    for name, label, its_kernels in _variants(method_id, method, kernels, dataset, has_dictionary):
        spec = MethodSpec(
            id=name, implementation=method.row.implementation, parameters=method.parameters() | imputes,
            grid=method.grid(), kernel_choice=method.kernel_choice(), inputs=inputs,
            embeds=method.row.embeds, refit=method.refit(),
        )  # fmt: skip
        for protocol in protocols:
            if protocol.entry.row.composes:
                _check_composed(dataset, method_id, method, its_kernels, protocol)
            fit = FitSpec(
                dataset=dataset.id, settings=protocol.settings, method=spec, kernels=its_kernels,
                evaluation=evaluated.model_copy(update={"choice": protocol.entry.choose}), seed=study.seed,
            )  # fmt: skip
            fit = on_landmarks(fit, method_id, method, dataset, protocol)
            fits.append(PlannedFit(dataset, protocol, method_id, label, fit))
    return fits


def null_specs(study: Study, fits: Sequence[PlannedFit]) -> dict[str, NullSpec]:
    """Return the null control of a data set by key, made for its first fit of a multi-view method, if there is one."""
    fit = next((fit.spec for fit in fits if study.methods[fit.entry].is_recommended), None)
    if fit is None or study.null is None:
        return {}
    settings = [Setting(protocol="null", train_size=None)]  # all samples, whatever the protocol
    spec = NullSpec(fit=fit.model_copy(update={"settings": settings}), n_shuffles=study.null)
    return {key(f"{fit.method.id}-null", spec.as_dict()): spec}


def view_specs(study: Study, fits: Sequence[PlannedFit]) -> dict[tuple[str, str], FitSpec]:
    """Return a fit of a multi-view method to several views, the final model's or the first; largest size only."""
    fits = [fit for fit in fits if study.methods[fit.entry].is_recommended and len(fit.spec.views) > 1]
    fits = [fit for fit in fits if fit.moments is None and not fit.protocol.entry.row.composes]
    if not fits or not study.report.views:
        return {}
    fit = min(fits, key=lambda fit: study.final is None or fit.entry != study.final.method)
    largest = max(fit.spec.settings, key=lambda setting: setting.train_size or 0)
    spec = fit.spec.model_copy(update={"settings": [largest]})
    return {(fit.protocol.key, key(f"{spec.method.id}-views", spec.as_dict())): spec}


def _check_composed(
    dataset: PlannedDataset, method_id: str, method: Method, kernels: Sequence[Spec], protocol: PlannedProtocol
) -> None:
    pairwise = (each["id"] for each in kernels if any(is_pairwise(part["view"]) for part in kernel_parts([each])))
    cached = next(pairwise, None)
    lists = "path" in protocol.spec.parameters or protocol.spec.kind in dataset.protocol_files
    reasons = {
        "tables may lack values: complete them, or use missing_views: drop without impute": dataset.is_incomplete,
        "no lists come with the data set: give `path`": not lists,
        f"{method.row.title} takes images; use a method on features or kernels": "images" in method.inputs.values(),
        f"kernel {cached!r} is made from a matrix among single samples; give it `feature_scaling`": cached is not None,
    }
    if applying := [reason for reason, applies in reasons.items() if applies]:
        where = f"protocols.{protocol.id} (methods.{method_id}, datasets.{dataset.id})"
        raise ConfigError(f"{where}: each sample is composed of several, by their features: {'; '.join(applying)}.")


def _evaluation(method_id: str, method: Method, evaluation: Evaluation) -> EvaluationSpec:
    folds = method.inner_folds or evaluation.inner_folds
    for name, sentence in metric_mistakes(evaluation.metrics, evaluation.choose_by, folds):
        raise ConfigError(f"evaluation.{name} (methods.{method_id}): {sentence}")
    minutes = method.time_limit or evaluation.time_limit
    return EvaluationSpec(
        neighbours=evaluation.neighbours, inner_folds=folds, choose_by=evaluation.choose_by,
        components=method.component_choice(evaluation.components), time_limit=None if minutes == "none" else minutes,
    )  # fmt: skip


def _inputs(dataset: PlannedDataset, method_id: str, method: Method, descriptors: Descriptors) -> dict[str, InputSpec]:
    named = method.named_descriptors()
    impute: Impute = "mean" if dataset.impute == "none" and dataset.is_incomplete else dataset.impute
    inputs = {}
    for name, kind in method.inputs.items():
        if kind == "images" and dataset.config.family != "images":
            raise ConfigError(
                f"methods.{method_id}: {method.row.title} takes images, and data set {dataset.id!r} has none "
                f"({dataset.config.family}). Omit one of the two."
            )
        if kind == "images" and dataset.keeps_ratios:
            raise ConfigError(
                f"methods.{method_id}: {method.row.title} takes images of one size, and with `pixels` those of data "
                f"set {dataset.id!r} keep their aspect ratios. Set `resize: {{shape: [rows, columns]}}`."
            )
        if name in named and named[name][1] is None:
            continue
        chosen: list[str] = []
        if name in named:
            chosen = _descriptors(dataset, f"methods.{method_id}.{named[name][0]}", method, named[name][1], descriptors)
        elif kind == "kernels" and method.kernels == "dictionary":
            chosen = _descriptors(dataset, f"methods.{method_id}.kernels", method, sorted(descriptors), descriptors)
        inputs[name] = InputSpec(
            kind=kind, descriptors=chosen, feature_scaling=method.feature_scaling,
            impute=impute if kind == "features" else "none",
        )  # fmt: skip
    return inputs


def _descriptors(dataset: PlannedDataset, path: str, method: Method, value: Any, descriptors: Descriptors) -> list[str]:
    names = list(descriptors) if value == "all" and path.endswith(".descriptors") else as_list(value)
    if value and not descriptors:
        raise ConfigError(
            f"{path}: {method.row.title} takes features, and data set {dataset.id!r} has none "
            f"({dataset.config.family}). Omit one of the two."
        )
    for name in names:
        if name not in descriptors:
            valid = ", ".join(sorted(descriptors))
            raise ConfigError(f"{path}: data set {dataset.id!r} has no descriptor {name!r}; it has {valid}.")
    point_sets = [name for name in names if descriptors[name].config.point_sets]
    if point_sets:
        rest = [name for name in names if name not in point_sets]
        advice = f"name the others, [{', '.join(rest)}]" if rest else "name another descriptor"
        advice = "omit this descriptor, or use `kernels: all`" if path.endswith(".kernels") else advice
        raise ConfigError(
            f"{path}: {point_sets[0]!r} is a set of points for each image, and {method.row.title} takes one vector; "
            f"{advice}, or use a method on kernels."
        )
    return [descriptors[name].key for name in (names if method.keeps_order() else sorted(names))]


def _variants(
    method_id: str, method: Method, kernels: Sequence[Spec], dataset: PlannedDataset, has_dictionary: bool
) -> list[tuple[str, str, list[Spec]]]:
    """Return name, label and kernels of a method, or of its run on each kernel.

    Kernels are sorted unless the method keeps their order. With a dictionary, the method takes none of ``kernels``.
    """
    label = method.label or method_id
    if has_dictionary or method.row.takes not in ("kernels", "dictionary"):
        return [(method_id, label, [])]
    if not kernels:
        raise ConfigError(
            f"datasets.{dataset.id}: none of the study's kernels applies to it ({dataset.config.family}). "
            "Name a descriptor that does, or omit descriptors and kernels to use the defaults."
        )
    usual = [kernel for kernel in kernels if kernel["kind"] != "product"]
    if method.kernels == "each":
        names = variants(method_id, method, (kernel["id"] for kernel in usual))
        return [(name, f"{label} on {kernel['id']}", [kernel]) for name, kernel in zip(names, usual, strict=True)]
    listed = method.kernels if isinstance(method.kernels, list) else None
    chosen = usual if listed is None else _named_kernels(method_id, listed, kernels, dataset)
    return [(method_id, label, chosen if method.keeps_order() else by_name(chosen))]


def _named_kernels(method_id: str, names: list[str], kernels: Sequence[Spec], dataset: PlannedDataset) -> list[Spec]:
    there = [kernel["id"] for kernel in kernels]
    chosen = matching(names, there)
    missing = [name for name in names if not set(matching(name, there)) & set(there)]
    if missing:
        raise ConfigError(
            f"methods.{method_id}.kernels: data set {dataset.id!r} has no kernel {', '.join(missing)}; "
            f"it has {', '.join(sorted(there))}."
        )
    return [kernel for kernel in kernels if kernel["id"] in chosen]
