"""Every row of the tables: its code has what the row and the listings say; protocols draw the same splits again."""

import inspect
from typing import Any

import numpy as np
import pytest
from tests.entries import implementation, protocol

from mklearn.base.parameters import validate_parameter_constraints
from mklearn.descriptors.table import DESCRIPTORS, TABLE
from mklearn.kernels.base import Kernel
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.table import KERNELS
from mklearn.methods import METHODS, MethodRow
from mklearn.rows import Row
from mklearn.study.data.protocols import PROTOCOLS
from mklearn.study.evaluation.metrics.metric import METRICS
from mklearn.study.listings import parameter_texts
from mklearn.study.method import Method
from mklearn.study.parameters import OF_THE_STUDY
from mklearn.study.plan.kernels import POINT_SET

WITHOUT_PAPER = {
    "linear", "polynomial", "precomputed", "pixels", TABLE, "majority", "mean_regressor", *PROTOCOLS, *METRICS,
}  # fmt: skip
TABLES: dict[str, dict[str, Any]] = {
    "methods": METHODS, "kernels": KERNELS, "descriptors": DESCRIPTORS, "protocols": PROTOCOLS, "metrics": METRICS,
}  # fmt: skip
ROWS = [
    pytest.param(sort, kind, row, id=f"{sort}-{kind}")
    for sort, table in TABLES.items()
    for kind, row in table.items()
    if kind != TABLE
]


@pytest.mark.parametrize(("sort", "kind", "row"), ROWS)
def test_a_row_is_of_what_it_says(sort: str, kind: str, row: Row) -> None:
    function = implementation(row)
    taken = inspect.signature(function).parameters
    assert row.title
    assert row.reference or kind in WITHOUT_PAPER
    assert (inspect.getdoc(function) or "").strip()
    assert set(row.defaults) <= set(taken)
    changed = {name: value for name, value in row.defaults.items() if value != taken[name].default}
    constraints = getattr(function, "_parameter_constraints", {})
    validate_parameter_constraints(constraints, changed, kind)
    if sort in ("kernels", "metrics"):
        return
    texts = parameter_texts(function)
    fixed = {*OF_THE_STUDY, *getattr(row, "fixed", ()), "centre", "normalise", "psd"}
    for name in set(taken) - fixed - {"patch", "n_components"}:
        assert texts.get(name) or "sklearn" in str(inspect.getmodule(function)), name
        assert name in constraints or name in getattr(row, "views", ()), f"{name} has no valid values"


@pytest.mark.parametrize("kind", METHODS)
def test_a_method_has_what_its_row_says(kind: str) -> None:
    row: MethodRow = METHODS[kind]
    taken = inspect.signature(implementation(row)).parameters
    assert {*row.tuned, *row.views, *row.parts, *row.fixed} <= set(taken)
    assert ("kernels" in taken) == (row.takes in ("kernels", "dictionary"))
    assert row.combines <= ("kernel_weights" in taken)
    assert not (row.embeds and row.refit) or "n_components" in taken
    assert not row.embeds or {"transform", "predict"} <= set(dir(implementation(row)))
    assert row.landmarks <= ("landmarks" in taken)
    assert row.scales_features == ("feature_scaling" in taken)
    assert not set(taken) & set(Method.model_fields) - {"kernels", "landmarks", *Method.either}
    assert all(name in METHODS for part in row.parts.values() for name in part.kinds)


def test_kernels_and_descriptors_have_what_their_rows_say() -> None:
    for kind, row in KERNELS.items():
        of_class: type[Kernel] = implementation(row)
        assert (of_class.kind, of_class.measures) == (kind, row.measures)
    assert {row.measure for row in DESCRIPTORS.values()} <= {*MEASURES, POINT_SET}


# --- protocols that draw splits

PROTOCOL_FIELDS: dict[str, dict[str, Any]] = {"random_per_class": {"train_size": 3}, "random": {"train_size": 12}}
NEEDS_GROUPS = ["group_k_fold"]
NOT_DRAWN = ("given", "released", "verification", "leave_one_group_out", "clustering")
"""They are read from files, follow from the groups, or test their training samples."""
DRAWN = [kind for kind in PROTOCOLS if kind not in NOT_DRAWN]


@pytest.mark.parametrize("kind", DRAWN)
def test_splits_depend_on_seed_and_data_set_only(kind: str) -> None:
    y = np.repeat(np.arange(3), 8)
    draw = implementation(PROTOCOLS[kind])
    assert {"seed", "name"} <= set(inspect.signature(draw).parameters)
    parameters = protocol(kind, **PROTOCOL_FIELDS.get(kind, {})).parameters()
    if kind in NEEDS_GROUPS:
        parameters["groups"] = np.arange(len(y)).astype(str)

    def drawn(seed: int = 0, name: str = "x") -> list[list[int]]:
        splits = list(draw(y, **parameters, seed=seed, name=name))
        for split in splits:
            assert not np.intersect1d(split.train, split.test).size
            assert {*y[split.train]} == {*y[split.test]} == {0, 1, 2} or kind == "random"
        return [split.train.tolist() for split in splits]

    assert drawn() == drawn()
    assert drawn() != drawn(seed=1)
    assert drawn() != drawn(name="y")
