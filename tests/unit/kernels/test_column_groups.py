"""Kernels of groups of columns."""

import numpy as np
import pandas as pd
import pytest

from mklearn.errors import ConfigError, DataError
from mklearn.kernels import StackTransform, UnknownColumnsWarning, group_kernels

SETS = {"stress": ["HSP1", "HSP2", "HSP1"], "growth": ["MYC", "HSP2"]}


def test_each_group_is_the_kernel_of_its_standardised_columns() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(3, 2, (9, 4)), columns=["MYC", "X", "HSP2", "HSP1"])
    stack = StackTransform(group_kernels(SETS, X)).fit_transform(X)
    assert stack.ids == ("stress", "growth")
    for name, columns in {"stress": ["HSP1", "HSP2"], "growth": ["MYC", "HSP2"]}.items():
        Z = X[columns].to_numpy()
        Z = (Z - Z.mean(axis=0)) / Z.std(axis=0, ddof=1)
        K = Z @ Z.T
        np.testing.assert_allclose(stack[name], K * len(K) / np.trace(K), atol=1e-12)


def test_positions_and_views() -> None:
    specs = group_kernels({"left": np.array([0, 1]), "both": [1, 2, 2]}, 3, view="genes", missing_views="mean")
    assert specs[1] == {
        "id": "both", "kind": "linear", "columns": [1, 2], "feature_scaling": "standard", "view": "genes",
        "missing_views": "mean",
    }  # fmt: skip
    assert specs == group_kernels({"left": [0, 1], "both": [1, 2]}, np.ones((2, 3)), view="genes", missing_views="mean")


def test_a_table_whose_labels_are_no_texts_has_positions() -> None:
    values = np.random.default_rng(0).normal(size=(9, 3))
    X = pd.DataFrame(values, columns=[30, 0, 10])
    groups = {"g": [0, 1], "h": [2]}
    assert group_kernels(groups, X) == group_kernels(groups, 3)
    stack, expected = (StackTransform(group_kernels(groups, table)).fit_transform(table) for table in (X, values))
    np.testing.assert_allclose(stack.matrices, expected.matrices)
    with pytest.raises(ConfigError, match=r"group 'g' has '30'; expected positions: .* or none is a text"):
        group_kernels({"g": ["30"]}, X)


def test_unknown_names_are_counted_and_groups_without_columns_left_out() -> None:
    sets = {"known": ["a", "b"], "part": ["a", "x"], "none": ["y", "x"]}
    with pytest.warns(UnknownColumnsWarning, match=r"2 of the 4 .* unknown: 'x', 'y'; groups left out: 'none'"):
        specs = group_kernels(sets, ["a", "b", "c"])
    assert [spec["columns"] for spec in specs] == [["a", "b"], ["a"]]
    assert [spec["id"] for spec in group_kernels(sets, ["a", "b"], unknown="ignore", least=2)] == ["known"]
    with pytest.raises(DataError, match="2 of the 4 columns"):
        group_kernels(sets, ["a", "b"], unknown="error")
    with pytest.raises(DataError, match="no group has 1 or more of the table's columns, such as 'z'"):
        group_kernels(sets, ["z"], unknown="ignore")


@pytest.mark.parametrize(
    ("groups", "columns", "error", "said"),
    [
        ({"a": []}, 3, ConfigError, "group 'a' is empty"),
        ({"a": ["MYC"]}, 3, ConfigError, "the table has no column names"),
        ({"a": [3]}, 3, DataError, "position 3; the table has columns 0 to 2"),
        ({"a": ["MYC"]}, ["MYC", "MYC"], DataError, "several columns have the name 'MYC'"),
    ],
)
def test_groups_that_do_not_fit_are_refused(groups: dict, columns: object, error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        group_kernels(groups, columns)
