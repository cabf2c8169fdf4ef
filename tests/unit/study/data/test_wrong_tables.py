"""Own tables that would be read silently wrong: refused with a sentence, or noted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklearn.errors import DataError
from mklearn.study.data.readers import feature_tables, precomputed
from mklearn.study.data.samples import SampleSet

RNG = np.random.default_rng(1)
N = 12
IDS = np.array([f"s{k}" for k in range(N)])
LABELS = np.repeat(["cat", "dog", "owl"], N // 3)
X = RNG.random((N, 2))
FRAME = pd.DataFrame({"id": IDS, "label": LABELS, "f": X[:, 0]})


def read(path: Path) -> SampleSet:
    return feature_tables.read({"one": path})


def refused(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        read(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert said.count(str(path)) == 1
    assert "np." not in said  # as in np.str_('s0')
    return said


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (FRAME.to_csv(), "column 1 has no name. If it is the index of a pandas table, leave it out"),
        (FRAME.to_csv(index=False, header=["", "id", "label"]).removeprefix(","), "names 2 columns"),
        (FRAME.to_csv(index=False).replace("label", "id"), "names of columns must be unique; more than once: 'id'"),
        (FRAME.to_csv(index=False).replace("cat", "cat\0", 1), "has a NUL character; rename it"),
        (FRAME.to_csv(index=False).encode("utf-16"), "save it as UTF-8 text"),
        (FRAME.to_csv(index=False, sep=";"), r"its values are separated by ';'; a .csv file has ',' between values"),
        (FRAME.to_csv(index=False, sep="\t"), "its values are separated by a tab"),
        ('id,label,f\n"unfinished', "not a readable CSV table"),
        ("", "is empty; expected a line of names of columns"),
    ],
)  # fmt: skip
def test_csv_that_pandas_reads_otherwise(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    path = tmp_path / "one.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=sentence):
        read(path)
    assert refused(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"X": X[:-1]}, "12 ids but 11 rows"),
        ({"label": [*LABELS, "cat"]}, "column 'label' has shape (13,); expected (12,), one value for each id"),
        ({"label": LABELS[:, None]}, "column 'label' has shape (12, 1)"),
        ({"id": np.array("s0")}, "column 'id' has shape (); expected one dimension"),
        ({"id": np.arange(N) + 1e30}, "column 'id' has numbers of 2**53 or more stored as floats"),
        ({"label": np.arange(N) * 1j}, "column 'label' has dtype complex128; expected text or numbers"),
        ({"label": np.array([b"\xff\xfe", *[b"a"] * (N - 1)])}, "column 'label' has bytes that are not UTF-8"),
        ({"X": X * 1e200}, "values above 1e+60, whose squares can't be computed with: columns '0', '1'; rescale them"),
    ],
)
def test_arrays_that_are_no_ids_labels_or_numbers(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    path = tmp_path / "one.npz"
    np.savez(path, **{"id": IDS, "label": LABELS, "X": X} | change)
    assert sentence in refused(path)


def test_true_is_1_and_yes_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    FRAME.assign(f=np.arange(N) % 2 == 0).to_csv(path, index=False)
    assert read(path).tables["one"][:, 0].tolist() == [1.0, 0.0] * (N // 2)
    FRAME.assign(f=["True", "", "False"] * (N // 3), g=X[:, 1]).to_csv(path, index=False)
    filled = feature_tables.read({"one": path}, impute="mean").tables["one"][:, 0]
    np.testing.assert_array_equal(filled, [1.0, np.nan, 0.0] * (N // 3))
    FRAME.assign(f=["yes", "no"] * (N // 2)).to_csv(path, index=False)
    assert "columns that are not numbers: 'f'; for example 'yes'" in refused(path)


@pytest.mark.parametrize("missing_views", ["error", "mean"])
@pytest.mark.parametrize("labels_in", ["people", "aliquots"])
def test_ids_that_begin_with_those_of_another_table(tmp_path: Path, missing_views: Any, labels_in: str) -> None:
    """Barcodes of aliquots beside those of patients: none is equal."""
    people = FRAME.assign(id=[f"TCGA-{k:03}" for k in range(N)])
    aliquots = people.assign(id=people["id"] + "-01A-R29S", g=X[:, 1])[["id", "label", "g"]].iloc[::-1]
    tables = {"people": people, "aliquots": aliquots}
    paths = {name: tmp_path / f"{name}.csv" for name in tables}
    for name, table in tables.items():
        table.drop(columns=[] if name == labels_in else ["label"]).to_csv(paths[name], index=False)
    with pytest.raises(DataError) as caught:
        feature_tables.read(paths, missing_views=missing_views)
    for words in (paths["people"], paths["aliquots"], "-01A-R29S' with 'TCGA-0", "`id_prefix: 8`"):
        assert str(words) in str(caught.value)
    samples = feature_tables.read(paths, missing_views=missing_views, id_prefix=8)
    assert samples.ids.tolist() == people["id"].tolist()
    np.testing.assert_array_equal(np.column_stack(list(samples.tables.values())), X)
    pd.concat([aliquots, aliquots.iloc[:1].assign(id="TCGA-011-11A-R29S")]).to_csv(paths["aliquots"], index=False)
    with pytest.raises(DataError, match=r"aliquots\.csv: 'TCGA-011-01A-R29S' and 'TCGA-011-11A-R29S' are one sample"):
        feature_tables.read(paths, missing_views=missing_views, id_prefix=8)


def test_a_column_that_is_left_out_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    FRAME.assign(leak=LABELS, g=X[:, 1]).to_csv(path, index=False)
    assert feature_tables.read({"one": path}, leave_out=["leak", "g"]).tables["one"].shape == (N, 1)
    with pytest.raises(DataError, match=r"leave_out: no table has a column 'gg'\. Did you mean 'g'\?"):
        feature_tables.read({"one": path}, leave_out=["gg", "leak"])


def matrix(tmp_path: Path, values: np.ndarray, measure: str = "kernel") -> SampleSet:
    FRAME[["id", "label"]].to_csv(tmp_path / "labels.csv", index=False)
    np.savez(tmp_path / "k.npz", K=values)
    return precomputed.read({"k": tmp_path / "k.npz", "L": tmp_path / "labels.csv"}, labels="L", measure=measure)


def test_a_distance_is_no_kernel(tmp_path: Path) -> None:
    distance = np.linalg.norm(X[:, None] - X, axis=2)
    with pytest.raises(DataError, match=r"k\.npz: not a kernel: .* is 0; .*Then say measure: distance"):
        matrix(tmp_path, distance)
    assert matrix(tmp_path, distance, "distance").notes == ()
    kernel = X @ X.T
    kernel[3] = kernel[:, 3] = 0
    with pytest.raises(DataError, match=r"\('s3', 's3'\) is 0; the diagonal of a kernel is positive$"):
        matrix(tmp_path, kernel)


def test_the_smallest_eigenvalue_of_a_kernel_is_noted(tmp_path: Path) -> None:
    kernel = np.eye(N) * 3
    assert matrix(tmp_path, kernel).notes == (f"{tmp_path / 'k.npz'}: smallest eigenvalue 3, largest 3",)
    kernel[0, 1] = kernel[1, 0] = 4
    [note] = matrix(tmp_path, kernel).notes
    assert "smallest eigenvalue -1, largest 7; negative ones are changed as `psd`" in note
