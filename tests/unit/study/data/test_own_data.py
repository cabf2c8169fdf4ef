"""Own images, features and kernels: correct reading, and an error message for every mistake."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from mklearn.atomic import write_npz, write_parquet
from mklearn.errors import ConfigError, DataError
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers import content, feature_tables, image_folder, precomputed
from mklearn.study.data.registry import dataset_spec
from mklearn.study.data.samples import SampleSet

RNG = np.random.default_rng(0)
IDS = [f"s{k}" for k in range(6)]
Change = Callable[[pd.DataFrame, pd.DataFrame], tuple[pd.DataFrame, pd.DataFrame]]
LABELS = ["cat", "dog", "cat", "dog", "cat", "dog"]
HUGE = struct.pack(">8sI4sIIBBBBB", b"\x89PNG\r\n\x1a\n", 13, b"IHDR", 10**5, 10**5, 8, 0, 0, 0, 0)
HUGE += struct.pack(">I", zlib.crc32(HUGE[12:])) + struct.pack(">I4sI", 0, b"IEND", zlib.crc32(b"IEND"))
"""A PNG that claims ten thousand million pixels."""
EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n%%EOF\n"
"""Which Pillow hands to Ghostscript."""


# --- image folders


def save(path: Path, pixels: np.ndarray, **options: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)  # type: ignore[arg-type]


@pytest.fixture
def image_root(tmp_path: Path) -> Path:
    root = tmp_path / "pictures"
    for label in ("s10", "s2"):
        for k in (10, 9):
            save(root / label / f"{k}.png", RNG.integers(0, 256, (6, 5), dtype=np.uint8))
    return root


def test_image_folder(image_root: Path) -> None:
    (image_root / ".git").mkdir()
    (image_root / "s2/.DS_Store").write_text("x")
    samples = image_folder.read({"root": image_root})
    assert samples.ids.tolist() == ["s2/9.png", "s2/10.png", "s10/9.png", "s10/10.png"]
    assert samples.classes.tolist() == ["s2", "s10"]
    assert samples.image_shape == (6, 5)
    assert samples.notes == ()
    np.testing.assert_array_equal(samples.images[1], np.array(Image.open(image_root / "s2" / "10.png")))
    (image_root / "s2/more").mkdir()
    (image_root / "README.txt").write_text("x")
    [note] = image_folder.read({"root": image_root}).notes
    assert note == "2 files or folders that are no images of a class were left out: 'README.txt', 's2/more'"
    spec = dataset_spec({"kind": "image_folder", "path": str(image_root), "resize": {"shape": [3, 4], "pixels": None}})
    assert read_dataset(spec).image_shape == (3, 4)


def test_all_formats_and_colour_modes(tmp_path: Path) -> None:
    grey = np.full((8, 8), 100, np.uint8)
    for suffix in content.IMAGE_SUFFIXES:
        save(tmp_path / "a" / f"x{suffix.upper()}", grey)
    colour = np.zeros((8, 8, 3), np.uint8)
    colour[..., 0] = 255
    save(tmp_path / "b" / "red.png", colour)
    samples = image_folder.read({"root": tmp_path})
    assert len(samples) == len(content.IMAGE_SUFFIXES) + 1
    for image in samples.images[:-1]:
        assert np.abs(image.astype(int) - 100).max() <= 2  # lossy formats
    assert (samples.images[-1] == 76).all()  # 0.299 * 255
    rgb = image_folder.read({"root": tmp_path}, colour="rgb")
    assert rgb.image_shape == (8, 8, 3)
    np.testing.assert_array_equal(rgb.images[-1], colour)


def test_deep_images_and_rotation(tmp_path: Path) -> None:
    deep = np.array([[0, 1000], [40000, 65535]], dtype=np.uint16)
    for label in "ab":
        save(tmp_path / label / "x.png", deep)
    np.testing.assert_array_equal(image_folder.read({"root": tmp_path}).images[0], deep)
    with pytest.raises(DataError, match="more than 8 bits"):
        image_folder.read({"root": tmp_path}, colour="rgb")
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned by 90 degrees
    save(tmp_path / "b" / "y.jpg", np.zeros((4, 8), np.uint8), exif=exif)
    with pytest.raises(DataError, match=r"different depth .*x\.png.*y\.jpg"):
        image_folder.read({"root": tmp_path})
    for label in "ab":
        save(tmp_path / label / "x.png", np.zeros((8, 4), np.uint8))
    assert image_folder.read({"root": tmp_path}).image_shape == (8, 4)


def test_image_folder_refusals(image_root: Path, tmp_path: Path) -> None:
    (image_root / "empty").mkdir()
    with pytest.raises(DataError, match="no images in class folder 'empty'"):
        image_folder.read({"root": image_root})
    (image_root / "empty").rmdir()
    data = (image_root / "s10" / "9.png").read_bytes()
    for damaged, word in (
        (data[: len(data) // 2], "corrupt or truncated"),
        (b"hello", "not an image"),
        (EPS, "not an image of a format"),
        (HUGE, "corrupt or truncated image .*exceeds limit of"),
    ):
        (image_root / "s10" / "9.png").write_bytes(damaged)
        with pytest.raises(DataError, match=rf"s10/9\.png: .*{word}"):
            image_folder.read({"root": image_root})
    for path in (image_root / "s10").iterdir():
        path.unlink()
    (image_root / "s10").rmdir()
    with pytest.raises(DataError, match="only one class, 's2'"):
        image_folder.read({"root": image_root})
    with pytest.raises(DataError, match=r"no sub-folders; .*\(found '10.png', '9.png'\)|no sub-folders"):
        image_folder.read({"root": image_root / "s2"})
    with pytest.raises(DataError, match="no such folder"):
        image_folder.read({"root": tmp_path / "nowhere"})


# --- feature tables


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    one = pd.DataFrame({"id": IDS, "label": LABELS, "f0": RNG.random(6), "f1": RNG.integers(0, 9, 6)})
    two = pd.DataFrame({"g": RNG.random(6), "id": IDS})
    return one, two.iloc[::-1]


def write(folder: Path, one: pd.DataFrame, two: pd.DataFrame) -> dict[str, Path]:
    paths = {name: folder / f"{name}.csv" for name in ("one", "two")}
    for path, frame in zip(paths.values(), (one, two), strict=True):
        frame.to_csv(path, index=False)
    return paths


def test_labels_in_their_own_file_and_whole_number_ids(tmp_path: Path) -> None:
    one = pd.DataFrame({"name": [3, 1, 2], "f": [0.1, 0.2, 0.3]})
    write_parquet(tmp_path / "one.parquet", one)
    (tmp_path / "labels.csv").write_text("name,kind\n1,NA\n2,null\n3,10\n")  # words that pandas reads as missing
    files = {"tables": {"one": str(tmp_path / "one.parquet")}, "labels": str(tmp_path / "labels.csv")}
    given = {"kind": "feature_tables", **files, "id_column": "name", "label_column": "kind"}
    spec = dataset_spec(given | {"missing_labels": []})
    samples = read_dataset(spec)
    assert samples.ids.tolist() == ["3", "1", "2"]
    assert samples.classes[samples.y].tolist() == ["10", "NA", "null"]
    assert set(samples.tables) == {"one"}
    with pytest.raises(
        DataError, match=r"found 1: '10'\. 'NA', 'null' in place of a label means none; `missing_labels: \[\]`"
    ):
        read_dataset(dataset_spec(given))
    (tmp_path / "labels.csv").unlink()
    with pytest.raises(DataError, match=r"labels\.csv: there is no such file"):
        read_dataset(spec)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one, two: (one, two.assign(id=[*IDS[:-1], "zz"])), r"two\.csv: .* lacks 's5' and has 'zz' that .*one"),
        (lambda one, two: (one, two.assign(label="cat")), r"two\.csv: labels disagree .*one\.csv for 's1', 's3', 's5'"),
        (lambda one, two: (one.assign(id="s0"), two), r"one\.csv: ids must be unique; more than once: 's0'"),
        (lambda one, two: (one.drop(columns="id"), two), r"one\.csv: no column 'id'; it has 'label', 'f0', 'f1'"),
        (lambda one, two: (one.drop(columns="label"), two), r"one\.csv: no column 'label', and no labels file"),
        (lambda one, two: (one.assign(f1=list("012x45")), two), r"one\.csv: columns that are not numbers: 'f1'; .*'x'"),
        (
            lambda one, two: (one.assign(f1=[1, 2, np.nan, 4, 5, np.inf]), two),
            r"one\.csv: 2 values missing or infinite: columns 'f1', samples 's2', 's5'",
        ),
        (lambda one, two: (one, two[["id"]]), r"two\.csv: no columns of features"),
        (lambda one, two: (one.iloc[:0], two), r"one\.csv: no rows"),
    ],
)
def test_feature_table_refusals(tmp_path: Path, change: Change, message: str) -> None:
    one, two = change(*frames())
    paths = write(tmp_path, one, two)
    with pytest.raises(DataError, match=message):
        feature_tables.read(paths)


# --- precomputed matrices


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    pd.DataFrame({"id": IDS, "label": LABELS}).to_csv(path, index=False)
    return path


def gram() -> np.ndarray:
    features = RNG.random((6, 3))
    return features @ features.T


def read_one(path: Path, labels: Path, measure: str = "kernel") -> SampleSet:
    return precomputed.read({"k": path, "L": labels}, labels="L", measure=measure)


def test_matrices_in_all_forms_and_orders(tmp_path: Path, labels: Path) -> None:
    kernel, order = gram(), np.array([3, 1, 5, 0, 2, 4])
    moved, names = kernel[np.ix_(order, order)], np.array(IDS)[order]
    frame = pd.DataFrame(moved, columns=names)
    frame.insert(0, "id", names)
    frame.to_csv(tmp_path / "named.csv", index=False)
    frame.rename(columns={names[0]: f"{names[0]} "}).to_csv(tmp_path / "spaced.csv", index=False)
    frame[["id", *IDS]].to_parquet(tmp_path / "named.parquet")  # columns in another order than rows
    write_npz(tmp_path / "named.npz", K=moved, id=names)
    write_npz(tmp_path / "bare.npz", K=kernel)
    np.savetxt(tmp_path / "bare.csv", kernel, delimiter=",")
    np.savetxt(tmp_path / "bare.csv.gz", kernel, delimiter=",")
    for name in ("named.csv", "spaced.csv", "named.parquet", "named.npz", "bare.npz", "bare.csv", "bare.csv.gz"):
        samples = read_one(tmp_path / name, labels)
        np.testing.assert_allclose(samples.matrices["k"], kernel, rtol=1e-12)
        np.testing.assert_array_equal(samples.matrices["k"], samples.matrices["k"].T)
        assert samples.ids.tolist() == IDS
        assert samples.measures == {"k": "kernel"}


def test_rounding_is_averaged_and_asymmetry_refused(tmp_path: Path, labels: Path) -> None:
    kernel = gram()
    single = kernel + np.triu(kernel * 1e-7, 1)
    write_npz(tmp_path / "k.npz", K=single)
    np.testing.assert_allclose(read_one(tmp_path / "k.npz", labels).matrices["k"], (single + single.T) / 2)
    kernel[1, 4] += 0.1
    write_npz(tmp_path / "k.npz", K=kernel)
    with pytest.raises(DataError, match=r"k\.npz: not symmetric: \('s1', 's4'\) is .* but \('s4', 's1'\) is"):
        read_one(tmp_path / "k.npz", labels)


def test_matrix_refusals(tmp_path: Path, labels: Path) -> None:
    kernel = gram()
    distance = kernel.max() - kernel
    np.fill_diagonal(distance, 0)
    write_npz(tmp_path / "k.npz", K=distance)
    assert read_one(tmp_path / "k.npz", labels, "distance").matrices["k"].min() == 0
    nan, negative, diagonal = distance.copy(), distance.copy(), distance.copy()
    nan[2, 3] = np.nan
    negative[0, 1] = negative[1, 0] = -0.5
    diagonal[3, 3] = 1
    wrong_ids = np.array([*IDS[:5], "zz"])
    for arrays, message in (
        ({"K": nan}, r"k\.npz: 1 values missing or infinite: columns '3', samples 's2'"),
        ({"K": negative}, r"not a distance: \('s0', 's1'\) is -0.5, which is negative"),
        ({"K": diagonal}, r"\('s3', 's3'\) is 1, not 0"),
        ({"K": distance[:, :5]}, "6 rows and 5 columns; it must be square"),
        ({"K": distance[:5, :5]}, "5 rows and no ids, but the labels file has 6"),
        ({"K": distance, "id": wrong_ids}, r"lacks 's5' and has 'zz' that .*labels\.csv lacks"),
        ({"K": distance, "id": np.array(["s0"] * 6)}, "ids must be unique"),
        ({"K": distance, "J": distance}, "one two-dimensional array, found 'K', 'J'"),
    ):
        write_npz(tmp_path / "k.npz", **arrays)
        with pytest.raises(DataError, match=message):
            read_one(tmp_path / "k.npz", labels, "distance")
    write_npz(tmp_path / "k.npz", K=distance)
    with pytest.raises(DataError, match="has measure 'cosine'; valid: kernel"):
        read_one(tmp_path / "k.npz", labels, "cosine")
    frame = pd.DataFrame(kernel, columns=[*IDS[:5], "zz"])
    frame.insert(0, "id", IDS)
    frame.to_csv(tmp_path / "k.csv", index=False)
    with pytest.raises(DataError, match=r"lacks 's5' and has 'zz'"):
        read_one(tmp_path / "k.csv", labels)


def test_matrices_by_specification(tmp_path: Path, labels: Path) -> None:
    write_npz(tmp_path / "k.npz", K=gram())
    spec = dataset_spec({"kind": "precomputed", "matrices": {"k": str(tmp_path / "k.npz")}, "measure": "kernel",
                         "labels": str(labels), "id_column": "id", "label_column": "label"})  # fmt: skip
    assert set(read_dataset(spec).matrices) == {"k"}
    with pytest.raises(ConfigError, match="has no option colour; valid: labels"):
        read_dataset({**spec, "options": {**spec["options"], "colour": "grey"}})
    with pytest.raises(ConfigError, match=r"No module named '.*readers\.nonsense'"):
        read_dataset({**spec, "reader": "nonsense"})
    with pytest.raises(ConfigError, match="kind 'nonsense' is unknown"):
        dataset_spec({"kind": "nonsense"})
