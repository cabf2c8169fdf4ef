"""``mklearn kernel``: the matrix that a study's fits use, as a file that notebooks read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from tests.workflow.conftest import Checkout

from mklearn.kernels import StackTransform, Views
from mklearn.study.artefacts import read_arrays

pytestmark = pytest.mark.full


def test_the_kernel_of_a_split_is_that_of_the_library(
    finished: Checkout, copy_of: Callable[[Checkout], Checkout]
) -> None:
    checkout = copy_of(finished)
    said = checkout.answer("kernel", "config.yaml", "pixels", "--split", "2")
    assert "pixels.npz: kernel pixels of digits, random" in said
    (features,) = checkout.folder.glob("results/cache/descriptors/digits-*/pixels-*.npz")
    (splits,) = checkout.folder.glob("results/cache/splits/digits-*/random-*.parquet")
    table = pd.read_parquet(splits)
    with np.load(checkout.folder / "pixels.npz") as written:
        found = {name: written[name] for name in written.files}
    drawn = list(table.groupby(["train_size", "repeat", "fold"], sort=False))[1][1]
    assert set(found["train_ids"]) == set(drawn.loc[drawn["role"].eq("train"), "id"])
    assert set(found["test_ids"]) == set(drawn.loc[drawn["role"].eq("test"), "id"])
    labels = pd.read_parquet(next(checkout.folder.glob("results/cache/data/digits-*.labels.parquet")))
    row = {name: number for number, name in enumerate(labels["id"].astype(str))}
    train, test = ([row[name] for name in found[f"{part}_ids"]] for part in ("train", "test"))
    views = Views({"pixels": read_arrays(features, ("features",))["features"]})
    by_hand = StackTransform({"pixels": {"kind": "gaussian", "view": "pixels"}}).fit(views[np.array(train)])
    np.testing.assert_allclose(found["train"], by_hand.stack_train_.matrices[0], atol=1e-6)
    np.testing.assert_allclose(found["test"], by_hand.transform(views[np.array(test)]).matrices[0], atol=1e-6)
    assert found["train_labels"].tolist() == labels["label"].astype(str).iloc[train].tolist()

    checkout.answer("kernel", "config.yaml", "pixels", "--split", "2", "--out", "pixels.parquet")
    frame = pd.read_parquet(checkout.folder / "pixels.parquet")
    assert list(frame.columns) == ["id", "label", "part", *found["train_ids"]]
    np.testing.assert_array_equal(
        frame.loc[frame["part"].eq("test"), list(found["train_ids"])].to_numpy(), found["test"]
    )


def test_what_there_is_not_is_said(finished: Checkout, copy_of: Callable[[Checkout], Checkout]) -> None:
    checkout = copy_of(finished)
    for words, message in {
        ("nothing",): "no fit of the study takes kernel 'nothing'. Kernels: blocks (digits, random)",
        ("pixels", "--protocol", "other"): "no fit of the study takes kernel 'pixels' (other). Kernels:",
        ("pixels", "--split", "99"): "--split 99: the protocol has splits 1 to",
        ("pixels", "--out", "pixels.txt"): "pixels.txt: a kernel is written as .npz or .parquet",
    }.items():
        assert message in checkout.answer("kernel", "config.yaml", *words, code=1)
    next(checkout.folder.glob("results/cache/splits/*/*.parquet")).unlink()
    said = checkout.answer("kernel", "config.yaml", "pixels", code=1)
    assert "is missing: run the study first (mklearn run config.yaml)" in said
