"""Methods that learn from landmarks: their kernels on features, and moments that they share on samples in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mklearn.errors import ConfigError
from mklearn.extras import require
from mklearn.study.method import Method
from mklearn.study.plan.datasets import PlannedDataset
from mklearn.study.plan.descriptors import PlannedProtocol
from mklearn.study.plan.kernels import POINT_SET, by_name
from mklearn.study.specs.fit_spec import FitSpec, MomentsSpec, is_pairwise, kernel_parts


def kernels_on_features(kernels: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return kernels that are computed from features in place of matrices among all samples."""
    on_features = []
    for kernel in kernel_parts(kernels):
        matrix = is_pairwise(kernel["view"])
        made = kernel | {"view": kernel["view"].split("/")[0], "feature_scaling": "none"} if matrix else kernel
        on_features.append(made)
    return on_features


def unsuited_kernels(kernels: Sequence[dict[str, Any]]) -> str:
    """Return why kernels can't be computed from views by the library; empty if they can."""
    for kernel in kernels:
        name = kernel["id"]
        if "factors" in kernel:
            return f"takes kernel {name!r}, a product of kernels of several descriptors, and each has to read one view"
        if kernel.get("measure") == POINT_SET:
            return f"takes kernel {name!r}, which compares sets of points"
        if "implementation" in kernel:
            return f"takes kernel {name!r} of another package"
    return ""


def on_landmarks(
    fit: FitSpec, method_id: str, method: Method, dataset: PlannedDataset, protocol: PlannedProtocol
) -> FitSpec:
    """Return a fit with the landmarks of its method, if it has any.

    ConfigError is raised where its kernels, its other fields, the protocol or the evaluation need kernels among all
    samples, or on samples in blocks more than one pass over them.
    """
    landmarks = method.landmark_candidates(fit.seed)
    if not landmarks:
        return fit
    graph = method.given.get("graph", "lda")
    reasons = {
        unsuited_kernels(fit.kernels): "name other `kernels`",
        "takes features, and this data set has matrices among its samples" * (dataset.family == "matrices"):
            "name other `datasets` for the method",
        f"has graph: {graph}, which joins samples" * (graph not in ("lda", "pca")): "omit it",
        "leaves out single samples" * (fit.evaluation.inner_folds == "leave_one_out"): "give a number of inner_folds",
    }  # fmt: skip
    if dataset.n_blocks > 1:
        reasons |= dict.fromkeys(_more_than_a_pass(fit, method, dataset, protocol), "set `blocks: 1`")
        require("skops")  # known now, not in a job
    sentences = [f"{reason}; {advice}" for reason, advice in reasons.items() if reason]
    if sentences:
        raise ConfigError(
            f"methods.{method_id}.landmarks (datasets.{dataset.id}): the method {'. It also '.join(sentences)}, or "
            "omit `landmarks`."
        )
    chosen = {"grid": fit.method.grid | {"landmarks": landmarks}}
    if len(landmarks) == 1:
        chosen = {"parameters": fit.method.parameters | {"landmarks": landmarks[0]}}
    update = {
        "kernels": by_name(kernels_on_features(fit.kernels)),  # whichever method, it shares their landmarks
        "method": fit.method.model_copy(update=chosen),
    }
    if dataset.n_blocks > 1:
        update["evaluation"] = fit.evaluation.model_copy(update={"components": "all"})
    return fit.model_copy(update=update)


def _more_than_a_pass(fit: FitSpec, method: Method, dataset: PlannedDataset, protocol: PlannedProtocol) -> list[str]:
    """Return what of a fit the moments of blocks don't have."""
    auto = [kernel["id"] for kernel in kernel_parts(fit.kernels) if kernel.get("feature_scaling") == "auto"]
    of_protocol = f" (protocol {protocol.id!r}), and its samples are in blocks"
    reasons = {
        f"chooses the feature_scaling of kernel {auto[0]!r}" if auto else "": bool(auto),
        "completes missing rows or values": dataset.is_incomplete,
        "has kernel_weights: cv_accuracy": method.kernel_choice() == "cv_accuracy",
        f"has components: {method.components}": method.components not in (None, "all"),
        "chooses among several n": len(method.landmark_candidates(0)) > 1,
        "takes samples that are composed of several": protocol.entry.row.composes,
        "chooses on test samples": protocol.entry.choose == "test_set",
        "takes validation folds": protocol.spec.kind == "validation_folds",
    }
    return [f"{reason}{of_protocol}" for reason, holds in reasons.items() if holds]


def moments_spec(fit: FitSpec, dataset: PlannedDataset) -> MomentsSpec | None:
    """Return what a fit shares with others on the same kernels and landmarks, of samples in blocks."""
    if dataset.n_blocks == 1 or not fit.method.landmarks:
        return None
    (landmarks,), folds = fit.method.landmarks, fit.evaluation.inner_folds
    assert isinstance(folds, int)
    return MomentsSpec(kernels=fit.kernels, landmarks=landmarks, seed=fit.seed, inner_folds=folds)
