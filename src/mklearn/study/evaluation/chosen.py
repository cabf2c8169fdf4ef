"""Parameters that the inner cross-validation, or the estimator itself, has chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mklearn.study.evaluation.candidates import AUTO, method_of
from mklearn.study.specs.fit_spec import FitSpec

Choices = list[tuple[str, Any, Sequence[Any]]]
"""Names of parameters, with the chosen values and the grids (empty if there is none)."""


def chosen_parameters(
    spec: FitSpec, parameters: Mapping[str, Any], fitted: Any, n_components: int | None = None
) -> list[dict[str, Any]]:
    """Return a row for each parameter of a fitted method that was chosen among several values.

    Keys are ``parameter``, ``value`` and ``end``: "smallest" or "largest" at an end of a grid of numbers, else "".
    ``parameters`` are those of the chosen candidate.
    """
    method, estimator, rows = spec.method, method_of(fitted), Choices()
    for name, grid in method.grid.items():
        value = parameters[name]
        parts = value if isinstance(value, Mapping) else {}  # such as landmarks: {n: 300}
        rows += [(f"{key} of {name}", part, [each.get(key) for each in grid]) for key, part in parts.items()]
        rows += [] if parts else [(name, value, grid)]
    rows = [row for row in rows if any(each != row[1] for each in row[2])]
    if n_components is not None and method.has_components and spec.evaluation.components != "all":
        rows.append(("n_components", n_components, method.refit.sizes if method.refit else ()))
    kernels = estimator.kernels if isinstance(getattr(estimator, "kernels", None), Mapping) else {}
    if method.kernel_choice == "best_single":
        names = [*kernels] or [kernel["id"] for kernel in spec.kernels]
        rows.append(("kernel", names[int(np.argmax(estimator.kernel_weights_))], ()))
    automatic = {kernel["id"] for kernel in spec.kernels if kernel.get("feature_scaling") == AUTO}
    rows += [
        (f"feature_scaling of {name}", kernel["feature_scaling"], ())
        for name, kernel in kernels.items()
        if name in automatic
    ]
    if next(iter(method.inputs.values())).feature_scaling == AUTO:
        rows.append(("feature_scaling", fitted[0].feature_scaling, ()))
    rows += _chosen_by(estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator)
    return [{"parameter": name, "value": value, "end": _end(value, grid)} for name, value, grid in rows]


def _chosen_by(estimator: Any) -> Choices:
    """Return the ridges, the decision and the weights of parts that an estimator has chosen."""
    grid, parts = np.unique(getattr(estimator, "alphas", ())), getattr(estimator, "part_weights_", {})
    ridges = zip((f"alpha of {part}" for part in parts), getattr(estimator, "alphas_", ()), strict=False)
    rows = Choices()
    for name, alpha in [("alpha", estimator.alpha_)] if hasattr(estimator, "alpha_") else ridges:
        distances = np.abs(grid - np.ravel(alpha)[0])  # of rounding; NaN for a part of weight 0
        if len(grid) > 1 and not np.isnan(distances).any():
            rows.append((name, float(grid[distances.argmin()]), grid.tolist()))
    rows += [("decision", estimator.decision_, ())] if getattr(estimator, "decision", "") == "auto" else []
    weights = parts if getattr(estimator, "learned", "") == "auto" else {}
    return rows + [(f"weight of {part}", float(np.ravel(weight)[0]), ()) for part, weight in weights.items()]


def _end(value: Any, grid: Sequence[Any]) -> str:
    if len(grid) < 2 or not all(type(each) in (int, float) for each in grid):
        return ""
    return "smallest" if value == min(grid) else "largest" if value == max(grid) else ""
