"""Methods that learn from landmarks: their kernels on features, and the landmarks and moments that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mklearn.errors import ConfigError
from mklearn.extras import require
from mklearn.study.method import Method
from mklearn.study.plan.datasets import PlannedDataset
from mklearn.study.plan.kernels import POINT_SET, by_name, kernel_parts
from mklearn.study.plan.protocols import PlannedProtocol
from mklearn.study.provenance import key
from mklearn.study.specs.fit_spec import NUMBER_OF_LANDMARKS, FitSpec, LandmarkSetSpec, is_pairwise
from mklearn.study.study import Evaluation


def kernels_on_features(kernels: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return kernels that are computed from features in place of matrices among all samples."""
    found = []
    for kernel in kernel_parts(kernels):
        matrix = is_pairwise(kernel["view"])
        found.append(kernel | {"view": kernel["view"].split("/")[0], "feature_scaling": "none"} if matrix else kernel)
    return found


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
    fit: FitSpec, method_id: str, method: Method, dataset: PlannedDataset, protocol: PlannedProtocol,
    evaluation: Evaluation,
) -> FitSpec:  # fmt: skip
    """Return a fit with the landmarks of its method, if it has any.

    Raises
    ------
    ConfigError
        Its kernels, its other fields, the protocol or the evaluation need kernels among all samples.
    MissingExtra
        skops is not installed: known now, not in a job.
    """
    landmarks = method.landmarks_spec()
    if landmarks is None:
        return fit
    components = method.component_choice() or evaluation.components
    reasons = {
        unsuited_kernels(fit.kernels): "name other `kernels`",
        dataset.family == "matrices" and "takes features, and this data set has matrices among its samples":
            "name other `datasets` for the method",
        _automatic(fit): "give the kernels one `feature_scaling`, such as standard",
        dataset.is_incomplete and "takes complete tables, and these may have missing rows or values":
            "use missing_views: drop without impute, or name other `datasets` for the method",
        method.needs_kernels() and f"has {method.needs_kernels()}, which needs kernels among all samples": "omit it",
        _unsuited_protocol(protocol): "name other `protocols` for the method",
        components not in (None, "all") and f"has components: {components}": "give n_components, or components: all",
        fit.evaluation.inner_folds == "leave_one_out" and "leaves out single samples": "give a number of inner_folds",
    }  # fmt: skip
    found = [f"{reason}; {advice}" for reason, advice in reasons.items() if reason]
    if found:
        raise ConfigError(
            f"methods.{method_id}.landmarks (datasets.{dataset.id}): the method {'. It also '.join(found)}, or omit "
            "`landmarks`."
        )
    require("skops")
    numbers = {}
    if isinstance(landmarks.n, list):
        landmarks = landmarks.model_copy(update={"n": sorted(landmarks.n)})
        numbers = {NUMBER_OF_LANDMARKS: landmarks.n}
    return fit.model_copy(update={
        "kernels": by_name(kernels_on_features(fit.kernels)),  # whichever method, it shares their landmarks
        "method": fit.method.model_copy(update={"grid": fit.method.grid | numbers}),
        "evaluation": fit.evaluation.model_copy(update={"components": "all"}),
        "landmarks": landmarks,
    })  # fmt: skip


def landmark_set(fit: FitSpec) -> tuple[str, LandmarkSetSpec] | tuple[None, None]:
    """Return key and specification of what a fit shares with others on the same kernels; None without landmarks."""
    if fit.landmarks is None:
        return None, None
    folds = fit.evaluation.inner_folds
    assert isinstance(folds, int)
    most = fit.landmarks.model_copy(update={"n": fit.landmarks.most})
    spec = LandmarkSetSpec(kernels=fit.kernels, landmarks=most, seed=fit.seed, inner_folds=folds)
    return key(f"{most.n}-landmarks", spec.as_dict()), spec


def _automatic(fit: FitSpec) -> str:
    automatic = [kernel["id"] for kernel in kernel_parts(fit.kernels) if kernel.get("feature_scaling") == "auto"]
    return f"takes kernel {automatic[0]!r}, whose feature_scaling is auto" if automatic else ""


def _unsuited_protocol(protocol: PlannedProtocol) -> str:
    if protocol.composes:
        return f"can't take samples that are composed of several (protocol {protocol.id!r})"
    if protocol.choice == "test_set":
        return f"can't choose on test samples (protocol {protocol.id!r})"
    return f"can't take validation folds (protocol {protocol.id!r})" if protocol.spec.kind == "validation_folds" else ""
