"""Registered data sets: the real files, damaged files and wrong files."""

import bz2
import csv
import gzip
import struct
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from mklearn.errors import DataError
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers.registered import deng_cai, mnist, published_folds, uci, usps, views
from mklearn.study.data.readers.views import r_package
from mklearn.study.data.registry import entry, registry
from mklearn.study.data.samples import SampleSet
from mklearn.study.datasets import dataset_spec


@cache
def read(name: str, mirror: Path, **selection: int) -> SampleSet:
    files = {file.name: mirror / file.mirror for file in entry(name).packaging(str(mirror)) if file.mirror}
    return read_dataset(dataset_spec({"kind": "registered", "name": name, **selection}), files)


def test_registry_agrees_with_the_manifest(mirror: Path) -> None:
    manifest = {}
    for folder in ("", "multiview"):
        with (mirror / folder / "MANIFEST.csv").open(encoding="utf-8") as stream:
            manifest |= {str(Path(folder, row["path"])): row for row in csv.DictReader(stream)}
    for known in registry().values():
        for files in (known.files, *known.protocol_files.values(), *known.alternatives):
            for file in files:
                if file.mirror is not None:
                    row = manifest[file.mirror]
                    assert row["sha256"] in file.sha256, file.name
                    assert int(row["bytes"]) == file.bytes, file.name


def test_a_number_to_predict_is_no_feature() -> None:
    samples = read_dataset(dataset_spec({"kind": "registered", "name": "linnerud", "target": "waist"}))
    assert (samples.y[0], samples.tables["exercise"][0].tolist()) == (36.0, [5.0, 162.0, 60.0])


def test_faces_stand_upright(mirror: Path) -> None:
    """Column-major files read as row-major give lying faces, which are less symmetric left to right."""
    for name in ("orl", "yale", "olivetti", "orl-resized"):
        images = np.asarray(read(name, mirror).images, dtype=float)
        mean = images.mean(axis=0)
        upright = np.corrcoef(mean.ravel(), mean[:, ::-1].ravel())[0, 1]
        lying = np.corrcoef(mean.ravel(), mean[::-1].ravel())[0, 1]
        assert upright > max(0.8, lying + 0.05), name


# --- digits


def test_usps_text_and_hdf5_are_the_same(mirror: Path, tmp_path: Path) -> None:
    packed = read("usps", mirror)
    images = np.asarray(packed.images).reshape(-1, 256)
    parts = {"usps.bz2": slice(0, 200), "usps.t.bz2": slice(7291, 7391)}
    for name, rows in parts.items():  # as LIBSVM writes them: labels 1..10, zeros left out
        lines = []
        for image, digit in zip(images[rows], packed.y[rows], strict=True):
            values = np.round(2 * image - 1, 3)
            cells = [f"{k}:{value:g}" for k, value in enumerate(values, 1) if value != 0]
            lines.append(f"{digit + 1} {' '.join(cells)}\n")
        (tmp_path / name).write_bytes(bz2.compress("".join(lines).encode()))
    for order in (list(parts), list(parts)[::-1]):
        text = usps({name: tmp_path / name for name in order})
        np.testing.assert_array_equal(text.images, np.asarray(packed.images)[np.r_[0:200, 7291:7391]])
        np.testing.assert_array_equal(text.y, packed.y[np.r_[0:200, 7291:7391]])
        assert text.ids[200] == "test/1"
    (tmp_path / "usps.bz2").write_bytes((tmp_path / "usps.bz2").read_bytes()[:5000])
    with pytest.raises(DataError, match=r"usps\.bz2: not a readable"):
        usps({name: tmp_path / name for name in parts})
    with pytest.raises(DataError, match="not a readable"):
        usps({"usps.bz2": tmp_path / "usps.bz2"})


NAMES = [f"{part}-{what}-ubyte.gz" for part in ("train", "t10k") for what in ("images-idx3", "labels-idx1")]


def write_idx(path: Path, shape: tuple[int, ...], content: bytes, magic: int | None = None) -> None:
    head = struct.pack(f">{1 + len(shape)}I", 0x800 + len(shape) if magic is None else magic, *shape)
    path.write_bytes(gzip.compress(head + content))


