"""Sets of several views: upstream's files beside the tables of the mirror, the published splits, and damaged files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from mklearn.errors import DataError
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers import views
from mklearn.study.data.readers.content import published_folds
from mklearn.study.data.registry import dataset_spec, entry
from mklearn.study.data.samples import SampleSet

SETS = {
    "mfeat": "label", "protein_fold": "label", "three_sources": "label", "breast_tcga": "label", "nutrimouse": "diet",
    "nutrimouse-genotype": "genotype", "bace": "label",
}  # fmt: skip


def registered(name: str, mirror: Path) -> SampleSet:
    files = {file.name: mirror / file.mirror for file in entry(name).files if file.mirror}
    return read_dataset(dataset_spec({"kind": "registered", "name": name}), files)


@cache
def whole(name: str, mirror: Path) -> SampleSet:
    """A registered set, read once, for tests that only look."""
    return registered(name, mirror)


LONG = {"bace", "three_sources"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] if name in LONG else []) for name in SETS]
)
def test_upstream_file_equals_the_tables_of_the_mirror(mirror: Path, name: str) -> None:
    folder = mirror / "multiview" / (entry(name).of or name)
    samples = whole(name, mirror)
    about = pd.read_csv(folder / "samples.csv").set_index("id")
    ids = [text.rpartition("/")[2] for text in samples.ids]
    assert ids == about.index.tolist()
    assert samples.classes[samples.y].tolist() == about[SETS[name]].tolist()
    if "split" in about:
        assert [text.partition("/")[0] for text in samples.ids] == about["split"].tolist()
    if "group" in about:
        assert samples.groups is not None
        assert samples.groups.tolist() == about["group"].tolist()
    assert list(samples.tables) == entry(name).tables
    for view, values in samples.tables.items():
        table = pd.read_csv(folder / f"{view}.csv.gz", dtype=str).set_index("id").reindex(ids)
        np.testing.assert_array_equal(values, table.to_numpy().astype(float), strict=True)


@pytest.fixture
def matlab(tmp_path: Path) -> Path:
    cells = np.empty((2, 1), dtype=object)
    cells[:, 0] = [np.arange(12.0).reshape(4, 3), np.arange(8, dtype=np.uint8).reshape(4, 2)]
    savemat(tmp_path / "a.mat", {"X": cells, "y": np.array([[2, 1, 1, 2]], dtype=np.uint8).T})
    return tmp_path / "a.mat"


def test_views_of_a_cell(matlab: Path) -> None:
    samples = views.read({"a": matlab}, tables=["p", "q"], sample="s-", parts={"train": 3, "test": 1})
    assert samples.ids.tolist() == ["train/s-0", "train/s-1", "train/s-2", "test/s-3"]
    assert samples.classes[samples.y].tolist() == ["2", "1", "1", "2"]
    assert {name: table.dtype for name, table in samples.tables.items()} == {"p": np.float64, "q": np.float64}
    np.testing.assert_array_equal(samples.tables["q"], np.arange(8).reshape(4, 2))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tables": ["p"]}, "X has 2 views of shapes '(4, 3)', '(4, 2)'; expected 1 matrices of 4 rows"),
        ({"tables": ["p", "q"], "classes": ["one"]}, "y has the codes 1 to 2; expected 1 to 1"),
        ({"tables": ["p", "q"], "parts": {"train": 2, "test": 1}}, "4 samples; expected 2 + 1"),
    ],
)
def test_other_cells_than_expected(matlab: Path, options: dict, words: str) -> None:
    with pytest.raises(DataError) as raised:
        views.read({"a": matlab}, **options)
    assert words in str(raised.value)


@pytest.mark.parametrize("damage", ["half", "nonsense", "empty"])
def test_damaged_files_of_r(mirror: Path, tmp_path: Path, damage: str) -> None:
    content = (mirror / "multiview/nutrimouse/upstream/nutrimouse.rda").read_bytes()
    path = tmp_path / "a.rda"
    path.write_bytes({"half": content[: len(content) // 2], "nonsense": b"nonsense" * 40, "empty": b""}[damage])
    with pytest.raises(DataError, match=r"not a readable file of R .*; it is truncated or damaged"):
        views.read({"a": path}, tables=["gene", "lipid"], label="diet")


def test_rows_filled_in_upstream_are_missing_views(mirror: Path) -> None:
    """Of the microbiome 15 rows are three different ones: they are not read; the groups are 17 women."""
    samples = registered("pregnancy", mirror)
    gone = {name: int(np.isnan(table).all(axis=1).sum()) for name, table in samples.tables.items()}
    assert gone == {"rna": 6, "immune": 0, "metabolites": 0, "microbiome": 15, "luminex-plasma": 0, "somalogic": 2,
                    "luminex-serum": 6}  # fmt: skip
    left = samples.tables["microbiome"]
    left = left[~np.isnan(left).any(axis=1)]
    assert len(np.unique(left, axis=0)) == len(left) == 36
    assert samples.groups is not None
    assert sorted(np.unique(samples.groups, return_counts=True)[1]) == [3] * 17
    assert samples.target == "numbers"
    assert (samples.y.min(), samples.y.max()) == (8.0, 32.0)


def test_the_pedigree_is_a_linear_kernel_and_the_folds_are_the_published_ones(mirror: Path) -> None:
    samples = registered("wheat", mirror)
    folder = mirror / "multiview" / "wheat"
    pedigree = pd.read_csv(folder / "kernel_pedigree.csv.gz", index_col="id")
    assert (pedigree.index == samples.ids).all()
    assert np.allclose(samples.tables["pedigree"] @ samples.tables["pedigree"].T, pedigree, atol=1e-9)
    given = pd.read_csv(folder / "splits.csv")
    folds = published_folds(folder / "samples.csv", samples.ids)
    assert len(folds) == 10
    for number, test in enumerate(folds):
        expected = given.loc[given["fold"].eq(number) & given["role"].eq("test"), "id"]
        assert set(test) == set(expected)
