"""Descriptors of images and tables: types of features, parts of the samples, and what is wrong with features."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from tests.entries import descriptor

from mklearn.errors import DataError
from mklearn.study.artefacts import read_arrays
from mklearn.study.data.samples import SampleSet
from mklearn.study.engine.workflow_files import load_script
from mklearn.study.prediction.new_samples import described_images
from mklearn.study.script import call
from mklearn.study.specs.final_spec import ModelView

N = 600
"""Images: more than two batches."""
DIGITS = load_digits()
HOG_4 = descriptor("hog", cell=4)
HALF = descriptor("table", table="half")


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    images = DIGITS.images[:N].astype(np.uint8)
    tables = {"half": DIGITS.data[:N, :32] / 3.0, "huge": np.full((N, 1), 1e300)}
    ids = [f"d{number}" for number in range(N)]
    data = SampleSet(ids, DIGITS.target[:N].astype(str), images=images, tables=tables)
    data.save(tmp_path / "samples.npz")
    return tmp_path / "samples.npz"


def described(samples: Path, model: Any, **fields: Any) -> dict[str, np.ndarray]:
    path = samples.with_name("features.npz")
    call(load_script("describe"), samples=samples, features=path, spec=model.specification() | fields)
    return read_arrays(path)


@pytest.mark.parametrize("model", [HOG_4, HALF])
def test_float32_features_are_the_rounded_ones(samples: Path, model: Any) -> None:
    doubles = described(samples, model)["features"]
    singles = described(samples, model.model_copy(update={"dtype": "float32"}))["features"]
    assert (doubles.dtype, singles.dtype) == (np.float64, np.float32)
    assert not np.array_equal(doubles, singles)  # they have more than 24 binary digits
    np.testing.assert_array_equal(singles, doubles.astype(np.float32))
    if model is HOG_4:  # a final model gives new images the type of its training images
        view = ModelView(name="hog", kind="hog", parameters=model.parameters(), dtype="float32")
        np.testing.assert_array_equal(described_images(SampleSet.load(samples).images, view, {}), singles, strict=True)
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
         r"pixels gives float64 features of shape \(72,\) for images 257 to 300, and float64 of shape \(64,\)"),
        (HOG_4, lambda number: (2, 2) if number == 280 else (8, 8),
         r"samples\.npz: image 'photo-280' has 2 x 2 pixels"),
    ],
)  # fmt: skip
def test_images_that_give_no_table(tmp_path: Path, model: Any, shape_of: Any, message: str) -> None:
    """Kills: an image's number within a batch of 256, which is another image's."""
    images = [np.zeros(shape_of(number), dtype=np.uint8) for number in range(300)]
    ids = [f"photo-{number}" for number in range(300)]
    SampleSet(ids, [str(n % 2) for n in range(300)], images=images).save(tmp_path / "samples.npz")
    with pytest.raises(DataError, match=message):
        described(tmp_path / "samples.npz", model)
