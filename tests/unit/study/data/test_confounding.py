"""Checks of data before a study runs: types of features, mistakes in them, and batches or gaps that tell the target."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from tests.entries import descriptor
from tests.unit.study.small_study import write_tables

from mklearn.atomic import read_npz
from mklearn.base.permutation import association
from mklearn.errors import DataError
from mklearn.study.data.confounding import confounding_notes
from mklearn.study.data.read import read_dataset
from mklearn.study.data.samples import SampleSet
from mklearn.study.datasets import dataset_spec
from mklearn.study.engine.workflow_files import load_script
from mklearn.study.prediction.new_samples import view_of_images
from mklearn.study.script import call
from mklearn.study.specs.final_spec import ModelView

N = 120


def notes(tmp_path: Path, columns: dict[str, Any], shift: float = 2.0, gaps: Any = (), **options: Any) -> list[str]:
    """Return the notes on a data set whose features have a mean of their own for each value of the first column."""
    rng, labels = np.random.default_rng(0), pd.DataFrame(columns, index=np.arange(N).astype(str))
    codes = np.unique(labels.iloc[:, 0], return_inverse=True)[1]
    near = rng.normal(size=(N, 8)) + shift * rng.normal(size=(codes.max() + 1, 8))[codes]
    views = {"near": near, "far": rng.normal(size=(N, 5))}
    files = write_tables(tmp_path, views, labels.index, without={"far": list(gaps)})
    labels.to_csv(tmp_path / "labels.csv", index_label="id")
    tables = {name: str(tmp_path / file) for name, file in files.items()}
    entry = {"kind": "feature_tables", "tables": tables, "labels": str(tmp_path / "labels.csv"), **options}
    return [note for note in read_dataset(dataset_spec(entry)).notes if "a method may" in note]


RNG = np.random.default_rng(1)
BATCH = RNG.integers(4, size=N)
UNIT = np.arange(N) // 3
"""Patients with three samples each."""
CLASS = np.where(RNG.random(N) < np.where(BATCH % 2, 0.85, 0.15), "case", "control")
RANDOM = RNG.permutation(CLASS)
OF_UNIT = np.array(["case", "control"])[UNIT % 2]
IN_BATCH = r"'{}' predicts the target \(left-out R² 0\.\d\d, p = 0\.005 in 199 shuffles\), and the views predict "


@pytest.mark.parametrize(
    ("columns", "options", "start"),
    [
        ({"Batch ID": BATCH, "label": CLASS}, {}, IN_BATCH.format("Batch ID") + r"'Batch ID' \(\d+% of"),
        ({"site": BATCH, "y": BATCH % 2 + RNG.normal(size=N) / 2}, {"target": "y"}, IN_BATCH.format("site")),
        ({"day": BATCH, "label": CLASS}, {"group_column": "day"}, IN_BATCH.format("day")),
        ({"batch": BATCH, "label": BATCH % 2}, {}, "each value of 'batch' has one class only .*class '0', '1'"),
        ({"batch": BATCH % 2, "label": BATCH % 2}, {}, ".*All samples of a class have one value, so these data can't"),
        ({"plate": BATCH // 2, "label": (BATCH == 3) * 1}, {},
         ".*All samples of a class have one value: compare the classes within 'plate' '1'$"),
        ({"batch": BATCH, "y": BATCH + 0.5}, {"target": "y"}, "each of 4 values of 'batch' has one target, and the"),
        ({"site": BATCH, "y": RNG.exponential(1 + 4 * (BATCH % 2)), "e": 1 - (RNG.random(N) < 0.3)},
         {"target": {"time": "y", "event": "e"}}, IN_BATCH.format("site")),
        ({"site": BATCH, "y": RNG.exponential(size=N), "e": 1 - (RNG.random(N) < 0.3)},
         {"target": {"time": "y", "event": "e"}}, ""),
        ({"batch": BATCH, "label": RANDOM}, {}, ""),
        ({"batch": BATCH, "label": CLASS}, {"shift": 0.0}, ""),
        ({"other": BATCH, "label": CLASS}, {}, ""),
        ({"patient": UNIT, "label": OF_UNIT}, {"group_column": "patient"}, ""),
        ({"site": UNIT // 2, "label": OF_UNIT, "patient": UNIT}, {"group_column": "patient"}, ""),
    ],
)  # fmt: skip
def test_batches(tmp_path: Path, columns: dict[str, Any], options: dict[str, Any], start: str) -> None:
    """With a shift of 0, the views do not predict the batch."""
    found = notes(tmp_path, columns, **options)
    assert len(found) == bool(start)
    assert all(re.match(start, note) for note in found)


@pytest.mark.parametrize("patients", [False, True])
@pytest.mark.parametrize("tell", [False, True])
def test_gaps(tmp_path: Path, tell: bool, patients: bool) -> None:
    """With patients, all samples of a patient lack the table."""
    rng = np.random.default_rng(2)
    chosen = UNIT % 4 == 0 if patients else rng.random(N) < 0.25
    labels = OF_UNIT if tell or not patients else OF_UNIT[3 * rng.permutation(40)][UNIT]
    gaps = np.flatnonzero(chosen & (OF_UNIT == "case") if tell else chosen)
    options = {"group_column": "patient"} if patients else {}
    found = notes(tmp_path, {"patient": UNIT, "label": labels}, gaps=gaps, missing_views="mean", **options)
    assert [note.partition(" (")[0] for note in found] == ["the tables that a sample lacks predict its target"] * tell


def test_gaps_of_few_samples_that_tell_by_chance_are_not_noted() -> None:
    rng = np.random.default_rng(8)
    gaps, y = rng.random((24, 1)) < 0.3, rng.permutation(np.arange(24) % 2)
    chance = association(gaps.astype(float), y, n_shuffles=199)
    assert chance.score > 0.1
    assert chance.p_value > 0.01
    tables = {"near": rng.normal(size=(24, 2)), "far": np.where(gaps, np.nan, rng.normal(size=(24, 2)))}
    samples = SampleSet([f"s{k}" for k in range(24)], y.astype(str), tables=tables)
    assert not list(confounding_notes(samples))


def test_a_matrix_predicts_the_batch(tmp_path: Path) -> None:
    X = RNG.normal(size=(4, 3))[BATCH] + 0.3 * RNG.normal(size=(N, 3))
    ids = [f"s{k}" for k in range(N)]
    pd.DataFrame(X @ X.T, ids, ids).to_csv(tmp_path / "k.csv", index_label="id")
    pd.DataFrame({"id": ids, "label": CLASS, "batch": BATCH}).to_csv(tmp_path / "labels.csv", index=False)
    entry = {"kind": "precomputed", "matrices": {"k": str(tmp_path / "k.csv")}, "labels": str(tmp_path / "labels.csv")}
    assert "the views predict 'batch'" in read_dataset(dataset_spec(entry)).notes[0]


# --- descriptors

N_IMAGES = 600
"""Images: more than two batches."""
DIGITS = load_digits()
HOG_4 = descriptor("hog", cell=4)
HALF = descriptor("table", table="half")


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    images = DIGITS.images[:N_IMAGES].astype(np.uint8)
    tables = {"half": DIGITS.data[:N_IMAGES, :32] / 3.0, "huge": np.full((N_IMAGES, 1), 1e300)}
    ids = [f"d{number}" for number in range(N_IMAGES)]
    names = {"half": np.array([f"p{number}" for number in range(32)])}
    data = SampleSet(ids, DIGITS.target[:N_IMAGES].astype(str), images=images, tables=tables, columns=names)
    data.save(tmp_path / "samples.npz")
    return tmp_path / "samples.npz"


def described(samples: Path, model: Any, **fields: Any) -> dict[str, np.ndarray]:
    path = samples.with_name("features.npz")
    call(load_script("describe"), samples=samples, features=path, spec=model.specification() | fields)
    return read_npz(path)


def test_columns_of_a_table_are_in_its_order(samples: Path) -> None:
    some = described(samples, descriptor("table", table="half", columns=["p9", "p2", "p99"]))["features"]
    np.testing.assert_array_equal(some, described(samples, HALF)["features"][:, [2, 9]])
    with pytest.raises(DataError, match="table 'half' has none of the columns 'p99'; leave these columns, or their"):
        described(samples, descriptor("table", table="half", columns=["p99"]))


@pytest.mark.parametrize("model", [HOG_4, HALF])
def test_float32_features_are_the_rounded_ones(samples: Path, model: Any) -> None:
    doubles = described(samples, model)["features"]
    singles = described(samples, model.model_copy(update={"dtype": "float32"}))["features"]
    assert (doubles.dtype, singles.dtype) == (np.float64, np.float32)
    assert not np.array_equal(doubles, singles)  # they have more than 24 binary digits
    np.testing.assert_array_equal(singles, doubles.astype(np.float32))
    if model is HOG_4:  # a final model gives new images the type of its training images
        view = ModelView(name="hog", kind="hog", parameters=model.parameters(), dtype="float32")
        data = SampleSet.load(samples)
        np.testing.assert_array_equal(view_of_images(data.images, data.ids, view, {}), singles, strict=True)
    assert "dtype" not in descriptor("pixels", dtype="float64").specification(), "the default is in no key"


@pytest.mark.parametrize("model", [HOG_4, HALF])
def test_parts_are_the_rows_of_the_whole(samples: Path, model: Any) -> None:
    whole = described(samples, model)
    parts = [described(samples, model, part=f"{number}of7") for number in range(1, 8)]
    assert {len(part["ids"]) for part in parts} == {85, 86}
    for name in ("features", "ids"):
        np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), whole[name])


@pytest.mark.parametrize(
    ("model", "shape_of", "message"),
    [
        (descriptor("pixels"), lambda number: (8, 8 if number < 256 else 9),
         r"pixels gives float64 features of shape \(72,\) after float64 ones of shape \(64,\)"),
        (HOG_4, lambda number: (2, 2) if number == 280 else (8, 8),
         r"samples\.npz: descriptor hog: image 'photo-280' has 2 x 2 pixels"),
    ],
)  # fmt: skip
def test_images_that_give_no_table(tmp_path: Path, model: Any, shape_of: Any, message: str) -> None:
    """Kills: an image's number within a batch of 256, which is another image's."""
    images = [np.zeros(shape_of(number), dtype=np.uint8) for number in range(300)]
    ids = [f"photo-{number}" for number in range(300)]
    SampleSet(ids, [str(n % 2) for n in range(300)], images=images).save(tmp_path / "samples.npz")
    with pytest.raises(DataError, match=message):
        described(tmp_path / "samples.npz", model)
