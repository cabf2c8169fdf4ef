"""Families of kernels, and the weights of the ridge regressions on them."""

import numpy as np
import pytest

from mklearn.base.kernel_mixtures import kernel_families, stacked
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.optimize.ridge_path import ridge_path
from mklearn.optimize.stacking import stacking_weights

VIEWS = [f"v{number:02}" for number in range(12)]
SPECS = [{"kind": kind, "feature_scaling": "unit"} for _ in VIEWS for kind in ("gaussian", "linear")]
AGREEMENTS = {view: float(number) for number, view in enumerate(VIEWS)}


@pytest.mark.parametrize(
    ("agreements", "least", "alone"),
    [(AGREEMENTS, 11.0, VIEWS[2:]), (AGREEMENTS, 11.5, []), ({}, 3.0, VIEWS[:10]), ({"v11": 5.0}, 3.0, VIEWS[:9])],
    ids=["ten agree most", "none agrees", "not measured", "ties by position"],
)
def test_views_with_families_of_their_own(agreements: dict[str, float], least: float, alone: list[str]) -> None:
    families = kernel_families(SPECS, np.repeat(VIEWS, 2).tolist(), np.ones(24, dtype=bool), agreements, least)
    names = {name.split(" of ")[1] for name in families if " of " in name}
    assert names == {*alone, *(["v11"] if len(agreements) == 1 else [])}
    assert {"gaussian", "linear"} <= families.keys()
    assert not {"gaussian, unit", "linear, unit"} & families.keys()  # the same kernels as "gaussian" and "linear"
    assert all(families[f"linear of {view}"].sum() == 1 for view in names)


def test_a_family_of_unused_or_of_all_kernels_is_none() -> None:
    used = np.arange(24) % 2 == 0
    families = kernel_families(SPECS, np.repeat(VIEWS, 2).tolist(), used, {}, 0.0)
    assert families.keys() == {f"gaussian of {view}" for view in VIEWS[:10]}


@pytest.mark.parametrize(("precision", "least"), [(5.0, 0.2), (3000.0, 0.0)], ids=["large weight", "small weight"])
def test_weights_are_stacking_weights_with_the_cost_of_learned_kernel_weights(precision: float, least: float) -> None:
    """With the second precision the family of the first kernel has a weight below 0.01, and is left out."""
    rng, ridges = np.random.default_rng(0), np.array([0.1, 1.0, 10.0])
    features = rng.normal(size=(4, 40, 12))
    kernels = [X @ X.T for X in features]
    targets = features[:, :, 0].T @ [[1.0], [0.6], [0.1], [0.0]] + 0.5 * rng.normal(size=(40, 1))
    scales = np.array([1.0, 2.0, 0.5, 1.0])
    shares = {
        "equal": np.full(4, 0.25),
        "learned": np.array([0.4, 0.1, 0.1, 0.4]),
        "a": np.eye(4)[0],
        "b": np.eye(4)[1],
    }
    prior = [0.5, 0.5, 0.0, 0.0]
    parts = dict(zip(shares, zip(prior, shares.values(), strict=True), strict=True))
    problem = RidgeProblem.of(targets, None, None)
    chosen = {name: part[0] for name, part in stacked(parts, kernels, scales, problem, ridges, precision).items()}
    mixtures = [np.tensordot(each * scales, kernels, 1) for each in shares.values()]
    left_out = np.array([ridge_path(K, targets, ridges).left_out for K in mixtures])
    weights = stacking_weights(left_out, targets, prior, [0, 3, 0, 0], precision=precision)
    assert weights[3] == 0 < weights[2]
    assert weights[2] > least
    kept = np.where(weights < 0.01, 0.0, weights)
    expected = dict(zip(shares, kept / kept.sum(), strict=True))
    assert chosen == pytest.approx({name: expected[name] for name in ("equal", "learned", *(["a"] if least else []))})
    same = stacked(parts | {"learned": (0.5, shares["equal"])}, kernels, scales, problem, ridges, precision)
    assert same["equal"][0] == pytest.approx(same["learned"][0])  # nothing was learned