def write_mnist(folder: Path, side: int = 2, **parts: list[int]) -> dict[str, Path]:
    """Write images of `side` x `side` pixels with these digits, by part: train and t10k."""
    paths = {name: folder / name for name in NAMES}
    for part, digits in parts.items():
        pixels = np.random.default_rng(len(digits)).integers(0, 256, (len(digits), side, side), dtype=np.uint8)
        write_idx(paths[f"{part}-images-idx3-ubyte.gz"], pixels.shape, pixels.tobytes())
        write_idx(paths[f"{part}-labels-idx1-ubyte.gz"], (len(digits),), bytes(digits))
    return paths


def test_mnist_has_both_parts_in_order(tmp_path: Path) -> None:
    samples = mnist(write_mnist(tmp_path, train=[3, 1, 3], t10k=[1, 0]))
    assert list(samples.ids) == ["train/1", "train/2", "train/3", "test/1", "test/2"]
    assert samples.labels.tolist() == ["3", "1", "3", "1", "0"]
    expected = np.random.default_rng(2).integers(0, 256, (2, 2, 2), dtype=np.uint8)
    np.testing.assert_array_equal(np.asarray(samples.images)[3:], expected)


IMAGES, DIGITS = NAMES[:2]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda files: write_idx(files[IMAGES], (2, 2, 2), bytes(8)), "5 ids but 4 images"),
        (lambda files: write_idx(files[IMAGES], (3, 2, 2), bytes(11)), "not a readable .gz file"),
        (lambda files: write_idx(files[IMAGES], (2**31, 2**31, 9), b""), "not a readable .gz file"),
        (lambda files: write_idx(files[IMAGES], (3, 2, 2), bytes(12), magic=0xD03), "not an IDX file of bytes with 3"),
        (lambda files: files.pop(DIGITS), r"of train-labels... there are 0"),
    ],
)
def test_damaged_files_of_mnist(tmp_path: Path, damage: Any, sentence: str) -> None:
    files = write_mnist(tmp_path, train=[3, 1, 3], t10k=[1, 0])
    damage(files)
    with pytest.raises(DataError, match=sentence):
        mnist(files)


# --- MATLAB


def test_deng_cai_variants(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (6, 3, 4)).astype(np.uint8)
    columns = images.transpose(0, 2, 1).reshape(6, 12)  # column-major
    gnd = np.array([[2, 1, 10, 2, 1, 10]]).T
    digests, path = set(), tmp_path / "x.mat"
    for fea, labels in ((columns, gnd), (np.asfortranarray(columns.astype(float)), gnd.astype(float))):
        savemat(path, {"fea": fea, "gnd": labels})
        samples = deng_cai({"x": path}, shape=(3, 4))
        digests.add(samples.digest())
        np.testing.assert_array_equal(samples.images, images)
        assert samples.ids.tolist() == ["2/1", "1/1", "10/1", "2/2", "1/2", "10/2"]
        assert samples.classes.tolist() == ["1", "2", "10"]
    savemat(path, {"X": columns / 255, "Y": gnd})
    np.testing.assert_allclose(deng_cai({"x": path}, shape=(3, 4)).images, images / 255)  # type: ignore[arg-type]
    for variables, shape, message in (
        ({"fea": columns, "gnd": gnd}, (4, 4), r"images have shape \(6, 12\); expected \(6, 16\)"),
        ({"data": columns}, (3, 4), r"has the variables 'data'; expected fea and gnd"),
    ):
        savemat(path, variables)
        with pytest.raises(DataError, match=message):
            deng_cai({"x": path}, shape=shape)
    savemat(path, {"fea": columns[::-1], "gnd": gnd})
    (expected,) = digests  # of both types of numbers
    spec = {"reader": "mklearn.study.data.readers.registered:deng_cai", "options": {"shape": [3, 4]}}
    with pytest.raises(DataError, match=r"x\.mat: not the expected data set: sha256: .*; delete the file"):
        read_dataset({**spec, "expected": {"sha256": expected}}, {"x": path})


# --- tables of the UCI repository

