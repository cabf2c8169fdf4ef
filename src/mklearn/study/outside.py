"""Rows inferred for implementations of other packages, from signatures and scikit-learn's tags."""

from __future__ import annotations

import inspect
from typing import Any

from mklearn.descriptors.table import DescriptorRow
from mklearn.errors import ConfigError
from mklearn.kernels.table import KernelRow
from mklearn.methods import MethodRow
from mklearn.study.data.protocols import ProtocolRow


def method_row(implementation: Any) -> MethodRow:
    """Return the row of an estimator: on kernels if it has a parameter `kernels`, else on concatenated features.

    A list in a study tunes a parameter, unless the default of the parameter is a list or tuple.
    """
    from sklearn.base import is_classifier, is_regressor

    from mklearn.base.pipelines import predicts_survival

    parameters = _signature(implementation)
    estimator = implementation()
    target = "survival" if predicts_survival(estimator) else "numbers" if is_regressor(estimator) else "classes"
    return MethodRow(
        takes="kernels" if "kernels" in parameters else "descriptors",
        embeds=hasattr(estimator, "transform") and not is_classifier(estimator) and not is_regressor(estimator),
        landmarks="landmarks" in parameters,
        scales_features="feature_scaling" in parameters,
        tuned=[name for name, each in parameters.items() if not isinstance(each.default, (list, tuple))],
        targets=(target,),
        in_model_files=False,
    )


def kernel_row(implementation: Any) -> KernelRow:
    """Return the row of a subclass of :class:`mklearn.kernels.base.Kernel`."""
    from mklearn.kernels.base import Kernel

    is_kernel = isinstance(implementation, type) and issubclass(implementation, Kernel)
    if not (is_kernel and hasattr(implementation, "measures")):
        raise ConfigError(f"{implementation!r} is not a subclass of mklearn.kernels.Kernel that declares `measures`.")
    return KernelRow(measures=implementation.measures)


def descriptor_row(implementation: Any) -> DescriptorRow:
    """Return the row of a descriptor function, which takes images."""
    _signature(implementation)
    return DescriptorRow()


def protocol_row(implementation: Any) -> ProtocolRow:
    """Return the row of a protocol function, which draws or reads splits."""
    parameters = _signature(implementation)
    return ProtocolRow(required=[name for name in ("train_size", "path") if name in parameters])


def _signature(implementation: Any) -> Any:
    if not callable(implementation):
        raise ConfigError(f"{implementation!r} is no class or function.")
    return inspect.signature(implementation).parameters