X = np.arange(24, dtype=float).reshape(6, 4) / 8
CODES = np.array([3, 1, 1, 3, 10, 10])


def test_tables_in_matlab_and_text_hold_the_same(tmp_path: Path) -> None:
    savemat(tmp_path / "a.mat", {"X": X.T, "Y": CODES[:, None].astype(np.uint8), "kfold": np.ones((1, 2))})
    np.savetxt(tmp_path / "first.data", np.column_stack([CODES, X]), delimiter=",")
    np.savetxt(tmp_path / "last.data", np.column_stack([X, CODES]), delimiter=",")
    parts = {"all": [0, 4], "even": [0, 4, 2], "end": [3, 4]}
    for name in ("a.mat", "first.data", "last.data"):
        samples = uci({name: tmp_path / name}, class_codes=[1, 3, 10], tables=parts)
        for part, columns in {"all": X, "even": X[:, [0, 2]], "end": X[:, 3:]}.items():
            np.testing.assert_array_equal(samples.tables[part], columns)
        assert samples.labels.tolist() == [str(code) for code in CODES]
        assert samples.classes.tolist() == ["1", "3", "10"]
        assert samples.ids.tolist() == ["3/1", "1/1", "1/2", "3/2", "10/1", "10/2"]


@pytest.mark.parametrize(
    ("reader", "text", "sentence"),
    [
        (partial(uci, class_codes=[1, 3, 10]), "1,2\n1;2\n", r"x\.data: not a readable .data file"),
        (partial(uci, class_codes=[1, 3, 10]), "1,inf\n3,1\n10,2\n", "missing or infinite"),
        (partial(r_package, tables=["gene"]), "nonsense" * 40, r"x\.data: not a readable .* truncated or damaged"),
        (partial(r_package, tables=["gene"]), "", r"x\.data: not a readable .data file"),
    ],
)
def test_damaged_tables(tmp_path: Path, reader: Callable[..., SampleSet], text: str, sentence: str) -> None:
    (tmp_path / "x.data").write_text(text)
    with pytest.raises(DataError, match=sentence):
        reader({"x.data": tmp_path / "x.data"})


# --- which file is which


def test_packaging_on_the_mirror_comes_first(mirror: Path, tmp_path: Path) -> None:
    known = entry("usps")
    assert known.packaging(None) == known.packaging(str(tmp_path)) == known.files
    for place in (str(mirror), "https://mirror.example"):
        assert [file.name for file in known.packaging(place)] == ["usps.h5"]
    assert entry("digits").packaging(str(mirror)) == []


# --- several views

VIEW_SETS = {
    "mfeat": "label", "protein_fold": "label", "three_sources": "label", "breast_tcga": "label", "nutrimouse": "diet",
    "nutrimouse-genotype": "genotype", "bace": "label",
}  # fmt: skip
LONG = {"bace", "three_sources"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] if name in LONG else []) for name in VIEW_SETS]
)
def test_upstream_file_equals_the_tables_of_the_mirror(mirror: Path, name: str) -> None:
    folder = mirror / "multiview" / (entry(name).of or name)
    samples = read(name, mirror)
    about = pd.read_csv(folder / "samples.csv").set_index("id")
    ids = [text.rpartition("/")[2] for text in samples.ids]
    assert ids == about.index.tolist()
    assert samples.labels.tolist() == about[VIEW_SETS[name]].tolist()
    if "split" in about:
        assert [text.partition("/")[0] for text in samples.ids] == about["split"].tolist()
    if "group" in about:
        assert samples.groups is not None
        assert samples.groups.tolist() == about["group"].tolist()
    assert list(samples.tables) == entry(name).tables
    for view, values in samples.tables.items():
        table = pd.read_csv(folder / f"{view}.csv.gz", dtype=str).set_index("id").reindex(ids)
        np.testing.assert_array_equal(values, table.to_numpy().astype(float), strict=True)


def test_the_numerals_of_the_package_are_a_draw_of_all(mirror: Path) -> None:
    part, draw = read("mfeat-500", mirror), read("mfeat", mirror, per_class=50, draw=0)
    assert (part.ids.tolist(), part.labels.tolist()) == (draw.ids.tolist(), draw.labels.tolist())
    assert list(part.tables) == list(draw.tables)
    for view, values in part.tables.items():
        np.testing.assert_array_equal(values, draw.tables[view], strict=True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tables": ["p"]}, "X has views of shapes '(4, 3)', '(4, 2)'; expected 1 of 4 rows"),
        ({"tables": ["p", "q"], "classes": ["one"]}, "y has the codes 1 to 2; expected 1 to 1"),
        ({"tables": ["p", "q"], "parts": {"train": 2, "test": 1}}, "4 samples; expected 2 + 1"),
    ],
)
def test_views_of_a_cell(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    cells = np.empty((2, 1), dtype=object)
    cells[:, 0] = [np.arange(12.0).reshape(4, 3), np.arange(8, dtype=np.uint8).reshape(4, 2)]
    savemat(tmp_path / "a.mat", {"X": cells, "y": np.array([[2, 1, 1, 2]], dtype=np.uint8).T})
    samples = views({"a": tmp_path / "a.mat"}, tables=["p", "q"], sample="s-", parts={"train": 3, "test": 1})
    assert samples.ids.tolist() == ["train/s-0", "train/s-1", "train/s-2", "test/s-3"]
    assert samples.labels.tolist() == ["2", "1", "1", "2"]
    np.testing.assert_array_equal(samples.tables["q"], np.arange(8.0).reshape(4, 2), strict=True)
    with pytest.raises(DataError) as raised:
        views({"a": tmp_path / "a.mat"}, **options)
    assert words in str(raised.value)


def test_rows_filled_in_upstream_are_missing_views(mirror: Path) -> None:
    samples = read("pregnancy", mirror)
    gone = {name: int(np.isnan(table).all(axis=1).sum()) for name, table in samples.tables.items()}
    assert gone == {"rna": 6, "immune": 0, "metabolites": 0, "microbiome": 15, "luminex-plasma": 0, "somalogic": 2,
                    "luminex-serum": 6}  # fmt: skip
    left = samples.tables["microbiome"]
    left = left[~np.isnan(left).any(axis=1)]
    assert len(np.unique(left, axis=0)) == len(left) == 36
    assert samples.groups is not None
    assert sorted(np.unique(samples.groups, return_counts=True)[1]) == [3] * 17
    assert (samples.target, samples.y.min(), samples.y.max()) == ("numbers", 8.0, 32.0)


@pytest.mark.parametrize(
    ("name", "sizes", "gaps"),
    [
        ("tcga_brca_survival", (289, 37, 288), {}),  # of 320, others are no primary tumours
        ("gbm", (215, 199, 213), {}),
        ("miniacc", (91, 33, 0), {"rna": 12, "mirna": 11, "protein": 45, "copy-number": 2, "mutation": 2}),
    ],
)
def test_survival_times(name: str, sizes: tuple[int, ...], gaps: dict[str, int], mirror: Path) -> None:
    samples = read(name, mirror)
    groups = set([] if samples.groups is None else samples.groups)
    assert (len(samples), int((samples.y > 0).sum()), len(groups)) == sizes
    assert samples.target == entry(name).target == "survival"
    gone = {view: int(np.isnan(table).all(axis=1).sum()) for view, table in samples.tables.items()}
    assert gone == dict.fromkeys(samples.tables, 0) | gaps


def test_the_pedigree_is_a_linear_kernel_and_the_folds_are_the_published_ones(mirror: Path) -> None:
    samples = read("wheat", mirror)
    folder = mirror / "multiview" / "wheat"
    pedigree = pd.read_csv(folder / "kernel_pedigree.csv.gz", index_col="id")
    assert (pedigree.index == samples.ids).all()
    assert np.allclose(samples.tables["pedigree"] @ samples.tables["pedigree"].T, pedigree, atol=1e-9)
    splits = pd.read_csv(folder / "splits.csv")
    folds = published_folds(folder / "samples.csv", samples.ids)
    assert len(folds) == 10
    for number, test in enumerate(folds):
        expected = splits.loc[splits["fold"].eq(number) & splits["role"].eq("test"), "id"]
        assert set(test) == set(expected)
